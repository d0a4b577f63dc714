//! Cloth and solids against closed forms.

use super::{centre, run, simulation, spin};
use crate::common::iterating;
use drystone::glam::{Quat, Vec3};
use drystone::world::{AttachmentDesc, Cloth, SoftDesc, Solid, World};

const G: f32 = 9.81;

#[test]
fn damping_slows_neither_fall_nor_spin() {
    for dt in [1.0 / 60.0, 1.0 / 120.0] {
        let made = |damping: f32, spins: bool| {
            let mut world = World::new();
            let solid = Solid { young: 1e5, damping, ..Solid::default() };
            let mut block = SoftDesc::block(Vec3::ZERO, Vec3::splat(0.5), (3, 3, 3), &solid);
            if spins {
                world.set_gravity(Vec3::ZERO).unwrap();
                block = block.spinning(Vec3::new(0.0, 5.0, 0.0));
            }
            let desc = block.clone();
            let block = world.add_soft(block).unwrap();
            let mut simulation = simulation(world, iterating(10));
            run(&mut simulation, 1.0, dt);
            let state = simulation.soft(block).unwrap();
            (centre(&desc, &state), spin(&desc, &state).y)
        };
        let (free, damped) = (made(0.0, false).0, made(300.0, false).0);
        assert!((damped.0.y / free.0.y - 1.0).abs() < 1e-3, "{dt}: fell {} and {}", free.0.y, damped.0.y);
        assert!((damped.1.y / -G - 1.0).abs() < 1e-3, "{dt}: {} m/s after a second", damped.1.y);
        let (free, damped) = (made(0.0, true).1, made(300.0, true).1);
        assert!((damped / free - 1.0).abs() < 0.01, "{dt}: spins with {free} and {damped}");
    }
}

#[test]
fn a_bar_hangs_longer_by_its_own_weight() {
    // rho g L^2 / 2E, with the ends free to become thinner.
    for (cells, length) in [(8, 1.0f32), (16, 2.0)] {
        let mut world = World::new();
        let solid = Solid { density: 1000.0, young: 4e5 * length, poisson: 0.0, damping: 2000.0 };
        let size = Vec3::new(0.2, length, 0.2);
        let desc = SoftDesc::block(Vec3::ZERO, size, (2, cells, 2), &solid);
        let top: Vec<u32> = (0..desc.len() as u32).filter(|i| desc.rest[*i as usize].y > length / 2.0 - 1e-4).collect();
        let low: Vec<usize> = (0..desc.len()).filter(|i| desc.rest[*i].y < -length / 2.0 + 1e-4).collect();
        let bar = world.add_soft(desc).unwrap();
        for i in top {
            world.attach(AttachmentDesc::to_world(bar, i)).unwrap();
        }
        let mut simulation = simulation(world, iterating(30));
        run(&mut simulation, 3.0, 1.0 / 60.0);
        let state = simulation.soft(bar).unwrap();
        let mean = low.iter().map(|i| state.positions[*i].y).sum::<f32>() / low.len() as f32;
        let (found, expected) = (-length / 2.0 - mean, 1000.0 * G * length * length / (2.0 * solid.young));
        assert!((found / expected - 1.0).abs() < 0.03, "{cells} cells: {found} instead of {expected}");
    }
}

#[test]
fn a_cube_that_is_pressed_becomes_as_wide_as_its_poisson_ratio_says() {
    // Nearly incompressible, between plates that do not rub: strain -s along y, and s nu across.
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    let (nu, young, s) = (0.49f32, 1e4, 0.05f32);
    let solid = Solid { density: 1000.0, young, poisson: nu, damping: 50.0 };
    let desc = SoftDesc::block(Vec3::ZERO, Vec3::ONE, (4, 4, 4), &solid);
    let rest = desc.rest.clone();
    let cube = world.add_soft(desc).unwrap();
    // Weights on both faces that press with the force of that strain.
    let face = |sign: f32| rest.iter().enumerate().filter(move |(_, p)| p.y * sign > 0.5 - 1e-4);
    let load = young * s;
    for sign in [-1.0, 1.0] {
        let share = |p: &Vec3| {
            let half = |v: f32| if v.abs() > 0.5 - 1e-4 { 0.5 } else { 1.0 };
            half(p.x) * half(p.z) / 16.0
        };
        for (i, p) in face(sign) {
            world.set_particle_force(cube, i as u32, Vec3::Y * (-sign * load * share(p))).unwrap();
        }
    }
    let mut simulation = simulation(world, iterating(60));
    run(&mut simulation, 3.0, 1.0 / 60.0);
    let state = simulation.soft(cube).unwrap();
    let extent = |axis: fn(&Vec3) -> f32| {
        let mean = |sign: f32| {
            let on: Vec<f32> = rest
                .iter()
                .zip(&state.positions)
                .filter(|(r, _)| axis(r) * sign > 0.5 - 1e-4)
                .map(|(_, p)| axis(p))
                .collect();
            on.iter().sum::<f32>() / on.len() as f32
        };
        mean(1.0) - mean(-1.0)
    };
    let (pressed, wide) = (1.0 - extent(|p| p.y), extent(|p| p.x) - 1.0);
    assert!((pressed / s - 1.0).abs() < 0.12, "pressed by {pressed} instead of {s}");
    assert!((wide / (pressed * nu) - 1.0).abs() < 0.08, "wider by {wide}, pressed by {pressed}");
    let volume = extent(|p| p.x) * extent(|p| p.y) * extent(|p| p.z);
    assert!((volume - 1.0 + pressed * (1.0 - 2.0 * nu)).abs() < 0.005, "a volume of {volume}");
}

