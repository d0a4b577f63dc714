//! What is said to bodies between steps, against closed forms, on every backend.

mod common;

use common::{Backend, Random, on_every_backend};
use drystone::glam::{DQuat, DVec3, Quat, Vec3};
use drystone::metrics::Metrics;
use drystone::state::Capacities;
use drystone::world::{BodyDesc, BodyHandle, Collider, JointDesc, JointHandle, World, WorldError};
use drystone::{EventKind, Settings, Simulation};

const DT: f32 = 1.0 / 60.0;

fn simulate(world: World, backend: &Backend) -> Simulation {
    Simulation::new(world, Settings::default(), backend.device()).unwrap()
}

/// A simulation of its own for each takes its time on Vulkan.
fn some_substeps(backend: &Backend) -> &'static [u32] {
    if matches!(backend, Backend::Cpu) { &[1, 3] } else { &[2] }
}

fn weightless() -> World {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    world
}

fn cube() -> Collider {
    Collider::cuboid(Vec3::ONE)
}

fn steps(simulation: &mut Simulation, count: u32) {
    for _ in 0..count {
        simulation.step(DT).unwrap();
    }
}

fn near(what: &str, is: Vec3, should: Vec3, tolerance: f32) {
    assert!((is - should).length() <= tolerance, "{what}: {is}, not {should}");
}

#[test]
fn a_force_acts_until_it_is_changed_and_one_for_a_step_only_for_that_step() {
    on_every_backend(|backend| {
        for &substeps in some_substeps(backend) {
            let mut world = weightless();
            let (force, torque) = (Vec3::new(600.0, 0.0, 0.0), Vec3::new(0.0, 40.0, 0.0));
            let lasting = world.add(BodyDesc::dynamic().pushed(force, torque).with(Collider::sphere(0.5))).unwrap();
            let once = world.add(BodyDesc::dynamic().at(Vec3::Z * 5.0).with(cube())).unwrap();
            let settings = Settings::default().with(|s| s.substeps = substeps);
            let mut simulation = Simulation::new(world, settings, backend.device()).unwrap();
            simulation.world_mut().apply_force(once, force, torque).unwrap();
            steps(&mut simulation, 30);
            let mass = simulation.world().mass(lasting).unwrap();
            let state = simulation.body(lasting).unwrap();
            let place = format!("{}, {substeps} sub-steps", backend.name());
            near(&place, state.linear_velocity, force * (0.5 / mass), 1e-4);
            // Backward Euler: the last of n steps of h is gone at full speed.
            let way = force / mass * (0.5 * 0.5 * (0.5 + DT / substeps as f32));
            near(&place, state.position, way, 1e-4);
            near(&place, state.angular_velocity, torque * (0.5 / (0.4 * mass * 0.25)), 1e-3);
            let state = simulation.body(once).unwrap();
            near(&place, state.linear_velocity, force * (DT / 1000.0), 1e-4);
            near(&place, state.angular_velocity, torque * (DT / (1000.0 / 6.0)), 1e-4);

            // A force for one step does not end the lasting one; setting it does.
            simulation.world_mut().apply_force(lasting, force, Vec3::ZERO).unwrap();
            steps(&mut simulation, 30);
            let gained = force * ((1.0 + DT) / mass);
            near(&place, simulation.body(lasting).unwrap().linear_velocity, gained, 1e-3);
            simulation.world_mut().set_force(lasting, Vec3::ZERO, Vec3::ZERO).unwrap();
            assert_eq!(simulation.world().force(lasting).unwrap(), (Vec3::ZERO, Vec3::ZERO));
            steps(&mut simulation, 30);
            near(&place, simulation.body(lasting).unwrap().linear_velocity, gained, 1e-3);
        }
    });
}

