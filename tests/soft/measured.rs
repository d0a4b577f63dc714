//! What is told of soft bodies: counts, energies, stretch.

use super::{run, simulation};
use crate::common::{Random, iterating};
use drystone::glam::Vec3;
use drystone::metrics::{SoftMetrics, elastic_energy};
use drystone::world::soft::SoftSpring;
use drystone::world::{Cloth, SoftDesc, Solid, World};

#[test]
fn energy_of_elements_is_that_of_small_strains_and_none_in_rigid_motions() {
    let mut random = Random::new(3);
    let cloth = Cloth { stretch: 800.0, poisson: 0.3, bend: 0.0, ..Cloth::default() };
    let sheet = SoftDesc::cloth(Vec3::ZERO, Vec3::X * 2.0, Vec3::Z, (7, 5), &cloth);
    let solid = Solid { young: 5e4, poisson: 0.35, ..Solid::default() };
    let block = SoftDesc::block(Vec3::ZERO, Vec3::new(1.0, 2.0, 0.5), (2, 4, 2), &solid);
    let turn = drystone::glam::Quat::from_scaled_axis(Vec3::new(1.0, -0.4, 2.0));
    for desc in [&sheet, &block] {
        let turned: Vec<_> = desc.rest.iter().map(|p| turn * *p + Vec3::new(3.0, 1.0, 2.0)).collect();
        assert!(elastic_energy(desc, &turned).abs() < 1e-6, "{}", elastic_energy(desc, &turned));
    }
    // A strain e along an axis, and across it what Poisson's ratio asks for: half of E e^2 a volume, or an area.
    let e = 1e-3f64;
    let (along, across) = ((1.0 + e) as f32, (1.0 - 0.3 * e) as f32);
    let pulled: Vec<_> = sheet.rest.iter().map(|p| *p * Vec3::new(along, 1.0, across)).collect();
    let expected = 0.5 * 800.0 * e * e * 2.0;
    assert!((elastic_energy(&sheet, &pulled) / expected - 1.0).abs() < 0.01);
    let across = (1.0 - 0.35 * e) as f32;
    let pulled: Vec<_> = block.rest.iter().map(|p| *p * Vec3::new(across, along, across)).collect();
    let expected = 0.5 * 5e4 * e * e;
    assert!((elastic_energy(&block, &pulled) / expected - 1.0).abs() < 0.01);
    // A cylinder of radius r. Of a grid that bends along its sides only the sides across it turn, by h / r each, and a
    // hinge has 3 D e^2 over both areas: three times half of D a square of the curvature, without the lines at both ends.
    let cloth = Cloth { bend: 0.01, poisson: 0.0, ..cloth };
    let strip = SoftDesc::cloth(Vec3::ZERO, Vec3::X * 2.0, Vec3::Z * 0.5, (41, 11), &cloth);
    let radius = 2.0f32;
    let bent: Vec<_> = strip
        .rest
        .iter()
        .map(|p| Vec3::new(radius * (p.x / radius).sin(), radius * (p.x / radius).cos(), p.z))
        .collect();
    let stretched = SoftDesc { hinges: Vec::new(), ..strip.clone() };
    let found = elastic_energy(&strip, &bent) - elastic_energy(&stretched, &bent);
    let expected = 3.0 * 0.5 * 0.01 / f64::from(radius * radius) * 39.0 / 40.0;
    assert!((found / expected - 1.0).abs() < 0.01, "{found} instead of {expected}");
    let spring = SoftSpring::new([0, 1], 1.0, 30.0);
    let pair = SoftDesc {
        rest: vec![Vec3::ZERO, Vec3::X],
        masses: vec![1.0; 2],
        springs: vec![spring],
        ..SoftDesc::default()
    };
    let long = random.range(1.2, 1.8);
    let expected = 15.0 * f64::from(long - 1.0).powi(2);
    assert!((elastic_energy(&pair, &[Vec3::ZERO, Vec3::Y * long]) / expected - 1.0).abs() < 1e-5);
}

#[test]
fn a_falling_and_swinging_net_of_springs_is_told_by_its_numbers() {
    let mut world = World::new();
    let mut rope = SoftDesc::rope(Vec3::ZERO, Vec3::X, 3, 0.4, 100.0, 0.0);
    rope.positions = rope.rest.iter().map(|p| *p * 1.25).collect();
    world.add_soft(rope).unwrap();
    let block = world.add_soft(SoftDesc::block(Vec3::Y * 5.0, Vec3::ONE, (1, 1, 1), &Solid::default())).unwrap();
    let mut simulation = simulation(world, iterating(10));
    let m = SoftMetrics::of(&mut simulation).unwrap();
    assert_eq!((m.bodies, m.particles, m.springs, m.triangles, m.tetrahedra), (2, 11, 2, 0, 5));
    assert!((m.largest_stretch - 1.25).abs() < 1e-6 && (m.elastic_energy - 2.0 * 50.0 * 0.125 * 0.125).abs() < 1e-5);
    assert!((m.potential_energy / (1000.0 * 9.81 * 5.0) - 1.0).abs() < 1e-5, "{}", m.potential_energy);
    run(&mut simulation, 0.5, 1.0 / 60.0);
    let later = SoftMetrics::of(&mut simulation).unwrap();
    assert!((later.max_speed / (9.81 * 0.5) - 1.0).abs() < 0.05, "{}", later.max_speed);
    assert!(later.energy() <= m.energy() + 1e-3 * m.energy().abs() && (later.least_volume - 1.0).abs() < 1e-3);
    assert!(later.most_stretched.is_none_or(|s| s.index() != block.index() || later.largest_stretch < 1.001));
}
