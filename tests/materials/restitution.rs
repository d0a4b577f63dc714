//! Newton's law: u' = -e u, above a threshold.

use super::*;
use drystone::world::{BodyHandle, Combine};

fn ball(radius: f32, e: f32) -> Collider {
    Collider::sphere(radius).restitution(e).restitution_combine(Combine::Max)
}

/// Height of the ball's lowest point over the floor, and its energy over its weight: at a pose, velocities are those
/// half a step before.
fn energy(simulation: &mut Simulation, body: BodyHandle, radius: f32, dt: f32) -> (f32, f32) {
    let state = simulation.body(body).unwrap();
    let speed = state.linear_velocity.y - 0.5 * G * dt;
    (state.position.y - radius, state.position.y - radius + speed * speed / (2.0 * G))
}

#[test]
fn a_ball_bounces_to_e_squared_of_its_height() {
    for (iterations, dt) in RANGE {
        for height in [0.5f32, 2.0, 20.0] {
            for e in [0.0f32, 0.25, 0.5, 0.8, 1.0] {
                let radius = 0.1;
                let mut world = on_floor(Collider::half_space(), 0.0);
                let body =
                    world.add(BodyDesc::dynamic().at(Vec3::Y * (height + radius)).with(ball(radius, e))).unwrap();
                let mut simulation = simulate(world, iterations);
                let falls = (2.0 * height / G).sqrt();
                run(&mut simulation, falls + 3.0 * dt, dt);
                let (_, reaches) = energy(&mut simulation, body, radius, dt);
                let case = format!("{iterations} iterations, dt {dt}, from {height} m with {e}");
                if e * (2.0 * G * height).sqrt() == 0.0 {
                    // No pass of restitution is in this step: what the iterations leave of the blow, 2.3% at 60.
                    assert!(reaches < 0.03 * height, "{case}: {reaches} m");
                    continue;
                }
                assert!((reaches / (e * e * height) - 1.0).abs() < 0.02, "{case}: {reaches} m, not {}", e * e * height);
                if e * falls < 4.0 * dt {
                    continue;
                }
                let mut highest = 0.0f32;
                for _ in 0..(e * falls * 1.5 / dt) as u32 {
                    simulation.step(dt).unwrap();
                    highest = highest.max(energy(&mut simulation, body, radius, dt).0);
                }
                // The highest pose is below the top of the parabola by what falls in half a step.
                let fine = e * e * height * 0.02 + G * dt * dt / 8.0;
                assert!((highest - e * e * height).abs() < fine, "{case}: {highest} m, not {}", e * e * height);
            }
        }
    }
}

#[test]
fn a_ball_that_loses_nothing_keeps_its_height_over_twenty_bounces() {
    for (iterations, dt) in RANGE {
        let (radius, height) = (0.2, 1.5f32);
        let mut world = on_floor(Collider::cuboid(Vec3::new(50.0, 1.0, 50.0)), 0.0);
        let body =
            world.add(BodyDesc::dynamic().at(Vec3::Y * (0.5 + height + radius)).with(ball(radius, 1.0))).unwrap();
        let mut simulation = simulate(world, iterations);
        let bounce = 2.0 * (2.0 * height / G).sqrt();
        let (mut least, mut most) = (f32::MAX, 0.0f32);
        for _ in 0..(20.5 * bounce / dt) as u32 {
            simulation.step(dt).unwrap();
            let (above, energy) = energy(&mut simulation, body, radius + 0.5, dt);
            if above > 0.1 * height {
                (least, most) = (least.min(energy), most.max(energy));
            }
        }
        let case = format!("{iterations} iterations, dt {dt}: {least} to {most} m");
        assert!(least > 0.99 * height && most < 1.01 * height, "{case}");
    }
}

