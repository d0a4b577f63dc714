//! Joints and springs: what they ask of two bodies, shared by the primal passes and the dual one.
//!
//! A joint has a point and a frame on each of its bodies, a and b; b may be the world. How a's stand to b's is told by
//! coordinates, and a *row* does something to one of them: holds it, keeps it between limits, drives it at a speed, or pulls
//! it like a spring. A ball joint has three rows, a hinge five and those of its limits and its motor, a spring one.
//!
//! ```text
//!   [`linear`]    x, y, z     of a's point in b's frame
//!   [`angular`]   twist       of a's frame about its x axis          hinge, motor
//!                 swing y, z  of a's x axis out of b's
//!   [`distance`]  length      between the points                     rod, rope, spring
//! ```
//!
//! With v the coordinate, v0 what it was at the start of the step, and k the stiffness of this iteration, a row pulls with
//! (Eq. 13, [`JointRow::ask`])
//!
//! ```text
//!   f = clamp(lambda + k (C - lambda / K))          on a: -f dC/dx (Eq. 9)
//!   lock     C = e - alpha e0, e = v - target        1/K = 0, Eq. 18; alpha as in section 6 unless it carries much
//!   limit    the same beyond the limit, C = e before it; f only pushes back
//!   speed    C = v - v0 - target dt                  1/K = 0; |f| at most the motor's force
//!   spring   C = e - d/(dt K) e0                     K = stiffness + d/dt, d the damping
//! ```
//!
//! For springs this is the ramp of Eq. 16, k growing up to K, with a multiplier for what k still lacks of it: at the fixed point
//! f = K C whatever k is, so a spring has its true stiffness from the first iterations on. Damping acts on the
//! coordinate's own rate only: what turns or falls as a whole is not damped.

pub mod angular;
pub mod distance;
pub mod linear;

use crate::gpu::{Group, Load, Read, abs, fmax, fmin, glam::Vec3, least, sqrt};
use crate::layout;
use crate::math::{Pose, Rotation, Twist, inertia};
use crate::solve::system::System;
use crate::solve::turns::whole_turns;
use crate::state::rigid::{Body, NONE, Params, option};
use angular::{Angles, wrapped};
use core::f32::consts::PI;

layout! {
    /// A joint between two bodies, or a body and the world.
    pub struct Joint {
        /// The body that its coordinates are about.
        pub body_a: u32,
        /// The body they are measured on; [`NONE`] is the world.
        pub body_b: u32,
        /// Bits of [`flag`].
        pub flags: u32,
        /// First of its rows.
        pub first_row: u32,
        /// How many it has.
        pub rows: u32,
        /// What errors are measured against.
        pub length: f32,
        /// Its point on a.
        pub anchor_a: Vec3,
        /// Its point on b.
        pub anchor_b: Vec3,
        /// Its frame on a.
        pub frame_a: Rotation,
        /// Its frame on b.
        pub frame_b: Rotation,
        /// Force at which it breaks.
        pub max_force: f32,
        /// Torque at which it breaks.
        pub max_torque: f32,
    }

    /// What a joint does to one of its coordinates.
    pub struct JointRow {
        /// One of [`axis`].
        pub axis: u32,
        /// One of [`role`].
        pub role: u32,
        /// Target, or lower limit.
        pub low: f32,
        /// Upper limit.
        pub high: f32,
        /// Greatest force.
        pub bound: f32,
        /// Of a spring.
        pub stiffness: f32,
        /// Of a spring.
        pub damping: f32,
    }

    /// A row while it is solved, and between steps.
    pub struct RowState {
        /// Multiplier.
        pub lambda: f32,
        /// Stiffness of this iteration.
        pub k: f32,
        /// The coordinate at the start of the step.
        pub start: f32,
        /// One unit of stiffness: what the bodies have against each other along the row, over dt squared.
        pub unit: f32,
        /// Which limit may push: 1 the upper one, -1 the lower one.
        pub side: f32,
    }

    /// What a joint did in the last step.
    pub struct JointForce {
        /// Force on a at its point, in world space.
        pub force: Vec3,
        /// Torque on a, in world space.
        pub torque: Vec3,
    }
}

/// Bits of a joint.
pub mod flag {
    /// It does nothing any more.
    pub const BROKEN: u32 = 1;
    /// Its bodies do not touch each other.
    pub const APART: u32 = 2;
    /// It has rows about angles.
    pub const TURNS: u32 = 4;
    /// It holds the points together: rows along lengths are about the axes of the world.
    pub const TOGETHER: u32 = 8;
}

