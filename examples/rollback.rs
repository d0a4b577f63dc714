//! Netcode with rollback: two players push a ball about a yard full of crates, and the second one's inputs arrive eight
//! frames late. Every frame is stepped at once with a guess; when the truth arrives and is another, the world goes back
//! to the frame before it, and all frames since are made again. In the end it is, to the bit, the world of a server
//! that knew everything in time; and a snapshot sent as bytes lets a third player join.
//!
//! ```text
//! cargo run --release --example rollback
//! ```

use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::metrics::Metrics;
use drystone::world::{BodyDesc, BodyHandle, Collider, World};
use drystone::{Result, Settings, Simulation, Snapshot};
use std::time::{Duration, Instant};

const DT: f32 = 1.0 / 60.0;
const FRAMES: u64 = 300;
/// Frames that the other player's inputs take to arrive.
const LATE: u64 = 8;

fn yard() -> Result<(World, [BodyHandle; 2])> {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space().friction(0.8)))?;
    for i in 0..125 {
        let (x, y, z) = (i % 5, i / 25, i / 5 % 5);
        let place = Vec3::new(x as f32 - 2.0, 0.5 + y as f32, z as f32 - 2.0);
        world.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::splat(0.98)).density(100.0)))?;
    }
    let ball = |side: f32| BodyDesc::dynamic().at(Vec3::new(side, 1.0, 0.0)).with(Collider::sphere(1.0).density(400.0));
    let players = [world.add_named("left", ball(-6.0))?, world.add_named("right", ball(6.0))?];
    Ok((world, players))
}

/// What a player presses in a frame: a direction, and whether to throw a pebble.
#[derive(Clone, Copy, PartialEq)]
struct Input {
    push: Vec3,
    throw: bool,
}

/// What a player really does.
fn truth(player: usize, frame: u64) -> Input {
    let angle = frame as f32 * 0.03 + player as f32 * 3.0;
    let toward = if player == 0 { Vec3::X } else { -Vec3::X };
    let push = (toward + Vec3::new(0.0, 0.0, angle.sin())) * 20_000.0;
    Input { push, throw: (frame + 11 * player as u64).is_multiple_of(40) }
}

/// A frame of the game: the same inputs said to the same world give the same frame.
fn step(game: &mut Simulation, players: [BodyHandle; 2], inputs: [Input; 2]) -> Result<u64> {
    for (player, input) in players.into_iter().zip(inputs) {
        game.world_mut().apply_force(player, input.push, Vec3::ZERO)?;
        if input.throw {
            let place = Vec3::new(0.0, 12.0, input.push.z * 1e-4);
            game.world_mut().add(BodyDesc::dynamic().at(place).with(Collider::sphere(0.3)))?;
        }
    }
    Ok(game.step(DT)?.frame)
}

fn main() -> Result<()> {
    let device = Device::Cpu { threads: None };
    let (world, players) = yard()?;
    let mut server = Simulation::new(world.clone(), Settings::default(), device.clone())?;
    let mut client = Simulation::new(world, Settings::default(), device.clone())?;
    // Back to behind the frame before the one that an input is of.
    client.keep_frames(LATE as u32 + 1);

    // The engine's number of every frame of the game: numbers go on when the world goes back.
    let mut numbers = vec![0];
    let mut guess = truth(1, 1);
    let (mut wrong, mut again, mut back) = (0, 0, Duration::ZERO);
    for frame in 1..=FRAMES + LATE {
        if frame <= FRAMES {
            step(&mut server, players, [truth(0, frame), truth(1, frame)])?;
            // Our own input is known, the other's is not: it is guessed to be the last one that was heard of.
            let other = if frame == 1 { truth(1, 1) } else { guess };
            numbers.push(step(&mut client, players, [truth(0, frame), other])?);
        }
        // The input of frame `heard` arrives. If the guess was wrong: back to the frame before it.
        let heard = frame.saturating_sub(LATE);
        if heard < 2 {
            continue;
        }
        let (arrived, guessed) = (truth(1, heard), guess);
        guess = Input { throw: false, ..arrived };
        if arrived == guessed {
            continue;
        }
        wrong += 1;
        let start = Instant::now();
        client.roll_back(numbers[heard as usize - 1])?;
        back += start.elapsed();
        let last = numbers.len() as u64 - 1;
        numbers.truncate(heard as usize);
        for frame in heard..=last {
            // Everything said to the world since is undone: the pebbles are gone, and thrown again.
            let other = if frame == heard { arrived } else { guess };
            numbers.push(step(&mut client, players, [truth(0, frame), other])?);
            again += 1;
        }
    }
    println!(
        "{FRAMES} frames, {wrong} wrong guesses, {again} frames made again, {:.0?} a rollback",
        back / wrong.max(1)
    );
    let (theirs, ours) = (Metrics::of(&mut server)?.pose_hash, Metrics::of(&mut client)?.pose_hash);
    println!("server {theirs:016x}, client {ours:016x}");
    assert_eq!(theirs, ours, "to the bit");

    // A third player joins: the world as bytes, checked when they arrive.
    let bytes = server.snapshot()?.to_bytes();
    let mut third = Simulation::from_snapshot(&Snapshot::from_bytes(&bytes)?, device)?;
    for frame in FRAMES + 1..=FRAMES + 60 {
        step(&mut server, players, [truth(0, frame), truth(1, frame)])?;
        step(&mut third, players, [truth(0, frame), truth(1, frame)])?;
    }
    let (theirs, joined) = (Metrics::of(&mut server)?.pose_hash, Metrics::of(&mut third)?.pose_hash);
    println!("a snapshot of {} bytes for {} bodies; a second later {joined:016x}", bytes.len(), server.world().len());
    assert_eq!(theirs, joined, "to the bit");
    Ok(())
}
