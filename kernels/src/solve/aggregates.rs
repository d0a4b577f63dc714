//! Moves every aggregate, the bodies that stiff constraints tie together, as one rigid body to where the forces on it
//! balance: one more block of the descent, before the last dual pass. This stage only computes the motions; it reads
//! contacts, joints and deltas, and writes `motions`. `aggregates_move` applies them.
//!
//! A sweep moves bodies one colour after the other, so the forces that two bodies exert on each other are not equal and
//! opposite. With kappa units of stiffness between two bodies, their common motion converges by one part in kappa an
//! iteration, and what is missing is missing in their momentum: after an impact a jointed wall had 1.3 times the
//! momentum that the balls brought. But forces inside an aggregate add up to zero. With M the mass matrix, y the
//! targets, x the positions after the sweep, and f the force at x of every contact and joint to the outside, J its
//! derivative, k its stiffness,
//!
//! ```text
//! [M / dt^2 + sum k J^T J] motion = sum M (y - x) / dt^2 - sum J^T f
//! ```
//!
//! The sum of J^T f goes over all constraints to the outside, that of k J^T J only over those to bodies that do not
//! move. All aggregates use x before any of them moves, so two that push each other use the same force: linear and
//! angular momentum are exact whatever the number of iterations, with a floor or without. Constraints softer than
//! [`Params::tie`] converge by sweeps; stiffer ones tie bodies into an aggregate and are internal to it.

use crate::detect::manifold::{Head, Record, record, word};
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Four, Group, Load, OfPoints, Real, Store, Vector, sqrt};
use crate::graph::island::{IslandShare, TileShares};
use crate::math::{Pose, Rotation, Twist, inertia};
use crate::solve::contact::{ContactRules, Moved, Points, Shared, is_finite, respond};
use crate::solve::joints::{Joint, JointEnds, JointRow, JointRules, RowState, flag};
use crate::solve::momentum::inertia_about;
use crate::solve::solver_body::SolverBody;
use crate::solve::surface::{Surface, Surfaces, pressed};
use crate::solve::system::{Pulls, Sum, System, Systems};
use crate::state::rigid::{Body, Entry, EntryRange, NONE, Params, contact_row, joint_row};
use crate::{layout, stage};

stage! {
    "aggregates" group 64 {
        read 0 bodies: Body,
        read 1 starts: Pose,
        read 2 solver_bodies: UVec4,
        read 3 islands: u32,
        read 4 members: u32,
        read 5 poses: Pose,
        read 6 deltas: Twist,
        read 7 rows: u32,
        read 8 params: Params,
        read 9 joints: Joint,
        read 10 joint_rows: JointRow,
        read 11 row_states: RowState,
        read 12 body_order: u32,
        read 13 rotations: Rotation,
        read 14 island_of: u32,
        read 15 entries: Entry,
        read 16 points: UVec4,
        write 17 motions: Motion,
        read 18 surfaces: UVec4,
    }
}

layout! {
    /// Push constants of `aggregates`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Not 0: the world has joints.
        pub joints: u32,
    }

    /// Rigid motion of an aggregate.
    pub struct Motion {
        /// Displacement, metres.
        pub shift: Vec3,
        /// Not 0: levers are measured from the present positions, else from those at the start of the step.
        pub now: f32,
        /// Rotation vector about its centre, radians.
        pub turn: Vec3,
        /// Not 0: the aggregate moves.
        pub moves: f32,
        /// Its centre of mass, in world space.
        pub centre: Vec3,
    }
}

/// Solves the aggregates that begin in this workgroup's tile.
#[inline(always)]
pub fn run(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    let mut parts = TileShares::new(&b.islands, group, push.count);
    while parts.more() {
        let part = parts.next(&b.islands, group);
        // The same for the subgroup.
        if group.any(part.is_any()) {
            correct(group, &part, push, b);
        }
    }
}