/// Coordinates.
pub mod axis {
    /// Of a's point in b's frame.
    pub const X: u32 = 0;
    /// Of a's point in b's frame.
    pub const Y: u32 = 1;
    /// Of a's point in b's frame.
    pub const Z: u32 = 2;
    /// About a's x axis.
    pub const TWIST: u32 = 3;
    /// Of a's x axis, about b's y axis.
    pub const SWING_Y: u32 = 4;
    /// Of a's x axis, about b's z axis.
    pub const SWING_Z: u32 = 5;
    /// Distance of the points.
    pub const DISTANCE: u32 = 6;
}

/// What rows do.
pub mod role {
    /// Hold the coordinate.
    pub const LOCK: u32 = 0;
    /// Keep it between two values.
    pub const LIMIT: u32 = 1;
    /// Change it at a speed.
    pub const SPEED: u32 = 2;
    /// Pull it towards a value.
    pub const SPRING: u32 = 3;
}

/// Force from which on a row counts as unbounded.
pub const UNBOUNDED: f32 = 1e30;

/// What a pass knows besides: the step, and how much of old errors is left alone.
#[derive(Clone, Copy)]
pub struct JointRules {
    /// Seconds.
    pub dt: f32,
    /// Part of the error at the start of the step that is left alone (Eq. 18), by joints that carry much, and
    pub alpha: f32,
    /// by those that do not.
    pub alpha_light: f32,
    /// What is corrected of it at most, as a part of the joint's length, or in radians.
    pub most: f32,
    /// Units of stiffness from which on a joint carries much, and
    pub loaded: f32,
    /// how many more of as many make it one altogether.
    pub loaded_more: f32,
    /// Whether rows keep their stiffness in the Hessian when their force is clamped (Algorithm 1, line 18).
    pub curved: bool,
    /// Whether springs have no multiplier (Eq. 16).
    pub penalty_springs: bool,
    /// Whether this is the pass behind the iterations: it only draws together what is apart, without multipliers.
    pub stabilise: bool,
}

impl JointRules {
    /// Of the iterations, or of the pass behind them that corrects errors without giving velocity (section 6).
    #[inline(always)]
    pub fn new(params: &Params, stabilise: bool) -> Self {
        let mut rules = Self {
            dt: params.dt,
            alpha: params.alpha_joint,
            alpha_light: params.alpha_light,
            most: params.correction_joint,
            loaded: params.loaded,
            loaded_more: params.loaded_range - 1.0,
            curved: params.options & option::CURVED != 0,
            penalty_springs: params.options & option::PENALTY_SPRINGS != 0,
            stabilise,
        };
        if stabilise {
            (rules.alpha, rules.alpha_light) = (params.alpha_stabilised, params.alpha_stabilised);
        } else if params.alpha_light > params.alpha_joint {
            rules.most = params.correction_joint_moving;
        }
        rules
    }
}

/// How a joint's bodies stand to each other.
#[derive(Clone, Copy)]
pub struct JointEnds {
    /// From a's centre of mass to its point.
    pub lever_a: Vec3,
    /// From b's centre of mass to its point.
    pub lever_b: Vec3,
    /// From b's point to a's.
    pub apart: Vec3,
    /// Axes of the rows along lengths: b's frame, or the world's.
    pub frame: Rotation,
    /// From b's centre of mass to where forces along lengths act on it.
    pub reach_b: Vec3,
    /// Angles, when the joint has rows about them.
    pub angles: Angles,
    /// How far a has turned against b since the start of the step.
    pub turned: Vec3,
}

impl JointEnds {
    /// Of no joint.
    #[inline(always)]
    pub fn none() -> Self {
        let (zero, frame) = (Vec3::ZERO, Rotation::IDENTITY);
        Self { lever_a: zero, lever_b: zero, apart: zero, frame, reach_b: zero, angles: Angles::none(), turned: zero }
    }

