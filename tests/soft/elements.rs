//! Forces of elements against derivatives of their energies in double precision, on random states: inverted, flat and
//! far from rest. Blocks against second derivatives where they are exact, and positive semi-definite everywhere.

use crate::common::Random;
use drystone::glam::{DMat3, DVec3, Mat3, Vec3};
use drystone_kernels::solve::soft::hinge::{Wings, hinge};
use drystone_kernels::solve::soft::membrane::membrane;
use drystone_kernels::solve::soft::tetrahedron::{Edges, tetrahedron};
use drystone_kernels::solve::soft::{Block, spring};
use drystone_kernels::state::soft::{Hinge, Membrane, Spring, SpringState, Tetrahedron};

const STATES: u32 = 100_000;
const DT: f32 = 1.0 / 60.0;

fn vector(random: &mut Random, size: f32) -> Vec3 {
    Vec3::new(random.range(-size, size), random.range(-size, size), random.range(-size, size))
}

/// Corners of a state: mostly anywhere, now and then all in a plane, or two in one place.
fn corners<const N: usize>(random: &mut Random, i: u32) -> [Vec3; N] {
    let mut corners = std::array::from_fn(|_| vector(random, 1.0));
    match i % 10 {
        0 => corners.iter_mut().for_each(|c| c.y = 0.0),
        1 => corners[N - 1] = corners[0] + vector(random, 1e-3),
        _ => {}
    }
    corners
}

/// Gradient and second derivative of an energy in one corner, by central differences.
fn derivatives(energy: impl Fn(DVec3) -> f64, at: DVec3) -> (DVec3, DMat3) {
    let h = 1e-4;
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let gradient = axes.map(|a| (energy(at + a * h) - energy(at - a * h)) / (2.0 * h));
    let mut second = [[0.0; 3]; 3];
    for (i, a) in axes.iter().enumerate() {
        for (j, b) in axes.iter().enumerate() {
            let d = |s: f64, t: f64| energy(at + *a * (s * h) + *b * (t * h));
            second[i][j] = (d(1.0, 1.0) - d(1.0, -1.0) - d(-1.0, 1.0) + d(-1.0, -1.0)) / (4.0 * h * h);
        }
    }
    (DVec3::from_array(gradient), DMat3::from_cols_array_2d(&second))
}

fn matrix(block: &Block) -> DMat3 {
    let (d, o) = (block.diagonal.as_dvec3(), block.off.as_dvec3());
    DMat3::from_cols_array_2d(&[[d.x, o.x, o.y], [o.x, d.y, o.z], [o.y, o.z, d.z]])
}

/// No direction has a curvature that is negative by more than rounding: all principal minors of the matrix with a
/// little on its diagonal.
fn is_semi_definite(block: &Block) -> bool {
    let m = matrix(block);
    let trace = m.x_axis.x + m.y_axis.y + m.z_axis.z;
    let m = m + DMat3::from_diagonal(DVec3::splat(2e-6 * trace.max(1e-30)));
    let two = m.x_axis.x * m.y_axis.y - m.x_axis.y * m.x_axis.y;
    m.x_axis.x > 0.0 && two > 0.0 && m.determinant() > 0.0
}

/// Force and energy's gradient agree to a part of the largest that the energy has in the neighbourhood.
fn assert_near(found: Vec3, expected: DVec3, scale: f64, what: &str) {
    let off = (found.as_dvec3() - expected).length();
    assert!(off <= 1e-4 * scale + 1e-5, "{what}: {found} instead of {expected}, of {scale}");
}

#[test]
fn tetrahedra_push_along_the_gradient_of_their_energy() {
    let mut random = Random::new(1);
    for i in 0..STATES {
        let rest: [Vec3; 4] = loop {
            let rest: [Vec3; 4] = std::array::from_fn(|_| vector(&mut random, 1.0));
            if (rest[1] - rest[0]).dot((rest[2] - rest[0]).cross(rest[3] - rest[0])).abs() > 0.2 {
                break rest;
            }
        };
        let now: [Vec3; 4] = corners(&mut random, i);
        let edges = Mat3::from_cols(rest[1] - rest[0], rest[2] - rest[0], rest[3] - rest[0]);
        let rows = edges.inverse().transpose();
        let (mu, lambda) = (random.range(0.1, 2.0), random.range(0.0, 20.0));
        let record = Tetrahedron {
            a: 0,
            b: 1,
            c: 2,
            d: 3,
            wb: rows.x_axis,
            wc: rows.y_axis,
            wd: rows.z_axis,
            volume: edges.determinant().abs() / 6.0,
            mu,
            lambda,
            damping: 0.0,
        };
        let corner = i % 4;
        let of = |p: &[Vec3; 4]| Edges { b: p[1] - p[0], c: p[2] - p[0], d: p[3] - p[0] };
        let inverse = edges.as_dmat3().inverse();
        let energy = |at: DVec3| {
            let mut p = now.map(|p| p.as_dvec3());
            p[corner as usize] = at;
            let f = DMat3::from_cols(p[1] - p[0], p[2] - p[0], p[3] - p[0]) * inverse;
            let (mu, l) = (f64::from(mu), f64::from(lambda) + f64::from(mu));
            let square = f.x_axis.length_squared() + f.y_axis.length_squared() + f.z_axis.length_squared();
            let a = 1.0 + mu / l;
            f64::from(record.volume) * (mu / 2.0 * (square - 3.0) + l / 2.0 * (f.determinant() - a).powi(2))
        };
        let block = tetrahedron(&record, corner, &of(&now), &of(&now), DT);
        let (gradient, second) = derivatives(energy, now[corner as usize].as_dvec3());
        let scale = gradient.length() + second.x_axis.length() + second.y_axis.length() + second.z_axis.length();
        assert_near(block.force, -gradient, scale, &format!("state {i}"));
        let off = (matrix(&block) - second).to_cols_array().iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!(off <= 1e-3 * scale, "state {i}: {block:?} instead of {second}", block = matrix(&block));
        assert!(is_semi_definite(&block), "state {i}: {:?}", matrix(&block));
        let damped = Tetrahedron { damping: 0.3, ..record };
        let before: [Vec3; 4] = std::array::from_fn(|k| now[k] + vector(&mut random, 0.1));
        assert!(is_semi_definite(&tetrahedron(&damped, corner, &of(&now), &of(&before), DT)), "damped, state {i}");
    }
}