#[test]
fn what_is_turned_inside_out_or_flattened_recovers() {
    for case in 0..3 {
        let mut world = World::new();
        world.set_gravity(Vec3::ZERO).unwrap();
        let solid = Solid { young: 2e4, damping: 50.0, ..Solid::default() };
        let mut desc = SoftDesc::block(Vec3::ZERO, Vec3::splat(0.5), (3, 3, 3), &solid);
        let mut random = crate::common::Random::new(9);
        desc.positions = desc
            .rest
            .iter()
            .map(|p| match case {
                0 => Vec3::new(p.x, 0.0, p.z),
                1 => Vec3::new(p.x, -0.5 * p.y, p.z),
                _ => 0.3 * crate::common::ball(&mut random),
            })
            .collect();
        let rest = desc.rest.clone();
        let block = world.add_soft(desc).unwrap();
        let mut simulation = simulation(world, iterating(10));
        run(&mut simulation, 6.0, 1.0 / 60.0);
        let state = simulation.soft(block).unwrap();
        // Mirrored states have the shape back turned round; distances tell.
        let apart = |list: &[Vec3], i: usize, j: usize| (list[i] - list[j]).length();
        let worst = (0..rest.len())
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| (apart(&state.positions, i, j) - apart(&rest, i, j)).abs())
            .fold(0.0, f32::max);
        assert!(worst < 0.02, "case {case}: off by {worst}");
    }
}

#[test]
fn a_cantilever_bends_about_where_a_beam_does() {
    // w L^4 / 8 E I and shear under its own weight. Linear tetrahedra bend too little, by 7% with four cells across; it
    // swings for seconds, so the sag is the mean of a period.
    let mut world = World::new();
    let (length, side) = (1.0f32, 0.25f32);
    let solid = Solid { density: 1000.0, young: 4e6, poisson: 0.0, damping: 6e4 };
    let desc = SoftDesc::block(Vec3::ZERO, Vec3::new(length, side, side), (16, 4, 4), &solid);
    let at_end = |p: &Vec3, sign: f32| p.x * sign > length / 2.0 - 1e-4;
    let held: Vec<u32> = (0..desc.len() as u32).filter(|i| at_end(&desc.rest[*i as usize], -1.0)).collect();
    let tip: Vec<usize> = (0..desc.len()).filter(|i| at_end(&desc.rest[*i], 1.0)).collect();
    let beam = world.add_soft(desc).unwrap();
    for i in held {
        world.attach(AttachmentDesc::to_world(beam, i)).unwrap();
    }
    let mut simulation = simulation(world, iterating(20));
    let mut sags = Vec::new();
    let sag_now = |simulation: &mut drystone::Simulation| {
        let state = simulation.soft(beam).unwrap();
        -tip.iter().map(|i| state.positions[*i].y).sum::<f32>() / tip.len() as f32
    };
    run(&mut simulation, 1.0, 1.0 / 120.0);
    for _ in 0..22 {
        sags.push(sag_now(&mut simulation));
        run(&mut simulation, 0.1, 1.0 / 120.0);
    }
    let sag = sags.iter().sum::<f32>() / sags.len() as f32;
    let inertia = side.powi(4) / 12.0;
    let weight = 1000.0 * G * side * side;
    let shear = weight * length * length / (2.0 * (5.0 / 6.0) * (solid.young / 2.0) * side * side);
    let expected = weight * length.powi(4) / (8.0 * solid.young * inertia) + shear;
    assert!((0.88..1.05).contains(&(sag / expected)), "{sag} instead of {expected}: {sags:?}");
}

