//! `touch` for pairs with a cylinder or a cone. Worlds without them do not run it. Writes `touches`.

use crate::detect::collide::hull::Outlines;
use crate::detect::collide::{Convex, Solid, curved_apart};
use crate::gpu::{Load, Store, glam::Vec3};
use crate::layout::{Extent, Pair};
use crate::math::{Pose, Twist};
use crate::state::rigid::{
    Approach, Body, Collider, Hull, HullFace, Params, may_touch, own_velocity, senses, shape, spin_reach, world_pose,
};
use crate::{layout, stage};

stage! {
    "touch_curved" each 64 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 poses: Pose,
        read 3 colliders: Collider,
        read 4 counters: u32,
        read 5 pairs: Pair,
        read 6 hulls: Hull,
        read 7 hull_vertices: Vec3,
        read 8 hull_faces: HullFace,
        write 9 touches: u32,
        read 10 velocities: Twist,
    }
}

layout! {
    /// Push constants of `touch_curved`.
    pub struct Push {
        /// Number of pairs.
        pub pairs: Extent,
    }
}

/// Tests one pair, if one of the two is a cylinder or a cone.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.pairs.count(&b.counters, b.pairs.len()) {
        return;
    }
    let pair = b.pairs.at(item);
    let (one, two) = (b.colliders.at(pair.a), b.colliders.at(pair.b));
    // The shape with the lower code comes first.
    let swap = one.what.shape > two.what.shape;
    let a = if swap { two } else { one };
    let c = if swap { one } else { two };
    let curved = shape::is_curved(a.what.shape) || shape::is_curved(c.what.shape);
    if !curved || c.what.shape == shape::NONE {
        return;
    }
    if !may_touch(&a, &c, &b.bodies.at(a.what.body), &b.bodies.at(c.what.body)) {
        return;
    }
    let t = Outlines { hulls: b.hulls, vertices: b.hull_vertices, faces: b.hull_faces };
    let sa = Solid::new(&a, &world_pose(&a, &b.poses.at(a.what.body)));
    let sc = Solid::new(&c, &world_pose(&c, &b.poses.at(c.what.body)));
    let (va, vc) = (b.velocities.at(a.what.body), b.velocities.at(c.what.body));
    let own_a = own_velocity(&a, &b.poses.at(a.what.body), &va);
    let own_c = own_velocity(&c, &b.poses.at(c.what.body), &vc);
    let mut approach = Approach::new(&b.params.at(0), &a, &c, own_a, own_c);
    if (a.is_continuous() || c.is_continuous()) && !senses(&a, &c) {
        // This extra reach is only for the stage `continuous`: contacts are made only of what linear motion brings
        // near.
        let params = b.params.at(0);
        approach.near += spin_reach(&params, &a, va.angular) + spin_reach(&params, &c, vc.angular);
    }
    let (_, apart) = curved_apart(&t, &Convex::new(&t, &a, sa), &Convex::new(&t, &c, sc), approach.near);
    b.touches.put(item, (apart < approach.near) as u32);
}
