//! Where cylinders and cones touch, against the best of all directions in double precision.

use super::common::{Backend, Random, ball, on_every_backend};
use super::{DT, rotation};
use drystone::backend::RunnerExt;
use drystone::glam::{DQuat, DVec3, Quat, Vec3};
use drystone::world::{BodyDesc, Collider, Shape, World};
use drystone::{Settings, Simulation};
use drystone_kernels::detect::manifold::{FourPoints, Head, record, word};

/// A shape as how far it reaches in a direction.
struct Solid {
    shape: Shape,
    centre: DVec3,
    turn: DQuat,
}

impl Solid {
    fn new(collider: &Collider, centre: Vec3, turn: Quat) -> Self {
        Self { shape: collider.shape.clone(), centre: centre.as_dvec3(), turn: turn.as_dquat().normalize() }
    }

    /// How far it reaches along a unit vector.
    fn reach(&self, d: DVec3) -> f64 {
        let l = self.turn.inverse() * d;
        let across = l.x.hypot(l.z);
        let own = match &self.shape {
            Shape::Sphere { radius } => f64::from(*radius),
            Shape::Box { half } => half.as_dvec3().dot(l.abs()),
            Shape::Capsule { half_height, radius } => f64::from(*half_height) * l.y.abs() + f64::from(*radius),
            Shape::Cylinder { half_height, radius } => {
                f64::from(*half_height) * l.y.abs() + f64::from(*radius) * across
            }
            Shape::Cone { half_height, radius } => {
                let (h, r) = (f64::from(*half_height), f64::from(*radius));
                (h * l.y).max(r * across - h * l.y)
            }
            Shape::ConvexHull(hull) => hull.vertices().map(|v| l.dot(v.as_dvec3())).fold(f64::MIN, f64::max),
            Shape::HalfSpace => {
                if l.y > 1.0 - 1e-12 {
                    0.0
                } else {
                    f64::MAX
                }
            }
            _ => unreachable!("a shape that is new here"),
        };
        d.dot(self.centre) + own
    }

    /// Directions along which something may be farthest: of flat faces.
    fn normals(&self) -> Vec<DVec3> {
        let local = match &self.shape {
            Shape::Box { .. } => vec![DVec3::X, DVec3::Y, DVec3::Z, -DVec3::X, -DVec3::Y, -DVec3::Z],
            Shape::Cylinder { .. } => vec![DVec3::Y, -DVec3::Y],
            Shape::Cone { .. } => vec![-DVec3::Y],
            Shape::HalfSpace => vec![DVec3::Y],
            Shape::ConvexHull(hull) => hull.faces().map(|f| f.0.as_dvec3().normalize()).collect(),
            _ => Vec::new(),
        };
        local.into_iter().map(|n| self.turn * n).collect()
    }

    /// Directions near `n` in which what reaches farthest is a whole line: at right angles to axes and edges, and to
    /// the generators of a cone. The reach has kinks there, and the best direction is often one of them.
    fn on_lines(&self, n: DVec3) -> Vec<DVec3> {
        let across = |along: DVec3| n - along * (along.dot(n) / along.length_squared());
        let lines: Vec<DVec3> = match &self.shape {
            Shape::Box { .. } => {
                vec![across(self.turn * DVec3::X), across(self.turn * DVec3::Y), across(self.turn * DVec3::Z)]
            }
            Shape::Cylinder { .. } | Shape::Capsule { .. } => vec![across(self.turn * DVec3::Y)],
            Shape::ConvexHull(hull) => {
                let corners: Vec<DVec3> = hull.vertices().map(|v| self.turn * v.as_dvec3()).collect();
                let edge = |f: &[u32], i: usize| corners[f[(i + 1) % f.len()] as usize] - corners[f[i] as usize];
                hull.faces()
                    .flat_map(|(_, f)| (0..f.len()).map(move |i| (f, i)))
                    .map(|(f, i)| across(edge(f, i)))
                    .collect()
            }
            Shape::Cone { half_height, radius } => {
                let l = self.turn.inverse() * n;
                let (slope, across) = (f64::from(*radius) / (2.0 * f64::from(*half_height)), l.x.hypot(l.z).max(1e-9));
                let side = DVec3::new(l.x / across, slope, l.z / across);
                let other = DVec3::new(l.x / across, -slope, l.z / across);
                vec![self.turn * side, self.turn * other]
            }
            _ => Vec::new(),
        };
        lines.into_iter().filter_map(|m| m.try_normalize()).filter(|m| m.dot(n) > 0.98).collect()
    }

    /// How far this is above `other` along a direction.
    fn apart(&self, other: &Self, n: DVec3) -> f64 {
        -self.reach(-n) - other.reach(n)
    }

