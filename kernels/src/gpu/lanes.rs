//! A workgroup of many lanes, played on threads: for tests of what the CPU's single lane cannot show.
//!
//! Every lane is a thread that runs the stage with its own [`Group`]. Subgroup operations and barriers wait for each
//! other as on a device, and give what they give there. Unlike a device, this one tells when lanes of a subgroup part
//! ways before an operation: when they are not all at the same one, or some have ended while others wait.

use super::Group;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// What a lane is doing.
#[derive(Clone, Copy, PartialEq)]
enum Doing {
    Running,
    /// Waits for its subgroup, at a place in the code, with a value.
    Subgroup(&'static Location<'static>, u32),
    /// Waits for its workgroup.
    Barrier(&'static Location<'static>),
    Ended,
}

struct State {
    lanes: Vec<Doing>,
    /// What the lanes brought to the last operation of their subgroup.
    values: Vec<u32>,
    /// Operations that each lane has come through.
    passed: Vec<u64>,
    /// What went wrong.
    wrong: Option<String>,
}

struct Model {
    width: usize,
    state: Mutex<State>,
    /// One a subgroup.
    changed: Vec<Condvar>,
}

thread_local! {
    static MODEL: RefCell<Option<Arc<Model>>> = const { RefCell::new(None) };
}

impl Model {
    /// Lets `next` be what `lane` does, and returns what its subgroup brought when it may go on.
    fn arrive(&self, lane: usize, next: Doing) -> Vec<u32> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.lanes[lane] = next;
        let first = lane / self.width * self.width;
        let before = state.passed[lane];
        self.release(&mut state);
        while next != Doing::Ended && state.passed[lane] == before && state.wrong.is_none() {
            state = self.changed[lane / self.width].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(wrong) = &state.wrong {
            let wrong = wrong.clone();
            drop(state);
            resume_unwind(Box::new(wrong));
        }
        state.values[first..first + self.width].to_vec()
    }

    /// Lets those go on that need not wait any more, or says why nobody can.
    fn release(&self, state: &mut State) {
        let mut gone_on = false;
        for first in (0..state.lanes.len()).step_by(self.width) {
            let group = first..first + self.width;
            let places = state.lanes[group.clone()].iter().map(|doing| match doing {
                Doing::Subgroup(place, _) => Some(*place),
                _ => None,
            });
            let places: Vec<_> = places.collect();
            let there = places.iter().flatten().count();
            if there == self.width {
                if let Some(other) = places.iter().flatten().find(|place| Some(**place) != places[0]) {
                    state.wrong = Some(format!("lanes of a subgroup are at {:?} and at {other}", places[0]));
                    self.changed.iter().for_each(Condvar::notify_all);
                    return;
                }
                for lane in group {
                    if let Doing::Subgroup(_, value) = state.lanes[lane] {
                        state.values[lane] = value;
                    }
                    state.lanes[lane] = Doing::Running;
                    state.passed[lane] += 1;
                }
                self.changed[first / self.width].notify_all();
                gone_on = true;
            }
        }
        if state.lanes.iter().all(|doing| matches!(doing, Doing::Barrier(_))) {
            state.lanes.iter_mut().for_each(|doing| *doing = Doing::Running);
            state.passed.iter_mut().for_each(|n| *n += 1);
            self.changed.iter().for_each(Condvar::notify_all);
            gone_on = true;
        }
        let ended = state.lanes.iter().filter(|doing| **doing == Doing::Ended).count();
        if !gone_on && ended < state.lanes.len() && !state.lanes.contains(&Doing::Running) {
            let waits = state.lanes.iter().find_map(|doing| match doing {
                Doing::Subgroup(place, _) | Doing::Barrier(place) => Some(*place),
                _ => None,
            });
            state.wrong = Some(format!("lanes wait at {waits:?}, and not all of them come"));
            self.changed.iter().for_each(Condvar::notify_all);
        }
    }
}

/// What all lanes of the subgroup brought to this operation; `None` when no model is played.
#[track_caller]
pub fn exchange(group: &Group, value: u32) -> Option<Vec<u32>> {
    let model = MODEL.with_borrow(Clone::clone)?;
    Some(model.arrive(group.place() as usize, Doing::Subgroup(Location::caller(), value)))
}

