//! Where convex hulls touch, against brute force in double precision, and how they behave.

mod common;

use common::{Backend, Random, ball, box_points, on_every_backend};
use drystone::backend::RunnerExt;
use drystone::glam::{DQuat, DVec3, Quat, Vec3};
use drystone::metrics::Metrics;
use drystone::world::{BodyDesc, Collider, Hull, Shape, World};
use drystone::{Settings, Simulation, scenes};
use drystone_kernels::detect::manifold::{FourPoints, Head, record, word};
use std::sync::Arc;

const DT: f32 = 1.0 / 60.0;

fn simulate(world: World, backend: &Backend) -> Simulation {
    Simulation::new(world, Settings::default(), backend.device()).unwrap()
}

fn rotation(random: &mut Random) -> Quat {
    Quat::from_axis_angle(ball(random).normalize(), random.range(0.0, 6.0))
}

/// About `count` vertices near an ellipsoid.
fn rock(random: &mut Random, count: u32) -> Collider {
    let axes = Vec3::new(random.range(0.3, 1.0), random.range(0.3, 1.0), random.range(0.3, 1.0));
    loop {
        let away = ball(random) * 0.5;
        let points: Vec<Vec3> = (0..count).map(|_| ball(random).normalize() * axes + away).collect();
        if let Ok(collider) = Collider::hull(&points) {
            return collider;
        }
    }
}

/// Corners, normals and edges in world space.
struct Solid {
    corners: Vec<DVec3>,
    normals: Vec<DVec3>,
    edges: Vec<(DVec3, DVec3)>,
    triangles: Vec<[DVec3; 3]>,
}

impl Solid {
    fn new(collider: &Collider, position: Vec3, turn: Quat) -> Self {
        let made;
        let hull: &Hull = match &collider.shape {
            Shape::ConvexHull(hull) => hull,
            Shape::Box { half } => {
                made = Hull::new(&box_points(*half)).unwrap();
                &made
            }
            other => panic!("{other:?} has no corners"),
        };
        let (turn, position) = (turn.as_dquat().normalize(), position.as_dvec3());
        let corners: Vec<DVec3> = hull.vertices().map(|v| turn * v.as_dvec3() + position).collect();
        let mut solid = Self { corners, normals: Vec::new(), edges: Vec::new(), triangles: Vec::new() };
        for (_, face) in hull.faces() {
            let at = |i: usize| solid.corners[face[i % face.len()] as usize];
            let area: DVec3 = (1..face.len() - 1).map(|i| (at(i) - at(0)).cross(at(i + 1) - at(0))).sum();
            solid.normals.push(area.normalize());
            solid.edges.extend((0..face.len()).map(|i| (at(i), at(i + 1))));
            solid.triangles.extend((1..face.len() - 1).map(|i| [at(0), at(i), at(i + 1)]));
        }
        solid
    }

    fn lowest(&self, along: DVec3) -> f64 {
        self.corners.iter().map(|c| along.dot(*c)).fold(f64::MAX, f64::min)
    }

    /// How far `other` is from this along a direction, which points there.
    fn apart(&self, other: &Self, along: DVec3) -> f64 {
        other.lowest(along) + self.lowest(-along)
    }

    /// The largest distance over every axis there is.
    fn separation(&self, other: &Self) -> f64 {
        let mut best = f64::MIN;
        for n in &self.normals {
            best = best.max(self.apart(other, *n));
        }
        for n in &other.normals {
            best = best.max(self.apart(other, -*n));
        }
        for (p, q) in &self.edges {
            for (r, s) in &other.edges {
                let l = (q - p).cross(s - r);
                if l.length_squared() > 1e-10 {
                    let l = l.normalize();
                    best = best.max(self.apart(other, l)).max(self.apart(other, -l));
                }
            }
        }
        best
    }

