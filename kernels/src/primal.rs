//! One colour's bodies, each moved to where its forces balance (Algorithm 1, lines 9 to 21).
//!
//! A body is worked on by a team of lanes, 1 to a whole subgroup. Up to four of them share the points of a manifold, more than
//! four take several manifolds at a time; what they found is added up over the team, and its first lane solves.
//! With teams of one, every lane has a body to itself. `colour_ranges` chooses by the size of the colour: a large
//! one fills the device with one lane a body, a small one does not.
//!
//! `primal_joints` is the same pass for worlds with joints.
//!
//! The fallback, bodies without a colour of their own, is solved by one lane, one body after the other: slow, and right.

use crate::gpu::{Group, Load, Real, Store, Vector};
use crate::math::{Pose, Rotation, Twist};
use crate::rigid::{Body, ColourRange, Manifold, POINTS, Params, Point, Row, option, row, word};
use crate::solve::{Moved, Points, Rules, Shared, is_finite, respond, turned};
use crate::system::{Pulls, Sum, System};
use crate::{layout, stage};

stage! {
    "primal" group 64, wide {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 starts: Pose,
        read 3 targets: Pose,
        read 4 manifolds: Manifold,
        read 5 points: u32,
        read 6 rows: u32,
        read 7 entries: u32,
        read 8 neighbours: u32,
        read 9 ranges: ColourRange,
        read 10 order: u32,
        update 11 poses: Pose,
        update 12 deltas: Twist,
    }
}

layout! {
    /// Push constants of `primal`.
    pub struct Push {
        /// The colour.
        pub colour: u32,
        /// Not 0: the first team solves all bodies in turn.
        pub serial: u32,
        /// Not 0: corrects the error that is left, behind the iterations (section 6).
        pub stabilise: u32,
    }
}

/// Lanes of a workgroup.
pub const LANES: u32 = 64;

/// Lanes that work on one body together, and one of them.
#[derive(Clone, Copy)]
struct Team {
    /// Lanes; a power of two.
    width: u32,
    /// This one.
    lane: u32,
    /// Number of the team in its workgroup.
    number: u32,
    /// Teams there are.
    teams: u32,
}

impl Team {
    /// The team of this lane when `lanes` are asked for. A subgroup may be narrower, and is a single lane on the CPU.
    #[inline(always)]
    fn new(group: &Group, lanes: u32) -> Self {
        // Said so that the compiler for the CPU knows it.
        let width = if group.width() == 1 { 1 } else if lanes < group.width() { lanes } else { group.width() };
        let (place, shift) = (group.place(), width.trailing_zeros());
        Self { width, lane: place & (width - 1), number: place >> shift, teams: group.lanes >> shift }
    }

    /// What this lane takes of a row: lanes side by side take points side by side.
    #[inline(always)]
    fn share(&self) -> Share {
        let points = if self.width < POINTS { self.width } else { POINTS };
        let shift = points.trailing_zeros();
        Share {
            entry: self.lane >> shift,
            entries: self.width >> shift,
            point: self.lane & (points - 1),
            points,
        }
    }
}

/// Part of a row: every `entries`-th entry from `entry` on, and of its points every `points`-th from `point` on.
#[derive(Clone, Copy)]
struct Share {
    entry: u32,
    entries: u32,
    point: u32,
    points: u32,
}

/// What the pass reads and writes: buffers of `primal`, or of `primal_joints`, which has more.
pub trait Bound {
    /// Settings.
    fn params(&self) -> Params;
    /// Bodies of a colour.
    fn range(&self, colour: u32) -> ColourRange;
    /// The body at a place in the order of colours.
    fn ordered(&self, place: u32) -> u32;
    /// A body.
    fn body(&self, index: u32) -> Body;
    /// Its pose at the start of the step.
    fn start(&self, index: u32) -> Pose;
    /// Where it would go on its own.
    fn target(&self, index: u32) -> Pose;
    /// Its pose.
    fn pose(&self, index: u32) -> Pose;
    /// The way it went.
    fn delta(&self, index: u32) -> Twist;
    /// Its row.
    fn row(&self, index: u32) -> Row;
    /// An entry of a row.
    fn entry(&self, e: u32) -> u32;
    /// The body at the other end of an entry: of its manifold, and whether it is on the side of a.
    fn neighbour(&self, e: u32, manifold: &Manifold, is_a: bool) -> u32;
    /// A manifold.
    fn manifold(&self, index: u32) -> Manifold;
    /// Points whose words begin at `first`.
    fn points<F: Real>(&self, first: &F::Each<u32>) -> Points<F>;
    /// Asks for a manifold ahead of its use.
    fn prefetch(&self, manifold: u32);
    /// Moves a body.
    fn put(&mut self, index: u32, pose: Pose, delta: Twist);
    /// Adds the joints of a body, or this lane's share of them: every `lanes`-th from `lane` on.
    fn joints(&self, system: System, index: u32, lane: u32, lanes: u32, stabilise: bool) -> System;
}

