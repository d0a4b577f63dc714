//! A workgroup of many lanes on the host, for tests: a thread a lane, so that what lanes do together runs as on a GPU
//! with subgroups of any size. `Group`'s native operations look here first when they are compiled for tests.

use super::Group;
use std::cell::RefCell;
use std::sync::{Arc, Barrier, Mutex};

/// Lanes that meet: their values, and a barrier.
struct Meeting {
    values: Mutex<Vec<u32>>,
    barrier: Barrier,
}

impl Meeting {
    fn new(lanes: u32) -> Arc<Self> {
        Arc::new(Self { values: Mutex::new(vec![0; lanes as usize]), barrier: Barrier::new(lanes as usize) })
    }
}

thread_local! {
    /// The workgroup and the subgroup of the lane that this thread plays.
    static LANE: RefCell<Option<(Arc<Meeting>, Arc<Meeting>)>> = const { RefCell::new(None) };
}

fn lane() -> Option<(Arc<Meeting>, Arc<Meeting>)> {
    LANE.with_borrow(Clone::clone)
}

/// Waits for the workgroup.
pub fn barrier() {
    if let Some((workgroup, _)) = lane() {
        workgroup.barrier.wait();
    }
}

/// Waits for the subgroup.
pub fn subgroup_barrier() {
    if let Some((_, subgroup)) = lane() {
        subgroup.barrier.wait();
    }
}

/// `value` as every lane of the subgroup has it, by slot. None where no lanes are played.
pub fn values(group: &Group, value: u32) -> Option<Vec<u32>> {
    let (_, subgroup) = lane()?;
    subgroup.values.lock().unwrap()[group.slot as usize] = value;
    subgroup.barrier.wait();
    let all = subgroup.values.lock().unwrap().clone();
    // Nobody brings the next value before all have seen this one.
    subgroup.barrier.wait();
    Some(all)
}

/// What `run` returns on every lane of a workgroup of `lanes`, on a device with subgroups of `size`.
pub fn workgroup<T: Send>(lanes: u32, size: u32, run: impl Fn(&Group) -> T + Sync) -> Vec<T> {
    let whole = Meeting::new(lanes);
    let parts: Vec<_> = (0..lanes / size).map(|_| Meeting::new(size)).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..lanes)
            .map(|lane| {
                let (subgroup, slot) = (lane / size, lane % size);
                let group = Group { index: 0, lane, lanes, subgroup, subgroups: lanes / size, slot };
                let (whole, part, run) = (whole.clone(), parts[subgroup as usize].clone(), &run);
                scope.spawn(move || {
                    LANE.set(Some((whole, part)));
                    run(&group)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn lanes_of_a_subgroup_see_each_other() {
    for size in [4, 8, 16, 32, 64] {
        let seen = workgroup(64, size, |group| {
            let sum = group.sum(group.lane);
            let mirrored = group.from_slot(group.lane, group.slot ^ 1);
            (sum, mirrored, group.active(), group.peers(group.slot % 4, 2).count)
        });
        for (lane, (sum, mirrored, active, peers)) in (0..).zip(seen) {
            let first = lane / size * size;
            assert_eq!(sum, (first..first + size).sum::<u32>(), "lane {lane} of subgroups of {size}");
            assert_eq!((mirrored, active, peers), (lane ^ 1, size, size / 4), "lane {lane} of subgroups of {size}");
        }
    }
}
