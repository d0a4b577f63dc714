//! Everything at once, on every backend.

use super::*;
use crate::common::on_every_backend;
use drystone::world::{BodyHandle, Combine, JointDesc};
use drystone::{EventKind, StepReport};

const DT: f32 = 1.0 / 60.0;

fn scene() -> (World, Vec<BodyHandle>) {
    let mut world = World::new();
    let floor = Collider::cuboid(Vec3::new(40.0, 1.0, 40.0)).friction(0.8).surface(Vec3::X * 0.5, Vec3::ZERO);
    world.add(BodyDesc::fixed().at(Vec3::Y * -0.5).with(floor)).unwrap();
    world
        .add(BodyDesc::fixed().at(Vec3::new(0.0, 0.3, 0.0)).with(Collider::cuboid(Vec3::splat(0.4)).sensing()))
        .unwrap();
    let ball = || Collider::sphere(0.25).friction(0.8).friction_combine(Combine::Max);
    let bodies = [
        // Carried by the belt.
        BodyDesc::dynamic().at(Vec3::new(0.0, 0.25, 0.0)).with(Collider::cuboid(Vec3::splat(0.5)).friction(0.8)),
        // Bounces.
        BodyDesc::dynamic().at(Vec3::new(3.0, 0.75, 0.0)).with(ball().restitution(0.8)),
        // Rolls to rest on the belt: turning is what it resists.
        BodyDesc::dynamic().at(Vec3::new(-3.0, 0.25, 0.0)).moving(Vec3::Z * 1.5).with(ball().rolling(0.05, 0.05)),
        // Falls in honey.
        BodyDesc::dynamic().at(Vec3::new(0.0, 9.0, 5.0)).damped(4.0, 4.0).with(Collider::sphere(0.2)),
        // A wheel with friction.
        BodyDesc::dynamic().at(Vec3::new(0.0, 5.0, -5.0)).spinning(Vec3::X * 3.0).weighing(1.0).inertia(Vec3::ONE),
    ];
    let bodies: Vec<_> = bodies.into_iter().map(|b| world.add(b).unwrap()).collect();
    let wheel = JointDesc::hinge(bodies[4], None).placed(&world, Vec3::new(0.0, 5.0, -5.0), Quat::IDENTITY).unwrap();
    world.add_joint(wheel.friction(2.0)).unwrap();
    (world, bodies)
}

#[test]
fn devices_agree_on_materials() {
    on_every_backend(|backend| {
        let (world, bodies) = scene();
        let mut simulation = Simulation::new(world, Settings::default(), backend.device()).unwrap();
        let mut begun = 0;
        for _ in 0..60 {
            let report: StepReport = simulation.step(DT).unwrap();
            begun += report.events.iter().filter(|e| matches!(e.kind, EventKind::SensorBegin(_))).count();
        }
        let place = backend.name();
        let [carried, bounced, rolled, damped, wheel] = [0, 1, 2, 3, 4].map(|i| simulation.body(bodies[i]).unwrap());
        assert!((carried.linear_velocity - Vec3::X * 0.5).length() < 5e-3, "{place}: {carried:?}");
        // From 0.5 m to 0.32 m, and there it is still on its way 1 s later.
        let v = bounced.linear_velocity.y - 0.5 * G * DT;
        let reaches = bounced.position.y - 0.25 + v * v / (2.0 * G);
        let bounces = [0.32f32, 0.2048, 0.131];
        assert!(bounces.iter().any(|h| (reaches / h - 1.0).abs() < 0.03), "{place}: {reaches} m");
        assert!((rolled.linear_velocity - Vec3::X * 0.5).length() < 0.02, "{place}: {rolled:?}");
        let falls = G / 4.0 * (1.0 - (-4.0f32).exp());
        assert!((damped.linear_velocity.y + falls).abs() < 5e-3, "{place}: {damped:?}");
        assert!((wheel.angular_velocity.x - 1.0).abs() < 0.03, "{place}: {wheel:?}");
        assert_eq!(begun, 1, "{place}");
    });
}