/// Velocities after impulses at points on a turned box, in double precision.
fn kicked(centre: DVec3, rotation: DQuat, mass: f64, moments: DVec3, pushes: &[(Vec3, Vec3)]) -> (DVec3, DVec3) {
    pushes.iter().fold((DVec3::ZERO, DVec3::ZERO), |(linear, angular), (push, point)| {
        let push = push.as_dvec3();
        let turn = (point.as_dvec3() - centre).cross(push);
        (linear + push / mass, angular + rotation * ((rotation.inverse() * turn) / moments))
    })
}

#[test]
fn impulses_and_forces_at_points_turn_bodies_as_levers_say_far_from_the_origin_too() {
    on_every_backend(|backend| {
        let mut random = Random::new(7);
        let mut vector = |size: f32| Vec3::new(random.unit() - 0.5, random.unit() - 0.5, random.unit() - 0.5) * size;
        for centre in [Vec3::ZERO, Vec3::new(4000.0, -2000.0, 1000.0)] {
            let rotation = Quat::from_scaled_axis(vector(4.0));
            let mut world = weightless();
            let block = BodyDesc::dynamic().turned(rotation).with(Collider::cuboid(Vec3::new(1.0, 0.5, 0.25)));
            let kick = world.add(block.clone().at(centre)).unwrap();
            let push = world.add(block.at(centre + Vec3::X * 8.0)).unwrap();
            let mass = f64::from(world.mass(kick).unwrap());
            let moments = DVec3::new(0.25 + 0.0625, 1.0 + 0.0625, 1.25) * (mass / 12.0);
            let mut simulation = simulate(world, backend);
            simulation.step(DT).unwrap();
            // Three of each: what is merged on the way must add up.
            let kicks: Vec<_> = (0..3).map(|_| (vector(20.0), centre + vector(1.0))).collect();
            for (impulse, point) in &kicks {
                simulation.world_mut().apply_impulse_at(kick, *impulse, *point).unwrap();
                let (force, point) = (*impulse / DT, *point + Vec3::X * 8.0);
                simulation.world_mut().apply_force_at(push, force, point).unwrap();
            }
            simulation.step(DT).unwrap();
            let (linear, angular) = kicked(centre.as_dvec3(), rotation.as_dquat(), mass, moments, &kicks);
            let tolerance = 2e-4 * angular.length() as f32 + 2e-6 * centre.length() / DT;
            for body in [kick, push] {
                let state = simulation.body(body).unwrap();
                let place = format!("{} at {centre}", backend.name());
                near(&place, state.linear_velocity, linear.as_vec3(), tolerance);
                // The step turns the body, and keeps the momentum at its middle.
                near(&place, state.angular_velocity, angular.as_vec3(), 0.02 * angular.length() as f32 + tolerance);
            }
        }
    });
}

#[test]
fn a_kinematic_body_is_at_its_target_after_the_step_and_stays_there() {
    on_every_backend(|backend| {
        for &substeps in some_substeps(backend) {
            let mut world = World::new();
            // Its collider is off its origin, and turned: targets are about the origin.
            let plate = Collider::cuboid(Vec3::new(4.0, 0.2, 4.0)).at(Vec3::new(0.5, 0.0, 0.0)).friction(1.0);
            let lift = world.add(BodyDesc::kinematic().with(plate)).unwrap();
            let rider = world.add(BodyDesc::dynamic().at(Vec3::Y * 0.6).with(cube().friction(1.0))).unwrap();
            let settings = Settings::default().with(|s| s.substeps = substeps);
            let mut simulation = Simulation::new(world, settings, backend.device()).unwrap();
            let (way, turn) = (Vec3::new(0.5, 0.3, 0.0), Quat::from_rotation_y(0.5));
            let mut last = Vec3::ZERO;
            for n in 1..=60 {
                // Starts and stops gently enough for friction to hold what lies on it.
                let t = n as f32 / 60.0;
                let part = t * t * (3.0 - 2.0 * t);
                simulation.world_mut().set_target(lift, way * part, Quat::IDENTITY.slerp(turn, part)).unwrap();
                simulation.step(DT).unwrap();
                let state = simulation.body(lift).unwrap();
                near(&format!("{}, step {n}", backend.name()), state.position, way * part, 1e-5);
                // The velocity is that of the centre of mass, which goes round the origin.
                let speed = (state.position - last) / DT;
                assert!((state.linear_velocity.y - speed.y).abs() < 1e-3, "{} on its way", state.linear_velocity);
                last = state.position;
            }
            steps(&mut simulation, 30);
            let state = simulation.body(lift).unwrap();
            near("there", state.position, way, 1e-5);
            assert!(state.rotation.angle_between(turn) < 1e-3, "{} not {turn}", state.rotation);
            assert_eq!(state.linear_velocity, Vec3::ZERO, "it stopped");
            let carried = simulation.body(rider).unwrap();
            near("carried along", carried.position, way + Vec3::Y * 0.6, 0.03);
            assert!(carried.rotation.angle_between(turn) < 0.05, "and turned along: {}", carried.rotation);
        }
    });
}

