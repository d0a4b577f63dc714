//! Larger things of joints: walls that break, mail, bridges, ragdolls, machines.

use super::floor;
use crate::glam::{Quat, Vec3};
use crate::world::joint::{Drive, JointAxis};
use crate::world::{BodyDesc, BodyHandle, Collider, JointDesc, World, WorldError};
use std::f32::consts::{FRAC_PI_2, TAU};

/// Figure 13: a wall of `columns` by `rows` bricks in running bond, each attached to the one beside it and the two
/// below. An attachment bears a force of `bears` newtons and half as many newton metres: it is half a metre wide.
pub fn wall(columns: u32, rows: u32, bears: f32) -> Result<World, WorldError> {
    let mut world = floor(0.6)?;
    let brick = Collider::cuboid(Vec3::new(1.0, 0.5, 0.5)).friction(0.6);
    let mut below: Vec<(f32, BodyHandle)> = Vec::new();
    for row in 0..rows {
        let shift = 0.5 * (row % 2) as f32 - 0.5 * columns as f32;
        let mut here: Vec<(f32, BodyHandle)> = Vec::new();
        for column in 0..columns {
            let (x, y) = (column as f32 + shift, 0.25 + 0.5 * row as f32);
            let body = BodyDesc::dynamic().at(Vec3::new(x, y, 0.0)).with(brick.clone());
            let body = world.add_named(format!("brick {}.{}", row + 1, column + 1), body)?;
            let beside = here.last().map(|(_, other)| (*other, Vec3::new(x - 0.5, y, 0.0)));
            let under = below.iter().filter(|(other, _)| (other - x).abs() < 0.9);
            let under = under.map(|(other, body)| (*body, Vec3::new(0.5 * (other + x), y - 0.25, 0.0)));
            for (other, point) in beside.into_iter().chain(under) {
                let joint = JointDesc::fixed(body, other).placed(&world, point, Quat::IDENTITY)?;
                let names = [other, body].map(|b| world.name(b).unwrap_or_default()).join(" to ");
                world.add_joint_named(names, joint.breaking(bears, 0.5 * bears))?;
            }
            here.push((x, body));
        }
        below = here;
    }
    Ok(world)
}

/// The three balls of Figure 13.
pub fn wall_balls(columns: u32, rows: u32) -> Vec<BodyDesc> {
    let (width, height) = (columns as f32, 0.5 * rows as f32);
    let ball = Collider::sphere(0.4).density(3000.0);
    let ball = |x: f32, y: f32| {
        let place = Vec3::new(x * width, y * height, 6.0);
        BodyDesc::dynamic().at(place).moving(Vec3::Z * -30.0).with(ball.clone())
    };
    vec![ball(-0.25, 0.6), ball(0.05, 0.35), ball(0.25, 0.7)]
}

/// A ring of capsules about the z axis of body space.
fn ring(radius: f32, thickness: f32) -> BodyDesc {
    const SIDES: u32 = 8;
    let half = radius * (TAU * 0.5 / SIDES as f32).tan();
    let capsule = Collider::capsule(half, thickness).friction(0.3).density(2000.0);
    (0..SIDES).fold(BodyDesc::dynamic(), |body, i| {
        let turn = Quat::from_rotation_z(TAU * i as f32 / SIDES as f32);
        let mut side = capsule.clone();
        (side.position, side.rotation) = (turn * (Vec3::X * radius), turn);
        body.with(side)
    })
}

