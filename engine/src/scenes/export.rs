//! Scenes as the text of files: a body, a joint, an action a line. What is read back has the same bits.

use super::joints::{AXES, word};
use super::soft_file;
use super::{Action, DT, Scene, SceneError};
use crate::Settings;
use crate::glam::{Quat, Vec3};
use crate::world::joint::{Axis, Drive, Hold, JointAxis};
use crate::world::{BodyDesc, BodyHandle, BodyKind, Collider, Combine, ContactReports, Edit, JointDesc, Shape};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Writes a scene to a file that [`super::file::read`] reads: see [`to_text`].
pub fn write(scene: &Scene, path: impl AsRef<Path>) -> Result<(), SceneError> {
    let path = path.as_ref();
    let wrong = |e: std::io::Error| SceneError::File { file: path.display().to_string(), problem: e.to_string() };
    std::fs::write(path, to_text(scene)?).map_err(wrong)
}

/// A scene as the text of a file, from which the same world is made, to the bit but for the corners of hulls, which are
/// written around their centre of mass and may differ in the last one. Bodies are as they were described; what was said
/// to them since is an error, but for forces. The camera is not written.
pub fn to_text(scene: &Scene) -> Result<String, SceneError> {
    let Scene { name, world, later, settings, dt, seconds, camera: _ } = scene;
    let unwritable = |problem: String| SceneError::Unwritable { scene: name.clone(), problem };
    if let Some((slot, _)) =
        world.edits().iter().find(|(_, edit)| !matches!(edit, Edit::Body | Edit::Force | Edit::Damping))
    {
        return Err(unwritable(format!("body {slot} was told something since it was described")));
    }
    let called = names(scene);
    let mut bodies = Vec::new();
    for handle in world.handles() {
        let mut desc = world.desc(handle)?.clone();
        (desc.force, desc.torque) = world.force(handle)?;
        (desc.linear_damping, desc.angular_damping) = world.damping(handle)?;
        bodies.push(body(called.get(&handle), &desc));
    }
    let mut joints = Vec::new();
    for handle in world.joints() {
        let broken = world.is_broken(handle)?;
        joints.push(joint(world.joint_name(handle), world.joint(handle)?, broken, &called));
    }
    let mut file = vec![format!("\"name\": {}", text(name))];
    file.push(format!("\"gravity\": {}", vector(world.gravity())));
    file.push(format!("\"seconds\": {}", number(*seconds)));
    if *dt != DT {
        file.push(format!("\"dt\": {}", number(*dt)));
    }
    let changed = changed(settings);
    if !changed.is_empty() {
        file.push(format!("\"settings\": {}", object(changed)));
    }
    let mut soft = Vec::new();
    for handle in world.soft_bodies() {
        soft.push(soft_file::write(world, handle, &called)?);
    }
    let later = later.iter().map(|(at, act)| action(*at, act)).collect();
    for (key, lines) in [("bodies", bodies), ("joints", joints), ("soft", soft), ("later", later)] {
        let lines: Vec<String> = lines;
        if key == "bodies" || !lines.is_empty() {
            file.push(format!("\"{key}\": [\n    {}\n  ]", lines.join(",\n    ")));
        }
    }
    Ok(format!("{{\n  {}\n}}\n", file.join(",\n  ")))
}

/// What bodies are called in the file: those that have no name and a joint or an attachment get one.
fn names(scene: &Scene) -> BTreeMap<BodyHandle, String> {
    let mut called: BTreeMap<BodyHandle, String> =
        scene.world.names().map(|(name, body)| (body, name.to_owned())).collect();
    let added = scene.later.iter().filter_map(|(_, action)| match action {
        Action::Add { name, .. } => name.clone(),
        _ => None,
    });
    let taken: BTreeSet<String> = scene.world.names().map(|(name, _)| name.to_owned()).chain(added).collect();
    let joints = scene.world.joints().filter_map(|joint| scene.world.joint(joint).ok());
    let held = scene.world.soft_store().attachments().filter_map(|(_, desc)| desc.body);
    for body in joints.flat_map(|desc| [Some(desc.body_a), desc.body_b]).flatten().chain(held) {
        called.entry(body).or_insert_with(|| {
            let mut name = format!("body {}", body.index());
            while taken.contains(&name) {
                name.push('+');
            }
            name
        });
    }
    called
}

