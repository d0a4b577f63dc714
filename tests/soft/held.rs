//! Springs and attachments: what is held to the world and to bodies, hard, soft, and up to a limit.

use super::{run, simulation};
use crate::common::iterating;
use drystone::EventKind;
use drystone::glam::{Quat, Vec3};
use drystone::world::{AttachmentDesc, BodyDesc, Collider, SoftDesc, World};

const G: f32 = 9.81;

#[test]
fn a_spring_hangs_by_its_weight_over_its_stiffness() {
    // From slack to nearly rigid: a weight on a spring, 1:10,000 in stiffness.
    for (stiffness, dt) in [(50.0f32, 1.0 / 60.0), (5e3, 1.0 / 60.0), (5e5, 1.0 / 60.0), (5e3, 1.0 / 240.0)] {
        let mut world = World::new();
        let damping = 2.0 * (stiffness * 2.0f32).sqrt();
        let mut rope = SoftDesc::rope(Vec3::ZERO, -Vec3::Y, 2, 1.0, stiffness, damping);
        rope.masses = vec![1.0, 2.0];
        let rope = world.add_soft(rope).unwrap();
        let top = world.attach(AttachmentDesc::to_world(rope, 0)).unwrap();
        let mut simulation = simulation(world, iterating(5));
        run(&mut simulation, 3.0, dt);
        let state = simulation.soft(rope).unwrap();
        let sag = -1.0 - state.positions[1].y;
        let expected = 2.0 * G / stiffness;
        assert!((sag / expected - 1.0).abs() < 0.02, "{stiffness}, {dt}: {sag} instead of {expected}");
        assert!(state.positions[0].length() < 1e-4, "{stiffness}: the top at {}", state.positions[0]);
        let force = simulation.attachment_force(top).unwrap();
        assert!((force.y / (3.0 * G) - 1.0).abs() < 0.01, "{stiffness}, {dt}: held by {force}");
    }
}

#[test]
fn a_rope_that_keeps_its_length_swings_like_a_pendulum_and_hangs_as_a_catenary() {
    for particles in [11, 21] {
        let mut world = World::new();
        // Ends 0.8 of its length apart.
        let rope = SoftDesc::rope(Vec3::ZERO, Vec3::X, particles, 0.5, f32::INFINITY, 0.0);
        let mut bent = rope.clone();
        let half = 0.4f32;
        // Begins as two straight lines.
        let deep = (0.5f32 * 0.5 - half * half).sqrt();
        bent.positions = (0..particles)
            .map(|i| {
                let s = i as f32 / (particles - 1) as f32;
                let down = if s < 0.5 { s } else { 1.0 - s } * 2.0;
                Vec3::new(s * 2.0 * half, -deep * down, 0.0)
            })
            .collect();
        let rope = world.add_soft(bent).unwrap();
        for end in [0, particles - 1] {
            world.attach(AttachmentDesc::to_world(rope, end)).unwrap();
        }
        let mut simulation = simulation(world, iterating(20));
        run(&mut simulation, 15.0, 1.0 / 60.0);
        let state = simulation.soft(rope).unwrap();
        // y = c cosh(x / c): 2 c sinh(half / c) is the length.
        let (mut low, mut high) = (0.01f64, 10.0f64);
        for _ in 0..80 {
            let c = 0.5 * (low + high);
            let length = 2.0 * c * (f64::from(half) / c).sinh();
            if length > 1.0 { low = c } else { high = c }
        }
        let sag = low * (f64::from(half) / low).cosh() - low;
        let found = -state.positions[particles as usize / 2].y;
        assert!((f64::from(found) / sag - 1.0).abs() < 0.02, "{particles}: {found} instead of {sag}");
        let length: f32 = state.positions.windows(2).map(|w| (w[1] - w[0]).length()).sum();
        assert!((length - 1.0).abs() < 2e-3, "{particles}: {length} long");
    }
}