#[test]
fn boxes_bounce_flat_and_on_an_edge() {
    for (iterations, dt) in RANGE {
        // Flat: as a ball.
        let mut world = on_floor(Collider::half_space(), 0.0);
        let cube = Collider::cuboid(Vec3::new(0.6, 0.4, 0.5)).friction(0.0).restitution(0.5);
        let body = world.add(BodyDesc::dynamic().at(Vec3::Y * 1.2).with(cube.clone())).unwrap();
        let mut simulation = simulate(world, iterations);
        run(&mut simulation, (2.0f32 / G).sqrt() + 3.0 * dt, dt);
        let state = simulation.body(body).unwrap();
        let (_, reaches) = energy(&mut simulation, body, 0.2, dt);
        let case = format!("{iterations} iterations, dt {dt}");
        assert!((reaches / 0.25 - 1.0).abs() < 0.02, "{case}: {reaches} m");
        assert!(state.angular_velocity.length() < 0.02, "{case}: {}", state.angular_velocity);

        // On an edge, without friction: with r the lever of the edge and I the inertia about it, the impulse along the
        // normal is p = (1 + e) u / (1/m + r_x^2 / I), p/m - u the speed afterwards, r_x p / I the spin.
        let mut world = on_floor(Collider::half_space().friction(0.0), 0.0);
        let tilt = Quat::from_rotation_z(0.3);
        let corners = [Vec3::new(-0.3, -0.2, 0.0), Vec3::new(0.3, -0.2, 0.0)].map(|c| tilt * c);
        let lever = corners.into_iter().min_by(|a, b| a.y.total_cmp(&b.y)).unwrap();
        let body = world.add(BodyDesc::dynamic().at(Vec3::Y * (1.0 - lever.y)).turned(tilt).with(cube)).unwrap();
        let mut simulation = simulate(world, iterations);
        // Until it has hit the floor: the other edge comes down soon.
        while simulation.body(body).unwrap().angular_velocity.length() < 1.0 {
            simulation.step(dt).unwrap();
        }
        let state = simulation.body(body).unwrap();
        let (u, per_mass) = ((2.0 * G).sqrt(), (0.36 + 0.16) / 12.0);
        let p = 1.5 * u / (1.0 + lever.x * lever.x / per_mass);
        let spin = lever.x * p / per_mass;
        assert!(
            (state.angular_velocity.z / spin - 1.0).abs() < 0.03,
            "{case}: {} rad/s, not {spin}",
            state.angular_velocity.z
        );
        let rise = p - u;
        assert!(
            (state.linear_velocity.y - rise).abs() < 0.03 * u + G * dt,
            "{case}: {} m/s, not {rise}",
            state.linear_velocity.y
        );
    }
}

/// Balls in a row that touch, or nearly: what comes in at one end goes out at the other.
#[test]
fn a_row_of_balls_hands_on_what_comes_in() {
    for (iterations, dt) in RANGE {
        for (gap, hitting) in [(0.0f32, 1usize), (0.001, 1), (0.0, 2)] {
            let mut world = World::new();
            world.set_gravity(Vec3::ZERO).unwrap();
            let mut bodies = Vec::new();
            for i in 0..5usize {
                let back = if i < hitting { 0.5 } else { 0.0 };
                let at = Vec3::X * (i as f32 * (0.2 + gap) - back);
                let v = if i < hitting { 2.0 } else { 0.0 };
                let desc = BodyDesc::dynamic().at(at).moving(Vec3::X * v);
                bodies.push(world.add(desc.with(ball(0.1, 1.0).friction(0.0))).unwrap());
            }
            let mut simulation = simulate(world, iterations);
            run(&mut simulation, 0.6, dt);
            let speeds: Vec<f32> = bodies.iter().map(|b| simulation.body(*b).unwrap().linear_velocity.x).collect();
            let case = format!("{iterations} iterations, dt {dt}, gap {gap}, {hitting}: {speeds:?}");
            let (momentum, energy) = (speeds.iter().sum::<f32>(), speeds.iter().map(|v| v * v).sum::<f32>());
            // Impacts keep all of it. Balls that come to lie against each other are the iterations' own, which lose
            // 1.2% in 4.
            assert!((momentum / (2.0 * hitting as f32) - 1.0).abs() < 0.02, "{case}");
            assert!((energy / (4.0 * hitting as f32) - 1.0).abs() < 0.02, "{case}");
            for (i, v) in speeds.iter().enumerate() {
                let expected = if i >= 5 - hitting { 2.0 } else { 0.0 };
                assert!((v - expected).abs() < 0.05, "{case}");
            }
        }
    }
}