/// Settings that are not the defaults: the solver if it is another one, and what is not as that solver has it.
fn changed(settings: &Settings) -> Fields {
    let mut usual = Settings::default();
    let mut changed = Fields::new();
    for (name, value) in settings.named() {
        let default = usual.named().find(|(other, _)| *other == name);
        if default != Some((name, value)) {
            changed.push((name, number(value as f32)));
        }
        if name == "solver" && usual.set(name, value).is_err() {
            // A solver that has no number is told by all of its values.
            usual = Settings::default();
        }
    }
    changed
}

/// Fields of an object, and their values as they are written.
pub(super) type Fields = Vec<(&'static str, String)>;

pub(super) fn object(fields: Fields) -> String {
    let fields: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
    if fields.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", fields.join(", ")) }
}

/// A number with as few digits as tell it apart from others when it is read in double precision.
pub(super) fn number(v: f32) -> String {
    if v == 0.0 {
        // Without a point it would be read as a whole number, which has no sign.
        return if v.is_sign_negative() { "-0.0" } else { "0" }.to_owned();
    }
    let short = if (1e-5..1e9).contains(&v.abs()) { v.to_string() } else { format!("{v:e}") };
    let same = short.parse::<f64>().is_ok_and(|wide| wide as f32 == v);
    if same { short } else { f64::from(v).to_string() }
}

pub(super) fn list(values: &[f32]) -> String {
    let values: Vec<String> = values.iter().map(|v| number(*v)).collect();
    format!("[{}]", values.join(", "))
}

pub(super) fn vector(v: Vec3) -> String {
    list(&v.to_array())
}

fn rotation(q: Quat) -> String {
    list(&q.to_array())
}

pub(super) fn text(v: &str) -> String {
    Value::from(v).to_string()
}

/// A field that is left out when it has its default: -0 is another than 0.
pub(super) fn put<T>(fields: &mut Fields, key: &'static str, value: T, default: T, write: impl Fn(T) -> String) {
    let (value, default) = (write(value), write(default));
    if value != default {
        fields.push((key, value));
    }
}

/// What files call a rule.
pub fn combine_word(rule: Combine) -> &'static str {
    match rule {
        Combine::GeometricMean => "geometric_mean",
        Combine::Average => "average",
        Combine::Min => "min",
        Combine::Multiply => "multiply",
        Combine::Max => "max",
    }
}

fn collider(c: &Collider) -> String {
    let tall = |shape: &str, half_height: f32, radius: f32| {
        vec![("shape", text(shape)), ("half_height", number(half_height)), ("radius", number(radius))]
    };
    let shape = match &c.shape {
        Shape::Sphere { radius } => vec![("shape", text("sphere")), ("radius", number(*radius))],
        Shape::Box { half } => vec![("shape", text("box")), ("half", vector(*half))],
        Shape::Capsule { half_height, radius } => tall("capsule", *half_height, *radius),
        Shape::Cylinder { half_height, radius } => tall("cylinder", *half_height, *radius),
        Shape::Cone { half_height, radius } => tall("cone", *half_height, *radius),
        Shape::ConvexHull(hull) => {
            let points: Vec<String> = hull.vertices().map(vector).collect();
            vec![("shape", text("hull")), ("points", format!("[{}]", points.join(", ")))]
        }
        Shape::HalfSpace => vec![("shape", text("half_space"))],
    };
    let mut fields = shape;
    let usual = Collider::from(c.shape.clone());
    put(&mut fields, "position", c.position, usual.position, vector);
    put(&mut fields, "rotation", c.rotation, usual.rotation, rotation);
    put(&mut fields, "density", c.density, usual.density, number);
    if c.friction_static == c.friction_dynamic {
        put(&mut fields, "friction", c.friction_static, usual.friction_static, number);
    } else {
        put(&mut fields, "friction_static", c.friction_static, usual.friction_static, number);
        put(&mut fields, "friction_dynamic", c.friction_dynamic, usual.friction_dynamic, number);
    }
    let rule = |rule: Combine| text(combine_word(rule));
    put(&mut fields, "friction_combine", c.friction_combine, usual.friction_combine, rule);
    put(&mut fields, "friction_rolling", c.friction_rolling, usual.friction_rolling, number);
    put(&mut fields, "friction_torsional", c.friction_torsional, usual.friction_torsional, number);
    put(&mut fields, "restitution", c.restitution, usual.restitution, number);
    put(&mut fields, "restitution_combine", c.restitution_combine, usual.restitution_combine, rule);
    put(&mut fields, "surface_velocity", c.surface_velocity, usual.surface_velocity, vector);
    put(&mut fields, "surface_spin", c.surface_spin, usual.surface_spin, vector);
    put(&mut fields, "sensor", c.sensor, usual.sensor, |v| v.to_string());
    put(&mut fields, "reports", c.reports, usual.reports, reports);
    put(&mut fields, "report_impulse", c.report_impulse, usual.report_impulse, number);
    put(&mut fields, "groups", c.groups, usual.groups, |v| v.to_string());
    put(&mut fields, "mask", c.mask, usual.mask, |v| v.to_string());
    object(fields)
}

