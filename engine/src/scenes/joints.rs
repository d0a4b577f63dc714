//! Joints of scene files.

use super::file::{rotation, vector};
use super::json::{Checked, Object, Problem, array, kind_of, one_of, single, switch, text};
use crate::glam::{Quat, Vec3};
use crate::world::joint::{Axis, Drive, Hold, JointAxis};
use crate::world::{JointDesc, JointHandle, World};
use serde_json::Value;

/// What files call the coordinates.
pub const AXES: [(&str, JointAxis); 7] = [
    ("x", JointAxis::X),
    ("y", JointAxis::Y),
    ("z", JointAxis::Z),
    ("twist", JointAxis::Twist),
    ("swing_y", JointAxis::SwingY),
    ("swing_z", JointAxis::SwingZ),
    ("distance", JointAxis::Distance),
];

/// What files call a coordinate.
pub fn word(axis: JointAxis) -> &'static str {
    AXES[axis as usize].0
}

/// A number, or null for none.
fn open(value: &Value, without: f32) -> Checked<f32> {
    if value.is_null() { Ok(without) } else { single(value) }
}

fn drive(value: &Value) -> Checked<Drive> {
    let mut o = Object::new(value)?;
    let speed = o.get("speed", single)?;
    let target = o.get("target", single)?;
    let stiffness = o.get("stiffness", single)?;
    let damping = o.get("damping", single)?;
    let max = o.get("max", single)?.unwrap_or(f32::INFINITY);
    o.finish()?;
    match (speed, stiffness.or(damping)) {
        (Some(_), Some(_)) => Err(Problem::new(" has a speed and a stiffness; it must have one of them")),
        (Some(speed), None) => Ok(Drive::Speed { speed, max }),
        (None, Some(_)) => {
            let (stiffness, damping) = (stiffness.unwrap_or(0.0), damping.unwrap_or(0.0));
            Ok(Drive::Spring { target: target.unwrap_or(0.0), stiffness, damping, max })
        }
        (None, None) => match target {
            Some(target) => Ok(Drive::Position { target, max }),
            None => Err(Problem::new(" needs one of: speed, target, stiffness")),
        },
    }
}

/// What a joint does to one coordinate: "free", "locked", or an object with `at`, `limits`, `drive`.
fn axis(value: &Value) -> Checked<Axis> {
    if value.is_string() {
        let hold = one_of(value, &[("free", Hold::Free), ("locked", Hold::At(0.0))])?;
        return Ok(Axis { hold, drive: None });
    }
    if !value.is_object() {
        return Err(kind_of(value, "\"free\", \"locked\" or an object"));
    }
    let mut o = Object::new(value)?;
    let at = o.get("at", single)?;
    let limits = o.get("limits", |v| {
        let items = super::json::list(v)?;
        let [low, high] = items.as_slice() else { return Err(Problem::new(" must have 2 values")) };
        Ok((open(low, f32::NEG_INFINITY).map_err(|p| p.at(0))?, open(high, f32::INFINITY).map_err(|p| p.at(1))?))
    })?;
    let drive = o.get("drive", drive)?;
    o.finish()?;
    let hold = match (at, limits) {
        (Some(_), Some(_)) => return Err(Problem::new(" has a place and limits; it must have one of them")),
        (Some(at), None) => Hold::At(at),
        (None, Some((low, high))) => Hold::Between(low, high),
        (None, None) => Hold::Free,
    };
    Ok(Axis { hold, drive })
}

/// A joint that was added.
#[non_exhaustive]
pub struct Added {
    pub name: Option<String>,
    pub joint: JointHandle,
    /// What its bodies are called.
    pub bodies: Vec<String>,
}

/// Adds a joint to the world.
pub fn add(value: &Value, world: &mut World) -> Checked<Added> {
    let mut o = Object::new(value)?;
    let name = o.get("name", text)?;
    let known = |v: &Value| {
        let name = text(v)?;
        world.find(&name).ok_or_else(|| Problem::new(format!(" is `{name}`; there is no body of that name")))
    };
    let a = o.need("a", known)?;
    let b = o.get("b", known)?;
    let types = ["ball", "hinge", "slider", "fixed", "rod", "rope", "spring", "generic"].map(|t| (t, t));
    let mut desc = match o.need("type", |v| one_of(v, &types))? {
        "ball" => JointDesc::ball(a, b),
        "hinge" => JointDesc::hinge(a, b),
        "slider" => JointDesc::slider(a, b),
        "fixed" => JointDesc::fixed(a, b),
        "rod" => JointDesc::rod(a, b, o.need("length", single)?),
        "rope" => JointDesc::rope(a, b, o.need("length", single)?),
        "spring" => {
            let (rest, stiffness) = (o.need("length", single)?, o.need("stiffness", single)?);
            JointDesc::spring(a, b, rest, stiffness, o.get("damping", single)?.unwrap_or(0.0))
        }
        _ => JointDesc::generic(a, b),
    };
    let frame = o.get("frame", rotation)?;
    let along = o.get("axis", vector)?;
    if let Some(point) = o.get("point", vector)? {
        let along: Option<Checked<Quat>> = along.map(|axis| {
            let axis = axis.try_normalize().ok_or_else(|| Problem::new(" has no direction").inside("axis"))?;
            Ok(Quat::from_rotation_arc(Vec3::X, axis))
        });
        let frame = frame.map_or_else(|| along.transpose(), |frame| Ok(Some(frame)))?;
        desc = desc.placed(world, point, frame.unwrap_or(Quat::IDENTITY))?;
    } else if frame.is_some() || along.is_some() {
        return Err(Problem::new(" is missing: a frame or an axis is at a point").inside("point"));
    }
    desc.anchor_a = o.get("anchor_a", vector)?.unwrap_or(desc.anchor_a);
    desc.anchor_b = o.get("anchor_b", vector)?.unwrap_or(desc.anchor_b);
    desc.frame_a = o.get("frame_a", rotation)?.unwrap_or(desc.frame_a);
    desc.frame_b = o.get("frame_b", rotation)?.unwrap_or(desc.frame_b);
    for (word, which) in AXES {
        if let Some(does) = o.get(word, axis)? {
            desc.axes[which as usize] = does;
        }
    }
    if let Some([stiffness, damping]) = o.get("stiff", |v| array::<f32, 2>(v, single))? {
        desc = desc.stiff(stiffness, damping);
    }
    if let Some(friction) = o.get("friction", |v| {
        if v.is_array() { array::<f32, 7>(v, single) } else { Ok(desc.clone().friction(single(v)?).friction) }
    })? {
        desc.friction = friction;
    }
    desc.max_force = o.get("max_force", single)?.unwrap_or(desc.max_force);
    desc.max_torque = o.get("max_torque", single)?.unwrap_or(desc.max_torque);
    desc.collide = o.get("collide", switch)?.unwrap_or(desc.collide);
    let broken = o.get("broken", switch)?.unwrap_or(false);
    o.finish()?;
    let joint = world.add_joint(desc)?;
    if broken {
        world.break_joint(joint)?;
    }
    let bodies = ["a", "b"].into_iter().filter_map(|end| Some(value.get(end)?.as_str()?.to_owned()));
    Ok(Added { name, joint, bodies: bodies.collect() })
}
