//! The joint model, shared by the primal passes and the dual one: forces and stiffness that joints and springs exert on
//! two bodies.
//!
//! A joint has an anchor point and a frame on each of its bodies, a and b; b may be the world. Coordinates describe the
//! point and frame of a relative to those of b. A *row* acts on one coordinate: it locks it, keeps it between limits,
//! drives it at a speed, or pulls it like a spring. A ball joint has three rows, a spring one, a hinge five plus those
//! of its limits and motor.
//!
//! ```text
//!   [`linear`]    x, y, z     of a's point in b's frame
//!   [`angular`]   twist       of a's frame about its x axis          hinge, motor
//!                 swing y, z  of a's x axis out of b's
//!   [`distance`]  length      between the points                     rod, rope, spring
//! ```
//!
//! With v the coordinate, v0 its value at the start of the step, e = v - target the error and e0 that at the start, k
//! the stiffness of this iteration and K the final stiffness, a row exerts the force (Eq. 13, [`JointRow::ask`])
//!
//! ```text
//!   f = clamp(lambda + k (C - lambda / K))          on a: -f dC/dx (Eq. 9)
//!   lock     C = e - alpha e0, e = v - target        1/K = 0, Eq. 18; alpha as in section 6 unless it carries much
//!   limit    the same beyond the limit, C = e before it; f only pushes back
//!   speed    C = v - v0 - target dt                  1/K = 0; |f| at most the motor's force
//!   spring   C = e - d/(dt K) e0                     K = stiffness + d/dt, d the damping
//! ```
//!
//! For springs this is the ramp of Eq. 16, k growing up to K, plus a multiplier for what k still lacks: at the fixed
//! point f = K C whatever k is, so a spring has its true stiffness from the first iterations on. Damping acts only on
//! the rate of the coordinate, so rigid rotation and free fall of the whole are not damped.

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
        /// The body whose point and frame are measured.
        pub body_a: u32,
        /// The body relative to which they are measured; [`NONE`] is the world.
        pub body_b: u32,
        /// Bits of [`flag`].
        pub flags: u32,
        /// Index of its first row.
        pub first_row: u32,
        /// Number of its rows.
        pub rows: u32,
        /// Length that errors are measured against, metres.
        pub length: f32,
        /// Anchor point on a, in a's frame.
        pub anchor_a: Vec3,
        /// Anchor point on b, in b's frame.
        pub anchor_b: Vec3,
        /// Its frame on a.
        pub frame_a: Rotation,
        /// Its frame on b.
        pub frame_b: Rotation,
        /// Force at which it breaks, newtons.
        pub max_force: f32,
        /// Torque at which it breaks, newton metres.
        pub max_torque: f32,
    }

    /// How a joint acts on one of its coordinates.
    pub struct JointRow {
        /// One of [`axis`].
        pub axis: u32,
        /// One of [`role`].
        pub role: u32,
        /// Target value or speed, or lower limit.
        pub low: f32,
        /// Upper limit.
        pub high: f32,
        /// Greatest force, newtons, or torque, newton metres; [`UNBOUNDED`] and more is none.
        pub bound: f32,
        /// Of a spring.
        pub stiffness: f32,
        /// Of a spring.
        pub damping: f32,
    }

    /// State of a row, kept while it is solved and between steps.
    pub struct RowState {
        /// Multiplier: force or torque along the coordinate.
        pub lambda: f32,
        /// Stiffness of this iteration.
        pub k: f32,
        /// The coordinate at the start of the step.
        pub start: f32,
        /// One unit of stiffness: the reduced mass of both bodies along the row, over dt squared.
        pub unit: f32,
        /// Which limit may push: 1 for the upper, -1 for the lower, 0 for rows without limits.
        pub side: f32,
    }

    /// Force and torque of a joint in the last step.
    pub struct JointForce {
        /// Force on a at its anchor point, in world space, newtons.
        pub force: Vec3,
        /// Torque on a, in world space, newton metres.
        pub torque: Vec3,
    }
}

/// Flag bits of a joint.
pub mod flag {
    /// The joint has broken and does nothing.
    pub const BROKEN: u32 = 1;
    /// The joint's bodies do not collide with each other.
    pub const APART: u32 = 2;
    /// The joint has rows about angles.
    pub const TURNS: u32 = 4;
    /// The joint holds its points together, so its rows along lengths use the axes of the world.
    pub const TOGETHER: u32 = 8;
}

/// Coordinates of a joint.
pub mod axis {
    /// Of a's point in b's frame.
    pub const X: u32 = 0;
    /// Of a's point in b's frame.
    pub const Y: u32 = 1;
    /// Of a's point in b's frame.
    pub const Z: u32 = 2;
    /// Rotation of a about its own x axis.
    pub const TWIST: u32 = 3;
    /// Tilt of a's x axis about b's y axis.
    pub const SWING_Y: u32 = 4;
    /// Tilt of a's x axis about b's z axis.
    pub const SWING_Z: u32 = 5;
    /// Distance between the two points.
    pub const DISTANCE: u32 = 6;
}

