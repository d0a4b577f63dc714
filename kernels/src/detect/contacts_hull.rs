//! Finds the contact points of pairs with a convex hull. It stores the points on both colliders in the manifold's
//! record, in place of levers and gaps; `contacts` makes the manifold from them.

use crate::detect::collide::hull::{Polytope, Tables};
use crate::detect::collide::{Contact, Solid, half_space_contact, hull_contact, round_contact, swept};
use crate::detect::manifold::{Manifold, leave};
use crate::gpu::Load;
use crate::gpu::glam::{UVec4, Vec3};
use crate::layout::Pair;
use crate::math::{Pose, Twist};
use crate::state::rigid::{Approach, Collider, Hull, HullEdge, HullFace, Params, own_velocity, shape, world_pose};
use crate::{layout, stage};

stage! {
    "contacts_hull" each 64 {
        read 0 params: Params,
        read 1 poses: Pose,
        read 2 colliders: Collider,
        read 3 pairs: Pair,
        read 4 touches: u32,
        read 5 axes: u32,
        read 6 manifold_offsets: u32,
        read 7 hulls: Hull,
        read 8 hull_vertices: Vec3,
        read 9 hull_faces: HullFace,
        read 10 hull_loops: u32,
        read 11 hull_edges: HullEdge,
        write 12 manifolds: Manifold,
        write 13 points: UVec4,
        read 14 velocities: Twist,
        write 15 features: UVec4,
    }
}

layout! {
    /// Push constants of `contacts_hull`.
    pub struct Push {
        /// Capacity of the list of pairs.
        pub pairs: u32,
        /// Capacity of the list of manifolds.
        pub manifolds: u32,
    }
}

/// Finds the points of one pair, if it touches and one of the two is a hull.
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
    let hull = a.what.shape == shape::HULL || c.what.shape == shape::HULL;
    if place >= push.manifolds || !hull || shape::is_curved(c.what.shape) {
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
    let near = approach.near;
    let mut across = Vec3::ZERO;
    let contact: Contact = if c.what.shape == shape::HALF_SPACE {
        half_space_contact(&t, &Polytope::new(&t, &a, sa), &sc, near)
    } else if a.what.shape == shape::SPHERE || a.what.shape == shape::CAPSULE {
        let hull = Polytope::new(&t, &c, sc);
        let (found, shift) =
            swept::round(&approach, (true, false), |way| round_contact(&t, &swept::moved(&sa, way), &hull, near));
        across = shift;
        found
    } else {
        let code = b.axes.at(item);
        let way = swept::way_of(&approach, code);
        let (moved, hull) = (Polytope::new(&t, &a, swept::moved(&sa, way)), Polytope::new(&t, &c, sc));
        let mut found = hull_contact(&t, &moved, &hull, swept::axis_of(code), near, swept::hits(code));
        found.count = if code == swept::PASSES { 0 } else { found.count };
        across = swept::across(&found, way);
        swept::at_start(&found, way)
    };
    leave(&contact, across, place, &mut b.manifolds, &mut b.points, &mut b.features);
}
