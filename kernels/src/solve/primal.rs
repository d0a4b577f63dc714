//! One colour's bodies, each moved to where its forces balance (Algorithm 1, lines 9 to 21).
//!
//! A body is worked on by a team of lanes, 1 to a whole subgroup. They share the points of its manifolds; what they
//! found is added up over the team, and its first lane solves. With teams of one, every lane has a body to itself.
//! `colour_ranges` chooses by the size of the colour: a large one fills the device with one lane a body, a small one
//! does not.
//!
//! What a GPU lane holds between two points is the sums and little else: it starts them with the body's inertia, and
//! looks at the manifold and the bodies anew for every point. They are in a cache then, and registers decide how many
//! lanes there are to wait for memory. The CPU has all points of two manifolds in its registers at once.
//!
//! It is a family of stages, see `sweep`: with joints or without, with one stiffness a point or one a row. The code is
//! the same, and what a stage does not do is not compiled into it, so that nobody carries registers for it.
//!
//! The fallback, bodies without a colour of their own, is solved by one team, one body after the other: slow, and
//! right. So are colours that there are more of than were dispatched: plans dispatch as many as the last steps had. A
//! colour's teams are as wide there as in a dispatch of its own, so results do not depend on which of the two it was.

use crate::detect::manifold::{Head, word};
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Group, Load, OfBodies, OfPoints, Vector, finite, least};
use crate::layout;
use crate::math::{Pose, Rotation, Twist};
use crate::solve::contact::{Arcs, ContactRules, Moved, Points, Shared, is_finite, respond_along};
use crate::solve::solver_body::SolverBody;
use crate::solve::surface::{Surfaces, any_driven, pressed};
use crate::solve::sweep::{Bound, primal_stage};
use crate::solve::system::{Pulls, Sum, System, Systems, Twists};
use crate::solve::turns::{TurnEnds, TurnForm, Turns};
use crate::state::rigid::{EntryRange, NONE, node, option};

layout! {
    /// Push constants of `primal`.
    pub struct Push {
        /// Colour and kind of the nodes, see [`node::range`].
        pub range: u32,
        /// Not 0: the first team solves all bodies in turn, those of so many colours from this one on.
        pub rest: u32,
    }
}

/// Lanes of a workgroup.
pub const LANES: u32 = 64;
/// Points of a manifold.
const POINTS: u32 = 4;
/// Upper bound of colours, the fallback included: a plan sorts bodies by keys of 8 bits. It bounds the loop over the
/// remaining colours for any push constants.
const MOST_COLOURS: u32 = 256;

/// The lanes that work on one body together, and this lane's place among them.
#[derive(Clone, Copy)]
struct Team {
    /// Number of lanes; a power of two.
    width: u32,
    /// Number of this lane in its team.
    lane: u32,
    /// Number of the team in its workgroup.
    number: u32,
    /// Number of teams in the workgroup.
    teams: u32,
}

impl Team {
    /// The team of this lane when the plan asks for teams of `lanes`. A team is never wider than a subgroup, which on
    /// the CPU has one lane.
    #[inline(always)]
    fn new(group: &Group, lanes: u32) -> Self {
        // Explicit, so that the CPU build folds width to 1.
        let width = if group.width() == 1 {
            1
        } else if lanes < group.width() {
            lanes
        } else {
            group.width()
        };
        let (place, shift) = (group.place(), width.trailing_zeros());
        Self { width, lane: place & (width - 1), number: place >> shift, teams: group.lanes >> shift }
    }
}

primal_stage! {
    "primal", joints false, rows false, stabilise false, poses false {
        read 8 surfaces: UVec4,
    }
}

/// Solves this workgroup's bodies of the colour, or all of them if `serial`. Shared by every stage of the family.
#[inline(always)]
pub fn sweep<F: OfPoints, B: Bound>(group: &Group, push: &Push, b: &mut B) {
    let serial = push.rest != 0;
    let colours = if serial { least(push.rest, MOST_COLOURS) } else { 1 };
    let mut colour = 0;
    while colour < colours {
        solve::<F, B>(group, push.range.wrapping_add(colour * node::KINDS), serial, b);
        colour += 1;
    }
}

