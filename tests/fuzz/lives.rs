//! As `edits`, about what came later: soft bodies, solvers other than AVBD, several worlds; and snapshots and rollbacks
//! in the middle of it.

use super::edits::{body, joint, number, rotation, vector};
use super::{Outcome, Reached};
use crate::common::Random;
use drystone::backend::Device;
use drystone::state::Limits;
use drystone::world::soft::{SoftHinge, SoftSpring, SoftTetrahedron, SoftTriangle};
use drystone::world::{
    AttachmentDesc, AttachmentHandle, BodyDesc, BodyHandle, Cloth, Collider, JointDesc, JointHandle, Placed, SoftDesc,
    SoftHandle, SoftSurface, Solid, World,
};
use drystone::{Error, QueryBatch, QueryFilter, Settings, Simulation, Snapshot};

/// What there is to speak of.
#[derive(Default)]
struct Known {
    bodies: Vec<BodyHandle>,
    joints: Vec<JointHandle>,
    soft: Vec<SoftHandle>,
    held: Vec<AttachmentHandle>,
}

fn any<T: Copy>(list: &[T], random: &mut Random) -> Option<T> {
    list.get(random.below(list.len().max(1) as u32) as usize).copied()
}

/// A number that is mostly a usable stiffness, density or part.
fn part(random: &mut Random, usual: f32) -> f32 {
    if random.below(8) == 0 { number(random) } else { usual * random.range(0.1, 3.0) }
}

/// Lists that fit together, mostly.
fn mesh(random: &mut Random) -> SoftDesc {
    let count = 1 + random.below(8);
    let mut corners = || {
        let first = random.below(count);
        [0, 1, 2, 3].map(|k| if random.below(30) == 0 { random.below(9) } else { (first + k) % count })
    };
    let of: Vec<_> = (0..4).map(|_| corners()).collect();
    let ends = |c: &[u32; 4]| [c[0], c[1]];
    let triangle = |c: &[u32; 4]| [c[0], c[1], c[2]];
    let take = |random: &mut Random| random.below(5) as usize;
    let (springs, triangles, hinges, tetrahedra, skin) =
        (take(random), take(random), take(random), take(random), take(random));
    SoftDesc {
        rest: (0..count).map(|_| vector(random)).collect(),
        masses: (0..count).map(|_| part(random, 0.1)).collect(),
        springs: of[..springs]
            .iter()
            .map(|c| SoftSpring::new(ends(c), part(random, 0.5), part(random, 100.0)))
            .collect(),
        triangles: of[..triangles]
            .iter()
            .map(|c| SoftTriangle::new(triangle(c), part(random, 300.0), part(random, 200.0)))
            .collect(),
        hinges: of[..hinges].iter().map(|c| SoftHinge::new(*c, part(random, 0.01))).collect(),
        tetrahedra: of[..tetrahedra]
            .iter()
            .map(|c| SoftTetrahedron::new(*c, part(random, 3000.0), part(random, 2000.0)))
            .collect(),
        skin: of[..skin].iter().map(triangle).collect(),
        ..SoftDesc::default()
    }
}

fn soft(random: &mut Random) -> SoftDesc {
    let cloth = Cloth {
        density: part(random, 0.2),
        stretch: part(random, 2000.0),
        poisson: part(random, 0.2),
        bend: part(random, 1e-3),
        damping: part(random, 0.1),
        bend_damping: part(random, 1e-5),
    };
    let solid = Solid {
        density: part(random, 500.0),
        young: part(random, 5e4),
        poisson: part(random, 0.2),
        damping: part(random, 10.0),
    };
    let at = vector(random);
    let mut desc = match random.below(5) {
        0 => SoftDesc::rope(at, vector(random), 2 + random.below(4), part(random, 0.5), part(random, 1e3), 0.1),
        1 => {
            let sides = (2 + random.below(3), 2 + random.below(3));
            SoftDesc::cloth(at, vector(random), vector(random), sides, &cloth)
        }
        2 => SoftDesc::block(at, vector(random).abs(), (1, 1 + random.below(2), 1), &solid),
        3 => SoftDesc::ball(at, number(random).abs(), 2, &solid),
        _ => mesh(random),
    };
    if random.below(2) == 0 {
        let mut surface = SoftSurface::new(part(random, 0.02), part(random, 0.5));
        surface.meets_soft = random.below(3) > 0;
        desc = desc.touching(surface);
    }
    desc.gravity_scale = (random.below(6) == 0).then(|| number(random));
    match random.below(6) {
        0 => desc.moving(vector(random)),
        1 => desc.spinning(vector(random)),
        _ => desc,
    }
}

