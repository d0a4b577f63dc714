//! Prediction of second order (BDF2), after `predict`: replaces target and mass of bodies whose last step is known.
//! Reads `last_steps`; writes `solver_bodies`, `deltas`, `poses` and `rotations` of those bodies.
//!
//! With h the time step, p its ratio to the last one, c = p^2 / (1 + 2p) and b = (1 + p) / (1 + 2p), which are 1/3 and
//! 2/3 for equal steps, and primes for the end of the step:
//!
//! ```text
//!   x' - x = c (x - x_last) + b h v'         v' - v = c (v - v_last) + b h F/m
//! ```
//!
//! So the step is one of implicit Euler over b h seconds towards another target. The iterations do not change, except
//! that the body counts as 1/b^2 times as heavy; forces, multipliers and stiffness keep their meaning. The same holds
//! for rotations, with angular momentum in place of velocity, so a free body keeps its momentum.
//!
//! A jump in velocity is not smooth: extrapolated, it would throw the body back with half the speed. Implicit Euler
//! therefore stays in use for bodies near others; for the next step of a body whose acceleration jumped or whose
//! velocity the user set; for bodies that are damped or spin fast; and for chains under load, see `second_velocity`. In
//! between only a part of c counts, with b = 1 - c / p.

use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Store};
use crate::math::{Pose, Rotation, Twist, inertia};
use crate::solve::solver_body::SolverBody;
use crate::state::rigid::{Body, Params, contact_row, gravity, row};
use crate::state::second::{LastStep, Weights};
use crate::{layout, stage};

stage! {
    "second_predict" each 256 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 velocities: Twist,
        read 3 starts: Pose,
        read 4 forces: Twist,
        read 5 rows: u32,
        read 6 body_order: u32,
        update 7 last_steps: LastStep,
        write 8 solver_bodies: UVec4,
        update 9 deltas: Twist,
        write 10 poses: Pose,
        write 11 rotations: Rotation,
    }
}

layout! {
    /// Push constants of `second_predict`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Radians a step above which a body spins too fast for the second order.
const SPINS: f32 = 0.5;

/// Predicts one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let (params, body, velocity) = (b.params.at(0), b.bodies.at(item), b.velocities.at(item));
    let start = b.starts.at(item);
    let mut last = b.last_steps.at(item);
    let momentum = inertia(&start.rotation, body.inertia, velocity.angular);
    let told = last.after.linear == velocity.linear && last.after.angular == velocity.angular;
    let slow = |turn: Vec3| turn.length_squared() < SPINS * SPINS;
    let weights = Weights::new(params.dt, &last);
    let alone = contact_row(&b.rows, item, u32::MAX).count() == 0;
    let undamped = (body.linear_damping == 0.0) & (body.angular_damping == 0.0);
    let smooth = slow(velocity.angular * params.dt) & slow(last.delta.angular);
    let used = body.is_dynamic() & told & weights.sound & alone & undamped & smooth;
    last.used = used as u32;
    let (before, linear) = (last.before, velocity.linear);
    last.start = Twist { linear, angular: momentum };
    // SAFETY: here and below, `item` is the number of the invocation, and these are stored and loaded by number only.
    unsafe { b.last_steps.put_own(item, last) };
    if !used {
        return;
    }
    let (c, h) = (weights.back, weights.ahead * params.dt);
    let force = b.forces.at(item);
    let way = last.delta.linear * c + (linear + (linear - before.linear) * c) * h;
    let pulls = (gravity(&b.params, body.world()) * body.gravity_scale + force.linear * (1.0 / body.mass)) * (h * h);
    let turning = momentum + (momentum - before.angular) * c + force.angular * h;
    // Fixed-point iteration for the rotation whose angular velocity at its end has that momentum. It contracts by about
    // the angle times the ratio of the moments.
    let inverse = Vec3::new(1.0 / body.inertia.x, 1.0 / body.inertia.y, 1.0 / body.inertia.z);
    let mut turn = last.delta.angular * c + velocity.angular * h;
    let mut rotation = Rotation::exp(turn).then_after(&start.rotation).normalized();
    let mut round = 0;
    while round < 4 {
        turn = last.delta.angular * c + inertia(&rotation, inverse, turning) * h;
        rotation = Rotation::exp(turn).then_after(&start.rotation).normalized();
        round += 1;
    }
    let heavier = 1.0 / (weights.ahead * weights.ahead);
    let frame = SolverBody {
        target: Pose { position: way + pulls, rotation },
        start,
        inertia: body.inertia * heavier,
        mass: body.mass * heavier,
    };
    let rank = b.body_order.at(item);
    frame.store(&mut b.solver_bodies, rank, contact_row(&b.rows, item, u32::MAX));
    // The guess includes the same part of gravity that `predict` gave it.
    let touched = row(&b.rows, item, u32::MAX).count() > 0;
    let began = b.deltas.at(item).linear - linear * params.dt;
    let guess = if touched { way + began } else { way + pulls };
    b.rotations.put(rank, rotation);
    // SAFETY: as above.
    unsafe {
        b.poses.put_own(item, Pose { position: start.position + guess, rotation });
        b.deltas.put_own(item, Twist { linear: guess, angular: turn });
    }
}