    /// Positive outside: the distance; negative inside: the way to the nearest face.
    fn distance(&self, p: DVec3) -> f64 {
        let depth = self.normals.iter().map(|n| n.dot(p) + self.lowest(-*n)).fold(f64::MIN, f64::max);
        if depth <= 0.0 {
            return depth;
        }
        self.triangles.iter().map(|t| (closest_on_triangle(p, t) - p).length()).fold(f64::MAX, f64::min)
    }

    /// Of a segment: along it, the distance to something convex has one minimum.
    fn distance_to_segment(&self, p: DVec3, q: DVec3) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..100 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if self.distance(p + (q - p) * a) < self.distance(p + (q - p) * b) {
                high = b;
            } else {
                low = a;
            }
        }
        let nearest = self.distance(p + (q - p) * low);
        if nearest > 0.0 || p == q {
            return nearest;
        }
        let apart = |l: DVec3| l.dot(p).min(l.dot(q)) + self.lowest(-l);
        let faces = self.normals.iter().map(|n| apart(*n));
        let across = self.edges.iter().map(|(r, s)| (s - r).cross(q - p)).filter(|l| l.length_squared() > 1e-10);
        let edges = across.map(|l| apart(l.normalize()).max(apart(-l.normalize())));
        faces.chain(edges).fold(f64::MIN, f64::max)
    }
}

fn closest_on_triangle(p: DVec3, [a, b, c]: &[DVec3; 3]) -> DVec3 {
    let n = (b - a).cross(c - a);
    let inside = [(a, b), (b, c), (c, a)].iter().all(|(u, v)| n.cross(**v - **u).dot(p - **u) >= 0.0);
    if inside {
        return p - n * (n.dot(p - *a) / n.length_squared());
    }
    let on = |u: DVec3, v: DVec3| u + (v - u) * ((p - u).dot(v - u) / (v - u).length_squared()).clamp(0.0, 1.0);
    let ends = [on(*a, *b), on(*b, *c), on(*c, *a)];
    ends.into_iter().min_by(|u, v| (u - p).length().total_cmp(&(v - p).length())).unwrap()
}

/// Two colliders, the second one somewhere.
#[derive(Clone)]
struct Case {
    a: Collider,
    b: Collider,
    turn_a: Quat,
    turn_b: Quat,
    offset: Vec3,
}

/// A contact as the engine found it: the normal towards the first collider, points on it and gaps.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    normal: Vec3,
    points: Vec<(Vec3, f32, u32)>,
}

/// A place for each of so many cases, far enough from each other.
fn places(count: usize) -> Vec<Vec3> {
    let side = (count as f32).sqrt().ceil() as usize;
    let along = |i: usize| (i as f32 - side as f32 * 0.5) * 7.0;
    (0..count).map(|i| Vec3::new(along(i % side), 0.0, along(i / side))).collect()
}

/// What the first step makes of the cases.
fn look(cases: &[Case], margin: f32, backend: &Backend) -> Vec<Option<Found>> {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    for (case, place) in cases.iter().zip(places(cases.len())) {
        world.add(BodyDesc::fixed().at(place).turned(case.turn_a).with(case.a.clone())).unwrap();
        world.add(BodyDesc::dynamic().at(place + case.offset).turned(case.turn_b).with(case.b.clone())).unwrap();
    }
    let settings = Settings::default().with(|s| s.margin = margin);
    let mut simulation = Simulation::new(world, settings, backend.device()).unwrap();
    let count = simulation.step(DT).unwrap().manifolds;
    let buffers = simulation.plan().buffers;
    let starts = simulation.runner().read(buffers.starts).unwrap();
    let manifolds = simulation.runner().read_first(buffers.manifolds, u64::from(count)).unwrap();
    let points = simulation.runner().read_first(buffers.points, u64::from(word::COUNT * count)).unwrap();
    let features = simulation.runner().read_first(buffers.features, u64::from(count)).unwrap();
    let mut found = vec![None; cases.len()];
    for (m, index) in manifolds.iter().zip(0..) {
        let case = m.ends.body_a as usize / 2;
        assert_eq!(case, m.ends.body_b as usize / 2, "cases do not meet");
        let flip = m.ends.body_a % 2 == 1;
        let (four, n) = (FourPoints::load(&points, record(index)), Head::load(&points, record(index)).normal);
        let features = features[index as usize].to_array();
        let points = (0..m.count).map(|k| (four.at(k), features[k as usize])).map(|(p, feature)| {
            let on_a = starts[m.ends.body_a as usize].position + p.lever;
            let on_first = if flip { on_a - n * p.gap.z } else { on_a };
            // The highest bit says whether it slides, which hangs on a hair where it begins to.
            (on_first, p.gap.z, feature & (u32::MAX >> 1))
        });
        found[case] = Some(Found { normal: if flip { -n } else { n }, points: points.collect() });
    }
    found
}

