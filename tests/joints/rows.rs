//! What the device makes of joints by itself: rows that list contacts and joints of every body, and pairs that joints
//! keep apart.

use super::*;
use drystone::backend::RunnerExt;
use drystone_kernels::detect::gate::counter;
use drystone_kernels::detect::manifold::Manifold;
use drystone_kernels::solve::joints::Joint;
use drystone_kernels::state::rigid::{Entry, NONE, entry, row};

/// Entries of a body as they should be: kind, which, whether the body is its b, and who is at the other end.
type Expected = Vec<(u32, u32, bool, u32)>;

/// Reads rows, manifolds and joints, and compares the rows with a list made here. Returns how many entries of each kind
/// there are.
fn check(simulation: &mut Simulation, place: &str) -> [usize; 2] {
    let (buffers, bodies) = (simulation.plan().buffers, simulation.world().handles().collect::<Vec<_>>());
    let runner = simulation.runner();
    let (rows, entries) = (runner.read(buffers.rows).unwrap(), runner.read(buffers.entries).unwrap());
    let solved = runner.read(buffers.counters).unwrap()[counter::SOLVED as usize];
    let manifolds: Vec<Manifold> = runner.read(buffers.manifolds).unwrap();
    let world = simulation.world();
    let mut counts = [0; 2];
    for body in bodies {
        let index = body.index();
        let mut expected = Expected::new();
        for (m, manifold) in manifolds.iter().take(solved as usize).enumerate() {
            let ends = [manifold.ends.body_a, manifold.ends.body_b];
            let sides = (0..2).filter(|side| ends[*side] == index);
            expected.extend(sides.map(|side| (entry::CONTACT, m as u32, side == 1, ends[1 - side])));
        }
        // Broken joints too: they may be repaired.
        for joint in world.joints() {
            let desc = world.joint(joint).unwrap();
            let ends = [desc.body_a.index(), desc.body_b.map_or(NONE, |b| b.index())];
            let sides = (0..2).filter(|side| ends[*side] == index);
            let other = |side: usize| if ends[1 - side] == NONE { index } else { ends[1 - side] };
            expected.extend(sides.map(|side| (entry::JOINT, joint.index(), side == 1, other(side))));
        }
        if world.desc(body).unwrap().kind != drystone::world::BodyKind::Dynamic {
            expected.clear();
        }
        let range = row(&rows, index, entries.len() as u32);
        let told = |e: &Entry| {
            let which = if e.kind() == entry::CONTACT { e.manifold() } else { e.joint() };
            (e.kind(), which, !e.is_a(), e.other)
        };
        let found: Expected = entries[range.start as usize..range.end as usize].iter().map(told).collect();
        assert_eq!(found, expected, "{place}: body {index}");
        for (kind, count) in counts.iter_mut().enumerate() {
            *count += found.iter().filter(|e| e.0 == kind as u32).count();
            // The words in the middle of a row say where kinds begin.
            let first = index as usize * entry::ROW_WORDS as usize;
            let of_kind = rows[first + kind + 1] - rows[first + kind];
            assert_eq!(of_kind as usize, found.iter().filter(|e| e.0 == kind as u32).count(), "{place}: body {index}");
        }
    }
    counts
}

#[test]
fn rows_list_the_contacts_of_a_body_and_then_its_joints() {
    common::on_shared_backends(|backend| {
        let name = backend.name();
        let mut world = World::new();
        let floor = world.add(BodyDesc::fixed().with(Collider::cuboid(Vec3::new(20.0, 1.0, 2.0)))).unwrap();
        let bodies: Vec<_> =
            (0..12).map(|i| world.add(cube(Vec3::new(0.19 * i as f32, 0.59, 0.0), 1.0)).unwrap()).collect();
        // To the world, to a body that does not move, from both sides, and twice between the same two.
        world.add_joint(JointDesc::rope(bodies[0], None, 30.0)).unwrap();
        let mut joint = |a: BodyHandle, b: BodyHandle| world.add_joint(JointDesc::rope(a, b, 30.0)).unwrap();
        joint(bodies[3], floor);
        joint(floor, bodies[4]);
        let twice = [joint(bodies[5], bodies[6]), joint(bodies[6], bodies[5])];
        joint(bodies[11], bodies[8]);
        let mut simulation = Simulation::new(world, iterating(4), backend.device()).unwrap();
        simulation.step(DT).unwrap();
        let [contacts, joints] = check(&mut simulation, &format!("{name}, at first"));
        assert!(contacts > 24 && joints == 9, "{name}: {contacts} contacts, {joints} joints");

        simulation.world_mut().break_joint(twice[0]).unwrap();
        simulation.step(DT).unwrap();
        assert_eq!(check(&mut simulation, &format!("{name}, broken"))[1], 9);

        simulation.world_mut().remove_joint(twice[0]).unwrap();
        simulation.world_mut().remove(bodies[3]).unwrap();
        simulation.step(DT).unwrap();
        assert_eq!(check(&mut simulation, &format!("{name}, removed"))[1], 6);

        // More than there was room for, some of them in slots of old ones; and bodies in slots of old ones.
        let more = simulation.world_mut().add(cube(Vec3::new(0.57, 1.0, 0.0), 1.0)).unwrap();
        for body in &bodies[4..] {
            simulation.world_mut().add_joint(JointDesc::rope(more, *body, 3.0)).unwrap();
        }
        simulation.step(DT).unwrap();
        assert_eq!(check(&mut simulation, &format!("{name}, added"))[1], 6 + 16);
        for _ in 0..20 {
            simulation.step(DT).unwrap();
        }
        check(&mut simulation, &format!("{name}, later"));
    });
}

