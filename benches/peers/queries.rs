//! Batches of queries beside rapier3d's query pipeline: `cargo bench -p drystone-peers -- --queries`. Both look at the
//! same bodies, a pile after a second, and are asked the same; rapier3d on as many threads as there are processors.
//! Times are of the whole answer: for drystone the upload, the hierarchy anew, the queries and the way back. What both
//! agree on, to a millimetre, is counted.

use super::{DT, llvmpipe, pose, rapier, vector};
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::queries::{QueryBatch, QueryFilter, QueryHit, QueryResults};
use drystone::scenes;
use drystone::world::{Shape, World};
use drystone::{Settings, Simulation};
use rapier3d::parry::query::ShapeCastOptions;
use rapier3d::prelude::{PhysicsWorld, Ray, SharedShape};
use std::time::{Duration, Instant};

const QUERIES: usize = 100_000;
/// Times that each is asked.
const TURNS: usize = 7;
const KINDS: [&str; 5] = ["rays", "sphere casts", "box casts", "box overlaps", "closest points"];
const RADIUS: f32 = 0.2;
const HALF: Vec3 = Vec3::new(0.2, 0.1, 0.3);

/// Where a query begins, and its way.
struct Asked {
    at: Vec3,
    turn: Quat,
    way: Vec3,
}

/// From around the bodies to somewhere among them, always the same.
fn asked(world: &World) -> Vec<Asked> {
    let mut bits = 1u64;
    let mut unit = || {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (bits >> 40) as f32 / 16_777_216.0
    };
    let places: Vec<Vec3> = world.handles().map(|h| world.desc(h).expect("a live handle").position).collect();
    let (low, high) = places.iter().fold((Vec3::MAX, Vec3::MIN), |(l, h), p| (l.min(*p), h.max(*p)));
    let mut place = |wider: f32| {
        let at = Vec3::new(unit(), unit(), unit()) * (high - low) + low;
        let middle = (low + high) * 0.5;
        (middle + (at - middle) * wider).max(Vec3::new(f32::MIN, 0.2, f32::MIN))
    };
    let one = |_| {
        let (at, to) = (place(1.3), place(1.0));
        Asked { at, turn: Quat::from_rotation_arc(Vec3::Y, (to - at).normalize_or(Vec3::Y)), way: to - at }
    };
    (0..QUERIES).map(one).collect()
}

fn batch(kind: usize, asked: &[Asked]) -> QueryBatch {
    let (all, mut batch) = (QueryFilter::default(), QueryBatch::new());
    for Asked { at, turn, way } in asked {
        let cube = Shape::Box { half: HALF };
        let added = match kind {
            0 => batch.ray(*at, *way, way.length(), all),
            1 => batch.sphere_cast(*at, RADIUS, *way, all),
            2 => batch.shape_cast(&cube, *at, *turn, *way, all),
            3 => batch.overlap(&cube, *at, *turn, 8, all),
            _ => batch.closest_point(*at, 1e4, all),
        };
        added.expect("a query that makes sense");
    }
    batch
}

/// What a query came to: a way or distance, or how many.
fn numbers(kind: usize, results: &QueryResults) -> Vec<f32> {
    let ways = |hits: &[Option<QueryHit>]| hits.iter().map(|h| h.map_or(-1.0, |h| h.distance)).collect();
    match kind {
        0 => ways(&results.rays),
        1 | 2 => ways(&results.casts),
        3 => results.overlaps.iter().map(|o| o.count as f32).collect(),
        _ => ways(&results.closest),
    }
}

