//! Rays through the hierarchy meet what a search through all bodies finds, in double precision and by other formulas.
//!
//! A ray that grazes a body may miss it by rounding: it counts as ambiguous when shapes a tenth of a millimetre thicker
//! or thinner give another body, or two bodies are equally near; ambiguous rays must be rare. All others must agree.

mod common;

use common::{Random, on_every_backend};
use drystone::backend::Device;
use drystone::glam::{DQuat, DVec3, Quat, Vec3};
use drystone::render::{Camera, Ray, RayCaster};
use drystone::world::{BodyDesc, BodyHandle, Collider, Shape, World};
use drystone::{Settings, Simulation};

const RAYS: usize = 10_000;

fn direction(random: &mut Random) -> Vec3 {
    loop {
        let v = Vec3::new(random.range(-1.0, 1.0), random.range(-1.0, 1.0), random.range(-1.0, 1.0));
        if (0.01..1.0).contains(&v.length_squared()) {
            return v.normalize();
        }
    }
}

fn turn(random: &mut Random) -> Quat {
    Quat::from_axis_angle(direction(random), random.range(0.0, 6.0))
}

/// Every shape, alone and on bodies with several, over a floor and beside a wall that is not along an axis.
fn world(random: &mut Random) -> World {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let wall = Quat::from_rotation_z(-1.2) * Quat::from_rotation_y(0.4);
    world.add(BodyDesc::fixed().at(Vec3::X * -14.0).turned(wall).with(Collider::half_space())).unwrap();
    for i in 0..400 {
        let mut body = if i % 7 == 0 { BodyDesc::fixed() } else { BodyDesc::dynamic() };
        body = body
            .at(Vec3::new(random.range(-10.0, 10.0), random.range(0.5, 12.0), random.range(-10.0, 10.0)))
            .turned(turn(random));
        for _ in 0..1 + random.below(2) {
            let shape = match random.below(6) {
                0 => Collider::sphere(random.range(0.05, 0.6)),
                1 => {
                    let side = |r: &mut Random| r.range(0.05, 1.5);
                    Collider::cuboid(Vec3::new(side(random), side(random), side(random)))
                }
                2 => {
                    let size = random.range(0.1, 0.8);
                    let points: Vec<_> = (0..10).map(|_| direction(random) * size).collect();
                    Collider::hull(&points).unwrap()
                }
                3 => Collider::capsule(random.range(0.05, 0.8), random.range(0.05, 0.4)),
                4 => Collider::cylinder(random.range(0.05, 0.8), random.range(0.05, 0.6)),
                _ => Collider::cone(random.range(0.05, 0.8), random.range(0.05, 0.6)),
            };
            let place = direction(random) * random.range(0.0, 0.8);
            body = body.with(shape.at(place).turned(turn(random)));
        }
        world.add(body).unwrap();
    }
    world
}

fn rays(random: &mut Random) -> Vec<Ray> {
    let camera = Camera { eye: Vec3::new(14.0, 9.0, 20.0), target: Vec3::new(0.0, 5.0, 0.0), fov_degrees: 40.0 };
    let size = [1280, 720];
    (0..RAYS)
        .map(|i| match i % 4 {
            // Pixels of a picture, from within the crowd, along an axis, and short ones.
            0 => camera.ray([random.below(size[0]), random.below(size[1])], size),
            k => {
                let origin = Vec3::new(random.range(-12.0, 12.0), random.range(-0.2, 13.0), random.range(-12.0, 12.0));
                let axes = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z];
                let direction = if k == 2 { axes[random.below(6) as usize] } else { direction(random) };
                Ray { origin, reach: if k == 3 { random.range(0.0, 4.0) } else { 1e4 }, direction }
            }
        })
        .collect()
}

/// A collider in world space.
struct Target<'a> {
    body: BodyHandle,
    shape: &'a Shape,
    centre: DVec3,
    rotation: DQuat,
    /// Faces of a hull.
    planes: Vec<(DVec3, f64)>,
}