fn reports(reports: ContactReports) -> String {
    let ContactReports { begin, persist, end } = reports;
    let words = [(begin, "begin"), (persist, "persist"), (end, "end")];
    let words: Vec<_> = words.into_iter().filter(|(asked, _)| *asked).map(|(_, word)| text(word)).collect();
    format!("[{}]", words.join(", "))
}

fn body(name: Option<&String>, desc: &BodyDesc) -> String {
    let usual = BodyDesc::default();
    let mut fields: Fields = name.map(|name| ("name", text(name))).into_iter().collect();
    let kind = |kind: BodyKind| match kind {
        BodyKind::Dynamic => text("dynamic"),
        BodyKind::Kinematic => text("kinematic"),
        BodyKind::Static => text("static"),
    };
    put(&mut fields, "kind", desc.kind, usual.kind, kind);
    put(&mut fields, "position", desc.position, usual.position, vector);
    put(&mut fields, "rotation", desc.rotation, usual.rotation, rotation);
    put(&mut fields, "linear_velocity", desc.linear_velocity, usual.linear_velocity, vector);
    put(&mut fields, "angular_velocity", desc.angular_velocity, usual.angular_velocity, vector);
    fields.extend(desc.gravity_scale.map(|v| ("gravity_scale", number(v))));
    fields.extend(desc.mass.map(|v| ("mass", number(v))));
    fields.extend(desc.inertia.map(|v| ("inertia", vector(v))));
    put(&mut fields, "force", desc.force, usual.force, vector);
    put(&mut fields, "torque", desc.torque, usual.torque, vector);
    put(&mut fields, "linear_damping", desc.linear_damping, usual.linear_damping, number);
    put(&mut fields, "angular_damping", desc.angular_damping, usual.angular_damping, number);
    put(&mut fields, "continuous", desc.continuous, usual.continuous, |v| v.to_string());
    if !desc.colliders.is_empty() {
        let colliders: Vec<String> = desc.colliders.iter().map(collider).collect();
        fields.push(("colliders", format!("[{}]", colliders.join(", "))));
    }
    object(fields)
}

/// The type that is nearest to a joint: its word, what it needs to be said, and what it is by itself.
fn nearest(desc: &JointDesc) -> (&'static str, Fields, JointDesc) {
    let (a, b) = (desc.body_a, desc.body_b);
    let plain = |word, base| (word, Fields::new(), base);
    let mut types = vec![
        plain("ball", JointDesc::ball(a, b)),
        plain("hinge", JointDesc::hinge(a, b)),
        plain("slider", JointDesc::slider(a, b)),
        plain("fixed", JointDesc::fixed(a, b)),
        plain("generic", JointDesc::generic(a, b)),
    ];
    let Axis { hold, drive } = desc.axes[JointAxis::Distance as usize];
    match hold {
        Hold::At(v) => types.push(("rod", vec![("length", number(v))], JointDesc::rod(a, b, v))),
        Hold::Between(f32::NEG_INFINITY, v) if v.is_finite() => {
            types.push(("rope", vec![("length", number(v))], JointDesc::rope(a, b, v)));
        }
        _ => {}
    }
    if let Some(Drive::Spring { target, stiffness, damping, .. }) = drive {
        let said = vec![("length", number(target)), ("stiffness", number(stiffness)), ("damping", number(damping))];
        types.push(("spring", said, JointDesc::spring(a, b, target, stiffness, damping)));
    }
    let others = |base: &JointDesc| base.axes.iter().zip(&desc.axes).filter(|(base, has)| base != has).count();
    let generic = plain("generic", JointDesc::generic(a, b));
    types.into_iter().min_by_key(|(_, _, base)| others(base)).unwrap_or(generic)
}

