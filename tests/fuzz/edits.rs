//! A world to which anything is said, sense and nonsense: what makes no sense is an error, and everything stays finite.

use super::Outcome;
use crate::common::{Random, box_points};
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::state::Limits;
use drystone::world::{BodyDesc, BodyHandle, Collider, JointDesc, JointHandle, World};
use drystone::{QueryBatch, QueryFilter, Settings, Simulation, Snapshot};

/// A number that is mostly sensible.
pub fn number(random: &mut Random) -> f32 {
    match random.below(24) {
        0 => [f32::NAN, f32::INFINITY, f32::MAX, -f32::MAX, 1e-45, -0.0, 1e30, 1e-30][random.below(8) as usize],
        1 => random.range(-1e6, 1e6),
        _ => random.range(-3.0, 3.0),
    }
}

pub fn vector(random: &mut Random) -> Vec3 {
    Vec3::new(number(random), number(random), number(random))
}

pub fn rotation(random: &mut Random) -> Quat {
    let q = Quat::from_xyzw(number(random), number(random), number(random), number(random));
    if random.below(20) == 0 { q } else { q.normalize() }
}

fn collider(random: &mut Random) -> Collider {
    let (a, b) = (number(random).abs(), number(random).abs());
    let mut collider = match random.below(8) {
        0 => Collider::sphere(a),
        1 => Collider::cuboid(vector(random).abs()),
        2 => Collider::capsule(a, b),
        3 => Collider::cylinder(a, b),
        4 => Collider::cone(a, b),
        5 => Collider::half_space(),
        6 => Collider::hull(&box_points(vector(random))).unwrap_or(Collider::sphere(0.5)),
        _ => Collider::cuboid(Vec3::ONE),
    };
    if random.below(3) == 0 {
        (collider.position, collider.rotation) = (vector(random), rotation(random));
        (collider.restitution, collider.friction_rolling) = (number(random).abs(), number(random).abs());
        (collider.density, collider.sensor) = (number(random).abs() * 1000.0, random.below(4) == 0);
        collider.surface_velocity = vector(random);
    }
    collider
}

pub fn body(random: &mut Random) -> BodyDesc {
    let mut desc = match random.below(6) {
        0 => BodyDesc::fixed(),
        1 => BodyDesc::kinematic(),
        _ => BodyDesc::dynamic(),
    };
    for _ in 0..=random.below(2) {
        desc = desc.with(collider(random));
    }
    (desc.position, desc.rotation) = (vector(random), rotation(random));
    (desc.linear_velocity, desc.angular_velocity) = (vector(random), vector(random));
    desc.continuous = random.below(10) == 0;
    (desc.linear_damping, desc.angular_damping) = (number(random).max(0.0), number(random).max(0.0));
    desc
}

pub fn joint(random: &mut Random, a: BodyHandle, b: BodyHandle) -> JointDesc {
    let b = if random.below(5) == 0 { None } else { Some(b) };
    let desc = match random.below(4) {
        0 => JointDesc::ball(a, b),
        1 => JointDesc::hinge(a, b),
        2 => JointDesc::slider(a, b),
        _ => JointDesc::fixed(a, b),
    };
    let desc = desc.anchors(vector(random), vector(random));
    if random.below(2) == 0 { desc.friction(number(random)) } else { desc }
}