    /// `between` is from b's centre of mass to a's.
    #[inline(always)]
    pub fn new(joint: &Joint, between: Vec3, a: &Rotation, b: &Rotation) -> Self {
        let (lever_a, lever_b) = (a.apply(joint.anchor_a), b.apply(joint.anchor_b));
        let frame = b.then_after(&joint.frame_b);
        let mut angles = Angles::none();
        if joint.flags & flag::TURNS != 0 {
            angles = Angles::new(&a.then_after(&joint.frame_a), &frame);
        }
        let together = joint.flags & flag::TOGETHER != 0;
        let apart = between + lever_a - lever_b;
        let reach_b = if together { lever_b } else { lever_b + apart };
        let frame = if together { Rotation::IDENTITY } else { frame };
        Self { lever_a, lever_b, apart, frame, reach_b, angles, turned: Vec3::ZERO }
    }

    /// In the middle of a step. Ways since its start are added up by themselves: next to large positions they would be lost.
    #[inline(always)]
    pub fn moving(joint: &Joint, starts: &impl Load<Pose>, deltas: &impl Load<Twist>, poses: &impl Load<Pose>) -> Self {
        let world = joint.body_b == NONE;
        let (a, b) = (joint.body_a, if world { joint.body_a } else { joint.body_b });
        let mut to = starts.at(b).position;
        let mut way = deltas.at(b);
        let mut rotation = poses.at(b).rotation;
        if world {
            let still = Twist { linear: Vec3::ZERO, angular: Vec3::ZERO };
            (to, way, rotation) = (Vec3::ZERO, still, Rotation::IDENTITY);
        }
        let own = deltas.at(a);
        let between = (starts.at(a).position - to) + (own.linear - way.linear);
        let mut ends = Self::new(joint, between, &poses.at(a).rotation, &rotation);
        ends.turned = own.angular - way.angular;
        ends
    }

    /// A coordinate, and how it changes.
    #[inline(always)]
    pub fn measure(&self, axis: u32) -> Measure {
        if axis <= axis::Z {
            linear::measure(self, axis)
        } else if axis == axis::DISTANCE {
            distance::measure(self)
        } else {
            let mut measure = self.angles.measure(axis);
            measure.turned = measure.turn_a.dot(self.turned);
            measure
        }
    }
}

/// A coordinate and its derivatives: J = [linear, turn_a] for a and -[linear, turn_b] for b.
#[derive(Clone, Copy)]
pub struct Measure {
    /// The coordinate.
    pub value: f32,
    /// Along the way of a.
    pub linear: Vec3,
    /// Along the rotation of a.
    pub turn_a: Vec3,
    /// Against that of b.
    pub turn_b: Vec3,
    /// About how much an angle changed since the start of the step, whole turns included.
    pub turned: f32,
}

/// What a row asks.
#[derive(Clone, Copy)]
pub struct Asked {
    /// C.
    pub error: f32,
    /// The force, within its bounds: the next multiplier (Eq. 11).
    pub force: f32,
    /// Stiffness for the Hessian, rescaled beyond the bounds (Eq. 14) unless rows keep it.
    pub k: f32,
    /// Whether it was within the bounds.
    pub inside: bool,
}

impl JointRow {
    /// Stiffness it has in the end; 0 for those without any compliance.
    #[inline(always)]
    pub fn stiffest(&self, dt: f32) -> f32 {
        if self.role == role::SPRING { self.stiffness + self.damping / dt } else { 0.0 }
    }

    /// Whether it is about an angle.
    #[inline(always)]
    pub fn turns(&self) -> bool {
        self.axis >= axis::TWIST && self.axis <= axis::SWING_Z
    }

    /// Whether it is a spring along a line. Its stiffness grows as that of joints does, but gently: what is stiff at
    /// once holds what it joins where it is, and the weak springs beside it do not get to move it (Figures 2 and 4).
    #[inline(always)]
    pub fn ramps_gently(&self) -> bool {
        self.role == role::SPRING && !self.turns()
    }

    /// Whether it is one of those that hold a point.
    #[inline(always)]
    pub fn holds_point(&self) -> bool {
        self.role == role::LOCK && self.axis <= axis::Z
    }

    /// Whether its stiffness may grow with error and load. That of a motor may not: what is driven hard against its bound
    /// would be thrown to and fro between both.
    #[inline(always)]
    pub fn grows(&self) -> bool {
        self.role == role::LIMIT || self.role == role::SPRING || self.bound >= UNBOUNDED
    }

    /// A difference of coordinates: of angles, the short way round.
    #[inline(always)]
    fn difference(&self, to: f32, from: f32) -> f32 {
        if self.axis == axis::TWIST { wrapped(to - from) } else { to - from }
    }

