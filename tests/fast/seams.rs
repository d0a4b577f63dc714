//! Flush seams: a floor of boxes or hulls carries what slides and rolls as one large box does.

use super::*;

/// What slides or rolls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mover {
    Box,
    Hull,
    Ball,
    /// Lying across the way: it rolls.
    Capsule,
}

/// What the floor is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tiles {
    Boxes,
    Hulls,
}

/// A case.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub mover: Mover,
    pub tiles: Tiles,
    pub iterations: u32,
    pub dt: f32,
    pub speed: f32,
    /// Half the size of what moves, metres.
    pub size: f32,
    /// Length of a tile.
    pub tile: f32,
    /// Rotation of the whole scene, gravity with it.
    pub tilt: Quat,
    pub friction: f32,
    pub steps: u32,
}

impl Default for Way {
    fn default() -> Self {
        Self {
            mover: Mover::Box,
            tiles: Tiles::Boxes,
            iterations: 4,
            dt: DT,
            speed: 2.0,
            size: 0.25,
            tile: 1.0,
            tilt: Quat::IDENTITY,
            friction: 0.0,
            steps: 240,
        }
    }
}

/// How it went: as parts of the speed, and of the size.
#[derive(Debug)]
pub struct Went {
    pub slowest: f32,
    pub fastest: f32,
    pub highest: f32,
    pub lowest: f32,
    pub end: f32,
}

fn hull(half: Vec3) -> Collider {
    Collider::hull(&common::box_points(half)).unwrap()
}

impl Way {
    /// Goes over tiles, or over one box as long as all of them.
    pub fn go(&self, seams: bool) -> Went {
        self.go_on(seams, Device::Cpu { threads: Some(1) })
    }

    fn go_on(&self, seams: bool, device: Device) -> Went {
        let mut world = World::new();
        let up = self.tilt * Vec3::Y;
        world.set_gravity(up * -G).unwrap();
        let reach = self.speed * self.dt * self.steps as f32 + 4.0 * self.size + self.tile;
        let count = if seams { (reach / self.tile).ceil().max(10.0) as u32 } else { 1 };
        let length = if seams { self.tile } else { reach.max(10.0 * self.tile) };
        for i in 0..count {
            let half = Vec3::new(0.5 * length, 0.5, 2.0);
            let middle = Vec3::new((i as f32 + 0.5) * length - 2.0 * self.size, -0.5, 0.0);
            let shape = match self.tiles {
                Tiles::Boxes => Collider::cuboid(half * 2.0),
                Tiles::Hulls => hull(half),
            };
            let tile = BodyDesc::fixed().at(self.tilt * middle).turned(self.tilt).with(shape.friction(self.friction));
            world.add(tile).unwrap();
        }
        let half = Vec3::splat(self.size);
        let (shape, rolls) = match self.mover {
            Mover::Box => (Collider::cuboid(half * 2.0), false),
            Mover::Hull => (hull(half), false),
            Mover::Ball => (Collider::sphere(self.size), true),
            Mover::Capsule => (
                Collider::capsule(self.size, self.size).turned(Quat::from_rotation_x(std::f32::consts::FRAC_PI_2)),
                true,
            ),
        };
        let spin = if rolls { Vec3::Z * (-self.speed / self.size) } else { Vec3::ZERO };
        let body = BodyDesc::dynamic().at(up * self.size).turned(self.tilt).with(shape.friction(self.friction));
        let body = body.moving(self.tilt * Vec3::X * self.speed).spinning(self.tilt * spin);
        let body = world.add(body).unwrap();
        let mut simulation = Simulation::new(world, iterating(self.iterations), device).unwrap();
        let mut went = Went { slowest: 1.0, fastest: 1.0, highest: 0.0, lowest: 0.0, end: 0.0 };
        for _ in 0..self.steps {
            simulation.step(self.dt).unwrap();
            let state = simulation.body(body).unwrap();
            let place = self.tilt.inverse() * state.position;
            let speed = (self.tilt.inverse() * state.linear_velocity).x / self.speed;
            let height = place.y / self.size - 1.0;
            went.slowest = went.slowest.min(speed);
            went.fastest = went.fastest.max(speed);
            went.highest = went.highest.max(height);
            went.lowest = went.lowest.min(height);
            went.end = place.x;
        }
        went
    }
}