fn thickness(collider: &Collider) -> f32 {
    match &collider.shape {
        Shape::Box { half } => half.min_element(),
        Shape::Sphere { radius } | Shape::Capsule { radius, .. } => *radius,
        shape => {
            let Shape::ConvexHull(hull) = shape else { return f32::MAX };
            let width = |n: Vec3| {
                let along: Vec<f32> = hull.vertices().map(|v| n.dot(v)).collect();
                along.iter().copied().fold(f32::MIN, f32::max) - along.iter().copied().fold(f32::MAX, f32::min)
            };
            hull.faces().map(|f| width(f.0)).fold(f32::MAX, f32::min) * 0.5
        }
    }
}

/// Hulls and boxes of every size in every attitude, from one inside the other to well apart.
fn hull_cases(random: &mut Random, count: usize) -> Vec<Case> {
    (0..count)
        .map(|i| {
            let vertices = if i % 8 == 0 { 64 } else { 4 + random.below(30) };
            let a = rock(random, vertices);
            let b = if i % 3 == 0 {
                Collider::cuboid(Vec3::new(random.range(0.3, 2.0), random.range(0.3, 2.0), random.range(0.3, 2.0)))
            } else {
                rock(random, vertices)
            };
            let offset = ball(random).normalize() * random.range(0.0, 2.2);
            Case { a, b, turn_a: rotation(random), turn_b: rotation(random), offset }
        })
        .collect()
}