    /// The middle between both limits; values on the far side of it count as beyond the nearer limit.
    ///
    /// The twist is known up to full turns only. Limits that are a full turn or more apart have no far side: the one that
    /// no twist in -pi to pi reaches counts as none, and the middle is a quarter of a turn inside the other. That one
    /// then catches what is up to a quarter of a turn beyond it, and leaves three quarters of a turn free.
    #[inline(always)]
    fn middle(&self) -> f32 {
        let mut middle = 0.5 * (self.low + self.high);
        if self.axis == axis::TWIST && self.high - self.low >= 2.0 * PI {
            let (open_low, open_high) = (self.low < -PI, self.high > PI);
            if open_high && !open_low {
                middle = self.low + 0.5 * PI;
            } else if open_low && !open_high {
                middle = self.high - 0.5 * PI;
            }
        }
        middle
    }

    /// The limit that is nearer: 1 for the upper one.
    #[inline(always)]
    pub fn nearer(&self, value: f32) -> f32 {
        if self.difference(value, self.middle()) < 0.0 { -1.0 } else { 1.0 }
    }

    /// What it asks where its coordinate is as measured.
    #[inline(always)]
    pub fn ask(&self, rules: &JointRules, state: &RowState, measure: &Measure, length: f32) -> Asked {
        let value = measure.value;
        let length = if self.turns() { 1.0 } else { length };
        let mut target = self.low;
        let loaded = (state.k / fmax(state.unit, 1e-30) / rules.loaded - 1.0) / rules.loaded_more;
        let mut keep = rules.alpha_light + (rules.alpha - rules.alpha_light) * fmax(0.0, fmin(loaded, 1.0));
        let (mut least, mut most) = (-self.bound, self.bound);
        let (mut lambda, mut compliance) = (state.lambda, 0.0);
        if self.role == role::LIMIT {
            // A limb may be caught beyond its limit by what lies around it: that takes a push.
            keep = if self.turns() { rules.alpha } else { keep };
            if state.side > 0.0 {
                (target, least) = (self.high, 0.0);
            } else {
                most = 0.0;
            }
        } else if self.role == role::SPEED {
            (target, keep) = (state.start, 0.0);
        } else if self.role == role::SPRING {
            let stiffest = self.stiffest(rules.dt);
            compliance = 1.0 / stiffest;
            keep = self.damping / rules.dt * compliance;
            // Algorithm 1, line 16: the multiplier only says what it pulled with.
            lambda = if rules.penalty_springs { 0.0 } else { lambda };
        }
        let mut e = self.difference(value, target);
        let mut e0 = self.difference(state.start, target);
        if self.role == role::LIMIT {
            // Angles are told apart at the far side of the limits, not of the target.
            if self.axis == axis::TWIST {
                let middle = self.middle();
                e = self.difference(value, middle) + (middle - target);
                e0 = self.difference(state.start, middle) + (middle - target);
            }
            // There is no error before the limit is reached.
            e0 = if state.side > 0.0 { fmax(e0, 0.0) } else { fmin(e0, 0.0) };
        }
        // Large errors are worked off over many steps, however large they are.
        let mut rest = (1.0 - keep) * e0;
        if self.role != role::SPRING {
            rest = fmax(-rules.most * length, fmin(rest, rules.most * length));
        }
        let mut error = e - e0 + rest;
        if self.role == role::SPEED {
            // Angles are known up to whole turns, and a motor may make several in a step.
            let turns = if self.axis == axis::TWIST { whole_turns(measure.turned - e) } else { 0.0 };
            error = e + turns - self.low * rules.dt;
        }
        let mut k = state.k;
        if rules.stabilise {
            lambda = 0.0;
            compliance = 0.0;
            let errs = self.role == role::LOCK || (self.role == role::LIMIT && error * state.side > 0.0);
            k = if errs { k } else { 0.0 };
        }
        let wanted = lambda + k * (error - lambda * compliance);
        let force = fmax(least, fmin(wanted, most));
        let inside = force == wanted;
        if !inside && !rules.curved {
            let reaching = abs(force - lambda) / fmax(abs(error), 1e-30);
            k = fmin(k, reaching);
        }
        Asked { error, force, k, inside }
    }
}