/// Implements the part of [`Bound`] that both stages have in common, and the rest as it is given.
macro_rules! bound {
    ($($given:item)*) => {
        impl $crate::primal::Bound for Bindings<'_> {
            #[inline(always)]
            fn params(&self) -> Params {
                self.params.at(0)
            }
            #[inline(always)]
            fn range(&self, colour: u32) -> ColourRange {
                self.ranges.at(colour)
            }
            #[inline(always)]
            fn ordered(&self, place: u32) -> u32 {
                self.order.at(place)
            }
            #[inline(always)]
            fn body(&self, index: u32) -> Body {
                self.bodies.at(index)
            }
            #[inline(always)]
            fn start(&self, index: u32) -> Pose {
                self.starts.at(index)
            }
            #[inline(always)]
            fn target(&self, index: u32) -> Pose {
                self.targets.at(index)
            }
            #[inline(always)]
            fn pose(&self, index: u32) -> Pose {
                self.poses.at(index)
            }
            #[inline(always)]
            fn delta(&self, index: u32) -> Twist {
                self.deltas.at(index)
            }
            #[inline(always)]
            fn row(&self, index: u32) -> Row {
                row(&self.rows, index)
            }
            #[inline(always)]
            fn entry(&self, e: u32) -> u32 {
                self.entries.at(e)
            }
            #[inline(always)]
            fn manifold(&self, index: u32) -> Manifold {
                self.manifolds.at(index)
            }
            #[inline(always)]
            fn points<F: Real>(&self, first: &F::Each<u32>) -> Points<F> {
                Points::load(&self.points, first)
            }
            #[inline(always)]
            fn prefetch(&self, manifold: u32) {
                self.manifolds.prefetch(manifold, 1);
                self.points.prefetch(Point::place(manifold, 0), POINTS * word::COUNT);
            }
            #[inline(always)]
            fn put(&mut self, index: u32, pose: Pose, delta: Twist) {
                self.poses.put(index, pose);
                self.deltas.put(index, delta);
            }
            $(#[inline(always)] $given)*
        }
    };
}
pub(crate) use bound;

bound! {
    fn neighbour(&self, e: u32, _manifold: &Manifold, _is_a: bool) -> u32 {
        self.neighbours.at(e)
    }

    fn joints(&self, system: System, _index: u32, _lane: u32, _lanes: u32, _stabilise: bool) -> System {
        system
    }
}

/// Solves a workgroup's bodies of the colour, or all of them.
#[inline(always)]
pub fn run<F: Real>(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    sweep::<F>(group, push, b);
}

/// The same for the buffers of either stage.
#[inline(always)]
pub fn sweep<F: Real>(group: &Group, push: &Push, b: &mut impl Bound) {
    let range = b.range(push.colour);
    let team = Team::new(group, range.lanes);
    let serial = push.serial != 0;
    let tile = if serial { range.end - range.start } else { LANES >> range.lanes.trailing_zeros() };
    let first = range.start + if serial { 0 } else { group.index * tile };
    let (start, step) = if serial { (0, 1) } else { (team.number, team.teams) };
    let idle = serial && team.number > 0;

    // Every lane makes every round, with a body or without: the sums want them all.
    let mut base = 0;
    while base < tile {
        let at = base + start;
        let works = !idle && at < tile && first + at < range.end;
        let mut index = 0;
        let mut system = System::none();
        if works {
            index = b.ordered(first + at);
            if at + step < tile && first + at + step < range.end {
                prefetch(b.ordered(first + at + step), b);
            }
            system = gather::<F>(index, team, push.stabilise != 0, b);
        }
        let system = system.over_lanes(group, team.width);
        if works && team.lane == 0 {
            apply(index, &system, b);
        }
        base += step;
    }
}

/// Asks for the manifolds of a body that will be worked on soon. On a GPU there are other lanes to work meanwhile.
#[inline(always)]
fn prefetch(index: u32, b: &impl Bound) {
    let row = b.row(index);
    let mut e = row.start;
    while e < row.end {
        b.prefetch(b.entry(e) >> 1);
        e += 1;
    }
}

