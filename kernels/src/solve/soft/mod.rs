//! Forces of soft bodies on one of their particles, with the 3 by 3 blocks of their second derivatives (f and H of Eq.
//! 4). Plain functions of the positions of the corners; no buffers. Blocks are positive semi-definite for every state,
//! inverted and flat ones included, so a particle's system, to which its mass is added, always has a solution.
//!
//! Damping acts on internal variables only: the rate of a length, an angle or a metric. A rigid motion changes none of
//! them, so free fall and spin are not damped.

pub mod contact;
pub mod elements;
pub mod hinge;
pub mod membrane;
pub mod pairs;
pub mod tetrahedron;

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Vector, fmax, fmin, sqrt};
use crate::math::{Pose, Twist};
use crate::solve::system::{System, Systems};
use crate::state::rigid::{Body, NONE};
use crate::state::soft::{Attachment, AttachmentState, HARD, Particle, SoftPull, Spring, SpringState};

/// Fraction of the error at the start of a step that hard springs and attachments leave alone (Eq. 18). Multipliers
/// that corrected all of it in every step would act as integral control, which oscillates: chains of 6 with 0.1 to 20
/// kg at their end come to rest at 5 to 20 iterations with 0.9 to 0.99, and not with 0.
pub const ALPHA: f32 = 0.95;
/// Factor that stiffness keeps from step to step (gamma of Eq. 19).
pub const WARM_STIFFNESS: f32 = 0.98;
/// Lowest stiffness (k_start of Eq. 19), in units.
pub const K_START: f32 = 1.0;
/// Highest stiffness of hard springs, in units: a sweep no longer moves stiffer chains together.
pub const K_MOST: f32 = 300.0;
/// Growth of stiffness (beta of Eq. 12 and 16), in units, for an error of one length.
pub const BETA: f32 = 300.0;

/// Highest stiffness of an attachment to a dynamic body, in units. It is limited because the imbalance between the
/// force on the particle and that on the body grows with it.
pub const K_BODY: f32 = 100.0;
/// Stiffness of an attachment to something that does not move, in units.
pub const K_FIXED: f32 = 1e4;
/// Factor by which a finite stiffness grows from step to step until it is reached.
pub const RAMP: f32 = 2.0;

crate::layout! {
    /// A particle's system H dx = f: force and symmetric 3 by 3 matrix.
    pub struct Block {
        /// Force, newtons.
        pub force: Vec3,
        /// Diagonal.
        pub diagonal: Vec3,
        /// Off the diagonal: xy, xz, yz.
        pub off: Vec3,
    }
}

impl Block {
    /// An empty system.
    #[inline(always)]
    pub fn none() -> Self {
        Self { force: Vec3::ZERO, diagonal: Vec3::ZERO, off: Vec3::ZERO }
    }

    /// Inertia of a particle that is `away` from its target.
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

    /// The sum of both.
    #[inline(always)]
    pub fn plus(&self, other: &Self) -> Self {
        Self { force: self.force + other.force, diagonal: self.diagonal + other.diagonal, off: self.off + other.off }
    }

    /// Solves for the displacement, by L D L^T (Eq. 4).
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

/// Force and stiffness of a spring on one end; `apart` leads from there to the other end, `apart_before` did at the
/// start of the step.
#[inline(always)]
pub fn spring(spring: &Spring, state: &SpringState, apart: Vec3, apart_before: Vec3, dt: f32) -> Block {
    let mut block = Block::none();
    let length = sqrt(apart.length_squared());
    // Two ends at one place have no direction, so there is no force.
    if length > 1e-12 {
        let n = apart * (1.0 / length);
        let rate = (length - sqrt(apart_before.length_squared())) / dt;
        let pull = state.lambda + state.k * (length - spring.rest - state.left);
        block.force = n * (pull + spring.damping * rate);
        block.add_square(state.k + spring.damping / dt, n);
        // Geometric stiffness across the line: positive under tension. Under compression it would be negative, and is
        // left out.
        let across = fmax(0.0, pull) / length;
        block.add_scalar(across);
        block.add_square(-across, n);
    }
    block
}

/// The place that an attachment holds its particle to, on a body or in the world.
#[derive(Clone, Copy)]
pub struct Hook {
    /// Centre of mass of the body at the start of the step; zero for the world.
    start: Vec3,
    /// How far the body has moved since.
    moved: Vec3,
    /// From the body's centre of mass to the place.
    pub lever: Vec3,
}

impl Hook {
    /// The place of an attachment.
    #[inline(always)]
    pub fn of(
        attachment: &Attachment,
        starts: &impl Load<Pose>,
        deltas: &impl Load<Twist>,
        poses: &impl Load<Pose>,
    ) -> Self {
        let to_world = attachment.body == NONE;
        let body = if to_world { 0 } else { attachment.body };
        let hook = Self::on(body, attachment.anchor, starts, deltas, poses);
        Self {
            start: if to_world { Vec3::ZERO } else { hook.start },
            moved: if to_world { Vec3::ZERO } else { hook.moved },
            lever: if to_world { attachment.anchor } else { hook.lever },
        }
    }