#[test]
fn triangles_push_along_the_gradient_of_their_energy() {
    let mut random = Random::new(2);
    for i in 0..STATES {
        let (bx, cx, cy) = (random.range(0.3, 1.0), random.range(-1.0, 1.0), random.range(0.3, 1.0));
        let (mu, lambda) = (random.range(0.1, 2.0), random.range(0.0, 5.0));
        let record = Membrane {
            a: 0,
            b: 1,
            c: 2,
            b0: 1.0 / bx,
            b1: -cx / (bx * cy),
            c0: 0.0,
            c1: 1.0 / cy,
            area: 0.5 * bx * cy,
            mu,
            lambda,
            damping: 0.0,
        };
        let now: [Vec3; 3] = corners(&mut random, i);
        let corner = i % 3;
        let energy = |at: DVec3| {
            let mut p = now.map(|p| p.as_dvec3());
            p[corner as usize] = at;
            let (b, c) = (p[1] - p[0], p[2] - p[0]);
            let f0 = b * f64::from(record.b0) + c * f64::from(record.c0);
            let f1 = b * f64::from(record.b1) + c * f64::from(record.c1);
            let (mu, l) = (f64::from(mu), f64::from(lambda) + f64::from(mu));
            let (j, a) = (f0.cross(f1).length(), 1.0 + mu / l);
            let square = f0.length_squared() + f1.length_squared();
            f64::from(record.area) * (mu / 2.0 * (square - 2.0) + l / 2.0 * (j - a).powi(2))
        };
        let sides = |p: &[Vec3; 3]| (p[1] - p[0], p[2] - p[0]);
        let block = membrane(&record, corner, sides(&now), sides(&now), DT);
        let (gradient, second) = derivatives(energy, now[corner as usize].as_dvec3());
        // Next to a triangle without area its energy has a kink, and no derivative.
        let (b, c) = sides(&now);
        let area = b.cross(c).length() / (2.0 * record.area);
        if area > 0.02 {
            let size = (b.length() + c.length()) as f64;
            let scale = gradient.length() + 30.0 * (1.0 + size);
            assert_near(block.force, -gradient, scale, &format!("state {i}"));
            let a = 1.0 + mu / (lambda + mu);
            if area > a + 0.01 && area > 0.3 {
                let off = (matrix(&block) - second).to_cols_array().iter().fold(0.0f64, |m, v| m.max(v.abs()));
                assert!(off <= 1e-3 * scale + 1e-2, "state {i}: {} instead of {second}", matrix(&block));
            }
        }
        assert!(is_semi_definite(&block), "state {i}: {}", matrix(&block));
        let before: [Vec3; 3] = std::array::from_fn(|k| now[k] + vector(&mut random, 0.1));
        let damped = membrane(&Membrane { damping: 0.3, ..record }, corner, sides(&now), sides(&before), DT);
        assert!(is_semi_definite(&damped), "damped, state {i}");
    }
}