/// Every plane through three vertices of a hull that has all others below it.
fn planes(shape: &Shape) -> Vec<(DVec3, f64)> {
    let Shape::ConvexHull(hull) = shape else { return Vec::new() };
    let points: Vec<DVec3> = hull.vertices().map(Vec3::as_dvec3).collect();
    let mut planes = Vec::new();
    for (i, &a) in points.iter().enumerate() {
        for (j, &b) in points.iter().enumerate().skip(i + 1) {
            for &c in &points[j + 1..] {
                let normal = (b - a).cross(c - a);
                for up in [normal.normalize_or_zero(), -normal.normalize_or_zero()] {
                    if normal.length() > 1e-9 && points.iter().all(|p| up.dot(*p - a) < 1e-6) {
                        planes.push((up, up.dot(a)));
                    }
                }
            }
        }
    }
    planes
}

fn targets(world: &World) -> Vec<Target<'_>> {
    let mut list = Vec::new();
    for body in world.handles() {
        let desc = world.desc(body).unwrap();
        for c in &desc.colliders {
            let rotation = desc.rotation.as_dquat();
            let centre = desc.position.as_dvec3() + rotation * c.position.as_dvec3();
            let rotation = (rotation * c.rotation.as_dquat()).normalize();
            list.push(Target { body, shape: &c.shape, centre, rotation, planes: planes(&c.shape) });
        }
    }
    list
}

/// Distances at which a ray from `o` meets a ball at `c`.
fn ball(o: DVec3, d: DVec3, c: DVec3, radius: f64) -> Option<[f64; 2]> {
    let (b, c) = ((o - c).dot(d), (o - c).length_squared() - radius * radius);
    let root = (b * b - c).max(-1.0);
    (root >= 0.0).then(|| [-b - root.sqrt(), -b + root.sqrt()])
}

/// Whether a ray starts inside of a cylinder or cone, and where it meets the planes of the ends and the side, as far as
/// those are its surface. `top` is the upper radius as a part of the lower one; thicker by moving ends and side
/// outwards.
fn tapered(o: DVec3, d: DVec3, half: f64, radius: f64, top: f64, thicker: f64) -> (bool, Vec<f64>) {
    let taper = radius * (1.0 - top) / (2.0 * half);
    let out = thicker * (1.0 + taper * taper).sqrt();
    let (low, high) = (-half - thicker, half + if top > 0.0 { thicker } else { 10.0 * thicker.abs() });
    let at = |y: f64| radius - taper * (y + half) + out;
    let within = |p: DVec3, slack: f64| p.y >= low - slack && p.y <= high + slack && p.x.hypot(p.z) <= at(p.y) + slack;
    let mut found = vec![(low - o.y) / d.y, (high - o.y) / d.y];
    // |x, z|^2 = (r - taper y)^2 along the ray.
    let (r, change) = (at(o.y), -taper * d.y);
    let a = d.x * d.x + d.z * d.z - change * change;
    let b = o.x * d.x + o.z * d.z - r * change;
    let c = o.x * o.x + o.z * o.z - r * r;
    let root = (b * b - a * c).sqrt();
    found.extend([(-b - root) / a, (-b + root) / a]);
    (within(o, 0.0), found.into_iter().filter(|t| t.is_finite() && within(o + d * *t, 1e-9)).collect())
}

