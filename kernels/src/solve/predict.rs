//! Where every body would go on its own (the inertial target, Eq. 2), and where the iterations start.
//!
//! The start has adaptive gravity: as much of it as the body felt in the last step, so that what lies at rest starts at
//! rest; and as much of the user's force. The target always has all of both; its position is the way from the start, which
//! keeps more digits. A body with joints starts with all of it when it falls freely, and else with none: what stiff joints make of
//! the start is felt in the next step again, and a chain that got part of gravity for it would gain energy. Without
//! [`option::FALLING_ONLY`] it is a body like any other.
//!
//! Rotation: velocities are differences of poses, so they belong to the middle of a step. The next rotation is the one
//! whose angular momentum in the middle of its own step is that of the last: a free body keeps its momentum to
//! rounding, and its energy without drift.

use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Store, fmax, fmin, sqrt};
use crate::math::{Pose, Rotation, Twist, inertia};
use crate::solve::solver_body::SolverBody;
use crate::state::rigid::{Body, Params, contact_row, joint_row, kind, option, row};
use crate::{layout, stage};

stage! {
    "predict" each 256 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 velocities: Twist,
        read 3 previous: Vec3,
        update 4 poses: Pose,
        write 5 starts: Pose,
        write 6 solver_bodies: UVec4,
        write 7 deltas: Twist,
        read 8 forces: Twist,
        read 9 rows: u32,
        read 10 body_order: u32,
        write 11 rotations: Rotation,
    }
}

layout! {
    /// Push constants of `predict`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// How much of the way `pull`, which an outer force makes in a step, the body went in the last one.
#[inline(always)]
fn share(params: &Params, felt: Vec3, pull: Vec3, jointed: bool) -> f32 {
    let square = pull.length_squared();
    let mut part = (felt.dot(pull) / fmax(square, 1e-30) - params.quiet) / (params.free - params.quiet);
    if jointed {
        let off = sqrt((felt - pull).length_squared() / fmax(square, 1e-30));
        part = (params.held - off) / (params.held - params.falling);
    }
    if square > 0.0 { fmax(0.0, fmin(part, 1.0)) } else { 0.0 }
}

/// The rotation vector of a free body's next step, in which it gets the angular momentum `turn / dt`.
#[inline(always)]
fn free_rotation(rotation: &Rotation, principal: Vec3, w: Vec3, dt: f32, turn: Vec3) -> Vec3 {
    let last = w * dt;
    let middle = Rotation::exp(last * -0.5).then_after(rotation);
    let momentum = inertia(&middle, principal, last) + turn;
    let inverse = Vec3::new(1.0 / principal.x, 1.0 / principal.y, 1.0 / principal.z);
    let mut next = last;
    // A fixed point that contracts by about the angle itself; four rounds are enough for half a radian a step. What
    // hardly turns is there to the last bit after one or two.
    let mut round = 0;
    while round < 4 {
        let middle = Rotation::exp(next * 0.5).then_after(rotation);
        let found = inertia(&middle, inverse, momentum);
        round = if found == next { 4 } else { round + 1 };
        next = found;
    }
    next
}

/// Predicts one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let params = b.params.at(0);
    let (body, start, velocity) = (b.bodies.at(item), b.poses.at(item), b.velocities.at(item));
    let dt = params.dt;
    let first_order = params.options & option::FIRST_ORDER != 0;
    // SAFETY: as below.
    unsafe { b.starts.put_own(item, start) };

    let mut linear = Vec3::ZERO;
    let mut angular = Vec3::ZERO;
    let mut pulls = Vec3::ZERO;
    let mut start_pulls = Vec3::ZERO;
    let mut start_angular = Vec3::ZERO;
    if body.kind == kind::DYNAMIC {
        linear = velocity.linear * dt;
        let force = b.forces.at(item);
        let turn = force.angular * (dt * dt);
        if first_order {
            let inverse = Vec3::new(1.0 / body.inertia.x, 1.0 / body.inertia.y, 1.0 / body.inertia.z);
            angular = velocity.angular * dt + inertia(&start.rotation, inverse, turn);
        } else {
            angular = free_rotation(&start.rotation, body.inertia, velocity.angular, dt, turn);
        }
        let fall = params.gravity * (body.gravity_scale * dt * dt);
        let push = force.linear * (dt * dt / body.mass);
        let felt = (velocity.linear - b.previous.at(item)) * dt;
        pulls = fall + push;
        let falling_only = params.options & option::FALLING_ONLY != 0;
        let jointed = falling_only && joint_row(&b.rows, item, u32::MAX).count() > 0;
        start_pulls = fall * share(&params, felt, fall, jointed) + push * share(&params, felt, push, jointed);
        start_angular = angular;
        // What is held starts without the user's torque, as it does without his force: a box that both push at would
        // begin every step beyond its friction cone, and creep.
        if turn != Vec3::ZERO && !first_order && row(&b.rows, item, u32::MAX).count() > 0 {
            start_angular = free_rotation(&start.rotation, body.inertia, velocity.angular, dt, Vec3::ZERO);
        }
    } else if body.kind == kind::KINEMATIC {
        linear = velocity.linear * dt;
        angular = velocity.angular * dt;
        start_angular = angular;
    }
    let mut by = Rotation::exp(angular);
    if first_order && body.kind == kind::DYNAMIC {
        // Eq. 21: the product with the quaternion (1, w / 2); and what that turned it by, Eq. 20.
        by = Rotation::new(angular * 0.5, 1.0).normalized();
        angular = by.v() * 2.0;
        start_angular = angular;
    }
    let rotation = by.then_after(&start.rotation).normalized();
    let guess = linear + start_pulls;
    let mut start_rotation = rotation;
    if start_angular != angular {
        start_rotation = Rotation::exp(start_angular).then_after(&start.rotation).normalized();
    }
    let target = Pose { position: linear + pulls, rotation };
    let frame = SolverBody { target, start, inertia: body.inertia, mass: body.mass };
    let rank = b.body_order.at(item);
    frame.store(&mut b.solver_bodies, rank, contact_row(&b.rows, item, u32::MAX));
    b.rotations.put(rank, start_rotation);
    // SAFETY: `item` is the number of the invocation, and these are stored and loaded by number only.
    unsafe {
        b.poses.put_own(item, Pose { position: start.position + guess, rotation: start_rotation });
        b.deltas.put_own(item, Twist { linear: guess, angular: start_angular });
    }
}
