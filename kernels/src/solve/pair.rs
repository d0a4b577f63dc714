//! What solvers share that go from one manifold or joint to the next: sequential impulses, soft steps and XPBD.
//!
//! All of them change the ways of two bodies, d, until a row of their derivatives J satisfies its condition, with the
//! accumulated multiplier f, a force in newtons, held within its bounds:
//!
//! ```text
//!   w  = J M^-1 J^T h^2                                   what a newton moves the row by in a step
//!   f' = clamp(f + (C - a f) / (w + a))                   a: compliance, metres a newton
//!   d' = d - M^-1 J^T h^2 (f' - f)
//! ```
//!
//! A way over h is a velocity, and f h an impulse: this is Catto's scheme and Mueller's alike. They differ in C.
//!
//! ```text
//!   sequential impulses   C = J d + b min(g + slop, 0), within a speed    J and the gap g of the start; warm start
//!   soft step             C = J d + h w / (2 z + h w) g, scaled           a damped spring; then once more without it, on
//!                                                                         velocities alone, where bodies came to (relax)
//!   XPBD                  C = g + J d                                     f begins at 0 in every step
//! ```
//!
//! Gaps are no errors: C = g + J d where there is one. Friction is held in its cone; XPBD has static friction only,
//! where it fits the cone, and brakes what slides behind, on velocities.

use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Store, fmin, least};
use crate::layout;
use crate::math::{Twist, words};
use crate::solve::joints::{JointRules, UNBOUNDED};
use crate::state::rigid::{ColourRange, EntryRange, Params, option};

layout! {
    /// Push constants of the passes over manifolds and joints.
    pub struct Push {
        /// Colour and kind, see [`node::range`](crate::state::rigid::node::range).
        pub range: u32,
        /// Not 0: one lane solves all of them in turn.
        pub serial: u32,
        /// One of [`phase`].
        pub phase: u32,
    }
}

/// The places in the sorted list that a lane solves: one of a colour; or in turn, where the first lane has them all.
#[inline(always)]
pub fn places(item: u32, push: &Push, ranges: &impl Load<ColourRange>, room: u32) -> EntryRange {
    let range = ranges.at(push.range);
    let end = least(range.end, room);
    let start = range.start.wrapping_add(item);
    let alone = if item == 0 { end } else { 0 };
    let stop = least(start.wrapping_add(1), end);
    EntryRange { start, end: if push.serial != 0 { alone } else { stop } }
}

/// What a pass does.
pub mod phase {
    /// Applies the multipliers of the last step.
    pub const WARM: u32 = 0;
    /// Solves.
    pub const SOLVE: u32 = 1;
    /// Solves once more for velocities, without what corrects errors.
    pub const RELAX: u32 = 2;
    /// Takes the speed along normals that corrections gave, and brakes what slides.
    pub const BRAKE: u32 = 3;
}

/// Vectors of a body's inverse mass and inertia.
pub const INVERSE: u32 = 2;

/// One of the two bodies while it is moved.
#[derive(Clone, Copy)]
pub struct Mover {
    /// Its way, metres and radians.
    pub way: Twist,
    inverse_mass: f32,
    // Symmetric: the diagonal, and xy, xz, yz.
    diagonal: Vec3,
    beside: Vec3,
}

/// Puts the inverse mass and inertia of a body into the list of them.
#[inline(always)]
pub fn put_inverse(inverses: &mut impl Store<UVec4>, body: u32, mass: f32, diagonal: Vec3, beside: Vec3) {
    let first = body.wrapping_mul(INVERSE);
    inverses.put(first, words(diagonal, mass.to_bits()));
    inverses.put(first.wrapping_add(1), words(beside, 0));
}

impl Mover {
    /// What does not move: the world.
    #[inline(always)]
    pub fn still() -> Self {
        let zero = Vec3::ZERO;
        Self { way: Twist { linear: zero, angular: zero }, inverse_mass: 0.0, diagonal: zero, beside: zero }
    }

    /// A body whose motion is `unit` times what is in the list.
    #[inline(always)]
    pub fn load(inverses: &impl Load<UVec4>, motions: &impl Load<Twist>, body: u32, unit: f32) -> Self {
        let first = body.wrapping_mul(INVERSE);
        let (one, two) = (inverses.at(first), inverses.at(first.wrapping_add(1)));
        let motion = motions.at(body);
        Self {
            way: Twist { linear: motion.linear * unit, angular: motion.angular * unit },
            inverse_mass: f32::from_bits(one.w),
            diagonal: crate::math::vector(one),
            beside: crate::math::vector(two),
        }
    }

