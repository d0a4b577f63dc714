//! Writes the bounding box of every collider at the start of the step, grown by its contact margin and extended by its
//! motion during the step. Reads poses and velocities; writes `boxes`.

use crate::detect::collide::Solid;
use crate::gpu::{Load, abs, fmax, glam::Vec3, sqrt};
use crate::layout::Aabb;
use crate::math::{Pose, Twist};
use crate::state::rigid::{
    Body, Collider, Hull, Params, kind, own_velocity, shape, spin_reach, sweep, thickness, world_pose,
};
use crate::{layout, stage};

stage! {
    "bounds" each 256 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 poses: Pose,
        read 3 colliders: Collider,
        read 4 hulls: Hull,
        read 5 hull_vertices: Vec3,
        read 6 velocities: Twist,
        write 7 boxes: Aabb,
    }
}

layout! {
    /// Push constants of `bounds`.
    pub struct Push {
        /// Number of colliders.
        pub count: u32,
    }
}

/// A half-space's box: bounded along an axis only if its normal is parallel to that axis.
#[inline(always)]
fn half_space(point: Vec3, normal: Vec3) -> Aabb {
    let nearly = 0.999_999;
    let low = |n: f32, p: f32| if n < -nearly { p } else { f32::NEG_INFINITY };
    let high = |n: f32, p: f32| if n > nearly { p } else { f32::INFINITY };
    Aabb {
        min: Vec3::new(low(normal.x, point.x), low(normal.y, point.y), low(normal.z, point.z)),
        max: Vec3::new(high(normal.x, point.x), high(normal.y, point.y), high(normal.z, point.z)),
    }
}

/// Writes the box of one collider.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let collider = b.colliders.at(item);
    let mut bounds = Aabb::EMPTY;
    if collider.what.shape != shape::NONE && !b.bodies.at(collider.what.body).is(kind::DISABLED) {
        let solid = Solid::new(&collider, &world_pose(&collider, &b.poses.at(collider.what.body)));
        if collider.what.shape == shape::HALF_SPACE {
            bounds = half_space(solid.centre, solid.y);
        } else if collider.what.shape == shape::HULL {
            let hull = b.hulls.at(collider.hull).bounded();
            let grown = Vec3::splat(b.params.at(0).margin * thickness(&collider));
            let mut i = 0;
            while i < hull.vertices {
                let p = solid.centre + solid.to_world(b.hull_vertices.at(hull.first.wrapping_add(i)));
                bounds = bounds.union(&Aabb { min: p - grown, max: p + grown });
                i += 1;
            }
        } else if shape::is_curved(collider.what.shape) {
            let grown = Vec3::splat(b.params.at(0).margin * thickness(&collider));
            let (y, h) = (solid.y, collider.size.half());
            // Along a world axis with component y of the unit normal, a disc of radius r extends by r sqrt(1 - y^2).
            let disc = |y: f32| h.x * sqrt(fmax(0.0, 1.0 - y * y));
            let rim = Vec3::new(disc(y.x), disc(y.y), disc(y.z)) + grown;
            let (low, high) = (solid.centre - y * h.y, solid.centre + y * h.y);
            let end = if collider.what.shape == shape::CONE { grown } else { rim };
            bounds = Aabb { min: low - rim, max: low + rim }.union(&Aabb { min: high - end, max: high + end });
        } else {
            // Each box grows by half of the margin, so two colliders that are one margin apart have overlapping boxes.
            let grown = collider.size.radius + b.params.at(0).margin * thickness(&collider);
            let h = collider.size.half();
            let reach = |x: f32, y: f32, z: f32| abs(x) * h.x + abs(y) * h.y + abs(z) * h.z + grown;
            let extent = Vec3::new(
                reach(solid.x.x, solid.y.x, solid.z.x),
                reach(solid.x.y, solid.y.y, solid.z.y),
                reach(solid.x.z, solid.y.z, solid.z.z),
            );
            bounds = Aabb { min: solid.centre - extent, max: solid.centre + extent };
        }
    }
    if collider.what.shape != shape::HALF_SPACE && bounds.min.x <= bounds.max.x {
        let (params, velocity) = (b.params.at(0), b.velocities.at(collider.what.body));
        let own = own_velocity(&collider, &b.poses.at(collider.what.body), &velocity);
        let way = sweep(&params, &collider, own);
        if collider.is_continuous() {
            let grown = Vec3::splat(spin_reach(&params, &collider, velocity.angular));
            bounds = Aabb { min: bounds.min - grown, max: bounds.max + grown };
        }
        bounds = bounds.union(&Aabb { min: bounds.min + way, max: bounds.max + way });
    }
    // SAFETY: `item` is the number of the invocation, and boxes are stored by number only.
    unsafe { b.boxes.put_own(item, bounds) };
}