fn axis(axis: Axis) -> String {
    match axis {
        Axis { hold: Hold::Free, drive: None } => return text("free"),
        Axis { hold: Hold::At(v), drive: None } if v.to_bits() == 0 => return text("locked"),
        _ => {}
    }
    let open = |v: f32| if v.is_finite() { number(v) } else { "null".to_owned() };
    let mut fields = Fields::new();
    match axis.hold {
        Hold::Free => {}
        Hold::At(v) => fields.push(("at", number(v))),
        Hold::Between(low, high) => fields.push(("limits", format!("[{}, {}]", open(low), open(high)))),
    }
    if let Some(drive) = axis.drive {
        let (mut said, most) = match drive {
            Drive::Speed { speed, max } => (vec![("speed", number(speed))], max),
            Drive::Position { target, max } => (vec![("target", number(target))], max),
            Drive::Spring { target, stiffness, damping, max } => {
                let spring = [("target", target), ("stiffness", stiffness), ("damping", damping)];
                (spring.map(|(key, v)| (key, number(v))).to_vec(), max)
            }
        };
        put(&mut said, "max", most, f32::INFINITY, number);
        fields.push(("drive", object(said)));
    }
    object(fields)
}

fn joint(name: Option<&str>, desc: &JointDesc, broken: bool, called: &BTreeMap<BodyHandle, String>) -> String {
    let (kind, needs, base) = nearest(desc);
    let mut fields: Fields = vec![("type", text(kind))];
    fields.extend(name.map(|name| ("name", text(name))));
    let ends = [("a", Some(desc.body_a)), ("b", desc.body_b)];
    fields.extend(ends.into_iter().filter_map(|(end, body)| Some((end, text(called.get(&body?)?)))));
    fields.extend(needs);
    put(&mut fields, "anchor_a", desc.anchor_a, base.anchor_a, vector);
    put(&mut fields, "anchor_b", desc.anchor_b, base.anchor_b, vector);
    put(&mut fields, "frame_a", desc.frame_a, base.frame_a, rotation);
    put(&mut fields, "frame_b", desc.frame_b, base.frame_b, rotation);
    for (_, which) in AXES {
        put(&mut fields, word(which), desc.axes[which as usize], base.axes[which as usize], axis);
    }
    put(&mut fields, "friction", desc.friction, base.friction, |v| list(&v));
    put(&mut fields, "max_force", desc.max_force, base.max_force, number);
    put(&mut fields, "max_torque", desc.max_torque, base.max_torque, number);
    put(&mut fields, "collide", desc.collide, base.collide, |v| v.to_string());
    put(&mut fields, "broken", broken, false, |v| v.to_string());
    object(fields)
}

fn action(at: f32, action: &Action) -> String {
    let on = |name: &str| ("body", text(name));
    let (word, what) = match action {
        Action::Add { name, body: desc } => ("add", body(name.as_ref(), desc)),
        Action::Remove { body } => ("remove", text(body)),
        Action::Pose { body, position, rotation: turn } => {
            ("pose", object(vec![on(body), ("position", vector(*position)), ("rotation", rotation(*turn))]))
        }
        Action::Velocity { body, linear, angular } => {
            ("velocity", object(vec![on(body), ("linear", vector(*linear)), ("angular", vector(*angular))]))
        }
        Action::Impulse { body, linear, angular, point } => {
            let mut fields = vec![on(body), ("linear", vector(*linear)), ("angular", vector(*angular))];
            fields.extend(point.map(|v| ("point", vector(v))));
            ("impulse", object(fields))
        }
        Action::Force { body, force, torque } => {
            ("force", object(vec![on(body), ("force", vector(*force)), ("torque", vector(*torque))]))
        }
        Action::Target { body, position, rotation: turn, seconds } => {
            let mut fields = vec![on(body), ("position", vector(*position)), ("rotation", rotation(*turn))];
            fields.push(("seconds", number(*seconds)));
            ("target", object(fields))
        }
        Action::Break { joint } => ("break", text(joint)),
        Action::Repair { joint } => ("repair", text(joint)),
        Action::Gravity { gravity } => ("gravity", vector(*gravity)),
    };
    object(vec![("at", number(at)), (word, what)])
}
