//! The same scenes on drystone and on rapier3d, one after the other in one run: time a step, penetration, and what still
//! stands after five seconds. `cargo bench -p drystone-peers`; an argument picks scenes by part of their name.
//!
//! Both run at dt 1/60 on all cores, without sleeping. rapier3d at 3 iterations, the fewest that hold the pile.

use drystone::backend::Device;
use drystone::metrics::Metrics;
use drystone::scenes;
use drystone::vulkan::{Loader, OwnDevice, OwnDeviceOptions};
use drystone::world::{BodyKind, Collider, Shape, World};
use drystone::{Settings, Simulation};
use rapier3d::prelude::{
    ColliderBuilder, PhysicsWorld, Pose, RigidBodyBuilder, RigidBodyHandle, Rotation, SharedShape, Vector,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

const DT: f32 = 1.0 / 60.0;
const STEPS: u32 = 300;

/// What a scene came to.
struct Outcome {
    who: String,
    median: Duration,
    mean: Duration,
    penetration: f64,
    top: f64,
}

fn median(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort_unstable();
    let mean = times.iter().sum::<Duration>() / times.len().max(1) as u32;
    (times[times.len() / 2], mean)
}

fn drystone(who: &str, world: World, device: Device) -> Outcome {
    let mut simulation = Simulation::new(world, Settings::default(), device).expect("a scene that fits");
    let times = (0..STEPS).map(|_| {
        let start = Instant::now();
        simulation.step(DT).expect("a step");
        start.elapsed()
    });
    let (median, mean) = median(times.collect());
    let end = Metrics::of(&mut simulation).expect("metrics");
    Outcome { who: who.to_owned(), median, mean, penetration: end.max_penetration, top: end.top }
}

fn vector(v: drystone::glam::Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn pose(position: drystone::glam::Vec3, rotation: drystone::glam::Quat) -> Pose {
    Pose::from_parts(vector(position), Rotation::from_xyzw(rotation.x, rotation.y, rotation.z, rotation.w))
}

fn shape(collider: &Collider) -> SharedShape {
    match &collider.shape {
        &Shape::Sphere { radius } => SharedShape::ball(radius),
        &Shape::Box { half } => SharedShape::cuboid(half.x, half.y, half.z),
        &Shape::Capsule { half_height, radius } => SharedShape::capsule_y(half_height, radius),
        Shape::ConvexHull(hull) => {
            let points: Vec<_> = hull.vertices().map(vector).collect();
            SharedShape::convex_hull(&points).expect("the points of a hull")
        }
        Shape::HalfSpace => SharedShape::halfspace(Vector::Y),
    }
}

fn rapier(world: &World, iterations: usize) -> Outcome {
    let mut peer = PhysicsWorld { gravity: vector(world.gravity()), ..Default::default() };
    peer.integration_parameters.dt = DT;
    peer.integration_parameters.num_solver_iterations = iterations;
    let mut handles: Vec<RigidBodyHandle> = Vec::new();
    for handle in world.handles() {
        let desc = world.desc(handle).expect("a live handle");
        let builder = match desc.kind {
            BodyKind::Dynamic => RigidBodyBuilder::dynamic(),
            BodyKind::Kinematic => RigidBodyBuilder::kinematic_velocity_based(),
            BodyKind::Static => RigidBodyBuilder::fixed(),
        };
        let body = peer.insert_body(
            builder.pose(pose(desc.position, desc.rotation)).linvel(vector(desc.linear_velocity)).can_sleep(false),
        );
        for collider in &desc.colliders {
            let made = ColliderBuilder::new(shape(collider))
                .position(pose(collider.position, collider.rotation))
                .density(collider.density)
                .friction(collider.friction_dynamic);
            peer.insert_collider(made, Some(body));
        }
        if desc.kind == BodyKind::Dynamic {
            handles.push(body);
        }
    }
    let times = (0..STEPS).map(|_| {
        let start = Instant::now();
        peer.step();
        start.elapsed()
    });
    let (median, mean) = median(times.collect());
    let deepest = peer.narrow_phase.contact_pairs().filter_map(|p| p.find_deepest_contact());
    let penetration = deepest.map(|(_, contact)| f64::from(-contact.dist)).fold(0.0, f64::max);
    let top = handles.iter().map(|h| f64::from(peer.bodies[*h].translation().y)).fold(f64::NEG_INFINITY, f64::max);
    Outcome { who: format!("rapier3d, {iterations} iterations"), median, mean, penetration, top }
}

fn llvmpipe() -> Option<Device> {
    let options = OwnDeviceOptions { name: Some("llvmpipe".to_owned()), ..Default::default() };
    let device = OwnDevice::new(&Loader::system().ok()?, &options).ok()?;
    Some(Device::Vulkan(Arc::new(device)))
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let all: [(&str, World); 4] = [
        ("pile 1k", scenes::pile(1000, 40).expect("a scene")),
        ("pile 10k", scenes::pile(10_000, 40).expect("a scene")),
        ("drop 1k", scenes::drop(1000).expect("a scene")),
        ("drop 8k", scenes::drop(8000).expect("a scene")),
    ];
    for (name, world) in all {
        if !wanted.is_empty() && !wanted.iter().any(|w| name.contains(w.as_str())) {
            continue;
        }
        println!("{name}: {} bodies, {STEPS} steps", world.len());
        let mut outcomes = vec![
            rapier(&world, 3),
            drystone("drystone cpu, 4 iterations", world.clone(), Device::Cpu { threads: None }),
        ];
        if let Some(device) = llvmpipe() {
            outcomes.push(drystone("drystone llvmpipe, 4 iterations", world, device));
        }
        let base = outcomes[0].median.as_secs_f64();
        for o in &outcomes {
            println!(
                "  {:<32} {:>8.2} ms median {:>8.2} ms mean  {:>5.2} x  penetration {:>6.1} mm  top {:>7.3} m",
                o.who,
                o.median.as_secs_f64() * 1e3,
                o.mean.as_secs_f64() * 1e3,
                o.median.as_secs_f64() / base,
                o.penetration * 1e3,
                o.top
            );
        }
    }
}
