//! What users say by mistake.

use crate::{DT, drystone, dynamic, folder, run, said, weightless};
use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::scenes::file;
use drystone::world::{AttachmentDesc, JointDesc, SoftDesc, WorldError};
use drystone::{Error, Settings, Simulation, Snapshot, vulkan};
use std::process::Stdio;

const CPU: Device = Device::Cpu { threads: Some(1) };

#[test]
fn a_step_of_almost_no_time_does_not_disable_every_body() {
    let mut world = weightless();
    let body = world.add(dynamic(Vec3::ZERO).moving(Vec3::X)).unwrap();
    let mut simulation = Simulation::new(world, Settings::default(), CPU).unwrap();
    for dt in [1e-45, 1e-38, 1e-20, 9e-7] {
        let error = simulation.step(dt).unwrap_err();
        assert!(matches!(error, Error::TimeStep(_)) && error.to_string().contains("1e-6"), "{error}");
    }
    for _ in 0..100 {
        simulation.step(drystone::LEAST_TIME_STEP).unwrap();
    }
    let state = simulation.body(body).unwrap();
    assert!(state.enabled && (state.position.x - 1e-4).abs() < 1e-6, "{state:?}");
    simulation.set_settings(Settings::default().with(|s| s.substeps = 10)).unwrap();
    assert!(matches!(simulation.step(5e-6), Err(Error::TimeStep(_))), "sub-steps are steps");
    simulation.step(DT).unwrap();
}

#[test]
fn a_pipe_that_nobody_reads_on_is_no_panic() {
    let folder = folder("pipe");
    for arguments in [&["info"][..], &["passes", "stack"], &["export", "stack"], &["run", "stack", "--steps", "2"]] {
        let mut child = drystone(&folder, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && !said(&output).contains("panicked"), "{arguments:?}: {}", said(&output));
    }
}

