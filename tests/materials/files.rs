//! Materials in scene files.

use super::*;
use drystone::scenes::file::{parse, to_text};
use drystone::world::{Combine, ContactReports};

const SCENE: &str = r#"{
  "bodies": [
    { "kind": "static", "colliders": [{ "shape": "box", "half": [5, 1, 5], "surface_velocity": [1, 0, 0.5],
        "surface_spin": [0, 2, 0], "friction_combine": "max", "restitution_combine": "multiply" }] },
    { "name": "ball", "position": [0, 3, 0], "linear_damping": 0.25, "angular_damping": 0.5,
      "colliders": [{ "shape": "sphere", "radius": 0.5, "restitution": 0.75, "friction_rolling": 0.125,
        "friction_torsional": 0.0625, "reports": ["begin", "end"] }] },
    { "kind": "static", "colliders": [{ "shape": "sphere", "radius": 2, "sensor": true }] }
  ],
  "joints": [
    { "type": "hinge", "a": "ball", "friction": 3 },
    { "type": "ball", "a": "ball", "friction": [0, 0, 0, 1, 2, 3, 0] }
  ]
}"#;

#[test]
fn materials_are_read_and_written() {
    let scene = parse(SCENE, "materials").unwrap();
    let handles: Vec<_> = scene.world.handles().collect();
    let belt = &scene.world.desc(handles[0]).unwrap().colliders[0];
    assert_eq!((belt.surface_velocity, belt.surface_spin), (Vec3::new(1.0, 0.0, 0.5), Vec3::Y * 2.0));
    assert_eq!((belt.friction_combine, belt.restitution_combine), (Combine::Max, Combine::Multiply));
    let ball = scene.world.desc(handles[1]).unwrap();
    assert_eq!((ball.linear_damping, ball.angular_damping), (0.25, 0.5));
    let collider = &ball.colliders[0];
    assert_eq!((collider.restitution, collider.friction_rolling, collider.friction_torsional), (0.75, 0.125, 0.0625));
    assert_eq!(collider.reports, ContactReports::CHANGES);
    assert!(scene.world.desc(handles[2]).unwrap().colliders[0].sensor);
    let joints: Vec<_> = scene.world.joints().map(|j| scene.world.joint(j).unwrap().friction).collect();
    assert_eq!(joints, [[0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0]]);

    let text = to_text(&scene).unwrap();
    let again = parse(&text, "materials").unwrap();
    assert_eq!(text, to_text(&again).unwrap());
    for (one, two) in scene.world.handles().zip(again.world.handles()) {
        let (one, two) = (scene.world.desc(one).unwrap(), again.world.desc(two).unwrap());
        assert_eq!(one.colliders, two.colliders);
        assert_eq!((one.linear_damping, one.angular_damping), (two.linear_damping, two.angular_damping));
    }
}

#[test]
fn what_makes_no_sense_is_named_with_its_place() {
    for (from, to, says) in [
        ("\"restitution\": 0.75", "\"restitution\": 1.5", "bodies[1].colliders[0].restitution"),
        ("\"max\"", "\"most\"", "bodies[0].colliders[0].friction_combine"),
        ("\"linear_damping\": 0.25", "\"linear_damping\": -1", "bodies[1].linear_damping"),
        ("\"sensor\": true", "\"sensor\": 1", "bodies[2].colliders[0].sensor"),
        ("[\"begin\", ", "[\"begins\", ", "bodies[1].colliders[0].reports[0]"),
        ("\"friction\": 3", "\"friction\": -3", "joints[0]"),
    ] {
        let error = parse(&SCENE.replacen(from, to, 1), "materials").unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}