/// Waits for the workgroup, when a model is played.
#[track_caller]
pub fn barrier(group: &Group) {
    if let Some(model) = MODEL.with_borrow(Clone::clone) {
        model.arrive(group.place() as usize, Doing::Barrier(Location::caller()));
    }
}

/// What `run` returns on every lane of a workgroup of `lanes`, on a device with subgroups of `width`.
pub fn workgroup<T: Send>(lanes: u32, width: u32, run: impl Fn(&Group) -> T + Sync) -> Vec<T> {
    let results: Vec<Mutex<Option<T>>> = (0..lanes).map(|_| Mutex::new(None)).collect();
    let played = play(0, lanes, width, |group| {
        let result = run(group);
        *results[group.lane as usize].lock().unwrap() = Some(result);
    });
    played.expect("lanes that stay together");
    results.into_iter().map(|result| result.into_inner().unwrap().expect("every lane has run")).collect()
}

/// Runs `body` for every lane of workgroup `index`, which has `lanes` of them in subgroups of `width`. Says how they
/// parted, if they did.
pub fn play(index: u32, lanes: u32, width: u32, body: impl Fn(&Group) + Sync) -> Result<(), String> {
    let state = State {
        lanes: vec![Doing::Running; lanes as usize],
        values: vec![0; lanes as usize],
        passed: vec![0; lanes as usize],
        wrong: None,
    };
    let model = Arc::new(Model {
        width: width as usize,
        state: Mutex::new(state),
        changed: (0..lanes / width).map(|_| Condvar::new()).collect(),
    });
    let (shared, body) = (&model, &body);
    std::thread::scope(|scope| {
        let run = |lane: u32| {
            move || {
                MODEL.set(Some(shared.clone()));
                let group =
                    Group { index, lane, lanes, subgroup: lane / width, subgroups: lanes / width, slot: lane % width };
                // What a lane finds wrong is known to all of them; anything else is the stage's own.
                let result = catch_unwind(AssertUnwindSafe(|| {
                    body(&group);
                    shared.arrive(lane as usize, Doing::Ended);
                }));
                if let Err(why) = result
                    && !why.is::<String>()
                {
                    resume_unwind(why);
                }
            }
        };
        (0..lanes).for_each(|lane| drop(scope.spawn(run(lane))));
    });
    let state = model.state.lock().unwrap_or_else(PoisonError::into_inner);
    state.wrong.clone().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{Read, Write};
    use crate::math::{Pose, Rotation, Twist};
    use crate::primitives::{reduce, scan_apply, scan_spine, scan_sums, sort_count, sort_scatter};
    use crate::solve::{carried_load::CarriedLoad, load_share, momentum, primal, primal_joints};
    use crate::state::rigid::{Body, ColourRange, Entry, Params, entry};
    use bytemuck::{Pod, Zeroable};
    use glam::{UVec4, Vec3};

    /// What a lane runs.
    type Lane<'a> = dyn Fn(&Group) + Sync + 'a;

    const WIDTHS: [u32; 5] = [4, 8, 16, 32, 64];

    /// Memory that lanes share.
    struct List<T>(Vec<T>);

    // SAFETY: views of it are made by `read` and `write`, and the stages under test keep their contract.
    unsafe impl<T> Sync for List<T> {}

    impl<T: Pod> List<T> {
        fn of(count: usize, get: impl FnMut(usize) -> T) -> Self {
            Self((0..count).map(get).collect())
        }

        fn zeros(count: usize) -> Self {
            Self(vec![T::zeroed(); count])
        }

        fn read(&self) -> Read<'_, T> {
            // SAFETY: as many elements as there are, alive as long as the view; nobody writes lists that are read.
            unsafe { Read::new(self.0.as_ptr(), self.0.len()) }
        }

        fn write(&self) -> Write<'_, T> {
            // SAFETY: as above, and only touched through such views while lanes run.
            unsafe { Write::new(self.0.as_ptr().cast_mut(), self.0.len()) }
        }
    }

    fn hash(i: usize) -> u32 {
        let x = (i as u32 ^ 0x9e37).wrapping_mul(0x7feb_352d);
        (x ^ (x >> 15)).wrapping_mul(0x846c_a68b) >> 7
    }

    fn unit(i: usize) -> f32 {
        (hash(i) % 1000) as f32 / 1000.0
    }

    #[test]
    fn lanes_that_part_are_found_out() {
        // Left early, a loop of different length, an operation in a branch.
        let early = play(0, 64, 8, |group| {
            if group.slot != 3 {
                group.sum(1);
            }
        });
        assert!(early.unwrap_err().contains("not all of them come"));
        let uneven = play(0, 64, 16, |group| {
            let mut i = 0;
            while i < group.slot {
                group.any(true);
                i += 1;
            }
            group.sum(1);
        });
        assert!(uneven.unwrap_err().contains("lanes of a subgroup are at"));
        // Subgroups by themselves may do what they want, until a barrier.
        let apart = |barrier: bool| {
            play(0, 64, 16, move |group| {
                if group.subgroup == 1 {
                    assert_eq!(group.sum(group.slot), 120);
                }
                if barrier && group.subgroup != 2 {
                    group.barrier();
                }
            })
        };
        assert_eq!(apart(false), Ok(()));
        assert!(apart(true).is_err());
    }

    #[test]
    fn operations_are_those_of_a_device() {
        for width in WIDTHS {
            let played = play(0, 64, width, |group| {
                assert_eq!(group.from_slot(group.place(), group.slot ^ 1), group.place() ^ 1);
                assert!(group.any(group.slot == 2) && !group.any(false));
                assert_eq!(group.active(), width);
                let peers = group.peers(group.slot & 1, 8);
                assert_eq!((peers.rank, peers.count, peers.leader), (group.slot / 2, width / 2, group.slot & 1));
            });
            assert_eq!(played, Ok(()), "subgroups of {width}");
        }
    }

    #[test]
    fn scans_sums_and_sorts_keep_subgroups_together() {
        let counters = List::<u32>::zeros(4);
        let counts = [(1, 0), (3, 1), (777, 0), (1024, 1), (4095, 0), (5000, 1)];
        for (width, (count, few)) in WIDTHS.into_iter().flat_map(|w| counts.map(|n| (w, n))) {
            let (values, out, more) = (List::of(count, hash), List::<u32>::zeros(5000), List::<u32>::zeros(5000));
            let extent = crate::layout::Extent::host(count as u32);
            let scan = scan_sums::Push { extent, total: 0, tile: 1, few };
            let sort = sort_count::Push { extent, shift: 8, tiles: 2, group: few };
            let (values, counters, out, more) = (&values, &counters, &out, &more);
            // Every lane has a copy of workgroup memory: it says where things go, not who goes through the code.
            for index in 0..2 {
                let played = play(index, 256, width, |group| {
                    let (v, c) = (values.read(), counters.read());
                    let mut b = scan_sums::Bindings { values: v, counters: c, sums: out.write() };
                    scan_sums::run(group, &mut [0; 256], &scan, &mut b);
                    let mut b = scan_spine::Bindings { sums: v, counters: counters.write(), prefixes: out.write() };
                    scan_spine::run(group, &mut [0; 256], &scan, &mut b);
                    let c = counters.write();
                    let mut b = scan_apply::Bindings { values: v, counters: c, before: v, prefixes: out.write() };
                    scan_apply::run(group, &mut [0; 256], &scan, &mut b);
                    let c = counters.read();
                    let mut b = reduce::Bindings { values: v, counters: c, partials: out.write() };
                    reduce::run(group, &mut [0; 256], &reduce::Push { extent, op: 0 }, &mut b);
                    let mut b = sort_count::Bindings { keys: v, counters: c, table: out.write(), sums: more.write() };
                    sort_count::run(group, &mut [0; 256], &sort, &mut b);
                    let mut b = sort_scatter::Bindings {
                        keys: v,
                        payloads: v,
                        counters: c,
                        table: v,
                        sums: v,
                        keys_out: out.write(),
                        payloads_out: more.write(),
                    };
                    sort_scatter::run(group, &mut [0; 2048], &sort, &mut b);
                });
                assert_eq!(played, Ok(()), "{count} values, subgroups of {width}");
            }
        }
    }

    /// Islands of all lengths up to 30, one of 200, and bodies in none.
    fn islands(bodies: usize) -> List<u32> {
        let (mut keys, mut length) = (Vec::new(), 1);
        while keys.len() < bodies {
            let (key, long) = (keys.len() as u32, length == 7);
            keys.extend(vec![key; if long { 200 } else { length }]);
            length = if length == 30 { 1 } else { length + 3 };
        }
        keys.truncate(bodies);
        keys[bodies - 20..].fill(bodies as u32);
        List(keys)
    }

    #[test]
    fn shares_of_loads_are_those_of_one_lane_and_keep_subgroups_together() {
        let bodies = 640;
        let (islands, members) = (islands(bodies), List::of(bodies, |i| i as u32));
        let loads = List::of(bodies, |i| CarriedLoad { pull: unit(i) + 0.1, along: unit(i + 1000) * 0.3 });
        let push = load_share::Push { count: bodies as u32, iterations: 1 };
        let params = List(vec![Params { least_share: 0.03, share_reach: 10.0, ..Params::default() }]);
        let shares = |play_group: &dyn Fn(u32, &Lane<'_>)| {
            let out = List::<f32>::zeros(bodies);
            let body = |group: &Group| {
                let mut b = load_share::Bindings {
                    islands: islands.read(),
                    members: members.read(),
                    carried_loads: loads.read(),
                    load_shares: out.write(),
                    params: params.read(),
                };
                load_share::run(group, &push, &mut b);
            };
            (0..bodies as u32 / 64).for_each(|index| play_group(index, &body));
            out.0
        };
        let one = shares(&|index, body| body(&Group::native(index)));
        assert!(one[..bodies - 20].iter().all(|s| *s > 0.0) && one.iter().any(|s| *s < 0.9));
        for width in WIDTHS {
            let many = shares(&|index, body| assert_eq!(play(index, 64, width, body), Ok(()), "subgroups of {width}"));
            assert!(one.iter().zip(&many).all(|(a, b)| (a - b).abs() < 1e-5), "subgroups of {width}");
        }
    }

    /// What `momentum` and `primal` work on: bodies with rows of different lengths, and joints, some of them to the
    /// world.
    struct Scene {
        params: List<Params>,
        bodies: List<Body>,
        poses: List<Pose>,
        frames: List<UVec4>,
        numbers: List<u32>,
        points: List<UVec4>,
        entries: List<Entry>,
        rows: List<u32>,
        joints: List<crate::solve::joints::Joint>,
        joint_rows: List<crate::solve::joints::JointRow>,
        states: List<crate::solve::joints::RowState>,
        deltas: List<Twist>,
        rotations: List<Rotation>,
        moved: List<Pose>,
    }

    fn scene(n: usize) -> Scene {
        let pose = |i: usize| Pose {
            position: Vec3::new(unit(i), unit(i + 7), unit(i + 70)) * 10.0,
            rotation: Rotation::exp(Vec3::new(unit(i), 0.2, 0.1)),
        };
        let mut params = Params::zeroed();
        (params.dt, params.k_max, params.k_start) = (1.0 / 60.0, 1e6, 1.0);
        (params.many, params.largest_turn, params.correction) = (4096, 0.2, 0.02);
        (params.loaded, params.loaded_range, params.correction_joint) = (500.0, 10.0, 0.02);
        let frames = List::<UVec4>::zeros(n * 5);
        let (mut rows, mut entries) = (Vec::new(), Vec::new());
        for i in 0..n {
            let start = entries.len() as u32;
            let row =
                (0..hash(i) % 9).map(|e| Entry { side: hash(i * 9 + e as usize) % 64, other: hash(i + 3) % n as u32 });
            entries.extend(row);
            let frame = crate::solve::solver_body::SolverBody {
                target: pose(i),
                start: pose(i),
                inertia: Vec3::ONE,
                mass: 1.0 + unit(i),
            };
            let range = crate::state::rigid::EntryRange { start, end: entries.len() as u32 };
            frame.store(&mut frames.write(), i as u32, range);
            let joint = |e| (hash(i + e as usize) % 32) | entry::JOINT << entry::SHIFT;
            entries.extend((0..hash(i + 50) % 5).map(|e| Entry { side: joint(e), other: i as u32 }));
            rows.extend([range.start, range.end, entries.len() as u32]);
        }
        let joints = List::of(16, |j| {
            let mut joint = crate::solve::joints::Joint::zeroed();
            (joint.body_a, joint.body_b) =
                (hash(j) % n as u32, if j % 2 == 0 { u32::MAX } else { hash(j + 1) % n as u32 });
            (joint.first_row, joint.rows, joint.length) = (hash(j) % 20, hash(j + 9) % 7, 1.0);
            (joint.frame_a, joint.frame_b) = (Rotation::IDENTITY, Rotation::IDENTITY);
            joint.flags = if j == 5 { crate::solve::joints::flag::BROKEN } else { 0 };
            joint
        });
        Scene {
            params: List(vec![params]),
            bodies: List::of(n, |i| Body {
                mass: 1.0 + unit(i),
                inertia: Vec3::ONE,
                gravity_scale: 1.0,
                ..Default::default()
            }),
            poses: List::of(n, pose),
            frames,
            numbers: List::of(n, |i| i as u32),
            points: List::of(64 * 12, |i| UVec4::splat((unit(i) + 0.1).to_bits())),
            entries: List(entries),
            rows: List(rows),
            joints,
            joint_rows: List::of(30, |i| {
                let mut row = crate::solve::joints::JointRow::zeroed();
                (row.axis, row.bound) = (hash(i) % 7, 1e9);
                row
            }),
            states: List::zeros(30),
            deltas: List::of(n, |i| Twist { linear: Vec3::splat(unit(i) * 0.1), angular: Vec3::ZERO }),
            rotations: List::of(n, |i| pose(i).rotation),
            moved: List::of(n, pose),
        }
    }

    #[test]
    fn islands_that_are_moved_keep_subgroups_together() {
        let n = 640;
        let islands = islands(n);
        for (width, joints) in WIDTHS.into_iter().flat_map(|w| [(w, 0), (w, 1)]) {
            let s = scene(n);
            let push = momentum::Push { count: n as u32, joints, last: 1 };
            for index in 0..n as u32 / 64 {
                let played = play(index, 64, width, |group| {
                    let mut b = momentum::Bindings {
                        bodies: s.bodies.read(),
                        starts: s.poses.read(),
                        solver_bodies: s.frames.read(),
                        islands: islands.read(),
                        members: s.numbers.read(),
                        poses: s.moved.write(),
                        deltas: s.deltas.write(),
                        rows: s.rows.read(),
                        params: s.params.read(),
                        joints: s.joints.read(),
                        joint_rows: s.joint_rows.read(),
                        row_states: s.states.read(),
                        body_order: s.numbers.read(),
                        rotations: s.rotations.write(),
                        entries: s.entries.read(),
                    };
                    momentum::run(group, &push, &mut b);
                });
                assert_eq!(played, Ok(()), "subgroups of {width}, joints {joints}");
            }
        }
    }

    #[test]
    fn bodies_with_rows_of_different_lengths_keep_subgroups_together() {
        let n = 24;
        for (width, lanes) in WIDTHS.into_iter().flat_map(|w| [1, 2, 8, 64].map(|lanes| (w, lanes))) {
            let s = scene(n);
            let ranges = List(vec![ColourRange { start: 3, end: n as u32, lanes }]);
            for (index, serial) in [(0, 0), (1, 0), (0, 1)].into_iter().take(if lanes == 1 { 3 } else { 2 }) {
                let push = primal::Push { range: 0, rest: serial };
                let played = play(index, 64, width, |group| {
                    let mut b = primal_joints::Bindings {
                        params: s.params.read(),
                        solver_bodies: s.frames.read(),
                        points: s.points.read(),
                        entries: s.entries.read(),
                        ranges: ranges.read(),
                        order: s.numbers.read(),
                        rotations: s.rotations.write(),
                        deltas: s.deltas.write(),
                        poses: s.moved.write(),
                        starts: s.poses.read(),
                        joints: s.joints.read(),
                        joint_rows: s.joint_rows.read(),
                        row_states: s.states.read(),
                        rows: s.rows.read(),
                        surfaces: s.points.read(),
                    };
                    // As a GPU runs it: one point of one body at a time.
                    primal_joints::run::<f32>(group, &push, &mut b);
                });
                assert_eq!(played, Ok(()), "subgroups of {width}, teams of {lanes}");
            }
        }
    }
}