#[test]
fn targets_are_for_kinematic_bodies_and_nothing_that_is_not_finite_is_taken() {
    let mut world = World::new();
    let body = world.add(BodyDesc::dynamic().with(cube())).unwrap();
    let lift = world.add(BodyDesc::kinematic().at(Vec3::X * 3.0).with(cube())).unwrap();
    let error = world.set_target(body, Vec3::ZERO, Quat::IDENTITY).unwrap_err();
    assert!(matches!(error, WorldError::WrongKind { .. }) && error.to_string().contains("Kinematic"), "{error}");
    for (word, error) in [
        ("target position", world.set_target(lift, Vec3::NAN, Quat::IDENTITY)),
        ("target rotation", world.set_target(lift, Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 3.0))),
        ("force", world.set_force(body, Vec3::INFINITY, Vec3::ZERO)),
        ("torque", world.apply_force(body, Vec3::ZERO, Vec3::NAN)),
        ("point", world.apply_force_at(body, Vec3::ZERO, Vec3::NAN)),
        ("impulse", world.apply_impulse_at(body, Vec3::NAN, Vec3::ZERO)),
        ("point", world.apply_impulse_at(body, Vec3::ZERO, Vec3::INFINITY)),
    ] {
        let error = error.unwrap_err().to_string();
        assert!(error.contains(word), "`{word}` in: {error}");
    }
    let mut simulation = simulate(world, &Backend::Cpu);
    simulation.world_mut().set_gravity(Vec3::ZERO).unwrap();
    simulation.step(DT).unwrap();
    assert_eq!(simulation.body(body).unwrap().linear_velocity, Vec3::ZERO, "nothing of it got through");
}

#[test]
fn the_last_word_counts_and_impulses_after_it_add_up() {
    on_every_backend(|backend| {
        let mut world = weightless();
        let body = world.add(BodyDesc::dynamic().with(cube())).unwrap();
        // Said before there is a simulation: not forgotten.
        world.apply_impulse(body, Vec3::X * 1000.0, Vec3::ZERO).unwrap();
        let mut simulation = simulate(world, backend);
        simulation.step(DT).unwrap();
        near(&backend.name(), simulation.body(body).unwrap().linear_velocity, Vec3::X, 1e-4);

        let world = simulation.world_mut();
        world.apply_impulse(body, Vec3::splat(1e6), Vec3::splat(1e6)).unwrap();
        world.set_velocity(body, Vec3::Y, Vec3::ZERO).unwrap();
        world.apply_impulse(body, Vec3::Y * 1000.0, Vec3::ZERO).unwrap();
        world.apply_impulse(body, Vec3::Y * 1000.0, Vec3::ZERO).unwrap();
        // At the centre of where it will be: no turn.
        world.apply_impulse_at(body, Vec3::Z * 1000.0, Vec3::new(50.0, 0.0, 0.0)).unwrap();
        world.set_pose(body, Vec3::new(50.0, 0.0, 0.0), Quat::IDENTITY).unwrap();
        simulation.step(DT).unwrap();
        let state = simulation.body(body).unwrap();
        near(&backend.name(), state.linear_velocity, Vec3::new(0.0, 3.0, 1.0), 1e-3);
        near(&backend.name(), state.angular_velocity, Vec3::ZERO, 1e-4);
        near(&backend.name(), state.position, Vec3::new(50.0, 3.0 * DT, DT), 1e-4);
    });
}

