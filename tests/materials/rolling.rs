//! Rolling and torsional friction: torques of at most a lever times the normal force.

use super::*;

/// How far a ball of radius r has rolled when it stops: with inertia 2/5 m r^2, (I + m r^2) dw/dt = -lever m g, so it
/// loses speed at 5/7 g lever / r.
#[test]
fn a_rolling_ball_stops_where_rolling_friction_says() {
    for (iterations, dt) in RANGE {
        for (lever, radius, speed) in [(0.01f32, 0.5f32, 1.0f32), (0.002, 0.05, 1.0), (0.05, 0.5, 3.0)] {
            let mut world = on_floor(Collider::half_space().friction(0.8), 0.0);
            // The mean of the floor's, which is nothing, and the ball's would be nothing.
            let ball = Collider::sphere(radius)
                .friction(0.8)
                .rolling(lever, 0.0)
                .friction_combine(drystone::world::Combine::Max);
            let moves = BodyDesc::dynamic().at(Vec3::Y * radius).moving(Vec3::X * speed);
            let body = world.add(moves.spinning(Vec3::Z * (-speed / radius)).with(ball)).unwrap();
            let mut simulation = simulate(world, iterations);
            let slows = 5.0 / 7.0 * G * lever / radius;
            let case = format!("{iterations} iterations, dt {dt}, lever {lever}, radius {radius}");
            run(&mut simulation, 0.5 * speed / slows, dt);
            let state = simulation.body(body).unwrap();
            assert!((state.linear_velocity.x / speed - 0.5).abs() < 0.02, "{case}: {}", state.linear_velocity);
            run(&mut simulation, 0.7 * speed / slows, dt);
            let state = simulation.body(body).unwrap();
            let way = speed * speed / (2.0 * slows);
            assert!((state.position.x / way - 1.0).abs() < 0.03, "{case}: {} m, not {way}", state.position.x);
            assert!(state.linear_velocity.length() < 2e-3 * speed, "{case}: {}", state.linear_velocity);
        }
    }
}

#[test]
fn a_ball_holds_on_a_slope_up_to_the_angle_whose_tangent_is_lever_over_radius() {
    for (iterations, dt) in RANGE {
        for part in [0.5f32, 0.9, 1.1, 1.5] {
            let (lever, radius) = (0.05f32, 0.25f32);
            let tilt = (part * lever / radius).atan();
            let floor = Collider::half_space().friction(0.9).rolling(lever, 0.0);
            let mut world = on_floor(floor, tilt);
            let up = Quat::from_rotation_z(-tilt) * Vec3::Y;
            let ball = Collider::sphere(radius).friction(0.9).rolling(lever, 0.0);
            let body = world.add(BodyDesc::dynamic().at(up * radius).with(ball)).unwrap();
            let mut simulation = simulate(world, iterations);
            run(&mut simulation, 0.5, dt);
            let before = simulation.body(body).unwrap();
            run(&mut simulation, 2.0, dt);
            let after = simulation.body(body).unwrap();
            let case = format!("{iterations} iterations, dt {dt}, {part} of the angle");
            let way = (after.position - before.position).dot(downhill(tilt));
            if part < 1.0 {
                assert!(way < 0.02 * radius, "{case}: rolled {way} m in 2 s");
            } else {
                let gains = 5.0 / 7.0 * G * (tilt.sin() - lever / radius * tilt.cos());
                let gained = (after.linear_velocity - before.linear_velocity).dot(downhill(tilt));
                assert!((gained / (gains * 2.0) - 1.0).abs() < 0.04, "{case}: {gained} m/s, not {}", gains * 2.0);
            }
        }
    }
}

#[test]
fn a_spinning_ball_stops_when_torsional_friction_says() {
    for (iterations, dt) in RANGE {
        let (lever, radius, spin) = (0.01f32, 0.3f32, 10.0f32);
        let mut world = on_floor(Collider::half_space().rolling(0.0, lever), 0.0);
        let ball = Collider::sphere(radius).rolling(0.0, lever);
        let body = world.add(BodyDesc::dynamic().at(Vec3::Y * radius).spinning(Vec3::Y * spin).with(ball)).unwrap();
        let mut simulation = simulate(world, iterations);
        let slows = lever * G / (0.4 * radius * radius);
        let case = format!("{iterations} iterations, dt {dt}");
        let half = (0.5 * spin / slows / dt).round() * dt;
        run(&mut simulation, half, dt);
        let left = simulation.body(body).unwrap().angular_velocity.y;
        assert!((left - (spin - slows * half)).abs() < 0.02 * spin, "{case}: {left} rad/s");
        run(&mut simulation, 0.7 * spin / slows, dt);
        let state = simulation.body(body).unwrap();
        assert!(state.angular_velocity.length() < 1e-3 * spin, "{case}: {}", state.angular_velocity);
        assert!(state.position.x.abs() + state.position.z.abs() < 1e-3, "{case}: {}", state.position);
    }
}