/// Finds the motion that gives an aggregate its momentum. All lanes of a subgroup stay here together, with an aggregate
/// or without, because the sums need all lanes.
#[inline(always)]
fn correct(group: &Group, part: &IslandShare, push: &Push, b: &mut Bindings<'_>) {
    // Mass and centre of mass. Positions are relative to the first member, so that the sums stay small.
    let mut origin = Vec3::ZERO;
    let mut key = NONE;
    if part.is_any() {
        let first = b.members.at(part.start);
        origin = b.starts.at(first).position;
        key = b.island_of.at(first);
    }
    let (mut mass, mut centre, mut hung) = (0.0, Vec3::ZERO, 0.0);
    let mut place = part.first;
    while group.any(place < part.end) {
        if place < part.end {
            let index = b.members.at(place);
            let kilograms = SolverBody::mass(&b.solver_bodies, b.body_order.at(index));
            mass += kilograms;
            centre += (b.starts.at(index).position - origin) * kilograms;
            hung += hangs(index, push, b);
        }
        place += part.step;
    }
    let (mass, centre) = (part.sum(group, mass), part.sums(group, centre));
    let centre = origin + centre * (1.0 / mass);
    // If joints to the world hold it, levers are the present ones.
    let now = part.sum(group, hung) > 0.0;

    // The aggregate as one body: its inertia, the missing force and torque, and what holds it.
    let params = b.params.at(0);
    let scale = 1.0 / (params.dt * params.dt);
    let mut rules = (ContactRules::new(&params, false), JointRules::new(&params, false));
    // A constraint that does not push adds no stiffness here, however stiff it is.
    (rules.0.curved, rules.1.curved) = (0.0, false);
    let long = part.members() > params.many;
    let mut held = 0.0;
    let (mut shift, mut turn) = (Vec3::ZERO, Vec3::ZERO);
    // A second pass follows if no contact holds the aggregate yet and its motion would press it into one. If a contact
    // already holds it, no others are added: they do not push, so they would only take load, without friction. A joint
    // is no reason to skip the second pass: a rod on a hinge that bounces off a post would be moved through it.
    let (mut pass, mut passes) = (0, 1);
    let mut free = false;
    while pass < passes {
        let mut system = System::none();
        let mut pulls = Pulls::<f32>::none();
        let (mut near, mut pushed) = (0.0, 0.0);
        held = 0.0;
        let mut place = part.first;
        while group.any(place < part.end && !(long && held > 0.0)) {
            let here = place < part.end;
            if here {
                let index = b.members.at(place);
                let (delta, rank) = (b.deltas.at(index), b.body_order.at(index));
                let frame = SolverBody::load(&SolverBody::at(&b.solver_bodies, rank));
                let target = frame.target;
                let rotation = b.rotations.at(rank);
                let start = b.starts.at(index).position - centre;
                let r = if now { start + delta.linear } else { start };
                let back = -frame.lag(&rotation, delta.angular);
                let lack = (target.position - delta.linear) * (frame.mass * scale);
                system.force += lack;
                system.torque += r.cross(lack) + inertia(&frame.inertia_frame(&rotation), frame.inertia, back) * scale;
                let (diagonal, off) = inertia_about(&frame, &frame.inertia_frame(&rotation), r);
                system.ll += Vec3::splat(frame.mass * scale);
                system.aa += diagonal * scale;
                system.aa_off += off * scale;
                // Expected motion: to the target, or in the second pass as the first one found.
                let mut goes = Twist { linear: target.position - delta.linear, angular: back };
                if pass > 0 {
                    goes = Twist { linear: shift + turn.cross(start), angular: turn };
                }
                let met = touch(&mut pulls, &rules.0, index, key, &Member { r: start, goes, meets: free }, b);
                held += met.held;
                pushed += met.held;
                near += met.near;
                if push.joints != 0 {
                    held += hold(&mut system, &rules.1, index, key, r, b);
                }
            }
            place += part.step;
        }
        held = part.sum(group, held);
        let system = Systems::<f32>::gather(&system).plus(&Systems::of(&pulls)).over_lanes(group, part.step);
        let motion = system.ldl();
        shift = Vec3::new(motion.linear.x, motion.linear.y, motion.linear.z);
        turn = Vec3::new(motion.angular.x, motion.angular.y, motion.angular.z);
        // All lanes must call both sums.
        let (near, pushed) = (part.sum(group, near), part.sum(group, pushed));
        free = pass == 0 && near > 0.0 && pushed == 0.0;
        // The same for the subgroup.
        if group.any(free) {
            passes = 2;
        }
        pass += 1;
    }
    let square = turn.length_squared();
    // A linear displacement is rigid only to first order, so the turn is limited.
    let most = params.largest_turn;
    let cut = if square > most * most { most / sqrt(square) } else { 1.0 };
    let turn = turn * cut;
    let moves = !(long && held > 0.0) && is_finite(&Twist { linear: shift, angular: turn });
    if part.is_any() && part.first == part.start {
        let (now, moves) = (if now { 1.0 } else { 0.0 }, if moves { 1.0 } else { 0.0 });
        b.motions.put(key, Motion { shift, now, turn, moves, centre });
    }
}

/// Number of a body's joints to the world or to bodies that do not move.
#[inline(always)]
fn hangs(index: u32, push: &Push, b: &Bindings<'_>) -> f32 {
    let mut count = 0.0;
    if push.joints != 0 {
        let links = joint_row(&b.rows, index, b.entries.len());
        let mut e = links.start;
        while e < links.end {
            let entry = b.entries.at(e);
            let joint = b.joints.at(entry.joint());
            // The entry of a joint to the world names the body itself as the other one.
            let fixed = entry.other == index || !b.bodies.at(entry.other).is_dynamic();
            count += if fixed && joint.flags & flag::BROKEN == 0 { 1.0 } else { 0.0 };
            e += 1;
        }
    }
    count
}

/// A member of an aggregate, as its contacts see it.
struct Member {
    /// From the centre of the aggregate to the member.
    r: Vec3,
    /// Its expected motion.
    goes: Twist,
    /// Whether contacts count that would push only after that motion.
    meets: bool,
}

/// Numbers of a member's contacts with bodies that do not move.
struct Met {
    /// Those that push.
    held: f32,
    /// Those that do not push now, but would after the expected motion.
    near: f32,
}