fn say_soft(world: &mut World, known: &mut Known, random: &mut Random) -> bool {
    let (some, held, body) = (any(&known.soft, random), any(&known.held, random), any(&known.bodies, random));
    match random.below(9) {
        0..=2 => world.add_soft(soft(random)).map(|soft| known.soft.push(soft)).is_ok(),
        3 => random.below(3) == 0 && some.is_some_and(|soft| world.remove_soft(soft).is_ok()),
        4 | 5 => some.is_some_and(|soft| {
            let particle = random.below(10);
            let mut desc = match body.filter(|_| random.below(2) == 0) {
                Some(body) => AttachmentDesc::to_body(soft, particle, body),
                None => AttachmentDesc::to_world(soft, particle),
            };
            if random.below(3) == 0 {
                desc = desc.at(vector(random)).stiffness(part(random, 100.0)).max_force(part(random, 10.0));
            }
            world.attach(desc).map(|held| known.held.push(held)).is_ok()
        }),
        6 => held.is_some_and(|held| world.detach(held).is_ok()),
        _ => some.is_some_and(|soft| world.set_particle_force(soft, random.below(10), vector(random)).is_ok()),
    }
}

fn say_several(world: &mut World, known: &mut Known, random: &mut Random) -> bool {
    let which = random.below(world.worlds() + 1);
    let push = |added: Result<BodyHandle, _>, known: &mut Known| added.map(|body| known.bodies.push(body)).is_ok();
    match random.below(9) {
        0 => world.worlds() < 5 && world.add_worlds(random.below(3)).is_ok(),
        1..=3 => push(world.add_to(which, body(random)), known),
        4 => {
            let mut desc = body(random);
            desc.kind = BodyDesc::fixed().kind;
            push(world.add_shared(desc), known)
        }
        5 => world.reset_world(which).is_ok(),
        6 => {
            let count = world.handles_in(which).count() as u32 + u32::from(random.below(8) == 0);
            let mut place = || Placed {
                position: vector(random),
                rotation: rotation(random),
                linear_velocity: vector(random),
                angular_velocity: vector(random),
            };
            let placed: Vec<_> = (0..count).map(|_| place()).collect();
            world.reset_world_to(which, &placed).is_ok()
        }
        7 => world.set_gravity_of(which, vector(random)).is_ok(),
        _ => world.add_soft(soft(random)).is_ok(),
    }
}

/// What is said of any world.
fn say(world: &mut World, known: &mut Known, random: &mut Random) -> bool {
    let Some(one) = any(&known.bodies, random) else { return false };
    let other = any(&known.bodies, random).unwrap_or(one);
    match random.below(8) {
        0 | 1 => world.add(body(random)).map(|body| known.bodies.push(body)).is_ok(),
        2 => world.remove(one).is_ok(),
        3 => world.set_pose(one, vector(random), rotation(random)).is_ok(),
        4 => world.apply_impulse(one, vector(random), vector(random)).is_ok(),
        5 => world.set_target(one, vector(random), rotation(random)).is_ok(),
        6 => world.add_joint(joint(random, one, other)).map(|joint| known.joints.push(joint)).is_ok(),
        _ => match any(&known.joints, random) {
            Some(joint) if random.below(2) == 0 => world.break_joint(joint).is_ok(),
            Some(joint) => world.repair_joint(joint).is_ok(),
            None => world.add_joint(JointDesc::ball(one, other)).is_ok(),
        },
    }
}

/// Settings of a solver, one or two of them changed to something that is allowed.
fn settings(random: &mut Random, solver: u32) -> Settings {
    let mut settings = Settings::default();
    settings.set("solver", f64::from(solver)).unwrap();
    (settings.iterations, settings.colours) = (1 + random.below(3), [32, 4, 1][random.below(3) as usize]);
    settings.substeps = 1 + random.below(2);
    if random.below(6) == 0 {
        settings.substeps_most = settings.substeps + random.below(3);
    }
    if let Some(avbd) = settings.avbd_mut() {
        avbd.cold_iterations = 4;
    }
    for _ in 0..random.below(3) {
        let names: Vec<_> = settings.named().map(|(name, _)| name).collect();
        let name = names[random.below(names.len() as u32) as usize];
        let counts =
            ["solver", "iterations", "substeps", "substeps_most", "colour_rounds", "cold_iterations", "cold_reach"];
        if !counts.contains(&name) {
            let value = if random.below(2) == 0 { f64::from(random.below(3)) } else { f64::from(number(random).abs()) };
            let _ = settings.set(name, value);
        }
    }
    if settings.check().is_err() { Settings::default().with(|s| s.iterations = 2) } else { settings }
}

