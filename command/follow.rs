//! Bodies and joints that are followed step by step: as CSV, in the report, and as plots of the page.

use super::files::Output;
use super::near::instead;
use super::plot::{Series, lines};
use anyhow::{Context, bail};
use clap::Args;
use drystone::scenes::{Action, Scene};
use drystone::world::{BodyHandle, JointHandle, World};
use drystone::{BodyState, JointState, Simulation};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

/// Options of `drystone run` about what is followed.
#[derive(Args)]
pub struct FollowOptions {
    /// Follow a body by its name, or by its slot as #N: position, rotation and velocities at the start and after every
    /// step. May be given several times.
    #[arg(long = "trace-body", value_name = "NAME|#N", help_heading = "Traces")]
    bodies: Vec<String>,
    /// Follow a joint by its name, or by its slot as #N: force, torque, error, and whether it is broken. May be given
    /// several times.
    #[arg(long = "trace-joint", value_name = "NAME|#N", help_heading = "Traces")]
    joints: Vec<String>,
    /// Write what is followed as CSV, a row a step; it is in --json and on the page of --report without this.
    #[arg(long = "trace-csv", value_name = "FILE", help_heading = "Traces")]
    csv: Option<PathBuf>,
}

/// A body or joint to follow, by name or slot. Which one that is may change with time, as bodies are added and
/// removed.
struct Target {
    /// As it was asked for.
    label: String,
    /// The slot, when it was asked for by that.
    slot: Option<u32>,
}

/// A thing that is followed, and what was seen of it; `None` while it was not there.
struct Followed<S> {
    target: Target,
    /// Slot and name when it was last there.
    last: Option<(u32, Option<String>)>,
    states: Vec<Option<S>>,
    now: Option<S>,
}

/// Everything that is followed.
pub struct Followers {
    dt: f64,
    /// Steps before each state that is kept.
    steps: Vec<u32>,
    bodies: Vec<Followed<BodyState>>,
    joints: Vec<Followed<JointState>>,
    csv: Option<Output>,
    /// Whether states are kept to the end: for the report and the page.
    keep: bool,
}

/// Fields of a body, and what they are called behind its name in the CSV.
const BODY_COLUMNS: [&str; 13] = ["x", "y", "z", "qx", "qy", "qz", "qw", "vx", "vy", "vz", "wx", "wy", "wz"];
/// Fields of a joint.
const JOINT_COLUMNS: [&str; 9] = ["fx", "fy", "fz", "tx", "ty", "tz", "linear_error", "angular_error", "broken"];

fn body_cells(s: &BodyState) -> [f64; 13] {
    let (p, r, v, w) = (s.position, s.rotation, s.linear_velocity, s.angular_velocity);
    [p.x, p.y, p.z, r.x, r.y, r.z, r.w, v.x, v.y, v.z, w.x, w.y, w.z].map(f64::from)
}

fn joint_cells(s: &JointState) -> [f64; 9] {
    let [fx, fy, fz] = s.force.to_array().map(f64::from);
    let [tx, ty, tz] = s.torque.to_array().map(f64::from);
    [fx, fy, fz, tx, ty, tz, s.error.linear, s.error.angular, f64::from(u8::from(s.broken))]
}

/// A number with as many digits as single precision has.
fn cell(v: f64) -> String {
    let v = v as f32;
    if v == 0.0 || (1e-5..1e9).contains(&v.abs()) { v.to_string() } else { format!("{v:e}") }
}

/// Text as a field of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Bodies or joints that may be asked for.
struct Known<'a> {
    what: &'static str,
    many: &'static str,
    option: &'static str,
    names: Vec<&'a str>,
    /// Slots up to the last that there will be.
    slots: u32,
}

impl Known<'_> {
    fn target(&self, label: &str) -> anyhow::Result<Target> {
        if self.names.contains(&label) {
            return Ok(Target { label: label.to_owned(), slot: None });
        }
        let Self { what, many, option, slots, .. } = self;
        let range = match slots {
            0 => format!("there are no {many} here"),
            1 => format!("there is one {what}, #0"),
            _ => format!("slots of {many} are #0 to #{}", slots - 1),
        };
        if let Some(number) = label.strip_prefix('#') {
            return match number.parse::<u32>() {
                Ok(slot) if slot < *slots => Ok(Target { label: label.to_owned(), slot: Some(slot) }),
                _ => bail!("{option} {label}: there is no such {what}; {range}"),
            };
        }
        let instead = instead(label, self.names.iter().copied());
        bail!("{option} {label}: no {what} is called `{label}`; {instead} ({range})")
    }

    /// Every one once, in the order in which they were asked for.
    fn targets(&self, labels: &[String]) -> anyhow::Result<Vec<Target>> {
        let mut found: Vec<Target> = Vec::new();
        for label in labels {
            if !found.iter().any(|t| t.label == *label) {
                found.push(self.target(label)?);
            }
        }
        Ok(found)
    }
}

impl<S: Copy> Followed<S> {
    fn new(target: Target) -> Self {
        Self { target, last: None, states: Vec::new(), now: None }
    }

