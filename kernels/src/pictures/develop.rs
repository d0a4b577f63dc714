//! Converts light to bytes: the mean over all samples, tone-mapped, as red, green, blue and alpha, row by row.

use crate::gpu::{Load, Store, fmax, fmin, glam::Vec3, sqrt};
use crate::pictures::common::{View, pixel};
use crate::{layout, stage};

stage! {
    "develop" each 64 {
        read 0 views: View,
        read 1 light: Vec3,
        write 2 image: u32,
    }
}

layout! {
    /// Push constants of `develop`.
    pub struct Push {
        /// Pixels there is room for.
        pub count: u32,
        /// Samples that were added up.
        pub samples: u32,
    }
}

/// Light to a byte: Narkowicz' fit of the ACES curve (2016), then sRGB's.
#[inline(always)]
fn tone(light: f32) -> u32 {
    let v = fmax(light, 0.0) * 0.55;
    let v = fmin(v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14), 1.0);
    // sRGB's exponent from roots, to half a step of a byte.
    let (a, b) = (sqrt(v), sqrt(sqrt(v)));
    let encoded = 0.662_002_7 * a + 0.684_122 * b - 0.323_583_6 * sqrt(b) - 0.022_541_147 * v;
    (fmin(fmax(encoded, 0.0), 1.0) * 255.0 + 0.5) as u32
}

/// Develops one pixel.
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let view = b.views.at(0);
    let pixel = pixel(&view, item);
    if pixel.inside {
        let light = b.light.at(item) * (1.0 / push.samples as f32);
        let packed = tone(light.x) | tone(light.y) << 8 | tone(light.z) << 16 | 0xff << 24;
        b.image.put(pixel.y.wrapping_mul(view.width).wrapping_add(pixel.x), packed);
    }
}