#[test]
fn a_step_that_is_repeated_applies_edits_once() {
    on_every_backend(|backend| {
        let run = |capacities: Capacities| {
            let mut world = World::new();
            world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
            let handles: Vec<BodyHandle> = (0..40)
                .map(|i| world.add(BodyDesc::dynamic().at(Vec3::new(i as f32 * 0.9, 0.5, 0.0)).with(cube())).unwrap())
                .collect();
            let mut simulation =
                Simulation::with_capacities(world, Settings::default(), backend.device(), capacities).unwrap();
            for &h in &handles {
                simulation.world_mut().apply_impulse(h, Vec3::new(0.0, 0.0, 500.0), Vec3::ZERO).unwrap();
                simulation.world_mut().apply_force(h, Vec3::new(0.0, 0.0, 500.0), Vec3::ZERO).unwrap();
            }
            let report = simulation.step(DT).unwrap();
            steps(&mut simulation, 5);
            (report, Metrics::of(&mut simulation).unwrap())
        };
        let large =
            Capacities { bodies: 64, colliders: 64, pairs: 5000, manifolds: 2000, edits: 500, ..Default::default() };
        let (report, expected) = run(large);
        assert_eq!((report.grown, report.events.len()), (0, 0), "large enough");
        let (report, found) = run(Capacities { pairs: 1, manifolds: 1, edits: 1, ..large });
        assert!(report.grown >= 1, "the path is taken");
        for list in ["pairs", "manifolds", "edits"] {
            let grown = report
                .events
                .iter()
                .any(|e| matches!(e.kind, EventKind::Grown { list: l, from: 1, to } if l == list && to > 1));
            assert!(grown, "{list} grew: {:?}", report.events);
        }
        assert_eq!(found.pose_hash, expected.pose_hash, "{}", backend.name());
    });
}

#[test]
fn colliders_of_a_removed_body_do_not_haunt_its_slot() {
    on_every_backend(|backend| {
        let mut world = weightless();
        let two = BodyDesc::dynamic().with(cube().at(Vec3::X * -2.0)).with(cube().at(Vec3::X * 2.0));
        let gone = world.add(two).unwrap();
        let mut simulation = simulate(world, backend);
        simulation.step(DT).unwrap();
        simulation.world_mut().remove(gone).unwrap();
        let one = simulation.world_mut().add(BodyDesc::dynamic().with(cube())).unwrap();
        assert_eq!(one.index(), gone.index(), "the same slot");
        // In the way of either collider of the one that is gone.
        for x in [-2.0, 2.0] {
            simulation.world_mut().add(BodyDesc::dynamic().at(Vec3::X * x).with(cube())).unwrap();
        }
        assert_eq!(simulation.body(one).unwrap().position, Vec3::ZERO, "known before the step");
        assert_eq!(Metrics::of(&mut simulation).unwrap().quarantined, 0);
        assert_eq!(simulation.step(DT).unwrap().manifolds, 0, "{}", backend.name());
        assert_eq!(simulation.bodies().unwrap().len(), 3);
    });
}

