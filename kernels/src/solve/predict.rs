//! Where every body would go on its own (the inertial target, Eq. 2), and where the iterations start.
//!
//! The start has adaptive gravity: as much of it as the body felt in the last step, so that what lies at rest starts at
//! rest; and as much of the user's force. The target always has all of both; its position is the way from the start, which
//! keeps more digits. A body with joints starts with all of it when it falls freely, and else with none: what stiff joints make of
//! the start is felt in the next step again, and a chain that got part of gravity for it would gain energy. Without
//! [`option::FALLING_ONLY`] it is a body like any other.
//!
//! Damping with the coefficient c: dv/dt = F/m - c v is solved exactly over the step, with F what acts in it, all contacts and
//! joints included. With x = c dt, what is left of a velocity is e^-x, and what a force adds to it is its mean share of that,
//! (1 - e^-x) / x: v' = e^-x v + (1 - e^-x) / x dt F/m. So a free body's speed falls as e^-ct whatever the step, a falling
//! one's tends to g/c, and one at rest presses with all of its weight: the same as a body 1 / share times as heavy
//! that starts at e^-x v, which is what the iterations get.
//!
//! Rotation: velocities are differences of poses, so they belong to the middle of a step. The next rotation is the one
//! whose angular momentum in the middle of its own step is that of the last: a free body keeps its momentum to
//! rounding, and its energy without drift.

use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Store, decay, fmax, fmin, sqrt};
use crate::math::{Pose, Rotation, Twist, inertia};
use crate::solve::solver_body::SolverBody;
use crate::state::rigid::{Body, Params, kind, option, row};
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
        read 9 joint_links: u32,
        read 10 rows: u32,
        read 11 body_order: u32,
        write 12 rotations: Rotation,
    }
}

layout! {
    /// Push constants of `predict`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Room for joints; 0 when there are none.
        pub joints: u32,
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

/// The rotation vector of a free body's next step, in which it keeps the part `left` of its angular momentum and gets
/// `turn / dt`.
#[inline(always)]
fn free_rotation(rotation: &Rotation, principal: Vec3, w: Vec3, dt: f32, left: f32, turn: Vec3) -> Vec3 {
    let last = w * dt;
    let middle = Rotation::exp(last * -0.5).then_after(rotation);
    let momentum = inertia(&middle, principal, last) * left + turn;
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
    let (params, joints) = (b.params.at(0), push.joints);
    let (body, start, velocity) = (b.bodies.at(item), b.poses.at(item), b.velocities.at(item));
    let dt = params.dt;
    let first_order = params.options & option::FIRST_ORDER != 0;
    // SAFETY: as below.
    unsafe { b.starts.put_own(item, start) };

    let mut linear = Vec3::ZERO;
    let mut angular = Vec3::ZERO;
    let mut pulls = Vec3::ZERO;
    let mut start_pulls = Vec3::ZERO;
    // What damping leaves of velocities, and of what forces add to them.
    let mut left = (1.0, 1.0);
    let mut share_of = (1.0, 1.0);
    if body.kind == kind::DYNAMIC {
        if (body.linear_damping > 0.0) | (body.angular_damping > 0.0) {
            let (along, about) = (decay(body.linear_damping * dt), decay(body.angular_damping * dt));
            left = (along.0, about.0);
            share_of = (along.1, about.1);
        }
        linear = velocity.linear * (dt * left.0);
        let force = b.forces.at(item);
        let turn = force.angular * (dt * dt * share_of.1);
        if first_order {
            let inverse = Vec3::new(1.0 / body.inertia.x, 1.0 / body.inertia.y, 1.0 / body.inertia.z);
            angular = velocity.angular * (dt * left.1) + inertia(&start.rotation, inverse, turn);
        } else {
            angular = free_rotation(&start.rotation, body.inertia, velocity.angular, dt, left.1, turn);
        }
        let fall = params.gravity * (body.gravity_scale * dt * dt * share_of.0);
        let push = force.linear * (dt * dt / body.mass * share_of.0);
        let felt = (velocity.linear - b.previous.at(item) * left.0) * dt;
        pulls = fall + push;
        let mut jointed = false;
        if joints > 0 && params.options & option::FALLING_ONLY != 0 {
            let links = row(&b.joint_links, item, b.joint_links.len());
            jointed = links.start < links.end;
        }
        start_pulls = fall * share(&params, felt, fall, jointed) + push * share(&params, felt, push, jointed);
    } else if body.kind == kind::KINEMATIC {
        linear = velocity.linear * dt;
        angular = velocity.angular * dt;
    }
    let mut by = Rotation::exp(angular);
    if first_order && body.kind == kind::DYNAMIC {
        // Eq. 21: the product with the quaternion (1, w / 2); and what that turned it by, Eq. 20.
        by = Rotation::new(angular * 0.5, 1.0).normalized();
        angular = by.v() * 2.0;
    }
    let rotation = by.then_after(&start.rotation).normalized();
    let guess = linear + start_pulls;
    let target = Pose { position: linear + pulls, rotation };
    // As heavy as makes forces count for their share.
    let (mass, inertia) = (body.mass / share_of.0, body.inertia * (1.0 / share_of.1));
    let frame = SolverBody { target, start, inertia, mass };
    let rank = b.body_order.at(item);
    frame.store(&mut b.solver_bodies, rank, row(&b.rows, item, u32::MAX));
    b.rotations.put(rank, rotation);
    // SAFETY: `item` is the number of the invocation, and these are stored and loaded by number only.
    unsafe {
        b.poses.put_own(item, Pose { position: start.position + guess, rotation });
        b.deltas.put_own(item, Twist { linear: guess, angular });
    }
}
