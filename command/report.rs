//! The report of `drystone run`: a table for people, JSON for programs.

use super::follow::Followers;
use super::table;
use drystone::backend::RunTimes;
use drystone::glam::DVec3;
use drystone::metrics::{JointMetrics, Least, Metrics, Peak, SoftMetrics, Worst, WorstJoints};
use drystone::world::{BodyHandle, JointHandle, World};
use drystone::{BodyState, Contact, Event, EventKind, JointState, Overlap, Settings, Simulation, StepReport};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// A stage: its name, dispatches a step, milliseconds of every step.
struct Pass {
    name: &'static str,
    dispatches: usize,
    times: Vec<f32>,
}

/// Most events of a run that the report has.
const MOST_EVENTS: usize = 1_000_000;

/// What is watched while the scene runs.
pub struct Watched {
    worst: Worst,
    least: Least,
    joints: JointMetrics,
    worst_joints: WorstJoints,
    /// Of soft bodies: at the start, now, and the largest stretch; only where there are any.
    soft: Option<(SoftMetrics, SoftMetrics, Peak)>,
    /// What those at the peaks were called when they were there, by the metric.
    names: BTreeMap<&'static str, String>,
    steps: Vec<f32>,
    passes: Vec<Pass>,
    last: StepReport,
    events: Vec<Value>,
    events_left_out: u64,
    fallback: u32,
    overflow: u32,
    /// Sub-steps of every step.
    substeps: Vec<u32>,
}

impl Watched {
    pub fn new(start: &Metrics, simulation: &mut Simulation) -> drystone::Result<Self> {
        let mut watched = Self {
            worst: Worst::default(),
            least: Least::default(),
            joints: JointMetrics::default(),
            worst_joints: WorstJoints::default(),
            soft: None,
            names: BTreeMap::new(),
            steps: Vec::new(),
            passes: Vec::new(),
            last: StepReport::default(),
            events: Vec::new(),
            events_left_out: 0,
            fallback: 0,
            overflow: 0,
            substeps: Vec::new(),
        };
        watched.see(start, simulation)?;
        Ok(watched)
    }

    /// Takes the state into account, and what it amounts to.
    pub fn see(&mut self, now: &Metrics, simulation: &mut Simulation) -> drystone::Result<()> {
        let step = simulation.steps();
        self.worst.see(step, now);
        self.least.see(step, now);
        self.joints = JointMetrics::of(simulation)?;
        self.worst_joints.see(step, &self.joints);
        if simulation.world().soft_bodies().next().is_some() || self.soft.is_some() {
            let now = SoftMetrics::of(simulation)?;
            let (start, _, mut peak) = self.soft.unwrap_or((now, now, Peak::default()));
            if now.largest_stretch > peak.value {
                (peak.value, peak.step) = (now.largest_stretch, step);
            }
            self.soft = Some((start, now, peak));
        }
        let world = simulation.world();
        let fastest = (self.worst.max_speed.step == step).then_some(self.worst.fastest).flatten();
        let mut called = vec![("fastest", fastest.map(|body| world.name(body)))];
        let peaks = self.worst_joints.named().filter(|(_, peak)| peak.step == step);
        called.extend(peaks.map(|(metric, peak)| (metric, peak.joint.map(|joint| world.joint_name(joint)))));
        for (metric, name) in called.into_iter().filter_map(|(metric, name)| Some((metric, name?))) {
            match name {
                Some(name) => self.names.insert(metric, name.to_owned()),
                None => self.names.remove(metric),
            };
        }
        Ok(())
    }

    /// Takes a step into account, the first of whose sub-steps was number `now`.
    pub fn step(&mut self, now: u64, time: Duration, added: Vec<BodyHandle>, report: StepReport, world: &World) {
        self.steps.push(milliseconds(time));
        // Sub-steps together are one step.
        let mut all = RunTimes::default();
        all.passes.extend(report.times.iter().flat_map(|t| &t.passes));
        for (name, dispatches, time) in all.by_stage() {
            match self.passes.iter_mut().find(|p| p.name == name) {
                // The first step has more of them than others.
                Some(pass) => {
                    pass.dispatches = dispatches;
                    pass.times.push(milliseconds(time));
                }
                None => self.passes.push(Pass { name, dispatches, times: vec![milliseconds(time)] }),
            }
        }
        let new = |b: &BodyHandle| named(json!({"step": now, "event": "added", "body": b.index()}), world.name(*b));
        self.events.extend(added.iter().map(new));
        // A file can ask for every contact to be told in every step, for as many steps as it likes.
        let room = MOST_EVENTS.saturating_sub(self.events.len());
        self.events.extend(report.events.iter().take(room).map(|e| event(e, world)));
        self.events_left_out += report.events.len().saturating_sub(room) as u64;
        self.fallback = self.fallback.max(report.fallback_bodies);
        self.overflow += report.grown;
        self.substeps.push(report.substeps);
        self.last = report;
    }
}

