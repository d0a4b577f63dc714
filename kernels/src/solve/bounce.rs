//! One round of impacts: computes the impulses of every manifold, and counts how many manifolds act on each body. Reads
//! velocities and contacts; writes `impacts`, `impact_counts` and in which worlds any bounced. `bounce_apply` applies them.
//! See [`impact`](crate::solve::impact).

use crate::detect::gate::counter;
use crate::detect::manifold::Manifold;
use crate::gpu::glam::UVec4;
use crate::gpu::{Load, Local, Store, abs, fmax, fmin, sqrt};
use crate::math::{Pose, Twist};
use crate::solve::impact::count::{RESTS, STRUCK, WORDS};
use crate::solve::impact::{LEAST_WAY, Meeting, ROUNDS, Struck, acceleration, four, four_words, phase, word};
use crate::solve::surface::Surface;
use crate::state::rigid::{Body, Params, gravity};
use crate::{layout, stage};

stage! {
    "bounce" each 64 {
        read 0 params: Params,
        read 1 manifolds: Manifold,
        read 2 points: UVec4,
        read 3 surfaces: UVec4,
        read 4 bodies: Body,
        read 5 starts: Pose,
        read 6 forces: Twist,
        read 7 impact_velocities: Twist,
        read 8 velocities: Twist,
        update 9 impacts: UVec4,
        update 10 impact_counts: u32,
        update 11 counters: u32,
        read 12 deltas: Twist,
        update 13 world_bounces: u32,
    }
}

layout! {
    /// Push constants of `bounce`.
    pub struct Push {
        /// Capacity of the list of manifolds.
        pub limit: u32,
        /// One of [`phase`].
        pub phase: u32,
        /// 0 or 1, alternating from round to round: which of two counts is in use.
        pub parity: u32,
        /// Number of the round, in [`phase::MARK`].
        pub round: u32,
    }
}

/// Fraction of a manifold's impulse that counts: 1 over the larger number of manifolds that act on one of its bodies.
#[inline(always)]
pub fn share(counts: &impl Load<u32>, a: u32, c: u32, parity: u32) -> f32 {
    let (one, two) =
        (counts.at(a.wrapping_mul(WORDS).wrapping_add(parity)), counts.at(c.wrapping_mul(WORDS).wrapping_add(parity)));
    let most = if one > two { one } else { two };
    1.0 / fmax(most as f32, 1.0)
}

