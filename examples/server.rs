//! A server without a GPU: many small worlds on the CPU backend, all of them a tick further every sixtieth of a second.
//! `cargo run --release --example server [WORLDS [TICKS]]`: `server 5000` for thousands, `server 1` for a single one.
//!
//! Worlds have one thread, which is the caller's, and are spread over the cores here; a single world takes them all.
//! Ticks have a fixed length: when one takes longer, the next begins at once, and the clock is behind until it has
//! caught up, but no world ever steps by another time. A body that falls out of its world is put back; a world that
//! fails is told and left out, and the others go on.

use anyhow::{Result, ensure};
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::world::{BodyDesc, BodyHandle, Collider, ContactReports, World};
use drystone::{EventKind, Settings, Simulation};
use rayon::prelude::*;
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_nanos(1_000_000_000 / 60);
const CRATES: u32 = 12;

/// A room with crates, and a ball that a player pushes.
struct Room {
    simulation: Simulation,
    ball: BodyHandle,
    hits: usize,
}

impl Room {
    fn new(threads: Option<usize>) -> Result<Self> {
        let mut world = World::new();
        world.add(BodyDesc::fixed().with(Collider::half_space()))?;
        for i in 0..CRATES {
            let place = Vec3::new((i % 2) as f32, 0.5 + (i / 4) as f32, (i / 2 % 2) as f32);
            world.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::splat(0.98)).density(50.0)))?;
        }
        // The game wants to know what the ball hits, and of no other contact.
        let reports = ContactReports { begin: true, ..Default::default() };
        let ball = Collider::sphere(0.5).density(200.0).reports(reports);
        let ball = world.add(BodyDesc::dynamic().at(Vec3::new(-4.0, 0.5, 0.5)).with(ball))?;
        let simulation = Simulation::new(world, Settings::default(), Device::Cpu { threads })?;
        Ok(Self { simulation, ball, hits: 0 })
    }

    fn tick(&mut self, push: Vec3) -> drystone::Result<()> {
        self.simulation.world_mut().apply_force(self.ball, push, Vec3::ZERO)?;
        let report = self.simulation.step(TICK.as_secs_f32())?;
        self.hits += report.events.iter().filter(|e| matches!(e.kind, EventKind::ContactBegin(_))).count();
        let ball = self.simulation.body(self.ball)?;
        if ball.position.length() > 30.0 {
            self.simulation.world_mut().set_pose(self.ball, Vec3::new(-4.0, 0.5, 0.5), Quat::IDENTITY)?;
            self.simulation.world_mut().set_velocity(self.ball, Vec3::ZERO, Vec3::ZERO)?;
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    let mut numbers = std::env::args().skip(1).filter_map(|a| a.parse::<usize>().ok());
    let (worlds, ticks) = (numbers.next().unwrap_or(200).max(1), numbers.next().unwrap_or(60));
    let threads = if worlds == 1 { None } else { Some(1) };
    let rooms = (0..worlds).into_par_iter().map(|_| Room::new(threads));
    let mut rooms: Vec<Room> = rooms.collect::<Result<_>>()?;
    // The first tick makes what every world needs, and has more iterations.
    let push = |tick: usize, i: usize| Vec3::X * if (tick + i).is_multiple_of(3) { 900.0 } else { 300.0 };
    let step = |rooms: &mut Vec<Room>, tick: usize| {
        let failed = |(i, room): (usize, &mut Room)| room.tick(push(tick, i)).err().map(|error| (i, error));
        let failed: Vec<_> = if worlds == 1 {
            rooms.iter_mut().enumerate().filter_map(failed).collect()
        } else {
            rooms.par_iter_mut().enumerate().filter_map(failed).collect()
        };
        for (i, error) in failed.into_iter().rev() {
            println!("world {i} is closed: {error}");
            rooms.swap_remove(i);
        }
    };
    step(&mut rooms, 0);

    let (start, mut next, mut times, mut late) = (Instant::now(), Instant::now() + TICK, Vec::new(), 0);
    for tick in 1..=ticks {
        let begun = Instant::now();
        step(&mut rooms, tick);
        times.push(begun.elapsed());
        // Wait for the next tick, or begin at once if it is due.
        let now = Instant::now();
        late += usize::from(now > next);
        std::thread::sleep(next.saturating_duration_since(now));
        next += TICK;
    }
    times.sort_unstable();
    let at = |part: usize| times.get(times.len().saturating_sub(1) * part / 100).copied().unwrap_or_default();
    let (bodies, hits) = (worlds * (CRATES as usize + 2), rooms.iter().map(|r| r.hits).sum::<usize>());
    println!("{worlds} worlds, {bodies} bodies, {ticks} ticks of {TICK:.1?} in {:.2?}", start.elapsed());
    println!("a tick takes {:.2?}, 95 of 100 less than {:.2?}; {late} were late", at(50), at(95));
    println!("balls hit something {hits} times");
    ensure!(rooms.len() == worlds && rooms.iter().all(|r| r.simulation.steps() == ticks as u64 + 1 && r.hits > 0));
    Ok(())
}