/// One thing that is said. Whether it is refused does not matter.
fn say(world: &mut World, bodies: &mut Vec<BodyHandle>, joints: &mut Vec<JointHandle>, random: &mut Random) -> bool {
    let any = bodies[random.below(bodies.len() as u32) as usize];
    let other = bodies[random.below(bodies.len() as u32) as usize];
    let some = joints.get(random.below(joints.len().max(1) as u32) as usize).copied();
    match random.below(18) {
        0..=2 => world.add(body(random)).map(|body| bodies.push(body)).is_ok(),
        3 => world.remove(any).is_ok(),
        4 => world.set_pose(any, vector(random), rotation(random)).is_ok(),
        5 => world.set_velocity(any, vector(random), vector(random)).is_ok(),
        6 => world.set_target(any, vector(random), rotation(random)).is_ok(),
        7 => world.apply_impulse(any, vector(random), vector(random)).is_ok(),
        8 => world.apply_impulse_at(any, vector(random), vector(random)).is_ok(),
        9 => world.set_force(any, vector(random), vector(random)).is_ok(),
        10 => world.apply_force_at(any, vector(random), vector(random)).is_ok(),
        11 => world.set_damping(any, number(random), number(random)).is_ok(),
        12 => world.set_material(any, random.below(3) as usize, |c| c.friction_static = number(random).abs()).is_ok(),
        13 | 14 => world.add_joint(joint(random, any, other)).map(|joint| joints.push(joint)).is_ok(),
        15 => some.is_some_and(|joint| world.break_joint(joint).is_ok()),
        16 => some.is_some_and(|joint| world.repair_joint(joint).is_ok()),
        _ => world.set_gravity(vector(random) * 3.0).is_ok(),
    }
}

fn ask(simulation: &mut Simulation, random: &mut Random) {
    let mut batch = QueryBatch::new();
    for _ in 0..3 {
        let _ = batch.ray(vector(random), vector(random), number(random), QueryFilter::default());
        let _ = batch.sphere_cast(vector(random), number(random), vector(random), QueryFilter::default());
        let _ = batch.closest_point(vector(random), number(random), QueryFilter::default());
    }
    simulation.query(&batch).map(drop).unwrap();
}

/// A simulation that has had other worlds before, what it began with, and how many worlds that were.
pub type Kept = Option<(Simulation, Snapshot, u32)>;

/// Most worlds that one simulation has, one after the other: its lists never become shorter.
const MOST_WORLDS: u32 = 64;

/// A simulation of a floor.
fn started(kept: &mut Kept, fresh: bool) -> &mut Simulation {
    match kept {
        Some((simulation, first, worlds)) if !fresh && *worlds < MOST_WORLDS => {
            *worlds += 1;
            simulation.restore(first).unwrap();
        }
        _ => {
            let mut world = World::new();
            world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
            let limits = Limits::none().with_memory(32 << 20).with_pairs(5000);
            let device = Device::Cpu { threads: Some(1) };
            let mut simulation = Simulation::within(world, Settings::default(), device, limits).unwrap();
            let first = simulation.snapshot().unwrap();
            *kept = Some((simulation, first, 1));
        }
    }
    &mut kept.as_mut().unwrap().0
}

pub fn case(random: &mut Random, kept: &mut Kept, fresh: bool) -> Outcome {
    let simulation = started(kept, fresh);
    let mut bodies: Vec<_> = simulation.world().handles().collect();
    let mut joints = Vec::new();
    let settings = Settings::default().with(|s| {
        (s.iterations, s.substeps) = (1 + random.below(6), 1 + random.below(2));
        if let Some(avbd) = s.avbd_mut() {
            avbd.cold_iterations = 8;
        }
    });
    simulation.set_settings(settings).unwrap();
    let mut said = false;
    for step in 0..8 {
        for _ in 0..random.below(6) {
            said |= say(simulation.world_mut(), &mut bodies, &mut joints, random);
        }
        let dt = if random.below(16) == 0 { number(random) } else { 1.0 / 60.0 };
        // A step of no length, or one beyond the limits, is refused; the world goes on without it.
        let _ = simulation.step(dt);
        if step == 5 {
            ask(simulation, random);
        }
        for (body, state) in simulation.bodies().unwrap() {
            assert!(state.position.is_finite() && state.rotation.is_finite(), "step {step}: {body:?} {state:?}");
        }
    }
    if said { Outcome::Accepted } else { Outcome::Refused }
}
