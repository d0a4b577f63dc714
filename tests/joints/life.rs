//! What every type of joint goes through: it holds, is broken, is repaired, loses a body while the world runs, and comes and goes
//! without leaving anything behind. Each type's own file says what the joint is.

use super::*;
use drystone::backend::RunnerExt;
use drystone::world::WorldError;
use drystone::world::joint::Hold;

/// The weight that hangs on the joint.
const MASS: f32 = 2.0;

/// Half a metre below the origin, where the joint has to hold it.
fn weight() -> BodyDesc {
    cube(Vec3::Y * -0.5, MASS)
}

/// What the device has of a joint and of the joints of a body: rows of it that act, and places in the body's list.
fn on_device(simulation: &mut Simulation, joint: u32, body: u32) -> (u32, u32) {
    let buffers = simulation.plan().buffers.joints;
    let record = simulation.runner().read_at(buffers.joints, joint.into()).unwrap();
    let links = simulation.runner().read(buffers.links).unwrap();
    let places = links[2 * body as usize + 1] - links[2 * body as usize];
    (record.rows, places)
}

/// `joint` is to hold a [`weight`] below the origin, where the body that it gets besides is, and to bear it without moving.
pub fn lives(joint: impl Fn(BodyHandle, BodyHandle) -> JointDesc) {
    common::on_every_backend(|backend| {
        let name = backend.name();
        let mut world = World::new();
        let hook = world.add(BodyDesc::fixed()).unwrap();
        let body = world.add(weight()).unwrap();
        let held = world.add_joint(joint(body, hook)).unwrap();
        let axes = joint(body, hook).axes;
        let rows = axes.iter().map(|a| u32::from(a.hold != Hold::Free) + u32::from(a.drive.is_some())).sum();
        let mut simulation = Simulation::new(world, iterating(10), device(backend)).unwrap();
        let steps = |simulation: &mut Simulation, count: u32| {
            (0..count).for_each(|_| drop(simulation.step(DT).unwrap()));
        };
        let holds = |simulation: &mut Simulation, held: JointHandle, body: BodyHandle, when: &str| {
            let (state, pull) = (simulation.body(body).unwrap(), simulation.joint(held).unwrap().force);
            assert!((state.position.y + 0.5).abs() < 5e-3, "{name}: {when}: {state:?}");
            assert!((pull.y / (MASS * G) - 1.0).abs() < 0.05, "{name}: {when}: {pull}");
        };
        steps(&mut simulation, 30);
        holds(&mut simulation, held, body, "at first");
        assert_eq!(on_device(&mut simulation, held.index(), body.index()), (rows, 1), "{name}");

        // Broken, it lets go and bears nothing.
        simulation.world_mut().break_joint(held).unwrap();
        let before = simulation.body(body).unwrap().linear_velocity.y;
        steps(&mut simulation, 6);
        let state = simulation.body(body).unwrap();
        assert!((state.linear_velocity.y - before + 6.0 * DT * G).abs() < 1e-3, "{name}: it falls: {state:?}");
        let told = simulation.joint(held).unwrap();
        assert_eq!((told.broken, told.force, told.torque), (true, Vec3::ZERO, Vec3::ZERO), "{name}");

        // Repaired, it pulls its body back.
        simulation.world_mut().repair_joint(held).unwrap();
        steps(&mut simulation, 150);
        holds(&mut simulation, held, body, "repaired");

        // Its body goes, and the joint with it. Who gets their slots has nothing to do with them.
        simulation.world_mut().remove(body).unwrap();
        let stale = simulation.world_mut().break_joint(held);
        assert!(matches!(stale, Err(WorldError::StaleJoint { .. })), "{name}: {stale:?}");
        let other = simulation.world_mut().add(weight()).unwrap();
        assert_eq!(other.index(), body.index(), "{name}: the slot is used again");
        steps(&mut simulation, 6);
        let state = simulation.body(other).unwrap();
        assert!((state.linear_velocity.y + 6.0 * DT * G).abs() < 1e-3, "{name}: nothing holds it: {state:?}");
        assert_eq!(on_device(&mut simulation, held.index(), body.index()), (0, 0), "{name}: rows that nobody has");
        simulation.world_mut().remove(other).unwrap();

        // Many times, each in a way of its own: nothing grows, and the same slots serve.
        let (room, bytes, generation) = (simulation.plan().capacities, simulation.memory(), simulation.generation());
        for round in 0..24 {
            let world = simulation.world_mut();
            let body = world.add(weight()).unwrap();
            let held = world.add_joint(joint(body, hook)).unwrap();
            assert_eq!((body.index(), held.index()), (other.index(), 0), "{name}: round {round}");
            simulation.step(DT).unwrap();
            let world = simulation.world_mut();
            match round % 4 {
                0 => world.remove_joint(held).unwrap(),
                1 => world.break_joint(held).unwrap(),
                2 => (world.break_joint(held).unwrap(), world.repair_joint(held).unwrap()).1,
                _ => {}
            }
            if round % 3 == 0 {
                simulation.step(DT).unwrap();
            }
            simulation.world_mut().remove(body).unwrap();
            simulation.step(DT).unwrap();
            assert_eq!(simulation.world().joints().count(), 0, "{name}: round {round}");
        }
        let now = (simulation.plan().capacities, simulation.memory(), simulation.generation());
        assert_eq!(now, (room, bytes, generation), "{name}");

        // And it holds as at first.
        let world = simulation.world_mut();
        let body = world.add(weight()).unwrap();
        let held = world.add_joint(joint(body, hook)).unwrap();
        steps(&mut simulation, 30);
        holds(&mut simulation, held, body, "after all");
        // The other end goes, too.
        simulation.world_mut().remove(hook).unwrap();
        steps(&mut simulation, 1);
        assert_eq!((simulation.world().joints().count(), simulation.world().len()), (0, 1), "{name}");
        assert_eq!(on_device(&mut simulation, held.index(), body.index()), (0, 0), "{name}");
    });
}