impl Watched {
    /// Sub-steps: of every step, together, and how many steps wanted more than there may be.
    fn substeps(&self) -> Value {
        let all = &self.substeps;
        let mean = all.iter().map(|n| f64::from(*n)).sum::<f64>() / all.len().max(1) as f64;
        json!({"mean": mean, "least": all.iter().min(), "most": all.iter().max(), "short": self.last.short_frames,
            "by_step": all})
    }
}

/// With a name beside the slot, where there is one.
fn named(mut value: Value, name: Option<&str>) -> Value {
    if let Some(name) = name {
        value["name"] = json!(name);
    }
    value
}

/// Slots of a joint's bodies; `null` is the world.
fn bodies_of(world: &World, joint: JointHandle) -> Value {
    world.joint(joint).map_or(Value::Null, |d| json!([d.body_a.index(), d.body_b.map(|b| b.index())]))
}

fn event(event: &Event, world: &World) -> Value {
    let step = event.step;
    match event.kind {
        EventKind::Quarantined { body } => {
            named(json!({"step": step, "event": "quarantined", "body": body.index()}), world.name(body))
        }
        EventKind::Grown { list, from, to } => {
            json!({"step": step, "event": "grown", "list": list, "from": from, "to": to})
        }
        EventKind::Fallback { bodies } => json!({"step": step, "event": "fallback", "bodies": bodies}),
        EventKind::Broken { joint, force, torque } => {
            let broken = json!({
                "step": step, "event": "broken", "joint": joint.index(), "bodies": bodies_of(world, joint),
                "force": force, "torque": torque,
            });
            named(broken, world.joint_name(joint))
        }
        EventKind::SensorBegin(o) => overlap(step, "sensor_begin", &o),
        EventKind::SensorEnd(o) => overlap(step, "sensor_end", &o),
        EventKind::ContactBegin(c) => contact(step, "contact_begin", &c),
        EventKind::ContactPersist(c) => contact(step, "contact_persist", &c),
        EventKind::ContactEnd(c) => contact(step, "contact_end", &c),
        other => json!({"step": step, "event": format!("{other:?}")}),
    }
}

fn overlap(step: u64, word: &str, o: &Overlap) -> Value {
    json!({"step": step, "event": word, "sensor": o.sensor.index(), "sensor_collider": o.sensor_collider,
        "body": o.body.index(), "collider": o.collider})
}

fn contact(step: u64, word: &str, c: &Contact) -> Value {
    json!({"step": step, "event": word, "bodies": [c.a.index(), c.b.index()],
        "colliders": [c.collider_a, c.collider_b], "impulse": c.impulse.to_array(), "point": c.point.to_array()})
}

fn milliseconds(time: Duration) -> f32 {
    time.as_secs_f32() * 1e3
}

/// Mean, median and 95th percentile.
fn statistics(times: &[f32]) -> [f64; 3] {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let at = |part: f64| sorted.get(((sorted.len().max(1) - 1) as f64 * part) as usize).map_or(0.0, |t| f64::from(*t));
    let mean = times.iter().map(|t| f64::from(*t)).sum::<f64>() / times.len().max(1) as f64;
    [mean, at(0.5), at(0.95)]
}

fn vector(v: DVec3) -> Value {
    json!([v.x, v.y, v.z])
}

/// A number in single precision with as few digits as tell it apart from others.
fn short(v: f32) -> Value {
    json!(v.to_string().parse::<f64>().unwrap_or(f64::from(v)))
}

