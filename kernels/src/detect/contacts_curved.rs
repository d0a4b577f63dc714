//! Finds the contact points of pairs with a cylinder or a cone, and stores them in the manifold's record as
//! `contacts_hull` does.

use crate::detect::collide::hull::Tables;
use crate::detect::collide::swept::Sweep;
use crate::detect::collide::{Convex, Solid, curved_apart, curved_contact};
use crate::detect::manifold::{Manifold, leave};
use crate::gpu::Load;
use crate::gpu::glam::{UVec4, Vec3};
use crate::layout::Pair;
use crate::math::{Pose, Twist};
use crate::state::rigid::{Approach, Collider, Hull, HullEdge, HullFace, Params, own_velocity, shape, world_pose};
use crate::{layout, stage};

stage! {
    "contacts_curved" each 64 {
        read 0 params: Params,
        read 1 poses: Pose,
        read 2 colliders: Collider,
        read 3 pairs: Pair,
        read 4 touches: u32,
        read 5 manifold_offsets: u32,
        read 6 hulls: Hull,
        read 7 hull_vertices: Vec3,
        read 8 hull_faces: HullFace,
        read 9 hull_loops: u32,
        read 10 hull_edges: HullEdge,
        write 11 manifolds: Manifold,
        write 12 points: UVec4,
        read 13 velocities: Twist,
        write 14 features: UVec4,
    }
}

layout! {
    /// Push constants of `contacts_curved`.
    pub struct Push {
        /// Capacity of the list of pairs.
        pub pairs: u32,
        /// Capacity of the list of manifolds.
        pub manifolds: u32,
    }
}

/// Finds the points of one pair, if it touches and one of the two is a cylinder or a cone.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.pairs || b.touches.at(item) == 0 {
        return;
    }
    let place = b.manifold_offsets.at(item);
    let pair = b.pairs.at(item);
    let (one, two) = (b.colliders.at(pair.a), b.colliders.at(pair.b));
    let swap = one.what.shape > two.what.shape;
    let a = if swap { two } else { one };
    let c = if swap { one } else { two };
    let (curved_a, curved_c) = (shape::is_curved(a.what.shape), shape::is_curved(c.what.shape));
    if place >= push.manifolds || (!curved_a && !curved_c) {
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
    let va = own_velocity(&a, &b.poses.at(a.what.body), &b.velocities.at(a.what.body));
    let vc = own_velocity(&c, &b.poses.at(c.what.body), &b.velocities.at(c.what.body));
    let approach = Approach::new(&b.params.at(0), &a, &c, va, vc);
    let outlines = t.outlines();
    let (first, second) = (Convex::new(&outlines, &a, sa), Convex::new(&outlines, &c, sc));
    // What rolls is touched where it is, as spheres and capsules are.
    let round_a = curved_a | a.is_round();
    let sweep = Sweep::new(&approach, round_a & curved_c, |way| {
        curved_apart(&outlines, &first.moved(way), &second, approach.near)
    });
    let found = curved_contact(&t, &first.moved(sweep.way), &second, approach.near, sweep.normal);
    let (contact, across) = sweep.finish(found, !round_a);
    leave(&contact, across, place, &mut b.manifolds, &mut b.points, &mut b.features);
}