/// Figure 12: `side` by `side` rings that lie flat, and upright ones through each two neighbours. Those at the border
/// do not move, or only those at the `corners`. The ball, if it has any mass, falls on the middle.
pub fn chainmail(side: u32, ball: f32, corners: bool) -> Result<World, WorldError> {
    let mut world = World::new();
    let (flat, upright) = (ring(0.5, 0.07), ring(0.42, 0.07));
    let spacing = 1.4;
    let at = |x: f32, z: f32| Vec3::new(x, 0.0, z) * spacing + Vec3::Y * 5.0;
    let middle = (side as f32 - 1.0) * 0.5;
    for x in 0..side {
        for z in 0..side {
            let (end_x, end_z) = (x == 0 || x + 1 == side, z == 0 || z + 1 == side);
            let held = if corners { end_x && end_z } else { end_x || end_z };
            let mut body = flat.clone().at(at(x as f32 - middle, z as f32 - middle));
            body.rotation = Quat::from_rotation_x(FRAC_PI_2);
            if held {
                body.kind = crate::world::BodyKind::Static;
            }
            let (row, column) = (x + 1, z + 1);
            world.add_named(format!("ring {row}.{column}"), body)?;
            let place = at(x as f32 - middle, z as f32 - middle);
            if x + 1 < side {
                let body = upright.clone().at(place + Vec3::X * (0.5 * spacing));
                world.add_named(format!("link {row}.{column} x"), body)?;
            }
            if z + 1 < side {
                let body = upright.clone().at(place + Vec3::Z * (0.5 * spacing));
                world.add_named(format!("link {row}.{column} z"), body.turned(Quat::from_rotation_y(FRAC_PI_2)))?;
            }
        }
    }
    if ball > 0.0 {
        let ball = BodyDesc::dynamic().at(Vec3::Y * 7.5).with(Collider::sphere(1.2)).weighing(ball);
        world.add_named("ball", ball)?;
    }
    Ok(world)
}

/// The middle of segment `i` of `count`, each `pitch` long, and how it is turned, in a chain from the origin along x
/// that sags: a chain without slack carries nothing across it, whatever pulls at its ends.
fn sagging(i: u32, count: u32, pitch: f32) -> (Vec3, Quat) {
    const TURN: f32 = 0.8;
    let each = TURN / count as f32;
    let radius = 0.5 * pitch / (0.5 * each).sin();
    let point = |i: f32| {
        let angle = each * i - 0.5 * TURN;
        Vec3::new(angle.sin() + (0.5 * TURN).sin(), (0.5 * TURN).cos() - angle.cos(), 0.0) * radius
    };
    let i = i as f32;
    ((point(i) + point(i + 1.0)) * 0.5, Quat::from_rotation_z(each * (i + 0.5) - 0.5 * TURN))
}

/// Adaptive sub-stepping's bridge: `planks` planks on ball joints between two banks, and a ball of 1000 kg on it.
pub fn bridge(planks: u32) -> Result<World, WorldError> {
    let mut world = World::new();
    let plank = Collider::cuboid(Vec3::new(0.9, 0.1, 2.0)).friction(0.8).density(500.0);
    let height = Vec3::Y * 5.0;
    let mut last = None;
    for i in 0..planks {
        let (middle, turn) = sagging(i, planks, 1.0);
        let body = BodyDesc::dynamic().at(height + middle).turned(turn).with(plank.clone());
        let body = world.add_named(format!("plank {}", i + 1), body)?;
        for (z, side) in [(-0.8, "left"), (0.8, "right")] {
            let point = height + middle + turn * Vec3::new(-0.5, 0.0, z);
            let joint = JointDesc::ball(body, last).placed(&world, point, Quat::IDENTITY)?;
            world.add_joint_named(format!("{side} joint {}", i + 1), joint)?;
            if i + 1 == planks {
                let point = height + middle + turn * Vec3::new(0.5, 0.0, z);
                let joint = JointDesc::ball(body, None).placed(&world, point, Quat::IDENTITY)?;
                world.add_joint_named(format!("{side} joint {}", i + 2), joint)?;
            }
        }
        last = Some(body);
    }
    let (middle, _) = sagging(planks / 2, planks, 1.0);
    let ball = BodyDesc::dynamic().at(height + middle + Vec3::Y * 1.0).with(Collider::sphere(0.5).friction(0.8));
    world.add_named("ball", ball.weighing(1000.0))?;
    Ok(world)
}

