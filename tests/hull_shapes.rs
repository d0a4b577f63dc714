//! What becomes of a cloud of points: its mass against closed forms, its faces, and the clouds that are refused.

mod common;

use common::{Random, ball, box_points};
use drystone::backend::{Device, RunnerExt};
use drystone::glam::{DVec3, Quat, Vec3};
use drystone::world::{BodyDesc, Collider, Hull, Shape, World, WorldError};
use drystone::{Settings, Simulation};
use std::f64::consts::PI;

/// Mass and principal moments as the device has them, in order.
fn masses(collider: Collider) -> (f64, [f64; 3]) {
    let mut world = World::new();
    let body = world.add(BodyDesc::dynamic().with(collider)).unwrap();
    let mut simulation = Simulation::new(world, Settings::default(), Device::Cpu { threads: Some(1) }).unwrap();
    let bodies = simulation.plan().buffers.bodies;
    let record = simulation.runner().read_at(bodies, u64::from(body.index())).unwrap();
    let mut moments = record.inertia.as_dvec3().to_array();
    moments.sort_by(f64::total_cmp);
    (record.mass.into(), moments)
}

fn assert_near(what: &str, found: f64, expected: f64) {
    assert!((found - expected).abs() <= 2e-6 * expected.abs(), "{what}: {found}, not {expected}");
}

#[test]
fn the_hull_of_a_box_weighs_what_the_box_weighs() {
    let half = Vec3::new(0.5, 0.2, 0.9);
    // Corners thrice, points inside, on faces and on edges.
    let mut points = box_points(half).repeat(3);
    points.extend([Vec3::ZERO, half * Vec3::new(1.0, 0.3, 0.2), half * Vec3::new(1.0, 1.0, 0.1), Vec3::X * 0.5]);
    let (turn, place) = (Quat::from_rotation_y(0.7) * Quat::from_rotation_x(0.3), Vec3::new(3.0, -2.0, 1.0));
    let turned: Vec<Vec3> = points.iter().map(|p| turn * *p + place).collect();
    let expected = masses(Collider::cuboid(half * 2.0));
    for points in [points, turned] {
        let collider = Collider::hull(&points).unwrap();
        let Shape::ConvexHull(hull) = &collider.shape else { panic!("a hull") };
        assert_eq!((hull.vertices().count(), hull.faces().count(), hull.edge_count()), (8, 6, 12));
        let (mass, moments) = masses(collider);
        assert_near("mass", mass, expected.0);
        for (found, expected) in moments.into_iter().zip(expected.1) {
            assert_near("moment", found, expected);
        }
    }
}

#[test]
fn tetrahedra_and_prisms_weigh_what_the_formulas_say() {
    // Legs a, b, c along the axes. Second moments about the centre: 3/80 m a^2, and -1/80 m a b between two.
    let (a, b, c) = (1.0, 2.0, 0.5);
    let corners = [Vec3::ZERO, Vec3::X * a as f32, Vec3::Y * b as f32, Vec3::Z * c as f32];
    let hull = Hull::new(&corners).unwrap();
    assert!((hull.centre() - Vec3::new(0.25, 0.5, 0.125)).length() < 1e-6, "{}", hull.centre());
    assert_near("volume", hull.volume().into(), a * b * c / 6.0);
    let (mass, m) = masses(Collider::hull(&corners).unwrap().density(600.0));
    assert_near("mass", mass, 100.0 * a * b * c);
    let square = |v: f64| 3.0 / 80.0 * mass * v * v;
    let (xx, yy, zz) = (square(b) + square(c), square(a) + square(c), square(a) + square(b));
    let (xy, xz, yz) = (mass * a * b / 80.0, mass * a * c / 80.0, mass * b * c / 80.0);
    // Principal moments are known by the invariants of the matrix.
    assert_near("trace", m[0] + m[1] + m[2], xx + yy + zz);
    let minors = xx * yy + xx * zz + yy * zz - xy * xy - xz * xz - yz * yz;
    assert_near("minors", m[0] * m[1] + m[0] * m[2] + m[1] * m[2], minors);
    let determinant = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
    assert_near("determinant", m[0] * m[1] * m[2], determinant);

    for sides in [3u32, 5, 12, 32] {
        let (radius, height, n) = (0.8, 3.0, f64::from(sides));
        let points: Vec<Vec3> = (0..2 * sides)
            .map(|i| {
                let angle = 2.0 * PI * f64::from(i / 2) / n;
                let y = if i % 2 == 0 { 0.0 } else { height };
                DVec3::new(radius * angle.cos(), y, radius * angle.sin()).as_vec3()
            })
            .collect();
        let hull = Hull::new(&points).unwrap();
        assert_eq!(hull.faces().count(), sides as usize + 2, "two many-sided ends");
        let (mass, m) = masses(Collider::hull(&points).unwrap().density(1.0));
        assert_near("mass", mass, 0.5 * n * radius * radius * (2.0 * PI / n).sin() * height);
        let along = mass * radius * radius / 6.0 * (2.0 + (2.0 * PI / n).cos());
        let across = 0.5 * along + mass * height * height / 12.0;
        for (found, expected) in m.into_iter().zip([along, across, across]) {
            assert_near("moment", found, expected);
        }
    }
}