#[test]
fn numbers_of_things_are_not_cut() {
    let folder = folder("whole");
    for (set, word) in [("iterations=2.7", "iterations"), ("bodies=2.7", "whole number"), ("substeps=1.5", "substeps")]
    {
        let output = run(&folder, &["run", "stack", "--backend", "cpu", "--steps", "1", "--set", set]);
        assert!(!output.status.success() && said(&output).contains(word), "{set}: {}", said(&output));
    }
    let output = run(&folder, &["run", "arch", "--backend", "cpu", "--steps", "1", "--set", "stones=7.5"]);
    assert!(!output.status.success() && said(&output).contains("`stones`"), "{}", said(&output));
    let error = file::parse(r#"{"bodies": [], "settings": {"iterations": 2.7}}"#, "cut").expect_err("refused");
    assert!(error.contains("settings.iterations"), "{error}");
}

#[test]
fn what_a_file_says_twice_is_refused() {
    for text in [
        r#"{"bodies": [], "bodies": []}"#,
        r#"{"bodies": [{"name": "a", "mass": 1, "mass": 2}]}"#,
        r#"{"bodies": [], "settings": {"iterations": 3, "alpha": 1, "iterations": 4}}"#,
    ] {
        let error = file::parse(text, "twice").expect_err("refused");
        assert!(error.contains("is there twice at line 1 column"), "{error}");
    }
    // In different objects nothing is twice.
    file::parse(
        r#"{"bodies": [{"name": "a", "mass": 1, "inertia": [1, 1, 1]}, {"name": "b", "kind": "static"}]}"#,
        "ok",
    )
    .unwrap();
}

#[test]
fn a_handle_of_another_world_is_not_accepted() {
    let (mut one, mut two) = (weightless(), weightless());
    let (a, b) = (one.add(dynamic(Vec3::ZERO)).unwrap(), one.add(dynamic(Vec3::X * 3.0)).unwrap());
    let joint = one.add_joint(JointDesc::ball(a, b)).unwrap();
    let (c, d) = (two.add(dynamic(Vec3::ZERO)).unwrap(), two.add(dynamic(Vec3::X * 3.0)).unwrap());
    assert_eq!(a.index(), c.index(), "the same slot");
    assert!(matches!(two.remove(a), Err(WorldError::ForeignBody { index: 0 })));
    assert!(matches!(two.add_joint(JointDesc::ball(a, d)), Err(WorldError::ForeignBody { .. })));
    assert!(matches!(two.break_joint(joint), Err(WorldError::ForeignJoint { .. })));
    let error = two.apply_impulse(a, Vec3::X, Vec3::ZERO).unwrap_err();
    assert!(error.to_string().contains("of another world"), "{error}");
    // A copy has the same handles, and so has a world that comes back from bytes.
    let mut simulation = Simulation::new(one.clone(), Settings::default(), CPU).unwrap();
    simulation.step(DT).unwrap();
    assert!(matches!(simulation.body(c), Err(Error::World(WorldError::ForeignBody { .. }))));
    let snapshot = Snapshot::from_bytes(&simulation.snapshot().unwrap().to_bytes()).unwrap();
    let mut back = Simulation::from_snapshot(&snapshot, CPU).unwrap();
    assert_eq!(back.body(b).unwrap(), simulation.body(b).unwrap());
    back.world_mut().break_joint(joint).unwrap();
    back.step(DT).unwrap();
    // Handles that are used over and over stay apart.
    for _ in 0..10 {
        let new = one.add(dynamic(Vec3::Y * 9.0)).unwrap();
        one.remove(new).unwrap();
        assert!(matches!(one.desc(new), Err(WorldError::StaleBody { .. })));
    }
}

#[test]
fn a_handle_of_a_soft_body_of_another_world_is_not_accepted() {
    let rope = || SoftDesc::rope(Vec3::ZERO, Vec3::X, 4, 1.0, 1e3, 0.0);
    let (mut one, mut two) = (weightless(), weightless());
    let (a, b) = (one.add_soft(rope()).unwrap(), two.add_soft(rope()).unwrap());
    let held = one.attach(AttachmentDesc::to_world(a, 0)).unwrap();
    two.attach(AttachmentDesc::to_world(b, 0)).unwrap();
    assert_eq!(a.index(), b.index(), "the same slot");
    assert!(matches!(two.soft_desc(a), Err(WorldError::ForeignSoft { index: 0 })));
    assert!(matches!(two.remove_soft(a), Err(WorldError::ForeignSoft { .. })));
    assert!(matches!(two.set_particle_force(a, 0, Vec3::X), Err(WorldError::ForeignSoft { .. })));
    assert!(matches!(two.attach(AttachmentDesc::to_world(a, 1)), Err(WorldError::ForeignSoft { .. })));
    assert!(matches!(two.has_let_go(held), Err(WorldError::ForeignAttachment { index: 0 })));
    let error = two.detach(held).unwrap_err();
    assert!(error.to_string().contains("of another world"), "{error}");
    // A copy has the same handles, and so has a world that comes back from bytes.
    let mut simulation = Simulation::new(one.clone(), Settings::default(), CPU).unwrap();
    simulation.step(DT).unwrap();
    assert!(matches!(simulation.soft(b), Err(Error::World(WorldError::ForeignSoft { .. }))));
    let snapshot = Snapshot::from_bytes(&simulation.snapshot().unwrap().to_bytes()).unwrap();
    let mut back = Simulation::from_snapshot(&snapshot, CPU).unwrap();
    assert_eq!(back.soft(a).unwrap().positions, simulation.soft(a).unwrap().positions);
    back.world_mut().detach(held).unwrap();
    back.step(DT).unwrap();
    assert_eq!(back.world().soft_bodies().collect::<Vec<_>>(), [a]);
}

#[test]
fn the_error_of_a_lost_device_advises_what_there_is() {
    let text = vulkan::Error::DeviceLost("vkQueueSubmit").to_string();
    assert!(text.contains("vkQueueSubmit") && text.contains("open it again") && text.contains("snapshot"), "{text}");
    // And that works: a world goes on from the bytes of a snapshot on a device that was opened since.
    let mut world = weightless();
    let body = world.add(dynamic(Vec3::ZERO).moving(Vec3::X)).unwrap();
    let mut lost = Simulation::new(world, Settings::default(), CPU).unwrap();
    lost.step(DT).unwrap();
    let bytes = lost.snapshot().unwrap().to_bytes();
    lost.step(DT).unwrap();
    let expected = lost.body(body).unwrap();
    drop(lost);
    let mut again = Simulation::from_snapshot(&Snapshot::from_bytes(&bytes).unwrap(), CPU).unwrap();
    again.step(DT).unwrap();
    assert_eq!(again.body(body).unwrap(), expected);
}