/// Adaptive sub-stepping's swinging box: `hinges` bars on hinges, and a box `ratio` times as heavy as a bar at the end.
pub fn swing_box(hinges: u32, ratio: f32) -> Result<World, WorldError> {
    let mut world = World::new();
    let bar = Collider::cuboid(Vec3::new(0.4, 0.1, 0.1));
    let top = Vec3::Y * (0.4 * hinges as f32 + 3.0);
    let about = Quat::from_rotation_arc(Vec3::X, Vec3::Z);
    let mut last = None;
    for i in 0..hinges {
        let start = top + Vec3::X * (0.4 * i as f32);
        let body = BodyDesc::dynamic().at(start + Vec3::X * 0.2).with(bar.clone());
        let body = world.add_named(format!("link {}", i + 1), body)?;
        let hinge = JointDesc::hinge(body, last).placed(&world, start, about)?;
        world.add_joint_named(format!("hinge {}", i + 1), hinge)?;
        last = Some(body);
    }
    let end = top + Vec3::X * (0.4 * hinges as f32);
    let heavy = BodyDesc::dynamic().at(end + Vec3::X * 0.5).with(Collider::cuboid(Vec3::ONE)).weighing(4.0 * ratio);
    let heavy = world.add_named("box", heavy)?;
    let hinge = JointDesc::hinge(heavy, last).placed(&world, end, about)?;
    world.add_joint_named("last hinge", hinge)?;
    Ok(world)
}

/// Height of a ragdoll.
const TALL: f32 = 1.77;

/// A person of fifteen bodies and fourteen joints, `TALL`, about `middle`. `number` is in all their names.
fn ragdoll(world: &mut World, number: u32, middle: Vec3, turn: Quat) -> Result<(), WorldError> {
    let place = |at: Vec3| middle + turn * (at - Vec3::Y * (0.5 * TALL));
    let part = |world: &mut World, name: &str, at: Vec3, shape: Collider| {
        let body = BodyDesc::dynamic().at(place(at)).turned(turn).with(shape.friction(0.6));
        world.add_named(format!("{name} {number}"), body)
    };
    // Joints along y: their x axis points down the limb.
    let down = turn * Quat::from_rotation_z(-FRAC_PI_2);
    let socket = |world: &mut World, name: &str, a, b: BodyHandle, at: Vec3, swing: f32| {
        let joint = JointDesc::ball(a, b).placed(world, place(at), down)?;
        let joint = joint.limited(JointAxis::Twist, -0.6, 0.6);
        let joint = joint.limited(JointAxis::SwingY, -swing, swing).limited(JointAxis::SwingZ, -swing, swing);
        world.add_joint_named(format!("{name} {number}"), joint)
    };
    // Hinges about the x axis of the body, each bending its own way.
    let hinge = |world: &mut World, name: &str, a, b: BodyHandle, at: Vec3, low: f32, high: f32| {
        let joint = JointDesc::hinge(a, b).placed(world, place(at), turn)?;
        world.add_joint_named(format!("{name} {number}"), joint.limited(JointAxis::Twist, low, high))
    };
    let pelvis = part(world, "pelvis", Vec3::Y * 1.02, Collider::cuboid(Vec3::new(0.34, 0.18, 0.2)))?;
    let chest = part(world, "chest", Vec3::Y * 1.31, Collider::cuboid(Vec3::new(0.4, 0.36, 0.22)))?;
    let head = part(world, "head", Vec3::Y * 1.65, Collider::sphere(0.12))?;
    socket(world, "waist", chest, pelvis, Vec3::Y * 1.12, 0.5)?;
    socket(world, "neck", head, chest, Vec3::Y * 1.51, 0.5)?;
    for (side, which) in [(-1.0, "left"), (1.0, "right")] {
        let named = |part: &str| format!("{which} {part}");
        let arm = |y: f32| Vec3::new(side * 0.28, y, 0.0);
        let leg = |y: f32| Vec3::new(side * 0.12, y, 0.0);
        // Limbs round off about their joints: into a gap between them others would be wedged.
        let upper_arm = part(world, &named("upper arm"), arm(1.3), Collider::capsule(0.16, 0.055))?;
        let lower_arm = part(world, &named("lower arm"), arm(0.984), Collider::capsule(0.156, 0.045))?;
        let hand = part(world, &named("hand"), arm(0.77), Collider::cuboid(Vec3::new(0.05, 0.1, 0.09)))?;
        let thigh = part(world, &named("thigh"), leg(0.7), Collider::capsule(0.22, 0.08))?;
        let shin = part(world, &named("shin"), leg(0.275), Collider::capsule(0.205, 0.055))?;
        let foot =
            part(world, &named("foot"), leg(0.035) + Vec3::Z * 0.06, Collider::cuboid(Vec3::new(0.1, 0.07, 0.24)))?;
        socket(world, &named("shoulder"), upper_arm, chest, arm(1.46), 1.4)?;
        hinge(world, &named("elbow"), lower_arm, upper_arm, arm(1.14), -2.3, 0.0)?;
        socket(world, &named("wrist"), hand, lower_arm, arm(0.828), 0.6)?;
        socket(world, &named("hip"), thigh, pelvis, leg(0.92), 1.0)?;
        hinge(world, &named("knee"), shin, thigh, leg(0.48), 0.0, 2.3)?;
        hinge(world, &named("ankle"), foot, shin, leg(0.07), -0.5, 0.5)?;
    }
    Ok(())
}

