//! Synchronisation validation is on, and sees a missing barrier.

mod common;

use common::open;
use drystone::backend::Runner;
use drystone::layout::Extent;
use drystone::plan::barriers::{Schedule, Step, schedule};
use drystone::plan::detect::bvh::{Bvh, Search};
use drystone::plan::{Recording, UseKind};
use drystone::vulkan::VulkanRunner;

#[test]
fn every_barrier_that_is_taken_out_is_missed() {
    let mut recording = Recording::new("broad phase");
    let counters = recording.buffer("counters", 2).unwrap();
    let overflow = recording.buffer("overflow", 1).unwrap();
    let boxes = recording.buffer("boxes", 100).unwrap();
    recording.fill(overflow, 0..1, 0).unwrap();
    let tree = Bvh { boxes, extent: Extent::host(100), counters }.record(&mut recording, "bvh").unwrap();
    let search = Search { capacity: 100, needed: 1, overflow, bit: 0, tile: 64, crowded: 0, most: u32::MAX };
    search.record(&mut recording, "pairs", &tree).unwrap();

    let complete = schedule(&recording);
    let barriers = complete.barriers().count();
    assert!(barriers > 15, "a recording worth the test, not {barriers} barriers");
    // The barrier before the first command is about the run before, in another submission.
    let opening = usize::from(matches!(complete.steps[0], Step::Barrier(_)));

    let device = open("llvmpipe");
    let said = |schedule: &Schedule| {
        // SAFETY: the race is what the test is about; llvmpipe runs a queue's commands in order, so nothing goes wrong.
        let mut runner = unsafe { VulkanRunner::with_schedule(device.clone(), recording.clone(), schedule) }.unwrap();
        runner.run().unwrap();
        device.validation().take()
    };
    assert_eq!(said(&complete), Vec::<String>::new(), "the complete schedule");
    let mut missed = 0;
    for i in opening..barriers {
        let messages = said(&complete.without_barrier(i));
        if messages.iter().any(|m| m.contains("SYNC-HAZARD")) {
            missed += 1;
        } else {
            assert!(between_writes(&recording, &complete, i), "barrier {i} is not missed: {messages:?}\n{recording}");
        }
    }
    // All but the one between levels of the pyramid.
    assert_eq!(missed, barriers - opening - 1);
}

/// Whether barrier `index` only separates two shader writes to the same buffer. The layers keep silent about those on
/// purpose: shaders often write apart from each other, and the layers cannot see where.
fn between_writes(recording: &Recording, schedule: &Schedule, index: usize) -> bool {
    let is_barrier = |s: &&Step| matches!(s, Step::Barrier(_));
    let barrier = schedule.barriers().nth(index).unwrap();
    let at = schedule.steps.iter().enumerate().filter(|(_, s)| is_barrier(s)).nth(index).unwrap().0;
    let writes = |step: &Step, buffer| {
        let Step::Command(command) = step else { return None };
        let uses = recording.uses(&recording.commands()[*command]);
        let found = uses.into_iter().find(|u| u.buffer == buffer)?;
        Some(found.kind == UseKind::Shader && found.access.writes())
    };
    barrier.buffers.iter().all(|&buffer| {
        let before = schedule.steps[..at].iter().rev().find_map(|s| writes(s, buffer));
        before == Some(true) && writes(&schedule.steps[at + 1], buffer) == Some(true)
    })
}
