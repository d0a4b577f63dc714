//! What joints must not do to energy and momentum.

use super::*;
use drystone::metrics::Metrics;
use drystone::scenes;
use drystone::world::joint::{Drive, JointAxis};
use drystone::world::{BodyHandle, JointDesc};

/// Energy of all springs.
fn springs(simulation: &mut Simulation) -> f64 {
    let states: std::collections::BTreeMap<_, _> = simulation.bodies().unwrap().into_iter().collect();
    let world = simulation.world();
    let at = |body: Option<BodyHandle>, anchor: Vec3| {
        body.map_or(anchor, |b| states[&b].position + states[&b].rotation * anchor)
    };
    let energy = |joint| {
        let desc = world.joint(joint).unwrap();
        let Some(Drive::Spring { target, stiffness, .. }) = desc.axes[JointAxis::Distance as usize].drive else {
            return 0.0;
        };
        let length = (at(Some(desc.body_a), desc.anchor_a) - at(desc.body_b, desc.anchor_b)).length();
        0.5 * f64::from(stiffness) * f64::from(length - target).powi(2)
    };
    world.joints().map(energy).sum()
}

/// The most that a scene gains over its seconds, as a part of what it had to give: the energy it began with over the
/// lowest it came to have at rest, and what its springs held.
fn gain(world: World, iterations: u32, seconds: f32) -> f64 {
    let mut simulation = simulate(world, iterating(iterations));
    let held = springs(&mut simulation);
    let start = Metrics::of(&mut simulation).unwrap().energy() + held;
    let (mut most, mut lowest) = (f64::MIN, f64::MAX);
    for _ in 0..(seconds / DT) as u32 {
        simulation.step(DT).unwrap();
        let metrics = Metrics::of(&mut simulation).unwrap();
        let potential = metrics.potential_energy + springs(&mut simulation);
        most = most.max(metrics.kinetic_energy + potential);
        lowest = lowest.min(potential);
    }
    (most - start) / (start - lowest + held)
}

#[test]
fn no_scene_with_joints_gains_energy() {
    let scenes = [
        ("pendulum", scenes::pendulum(50, 5e4, 1.5), 20, 10.0),
        ("pendulum 1000:1", scenes::pendulum(50, 1e3, 1.5), 20, 10.0),
        ("pendulum 450:1 at 4", scenes::pendulum(50, 450.0, 1.5), 4, 10.0),
        ("chain of 10 at 4", scenes::pendulum(10, 1.0, 1.5), 4, 10.0),
        ("chain of 20 at 4", scenes::pendulum(20, 1.0, 1.5), 4, 10.0),
        ("chain of 20", scenes::pendulum(20, 1.0, 1.5), 10, 10.0),
        ("chain of 50 at 4", scenes::pendulum(50, 1.0, 1.5), 4, 10.0),
        ("chain with a load at 4", scenes::pendulum(10, 30.0, 1.5), 4, 10.0),
        ("chain_balls", scenes::chain_balls(50, 5e4), 20, 10.0),
        ("bridge", scenes::bridge(20), 4, 10.0),
        ("bridge at 10", scenes::bridge(20), 10, 10.0),
        ("swing_box", scenes::swing_box(25, 1000.0), 10, 10.0),
        ("swing_box at 4", scenes::swing_box(25, 1000.0), 4, 10.0),
        ("rope at 4", scenes::rope(20), 4, 10.0),
        ("rope", scenes::rope(20), 20, 10.0),
        ("rope at 40", scenes::rope(20), 40, 10.0),
        ("hinge_limits", scenes::hinge_limits(5), 4, 10.0),
        ("rods", scenes::rods(5), 4, 10.0),
        ("limbs", scenes::limbs(5), 4, 10.0),
        ("joint_grid at 4", scenes::joint_grid(20), 4, 10.0),
        ("joint_grid", scenes::joint_grid(20), 10, 10.0),
        ("joint_grid of 3,600 at 4", scenes::joint_grid(60), 4, 10.0),
        ("joint_grid of 10,000", scenes::joint_grid(100), 10, 3.5),
        ("chainmail", scenes::chainmail(5, 500.0, false), 15, 10.0),
        ("ragdolls", scenes::ragdolls(5), 10, 10.0),
        ("spring_ratio", scenes::spring_ratio(1e4), 5, 10.0),
        ("spring_chain", scenes::spring_chain(10, 1e4), 5, 10.0),
    ];
    let gains: Vec<_> = scenes.map(|(name, world, n, seconds)| (name, gain(world.unwrap(), n, seconds))).into();
    // Links of chain_balls begin at rest while their balls move: 0.58% in the first second, until the pull has built
    // up.
    let most = |name: &str| if name == "chain_balls" { 0.0065 } else { 0.005 };
    let wrong: Vec<_> = gains.iter().filter(|(name, gain)| gain.is_nan() || *gain >= most(name)).collect();
    assert!(wrong.is_empty(), "{wrong:?} of {gains:?}");
}