#[test]
fn hulls_touch_where_brute_force_says() {
    let cases = hull_cases(&mut Random::new(7), 300);
    let solids = |case: &Case, place: Vec3| {
        (Solid::new(&case.a, place, case.turn_a), Solid::new(&case.b, place + case.offset, case.turn_b))
    };
    let (first, places) = (look(&cases, 0.04, &Backend::Cpu), places(cases.len()));
    let truth: Vec<f64> = cases
        .iter()
        .zip(&places)
        .map(|(case, place)| {
            let (a, b) = solids(case, *place);
            a.separation(&b)
        })
        .collect();
    assert!(truth.iter().filter(|s| **s < 0.0).count() > 100, "many overlap");
    assert!(truth.iter().filter(|s| **s > 0.1).count() > 50, "many do not");
    for (i, found) in look(&cases, 0.0, &Backend::Cpu).iter().enumerate() {
        assert!(truth[i] > -1e-4 || found.is_some(), "case {i}, {} m apart, missed without a margin", truth[i]);
    }
    on_every_backend(|backend| {
        let found = look(&cases, 0.04, backend);
        let mut by_edges = 0;
        for (i, case) in cases.iter().enumerate() {
            let label = format!("case {i} on {}, {} m apart", backend.name(), truth[i]);
            let (thick_a, thick_b) = (thickness(&case.a), thickness(&case.b));
            let margin = f64::from(0.04 * thick_a.min(thick_b));
            // A face is taken unless an edge pair is better by this.
            let preference = 0.05 * truth[i].abs() + 0.012 * f64::from(thick_a.max(thick_b)) + 1e-3;
            assert!(truth[i] > margin - 1e-4 || found[i].is_some(), "{label}: missed");
            let Some(found) = &found[i] else { continue };
            assert!(truth[i] < margin + preference, "{label}: found");
            let (a, b) = solids(case, places[i]);
            let n = found.normal.as_dvec3();
            assert!((n.length() - 1.0).abs() < 1e-4, "{label}: normal {n}");
            let apart = a.apart(&b, -n);
            assert!(apart < truth[i] + 1e-4, "{label}: along the normal they are {apart} apart");
            assert!(apart > truth[i] - preference, "{label}: a worse axis, {apart}");
            let deepest = found.points.iter().map(|p| f64::from(p.1)).fold(f64::MAX, f64::min);
            assert!(deepest > apart - 1e-4, "{label}: a point {deepest} deep");
            // Along the best axis the deepest corner lies over the face; ties go to the first point.
            if apart > truth[i] - 1e-5 && truth[i] < 0.0 {
                assert!(deepest < apart + 0.06 * margin + 2e-3 * apart.abs() + 1e-4, "{label}: only {deepest}");
            }
            for (p, gap, _) in &found.points {
                let on_b = p.as_dvec3() - n * f64::from(*gap);
                let (da, db) = (a.distance(p.as_dvec3()), b.distance(on_b));
                assert!(da < 2e-3 && db < 2e-3, "{label}: points {da} and {db} outside");
            }
            by_edges += usize::from(found.points.len() == 1 && found.points[0].2 >> 27 & 7 == 1);
            assert_eq!(Some(found), first[i].as_ref().and_then(|f| same(f, found)), "{label}");
        }
        assert!(by_edges > 5, "edges met edges: {by_edges}");
    });
}

/// The second, if it is the first but for rounding.
fn same<'a>(one: &Found, two: &'a Found) -> Option<&'a Found> {
    let near = |(a, b): (&(Vec3, f32, u32), &(Vec3, f32, u32))| {
        (a.0 - b.0).length() < 1e-3 && (a.1 - b.1).abs() < 1e-4 && a.2 == b.2
    };
    let alike = one.points.len() == two.points.len() && one.points.iter().zip(&two.points).all(near);
    (alike && (one.normal - two.normal).length() < 1e-3).then_some(two)
}

