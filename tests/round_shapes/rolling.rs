//! Cylinders and cones that roll: the truth is that of a rigid body on a plane.

use super::*;
use drystone::world::BodyKind;

/// A cylinder or cone on its side on a plane that falls by `angle` along x.
fn incline(angle: f32, on_box: bool) -> (World, Quat) {
    let mut world = World::new();
    let turn = Quat::from_rotation_z(-angle);
    let floor = if on_box {
        BodyDesc::fixed()
            .at(turn * Vec3::new(40.0, -0.5, 0.0))
            .turned(turn)
            .with(Collider::cuboid(Vec3::new(100.0, 1.0, 10.0)).friction(1.0))
    } else {
        BodyDesc::fixed().turned(turn).with(Collider::half_space().friction(1.0))
    };
    world.add(floor).unwrap();
    (world, turn)
}

/// A cylinder that lies along z.
fn lying(half: f32, radius: f32) -> BodyDesc {
    BodyDesc::dynamic()
        .turned(Quat::from_rotation_x(std::f32::consts::FRAC_PI_2))
        .with(Collider::cylinder(half, radius).friction(1.0))
}

#[test]
fn a_cylinder_rolls_down_a_slope_at_two_thirds_of_what_slides() {
    for on_box in [false, true] {
        for angle in [0.05, 0.2, 0.4] {
            for (half, radius) in [(0.5, 0.5), (1.0, 0.2), (0.05, 0.5)] {
                let (mut world, turn) = incline(angle, on_box);
                let body = lying(half, radius);
                let rolled = turn * body.rotation;
                let body = world.add(body.at(turn * Vec3::new(0.0, radius, 0.0)).turned(rolled)).unwrap();
                let mut simulation = simulate(world);
                run(&mut simulation, 0.5);
                let first = simulation.body(body).unwrap();
                run(&mut simulation, 1.0);
                let last = simulation.body(body).unwrap();
                let along = turn * Vec3::X;
                let found = (last.linear_velocity - first.linear_velocity).dot(along);
                let expected = 2.0 / 3.0 * G * angle.sin();
                let label = format!("slope {angle}, {half} by {radius}, box {on_box}");
                println!("{label}: {} of the truth", found / expected);
                assert!((found / expected - 1.0).abs() < 0.02, "{label}: {found}, not {expected}");
                let spin = last.angular_velocity.length() * radius / last.linear_velocity.length();
                assert!((spin - 1.0).abs() < 0.01, "{label}: it slips, {spin}");
            }
        }
    }
}

#[test]
fn a_cylinder_keeps_rolling_without_a_bump() {
    for on_box in [false, true] {
        for (half, radius, speed) in [(0.5, 0.5, 3.0), (0.2, 0.1, 1.0), (0.05, 0.5, 2.0)] {
            let mut world = World::new();
            let floor = if on_box {
                BodyDesc::fixed().at(Vec3::new(150.0, -0.5, 0.0)).with(Collider::cuboid(Vec3::new(800.0, 1.0, 100.0)))
            } else {
                BodyDesc::fixed().with(Collider::half_space())
            };
            world.add(floor).unwrap();
            let body =
                lying(half, radius).at(Vec3::Y * radius).moving(Vec3::X * speed).spinning(Vec3::Z * (-speed / radius));
            let body = world.add(body).unwrap();
            let mut simulation = simulate(world);
            let turns = 100.0;
            let seconds = turns * 2.0 * std::f32::consts::PI * radius / speed;
            let (mut last, mut hop) = (f32::MAX, 0.0f32);
            for step in 0..(seconds / DT) as u32 {
                simulation.step(DT).unwrap();
                let height = simulation.body(body).unwrap().position.y;
                if step > 30 {
                    hop = hop.max((height - last).abs() / radius);
                }
                last = height;
            }
            let state = simulation.body(body).unwrap();
            let left = state.linear_velocity.x / speed;
            println!("{half} by {radius} at {speed}, box {on_box}: {left} left, hops by {hop:e} of a radius");
            assert!((left - 1.0).abs() < 0.01, "{half} by {radius}: {left} of its speed left");
            // A polygon of 32 sides would hop by 5e-3.
            assert!(hop < 2e-4, "{half} by {radius} hops by {hop} of a radius in a step");
            let straight = state.position.z.abs() / (speed * seconds);
            // Nothing holds the way a disc heads: rounding turns it, the more the farther it is from the origin.
            assert!(straight < 0.03, "{half} by {radius} went aside by {straight} of its way");
        }
    }
}

