//! Where every body would go on its own (the inertial target, Eq. 2), and where the iterations start.
//!
//! The start has adaptive gravity: as much of it as the body felt in the last step, so that what lies at rest starts at
//! rest; and as much of the user's force. The target always has all of both; its position is the way from the start,
//! which keeps more digits. A body with joints starts with all of it when it falls freely, and else with none: what
//! stiff joints make of the start is felt in the next step again, and a chain that got part of gravity for it would
//! gain energy. Without [`option::FALLING_ONLY`] it is a body like any other.
//!
//! With [`option::CIRCLING`] a body without joints also starts with as much of the way inward, w x v dt^2, as it felt:
//! on the circle on which something carries it round. From the tangent, friction begins every step far beyond its cone,
//! is cut to the cone, and few iterations do not bring it back: a box on a turntable crept by millimetres a second, in
//! or out.
//!
//! With [`option::PAIRS`] every body starts at its target.
//!
//! Damping with the coefficient c: dv/dt = F/m - c v is solved exactly over the step, with F what acts in it, all
//! contacts and joints included. With x = c dt, what is left of a velocity is e^-x, and what a force adds to it is its
//! mean share of that, (1 - e^-x) / x: v' = e^-x v + (1 - e^-x) / x dt F/m. So a free body's speed falls as e^-ct
//! whatever the step, a falling one's tends to g/c, and one at rest presses with all of its weight: the same as a body
//! 1 / share times as heavy that starts at e^-x v, which is what the iterations get.
//!
//! Rotation: velocities are differences of poses, so they belong to the middle of a step. The next rotation is the one
//! whose angular momentum in the middle of its own step is that of the last: a free body keeps its momentum to
//! rounding, and its energy without drift.

use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Store, decay, fmax, fmin, least, sqrt};
use crate::math::{Pose, Rotation, Twist, inertia};
use crate::solve::solver_body::SolverBody;
use crate::solve::turns::{FAST, PREDICTED, PREDICTED_HELD, PREDICTED_ROLLING, rolling};
use crate::state::rigid::{Body, Params, contact_row, gravity, joint_row, kind, option, row};
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

/// Fraction, 0 to 1, of the way `pull` (what an outer force adds to the motion of a step) that the body showed in the
/// last step. `felt` is its change of velocity times dt.
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

/// Largest turn of one part when a fast body's step is split, radians.
const PART: f32 = 0.5;
/// Largest number of parts of a step.
const MOST_PARTS: u32 = 64;

/// Number of parts into which the step of a body is split that turns by `last` in it.
#[inline(always)]
fn parts(last: Vec3) -> u32 {
    let square = last.length_squared();
    let mut parts = 1;
    if square > FAST * FAST {
        parts = least((sqrt(square) * (1.0 / PART)) as u32, MOST_PARTS - 1) + 1;
    }
    parts
}

/// Rotation of a free body after its next step, and its rotation vector for that step. The body keeps the fraction
/// `left` of its angular momentum and gains `turn / dt`. The step of a fast body is split into parts; its rotation
/// vector is then the final angular velocity times dt.
#[inline(always)]
fn free_rotation(rotation: &Rotation, principal: Vec3, w: Vec3, dt: f32, left: f32, turn: Vec3) -> (Rotation, Vec3) {
    let parts = parts(w * dt);
    let scale = 1.0 / parts as f32;
    let last = w * (dt * scale);
    let inverse = Vec3::new(1.0 / principal.x, 1.0 / principal.y, 1.0 / principal.z);
    // Even the parts are too fast: the body turns about its present axis.
    if last.length_squared() > FAST * FAST {
        let next = w * (dt * left) + inertia(rotation, inverse, turn);
        return (Rotation::exp(next).then_after(rotation).normalized(), next);
    }
    let mut middle = Rotation::exp(last * -0.5).then_after(rotation);
    if parts > 1 {
        middle = *rotation;
    }
    let momentum = inertia(&middle, principal, last) * left + turn * scale;
    let mut rotation = *rotation;
    let mut next = last * left;
    let mut part = 0;
    while part < parts {
        next = free_part(&rotation, principal, momentum, next);
        rotation = Rotation::exp(next).then_after(&rotation).normalized();
        part += 1;
    }
    if parts > 1 {
        next = inertia(&rotation, inverse, momentum) * parts as f32;
    }
    (rotation, next)
}

/// Radians above which a part is found by Newton's method instead of a fixed point.
const QUICK: f32 = 0.1;

/// Solves (D - [a x]) x = b, D diagonal with positive entries `d`, [a x] the matrix of the cross product with `a`.
#[inline(always)]
fn solve_turning(d: Vec3, a: Vec3, b: Vec3) -> Vec3 {
    // By Cramer's rule: rows of the matrix are (d.x, a.z, -a.y), (-a.z, d.y, a.x), (a.y, -a.x, d.z).
    let others = Vec3::new(d.y * d.z, d.z * d.x, d.x * d.y);
    let determinant = d.x * others.x + (d * a).dot(a);
    (others * b + a * a.dot(b) + a.cross(d * b)) * (1.0 / determinant)
}