/// Solves bodies of one colour.
#[inline(always)]
fn solve<F: OfPoints, B: Bound>(group: &Group, range: u32, serial: bool, b: &mut B) {
    // Uniform over the dispatch, and therefore so is the number of rounds below.
    let colour = b.range(range);
    let range = EntryRange { start: colour.start, end: colour.end }.within(b.places());
    let shift = least(colour.lanes.trailing_zeros(), LANES.trailing_zeros());
    let team = Team::new(group, 1 << shift);
    let tile = if serial { range.count() } else { LANES >> shift };
    let first = range.start + if serial { 0 } else { least(group.index * tile, range.count()) };
    let (start, step) = if serial { (0, 1) } else { (team.number, team.teams) };
    let idle = serial && team.number > 0;

    // Every lane makes every round, with a body or without, because subgroup sums need all lanes. For the same reason a
    // loop inside a round goes on while any lane of the subgroup has work left.
    let mut base = 0;
    while base < tile {
        let at = base + start;
        // Bodies of a batch: one a lane on a GPU, several on the CPU. Serial bodies are never batched.
        let there =
            if idle || at >= tile || first + at >= range.end { 0 } else { least(tile - at, range.end - first - at) };
        let count = least(there, if serial { 1 } else { F::Body::LANES });
        let mut batch = Batch::<F::Body>::none();
        // A GPU lane has one body and needs no loop.
        if F::Body::LANES == 1 {
            batch.add::<F, B>((group, count > 0), 0, first + at, EntryRange::EMPTY, team, b);
        } else {
            let mut i = 0;
            while i < count {
                let next = prefetch(first + at + i, range.end, b);
                batch.add::<F, B>((group, true), i, first + at + i, next, team, b);
                i += 1;
            }
        }
        let mut systems = Systems::of(&batch.pulls);
        if B::JOINTS {
            let joints = Systems::gather(&batch.joints);
            systems = if F::Body::LANES == 1 { joints } else { systems.plus(&joints) };
        }
        let systems = systems.over_lanes(group, team.width);
        // In turn, every lane of the team solves: what it reads for a later body it has then written itself, and need
        // not be shown by another. The sums are the same for all of them, and so is what they write.
        if count > 0 && (serial || team.lane == 0) {
            apply::<F::Body, B>(first + at, &batch.indices, count, &systems, b);
        }
        base += step * if serial { 1 } else { F::Body::LANES };
    }
}

/// Bodies that are solved together, and the forces and stiffness on each. Where it is one body, its inertia is in
/// `pulls`, and what is in `pulls` is in `joints`.
struct Batch<B: OfBodies> {
    indices: B::Lanes<u32>,
    pulls: B::Lanes<Pulls<B>>,
    joints: B::Lanes<System>,
}

impl<B: OfBodies> Batch<B> {
    #[inline(always)]
    fn none() -> Self {
        Self { indices: B::lanes(NONE), pulls: B::lanes(Pulls::none()), joints: B::lanes(System::none()) }
    }

    /// Adds the body at `place` in the order of colours, if there is one. `next` is the row of the body after it, whose
    /// contacts are prefetched meanwhile.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn add<F: OfPoints<Body = B>, T: Bound>(
        &mut self,
        (group, on): (&Group, bool),
        i: u32,
        place: u32,
        next: EntryRange,
        team: Team,
        b: &T,
    ) {
        let mut index = NONE;
        let mut row = EntryRange::EMPTY;
        if on {
            index = b.ordered(place);
            row = b.row(place);
        }
        let mut pulls = Pulls::none();
        if B::LANES == 1 && on && team.lane == 0 {
            let bodies = Bodies::<B>::load(place, &B::lanes(index), 1, b);
            pulls = Pulls::of(&bodies.inertial(&B::lanes(index), 1, b));
        }
        pulls = gather::<F, T>(group, pulls, (index, row), next, team, b);
        B::put_lane(&mut self.indices, i, index);
        B::put_lane(&mut self.pulls, i, pulls);
        if T::JOINTS {
            // A GPU lane goes on with the same sums.
            let mut system = if B::LANES == 1 { Systems::<B>::of(&self.pulls).one() } else { System::none() };
            system = b.joints(group, on, index, (team.lane, team.width), system);
            if T::SOFT && on && team.lane == 0 {
                system = b.with_particles(index, system);
            }
            B::put_lane(&mut self.joints, i, system);
        }
    }
}