/// A world may be kept with settings whose solver lacks what is in it: then it is refused again.
fn may_be_refused(done: drystone::Result<()>) {
    match done {
        Ok(()) | Err(Error::Settings(_)) => {}
        Err(error) => panic!("{error}"),
    }
}

/// Nothing that can be read is not finite.
fn check(simulation: &mut Simulation, known: &Known, step: u32) {
    for (body, state) in simulation.bodies().unwrap() {
        assert!(state.position.is_finite() && state.rotation.is_finite(), "step {step}: {body:?} {state:?}");
    }
    for &soft in &known.soft {
        if let Ok(state) = simulation.soft(soft) {
            let finite = state.positions.iter().chain(&state.velocities).all(|v| v.is_finite());
            assert!(finite, "step {step}: {soft:?} {state:?}");
        }
    }
}

pub fn case(random: &mut Random, reached: &mut Reached) -> Outcome {
    let about = random.below(4);
    let solver = if about == 2 { 1 + random.below(5) } else { [0, 0, 0, 1][random.below(4) as usize] };
    let mut world = World::new();
    let mut known = Known::default();
    known.bodies.push(world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap());
    if about == 1 {
        world.add_worlds(1 + random.below(2)).unwrap();
    }
    let limits = Limits::none().with_memory(32 << 20).with_pairs(5000);
    let device = Device::Cpu { threads: Some(1) };
    // The device cannot choose sub-steps for several worlds: refused, which is not what this is about.
    let alone = |settings: Settings| settings.with(|s| s.substeps_most = if about == 1 { 0 } else { s.substeps_most });
    let first = alone(settings(random, solver));
    let mut simulation = Simulation::within(world, first, device, limits).unwrap();
    if random.below(4) == 0 {
        simulation.keep_frames(2);
    }
    let (mut said, mut snapshot): (bool, Option<Snapshot>) = (false, None);
    for step in 0..6 {
        for _ in 0..random.below(6) {
            let world = simulation.world_mut();
            said |= match (about, random.below(3)) {
                (0, 1..) | (3, 1) => say_soft(world, &mut known, random),
                (1, 1..) => say_several(world, &mut known, random),
                _ => say(world, &mut known, random),
            };
        }
        if random.below(12) == 0 {
            let new = settings(random, solver);
            let _ = simulation.set_settings(alone(new));
        }
        match simulation.step(1.0 / 60.0) {
            Ok(_) => reached.note(&simulation.plan().recording),
            // What the solver lacks, or what is beyond the limits, is refused; the world goes on without it.
            Err(Error::Settings(_) | Error::MemoryLimit { .. } | Error::PairLimit { .. }) => {}
            Err(error) => panic!("step {step}: {error}"),
        }
        match random.below(12) {
            0 => snapshot = Some(Snapshot::from_bytes(&simulation.snapshot().unwrap().to_bytes()).unwrap()),
            1 => {
                if let Some(snapshot) = &snapshot {
                    // The handles of then are those of now, or stale.
                    may_be_refused(simulation.restore(snapshot));
                }
            }
            2 => {
                let frames: Vec<_> = simulation.kept_frames().collect();
                if let Some(frame) = any(&frames, random) {
                    may_be_refused(simulation.roll_back(frame));
                }
            }
            3 => {
                let mut batch = QueryBatch::new();
                let _ = batch.ray(vector(random), vector(random), number(random), QueryFilter::default().with_soft());
                let _ = batch.closest_point(vector(random), number(random), QueryFilter::default());
                simulation.query(&batch).map(drop).unwrap();
                simulation.world_reports().map(drop).unwrap();
            }
            _ => {}
        }
        check(&mut simulation, &known, step);
    }
    if said { Outcome::Accepted } else { Outcome::Refused }
}
