//! Writes the bounding box of every triangle of soft bodies' surfaces, for a hierarchy over them that rays go through.

use crate::gpu::Load;
use crate::layout::{Aabb, SoftVertex};
use crate::{layout, stage};

stage! {
    "surface_boxes" each 256 {
        read 0 soft_vertices: SoftVertex,
        read 1 soft_triangles: u32,
        write 2 boxes: Aabb,
    }
}

layout! {
    /// Push constants of `surface_boxes`.
    pub struct Push {
        /// Number of triangles there is room for. Those that are not there have the same vertex three times.
        pub count: u32,
    }
}

/// Writes the box of one triangle.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let first = item * 3;
    let (v0, v1) = (b.soft_triangles.at(first), b.soft_triangles.at(first + 1));
    let a = b.soft_vertices.at(v0);
    let mut bounds = Aabb::EMPTY;
    if v0 != v1 && a.present != 0 {
        let p1 = b.soft_vertices.at(v1).position;
        let p2 = b.soft_vertices.at(b.soft_triangles.at(first + 2)).position;
        bounds = Aabb { min: a.position, max: a.position };
        bounds = bounds.union(&Aabb { min: p1, max: p1 }).union(&Aabb { min: p2, max: p2 });
    }
    // SAFETY: `item` is the number of the invocation, and boxes are stored by number only.
    unsafe { b.boxes.put_own(item, bounds) };
}
