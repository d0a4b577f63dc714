//! Builds the contact manifolds: points, normal, the gap at the start of the step, and the warm start from the last
//! step. Reads colliders, poses and the cache; writes `manifolds`, `points` and `features`.
//!
//! A point is matched with one of the last step by its feature, or if the feature was renamed, by the nearest anchor.
//! Carried over are the multiplier, as a force in world space that is projected into the new basis and clamped to its
//! friction cone, and the stiffness (Eq. 19). A point that did not slide keeps its anchors, so its tangential gap is
//! how far it has crept since it stuck (section 3.3). Rolling shapes get new points in every step, because old anchors
//! would brake them.

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
    STICKS, contact_row, gravity, held_back, option, own_velocity, reach, shape, world_pose,
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
        write 17 means: UVec4,
    }
}

layout! {
    /// Push constants of `contacts`.
    pub struct Push {
        /// Capacity of the list of manifolds.
        pub manifolds: u32,
    }
}

/// Stands in for the stiffness of a point without predecessor until `stiffness_start` runs; other points hold the index
/// of their predecessor plus one.
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
        // SAFETY: `contact_row` has clamped the end of `row` to the number of entries.
        let manifold = unsafe { entries.known(e) }.manifold();
        let pair = cached_pairs.at(manifold);
        if pair.collider_a == ends.collider_a && pair.collider_b == ends.collider_b {
            found = manifold;
        }
        e += 1;
    }
    found
}

/// Whether a collider, as its body turns, touches with ever new points that stay below its centre.
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

/// Index of the cached point with this feature, or [`NONE`]; the bit mask `taken` marks points that are already
/// matched.
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

/// Index of the cached point nearest to `anchor` and closer than `near`, or [`NONE`].
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

/// The contact that `contacts_hull` or `contacts_curved` stored in the manifold's record.
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

/// Fraction of the stiffness that a load asks for, `units` units, that a contact gets: all of it while it carries about
/// the mass of its bodies, `k_carried_heavy` instead of `k_carried` if it carries many times as much.
///
/// A tower of equal bodies bends at every joint by load over stiffness, and buckles if stiffness is too low. But if
/// something heavy stands on a column of light bodies, each of them passes the load on one iteration late, and a stiff
/// column throws the load up before it has arrived at the bottom.
#[inline(always)]
fn part_of_load(params: &Params, units: f32) -> f32 {
    let heavy = fmin(params.k_carried_heavy / fmax(params.k_carried, 1e-30), 1.0);
    heavy + (1.0 - heavy) * params.k_heavy / (params.k_heavy + units)
}

/// Mean of a point whose force has none yet.
const NO_MEAN: f32 = -1.0;

/// Running mean of a normal force, newtons. It begins anew with `press` where there is none yet, and where the force is
/// off by more than `mean_range`: that is a blow or a load that left, and no sway.
#[inline(always)]
fn known_mean(params: &Params, mean: f32, press: f32) -> f32 {
    let anew = (mean * params.mean_range < press) | (mean > press * params.mean_range);
    if anew { press } else { mean }
}

/// How far a point may be from touching and still count as touching, metres: `slop`, or the compliance while the
/// iterations make up for a change of its force; `yields` is its force over its stiffness.
#[inline(always)]
fn left_alone(params: &Params, length: f32, yields: f32) -> f32 {
    fmax(params.slop * length, fmin(params.give * yields, params.margin * length))
}