/// How many bodies ahead the CPU prefetches contacts into an outer cache; the entries that name them are fetched three
/// bodies earlier. Four bodies have about 24 contacts, more lines of memory than a core can have on the way to its
/// inner cache.
const CONTACTS_AHEAD: u32 = 4;
const ENTRIES_AHEAD: u32 = CONTACTS_AHEAD + 3;

/// Prefetches what the bodies after `place`, up to `end`, need. Entries come first and contacts later, because an entry
/// says where its contact lies. Returns the row of the next body: `gather` prefetches its contacts bit by bit between
/// those of this body, because memory takes only a few requests at a time. A GPU runs other lanes meanwhile and does
/// none of this.
#[inline(always)]
fn prefetch(place: u32, end: u32, b: &impl Bound) -> EntryRange {
    if place + ENTRIES_AHEAD < end {
        b.prefetch_entries(place + ENTRIES_AHEAD);
    }
    if place + CONTACTS_AHEAD < end {
        let row = b.row(place + CONTACTS_AHEAD);
        let mut e = row.start;
        while e < row.end {
            b.prefetch_contact_early(e);
            e += 1;
        }
    }
    if place + 1 < end { b.row(place + 1) } else { EntryRange::EMPTY }
}

/// Prefetches the contacts of entries from `e` to `end`, and returns where it stopped.
#[inline(always)]
fn prefetch_contacts(e: u32, end: u32, b: &impl Bound) -> u32 {
    let mut e = e;
    while e < end {
        b.prefetch_contact(e);
        e += 1;
    }
    e
}

/// The motion that the iterations gave a body: its velocity times dt.
#[inline(always)]
fn went(velocity: &Twist, dt: f32) -> Twist {
    Twist { linear: velocity.linear * dt, angular: velocity.angular * dt }
}

/// The motion that the stabilising pass has added: `delta` less what the iterations did.
#[inline(always)]
fn besides(delta: &Twist, went: &Twist) -> Twist {
    Twist { linear: delta.linear - went.linear, angular: delta.angular - went.angular }
}

/// How the body that is solved has moved.
#[derive(Clone, Copy)]
struct Moving {
    /// Since the start of the step; in the stabilising pass what that pass has added.
    here: Twist,
    /// What the iterations did, in the stabilising pass.
    before: Twist,
}

impl Moving {
    #[inline(always)]
    fn none() -> Self {
        let still = Twist { linear: Vec3::ZERO, angular: Vec3::ZERO };
        Self { here: still, before: still }
    }

    #[inline(always)]
    fn of<B: Bound>(index: u32, b: &B) -> Self {
        let mut moving = Self { here: b.delta(index), ..Self::none() };
        if B::STABILISE {
            moving.before = went(&b.velocity(index), b.params().dt);
            moving.here = besides(&moving.here, &moving.before);
        }
        moving
    }
}