#[test]
fn balls_of_different_mass_share_momentum_and_energy_as_newton_says() {
    for (iterations, dt) in RANGE {
        for (ratio, e) in [(1.0f32, 0.5f32), (10.0, 1.0), (0.1, 0.8), (1000.0, 0.6)] {
            let mut world = World::new();
            world.set_gravity(Vec3::ZERO).unwrap();
            let one = BodyDesc::dynamic().moving(Vec3::X * 4.0).weighing(ratio).with(ball(0.25, e).friction(0.0));
            let one = world.add(one).unwrap();
            let two = BodyDesc::dynamic().at(Vec3::X * 1.0).moving(Vec3::X * -1.0).weighing(1.0);
            let two = world.add(two.with(ball(0.25, e).friction(0.0))).unwrap();
            let mut simulation = simulate(world, iterations);
            run(&mut simulation, 0.5, dt);
            let middle = (ratio * 4.0 - 1.0) / (ratio + 1.0);
            let expected = (middle - e * 5.0 / (ratio + 1.0), middle + e * 5.0 * ratio / (ratio + 1.0));
            let found = [one, two].map(|b| simulation.body(b).unwrap().linear_velocity.x);
            let case = format!("{iterations} iterations, dt {dt}, {ratio} : 1, {e}: {found:?}, not {expected:?}");
            assert!((found[0] - expected.0).abs() < 0.03 && (found[1] - expected.1).abs() < 0.03, "{case}");
        }
    }
}

#[test]
fn a_stack_that_bounces_comes_to_rest() {
    for (iterations, dt) in [(4, 1.0 / 60.0), (20, 1.0 / 120.0), (10, 1.0 / 30.0)] {
        let mut world = on_floor(Collider::half_space().restitution(1.0), 0.0);
        let mut bodies = Vec::new();
        for i in 0..5 {
            let cube = Collider::cuboid(Vec3::splat(0.5)).restitution(1.0);
            bodies.push(world.add(BodyDesc::dynamic().at(Vec3::Y * (0.25 + 0.5 * i as f32)).with(cube)).unwrap());
        }
        let mut simulation = simulate(world, iterations);
        run(&mut simulation, 10.0, dt);
        for (i, body) in bodies.into_iter().enumerate() {
            let state = simulation.body(body).unwrap();
            assert!(state.linear_velocity.length() < 0.01, "{iterations} iterations, {i}: {}", state.linear_velocity);
            assert!((state.position.y - 0.25 - 0.5 * i as f32).abs() < 0.01, "{i}: {}", state.position);
        }
    }
}

#[test]
fn a_pile_of_bouncing_balls_never_gains_energy_and_rests() {
    let dt = 1.0 / 60.0;
    for iterations in [4, 20] {
        let mut world = on_floor(Collider::half_space(), 0.0);
        let mut bodies = Vec::new();
        for i in 0..60 {
            let at = Vec3::new((i % 3) as f32 * 0.23, 1.0 + (i / 9) as f32 * 0.25, (i / 3 % 3) as f32 * 0.24);
            bodies.push(world.add(BodyDesc::dynamic().at(at).with(ball(0.1, 0.7))).unwrap());
        }
        let mut simulation = simulate(world, iterations);
        let total = |simulation: &mut Simulation| -> f32 {
            let one = |b: &BodyHandle| {
                let s = simulation.body(*b).unwrap();
                let v = s.linear_velocity - Vec3::Y * (0.5 * G * dt);
                G * s.position.y + 0.5 * v.length_squared() + 0.2 * 0.01 * s.angular_velocity.length_squared()
            };
            bodies.iter().map(one).sum()
        };
        let start = total(&mut simulation);
        let mut before = start;
        for step in 0..900 {
            simulation.step(dt).unwrap();
            let now = total(&mut simulation);
            assert!(now < before + 2e-3 * start, "{iterations} iterations, step {step}: {before} to {now} of {start}");
            before = now;
        }
        let slow = bodies.iter().filter(|b| simulation.body(**b).unwrap().linear_velocity.y.abs() < 0.05).count();
        assert_eq!(slow, bodies.len(), "{iterations} iterations");
    }
}

#[test]
fn what_is_slower_than_the_threshold_does_not_bounce() {
    let dt = 1.0 / 60.0;
    for (part, bounces) in [(0.8f32, false), (1.3, true)] {
        let speed = part * 3.0 * G * dt;
        let height = speed * speed / (2.0 * G);
        let mut world = on_floor(Collider::half_space(), 0.0);
        let body = world.add(BodyDesc::dynamic().at(Vec3::Y * (0.1 + height)).with(ball(0.1, 1.0))).unwrap();
        let mut simulation = simulate(world, 4);
        let mut rises = false;
        for _ in 0..30 {
            simulation.step(dt).unwrap();
            rises |= simulation.body(body).unwrap().linear_velocity.y > 0.1;
        }
        assert_eq!(rises, bounces, "{speed} m/s");
    }
    for wrong in [-0.1, 1.1, f32::NAN] {
        assert!(Collider::sphere(1.0).restitution(wrong).check().is_err());
    }
}
