//! Computes the light that comes back along each ray: sun, sky, and what the ground reflects; sky and haze where
//! nothing is near. Adds one sample to the picture.
//!
//! Shapes are drawn so that their motion can be seen: boxes with darker edges, round ones in two tones, the
//! ground in squares.

use crate::gpu::{Load, Store, abs, fmax, fmin, glam::Vec3, sqrt};
use crate::math::Pose;
use crate::pictures::common::{BODIES, CLASSES, RAMP, View, hash, show};
use crate::queries::rays::soft::{SOFT, is_soft};
use crate::queries::rays::{Hit, Ray};
use crate::state::rigid::{Body, Collider, NONE, shape, world_pose};
use crate::{layout, stage};

stage! {
    "shade" each 64 {
        read 0 views: View,
        read 1 rays: Ray,
        read 2 hits: Hit,
        read 3 sunlight: f32,
        read 4 openness: f32,
        read 5 bodies: Body,
        read 6 colliders: Collider,
        read 7 poses: Pose,
        read 8 values: u32,
        read 9 highest: u32,
        read 10 palette: Vec3,
        update 11 light: Vec3,
    }
}

layout! {
    /// Push constants of `shade`.
    pub struct Push {
        /// Number of rays.
        pub count: u32,
        /// Not 0: the light of earlier samples is kept.
        pub sample: u32,
    }
}

const SUN: Vec3 = Vec3::new(2.9, 2.6, 2.15);
const SKY: Vec3 = Vec3::new(0.55, 0.70, 1.0);
const BOUNCE: Vec3 = Vec3::new(0.42, 0.38, 0.33);
const HORIZON: Vec3 = Vec3::new(0.58, 0.78, 1.05);
const ZENITH: Vec3 = Vec3::new(0.10, 0.28, 0.75);
const BELOW: Vec3 = Vec3::new(0.42, 0.42, 0.44);
const GROUND: Vec3 = Vec3::new(0.25, 0.235, 0.21);
const FIXED: Vec3 = Vec3::new(0.38, 0.38, 0.40);

#[inline(always)]
fn mix(a: Vec3, b: Vec3, part: f32) -> Vec3 {
    a + (b - a) * part
}

#[inline(always)]
fn clamped(v: f32) -> f32 {
    fmin(fmax(v, 0.0), 1.0)
}

/// From 0 to 1 between two values, without corners.
#[inline(always)]
fn smooth(from: f32, to: f32, v: f32) -> f32 {
    let t = clamped((v - from) / (to - from));
    t * t * (3.0 - 2.0 * t)
}

/// The sky in a direction.
#[inline(always)]
fn sky(direction: Vec3, sun: Vec3) -> Vec3 {
    let up = 1.0 - fmax(direction.y, 0.0);
    let up = up * up;
    let above = mix(ZENITH, HORIZON, up * up);
    let base = mix(above, BELOW, smooth(0.0, 0.5, -direction.y));
    let c = fmax(direction.dot(sun), 0.0);
    let (c8, c64) = (c * c * c * c, c * c * c * c * c * c * c * c);
    base + SUN * (0.05 * c8 + 0.08 * c64 * c64 * c64)
}

/// Which squares of a chequered floor are light: 1, or 0, or the mean over a footprint of that size.
#[inline(always)]
fn chequered(x: f32, z: f32, footprint: f32) -> f32 {
    // The integral of a wave that is 1 and -1 in turn (after Quilez, "Filtering procedural textures").
    let integral = |v: f32| {
        let turns = v * 0.5;
        let whole = turns as i32 as f32;
        let whole = if whole > turns { whole - 1.0 } else { whole };
        1.0 - abs((turns - whole) * 2.0 - 1.0)
    };
    let half = 0.5 * fmax(footprint, 1e-3);
    let mean = |v: f32| (integral(v + half) - integral(v - half)) / (2.0 * half);
    0.5 + 0.5 * mean(x) * mean(z)
}

/// The middle of three.
#[inline(always)]
fn middle(v: Vec3) -> f32 {
    fmax(fmin(v.x, v.y), fmin(fmax(v.x, v.y), v.z))
}

/// How much darker a shape is drawn at a point of its surface, in its own space: what makes its motion seen.
#[inline(always)]
fn marking(collider: &Collider, p: Vec3, footprint: f32) -> f32 {
    if collider.what.shape == shape::BOX {
        // Of the ways to the three pairs of faces one is 0, the next is the way to the edge.
        let h = collider.size.half();
        let edge = middle(Vec3::new(h.x - abs(p.x), h.y - abs(p.y), h.z - abs(p.z)));
        let thin = fmin(fmin(h.x, h.y), h.z);
        1.0 - 0.38 * (1.0 - smooth(0.0, 0.10 * thin + footprint, edge))
    } else {
        let odd = (p.x > 0.0) ^ (p.y > 0.0) ^ (p.z > 0.0);
        if odd { 0.72 } else { 1.0 }
    }
}