#[test]
fn spheres_and_capsules_touch_hulls_where_brute_force_says() {
    let mut random = Random::new(21);
    let cases: Vec<Case> = (0..300)
        .map(|i| {
            let vertices = 4 + random.below(60);
            let radius = random.range(0.1, 0.6);
            let round =
                if i % 2 == 0 { Collider::sphere(radius) } else { Collider::capsule(random.range(0.1, 0.8), radius) };
            let offset = ball(&mut random).normalize() * random.range(0.0, 2.0);
            let (turn_a, turn_b) = (rotation(&mut random), rotation(&mut random));
            Case { a: rock(&mut random, vertices), b: round, turn_a, turn_b, offset }
        })
        .collect();
    let truth: Vec<(Solid, DVec3, DVec3, f64, f64)> = cases
        .iter()
        .zip(places(cases.len()))
        .map(|(case, place)| {
            let solid = Solid::new(&case.a, place, case.turn_a);
            let (half, radius) = match case.b.shape {
                Shape::Capsule { half_height, radius } => (half_height, f64::from(radius)),
                Shape::Sphere { radius } => (0.0, f64::from(radius)),
                _ => panic!("round"),
            };
            let axis = (case.turn_b * Vec3::Y * half).as_dvec3();
            let middle = (place + case.offset).as_dvec3();
            let distance = solid.distance_to_segment(middle - axis, middle + axis);
            (solid, middle, axis, radius, distance)
        })
        .collect();
    on_every_backend(|backend| {
        let found = look(&cases, 0.04, backend);
        let (mut met, mut deep) = (0, 0);
        for (i, (case, (solid, middle, axis, radius, distance))) in cases.iter().zip(&truth).enumerate() {
            let (middle, axis, radius, distance) = (*middle, *axis, *radius, *distance);
            let gap = distance - radius;
            let label = format!("case {i} on {}, {gap} m apart, axis {distance}", backend.name());
            let margin = f64::from(0.04 * thickness(&case.a).min(radius as f32));
            let Some(found) = &found[i] else {
                assert!(gap > margin - 1e-4, "{label}: missed");
                continue;
            };
            met += 1;
            deep += usize::from(distance < 0.0);
            assert!(gap < margin + 1e-4, "{label}: found");
            let deepest = found.points.iter().map(|p| f64::from(p.1)).fold(f64::MAX, f64::min);
            // A face is preferred to an edge inside, and to an edge that is nearly as good outside.
            let preference = if distance < 0.0 { 0.05 * distance.abs() + 0.012 * radius } else { 0.01 * distance };
            assert!(deepest > gap - preference - 1e-4, "{label}: {deepest} deep");
            assert!(deepest < gap + preference + 1e-4, "{label}: only {deepest}");
            let n = found.normal.as_dvec3();
            for (p, gap, _) in &found.points {
                let on_round = p.as_dvec3() - n * f64::from(*gap);
                let t = if axis.length_squared() > 0.0 {
                    ((on_round - middle).dot(axis) / axis.length_squared()).clamp(-1.0, 1.0)
                } else {
                    0.0
                };
                let surface = (on_round - middle - axis * t).length() - radius;
                assert!(solid.distance(p.as_dvec3()) < 1e-3, "{label}: a point off the hull");
                assert!(surface < 1e-3, "{label}: a point {surface} off the capsule");
            }
        }
        assert!(met > 100 && deep > 20, "{met} met, {deep} with their axis inside");
    });
}

#[test]
fn hulls_touch_a_half_space_with_their_lowest_vertices() {
    let mut random = Random::new(33);
    let tilt = rotation(&mut random);
    let up = tilt * Vec3::Y;
    let stones: Vec<(Collider, Quat, Vec3)> = (0..200u16)
        .map(|i| {
            let vertices = 4 + random.below(60);
            let along = tilt * Vec3::new(f32::from(i % 15) * 3.0, 0.0, f32::from(i / 15) * 3.0);
            (rock(&mut random, vertices), rotation(&mut random), along + up * random.range(0.0, 1.5))
        })
        .collect();
    on_every_backend(|backend| {
        let mut world = World::new();
        world.set_gravity(Vec3::ZERO).unwrap();
        world.add(BodyDesc::fixed().turned(tilt).with(Collider::half_space())).unwrap();
        for (stone, turn, place) in &stones {
            world.add(BodyDesc::dynamic().at(*place).turned(*turn).with(stone.clone())).unwrap();
        }
        let mut simulation = simulate(world, backend);
        let count = u64::from(simulation.step(DT).unwrap().manifolds);
        let buffers = simulation.plan().buffers;
        let manifolds = simulation.runner().read_first(buffers.manifolds, count).unwrap();
        let points = simulation.runner().read_first(buffers.points, u64::from(word::COUNT) * count).unwrap();
        let mut met = 0;
        for (i, (stone, turn, place)) in (1..).zip(&stones) {
            let lowest = Solid::new(stone, *place, *turn).lowest(up.as_dvec3().normalize());
            let margin = f64::from(0.04 * thickness(stone));
            let found = manifolds.iter().zip(0..).find(|(m, _)| m.ends.body_a == i && m.ends.body_b == 0);
            let label = format!("stone {i} on {}, {lowest} m above", backend.name());
            assert_eq!(found.is_some(), lowest < margin, "{label}");
            let Some((m, index)) = found else { continue };
            met += 1;
            let normal = Head::load(&points, record(index)).normal;
            let points = FourPoints::load(&points, record(index));
            let deepest = (0..m.count).map(|k| f64::from(points.at(k).gap.z)).fold(f64::MAX, f64::min);
            assert!((deepest - lowest).abs() < 0.06 * margin + 2e-3 * lowest.abs() + 1e-4, "{label}: {deepest}");
            assert!((normal - up).length() < 1e-4);
        }
        assert!(met > 50, "{met} met");
    });
}

