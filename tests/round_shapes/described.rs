//! What a description becomes: mass, errors, files, stand-ins for continuous detection, and the passes of a step.

use super::*;
use drystone::backend::RunnerExt;
use drystone::scenes::{Scene, file};
use drystone::world::Shape;
use std::f64::consts::PI;

/// Mass and principal moments as the device has them, in order.
fn masses(collider: Collider) -> (f64, [f64; 3]) {
    let mut world = World::new();
    let body = world.add(BodyDesc::dynamic().with(collider)).unwrap();
    let mut simulation = simulate(world);
    let bodies = simulation.plan().buffers.bodies;
    let record = simulation.runner().read_at(bodies, u64::from(body.index())).unwrap();
    let mut moments = record.inertia.as_dvec3().to_array();
    moments.sort_by(f64::total_cmp);
    (record.mass.into(), moments)
}

#[test]
fn mass_and_moments_are_those_of_the_formulas() {
    for (half, radius) in [(0.5f32, 0.4f32), (0.02, 1.0), (2.0, 0.1)] {
        let (h, r) = (f64::from(half), f64::from(radius));
        let mass = 2000.0 * PI * r * r * h;
        let across = mass * (3.0 * r * r + 4.0 * h * h) / 12.0;
        let cylinder = (mass, across, 0.5 * mass * r * r);
        let mass = mass / 3.0;
        let cone = (mass, mass * (12.0 * r * r + 12.0 * h * h) / 80.0, 0.3 * mass * r * r);
        for (collider, (mass, across, along)) in
            [(Collider::cylinder(half, radius), cylinder), (Collider::cone(half, radius), cone)]
        {
            let label = format!("{:?}", collider.shape);
            let (found, moments) = masses(collider);
            let mut expected = [across, across, along];
            expected.sort_by(f64::total_cmp);
            assert!((found / mass - 1.0).abs() < 1e-6, "{label}: {found} kg, not {mass}");
            for (found, expected) in moments.into_iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 1e-5, "{label}: {moments:?}");
            }
        }
    }
}

#[test]
fn a_cone_turns_about_a_quarter_of_its_height() {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    let half = 0.6;
    let body = BodyDesc::dynamic().at(Vec3::new(1.0, 2.0, 3.0)).spinning(Vec3::Z * 2.0);
    let body = world.add(body.with(Collider::cone(half, 0.4))).unwrap();
    let centre = Vec3::Y * (-0.5 * half);
    let mut simulation = simulate(world);
    run(&mut simulation, 1.5);
    let state = simulation.body(body).unwrap();
    let found = state.position + state.rotation * centre;
    assert!((found - Vec3::new(1.0, 2.0, 3.0) - centre).length() < 1e-3, "the centre of mass went to {found}");
    assert!((state.position - Vec3::new(1.0, 2.0, 3.0)).length() > 0.1, "the origin went around it");
}

#[test]
fn what_makes_no_sense_is_named() {
    for (field, collider) in [
        ("cylinder half_height", Collider::cylinder(0.0, 1.0)),
        ("cylinder half_height", Collider::cylinder(f32::NAN, 1.0)),
        ("cylinder radius", Collider::cylinder(1.0, -1.0)),
        ("cylinder radius", Collider::cylinder(1.0, 1e6)),
        ("cone half_height", Collider::cone(f32::INFINITY, 1.0)),
        ("cone radius", Collider::cone(1.0, 1e-7)),
    ] {
        let error = World::new().add(BodyDesc::dynamic().with(collider)).unwrap_err().to_string();
        assert!(error.contains(field), "{field}: {error}");
    }
    // The thinnest and the largest are taken, with continuous detection too.
    for collider in [Collider::cylinder(1e5, 1e-5), Collider::cone(1e-5, 1e5), Collider::cylinder(1e-5, 1e-5)] {
        let mut world = World::new();
        world.add(BodyDesc::fixed().continuous(true).with(collider.clone())).unwrap();
        world.add(BodyDesc::dynamic().weighing(1.0).inertia(Vec3::ONE).with(collider)).unwrap();
        let mut simulation = simulate(world);
        simulation.step(DT).unwrap();
    }
}