/// Rotation vector of a free body with this angular momentum in the middle of the part; `last` is the first guess.
#[inline(always)]
fn free_part(rotation: &Rotation, principal: Vec3, momentum: Vec3, last: Vec3) -> Vec3 {
    let inverse = Vec3::new(1.0 / principal.x, 1.0 / principal.y, 1.0 / principal.z);
    let mut next = last;
    let mut round = 0;
    if last.length_squared() > QUICK * QUICK {
        // Newton's method in body space, where inertia is diagonal: solves I w = exp(-w / 2) l, with l the momentum.
        let l = rotation.inverse().apply(momentum);
        next = rotation.inverse().apply(last);
        while round < 4 {
            let here = Rotation::exp(next * -0.5).apply(l);
            next -= solve_turning(principal, here * 0.5, principal * next - here);
            round += 1;
        }
        return rotation.apply(next);
    }
    // Fixed-point iteration. It contracts by about the angle times the ratio of the moments; a body that hardly turns
    // has converged to the last bit after one or two rounds.
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
    let mut rotation = start.rotation;
    let mut pulls = Vec3::ZERO;
    let mut start_pulls = Vec3::ZERO;
    let mut start_angular = Vec3::ZERO;
    let mut start_rotation = start.rotation;
    // Factors of damping for (linear, angular): on velocities, and on what forces add to them.
    let mut left = (1.0, 1.0);
    let mut share_of = (1.0, 1.0);
    if body.is_dynamic() {
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
            (rotation, angular) = free_rotation(&start.rotation, body.inertia, velocity.angular, dt, left.1, turn);
        }
        let fall = gravity(&b.params, body.world()) * (body.gravity_scale * dt * dt * share_of.0);
        let push = force.linear * (dt * dt / body.mass * share_of.0);
        let felt = (velocity.linear - b.previous.at(item) * left.0) * dt;
        pulls = fall + push;
        let falling_only = params.options & option::FALLING_ONLY != 0;
        let jointed = falling_only && joint_row(&b.rows, item, u32::MAX).count() > 0;
        start_pulls = fall * share(&params, felt, fall, jointed) + push * share(&params, felt, push, jointed);
        // A body without contacts and joints starts at its target, and no sweep has to move it.
        let touched = row(&b.rows, item, u32::MAX).count() > 0;
        let inward = velocity.angular.cross(velocity.linear) * (dt * dt);
        if params.options & option::CIRCLING != 0 && joint_row(&b.rows, item, u32::MAX).count() == 0 {
            start_pulls += inward * share(&params, felt, inward, false);
        }
        let pairs = params.options & option::PAIRS != 0;
        start_pulls = if touched && !pairs { start_pulls } else { pulls };
        start_angular = angular;
        // A touched body starts without the user's torque, as it does without the user's force: pushed with both, a box
        // would begin every step outside its friction cone, and creep.
        let slow = !first_order && angular.length_squared() <= FAST * FAST;
        if turn != Vec3::ZERO && slow && touched && !pairs {
            let free = free_rotation(&start.rotation, body.inertia, velocity.angular, dt, left.1, Vec3::ZERO);
            (start_rotation, start_angular) = free;
        }
    } else if body.is(kind::KINEMATIC) {
        linear = velocity.linear * dt;
        angular = velocity.angular * dt;
        start_angular = angular;
    }
    let exact = !first_order && body.is_dynamic();
    if !exact {
        let mut by = Rotation::exp(angular);
        if first_order && body.is_dynamic() {
            // Eq. 21: the product with the quaternion (1, w / 2); then Eq. 20 gives the angle by which that turned the
            // body.
            by = Rotation::new(angular * 0.5, 1.0).normalized();
            angular = by.v() * 2.0;
            start_angular = angular;
        }
        rotation = by.then_after(&start.rotation).normalized();
    }
    let guess = linear + start_pulls;
    if start_angular == angular {
        start_rotation = rotation;
    }
    let target = Pose { position: linear + pulls, rotation };
    // Mass and inertia are divided by the share, so that forces act with their damped share.
    let (mass, inertia) = (body.mass / share_of.0, body.inertia * (1.0 / share_of.1));
    let mut frame = SolverBody { target, start, inertia, mass };
    if exact && angular.length_squared() > FAST * FAST && params.options & option::PAIRS == 0 {
        let held = joint_row(&b.rows, item, u32::MAX).count() > 0;
        let touched = contact_row(&b.rows, item, u32::MAX).count() > 0;
        let mut form = if held { PREDICTED_HELD } else { PREDICTED };
        let told = rolling(body.inertia, &start.rotation, &rotation, angular);
        if touched && !held && told != Vec3::ZERO {
            (start_angular, form) = (told, PREDICTED_ROLLING);
        }
        frame.start.rotation = Rotation::new(start_angular, form);
    }
    let rank = b.body_order.at(item);
    frame.store(&mut b.solver_bodies, rank, contact_row(&b.rows, item, u32::MAX));
    b.rotations.put(rank, start_rotation);
    // SAFETY: `item` is the number of the invocation, and these are stored and loaded by number only.
    unsafe {
        b.poses.put_own(item, Pose { position: start.position + guess, rotation: start_rotation });
        b.deltas.put_own(item, Twist { linear: guess, angular: start_angular });
    }
}