    /// The largest distance along any direction, and that one: many directions, and a search around the best of them.
    fn separation(&self, other: &Self) -> (f64, DVec3) {
        let count = 400;
        let spiral = (0..count).map(|i| {
            let y = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(count);
            let (s, c) = (f64::from(i) * 2.399_963_229_728_653).sin_cos();
            DVec3::new(c * (1.0 - y * y).sqrt(), y, s * (1.0 - y * y).sqrt())
        });
        let faces = self.normals().into_iter().map(|n| -n).chain(other.normals());
        let mut found: Vec<(f64, DVec3)> = spiral.chain(faces).map(|n| (self.apart(other, n), n)).collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        if found[0].0 < -1e30 || matches!(other.shape, Shape::HalfSpace) {
            return found[0];
        }
        let mut starts: Vec<(f64, DVec3)> = Vec::new();
        for f in found {
            if starts.len() < 4 && starts.iter().all(|s| s.1.dot(f.1) < 0.97) {
                starts.push(f);
            }
        }
        let searched = starts.into_iter().map(|(mut best, mut n)| {
            let mut step = 0.08;
            let mut turn = 0.0f64;
            while step > 1e-5 {
                let u = n.any_orthonormal_vector();
                let v = n.cross(u);
                turn += 0.7;
                let around = (0..8).map(|i| {
                    let (s, c) = (turn + f64::from(i) * std::f64::consts::PI / 4.0).sin_cos();
                    (n + (u * c + v * s) * step).normalize()
                });
                let snap = |m: DVec3| self.on_lines(m).into_iter().chain(other.on_lines(m));
                let around: Vec<DVec3> = around.chain([n]).collect();
                let once: Vec<DVec3> = around.iter().flat_map(|m| snap(*m)).collect();
                let twice: Vec<DVec3> =
                    if once.len() < 60 { once.iter().flat_map(|m| snap(*m)).collect() } else { vec![] };
                let all = around.into_iter().chain(once).chain(twice).map(|m| (self.apart(other, m), m));
                let next = all.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
                if next.0 > best {
                    (best, n) = next;
                } else {
                    step *= 0.5;
                }
            }
            (best, n)
        });
        searched.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
    }

    /// How far a point is outside, or inside of the nearest face.
    fn outside(&self, p: DVec3) -> f64 {
        let l = self.turn.inverse() * (p - self.centre);
        let across = l.x.hypot(l.z);
        // Of something convex, given by how far the point is beyond two planes that meet in a corner.
        let corner = |u: f64, v: f64| if u > 0.0 && v > 0.0 { u.hypot(v) } else { u.max(v) };
        match &self.shape {
            Shape::Sphere { radius } => l.length() - f64::from(*radius),
            Shape::Capsule { half_height, radius } => {
                let h = f64::from(*half_height);
                (l - DVec3::Y * l.y.clamp(-h, h)).length() - f64::from(*radius)
            }
            Shape::Box { half } => {
                let beyond = l.abs() - half.as_dvec3();
                if beyond.max_element() > 0.0 { beyond.max(DVec3::ZERO).length() } else { beyond.max_element() }
            }
            Shape::Cylinder { half_height, radius } => {
                corner(l.y.abs() - f64::from(*half_height), across - f64::from(*radius))
            }
            Shape::Cone { half_height, radius } => {
                let (h, r) = (f64::from(*half_height), f64::from(*radius));
                let side = ((across - r) * 2.0 * h + (l.y + h) * r) / r.hypot(2.0 * h);
                side.max(-h - l.y)
            }
            Shape::ConvexHull(_) => {
                self.normals().into_iter().map(|n| n.dot(p) - self.reach(n)).fold(f64::MIN, f64::max)
            }
            Shape::HalfSpace => l.y,
            _ => unreachable!("a shape that is new here"),
        }
    }

    fn is_curved(&self) -> bool {
        matches!(self.shape, Shape::Cylinder { .. } | Shape::Cone { .. })
    }

    /// The radius of a cylinder or a cone.
    fn reach_most(&self) -> f64 {
        match &self.shape {
            Shape::Cylinder { radius, .. } | Shape::Cone { radius, .. } => f64::from(*radius),
            _ => f64::MAX,
        }
    }

    fn thickness(&self) -> f64 {
        let width = |n: DVec3| self.reach(n) + self.reach(-n);
        match &self.shape {
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => f64::from(*radius),
            Shape::Box { half } => f64::from(half.min_element()),
            Shape::Cylinder { half_height, radius } => f64::from(half_height.min(*radius)),
            Shape::Cone { half_height, radius } => {
                let (h, r) = (2.0 * f64::from(*half_height), f64::from(*radius));
                (0.5 * h).min(r * h / r.hypot(h))
            }
            Shape::ConvexHull(_) => self.normals().into_iter().map(width).fold(f64::MAX, f64::min) * 0.5,
            Shape::HalfSpace => f64::MAX,
            _ => unreachable!("a shape that is new here"),
        }
    }
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

/// A contact as the engine found it: the normal towards the first collider, points on it, gaps and features.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    normal: Vec3,
    points: Vec<(Vec3, f32, u32)>,
}