impl Joint {
    /// How many rows it has, in a list of `room`.
    #[inline(always)]
    pub fn rows_within(&self, room: u32) -> u32 {
        least(self.rows, room - least(self.first_row, room))
    }
}

/// Adds a joint to the system of its body on `side`: 1 for a, -1 for b. All lanes of a subgroup call it together; where `on` says no, it
/// adds nothing.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn add(
    system: &mut System,
    rules: &JointRules,
    (group, on): (&Group, bool),
    joint: &Joint,
    ends: &JointEnds,
    side: f32,
    rows: &Read<'_, JointRow>,
    states: &impl Load<RowState>,
) {
    let is_a = side > 0.0;
    let lever = if is_a { ends.lever_a } else { ends.reach_b };
    let mut force = Vec3::ZERO;
    let mut torque = 0.0;
    let count = if on { joint.rows_within(rows.len()) } else { 0 };
    let mut r = 0;
    while group.any(r < count) {
        if r < count {
            let (row, state) = (rows.at(joint.first_row + r), states.at(joint.first_row + r));
            let measure = ends.measure(row.axis);
            let asked = row.ask(rules, &state, &measure, joint.length);
            let turn = if is_a { measure.turn_a } else { measure.turn_b };
            system.pull(measure.linear * side, turn * side, asked.k, asked.force);
            if row.axis <= axis::Z {
                force += measure.linear * asked.force;
            } else if row.axis == axis::DISTANCE {
                distance::stiffen(system, ends, is_a, measure.linear, asked.force);
            } else {
                torque += abs(asked.force);
            }
        }
        r += 1;
    }
    if on {
        system.stiffen(lever, force);
        // The second derivatives of angles are at most one half off the diagonal, wherever the frames stand close.
        system.aa += Vec3::splat(0.5 * torque);
    }
}

/// What the bodies have against each other along a row, over dt squared: 1 / (dt^2 J M^-1 J^T), and the same of the
/// heavier of the two alone.
#[inline(always)]
pub fn unit(measure: &Measure, a: &Body, turned_a: &Rotation, b: &Body, turned_b: &Rotation, dt: f32) -> (f32, f32) {
    let along = |body: &Body, rotation: &Rotation, turn: Vec3| {
        let i = body.inertia;
        let inverse = Vec3::new(1.0 / i.x, 1.0 / i.y, 1.0 / i.z);
        let ease = measure.linear.length_squared() / body.mass + turn.dot(inertia(rotation, inverse, turn));
        if body.is_dynamic() { ease } else { 0.0 }
    };
    let (ease_a, ease_b) = (along(a, turned_a, measure.turn_a), along(b, turned_b, measure.turn_b));
    let both = ease_a + ease_b;
    let less = if ease_a > 0.0 && ease_b > 0.0 { fmin(ease_a, ease_b) } else { both };
    let unit = |ease: f32| if ease > 0.0 { 1.0 / (dt * dt * ease) } else { 0.0 };
    (unit(both), unit(less))
}

impl System {
    /// Adds a row with the derivative J = [linear, turn], stiffness k, and multiplier `force` (Eq. 9 and 17).
    #[inline(always)]
    pub fn pull(&mut self, linear: Vec3, turn: Vec3, k: f32, force: f32) {
        self.force -= linear * force;
        self.torque -= turn * force;
        let (l, t) = (linear * k, turn * k);
        self.ll += l * linear;
        self.ll_off += Vec3::new(l.x * linear.y, l.x * linear.z, l.y * linear.z);
        self.al[0] += linear * t.x;
        self.al[1] += linear * t.y;
        self.al[2] += linear * t.z;
        self.aa += t * turn;
        self.aa_off += Vec3::new(t.x * turn.y, t.x * turn.z, t.y * turn.z);
    }

    /// Adds the geometric stiffness of a force at a lever (section 3.5): the lengths of the columns of r f^T - (r . f) I.
    #[inline(always)]
    pub fn stiffen(&mut self, lever: Vec3, force: Vec3) {
        let along = lever.dot(force);
        let column = |part: f32, axis: Vec3| (lever * part - axis * along).length();
        self.aa += Vec3::new(column(force.x, Vec3::X), column(force.y, Vec3::Y), column(force.z, Vec3::Z));
    }
}

/// Length of a vector, never 0.
#[inline(always)]
pub(crate) fn some_length(v: Vec3) -> f32 {
    sqrt(fmax(v.length_squared(), 1e-24))
}