#[test]
fn files_keep_them() {
    let text = r#"{ "bodies": [
        { "kind": "static", "colliders": [{ "shape": "half_space" }] },
        { "position": [0, 1, 0], "colliders": [{ "shape": "cylinder", "half_height": 0.5, "radius": 0.25 }] },
        { "position": [2, 1, 0], "colliders": [{ "shape": "cone", "half_height": 0.75, "radius": 0.5 }] }
    ] }"#;
    let scene: Scene = file::parse(text, "three").unwrap();
    let again = file::parse(&file::to_text(&scene).unwrap(), "three").unwrap();
    for scene in [&scene, &again] {
        let shapes: Vec<Shape> =
            scene.world.handles().map(|h| scene.world.desc(h).unwrap().colliders[0].shape.clone()).collect();
        assert_eq!(shapes[1], Shape::Cylinder { half_height: 0.5, radius: 0.25 });
        assert_eq!(shapes[2], Shape::Cone { half_height: 0.75, radius: 0.5 });
    }
}

#[test]
fn worlds_without_them_have_no_passes_for_them() {
    let passes =
        |s: &Simulation| s.plan().recording.commands().iter().filter(|c| c.name().ends_with("_curved")).count();
    let mut world = World::new();
    world.add(BodyDesc::dynamic().with(Collider::cuboid(Vec3::ONE))).unwrap();
    let mut simulation = simulate(world);
    simulation.step(DT).unwrap();
    assert_eq!(passes(&simulation), 0);
    simulation.world_mut().add(BodyDesc::dynamic().at(Vec3::X * 5.0).with(Collider::cone(0.5, 0.5))).unwrap();
    simulation.step(DT).unwrap();
    assert_eq!((passes(&simulation), simulation.plan().capacities.hulls), (2, 0), "and no hulls stand in for them");
}

#[test]
fn continuous_ones_do_not_pass_a_thin_wall_and_roll_freely() {
    for collider in [Collider::cylinder(0.1, 0.05), Collider::cone(0.1, 0.08), Collider::cylinder(0.01, 0.1)] {
        for speed in [30.0, 100.0] {
            let mut world = World::new();
            world.set_gravity(Vec3::ZERO).unwrap();
            // Added before anything is continuous.
            let axis = Vec3::new(0.5, 0.0, 9.0);
            world.add(BodyDesc::fixed().at(axis).with(Collider::cylinder(2.0, 0.5))).unwrap();
            world.add(BodyDesc::fixed().with(Collider::cuboid(Vec3::new(0.05, 4.0, 4.0)))).unwrap();
            let shot = |z: f32| {
                let body = BodyDesc::dynamic().at(Vec3::new(-1.37, 0.0, z)).moving(Vec3::X * speed);
                body.spinning(Vec3::new(3.0, 20.0, 5.0)).with(collider.clone()).continuous(true)
            };
            let bodies = [world.add(shot(0.0)).unwrap(), world.add(shot(9.0)).unwrap()];
            let mut simulation = simulate(world);
            for _ in 0..20 {
                simulation.step(DT).unwrap();
                let [wall, drum] = bodies.map(|body| simulation.body(body).unwrap().position);
                assert!(wall.x < 0.05, "{:?} at {speed} m/s came to {wall}", collider.shape);
                // It may slide around the drum, or over its end.
                let inside = (drum - axis).with_y(0.0).length() < 0.5 && drum.y.abs() < 2.0;
                assert!(!inside, "{:?} at {speed} m/s came to {drum}", collider.shape);
            }
        }
    }
    // A continuous wheel is not stopped by the corners of what stands in for it.
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let (radius, speed) = (0.3, 4.0);
    let wheel = BodyDesc::dynamic().at(Vec3::Y * radius).turned(Quat::from_rotation_x(std::f32::consts::FRAC_PI_2));
    let wheel = wheel.moving(Vec3::X * speed).spinning(Vec3::Z * (-speed / radius)).continuous(true);
    let wheel = world.add(wheel.with(Collider::cylinder(0.2, radius))).unwrap();
    let mut simulation = simulate(world);
    run(&mut simulation, 5.0);
    let state = simulation.body(wheel).unwrap();
    assert!((state.linear_velocity.x / speed - 1.0).abs() < 0.01, "{}", state.linear_velocity);
    assert!((state.position.x / (5.0 * speed) - 1.0).abs() < 0.01, "{}", state.position);
}
