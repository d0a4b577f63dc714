//! Soft surfaces that meet themselves and each other: nothing crosses, by an exact test over all pairs of an edge and a
//! triangle; loads, friction and momentum.

use super::{run, simulation};
use crate::common::iterating;
use drystone::glam::Vec3;
use drystone::scenes;
use drystone::world::{Cloth, SoftDesc, World};

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
