//! What stands after a minute, at the same iterations: `cargo bench -p drystone-peers -- --stands`, with parts of
//! scenes' names to pick some. Statics says that all of these stand. Nothing is typed in: every figure is of this run.
//!
//! A body's drift is how far it is from where it began. A scene stands when no body ever drifts by more than a
//! twentieth of the scene's size, and is at rest when in its last second none is faster than 10 mm/s.

use super::{DT, Engine, Rapier, rapier};
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::scenes;
use drystone::world::{BodyDesc, Collider, JointDesc, World};
use drystone::{Settings, Simulation};

/// A minute.
const STEPS: u32 = 3600;
/// Steps from one look to the next; in the last second there is one after every step.
const LOOK: u32 = 30;
/// The last second.
const LAST: u32 = 60;
/// At which both engines run: their fewest, and what long chains and high towers are given.
const ITERATIONS: [u32; 3] = [4, 10, 20];
/// Drift of what stands, in parts of the scene's size.
const STANDS: f32 = 0.05;
/// Speed of what is at rest, m/s.
const REST: f32 = 0.01;

/// Boxes of half a metre on a slope, one on the other. Ten of them tip beyond 5.7 degrees, where their centre of mass
/// leaves their foot.
fn tower(boxes: u32, degrees: f32) -> World {
    let mut world = World::new();
    let turn = Quat::from_rotation_z(degrees.to_radians());
    world.add(BodyDesc::fixed().turned(turn).with(Collider::half_space())).expect("a slope");
    for i in 0..boxes {
        let place = turn * Vec3::Y * (0.25 + 0.5 * i as f32);
        let shape = Collider::cuboid(Vec3::splat(0.5));
        world.add(BodyDesc::dynamic().at(place).turned(turn).with(shape)).expect("a box");
    }
    world
}

/// Bars of 1 kg and 10 cm on hinges that hang straight down, and a load below them. They touch nothing, each other
/// neither.
fn chain(hinges: u32, load: f32) -> World {
    let mut world = World::new();
    let about = Quat::from_rotation_arc(Vec3::X, Vec3::Z);
    let (mut last, mut end) = (None, Vec3::ZERO);
    let apart = |mut shape: Collider| {
        shape.mask = 0;
        shape
    };
    for _ in 0..hinges {
        let shape = apart(Collider::cuboid(Vec3::new(0.04, 0.09, 0.04)));
        let bar = BodyDesc::dynamic().at(end - Vec3::Y * 0.05).with(shape).weighing(1.0);
        let bar = world.add(bar).expect("a bar");
        let hinge = JointDesc::hinge(bar, last).placed(&world, end, about).expect("bodies of this world");
        world.add_joint(hinge).expect("a hinge");
        (last, end) = (Some(bar), end - Vec3::Y * 0.1);
    }
    let ball = BodyDesc::dynamic().at(end - Vec3::Y * 0.2).with(apart(Collider::sphere(0.2))).weighing(load);
    let ball = world.add(ball).expect("a load");
    let joint = JointDesc::ball(ball, last).placed(&world, end, Quat::IDENTITY).expect("bodies of this world");
    world.add_joint(joint).expect("a joint");
    world
}

/// What an engine came to.
struct Stood {
    /// Heights of the highest body: at the start, and the lowest that was seen.
    top: (f32, f32),
    /// Greatest drift of a body over time, and that at the end.
    drift: (f32, f32),
    /// Fastest body in the last second.
    fastest: f32,
    /// Largest side of the box around all bodies at the start.
    size: f32,
}

impl Stood {
    fn verdict(&self) -> &'static str {
        // What is not finite compares as false.
        match (self.drift.0 <= STANDS * self.size, self.fastest <= REST) {
            (true, true) => "stands, at rest",
            (true, false) => "stands, moves",
            (false, _) => "DOES NOT STAND",
        }
    }
}

fn stand(world: &World, engine: &mut dyn Engine) -> Stood {
    let moves: Vec<bool> = world.handles().map(|h| world.mass(h).is_ok_and(|mass| mass > 0.0)).collect();
    let moving = |all: Vec<Vec3>| -> Vec<Vec3> {
        all.into_iter().zip(&moves).filter(|(_, moves)| **moves).map(|(v, _)| v).collect()
    };
    let places = |engine: &mut dyn Engine| moving(engine.places().into_iter().map(|(place, _)| place).collect());
    // Not `f32::max`, which would overlook what is not a number.
    let most =
        |values: &mut dyn Iterator<Item = f32>| values.fold(f32::NEG_INFINITY, |m, v| if v <= m { m } else { v });
    let top = |places: &[Vec3]| most(&mut places.iter().map(|p| p.y));
    let start = places(engine);
    let (low, high) = start.iter().fold((start[0], start[0]), |(l, h), p| (l.min(*p), h.max(*p)));
    let mut stood =
        Stood { top: (top(&start), top(&start)), drift: (0.0, 0.0), fastest: 0.0, size: (high - low).max_element() };
    for step in 1..=STEPS {
        engine.step();
        let last = step > STEPS - LAST;
        if last || step % LOOK == 0 {
            let now = places(engine);
            let drift = most(&mut now.iter().zip(&start).map(|(p, s)| (*p - *s).length()));
            stood.drift = (most(&mut [stood.drift.0, drift].into_iter()), drift);
            stood.top.1 = if top(&now) >= stood.top.1 { stood.top.1 } else { top(&now) };
        }
        if last {
            let speeds = moving(engine.velocities());
            stood.fastest = most(&mut speeds.iter().map(|v| v.length()).chain([stood.fastest]));
        }
    }
    stood
}

fn engines(world: &World, iterations: u32) -> [(&'static str, Box<dyn Engine>); 2] {
    let settings = Settings::default().with(|s| s.iterations = iterations);
    let peer: Rapier = rapier(world, iterations as usize);
    let own = Simulation::new(world.clone(), settings, Device::Cpu { threads: None }).expect("a scene that fits");
    [("rapier3d", Box::new(peer)), ("drystone cpu", Box::new(own))]
}

pub fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let all: [(&str, World); 5] = [
        ("pile of 961", scenes::pile(1000, 40).expect("a scene")),
        ("stack of 10, each 3 times as heavy as the one below", scenes::stack(10, 3.0).expect("a scene")),
        ("arch of 15 stones", scenes::arch(15, 1.0).expect("a scene")),
        ("tower of 10 on 2 degrees", tower(10, 2.0)),
        ("chain of 20 hinges with 100 kg", chain(20, 100.0)),
    ];
    let seconds = f64::from(STEPS) * f64::from(DT);
    println!("what stands after {seconds:.0} s, at dt 1/60 without sleeping\n");
    println!(
        "| scene | iterations | engine | | top: start, lowest | drift: largest, at the end | fastest, last second |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, world) in all {
        if !wanted.is_empty() && !wanted.iter().any(|w| name.contains(w.as_str())) {
            continue;
        }
        for iterations in ITERATIONS {
            for (who, mut engine) in engines(&world, iterations) {
                let stood = stand(&world, &mut *engine);
                let (top, drift) = (stood.top, stood.drift);
                println!(
                    "| {name} | {iterations} | {who} | {} | {:.3}, {:.3} m | {:.1}, {:.1} mm | {:.1} mm/s |",
                    stood.verdict(),
                    top.0,
                    top.1,
                    drift.0 * 1e3,
                    drift.1 * 1e3,
                    stood.fastest * 1e3,
                );
            }
        }
    }
}
