//! Finds what the surfaces of every manifold do in this step, from the materials of its colliders ([`Surface`]). Reads
//! poses, materials and last step's torques; writes `surfaces`, and the `driven` mark in the records. Runs directly
//! after `contacts`, while the rows of the last step still exist, through which it finds the cached torque.
//!
//! A surface moves with the velocity v + w x (p - o) at the point p, with o the collider's origin, v and w the
//! material's linear and angular velocity. Over the points of a manifold this is taken as the velocity at their middle,
//! projected into the plane of contact, plus a turn about the normal. That is exact for flat contact; for a roller it
//! neglects its curvature over the width of the contact.

use crate::detect::contacts::find_cached;
use crate::detect::gate::counter;
use crate::detect::manifold::{FourPoints, Head, Manifold, record};
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, fmax, least};
use crate::math::{Pose, vector};
use crate::solve::surface::Surface;
use crate::state::material::{Material, combine, rule_of, traits};
use crate::state::rigid::{Body, CachedPair, Collider, Entry, NONE, Params};
use crate::{layout, stage};

stage! {
    "surfaces_start" each 64 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 poses: Pose,
        read 3 colliders: Collider,
        read 4 materials: Material,
        read 5 manifolds: Manifold,
        read 6 rows: u32,
        read 7 entries: Entry,
        read 8 cached_pairs: CachedPair,
        read 9 cached_torques: UVec4,
        read 10 counters: u32,
        update 11 points: UVec4,
        write 12 surfaces: UVec4,
    }
}

layout! {
    /// Push constants of `surfaces_start`.
    pub struct Push {
        /// Capacity of the list of manifolds.
        pub limit: u32,
    }
}

/// Motion of a surface: velocity at a point, m/s, and angular velocity, rad/s.
#[derive(Clone, Copy)]
struct Motion {
    linear: Vec3,
    angular: Vec3,
}

/// Motion of the surface of a collider at the point `place`, in world space.
#[inline(always)]
fn motion(collider: &Collider, material: &Material, body: &Pose, place: Vec3, dt: f32) -> Motion {
    let angular = body.rotation.apply(material.angular);
    let origin = body.point(collider.pose.position);
    let linear = body.rotation.apply(material.linear) + angular.cross(place - origin);
    // Taken at the middle of the step: a step along the tangent would carry a body off its circle.
    Motion { linear: linear + angular.cross(linear) * (0.5 * dt), angular }
}

/// Upper bound of a body's moment of inertia about a point: its largest principal moment plus mass times lever squared.
#[inline(always)]
fn moment(body: &Body, lever: Vec3) -> f32 {
    let i = body.inertia;
    fmax(i.x, fmax(i.y, i.z)) + body.mass * lever.length_squared()
}

/// Starts one manifold.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.limit || item >= b.counters.at(counter::SOLVED) {
        return;
    }
    let (params, manifold) = (b.params.at(0), b.manifolds.at(item));
    let ends = manifold.ends;
    let (a, c) = (b.colliders.at(ends.collider_a), b.colliders.at(ends.collider_b));
    let (of_a, of_c) = (b.materials.at(ends.collider_a), b.materials.at(ends.collider_b));
    let (pose_a, pose_c) = (b.poses.at(ends.body_a), b.poses.at(ends.body_b));
    let mut head = Head::load(&b.points, record(item));
    let points = FourPoints::load(&b.points, record(item));
    let n = head.normal;
    let mut middle = Vec3::ZERO;
    let mut k = 0;
    let count = least(manifold.count, 4);
    while k < count {
        middle += points.at(k).lever;
        k += 1;
    }
    middle *= 1.0 / fmax(count as f32, 1.0);

    let place = pose_a.position + middle;
    let (one, two) = (motion(&a, &of_a, &pose_a, place, params.dt), motion(&c, &of_c, &pose_c, place, params.dt));
    let way = (one.linear - two.linear) * params.dt;
    let spin = n.dot(one.angular - two.angular) * params.dt;
    let rule = rule_of(a.traits, c.traits, traits::ROLLING);
    let mut surface = Surface::none();
    surface.drift = way - n * n.dot(way) - n.cross(middle) * spin;
    surface.spin = spin;
    surface.rolling = combine(rule, of_a.rolling, of_c.rolling);
    surface.torsional = combine(rule, of_a.torsional, of_c.torsional);
    let rule = rule_of(a.traits, c.traits, traits::RESTITUTION);
    surface.restitution = combine(rule, of_a.restitution, of_c.restitution);
    if (surface.rolling > 0.0) | (surface.torsional > 0.0) {
        // One unit of stiffness, as for other rows: the reduced moment of inertia of both bodies over dt squared.
        let (body_a, body_c) = (b.bodies.at(ends.body_a), b.bodies.at(ends.body_b));
        let (m_a, m_c) = (moment(&body_a, middle), moment(&body_c, middle + head.offset));
        let ease_a = if body_a.is_dynamic() { 1.0 / m_a } else { 0.0 };
        let ease_c = if body_c.is_dynamic() { 1.0 / m_c } else { 0.0 };
        surface.k = params.k_start / (params.dt * params.dt * fmax(ease_a + ease_c, 1e-30));
        let cached = find_cached(&ends, &b.bodies, &b.rows, &b.entries, &b.cached_pairs);
        if cached != NONE {
            surface.torque = vector(b.cached_torques.at(cached)) * params.warm;
        }
    }
    surface.store(&mut b.surfaces, item);
    if surface.drives() {
        head.driven = true;
        head.store(&mut b.points, record(item));
    }
}