/// Computes the impulses of one manifold.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.limit || item >= b.counters.at(counter::SOLVED) {
        return;
    }
    let first = push.phase == phase::FIRST;
    // If no contact of the world bounced in the first round, there is nothing to do.
    if !first && b.counters.at(counter::BOUNCES) == 0 {
        return;
    }
    let (params, manifold) = (b.params.at(0), b.manifolds.at(item));
    let (index_a, index_c) = (manifold.ends.body_a, manifold.ends.body_b);
    let (body_a, body_c) = (b.bodies.at(index_a), b.bodies.at(index_c));
    let world = body_a.world_with(&body_c);
    if !first && b.world_bounces.at(world) == 0 {
        return;
    }
    let (pose_a, pose_c) = (b.starts.at(index_a), b.starts.at(index_c));
    let before = push.phase <= phase::IMPACTS;
    let mut velocity_a = b.velocities.at(index_a);
    let mut velocity_c = b.velocities.at(index_c);
    if before {
        velocity_a = b.impact_velocities.at(index_a);
        velocity_c = b.impact_velocities.at(index_c);
    }
    let a = Struck::new(&body_a, pose_a, velocity_a);
    let c = Struck::new(&body_c, pose_c, velocity_c);
    let mut meeting = Meeting::new(&manifold, &b.points, item, a, c);

    let place = item.wrapping_mul(word::COUNT);
    let mut total = Local::splat(0.0);
    let mut speed = Local::splat(0.0);
    let mut bounced = Local::splat(0.0);
    if !first {
        // Adds the impulses that the last round applied.
        let last = four(b.impacts.at(place));
        total = four(b.impacts.at(place.wrapping_add(word::TOTAL)));
        speed = four(b.impacts.at(place.wrapping_add(word::SPEED)));
        bounced = four(b.impacts.at(place.wrapping_add(word::BOUNCED)));
        let part = share(&b.impact_counts, index_a, index_c, push.parity ^ 1);
        let mut k = 0;
        while k < meeting.count {
            total.put(k, total.at(k) + last.at(k) * part);
            k += 1;
        }
    }

    if push.phase == phase::MARK {
        let of = |body: u32| b.impact_counts.at(body.wrapping_mul(WORDS).wrapping_add(RESTS));
        // In round n, bit n is read and the next one written.
        let known = (of(index_a) | of(index_c)) & 1u32.wrapping_shl(push.round) != 0;
        let mut pushes = false;
        let mut rests = false;
        let mut k = 0;
        while k < meeting.count {
            let pushing = meeting.points.at(k).lambda.z < 0.0;
            pushes |= pushing;
            rests |= pushing & (bounced.at(k) == 0.0);
            k += 1;
        }
        let bit = 1u32.wrapping_shl(push.round.wrapping_add(1));
        let marks = rests | (pushes & known);
        if marks & body_a.is_dynamic() {
            b.impact_counts.or(index_a.wrapping_mul(WORDS).wrapping_add(RESTS), bit);
        }
        if marks & body_c.is_dynamic() {
            b.impact_counts.or(index_c.wrapping_mul(WORDS).wrapping_add(RESTS), bit);
        }
        return;
    }

    let (n, falls) = (meeting.normal, gravity(&b.params, world));
    let closing = n
        .dot(acceleration(falls, &body_a, &b.forces.at(index_a)) - acceleration(falls, &body_c, &b.forces.at(index_c)));
    let mut impulses = Local::splat(0.0);
    let mut acts = false;
    if before {
        let restitution = Surface::load(&b.surfaces, item).restitution;
        let threshold = params.bounce * sqrt(falls.length_squared()) * params.dt;
        let least = LEAST_WAY * meeting.length / params.dt;
        let mut wanted = 0;
        let mut speeds = Local::splat(0.0);
        let mut k = 0;
        while k < meeting.count {
            let (point, now) = (meeting.points.at(k), meeting.speed(k));
            if (point.lambda.z < 0.0) & (now < -least) {
                let mut hit = -now;
                if first {
                    // The contact goes on accelerating until its gap is covered. For one that overlaps, gap is
                    // negative: it hit earlier.
                    hit = sqrt(fmax(0.0, now * now - 2.0 * closing * point.gap.z));
                }
                let bounces = (restitution > 0.0) & (hit > threshold);
                wanted |= 1 << k;
                speeds.put(k, if bounces { restitution * hit } else { 0.0 });
                if bounces {
                    bounced.put(k, 1.0);
                    b.counters.or(counter::BOUNCES, 1);
                    b.world_bounces.or(world, 1);
                    b.impact_counts.or(index_a.wrapping_mul(WORDS).wrapping_add(STRUCK), 1);
                    b.impact_counts.or(index_c.wrapping_mul(WORDS).wrapping_add(STRUCK), 1);
                }
            }
            k += 1;
        }
        acts = wanted != 0;
        if acts {
            impulses = meeting.impulses(wanted, &speeds, &Local::splat(0.0));
        }
    } else if push.phase == phase::TAKE {
        let met = Meeting {
            a: Struck::new(&body_a, pose_a, b.impact_velocities.at(index_a)),
            b: Struck::new(&body_c, pose_c, b.impact_velocities.at(index_c)),
            ..meeting
        };
        let of = |body: u32| b.impact_counts.at(body.wrapping_mul(WORDS).wrapping_add(RESTS));
        let free = (of(index_a) | of(index_c)) & (1 << ROUNDS) == 0;
        let (way_a, way_c) = (b.deltas.at(index_a), b.deltas.at(index_c));
        let mut lower = Local::splat(0.0);
        let mut k = 0;
        while k < meeting.count {
            let given = -meeting.points.at(k).lambda.z * params.dt;
            let bounces = bounced.at(k) > 0.0;
            let change = if free & bounces { total.at(k) - given } else { 0.0 };
            impulses.put(k, change);
            // A free contact may also be slowed, as long as its total impulse does not pull; the others are only
            // pushed.
            lower.put(k, if free & bounces { -given } else { 0.0 });
            let stays = fmin(0.0, meeting.speed(k));
            // Height above the position of contact, or above the position at the start if the bodies overlapped then.
            let above = fmax(meeting.points.at(k).gap.z, 0.0) + meeting.way(k, &way_a, &way_c);
            let left = met.speed(k);
            let here = sqrt(fmax(0.0, left * left + 2.0 * closing * above));
            let leaves = (if left > 0.0 { here } else { left }) - 0.5 * closing * params.dt;
            let shall = if bounces { leaves } else { stays };
            // A point that did not push is no contact, and has no target speed.
            speed.put(k, if given > 0.0 { shall } else { -f32::MAX });
            total.put(k, 0.0);
            k += 1;
        }
        b.impacts.put(place.wrapping_add(word::LEAST), four_words(&lower));
    } else {
        let least = four(b.impacts.at(place.wrapping_add(word::LEAST)));
        let mut lower = Local::splat(0.0);
        let mut wanted = 0;
        let mut largest = 0.0;
        let mut k = 0;
        while k < meeting.count {
            lower.put(k, least.at(k) - total.at(k));
            let missing = speed.at(k) - meeting.speed(k);
            let there = speed.at(k) > -f32::MAX;
            wanted |= if there { 1 << k } else { 0 };
            // A contact that opens faster than its target is slowed, as far as its lower bound allows.
            let matters = there & ((missing > 0.0) | (lower.at(k) < 0.0));
            largest = if matters { fmax(largest, abs(missing)) } else { largest };
            k += 1;
        }
        acts = largest > 1e-6 * (sqrt(velocity_a.linear.length_squared()) + sqrt(velocity_c.linear.length_squared()));
        if acts {
            impulses = meeting.impulses(wanted, &speed, &lower);
        }
    }
    b.impacts.put(place, four_words(&impulses));
    b.impacts.put(place.wrapping_add(word::TOTAL), four_words(&total));
    b.impacts.put(place.wrapping_add(word::SPEED), four_words(&speed));
    b.impacts.put(place.wrapping_add(word::BOUNCED), four_words(&bounced));
    // Impulses of `TAKE` are applied whole, so they are not counted.
    if acts & (push.phase != phase::TAKE) {
        if body_a.is_dynamic() {
            b.impact_counts.add(index_a.wrapping_mul(WORDS).wrapping_add(push.parity), 1);
        }
        if body_c.is_dynamic() {
            b.impact_counts.add(index_c.wrapping_mul(WORDS).wrapping_add(push.parity), 1);
        }
    }
}
