//! What every type of joint goes through: it holds, is broken, is repaired, loses a body while the world runs, and
//! comes and goes without leaving anything behind. Each type's own file says what its joint is and takes it through on
//! the CPU; here all of them go through it side by side on every backend.

use super::*;
use drystone::backend::RunnerExt;
use drystone::world::WorldError;
use drystone::world::joint::Hold;
use drystone_kernels::state::rigid::joint_row;

/// Makes a joint that holds a [`weight`] half a metre below a hook.
pub type Hang = fn(BodyHandle, BodyHandle) -> JointDesc;

/// What hangs on the joints.
const MASS: f32 = 2.0;

fn place(i: usize) -> Vec3 {
    Vec3::new(3.0 * i as f32, -0.5, 0.0)
}

fn weight(i: usize) -> BodyDesc {
    cube(place(i), MASS)
}

/// A weight and the joint it hangs on.
#[derive(Clone, Copy)]
struct Hung {
    body: BodyHandle,
    joint: JointHandle,
}

/// A world of hooks, one a type.
struct Hooks<'a> {
    types: &'a [Hang],
    hooks: Vec<BodyHandle>,
    simulation: Simulation,
    name: String,
}

impl Hooks<'_> {
    fn hang(&mut self) -> Vec<Hung> {
        let (world, hooks) = (self.simulation.world_mut(), &self.hooks);
        let hung = self.types.iter().zip(hooks).enumerate().map(|(i, (hang, hook))| {
            let body = world.add(weight(i)).unwrap();
            Hung { body, joint: world.add_joint(hang(body, *hook)).unwrap() }
        });
        hung.collect()
    }

    fn steps(&mut self, count: u32) {
        for _ in 0..count {
            self.simulation.step(DT).unwrap();
        }
    }

    /// Every weight is where it should be, and every joint bears its own.
    fn check_held(&mut self, hung: &[Hung], when: &str) {
        for (i, h) in hung.iter().enumerate() {
            let state = self.simulation.body(h.body).unwrap();
            let pull = self.simulation.joint(h.joint).unwrap().force;
            assert!((state.position - place(i)).length() < 5e-3, "{}: {i}: {when}: {state:?}", self.name);
            assert!((pull.y / (MASS * G) - 1.0).abs() < 0.05, "{}: {i}: {when}: {pull}", self.name);
        }
    }

    /// Nothing has held these bodies for six steps.
    fn check_fall(&mut self, bodies: impl Iterator<Item = BodyHandle>, before: &[f32]) {
        for (i, (body, before)) in bodies.zip(before).enumerate() {
            let speed = self.simulation.body(body).unwrap().linear_velocity.y;
            assert!((speed - before + 6.0 * DT * G).abs() < 2e-3, "{}: {i}: {speed} m/s", self.name);
        }
    }

    /// What the device has: rows of a joint that act, and joints in a body's row.
    fn check_device(&mut self, hung: &[Hung], expected: impl Fn(usize) -> (u32, u32)) {
        let buffers = self.simulation.plan().buffers;
        let joints = self.simulation.runner().read(buffers.joints.joints).unwrap();
        let rows = self.simulation.runner().read(buffers.rows).unwrap();
        for (i, h) in hung.iter().enumerate() {
            let listed = joint_row(&rows, h.body.index(), u32::MAX).count();
            let found = (joints[h.joint.index() as usize].rows, listed);
            assert_eq!(found, expected(i), "{}: {i}: rows and entries on the device", self.name);
        }
    }
}

/// Slots, in order.
fn slots(hung: &[Hung]) -> Vec<[u32; 2]> {
    let mut slots: Vec<_> = hung.iter().map(|h| [h.body.index(), h.joint.index()]).collect();
    slots.sort_unstable();
    slots
}

