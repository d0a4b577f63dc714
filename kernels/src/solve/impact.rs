//! Restitution: Newton's law for every contact that pushed in a step, u' = -e u along the normal, once the iterations have brought
//! the bodies to where they touch without bouncing.
//!
//! **The speed of an impact.** Velocities are differences of poses, so they belong to the middle of a step. At its start, a
//! contact whose bodies are accelerated by a closes in with u = u0 + a dt / 2, and when it has covered its gap, with
//! u^2 - 2 a gap. Where bodies touch they get e times that. Few iterations leave them a little deeper or above: they get what
//! makes it that speed where they touch, u^2 + 2 a depth; less a dt / 2 for the same reason as before. Energy is then
//! kept to rounding, whatever the step and wherever in it the impact falls.
//!
//! **Which contacts.** First (`bounce_start`, and rounds of `bounce` and `bounce_apply`) on velocities from before the step: every contact
//! that pushed in the iterations and is closing in gets the impulse of its own impact, again and again until none closes in. A blow
//! so passes through a row of balls from one to the next, as it does in a cradle, and not to all of them at once. Contacts below the
//! threshold, and those that do not bounce, take part with e = 0.
//!
//! **What becomes of it.** Behind `velocity`, rounds of the same kind bring the speed of contacts that bounced to what their impacts
//! left, and keep the others from closing in faster than the iterations left them. Where everything that hangs together
//! bounced, contacts begin with the impulse of their impacts instead of what the iterations gave them, and bodies without what
//! gravity did to the speed of the contact in the step: it turns nothing, as an impulse at a corner would. Bodies that rest on others are carried by forces that impacts know nothing of, and keep those. Friction
//! stays as the iterations found it.
//!
//! **Momentum and energy.** An impulse is the same on both bodies, at one point. A manifold's points are solved together; manifolds of
//! a round do not know of each other, and get 1 / n of their impulse, n the larger number of manifolds that act on one of its
//! two bodies. Each body's velocity is then a mean of what single impacts would make of it, and since energy is convex and none
//! of those adds any, neither do they together.

use crate::detect::manifold::{FourPoints, Head, Manifold, ManifoldEnds, record};
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Local, Store, fmax, least};
use crate::math::{Pose, Twist, inertia};
use crate::state::rigid::{Body, POINTS, Params};

/// Vectors of a manifold in the list of impacts, a word a point.
pub mod word {
    /// Impulses of this round.
    pub const IMPULSE: u32 = 0;
    /// Impulses of all rounds.
    pub const TOTAL: u32 = 1;
    /// Behind `velocity`: the speed along the normal that they shall have.
    pub const SPEED: u32 = 2;
    /// Behind `velocity`: the least total.
    pub const LEAST: u32 = 3;
    /// 1 for contacts that bounced.
    pub const BOUNCED: u32 = 4;
    /// All.
    pub const COUNT: u32 = 5;
}

/// Words of a body in the list of counts.
pub mod count {
    /// Manifolds that act on it in a round; of the next round. They take turns.
    pub const ROUND: u32 = 0;
    /// Not 0 when one of its contacts bounced.
    pub const STRUCK: u32 = 2;
    /// Bit n is set when one of its contacts pushed and did not bounce, or one of a body up to n contacts away.
    pub const RESTS: u32 = 3;
    /// All.
    pub const WORDS: u32 = 4;
}

/// What a round is.
pub mod phase {
    /// The first one on velocities from before the step.
    pub const FIRST: u32 = 0;
    /// One of the others.
    pub const IMPACTS: u32 = 1;
    /// Which bodies also rest on something.
    pub const MARK: u32 = 2;
    /// Behind `velocity`: contacts that bounced get the impulses of their impacts.
    pub const TAKE: u32 = 3;
    /// The speeds of contacts are brought to what they shall be.
    pub const SETTLE: u32 = 4;
}

/// Rounds of each kind: as many bodies does a blow pass through in a step. What is left of it goes on in the next.
pub const ROUNDS: u32 = 8;

/// Part of a collider's size by which a contact has to close in within a step: less is rounding, and no impact.
pub const LEAST_WAY: f32 = 1e-6;

/// Sweeps over the points of a manifold: four points on a plane, of which one is determined by the others.
const SWEEPS: u32 = 12;

/// Four floats of a list of words.
#[inline(always)]
pub fn four(words: UVec4) -> Local<f32, 4> {
    let float = f32::from_bits;
    Local::of([float(words.x), float(words.y), float(words.z), float(words.w)])
}

/// The other way round.
#[inline(always)]
pub fn four_words(values: &Local<f32, 4>) -> UVec4 {
    let bits = |i: u32| values.at(i).to_bits();
    UVec4::new(bits(0), bits(1), bits(2), bits(3))
}

/// A body as impulses see it.
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

    /// How fast an angular impulse turns it.
    #[inline(always)]
    fn turned(&self, by: Vec3) -> Vec3 {
        inertia(&self.pose.rotation, self.inverse_inertia, by)
    }

    /// With an impulse at a lever.
    #[inline(always)]
    pub fn hit(&mut self, lever: Vec3, impulse: Vec3) {
        self.velocity.linear += impulse * self.inverse_mass;
        self.velocity.angular += self.turned(lever.cross(impulse));
    }

    /// Speed of a point along `n`.
    #[inline(always)]
    fn speed(&self, n: Vec3, lever: Vec3) -> f32 {
        n.dot(self.velocity.linear + self.velocity.angular.cross(lever))
    }

    /// What an impulse along `n` at a lever changes of that.
    #[inline(always)]
    fn ease(&self, n: Vec3, lever: Vec3) -> f32 {
        let arm = lever.cross(n);
        self.inverse_mass + arm.dot(self.turned(arm))
    }
}

/// The acceleration of a body on its own.
#[inline(always)]
pub fn acceleration(params: &Params, body: &Body, force: &Twist) -> Vec3 {
    let mut a = Vec3::ZERO;
    if body.is_dynamic() {
        a = params.gravity * body.gravity_scale + force.linear * (1.0 / body.mass);
    }
    a
}

/// A manifold and its two bodies.
#[derive(Clone, Copy)]
pub struct Meeting {
    /// Who meets.
    pub ends: ManifoldEnds,
    /// Points.
    pub count: u32,
    /// Those of the manifold.
    pub points: FourPoints,
    /// From b to a.
    pub normal: Vec3,
    /// What errors are measured against.
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

    /// Speed at which a point opens.
    #[inline(always)]
    pub fn speed(&self, k: u32) -> f32 {
        let lever = self.points.at(k).lever;
        self.a.speed(self.normal, lever) - self.b.speed(self.normal, lever + self.offset)
    }

    /// How far a point went apart when its bodies went these ways.
    #[inline(always)]
    pub fn way(&self, k: u32, way_a: &Twist, way_b: &Twist) -> f32 {
        let lever = self.points.at(k).lever;
        let on_a = way_a.linear + way_a.angular.cross(lever);
        self.normal.dot(on_a - way_b.linear - way_b.angular.cross(lever + self.offset))
    }

    /// Impulses that give the points which `wanted` names the speeds `speeds`, each at least `least`.
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
