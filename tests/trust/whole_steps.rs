//! A step that fails for memory is not made at all, and the next try has everything.

use crate::common::Backend;
use crate::{DT, cube, dynamic, weightless};
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::state::Limits;
use drystone::world::{BodyDesc, BodyHandle};
use drystone::{BodyState, Error, Settings, Simulation};

const MANY: usize = 60;

/// Bodies side by side, one that is told where to be, and one that is pushed.
fn crowd(device: Device, substeps: u32, limits: Limits) -> (Simulation, Vec<BodyHandle>) {
    let mut world = weightless();
    let mut bodies: Vec<_> = (0..MANY).map(|i| world.add(dynamic(Vec3::X * (3.0 * i as f32))).unwrap()).collect();
    bodies.push(world.add(BodyDesc::kinematic().at(Vec3::Y * 50.0).with(cube())).unwrap());
    bodies.push(world.add(dynamic(Vec3::Y * 70.0)).unwrap());
    let settings = Settings::default().with(|s| s.substeps = substeps);
    (Simulation::within(world, settings, device, limits).unwrap(), bodies)
}

/// Everything to one place within the step, in its third sub-step if there are so many; a force and a target for the
/// step.
fn say(simulation: &mut Simulation, bodies: &[BodyHandle], substeps: u32) {
    let world = simulation.world_mut();
    for (i, &body) in bodies[..MANY].iter().enumerate() {
        if substeps == 1 {
            world.set_pose(body, Vec3::ZERO, Quat::IDENTITY).unwrap();
        } else {
            // Spread along y on the way, so that they meet at the end of it only.
            world.set_pose(body, Vec3::new(3.0 * i as f32, 0.0, 0.0), Quat::IDENTITY).unwrap();
            world.set_velocity(body, Vec3::X * (-3.0 * i as f32 / DT), Vec3::ZERO).unwrap();
        }
    }
    world.set_target(bodies[MANY], Vec3::new(1.0, 51.0, 0.0), Quat::IDENTITY).unwrap();
    world.apply_force(bodies[MANY + 1], Vec3::X * 6e4, Vec3::ZERO).unwrap();
    world.apply_impulse(bodies[MANY + 1], Vec3::Z * 1000.0, Vec3::ZERO).unwrap();
}

fn states(simulation: &mut Simulation) -> Vec<BodyState> {
    simulation.bodies().unwrap().into_iter().map(|(_, state)| state).collect()
}

#[test]
fn a_step_that_fails_for_memory_is_not_half_made() {
    not_half_made(&Backend::Cpu);
}

fn not_half_made(backend: &Backend) {
    for substeps in [1, 4] {
        let (mut free, bodies) = crowd(backend.device(), substeps, Limits::none());
        free.step(DT).unwrap();
        say(&mut free, &bodies, substeps);
        free.step(DT).unwrap();
        let after = states(&mut free);

        let (mut short, bodies) = crowd(backend.device(), substeps, Limits::none());
        short.step(DT).unwrap();
        let used = short.plan().recording.memory();
        short.limit_memory(Some(used));
        let before = states(&mut short);
        say(&mut short, &bodies, substeps);
        for _ in 0..2 {
            let error = short.step(DT).map(drop).unwrap_err();
            assert!(matches!(error, Error::MemoryLimit { .. }), "{error}");
            assert_eq!(states(&mut short), before, "{}, {substeps} sub-steps: nothing was made", backend.name());
            assert_eq!(short.steps(), u64::from(substeps));
        }
        short.limit_memory(None);
        short.step(DT).unwrap();
        let place = format!("{}, {substeps} sub-steps", backend.name());
        let found = states(&mut short);
        assert!((found[MANY].position - Vec3::new(1.0, 51.0, 0.0)).length() < 1e-4, "{place}: the target");
        assert!(found[MANY + 1].linear_velocity.x > 0.5, "{place}: the force");
        assert!((found[MANY + 1].linear_velocity.z - 1.0).abs() < 1e-3, "{place}: the impulse, once");
        assert!(found == after, "{place}: the same bits as if it had not failed");
        // What was for one step only has ended with it.
        short.step(DT).unwrap();
        free.step(DT).unwrap();
        assert!(states(&mut short) == states(&mut free), "{place}: and so on");
    }
}