    /// Puts its motion back, if forces move it.
    #[inline(always)]
    pub fn store(&self, motions: &mut impl Store<Twist>, body: u32, unit: f32) {
        if self.inverse_mass > 0.0 {
            let scale = 1.0 / unit;
            motions.put(body, Twist { linear: self.way.linear * scale, angular: self.way.angular * scale });
        }
    }

    /// What a newton accelerates it by; 0 where forces do not move it.
    #[inline(always)]
    pub fn inverse_mass(&self) -> f32 {
        self.inverse_mass
    }

    /// What a torque turns it by.
    #[inline(always)]
    pub fn turned(&self, t: Vec3) -> Vec3 {
        let (d, o) = (self.diagonal, self.beside);
        Vec3::new(
            d.x * t.x + o.x * t.y + o.y * t.z,
            o.x * t.x + d.y * t.y + o.z * t.z,
            o.y * t.x + o.z * t.y + d.z * t.z,
        )
    }

    /// Moves it by a force and a torque times the square of the step.
    #[inline(always)]
    pub fn push(&mut self, force: Vec3, torque: Vec3) {
        self.way.linear += force * self.inverse_mass;
        self.way.angular += self.turned(torque);
    }

    /// How far a row of derivatives went.
    #[inline(always)]
    pub fn along(&self, linear: Vec3, turn: Vec3) -> f32 {
        linear.dot(self.way.linear) + turn.dot(self.way.angular)
    }

    /// J M^-1 J^T of a row.
    #[inline(always)]
    pub fn ease(&self, linear: Vec3, turn: Vec3) -> f32 {
        self.inverse_mass * linear.length_squared() + turn.dot(self.turned(turn))
    }

    /// Whether forces move it.
    #[inline(always)]
    pub fn moves(&self) -> bool {
        self.inverse_mass > 0.0
    }
}

/// How a pass looks at errors.
#[derive(Clone, Copy)]
pub struct PairRules {
    /// Part of an error that is corrected in the step.
    pub part: f32,
    /// Part of what a row lacks that it gets: less than 1 for a spring.
    pub firm: f32,
    /// Part of the accumulated force that it loses.
    pub fade: f32,
}

impl PairRules {
    /// A rigid row that corrects a part of its error.
    #[inline(always)]
    fn rigid(part: f32) -> Self {
        Self { part, firm: 1.0, fade: 0.0 }
    }

    /// A damped spring of `rate` radians a second and a damping ratio, whatever its mass (Catto, "Soft Constraints",
    /// 2011).
    #[inline(always)]
    fn soft(rate: f32, ratio: f32, h: f32) -> Self {
        let (turn, twice) = (h * rate, 2.0 * ratio);
        let stiff = turn * (twice + turn);
        Self { part: turn / (twice + turn), firm: stiff / (1.0 + stiff), fade: 1.0 / (1.0 + stiff) }
    }

    /// Of contacts, or of joints, which are as stiff as contacts with what does not move.
    #[inline(always)]
    pub fn new(params: &Params, phase: u32, joint: bool, fixed: bool) -> Self {
        let h = params.dt;
        let hertz = fmin(params.pair_hertz, params.pair_rate / h) * if joint || fixed { 2.0 } else { 1.0 };
        let ratio = if joint { params.pair_damping_joint } else { params.pair_damping };
        if phase == phase::RELAX {
            Self::rigid(0.0)
        } else if params.options & option::SOFT_STEP != 0 {
            Self::soft(hertz * (2.0 * core::f32::consts::PI), ratio, h)
        } else {
            Self::rigid(params.pair_part)
        }
    }

    /// The same for rows of joints.
    #[inline(always)]
    pub fn joint_rules(&self, params: &Params) -> JointRules {
        let keep = 1.0 - self.part;
        JointRules {
            dt: params.dt,
            alpha: keep,
            alpha_light: keep,
            most: UNBOUNDED,
            loaded: 1.0,
            loaded_more: 1.0,
            curved: true,
            penalty_springs: false,
            stabilise: false,
        }
    }
}
