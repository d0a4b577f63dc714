//! dv/dt = F/m - c v, exactly.

use super::*;

#[test]
fn a_free_body_loses_speed_and_spin_exponentially() {
    for dt in [1.0 / 30.0, 1.0 / 60.0, 1.0 / 240.0] {
        for (linear, angular) in [(0.1, 2.0), (1.0, 0.5), (10.0, 30.0)] {
            let mut world = World::new();
            world.set_gravity(Vec3::ZERO).unwrap();
            let (v, w) = (Vec3::new(3.0, -2.0, 1.0), Vec3::new(0.5, 2.0, -1.0));
            let desc = BodyDesc::dynamic().moving(v).spinning(w).damped(linear, angular);
            let body = world.add(desc.with(Collider::sphere(0.3))).unwrap();
            let mut simulation = simulate(world, 4);
            run(&mut simulation, 0.5, dt);
            let state = simulation.body(body).unwrap();
            let left = |c: f32| (-c * 0.5).exp();
            assert!((state.linear_velocity - v * left(linear)).length() < 2e-4 * v.length(), "{dt} {linear}");
            assert!((state.angular_velocity - w * left(angular)).length() < 2e-4 * w.length(), "{dt} {angular}");
        }
    }
}

#[test]
fn a_falling_body_tends_to_g_over_c_whatever_the_step() {
    for dt in [1.0 / 30.0, 1.0 / 60.0, 1.0 / 240.0] {
        for c in [0.5f32, 5.0, 50.0] {
            let mut world = World::new();
            let ball = BodyDesc::dynamic().damped(c, 0.0).with(Collider::sphere(0.3));
            let body = world.add(ball).unwrap();
            let mut simulation = simulate(world, 4);
            for seconds in [0.2f32, 1.0] {
                run(&mut simulation, seconds, dt);
            }
            let expected = G / c * (1.0 - (-c * 1.2f32).exp());
            let speed = -simulation.body(body).unwrap().linear_velocity.y;
            assert!((speed / expected - 1.0).abs() < 1e-3, "c {c}, dt {dt}: {speed} m/s, not {expected}");
        }
    }
}

#[test]
fn a_damped_body_at_rest_presses_with_all_of_its_weight() {
    // The friction force that holds it on a slope just below the angle of friction needs all of the weight.
    for (iterations, dt) in RANGE {
        for (tilt, holds) in [(0.48f32, true), (0.52, false)] {
            let mut world = on_floor(Collider::half_space().friction(0.5f32.tan()), tilt);
            let up = Quat::from_rotation_z(-tilt);
            let cube = Collider::cuboid(Vec3::new(1.0, 0.4, 1.0)).friction(0.5f32.tan());
            let body =
                world.add(BodyDesc::dynamic().at(up * (Vec3::Y * 0.2)).turned(up).damped(8.0, 8.0).with(cube)).unwrap();
            let mut simulation = simulate(world, iterations);
            let before = simulation.body(body).unwrap().position;
            run(&mut simulation, 4.0, dt);
            let way = (simulation.body(body).unwrap().position - before).length();
            assert_eq!(way < 0.02, holds, "{iterations} iterations, dt {dt}, tilt {tilt}: {way} m");
        }
    }
}

#[test]
fn damping_is_changed_between_steps_and_checked() {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    let body = world.add(BodyDesc::dynamic().moving(Vec3::X).with(Collider::sphere(0.3))).unwrap();
    assert!(world.set_damping(body, -1.0, 0.0).is_err());
    assert!(world.set_damping(body, 0.0, f32::NAN).is_err());
    assert!(BodyDesc::dynamic().damped(f32::INFINITY, 0.0).with(Collider::sphere(0.3)).check().is_err());
    let mut simulation = simulate(world, 4);
    run(&mut simulation, 0.5, 1.0 / 60.0);
    assert_eq!(simulation.body(body).unwrap().linear_velocity, Vec3::X);
    simulation.world_mut().set_damping(body, 2.0, 0.0).unwrap();
    run(&mut simulation, 0.5, 1.0 / 60.0);
    let speed = simulation.body(body).unwrap().linear_velocity.x;
    assert!((speed - (-1.0f32).exp()).abs() < 1e-4, "{speed}");
}
