//! What has no multipliers yet: a load that is there at once must neither throw nor break what holds it.

use super::*;

/// A beam on a hinge with a load on the short side and a weight on the long one, which lacks `lacks` of lifting it.
fn lever(arm: f32, load: f32, lacks: f32) -> (World, BodyHandle) {
    let mut world = scenes::floor(0.5).unwrap();
    let about = Quat::from_rotation_arc(Vec3::X, Vec3::Z);
    let apart = |shape: Collider| shape.groups(1, 0);
    // Arms 0.1 and 1.9 of `arm`, the beam's middle at 0.9 of it.
    let beam_mass = 0.02 * load;
    let weight = ((1.0 - lacks) * load * 0.1 - beam_mass * 0.9) / 1.9;
    let height = 0.5 * arm;
    let beam = apart(Collider::cuboid(Vec3::new(2.0, 0.06, 0.2) * arm));
    let beam =
        world.add(BodyDesc::dynamic().at(Vec3::new(0.9 * arm, height, 0.0)).with(beam).weighing(beam_mass)).unwrap();
    let block = Collider::cuboid(Vec3::splat(0.4 * arm)).friction(0.5);
    let block = world.add(BodyDesc::dynamic().at(Vec3::new(-0.1, 0.2, 0.0) * arm).with(block).weighing(load)).unwrap();
    let hung = apart(Collider::sphere(0.05 * arm));
    let hung = world.add(BodyDesc::dynamic().at(Vec3::new(1.9, 0.2, 0.0) * arm).with(hung).weighing(weight)).unwrap();
    let point = |x: f32| Vec3::new(x * arm, height, 0.0);
    world.add_joint(JointDesc::hinge(beam, None).placed(&world, point(0.0), about).unwrap()).unwrap();
    for (body, x) in [(block, -0.1), (hung, 1.9)] {
        world.add_joint(JointDesc::ball(body, beam).placed(&world, point(x), Quat::IDENTITY).unwrap()).unwrap();
    }
    (world, block)
}

#[test]
fn a_lever_that_is_too_weak_lifts_nothing() {
    // Truth: nothing moves. Lifted by 5% of the short arm at most.
    let mut table = Table::new("lever");
    for (arm, load, lacks, iterations, dt) in [
        (1.0, 1000.0, 0.1, 4, DT),
        (1.0, 1000.0, 0.1, 10, DT),
        (1.0, 1000.0, 0.1, 20, DT),
        (1.0, 1000.0, 0.1, 60, DT),
        (1.0, 1000.0, 0.1, 4, 1.0 / 30.0),
        (1.0, 1000.0, 0.1, 4, 1.0 / 240.0),
        (1.0, 1.0, 0.1, 4, DT),
        (0.2, 1000.0, 0.1, 10, DT),
        (1.0, 1000.0, 0.3, 4, DT),
    ] {
        let (world, load_body) = lever(arm, load, lacks);
        let start = world.desc(load_body).unwrap().position.y;
        let mut simulation = simulate(world, iterating(iterations));
        let mut most = 0.0f32;
        for _ in 0..(5.0 / dt) as u32 {
            simulation.step(dt).unwrap();
            let up = simulation.body(load_body).unwrap().position.y - start;
            most = if up <= most { most } else { up };
        }
        let what =
            format!("arm {arm} m, {load} kg, lacks {lacks}, {iterations} x {dt:.4}: lifted by {:.2} mm", 1e3 * most);
        table.row(what, most < 0.005 * arm);
    }
    table.check();
}