/// The colour of a body.
#[inline(always)]
fn body_colour(b: &Bindings<'_>, view: &View, body: u32) -> Vec3 {
    let value = f32::from_bits(b.values.at(body));
    if view.show == show::BODY {
        let scrambled = hash(body);
        let tone = 0.86 + 0.28 * ((scrambled >> 8) & 0xff) as f32 / 255.0;
        b.palette.at(scrambled % BODIES) * tone
    } else if view.show == show::CLASS {
        // Bodies that have no class stay grey.
        if value < 64.0 { b.palette.at(BODIES + value as u32 % CLASSES) } else { FIXED }
    } else {
        let highest = fmax(view.scale, f32::from_bits(b.highest.at(0)));
        // By the root: most bodies are slow, and carry little.
        let part = if highest > 0.0 { sqrt(clamped(value / highest)) } else { 0.0 };
        let place = part * (RAMP - 1) as f32;
        let low = place as u32;
        let low = if low < RAMP - 2 { low } else { RAMP - 2 };
        let start = BODIES + CLASSES + low;
        mix(b.palette.at(start), b.palette.at(start + 1), place - low as f32)
    }
}

/// The colour of a triangle of a soft body: every other pair is darker, so that its motion can be seen.
#[inline(always)]
fn soft_colour(b: &Bindings<'_>, view: &View, soft: u32, triangle: u32) -> Vec3 {
    let tone = if (triangle >> 1) & 1 == 0 { 1.0 } else { 0.84 };
    // Not that of the rigid body in the same slot.
    let own = b.palette.at(hash(soft.wrapping_add(0x0005_0f7b)) % BODIES);
    (if view.show == show::BODY { own } else { FIXED }) * tone
}

/// Adds one sample of one pixel.
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let (view, ray, hit) = (b.views.at(0), b.rays.at(item), b.hits.at(item));
    let behind = sky(ray.direction, view.sun);
    let mut light = behind;
    if hit.collider != NONE {
        // A triangle of a soft body has no collider and no pose: it is drawn with those in slot 0 out of use.
        let soft = is_soft(hit.collider);
        let collider = b.colliders.at(if soft { 0 } else { hit.collider });
        let pose = world_pose(&collider, &b.poses.at(if soft { 0 } else { hit.body }));
        let point = ray.origin + ray.direction * hit.distance;
        let local = pose.rotation.inverse().apply(point - pose.position);
        let n = hit.normal;
        let facing = fmax(-n.dot(ray.direction), 0.02);
        let size = hit.distance * 2.0 * sqrt(view.up.length_squared()) / view.height as f32;
        let footprint = size / facing;

        let ground = !soft & (collider.what.shape == shape::HALF_SPACE);
        let albedo = if ground {
            let squares = chequered(local.x / view.cell, local.z / view.cell, footprint / view.cell);
            GROUND * (0.86 + 0.28 * squares)
        } else if soft {
            soft_colour(b, &view, hit.body, hit.collider & !SOFT)
        } else if b.bodies.at(hit.body).is_dynamic() {
            body_colour(b, &view, hit.body) * marking(&collider, local, size)
        } else {
            FIXED * marking(&collider, local, size)
        };

        let sun = fmax(n.dot(view.sun), 0.0) * b.sunlight.at(item);
        let open = b.openness.at(item);
        let around = mix(BOUNCE, SKY, 0.5 + 0.5 * n.y) * open;
        let halfway = view.sun - ray.direction;
        let gloss = fmax(n.dot(halfway * (1.0 / sqrt(halfway.length_squared()))), 0.0);
        let (g4, matte) = (gloss * gloss * gloss * gloss, if ground { 0.0 } else { 1.0 });
        let g16 = g4 * g4 * g4 * g4;
        let rim = (1.0 - facing) * (1.0 - facing);
        let shine = SUN * (sun * 0.10 * g16 * g16) + SKY * (0.16 * rim * rim * open);
        light = albedo * (SUN * sun + around) + shine * matte;

        // What is far away fades into the sky above the horizon.
        let far = hit.distance / view.haze;
        let level = Vec3::new(ray.direction.x, 0.0, ray.direction.z);
        let level = level * (1.0 / fmax(sqrt(level.length_squared()), 1e-6));
        light = mix(light, sky(level, view.sun), far * far / (1.0 + far * far));
    }
    let before = if push.sample > 0 { b.light.at(item) } else { Vec3::ZERO };
    b.light.put(item, before + light);
}
