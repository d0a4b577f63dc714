//! Restitution: Newton's law u' = -e u along the normal for every contact that pushed in a step, with u the closing
//! speed, u' the speed after the impact and e the coefficient of restitution. It is applied after the iterations, which
//! bring bodies into contact without bouncing. The stages `bounce_start`, `bounce` and `bounce_apply` use this module.
//!
//! **The speed of an impact.** Velocities are differences of poses, so they belong to the middle of a step. With a the
//! relative acceleration along the normal and u0 the speed of the last step, a contact closes with u = u0 + a dt / 2 at
//! the start of a step, and with the square u^2 - 2 a gap when it has covered its gap. Bodies that touch get e times
//! that. Few iterations leave them a little too deep or too high: they get the speed that makes it the right one where
//! they touch, with the square u^2 + 2 a depth, less a dt / 2 because velocities belong to the middle of a step. Energy
//! is then kept to rounding, whatever the step and wherever in it the impact falls.
//!
//! **Which contacts.** The first rounds (`bounce_start`, then `bounce` and `bounce_apply` in turn) work on velocities
//! from before the step. Every contact that pushed in the iterations and is closing gets the impulse of its own impact,
//! again and again until none is closing. So a blow passes through a row of balls from one to the next, as in a
//! Newton's cradle, and not to all at once. Contacts below the threshold, and those that do not bounce, take part with
//! e = 0.
//!
//! **Applying it.** After `velocity`, rounds of the same kind bring the speed of contacts that bounced to what their
//! impacts left, and keep the others from closing faster than the iterations left them. Where all contacts of connected
//! bodies bounced, contacts start with the impulses of their impacts in place of those of the iterations, and bodies
//! start without the speed that gravity added to the contact in this step; that change is taken off the whole body and
//! so turns nothing, unlike an impulse at a corner. Bodies that also rest on others are carried by forces that impacts
//! do not know, and keep those. Friction stays as the iterations found it.
//!
//! **Momentum and energy.** An impulse acts equally on both bodies, at one point. The points of a manifold are solved
//! together. Manifolds of a round do not know of each other, so each gets 1 / n of its impulse, with n the larger
//! number of manifolds that act on one of its two bodies. The velocity of each body is then a mean of what single
//! impacts would give it. Kinetic energy is convex and no single impact adds any, so their mean adds none either.

use crate::detect::manifold::{FourPoints, Head, Manifold, ManifoldEnds, record};
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Local, Store, fmax, least};
use crate::math::{Pose, Twist, inertia};
use crate::state::rigid::{Body, POINTS};

/// Vectors of a manifold in the list of impacts; each has one word a point.
pub mod word {
    /// Impulses of this round, newton seconds.
    pub const IMPULSE: u32 = 0;
    /// Sums of the impulses of all rounds, newton seconds.
    pub const TOTAL: u32 = 1;
    /// After `velocity`: target speed along the normal, m/s.
    pub const SPEED: u32 = 2;
    /// After `velocity`: lower bound of the total impulse, newton seconds.
    pub const LEAST: u32 = 3;
    /// 1 for contacts that bounced.
    pub const BOUNCED: u32 = 4;
    /// All.
    pub const COUNT: u32 = 5;
}

/// Words of a body in the list of counts.
pub mod count {
    /// Number of manifolds that act on the body in a round. Two words, for this round and the next, which alternate.
    pub const ROUND: u32 = 0;
    /// Not 0 if one of its contacts bounced.
    pub const STRUCK: u32 = 2;
    /// Bit n is set if a contact of this body, or of a body up to n contacts away, pushed and did not bounce.
    pub const RESTS: u32 = 3;
    /// All.
    pub const WORDS: u32 = 4;
}

/// Kinds of rounds.
pub mod phase {
    /// The first round on velocities from before the step.
    pub const FIRST: u32 = 0;
    /// A further round on velocities from before the step.
    pub const IMPACTS: u32 = 1;
    /// Marks bodies that also rest on something.
    pub const MARK: u32 = 2;
    /// After `velocity`: contacts that bounced take over the impulses of their impacts.
    pub const TAKE: u32 = 3;
    /// After `velocity`: brings contacts to their target speeds.
    pub const SETTLE: u32 = 4;
}

/// Rounds of each kind, and so the number of bodies that a blow passes through in one step; the rest follows in the
/// next.
pub const ROUNDS: u32 = 8;

/// Fraction of a collider's size by which a contact must close within a step to count as an impact; less is rounding.
pub const LEAST_WAY: f32 = 1e-6;

/// Gauss-Seidel sweeps over the points of a manifold. Of four points on a plane, one is determined by the others.
const SWEEPS: u32 = 12;

/// The four floats of a vector of words.
#[inline(always)]
pub fn four(words: UVec4) -> Local<f32, 4> {
    let float = f32::from_bits;
    Local::of([float(words.x), float(words.y), float(words.z), float(words.w)])
}

/// The words of four floats.
#[inline(always)]
pub fn four_words(values: &Local<f32, 4>) -> UVec4 {
    let bits = |i: u32| values.at(i).to_bits();
    UVec4::new(bits(0), bits(1), bits(2), bits(3))
}

