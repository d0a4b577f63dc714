//! Finds which pairs of overlapping boxes really touch. Writes `touches`, 1 or 0, whose scan gives manifolds their
//! offsets, and for two boxes the separating axis, so that `contacts` need not search again. Hulls are left to
//! `touch_hull`, cylinders and cones to `touch_curved`.

use crate::detect::collide::{Solid, best_axis, other_contact, swept};
use crate::gpu::{Load, Store};
use crate::layout::{Extent, Pair};
use crate::math::{Pose, Twist};
use crate::state::rigid::{
    Approach, Body, Collider, Params, may_touch, own_velocity, senses, shape, spin_reach, world_pose,
};
use crate::{layout, stage};

stage! {
    "touch" each 64 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 poses: Pose,
        read 3 colliders: Collider,
        read 4 counters: u32,
        read 5 pairs: Pair,
        write 6 touches: u32,
        write 7 axes: u32,
        read 8 velocities: Twist,
    }
}

layout! {
    /// Push constants of `touch`.
    pub struct Push {
        /// Number of pairs.
        pub pairs: Extent,
    }
}

/// Tests one pair. Items beyond the count write 0, so that the whole list can be scanned.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.pairs.limit {
        return;
    }
    let mut touch = 0;
    let mut axis = 0;
    if item < push.pairs.count(&b.counters, b.pairs.len()) {
        let pair = b.pairs.at(item);
        let (one, two) = (b.colliders.at(pair.a), b.colliders.at(pair.b));
        // The shape with the lower code comes first.
        let swap = one.what.shape > two.what.shape;
        let a = if swap { two } else { one };
        let c = if swap { one } else { two };
        if may_touch(&a, &c, &b.bodies.at(a.what.body), &b.bodies.at(c.what.body)) {
            let sa = Solid::new(&a, &world_pose(&a, &b.poses.at(a.what.body)));
            let sc = Solid::new(&c, &world_pose(&c, &b.poses.at(c.what.body)));
            let (va, vc) = (b.velocities.at(a.what.body), b.velocities.at(c.what.body));
            let own_a = own_velocity(&a, &b.poses.at(a.what.body), &va);
            let own_c = own_velocity(&c, &b.poses.at(c.what.body), &vc);
            let mut approach = Approach::new(&b.params.at(0), &a, &c, own_a, own_c);
            let continuous = (a.is_continuous() || c.is_continuous()) && !senses(&a, &c);
            if continuous {
                // This extra reach is only for the stage `continuous`: contacts are made only of what linear motion
                // brings near.
                let params = b.params.at(0);
                approach.near += spin_reach(&params, &a, va.angular) + spin_reach(&params, &c, vc.angular);
            }
            let near = approach.near;
            if a.what.shape == shape::BOX && c.what.shape == shape::BOX {
                if approach.moves() {
                    let find = |way, now: &Approach| best_axis::<true>(&swept::moved(&sa, way), &sc, now);
                    let found = swept::flat(&approach, find);
                    axis = found.code;
                    touch = (found.touch || (continuous && found.near)) as u32;
                } else {
                    let best = best_axis::<false>(&sa, &sc, &approach);
                    axis = best.code;
                    touch = (best.separation < near) as u32;
                }
            } else if a.what.shape < shape::HULL && (c.what.shape < shape::HULL || c.what.shape == shape::HALF_SPACE) {
                touch = (other_contact(&sa, a.what.shape, &sc, c.what.shape, near).count > 0) as u32;
            }
        }
    }
    b.touches.put(item, touch);
    b.axes.put(item, axis);
}