/// Every case of one mover: speeds 0.5 to 20 m/s, 4 to 60 iterations, 1/30 to 1/240 s, tiles of 0.2 to 1 m, sizes of 4
/// cm to 2 m, upright and turned as a whole.
fn cases(mover: Mover, tiles: Tiles, friction: f32) -> Vec<Way> {
    let base = Way { mover, tiles, friction, ..Way::default() };
    let tilt = Quat::from_rotation_z(0.5) * Quat::from_rotation_y(0.7);
    let mut all: Vec<Way> = [0.5, 2.0, 5.0, 20.0].map(|speed| Way { speed, ..base }).to_vec();
    all.extend([10, 20, 60].map(|iterations| Way { iterations, ..base }));
    all.extend([0.02, 1.0].map(|size| Way { size, ..base }));
    all.extend([Way { tile: 0.2, ..base }, Way { tilt, ..base }]);
    all.extend([Way { dt: 1.0 / 30.0, ..base }, Way { dt: 1.0 / 240.0, steps: 960, ..base }]);
    all
}

#[test]
fn seams_do_not_stop_a_box_without_friction() {
    // Truth: it keeps its speed, and its height.
    for mover in [Mover::Box, Mover::Hull] {
        for tiles in [Tiles::Boxes, Tiles::Hulls] {
            for way in cases(mover, tiles, 0.0) {
                let went = way.go(true);
                assert!(went.slowest > 0.99 && went.fastest < 1.01, "{way:?}: {went:?}");
                assert!(went.highest < 0.02 && went.lowest > -0.01, "{way:?}: {went:?}");
            }
        }
    }
}

#[test]
fn balls_and_capsules_do_not_hop_over_seams() {
    // Truth: they keep their speed, and roll on at their height.
    for mover in [Mover::Ball, Mover::Capsule] {
        for tiles in [Tiles::Boxes, Tiles::Hulls] {
            for way in cases(mover, tiles, 0.5) {
                let went = way.go(true);
                assert!(went.slowest > 0.98 && went.fastest < 1.03, "{way:?}: {went:?}");
                assert!(went.highest < 0.01 && went.lowest > -0.01, "{way:?}: {went:?}");
            }
        }
    }
}

#[test]
fn friction_over_seams_is_that_of_one_floor() {
    // Truth: v^2 / (2 mu g); one large box gives it to 2%. Boxes of half a metre, mu of 0.1 to 0.6.
    for mover in [Mover::Box, Mover::Hull] {
        for tiles in [Tiles::Boxes, Tiles::Hulls] {
            for (friction, speed) in [(0.1, 3.0), (0.3, 5.0), (0.6, 8.0)] {
                for (iterations, tile) in [(4, 1.0), (10, 0.4), (20, 0.4)] {
                    let way = Way { mover, tiles, friction, speed, iterations, tile, ..Way::default() };
                    let (went, truth) = (way.go(true), speed * speed / (2.0 * friction * G));
                    assert!((went.end / truth - 1.0).abs() < 0.05, "{way:?}: {} m, not {truth}", went.end);
                }
            }
        }
    }
}

#[test]
fn a_step_in_the_floor_still_stops_a_box() {
    // Ten percent of its size is a wall; what grazes is below one.
    let mut world = World::new();
    world
        .add(BodyDesc::fixed().at(Vec3::Y * -0.5).with(Collider::cuboid(Vec3::new(4.0, 1.0, 4.0)).friction(0.0)))
        .unwrap();
    let step = Collider::cuboid(Vec3::new(4.0, 1.0, 4.0)).friction(0.0);
    world.add(BodyDesc::fixed().at(Vec3::new(4.0, -0.45, 0.0)).with(step)).unwrap();
    let cube = Collider::cuboid(Vec3::ONE).friction(0.0);
    let cube = world.add(BodyDesc::dynamic().at(Vec3::Y * 0.5).moving(Vec3::X * 1.0).with(cube)).unwrap();
    let mut simulation = simulate(world, Settings::default());
    run(&mut simulation, 3.0, DT);
    let state = simulation.body(cube).unwrap();
    assert!(state.position.x < 1.52, "{state:?}");
}

#[test]
fn devices_cross_seams_like_the_cpu() {
    common::on_every_backend(|backend| {
        for (mover, friction) in [(Mover::Box, 0.0), (Mover::Hull, 0.0), (Mover::Ball, 0.5), (Mover::Capsule, 0.5)] {
            let way = Way { mover, friction, speed: 5.0, steps: 30, ..Way::default() };
            let went = way.go_on(true, backend.device());
            let kept = went.slowest > 0.99 && went.fastest < 1.01 && went.highest < 0.01;
            assert!(kept, "{}: {way:?}: {went:?}", backend.name());
        }
    });
}