#[test]
fn hinges_and_springs_push_along_the_gradients_of_their_energies() {
    let mut random = Random::new(3);
    for i in 0..STATES {
        let now: [Vec3; 4] = corners(&mut random, i);
        let record = Hinge { a: 0, b: 1, c: 2, d: 3, angle: 0.0, stiffness: 1.5, damping: 0.0 };
        let angle = |p: [DVec3; 4]| {
            let e = p[1] - p[0];
            let (m, n) = (e.cross(p[2] - p[0]), (p[3] - p[0]).cross(e));
            m.cross(n).dot(e.normalize()).atan2(m.dot(n))
        };
        let corner = i % 4;
        let rest = angle(now.map(|p| p.as_dvec3())) + f64::from(random.range(-1.0, 1.0));
        let rest = if rest.abs() > std::f64::consts::PI { rest - rest.signum() * std::f64::consts::TAU } else { rest };
        let record = Hinge { angle: rest as f32, ..record };
        let energy = |at: DVec3| {
            let mut p = now.map(|p| p.as_dvec3());
            p[corner as usize] = at;
            let off = angle(p) - rest;
            let off = off - (off / std::f64::consts::TAU).round() * std::f64::consts::TAU;
            0.75 * off * off
        };
        let of = |p: &[Vec3; 4]| Wings { b: p[1] - p[0], c: p[2] - p[0], d: p[3] - p[0] };
        let block = hinge(&record, corner, &of(&now), &of(&now), DT);
        let (gradient, _) = derivatives(energy, now[corner as usize].as_dvec3());
        let w = of(&now);
        let high = |v: Vec3| w.b.cross(v).length() / w.b.length();
        // Differences are good where the corners are well away from the side.
        let least = high(w.c).min(high(w.d)).min(w.b.length());
        if least > 0.05 {
            assert_near(block.force, -gradient, f64::from(1.0 / (least * least)), &format!("hinge {i}"));
        }
        assert!(block.force.is_finite() && is_semi_definite(&block), "hinge {i}: {}", matrix(&block));

        let line = Spring { a: 0, b: 1, rest: random.range(0.1, 1.0), stiffness: 3.0, damping: 0.0 };
        let state = SpringState { lambda: 0.0, k: 3.0, unit: 1.0, left: 0.0 };
        let apart = now[1] - now[0];
        let energy = |at: DVec3| 1.5 * ((now[1].as_dvec3() - at).length() - f64::from(line.rest)).powi(2);
        let block = spring(&line, &state, apart, apart, DT);
        let (gradient, second) = derivatives(energy, now[0].as_dvec3());
        if apart.length() > 0.01 {
            assert_near(block.force, -gradient, 10.0, &format!("spring {i}"));
            if apart.length() > line.rest && apart.length() > 0.2 {
                let off = (matrix(&block) - second).to_cols_array().iter().fold(0.0f64, |m, v| m.max(v.abs()));
                assert!(off < 1e-2, "spring {i}: {} instead of {second}", matrix(&block));
            }
        }
        assert!(is_semi_definite(&block), "spring {i}");
    }
}

#[test]
fn damping_is_blind_to_rigid_motions_and_slows_others() {
    let mut random = Random::new(4);
    for i in 0..10_000 {
        let p: [Vec3; 4] = std::array::from_fn(|_| vector(&mut random, 1.0));
        let turn = drystone::glam::Quat::from_scaled_axis(vector(&mut random, 2.0));
        let way = vector(&mut random, 3.0);
        let moved = p.map(|p| turn * p + way);
        let edges = Mat3::from_cols(p[1] - p[0], p[2] - p[0], p[3] - p[0]);
        if edges.determinant().abs() < 0.1 {
            continue;
        }
        let rows = edges.inverse().transpose();
        let volume = edges.determinant().abs() / 6.0;
        let (wb, wc, wd) = (rows.x_axis, rows.y_axis, rows.z_axis);
        let quiet = Tetrahedron { a: 0, b: 1, c: 2, d: 3, wb, wc, wd, volume, mu: 1.0, lambda: 1.0, damping: 0.0 };
        let damped = Tetrahedron { damping: 5.0, ..quiet };
        let of = |p: &[Vec3; 4]| Edges { b: p[1] - p[0], c: p[2] - p[0], d: p[3] - p[0] };
        let corner = i % 4;
        let force = |t: &Tetrahedron, now: &[Vec3; 4]| tetrahedron(t, corner, &of(now), &of(&p), DT).force;
        let rigid = force(&damped, &moved) - force(&quiet, &moved);
        let scale = 5.0 / DT;
        assert!(rigid.length() < 2e-5 * scale * (wb.length() + wc.length() + wd.length()), "{i}: {rigid}");
        // Drawn out by a tenth, all corners do work against it: it takes energy.
        let wide = p.map(|q| (q - p[0]) * 1.1 + p[0]);
        let work: f32 = (0..4)
            .map(|c| {
                let push = |t: &Tetrahedron| tetrahedron(t, c, &of(&wide), &of(&p), DT).force;
                (push(&damped) - push(&quiet)).dot(wide[c as usize] - p[c as usize])
            })
            .sum();
        assert!(work < 0.0, "{i}: {work}");
        let hinged = Hinge { a: 0, b: 1, c: 2, d: 3, angle: 0.3, stiffness: 1.0, damping: 0.0 };
        let wings = |p: &[Vec3; 4]| Wings { b: p[1] - p[0], c: p[2] - p[0], d: p[3] - p[0] };
        let pushed = |damping: f32| hinge(&Hinge { damping, ..hinged }, corner, &wings(&moved), &wings(&p), DT).force;
        let g = pushed(0.0).length().max(1.0);
        assert!((pushed(1.0) - pushed(0.0)).length() < 2e-3 * g / DT * 0.1, "hinge {i}: {}", pushed(1.0) - pushed(0.0));
    }
}
