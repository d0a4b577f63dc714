//! Forces of soft bodies on one of their particles, and the 3 by 3 blocks of their second derivatives: plain functions of
//! where the corners are. Blocks are positive semi-definite for every state, inverted and flat ones included, so that a
//! particle's system, to which its mass is added, always has a solution.
//!
//! Damping is that of internal variables: the rate of a length, of an angle, of a metric. A rigid motion changes none of
//! them, so what falls or spins freely is not slowed.

pub mod hinge;
pub mod membrane;
pub mod tetrahedron;

use crate::gpu::glam::Vec3;
use crate::gpu::{fmax, fmin, sqrt};
use crate::math::{Pose, Twist};
use crate::solve::system::System;
use crate::state::soft::{Attachment, AttachmentState, HARD, SoftPull, Spring, SpringState};

/// Part of the error at the start of a step that what is hard leaves alone (Eq. 18). Multipliers that took all of it in every
/// step would be integral action, which swings up: chains of 6 with 0.1 to 20 kg at their end come to rest at 5 to 20
/// iterations with 0.9 to 0.99, and not with 0.
pub const ALPHA: f32 = 0.95;
/// What is kept of stiffness from step to step (Eq. 19).
pub const WARM_STIFFNESS: f32 = 0.98;
/// Lowest stiffness, in units.
pub const K_START: f32 = 1.0;
/// Highest stiffness of what is hard, in units: what is stiffer no longer moves together in a sweep.
pub const K_MOST: f32 = 300.0;
/// How fast stiffness grows within a step (Eq. 12, 16), in units, for an error of one length.
pub const BETA: f32 = 300.0;

/// Highest stiffness of what holds a particle to a body that forces move, in units: how far what the one gets differs from
/// what the other loses grows with it.
pub const K_BODY: f32 = 100.0;
/// Stiffness of what holds a particle to something that does not move, in units.
pub const K_FIXED: f32 = 1e4;
/// How many times as stiff what has a stiffness of its own becomes from step to step, until it has it.
pub const RAMP: f32 = 2.0;

/// A particle's system: force, and a symmetric matrix.
#[derive(Clone, Copy)]
pub struct Block {
    /// Force.
    pub force: Vec3,
    /// Diagonal.
    pub diagonal: Vec3,
    /// Off the diagonal: xy, xz, yz.
    pub off: Vec3,
}

impl Block {
    /// Of nothing.
    #[inline(always)]
    pub fn none() -> Self {
        Self { force: Vec3::ZERO, diagonal: Vec3::ZERO, off: Vec3::ZERO }
    }

    /// Of a mass that is `away` from where it would go on its own.
    #[inline(always)]
    pub fn inertial(mass: f32, away: Vec3, dt: f32) -> Self {
        let k = mass / (dt * dt);
        Self { force: away * -k, diagonal: Vec3::splat(k), off: Vec3::ZERO }
    }

    /// Adds k I.
    #[inline(always)]
    pub fn add_scalar(&mut self, k: f32) {
        self.diagonal += Vec3::splat(k);
    }

    /// Adds k v v^T.
    #[inline(always)]
    pub fn add_square(&mut self, k: f32, v: Vec3) {
        let s = v * k;
        self.diagonal += s * v;
        self.off += Vec3::new(s.x * v.y, s.x * v.z, s.y * v.z);
    }

    /// With another one.
    #[inline(always)]
    pub fn plus(&self, other: &Self) -> Self {
        Self { force: self.force + other.force, diagonal: self.diagonal + other.diagonal, off: self.off + other.off }
    }

    /// What the matrix maps to the force: by L D L^T.
    #[inline(always)]
    pub fn solve(&self) -> Vec3 {
        let (d, o, f) = (self.diagonal, self.off, self.force);
        let ix = 1.0 / d.x;
        let (yx, zx) = (o.x * ix, o.y * ix);
        let iy = 1.0 / (d.y - yx * o.x);
        let rest = o.z - zx * o.x;
        let zy = rest * iy;
        let iz = 1.0 / (d.z - zx * o.y - zy * rest);
        let y = f.y - yx * f.x;
        let z = (f.z - zx * f.x - zy * y) * iz;
        let y = y * iy - zy * z;
        Vec3::new(f.x * ix - yx * y - zx * z, y, z)
    }
}

