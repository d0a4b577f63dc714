//! How far every island of soft bodies, and of bodies that only they act on, goes as one, so that it keeps its momentum:
//! behind the iterations and the last dual pass, as `aggregates` do it for bodies. Forces within cancel, so it takes
//! none of them. Particles are solved one colour after the other, and what one gives to the next it gives with the
//! stiffness of the elements, hundreds of times that of its inertia: after few iterations what two surfaces push each
//! other with is not equal and opposite. Angular momentum is left as the iterations leave it. Writes `soft_ways`.

use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Group, Load, Store, finite};
use crate::graph::island::TileShares;
use crate::math::Twist;
use crate::solve::soft_sums::SoftLack;
use crate::solve::solver_body::SolverBody;
use crate::{layout, stage};

stage! {
    "soft_momentum" group 64 {
        read 0 islands: u32,
        read 1 members: u32,
        read 2 soft_lacks: SoftLack,
        read 3 solver_bodies: UVec4,
        read 4 body_order: u32,
        read 5 deltas: Twist,
        read 6 island_of: u32,
        write 7 soft_ways: SoftLack,
    }
}

layout! {
    /// Push constants of `soft_momentum`.
    pub struct Push {
        /// Number of soft bodies and bodies.
        pub nodes: u32,
        /// Number of soft bodies.
        pub soft_bodies: u32,
    }
}

/// Solves the islands that begin in this workgroup's tile.
#[inline(always)]
pub fn run(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    let mut parts = TileShares::new(&b.islands, group, push.nodes);
    while parts.more() {
        let part = parts.next(&b.islands, group);
        let (mut mass, mut lack) = (0.0, Vec3::ZERO);
        let mut place = part.first;
        while group.any(place < part.end) {
            if place < part.end {
                let node = b.members.at(place);
                if node < push.soft_bodies {
                    let soft = b.soft_lacks.at(node);
                    mass += soft.mass;
                    lack += soft.way;
                } else {
                    let body = node - push.soft_bodies;
                    let frame = SolverBody::load(&SolverBody::at(&b.solver_bodies, b.body_order.at(body)));
                    mass += frame.mass;
                    lack += (frame.target.position - b.deltas.at(body).linear) * frame.mass;
                }
            }
            place += part.step;
        }
        let (mass, lack) = (part.sum(group, mass), part.sums(group, lack));
        let way = lack * (if mass > 0.0 { 1.0 / mass } else { 0.0 });
        let sound = finite(way.x) & finite(way.y) & finite(way.z);
        if part.is_any() && part.first == part.start {
            let key = b.island_of.at(b.members.at(part.start));
            b.soft_ways.put(key, SoftLack { way: if sound { way } else { Vec3::ZERO }, mass });
        }
    }
}