/// Adds to `pulls` the forces and stiffness of this lane's share of the body's manifolds.
#[inline(always)]
fn gather<F: OfPoints, B: Bound>(
    group: &Group,
    mut pulls: Pulls<F::Body>,
    (index, row): (u32, EntryRange),
    next: EntryRange,
    team: Team,
    b: &B,
) -> Pulls<F::Body> {
    let rules = ContactRules::new(&b.params(), B::STABILISE);
    let known = if F::POINTS == POINTS { Moving::of(index, b) } else { Moving::none() };
    let mut ahead = next.start;
    // A GPU lane has one point of an entry at a time, the CPU all of them.
    let points = (POINTS / F::POINTS).trailing_zeros();
    let mut i = (row.start << points) + team.lane;
    let end = row.end << points;
    // The loop ends at its foot: with its condition at the head, the compiler of SPIR-V keeps what a round began with
    // beside what it ends with, and a GPU lane has both sets of sums in registers.
    loop {
        if i < end {
            let (e, point) = (i >> points, i & ((1 << points) - 1));
            if F::Body::LANES > 1 {
                ahead = prefetch_contacts(ahead, least(ahead + F::PARTS, next.end), b);
            }
            // A part beyond the end of the row repeats an entry; `first(there)` below sets its contribution to zero.
            let there = if F::PARTS > 1 { row.end - e } else { 1 };
            let places = F::each(|part| if part < there { e + part } else { e });
            // SAFETY: the index is within `row`, from `row.start` to `row.end`.
            let entries = F::map(&places, |e| unsafe { b.entry(*e) });
            let manifolds = F::map(&entries, |entry| entry.manifold());
            let records = F::map(&manifolds, |manifold| b.record(*manifold));
            let heads = F::map(&records, |record| Head::load(record, 0));
            let is_a = !F::odd(&F::map(&entries, |entry| entry.side));
            let theirs = F::map(&entries, |entry| b.delta(entry.other));
            let mine = if F::POINTS == POINTS { known } else { Moving::of(index, b) };
            let moved = Moved::splat(&mine.here);
            let mut shared = Shared::new(&heads, is_a, &moved, &Moved::new(&theirs));
            if B::STABILISE {
                let dt = b.params().dt;
                let past = F::map(&entries, |entry| went(&b.velocity(entry.other), dt));
                let more =
                    F::map(&entries, |entry| besides(&b.delta(entry.other), &went(&b.velocity(entry.other), dt)));
                shared = Shared::new(&heads, is_a, &moved, &Moved::new(&more));
                shared = shared.behind(is_a, &Moved::splat(&mine.before), &Moved::new(&past));
            }
            let side = F::select(is_a, F::splat(1.0), F::splat(-1.0));
            // A GPU lane computes this without a branch: CPU drivers of Vulkan need minutes to compile a branch here.
            // The stabilising pass leaves surfaces out, because the iterations have already moved bodies with them.
            if !B::STABILISE && (F::PARTS == 1 || any_driven::<F>(&heads)) {
                let surface = |part: u32| {
                    let driven = part < there && F::part(&heads, part).driven;
                    b.surface(if driven { F::part(&manifolds, part) } else { 0 }).only_if(driven)
                };
                let surfaces = Surfaces::<F>::new(surface);
                let press = F::each(|part| pressed(F::part(&records, part).at(word::LAMBDA + 2)));
                let resistance = surfaces.resist(shared.normal, shared.turn(), F::spread(&press, |p| *p));
                pulls.add(&Sum::turning(&resistance, shared.normal, side).total(), shared.normal.common());
                // A GPU lane loads what moves anew, rather than to hold it so long.
                let moving = if F::POINTS == POINTS { surfaces } else { Surfaces::<F>::new(surface) };
                shared = shared.with_surfaces(&moving);
            }
            let load = |word: u32| F::load_each(&records, word, point);
            let arcs = Arcs::new(&rules, &shared, Points::levers(load));
            let mut points = Points::<F>::of(load);
            if B::ROWS {
                points.k_tangents = b.tangents::<F>(&manifolds, point);
            }
            let points = points.first(there);
            let offset = Vector::select(is_a, Vector::zero(), shared.offset);
            let (response, lever) = (respond_along(&rules, &shared, &points, &arcs), points.lever + offset);
            let sum = Sum::of(&response, &shared, lever, side);
            pulls.add(&sum.total(), shared.normal.common());
            if B::ROWS {
                let bitangent = shared.tangents().1;
                let more = Sum::along(bitangent, response.k_bitangent - response.k_tangent, lever);
                pulls.add(&more.total(), bitangent.common());
            }
        }
        i += team.width * F::PARTS;
        if !group.any(i < end) {
            break;
        }
    }
    if F::Body::LANES > 1 {
        prefetch_contacts(ahead, next.end, b);
    }
    pulls
}

/// What is read of bodies that are solved together.
#[derive(Clone, Copy)]
struct Bodies<F: OfBodies> {
    frames: F::Lanes<SolverBody>,
    rotations: F::Lanes<Rotation>,
    deltas: F::Lanes<Twist>,
}