/// This lane's part of the body's system. The first lane also brings the inertia.
#[inline(always)]
fn gather<F: Real>(index: u32, team: Team, stabilise: bool, b: &impl Bound) -> System {
    let params = b.params();
    let rules = Rules::new(&params, stabilise);
    let mine = b.delta(index);
    let mut system = System::none();
    if team.lane == 0 {
        let body = b.body(index);
        let pose = b.pose(index);
        let target = b.target(index);
        let displaced = Twist {
            linear: mine.linear - target.position,
            angular: turned(&target.rotation, &pose.rotation),
        };
        system = System::inertial(body.mass, body.inertia, &pose.rotation, &displaced, params.dt);
    }

    let mut pulls = Pulls::<F>::none();
    let moved = Moved::splat(&mine);
    let share = team.share();
    let row = b.row(index);
    let mut e = row.start + share.entry;
    while e < row.end {
        // A part beyond the end of the row takes the last entry once more, and counts for nothing.
        let there = row.end - e;
        let places = F::each(|part| if part < there { e + part } else { e });
        let entries = F::map(&places, |e| b.entry(*e));
        let manifolds = F::map(&entries, |entry| b.manifold(entry >> 1));
        let is_a = !F::odd(&entries);
        let theirs = F::each(|part| {
            let (e, entry, manifold) = (F::part(&places, part), F::part(&entries, part), F::part(&manifolds, part));
            b.delta(b.neighbour(e, &manifold, entry & 1 == 0))
        });
        let shared = Shared::new(&manifolds, is_a, &moved, &Moved::new(&theirs));
        let side = F::select(is_a, F::splat(1.0), F::splat(-1.0));
        let offset = Vector::select(is_a, Vector::zero(), shared.offset);
        let pull = |k: u32| {
            let first = F::map(&entries, |entry| Point::place(entry >> 1, k));
            let points = b.points::<F>(&first).first(there);
            Sum::of(&respond(&rules, &shared, &points), &shared, points.lever + offset, side)
        };
        let sum = if F::POINTS == POINTS {
            pull(0)
        } else {
            let count = F::part(&manifolds, 0).count;
            let mut sum = Sum::none();
            let mut k = share.point;
            while k < count {
                sum = sum.plus(&pull(k));
                k += share.points;
            }
            sum
        };
        pulls.add(&sum, shared.normal);
        e += share.entries * F::PARTS;
    }
    b.joints(system.plus(&pulls.total()), index, team.lane, team.width, stabilise)
}

/// Solves, and moves the body.
#[inline(always)]
fn apply(index: u32, system: &System, b: &mut impl Bound) {
    let schur = b.params().options & option::SCHUR != 0;
    let step = if schur { system.schur() } else { system.ldl() };
    // `velocity` may have taken the body out before the last pass.
    if is_finite(&step) && b.body(index).is_dynamic() {
        // The way since the start is kept by itself: next to a large position its small changes would be rounded away.
        let start = b.start(index);
        let linear = b.delta(index).linear + step.linear;
        let rotation = Rotation::exp(step.angular).then_after(&b.pose(index).rotation).normalized();
        let pose = Pose { position: start.position + linear, rotation };
        b.put(index, pose, Twist { linear, angular: turned(&start.rotation, &rotation) });
    }
}

#[cfg(all(test, not(target_arch = "spirv")))]
mod tests {
    use super::*;

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
            // Bodies of the workgroup, each with a row of seven entries.
            let mut taken = vec![[0; 7 * POINTS as usize]; tile as usize];
            for group in lanes(size) {
                let team = Team::new(&group, asked);
                assert_eq!(team.width, asked.min(size));
    let share = team.share();
                for body in (team.number..tile).step_by(team.teams as usize) {
                    for e in (share.entry..7).step_by(share.entries as usize) {
                        for k in (share.point..POINTS).step_by(share.points as usize) {
                            taken[body as usize][(e * POINTS + k) as usize] += 1;
                        }
                    }
                }
            }
            assert!(taken.iter().flatten().all(|&t| t == 1), "subgroups of {size}, teams of {asked}: {taken:?}");
        }
    }

    #[test]
    fn sums_over_lanes_are_those_of_the_team() {
        // What `System::over_lanes` does with each component, played through for a whole workgroup.
        for (size, asked) in cases() {
            let groups: Vec<_> = lanes(size).collect();
            let mut sums: Vec<u64> = (0..u64::from(LANES)).map(|lane| lane * lane + 1).collect();
            let expected: Vec<u64> = {
                let teams = groups.iter().map(|g| Team::new(g, asked).number);
                let teams: Vec<_> = teams.collect();
                let of = |team| teams.iter().zip(&sums).filter(|(t, _)| **t == team).map(|(_, v)| v).sum();
                teams.iter().map(|&t| of(t)).collect()
            };
            let mut reach = 1;
            while reach < Team::new(&groups[0], asked).width {
                let before = sums.clone();
                for (sum, g) in sums.iter_mut().zip(&groups) {
                    assert!(g.slot ^ reach < size, "the partner is in the subgroup");
                    *sum += before[(g.subgroup * size + (g.slot ^ reach)) as usize];
                }
                reach *= 2;
            }
            assert_eq!(sums, expected, "subgroups of {size}, teams of {asked}");
        }
    }
}
