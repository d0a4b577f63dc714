//! A particle, or a place of a triangle, on the surface of a rigid body: a normal that only pushes, and friction within
//! the cone of the same push.

use super::{Block, gives};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Read, fmax, least, sqrt};
use crate::math::{Pose, Twist};
use crate::solve::system::System;
use crate::state::soft::{Particle, SOFT_CONTACTS, SoftContact};

/// Part of the overlap, and of the way that a sticking particle has gone, that is left alone in a step (Eq. 18): what
/// is corrected at once is thrown.
pub const ALPHA_CONTACT: f32 = 0.9;
/// Overlap, gap and way from an anchor that are left alone altogether, as a part of the distance to its neighbours.
pub const SLOP: f32 = 1e-4;
/// The same as a part of the particle's distance from the origin: positions are rounded by a sixth of it, and a
/// multiplier that followed that would carry thousands of times the weight of light cloth.
pub const ROUNDING: f32 = 4e-7;
/// Stiffness of a contact with what forces do not move, in units. Multipliers have rounding of positions times this.
pub const K_GROUND: f32 = 30.0;
/// Distance at which a contact is made, as a part of the particle's radius.
pub const MARGIN_RADIUS: f32 = 0.25;
/// The same as a part of the distance to its neighbours: by so much they may pull it beyond where it goes on its own.
pub const MARGIN_LENGTH: f32 = 0.05;
/// Way from its anchor up to which a particle goes on sticking to it, as a part of the distance to its neighbours.
pub const DRIFT: f32 = 0.1;
/// Lowest stiffness of a contact with a body that forces move, in units: it has to stop what comes in one step.
pub const K_TOUCH: f32 = 10.0;
/// Rounds in which a particle finds out which of its contacts push, with what its elements ask of it linearised.
pub const ROUNDS: u32 = 3;

/// Where a contact is on a soft surface: a particle, or a place of a triangle.
#[derive(Clone, Copy)]
pub struct Spot {
    /// The particle, or the first corner.
    pub a: u32,
    /// The second corner; the first one again of a particle.
    pub b: u32,
    /// The third.
    pub c: u32,
    /// Shares of the second and third corner.
    shares: (f32, f32),
}

impl Spot {
    /// Of the contact in place `place` of the list of particles, or of that of triangles.
    #[inline(always)]
    pub fn of(place: u32, contact: &SoftContact, on_triangle: bool, triangles: &impl Load<u32>) -> Self {
        let owner = place / SOFT_CONTACTS;
        let mut spot = Self { a: owner, b: owner, c: owner, shares: (0.0, 0.0) };
        if on_triangle {
            let first = owner.wrapping_mul(3);
            let corner = |i: u32| triangles.at(first.wrapping_add(i));
            spot = Self { a: corner(0), b: corner(1), c: corner(2), shares: (contact.wb, contact.wc) };
        }
        spot
    }

    /// The value there of what particles have.
    #[inline(always)]
    pub fn of_list(&self, list: &impl Load<Vec3>) -> Vec3 {
        let a = list.at(self.a);
        let mut value = a;
        if self.a != self.b {
            value = a + (list.at(self.b) - a) * self.shares.0 + (list.at(self.c) - a) * self.shares.1;
        }
        value
    }

    /// What a force there gives to a particle, and how much the place goes with it.
    #[inline(always)]
    pub fn share(&self, particle: u32) -> f32 {
        let (b, c) = self.shares;
        let others = if particle == self.b { b } else { c };
        if particle == self.a { 1.0 - b - c } else { others }
    }

    /// [`gives`] of the place.
    #[inline(always)]
    pub fn gives(&self, particles: &impl Load<Particle>, dt: f32) -> f32 {
        let mut sum = gives(&particles.at(self.a), dt);
        if self.a != self.b {
            let (b, c) = self.shares;
            let a = 1.0 - b - c;
            sum = a * a * sum + b * b * gives(&particles.at(self.b), dt) + c * c * gives(&particles.at(self.c), dt);
        }
        sum
    }
}

/// The triangles around a particle, if any of them touches anything.
#[derive(Clone, Copy)]
pub struct Fan {
    start: u32,
    count: u32,
}

impl Fan {
    /// Of a particle; `near` says of each whether one of its triangles touches something.
    #[inline(always)]
    pub fn of(particle: u32, near: &impl Load<u32>, starts: &impl Load<u32>, fans: &Read<'_, u32>) -> Self {
        let (start, end) = (starts.at(particle), least(starts.at(particle.wrapping_add(1)), fans.len()));
        let there = (near.at(particle) != 0) & (start < end);
        Self { start, count: if there { end.wrapping_sub(start) } else { 0 } }
    }

    /// How many places for contacts they have.
    #[inline(always)]
    pub fn places(&self) -> u32 {
        self.count.wrapping_mul(SOFT_CONTACTS)
    }

