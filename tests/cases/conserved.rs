//! What no solver may give: energy to scenes that nobody drives.

use super::*;

/// Plates on four balls each, and a load on top.
fn balls_and_plates(levels: u32, load: f32, friction: f32) -> World {
    let mut world = scenes::floor(friction).unwrap();
    let mut y = 0.0;
    for _ in 0..levels {
        for (x, z) in [(0.35, 0.35), (0.35, -0.35), (-0.35, 0.35), (-0.35, -0.35)] {
            let ball = Collider::sphere(0.1).friction(friction);
            world.add(BodyDesc::dynamic().at(Vec3::new(x, y + 0.1, z)).with(ball).weighing(1.0)).unwrap();
        }
        let plate = Collider::cuboid(Vec3::new(1.0, 0.04, 1.0)).friction(friction);
        world.add(BodyDesc::dynamic().at(Vec3::Y * (y + 0.22)).with(plate).weighing(1.0)).unwrap();
        y += 0.24;
    }
    let top = Collider::cuboid(Vec3::splat(0.8)).friction(friction);
    world.add(BodyDesc::dynamic().at(Vec3::Y * (y + 0.4)).with(top).weighing(load)).unwrap();
    world
}

#[test]
fn balls_and_plates_gain_no_energy() {
    let mut table = Table::new("balls and plates");
    for (levels, load, friction, iterations, dt) in [
        (5, 1e4, 0.5, 4, DT),
        (5, 1e4, 0.5, 8, DT),
        (5, 1e4, 0.5, 10, DT),
        (5, 1e4, 0.5, 20, DT),
        (5, 1e4, 0.5, 60, DT),
        (5, 1e4, 0.0, 4, DT),
        (5, 1e4, 0.0, 50, DT),
        (5, 1e3, 0.5, 10, DT),
        (5, 2e4, 0.5, 10, DT),
        (3, 1e4, 0.5, 10, DT),
        (8, 1e4, 0.5, 10, DT),
        (5, 1e4, 0.5, 10, 1.0 / 30.0),
        (5, 1e4, 0.5, 10, 1.0 / 240.0),
    ] {
        let gain = gain(balls_and_plates(levels, load, friction), iterating(iterations), dt, 10.0);
        let what = format!("{levels} levels, {load} kg, mu {friction}, {iterations} x {dt:.4}: {:.3}%", 100.0 * gain);
        table.row(what, gain < 0.005);
    }
    table.check();
}

#[test]
fn bullets_bring_their_energy_and_no_more() {
    let mut table = Table::new("bullet");
    for (speed, mass, iterations, dt) in [
        (200.0, 1.0, 4, DT),
        (200.0, 1.0, 10, DT),
        (200.0, 1.0, 20, DT),
        (200.0, 1.0, 60, DT),
        (50.0, 1.0, 20, DT),
        (100.0, 1.0, 20, DT),
        (400.0, 1.0, 20, DT),
        (100.0, 10.0, 20, DT),
        (150.0, 0.1, 10, DT),
        (200.0, 1.0, 10, 1.0 / 30.0),
        (200.0, 1.0, 10, 1.0 / 240.0),
    ] {
        let mut world = scenes::floor(0.5).unwrap();
        for i in 0..125 {
            let place = Vec3::new((i % 5) as f32, 0.5 + (i / 5 % 5) as f32, (i / 25) as f32) * 0.2;
            let cube = Collider::cuboid(Vec3::splat(0.2)).friction(0.5);
            world.add(BodyDesc::dynamic().at(place).with(cube)).unwrap();
        }
        let bullet = Collider::sphere(0.05).friction(0.5);
        let bullet = BodyDesc::dynamic().at(Vec3::new(-3.0, 0.5, 0.4)).moving(Vec3::X * speed).with(bullet);
        world.add(bullet.weighing(mass)).unwrap();
        let gain = gain(world, iterating(iterations), dt, 5.0);
        table.row(format!("{speed} m/s, {mass} kg, {iterations} x {dt:.4}: {:.3}%", 100.0 * gain), gain < 0.005);
    }
    table.check();
}

#[test]
fn swinging_boxes_gain_no_energy_in_sub_steps() {
    let mut table = Table::new("swinging box");
    for (substeps, iterations) in [(1, 4), (1, 25), (2, 10), (4, 5), (8, 4), (16, 4)] {
        let settings = iterating(iterations).with(|s| s.substeps = substeps);
        let gain = gain(scenes::swing_box(25, 1000.0).unwrap(), settings, DT, 10.0);
        table.row(format!("{substeps} x {iterations}: {:.3}%", 100.0 * gain), gain < 0.005);
    }
    table.check();
}

#[test]
fn free_tumbling_keeps_its_energy_over_many_sub_steps() {
    let mut table = Table::new("tumbling");
    for (substeps, spin) in [(1, 5.0), (10, 5.0), (50, 5.0), (50, 1.0), (100, 2.0)] {
        let mut world = World::new();
        world.set_gravity(Vec3::ZERO).unwrap();
        let shape = Collider::cuboid(Vec3::new(0.3, 0.6, 1.0));
        let spin = Vec3::new(1.0, 0.2, 0.1) * spin;
        world.add(BodyDesc::dynamic().at(Vec3::new(10.0, 20.0, 5.0)).spinning(spin).with(shape)).unwrap();
        let mut simulation = simulate(world, iterating(4).with(|s| s.substeps = substeps));
        let start = Metrics::of(&mut simulation).unwrap().kinetic_energy;
        let mut most = 0.0f64;
        for _ in 0..600 {
            simulation.step(DT).unwrap();
            let now = Metrics::of(&mut simulation).unwrap().kinetic_energy;
            most = most.max((now / start - 1.0).abs());
        }
        table.row(format!("{substeps} sub-steps, {} rad/s: off by {:.3}%", spin.length(), 100.0 * most), most < 0.01);
    }
    table.check();
}