#[test]
fn cantilevers_do_not_overshoot() {
    // Fixed joints in a row out of a wall. Truth: it stays straight; the tip sinks by 5% of the length at most, and
    // comes back.
    let mut table = Table::new("cantilever");
    for (bodies, load, iterations, dt) in [
        (1, 0.0, 4, DT),
        (1, 10.0, 4, DT),
        (3, 0.0, 4, DT),
        (5, 0.0, 4, DT),
        (5, 0.0, 10, DT),
        (5, 0.0, 60, DT),
        (5, 10.0, 10, DT),
        (5, 0.0, 4, 1.0 / 30.0),
        (5, 0.0, 4, 1.0 / 240.0),
    ] {
        let mut world = World::new();
        let shape = Collider::cuboid(Vec3::new(0.2, 0.1, 0.1)).groups(1, 0);
        let mut last = None;
        for i in 0..bodies {
            let x = 0.2 * i as f32;
            let bar = world.add(BodyDesc::dynamic().at(Vec3::X * (x + 0.1)).with(shape.clone()).weighing(1.0)).unwrap();
            let joint = JointDesc::fixed(bar, last).placed(&world, Vec3::X * x, Quat::IDENTITY).unwrap();
            world.add_joint(joint).unwrap();
            last = Some(bar);
        }
        let length = 0.2 * bodies as f32;
        let mut tip = last.unwrap();
        if load > 0.0 {
            let ball = Collider::sphere(0.05).groups(1, 0);
            let place = Vec3::new(length, -0.1, 0.0);
            let ball = world.add(BodyDesc::dynamic().at(place).with(ball).weighing(load)).unwrap();
            let joint = JointDesc::ball(ball, tip).placed(&world, Vec3::X * length, Quat::IDENTITY).unwrap();
            world.add_joint(joint).unwrap();
            tip = ball;
        }
        let start = world.desc(tip).unwrap().position.y;
        let mut simulation = simulate(world, iterating(iterations));
        let (mut most, mut end) = (0.0f32, 0.0);
        for _ in 0..(10.0 / dt) as u32 {
            simulation.step(dt).unwrap();
            end = (start - simulation.body(tip).unwrap().position.y).abs() / length;
            most = if end <= most { most } else { end };
        }
        let what = format!(
            "{bodies} bars of 1 kg, {load} kg at the tip, {iterations} x {dt:.4}: {:.2}% at most, {:.2}% in the end",
            100.0 * most,
            100.0 * end
        );
        table.row(what, most < 0.05 && end < 0.01);
    }
    table.check();
}

#[test]
fn joints_break_at_their_limit_from_the_first_step_on() {
    // Truth: a joint whose limit is 1.05 of what hangs on it holds, and one of 0.95 breaks.
    let mut table = Table::new("breaking");
    for (mass, iterations, dt) in [
        (1.0, 4, DT),
        (1.0, 10, DT),
        (1.0, 60, DT),
        (1e-3, 4, DT),
        (1e5, 4, DT),
        (1.0, 4, 1.0 / 30.0),
        (1.0, 4, 1.0 / 240.0),
    ] {
        for (limit, breaks) in [(1.05, false), (0.95, true)] {
            let mut world = World::new();
            let shape = Collider::cuboid(Vec3::splat(0.5));
            let body = world.add(BodyDesc::dynamic().at(Vec3::Y * -0.5).with(shape).weighing(mass)).unwrap();
            let joint = JointDesc::ball(body, None).placed(&world, Vec3::ZERO, Quat::IDENTITY).unwrap();
            let joint = world.add_joint(joint.breaking(limit * mass * G, f32::MAX)).unwrap();
            let mut simulation = simulate(world, iterating(iterations));
            for _ in 0..(3.0 / dt) as u32 {
                simulation.step(dt).unwrap();
            }
            let broken = simulation.world().is_broken(joint).unwrap();
            table.row(format!("{mass} kg on {limit}, {iterations} x {dt:.4}: broken {broken}"), broken == breaks);
        }
    }
    table.check();
}

#[test]
fn what_is_joined_in_a_running_world_starts_cold_when_it_is_asked_to() {
    // A cantilever of five bars that comes later. Truth: it stays straight.
    let sinks = |asked: bool| {
        let mut simulation = simulate(scenes::floor(0.5).unwrap(), iterating(4));
        (0..5).for_each(|_| drop(simulation.step(DT).unwrap()));
        let (world, shape) = (simulation.world_mut(), Collider::cuboid(Vec3::new(0.2, 0.1, 0.1)).groups(1, 0));
        let mut last = None;
        for i in 0..5 {
            let place = Vec3::new(0.2 * i as f32, 5.0, 0.0);
            let bar = BodyDesc::dynamic().at(place + Vec3::X * 0.1).with(shape.clone()).weighing(1.0);
            let bar = world.add(bar).unwrap();
            let joint = JointDesc::fixed(bar, last).placed(world, place, Quat::IDENTITY).unwrap();
            world.add_joint(joint).unwrap();
            last = Some(bar);
        }
        if asked {
            simulation.start_cold();
        }
        let low = (0..120).map(|_| {
            simulation.step(DT).unwrap();
            5.0 - simulation.body(last.unwrap()).unwrap().position.y
        });
        low.fold(0.0f32, f32::max)
    };
    let (asked, not) = (sinks(true), sinks(false));
    assert!(asked < 0.005 && asked < 0.2 * not, "sinks by {asked} m, and by {not} m without asking");
}
