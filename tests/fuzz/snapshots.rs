//! Snapshots with bytes changed, most of them with the right checksum.

use super::{Outcome, Reached, steps};
use crate::common::forged::seal;
use crate::common::{Random, box_points};
use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::world::{BodyDesc, Collider, JointDesc, World};
use drystone::{Error, Settings, Simulation, Snapshot};

const CPU: Device = Device::Cpu { threads: Some(1) };
const DT: f32 = 1.0 / 60.0;

/// Worlds with a little of everything, as bytes: rigid ones before the first step and later, and those of `steps`,
/// which have soft bodies, other solvers, several worlds.
pub fn corpus() -> Vec<Vec<u8>> {
    let mut world = World::new();
    world.add_named("floor", BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let gone = world.add(BodyDesc::dynamic().with(Collider::sphere(1.0))).unwrap();
    let stone = Collider::hull(&box_points(Vec3::splat(0.4))).unwrap().restitution(0.3);
    let hull = world.add(BodyDesc::dynamic().at(Vec3::Y * 1.5).with(stone)).unwrap();
    let cube = world.add(BodyDesc::dynamic().at(Vec3::Y * 0.5).with(Collider::cuboid(Vec3::ONE))).unwrap();
    world.add(BodyDesc::dynamic().at(Vec3::X * 2.0).with(Collider::cone(0.5, 0.5))).unwrap();
    world.add_joint_named("arm", JointDesc::hinge(hull, cube).friction(1.0)).unwrap();
    world.remove(gone).unwrap();
    let mut simulation = Simulation::new(world, quick(Settings::default()), CPU).unwrap();
    let early = simulation.snapshot().unwrap().to_bytes();
    for _ in 0..10 {
        simulation.step(DT).unwrap();
    }
    simulation.world_mut().apply_impulse(cube, Vec3::Y, Vec3::ZERO).unwrap();
    let late = simulation.snapshot().unwrap().to_bytes();
    [early, late].into_iter().chain(steps::corpus().iter().map(|played| played.before.to_bytes())).collect()
}

/// The same with few iterations: time is what bounds how many cases there are.
fn quick(settings: Settings) -> Settings {
    settings.with(|s| {
        (s.iterations, s.substeps) = (s.iterations.min(4), s.substeps.min(2));
        if let Some(avbd) = s.avbd_mut() {
            (avbd.cold_iterations, avbd.cold_reach) = (avbd.cold_iterations.min(8), 0);
        }
    })
}

/// A simulation that has had other worlds before, and how many.
pub type Kept = Option<(Simulation, u32)>;

/// Most worlds that one simulation has, one after the other: its lists never become shorter.
const MOST_WORLDS: u32 = 64;

/// Puts a world into the simulation that there is, or into a new one.
fn restored<'a>(snapshot: &Snapshot, kept: &'a mut Kept, fresh: bool) -> Option<&'a mut Simulation> {
    match kept {
        Some((simulation, worlds)) if !fresh && *worlds < MOST_WORLDS => {
            *worlds += 1;
            simulation.restore(snapshot).ok()?;
        }
        _ => *kept = Some((Simulation::from_snapshot(snapshot, CPU).ok()?, 1)),
    }
    kept.as_mut().map(|(simulation, _)| simulation)
}

pub fn case(whole: &[Vec<u8>], random: &mut Random, kept: &mut Kept, fresh: bool, reached: &mut Reached) -> Outcome {
    let mut bytes = whole[random.below(whole.len() as u32) as usize].clone();
    for _ in 0..random.below(4) {
        let at = random.below(bytes.len() as u32 - 8) as usize;
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes.truncate(at.max(40)),
            2 => drop(bytes.drain(at..(at + 1 + random.below(16) as usize).min(bytes.len() - 1))),
            3 => drop(bytes.splice(at..at, (0..random.below(16)).map(|_| random.bits() as u8).collect::<Vec<_>>())),
            _ => {
                let odd = [
                    0,
                    1,
                    u32::MAX,
                    1 << 31,
                    1 << 29,
                    f32::NAN.to_bits(),
                    f32::MAX.to_bits(),
                    random.bits(),
                    random.below(99),
                ];
                let word = odd[random.below(odd.len() as u32) as usize];
                bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
            }
        }
        if bytes.len() < 64 {
            break;
        }
    }
    if random.below(8) > 0 && bytes.len() > 40 {
        seal(&mut bytes);
    }
    let Ok(snapshot) = Snapshot::from_bytes(&bytes) else { return Outcome::Refused };
    Snapshot::from_bytes(&snapshot.to_bytes()).expect("what was accepted can be written and read again");
    // Steps are the most of it: now and then is enough.
    if random.below(8) == 0 {
        let Some(simulation) = restored(&snapshot, kept, fresh) else { return Outcome::Refused };
        let settings = quick(*simulation.settings());
        simulation.set_settings(settings).unwrap();
        for _ in 0..2 {
            match simulation.step(DT) {
                Ok(_) => {}
                // More sub-steps at most than there are at least, which `quick` has changed, or what a solver lacks.
                Err(Error::Settings(_)) => return Outcome::Refused,
                Err(error) => panic!("{error}"),
            }
        }
        reached.note(&simulation.plan().recording);
    }
    Outcome::Accepted
}