#[test]
fn a_chain_falls_in_the_time_it_takes() {
    // Beside one that has all the iterations it wants.
    let fastest = |iterations: u32| {
        let mut simulation = simulate(scenes::pendulum(10, 1.0, 1.5).unwrap(), iterating(iterations));
        let speeds = (0..60).map(|_| {
            simulation.step(DT).unwrap();
            Metrics::of(&mut simulation).unwrap().kinetic_energy
        });
        speeds.fold(0.0, f64::max)
    };
    let reference = fastest(200);
    for iterations in [4, 10] {
        let found = fastest(iterations);
        assert!((found / reference - 1.0).abs() < 0.05, "{iterations} iterations: {found} J, not {reference}");
    }
}

/// Lets bodies fall that are joined and hold on to nothing else, each at a velocity of its own: together they fall
/// freely, and lose no more energy than with all the iterations they want.
fn falls_freely(name: &str, world: impl Fn() -> World) {
    let energy = |iterations: u32| {
        let mut world = world();
        let handles: Vec<_> = world.handles().collect();
        for (i, body) in handles.iter().enumerate() {
            let velocity = Vec3::new((i as f32).sin(), 3.0 + (2.0 * i as f32).cos(), (3.0 * i as f32).sin());
            world.set_velocity(*body, velocity, Vec3::ZERO).unwrap();
        }
        let mass: f64 = handles.iter().map(|h| f64::from(world.mass(*h).unwrap())).sum();
        let mut simulation = simulate(world, iterating(iterations));
        // Velocities are sent with the first step.
        simulation.step(DT).unwrap();
        let before = Metrics::of(&mut simulation).unwrap();
        for step in 1..=120 {
            simulation.step(DT).unwrap();
            let now = Metrics::of(&mut simulation).unwrap();
            let fallen = f64::from(G) * f64::from(step) * f64::from(DT);
            let off = ((now.momentum - before.momentum) / mass).y + fallen;
            // Far below single precision is coarser.
            assert!(off.abs() < 1e-4 * fallen + 1e-4, "{name} at {iterations}, step {step}: {off} of {fallen} m/s");
            assert!(now.energy() < before.energy() + 1e-3 * before.kinetic_energy, "{name}, step {step}: energy grows");
        }
        // Of the motion within.
        let end = Metrics::of(&mut simulation).unwrap();
        end.kinetic_energy - end.momentum.length_squared() / (2.0 * mass)
    };
    // It never grows, see above; and few iterations take no more of it than many do.
    let (found, reference) = (energy(4), energy(100));
    assert!(found > 0.8 * reference, "{name}: {found} J are left, {reference} with all iterations");
}

#[test]
fn what_is_joined_falls_freely() {
    falls_freely("ragdoll", || {
        let mut world = scenes::ragdolls(1).unwrap();
        let floor = world.handles().next().unwrap();
        world.remove(floor).unwrap();
        world
    });
    falls_freely("chain", || {
        let mut world = World::new();
        let mut last: Option<BodyHandle> = None;
        for i in 0..10 {
            let at = Vec3::X * 0.4 * i as f32;
            let link = BodyDesc::dynamic().at(at).with(Collider::cuboid(Vec3::new(0.36, 0.1, 0.1)));
            let link = world.add(link).unwrap();
            if let Some(last) = last {
                let joint = JointDesc::ball(link, last).placed(&world, at - Vec3::X * 0.2, Default::default());
                world.add_joint(joint.unwrap()).unwrap();
            }
            last = Some(link);
        }
        world
    });
}

#[test]
fn a_pair_without_gravity_stays_where_it_is() {
    // Two cubes on a fixed joint, turning about their common centre of mass.
    for mass in [1.0, 10.0, 1000.0] {
        let mut world = weightless();
        let spin = Vec3::Z * 5.0;
        let place = |x: f32| Vec3::X * (x - 0.2 * mass / (1.0 + mass));
        let (at, other) = (place(0.0), place(0.2));
        let a = world.add(cube(at, 1.0).spinning(spin).moving(spin.cross(at))).unwrap();
        let b = world.add(cube(other, mass).spinning(spin).moving(spin.cross(other))).unwrap();
        let joint = JointDesc::fixed(a, b).placed(&world, (at + other) * 0.5, Default::default());
        world.add_joint(joint.unwrap()).unwrap();
        let mut simulation = simulate(world, Settings::default());
        for step in 0..300 {
            simulation.step(DT).unwrap();
            let at = |body| simulation.body(body).unwrap().position;
            let mut at = at;
            let centre = (at(a) + at(b) * mass) / (1.0 + mass);
            // It goes round in a circle: the pass that draws the joint together moves one of the two before the other.
            assert!(centre.length() < 2e-4, "{mass} kg: step {step}: {centre}");
            let momentum = Metrics::of(&mut simulation).unwrap().momentum.length();
            assert!(momentum < 1e-5 * f64::from(1.0 + mass), "{mass} kg: step {step}: {momentum} kg m/s");
        }
    }
}