/// A pile of ragdolls that fall onto the floor, each with room to turn in.
pub fn ragdolls(count: u32) -> Result<World, WorldError> {
    let mut world = floor(0.6)?;
    let side = (count as f32 / 3.0).sqrt().ceil().max(1.0) as u32;
    let room = TALL + 0.1;
    for i in 0..count {
        let (x, z, y) = (i % side, i / side % side, i / (side * side));
        let turn = Quat::from_rotation_y(i as f32 * 2.4) * Quat::from_rotation_x(0.3 + 0.2 * (i % 7) as f32);
        let middle = Vec3::new(x as f32, y as f32 + 0.6, z as f32) * room;
        ragdoll(&mut world, i + 1, middle, turn)?;
    }
    Ok(world)
}

/// A rope of `segments` balls from a point, a box at its end.
pub fn rope(segments: u32) -> Result<World, WorldError> {
    let mut world = World::new();
    let top = Vec3::Y * (0.25 * segments as f32 + 2.0);
    let mut last = None;
    for i in 1..=segments {
        let end = i == segments;
        let shape = if end { Collider::cuboid(Vec3::splat(0.4)) } else { Collider::sphere(0.05) };
        let name = if end { "box".to_owned() } else { format!("segment {i}") };
        let body = world.add_named(name, BodyDesc::dynamic().at(top + Vec3::X * (0.25 * i as f32)).with(shape))?;
        let anchor = if last.is_none() { top } else { Vec3::ZERO };
        let rope = JointDesc::rope(body, last, 0.25).anchors(Vec3::ZERO, anchor);
        world.add_joint_named(format!("rope {i}"), rope)?;
        last = Some(body);
    }
    Ok(world)
}

/// Wheels on hinges with motors of growing torque, each with a weight on its rim.
pub fn motor(count: u32) -> Result<World, WorldError> {
    let mut world = World::new();
    for i in 0..count {
        let place = Vec3::new(i as f32 * 1.5, 2.0, 0.0);
        let wheel = BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::new(1.0, 1.0, 0.1)).density(100.0));
        let mut weight = Collider::sphere(0.1);
        weight.position = Vec3::X * 0.5;
        let wheel = world.add_named(format!("wheel {}", i + 1), wheel.with(weight))?;
        let drive = Drive::Speed { speed: 3.0, max: 10.0 * (i + 1) as f32 };
        let hinge = JointDesc::hinge(wheel, None).placed(&world, place, Quat::from_rotation_arc(Vec3::X, Vec3::Z))?;
        world.add_joint_named(format!("motor {}", i + 1), hinge.driven(JointAxis::Twist, drive))?;
    }
    Ok(world)
}

/// Doors that fall, each until its own limit.
pub fn hinge_limits(count: u32) -> Result<World, WorldError> {
    let mut world = World::new();
    for i in 0..count {
        let place = Vec3::new(0.0, 2.0, i as f32 * 0.7);
        let door = Collider::cuboid(Vec3::new(1.0, 0.1, 0.5));
        let door = BodyDesc::dynamic().at(place + Vec3::X * 0.5).with(door);
        let door = world.add_named(format!("door {}", i + 1), door)?;
        let hinge = JointDesc::hinge(door, None).placed(&world, place, Quat::from_rotation_arc(Vec3::X, Vec3::Z))?;
        let low = -FRAC_PI_2 * (i + 1) as f32 / (count + 1) as f32;
        world.add_joint_named(format!("hinge {}", i + 1), hinge.limited(JointAxis::Twist, low, 0.5))?;
    }
    Ok(world)
}

