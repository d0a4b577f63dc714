//! Contact points of pairs with a convex hull. They are left in the manifold's place, the points on the two colliders where
//! levers and gaps belong, for `contacts` to make a manifold of them.

use crate::detect::collide::hull::{Polytope, Tables};
use crate::detect::collide::{Contact, Solid, at, half_space_contact, hull_contact, round_contact, swept};
use crate::detect::manifold::{FourPoints, Head, Manifold, ManifoldEnds, Point, feature_words, record};
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Store};
use crate::layout::Pair;
use crate::math::{Pose, Twist};
use crate::state::rigid::{Approach, Collider, Friction, Hull, HullEdge, HullFace, Params, shape, world_pose};
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
        /// Room for pairs.
        pub pairs: u32,
        /// Room for manifolds.
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
    if place >= push.manifolds || (a.what.shape != shape::HULL && c.what.shape != shape::HULL) {
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
    let (va, vc) = (b.velocities.at(a.what.body).linear, b.velocities.at(c.what.body).linear);
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
    b.manifolds.put(
        place,
        Manifold {
            ends: ManifoldEnds { collider_a: 0, collider_b: 0, body_a: 0, body_b: 0 },
            unit: 0.0,
            count: contact.count,
        },
    );
    let friction = Friction { fixed: 0.0, sliding: 0.0 };
    Head { normal: contact.normal, length: 0.0, offset: across, friction, driven: false, round: 0 }
        .store(&mut b.points, record(place));
    b.features.put(place, feature_words(&contact.feature));
    let mut points = FourPoints::none();
    let mut k = 0;
    while k < contact.count {
        let point = Point { lever: at(&contact.on_a, k), gap: at(&contact.on_b, k), lambda: Vec3::ZERO, k: 0.0 };
        points.put(k, &point);
        k += 1;
    }
    points.store(&mut b.points, record(place));
}