fn ask_rapier(kind: usize, peer: &PhysicsWorld, asked: &[Asked]) -> Vec<f32> {
    let queries = peer.query_pipeline();
    let (ball, cube) = (SharedShape::ball(RADIUS), SharedShape::cuboid(HALF.x, HALF.y, HALF.z));
    let options = ShapeCastOptions::with_max_time_of_impact(1.0);
    let answer = |Asked { at, turn, way }: &Asked| {
        let place = pose(*at, *turn);
        match kind {
            0 => {
                let ray = Ray::new(vector(*at), vector(way.normalize()));
                queries.cast_ray_and_get_normal(&ray, way.length(), true).map_or(-1.0, |hit| hit.1.time_of_impact)
            }
            1 | 2 => {
                let shape = if kind == 1 { &ball } else { &cube };
                let hit = queries.cast_shape(&place, vector(*way), &**shape, options);
                hit.map_or(-1.0, |hit| hit.1.time_of_impact * way.length())
            }
            3 => queries.intersect_shape(place, &*cube).count() as f32,
            _ => {
                let near = queries.project_point(vector(*at), 1e4, true);
                near.map_or(-1.0, |(_, p)| (p.point - vector(*at)).length())
            }
        }
    };
    asked.iter().map(answer).collect()
}

/// On all processors.
fn ask_rapier_on_all(kind: usize, peer: &PhysicsWorld, asked: &[Asked]) -> Vec<f32> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let parts = asked.chunks(asked.len().div_ceil(threads));
        let parts: Vec<_> = parts.map(|part| scope.spawn(move || ask_rapier(kind, peer, part))).collect();
        parts.into_iter().flat_map(|part| part.join().expect("answers")).collect()
    })
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

pub fn main() {
    for bodies in [1000, 10_000] {
        let scene = scenes::pile(bodies, 40).expect("a scene");
        let cpu = Device::Cpu { threads: None };
        let mut simulation = Simulation::new(scene.clone(), Settings::default(), cpu.clone()).expect("a scene");
        (0..60).for_each(|_| _ = simulation.step(DT).expect("a step"));
        let mut world = World::new();
        for (handle, state) in simulation.bodies().expect("states") {
            let mut desc = scene.desc(handle).expect("a live handle").clone();
            (desc.position, desc.rotation) = (state.position, state.rotation);
            (desc.linear_velocity, desc.angular_velocity) = (Vec3::ZERO, Vec3::ZERO);
            world.add(desc).expect("a body as it was");
        }
        let mut peer = rapier(&world, 1).world;
        // Only to have its hierarchy.
        peer.integration_parameters.dt = 1e-6;
        peer.step();
        let asked = asked(&world);
        let mut devices = vec![("drystone cpu", cpu)];
        devices.extend(llvmpipe().map(|device| ("drystone llvmpipe", device)));
        let mut simulations: Vec<_> = devices
            .into_iter()
            .map(|(who, device)| (who, Simulation::new(world.clone(), Settings::default(), device).expect("a scene")))
            .collect();
        println!("pile of {bodies}, {QUERIES} queries of a kind, median of {TURNS}");
        for (kind, name) in KINDS.iter().enumerate() {
            let batch = batch(kind, &asked);
            // Room is made, and pipelines are compiled, before the clock runs.
            simulations.iter_mut().for_each(|(_, s)| _ = s.query(&batch).expect("answers"));
            let mut times = vec![Vec::new(); simulations.len() + 1];
            let mut expected = Vec::new();
            let mut found = vec![Vec::new(); simulations.len()];
            for _ in 0..TURNS {
                let start = Instant::now();
                expected = ask_rapier_on_all(kind, &peer, &asked);
                times[0].push(start.elapsed());
                for (i, (_, s)) in simulations.iter_mut().enumerate() {
                    let start = Instant::now();
                    let results = s.query(&batch).expect("answers");
                    times[i + 1].push(start.elapsed());
                    found[i] = numbers(kind, &results);
                }
            }
            let mut times = times.into_iter().map(median);
            let base = times.next().unwrap_or_default();
            println!("  {name:<15} {:<18} {base:>8.1} ms", "rapier3d");
            for (((who, _), time), found) in simulations.iter().zip(times).zip(&found) {
                let agree = found.iter().zip(&expected).filter(|(a, b)| (**a - **b).abs() < 1e-3).count();
                let part = agree as f64 * 100.0 / QUERIES as f64;
                println!("  {:<15} {who:<18} {time:>8.1} ms {:>5.2} x   {part:.2}% agree", "", time / base);
            }
        }
    }
}