/// The nearest distance, 0 inside, in the shape's space.
fn distance(target: &Target<'_>, o: DVec3, d: DVec3, thicker: f64) -> Option<f64> {
    let Target { shape, planes, .. } = target;
    let (inside, candidates) = match **shape {
        Shape::Sphere { radius } => {
            let radius = f64::from(radius) + thicker;
            (o.length() <= radius, ball(o, d, DVec3::ZERO, radius).map_or(Vec::new(), Vec::from))
        }
        Shape::Box { half } => {
            let h = half.as_dvec3() + thicker;
            // Every face by itself.
            let mut found = Vec::new();
            for axis in 0..3 {
                for side in [-1.0, 1.0] {
                    let t = (side * h[axis] - o[axis]) / d[axis];
                    let p = o + d * t;
                    let on = (0..3).all(|k| k == axis || p[k].abs() <= h[k]);
                    found.extend((t.is_finite() && on).then_some(t));
                }
            }
            ((0..3).all(|k| o[k].abs() <= h[k]), found)
        }
        Shape::Capsule { half_height, radius } => {
            let (h, r) = (f64::from(half_height), f64::from(radius) + thicker);
            // The surfaces of the straight part and of both ends, as far as they are outside of each other.
            let mut found = Vec::new();
            let (a, b) = (d.x * d.x + d.z * d.z, o.x * d.x + o.z * d.z);
            let root = b * b - a * (o.x * o.x + o.z * o.z - r * r);
            if a > 0.0 && root >= 0.0 {
                let both = [(-b - root.sqrt()) / a, (-b + root.sqrt()) / a];
                found.extend(both.into_iter().filter(|t| (o.y + d.y * t).abs() <= h));
            }
            for end in [-h, h] {
                let both = ball(o, d, DVec3::Y * end, r).map_or(Vec::new(), Vec::from);
                found.extend(both.into_iter().filter(|t| (o.y + d.y * t) * end.signum() >= h));
            }
            ((o - DVec3::Y * o.y.clamp(-h, h)).length() <= r, found)
        }
        Shape::Cylinder { half_height, radius } => tapered(o, d, half_height.into(), radius.into(), 1.0, thicker),
        Shape::Cone { half_height, radius } => tapered(o, d, half_height.into(), radius.into(), 0.0, thicker),
        Shape::ConvexHull(_) => {
            let below = |p: DVec3, slack: f64| planes.iter().all(|(up, offset)| up.dot(p) <= offset + thicker + slack);
            let way = |(up, offset): &(DVec3, f64)| (offset + thicker - up.dot(o)) / up.dot(d);
            (below(o, 0.0), planes.iter().map(way).filter(|t| below(o + d * t, 1e-9)).collect())
        }
        Shape::HalfSpace => (o.y <= thicker, vec![(thicker - o.y) / d.y]),
        _ => unreachable!("a shape that is new here"),
    };
    if inside {
        return Some(0.0);
    }
    candidates.into_iter().filter(|t| *t >= 0.0 && t.is_finite()).min_by(f64::total_cmp)
}

