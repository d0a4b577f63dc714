//! Moves every island of `islands` as one rigid body to where its forces balance: one more block of the descent. Reads
//! targets, deltas and joints; writes `deltas`, `rotations` and `poses` of the members.
//!
//! Bodies are solved one colour after the other. After few iterations the forces that two bodies exert on each other
//! are therefore not equal and opposite: the body solved first used the old position of the other. In sum an impact is
//! off by some percent, a ragdoll falls too slowly, and chains fall as if strongly damped. But forces inside an island
//! add up to zero. With y the targets of its bodies, x their present positions and m their masses, the unbalanced force
//! f and torque t on the island are
//!
//! ```text
//! f = sum m (y - x) / dt^2        t = sum (r x m (y - x) + I log(y / x)) / dt^2
//! ```
//!
//! with I the inertia of each body and r the vector from the island's centre of mass to where the body is when forces
//! act on it. Joints to the world and to bodies that do not move add their forces. The rigid motion that balances f and
//! t is found as for a single body (Eq. 4), and all bodies of the island make it together. It changes no contact or
//! joint inside, and an island that nothing holds keeps its momentum, linear and angular, to rounding. The motion is
//! zero once the iterations have converged. The rotation that backward Euler itself loses is not restored, because that
//! would add energy.
//!
//! In worlds with joints this runs in every iteration, so that chains swing correctly; run in the last iteration only,
//! chains with a load gain energy. Without joints it only restores momentum, and runs after the last dual pass, when it
//! is known which contacts push.

use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Group, Load, Store, sqrt};
use crate::graph::island::{IslandShare, TileShares};
use crate::math::{Pose, Rotation, Twist, inertia};
use crate::solve::contact::is_finite;
use crate::solve::joints::{Joint, JointEnds, JointRow, JointRules, RowState, flag};
use crate::solve::solver_body::SolverBody;
use crate::solve::system::{System, Systems};
use crate::state::rigid::{Body, Entry, EntryRange, NONE, Params, joint_row};
use crate::{layout, stage};

stage! {
    "momentum" group 64 {
        read 0 bodies: Body,
        read 1 starts: Pose,
        read 2 solver_bodies: UVec4,
        read 3 islands: u32,
        read 4 members: u32,
        update 5 poses: Pose,
        update 6 deltas: Twist,
        read 7 rows: u32,
        read 8 params: Params,
        read 9 joints: Joint,
        read 10 joint_rows: JointRow,
        read 11 row_states: RowState,
        read 12 body_order: u32,
        update 13 rotations: Rotation,
        read 14 entries: Entry,
    }
}

layout! {
    /// Push constants of `momentum`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Not 0: the world has joints.
        pub joints: u32,
        /// Not 0: this is the last iteration.
        pub last: u32,
    }
}

/// Moves the islands that begin in this workgroup's tile.
#[inline(always)]
pub fn run(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    let many = b.params.at(0).many;
    let mut parts = TileShares::new(&b.islands, group, push.count);
    while parts.more() {
        let part = parts.next(&b.islands, group);
        let part = part.only_if(push.last != 0 || part.members() <= many);
        // The same for the subgroup.
        if group.any(part.is_any()) {
            correct(group, &part, push, b);
        }
    }
}

/// Position of a body when forces act on it: without joints that at the start of the step, with joints the present one.
#[inline(always)]
fn place_of(index: u32, push: &Push, b: &Bindings<'_>) -> Vec3 {
    let mut place = b.starts.at(index).position;
    if push.joints != 0 && joint_row(&b.rows, index, u32::MAX).count() > 0 {
        place += b.deltas.at(index).linear;
    }
    place
}