/// Takes joints through it all.
fn live(types: &[Hang], backend: &Backend) {
    let mut world = World::new();
    let hook = |i| world.add(BodyDesc::fixed().at(place(i) + Vec3::Y * 0.5)).unwrap();
    let hooks: Vec<BodyHandle> = (0..types.len()).map(hook).collect();
    // Lists are made for what is in the world at first.
    let first: Vec<Hung> = (types.iter().zip(&hooks).enumerate())
        .map(|(i, (hang, hook))| {
            let body = world.add(weight(i)).unwrap();
            Hung { body, joint: world.add_joint(hang(body, *hook)).unwrap() }
        })
        .collect();
    let rows = |hung: &Hung, world: &World| {
        let axes = world.joint(hung.joint).unwrap().axes;
        axes.iter().map(|a| u32::from(a.hold != Hold::Free) + u32::from(a.drive.is_some())).sum()
    };
    let rows: Vec<u32> = first.iter().map(|h| rows(h, &world)).collect();
    let simulation = Simulation::new(world, iterating(10), backend.device()).unwrap();
    let mut all = Hooks { types, hooks, simulation, name: backend.name() };
    let name = all.name.clone();
    all.steps(30);
    all.check_held(&first, "at first");
    all.check_device(&first, |i| (rows[i], 1));

    // Broken, they let go and bear nothing.
    let mut before = Vec::new();
    for h in &first {
        all.simulation.world_mut().break_joint(h.joint).unwrap();
        before.push(all.simulation.body(h.body).unwrap().linear_velocity.y);
    }
    all.steps(6);
    all.check_fall(first.iter().map(|h| h.body), &before);
    for h in &first {
        let told = all.simulation.joint(h.joint).unwrap();
        assert_eq!((told.broken, told.force, told.torque), (true, Vec3::ZERO, Vec3::ZERO), "{name}");
    }

    // Repaired, they pull their bodies back.
    for h in &first {
        all.simulation.world_mut().repair_joint(h.joint).unwrap();
    }
    all.steps(120);
    all.check_held(&first, "repaired");

    // Bodies go, and joints with them. Who gets their slots has nothing to do with them.
    for h in &first {
        let world = all.simulation.world_mut();
        world.remove(h.body).unwrap();
        assert!(matches!(world.break_joint(h.joint), Err(WorldError::StaleJoint { .. })), "{name}");
    }
    let others: Vec<_> = (0..types.len()).map(|i| all.simulation.world_mut().add(weight(i)).unwrap()).collect();
    all.steps(6);
    all.check_fall(others.iter().copied(), &vec![0.0; types.len()]);
    all.check_device(&first, |_| (0, 0));
    for other in others {
        all.simulation.world_mut().remove(other).unwrap();
    }

    // Many times, each in a way of its own: nothing grows, and the same slots serve.
    let (room, bytes) = (all.simulation.plan().capacities, all.simulation.memory());
    let generation = all.simulation.generation();
    // Drivers also plan anew when they need another number of colours; on the CPU backend nothing but growth does.
    let by_growth_only = matches!(backend, Backend::Cpu);
    for round in 0..12 {
        let hung = all.hang();
        assert_eq!(slots(&hung).len(), slots(&first).len());
        let used = |hung: &[Hung], end: usize| -> Vec<u32> {
            let mut used: Vec<u32> = slots(hung).iter().map(|s| s[end]).collect();
            used.sort_unstable();
            used
        };
        assert_eq!([used(&hung, 0), used(&hung, 1)], [used(&first, 0), used(&first, 1)], "{name}: round {round}");
        all.steps(1);
        for (i, h) in hung.iter().enumerate() {
            let world = all.simulation.world_mut();
            let way = (round + i) % 4;
            if way == 0 {
                world.remove_joint(h.joint).unwrap();
            }
            if way == 1 || way == 2 {
                world.break_joint(h.joint).unwrap();
            }
            if way == 2 {
                world.repair_joint(h.joint).unwrap();
            }
        }
        if round % 3 == 0 {
            all.steps(1);
        }
        for h in &hung {
            all.simulation.world_mut().remove(h.body).unwrap();
        }
        all.steps(1);
        assert_eq!(all.simulation.world().joints().count(), 0, "{name}: round {round}");
    }
    let now = (all.simulation.plan().capacities, all.simulation.memory());
    assert_eq!(now, (room, bytes), "{name}");
    assert!(!by_growth_only || all.simulation.generation() == generation, "{name}");

    // They hold as at first. Then the other end goes.
    let last = all.hang();
    all.steps(30);
    all.check_held(&last, "after all");
    for hook in all.hooks.clone() {
        all.simulation.world_mut().remove(hook).unwrap();
    }
    all.steps(1);
    assert_eq!((all.simulation.world().joints().count(), all.simulation.world().len()), (0, types.len()), "{name}");
    all.check_device(&last, |_| (0, 0));
}

/// Takes one joint through it.
pub fn lives(hang: Hang) {
    live(&[hang], &Backend::Cpu);
}

#[test]
fn all_types_side_by_side_on_every_backend() {
    let types = [ball::hung, hinge::hung, slider::hung, fixed::hung, distance::rod, distance::rope, generic::hung];
    common::on_shared_backends(|backend| live(&[&types[..], &[spring::hung]].concat(), backend));
}
