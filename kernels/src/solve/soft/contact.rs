//! A particle on the surface of a rigid body: a normal that only pushes, and friction within the cone of the same push.

use super::Block;
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, fmax, sqrt};
use crate::math::{Pose, Twist};
use crate::solve::system::System;
use crate::state::soft::SoftContact;

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

/// Where a contact is on its body now, from the centre of mass, and the way that a particle which has moved by `delta`
/// has gone along it since the start of the step. Places are not in it: a multiplier sees every digit that is lost.
#[inline(always)]
pub fn gone(
    contact: &SoftContact,
    delta: Vec3,
    starts: &impl Load<Pose>,
    deltas: &impl Load<Twist>,
    poses: &impl Load<Pose>,
) -> (Vec3, Vec3) {
    let lever = poses.at(contact.body).rotation.apply(contact.point);
    let before = starts.at(contact.body).rotation.apply(contact.point);
    (lever, (delta - deltas.at(contact.body).linear) - (lever - before))
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
