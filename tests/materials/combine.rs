//! How the coefficients of two surfaces become one.

use super::*;
use drystone::world::Combine;

/// Deceleration over g of a brick with friction `a` on a floor with friction `b`.
fn measured(a: (f32, Combine), b: (f32, Combine)) -> f32 {
    let dt = 1.0 / 60.0;
    let mut world = on_floor(Collider::half_space().friction(b.0).friction_combine(b.1), 0.0);
    let brick = Collider::cuboid(Vec3::new(1.0, 0.3, 1.0)).friction(a.0).friction_combine(a.1);
    let body = world.add(BodyDesc::dynamic().at(Vec3::Y * 0.15).moving(Vec3::X * 20.0).with(brick)).unwrap();
    let mut simulation = simulate(world, 10);
    run(&mut simulation, 0.2, dt);
    let before = simulation.body(body).unwrap().linear_velocity.x;
    run(&mut simulation, 0.5, dt);
    (before - simulation.body(body).unwrap().linear_velocity.x) / (0.5 * G)
}

#[test]
fn friction_is_combined_by_the_rule_of_higher_precedence() {
    use Combine::*;
    let (a, b) = (0.9f32, 0.3f32);
    let values = [(a * b).sqrt(), (a + b) / 2.0, b, a * b, a];
    for (i, one) in Combine::ALL.into_iter().enumerate() {
        for (j, two) in Combine::ALL.into_iter().enumerate() {
            let expected = values[i.max(j)];
            let found = measured((a, one), (b, two));
            assert!((found - expected).abs() < 0.01, "{one:?} with {two:?}: {found}, not {expected}");
        }
    }
    assert!(GeometricMean < Average && Average < Min && Min < Multiply && Multiply < Max);
}