/// What rows do to their coordinate.
pub mod role {
    /// Hold it at a target.
    pub const LOCK: u32 = 0;
    /// Keep it between two limits.
    pub const LIMIT: u32 = 1;
    /// Change it at a given speed.
    pub const SPEED: u32 = 2;
    /// Pull it towards a target like a spring.
    pub const SPRING: u32 = 3;
}

/// Bound from which on a row counts as unbounded, newtons.
pub const UNBOUNDED: f32 = 1e30;

/// How a pass treats errors of joints: the time step, and how much of an existing error is left alone.
#[derive(Clone, Copy)]
pub struct JointRules {
    /// Seconds.
    pub dt: f32,
    /// Fraction of the error at the start of the step that heavily loaded joints leave alone (Eq. 18).
    pub alpha: f32,
    /// The same fraction for lightly loaded joints.
    pub alpha_light: f32,
    /// Largest correction of an existing error in one step, as a fraction of the joint's length, or in radians.
    pub most: f32,
    /// Units of stiffness above which a joint begins to count as heavily loaded.
    pub loaded: f32,
    /// Width of the transition: a joint counts fully as heavily loaded at `loaded` times (1 + this).
    pub loaded_more: f32,
    /// Whether rows keep their whole stiffness in the Hessian when their force is clamped (Algorithm 1, line 18).
    pub curved: bool,
    /// Whether springs have no multiplier (Eq. 16 as published).
    pub penalty_springs: bool,
    /// Whether this is the stabilising pass: it only reduces position errors, and uses no multipliers.
    pub stabilise: bool,
}

impl JointRules {
    /// Rules of the iterations, or of the stabilising pass, which corrects errors without changing velocities (section
    /// 6).
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

/// Relative position of a joint's two ends.
#[derive(Clone, Copy)]
pub struct JointEnds {
    /// From a's centre of mass to its anchor point, in world space.
    pub lever_a: Vec3,
    /// From b's centre of mass to its anchor point, in world space.
    pub lever_b: Vec3,
    /// From b's anchor point to a's.
    pub apart: Vec3,
    /// Axes of the rows along lengths: b's frame, or the world's if the joint holds its points together.
    pub frame: Rotation,
    /// From b's centre of mass to where forces of rows along lengths act on it.
    pub reach_b: Vec3,
    /// Angles; only set if the joint has rows about angles.
    pub angles: Angles,
    /// Rotation vector of a relative to b since the start of the step, radians.
    pub turned: Vec3,
}

impl JointEnds {
    /// Ends of no joint: all zero.
    #[inline(always)]
    pub fn none() -> Self {
        let (zero, frame) = (Vec3::ZERO, Rotation::IDENTITY);
        Self { lever_a: zero, lever_b: zero, apart: zero, frame, reach_b: zero, angles: Angles::none(), turned: zero }
    }

    /// Ends for given rotations of a and b; `between` leads from b's centre of mass to a's.
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

    /// Ends during a step. Motions since its start are subtracted before positions are added: next to large positions
    /// they would be rounded away.
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

    /// A coordinate and its derivatives.
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

/// A coordinate and its derivatives with respect to the motion of the bodies: J = [linear, turn_a] for a and -[linear,
/// turn_b] for b.
#[derive(Clone, Copy)]
pub struct Measure {
    /// Value of the coordinate, metres or radians.
    pub value: f32,
    /// Derivative with respect to the position of a, and minus that of b.
    pub linear: Vec3,
    /// Derivative with respect to the rotation of a.
    pub turn_a: Vec3,
    /// Minus the derivative with respect to the rotation of b.
    pub turn_b: Vec3,
    /// Approximate change of an angle since the start of the step, whole turns included, radians.
    pub turned: f32,
}

/// Error, force and stiffness of a row.
#[derive(Clone, Copy)]
pub struct Asked {
    /// The error C.
    pub error: f32,
    /// The clamped force: the next multiplier (Eq. 11 and 13).
    pub force: f32,
    /// Stiffness for the Hessian, rescaled beyond the bounds (Eq. 14) unless `curved` is set.
    pub k: f32,
    /// Whether the force is within its bounds.
    pub inside: bool,
}

impl JointRow {
    /// Final stiffness K of a spring, stiffness + damping / dt; 0 for rows without compliance.
    #[inline(always)]
    pub fn stiffest(&self, dt: f32) -> f32 {
        if self.role == role::SPRING { self.stiffness + self.damping / dt } else { 0.0 }
    }

    /// Whether its coordinate is an angle.
    #[inline(always)]
    pub fn turns(&self) -> bool {
        self.axis >= axis::TWIST && self.axis <= axis::SWING_Z
    }