/// Moves an island so that it keeps its momentum. All lanes of a subgroup stay here together until the last loop, with
/// an island or without, because the sums need all lanes.
#[inline(always)]
fn correct(group: &Group, part: &IslandShare, push: &Push, b: &mut Bindings<'_>) {
    // Mass and centre of mass. Positions are relative to the first member, so that the sums stay small.
    let mut origin = Vec3::ZERO;
    if part.is_any() {
        origin = b.starts.at(b.members.at(part.start)).position;
    }
    let (mut mass, mut centre) = (0.0, Vec3::ZERO);
    let mut place = part.first;
    while group.any(place < part.end) {
        if place < part.end {
            let index = b.members.at(place);
            let kilograms = SolverBody::mass(&b.solver_bodies, b.body_order.at(index));
            mass += kilograms;
            centre += (place_of(index, push, b) - origin) * kilograms;
        }
        place += part.step;
    }
    let (mass, centre) = (part.sum(group, mass), part.sums(group, centre));
    let centre = origin + centre * (1.0 / mass);

    // The island as one body: its inertia, the missing force and torque, and the joints that hold it.
    let params = b.params.at(0);
    let rules = JointRules::new(&params, false);
    let scale = 1.0 / (params.dt * params.dt);
    let mut system = System::none();
    // Long islands that something holds are not moved.
    let long = part.members() > params.many;
    let mut held = 0.0;
    let mut place = part.first;
    while group.any(place < part.end && !(long && held > 0.0)) {
        let here = place < part.end;
        let mut index = NONE;
        let mut r = Vec3::ZERO;
        if here {
            index = b.members.at(place);
            let (delta, rank) = (b.deltas.at(index), b.body_order.at(index));
            let frame = SolverBody::load(&SolverBody::at(&b.solver_bodies, rank));
            let target = frame.target;
            let rotation = b.rotations.at(rank);
            r = place_of(index, push, b) - centre;
            let back = -frame.lag(&rotation, delta.angular);
            let lack = (target.position - delta.linear) * (frame.mass * scale);
            system.force += lack;
            system.torque += r.cross(lack) + inertia(&frame.inertia_frame(&rotation), frame.inertia, back) * scale;
            let (diagonal, off) = inertia_about(&frame, &frame.inertia_frame(&rotation), r);
            system.ll += Vec3::splat(frame.mass * scale);
            system.aa += diagonal * scale;
            system.aa_off += off * scale;
        }
        if push.joints != 0 {
            held += hold(&mut system, &rules, (group, here), index, r, b);
        }
        place += part.step;
    }
    let held = part.sum(group, held);
    let motion = Systems::<f32>::gather(&system).over_lanes(group, part.step).ldl();
    let shift = Vec3::new(motion.linear.x, motion.linear.y, motion.linear.z);
    let turn = Vec3::new(motion.angular.x, motion.angular.y, motion.angular.z);
    let square = turn.length_squared();
    // A linear displacement is rigid only to first order, so the turn is limited.
    let most = params.largest_turn;
    let cut = if square > most * most { most / sqrt(square) } else { 1.0 };
    let turn = turn * cut;

    if part.is_any() && !(long && held > 0.0) && is_finite(&Twist { linear: shift, angular: turn }) {
        let more = Rotation::exp(turn);
        let mut place = part.first;
        while place < part.end {
            let index = b.members.at(place);
            let start = b.starts.at(index);
            let linear = b.deltas.at(index).linear + shift + turn.cross(place_of(index, push, b) - centre);
            let rank = b.body_order.at(index);
            let rotation = more.then_after(&b.rotations.at(rank)).normalized();
            let frame = SolverBody::load(&SolverBody::at(&b.solver_bodies, rank));
            let angular = frame.turned(&rotation, b.deltas.at(index).angular, turn);
            b.deltas.put(index, Twist { linear, angular });
            b.rotations.put(rank, rotation);
            b.poses.put(index, Pose { position: start.position + linear, rotation });
            place += part.step;
        }
    }
}

/// Adds a member's joints to bodies that do not move or to the world; `r` leads from the centre to the member. Returns
/// how many there are. All lanes of a subgroup call it together and make as many rounds as the lane with the most
/// joints and rows; a lane for which `on` is false has no member.
#[inline(always)]
fn hold(
    system: &mut System,
    rules: &JointRules,
    (group, on): (&Group, bool),
    index: u32,
    r: Vec3,
    b: &Bindings<'_>,
) -> f32 {
    let mut links = EntryRange::EMPTY;
    if on {
        links = joint_row(&b.rows, index, b.entries.len());
    }
    let mut count = 0.0;
    let mut e = links.start;
    while group.any(e < links.end) {
        // A lane with no joints left reads entry 0 and adds nothing.
        let here = e < links.end;
        let entry = b.entries.at(if here { e } else { 0 });
        let joint = b.joints.at(if here { entry.joint() } else { 0 });
        let is_a = entry.is_a();
        let other = if is_a { joint.body_b } else { joint.body_a };
        let mut held = here && joint.flags & flag::BROKEN == 0;
        if held && other != NONE {
            held = !b.bodies.at(other).is_dynamic();
        }
        let mut ends = JointEnds::none();
        if held {
            ends = JointEnds::moving(&joint, &b.starts, &b.deltas, &b.poses);
        }
        let side = if is_a { 1.0 } else { -1.0 };
        let mut force = Vec3::ZERO;
        let rows = if held { joint.rows_within(b.joint_rows.len()) } else { 0 };
        let mut n = 0;
        while group.any(n < rows) {
            if n < rows {
                let (row, state) = (b.joint_rows.at(joint.first_row + n), b.row_states.at(joint.first_row + n));
                let measure = ends.measure(row.axis);
                let asked = row.ask(rules, &state, &measure, joint.length);
                let turn = if is_a { measure.turn_a } else { measure.turn_b };
                system.pull(measure.linear * side, (turn + r.cross(measure.linear)) * side, asked.k, asked.force);
                force += measure.linear * asked.force;
            }
            n += 1;
        }
        if held {
            let lever = if is_a { ends.lever_a } else { ends.reach_b };
            system.stiffen(lever + r, force);
            count += 1.0;
        }
        e += 1;
    }
    count
}

/// Inertia of a body about a point at `r` from its centre of mass: the diagonal, and off it xy, xz, yz.
#[inline(always)]
pub fn inertia_about(body: &SolverBody, rotation: &Rotation, r: Vec3) -> (Vec3, Vec3) {
    let i = body.inertia;
    let (x, y, z) = (rotation.apply(Vec3::X), rotation.apply(Vec3::Y), rotation.apply(Vec3::Z));
    let mixed = |v: Vec3| Vec3::new(v.x * v.y, v.x * v.z, v.y * v.z);
    let diagonal = x * x * i.x + y * y * i.y + z * z * i.z + (Vec3::splat(r.length_squared()) - r * r) * body.mass;
    (diagonal, mixed(x) * i.x + mixed(y) * i.y + mixed(z) * i.z - mixed(r) * body.mass)
}
