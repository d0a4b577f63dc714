//! Contact manifolds: points, normal, the gap at the start of the step, and what the last step knew of them.
//!
//! A point is matched with last step's by its feature, and if a feature was renamed, by the nearest anchor. What is
//! carried over is the multiplier as a force in world space, projected into the new basis and its friction cone, and
//! the stiffness (Eq. 19). A point that did not slide keeps its anchors, so that its tangential gap is the way it
//! has crept since it stuck (section 3.3). Shapes that roll take fresh points: stale anchors would brake them.

use crate::detect::collide::{Contact, Solid, at, box_contact, other_contact, swept};
use crate::detect::gate::counter;
use crate::detect::manifold::{
    FourPoints, Head, Manifold, ManifoldEnds, Point, ROUND_A, ROUND_B, feature_words, features, record, word,
};
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Local, Read, Store, abs, fmax, fmin, least, sqrt};
use crate::layout::Pair;
use crate::math::{Pose, Twist, tangents};
use crate::state::material::{combine, rule_of, traits};
use crate::state::rigid::{
    Approach, Body, CachedPair, CachedPoint, Collider, Entry, Friction, NO_FEATURE, NONE, POINTS, Params, ROLLS,
    STICKS, contact_row, held_back, option, reach, shape, world_pose,
};
use crate::{layout, stage};

stage! {
    "contacts" each 64 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 poses: Pose,
        read 3 colliders: Collider,
        read 4 pairs: Pair,
        read 5 manifold_pairs: u32,
        read 6 axes: u32,
        read 7 counters: u32,
        read 8 rows: u32,
        read 9 entries: Entry,
        read 10 cached_pairs: CachedPair,
        read 11 cached_points: CachedPoint,
        update 12 manifolds: Manifold,
        update 13 points: UVec4,
        read 14 velocities: Twist,
        update 15 features: UVec4,
        read 16 previous: Vec3,
    }
}

layout! {
    /// Push constants of `contacts`.
    pub struct Push {
        /// Room for manifolds.
        pub manifolds: u32,
    }
}

/// What a point without an old one has for its stiffness until `stiffness_start`; others have one more than the place
/// of the old one.
pub const NEW_POINT: f32 = POINTS as f32 + 1.0;

/// The cached manifold of two colliders, or [`NONE`]. The shorter of their bodies' rows is searched.
#[inline(always)]
pub fn find_cached(
    ends: &ManifoldEnds,
    bodies: &impl Load<Body>,
    rows: &impl Load<u32>,
    entries: &Read<'_, Entry>,
    cached_pairs: &impl Load<CachedPair>,
) -> u32 {
    let room = entries.len();
    let (row_a, row_c) = (contact_row(rows, ends.body_a, room), contact_row(rows, ends.body_b, room));
    let (moves_a, moves_c) = (bodies.at(ends.body_a).is_dynamic(), bodies.at(ends.body_b).is_dynamic());
    let first = moves_a && (!moves_c || row_a.count() <= row_c.count());
    let row = if first { row_a } else { row_c };
    let mut found = NONE;
    let mut e = row.start;
    while e < row.end && found == NONE {
        // SAFETY: `row` has held the end against the number of entries.
        let manifold = unsafe { entries.known(e) }.manifold();
        let pair = cached_pairs.at(manifold);
        if pair.collider_a == ends.collider_a && pair.collider_b == ends.collider_b {
            found = manifold;
        }
        e += 1;
    }
    found
}

/// Whether a collider touches with ever new points as its body turns, at the same place below it.
#[inline(always)]
fn rolls(collider: &Collider) -> bool {
    let (radius, middle) = (collider.size.radius, collider.pose.position);
    collider.is_round() && middle.length_squared() < radius * radius
}

/// Features of a cached manifold's points.
#[inline(always)]
fn cached_features(b: &Bindings<'_>, cached: u32) -> Local<u32, 4> {
    let mut features = Local::splat(NO_FEATURE);
    let mut k = 0;
    while k < POINTS && cached != NONE {
        features.put(k, b.cached_points.at(cached.wrapping_mul(POINTS) + k).feature);
        k += 1;
    }
    features
}

