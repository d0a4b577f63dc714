//! The same scenes on drystone and on rapier3d in one run: time a step, penetration (deepest over time, and deepest and
//! mean at the end), and what still stands after five seconds. They take turns of a few steps, so that whatever else
//! the machine does meets all of them; the time that processors really worked is the fairer figure on a machine that is
//! shared. `cargo bench -p drystone-peers`; an argument picks scenes by part of their name.
//!
//! Both run at dt 1/60 on all cores, without sleeping. rapier3d at 3 iterations, the fewest that hold the pile.
//!
//! `cargo bench -p drystone-peers -- --stands` asks instead what stands after a minute: see `standing.rs`;
//! `-- --queries` compares batches of queries: see `queries.rs`.

mod queries;
mod standing;

use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::metrics::Metrics;
use drystone::scenes;
use drystone::vulkan::{Loader, OwnDevice, OwnDeviceOptions};
use drystone::world::joint::{Axis, Hold, JointAxis};
use drystone::world::{BodyHandle, BodyKind, Collider, JointDesc, Shape, World};
use drystone::{Settings, Simulation};
use rapier3d::prelude::{
    ColliderBuilder, GenericJointBuilder, Group, InteractionGroups, JointAxesMask, PhysicsWorld, Pose,
    RigidBodyBuilder, RigidBodyHandle, Rotation, SharedShape, Vector,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

const DT: f32 = 1.0 / 60.0;
const STEPS: u32 = 300;

/// Steps an engine makes before the next one has its turn.
const TURN: u32 = 10;

/// Turns until their overlaps are looked at.
const LOOK: u32 = 3;

/// An engine with a scene.
trait Engine {
    fn step(&mut self);
    /// Where its bodies are, in the order of the world's handles.
    fn places(&mut self) -> Vec<(Vec3, Quat)>;
    /// Their linear velocities.
    fn velocities(&mut self) -> Vec<Vec3>;
}

/// The scene as it stands now, seen by the same eyes whoever made it: drystone's contacts of a world with the bodies
/// put there. Engines keep contacts from before their last step, and not all of them.
fn look(world: &World, places: &[(Vec3, Quat)]) -> Metrics {
    let mut now = World::new();
    for (handle, (position, rotation)) in world.handles().zip(places) {
        let mut desc = world.desc(handle).expect("a live handle").clone();
        (desc.position, desc.rotation) = (*position, *rotation);
        (desc.linear_velocity, desc.angular_velocity) = (Vec3::ZERO, Vec3::ZERO);
        now.add(desc).expect("a body as it was");
    }
    let settings = Settings::default().with(|s| s.iterations = 1);
    let mut simulation = Simulation::new(now, settings, Device::Cpu { threads: None }).expect("a scene that fits");
    simulation.step(1e-6).expect("a step");
    Metrics::of(&mut simulation).expect("metrics")
}

/// What a scene came to.
struct Outcome {
    who: String,
    engine: Box<dyn Engine>,
    times: Vec<Duration>,
    /// Time of all processors that this process was given meanwhile.
    processors: Duration,
    /// Deepest overlap that was seen.
    deepest: f64,
}

impl Outcome {
    fn new(who: impl Into<String>, engine: impl Engine + 'static) -> Self {
        Self { who: who.into(), engine: Box::new(engine), times: Vec::new(), processors: Duration::ZERO, deepest: 0.0 }
    }

    fn turn(&mut self) {
        let before = processors();
        for _ in 0..TURN {
            let start = Instant::now();
            self.engine.step();
            self.times.push(start.elapsed());
        }
        self.processors += processors().saturating_sub(before);
    }

    fn look(&mut self, world: &World) -> Metrics {
        let seen = look(world, &self.engine.places());
        self.deepest = self.deepest.max(seen.max_penetration);
        seen
    }

    fn median(&self) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e3
    }

    fn processors(&self) -> f64 {
        self.processors.as_secs_f64() * 1e3 / self.times.len() as f64
    }
}

/// Processor time of all threads of this process, where Linux tells.
fn processors() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let spent = tasks.filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(spent.sum())
}

impl Engine for Simulation {
    fn step(&mut self) {
        self.step(DT).expect("a step");
    }

    fn places(&mut self) -> Vec<(Vec3, Quat)> {
        let states = self.bodies().expect("states");
        states.into_iter().map(|(_, state)| (state.position, state.rotation)).collect()
    }

    fn velocities(&mut self) -> Vec<Vec3> {
        self.bodies().expect("states").into_iter().map(|(_, state)| state.linear_velocity).collect()
    }
}

fn drystone(world: World, device: Device) -> Simulation {
    Simulation::new(world, Settings::default(), device).expect("a scene that fits")
}

/// rapier3d's world and its bodies.
struct Rapier {
    world: PhysicsWorld,
    bodies: Vec<RigidBodyHandle>,
}

impl Engine for Rapier {
    fn step(&mut self) {
        self.world.step();
    }

    fn places(&mut self) -> Vec<(Vec3, Quat)> {
        let place = |handle: &RigidBodyHandle| {
            let (p, q) = (self.world.bodies[*handle].translation(), self.world.bodies[*handle].rotation());
            (Vec3::new(p.x, p.y, p.z), Quat::from_xyzw(q.x, q.y, q.z, q.w))
        };
        self.bodies.iter().map(place).collect()
    }

    fn velocities(&mut self) -> Vec<Vec3> {
        let velocity = |handle: &RigidBodyHandle| {
            let v = self.world.bodies[*handle].linvel();
            Vec3::new(v.x, v.y, v.z)
        };
        self.bodies.iter().map(velocity).collect()
    }
}

