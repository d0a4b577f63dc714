//! Scenes from JSON files.
//!
#![doc = include_str!("README.md")]

pub use super::budget::Budget;
pub use super::export::{to_text, write};
use super::json::{
    Checked, Object, Problem, Unique, array, each, integer, kind_of, list, number, one_of, single, switch, text, within,
};
use super::{Action, DT, Scene, SceneError};
use super::{joints, soft_file};
use crate::glam::{Quat, Vec3};
use crate::render::Camera;
use crate::world::{BodyDesc, BodyHandle, BodyKind, Collider, Combine, ContactReports, Hull, Shape, World, WorldError};
use crate::{Settings, SettingsError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Most bytes a file may have.
pub const MOST_BYTES: u64 = 64 << 20;

/// Reads a scene from a file, within [`Budget::default`].
pub fn read(path: impl AsRef<Path>) -> Result<Scene, SceneError> {
    read_within(path, &Budget::default())
}

/// Reads a scene from a file that may have so much.
pub fn read_within(path: impl AsRef<Path>, budget: &Budget) -> Result<Scene, SceneError> {
    let path = path.as_ref();
    let file = path.display().to_string();
    let wrong = |problem: String| SceneError::File { file: file.clone(), problem };
    let mut text = String::new();
    // One more than allowed: a pipe or a device does not say how long it is.
    let read = std::fs::File::open(path).and_then(|f| f.take(MOST_BYTES + 1).read_to_string(&mut text));
    if read.map_err(|e| wrong(e.to_string()))? as u64 > MOST_BYTES {
        return Err(wrong(format!("a scene has at most {MOST_BYTES} bytes")));
    }
    let name = path.file_stem().map_or_else(|| file.clone(), |n| n.to_string_lossy().into_owned());
    parse_within(&text, &name, budget).map_err(wrong)
}

/// Reads a scene from the text of a file, within [`Budget::default`]. An error is what is wrong, with its place.
pub fn parse(text: &str, name: &str) -> Result<Scene, String> {
    parse_within(text, name, &Budget::default())
}

/// Reads a scene from the text of a file that may have so much.
pub fn parse_within(text: &str, name: &str, budget: &Budget) -> Result<Scene, String> {
    let Unique(value) = serde_json::from_str(text).map_err(|e| e.to_string())?;
    scene(&value, name, budget).map_err(|problem| problem.to_string())
}

impl From<WorldError> for Problem {
    fn from(error: WorldError) -> Self {
        match error {
            WorldError::Collider { index, error } => Self::from(*error).at(index).inside("colliders"),
            WorldError::Axis { axis, error } => Self::from(*error).inside(joints::word(axis)),
            WorldError::NotFinite { field, .. }
            | WorldError::NotUnit { field, .. }
            | WorldError::OutOfRange { field, .. } => {
                // "sphere radius": the place says what has the radius.
                let last = field.rsplit(' ').next().unwrap_or(field);
                Self::new(&error.to_string()[field.len()..]).inside(last)
            }
            other => Self::new(format!(": {other}")),
        }
    }
}

pub(super) fn vector(value: &Value) -> Checked<Vec3> {
    array::<f32, 3>(value, single).map(Vec3::from)
}

pub(super) fn rotation(value: &Value) -> Checked<Quat> {
    if value.is_array() {
        return array::<f32, 4>(value, single).map(Quat::from_array);
    }
    if !value.is_object() {
        return Err(kind_of(value, "[x, y, z, w] or { axis, degrees }"));
    }
    let mut o = Object::new(value)?;
    let axis = o.need("axis", vector)?;
    let degrees = o.need("degrees", single)?;
    o.finish()?;
    let axis = axis.try_normalize().ok_or_else(|| Problem::new(" has no direction").inside("axis"))?;
    Ok(Quat::from_axis_angle(axis, degrees.to_radians()))
}

fn collider(value: &Value) -> Checked<Collider> {
    let mut o = Object::new(value)?;
    // A shape is a word here, its own fields below, and a row in the table of the schema.
    let word = o.need("shape", |v| {
        let words = ["sphere", "box", "capsule", "cylinder", "cone", "hull", "half_space"];
        one_of(v, &words.map(|word| (word, word)))
    })?;
    let shape = match word {
        "sphere" => Shape::Sphere { radius: o.need("radius", single)? },
        "box" => Shape::Box { half: o.need("half", vector)? },
        "capsule" => {
            let half_height = o.need("half_height", single)?;
            Shape::Capsule { half_height, radius: o.need("radius", single)? }
        }
        "cylinder" => {
            let half_height = o.need("half_height", single)?;
            Shape::Cylinder { half_height, radius: o.need("radius", single)? }
        }
        "cone" => {
            let half_height = o.need("half_height", single)?;
            Shape::Cone { half_height, radius: o.need("radius", single)? }
        }
        "hull" => o.need("points", |v| {
            let points = each(v, vector)?;
            Ok(Shape::ConvexHull(Arc::new(Hull::new(&points)?)))
        })?,
        _ => Shape::HalfSpace,
    };
    let mut c = Collider::from(shape);
    c.position = o.get("position", vector)?.unwrap_or(c.position);
    c.rotation = o.get("rotation", rotation)?.unwrap_or(c.rotation);
    c.density = o.get("density", single)?.unwrap_or(c.density);
    if let Some(mu) = o.get("friction", single)? {
        (c.friction_static, c.friction_dynamic) = (mu, mu);
    }
    c.friction_static = o.get("friction_static", single)?.unwrap_or(c.friction_static);
    c.friction_dynamic = o.get("friction_dynamic", single)?.unwrap_or(c.friction_dynamic);
    let rules = Combine::ALL.map(|rule| (super::export::combine_word(rule), rule));
    c.friction_combine = o.get("friction_combine", |v| one_of(v, &rules))?.unwrap_or(c.friction_combine);
    c.friction_rolling = o.get("friction_rolling", single)?.unwrap_or(c.friction_rolling);
    c.friction_torsional = o.get("friction_torsional", single)?.unwrap_or(c.friction_torsional);
    c.restitution = o.get("restitution", single)?.unwrap_or(c.restitution);
    c.restitution_combine = o.get("restitution_combine", |v| one_of(v, &rules))?.unwrap_or(c.restitution_combine);
    c.surface_velocity = o.get("surface_velocity", vector)?.unwrap_or(c.surface_velocity);
    c.surface_spin = o.get("surface_spin", vector)?.unwrap_or(c.surface_spin);
    c.sensor = o.get("sensor", switch)?.unwrap_or(c.sensor);
    c.reports = o.get("reports", reports)?.unwrap_or(c.reports);
    c.report_impulse = o.get("report_impulse", single)?.unwrap_or(c.report_impulse);
    c.groups = o.get("groups", integer)?.unwrap_or(c.groups);
    c.mask = o.get("mask", integer)?.unwrap_or(c.mask);
    o.finish()?;
    Ok(c)
}

/// Words for the events of contacts.
fn reports(value: &Value) -> Checked<ContactReports> {
    let words = each(value, |v| one_of(v, &[("begin", 0), ("persist", 1), ("end", 2)]))?;
    let [begin, persist, end] = [0, 1, 2].map(|word| words.contains(&word));
    Ok(ContactReports { begin, persist, end })
}

/// Most copies of a body, whatever the budget.
const MOST_COPIES: usize = 1_000_000;

/// Count and distance along each axis.
type Copies = ([u32; 3], Vec3);

fn copies(value: &Value) -> Checked<Copies> {
    let mut o = Object::new(value)?;
    let count: [u32; 3] = o.need("count", |v| array(v, integer))?;
    let step = o.need("step", vector)?;
    o.finish()?;
    let total = count.iter().try_fold(1usize, |n, c| n.checked_mul(*c as usize));
    if !total.is_some_and(|n| (1..=MOST_COPIES).contains(&n)) {
        let problem = format!(" is {count:?}; there must be 1 to {MOST_COPIES} copies");
        return Err(Problem::new(problem).inside("count"));
    }
    Ok((count, step))
}

struct Body {
    name: Option<String>,
    desc: BodyDesc,
    copies: Option<Copies>,
}

fn body(value: &Value) -> Checked<Body> {
    let mut o = Object::new(value)?;
    let kinds = [("dynamic", BodyKind::Dynamic), ("kinematic", BodyKind::Kinematic), ("static", BodyKind::Static)];
    let name = o.get("name", text)?;
    let desc = BodyDesc {
        kind: o.get("kind", |v| one_of(v, &kinds))?.unwrap_or_default(),
        position: o.get("position", vector)?.unwrap_or_default(),
        rotation: o.get("rotation", rotation)?.unwrap_or_default(),
        linear_velocity: o.get("linear_velocity", vector)?.unwrap_or_default(),
        angular_velocity: o.get("angular_velocity", vector)?.unwrap_or_default(),
        gravity_scale: o.get("gravity_scale", single)?,
        mass: o.get("mass", single)?,
        inertia: o.get("inertia", vector)?,
        force: o.get("force", vector)?.unwrap_or_default(),
        torque: o.get("torque", vector)?.unwrap_or_default(),
        linear_damping: o.get("linear_damping", single)?.unwrap_or_default(),
        angular_damping: o.get("angular_damping", single)?.unwrap_or_default(),
        continuous: o.get("continuous", switch)?.unwrap_or_default(),
        colliders: o.get("colliders", |v| each(v, collider))?.unwrap_or_default(),
    };
    let copies = o.get("copies", copies)?;
    o.finish()?;
    desc.check()?;
    Ok(Body { name, desc, copies })
}

fn settings(value: &Value) -> Checked<Settings> {
    let mut values = Vec::new();
    for (name, value) in Object::new(value)?.fields() {
        let number = value.as_bool().map_or_else(|| number(value), |on| Ok(f64::from(u8::from(on))));
        values.push((name.as_str(), number.map_err(|p| p.inside(name))?));
    }
    let mut found = Settings::default();
    let set = found.set_all(values).and_then(|()| found.check());
    match set {
        Ok(()) => Ok(found),
        Err(SettingsError::Value { name, value, must }) => {
            Err(Problem::new(format!(" is {value}; it must be {must}")).inside(name))
        }
        Err(SettingsError::Unknown { name, solver, known }) => {
            let text = format!(": there is no such setting with solver {solver}; there are: {}", known.join(", "));
            Err(Problem::new(text).inside(&name))
        }
        // What the world has is looked at when it is simulated.
        Err(error @ (SettingsError::Unsupported { .. } | SettingsError::CommonSubsteps)) => {
            Err(Problem::new(format!(": {error}")))
        }
    }
}

/// What `later` may name.
#[derive(Default)]
struct Names {
    /// Bodies, and what may move them.
    bodies: BTreeMap<String, BodyKind>,
    /// Joints.
    joints: BTreeMap<String, ()>,
    /// Joints of a body.
    joints_of: BTreeMap<String, Vec<String>>,
}

/// Adds what goes by a name.
fn called<T>(names: &mut BTreeMap<String, T>, name: &str, what: &str, value: T) -> Checked<()> {
    match names.insert(name.to_owned(), value) {
        None => Ok(()),
        Some(_) => Err(Problem::new(format!(" is `{name}`, which another {what} is called")).inside("name")),
    }
}

/// The name of something that is there.
fn known<T>(names: &BTreeMap<String, T>, what: &str, value: &Value) -> Checked<String> {
    let name = text(value)?;
    if names.contains_key(&name) {
        return Ok(name);
    }
    Err(Problem::new(format!(" is `{name}`; there is no {what} of that name then")))
}

/// Words for what happens.
const ACTIONS: [&str; 10] =
    ["add", "remove", "pose", "velocity", "impulse", "force", "target", "break", "repair", "gravity"];

fn later(value: &Value, names: &mut Names) -> Checked<(f32, Action)> {
    let mut o = Object::new(value)?;
    let at = o.need("at", |v| within(v, 0.0, true, 1e6))?;
    let given: Vec<_> = ACTIONS.into_iter().filter(|a| o.fields().contains_key(*a)).collect();
    let &[word] = given.as_slice() else {
        o.allow(&ACTIONS);
        o.finish()?;
        return Err(Problem::new(format!(" needs one of: {}", ACTIONS.join(", "))));
    };
    let action = o.need(word, |v| action(word, v, names))?;
    o.finish()?;
    Ok((at, action))
}

fn action(word: &str, value: &Value, names: &mut Names) -> Checked<Action> {
    match word {
        "add" => {
            let Body { name, desc, copies } = body(value)?;
            if copies.is_some() {
                return Err(Problem::new(" is not for bodies that come later").inside("copies"));
            }
            if let Some(name) = &name {
                called(&mut names.bodies, name, "body", desc.kind)?;
            }
            return Ok(Action::Add { name, body: desc });
        }
        "remove" => {
            let body = known(&names.bodies, "body", value)?;
            names.bodies.remove(&body);
            // Its joints go with it. Those that are gone already are listed still.
            for joint in names.joints_of.remove(&body).unwrap_or_default() {
                names.joints.remove(&joint);
            }
            return Ok(Action::Remove { body });
        }
        "break" => return known(&names.joints, "joint", value).map(|joint| Action::Break { joint }),
        "repair" => return known(&names.joints, "joint", value).map(|joint| Action::Repair { joint }),
        "gravity" => return vector(value).map(|gravity| Action::Gravity { gravity }),
        _ => {}
    }
    let mut o = Object::new(value)?;
    let body = o.need("body", |v| known(&names.bodies, "body", v))?;
    let action = match word {
        "pose" | "target" => {
            let position = o.need("position", vector)?;
            let rotation = o.get("rotation", rotation)?.unwrap_or_default();
            if (rotation.length() - 1.0).abs() >= 1e-3 {
                return Err(Problem::new(" is not a unit quaternion").inside("rotation"));
            }
            if word == "pose" {
                Action::Pose { body, position, rotation }
            } else {
                if names.bodies.get(&body) != Some(&BodyKind::Kinematic) {
                    return Err(Problem::new(format!(" is `{body}`; a target is for kinematic bodies")).inside("body"));
                }
                let seconds = o.get("seconds", |v| within(v, 0.0, true, 1e6))?.unwrap_or(0.0);
                Action::Target { body, position, rotation, seconds }
            }
        }
        "velocity" => {
            let linear = o.need("linear", vector)?;
            Action::Velocity { body, linear, angular: o.get("angular", vector)?.unwrap_or_default() }
        }
        "impulse" => {
            let linear = o.need("linear", vector)?;
            let angular = o.get("angular", vector)?.unwrap_or_default();
            Action::Impulse { body, linear, angular, point: o.get("point", vector)? }
        }
        _ => {
            let force = o.need("force", vector)?;
            Action::Force { body, force, torque: o.get("torque", vector)?.unwrap_or_default() }
        }
    };
    o.finish()?;
    Ok(action)
}

/// Adds a body and its copies to the world.
fn add(world: &mut World, body: &Body, budget: &Budget) -> Checked<BodyHandle> {
    let (count, step) = body.copies.unwrap_or(([1; 3], Vec3::ZERO));
    let total = count.iter().map(|c| *c as usize).product::<usize>();
    budget.check(world, total, body.desc.colliders.len()).map_err(Problem::new)?;
    let mut first = None;
    for (x, y, z) in (0..count[0]).flat_map(|x| (0..count[1]).flat_map(move |y| (0..count[2]).map(move |z| (x, y, z))))
    {
        let mut desc = body.desc.clone();
        // A sum with 0 would make 0 of -0.
        if body.copies.is_some() {
            desc.position += step * Vec3::new(x as f32, y as f32, z as f32);
        }
        let handle = world.add(desc)?;
        first.get_or_insert(handle);
    }
    first.ok_or_else(|| Problem::new(" has no copies"))
}

fn scene(value: &Value, name: &str, budget: &Budget) -> Checked<Scene> {
    let mut o = Object::new(value)?;
    let name = o.get("name", text)?.unwrap_or_else(|| name.to_owned());
    let gravity = o.get("gravity", vector)?;
    let seconds = o.get("seconds", |v| within(v, 0.0, false, 1e6))?.unwrap_or(10.0);
    let dt = o.get("dt", |v| within(v, crate::LEAST_TIME_STEP, true, 1.0))?.unwrap_or(DT);
    let settings = o.get("settings", settings)?.unwrap_or_default();
    let mut world = World::new();
    if let Some(gravity) = gravity {
        world.set_gravity(gravity)?;
    }
    let mut names = Names::default();
    o.need("bodies", |v| {
        each(v, |v| {
            let body = body(v)?;
            let handle = add(&mut world, &body, budget)?;
            if let Some(name) = &body.name {
                called(&mut names.bodies, name, "body", body.desc.kind)?;
                world.set_name(handle, name)?;
            }
            Ok(())
        })
    })?;
    o.get("joints", |v| {
        each(v, |v| {
            let joints::Added { name, joint, bodies } = joints::add(v, &mut world)?;
            if let Some(name) = name {
                called(&mut names.joints, &name, "joint", ())?;
                for body in bodies {
                    names.joints_of.entry(body).or_default().push(name.clone());
                }
                world.set_joint_name(joint, &name)?;
            }
            Ok(())
        })
    })?;
    o.get("soft", |v| each(v, |v| soft_file::add(v, &mut world, budget)))?;
    let later = o.get("later", |v| {
        // Names are looked up in the order in which things happen.
        let mut order: Vec<(usize, &Value)> = list(v)?.iter().enumerate().collect();
        let at = |v: &Value| v.get("at").and_then(Value::as_f64).unwrap_or(0.0);
        order.sort_by(|a, b| at(a.1).total_cmp(&at(b.1)));
        order.into_iter().map(|(i, v)| later(v, &mut names).map_err(|p| p.at(i))).collect::<Checked<Vec<_>>>()
    })?;
    o.finish()?;
    let camera = Camera::of(&world);
    let later = later.unwrap_or_default();
    Ok(Scene { name, world, later, settings, dt, seconds, camera })
}