#[test]
fn a_cone_on_its_side_rolls_in_a_circle() {
    let (half, radius) = (0.5f32, 0.3f32);
    let slant = radius.hypot(2.0 * half);
    // Half of the angle at the apex: so much the axis rises from the ground.
    let rise = (radius / (2.0 * half)).atan();
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space().friction(1.0))).unwrap();
    // The apex at the origin, the axis towards +x and up; the base is where -y was.
    let axis = Vec3::new(rise.cos(), rise.sin(), 0.0);
    let turn = Quat::from_rotation_arc(-Vec3::Y, axis);
    let precession = 1.5f32;
    // Without slipping the lowest generator is still, so the spin is along it.
    let spin = precession * rise.cos() / rise.sin();
    let angular = Vec3::Y * precession - axis * (precession / rise.sin());
    assert!((angular.y).abs() < 1e-5 && (angular.length() - spin).abs() < 1e-4, "{angular}");
    let middle = axis * half;
    let centre = axis * (1.5 * half);
    let body = BodyDesc::dynamic()
        .at(middle)
        .turned(turn)
        .moving(angular.cross(centre))
        .spinning(angular)
        .with(Collider::cone(half, radius).friction(1.0));
    let body = world.add(body).unwrap();
    let mut simulation = simulate(world);
    let round = 2.0 * std::f32::consts::PI / precession;
    let mut turned = 0.0f32;
    let mut before = 0.0f32;
    for _ in 0..(3.0 * round / DT) as u32 {
        simulation.step(DT).unwrap();
        let state = simulation.body(body).unwrap();
        let apex = state.position + state.rotation * Vec3::Y * half;
        assert!(apex.length() < 0.15 * slant, "the apex went to {apex}");
        let angle = (-state.position.z).atan2(state.position.x);
        let step =
            (angle - before + std::f32::consts::PI).rem_euclid(2.0 * std::f32::consts::PI) - std::f32::consts::PI;
        turned += step;
        before = angle;
        let up = (state.rotation * -Vec3::Y).y;
        assert!((up - rise.sin()).abs() < 0.02, "its side leaves the ground: {up}, not {}", rise.sin());
    }
    let expected = 3.0 * 2.0 * std::f32::consts::PI;
    println!("a cone went round by {} of the truth", turned / expected);
    assert!((turned.abs() / expected - 1.0).abs() < 0.05, "it went round by {turned}, not {expected}");
}

/// Kinetic and potential energy of a body.
fn energy(simulation: &mut Simulation, body: BodyHandle, moments: Vec3, mass: f32) -> f32 {
    let state = simulation.body(body).unwrap();
    let spin = state.rotation.inverse() * state.angular_velocity;
    0.5 * mass * state.linear_velocity.length_squared() + 0.5 * (moments * spin).dot(spin) + mass * G * state.position.y
}

#[test]
fn a_spinning_coin_gains_no_energy() {
    let (half, radius) = (0.05f32, 0.5f32);
    let mass = 1000.0 * 2.0 * half * std::f32::consts::PI * radius * radius;
    let across = mass * (radius * radius / 4.0 + half * half / 3.0);
    let moments = Vec3::new(across, 0.5 * mass * radius * radius, across);
    for (tilt, spin) in [(0.1f32, 10.0), (0.6, 12.0), (1.5, 15.0), (0.02, 4.0)] {
        let mut world = World::new();
        world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
        // On its rim, and spinning about the vertical.
        let height = radius * tilt.sin() + half * tilt.cos() + 0.001;
        let body = BodyDesc::dynamic()
            .at(Vec3::Y * height)
            .turned(Quat::from_rotation_x(tilt))
            .spinning(Vec3::Y * spin)
            .with(Collider::cylinder(half, radius));
        let body = world.add(body).unwrap();
        let mut simulation = simulate(world);
        let start = energy(&mut simulation, body, moments, mass);
        let mut most = start;
        for _ in 0..1200 {
            simulation.step(DT).unwrap();
            most = most.max(energy(&mut simulation, body, moments, mass));
        }
        let last = simulation.body(body).unwrap();
        println!("tilt {tilt}, spin {spin}: at most {} of its energy, height {}", most / start, last.position.y);
        assert!(most < 1.01 * start, "tilt {tilt}: {most} J of {start} J");
        assert!(last.position.y > 0.9 * half && last.position.is_finite(), "it is at {}", last.position);
    }
}

#[test]
fn a_cylinder_rolls_over_seams_and_off_an_edge() {
    let mut world = World::new();
    for i in 0..20 {
        let place = Vec3::new(i as f32, -0.5, 0.0);
        world.add(BodyDesc::fixed().at(place).with(Collider::cuboid(Vec3::new(1.0, 1.0, 4.0)))).unwrap();
    }
    let (radius, speed) = (0.4, 4.0);
    let body = lying(0.5, radius)
        .at(Vec3::new(0.0, radius, 0.0))
        .moving(Vec3::X * speed)
        .spinning(Vec3::Z * (-speed / radius));
    assert_eq!(body.kind, BodyKind::Dynamic);
    let body = world.add(body).unwrap();
    let mut simulation = simulate(world);
    run(&mut simulation, 4.0);
    let state = simulation.body(body).unwrap();
    let (speed_left, height) = (state.linear_velocity.x / speed, state.position.y / radius);
    println!("seams: {speed_left} left, height {height}");
    assert!((speed_left - 1.0).abs() < 0.01 && (height - 1.0).abs() < 2e-3, "{speed_left} of its speed at {height}");
    run(&mut simulation, 1.5);
    let state = simulation.body(body).unwrap();
    assert!(state.position.y < -1.0 && (state.linear_velocity.x / speed - 1.0).abs() < 0.1, "{state:?}");
}
