//! Soft surfaces that meet themselves and each other: nothing crosses, by an exact test over all pairs of an edge and a
//! triangle; loads, friction and momentum.

use super::{centre, run, simulation};
use crate::common::iterating;
use drystone::glam::Vec3;
use drystone::metrics::elastic_energy;
use drystone::scenes;
use drystone::world::{AttachmentDesc, Cloth, SoftDesc, SoftHandle, SoftSurface, Solid, World};
use drystone::{Simulation, SoftState};

/// Coordinates in units of 2^-36 m: f32 from 2^-12 m on are whole numbers of them, and determinants fit 128 bits up to
/// some metres.
fn exact(p: Vec3) -> [i128; 3] {
    p.to_array().map(|v| (f64::from(v) * (1u64 << 36) as f64).round() as i128)
}

fn less(a: [i128; 3], b: [i128; 3]) -> [i128; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The sign of the volume of a tetrahedron.
fn side(a: [i128; 3], b: [i128; 3], c: [i128; 3], d: [i128; 3]) -> i128 {
    let (u, v, w) = (less(b, a), less(c, a), less(d, a));
    let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    (cross[0] * w[0] + cross[1] * w[1] + cross[2] * w[2]).signum()
}

/// Whether a line meets a triangle; touching counts, lying in its plane does not.
fn meets(p: [i128; 3], q: [i128; 3], [a, b, c]: [[i128; 3]; 3]) -> bool {
    if side(a, b, c, p) * side(a, b, c, q) > 0 || (side(a, b, c, p) == 0 && side(a, b, c, q) == 0) {
        return false;
    }
    let around = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)];
    around.iter().all(|s| *s >= 0) || around.iter().all(|s| *s <= 0)
}

/// Pairs of an edge and a triangle without a common corner that meet. With corners in common it is the other edges that
/// would.
pub fn crossings(positions: &[Vec3], triangles: &[[u32; 3]]) -> usize {
    let places: Vec<_> = positions.iter().map(|p| exact(*p)).collect();
    let bounds = |corners: &[u32]| {
        let of = |f: fn(i128, i128) -> i128, axis: usize| {
            corners.iter().map(|c| places[*c as usize][axis]).reduce(f).unwrap()
        };
        [0, 1, 2].map(|axis| (of(i128::min, axis), of(i128::max, axis)))
    };
    let mut edges: Vec<[u32; 2]> = triangles
        .iter()
        .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let mut boxed: Vec<_> = triangles.iter().map(|t| (bounds(t), *t)).collect();
    boxed.sort_unstable_by_key(|(b, _)| b[0].0);
    let widest = boxed.iter().map(|(b, _)| b[0].1 - b[0].0).max().unwrap_or(0);
    let mut count = 0;
    for [p, q] in edges {
        let bound = bounds(&[p, q]);
        let first = boxed.partition_point(|(b, _)| b[0].0 < bound[0].0 - widest);
        for (b, t) in boxed[first..].iter().take_while(|(b, _)| b[0].0 <= bound[0].1) {
            let near = (0..3).all(|axis| b[axis].0 <= bound[axis].1 && bound[axis].0 <= b[axis].1);
            if near && !t.contains(&p) && !t.contains(&q) {
                let corners = t.map(|c| places[c as usize]);
                count += usize::from(meets(places[p as usize], places[q as usize], corners));
            }
        }
    }
    count
}

#[test]
fn the_test_for_crossings_finds_one() {
    let square = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y];
    let through = [Vec3::new(0.2, 0.2, -0.1), Vec3::new(0.3, 0.2, 0.1), Vec3::new(0.2, 0.3, 0.1)];
    let all: Vec<Vec3> = square.iter().chain(&through).copied().collect();
    let triangles = [[0, 1, 2], [1, 3, 2], [4, 5, 6]];
    assert_eq!(crossings(&all, &triangles), 2);
    let beside: Vec<Vec3> = all.iter().enumerate().map(|(i, p)| if i > 3 { *p + Vec3::Z * 0.2 } else { *p }).collect();
    assert_eq!(crossings(&beside, &triangles), 0);
}

#[test]
fn a_twisted_cylinder_never_crosses_itself() {
    for (around, along, iterations) in [(8, 7, 4), (16, 14, 10)] {
        let world = scenes::twist(around, along, 2.0).unwrap();
        let cloth = world.soft_bodies().next().unwrap();
        let triangles: Vec<_> = world.soft_desc(cloth).unwrap().triangles.iter().map(|t| t.corners).collect();
        let mut simulation = simulation(world, iterating(iterations));
        for second in 0..10 {
            run(&mut simulation, 1.0, 1.0 / 60.0);
            let state = simulation.soft(cloth).unwrap();
            let found = crossings(&state.positions, &triangles);
            let fastest = state.velocities.iter().map(|v| v.length()).fold(0.0, f32::max);
            let case = format!("{around} x {along} at {iterations}, after {second} s");
            assert_eq!(found, 0, "{case}");
            assert!(fastest < 3.0, "{case}: {fastest} m/s");
        }
    }
}