    /// Of a point of a body, in the space of its principal axes.
    #[inline(always)]
    pub fn on(
        body: u32,
        point: Vec3,
        starts: &impl Load<Pose>,
        deltas: &impl Load<Twist>,
        poses: &impl Load<Pose>,
    ) -> Self {
        Self {
            start: starts.at(body).position,
            moved: deltas.at(body).linear,
            lever: poses.at(body).rotation.apply(point),
        }
    }

    /// Vector from the place to a particle that started at `particle` and has moved by `delta`. Large positions are
    /// subtracted before small motions are added, to keep digits.
    #[inline(always)]
    pub fn off(&self, particle: Vec3, delta: Vec3) -> Vec3 {
        (particle - self.start) + (delta - self.moved) - self.lever
    }
}

/// Force of an attachment on its particle (Eq. 13).
#[inline(always)]
pub fn hold(state: &AttachmentState, off: Vec3) -> Vec3 {
    (state.lambda + (off - state.left) * state.k) * -1.0
}

/// Adds an attachment to its body's system; `force` acts on the body at the lever `r`.
#[inline(always)]
pub fn attached(system: &mut System, force: Vec3, k: f32, r: Vec3) {
    pulled(system, force, k, r);
    // Geometric stiffness of the lever as a diagonal: a bound of the norms of its columns (section 3.5).
    system.aa += Vec3::splat(sqrt(force.length_squared() * r.length_squared()));
}

/// One over how stiffly a particle stays where it is: by its inertia, and by what its elements hold it with.
#[inline(always)]
pub fn gives(particle: &Particle, dt: f32) -> f32 {
    let k = particle.mass / (dt * dt) + particle.stiffness;
    if particle.mass > 0.0 { 1.0 / k } else { 0.0 }
}

/// The same of a point of a body that forces move, `r` from its centre of mass. What turns most easily answers at least
/// so much: nothing depends on the direction here.
#[inline(always)]
pub fn body_gives(body: &Body, r: Vec3, dt: f32) -> f32 {
    let i = body.inertia;
    dt * dt * (1.0 / body.mass + r.length_squared() / fmin(i.x, fmin(i.y, i.z)))
}

/// Adds a force at `r` with stiffness `k` against every motion of that point.
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

/// Upper bound of a stiffness: the finite stiffness itself, or for hard ones `units` units, as much as a sweep can
/// follow.
#[inline(always)]
pub fn most(stiffness: f32, unit: f32, units: f32) -> f32 {
    if stiffness >= HARD { units * unit } else { stiffness }
}

/// A starting stiffness: at least K_START units, at most `most`.
#[inline(always)]
pub fn bounded(k: f32, unit: f32, most: f32) -> f32 {
    fmin(fmax(k, K_START * unit), most)
}

/// Stiffness grown by an error (Eq. 12). One that already exceeds `most` is kept.
#[inline(always)]
pub fn grown(k: f32, unit: f32, most: f32, error: f32, length: f32) -> f32 {
    fmax(k, fmin(k + BETA * unit * error / fmax(length, 1e-12), most))
}

impl SoftPull {
    /// Packs a system for the buffer.
    #[inline(always)]
    pub fn new(s: &Systems<f32>) -> Self {
        let one = |v: Vector<f32>| Vec3::new(v.x, v.y, v.z);
        Self {
            ll: one(s.ll),
            ll_off: one(s.ll_off),
            al0: one(s.al[0]),
            al1: one(s.al[1]),
            al2: one(s.al[2]),
            aa: one(s.aa),
            aa_off: one(s.aa_off),
            force: one(s.force),
            torque: one(s.torque),
        }
    }

    /// The system `s` with this one added.
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