#[test]
fn ten_thousand_edits_of_every_kind_arrive() {
    on_every_backend(|backend| {
        let mut world = weightless();
        let n = if matches!(backend, Backend::Cpu) { 10_000 } else { 1000 };
        let place = |i: u32| Vec3::new((i % 100) as f32 * 3.0, (i / 100) as f32 * 3.0, 0.0);
        let handles: Vec<_> =
            (0..n).map(|i| world.add(BodyDesc::dynamic().at(place(i)).with(cube())).unwrap()).collect();
        let mut simulation = simulate(world, backend);
        for (i, &h) in (0..n).zip(&handles) {
            let world = simulation.world_mut();
            match i % 5 {
                0 => world.apply_impulse(h, Vec3::Z * 1000.0, Vec3::ZERO).unwrap(),
                1 => world.set_velocity(h, Vec3::Z, Vec3::ZERO).unwrap(),
                2 => world.apply_impulse_at(h, Vec3::Z * 1000.0, place(i)).unwrap(),
                3 => world.apply_force(h, Vec3::Z * 1000.0 / DT, Vec3::ZERO).unwrap(),
                _ => {
                    world.remove(h).unwrap();
                    world.add(BodyDesc::dynamic().at(place(i)).moving(Vec3::Z).with(Collider::sphere(0.5))).unwrap();
                }
            }
        }
        steps(&mut simulation, 2);
        let states = simulation.bodies().unwrap();
        assert_eq!(states.len(), n as usize);
        for (i, (_, state)) in (0..n).zip(states) {
            let what = format!("{} body {i}", backend.name());
            near(&what, state.linear_velocity, Vec3::Z, 1e-3);
            near(&what, state.position, place(i) + Vec3::Z * 2.0 * DT, 1e-3);
        }
    });
}

#[test]
fn a_given_inertia_is_the_one_that_turns() {
    let mut world = weightless();
    let moments = Vec3::new(2.0, 3.0, 4.0);
    // No collider at all; one whose own inertia is another; one that is given both.
    let bare = world.add(BodyDesc::dynamic().weighing(5.0).inertia(moments)).unwrap();
    let boxed = world.add(BodyDesc::dynamic().at(Vec3::X * 5.0).inertia(moments).with(cube())).unwrap();
    let both = BodyDesc::dynamic().at(Vec3::X * 9.0).weighing(7.0).inertia(moments);
    let both = world.add(both.with(Collider::sphere(0.5).at(Vec3::Y))).unwrap();
    assert_eq!([bare, boxed, both].map(|h| world.mass(h).unwrap()), [5.0, 1000.0, 7.0]);
    let mut simulation = simulate(world, &Backend::Cpu);
    for h in [bare, boxed, both] {
        simulation.world_mut().apply_impulse(h, Vec3::ZERO, Vec3::new(0.0, 0.0, 0.4)).unwrap();
    }
    simulation.step(DT).unwrap();
    for h in [bare, boxed, both] {
        near("spin", simulation.body(h).unwrap().angular_velocity, Vec3::Z * 0.1, 1e-5);
    }
}

#[test]
fn gravity_scales_groups_and_frictions_reach_the_kernels() {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space().frictions(1.0, 1.0).groups(1, 1))).unwrap();
    let on_plane = |z: f32| BodyDesc::dynamic().at(Vec3::new(0.0, 0.5, z));
    let sticky = || cube().frictions(0.25, 0.01).groups(1, 1);
    let holds = world.add(on_plane(0.0).with(sticky())).unwrap();
    let slides = world.add(on_plane(3.0).with(sticky())).unwrap();
    let ghost = world.add(on_plane(6.0).with(cube().groups(2, 2))).unwrap();
    let floats = world.add(BodyDesc::dynamic().at(Vec3::Y * 50.0).gravity_scale(0.0).with(cube())).unwrap();
    let rises = world.add(BodyDesc::dynamic().at(Vec3::Y * 60.0).gravity_scale(-0.5).with(cube())).unwrap();
    let mut simulation = simulate(world, &Backend::Cpu);
    steps(&mut simulation, 60);
    assert!(simulation.body(ghost).unwrap().position.y < -3.0, "it fell through");
    assert_eq!(simulation.body(floats).unwrap().position, Vec3::Y * 50.0);
    near("rises", simulation.body(rises).unwrap().linear_velocity, Vec3::Y * 4.905, 2e-3);

    // The floor tilts by 0.3, whose tangent is 0.309: sqrt(0.25 * 1) holds; once it slides, sqrt(0.01 * 1) does not.
    let tilt = 0.3f32;
    let world = simulation.world_mut();
    world.set_gravity(Vec3::new(-tilt.sin(), -tilt.cos(), 0.0) * 9.81).unwrap();
    world.set_velocity(slides, Vec3::X * -1.0, Vec3::ZERO).unwrap();
    steps(&mut simulation, 60);
    let slipped = simulation.body(holds).unwrap().position.x;
    assert!(slipped.abs() < 0.02, "static friction holds, not {slipped} m");
    let speed = -simulation.body(slides).unwrap().linear_velocity.x;
    let expected = 1.0 + 9.81 * (tilt.sin() - 0.1 * tilt.cos());
    assert!((speed - expected).abs() < 0.1 * expected, "dynamic friction: {speed} m/s, not {expected}");
}