/// Lifts on sliders, each with a motor up to a limit of its own.
pub fn lifts(count: u32) -> Result<World, WorldError> {
    let mut world = World::new();
    for i in 0..count {
        let place = Vec3::new(1.5 * i as f32, 0.0, 0.0);
        let lift = Collider::cuboid(Vec3::new(1.0, 0.1, 1.0)).density(200.0);
        let lift = world.add_named(format!("lift {}", i + 1), BodyDesc::dynamic().at(place).with(lift))?;
        let up = Quat::from_rotation_arc(Vec3::X, Vec3::Y);
        let slider = JointDesc::slider(lift, None).placed(&world, place, up)?;
        let drive = Drive::Speed { speed: 1.0, max: 300.0 };
        let top = 1.0 + 0.5 * i as f32;
        let slider = slider.limited(JointAxis::X, 0.0, top).driven(JointAxis::X, drive);
        world.add_joint_named(format!("slider {}", i + 1), slider)?;
    }
    Ok(world)
}

/// Balls on rods, which begin above the points they fall around, each farther from the vertical.
pub fn rods(count: u32) -> Result<World, WorldError> {
    let mut world = World::new();
    for i in 0..count {
        let point = Vec3::new(0.0, 2.0, 0.6 * i as f32);
        let angle = 0.2 * (i + 1) as f32;
        let place = point + Vec3::new(angle.sin(), angle.cos(), 0.0);
        let ball = BodyDesc::dynamic().at(place).with(Collider::sphere(0.1));
        let ball = world.add_named(format!("ball {}", i + 1), ball)?;
        let rod = JointDesc::rod(ball, None, 1.0).anchors(Vec3::ZERO, point);
        world.add_joint_named(format!("rod {}", i + 1), rod)?;
    }
    Ok(world)
}

/// Limbs that stand on end and fall over as far as they may: joints put together axis by axis.
pub fn limbs(count: u32) -> Result<World, WorldError> {
    let mut world = World::new();
    for i in 0..count {
        let foot = Vec3::new(0.0, 1.0, 1.2 * i as f32);
        let limb = BodyDesc::dynamic().at(foot + Vec3::Y * 0.4).spinning(Vec3::new(0.0, 0.0, -0.5));
        let limb = world.add_named(format!("limb {}", i + 1), limb.with(Collider::capsule(0.3, 0.1)))?;
        let up = Quat::from_rotation_arc(Vec3::X, Vec3::Y);
        let mut joint = JointDesc::generic(limb, None).placed(&world, foot, up)?;
        for axis in [JointAxis::X, JointAxis::Y, JointAxis::Z, JointAxis::Twist] {
            joint = joint.locked(axis);
        }
        let most = FRAC_PI_2 * (i + 1) as f32 / (count + 1) as f32;
        let joint = joint.limited(JointAxis::SwingY, -0.2, 0.2).limited(JointAxis::SwingZ, -most, most);
        world.add_joint_named(format!("joint {}", i + 1), joint)?;
    }
    Ok(world)
}

/// A net of `side` by `side` balls, each joined to its neighbours, held at its border: 190 make 36,100 bodies and
/// 72,000 joints.
pub fn joint_grid(side: u32) -> Result<World, WorldError> {
    let mut world = World::new();
    let spacing = 0.25;
    let ball = Collider::sphere(0.1);
    let mut bodies = Vec::with_capacity((side * side) as usize);
    for x in 0..side {
        let (middle, turn) = sagging(x, side, spacing);
        for z in 0..side {
            let place = middle + Vec3::Z * (z as f32 * spacing);
            let body = world.add(BodyDesc::dynamic().at(place).turned(turn).with(ball.clone()))?;
            let half = spacing * 0.5;
            for (there, back, way) in [(x > 0, side, Vec3::X), (z > 0, 1, Vec3::Z)] {
                if there {
                    let other: BodyHandle = bodies[bodies.len() - back as usize];
                    world.add_joint(JointDesc::ball(body, other).anchors(way * -half, way * half))?;
                }
            }
            if x == 0 || x + 1 == side {
                world.add_joint(JointDesc::ball(body, None).anchors(Vec3::ZERO, place))?;
            }
            bodies.push(body);
        }
    }
    if let Some(middle) = bodies.get((side / 2 * side + side / 2) as usize) {
        world.set_name(*middle, "middle")?;
    }
    Ok(world)
}