/// The contact of two round shapes, on the side from which they came.
///
/// What is squeezed or thrown deeper than its radius has its axis on the other side, and the nearest way out would push
/// it through: links of a mail were lost so. The force of the last step tells where it came from: it pushes against the
/// normal, so one that goes along it, by more than friction could turn it, belongs to the other side. Such a force
/// without overlap is none of this: they have parted, and met again.
#[inline(always)]
fn from_where_it_came(b: &Bindings<'_>, cached: u32, found: Contact, radius_a: f32, radius_c: f32) -> Contact {
    let mut force = Vec3::ZERO;
    let mut k = 0;
    while k < ROUND_POINTS {
        force += b.cached_points.at(cached.wrapping_mul(POINTS) + k).force;
        k += 1;
    }
    let n = found.normal;
    let along = n.dot(force);
    let overlaps = n.dot(at(&found.on_a, 0) - at(&found.on_b, 0)) < 0.0;
    let through = overlaps & (along > CROSSED * sqrt(force.length_squared()));
    let mut contact = found;
    if through {
        contact.normal = -n;
        k = 0;
        while k < ROUND_POINTS {
            contact.on_a.put(k, found.on_a.at(k) + n * (2.0 * radius_a));
            contact.on_b.put(k, found.on_b.at(k) - n * (2.0 * radius_c));
            k += 1;
        }
    }
    contact
}

/// Points that two round shapes have at most.
const ROUND_POINTS: u32 = 2;
/// Cosine of the angle to the normal from which on a force of the last step has pushed from the other side: it was at
/// most a friction's angle off the normal of then.
const CROSSED: f32 = 0.5;