#[test]
fn a_joint_keeps_its_bodies_apart_from_its_first_step_on_and_until_it_breaks() {
    common::on_shared_backends(|backend| {
        let name = backend.name();
        let mut world = weightless();
        // Pairs that overlap a little, each far from the others; a body in the middle reaches all of them.
        let count = 150;
        let place = |i: usize| Vec3::new((i % 15) as f32, 0.0, (i / 15) as f32);
        let pairs: Vec<_> = (0..count)
            .map(|i| [Vec3::ZERO, Vec3::X * 0.19].map(|d| world.add(cube(place(i) + d, 1.0)).unwrap()))
            .collect();
        let plate = BodyDesc::fixed().at(Vec3::new(7.0, -0.59, 5.0)).with(Collider::cuboid(Vec3::new(20.0, 1.0, 20.0)));
        let plate = world.add(plate).unwrap();
        let mut simulation = Simulation::new(world, iterating(1), backend.device()).unwrap();
        let manifolds = |simulation: &mut Simulation| simulation.step(1e-4).unwrap().manifolds as usize;
        assert_eq!(manifolds(&mut simulation), 3 * count, "{name}");
        let free = |a: BodyHandle, b: BodyHandle| {
            let mut rope = JointDesc::rope(a, b, 50.0);
            rope.collide = false;
            rope
        };

        let world = simulation.world_mut();
        let joints: Vec<_> = pairs.iter().map(|[a, b]| world.add_joint(free(*b, *a)).unwrap()).collect();
        assert_eq!(manifolds(&mut simulation), 2 * count, "{name}: joined");
        let world = simulation.world_mut();
        joints.iter().step_by(2).for_each(|j| world.break_joint(*j).unwrap());
        assert_eq!(manifolds(&mut simulation), 2 * count + count / 2, "{name}: every other one broken");
        // One that lets them touch takes nothing back.
        let world = simulation.world_mut();
        let add = |desc: JointDesc, world: &mut World| assert!(world.add_joint(desc).is_ok());
        pairs.iter().for_each(|[a, b]| add(free(*a, *b).colliding(), world));
        assert_eq!(manifolds(&mut simulation), 2 * count + count / 2, "{name}: a second one each");
        let world = simulation.world_mut();
        joints.iter().step_by(2).for_each(|j| world.repair_joint(*j).unwrap());
        pairs.iter().for_each(|[a, _]| add(free(plate, *a), world));
        assert_eq!(manifolds(&mut simulation), count, "{name}: repaired, and half of them off the plate");
        let world = simulation.world_mut();
        joints.iter().for_each(|j| world.remove_joint(*j).unwrap());
        assert_eq!(manifolds(&mut simulation), 2 * count, "{name}: removed");
    });
}

#[test]
fn a_slot_without_a_joint_has_no_bodies() {
    let mut world = World::new();
    let bodies = [0.0, 1.0].map(|x| world.add(cube(Vec3::X * x, 1.0)).unwrap());
    let joint = world.add_joint(JointDesc::ball(bodies[0], bodies[1])).unwrap();
    let mut simulation = simulate(world, iterating(1));
    simulation.world_mut().remove_joint(joint).unwrap();
    simulation.step(DT).unwrap();
    let buffer = simulation.plan().buffers.joints.joints;
    let joints: Vec<Joint> = simulation.runner().read(buffer).unwrap();
    assert!(joints.iter().all(|j| (j.body_a, j.body_b) == (NONE, NONE)), "{joints:?}");
    assert_eq!(check(&mut simulation, "cpu"), [0, 0]);
}