/// What a spring does to the end from which `apart` leads to the other one; `apart_before` did at the start of the step.
#[inline(always)]
pub fn spring(spring: &Spring, state: &SpringState, apart: Vec3, apart_before: Vec3, dt: f32) -> Block {
    let mut block = Block::none();
    let length = sqrt(apart.length_squared());
    // Two ends in one place have no direction to push each other in.
    if length > 1e-12 {
        let n = apart * (1.0 / length);
        let rate = (length - sqrt(apart_before.length_squared())) / dt;
        let pull = state.lambda + state.k * (length - spring.rest - state.left);
        block.force = n * (pull + spring.damping * rate);
        block.add_square(state.k + spring.damping / dt, n);
        // Across the line a taut one holds, and one that is pressed gives way: what it gives way with is left out.
        let across = fmax(0.0, pull) / length;
        block.add_scalar(across);
        block.add_square(-across, n);
    }
    block
}

/// Where an attachment wants its particle: from its body's centre of mass, or from the origin of the world.
#[inline(always)]
pub fn lever(attachment: &Attachment, to_world: bool, pose: &Pose) -> Vec3 {
    if to_world { attachment.anchor } else { pose.rotation.apply(attachment.anchor) }
}

/// The way from an attachment's place to its particle, which is `particle` and has moved by `delta`. Large positions
/// are taken from each other before small motions are added.
#[inline(always)]
pub fn off(particle: Vec3, delta: Vec3, body: Vec3, moved: &Twist, lever: Vec3) -> Vec3 {
    (particle - body) + (delta - moved.linear) - lever
}

/// The force by which an attachment pulls its particle back.
#[inline(always)]
pub fn hold(state: &AttachmentState, off: Vec3) -> Vec3 {
    (state.lambda + (off - state.left) * state.k) * -1.0
}

/// What an attachment asks of its body: the force on the particle turned round, at the end of the lever.
#[inline(always)]
pub fn attached(system: &mut System, force: Vec3, k: f32, r: Vec3) {
    pulled(system, force, k, r);
    // How the lever turns under the force counts by the norms of its columns (section 3.5).
    system.aa += Vec3::splat(sqrt(force.length_squared() * r.length_squared()));
}

/// Adds a force at `r` that grows by `k` against every motion of that point.
#[inline(always)]
pub fn pulled(system: &mut System, force: Vec3, k: f32, r: Vec3) {
    let square = r.length_squared();
    system.force += force;
    system.torque += r.cross(force);
    system.ll += Vec3::splat(k);
    system.al[0] += Vec3::new(0.0, -r.z, r.y) * k;
    system.al[1] += Vec3::new(r.z, 0.0, -r.x) * k;
    system.al[2] += Vec3::new(-r.y, r.x, 0.0) * k;
    system.aa += (Vec3::splat(square) - r * r) * k;
    system.aa_off += Vec3::new(-r.x * r.y, -r.x * r.z, -r.y * r.z) * k;
}

/// The most that a stiffness may be: what is hard has no other limit than what a sweep can follow, in units.
#[inline(always)]
pub fn most(stiffness: f32, unit: f32, units: f32) -> f32 {
    if stiffness >= HARD { units * unit } else { stiffness }
}

/// A stiffness to begin with: no less than a unit's worth, no more than it may be.
#[inline(always)]
pub fn bounded(k: f32, unit: f32, most: f32) -> f32 {
    fmin(fmax(k, K_START * unit), most)
}

/// A stiffness that has grown with an error (Eq. 12). What is stiffer than it may become by that stays so.
#[inline(always)]
pub fn grown(k: f32, unit: f32, most: f32, error: f32, length: f32) -> f32 {
    fmax(k, fmin(k + BETA * unit * error / fmax(length, 1e-12), most))
}

impl SoftPull {
    /// A system in memory.
    #[inline(always)]
    pub fn new(s: &System) -> Self {
        Self {
            ll: s.ll,
            ll_off: s.ll_off,
            al0: s.al[0],
            al1: s.al[1],
            al2: s.al[2],
            aa: s.aa,
            aa_off: s.aa_off,
            force: s.force,
            torque: s.torque,
        }
    }

    /// The system with it.
    #[inline(always)]
    pub fn plus(&self, s: &System) -> System {
        System {
            ll: s.ll + self.ll,
            ll_off: s.ll_off + self.ll_off,
            al: [s.al[0] + self.al0, s.al[1] + self.al1, s.al[2] + self.al2],
            aa: s.aa + self.aa,
            aa_off: s.aa_off + self.aa_off,
            force: s.force + self.force,
            torque: s.torque + self.torque,
        }
    }
}
