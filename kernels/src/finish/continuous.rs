//! Keeps bodies with continuous detection from ending a step where they could only have come through something. Writes
//! `poses`.
//!
//! Contacts across gaps stop flying bodies, but they are linear, do not include rotation, and after few iterations
//! still give way. So this pass goes through the motion of the step once more, against everything that detection found
//! near, by conservative advancement: it never advances by more than the gap divided by an upper bound of its closing
//! speed. With t the time as a fraction of the step, n the normal from b to a, v and w the linear and angular motion in
//! the step,
//!
//! ```text
//!   t += gap / (n . (v_b - v_a) + |n x w_a| r_a + |n x w_b| r_b)        r: farthest point from the centre of mass
//! ```
//!
//! A body that would overlap something by more than allowed ends the step where it first touched, and keeps its
//! velocity; the next step starts there, and stops or deflects it. If it overlapped already, that depth counts as the
//! surface. Other bodies are taken along their real motion, so a body that something fast may hit must be continuous
//! itself.

use crate::detect::collide::hull::{Polytope, Tables, best_axis};
use crate::detect::collide::swept::axis_of;
use crate::detect::collide::{Solid, direction_of, round_contact, round_round};
use crate::detect::manifold::Manifold;
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, abs, fmax, fmin, sqrt};
use crate::math::{Pose, Rotation, Twist};
use crate::state::rigid::{
    Approach, Body, Collider, Entry, Hull, HullEdge, HullFace, contact_row, shape, thickness, turning_radius,
    world_pose,
};
use crate::{layout, stage};

stage! {
    "continuous" each 256 {
        read 0 bodies: Body,
        read 1 starts: Pose,
        read 2 deltas: Twist,
        read 3 body_order: u32,
        read 4 rotations: Rotation,
        read 5 rows: u32,
        read 6 entries: Entry,
        read 7 manifolds: Manifold,
        read 8 colliders: Collider,
        read 9 hulls: Hull,
        read 10 hull_vertices: Vec3,
        read 11 hull_faces: HullFace,
        read 12 hull_loops: u32,
        read 13 hull_edges: HullEdge,
        write 14 poses: Pose,
    }
}

