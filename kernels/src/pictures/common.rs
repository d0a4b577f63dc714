//! Structs of pictures, and the numbers that scatter their rays: hashed from pixel and sample, the same in every run.

use crate::gpu::{glam::Vec3, sin_cos, sqrt};
use crate::layout;
use crate::math::tangents;

layout! {
    /// How the world is looked at.
    pub struct View {
        /// Where the eye is.
        pub eye: Vec3,
        /// From the middle of the picture, at distance 1, to its right border.
        pub right: Vec3,
        /// From the middle to the upper border.
        pub up: Vec3,
        /// To the middle, of length one.
        pub forward: Vec3,
        /// Pixels across.
        pub width: u32,
        /// Pixels down.
        pub height: u32,
        /// To the sun, of length one.
        pub sun: Vec3,
        /// Half the sun's width at distance 1: how soft shadows are.
        pub sun_size: f32,
        /// How far occlusion reaches.
        pub occlusion: f32,
        /// Distance at which half of a thing is lost in haze.
        pub haze: f32,
        /// Sides of the ground's squares.
        pub cell: f32,
        /// One of [`show`].
        pub show: u32,
        /// The value at the upper end of the ramp, if no body has a higher one.
        pub scale: f32,
    }
}

/// What colours tell.
pub mod show {
    /// Which body it is.
    pub const BODY: u32 = 0;
    /// Which bodies are solved at the same time.
    pub const CLASS: u32 = 1;
    /// Sum of the normal forces on a body.
    pub const FORCE: u32 = 2;
    /// How fast it is.
    pub const SPEED: u32 = 3;
}

/// Entries of a palette for bodies, from the start.
pub const BODIES: u32 = 16;
/// Entries for classes, after those.
pub const CLASSES: u32 = 16;
/// Entries that make a ramp, after those.
pub const RAMP: u32 = 16;
/// Entries of a palette.
pub const COLOURS: u32 = BODIES + CLASSES + RAMP;

/// Side of the squares in which pixels are worked on, so that neighbouring lanes follow similar rays.
pub const TILE: u32 = 8;

/// A pixel.
#[derive(Clone, Copy)]
pub struct Pixel {
    /// From the left.
    pub x: u32,
    /// From the top.
    pub y: u32,
    /// Whether it lies in the picture.
    pub inside: bool,
}

/// Pixel number `item`, square by square.
#[inline(always)]
pub fn pixel(view: &View, item: u32) -> Pixel {
    let across = view.width.div_ceil(TILE);
    let across = if across > 0 { across } else { 1 };
    let (square, place) = (item / (TILE * TILE), item % (TILE * TILE));
    let x = (square % across).wrapping_mul(TILE).wrapping_add(place % TILE);
    let y = (square / across).wrapping_mul(TILE).wrapping_add(place / TILE);
    Pixel { x, y, inside: x < view.width && y < view.height }
}

/// The part behind the point of a number that is not negative.
#[inline(always)]
pub fn fraction(v: f32) -> f32 {
    v - (v as u32) as f32
}

/// Scrambles an index.
#[inline(always)]
pub fn hash(i: u32) -> u32 {
    let x = (i ^ (i >> 16)).wrapping_mul(0x7feb_352d);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// Two numbers from 0 to 1.
#[derive(Clone, Copy)]
pub struct Spot {
    /// The first.
    pub u: f32,
    /// The second.
    pub v: f32,
}

/// Spot `index` of a sequence that fills the square evenly (Roberts, "The Unreasonable Effectiveness of Quasirandom
/// Sequences", 2018), shifted.
#[inline(always)]
pub fn spot(index: u32, shift: Spot) -> Spot {
    let i = index as f32;
    Spot { u: fraction(shift.u + i * 0.754_877_7), v: fraction(shift.v + i * 0.569_840_3) }
}

/// The shift of a pixel: neighbours differ as much as they can (Jimenez, "Next Generation Post Processing in Call of
/// Duty: Advanced Warfare", 2014), which the eye takes for an even tone.
#[inline(always)]
pub fn shift(pixel: Pixel, salt: u32) -> Spot {
    let noise = |x: u32, y: u32| fraction(52.982_918 * fraction(0.067_110_56 * x as f32 + 0.005_837_15 * y as f32));
    Spot {
        u: noise(pixel.x.wrapping_add(salt), pixel.y),
        v: noise(pixel.y.wrapping_add(47 * (salt + 1)), pixel.x.wrapping_add(17)),
    }
}

/// A direction about `normal`, the more likely the closer to it: by the cosine.
#[inline(always)]
pub fn scattered(normal: Vec3, at: Spot) -> Vec3 {
    let (t, u) = tangents(normal);
    let radius = sqrt(at.u);
    let (sine, cosine) = sin_cos(at.v * core::f32::consts::TAU);
    let direction = (t * cosine + u * sine) * radius + normal * sqrt(1.0 - at.u);
    direction * (1.0 / sqrt(direction.length_squared()))
}

/// Where rays that leave a surface start: far enough out that rounding does not put them inside.
#[inline(always)]
pub fn lifted(point: Vec3, normal: Vec3, distance: f32) -> Vec3 {
    point + normal * (1e-4 + 5e-5 * distance)
}