#[test]
fn hulls_of_boxes_meet_as_boxes_do() {
    let mut random = Random::new(77);
    let mut boxes = Vec::new();
    for i in 0..200 {
        let mut size = || Vec3::new(random.range(0.5, 1.5), random.range(0.5, 1.5), random.range(0.5, 1.5));
        let (sa, sb) = (size(), size());
        // Half of them face to face, a little turned.
        let flat = i % 2 == 0;
        let turn = if flat { Quat::from_rotation_y(random.range(0.0, 3.0)) } else { rotation(&mut random) };
        let offset = if flat {
            Vec3::new(random.range(-0.5, 0.5), 0.5 * (sa.y + sb.y) - 0.004, random.range(-0.5, 0.5))
        } else {
            ball(&mut random) * 1.3
        };
        boxes.push((sa, sb, turn, offset));
    }
    let cases = |make: &dyn Fn(Vec3, bool) -> Collider| -> Vec<Case> {
        let case = |&(sa, sb, turn_b, offset): &(Vec3, Vec3, Quat, Vec3)| Case {
            a: make(sa, true),
            b: make(sb, false),
            turn_a: Quat::IDENTITY,
            turn_b,
            offset,
        };
        boxes.iter().map(case).collect()
    };
    let hull = |size: Vec3| Collider::hull(&box_points(size * 0.5)).unwrap();
    let of = |make: &dyn Fn(Vec3, bool) -> Collider| look(&cases(make), 0.04, &Backend::Cpu);
    let expected = of(&|size, _| Collider::cuboid(size));
    let both = of(&|size, _| hull(size));
    let mixed = of(&|size, first| if first { hull(size) } else { Collider::cuboid(size) });
    let deepest = |f: &Found| f.points.iter().map(|p| p.1).fold(f32::MAX, f32::min);
    let (mut met, mut other) = (0, 0);
    for (i, (e, found)) in expected.iter().zip(both.iter().zip(&mixed)).enumerate() {
        for f in [found.0, found.1] {
            assert_eq!(e.is_some(), f.is_some(), "case {i}");
            let (Some(e), Some(f)) = (e, f) else { continue };
            met += 1;
            // Two axes may be equally good but for a bias.
            if (e.normal - f.normal).length() > 1e-3 {
                other += 1;
                continue;
            }
            assert!((deepest(e) - deepest(f)).abs() < 1e-3, "case {i}: {e:?} {f:?}");
            if i % 2 == 0 {
                assert!(e.points.len() == f.points.len() || f.points.len() == 4, "case {i}: {e:?} {f:?}");
            }
        }
    }
    assert!(met > 200 && other * 20 < met, "{met} met, {other} along another axis");
}

#[test]
fn a_stack_of_hull_cubes_settles_like_a_stack_of_cubes() {
    let stack = |cube: Collider, backend: &Backend| -> Vec<Vec3> {
        let mut world = scenes::floor(0.5).unwrap();
        let cubes: Vec<_> = (0..6)
            .map(|i| world.add(BodyDesc::dynamic().at(Vec3::Y * (0.5 + i as f32)).with(cube.clone())).unwrap())
            .collect();
        let mut simulation = simulate(world, backend);
        for _ in 0..90 {
            simulation.step(DT).unwrap();
        }
        cubes.iter().map(|c| simulation.body(*c).unwrap().position).collect()
    };
    let boxes = stack(Collider::cuboid(Vec3::ONE), &Backend::Cpu);
    on_every_backend(|backend| {
        let hulls = stack(Collider::hull(&box_points(Vec3::splat(0.5))).unwrap(), backend);
        for (a, b) in boxes.iter().zip(&hulls) {
            assert!((a - b).length() < 3e-3, "{}: {b}, not {a}", backend.name());
        }
    });
}

