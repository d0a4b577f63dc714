//! What went through a soft surface that lies flat, but for its folds: bodies with their middle below it.

use drystone::Simulation;
use drystone::glam::Vec3;
use std::collections::HashMap;

/// Side of the squares that triangles are sorted into, metres.
const SQUARE: f32 = 0.5;

fn square(v: f32) -> i32 {
    (v / SQUARE).floor() as i32
}

/// How high a point is above a triangle, if it is above or below one.
fn above([a, b, c]: [Vec3; 3], point: Vec3) -> Option<f32> {
    let (u, v, p) = (b - a, c - a, point - a);
    let area = u.x * v.z - u.z * v.x;
    let (s, t) = ((p.x * v.z - p.z * v.x) / area, (u.x * p.z - u.z * p.x) / area);
    let inside = area.abs() > 1e-12 && s >= 0.0 && t >= 0.0 && s + t <= 1.0;
    inside.then_some(p.y - u.y * s - v.y * t)
}

/// How many bodies are below every place of the soft surfaces above or below them, or beside all and below all.
pub fn through(simulation: &mut Simulation) -> anyhow::Result<u32> {
    let soft: Vec<_> = simulation.world().soft_bodies().collect();
    let mut squares: HashMap<(i32, i32), Vec<[Vec3; 3]>> = HashMap::new();
    let mut lowest = f32::INFINITY;
    for handle in soft {
        let positions = simulation.soft(handle)?.positions;
        lowest = positions.iter().map(|p| p.y).fold(lowest, f32::min);
        for corners in simulation.world().soft_triangles(handle)? {
            let triangle = corners.map(|i| positions[i as usize]);
            let ends = |of: fn(&Vec3) -> f32| {
                let all = triangle.each_ref().map(of);
                let low = all.iter().copied().fold(f32::INFINITY, f32::min);
                let high = all.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                square(low)..=square(high)
            };
            for x in ends(|p| p.x) {
                for z in ends(|p| p.z) {
                    squares.entry((x, z)).or_default().push(triangle);
                }
            }
        }
    }
    let below = |point: Vec3| {
        let near = squares.get(&(square(point.x), square(point.z)));
        let heights = near.into_iter().flatten().filter_map(|triangle| above(*triangle, point));
        heights.reduce(f32::max).map_or(point.y < lowest, |height| height < 0.0)
    };
    Ok(simulation.bodies()?.into_iter().filter(|(_, state)| below(state.position)).count() as u32)
}