    /// Place `i` of these, in the list of all.
    #[inline(always)]
    pub fn place(&self, i: u32, fans: &impl Load<u32>) -> u32 {
        fans.at(self.start.wrapping_add(i / SOFT_CONTACTS)).wrapping_mul(SOFT_CONTACTS).wrapping_add(i % SOFT_CONTACTS)
    }
}

/// What a contact does to its particle.
#[derive(Clone, Copy)]
pub struct Press {
    /// On the particle.
    pub force: Vec3,
    /// Stiffness along the normal.
    pub along: f32,
    /// Stiffness across it, no more than that.
    pub across: f32,
    /// Whether it does not slide.
    pub sticks: bool,
}

/// What a contact does when the particle has gone `way` along the body since the start of the step. The force across
/// the normal is drawn back into the cone of the force along it, and its stiffness with it.
#[inline(always)]
pub fn press(contact: &SoftContact, way: Vec3) -> Press {
    press_from(contact, way, 0.0)
}

/// The same for what is moved by one step in an iteration, a rigid body or a soft one as a whole. Behind a dual pass
/// the gap that the last step made still counts, and pulls as much as the multiplier has grown: a contact that pushed
/// then keeps its stiffness and may pull. One that let go would let the whole fall freely, in every other iteration.
#[inline(always)]
pub fn press_held(contact: &SoftContact, way: Vec3) -> Press {
    press_from(contact, way, fmax(0.0, contact.lambda.dot(contact.normal)))
}

#[inline(always)]
fn press_from(contact: &SoftContact, way: Vec3, held: f32) -> Press {
    let whole = contact.lambda - (contact.error + way) * contact.k;
    press_of(contact.normal, whole, contact.k, contact.friction, held)
}

/// What a contact does that would push with `whole` if it could also pull, and were rough enough. `held` is what it
/// pushed with so far, or 0.
#[inline(always)]
pub fn press_of(n: Vec3, whole: Vec3, k: f32, friction: f32, held: f32) -> Press {
    let push = if held > 0.0 { whole.dot(n) } else { fmax(0.0, whole.dot(n)) };
    let slide = whole - n * whole.dot(n);
    let size = sqrt(slide.length_squared());
    let bound = friction * if held > 0.0 { held } else { push };
    let part = if size > bound { bound / fmax(size, 1e-30) } else { 1.0 };
    let along = if (push > 0.0) | (held > 0.0) { k } else { 0.0 };
    Press { force: n * push + slide * part, along, across: along * part, sticks: (push > 0.0) & (size <= bound) }
}

impl Block {
    /// Adds what a contact asks of its particle.
    #[inline(always)]
    pub fn add_press(&mut self, press: &Press, n: Vec3) {
        self.force += press.force;
        self.add_scalar(press.across);
        self.add_square(press.along - press.across, n);
    }

    /// Adds what a contact with a place of a triangle asks of a corner that has share `w` in it.
    #[inline(always)]
    pub fn add_press_shared(&mut self, press: &Press, n: Vec3, w: f32) {
        self.force += press.force * w;
        self.add_scalar(press.across * (w * w));
        self.add_square((press.along - press.across) * (w * w), n);
    }

    /// The force behind a motion, if nothing but it changes.
    #[inline(always)]
    pub fn force_behind(&self, way: Vec3) -> Vec3 {
        let (d, o) = (self.diagonal, self.off);
        let x = d.x * way.x + o.x * way.y + o.y * way.z;
        let y = o.x * way.x + d.y * way.y + o.z * way.z;
        let z = o.y * way.x + o.z * way.y + d.z * way.z;
        self.force - Vec3::new(x, y, z)
    }
}

/// Where a contact is on its body, from the centre of mass, and the way that a place which has moved by `delta` has gone
/// along it since the start of the step. Places are not in it: a multiplier sees every digit that is lost. Levers are
/// those of the start of the step, as for contacts of rigid bodies: a place that rolls on with a small ball rises, and
/// the ball would sink by as much, 5 mm a step for one of 4 cm at 1 m/s.
#[inline(always)]
pub fn gone(contact: &SoftContact, delta: Vec3, starts: &impl Load<Pose>, deltas: &impl Load<Twist>) -> (Vec3, Vec3) {
    let (lever, moved) = (starts.at(contact.body).rotation.apply(contact.point), deltas.at(contact.body));
    (lever, (delta - moved.linear) - moved.angular.cross(lever))
}

/// Adds a force at `r` that grows against motions of that point: by `along` in the direction n, by `across` in all
/// others.
#[inline(always)]
pub fn pressed(system: &mut System, force: Vec3, press: &Press, n: Vec3, r: Vec3) {
    super::pulled(system, force, press.across, r);
    let k = press.along - press.across;
    let (s, turn) = (n * k, r.cross(n));
    system.ll += s * n;
    system.ll_off += Vec3::new(s.x * n.y, s.x * n.z, s.y * n.z);
    system.al[0] += s * turn.x;
    system.al[1] += s * turn.y;
    system.al[2] += s * turn.z;
    let t = turn * k;
    system.aa += t * turn;
    system.aa_off += Vec3::new(t.x * turn.y, t.x * turn.z, t.y * turn.z);
}
