//! Heavy tops: what spins about its axis, is held at a point of it, and is pulled down, goes round instead of falling.

use super::*;
use drystone::glam::Quat;

/// A top: moments of inertia about its axis and across, through its middle, kg m^2 for 1 kg; metres from the point at
/// which it is held to its middle; tilt in radians, spin about its axis in radians a second.
#[derive(Clone, Copy, Debug)]
struct Top {
    along: f32,
    across: f32,
    arm: f32,
    tilt: f32,
    spin: f32,
}

impl Top {
    /// The slower of the two rates at which it goes round without nodding: C s w - A w^2 cos(tilt) = m g l, with A
    /// about the point at which it is held.
    fn rate(&self) -> f32 {
        let (momentum, pull) = (f64::from(self.along * self.spin), f64::from(G * self.arm));
        let across = f64::from(self.across + self.arm * self.arm) * f64::from(self.tilt).cos();
        let root = (momentum * momentum - 4.0 * across * pull).sqrt();
        (2.0 * pull / (momentum + root)) as f32
    }

    /// How far it has gone round after so many seconds, as a part of what it should have, and how far it is tilted.
    fn goes(&self, settings: Settings, dt: f32, seconds: f32) -> (f32, f32) {
        let axis = Vec3::new(self.tilt.sin(), self.tilt.cos(), 0.0);
        let angular = axis * self.spin + (Vec3::Y - axis * axis.y) * self.rate();
        let middle = axis * self.arm;
        let body = BodyDesc::dynamic()
            .at(middle)
            .turned(Quat::from_rotation_arc(Vec3::Y, axis))
            .moving(angular.cross(middle))
            .spinning(angular)
            .with(Collider::sphere(0.1))
            .weighing(1.0)
            .inertia(Vec3::new(self.across, self.along, self.across));
        let mut world = World::new();
        let top = world.add(body).unwrap();
        world.add_joint(JointDesc::ball(top, None).anchors(Vec3::NEG_Y * self.arm, Vec3::ZERO)).unwrap();
        let mut simulation = simulate(world, settings);
        let (mut round, mut before) = (0.0, 0.0f32);
        for _ in 0..(seconds / dt).round() as u32 {
            simulation.step(dt).unwrap();
            let at = simulation.body(top).unwrap().rotation * Vec3::Y;
            let angle = (-at.z).atan2(at.x);
            let step = angle - before;
            round += step - (step / std::f32::consts::TAU).round() * std::f32::consts::TAU;
            before = angle;
        }
        let at = simulation.body(top).unwrap().rotation * Vec3::Y;
        (round / (self.rate() * seconds), at.y.clamp(-1.0, 1.0).acos())
    }
}

/// Tops that turn about their axis by so many radians a step, in steps of so many seconds; how far they may be off, as
/// a part of the way round and in radians of tilt, after three seconds.
fn hold(turn: f32, dt: f32, bounds: (f32, f32)) {
    let (mut worst_round, mut worst_tilt) = (0.0f32, 0.0f32);
    for (along, across) in [(0.02, 0.012), (0.02, 0.04), (0.02, 0.02), (0.03, 0.016)] {
        for (arm, tilt) in [(0.2, 0.3f32), (0.2, 1.0), (0.2, 1.5), (0.1, 2.2)] {
            let top = Top { along, across, arm, tilt, spin: turn / dt };
            for n in [4, 20] {
                let (round, tilted) = top.goes(iterating(n), dt, 3.0);
                worst_round = worst_round.max((round - 1.0).abs());
                worst_tilt = worst_tilt.max((tilted - tilt).abs());
            }
        }
    }
    println!("{turn} radians in {dt} s: off by {worst_round:.3} of the way and {worst_tilt:.3} radians");
    assert!(worst_round < bounds.0 && worst_tilt < bounds.1, "{worst_round} of the way, {worst_tilt} radians of tilt");
}

// Before the axes of inertia turned with a body, tops with other moments about their axis than across lay down within
// these three seconds, at 1/60 s and 50 radians a second from 0.3 to 1.5 radians.
#[test]
fn a_heavy_top_goes_round_and_does_not_sink() {
    // What is left is implicit Euler's: first order in the step, and in the rate at which a top goes round.
    hold(0.8, 1.0 / 60.0, (0.2, 0.15));
    hold(0.8, 1.0 / 120.0, (0.03, 0.03));
    hold(0.8, 1.0 / 240.0, (0.03, 0.03));
    hold(0.4, 1.0 / 120.0, (0.1, 0.1));
    hold(0.2, 1.0 / 240.0, (0.05, 0.05));
}
