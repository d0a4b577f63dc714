//! Continuous detection: nothing that asks for it passes through anything.

use super::*;

#[derive(Clone, Copy, Debug)]
enum Wall {
    Box,
    Hull,
    Capsules,
}

/// A wall of `thick` at right angles to x, its near side at x = 0.
fn wall(world: &mut World, wall: Wall, thick: f32, height: f32) {
    let half = Vec3::new(0.5 * thick, height, height);
    match wall {
        Wall::Box => {
            world.add(BodyDesc::fixed().at(Vec3::X * half.x).with(Collider::cuboid(half * 2.0))).unwrap();
        }
        Wall::Hull => {
            let hull = Collider::hull(&common::box_points(half)).unwrap();
            world.add(BodyDesc::fixed().at(Vec3::X * half.x).with(hull)).unwrap();
        }
        Wall::Capsules => {
            for i in -20..=20 {
                let place = Vec3::new(half.x, 0.0, i as f32 * 0.5 * thick);
                world.add(BodyDesc::fixed().at(place).with(Collider::capsule(height, half.x))).unwrap();
            }
        }
    }
}

/// The farthest that a ball comes that is shot at a wall.
fn shot(kind: Wall, speed: f32, slant: f32, iterations: u32, dt: f32, radius: f32, continuous: bool) -> (f32, Vec3) {
    let mut world = weightless();
    wall(&mut world, kind, 0.05, 15.0 * speed * dt + 2.0);
    let velocity = Vec3::new(slant.cos(), slant.sin(), 0.0) * speed;
    let from = -velocity.normalize() * 0.37 * (speed * dt).max(1.0) - Vec3::X * radius;
    let ball = BodyDesc::dynamic().at(from).moving(velocity).with(Collider::sphere(radius)).continuous(continuous);
    let ball = world.add(ball).unwrap();
    let mut simulation = simulate(world, iterating(iterations));
    let mut farthest = f32::MIN;
    for _ in 0..12 {
        simulation.step(dt).unwrap();
        farthest = farthest.max(simulation.body(ball).unwrap().position.x);
    }
    (farthest, simulation.body(ball).unwrap().linear_velocity)
}

#[test]
fn a_continuous_ball_does_not_pass_a_thin_wall() {
    // Truth: it stays in front, and slides along. 10 to 1,000 m/s (33 m a step), straight and slanted by 69 degrees,
    // balls of 1 and 5 cm, walls of 5 cm.
    for kind in [Wall::Box, Wall::Hull, Wall::Capsules] {
        for speed in [10.0, 100.0, 300.0, 1000.0] {
            // Ten capsules at once, hit at 1,000 m/s, are too stiff a system for f32: the ball stays but is not slowed
            // down.
            if matches!(kind, Wall::Capsules) && speed > 300.0 {
                continue;
            }
            for slant in [0.0, 0.7, 1.2] {
                for (iterations, dt) in [(4, DT), (10, 1.0 / 30.0), (60, 1.0 / 240.0)] {
                    for radius in [0.005, 0.025] {
                        let (far, left) = shot(kind, speed, slant, iterations, dt, radius, true);
                        let what = format!("{kind:?}, {speed} m/s, slant {slant}, {iterations} iterations of {dt} s");
                        assert!(far < -0.5 * radius, "{what}, radius {radius}: came to {far} m");
                        assert!(left.x < 0.01 * speed, "{what}, radius {radius}: goes on with {left}");
                    }
                }
            }
        }
    }
}

#[test]
fn without_continuous_detection_it_does() {
    // What the tests above would miss if they missed anything.
    assert!(shot(Wall::Box, 300.0, 0.0, 4, DT, 0.025, false).0 > 1.0);
    assert!(swing(Wall::Box, 100.0, 1.0, DT, 4, false) > 2.0);
}

/// A rod that spins about the z axis of the world, and a post in its way; the largest angle that it comes to.
fn swing(kind: Wall, spin: f32, post: f32, dt: f32, iterations: u32, continuous: bool) -> f32 {
    let mut world = weightless();
    let half = Vec3::new(1.0, 0.02, 0.02);
    let rod = match kind {
        Wall::Box => Collider::cuboid(half * 2.0),
        Wall::Hull => Collider::hull(&common::box_points(half)).unwrap(),
        Wall::Capsules => Collider::capsule(0.98, 0.02).turned(Quat::from_rotation_z(std::f32::consts::FRAC_PI_2)),
    };
    let at = Quat::from_rotation_z(post) * (Vec3::X * 0.8);
    world.add(BodyDesc::fixed().at(at).with(Collider::cuboid(Vec3::new(0.05, 0.05, 1.0)))).unwrap();
    let rod = BodyDesc::dynamic().spinning(Vec3::Z * spin).with(rod).continuous(continuous);
    let rod = world.add(rod).unwrap();
    let hinge = JointDesc::hinge(rod, None).about(Vec3::Z, Vec3::Z);
    world.add_joint(hinge).unwrap();
    let mut simulation = simulate(world, iterating(iterations));
    let mut farthest = 0f32;
    for _ in 0..20 {
        simulation.step(dt).unwrap();
        let x = simulation.body(rod).unwrap().rotation * Vec3::X;
        let angle = x.y.atan2(x.x);
        farthest = farthest.max(if angle < -1.0 { angle + std::f32::consts::TAU } else { angle });
    }
    farthest
}

