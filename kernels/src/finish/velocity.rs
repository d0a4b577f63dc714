//! Writes velocities and final poses of bodies from how far each moved (Algorithm 1, line 37; rotation by logarithm). A
//! body whose position, rotation or velocity is no longer finite goes back to where it started and is disabled; its
//! neighbours go on. The same happens to a kinematic body whose velocity takes it out of the range of floats.

use crate::detect::gate::counter;
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Store, finite};
use crate::math::{Pose, Rotation, Twist};
use crate::solve::contact::is_finite;
use crate::solve::solver_body::SolverBody;
use crate::solve::turns::FAST;
use crate::state::events::{EventRecord, append, event};
use crate::state::rigid::{Body, Params, kind};
use crate::{layout, stage};

stage! {
    "velocity" each 256 {
        read 0 params: Params,
        read 1 starts: Pose,
        update 2 deltas: Twist,
        update 3 bodies: Body,
        write 4 poses: Pose,
        update 5 velocities: Twist,
        write 6 previous: Vec3,
        update 7 counters: u32,
        update 8 solver_bodies: UVec4,
        read 9 body_order: u32,
        read 10 rotations: Rotation,
        write 11 events: EventRecord,
    }
}

layout! {
    /// Push constants of `velocity`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Capacity of the list of events.
        pub events: u32,
    }
}

/// Whether a pose is one: its position is finite, and its rotation about as long as 1. One that is too large for a float
/// was made 0 when it was normalised.
#[inline(always)]
fn is_pose(pose: &Pose) -> bool {
    let (p, q) = (pose.position, pose.rotation);
    let square = q.x * q.x + q.y * q.y + q.z * q.z + q.s * q.s;
    finite(p.x) & finite(p.y) & finite(p.z) & (square > 0.5) & (square < 2.0)
}

/// Finishes one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    // SAFETY: here and below, `item` is the number of the invocation, and these are stored and loaded by number only.
    let (body, delta) = unsafe { (b.bodies.at_own(item), b.deltas.at_own(item)) };
    let moves = body.is_dynamic();
    if !moves && !body.is(kind::KINEMATIC) {
        return;
    }
    let (start, rank) = (b.starts.at(item), b.body_order.at(item));
    let scale = 1.0 / b.params.at(0).dt;
    let pose = Pose { position: start.position + delta.linear, rotation: b.rotations.at(rank) };
    let mut turned = delta.angular;
    let fast = moves && turned.length_squared() > FAST * FAST;
    if fast {
        turned = SolverBody::held_turn(&b.solver_bodies, rank, turned);
        let ways = (&start.rotation, &pose.rotation);
        turned = SolverBody::rolling_turn(&b.solver_bodies, rank, body.inertia, ways, turned);
    }
    // A finite motion divided by dt may overflow.
    let velocity = Twist { linear: delta.linear * scale, angular: turned * scale };
    if is_finite(&velocity) & is_pose(&pose) {
        if !moves {
            // A kinematic body goes where it was told, with the velocity it was told.
            return;
        }
        if fast {
            // The stabilising pass takes the difference of delta and velocity times dt for its own motion.
            b.deltas.put(item, Twist { linear: delta.linear, angular: turned });
        }
        // SAFETY: as above.
        unsafe {
            b.poses.put_own(item, pose);
            b.previous.put_own(item, b.velocities.at_own(item).linear);
            b.velocities.put_own(item, velocity);
        }
    } else {
        b.bodies.put(item, body.turned_into(kind::DISABLED));
        SolverBody::hold(&mut b.solver_bodies, rank);
        // The pose that is shown must be finite, even if the one at the start is not.
        let origin = Pose { position: Vec3::ZERO, rotation: Rotation::IDENTITY };
        b.poses.put(item, if is_pose(&start) { start } else { origin });
        b.velocities.put(item, Twist { linear: Vec3::ZERO, angular: Vec3::ZERO });
        b.previous.put(item, Vec3::ZERO);
        b.deltas.put(item, Twist { linear: Vec3::ZERO, angular: Vec3::ZERO });
        let step = b.counters.at(counter::STEPS).wrapping_sub(1);
        let record = EventRecord::new(event::QUARANTINED, item, step);
        append(&mut b.counters, &mut b.events, push.events, record);
    }
}