/// Guests that come and go: balls side by side above a floor, the first ones in pairs with a joint.
fn invite(world: &mut World, bodies: u32, joints: u32) -> (Vec<BodyHandle>, Vec<JointHandle>) {
    let at = |i: u32| Vec3::new((i % 40) as f32 * 1.5, 0.5, (i / 40) as f32 * 1.5);
    let add = |i: u32| world.add(BodyDesc::dynamic().at(at(i)).with(Collider::sphere(0.5))).unwrap();
    let guests: Vec<_> = (0..bodies).map(add).collect();
    let middle = Vec3::X * 0.75;
    let join = |i: usize| JointDesc::ball(guests[2 * i], guests[2 * i + 1]).anchors(middle, -middle);
    let joints = (0..joints as usize).map(|i| world.add_joint(join(i)).unwrap()).collect();
    (guests, joints)
}

#[test]
fn a_thousand_bodies_and_two_hundred_joints_come_and_go_in_every_frame() {
    on_every_backend(|backend| {
        let cpu = matches!(backend, Backend::Cpu);
        let (bodies, joints, frames) = if cpu { (1000, 200, 300) } else { (200, 40, 12) };
        let mut world = World::new();
        world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
        let stays = world.add(BodyDesc::dynamic().at(Vec3::new(-5.0, 0.5, 0.0)).with(cube())).unwrap();
        let mut guests = invite(&mut world, bodies, joints);
        let mut simulation = simulate(world, backend);
        // Slots of what was removed in a frame are free in the next: twice as many are there at most.
        let mut settled = None;
        for frame in 0..frames {
            let (old_bodies, old_joints) = guests;
            let world = simulation.world_mut();
            old_joints.iter().for_each(|joint| world.remove_joint(*joint).unwrap());
            old_bodies.iter().for_each(|body| world.remove(*body).unwrap());
            guests = invite(world, bodies, joints);
            let place = format!("{}, frame {frame}", backend.name());
            // Handles of before are refused, although others have their slots.
            for old in [old_bodies[0], old_bodies[bodies as usize - 1]] {
                assert!(matches!(world.desc(old), Err(WorldError::StaleBody { .. })), "{place}: {old:?}");
                assert!(
                    world.apply_impulse(old, Vec3::Y, Vec3::ZERO).is_err() && world.remove(old).is_err(),
                    "{place}"
                );
            }
            assert!(world.joint(old_joints[0]).is_err() && world.remove_joint(old_joints[0]).is_err(), "{place}");
            simulation.step(DT).unwrap();
            assert_eq!(simulation.world().len(), bodies as usize + 2, "{place}");
            assert_eq!(simulation.world().joints().count(), joints as usize, "{place}");
            let bytes: u64 = simulation.memory().iter().map(|m| m.bytes).sum();
            let now = (simulation.plan().capacities, bytes);
            if frame >= 3 {
                assert_eq!(*settled.get_or_insert(now), now, "{place}: nothing grows any more");
            }
        }
        steps(&mut simulation, 30);
        let rests = simulation.body(stays).unwrap();
        near(&backend.name(), rests.position, Vec3::new(-5.0, 0.5, 0.0), 2e-3);
        let guest = simulation.body(guests.0[bodies as usize / 2]).unwrap();
        assert!((guest.position.y - 0.5).abs() < 5e-3, "{}: {guest:?}", backend.name());
    });
}