/// A body as impulses see it: velocity, inverse mass and inertia.
#[derive(Clone, Copy)]
pub struct Struck {
    /// Its velocity.
    pub velocity: Twist,
    inverse_mass: f32,
    inverse_inertia: Vec3,
    pose: Pose,
}

impl Struck {
    /// A body with this velocity.
    #[inline(always)]
    pub fn new(body: &Body, pose: Pose, velocity: Twist) -> Self {
        let i = body.inertia;
        let mut struck = Self { velocity, inverse_mass: 0.0, inverse_inertia: Vec3::ZERO, pose };
        if body.is_dynamic() {
            struck.inverse_mass = 1.0 / body.mass;
            struck.inverse_inertia = Vec3::new(1.0 / i.x, 1.0 / i.y, 1.0 / i.z);
        }
        struck
    }

    /// Change of angular velocity by an angular impulse.
    #[inline(always)]
    fn turned(&self, by: Vec3) -> Vec3 {
        inertia(&self.pose.rotation, self.inverse_inertia, by)
    }

    /// Adds an impulse at a lever.
    #[inline(always)]
    pub fn hit(&mut self, lever: Vec3, impulse: Vec3) {
        self.velocity.linear += impulse * self.inverse_mass;
        self.velocity.angular += self.turned(lever.cross(impulse));
    }

    /// Speed along `n` of the point at a lever, m/s.
    #[inline(always)]
    fn speed(&self, n: Vec3, lever: Vec3) -> f32 {
        n.dot(self.velocity.linear + self.velocity.angular.cross(lever))
    }

    /// Change of that speed by a unit impulse along `n` at the lever, 1/kg.
    #[inline(always)]
    fn ease(&self, n: Vec3, lever: Vec3) -> f32 {
        let arm = lever.cross(n);
        self.inverse_mass + arm.dot(self.turned(arm))
    }
}

/// Acceleration of a body by its world's gravity and the user's force alone, m/s^2.
#[inline(always)]
pub fn acceleration(gravity: Vec3, body: &Body, force: &Twist) -> Vec3 {
    let mut a = Vec3::ZERO;
    if body.is_dynamic() {
        a = gravity * body.gravity_scale + force.linear * (1.0 / body.mass);
    }
    a
}

/// A manifold and its two bodies.
#[derive(Clone, Copy)]
pub struct Meeting {
    /// Bodies and colliders of the manifold.
    pub ends: ManifoldEnds,
    /// Number of points.
    pub count: u32,
    /// Points of the manifold.
    pub points: FourPoints,
    /// Unit normal, from b to a.
    pub normal: Vec3,
    /// Length that errors are measured against, metres.
    pub length: f32,
    /// From b's centre of mass to a's.
    pub offset: Vec3,
    /// The bodies.
    pub a: Struck,
    /// The bodies.
    pub b: Struck,
}

impl Meeting {
    /// Of a manifold.
    #[inline(always)]
    pub fn new(manifold: &Manifold, points: &impl Load<UVec4>, item: u32, a: Struck, b: Struck) -> Self {
        let head = Head::load(points, record(item));
        Self {
            ends: manifold.ends,
            count: least(manifold.count, POINTS),
            points: FourPoints::load(points, record(item)),
            normal: head.normal,
            length: head.length,
            offset: head.offset,
            a,
            b,
        }
    }

    /// Speed at which point `k` opens, m/s; negative while it closes.
    #[inline(always)]
    pub fn speed(&self, k: u32) -> f32 {
        let lever = self.points.at(k).lever;
        self.a.speed(self.normal, lever) - self.b.speed(self.normal, lever + self.offset)
    }

    /// How far point `k` opens when its bodies move by these ways, metres.
    #[inline(always)]
    pub fn way(&self, k: u32, way_a: &Twist, way_b: &Twist) -> f32 {
        let lever = self.points.at(k).lever;
        let on_a = way_a.linear + way_a.angular.cross(lever);
        self.normal.dot(on_a - way_b.linear - way_b.angular.cross(lever + self.offset))
    }

    /// Impulses that bring the points in the bit mask `wanted` to the speeds `speeds`, each impulse at least `least`.
    #[inline(always)]
    pub fn impulses(&mut self, wanted: u32, speeds: &Local<f32, 4>, least: &Local<f32, 4>) -> Local<f32, 4> {
        let n = self.normal;
        let mut impulses = Local::splat(0.0);
        let mut sweep = 0;
        while sweep < SWEEPS {
            let mut k = 0;
            while k < self.count {
                if wanted & (1 << k) != 0 {
                    let lever = self.points.at(k).lever;
                    let ease = self.a.ease(n, lever) + self.b.ease(n, lever + self.offset);
                    let before = impulses.at(k);
                    let more = (speeds.at(k) - self.speed(k)) / fmax(ease, 1e-30);
                    let after = fmax(before + more, least.at(k));
                    impulses.put(k, after);
                    self.a.hit(lever, n * (after - before));
                    self.b.hit(lever + self.offset, n * (before - after));
                }
                k += 1;
            }
            sweep += 1;
        }
        impulses
    }
}