fn places(count: usize) -> Vec<Vec3> {
    let side = (count as f32).sqrt().ceil() as usize;
    let along = |i: usize| (i as f32 - side as f32 * 0.5) * 9.0;
    (0..count).map(|i| Vec3::new(along(i % side), 0.0, along(i / side))).collect()
}

/// What the first step makes of the cases. Half-spaces would meet all of them, so those get a world each.
fn look(cases: &[Case], backend: &Backend) -> Vec<Option<Found>> {
    let planes = cases.iter().any(|c| matches!(c.a.shape, Shape::HalfSpace));
    if planes && cases.len() > 1 {
        return cases.iter().flat_map(|c| look(std::slice::from_ref(c), backend)).collect();
    }
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    for (case, place) in cases.iter().zip(places(cases.len())) {
        world.add(BodyDesc::fixed().at(place).turned(case.turn_a).with(case.a.clone())).unwrap();
        world.add(BodyDesc::dynamic().at(place + case.offset).turned(case.turn_b).with(case.b.clone())).unwrap();
    }
    let mut simulation = Simulation::new(world, Settings::default(), backend.device()).unwrap();
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
            (on_first, p.gap.z, feature & (u32::MAX >> 1))
        });
        found[case] = Some(Found { normal: if flip { -n } else { n }, points: points.collect() });
    }
    found
}

fn curved(random: &mut Random, cone: bool) -> Collider {
    // From coins to rods.
    let flat = random.range(-1.2, 1.2);
    let (half, radius) = (0.6 * flat.exp2(), 0.6 * (-flat).exp2());
    if cone { Collider::cone(half, radius) } else { Collider::cylinder(half, radius) }
}

fn partner(random: &mut Random, kind: usize) -> Collider {
    match kind {
        0 => Collider::sphere(random.range(0.2, 0.8)),
        1 => Collider::cuboid(Vec3::new(random.range(0.4, 2.0), random.range(0.4, 2.0), random.range(0.4, 2.0))),
        2 => Collider::capsule(random.range(0.2, 0.8), random.range(0.2, 0.5)),
        3 => loop {
            let points: Vec<Vec3> = (0..16).map(|_| ball(random).normalize() * random.range(0.6, 0.9)).collect();
            if let Ok(hull) = Collider::hull(&points) {
                return hull;
            }
        },
        4 => curved(random, false),
        5 => curved(random, true),
        _ => Collider::half_space(),
    }
}

const KINDS: [&str; 7] = ["sphere", "box", "capsule", "hull", "cylinder", "cone", "half-space"];

/// Moves the second along the line between the middles until they are `gap` apart, or overlap by that.
fn at_gap(case: &mut Case, gap: f64) {
    let way = case.offset.as_dvec3().normalize();
    case.offset = (way * 6.0).as_vec3();
    for _ in 0..12 {
        let a = Solid::new(&case.a, Vec3::ZERO, case.turn_a);
        let b = Solid::new(&case.b, case.offset, case.turn_b);
        let (apart, n) = b.separation(&a);
        // The distance is convex along the way, so this comes to it from outside.
        let closing = n.dot(way);
        if (apart - gap).abs() < 1e-4 || closing < 0.05 {
            return;
        }
        case.offset -= (way * ((apart - gap) / closing)).as_vec3();
    }
}

/// Random attitudes, and those in which edges, generators and faces lie along each other.
fn cases(random: &mut Random, kind: usize, cone: bool, count: usize) -> Vec<Case> {
    (0..count)
        .map(|i| {
            let (b, a) = (curved(random, cone), partner(random, kind));
            let quarter = |r: &mut Random| {
                let turns = |r: &mut Random| r.below(4) as f32 * std::f32::consts::FRAC_PI_2;
                Quat::from_rotation_x(turns(r)) * Quat::from_rotation_z(turns(r))
            };
            let (turn_a, turn_b) = match i % 3 {
                0 => (quarter(random), quarter(random) * Quat::from_rotation_y(random.range(0.0, 6.0))),
                _ => (rotation(random), rotation(random)),
            };
            let turn_a = if kind == 6 { Quat::IDENTITY } else { turn_a };
            let mut offset = ball(random).normalize();
            if kind == 6 {
                offset.y = offset.y.abs() + 0.2;
            }
            let mut case = Case { a, b, turn_a, turn_b, offset };
            // From a little apart to overlapping by some percent.
            let thin = Solid::new(&case.b, Vec3::ZERO, turn_b).thickness();
            let thin = thin.min(Solid::new(&case.a, Vec3::ZERO, turn_a).thickness());
            at_gap(&mut case, thin * f64::from(random.range(-0.08, 0.03)));
            case
        })
        .collect()
}