/// By name, as they can be set; switches as such, and forms by what they are called.
fn settings(s: &Settings) -> Value {
    let shown = |name: &'static str, value: f64| match name {
        "solver" => json!(s.solver.name()),
        "primal" => json!(format!("{:?}", s.primal)),
        "solve" => json!(format!("{:?}", s.solve)),
        "rotation" => json!(s.avbd().map(|a| format!("{:?}", a.rotation))),
        _ if Settings::allowed(name) == Some("0 or 1") => json!(value != 0.0),
        _ if value.fract() == 0.0 && value.abs() < 1e9 => json!(value as i64),
        _ => short(value as f32),
    };
    Value::Object(s.named().map(|(name, value)| (name.to_owned(), shown(name, value))).collect())
}

fn metrics(m: &Metrics, world: &World) -> Value {
    let fastest = m.fastest.map(|body| named(json!({"body": body.index()}), world.name(body)));
    json!({
        "kinetic_energy": m.kinetic_energy, "potential_energy": m.potential_energy, "energy": m.energy(),
        "momentum": vector(m.momentum), "angular_momentum": vector(m.angular_momentum),
        "max_penetration": m.max_penetration, "mean_penetration": m.mean_penetration,
        "max_speed": m.max_speed, "fastest": fastest, "top": m.top, "quarantined": m.quarantined,
        "pose_hash": format!("{:016x}", m.pose_hash),
    })
}

fn soft(m: &SoftMetrics) -> Value {
    json!({
        "kinetic_energy": m.kinetic_energy, "potential_energy": m.potential_energy,
        "elastic_energy": m.elastic_energy, "energy": m.energy(), "largest_stretch": m.largest_stretch,
        "most_stretched": m.most_stretched.map(|soft| soft.index()), "least_volume": m.least_volume,
        "max_speed": m.max_speed,
    })
}

/// A run that is over.
pub struct Run {
    pub name: String,
    pub steps: u32,
    pub dt: f32,
    pub start: Metrics,
    pub end: Metrics,
    pub watched: Watched,
    pub followers: Followers,
}

