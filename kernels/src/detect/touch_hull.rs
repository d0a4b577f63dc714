//! `touch` for pairs with a convex hull. A stage of its own, because the tables of hulls would make every other pair
//! slower; worlds without hulls do not run it. Writes `touches` and `axes`.

use crate::detect::collide::hull::{Polytope, Tables, best_axis};
use crate::detect::collide::{Solid, round_contact, swept};
use crate::gpu::{Load, Store, fmax, glam::Vec3};
use crate::layout::{Extent, Pair};
use crate::math::{Pose, Twist};
use crate::state::rigid::{
    Approach, Body, Collider, Hull, HullEdge, HullFace, Params, may_touch, own_velocity, senses, shape, spin_reach,
    thickness, world_pose,
};
use crate::{layout, stage};

stage! {
    "touch_hull" each 64 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 poses: Pose,
        read 3 colliders: Collider,
        read 4 counters: u32,
        read 5 pairs: Pair,
        read 6 hulls: Hull,
        read 7 hull_vertices: Vec3,
        read 8 hull_faces: HullFace,
        read 9 hull_loops: u32,
        read 10 hull_edges: HullEdge,
        write 11 touches: u32,
        write 12 axes: u32,
        read 13 velocities: Twist,
    }
}

layout! {
    /// Push constants of `touch_hull`.
    pub struct Push {
        /// Number of pairs.
        pub pairs: Extent,
    }
}

/// Tests one pair, if one of the two is a hull.
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
    let hull = a.what.shape == shape::HULL || c.what.shape == shape::HULL;
    if !hull || shape::is_curved(c.what.shape) || c.what.shape == shape::NONE {
        return;
    }
    if !may_touch(&a, &c, &b.bodies.at(a.what.body), &b.bodies.at(c.what.body)) {
        return;
    }
    let t = Tables {
        hulls: b.hulls,
        vertices: b.hull_vertices,
        faces: b.hull_faces,
        loops: b.hull_loops,
        edges: b.hull_edges,
    };
    let sa = Solid::new(&a, &world_pose(&a, &b.poses.at(a.what.body)));
    let sc = Solid::new(&c, &world_pose(&c, &b.poses.at(c.what.body)));
    let (va, vc) = (b.velocities.at(a.what.body), b.velocities.at(c.what.body));
    let own_a = own_velocity(&a, &b.poses.at(a.what.body), &va);
    let own_c = own_velocity(&c, &b.poses.at(c.what.body), &vc);
    let mut approach = Approach::new(&b.params.at(0), &a, &c, own_a, own_c);
    let continuous = (a.is_continuous() || c.is_continuous()) && !senses(&a, &c);
    if continuous {
        // This extra reach is only for the stage `continuous`: contacts are made only of what linear motion brings
        // near.
        let params = b.params.at(0);
        approach.near += spin_reach(&params, &a, va.angular) + spin_reach(&params, &c, vc.angular);
    }
    let near = approach.near;
    // Whether the first of the two is the hull; otherwise the second is.
    let first = c.what.shape == shape::HALF_SPACE;
    let mut axis = 0;
    let touch = if first {
        let hull = Polytope::new(&t, &a, sa);
        sc.y.dot(sa.centre - sc.centre) + hull.lowest(&t, sc.y) < near
    } else {
        let hull = Polytope::new(&t, &c, sc);
        if a.what.shape == shape::SPHERE || a.what.shape == shape::CAPSULE {
            round_contact(&t, &sa, &hull, near).count > 0
        } else {
            let size = fmax(thickness(&a), thickness(&c));
            let first = Polytope::new(&t, &a, sa);
            let found = swept::flat(&approach, |way, now| best_axis(&t, &first.moved(way), &hull, size, now));
            axis = found.code;
            found.touch || (continuous && found.near)
        }
    };
    b.touches.put(item, touch as u32);
    b.axes.put(item, axis);
}
