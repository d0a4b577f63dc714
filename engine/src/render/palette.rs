//! Colours: those that tell things apart, and a ramp from cold to hot.

use crate::glam::Vec3;
use drystone_kernels::pictures::common::{BODIES, CLASSES, RAMP};

/// Sandstone, clay, slate and moss, as sRGB: many bodies beside each other make a wall, not confetti.
const STONES: [u32; BODIES as usize] = [
    0xcdb48c, 0xb7653f, 0x7f8f96, 0xe2cda4, 0x9c7a58, 0x5b7586, 0xd39a55, 0xa9a08c, 0x8a4b36, 0x92a17d, 0xdcb17c,
    0x6c6f78, 0xc58463, 0xb9bdb2, 0x4f6a63, 0xe8d9bd,
];

/// As different as sixteen colours can be.
const DISTINCT: [u32; CLASSES as usize] = [
    0x4a76ad, 0xe39b3a, 0xc8473d, 0x4fa58f, 0x6f9f45, 0xe3c14f, 0x9a5f97, 0xe58f9c, 0x8c6b52, 0x9aa3a8, 0x2c4a6e,
    0xf0d9a8, 0x7a1f2b, 0x8fd0c3, 0x394a2a, 0xc3a6d8,
];

/// Cold to hot.
const STOPS: [u32; 8] = [0x27335f, 0x2f6aa8, 0x3fa7b0, 0x8ecf8c, 0xf0d858, 0xf29b3a, 0xe2552c, 0xab1d2b];

/// From sRGB to light.
fn linear(colour: u32) -> Vec3 {
    let channel = |shift: u32| {
        let v = ((colour >> shift) & 0xff) as f32 / 255.0;
        if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    };
    Vec3::new(channel(16), channel(8), channel(0))
}

/// What [`RenderBuffers::palette`](super::RenderBuffers::palette) wants, as light: first the colours of bodies, then
/// those of classes, then the ramp.
pub fn palette() -> Vec<Vec3> {
    let ramp = (0..RAMP).map(|i| {
        let place = i as f32 / (RAMP - 1) as f32 * (STOPS.len() - 1) as f32;
        let low = (place as usize).min(STOPS.len() - 2);
        linear(STOPS[low]).lerp(linear(STOPS[low + 1]), place - low as f32)
    });
    STONES.iter().chain(&DISTINCT).map(|&c| linear(c)).chain(ramp).collect()
}