fn vector(v: Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn pose(position: Vec3, rotation: Quat) -> Pose {
    Pose::from_parts(vector(position), Rotation::from_xyzw(rotation.x, rotation.y, rotation.z, rotation.w))
}

fn shape(collider: &Collider) -> SharedShape {
    match &collider.shape {
        &Shape::Sphere { radius } => SharedShape::ball(radius),
        &Shape::Box { half } => SharedShape::cuboid(half.x, half.y, half.z),
        &Shape::Capsule { half_height, radius } => SharedShape::capsule_y(half_height, radius),
        &Shape::Cylinder { half_height, radius } => SharedShape::cylinder(half_height, radius),
        &Shape::Cone { half_height, radius } => SharedShape::cone(half_height, radius),
        Shape::ConvexHull(hull) => {
            let points: Vec<_> = hull.vertices().map(vector).collect();
            SharedShape::convex_hull(&points).expect("the points of a hull")
        }
        Shape::HalfSpace => SharedShape::halfspace(Vector::Y),
        _ => unreachable!("a shape that is new here"),
    }
}

fn rapier(world: &World, iterations: usize) -> Rapier {
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
            _ => unreachable!("a kind of body that is new here"),
        };
        let body = peer.insert_body(
            builder.pose(pose(desc.position, desc.rotation)).linvel(vector(desc.linear_velocity)).can_sleep(false),
        );
        // A mass that is given is spread as densities would be.
        let by_density: f32 = desc.colliders.iter().map(|c| shape(c).mass_properties(c.density).mass()).sum();
        let denser = desc.mass.map_or(1.0, |mass| mass / by_density);
        for collider in &desc.colliders {
            let made = ColliderBuilder::new(shape(collider))
                .position(pose(collider.position, collider.rotation))
                .density(collider.density * denser)
                .friction(collider.friction_dynamic)
                .collision_groups(groups(collider));
            peer.insert_collider(made, Some(body));
        }
        handles.push(body);
    }
    let place = |body: BodyHandle| world.handles().position(|h| h == body).map(|i| handles[i]);
    for joint in world.joints() {
        let desc = world.joint(joint).expect("a live handle");
        let (anchor_a, anchor_b) = (pose(desc.anchor_a, desc.frame_a), pose(desc.anchor_b, desc.frame_b));
        let made = GenericJointBuilder::new(locked(desc)).local_frame1(anchor_b).local_frame2(anchor_a);
        let made = made.contacts_enabled(desc.collide);
        let first = desc.body_b.map_or_else(|| Some(peer.insert_body(RigidBodyBuilder::fixed())), place);
        let bodies = first.zip(place(desc.body_a)).expect("joined bodies are in the world");
        peer.insert_impulse_joint(bodies.0, bodies.1, made);
    }
    Rapier { world: peer, bodies: handles }
}

fn groups(collider: &Collider) -> InteractionGroups {
    let [memberships, filter] = [collider.groups, collider.mask].map(Group::from_bits_truncate);
    InteractionGroups { memberships, filter, ..InteractionGroups::all() }
}

/// What a joint holds, of joints that only hold.
fn locked(desc: &JointDesc) -> JointAxesMask {
    let axes = [
        (JointAxis::X, JointAxesMask::LIN_X),
        (JointAxis::Y, JointAxesMask::LIN_Y),
        (JointAxis::Z, JointAxesMask::LIN_Z),
        (JointAxis::Twist, JointAxesMask::ANG_X),
        (JointAxis::SwingY, JointAxesMask::ANG_Y),
        (JointAxis::SwingZ, JointAxesMask::ANG_Z),
    ];
    let held = |axis: JointAxis| desc.axes[axis as usize] == Axis { hold: Hold::At(0.0), drive: None };
    assert!(
        desc.axes.iter().all(|axis| *axis == Axis::default() || axis.hold == Hold::At(0.0)),
        "a joint that only holds"
    );
    axes.into_iter().filter(|(axis, _)| held(*axis)).fold(JointAxesMask::empty(), |mask, (_, bit)| mask | bit)
}

fn llvmpipe() -> Option<Device> {
    let options = OwnDeviceOptions { name: Some("llvmpipe".to_owned()), ..Default::default() };
    let device = OwnDevice::new(&Loader::system().ok()?, &options).ok()?;
    Some(Device::Vulkan(Arc::new(device)))
}

fn main() {
    if std::env::args().any(|a| a == "--stands") {
        return standing::main();
    }
    if std::env::args().any(|a| a == "--queries") {
        return queries::main();
    }
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
            Outcome::new("rapier3d, 3 iterations", rapier(&world, 3)),
            Outcome::new("drystone cpu, 4 iterations", drystone(world.clone(), Device::Cpu { threads: None })),
        ];
        if let Some(device) = llvmpipe() {
            outcomes.push(Outcome::new("drystone llvmpipe, 4 iterations", drystone(world.clone(), device)));
        }
        for turn in 1..=STEPS / TURN {
            outcomes.iter_mut().for_each(Outcome::turn);
            if turn % LOOK == 0 {
                for o in &mut outcomes {
                    o.look(&world);
                }
            }
        }
        let (base, base_processors) = (outcomes[0].median(), outcomes[0].processors());
        for o in &mut outcomes {
            let end = o.look(&world);
            println!(
                "  {:<32} {:>8.2} ms median {:>5.2} x  {:>8.2} ms of processors {:>5.2} x  deepest {:>6.1} mm, at the end {:>6.1}, mean {:>5.2}  top {:>7.3} m",
                o.who,
                o.median(),
                o.median() / base,
                o.processors(),
                o.processors() / base_processors,
                o.deepest * 1e3,
                end.max_penetration * 1e3,
                end.mean_penetration * 1e3,
                end.top,
            );
        }
    }
}
