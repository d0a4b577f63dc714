//! Cylinders and cones at rest: standing, lying, stacked, and held by what is at an angle to them.

use super::*;
use drystone::backend::RunnerExt;
use drystone::scenes;
use drystone::world::Combine;

/// Points of every manifold.
fn points(simulation: &mut Simulation) -> Vec<u32> {
    let count = simulation.step(DT).unwrap().manifolds;
    let manifolds = simulation.plan().buffers.manifolds;
    simulation.runner().read_first(manifolds, u64::from(count)).unwrap().iter().map(|m| m.count).collect()
}

fn at_rest(simulation: &mut Simulation, body: BodyHandle) -> (Vec3, Quat) {
    let state = simulation.body(body).unwrap();
    assert!(state.linear_velocity.length() < 5e-3, "it moves at {}", state.linear_velocity);
    assert!(state.angular_velocity.length() < 2e-2, "it turns at {}", state.angular_velocity);
    (state.position, state.rotation)
}

#[test]
fn what_stands_on_its_base_has_four_points() {
    for (collider, rests) in [
        (Collider::cylinder(0.5, 0.4), 0.5),
        (Collider::cylinder(0.03, 0.4), 0.03),
        (Collider::cone(0.5, 0.4), 0.5),
        (Collider::cylinder(0.5, 0.1), 0.5),
    ] {
        for on_box in [false, true] {
            let mut world = World::new();
            let floor =
                if on_box { Collider::cuboid(Vec3::splat(4.0)).at(Vec3::Y * -2.0) } else { Collider::half_space() };
            world.add(BodyDesc::fixed().with(floor)).unwrap();
            let body = BodyDesc::dynamic().at(Vec3::Y * (rests + 0.01)).turned(Quat::from_rotation_y(0.3));
            let body = world.add(body.with(collider.clone())).unwrap();
            let mut simulation = simulate(world);
            run(&mut simulation, 3.0);
            assert_eq!(points(&mut simulation), [4], "{:?} on a box: {on_box}", collider.shape);
            let (before, _) = at_rest(&mut simulation, body);
            run(&mut simulation, 10.0);
            let (after, turn) = at_rest(&mut simulation, body);
            assert!((after.y - rests).abs() < 2e-3 && (after - before).length() < 1e-3, "{before} to {after}");
            assert!((turn * Vec3::Y).y > 0.99999, "it stands upright");
        }
    }
}

/// How far the bodies of a stack, put down up to `jitter` radii beside each other, go aside in half a minute.
fn stack(half: f32, radius: f32, count: u32, iterations: u32, jitter: f32) -> f32 {
    let mut world = scenes::floor(0.5).unwrap();
    let mut random = Random::new(17);
    let mut places = Vec::new();
    let bodies: Vec<BodyHandle> = (0..count)
        .map(|i| {
            let beside = Vec3::new(random.range(-1.0, 1.0), 0.0, random.range(-1.0, 1.0)) * (jitter * radius);
            let place = Vec3::Y * (half * (2 * i + 1) as f32) + beside;
            places.push(place);
            let body = BodyDesc::dynamic().at(place).turned(Quat::from_rotation_y(i as f32));
            world.add(body.with(Collider::cylinder(half, radius))).unwrap()
        })
        .collect();
    let settings = Settings::default().with(|s| s.iterations = iterations);
    let mut simulation = Simulation::new(world, settings, Device::Cpu { threads: Some(1) }).unwrap();
    run(&mut simulation, 30.0);
    let mut aside = 0.0f32;
    for (body, i) in bodies.iter().zip(0u32..) {
        let state = simulation.body(*body).unwrap();
        let expected = half * (2 * i + 1) as f32;
        assert!((state.position.y - expected).abs() < 0.1 * half, "{half} by {radius}: {i} at {}", state.position);
        aside = aside.max((state.position - places[i as usize]).with_y(0.0).length());
    }
    aside
}

#[test]
fn ten_coins_and_ten_drums_stand_for_half_a_minute() {
    for (half, radius) in [(0.5, 0.5), (0.05, 0.5), (0.5, 0.3), (0.01, 0.02)] {
        // In steps of 1/60 s coins of a centimetre fall 14% of their height: only a straight stack of them stands.
        let most = if half < 0.02 { 0 } else { 2 };
        for jitter in [0.0, 0.01, 0.05].into_iter().take(1 + most) {
            let aside = stack(half, radius, 10, 4, jitter);
            println!("ten of {half} by {radius}, {jitter} beside: {:e} of a radius aside", aside / radius);
            assert!(aside < 0.1 * radius, "{half} by {radius}, {jitter} beside: {aside} aside");
        }
    }
}