impl Run {
    /// For people.
    pub fn table(&self, simulation: &Simulation) -> String {
        let Self { start, end, watched, .. } = self;
        let mut passes: Vec<_> = watched.passes.iter().map(|p| (p, statistics(&p.times))).collect();
        passes.sort_by(|a, b| b.1[0].total_cmp(&a.1[0]));
        let header = ["pass", "dispatches", "mean [ms]", "median [ms]"].map(str::to_owned);
        let row = |(pass, [mean, median, _]): &(&Pass, [f64; 3])| {
            vec![pass.name.to_owned(), pass.dispatches.to_string(), format!("{mean:.3}"), format!("{median:.3}")]
        };
        let rows: Vec<Vec<String>> = passes.iter().map(row).collect();
        let [mean, median, p95] = statistics(&watched.steps);
        let memory: u64 = simulation.memory().iter().map(|m| m.bytes).sum();
        let mut text = format!("\n{}\n", table::text(&header, &rows));
        let mut line = |name: &str, value: String| {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{name:<13} {value}");
        };
        line("step", format!("{mean:.2} ms mean, {median:.2} ms median, {p95:.2} ms p95"));
        if simulation.settings().substeps_most > 0 {
            let (all, short) = (&watched.substeps, watched.last.short_frames);
            let (least, most) = (all.iter().min().unwrap_or(&0), all.iter().max().unwrap_or(&0));
            let mean = f64::from(all.iter().sum::<u32>()) / all.len().max(1) as f64;
            line("sub-steps", format!("{mean:.1} mean, {least} to {most}; {short} steps wanted more"));
        }
        let (manifolds, pairs) = (watched.last.manifolds, watched.last.pairs);
        line("contacts", format!("{} points in {manifolds} manifolds of {pairs} pairs", end.contacts));
        let worst = &watched.worst;
        line("top", format!("{:.3} m at the start, {:.3} m at the end", start.top, end.top));
        let (deepest, at) = (worst.max_penetration.value * 1e3, worst.max_penetration.step);
        line(
            "penetration",
            format!("{:.2} mm at the end, {deepest:.2} mm at worst (step {at})", end.max_penetration * 1e3),
        );
        let (low, high) = (watched.least.energy, worst.energy);
        line("energy", format!("{:.4e} J at the start, {:.4e} J at the end", start.energy(), end.energy()));
        let range = format!("{:.4e} J (step {}) to {:.4e} J (step {})", low.value, low.step, high.value, high.step);
        line("", range);
        let fastest = watched.names.get("fastest").map_or(String::new(), |name| format!(", `{name}`"));
        let (speed, at) = (worst.max_speed.value, worst.max_speed.step);
        line("speed", format!("{:.4} m/s at the end, {speed:.4} m/s at most (step {at}{fastest})", end.max_speed));
        let joints = &watched.joints;
        if joints.holding + joints.broken > 0 {
            let peaks = &watched.worst_joints;
            let at = |metric: &str, step: u64| match watched.names.get(metric) {
                Some(name) => format!("(step {step}, `{name}`)"),
                None => format!("(step {step})"),
            };
            line("joints", format!("{} hold, {} are broken at the end", joints.holding, joints.broken));
            let (now, most) = (joints.force.max, peaks.force);
            line("", format!("force {now:.4e} N at the end, {:.4e} N at most {}", most.value, at("force", most.step)));
            let (now, most) = (joints.linear_error.max * 1e3, peaks.linear_error);
            let seen = at("linear_error", most.step);
            line("", format!("off by {now:.3} mm at the end, {:.3} mm at most {seen}", most.value * 1e3));
            let (now, most) = (joints.angular_error.max, peaks.angular_error);
            let seen = at("angular_error", most.step);
            line("", format!("off by {now:.5} rad at the end, {:.5} rad at most {seen}", most.value));
        }
        if let Some((start, now, peak)) = &watched.soft {
            let SoftMetrics { bodies, particles, springs, triangles, tetrahedra, .. } = now;
            let parts = [(springs, "springs"), (triangles, "triangles"), (tetrahedra, "tetrahedra")];
            let parts = parts.iter().filter(|(count, _)| **count > 0).map(|(count, what)| format!("{count} {what}"));
            let parts = parts.collect::<Vec<_>>().join(", ");
            line("soft bodies", format!("{bodies} of {particles} particles, {parts}"));
            line("", format!("energy {:.4e} J at the start, {:.4e} J at the end", start.energy(), now.energy()));
            let end = now.largest_stretch;
            line("", format!("stretched to {end:.4} at the end, {:.4} at most (step {})", peak.value, peak.step));
        }
        for (kind, what) in self.followers.summary() {
            line(kind, what);
        }
        let a_body = memory / simulation.world().len().max(1) as u64;
        line("memory", format!("{:.1} MB, {a_body} bytes a body", memory as f64 / 1e6));
        if end.quarantined > 0 {
            line("taken out", format!("{} bodies whose state was not finite", end.quarantined));
        }
        line("pose hash", format!("{:016x}", end.pose_hash));
        text
    }