#[test]
fn points_that_make_no_hull_are_refused_by_name() {
    let many = |n: u32| -> Vec<Vec3> {
        let mut random = Random::new(5);
        (0..n).map(|_| ball(&mut random).normalize()).collect()
    };
    let square = [Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(1.0, 0.0, 1.0), Vec3::new(0.3, 0.0, 0.6)];
    let turn = Quat::from_rotation_x(1.0) * Quat::from_rotation_z(0.4);
    let cases: Vec<(&str, Vec<Vec3>)> = vec![
        ("at least 4 points, not 0", vec![]),
        ("at least 4 points, not 3", square[..3].to_vec()),
        ("hull point is not finite", vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(0.0, 0.0, f32::NAN)]),
        ("hull point is not finite", vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::INFINITY]),
        ("lie in a plane", vec![Vec3::ONE; 9]),
        ("lie in a plane", (0..9).map(|i| Vec3::ONE * i as f32).collect()),
        ("lie in a plane", square.to_vec()),
        ("lie in a plane", square.iter().map(|p| turn * *p + Vec3::splat(7.0)).collect()),
        ("lie in a plane", box_points(Vec3::new(1.0, 1e-6, 1.0))),
        ("half size", box_points(Vec3::splat(1e6))),
        ("half size", box_points(Vec3::splat(f32::MAX))),
        ("half thickness", box_points(Vec3::splat(1e-6))),
        ("more than 64 vertices", many(65)),
        ("more than 64 vertices", many(5000)),
    ];
    for (words, points) in cases {
        let error = Collider::hull(&points).unwrap_err();
        assert!(error.to_string().contains(words), "`{words}` in: {error}");
    }
    assert!(matches!(Hull::new(&many(65)), Err(WorldError::HullVertices { limit: 64 })));
    let vertices = |points: &[Vec3]| Hull::new(points).unwrap().vertices().count();
    assert_eq!(vertices(&many(64)), 64);
    for size in [2e-5, 5e4] {
        assert_eq!(vertices(&box_points(Vec3::splat(size))), 8, "{size} m");
    }
    // A thousand points on the surface of a turned cube, off by rounding, are eight vertices.
    let mut random = Random::new(11);
    let mut cloud: Vec<Vec3> = (0..1000)
        .map(|i| {
            let (u, v, side) = (random.range(-1.0, 1.0), random.range(-1.0, 1.0), if i % 2 == 0 { 1.0 } else { -1.0 });
            [Vec3::new(side, u, v), Vec3::new(u, side, v), Vec3::new(u, v, side)][i % 3]
        })
        .chain(box_points(Vec3::ONE))
        .map(|p| turn * p + Vec3::splat(10.0))
        .collect();
    assert_eq!(vertices(&cloud), 8);
    cloud.rotate_left(500);
    cloud.reverse();
    assert_eq!(vertices(&cloud), 8, "in any order");
}

#[test]
fn hulls_are_closed_convex_and_hold_their_points() {
    let mut random = Random::new(3);
    for round in 0..300 {
        // Grids make every kind of coplanar and collinear points.
        let count = 4 + random.below(60);
        let steps = 1.0 + random.below(4) as f32;
        let points: Vec<Vec3> = (0..count)
            .map(|_| {
                let p = ball(&mut random);
                if round % 2 == 0 { (p * steps).round() } else { p }
            })
            .collect();
        let Ok(hull) = Hull::new(&points) else {
            assert!(round % 2 == 0, "random points are a hull");
            continue;
        };
        let vertices: Vec<Vec3> = hull.vertices().collect();
        let (v, f, e) = (vertices.len(), hull.faces().count(), hull.edge_count());
        assert_eq!(v + f, e + 2, "Euler, round {round}: {v} vertices, {f} faces, {e} edges");
        for (normal, corners) in hull.faces() {
            let offset = normal.dot(vertices[corners[0] as usize]);
            for p in &points {
                assert!(normal.dot(*p) < offset + 1e-3, "round {round}: {p} is outside by {}", normal.dot(*p) - offset);
            }
            for c in corners {
                assert!((normal.dot(vertices[*c as usize]) - offset).abs() < 1e-3, "round {round}: a bent face");
            }
        }
    }
}
