//! Writes the box of every piece of a soft surface: where its corners may go in this step, grown by the thickness.
//! Reads positions and `soft_regions`; writes `soft_boxes`.

use crate::detect::soft_near::{NEARLY, corner};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store};
use crate::layout::Aabb;
use crate::state::soft::Particle;
use crate::state::soft_pairs::SoftFace;
use crate::{layout, stage};

stage! {
    "soft_boxes" each 64 {
        read 0 particles: Particle,
        read 1 soft_positions: Vec3,
        read 2 soft_regions: Aabb,
        read 3 soft_faces: SoftFace,
        write 4 soft_boxes: Aabb,
    }
}

layout! {
    /// Push constants of `soft_boxes`.
    pub struct Push {
        /// Number of pieces.
        pub count: u32,
    }
}

/// Writes that of one piece.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let face = b.soft_faces.at(item);
    let mut bounds = Aabb::EMPTY;
    let mut i = 0;
    while i < 3 {
        let at = corner(&face, i);
        let (particle, place, region) = (b.particles.at(at), b.soft_positions.at(at), b.soft_regions.at(at));
        if (face.owns != 0) & (particle.mass > 0.0) & (particle.radius >= 0.0) {
            let thick = Vec3::splat(particle.radius * (1.0 + NEARLY));
            let reach = Aabb { min: place + region.min - thick, max: place + region.max + thick };
            // From where it is to where it may go.
            bounds = bounds.union(&reach).union(&Aabb { min: place - thick, max: place + thick });
        }
        i += 1;
    }
    b.soft_boxes.put(item, bounds);
}
