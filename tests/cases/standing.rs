//! What statics says stands, stands for two minutes and comes to rest; what it says falls, falls.

use super::*;

/// Seconds that things stand.
const LONG: f32 = 120.0;

/// Cubes of `size` in a tower on a slope, each shifted sideways by up to `disorder` metres.
pub fn tower(boxes: u32, size: f32, degrees: f32, disorder: f32) -> World {
    let mut world = World::new();
    let turn = Quat::from_rotation_z(degrees.to_radians());
    world.add(BodyDesc::fixed().turned(turn).with(Collider::half_space())).unwrap();
    let mut random = common::Random::new(7);
    for i in 0..boxes {
        let shift = Vec3::new(random.range(-disorder, disorder), 0.0, random.range(-disorder, disorder));
        let place = turn * (Vec3::Y * (size * (0.5 + i as f32)) + shift);
        let shape = Collider::cuboid(Vec3::splat(size));
        world.add(BodyDesc::dynamic().at(place).turned(turn).with(shape)).unwrap();
    }
    world
}

#[test]
fn towers_stand_on_slopes() {
    // Truth: a tower of n cubes tips where its centre of mass leaves its foot, at tan(angle) = 1 / n. While iterations
    // make up for what builds up, towers bend; those above sqrt(100 iterations) cubes, 20 at 4 iterations, may
    // lean by half a cube. All of them are at rest in the end.
    let mut table = Table::new("tower");
    for (boxes, size, degrees, disorder, iterations, dt, straight) in [
        (10, 0.5, 1.0, 0.0, 4, DT, true),
        (10, 0.5, 2.0, 0.0, 4, DT, true),
        (10, 0.5, 2.5, 0.0, 4, DT, true),
        (10, 0.5, 3.0, 0.0, 4, DT, true),
        (10, 0.5, 2.0, 0.0, 10, DT, true),
        (10, 0.5, 2.0, 0.0, 60, DT, true),
        (10, 0.5, 2.0, 0.0, 4, 1.0 / 30.0, true),
        (10, 0.5, 2.0, 0.0, 4, 1.0 / 240.0, true),
        (10, 5.0, 2.0, 0.0, 4, DT, true),
        (10, 0.1, 2.0, 0.0, 4, DT, true),
        (5, 0.5, 4.0, 0.0, 4, DT, true),
        (20, 0.5, 1.0, 0.0, 4, DT, false),
        (20, 0.5, 1.0, 0.0, 10, DT, true),
        (30, 0.5, 0.0, 0.005, 4, DT, true),
        (30, 0.5, 0.0, 0.005, 10, DT, true),
        (30, 1.0, 0.0, 0.005, 4, DT, true),
        (40, 0.5, 0.5, 0.0, 10, DT, false),
        (40, 0.5, 0.25, 0.0, 10, DT, false),
        (40, 0.5, 0.5, 0.0, 20, DT, false),
        (30, 0.5, 0.3, 0.0, 4, DT, false),
    ] {
        let stood = Stood::of(tower(boxes, size, degrees, disorder), iterating(iterations), dt, LONG);
        let holds = stood.stands(if straight { 0.2 } else { 0.55 } * size, size);
        table.row(format!("{boxes} of {size} m on {degrees}, {iterations} x {dt:.4}: {stood}"), holds);
    }
    table.check();
}

#[test]
fn towers_beyond_their_limit_fall() {
    let mut table = Table::new("tower that falls");
    for (boxes, degrees, iterations) in [(10, 6.4, 4), (10, 6.4, 20), (5, 12.5, 4), (20, 3.3, 10)] {
        let stood = Stood::of(tower(boxes, 0.5, degrees, 0.0), iterating(iterations), DT, 30.0);
        table.row(format!("{boxes} on {degrees} at {iterations}: {stood}"), stood.drift > 0.5);
    }
    table.check();
}

