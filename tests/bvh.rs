//! The linear BVH: the tree is a tree, its boxes are right, and the pairs found in it are those of brute force.

mod common;

use common::{Backend, Random, on_every_backend};
use drystone::backend::RunnerExt;
use drystone::glam::Vec3;
use drystone::layout::{Aabb, DispatchArgs, Extent, LEAF, Node, Pair, Volume, volume_of};
use drystone::plan::detect::bvh::{Bvh, Found, Search, Tree};
use drystone::plan::{Buffer, Recording};

const NEEDED: u32 = 1;
const COUNT: u32 = 2;

struct Plan {
    recording: Recording,
    boxes: Buffer<Aabb>,
    counters: Buffer<u32>,
    overflow: Buffer<u32>,
    tree: Tree,
    found: Found,
}

fn plan(limit: u32, extent: Extent, capacity: u32) -> Plan {
    let mut recording = Recording::new("bvh");
    let counters = recording.buffer("counters", 3).unwrap();
    let overflow = recording.buffer("overflow", 1).unwrap();
    let boxes = recording.buffer("boxes", u64::from(limit)).unwrap();
    recording.fill(overflow, 0..1, 0).unwrap();
    let tree = Bvh { boxes, extent, counters }.record(&mut recording, "bvh").unwrap();
    let search = Search { capacity, needed: NEEDED, overflow, bit: 3, tile: 64, crowded: 0, most: u32::MAX };
    let found = search.record(&mut recording, "pairs", &tree).unwrap();
    Plan { recording, boxes, counters, overflow, tree, found }
}

fn cube(centre: Vec3, half: f32) -> Aabb {
    Aabb { min: centre - half, max: centre + half }
}

/// Boxes that trees and Morton codes can go wrong on.
fn scenes(n: u32) -> Vec<(&'static str, Vec<Aabb>)> {
    let mut random = Random::new(u64::from(n) + 3);
    let mut point =
        move |size: f32| Vec3::new(random.range(-size, size), random.range(-size, size), random.range(-size, size));
    let size = (n as f32).cbrt().max(1.0);
    let mut list = vec![
        ("random", (0..n).map(|_| cube(point(size), 0.5)).collect::<Vec<_>>()),
        ("clustered", (0..n).map(|i| cube(Vec3::splat((i % 5) as f32 * 1000.0) + point(0.02 * size), 0.01)).collect()),
        ("flat", (0..n).map(|_| cube(point(size) * Vec3::new(1.0, 0.0, 1.0), 0.4)).collect()),
        ("1e6 to 1 sized", (0..n).map(|i| cube(point(100.0), if i % 251 == 0 { 500.0 } else { 5e-4 })).collect()),
        ("far away", (0..n).map(|_| cube(Vec3::splat(1e6) + point(size * 4.0), 0.5)).collect()),
    ];
    if n <= 1000 {
        list.push(("identical", vec![cube(Vec3::ONE, 0.5); n as usize]));
        let mut broken: Vec<_> = (0..n).map(|_| cube(point(size), 0.5)).collect();
        for (i, b) in broken.iter_mut().enumerate() {
            match i % 9 {
                1 => b.min.x = f32::NAN,
                2 => b.max = Vec3::splat(f32::INFINITY),
                3 => *b = Aabb::EMPTY,
                4 => *b = cube(Vec3::splat(f32::MAX / 2.0), 1.0),
                _ => {}
            }
        }
        list.push(("with boxes that are no boxes", broken));
    }
    list
}