layout! {
    /// Push constants of `continuous`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Overlap that a step may add, as a fraction of the thinner shape's half width.
const ALLOWED: f32 = 0.1;
/// Largest number of rounds of the advancement. Translation takes two; a spinning body covers only part of the gap in
/// each.
const ROUNDS: u32 = 64;

/// A body's motion in the step.
#[derive(Clone, Copy)]
struct Motion {
    start: Pose,
    way: Twist,
    end: Rotation,
}

impl Motion {
    #[inline(always)]
    fn of(b: &Bindings<'_>, body: u32) -> Self {
        Self { start: b.starts.at(body), way: b.deltas.at(body), end: b.rotations.at(b.body_order.at(body)) }
    }

    /// Its pose after a fraction of the step.
    #[inline(always)]
    fn at(&self, time: f32) -> Pose {
        let turned = Rotation::exp(self.way.angular * time).then_after(&self.start.rotation).normalized();
        let rotation = if time < 1.0 { turned } else { self.end };
        Pose { position: self.start.position + self.way.linear * time, rotation }
    }
}

/// Distance of two colliders, and the direction along which it is measured, from b to a.
#[inline(always)]
fn gap(t: &Tables<'_>, a: &Collider, b: &Collider, pose_a: &Pose, pose_b: &Pose) -> (f32, Vec3) {
    // What is round comes first, and a half-space last.
    let swap = (b.is_round() && !a.is_round()) || a.what.shape == shape::HALF_SPACE;
    let (x, y) = if swap { (*b, *a) } else { (*a, *b) };
    let (pose_x, pose_y) = if swap { (*pose_b, *pose_a) } else { (*pose_a, *pose_b) };
    let (sx, sy) = (Solid::new(&x, &world_pose(&x, &pose_x)), Solid::new(&y, &world_pose(&y, &pose_y)));
    let mut normal = sy.y;
    let mut apart = f32::MAX;
    if y.what.shape == shape::HALF_SPACE {
        let low = if x.is_round() {
            -abs(sy.y.dot(sx.y)) * sx.half.y - sx.radius
        } else {
            Polytope::new(t, &x, sx).lowest(t, sy.y)
        };
        apart = sy.y.dot(sx.centre - sy.centre) + low;
    } else if x.is_round() {
        let contact = if y.is_round() {
            round_round(&sx, &sy, f32::MAX)
        } else {
            round_contact(t, &sx, &Polytope::new(t, &y, sy), f32::MAX)
        };
        normal = contact.normal;
        let mut k = 0;
        while k < contact.count {
            apart = fmin(apart, normal.dot(contact.on_a.at(k) - contact.on_b.at(k)));
            k += 1;
        }
    } else {
        let any = Approach { way: Vec3::ZERO, near: f32::MAX, skin: 0.0, faces: 0.0 };
        let (px, py) = (Polytope::new(t, &x, sx), Polytope::new(t, &y, sy));
        let best = best_axis(t, &px, &py, 0.0, &any);
        apart = best.separation;
        normal = direction_of(t, &px, &py, axis_of(best.code));
    }
    (apart, if swap { -normal } else { normal })
}

/// Fraction of the step after which a collider must stop, because it would become too deep in another; 1 if it need
/// not.
#[inline(always)]
fn first_contact(t: &Tables<'_>, a: &Collider, b: &Collider, by_a: &Motion, by_b: &Motion) -> f32 {
    let allowed = ALLOWED * fmin(thickness(a), thickness(b));
    let (turn_a, turn_b) = (by_a.way.angular, by_b.way.angular);
    let (radius_a, radius_b) = (turning_radius(a), turning_radius(b));
    let way = by_a.way.linear - by_b.way.linear;
    // First to the time of contact, then to the time at which it is too deep.
    let (mut level, mut deep) = (0.0, 0.0);
    let (mut time, mut touched, mut stop) = (0.0, 1.0, 1.0);
    let mut round = 0;
    while round < ROUNDS {
        let (apart, n) = gap(t, a, b, &by_a.at(time), &by_b.at(time));
        if round == 0 {
            level = fmin(apart, 0.0) - 0.2 * allowed;
            deep = level - 0.8 * allowed;
        }
        let turning = |turn: Vec3, radius: f32| sqrt(n.cross(turn).length_squared()) * radius;
        let closing = -n.dot(way) + turning(turn_a, radius_a) + turning(turn_b, radius_b);
        if touched >= 1.0 && apart <= level + 0.1 * allowed {
            touched = time;
        }
        let target = if touched < 1.0 { deep } else { level };
        let over = touched < 1.0 && apart <= deep + 0.1 * allowed;
        stop = if over { touched } else { 1.0 };
        let more = if closing > 0.0 { (apart - target) / closing } else { 2.0 };
        let ends = over || time >= 1.0 || more >= 2.0;
        time = fmin(time + fmax(more, 0.0), 1.0);
        round = if ends { ROUNDS } else { round + 1 };
    }
    stop
}

/// Holds one body back, if it must be.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count || !b.bodies.at(item).is_dynamic() {
        return;
    }
    let t = Tables {
        hulls: b.hulls,
        vertices: b.hull_vertices,
        faces: b.hull_faces,
        loops: b.hull_loops,
        edges: b.hull_edges,
    };
    let row = contact_row(&b.rows, item, b.entries.len());
    let mut time = 1.0;
    let mut e = row.start;
    let mut end = row.end;
    while e < end {
        let entry = b.entries.at(e);
        let ends = b.manifolds.at(entry.manifold()).ends;
        let is_a = entry.is_a();
        let own = b.colliders.at(if is_a { ends.collider_a } else { ends.collider_b });
        let other = b.colliders.at(if is_a { ends.collider_b } else { ends.collider_a });
        if own.is_continuous() {
            let (mine, theirs) = (Motion::of(b, item), Motion::of(b, entry.other));
            time = fmin(time, first_contact(&t, &own, &other, &mine, &theirs));
        } else {
            // None of its colliders is.
            end = e;
        }
        e += 1;
    }
    if time < 1.0 {
        b.poses.put(item, Motion::of(b, item).at(time));
    }
}