#[test]
fn a_body_hangs_on_a_rope_and_both_feel_it() {
    for (mass, iterations) in [(0.1f32, 10), (2.0, 10), (2.0, 20)] {
        let mut world = World::new();
        let size = 0.2;
        let place = Vec3::new(0.0, -1.0 - size / 2.0, 0.0);
        let density = mass / (size * size * size);
        let body = BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::splat(size)).density(density));
        let body = world.add(body).unwrap();
        let rope = world.add_soft(SoftDesc::rope(Vec3::ZERO, -Vec3::Y, 6, 0.2, f32::INFINITY, 0.0)).unwrap();
        let top = world.attach(AttachmentDesc::to_world(rope, 0)).unwrap();
        let lower = world.attach(AttachmentDesc::to_body(rope, 5, body)).unwrap();
        let mut simulation = simulation(world, iterating(iterations));
        run(&mut simulation, 5.0, 1.0 / 60.0);
        let (state, box_at) = (simulation.soft(rope).unwrap(), simulation.body(body).unwrap());
        let low = (box_at.position - place).length();
        assert!(low < 0.01, "{mass} kg at {iterations}: {low} below its place");
        assert!(box_at.linear_velocity.length() < 0.02, "{mass} kg: {}", box_at.linear_velocity);
        let hook = box_at.position + box_at.rotation * Vec3::Y * (size / 2.0);
        let apart = (state.positions[5] - hook).length();
        assert!(apart < 2e-3, "{mass} kg at {iterations}: {apart} apart");
        let force = simulation.attachment_force(lower).unwrap().y;
        assert!((force / (-mass * G) - 1.0).abs() < 0.03, "{mass} kg pull with {force}");
        let force = simulation.attachment_force(top).unwrap().y;
        assert!((force / ((mass + 0.2) * G) - 1.0).abs() < 0.03, "{mass} kg are held by {force}");
    }
}

#[test]
fn momentum_stays_what_it_was_when_a_body_drags_a_rope() {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    let body = BodyDesc::dynamic().moving(Vec3::X).with(Collider::cuboid(Vec3::splat(0.2)).density(125.0));
    let body = world.add(body).unwrap();
    let desc = SoftDesc::rope(Vec3::new(-0.1, 0.0, 0.0), Vec3::new(-1.1, 0.0, 0.0), 6, 1.0, 2000.0, 1.0);
    let masses = desc.masses.clone();
    let rope = world.add_soft(desc).unwrap();
    world.attach(AttachmentDesc::to_body(rope, 0, body)).unwrap();
    let mut simulation = simulation(world, iterating(10));
    run(&mut simulation, 4.0, 1.0 / 60.0);
    let state = simulation.soft(rope).unwrap();
    let rope_momentum: f32 = state.velocities.iter().zip(&masses).map(|(v, m)| v.x * m).sum();
    let body_momentum = simulation.body(body).unwrap().linear_velocity.x;
    let all = rope_momentum + body_momentum;
    assert!((all - 1.0).abs() < 0.03, "{rope_momentum} and {body_momentum}");
    // They have shared it.
    assert!(rope_momentum > 0.3 && body_momentum > 0.3, "{rope_momentum} and {body_momentum}");
}

#[test]
fn an_attachment_lets_go_at_its_limit_and_says_so() {
    for (limit, lets_go) in [(40.0, false), (25.0, true)] {
        let mut world = World::new();
        let mut rope = SoftDesc::rope(Vec3::ZERO, -Vec3::Y, 2, 1.0, f32::INFINITY, 0.0);
        rope.masses = vec![1.0, 2.0];
        let rope = world.add_soft(rope).unwrap();
        let held = world.attach(AttachmentDesc::to_world(rope, 0).max_force(limit)).unwrap();
        let mut simulation = simulation(world, iterating(10));
        let mut told = Vec::new();
        for _ in 0..120 {
            told.extend(simulation.step(1.0 / 60.0).unwrap().events.into_iter().filter_map(|e| match e.kind {
                EventKind::Detached { attachment, force } => Some((attachment, force)),
                _ => None,
            }));
        }
        assert_eq!(simulation.world().has_let_go(held).unwrap(), lets_go);
        assert_eq!(told.len(), usize::from(lets_go), "{told:?}");
        let fell = simulation.soft(rope).unwrap().positions[1].y < -5.0;
        assert_eq!(fell, lets_go);
        if lets_go {
            assert!(told[0].0 == held && told[0].1 > limit && told[0].1 < 3.0 * limit, "{told:?}");
        }
    }
}

#[test]
fn a_particle_follows_a_body_that_is_moved() {
    let mut world = World::new();
    let mut arm = BodyDesc::kinematic().with(Collider::cuboid(Vec3::splat(0.2)));
    (arm.angular_velocity, arm.rotation) = (Vec3::Z * 2.0, Quat::IDENTITY);
    let arm = world.add(arm).unwrap();
    let rope = SoftDesc::rope(Vec3::X, Vec3::X * 1.5, 4, 0.1, f32::INFINITY, 0.0);
    let rope = world.add_soft(rope).unwrap();
    world.attach(AttachmentDesc::to_body(rope, 0, arm)).unwrap();
    let mut simulation = simulation(world, iterating(10));
    run(&mut simulation, 2.0, 1.0 / 60.0);
    let (state, arm) = (simulation.soft(rope).unwrap(), simulation.body(arm).unwrap());
    let off = (state.positions[0] - arm.rotation * Vec3::X).length();
    assert!(off < 5e-3, "{off}");
}
