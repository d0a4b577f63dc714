//! Finds how short the sub-steps of the next frame must be: the largest ratio of a body's geometric stiffness to its
//! inertia ("Adaptive Sub-stepping", Eq. 4 and 9), from the forces of its contacts and joints in the last sub-step.
//! Writes the counter `NEED`.
//!
//! A force F at a lever r acts on a body that turns, so its torque changes with the rotation by K = r F^T - (r . F) I.
//! These are added up over all forces on a body, and the lengths of the columns, along the principal axes, are the
//! diagonal. A rod or a rope under a pull f also resists motion across its line, by f over its length; a torque counts
//! by half of it, as in the solver's Hessian.

use crate::detect::gate::counter;
use crate::detect::manifold::{FourPoints, Head, Manifold, Record, record};
use crate::detect::substep_gate::is_last;
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, fmax, least, sqrt};
use crate::math::{Pose, Rotation, tangents};
use crate::solve::joints::{Joint, JointEnds, JointForce, JointRow, axis, flag, some_length};
use crate::state::rigid::{Body, Entry, NONE, POINTS, contact_row, joint_row};
use crate::{layout, stage};

stage! {
    "substep_need" each 256 {
        read 0 bodies: Body,
        read 1 poses: Pose,
        read 2 rows: u32,
        read 3 entries: Entry,
        read 4 manifolds: Manifold,
        read 5 points: UVec4,
        read 6 joints: Joint,
        read 7 joint_rows: JointRow,
        read 8 joint_forces: JointForce,
        update 9 counters: u32,
    }
}

layout! {
    /// Push constants of `substep_need`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Upper bound of a ratio: larger ones do not come from anything that moves.
const LARGEST: f32 = 1e30;

/// Geometric stiffness of a body.
#[derive(Clone, Copy)]
struct Stiffness {
    /// Principal axes.
    axes: [Vec3; 3],
    /// Column of each.
    columns: [Vec3; 3],
    /// The same about every axis.
    about: f32,
    /// The same along every axis.
    along: f32,
}

impl Stiffness {
    #[inline(always)]
    fn new(rotation: &Rotation) -> Self {
        let axes = [rotation.apply(Vec3::X), rotation.apply(Vec3::Y), rotation.apply(Vec3::Z)];
        Self { axes, columns: [Vec3::ZERO; 3], about: 0.0, along: 0.0 }
    }

    /// Adds a force at a lever.
    #[inline(always)]
    fn add(&mut self, lever: Vec3, force: Vec3) {
        let along = lever.dot(force);
        self.columns[0] += lever * force.dot(self.axes[0]) - self.axes[0] * along;
        self.columns[1] += lever * force.dot(self.axes[1]) - self.axes[1] * along;
        self.columns[2] += lever * force.dot(self.axes[2]) - self.axes[2] * along;
    }

    /// The largest ratio to a body's inertia.
    #[inline(always)]
    fn ratio(&self, body: &Body) -> f32 {
        let length = |v: Vec3| sqrt(v.length_squared()) + self.about;
        let x = length(self.columns[0]) / body.inertia.x;
        let y = length(self.columns[1]) / body.inertia.y;
        let z = length(self.columns[2]) / body.inertia.z;
        fmax(fmax(x, y), fmax(z, self.along / body.mass))
    }
}

/// Looks at one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count || !is_last(b.counters.at(counter::STEPS), &b.counters) {
        return;
    }
    let body = b.bodies.at(item);
    if !body.is_dynamic() {
        return;
    }
    let own = b.poses.at(item);
    let mut stiffness = Stiffness::new(&own.rotation);
    let row = contact_row(&b.rows, item, b.entries.len());
    let mut e = row.start;
    while e < row.end {
        let entry = b.entries.at(e);
        let index = entry.manifold();
        let window: Record<'_> = b.points.window(record(index));
        let (head, points) = (Head::load(&window, 0), FourPoints::load(&window, 0));
        let (t, u) = tangents(head.normal);
        let count = least(b.manifolds.at(index).count, POINTS);
        let mut k = 0;
        while k < count {
            let point = points.at(k);
            // The multiplier is the force on b.
            let force = t * point.lambda.x + u * point.lambda.y + head.normal * point.lambda.z;
            let gap = t * point.gap.x + u * point.gap.y + head.normal * point.gap.z;
            if entry.is_a() {
                stiffness.add(point.lever, -force);
            } else {
                stiffness.add(point.lever + head.offset - gap, force);
            }
            k += 1;
        }
        e += 1;
    }
    let row = joint_row(&b.rows, item, b.entries.len());
    let mut e = row.start;
    while e < row.end {
        let entry = b.entries.at(e);
        let joint = b.joints.at(entry.joint());
        if joint.rows > 0 && joint.flags & flag::BROKEN == 0 {
            let acts = b.joint_forces.at(entry.joint());
            let (one, two) = (joint.body_a, if joint.body_b == NONE { joint.body_a } else { joint.body_b });
            let (a, mut c) = (b.poses.at(one), b.poses.at(two));
            if joint.body_b == NONE {
                c = Pose { position: Vec3::ZERO, rotation: Rotation::IDENTITY };
            }
            let ends = JointEnds::new(&joint, a.position - c.position, &a.rotation, &c.rotation);
            let lever = if entry.is_a() { ends.lever_a } else { ends.reach_b };
            stiffness.add(lever, if entry.is_a() { acts.force } else { -acts.force });
            stiffness.about += 0.5 * sqrt(acts.torque.length_squared());
            if b.joint_rows.at(joint.first_row).axis == axis::DISTANCE {
                let across = sqrt(acts.force.length_squared()) / some_length(ends.apart);
                stiffness.along += across;
                stiffness.about += across * lever.length_squared();
            }
        }
        e += 1;
    }
    let ratio = stiffness.ratio(&body);
    if ratio > 0.0 && ratio < LARGEST {
        // Floats above 0 are ordered as their bits are, and the largest is the same whoever comes first.
        b.counters.raise(counter::NEED, ratio.to_bits());
    }
}
