//! Writes the ray of every pixel for one sample. Samples lie at the same places within every pixel.

use crate::gpu::{Load, Store, sqrt};
use crate::pictures::common::{Spot, View, pixel, spot};
use crate::queries::rays::Ray;
use crate::{layout, stage};

stage! {
    "eye_rays" each 64 {
        read 0 views: View,
        write 1 rays: Ray,
    }
}

layout! {
    /// Push constants of `eye_rays`.
    pub struct Push {
        /// Pixels there is room for.
        pub count: u32,
        /// Which sample.
        pub sample: u32,
    }
}

/// How far a picture reaches.
pub const FAR: f32 = 1e6;

/// Makes one ray.
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let view = b.views.at(0);
    let pixel = pixel(&view, item);
    // The first sample is in the middle.
    let at = spot(push.sample, Spot { u: 0.5, v: 0.5 });
    let x = (pixel.x as f32 + at.u) / view.width as f32 * 2.0 - 1.0;
    let y = 1.0 - (pixel.y as f32 + at.v) / view.height as f32 * 2.0;
    let direction = view.forward + view.right * x + view.up * y;
    let direction = direction * (1.0 / sqrt(direction.length_squared()));
    // A pixel outside of the picture goes nowhere.
    let reach = if pixel.inside { FAR } else { -1.0 };
    b.rays.put(item, Ray { origin: view.eye, reach, direction });
}