/// Kinetic energy, and that of the heights.
fn energy(desc: &SoftDesc, state: &drystone::SoftState) -> f32 {
    let each = state.positions.iter().zip(&state.velocities).zip(&desc.masses);
    each.map(|((p, v), m)| m * (0.5 * v.length_squared() + G * p.y)).sum()
}

#[test]
fn a_cloth_that_hangs_by_two_corners_swings_at_its_pace_and_gains_nothing() {
    for (n, iterations) in [(11, 5), (11, 20), (21, 20)] {
        let mut world = World::new();
        let desc = SoftDesc::cloth(Vec3::ZERO, Vec3::X, Vec3::Z, (n, n), &Cloth::default());
        let cloth = world.add_soft(desc.clone()).unwrap();
        for corner in [0, n - 1] {
            world.attach(AttachmentDesc::to_world(cloth, corner)).unwrap();
        }
        let mut simulation = simulation(world, iterating(iterations));
        let start = energy(&desc, &simulation.soft(cloth).unwrap());
        // A plate on hinges comes down in 0.6 s.
        run(&mut simulation, 0.6, 1.0 / 60.0);
        let (middle, _) = centre(&desc, &simulation.soft(cloth).unwrap());
        assert!(middle.y < -0.3, "{n} at {iterations}: at {middle} after 0.6 s");
        for second in 1..=10 {
            run(&mut simulation, 1.0, 1.0 / 60.0);
            let now = energy(&desc, &simulation.soft(cloth).unwrap());
            assert!(now < start + 0.01, "{n} at {iterations}: {now} J of {start} J, second {second}");
        }
        let state = simulation.soft(cloth).unwrap();
        let calm = energy(&desc, &state);
        assert!(calm < -0.7, "{n} at {iterations}: {calm} J after ten seconds");
        let lowest = state.positions.iter().map(|p| p.y).fold(0.0, f32::min);
        assert!((-1.3..-0.8).contains(&lowest), "{n} at {iterations}: hangs to {lowest}");
        for (corner, place) in [(0usize, Vec3::ZERO), (n as usize - 1, Vec3::X)] {
            let off = (state.positions[corner] - place).length();
            assert!(off < 1e-3 / (n - 1) as f32, "{n} at {iterations}: corner off by {off}");
        }
    }
}

#[test]
fn grids_need_few_colours() {
    let cloth = |n| SoftDesc::cloth(Vec3::ZERO, Vec3::X, Vec3::Z, (n, n), &Cloth::default());
    let flat = |n| SoftDesc::cloth(Vec3::ZERO, Vec3::X, Vec3::Z, (n, n), &Cloth { bend: 0.0, ..Cloth::default() });
    for n in [3, 10, 40] {
        for (desc, most) in [(cloth(n), 8), (flat(n), 5)] {
            let colours = colours(desc);
            assert!(colours <= most, "{n}: {colours} colours");
        }
    }
    let block = SoftDesc::block(Vec3::ZERO, Vec3::ONE, (6, 6, 6), &Solid::default());
    let ball = SoftDesc::ball(Vec3::ZERO, 1.0, 6, &Solid::default());
    for desc in [block, ball] {
        let colours = colours(desc);
        assert!(colours <= 9, "{colours} colours");
    }
}

/// As many as the step has passes over particles in an iteration.
fn colours(desc: SoftDesc) -> usize {
    let mut world = World::new();
    world.add_soft(desc).unwrap();
    let simulation = simulation(world, iterating(1).with(|s| s.iterations = 1));
    let passes = simulation.plan().recording.commands().iter().filter(|c| c.name() == "soft_primal").count();
    // The first step of a world has more iterations.
    let iterations = simulation.plan().recording.commands().iter().filter(|c| c.name() == "soft_dual").count();
    passes / iterations
}

#[test]
fn a_ball_that_spins_tumbles_as_a_rigid_one() {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    let solid = Solid { young: 1e6, damping: 100.0, ..Solid::default() };
    let turned = Quat::from_rotation_z(0.3);
    let mut desc = SoftDesc::ball(Vec3::ZERO, 0.5, 4, &solid);
    desc.rest.iter_mut().for_each(|p| *p = turned * *p);
    let desc = desc.spinning(Vec3::new(0.0, 3.0, 0.0));
    let ball = world.add_soft(desc.clone()).unwrap();
    let mut simulation = simulation(world, iterating(20));
    let before = spin(&desc, &simulation.soft(ball).unwrap()).y;
    run(&mut simulation, 1.0, 1.0 / 60.0);
    let after = spin(&desc, &simulation.soft(ball).unwrap()).y;
    assert!(after > 0.7 * before && after < 1.01 * before, "{after} of {before}");
}
