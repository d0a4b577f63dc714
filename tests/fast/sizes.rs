//! Small hulls on large faces.

use super::*;

#[test]
fn small_hulls_rest_on_large_boxes() {
    // Truth: it lies still, on the face. From its own size to 10,000 times it, upright and turned as a whole.
    for ratio in [1.0f32, 4.0, 20.0, 100.0, 205.0, 1000.0, 3000.0, 10_000.0] {
        for tilt in [Quat::IDENTITY, Quat::from_rotation_x(0.4) * Quat::from_rotation_z(0.3)] {
            for hull in [true, false] {
                let size = 0.2;
                let up = tilt * Vec3::Y;
                let mut world = World::new();
                world.set_gravity(up * -G).unwrap();
                let large = Vec3::new(ratio, ratio.min(100.0), ratio) * size;
                let floor = if hull {
                    Collider::cuboid(large)
                } else {
                    Collider::hull(&common::box_points(large * 0.5)).unwrap()
                };
                world.add(BodyDesc::fixed().at(up * (-0.5 * large.y)).turned(tilt).with(floor)).unwrap();
                let cube = Collider::hull(&common::box_points(Vec3::splat(0.5 * size))).unwrap();
                let cube = world.add(BodyDesc::dynamic().at(up * (0.5 * size)).turned(tilt).with(cube)).unwrap();
                let mut simulation = simulate(world, Settings::default());
                run(&mut simulation, 5.0, DT);
                let state = simulation.body(cube).unwrap();
                let height = state.position.dot(up) / size - 0.5;
                let what = format!("{ratio} times its size, tilted {}, {state:?}", tilt != Quat::IDENTITY);
                assert!(height.abs() < 0.01, "{what}: off by {height} sizes");
                assert!(state.linear_velocity.length() < 0.01, "{what}");
                assert!(state.angular_velocity.length() < 0.05, "{what}");
            }
        }
    }
}
