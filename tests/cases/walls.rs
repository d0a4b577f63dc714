//! Jointed walls that are hit: momentum, linear and angular, and which joints break.

use super::*;

/// A wall of bricks that nothing breaks and no friction holds, on a floor or without, and balls that hit it.
fn wall(columns: u32, rows: u32, floor: bool, jointed: bool) -> World {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    if floor {
        world.add(BodyDesc::fixed().with(Collider::half_space().friction(0.0))).unwrap();
    }
    let brick = Collider::cuboid(Vec3::new(1.0, 0.5, 0.5)).friction(0.6);
    let mut below: Vec<(f32, BodyHandle)> = Vec::new();
    for row in 0..rows {
        let shift = 0.5 * (row % 2) as f32 - 0.5 * columns as f32;
        let mut here: Vec<(f32, BodyHandle)> = Vec::new();
        for column in 0..columns {
            let (x, y) = (column as f32 + shift, 0.25 + 0.5 * row as f32);
            let body = world.add(BodyDesc::dynamic().at(Vec3::new(x, y, 0.0)).with(brick.clone())).unwrap();
            let beside = here.last().map(|(_, other)| (*other, Vec3::new(x - 0.5, y, 0.0)));
            let under = below.iter().filter(|(other, _)| (other - x).abs() < 0.9);
            let under = under.map(|(other, body)| (*body, Vec3::new(0.5 * (other + x), y - 0.25, 0.0)));
            for (other, point) in beside.into_iter().chain(under).filter(|_| jointed) {
                world.add_joint(JointDesc::fixed(body, other).placed(&world, point, Quat::IDENTITY).unwrap()).unwrap();
            }
            here.push((x, body));
        }
        below = here;
    }
    let (width, height) = (columns as f32, 0.5 * rows as f32);
    for (x, y) in [(-0.25, 0.6), (0.05, 0.35), (0.25, 0.7)] {
        let ball = Collider::sphere(0.4).density(3000.0);
        let place = Vec3::new(x * width, y * height, 6.0);
        world.add(BodyDesc::dynamic().at(place).moving(Vec3::Z * -30.0).with(ball)).unwrap();
    }
    world
}

#[test]
fn walls_keep_the_momentum_that_balls_bring() {
    let mut table = Table::new("wall");
    for (columns, rows, floor, jointed, iterations, dt) in [
        (6, 4, true, true, 4, DT),
        (6, 4, true, true, 10, DT),
        (6, 4, true, true, 20, DT),
        (6, 4, true, true, 60, DT),
        (6, 4, false, true, 4, DT),
        (6, 4, false, true, 20, DT),
        (6, 4, false, true, 60, DT),
        (6, 4, true, false, 4, DT),
        (6, 4, true, false, 20, DT),
        (6, 4, false, false, 20, DT),
        (12, 8, true, true, 4, DT),
        (12, 8, true, true, 10, DT),
        (12, 8, false, true, 60, DT),
        (6, 4, true, true, 10, 1.0 / 30.0),
        (6, 4, true, true, 10, 1.0 / 240.0),
    ] {
        let mut simulation = simulate(wall(columns, rows, floor, jointed), iterating(iterations));
        simulation.step(dt).unwrap();
        let before = Metrics::of(&mut simulation).unwrap();
        for _ in 0..(0.6 / dt) as u32 {
            simulation.step(dt).unwrap();
        }
        let after = Metrics::of(&mut simulation).unwrap();
        let linear = after.momentum.z / before.momentum.z;
        // A floor pushes up, which turns nothing about the axis up; about the others it may.
        let size = before.angular_momentum.length();
        let off = (after.angular_momentum - before.angular_momentum).y.abs() / size;
        let what = format!(
            "{columns} x {rows}, floor {floor}, jointed {jointed}, {iterations} x {dt:.4}: {linear:.4} of the momentum, angular off by {:.2}%",
            100.0 * off
        );
        table.row(what, (linear - 1.0).abs() < 0.01 && off < 0.01);
    }
    table.check();
}
