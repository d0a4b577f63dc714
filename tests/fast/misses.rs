//! Near misses are not pulled back, and hits are not missed.

use super::*;
use common::Random;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Ball,
    Box,
    Capsule,
    Hull,
}

const KINDS: [Kind; 4] = [Kind::Ball, Kind::Box, Kind::Capsule, Kind::Hull];

/// A collider of half extents about `size`, and how far it reaches along a direction, in its own axes.
fn shape(kind: Kind, size: f32) -> (Collider, Box<dyn Fn(Vec3) -> f32>) {
    let half = Vec3::new(1.0, 0.7, 0.5) * size;
    match kind {
        Kind::Ball => (Collider::sphere(size), Box::new(move |_| size)),
        Kind::Box => (Collider::cuboid(half * 2.0), Box::new(move |d| d.abs().dot(half))),
        Kind::Capsule => (Collider::capsule(size, 0.4 * size), Box::new(move |d| 0.4 * size + d.y.abs() * size)),
        Kind::Hull => (Collider::hull(&common::box_points(half)).unwrap(), Box::new(move |d| d.abs().dot(half))),
    }
}

fn turn(random: &mut Random) -> Quat {
    Quat::from_axis_angle(common::ball(random).normalize(), random.range(0.0, 3.0))
}

/// Two shapes, the first of which flies past the second so that a plane between them stays `clearance` sizes wide; less
/// than nothing is a hit.
fn pass(random: &mut Random, kinds: [Kind; 2], dt: f32, clearance: f32) -> (World, BodyHandle, Vec3, f32, u32) {
    let size = 0.3;
    let other = size * random.range(0.3, 4.0);
    let ((mover, reach), (target, wide)) = (shape(kinds[0], size), shape(kinds[1], other));
    let (turn_a, turn_b) = (turn(random), turn(random));
    // The way, and the direction along which they pass each other.
    let way = common::ball(random).normalize();
    let side = way.any_orthonormal_vector();
    let side = Quat::from_axis_angle(way, random.range(0.0, 6.0)) * side;
    let along = |turn: Quat, d: Vec3| turn.inverse() * d;
    let apart = reach(along(turn_a, -side)) + wide(along(turn_b, side)) + clearance * size.min(other);
    let speed = 10f32.powf(random.range(0.0, 2.0));
    let steps = 6;
    let from = side * apart - way * (speed * dt * random.range(2.0, 4.0));
    let mut world = weightless();
    world.add(BodyDesc::fixed().turned(turn_b).with(target.friction(0.5))).unwrap();
    let body = BodyDesc::dynamic().at(from).turned(turn_a).moving(way * speed).with(mover.friction(0.5));
    let body = world.add(body).unwrap();
    (world, body, way * speed, size.min(other), steps)
}

#[test]
fn near_misses_keep_their_speed() {
    // Truth: nothing happens. 1 to 100 m/s, 1/30 to 1/240 s, 4 to 60 iterations, sizes of 0.3 to 4 to each other,
    // turned anyhow, a hundredth of the smaller one apart.
    let mut random = Random::new(7);
    for a in KINDS {
        for b in KINDS {
            let mut disturbed = 0;
            for i in 0..90 {
                let dt = [1.0 / 30.0, DT, 1.0 / 240.0][i % 3];
                let (world, body, velocity, _, steps) = pass(&mut random, [a, b], dt, 0.01);
                let mut simulation = simulate(world, iterating([4, 10, 60][i / 3 % 3]));
                for _ in 0..steps {
                    simulation.step(dt).unwrap();
                }
                let state = simulation.body(body).unwrap();
                let change = (state.linear_velocity - velocity).length() / velocity.length();
                assert!(change < 0.1, "{a:?} past {b:?}, pass {i}: {velocity} became {}", state.linear_velocity);
                disturbed += u32::from(change > 1e-3);
            }
            // Edges that are nearly parallel, and passes that graze within a skin.
            assert!(disturbed <= 2, "{a:?} past {b:?}: {disturbed} of 90 were disturbed");
        }
    }
}

#[test]
fn hits_are_not_taken_for_misses() {
    // Truth: what aims at the middle is stopped or turned aside. The way goes through the origin, where the target is.
    let mut random = Random::new(11);
    let mut missed = Vec::new();
    for a in KINDS {
        for b in KINDS {
            for i in 0..45 {
                let dt = [1.0 / 30.0, DT, 1.0 / 240.0][i % 3];
                let ((mover, _), (target, _)) = (shape(a, 0.3), shape(b, 0.3 * random.range(0.5, 3.0)));
                let (turn_a, turn_b) = (turn(&mut random), turn(&mut random));
                let way = common::ball(&mut random).normalize();
                // Within what the default sweep finds: 16 sizes a step.
                let speed = random.range(0.5, 12.0) * 0.3 / dt;
                let mut world = weightless();
                world.add(BodyDesc::fixed().turned(turn_b).with(target)).unwrap();
                let from = -way * (2.0 + speed * dt * random.range(0.5, 2.0));
                let body = BodyDesc::dynamic().at(from).turned(turn_a).moving(way * speed).with(mover);
                let body = world.add(body).unwrap();
                let mut simulation = simulate(world, iterating([4, 10, 60][i / 3 % 3]));
                let steps = ((from.length() / (speed * dt)).ceil() as u32 + 2).min(60);
                for _ in 0..steps {
                    simulation.step(dt).unwrap();
                }
                let state = simulation.body(body).unwrap();
                // Long shapes may only be turned aside, but not fly on as if there were nothing.
                let change = (state.linear_velocity - way * speed).length() / speed;
                if change < 0.02 {
                    missed.push(format!("{a:?} into {b:?}, shot {i} at {speed} m/s: changed by {change} of it"));
                }
            }
        }
    }
    // Of 720: hit off their middle at hundreds of metres a second, some come out of the solve with a spin instead.
    assert!(missed.len() <= 7, "{}: {missed:#?}", missed.len());
}