#[test]
fn what_falls_or_spins_alone_goes_as_if_it_met_nothing() {
    // Edge-on, faster than a triangle is wide a step; and a spin.
    for (speed, spin) in [(12.0f32, 0.0f32), (0.0, 15.0), (6.0, 6.0)] {
        let after = |meets: bool| {
            let mut world = World::new();
            let desc = SoftDesc::cloth(Vec3::ZERO, Vec3::X, Vec3::Y, (13, 13), &Cloth::default());
            let mut surface = desc.surface.unwrap();
            surface.meets_soft = meets;
            let desc = desc.spinning(Vec3::Z * spin).touching(surface);
            let mut moving = desc.clone();
            moving.velocities.iter_mut().for_each(|v| *v -= Vec3::Y * speed);
            let cloth = world.add_soft(moving).unwrap();
            let mut simulation = simulation(world, iterating(4));
            run(&mut simulation, 0.5, 1.0 / 60.0);
            simulation.soft(cloth).unwrap().positions
        };
        let (alone, meeting) = (after(false), after(true));
        let off = alone.iter().zip(&meeting).map(|(a, b)| (*a - *b).length()).fold(0.0, f32::max);
        assert!(off < 1e-4, "{speed} m/s, {spin} rad/s: {off} m");
    }
}

/// Momentum of a body, and its energy without that of height.
fn carries(desc: &SoftDesc, state: &SoftState) -> (Vec3, f64) {
    let all = desc.masses.iter().zip(&state.velocities);
    let moving: f64 = all.clone().map(|(m, v)| 0.5 * f64::from(*m * v.length_squared())).sum();
    (all.map(|(m, v)| *v * *m).sum(), moving + elastic_energy(desc, &state.positions))
}

/// Lets bodies meet that nothing else acts on; returns how fast each goes in the end.
fn meet(case: &str, bodies: Vec<SoftDesc>, iterations: u32, dt: f32) -> Vec<Vec3> {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    let all: Vec<(SoftHandle, SoftDesc)> =
        bodies.into_iter().map(|desc| (world.add_soft(desc.clone()).unwrap(), desc)).collect();
    let mut simulation = simulation(world, iterating(iterations));
    let sum = |simulation: &mut Simulation| {
        let each = all.iter().map(|(soft, desc)| carries(desc, &simulation.soft(*soft).unwrap()));
        each.fold((Vec3::ZERO, 0.0), |a, b| (a.0 + b.0, a.1 + b.1))
    };
    let (given, mut energy) = sum(&mut simulation);
    let first = energy;
    for step in 0..(0.6 / dt) as u32 {
        simulation.step(dt).unwrap();
        let (has, joules) = sum(&mut simulation);
        let off = (has - given).length() / given.length();
        assert!(off < 1e-3, "{case}, step {step}: momentum off by {off}");
        assert!(joules < energy + 0.01 * first, "{case}, step {step}: {joules} J after {energy}");
        energy = energy.min(joules);
    }
    assert!(energy < 0.97 * first, "{case}: they have met, {energy} J of {first}");
    all.iter().map(|(soft, desc)| centre(desc, &simulation.soft(*soft).unwrap()).1).collect()
}

#[test]
fn blocks_and_cloths_that_meet_keep_their_momentum() {
    let surface = SoftSurface::new(0.008, 0.4).meeting_soft();
    for (iterations, ratio, speed, dt) in [
        (4u32, 1.0f32, 2.0f32, 1.0 / 60.0),
        (4, 6.0, 0.5, 1.0 / 60.0),
        (4, 0.15, 1.5, 1.0 / 60.0),
        (12, 0.15, 3.0, 1.0 / 60.0),
        (12, 10.0, 0.3, 1.0 / 120.0),
        (40, 2.0, 2.0, 1.0 / 30.0),
    ] {
        let case = format!("1:{ratio}, {speed} m/s, {iterations} iterations, {dt} s");
        let solid = Solid { density: 700.0, young: 6e4, poisson: 0.35, damping: 60.0 };
        let heavy = Solid { density: 700.0 * ratio, ..solid };
        let at_rest = SoftDesc::block(Vec3::ZERO, Vec3::splat(0.4), (2, 2, 2), &solid);
        let comes = SoftDesc::block(Vec3::new(0.05, 0.46, -0.08), Vec3::splat(0.4), (3, 2, 2), &heavy);
        let comes = comes.moving(Vec3::new(0.1, -speed, 0.0));
        let ends =
            meet(&format!("blocks {case}"), vec![at_rest.touching(surface), comes.touching(surface)], iterations, dt);
        assert!(ends[0].y < ends[1].y, "blocks {case}: they come apart, at {ends:?}");

        let cloth = Cloth { damping: 0.2, ..Cloth::default() };
        let heavy = Cloth { density: 0.2 * ratio, ..cloth };
        let at_rest = SoftDesc::cloth(Vec3::ZERO, Vec3::X, Vec3::Z, (8, 8), &cloth);
        let (along, across) = (Vec3::new(0.7, 0.02, 0.1), Vec3::new(-0.1, 0.01, 0.7));
        let comes = SoftDesc::cloth(Vec3::new(0.21, 0.06, 0.13), along, across, (6, 6), &heavy);
        let comes = comes.moving(Vec3::Y * -speed);
        meet(&format!("cloths {case}"), vec![at_rest.touching(surface), comes.touching(surface)], iterations, dt);
    }
}