/// Which of a cached manifold's points has this feature, or [`NONE`]; `taken` marks those that are given away.
#[inline(always)]
fn named_so(features: &Local<u32, 4>, feature: u32, taken: u32) -> u32 {
    let mut found = NONE;
    let mut k = 0;
    while k < POINTS {
        if taken & (1 << k) == 0 && features.at(k) & !STICKS == feature {
            found = k;
        }
        k += 1;
    }
    found
}

/// Which of them is nearest to `anchor`, and nearer than `near`.
#[inline(always)]
fn nearest(b: &Bindings<'_>, cached: u32, features: &Local<u32, 4>, anchor: Vec3, near: f32, taken: u32) -> u32 {
    let mut found = NONE;
    let mut nearest = near * near;
    let mut k = 0;
    while k < POINTS {
        if taken & (1 << k) == 0 && features.at(k) != NO_FEATURE {
            let distance = (b.cached_points.at(cached.wrapping_mul(POINTS) + k).anchor_a - anchor).length_squared();
            if distance < nearest {
                found = k;
                nearest = distance;
            }
        }
        k += 1;
    }
    found
}

/// The contact that `contacts_hull` or `contacts_curved` left in the manifold's place.
#[inline(always)]
fn found_before(b: &Bindings<'_>, place: u32) -> Contact {
    let count = least(b.manifolds.at(place).count, POINTS);
    let mut contact = Contact::none();
    contact.normal = Head::load(&b.points, record(place)).normal;
    let points = FourPoints::load(&b.points, record(place));
    let features = features(b.features.at(place));
    let mut k = 0;
    while k < count {
        let point = points.at(k);
        contact.add(point.lever, point.gap, features.at(k));
        k += 1;
    }
    contact
}

/// The part of the stiffness that a load asks for, `units` of it, that a contact gets: all of it while it carries what is
/// about as heavy as its bodies, half where it carries many times their mass.
///
/// A tower of equals bends by its load over its stiffness at every joint and buckles when that is too little. Where
/// something heavy stands on a column of light bodies, each of them hands the load on an iteration late, and a stiff
/// column throws the load up before it has arrived below.
#[inline(always)]
fn part_of_load(params: &Params, units: f32) -> f32 {
    0.5 + 0.5 * params.k_heavy / (params.k_heavy + units)
}

/// How far a point may be from touching and still count as touching: `slop`, or as far as it gives way while the
/// iterations make up for a change of its force, `yields` being its force over its stiffness.
#[inline(always)]
fn left_alone(params: &Params, length: f32, yields: f32) -> f32 {
    fmax(params.slop * length, fmin(params.give * yields, params.margin * length))
}