/// Builds one manifold.
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
    let own_a = own_velocity(&a, &pose_a, &b.velocities.at(a.what.body));
    let own_c = own_velocity(&c, &pose_c, &b.velocities.at(c.what.body));
    let approach = Approach::new(&params, &a, &c, own_a, own_c);
    // For colliders that meet within the step, `across` shifts the offset: forces act for the relative position at
    // impact.
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

    let ends = ManifoldEnds { collider_a: index_a, collider_b: index_c, body_a: a.what.body, body_b: c.what.body };
    let cached = find_cached(&ends, &b.bodies, &b.rows, &b.entries, &b.cached_pairs);
    let contact = if a.is_round() && c.is_round() && cached != NONE && contact.count > 0 {
        from_where_it_came(b, cached, contact, a.size.radius, c.size.radius)
    } else {
        contact
    };

    // Reduced mass of the two bodies; a static partner counts as equal mass.
    let (body_a, body_c) = (b.bodies.at(a.what.body), b.bodies.at(c.what.body));
    let mass_a = if body_a.is_dynamic() { body_a.mass } else { body_c.mass };
    let mass_c = if body_c.is_dynamic() { body_c.mass } else { body_a.mass };
    let unit = mass_a / (mass_a + mass_c) * mass_c / (params.dt * params.dt);
    let (reach_a, reach_c) = (reach(&a), reach(&c));
    let length = if c.what.shape == shape::HALF_SPACE || reach_a < reach_c { reach_a } else { reach_c };
    let rule = rule_of(a.traits, c.traits, traits::FRICTION);
    let friction_static = combine(rule, a.friction.fixed, c.friction.fixed);
    let friction_dynamic = combine(rule, a.friction.sliding, c.friction.sliding);
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
    let known = cached_features(b, cached);
    let lowest = params.k_start * unit;
    let gravity = gravity(&b.params, body_a.world_with(&body_c));
    let held = held_back(&params, gravity, &body_a, b.velocities.at(a.what.body).linear, b.previous.at(a.what.body))
        + held_back(&params, gravity, &body_c, b.velocities.at(c.what.body).linear, b.previous.at(c.what.body));
    let per_load = fmin(params.k_load / length, params.k_carried / fmax(held, 1e-30));
    let rate = fmin(params.mean_rate * sqrt(held / length), 1.0);
    let rows = params.options & option::ROWS != 0;
    // Distance by which the bodies approach along the normal in this step if nothing holds them.
    let falls = |body: &Body| if body.is_dynamic() { gravity * body.gravity_scale } else { Vec3::ZERO };
    let closing = -n.dot((va - vc) * params.dt + (falls(&body_a) - falls(&body_c)) * (params.dt * params.dt));
    let held_by_world = !(body_a.is_dynamic() && body_c.is_dynamic());
    let mut taken = 0;
    // All four points are always stored: passes that process four at once need not check which exist.
    let mut points = FourPoints::none();
    let mut features = Local::splat(0);
    let mut means = Local::splat(NO_MEAN.to_bits());
    let count = least(contact.count, POINTS);
    let mut k = 0;
    // Ends at its foot, because a lane of a GPU would hold the points twice: see `primal`. A point of none is not kept.
    loop {
        let named = contact.feature.at(k);
        let (feature, rolls) = (named & !ROLLS, named & ROLLS != 0);
        let (mut on_a, mut on_c) = (at(&contact.on_a, k), at(&contact.on_b, k));
        let gap_normal = n.dot(on_a - on_c);
        let mut point = Point { lever: Vec3::ZERO, gap: Vec3::ZERO, lambda: Vec3::ZERO, k: lowest };
        // When every row has its own stiffness, `stiffness_start` sets it; it finds here which old point this one was.
        point.k = if rows { NEW_POINT } else { point.k };
        let mut flag = STICKS;
        // A deep overlap is a conflict that one step cannot resolve, so its force must not build up from step to step.
        // Round shapes are exempt: they know their direction as long as their axes have not crossed, and without force
        // they would cross.
        let deep = gap_normal < -params.deep * length && !(a.is_round() && c.is_round());
        if k < count && cached != NONE && !deep {
            let mut old = named_so(&known, feature, taken);
            if old == NONE {
                let anchor = pose_a.rotation.inverse().apply(on_a - pose_a.position);
                old = nearest(b, cached, &known, anchor, params.rematch * length, taken);
            }
            if old != NONE {
                taken |= 1 << old;
                let told = old as f32 + 1.0;
                let old = b.cached_points.at(cached.wrapping_mul(POINTS) + old);
                // Eq. 19: multiplier of the last step, in the new basis and clamped to the new cone.
                let force = old.force * params.warm;
                let press = fmax(0.0, -n.dot(force));
                let mean = known_mean(&params, old.mean, press);
                means.put(k, (mean + rate * (press - mean)).to_bits());
                let normal = -(press + params.mean_pull * rate * (mean - press));
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
        // For a point that pushed, a gap within the overlap that is left alone (`ContactRules::slop`) counts as zero.
        // Otherwise a contact at rest would lose force by as much as the stabilising pass lifted it, which would push a
        // swaying tower.
        let mut gap_normal = gap_normal;
        if point.lambda.z < 0.0 && gap_normal > 0.0 {
            let alone = left_alone(&params, length, -point.lambda.z / abs(point.k));
            gap_normal = fmax(0.0, gap_normal - alone);
        }
        // The load of a contact that carried nothing yet is unknown. Against a body that does not move it is at least
        // its share of what stops the moving body, so a rolling contact starts as stiff as if it already carried that.
        // Otherwise a ball that rolls from one box of a floor to the next would sink by a part of g dt^2 each time,
        // which is twice the size of a small one. Points of flat shapes are exempt: they share the load, and friction
        // would suffer.
        if held_by_world && rolls && !rows && !deep {
            let stopped = fmax(closing - gap_normal, 0.0);
            let alone = fmin(params.k_load / length, params.k_carried / fmax(stopped, 1e-30)) * (2.0 * unit * stopped)
                / count as f32;
            let size = fmin(fmax(abs(point.k), lowest + alone), params.k_max * unit);
            point.k = if point.k < 0.0 { -size } else { size };
        }
        // Without friction no point sticks: stiffness along the tangents would turn a torque into a push.
        if friction_static == 0.0 {
            (point.k, flag) = (-abs(point.k), 0);
        }
        let d = on_a - on_c;
        point.lever = on_a - pose_a.position;
        point.gap = Vec3::new(t.dot(d), u.dot(d), gap_normal);
        if k < count {
            points.put(k, &point);
            features.put(k, feature | flag);
        }
        k += 1;
        if k >= count {
            break;
        }
    }
    // SAFETY: as for the head; features are stored and loaded by number too.
    unsafe {
        points.store(&mut b.points.own(), record(place));
        b.features.put_own(place, feature_words(&features));
        b.means.put_own(place, feature_words(&means));
    }
}