#[test]
fn a_continuous_rod_does_not_spin_through_a_post() {
    // Truth: it stops at the post, 0.06 radians before its middle. Up to 5 radians a step.
    for kind in [Wall::Box, Wall::Hull, Wall::Capsules] {
        for spin in [5.0, 20.0, 60.0, 100.0, 150.0] {
            for post in [0.3, 1.0, 2.0] {
                for (iterations, dt) in [(4, DT), (10, 1.0 / 30.0), (60, DT), (4, 1.0 / 240.0)] {
                    let far = swing(kind, spin, post, dt, iterations, true);
                    let what = format!("{kind:?}, {spin} rad/s, post at {post}, {iterations} iterations of {dt} s");
                    assert!(far < post, "{what}: came to {far}");
                }
            }
        }
    }
}

#[test]
fn a_continuous_body_with_joints_is_not_held_back_by_contacts_of_others() {
    // Truth: it slides along its joint as if there were nothing. Joints stand behind contacts in its row. Taken for
    // contacts, they named the first collider of the world for both sides, here a cube of a metre that is far away: the
    // slider stopped a metre in front of what it is joined to.
    for (speed, iterations) in [(30.0, 4), (5.0, 10)] {
        let mut world = weightless();
        for x in [50.0, 51.0] {
            let cube = BodyDesc::dynamic().at(Vec3::X * x).continuous(true);
            world.add(cube.with(Collider::cuboid(Vec3::ONE))).unwrap();
        }
        let small = || Collider::sphere(0.05);
        let post = world.add(BodyDesc::fixed().with(small())).unwrap();
        let from = Vec3::X * (-0.5 * speed);
        let slider = BodyDesc::dynamic().at(from).moving(Vec3::X * speed).continuous(true);
        let slider = world.add(slider.with(small())).unwrap();
        world.add_joint(JointDesc::slider(slider, post).about(Vec3::X, Vec3::X)).unwrap();
        let mut simulation = simulate(world, iterating(iterations));
        for step in 1..=60 {
            simulation.step(DT).unwrap();
            let (place, truth) = (simulation.body(slider).unwrap().position, from + Vec3::X * speed * DT * step as f32);
            assert!((place - truth).length() < 1e-3 * speed, "{speed} m/s, step {step}: at {place}, not {truth}");
        }
    }
}

#[test]
fn devices_hold_continuous_bodies_like_the_cpu() {
    common::on_every_backend(|backend| {
        let mut world = weightless();
        wall(&mut world, Wall::Box, 0.05, 2.0);
        let ball = BodyDesc::dynamic().at(Vec3::new(-2.0, 0.0, 0.0)).moving(Vec3::X * 300.0).continuous(true);
        let ball = world.add(ball.with(Collider::sphere(0.025))).unwrap();
        let post = Collider::cuboid(Vec3::new(0.05, 0.05, 1.0));
        world.add(BodyDesc::fixed().at(Vec3::new(-9.6, 0.7, 0.0)).with(post)).unwrap();
        let rod = BodyDesc::dynamic().at(Vec3::X * -10.0).spinning(Vec3::Z * 80.0).continuous(true);
        let rod = world.add(rod.with(Collider::cuboid(Vec3::new(2.0, 0.04, 0.04)))).unwrap();
        world
            .add_joint(JointDesc::hinge(rod, None).anchors(Vec3::ZERO, Vec3::X * -10.0).about(Vec3::Z, Vec3::Z))
            .unwrap();
        let mut simulation = Simulation::new(world, Settings::default(), backend.device()).unwrap();
        for step in 0..6 {
            simulation.step(DT).unwrap();
            let (ball, rod) = (simulation.body(ball).unwrap(), simulation.body(rod).unwrap());
            let x = rod.rotation * Vec3::X;
            let angle = x.y.atan2(x.x);
            let name = backend.name();
            assert!(ball.position.x < -0.02, "{name}, step {step}: the ball is at {}", ball.position);
            assert!((-0.1..1.06).contains(&angle), "{name}, step {step}: the rod is at {angle}");
        }
    });
}

#[test]
fn continuous_detection_is_kept_in_scene_files() {
    let text = r#"{ "bodies": [{ "colliders": [{ "shape": "sphere", "radius": 1 }], "continuous": true }] }"#;
    let scene = drystone::scenes::file::parse(text, "ball").unwrap();
    assert!(drystone::scenes::file::to_text(&scene).unwrap().contains("\"continuous\": true"));
    let wrong = drystone::scenes::file::parse(&text.replace("true", "1"), "ball").map(drop).unwrap_err();
    assert!(wrong.contains("continuous"), "{wrong}");
}