/// Makes one manifold.
#[inline(always)]
pub fn run(place: u32, push: &Push, b: &mut Bindings<'_>) {
    let room = least(push.manifolds, b.points.len() / word::COUNT);
    if place >= room || place >= b.counters.at(counter::SOLVED) {
        return;
    }
    let params = b.params.at(0);
    let number = b.manifold_pairs.at(place);
    let pair = b.pairs.at(number);
    let swap = b.colliders.at(pair.a).what.shape > b.colliders.at(pair.b).what.shape;
    let (index_a, index_c) = if swap { (pair.b, pair.a) } else { (pair.a, pair.b) };
    let (a, c) = (b.colliders.at(index_a), b.colliders.at(index_c));
    let (pose_a, pose_c) = (b.poses.at(a.what.body), b.poses.at(c.what.body));
    let (sa, sc) = (Solid::new(&a, &world_pose(&a, &pose_a)), Solid::new(&c, &world_pose(&c, &pose_c)));
    let (va, vc) = (b.velocities.at(a.what.body).linear, b.velocities.at(c.what.body).linear);
    let approach = Approach::new(&params, &a, &c, va, vc);
    // Where they meet if they do so within the step, forces act as they will lie to each other then.
    let across;
    let contact: Contact = if shape::has_own_stages(a.what.shape) || shape::has_own_stages(c.what.shape) {
        across = Head::load(&b.points, record(place)).offset;
        found_before(b, place)
    } else if a.what.shape == shape::BOX && c.what.shape == shape::BOX {
        let code = b.axes.at(number);
        let way = swept::way_of(&approach, code);
        let moved = swept::moved(&sa, way);
        let mut found = box_contact(&moved, &sc, swept::axis_of(code), &approach, swept::hits(code));
        found.count = if code == swept::PASSES { 0 } else { found.count };
        across = swept::across(&found, way);
        if swept::hits(code) { swept::at_start(&found, way) } else { found }
    } else {
        let find = |way| other_contact(&swept::moved(&sa, way), a.what.shape, &sc, c.what.shape, approach.near);
        let (found, shift) = swept::round(&approach, (a.is_round(), c.is_round()), find);
        across = shift;
        found
    };

    // The mass the two have against each other; something that does not move counts as an equal.
    let (body_a, body_c) = (b.bodies.at(a.what.body), b.bodies.at(c.what.body));
    let mass_a = if body_a.is_dynamic() { body_a.mass } else { body_c.mass };
    let mass_c = if body_c.is_dynamic() { body_c.mass } else { body_a.mass };
    let unit = mass_a / (mass_a + mass_c) * mass_c / (params.dt * params.dt);
    let (reach_a, reach_c) = (reach(&a), reach(&c));
    let length = if c.what.shape == shape::HALF_SPACE || reach_a < reach_c { reach_a } else { reach_c };
    let rule = rule_of(a.traits, c.traits, traits::FRICTION);
    let friction_static = combine(rule, a.friction.fixed, c.friction.fixed);
    let friction_dynamic = combine(rule, a.friction.sliding, c.friction.sliding);
    let ends = ManifoldEnds { collider_a: index_a, collider_b: index_c, body_a: a.what.body, body_b: c.what.body };
    // SAFETY: `place` is the number of the invocation, and manifolds are stored and loaded by number only.
    unsafe { b.manifolds.put_own(place, Manifold { ends, unit, count: contact.count }) };
    let friction = Friction { fixed: friction_static, sliding: friction_dynamic };
    let offset = pose_a.position - pose_c.position + across;
    let round = (if rolls(&a) { ROUND_A } else { 0 }) | if rolls(&c) { ROUND_B } else { 0 };
    let head = Head { normal: contact.normal, length, offset, friction, driven: false, round };
    // SAFETY: the record of manifold `place`, the number of the invocation, which is below the number of records there
    // is room for; records are stored and loaded by number only.
    head.store(&mut unsafe { b.points.own() }, record(place));

    let (n, (t, u)) = (contact.normal, tangents(contact.normal));
    let cached = find_cached(&ends, &b.bodies, &b.rows, &b.entries, &b.cached_pairs);
    let known = cached_features(b, cached);
    let lowest = params.k_start * unit;
    let held = held_back(&params, &body_a, b.velocities.at(a.what.body).linear, b.previous.at(a.what.body))
        + held_back(&params, &body_c, b.velocities.at(c.what.body).linear, b.previous.at(c.what.body));
    let per_load = fmin(params.k_load / length, params.k_carried / fmax(held, 1e-30));
    let rows = params.options & option::ROWS != 0;
    // What the two come closer by along the normal if nothing holds them.
    let falls = |body: &Body| if body.is_dynamic() { params.gravity * body.gravity_scale } else { Vec3::ZERO };
    let closing = -n.dot((va - vc) * params.dt + (falls(&body_a) - falls(&body_c)) * (params.dt * params.dt));
    let held_by_world = !(body_a.is_dynamic() && body_c.is_dynamic());
    let mut taken = 0;
    // Those who take all four at once need not look which are there.
    let mut points = FourPoints::none();
    let mut features = Local::splat(0);
    let count = least(contact.count, POINTS);
    let mut k = 0;
    while k < count {
        let named = contact.feature.at(k);
        let (feature, rolls) = (named & !ROLLS, named & ROLLS != 0);
        let (mut on_a, mut on_c) = (at(&contact.on_a, k), at(&contact.on_b, k));
        let gap_normal = n.dot(on_a - on_c);
        let mut point = Point { lever: Vec3::ZERO, gap: Vec3::ZERO, lambda: Vec3::ZERO, k: lowest };
        // When every row has its own stiffness, `stiffness_start` puts it in: it is told which old point this was.
        point.k = if rows { NEW_POINT } else { point.k };
        let mut flag = STICKS;
        // A deep overlap is a conflict that cannot be solved in a step: it must not pile up force from step to step. Round
        // shapes know which way they came as long as their axes have not crossed, and without force they would cross.
        let deep = gap_normal < -params.deep * length && !(a.is_round() && c.is_round());
        if cached != NONE && !deep {
            let mut old = named_so(&known, feature, taken);
            if old == NONE {
                let anchor = pose_a.rotation.inverse().apply(on_a - pose_a.position);
                old = nearest(b, cached, &known, anchor, params.rematch * length, taken);
            }
            if old != NONE {
                taken |= 1 << old;
                let told = old as f32 + 1.0;
                let old = b.cached_points.at(cached.wrapping_mul(POINTS) + old);
                // Eq. 19, in the new basis and cone.
                let force = old.force * params.warm;
                let normal = -fmax(0.0, -n.dot(force));
                let (ft, fu) = (t.dot(force), u.dot(force));
                let most = friction_static * -normal;
                let size = sqrt(ft * ft + fu * fu);
                let scale = if size > most { most / size } else { 1.0 };
                point.lambda = Vec3::new(ft * scale, fu * scale, normal);
                let load = per_load * -normal;
                point.k = fmin(lowest + load * part_of_load(&params, load / unit), params.k_max * unit);
                point.k = if rows { told } else { point.k };
                if old.feature & STICKS == 0 {
                    (point.k, flag) = (-point.k, 0);
                } else if !rolls && normal < 0.0 {
                    let (kept_a, kept_c) = (pose_a.point(old.anchor_a), pose_c.point(old.anchor_b));
                    let drift = kept_a - kept_c;
                    let drift = drift - n * n.dot(drift);
                    if drift.length_squared() < params.anchor_drift * length * length {
                        (on_a, on_c) = (kept_a, kept_c);
                    }
                }
            }
        }
        // Where it pushed, what it was lifted by counts as no gap as far as overlap is left alone (`ContactRules::slop`):
        // else a contact at rest loses force by what the pass behind the iterations lifted it, and a tower that sways
        // is pushed by that.
        let mut gap_normal = gap_normal;
        if point.lambda.z < 0.0 && gap_normal > 0.0 {
            let alone = left_alone(&params, length, -point.lambda.z / abs(point.k));
            gap_normal = fmax(0.0, gap_normal - alone);
        }
        // What a contact will carry that carried nothing yet is not known. Against what does not move it is at least its
        // share of what stops the body itself, and a contact of what rolls is as stiff as if it carried that already: a
        // ball that comes from one box of a floor to the next would sink by a part of g dt^2 each time, and that is
        // twice the size of a small one. Points of flat shapes share what they carry, and friction suffers from it.
        let stopped = fmax(closing - gap_normal, 0.0);
        let alone = fmin(params.k_load / length, params.k_carried / fmax(stopped, 1e-30)) * (2.0 * unit * stopped)
            / count as f32;
        if held_by_world && rolls && !rows && !deep {
            let size = fmin(fmax(abs(point.k), lowest + alone), params.k_max * unit);
            point.k = if point.k < 0.0 { -size } else { size };
        }
        // Without friction nothing sticks; stiffness along the tangents would turn a torque into a push.
        if friction_static == 0.0 {
            (point.k, flag) = (-abs(point.k), 0);
        }
        let d = on_a - on_c;
        point.lever = on_a - pose_a.position;
        point.gap = Vec3::new(t.dot(d), u.dot(d), gap_normal);
        points.put(k, &point);
        features.put(k, feature | flag);
        k += 1;
    }
    // SAFETY: as for the head; features are stored and loaded by number too.
    unsafe {
        points.store(&mut b.points.own(), record(place));
        b.features.put_own(place, feature_words(&features));
    }
}