#[test]
fn an_arch_stands_by_friction_alone() {
    let mut simulation = simulate(scenes::arch(15, 1.0).unwrap(), &Backend::Cpu);
    let start = simulation.bodies().unwrap();
    assert_eq!(simulation.plan().capacities.hulls, 1, "all stones are one hull");
    simulation.step(DT).unwrap();
    let first = Metrics::of(&mut simulation).unwrap();
    assert!(first.max_penetration < 1e-5, "nothing overlaps at first: {}", first.max_penetration);
    assert_eq!(first.contacts, 16 * 4, "every joint has four points");
    for _ in 0..600 {
        simulation.step(DT).unwrap();
    }
    for ((_, before), (handle, after)) in start.iter().zip(simulation.bodies().unwrap()) {
        let way = (after.position - before.position).length();
        assert!(way < 0.1, "stone {handle:?} moved by {way} m");
    }
    let end = Metrics::of(&mut simulation).unwrap();
    assert!(end.max_penetration < 0.01, "{}", end.max_penetration);
    // Too thin by a quarter to hold the line of thrust, it falls.
    let mut thin = simulate(scenes::arch(15, 0.4).unwrap(), &Backend::Cpu);
    for _ in 0..300 {
        thin.step(DT).unwrap();
    }
    let top = Metrics::of(&mut thin).unwrap().top;
    assert!(top < 3.0, "nothing but its shape holds an arch: {top}");
}

#[test]
fn a_hundred_rocks_come_to_rest_without_gaining_energy() {
    on_every_backend(|backend| {
        // Long enough to come to rest where steps are quick, long enough to land elsewhere.
        let steps = if matches!(backend, Backend::Cpu) { 540 } else { 75 };
        let mut random = Random::new(9);
        let mut world = scenes::floor(0.6).unwrap();
        for i in 0..100u16 {
            let vertices = 6 + random.below(20);
            let place = Vec3::new(f32::from(i % 5) * 2.2, 1.3 + f32::from(i / 25) * 2.0, f32::from(i / 5 % 5) * 2.2);
            let stone = rock(&mut random, vertices).friction(0.6);
            world.add(BodyDesc::dynamic().at(place).turned(rotation(&mut random)).with(stone)).unwrap();
        }
        let mut simulation = simulate(world, backend);
        let start = Metrics::of(&mut simulation).unwrap().energy();
        let mut before = start;
        for step in 0..steps {
            simulation.step(DT).unwrap();
            if step % 30 == 29 {
                let now = Metrics::of(&mut simulation).unwrap();
                assert!(now.energy() < before + 0.005 * start, "{}: {} after {before}", backend.name(), now.energy());
                before = now.energy();
            }
        }
        let end = Metrics::of(&mut simulation).unwrap();
        assert!(steps < 540 || end.max_speed < 0.1, "{}: still at {} m/s", backend.name(), end.max_speed);
        assert_eq!(end.quarantined, 0);
        for (handle, state) in simulation.bodies().unwrap().into_iter().skip(1) {
            let Shape::ConvexHull(hull) = &simulation.world().desc(handle).unwrap().colliders[0].shape else {
                panic!("a rock")
            };
            let lowest = hull.vertices().map(|v| (state.position + state.rotation * v).y).fold(f32::MAX, f32::min);
            // An impact at 10 m/s goes a few centimetres deep for a moment.
            let allowed = if steps < 540 { 0.3 } else { 0.02 };
            assert!(lowest > -allowed, "{}: {handle:?} sank to {lowest}", backend.name());
        }
    });
}