    fn see(&mut self, now: Option<(u32, Option<&str>, S)>, keep: bool) {
        if let Some((slot, name, _)) = now {
            self.last = Some((slot, name.map(str::to_owned)));
        }
        self.now = now.map(|(_, _, state)| state);
        if keep {
            self.states.push(self.now);
        }
    }

    fn over_time<T: Into<Value>>(&self, get: impl Fn(&S) -> T) -> Vec<Value> {
        self.states.iter().map(|s| s.as_ref().map_or(Value::Null, |s| get(s).into())).collect()
    }

    /// A line for every component of a vector, or one.
    fn series(&self, names: &[&str], times: &[f64], get: impl Fn(&S, usize) -> f64) -> Vec<Series> {
        let there = || times.iter().zip(&self.states).filter_map(|(t, s)| Some((*t, s.as_ref()?)));
        let one = |(i, name): (usize, &&str)| Series::new(name, there().map(|(t, s)| (t, get(s, i))));
        names.iter().enumerate().map(one).collect()
    }

    fn json(&self, what: &str, fields: Value) -> Value {
        let mut all = json!({ "asked": self.target.label });
        if let Some((slot, name)) = &self.last {
            (all[what], all["name"]) = (json!(slot), json!(name));
        }
        if let (Value::Object(all), Value::Object(fields)) = (&mut all, fields) {
            all.extend(fields);
        }
        all
    }
}

fn body_of(world: &World, target: &Target) -> Option<BodyHandle> {
    target.slot.map_or_else(|| world.find(&target.label), |slot| world.handle(slot))
}

fn joint_of(world: &World, target: &Target) -> Option<JointHandle> {
    target.slot.map_or_else(|| world.find_joint(&target.label), |slot| world.joint_handle(slot))
}