#[test]
fn a_step_with_too_many_pairs_is_not_half_made() {
    let device = || Device::Cpu { threads: Some(2) };
    let (mut free, bodies) = crowd(device(), 4, Limits::none());
    say(&mut free, &bodies, 4);
    free.step(DT).unwrap();
    let (mut short, bodies) = crowd(device(), 4, Limits::none().with_pairs(500));
    say(&mut short, &bodies, 4);
    let error = short.step(DT).map(drop).unwrap_err();
    assert!(matches!(error, Error::PairLimit { limit: 500, .. }), "{error}");
    assert_eq!(short.steps(), 0);
    short.limit_pairs(None);
    short.step(DT).unwrap();
    assert!(states(&mut short) == states(&mut free), "the same bits as if it had not failed");
}

/// A process of its own that may have little memory: the allocation fails, and no limit does.
#[cfg(unix)]
#[test]
fn a_step_for_which_the_system_has_no_memory_is_not_half_made() {
    let this = std::env::current_exe().unwrap();
    let name = "whole_steps::without_memory";
    let script = r#"ulimit -v 1500000 && exec "$0" --exact "$1" --ignored --nocapture --test-threads 1"#;
    let output = std::process::Command::new("sh").args(["-c", script]).arg(this).arg(name).output().unwrap();
    let said = crate::said(&output);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Lists are far from full, nothing is limited, and all bodies are put into one place.
#[cfg(unix)]
#[test]
#[ignore = "needs a process with little memory: the test above starts it"]
fn without_memory() {
    let many = 4000;
    let settings = Settings::default();
    let make = || {
        let mut world = weightless();
        let mut bodies: Vec<_> = (0..many)
            .map(|i| world.add(dynamic(Vec3::new((i % 64) as f32, 0.0, (i / 64) as f32) * 3.0)).unwrap())
            .collect();
        bodies.push(world.add(BodyDesc::kinematic().at(Vec3::Y * 50.0).with(cube())).unwrap());
        bodies.push(world.add(dynamic(Vec3::Y * 70.0)).unwrap());
        let mut simulation = Simulation::new(world, settings, Device::Cpu { threads: Some(1) }).unwrap();
        for _ in 0..3 {
            simulation.step(DT).unwrap();
        }
        (simulation, bodies)
    };
    let speak = |simulation: &mut Simulation, bodies: &[BodyHandle]| {
        let world = simulation.world_mut();
        world.set_target(bodies[many], Vec3::new(1.0, 51.0, 0.0), Quat::IDENTITY).unwrap();
        world.apply_force(bodies[many + 1], Vec3::X * 6e4, Vec3::ZERO).unwrap();
        world.apply_impulse(bodies[many + 1], Vec3::Z * 1000.0, Vec3::ZERO).unwrap();
    };
    let place = |simulation: &mut Simulation, bodies: &[BodyHandle], at: &dyn Fn(usize) -> Vec3| {
        for (i, &body) in bodies[..many].iter().enumerate() {
            simulation.world_mut().set_pose(body, at(i), Quat::IDENTITY).unwrap();
        }
    };
    let apart = |i: usize| Vec3::new((i % 64) as f32, 1.0, (i / 64) as f32) * 3.0;
    let (mut free, bodies) = make();
    speak(&mut free, &bodies);
    place(&mut free, &bodies, &apart);
    free.step(DT).unwrap();

    let (mut short, bodies) = make();
    let (before, steps) = (states(&mut short), short.steps());
    speak(&mut short, &bodies);
    place(&mut short, &bodies, &|_| Vec3::ZERO);
    for _ in 0..2 {
        let error = short.step(DT).map(drop).unwrap_err();
        assert!(matches!(error, Error::OutOfHostMemory { .. }), "{error}");
        assert!(states(&mut short) == before, "nothing was made");
        assert_eq!(short.steps(), steps);
    }
    place(&mut short, &bodies, &apart);
    short.step(DT).unwrap();
    let found = states(&mut short);
    assert!((found[many + 1].linear_velocity.z - 1.0).abs() < 1e-3, "the impulse, once");
    assert!(found == states(&mut free), "the same bits as if it had not failed");
    for _ in 0..2 {
        short.step(DT).unwrap();
        free.step(DT).unwrap();
    }
    assert!(states(&mut short) == states(&mut free), "and so on");
}

/// The same on a driver.
pub fn on_driver(backend: &Backend) {
    not_half_made(backend);
}