    /// Whether it is a spring along a line. Its stiffness grows as that of a joint does, but with gentler constants:
    /// springs that are stiff at once hold their bodies in place, and weak springs beside them cannot move them
    /// (Figures 2 and 4).
    #[inline(always)]
    pub fn ramps_gently(&self) -> bool {
        self.role == role::SPRING && !self.turns()
    }

    /// Whether it is one of the rows that hold a point.
    #[inline(always)]
    pub fn holds_point(&self) -> bool {
        self.role == role::LOCK && self.axis <= axis::Z
    }

    /// Whether its stiffness may grow with error and load. That of a motor may not: driven hard against its bound, it
    /// would jump between both bounds.
    #[inline(always)]
    pub fn grows(&self) -> bool {
        self.role == role::LIMIT || self.role == role::SPRING || self.bound >= UNBOUNDED
    }

    /// Difference of two coordinates; for the twist, by the shorter way round.
    #[inline(always)]
    fn difference(&self, to: f32, from: f32) -> f32 {
        if self.axis == axis::TWIST { wrapped(to - from) } else { to - from }
    }

    /// Middle between both limits; values beyond it belong to the other limit.
    ///
    /// The twist is known up to full turns only. Limits that are a full turn or more apart have no far side: the one
    /// that no twist in -pi to pi reaches counts as none, and the middle is a quarter of a turn inside the other. That
    /// one then catches what is up to a quarter of a turn beyond it, and leaves three quarters of a turn free.
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

    /// Which limit is nearer: 1 for the upper, -1 for the lower.
    #[inline(always)]
    pub fn nearer(&self, value: f32) -> f32 {
        if self.difference(value, self.middle()) < 0.0 { -1.0 } else { 1.0 }
    }

    /// Error, force and stiffness of the row at the measured coordinate (Eq. 13, 14, 16 and 18). `length` is the
    /// joint's.
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
            // Angular limits use the alpha of loaded joints: other bodies may wedge a limb beyond its limit, and only a
            // push frees it.
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
            // Algorithm 1, line 16: without a multiplier in the force; the state still records what the spring pulled
            // with.
            lambda = if rules.penalty_springs { 0.0 } else { lambda };
        }
        let mut e = self.difference(value, target);
        let mut e0 = self.difference(state.start, target);
        if self.role == role::LIMIT {
            // The twist is unwrapped around the middle of the limits, not around the target.
            if self.axis == axis::TWIST {
                let middle = self.middle();
                e = self.difference(value, middle) + (middle - target);
                e0 = self.difference(state.start, middle) + (middle - target);
            }
            // Before the limit is reached there is no error.
            e0 = if state.side > 0.0 { fmax(e0, 0.0) } else { fmin(e0, 0.0) };
        }
        // Large errors are corrected over many steps, by at most `most` in each.
        let mut rest = (1.0 - keep) * e0;
        if self.role != role::SPRING {
            rest = fmax(-rules.most * length, fmin(rest, rules.most * length));
        }
        let mut error = e - e0 + rest;
        if self.role == role::SPEED {
            // The twist is known only up to whole turns, and a motor may make several in a step.
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
    /// Number of its rows, clamped to a list of `room` rows.
    #[inline(always)]
    pub fn rows_within(&self, room: u32) -> u32 {
        least(self.rows, room - least(self.first_row, room))
    }
}

/// Adds a joint to the system of its body on `side`: 1 for a, -1 for b. All lanes of a subgroup call it together; a
/// lane for which `on` is false adds nothing.
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
    loop {
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
        if !group.any(r < count) {
            break;
        }
    }
    if on {
        system.stiffen(lever, force);
        // Geometric stiffness of angles (section 3.5): their second derivatives are off the diagonal, and at most one
        // half while the frames are close.
        system.aa += Vec3::splat(0.5 * torque);
    }
}

/// One unit of stiffness of a row: the reduced mass of both bodies along it over dt squared, 1 / (dt^2 J M^-1 J^T); and
/// the same for the heavier of the two alone.
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
    /// Adds a row with the derivative J = [linear, turn], stiffness `k` and force `force` (Eq. 9 and 17).
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

    /// Adds the geometric stiffness of a force f at a lever r as a diagonal (section 3.5): the norms of the columns of
    /// r f^T - (r . f) I.
    #[inline(always)]
    pub fn stiffen(&mut self, lever: Vec3, force: Vec3) {
        let along = lever.dot(force);
        let column = |part: f32, axis: Vec3| (lever * part - axis * along).length();
        self.aa += Vec3::new(column(force.x, Vec3::X), column(force.y, Vec3::Y), column(force.z, Vec3::Z));
    }
}

/// Length of a vector, at least 1e-12, so that it can be divided by.
#[inline(always)]
pub(crate) fn some_length(v: Vec3) -> f32 {
    sqrt(fmax(v.length_squared(), 1e-24))
}