impl<F: OfBodies> Bodies<F> {
    /// Those from `place` on. Lanes beyond the last body repeat the first one.
    #[inline(always)]
    fn load<B: Bound>(place: u32, indices: &F::Lanes<u32>, count: u32, b: &B) -> Self {
        let (mut frames, mut rotations) = (F::lanes(b.frame(place)), F::lanes(b.rotation(place)));
        let mut deltas = F::lanes(b.delta(F::lane(indices, 0)));
        let mut i = 1;
        while F::LANES > 1 && i < count {
            let index = F::lane(indices, i);
            F::put_lane(&mut frames, i, b.frame(place + i));
            F::put_lane(&mut rotations, i, b.rotation(place + i));
            F::put_lane(&mut deltas, i, b.delta(index));
            i += 1;
        }
        Self { frames, rotations, deltas }
    }

    #[inline(always)]
    fn rotation(&self) -> Turns<F> {
        Turns::gather(&self.rotations, |r: &Rotation| *r)
    }

    #[inline(always)]
    fn moved(&self) -> Twists<F> {
        Twists {
            linear: Vector::gather(&self.deltas, |d: &Twist| d.linear),
            angular: Vector::gather(&self.deltas, |d: &Twist| d.angular),
        }
    }

    #[inline(always)]
    fn ends(&self) -> TurnEnds<F> {
        TurnEnds {
            start: Turns::gather(&self.frames, |f: &SolverBody| f.start.rotation),
            target: Turns::gather(&self.frames, |f: &SolverBody| f.target.rotation),
        }
    }

    /// Inertia (Eq. 5 and 6).
    #[inline(always)]
    fn inertial<B: Bound>(&self, indices: &F::Lanes<u32>, count: u32, b: &B) -> Systems<F> {
        let params = b.params();
        let form = TurnForm::new(&params);
        let (rotation, moved, ends) = (self.rotation(), self.moved(), self.ends());
        let inertia = Vector::gather(&self.frames, |f: &SolverBody| f.inertia);
        let mut displaced = Twists {
            linear: moved.linear - Vector::gather(&self.frames, |f: &SolverBody| f.target.position),
            angular: ends.lag(form, rotation, moved.angular, inertia),
        };
        if B::STABILISE {
            // Measured from where the iterations left the body.
            let more = |index: u32, delta: Twist, b: &B| besides(&delta, &went(&b.velocity(index), params.dt));
            let mut added = F::lanes(more(F::lane(indices, 0), F::lane(&self.deltas, 0), b));
            let mut i = 1;
            while F::LANES > 1 && i < count {
                F::put_lane(&mut added, i, more(F::lane(indices, i), F::lane(&self.deltas, i), b));
                i += 1;
            }
            displaced = Twists {
                linear: Vector::gather(&added, |t: &Twist| t.linear),
                angular: Vector::gather(&added, |t: &Twist| t.angular),
            };
        }
        let mass = F::gather(&self.frames, |f: &SolverBody| f.mass);
        let mut axes = rotation;
        if !B::STABILISE {
            axes = ends.inertia_frame(form, rotation);
        }
        Systems::inertial(mass, inertia, axes, displaced, params.dt)
    }
}

/// Solves (Eq. 4), and moves the bodies from `place` on.
#[inline(always)]
fn apply<F: OfBodies, B: Bound>(place: u32, indices: &F::Lanes<u32>, count: u32, systems: &Systems<F>, b: &mut B) {
    let params = b.params();
    let bodies = Bodies::<F>::load(place, indices, count, b);
    let systems = if F::LANES == 1 { *systems } else { bodies.inertial(indices, count, b).plus(systems) };
    let step = if params.options & option::SCHUR != 0 { systems.schur() } else { systems.ldl() };

    let form = TurnForm::new(&params);
    let (rotation, moved, ends) = (bodies.rotation(), bodies.moved(), bodies.ends());
    // The motion since the start is a number of its own: added to a large position, small changes would be rounded
    // away.
    let linear = moved.linear + step.linear;
    let rotation = form.turned(rotation, step.angular);
    let angular = ends.turned(form, rotation, moved.angular, step.angular);
    let (linear, angular) = (linear.scatter(), angular.scatter());
    let (turn, scalar) = (rotation.v.scatter(), rotation.s.scatter());
    let put = |i: u32, b: &mut B| {
        let way = Twist { linear: Vector::<F>::lane(&linear, i), angular: Vector::<F>::lane(&angular, i) };
        // Mass is 0 if `velocity` has disabled the body before the stabilising pass.
        let frame = F::lane(&bodies.frames, i);
        // A body that nothing touches is already at its target: solving it would only add rounding errors, step after
        // step.
        let held = b.has_joints(F::lane(indices, i)) || b.has_particles(F::lane(indices, i));
        let touched = b.row(place + i).count() > 0 || held;
        let rotation = Rotation::new(Vector::<F>::lane(&turn, i), F::lane(&scalar, i));
        // A finite rotation vector may still give a rotation that is not finite.
        let turned = finite(rotation.v().length_squared() + rotation.s * rotation.s);
        if touched && is_finite(&way) && turned && frame.mass > 0.0 {
            let index = F::lane(indices, i);
            b.turn(place + i, rotation);
            b.put(index, way);
            b.show(index, Pose { position: frame.start.position + way.linear, rotation });
        }
    };
    if F::LANES == 1 {
        put(0, b);
    } else {
        let mut i = 0;
        while i < count {
            put(i, b);
            i += 1;
        }
    }
}

