//! Reports which contacts began to push, went on pushing or stopped, for colliders that asked for it, with the impulse
//! of the step and its point of action. For other contacts it only reads their colliders. Writes `events` and
//! `last_touching`.

use crate::detect::gate::counter;
use crate::detect::manifold::{FourPoints, Head, Manifold, Record, record};
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Store, fmin, least};
use crate::math::{Pose, tangents};
use crate::state::events::{EventRecord, append, event};
use crate::state::rigid::{Collider, POINTS, Params};
use crate::state::touching::{Touching, asks, event_of, generations, is_told, tells};
use crate::{layout, stage};

stage! {
    "touching_tell" each 64 {
        read 0 params: Params,
        read 1 manifolds: Manifold,
        read 2 points: UVec4,
        read 3 starts: Pose,
        read 4 colliders: Collider,
        read 5 touched: u32,
        update 6 counters: u32,
        write 7 last_touching: Touching,
        write 8 events: EventRecord,
        read 9 report_impulses: f32,
    }
}

layout! {
    /// Push constants of `touching_tell`.
    pub struct Push {
        /// Capacity of the list of manifolds.
        pub limit: u32,
        /// Capacity of the list of events.
        pub events: u32,
    }
}

/// Looks at one manifold.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= least(push.limit, b.counters.now(counter::SOLVED)) {
        return;
    }
    let manifold = b.manifolds.at(item);
    let ends = manifold.ends;
    let (one, two) = (b.colliders.at(ends.collider_a), b.colliders.at(ends.collider_b));
    let mut now = Touching { generations: generations(&one, &two), touches: 0 };
    if is_told(&one, &two) {
        let window: Record<'_> = b.points.window(record(item));
        let head = Head::load(&window, 0);
        let (t, u) = tangents(head.normal);
        let points = FourPoints::load(&window, 0);
        // Normal multipliers are negative where they push, because forces are those on b. Each point is weighted by its
        // force.
        let mut force = Vec3::ZERO;
        let mut lever = Vec3::ZERO;
        let mut pushes = 0.0;
        let mut k = 0;
        while k < least(manifold.count, POINTS) {
            let point = points.at(k);
            if point.lambda.z < 0.0 {
                force += t * point.lambda.x + u * point.lambda.y + head.normal * point.lambda.z;
                lever -= point.lever * point.lambda.z;
                pushes -= point.lambda.z;
            }
            k += 1;
        }
        // Threshold of the impulse: the lower one, if both colliders ask for events.
        let impulse = force * -b.params.at(0).dt;
        let least_impulse = if !asks(&two) {
            b.report_impulses.at(ends.collider_a)
        } else if !asks(&one) {
            b.report_impulses.at(ends.collider_b)
        } else {
            fmin(b.report_impulses.at(ends.collider_a), b.report_impulses.at(ends.collider_b))
        };
        let pushing = pushes > 0.0 && impulse.length_squared() >= least_impulse * least_impulse;
        now.touches = pushing as u32;
        let before = b.touched.at(item) != 0;
        let mut kind = event::CONTACT_END;
        if pushing {
            kind = if before { event::CONTACT_PERSIST } else { event::CONTACT_BEGIN };
        }
        if (before || pushing) && tells(&one, &two, kind) {
            let step = b.counters.now(counter::STEPS).wrapping_sub(1);
            let mut told = event_of(kind, step, (ends.collider_a, ends.collider_b), now.generations);
            if pushing {
                told.value = impulse;
                told.point = b.starts.at(ends.body_a).position + lever / pushes;
            }
            append(&mut b.counters, &mut b.events, push.events, told);
        }
    }
    b.last_touching.put(item, now);
}