#[test]
fn hulls_come_and_go_share_storage_and_grow() {
    let mut random = Random::new(13);
    let mut world = scenes::floor(0.5).unwrap();
    world.add(BodyDesc::dynamic().at(Vec3::Y * 0.5).with(Collider::cuboid(Vec3::ONE))).unwrap();
    let mut simulation = simulate(world, &Backend::Cpu);
    simulation.step(DT).unwrap();
    let passes = |s: &Simulation| s.plan().recording.commands().iter().filter(|c| c.name().ends_with("_hull")).count();
    assert_eq!((simulation.plan().capacities.hulls, passes(&simulation)), (0, 0), "no hulls, no passes for them");

    let cube = Arc::new(Hull::new(&box_points(Vec3::splat(0.5))).unwrap());
    let shared: Vec<_> = (0..20)
        .map(|i| {
            let place = Vec3::new(3.0 + 2.0 * i as f32, 0.5, 0.0);
            let body = BodyDesc::dynamic().at(place).with(Shape::ConvexHull(cube.clone()));
            simulation.world_mut().add(body).unwrap()
        })
        .collect();
    let again = Collider::hull(&box_points(Vec3::splat(0.5))).unwrap();
    simulation.world_mut().add(BodyDesc::dynamic().at(Vec3::new(-3.0, 0.5, 0.0)).with(again)).unwrap();
    for _ in 0..30 {
        simulation.step(DT).unwrap();
    }
    assert_eq!(passes(&simulation), 2);
    let hulls = simulation.plan().buffers.hulls;
    let entries = |s: &mut Simulation| -> usize {
        let hulls = s.runner().read(hulls.hulls).unwrap();
        hulls.iter().filter(|h| h.edges > 0).count()
    };
    assert_eq!(entries(&mut simulation), 2, "the box, and one hull for 21 bodies");
    for body in &shared {
        let height = simulation.body(*body).unwrap().position.y;
        assert!((height - 0.5).abs() < 0.01, "{body:?} at {height}");
    }

    // New shapes in the place of old ones, many times: the tables do not grow beyond what is needed at once.
    for round in 0..20 {
        let rocks: Vec<_> = (0..10)
            .map(|i| {
                let stone = rock(&mut random, 12);
                let place = Vec3::new(2.5 * i as f32, 3.0, 5.0);
                simulation.world_mut().add(BodyDesc::dynamic().at(place).with(stone)).unwrap()
            })
            .collect();
        for _ in 0..60 {
            simulation.step(DT).unwrap();
        }
        for body in rocks {
            let state = simulation.body(body).unwrap();
            assert!(state.position.y > -0.6 && state.position.y < 1.5, "round {round}: {body:?} at {}", state.position);
            simulation.world_mut().remove(body).unwrap();
        }
    }
    let capacities = simulation.plan().capacities;
    assert!(capacities.hulls < 100 && capacities.hull_edges < 600, "{capacities:?}");
    for body in shared {
        assert!((simulation.body(body).unwrap().position.y - 0.5).abs() < 0.01, "its hull was not overwritten");
    }
}

#[test]
fn a_hull_far_from_its_bodys_origin_falls_about_its_centre_of_mass() {
    let away = Vec3::new(40.0, -30.0, 20.0);
    let points: Vec<Vec3> = box_points(Vec3::new(0.5, 0.25, 0.5)).iter().map(|p| *p + away).collect();
    let turn = Quat::from_rotation_y(0.8);
    let mut world = scenes::floor(0.5).unwrap();
    let body = BodyDesc::dynamic().at(Vec3::Y * 1.0 - turn * away).turned(turn);
    let body = world.add(body.with(Collider::hull(&points).unwrap())).unwrap();
    let mut simulation = simulate(world, &Backend::Cpu);
    for _ in 0..120 {
        simulation.step(DT).unwrap();
    }
    let state = simulation.body(body).unwrap();
    let middle = state.position + state.rotation * away;
    assert!((middle - Vec3::Y * 0.25).length() < 0.01, "{middle}");
    let turned = DQuat::from_rotation_y(0.8).as_quat().angle_between(state.rotation);
    assert!(turned < 0.01, "it stayed level: {turned}");
}