#[cfg(all(test, not(target_arch = "spirv")))]
mod tests {
    use super::*;
    use crate::gpu::lanes::workgroup;

    /// The lanes of a workgroup on a device with subgroups of `size`.
    fn lanes(size: u32) -> impl Iterator<Item = Group> {
        let group = Group { index: 0, lane: 0, lanes: LANES, subgroup: 0, subgroups: LANES / size, slot: 0 };
        (0..LANES).map(move |lane| Group { lane, subgroup: lane / size, slot: lane % size, ..group })
    }

    fn cases() -> impl Iterator<Item = (u32, u32)> {
        [4, 8, 16, 32, 64].into_iter().flat_map(|size| [1, 2, 4, 8, 16, 32, 64].map(|asked| (size, asked)))
    }

    #[test]
    fn every_point_of_a_row_is_taken_once_by_a_team() {
        for (size, asked) in cases() {
            let tile = LANES / asked;
            // Bodies of the workgroup, each with a row of seven entries of four points.
            let mut taken = vec![[0; 28]; tile as usize];
            for group in lanes(size) {
                let team = Team::new(&group, asked);
                assert_eq!(team.width, asked.min(size));
                for body in (team.number..tile).step_by(team.teams as usize) {
                    for i in (team.lane..28).step_by(team.width as usize) {
                        taken[body as usize][i as usize] += 1;
                    }
                }
            }
            assert!(taken.iter().flatten().all(|&t| t == 1), "subgroups of {size}, teams of {asked}: {taken:?}");
        }
    }

    #[test]
    fn sums_over_lanes_are_those_of_the_team() {
        // Every lane and every component has a number of its own.
        let component = |lane: u32, i: u32| ((lane + i) % 16 + 1) as f32 * (1 + lane) as f32;
        let system = |lane: u32| {
            let vector = |i: u32| Vector::new(component(lane, i), component(lane, i + 1), component(lane, i + 2));
            Systems::<f32> {
                ll: vector(0),
                ll_off: vector(3),
                al: [vector(6), vector(9), vector(12)],
                aa: vector(15),
                aa_off: vector(18),
                force: vector(21),
                torque: vector(24),
            }
        };
        let flat = |s: &Systems<f32>| -> Vec<f32> {
            let all = [s.ll, s.ll_off, s.al[0], s.al[1], s.al[2], s.aa, s.aa_off, s.force, s.torque];
            all.into_iter().flat_map(|v| [v.x, v.y, v.z]).collect()
        };
        for (size, asked) in cases().filter(|(_, asked)| [2, 8, 64].contains(asked)) {
            let results = workgroup(LANES, size, |group| {
                let team = Team::new(group, asked);
                (team.number, flat(&system(group.lane).over_lanes(group, team.width)))
            });
            for (lane, (number, sums)) in results.iter().enumerate() {
                // Whole numbers this small are added without rounding, in any order.
                let team = (0..LANES).filter(|l| results[*l as usize].0 == *number);
                let expected: Vec<f32> = (0..27).map(|i| team.clone().map(|l| component(l, i)).sum()).collect();
                assert_eq!(*sums, expected, "lane {lane}, subgroups of {size}, teams of {asked}");
            }
        }
    }
}