/// Compares what was found with the truth. Returns how many points there were of each number.
fn compare(label: &str, cases: &[Case], found: &[Option<Found>]) -> [usize; 5] {
    let mut counts = [0; 5];
    for (i, case) in cases.iter().enumerate() {
        let place = places(cases.len())[if matches!(case.a.shape, Shape::HalfSpace) { 0 } else { i }];
        let place = if matches!(case.a.shape, Shape::HalfSpace) { places(1)[0] } else { place };
        let (a, b) = (Solid::new(&case.a, place, case.turn_a), Solid::new(&case.b, place + case.offset, case.turn_b));
        let (truth, best) = b.separation(&a);
        let thin = a.thickness().min(b.thickness());
        let name = |c: &Collider| match &c.shape {
            Shape::ConvexHull(_) => "a hull".to_owned(),
            shape => format!("{shape:?}"),
        };
        let label = format!("{label} {i}, {truth} m apart, {} and {}", name(&case.a), name(&case.b));
        let Some(found) = &found[i] else {
            assert!(truth > 0.035 * thin, "{label}: missed");
            continue;
        };
        let n = -found.normal.as_dvec3();
        let apart = b.apart(&a, n);
        assert!((n.length() - 1.0).abs() < 1e-4, "{label}: normal {n}");
        assert!(!found.points.is_empty(), "{label}: a manifold without points");
        assert!(apart < truth + 1e-5, "{label}: a better direction than the best, {apart}");
        assert!(apart > truth - 0.055 * truth.abs() - 1e-3 * thin - 1e-4, "{label}: along {n} {apart}, not {best}");
        let deepest = found.points.iter().map(|p| f64::from(p.1)).fold(f64::MAX, f64::min);
        assert!((deepest - apart).abs() < 4e-3 * thin + 1e-4, "{label}: the deepest point is {deepest}, not {apart}");
        for (p, gap, _) in &found.points {
            let (on_a, on_b) = (p.as_dvec3(), p.as_dvec3() + n * f64::from(*gap));
            let (da, db) = (a.outside(on_a), b.outside(on_b));
            // Rims may lie a little beyond each other.
            let rims = a.is_curved() && b.is_curved();
            let most = if rims { 0.021 * a.reach_most().min(b.reach_most()) } else { 0.0 } + 1e-3;
            assert!(da < most && db < most, "{label}: points {da} and {db} outside");
            let least = -0.1 * thin - 1e-3;
            assert!(da > least && db > least, "{label}: points {da} and {db} inside");
        }
        counts[found.points.len()] += 1;
    }
    counts
}

fn agree(one: &Option<Found>, two: &Option<Found>) -> bool {
    let (Some(one), Some(two)) = (one, two) else { return one.is_none() == two.is_none() };
    let near = |(a, b): (&(Vec3, f32, u32), &(Vec3, f32, u32))| {
        (a.0 - b.0).length() < 2e-3 && (a.1 - b.1).abs() < 1e-4 && a.2 == b.2
    };
    let alike = one.points.len() == two.points.len() && one.points.iter().zip(&two.points).all(near);
    alike && (one.normal - two.normal).length() < 2e-3
}

fn against_everything(cone: bool) {
    for (kind, name) in KINDS.iter().enumerate() {
        let mut random = Random::new(31 + kind as u64);
        let count = if kind == 6 { 40 } else { 100 };
        let cases = cases(&mut random, kind, cone, count);
        let counts = compare(name, &cases, &look(&cases, &Backend::Cpu));
        println!("{name}: {counts:?}");
        assert!(counts.iter().sum::<usize>() > count * 3 / 4, "{name}: {counts:?}");
    }
}

#[test]
fn cylinders_touch_where_the_best_direction_says() {
    against_everything(false);
}

#[test]
fn cones_touch_where_the_best_direction_says() {
    against_everything(true);
}

#[test]
fn every_backend_finds_the_same_points() {
    let mut random = Random::new(5);
    let mut all = Vec::new();
    for kind in 0..6 {
        for cone in [false, true] {
            all.extend(cases(&mut random, kind, cone, 12));
        }
    }
    let first = look(&all, &Backend::Cpu);
    on_every_backend(|backend| {
        let found = look(&all, backend);
        // Where two answers are right alike, rounding decides: parallel lines at the bound, or two faces.
        let differ: Vec<usize> = (0..all.len()).filter(|&i| !agree(&first[i], &found[i])).collect();
        for &i in &differ {
            println!("{}: case {i}: {:?} and {:?}", backend.name(), first[i], found[i]);
        }
        compare(&backend.name(), &all, &found);
        assert!(differ.len() <= all.len() / 20, "{}: {} of {} differ", backend.name(), differ.len(), all.len());
    });
}
