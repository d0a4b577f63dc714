//! Steps of small worlds over buffers that were written to: any bytes, anywhere, through `Simulation::runner`. They
//! come to an end, are an error or a report, and leave nothing behind: after the world was restored, the next step has
//! the bits that it always has. The worlds have what came last: soft surfaces that meet, other solvers, several worlds,
//! sub-steps that the device chooses.

use super::{Outcome, Reached};
use crate::common::Random;
use crate::common::forged::noise;
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::metrics::Metrics;
use drystone::plan::BufferId;
use drystone::scenes::file;
use drystone::state::Limits;
use drystone::world::{BodyDesc, Collider, World};
use drystone::{QueryBatch, QueryFilter, Settings, Simulation, Snapshot};

const DT: f32 = 1.0 / 60.0;

/// A world after some steps.
pub struct Played {
    simulation: Simulation,
    pub before: Snapshot,
    /// Hash of the poses after one step more; none with several worlds, where something that was written stays (end of
    /// `docs/trust.md`).
    after: Option<u64>,
    /// What was written to since, at most so often before a new simulation is made: lists never become shorter.
    cases: u32,
}

const MOST_CASES: u32 = 200;

/// The text of a scene of the corpus.
pub fn text(name: &str) -> String {
    let path = super::corpus().join("scenes").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn scene(name: &str) -> World {
    file::parse(&text(name), name).unwrap().world
}

/// Small boxes and a joint, three times, on a floor that belongs to all.
fn several() -> World {
    let mut one = World::new();
    one.add_shared(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let low = one.add(BodyDesc::dynamic().at(Vec3::Y * 0.5).with(Collider::cuboid(Vec3::ONE))).unwrap();
    let high = one.add(BodyDesc::dynamic().at(Vec3::Y * 1.6).with(Collider::sphere(0.4))).unwrap();
    one.add(BodyDesc::dynamic().at(Vec3::new(0.8, 1.6, 0.0)).with(Collider::cuboid(Vec3::ONE))).unwrap();
    one.add_joint(drystone::world::JointDesc::rope(low, high, 1.5)).unwrap();
    one.copies(3).unwrap()
}

/// Every world with its settings.
fn worlds() -> Vec<(World, Settings)> {
    let few = Settings::default().with(|s| {
        (s.iterations, s.colours) = (2, 8);
        if let Some(avbd) = s.avbd_mut() {
            avbd.cold_iterations = 4;
        }
    });
    let also = |values: &[(&str, f64)]| {
        let mut settings = few;
        settings.set_all(values.iter().copied()).unwrap();
        settings.iterations = 2;
        settings.with(|s| s.colours = 8)
    };
    let mut all = vec![
        (scene("everything.json"), few),
        (scene("soft.json"), few),
        (scene("soft.json"), also(&[("substeps", 2.0), ("integration", 1.0), ("row_stiffness", 1.0)])),
        (several(), few),
        (scene("everything.json"), also(&[("substeps_most", 3.0)])),
        (scene("everything.json"), also(&[("row_stiffness", 1.0), ("primal", 8.0), ("integration", 1.0)])),
        (scene("soft.json"), also(&[("solver", 1.0)])),
        (scene("everything.json"), also(&[("solver", 2.0)])),
    ];
    all.extend((3..=5).map(|solver| (scene("solvers.json"), also(&[("solver", f64::from(solver))]))));
    all
}

fn limits() -> Limits {
    Limits::none().with_memory(48 << 20).with_pairs(20_000)
}

const CPU: Device = Device::Cpu { threads: Some(1) };

impl Played {
    fn new(world: World, settings: Settings) -> Self {
        let mut simulation = Simulation::within(world, settings, CPU, limits()).unwrap();
        for _ in 0..5 {
            simulation.step(DT).unwrap();
        }
        let before = simulation.snapshot().unwrap();
        simulation.step(DT).unwrap();
        let one = simulation.world().worlds() == 1;
        let after = one.then(|| Metrics::of(&mut simulation).unwrap().pose_hash);
        Self { simulation, before, after, cases: 0 }
    }
}

pub fn corpus() -> Vec<Played> {
    worlds().into_iter().map(|(world, settings)| Played::new(world, settings)).collect()
}

pub fn case(worlds: &mut [Played], random: &mut Random, reached: &mut Reached) -> Outcome {
    let which = random.below(worlds.len() as u32) as usize;
    let played = &mut worlds[which];
    played.cases += 1;
    if played.cases > MOST_CASES {
        let mut new = Simulation::within(World::new(), Settings::default(), CPU, limits()).unwrap();
        new.restore(&played.before).unwrap();
        (played.simulation, played.cases) = (new, 0);
    }
    let simulation = &mut played.simulation;
    reached.note(&simulation.plan().recording);
    for _ in 0..=random.below(3) {
        let buffers = simulation.plan().recording.buffers().len() as u32;
        let buffer = BufferId(random.below(buffers));
        let size = simulation.plan().recording.info(buffer).map_or(0, |info| info.capacity() / 4);
        // A few words, or all of them.
        let most = [1, 4, 40, size.min(2000)][random.below(4) as usize].min(size) as u32;
        let words = noise(random, most as usize);
        let first = u64::from(random.below((size - u64::from(most)).min(u64::from(u32::MAX)) as u32 + 1));
        simulation.runner().write_bytes(buffer, first * 4, bytemuck::cast_slice(&words)).unwrap();
    }
    let done = simulation.step(DT).is_ok();
    if random.below(4) == 0 {
        let mut batch = QueryBatch::new();
        for _ in 0..2 {
            let from = Vec3::new(random.range(-2.0, 2.0), 4.0, random.range(-2.0, 2.0));
            batch.ray(from, Vec3::NEG_Y, 10.0, QueryFilter::default()).unwrap();
            batch.sphere_cast(from, 0.3, Vec3::NEG_Y * 5.0, QueryFilter::default()).unwrap();
            let ball = Collider::sphere(0.5).shape;
            batch.overlap(&ball, from - Vec3::Y * 3.0, Quat::IDENTITY, 4, QueryFilter::default()).unwrap();
            batch.closest_point(from, 2.0, QueryFilter::default()).unwrap();
        }
        let _ = simulation.query(&batch);
    }
    simulation.restore(&played.before).unwrap();
    if random.below(8) == 0 {
        simulation.step(DT).map(drop).unwrap();
        let hash = played.after.map(|_| Metrics::of(simulation).unwrap().pose_hash);
        let cases = played.cases;
        assert_eq!(hash, played.after, "world {which}, after {cases} cases: something is left of what was written");
        simulation.restore(&played.before).unwrap();
    }
    if done { Outcome::Accepted } else { Outcome::Refused }
}
