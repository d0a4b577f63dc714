//! What bodies and joints are called.

use drystone::glam::Vec3;
use drystone::scenes;
use drystone::world::{BodyDesc, Collider, JointDesc, World, WorldError};

fn ball() -> BodyDesc {
    BodyDesc::dynamic().with(Collider::sphere(0.5))
}

#[test]
fn a_name_is_one_bodys_and_goes_with_it() {
    let mut world = World::new();
    let a = world.add_named("a", ball()).unwrap();
    let b = world.add(ball()).unwrap();
    assert_eq!((world.name(a), world.name(b)), (Some("a"), None));
    assert_eq!((world.find("a"), world.find("b")), (Some(a), None));
    world.set_name(b, "b").unwrap();
    // Two may not have the same, and what was there stays.
    let taken = world.set_name(b, "a").unwrap_err();
    assert_eq!(taken, WorldError::NameTaken { what: "body", name: "a".to_owned(), index: a.index() });
    assert!(taken.to_string().contains("body 0 is called `a` already"), "{taken}");
    assert!(world.add_named("a", ball()).is_err());
    assert_eq!((world.len(), world.name(b)), (2, Some("b")), "nothing was added, nothing renamed");
    // The same again is no mistake; another takes the place of the first.
    world.set_name(a, "a").unwrap();
    world.set_name(a, "first").unwrap();
    assert_eq!((world.find("a"), world.find("first"), world.name(a)), (None, Some(a), Some("first")));
    assert_eq!(world.names().collect::<Vec<_>>(), [("b", b), ("first", a)]);
    // The name is free when the body is gone, and the next one in its slot has none.
    world.remove(a).unwrap();
    assert_eq!((world.find("first"), world.name(a)), (None, None));
    assert!(matches!(world.set_name(a, "x"), Err(WorldError::StaleBody { .. })));
    let c = world.add(ball()).unwrap();
    assert_eq!((c.index(), world.name(c)), (a.index(), None));
    world.set_name(c, "first").unwrap();
    assert_eq!(world.find("first"), Some(c));
}

#[test]
fn joints_have_names_of_their_own() {
    let mut world = World::new();
    let (a, b) = (world.add_named("a", ball()).unwrap(), world.add(ball().at(Vec3::X)).unwrap());
    let joint = world.add_joint_named("a", JointDesc::ball(b, a)).unwrap();
    assert_eq!((world.joint_name(joint), world.find_joint("a"), world.find("a")), (Some("a"), Some(joint), Some(a)));
    let other = world.add_joint(JointDesc::ball(b, None)).unwrap();
    let taken = world.set_joint_name(other, "a").unwrap_err().to_string();
    assert!(taken.contains("joint 0 is called `a` already"), "{taken}");
    assert!(world.add_joint_named("a", JointDesc::ball(a, None)).is_err());
    assert_eq!(world.joints().count(), 2, "nothing was added");
    // A body takes its joints along, and they their names.
    world.remove(a).unwrap();
    assert_eq!((world.find_joint("a"), world.joint_name(joint)), (None, None));
    assert!(matches!(world.set_joint_name(joint, "x"), Err(WorldError::StaleJoint { .. })));
    world.set_joint_name(other, "a").unwrap();
    assert_eq!(world.joint_names().collect::<Vec<_>>(), [("a", other)]);
    // A description that is refused leaves no name behind.
    assert!(world.add_joint_named("stale", JointDesc::ball(a, None)).is_err());
    assert_eq!(world.find_joint("stale"), None);
}

#[test]
fn built_in_scenes_name_what_is_worth_following() {
    for (scene, body, joint) in [
        ("pile", "top", None),
        ("stack", "box 1", None),
        ("pyramid", "top", None),
        ("arch", "keystone", None),
        ("cards", "top left", None),
        ("drop", "floor", None),
        ("dominoes", "stone 100", None),
        ("friction", "mu 1.0", None),
        ("rolling", "ball 5", None),
        ("spinner", "spinner", None),
        ("pendulum", "ball", Some("joint 50")),
        ("chain_balls", "right ball", Some("last joint")),
        ("spring_ratio", "block 2", Some("spring 2")),
        ("spring_chain", "block 10", Some("spring 11")),
        ("wall", "brick 8.12", Some("brick 1.1 to brick 1.2")),
        ("chainmail", "ball", None),
        ("bridge", "plank 20", Some("left joint 21")),
        ("swing_box", "box", Some("last hinge")),
        ("ragdolls", "left hand 100", Some("right knee 1")),
        ("rope", "box", Some("rope 20")),
        ("motor", "wheel 5", Some("motor 5")),
        ("hinge_limits", "door 1", Some("hinge 1")),
        ("lifts", "lift 2", Some("slider 2")),
        ("rods", "ball 3", Some("rod 3")),
        ("limbs", "limb 4", Some("joint 4")),
        ("joint_grid", "middle", None),
        ("ragdoll_cloth", "last cube", None),
    ] {
        let world = scenes::build(scene, &Default::default()).unwrap().world;
        assert!(world.find(body).is_some(), "{scene}: {body}");
        assert!(joint.is_none_or(|name| world.find_joint(name).is_some()), "{scene}: {joint:?}");
        // The name stands for what it says.
        if body == "top" {
            let height = |h| world.desc(h).unwrap().position.y;
            let highest = world.handles().map(height).fold(0.0, f32::max);
            assert_eq!(height(world.find("top").unwrap()), highest, "{scene}");
        }
    }
    for name in scenes::NAMES {
        let world = scenes::build(name, &Default::default()).unwrap().world;
        assert!(world.names().next().is_some(), "{name} names nothing");
    }
    let arch = scenes::arch(15, 1.0).unwrap();
    let keystone = arch.desc(arch.find("keystone").unwrap()).unwrap().position;
    assert!(keystone.x.abs() < 1e-5 && keystone.y > 5.9, "{keystone}");
}