#[test]
fn a_cloth_that_is_laid_on_one_that_is_held_rests_there() {
    for (below, above, iterations) in [(8, 5, 10), (6, 5, 30)] {
        let mut world = World::new();
        let cloth = Cloth { damping: 1.0, ..Cloth::default() };
        let surface = SoftSurface::new(0.012, 0.5).meeting_soft();
        let lower = SoftDesc::cloth(Vec3::ZERO, Vec3::X, Vec3::Z, (below, below), &cloth).touching(surface);
        let corner = Vec3::new(0.23, 0.05, 0.29);
        let upper = SoftDesc::cloth(corner, Vec3::X * 0.5, Vec3::Z * 0.45, (above, above), &cloth).touching(surface);
        let weight = 9.81 * lower.masses.iter().chain(&upper.masses).sum::<f32>();
        let (lower, upper) = (world.add_soft(lower).unwrap(), world.add_soft(upper).unwrap());
        let border = |i: u32| [i % below, i / below].iter().any(|k| *k == 0 || k + 1 == below);
        let held: Vec<_> = (0..below * below)
            .filter(|i| border(*i))
            .map(|i| world.attach(AttachmentDesc::to_world(lower, i)).unwrap())
            .collect();
        let mut simulation = simulation(world, iterating(iterations));
        run(&mut simulation, 8.0, 1.0 / 60.0);
        let case = format!("{above} on {below} at {iterations}");
        let mut carried = 0.0;
        for _ in 0..30 {
            run(&mut simulation, 1.0 / 60.0, 1.0 / 60.0);
            carried += held.iter().map(|a| simulation.attachment_force(*a).unwrap().y).sum::<f32>() / 30.0;
        }
        assert!((carried / weight - 1.0).abs() < 0.03, "{case}: {carried} N of {weight}");
        for soft in [lower, upper] {
            let state = simulation.soft(soft).unwrap();
            let fastest = state.velocities.iter().map(|v| v.length()).fold(0.0, f32::max);
            assert!(fastest < 0.01, "{case}: {fastest} m/s");
        }
        let mut height = |soft| simulation.soft(soft).unwrap().positions.iter().map(|p| p.y).sum::<f32>();
        let (low, high) = (height(lower) / (below * below) as f32, height(upper) / (above * above) as f32);
        assert!(high > low - 0.05, "{case}: at {high} over {low}");
    }
}

#[test]
fn layers_that_fall_together_fall_freely() {
    for (count, apart, speed, iterations) in [(3u16, 0.024f32, 6.0f32, 4), (2, 0.021, 9.0, 10)] {
        let mut world = World::new();
        let surface = SoftSurface::new(0.01, 0.5).meeting_soft();
        let layers: Vec<_> = (0..count)
            .map(|i| {
                let corner = Vec3::Y * (f32::from(i) * apart);
                let desc = SoftDesc::cloth(corner, Vec3::X, Vec3::Z, (9, 9), &Cloth::default()).touching(surface);
                world.add_soft(desc.clone().moving(Vec3::Y * -speed)).unwrap()
            })
            .collect();
        let mut simulation = simulation(world, iterating(iterations));
        let (dt, steps) = (1.0 / 60.0, 20.0);
        run(&mut simulation, dt * steps, dt);
        let fallen = speed * dt * steps + 9.81 * dt * dt * steps * (steps + 1.0) / 2.0;
        for (i, soft) in (0u16..).zip(layers) {
            let state = simulation.soft(soft).unwrap();
            let off = state.positions.iter().map(|p| (p.y + fallen - f32::from(i) * apart).abs()).fold(0.0, f32::max);
            assert!(off < 2e-3, "layer {i} of {count} at {speed} m/s: off by {off}");
        }
    }
}