/// The first thing a ray meets. Where several are equally near, as when it starts inside of them, the one of the lowest
/// index; `others` says how near the next body is.
fn search(targets: &[Target<'_>], ray: &Ray, thicker: f64) -> Option<Found> {
    let (o, d) = (ray.origin.as_dvec3(), ray.direction.as_dvec3().normalize());
    let mut met: Vec<_> = targets
        .iter()
        .filter_map(|t| {
            let back = t.rotation.inverse();
            let way = distance(t, back * (o - t.centre), back * d, thicker)?;
            (way <= f64::from(ray.reach)).then_some((way, t.body))
        })
        .collect();
    met.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let &(way, body) = met.first()?;
    let others = met.iter().find(|m| m.1 != body).map_or(f64::INFINITY, |m| m.0);
    Some(Found { body, way, others })
}

#[derive(Clone, Copy)]
struct Found {
    body: BodyHandle,
    way: f64,
    others: f64,
}

#[test]
fn rays_meet_what_a_search_through_all_bodies_finds() {
    let mut random = Random::new(7);
    let (world, rays) = (world(&mut random), rays(&mut random));
    let targets = targets(&world);
    let expected: Vec<_> =
        rays.iter().map(|ray| [0.0, 1e-4, -1e-4].map(|thicker| search(&targets, ray, thicker))).collect();
    let body = |found: Option<Found>| found.map(|f| f.body);
    let clear = |e: &[Option<Found>; 3]| {
        let steady = |a: Found, b: Found| (a.way - b.way).abs() < 0.05;
        let alone = e[0].is_none_or(|f| f.others - f.way > 1e-3);
        let same = body(e[0]) == body(e[1]) && body(e[0]) == body(e[2]);
        alone && same && e[0].zip(e[1]).is_none_or(|(a, b)| steady(a, b))
    };
    let ambiguous = expected.iter().filter(|e| !clear(e)).count();
    assert!(ambiguous < RAYS / 50, "{ambiguous} ambiguous rays");
    let count = |wanted: &dyn Fn(&Shape) -> bool| {
        expected
            .iter()
            .filter_map(|e| e[0])
            .filter(|f| world.desc(f.body).unwrap().colliders.iter().all(|c| wanted(&c.shape)))
            .count()
    };
    // The test is worth something only if every shape is met, and some rays meet nothing.
    assert!(count(&|s| matches!(s, Shape::Sphere { .. })) > 50);
    assert!(count(&|s| matches!(s, Shape::Box { .. })) > 150);
    assert!(count(&|s| matches!(s, Shape::Capsule { .. })) > 100);
    assert!(count(&|s| matches!(s, Shape::ConvexHull(_))) > 50);
    assert!(count(&|s| matches!(s, Shape::Cylinder { .. })) > 100);
    assert!(count(&|s| matches!(s, Shape::Cone { .. })) > 100);
    assert!(count(&|s| matches!(s, Shape::HalfSpace)) > 1000);
    assert!(expected.iter().filter(|e| e[0].is_none()).count() > 1000);
    assert!(expected.iter().filter(|e| e[0].is_some_and(|f| f.way == 0.0)).count() > 50, "rays that start inside");

    on_every_backend(|backend| {
        let mut simulation = Simulation::new(world.clone(), Settings::default(), backend.device()).unwrap();
        let found = RayCaster::new().cast(&mut simulation, &rays).unwrap();
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            if !clear(expected) {
                continue;
            }
            let place = format!("ray {i} on {}: {:?}", backend.name(), rays[i]);
            assert_eq!(found.map(|f| f.body), body(expected[0]), "{place}");
            if let (Some(found), Some(Found { way, .. })) = (found, expected[0]) {
                assert!((f64::from(found.distance) - way).abs() < 1e-3 + 1e-5 * way, "{place}: {found:?}, not {way}");
                assert!((found.normal.length() - 1.0).abs() < 1e-3, "{place}: {found:?}");
                assert!(found.normal.dot(rays[i].direction) < 1e-3, "{place}: {found:?}");
            }
        }
    });
}

#[test]
fn rays_that_go_nowhere_are_refused_by_name() {
    let mut world = World::new();
    world.add(BodyDesc::dynamic().with(Collider::sphere(1.0))).unwrap();
    let mut simulation = Simulation::new(world, Settings::default(), Device::Cpu { threads: None }).unwrap();
    let good = Ray { origin: Vec3::X * 3.0, reach: 10.0, direction: Vec3::X * -5.0 };
    let mut caster = RayCaster::new();
    let mut cast = |rays: &[Ray]| caster.cast(&mut simulation, rays);
    for (bad, word) in [
        (Ray { direction: Vec3::ZERO, ..good }, "direction"),
        (Ray { direction: Vec3::NAN, ..good }, "direction"),
        (Ray { origin: Vec3::INFINITY, ..good }, "origin"),
        (Ray { reach: -1.0, ..good }, "reach"),
        (Ray { reach: f32::NAN, ..good }, "reach"),
    ] {
        let error = cast(&[good, bad]).unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("ray 1"), "{error}");
    }
    // Directions of any length, distances in metres; more rays than before, and fewer.
    let met =
        |hits: Vec<Option<drystone::render::RayHit>>| hits.iter().map(|h| h.unwrap().distance).collect::<Vec<_>>();
    assert_eq!(met(cast(&[good]).unwrap()), [2.0]);
    assert_eq!(met(cast(&[good; 100]).unwrap()), [2.0; 100]);
    assert_eq!(met(cast(&[good; 2]).unwrap()), [2.0; 2]);
    assert!(cast(&[]).unwrap().is_empty());
    assert!(cast(&[Ray { reach: 1.5, ..good }]).unwrap()[0].is_none(), "beyond its reach");
}