/// Blocks over an edge, each pushed out by `part` of as far as those above it let it: 1 / (2 i) of its length.
pub fn overhang(blocks: u32, length: f32, part: f32) -> World {
    let mut world = World::new();
    let size = Vec3::new(length, 0.25 * length, 0.5 * length);
    let foot = Collider::cuboid(Vec3::new(4.0, 1.0, 1.0) * length);
    world.add(BodyDesc::fixed().at(Vec3::new(-2.0, -0.5, 0.0) * length).with(foot)).unwrap();
    let mut x = -0.5 * length;
    for i in 0..blocks {
        x += part * length * 0.5 / (blocks - i) as f32;
        let place = Vec3::new(x, size.y * (i as f32 + 0.5), 0.0);
        world.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(size))).unwrap();
    }
    world
}

#[test]
fn overhangs_stand_below_the_harmonic_limit_and_fall_above_it() {
    let mut table = Table::new("overhang");
    for (blocks, length, part, iterations) in
        [(5, 1.0, 0.9, 4), (10, 1.0, 0.9, 4), (10, 1.0, 0.9, 10), (10, 0.2, 0.9, 4), (10, 1.0, 0.9, 60)]
    {
        let stood = Stood::of(overhang(blocks, length, part), iterating(iterations), DT, LONG);
        table.row(
            format!("{blocks} of {length} m at {part}, {iterations} iterations: {stood}"),
            stood.stands(0.05 * length, length),
        );
    }
    for (blocks, part, iterations) in [(5, 1.1, 4), (10, 1.1, 10)] {
        let stood = Stood::of(overhang(blocks, 1.0, part), iterating(iterations), DT, 30.0);
        table.row(format!("{blocks} at {part}, {iterations} iterations: {stood}"), stood.drift > 0.3);
    }
    table.check();
}

#[test]
fn arches_stand() {
    // Truth: a semicircular arch stands if it is thicker than 0.1075 of its radius (Heyman).
    let mut table = Table::new("arch");
    for (stones, thickness, iterations, dt) in [
        (15, 1.0, 4, DT),
        (31, 1.0, 4, DT),
        (31, 1.0, 10, DT),
        (15, 0.8, 4, DT),
        (9, 1.0, 4, DT),
        (15, 1.0, 10, DT),
        (31, 1.0, 20, DT),
        (15, 1.0, 60, DT),
        (15, 1.0, 4, 1.0 / 30.0),
        (15, 1.0, 4, 1.0 / 240.0),
    ] {
        let stood = Stood::of(scenes::arch(stones, thickness).unwrap(), iterating(iterations), dt, LONG);
        let what = format!("{stones} stones, {thickness} m of 5 m, {iterations} x {dt:.4}: {stood}");
        table.row(what, stood.stands(0.05, 1.0));
    }
    for iterations in [4, 20] {
        let stood = Stood::of(scenes::arch(15, 0.4).unwrap(), iterating(iterations), DT, 30.0);
        table.row(format!("0.4 m thick at {iterations}, too thin: {stood}"), stood.drift > 1.0);
    }
    table.check();
}

#[test]
fn piles_come_to_rest() {
    // Friction alone holds them. Ten thousand for half a minute: two would take most of the test's time.
    let mut table = Table::new("pile");
    for (bricks, levels, iterations, seconds) in
        [(1000, 40, 4, LONG), (1000, 40, 10, 60.0), (1000, 40, 30, 20.0), (400, 20, 4, LONG), (10_000, 40, 4, 30.0)]
    {
        let stood = Stood::of(scenes::pile(bricks, levels).unwrap(), iterating(iterations), DT, seconds);
        let what = format!("{bricks} in {levels} levels at {iterations}, {seconds} s: {stood}");
        table.row(what, stood.stands(0.15, 1.0));
    }
    let stood = Stood::of(scenes::pyramid(20).unwrap(), iterating(4), DT, LONG);
    table.row(format!("pyramid of 20: {stood}"), stood.stands(0.1, 1.0));
    table.check();
}

