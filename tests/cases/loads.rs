//! Things that carry many times their own mass.

use super::*;

/// Bars of 1 kg and `pitch` metres on hinges that hang straight down, and a load below them. They touch nothing.
pub fn chain(hinges: u32, pitch: f32, load: f32) -> (World, BodyHandle) {
    let mut world = World::new();
    let about = Quat::from_rotation_arc(Vec3::X, Vec3::Z);
    let apart = |shape: Collider| shape.groups(1, 0);
    let (mut last, mut end) = (None, Vec3::ZERO);
    for _ in 0..hinges {
        let shape = apart(Collider::cuboid(Vec3::new(0.4, 0.9, 0.4) * pitch));
        let bar = world.add(BodyDesc::dynamic().at(end - Vec3::Y * (0.5 * pitch)).with(shape).weighing(1.0)).unwrap();
        world.add_joint(JointDesc::hinge(bar, last).placed(&world, end, about).unwrap()).unwrap();
        (last, end) = (Some(bar), end - Vec3::Y * pitch);
    }
    let ball = apart(Collider::sphere(2.0 * pitch));
    let ball = world.add(BodyDesc::dynamic().at(end - Vec3::Y * (2.0 * pitch)).with(ball).weighing(load)).unwrap();
    world.add_joint(JointDesc::ball(ball, last).placed(&world, end, Quat::IDENTITY).unwrap()).unwrap();
    (world, ball)
}

/// How far a body is from its height at the start, metres, at the worst and in the end.
pub fn moves(
    device: Device,
    (world, body): (World, BodyHandle),
    settings: Settings,
    dt: f32,
    seconds: f32,
) -> (f32, f32) {
    let start = world.desc(body).unwrap().position.y;
    let mut simulation = Simulation::new(world, settings, device).unwrap();
    let (mut most, mut end) = (0.0f32, 0.0);
    for _ in 0..(seconds / dt) as u32 {
        simulation.step(dt).unwrap();
        end = (start - simulation.body(body).unwrap().position.y).abs();
        most = if end <= most { most } else { end };
    }
    (most, end)
}

#[test]
fn loaded_chains_do_not_stretch() {
    // Truth: it hangs where it is. Below 1% of its length at 10 iterations and more, and below 3% at 4.
    let mut table = Table::new("loaded chain");
    for (hinges, pitch, load, iterations, dt, seconds) in [
        (20, 0.1, 100.0, 4, DT, 120.0),
        (20, 0.1, 100.0, 10, DT, 120.0),
        (20, 0.1, 100.0, 20, DT, 60.0),
        (20, 0.1, 100.0, 60, DT, 30.0),
        (20, 0.1, 100.0, 10, 1.0 / 30.0, 60.0),
        (20, 0.1, 100.0, 4, 1.0 / 120.0, 60.0),
        (20, 0.1, 100.0, 4, 1.0 / 240.0, 30.0),
        (20, 1.0, 100.0, 4, DT, 60.0),
        (20, 0.1, 10.0, 4, DT, 60.0),
        (20, 0.1, 1000.0, 10, DT, 60.0),
        (20, 0.1, 1000.0, 20, DT, 60.0),
        (10, 0.1, 100.0, 4, DT, 60.0),
        (10, 0.1, 1000.0, 4, DT, 60.0),
        (40, 0.1, 100.0, 10, DT, 60.0),
        (40, 0.1, 100.0, 20, DT, 60.0),
        (5, 0.1, 1000.0, 4, DT, 60.0),
    ] {
        let (most, end) = moves(CPU, chain(hinges, pitch, load), iterating(iterations), dt, seconds);
        let (most, end) = (most / (hinges as f32 * pitch), end / (hinges as f32 * pitch));
        let bound = if iterations < 10 { 0.03 } else { 0.01 };
        let what = format!(
            "{hinges} hinges of {pitch} m, {load} kg, {iterations} x {dt:.4}, {seconds} s: {:.3}% at most, {:.3}% in the end",
            100.0 * most,
            100.0 * end
        );
        table.row(what, most < bound);
    }
    table.check();
}

/// The part of its length by which a chain of bodies is longer than at first, at the worst.
pub fn stretches(device: Device, world: World, settings: Settings, dt: f32, seconds: f32) -> f32 {
    let bodies: Vec<_> = world.handles().collect();
    let at = |world: &World, i: usize| world.desc(bodies[i]).unwrap().position;
    let length: f32 = (1..bodies.len()).map(|i| (at(&world, i) - at(&world, i - 1)).length()).sum();
    let mut simulation = Simulation::new(world, settings, device).unwrap();
    let mut most = 0.0f32;
    for _ in 0..(seconds / dt) as u32 {
        simulation.step(dt).unwrap();
        let now: std::collections::BTreeMap<_, _> = simulation.bodies().unwrap().into_iter().collect();
        let apart = |i: usize| (now[&bodies[i]].position - now[&bodies[i - 1]].position).length();
        let stretch = (1..bodies.len()).map(apart).sum::<f32>() / length - 1.0;
        most = if stretch <= most { most } else { stretch };
    }
    most
}

#[test]
fn pendulums_do_not_stretch() {
    // Figure 7, and lighter balls; and hanging at rest, where the first step has to find all of the load.
    let mut table = Table::new("pendulum");
    for (links, ratio, angle, iterations, dt) in [
        (50, 5e4, 1.5, 20, DT),
        (50, 5e4, 1.5, 60, DT),
        (50, 1e3, 1.5, 20, DT),
        (50, 1e3, 1.5, 10, DT),
        (20, 5e4, 1.5, 20, DT),
        (50, 5e4, 1.5, 20, 1.0 / 120.0),
        (10, 5e4, 0.0, 20, DT),
        (25, 5e4, 0.0, 10, DT),
        (50, 5e4, 0.0, 10, DT),
        (50, 5e4, 0.0, 20, DT),
        (50, 5e4, 0.3, 20, DT),
        (50, 5e4, 0.0, 60, DT),
        (50, 1e3, 0.0, 20, DT),
        (100, 5e4, 0.0, 20, DT),
        (100, 1.0, 0.0, 20, DT),
        (150, 1e3, 0.0, 20, DT),
    ] {
        let world = scenes::pendulum(links, ratio, angle).unwrap();
        let most = stretches(CPU, world, iterating(iterations), dt, 10.0);
        let what = format!("{links} links, 1:{ratio}, {angle} rad, {iterations} x {dt:.4}: {:.3}%", 100.0 * most);
        table.row(what, most < 0.01);
    }
    table.check();
}

#[test]
fn heavy_stands_on_light() {
    // Figure 10: each box `ratio` times as heavy as the one below.
    let mut table = Table::new("stack");
    for (boxes, ratio, iterations) in
        [(10, 3.0, 4), (10, 3.0, 20), (20, 2.0, 20), (10, 2.0, 4), (15, 2.0, 10), (20, 2.0, 60)]
    {
        let stood = Stood::of(scenes::stack(boxes, ratio).unwrap(), iterating(iterations), DT, 60.0);
        table.row(format!("{boxes} of {ratio}x at {iterations}: {stood}"), stood.stands(0.1, 1.0));
    }
    table.check();
}