/// Adds the contacts of a member with bodies outside its aggregate.
///
/// Some contacts do not push where the sweep left the body, and still block the motion that follows: an old multiplier
/// may have lifted a body off the floor, and without that contact this last motion would let it fall through.
#[inline(always)]
fn touch(pulls: &mut Pulls<f32>, rules: &ContactRules, index: u32, key: u32, member: &Member, b: &Bindings<'_>) -> Met {
    let mut near = 0.0;
    let mut count = 0.0;
    let range: EntryRange = contact_row(&b.rows, index, b.entries.len());
    let moved = Moved::<Four>::splat(&b.deltas.at(index));
    let mut e = range.start;
    while e < range.end {
        let entry = b.entries.at(e);
        let fixed = !b.bodies.at(entry.other).is_dynamic();
        if fixed || b.island_of.at(entry.other) != key {
            let record: Record<'_> = b.points.window(record(entry.manifold()));
            let head = Head::load(&record, 0);
            let is_a = !Four::odd(&entry.side);
            let theirs = Moved::<Four>::splat(&b.deltas.at(entry.other));
            let mut shared = Shared::<Four>::new(&head, is_a, &moved, &theirs);
            let side = Four::splat(if entry.is_a() { 1.0 } else { -1.0 });
            // Computed without a branch, as in `primal`.
            let manifold = if head.driven { entry.manifold() } else { 0 };
            let surface = Surface::load(&b.surfaces, manifold).only_if(head.driven);
            let surfaces = Surfaces::<Four>::new(|_| surface);
            let press = Four::splat(pressed(record.at(word::LAMBDA + 2)));
            let mut resistance = surfaces.resist(shared.normal, shared.turn(), press);
            shared = shared.with_surfaces(&surfaces);
            let points = Points::<Four>::of(|word| Four::load_each(&record, word, 0));
            let mut response = respond(rules, &shared, &points);
            if !fixed {
                let none = Four::splat(0.0);
                (response.k_normal, response.k_tangent, response.k_bitangent) = (none, none, none);
                (resistance.k, resistance.k_normal) = (none, none);
            }
            let offset = if entry.is_a() { Vec3::ZERO } else { head.offset };
            let lever = points.lever + Vector::splat(offset);
            let way = Vector::splat(member.goes.linear) + Vector::splat(member.goes.angular).cross(lever);
            let zero = Four::splat(0.0);
            let here = points.k * response.error.z + points.lambda.z;
            let there = here + points.k * shared.normal.dot(way) * side;
            let fixes = zero.below(Four::splat(if fixed { 1.0 } else { 0.0 }));
            let met = fixes & !response.active & there.below(zero);
            near += if Four::any(met) { 1.0 } else { 0.0 };
            let met = met & zero.below(Four::splat(if member.meets { 1.0 } else { 0.0 }));
            response.k_normal = Four::select(met, points.k, response.k_normal);
            response.lambda.z = Four::select(met, here, response.lambda.z);
            pulls.add(&Sum::turning(&resistance, shared.normal, side).total(), shared.normal.common());
            let sum = Sum::of(&response, &shared, lever + Vector::splat(member.r), side);
            pulls.add(&sum.total(), shared.normal.common());
            count += if fixed && Four::any(response.active) { 1.0 } else { 0.0 };
        }
        e += 1;
    }
    Met { held: count, near }
}

/// Adds the joints of a member to bodies outside; returns the number of those to the world or to bodies that do not
/// move.
#[inline(always)]
fn hold(system: &mut System, rules: &JointRules, index: u32, key: u32, r: Vec3, b: &Bindings<'_>) -> f32 {
    let links = joint_row(&b.rows, index, b.entries.len());
    let mut count = 0.0;
    let mut e = links.start;
    while e < links.end {
        let entry = b.entries.at(e);
        let joint = b.joints.at(entry.joint());
        let is_a = entry.is_a();
        let fixed = entry.other == index || !b.bodies.at(entry.other).is_dynamic();
        let inside = !fixed && b.island_of.at(entry.other) == key;
        if !inside && joint.flags & flag::BROKEN == 0 {
            let ends = JointEnds::moving(&joint, &b.starts, &b.deltas, &b.poses);
            let side = if is_a { 1.0 } else { -1.0 };
            let mut force = Vec3::ZERO;
            let rows = joint.rows_within(b.joint_rows.len());
            let mut n = 0;
            while n < rows {
                let (row, state) = (b.joint_rows.at(joint.first_row + n), b.row_states.at(joint.first_row + n));
                let measure = ends.measure(row.axis);
                let turn = if is_a { measure.turn_a } else { measure.turn_b };
                let asked = row.ask(rules, &state, &measure, joint.length);
                let k = if fixed { asked.k } else { 0.0 };
                system.pull(measure.linear * side, (turn + r.cross(measure.linear)) * side, k, asked.force);
                force += measure.linear * asked.force;
                n += 1;
            }
            if fixed {
                let lever = if is_a { ends.lever_a } else { ends.reach_b };
                system.stiffen(lever + r, force);
                count += 1.0;
            }
        }
        e += 1;
    }
    count
}