/// A pyramid of cubes, and gaps between those of a row as of 5% of their size.
fn cubes(base: u32, size: f32) -> World {
    let mut world = scenes::floor(0.5).unwrap();
    for row in 0..base {
        for i in 0..base - row {
            let x = (i as f32 - 0.5 * (base - row - 1) as f32) * 1.05 * size;
            let place = Vec3::new(x, (row as f32 + 0.5) * size, 0.0);
            world.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::splat(size)))).unwrap();
        }
    }
    world
}

#[test]
fn small_things_stand_like_large_ones() {
    // From dice to houses, under 9.81 m/s^2: in one step of 1/60 s a die falls by a sixth of its size.
    let mut table = Table::new("small");
    for (size, iterations, dt) in [
        (0.02, 4, DT),
        (0.02, 10, DT),
        (0.02, 60, DT),
        (0.01, 10, DT),
        (0.02, 4, 1.0 / 30.0),
        (0.02, 4, 1.0 / 240.0),
        (0.1, 4, DT),
        (1.0, 4, DT),
        (10.0, 4, DT),
    ] {
        let stood = Stood::of(cubes(6, size), iterating(iterations), dt, LONG);
        let what = format!("pyramid of 6, cubes of {size} m, {iterations} x {dt:.4}: {stood}");
        table.row(what, stood.stands(0.2 * size, 1.0));
    }
    for (dice, size, iterations, dt) in [
        (5, 0.016, 4, DT),
        (10, 0.016, 4, DT),
        (10, 0.016, 10, DT),
        (10, 0.016, 60, DT),
        (10, 0.02, 4, DT),
        (10, 0.05, 4, DT),
        (10, 0.016, 4, 1.0 / 120.0),
        (10, 0.016, 10, 1.0 / 30.0),
    ] {
        let stood = Stood::of(tower(dice, size, 0.0, 0.0), iterating(iterations), dt, LONG);
        let what = format!("{dice} dice of {size} m, {iterations} x {dt:.4}: {stood}");
        table.row(what, stood.stands(0.2 * size, 1.0));
    }
    table.check();
}

#[test]
fn what_is_pushed_less_than_friction_holds_stays() {
    // Truth: friction holds up to mu m g, and a block tips where the torque leaves its foot: all here are inside both.
    let mut table = Table::new("pushed box");
    for (part, torque, mass, size, iterations, dt) in [
        (0.8, 11.772, 10.0, 1.0, 4, DT),
        (0.8, 11.772, 10.0, 1.0, 10, DT),
        (0.8, 11.772, 10.0, 1.0, 60, DT),
        (0.8, 11.772, 10.0, 1.0, 4, 1.0 / 30.0),
        (0.8, 11.772, 10.0, 1.0, 4, 1.0 / 240.0),
        (0.9, 0.0, 10.0, 1.0, 4, DT),
        (0.5, -11.772, 10.0, 1.0, 4, DT),
        (0.8, 1177.2, 1000.0, 1.0, 4, DT),
        (0.8, 1.1772e-4, 1e-3, 0.1, 4, DT),
        (0.8, 117_720.0, 1e5, 1.0, 4, DT),
    ] {
        let mut world = scenes::floor(0.5).unwrap();
        let push = Vec3::X * (part * 0.5 * mass * G);
        let shape = Collider::cuboid(Vec3::new(0.5, 1.0, 0.5) * size).friction(0.5);
        let block = BodyDesc::dynamic().at(Vec3::Y * (0.5 * size)).with(shape).weighing(mass);
        world.add(block.pushed(push, Vec3::Z * torque)).unwrap();
        let stood = Stood::of(world, iterating(iterations), dt, 60.0);
        let what = format!("{part} of friction, {torque} N m, {mass} kg, {iterations} x {dt:.4}: {stood}");
        table.row(what, stood.drift < 0.005 * size && stood.fastest < 1e-3);
    }
    table.check();
}