#[test]
fn a_cylinder_lies_still_in_a_v_of_two_slopes() {
    for on_box in [false, true] {
        let mut world = World::new();
        for side in [-1.0f32, 1.0] {
            let turn = Quat::from_rotation_z(side * 0.7);
            let collider = if on_box {
                Collider::cuboid(Vec3::new(6.0, 1.0, 6.0)).at(Vec3::Y * -0.5)
            } else {
                Collider::half_space()
            };
            world.add(BodyDesc::fixed().turned(turn).with(collider)).unwrap();
        }
        let radius = 0.5f32;
        let height = radius / 0.7f32.cos();
        let body = BodyDesc::dynamic()
            .at(Vec3::Y * (height + 0.01))
            .turned(Quat::from_rotation_x(std::f32::consts::FRAC_PI_2))
            .with(Collider::cylinder(0.8, radius));
        let body = world.add(body).unwrap();
        let mut simulation = simulate(world);
        run(&mut simulation, 5.0);
        let (place, _) = at_rest(&mut simulation, body);
        assert!((place - Vec3::Y * height).length() < 5e-3, "on boxes {on_box}: {place}, not {height}");
        assert_eq!(points(&mut simulation), [2, 2]);
    }
}

#[test]
fn cylinders_lie_on_cylinders_and_on_edges() {
    let lie = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    // Crossed: one on top of two that are parallel.
    let mut world = scenes::floor(0.5).unwrap();
    for x in [-0.8, 0.8] {
        world.add(BodyDesc::fixed().at(Vec3::new(x, 0.3, 0.0)).turned(lie).with(Collider::cylinder(1.0, 0.3))).unwrap();
    }
    let across = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    let crossed = BodyDesc::dynamic().at(Vec3::new(0.0, 0.91, 0.0)).turned(across);
    let crossed = world.add(crossed.with(Collider::cylinder(1.5, 0.3).rolling(0.01, 0.01))).unwrap();
    // In the groove between two that are parallel and touch.
    for x in [4.7, 5.3] {
        world.add(BodyDesc::fixed().at(Vec3::new(x, 0.3, 0.0)).turned(lie).with(Collider::cylinder(1.0, 0.3))).unwrap();
    }
    let groove = BodyDesc::dynamic().at(Vec3::new(5.0, 0.3 + 0.3 * 3f32.sqrt() + 0.005, 0.0)).turned(lie);
    let groove = world.add(groove.with(Collider::cylinder(1.0, 0.3))).unwrap();
    // On the edge of a box that stands on one of its own, across it.
    let tilted = Quat::from_rotation_z(std::f32::consts::FRAC_PI_4);
    for z in [-1.0, 1.0] {
        let edge = BodyDesc::fixed().at(Vec3::new(10.0, 0.0, z)).turned(tilted * Quat::IDENTITY);
        world
            .add(edge.turned(Quat::from_rotation_x(std::f32::consts::FRAC_PI_4)).with(Collider::cuboid(Vec3::ONE)))
            .unwrap();
    }
    let top = 0.5f32.sqrt();
    let on_edges = BodyDesc::dynamic().at(Vec3::new(10.0, top + 0.305, 0.0)).turned(lie);
    let on_edges = world.add(on_edges.with(Collider::cylinder(1.6, 0.3).rolling(0.01, 0.01))).unwrap();
    let mut simulation = simulate(world);
    run(&mut simulation, 5.0);
    for (body, height) in [(crossed, 0.9), (groove, 0.3 + 0.3 * 3f32.sqrt()), (on_edges, top + 0.3)] {
        let (place, _) = at_rest(&mut simulation, body);
        assert!((place.y - height).abs() < 4e-3, "{place}, not {height}");
    }
}

#[test]
fn a_heap_of_every_shape_comes_to_rest() {
    let mut world = scenes::floor(0.5).unwrap();
    let mut random = Random::new(3);
    for i in 0..120 {
        let collider = match i % 6 {
            0 | 1 => Collider::cylinder(random.range(0.1, 0.6), random.range(0.2, 0.5)),
            2 | 3 => Collider::cone(random.range(0.3, 0.6), random.range(0.2, 0.5)),
            4 => Collider::cuboid(Vec3::splat(0.6)),
            _ => Collider::capsule(0.3, 0.25),
        };
        // The floor has none of its own.
        let collider = collider.rolling(0.01, 0.01).friction_combine(Combine::Max);
        let place = Vec3::new((i % 4) as f32 * 1.4, 1.0 + (i / 16) as f32 * 1.5, (i / 4 % 4) as f32 * 1.4);
        world
            .add(BodyDesc::dynamic().at(place).turned(rotation(&mut random)).with(collider.rolling(0.01, 0.01)))
            .unwrap();
    }
    let bodies: Vec<BodyHandle> = world.handles().collect();
    let mut simulation = simulate(world);
    run(&mut simulation, 25.0);
    let (mut fast, mut lowest) = (0, f32::MAX);
    for body in bodies {
        let state = simulation.body(body).unwrap();
        fast += u32::from(state.linear_velocity.length() > 0.1);
        lowest = lowest.min(state.position.y);
        assert!(state.position.is_finite());
    }
    println!("a heap: {fast} still move, the lowest is at {lowest}");
    assert!(lowest > -0.05 && fast < 6, "{fast} still move, the lowest is at {lowest}");
}
