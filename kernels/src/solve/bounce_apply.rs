//! Applies the impulses of a round: adds them up over every body's manifolds, and clears the counts of the next round.
//! Reads `impacts`; writes velocities and `impact_counts`. See [`impact`](crate::solve::impact).

use crate::detect::gate::counter;
use crate::detect::manifold::{FourPoints, Head, record};
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Store};
use crate::math::{Pose, Twist, tangents};
use crate::solve::bounce::share;
use crate::solve::impact::count::{RESTS, STRUCK, WORDS};
use crate::solve::impact::{ROUNDS, Struck, acceleration, four, phase, word};
use crate::state::rigid::{Body, Entry, EntryRange, POINTS, Params, contact_row, gravity};
use crate::{layout, stage};

stage! {
    "bounce_apply" each 256 {
        read 0 bodies: Body,
        read 1 starts: Pose,
        read 2 rows: u32,
        read 3 entries: Entry,
        read 4 points: UVec4,
        read 5 impacts: UVec4,
        read 6 counters: u32,
        update 7 impact_counts: u32,
        update 8 impact_velocities: Twist,
        update 9 velocities: Twist,
        read 10 params: Params,
        read 11 forces: Twist,
        read 12 start_velocities: Twist,
        read 13 world_bounces: u32,
    }
}

layout! {
    /// Push constants of `bounce_apply`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// One of [`phase`].
        pub phase: u32,
        /// 0 or 1, alternating from round to round: which of two counts is in use.
        pub parity: u32,
    }
}

/// Linear velocity of a body after the iterations, m/s. After few iterations a body's motion does not quite agree with
/// its forces. A body that bounced, and rests on nothing, therefore gets the velocity that its forces give it; `TAKE`
/// then replaces the forces by the impulses of the impacts.
#[inline(always)]
fn pushed(item: u32, now: &Twist, body: &Body, b: &Bindings<'_>) -> Vec3 {
    let params = b.params.at(0);
    let mut all = b.impact_counts.at(item.wrapping_mul(WORDS).wrapping_add(STRUCK)) != 0;
    all &= b.impact_counts.at(item.wrapping_mul(WORDS).wrapping_add(RESTS)) & (1 << ROUNDS) == 0;
    let outer = acceleration(gravity(&b.params, body.world()), body, &b.forces.at(item));
    let mut velocity = b.start_velocities.at(item).linear + outer * params.dt;
    let entries = entries_of(item, b);
    let mut e = entries.start;
    while e < entries.end {
        let entry = b.entries.at(e);
        let manifold = entry.manifold();
        let head = Head::load(&b.points, record(manifold));
        let points = FourPoints::load(&b.points, record(manifold));
        let (t, u) = tangents(head.normal);
        let side = if entry.is_a() { -params.dt } else { params.dt };
        let mut k = 0;
        while k < POINTS {
            let lambda = points.at(k).lambda;
            let force = t * lambda.x + u * lambda.y + head.normal * lambda.z;
            velocity += force * (side / body.mass);
            k += 1;
        }
        e += 1;
    }
    if all { velocity } else { now.linear }
}

/// Correction of a body's velocity, because impacts count as if at the end of the step: takes off by how much outer
/// forces changed the contact's speed in the step. Outer forces act on the whole body, so it is not turned.
#[inline(always)]
fn undone(item: u32, entry: &Entry, n: Vec3, body: &Body, b: &Bindings<'_>) -> Vec3 {
    let params = b.params.at(0);
    let place = entry.manifold().wrapping_mul(word::COUNT).wrapping_add(word::BOUNCED);
    let bounced = four(b.impacts.at(place));
    let rests = |body: u32| b.impact_counts.at(body.wrapping_mul(WORDS).wrapping_add(RESTS)) & (1 << ROUNDS) != 0;
    let any = bounced.at(0) + bounced.at(1) + bounced.at(2) + bounced.at(3) > 0.0;
    let mut change = Vec3::ZERO;
    if any && !rests(item) && !rests(entry.other) {
        let other = b.bodies.at(entry.other);
        let falls = gravity(&b.params, body.world());
        let mine = acceleration(falls, body, &b.forces.at(item));
        let theirs = acceleration(falls, &other, &b.forces.at(entry.other));
        let part = if other.is_dynamic() { other.mass / (body.mass + other.mass) } else { 1.0 };
        change = n * (n.dot(theirs - mine) * params.dt * part);
    }
    change
}

#[inline(always)]
fn entries_of(item: u32, b: &Bindings<'_>) -> EntryRange {
    contact_row(&b.rows, item, b.entries.len())
}

/// Moves one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count || b.counters.at(counter::BOUNCES) == 0 {
        return;
    }
    b.impact_counts.put(item.wrapping_mul(WORDS).wrapping_add(push.parity ^ 1), 0);
    let body = b.bodies.at(item);
    if !body.is_dynamic() || b.world_bounces.at(body.world()) == 0 {
        return;
    }
    let before = push.phase <= phase::IMPACTS;
    let mut velocity = b.velocities.at(item);
    if before {
        velocity = b.impact_velocities.at(item);
    }
    let entries = entries_of(item, b);
    if push.phase == phase::TAKE {
        velocity.linear = pushed(item, &velocity, &body, b);
    }
    let mut struck = Struck::new(&body, b.starts.at(item), velocity);
    let mut e = entries.start;
    while e < entries.end {
        let entry = b.entries.at(e);
        let manifold = entry.manifold();
        let impulses = four(b.impacts.at(manifold.wrapping_mul(word::COUNT)));
        let whole = push.phase == phase::TAKE;
        let part = if whole { 1.0 } else { share(&b.impact_counts, item, entry.other, push.parity) };
        let head = Head::load(&b.points, record(manifold));
        let points = FourPoints::load(&b.points, record(manifold));
        if whole {
            struck.velocity.linear += undone(item, &entry, head.normal, &body, b);
        }
        let mut k = 0;
        while k < POINTS {
            let impulse = head.normal * (impulses.at(k) * part);
            if entry.is_a() {
                struck.hit(points.at(k).lever, impulse);
            } else {
                struck.hit(points.at(k).lever + head.offset, -impulse);
            }
            k += 1;
        }
        e += 1;
    }
    if before {
        b.impact_velocities.put(item, struck.velocity);
    } else {
        b.velocities.put(item, struck.velocity);
    }
}