impl Followers {
    /// Checks what was asked for, and that the file can be written, before the run begins.
    pub fn new(options: &FollowOptions, scene: &Scene, dt: f32, keep: bool) -> anyhow::Result<Self> {
        let FollowOptions { bodies, joints, csv } = options;
        if csv.is_some() && bodies.is_empty() && joints.is_empty() {
            bail!("--trace-csv has nothing to write: say what to follow with --trace-body or --trace-joint");
        }
        let world = &scene.world;
        let added: Vec<Option<&str>> = scene
            .later
            .iter()
            .filter_map(|(_, action)| if let Action::Add { name, .. } = action { Some(name.as_deref()) } else { None })
            .collect();
        let slots = world.handles().last().map_or(0, |h| h.index() + 1);
        let known_bodies = Known {
            what: "body",
            many: "bodies",
            option: "--trace-body",
            names: world.names().map(|(name, _)| name).chain(added.iter().copied().flatten()).collect(),
            slots: slots.saturating_add(added.len() as u32),
        };
        let known_joints = Known {
            what: "joint",
            many: "joints",
            option: "--trace-joint",
            names: world.joint_names().map(|(name, _)| name).collect(),
            slots: world.joints().last().map_or(0, |j| j.index() + 1),
        };
        let mut followers = Self {
            dt: f64::from(dt),
            steps: Vec::new(),
            bodies: known_bodies.targets(bodies)?.into_iter().map(Followed::new).collect(),
            joints: known_joints.targets(joints)?.into_iter().map(Followed::new).collect(),
            csv: csv.as_ref().map(|path| Output::create(path)).transpose()?,
            keep,
        };
        followers.header()?;
        Ok(followers)
    }

    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty() && self.joints.is_empty()
    }

    fn header(&mut self) -> anyhow::Result<()> {
        let Some(csv) = &mut self.csv else { return Ok(()) };
        let mut row = "step,time".to_owned();
        let bodies = self.bodies.iter().map(|b| (&b.target.label, &BODY_COLUMNS[..]));
        for (label, columns) in bodies.chain(self.joints.iter().map(|j| (&j.target.label, &JOINT_COLUMNS[..]))) {
            for column in columns {
                // Writing to a string does not fail.
                let _ = write!(row, ",{}", quoted(&format!("{label}.{column}")));
            }
        }
        writeln!(csv, "{row}").context("cannot write the CSV")
    }

    /// Looks at everything after `step` steps.
    pub fn see(&mut self, step: u32, simulation: &mut Simulation) -> anyhow::Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        for followed in &mut self.bodies {
            let body = body_of(simulation.world(), &followed.target);
            let state = body.map(|b| Ok::<_, drystone::Error>((b, simulation.body(b)?))).transpose()?;
            let world = simulation.world();
            followed.see(state.map(|(b, state)| (b.index(), world.name(b), state)), self.keep);
        }
        for followed in &mut self.joints {
            let joint = joint_of(simulation.world(), &followed.target);
            let state = joint.map(|j| Ok::<_, drystone::Error>((j, simulation.joint(j)?))).transpose()?;
            let world = simulation.world();
            followed.see(state.map(|(j, state)| (j.index(), world.joint_name(j), state)), self.keep);
        }
        if self.keep {
            self.steps.push(step);
        }
        let Some(csv) = &mut self.csv else { return Ok(()) };
        let mut row = format!("{step},{}", cell(f64::from(step) * self.dt));
        let mut put = |cells: Option<&[f64]>, columns: usize| {
            for i in 0..columns {
                let text = cells.map(|c| cell(c[i])).unwrap_or_default();
                let _ = write!(row, ",{text}");
            }
        };
        for body in &self.bodies {
            put(body.now.as_ref().map(body_cells).as_ref().map(|c| &c[..]), BODY_COLUMNS.len());
        }
        for joint in &self.joints {
            put(joint.now.as_ref().map(joint_cells).as_ref().map(|c| &c[..]), JOINT_COLUMNS.len());
        }
        writeln!(csv, "{row}").context("cannot write the CSV")
    }

    /// After the last step.
    pub fn finish(&mut self) -> anyhow::Result<()> {
        self.csv.take().map_or(Ok(()), Output::finish)
    }

    fn times(&self) -> Vec<f64> {
        self.steps.iter().map(|s| f64::from(*s) * self.dt).collect()
    }

    /// For people: whether it is a body or a joint, and what it came to.
    pub fn summary(&self) -> Vec<(&'static str, String)> {
        let gone = || "is not there at the end".to_owned();
        let body = |s: &BodyState| {
            let (p, v, w) = (s.position, s.linear_velocity.length(), s.angular_velocity.length());
            format!("at ({:.4}, {:.4}, {:.4}) m, {v:.4} m/s, {w:.4} rad/s at the end", p.x, p.y, p.z)
        };
        let joint = |s: &JointState| {
            let (force, torque) = (s.force.length(), s.torque.length());
            let (off, turned) = (s.error.linear * 1e3, s.error.angular);
            let broken = if s.broken { ", broken" } else { "" };
            format!("{force:.4e} N, {torque:.4e} N m, off by {off:.3} mm and {turned:.5} rad at the end{broken}")
        };
        let named = |target: &Target, what: String| format!("`{}` {what}", target.label);
        let bodies = self.bodies.iter().map(|b| ("body", named(&b.target, b.now.as_ref().map_or_else(gone, body))));
        let joints = self.joints.iter().map(|j| ("joint", named(&j.target, j.now.as_ref().map_or_else(gone, joint))));
        bodies.chain(joints).collect()
    }

    /// For programs. docs/command.md says what the fields are.
    pub fn json(&self) -> Value {
        let body = |b: &Followed<BodyState>| {
            let fields = json!({
                "position": b.over_time(|s| s.position.to_array().to_vec()),
                "rotation": b.over_time(|s| s.rotation.to_array().to_vec()),
                "linear_velocity": b.over_time(|s| s.linear_velocity.to_array().to_vec()),
                "angular_velocity": b.over_time(|s| s.angular_velocity.to_array().to_vec()),
            });
            b.json("body", fields)
        };
        let joint = |j: &Followed<JointState>| {
            let fields = json!({
                "force": j.over_time(|s| s.force.to_array().to_vec()),
                "torque": j.over_time(|s| s.torque.to_array().to_vec()),
                "linear_error": j.over_time(|s| s.error.linear),
                "angular_error": j.over_time(|s| s.error.angular),
                "broken": j.over_time(|s| s.broken),
            });
            j.json("joint", fields)
        };
        json!({
            "step": self.steps,
            "time": self.times(),
            "bodies": self.bodies.iter().map(body).collect::<Vec<_>>(),
            "joints": self.joints.iter().map(joint).collect::<Vec<_>>(),
        })
    }

    /// For the page: figures of everything that was followed.
    pub fn plots(&self) -> String {
        let times = self.times();
        let axes = ["x", "y", "z"];
        let mut page = String::new();
        for b in &self.bodies {
            let label = &b.target.label;
            let mut plot = |what: &str, unit: &str, get: fn(&BodyState, usize) -> f32| {
                let series = b.series(&axes, &times, |s, i| f64::from(get(s, i)));
                page += &lines(&format!("{label}: {what}"), unit, &series);
            };
            plot("position", "m", |s, i| s.position[i]);
            plot("velocity", "m/s", |s, i| s.linear_velocity[i]);
            plot("angular velocity", "rad/s", |s, i| s.angular_velocity[i]);
        }
        for j in &self.joints {
            let label = &j.target.label;
            let mut plot = |what: &str, unit: &str, names: &[&str], get: fn(&JointState, usize) -> f64| {
                page += &lines(&format!("{label}: {what}"), unit, &j.series(names, &times, get));
            };
            plot("force", "N", &axes, |s, i| f64::from(s.force[i]));
            plot("torque", "N m", &axes, |s, i| f64::from(s.torque[i]));
            plot("error along lengths", "mm", &["off by"], |s, _| s.error.linear * 1e3);
            plot("error about angles", "degrees", &["off by"], |s, _| s.error.angular.to_degrees());
        }
        page
    }
}