    /// For programs. docs/command.md says what the fields are.
    pub fn json(&self, simulation: &mut Simulation, state: bool) -> drystone::Result<Value> {
        let Self { end, watched, .. } = self;
        let info = simulation.device().clone();
        let [mean, median, p95] = statistics(&watched.steps);
        let pass = |p: &Pass| {
            let [mean, median, _] = statistics(&p.times);
            json!({"name": p.name, "ms_mean": mean, "ms_median": median, "dispatches": p.dispatches})
        };
        let memory = simulation.memory();
        let by_buffer: BTreeMap<_, _> = memory.iter().map(|m| (m.name.clone(), m.bytes)).collect();
        let colours = simulation.colours()?;
        let world = simulation.world();
        let worst: Map<_, _> = watched.worst.named().map(|(n, p)| (n.to_owned(), json!(p.value))).collect();
        let worst_step: Map<_, _> = watched.worst.named().map(|(n, p)| (n.to_owned(), json!(p.step))).collect();
        let least: Map<_, _> = watched.least.named().map(|(n, p)| (n.to_owned(), json!(p.value))).collect();
        let least_step: Map<_, _> = watched.least.named().map(|(n, p)| (n.to_owned(), json!(p.step))).collect();
        let from = self.start.energy();
        // Nothing divided by nothing is not a number, and a report has null for that.
        let energy_change = |scale: f64| {
            let (highest, lowest) = (watched.worst.energy.value, watched.least.energy.value);
            let change = |energy: f64| (energy - from) / scale;
            json!({"end": change(end.energy()), "highest": change(highest), "lowest": change(lowest)})
        };
        let fastest = watched.worst.fastest.map(|body| {
            let Peak { value, step, .. } = watched.worst.max_speed;
            let fastest = json!({"speed": value, "step": step, "body": body.index()});
            named(fastest, watched.names.get("fastest").map(String::as_str))
        });
        let mut report = json!({
            "scene": self.name,
            "backend": info.backend,
            "device": {"name": info.name, "driver": info.driver, "subgroup_size": info.subgroup_size},
            "bodies": simulation.world().len(),
            "steps": self.steps,
            "dt": short(self.dt),
            "settings": settings(simulation.settings()),
            "step_ms": {"mean": mean, "median": median, "p95": p95},
            "substeps": watched.substeps(),
            "passes": watched.passes.iter().map(pass).collect::<Vec<_>>(),
            "counts": {
                "pairs": watched.last.pairs, "manifolds": watched.last.manifolds, "contacts": end.contacts,
                "colours": colours, "fallback_bodies": watched.fallback, "overflow": watched.overflow,
            },
            "memory": {"total": memory.iter().map(|m| m.bytes).sum::<u64>(), "by_buffer": by_buffer},
            "metrics": {
                "start": metrics(&self.start, world), "end": metrics(end, world),
                "worst": worst, "worst_step": worst_step, "least": least, "least_step": least_step,
                "energy_change": energy_change(1.0), "energy_change_relative": energy_change(self.start.energy().abs()),
                "fastest": fastest,
            },
            "joints": self.joints(world),
            "pose_hash": format!("{:016x}", end.pose_hash),
            "events": watched.events,
            "events_left_out": watched.events_left_out,
        });
        if let Some((start, now, peak)) = &watched.soft {
            report["soft"] = json!({
                "bodies": now.bodies, "particles": now.particles, "springs": now.springs, "triangles": now.triangles,
                "tetrahedra": now.tetrahedra, "start": soft(start), "end": soft(now),
                "worst": {"largest_stretch": peak.value, "step": peak.step},
            });
        }
        if !self.followers.is_empty() {
            report["traces"] = self.followers.json();
        }
        if state {
            let (bodies, joints) = (simulation.bodies()?, simulation.joints()?);
            let world = simulation.world();
            report["state"] = bodies.iter().map(|(body, state)| body_state(*body, state, world)).collect();
            report["joint_state"] = joints.iter().map(|(joint, state)| joint_state(*joint, state, world)).collect();
        }
        Ok(report)
    }

    /// What the joints did.
    fn joints(&self, world: &World) -> Value {
        let watched = &self.watched;
        let slot = |joint: Option<JointHandle>| joint.map(JointHandle::index);
        let end = watched.joints.named().map(|(metric, now)| {
            let value = json!({"max": now.max, "joint": slot(now.joint), "mean": now.mean});
            (metric.to_owned(), named(value, now.joint.and_then(|joint| world.joint_name(joint))))
        });
        let worst = watched.worst_joints.named().map(|(metric, peak)| {
            let value = json!({"max": peak.value, "step": peak.step, "joint": slot(peak.joint), "mean": peak.mean});
            (metric.to_owned(), named(value, watched.names.get(metric).map(String::as_str)))
        });
        let (end, worst) = (end.collect::<Map<_, _>>(), worst.collect::<Map<_, _>>());
        let JointMetrics { holding, broken, .. } = watched.joints;
        json!({"count": holding + broken, "broken": broken, "end": end, "worst": worst})
    }
}

fn body_state(body: BodyHandle, b: &BodyState, world: &World) -> Value {
    let state = json!({
        "body": body.index(), "position": b.position.to_array(), "rotation": b.rotation.to_array(),
        "linear_velocity": b.linear_velocity.to_array(),
        "angular_velocity": b.angular_velocity.to_array(), "enabled": b.enabled,
    });
    named(state, world.name(body))
}

fn joint_state(joint: JointHandle, j: &JointState, world: &World) -> Value {
    let state = json!({
        "joint": joint.index(), "bodies": bodies_of(world, joint),
        "force": j.force.to_array(), "torque": j.torque.to_array(),
        "linear_error": j.error.linear, "angular_error": j.error.angular, "broken": j.broken,
    });
    named(state, world.joint_name(joint))
}