fn brute_force(boxes: &[Aabb]) -> Vec<(u32, u32)> {
    // Sweep along x, so that tens of thousands of boxes can be checked.
    let mut order: Vec<u32> = (0..boxes.len() as u32).filter(|&i| !boxes[i as usize].min.x.is_nan()).collect();
    order.sort_by(|&a, &b| boxes[a as usize].min.x.total_cmp(&boxes[b as usize].min.x));
    let mut pairs = Vec::new();
    for (k, &a) in order.iter().enumerate() {
        for &b in &order[k + 1..] {
            if boxes[b as usize].min.x > boxes[a as usize].max.x {
                break;
            }
            if boxes[a as usize].overlaps(&boxes[b as usize]) {
                pairs.push((a.min(b), a.max(b)));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// What a run gives, in bytes that can be compared.
#[derive(PartialEq)]
struct Outcome {
    nodes: Vec<Node>,
    order: Vec<u32>,
    volumes: Vec<u32>,
    pairs: Vec<Pair>,
    needed: u32,
}

fn run(backend: &Backend, plan: &Plan, boxes: &[Aabb]) -> Outcome {
    let mut runner = backend.runner(&plan.recording).unwrap();
    runner.write(plan.boxes, boxes).unwrap();
    runner.write(plan.counters, &[0, 0, boxes.len() as u32]).unwrap();
    runner.run().unwrap();
    let inner = boxes.len().saturating_sub(1) as u64;
    let needed = runner.read(plan.counters).unwrap()[NEEDED as usize];
    let capacity = plan.recording.info(plan.found.pairs.id()).unwrap().count;
    let there = u64::from(needed).min(capacity);
    let args: DispatchArgs = runner.read(plan.found.args).unwrap()[0];
    assert_eq!((args.x, args.y.max(1), args.z), (there.div_ceil(64) as u32, 1, 1), "indirect arguments");
    let overflow = runner.read(plan.overflow).unwrap()[0];
    assert_eq!(overflow, if u64::from(needed) > capacity { 1 << 3 } else { 0 }, "overflow bit");
    Outcome {
        nodes: runner.read_first(plan.tree.nodes, inner).unwrap(),
        order: runner.read_first(plan.tree.order, boxes.len() as u64).unwrap(),
        volumes: bytemuck::cast_slice(&runner.read_first(plan.tree.volumes, 2 * inner).unwrap()).to_vec(),
        pairs: runner.read_first(plan.found.pairs, there).unwrap(),
        needed,
    }
}

fn sorted(pairs: &[Pair]) -> Vec<(u32, u32)> {
    let mut list: Vec<_> = pairs.iter().map(|p| (p.a, p.b)).collect();
    list.sort_unstable();
    list
}

/// Every leaf is reached once, ranges nest, and every node's box is the union of its leaves'.
fn check_tree(outcome: &Outcome, boxes: &[Aabb]) {
    let leaves = boxes.len() as u32;
    let volumes: &[Volume] = bytemuck::cast_slice(&outcome.volumes);
    let mut permutation = outcome.order.clone();
    permutation.sort_unstable();
    assert!(permutation.into_iter().eq(0..leaves), "the order is a permutation");
    if leaves < 2 {
        return;
    }
    let mut parents = vec![0u32; 2 * leaves as usize];
    let slot = |child: u32| if child & LEAF != 0 { (leaves + (child & !LEAF)) as usize } else { child as usize };
    for (i, node) in outcome.nodes.iter().enumerate() {
        let range = |child: u32| {
            if child & LEAF != 0 {
                (child & !LEAF, child & !LEAF)
            } else {
                (outcome.nodes[child as usize].first, outcome.nodes[child as usize].last)
            }
        };
        let (left, right) = (range(node.left), range(node.right));
        assert_eq!((left.0, right.1), (node.first, node.last), "range of node {i}");
        assert_eq!(left.1 + 1, right.0, "children of node {i} meet");
        parents[slot(node.left)] += 1;
        parents[slot(node.right)] += 1;
        if node.last - node.first < 2000 {
            let expected = (node.first..=node.last)
                .fold(Aabb::EMPTY, |all, leaf| all.union(&boxes[outcome.order[leaf as usize] as usize]));
            assert_eq!(volumes[volume_of(i as u32) as usize].bounds, expected, "box of node {i}");
        }
    }
    assert_eq!((outcome.nodes[0].first, outcome.nodes[0].last), (0, leaves - 1), "the root covers everything");
    assert_eq!(parents[0], 0, "the root has no parent");
    assert!(parents[1..leaves as usize - 1].iter().chain(&parents[leaves as usize..]).all(|&p| p == 1));
}

#[test]
fn pairs_equal_brute_force_and_repeat_to_the_bit() {
    on_every_backend(|backend| {
        for n in [0, 1, 2, 3, 63, 64, 65, 255, 256, 257, 1000, 20_000] {
            for (kind, boxes) in scenes(n) {
                let expected = brute_force(&boxes);
                let plan = plan(n, Extent::host(n), expected.len().max(1) as u32);
                let outcome = run(backend, &plan, &boxes);
                let place = format!("{n} boxes, {kind}, on {}", backend.name());
                assert_eq!(outcome.needed as usize, expected.len(), "{place}");
                assert!(sorted(&outcome.pairs) == expected, "{place}");
                check_tree(&outcome, &boxes);
                assert!(run(backend, &plan, &boxes) == outcome, "a second run differs: {place}");
            }
        }
    });
}

#[test]
fn a_million_boxes_give_the_same_tree_and_pairs_everywhere() {
    let n = 1_000_000;
    let (_, boxes) = scenes(n).swap_remove(0);
    let expected = brute_force_grid(&boxes);
    let plan = plan(n, Extent::host(n), expected.len() as u32);
    let cpu = run(&Backend::Cpu, &plan, &boxes);
    assert!(sorted(&cpu.pairs) == expected, "cpu");
    // Codes are computed by the same operations in the same order; only a fused multiply-add could differ, and
    // there is none in them. So trees and lists agree to the bit, not only as sets.
    on_every_backend(|backend| assert!(run(backend, &plan, &boxes) == cpu, "{}", backend.name()));
}

/// Brute force in cells of the boxes' size, for a million unit boxes.
fn brute_force_grid(boxes: &[Aabb]) -> Vec<(u32, u32)> {
    use std::collections::HashMap;
    let cell = |b: &Aabb| b.min.floor().as_ivec3();
    let mut cells: HashMap<_, Vec<u32>> = HashMap::new();
    for (i, b) in boxes.iter().enumerate() {
        cells.entry(cell(b)).or_default().push(i as u32);
    }
    let mut pairs = Vec::new();
    for (i, a) in boxes.iter().enumerate() {
        let home = cell(a);
        for d in 0..27 {
            let next = home + drystone::glam::IVec3::new(d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1);
            for &j in cells.get(&next).into_iter().flatten() {
                if (i as u32) < j && a.overlaps(&boxes[j as usize]) {
                    pairs.push((i as u32, j));
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

#[test]
fn takes_its_count_from_the_device() {
    on_every_backend(|backend| {
        let limit = 3000;
        let plan = plan(limit, Extent::counter(COUNT, limit), 100_000);
        let (_, boxes) = scenes(limit).swap_remove(0);
        for count in [0, 1, 2, 9, 2048, limit] {
            let boxes = &boxes[..count as usize];
            let outcome = run(backend, &plan, boxes);
            assert!(sorted(&outcome.pairs) == brute_force(boxes), "{count} boxes on {}", backend.name());
            check_tree(&outcome, boxes);
        }
    });
}

#[test]
fn an_undersized_pair_buffer_reports_what_it_needs_and_is_not_overrun() {
    on_every_backend(|backend| {
        let n = 1000;
        let boxes = vec![cube(Vec3::ZERO, 1.0); n as usize];
        let all = n * (n - 1) / 2;
        let complete = run(backend, &plan(n, Extent::host(n), all), &boxes);
        assert_eq!(complete.needed, all);
        for capacity in [0, 1, 1000, all - 1] {
            let mut plan = plan(n, Extent::host(n), capacity);
            // The stage sees `capacity` pairs, the buffer has room for more: whatever is written past the end shows.
            let guard = 4096;
            let (recording, pairs) = with_guard(&plan, guard);
            plan.recording = recording;
            let mut runner = backend.runner(&plan.recording).unwrap();
            let mark = Pair { a: 0xaaaa_aaaa, b: 0x5555_5555 };
            runner.write(pairs, &vec![mark; (capacity + guard) as usize]).unwrap();
            runner.write(plan.boxes, &boxes).unwrap();
            runner.run().unwrap();
            let counters = runner.read(plan.counters).unwrap();
            assert_eq!(counters[NEEDED as usize], all, "the needed size, on {}", backend.name());
            assert_eq!(runner.read(plan.overflow).unwrap()[0], 1 << 3, "the overflow bit, on {}", backend.name());
            let list = runner.read(pairs).unwrap();
            let (kept, rest) = list.split_at(capacity as usize);
            assert_eq!(kept, &complete.pairs[..capacity as usize], "what fits is the start of the whole list");
            assert!(rest.iter().all(|p| *p == mark), "a write past the end, on {}", backend.name());
        }
    });
}

/// The same plan with `guard` more pairs in the buffer than its stages know of.
fn with_guard(plan: &Plan, guard: u32) -> (Recording, Buffer<Pair>) {
    use drystone::plan::{Command, Groups};
    let mut copy = Recording::new("bvh with a guard");
    for (i, info) in plan.recording.buffers().iter().enumerate() {
        let count = info.count + if i == plan.found.pairs.id().0 as usize { u64::from(guard) } else { 0 };
        match info.stride {
            4 => drop(copy.buffer::<u32>(&info.name, count).unwrap()),
            8 => drop(copy.buffer::<Pair>(&info.name, count).unwrap()),
            12 => drop(copy.dispatch_args(&info.name, count).unwrap()),
            16 => drop(copy.buffer::<Node>(&info.name, count).unwrap()),
            24 => drop(copy.buffer::<Aabb>(&info.name, count).unwrap()),
            28 => drop(copy.buffer::<Volume>(&info.name, count).unwrap()),
            other => panic!("a buffer of {other}-byte elements"),
        }
    }
    for command in plan.recording.commands() {
        match command {
            Command::Dispatch { invocation, groups: Groups::Direct(count) } => {
                copy.dispatch(u64::from(*count), invocation.clone()).unwrap();
            }
            Command::Fill { buffer, range, value } => {
                copy.fill(Buffer::<u32>::new(*buffer), range.start / 4..range.end / 4, *value).unwrap();
            }
            other => panic!("{} is not part of this plan", other.name()),
        }
    }
    (copy, plan.found.pairs)
}

#[test]
fn a_floor_under_everything_is_found_by_everything() {
    // One box overlaps all others: a lane that walked through all of them would run into the loop limits of drivers,
    // and keep a whole device waiting.
    on_every_backend(|backend| {
        let n = 60_000;
        let side = 245;
        let mut boxes: Vec<_> =
            (1..n).map(|i| cube(Vec3::new((i % side) as f32 * 2.0, 0.5, (i / side) as f32 * 2.0), 0.5)).collect();
        boxes.push(Aabb { min: Vec3::new(-10.0, -1.0, -10.0), max: Vec3::new(1000.0, 0.0, 1000.0) });
        let plan = plan(n, Extent::host(n), n);
        let outcome = run(backend, &plan, &boxes);
        let expected: Vec<_> = (0..n - 1).map(|i| (i, n - 1)).collect();
        assert!(sorted(&outcome.pairs) == expected, "on {}", backend.name());
    });
}

#[test]
fn a_walk_that_the_driver_cuts_short_is_reported() {
    // Needles side by side, and cubes of the same size class around all of them: each cube has to visit every needle.
    let needles = 150_000u32;
    let mut boxes: Vec<_> = (0..needles)
        .map(|i| {
            let y = i as f32 * 5e-6;
            Aabb { min: Vec3::new(0.0, y, 0.0), max: Vec3::new(1.0, y + 1e-6, 1e-6) }
        })
        .collect();
    // Their centres lie below the needles', so they come first in Morton order.
    boxes.extend([cube(Vec3::new(0.45, 0.45, -0.45), 0.55); 4]);
    let n = boxes.len() as u32;
    let plan = plan(n, Extent::host(n), 4 * n);
    let exact = run(&Backend::Cpu, &plan, &boxes);
    assert_eq!(exact.needed, 4 * needles + 6);
    common::on_device("llvmpipe", |backend| {
        // It ends loops after 65,535 rounds. The result is incomplete, and says so.
        let mut runner = backend.runner(&plan.recording).unwrap();
        runner.write(plan.boxes, &boxes).unwrap();
        runner.run().unwrap();
        assert_eq!(runner.read(plan.counters).unwrap()[NEEDED as usize], u32::MAX);
        assert_eq!(runner.read(plan.overflow).unwrap()[0], 1 << 3);
    });
}
