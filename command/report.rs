//! What `drystone run` tells about a run: tables for people, JSON for programs.

use super::table;
use drystone::backend::RunTimes;
use drystone::glam::DVec3;
use drystone::metrics::{Metrics, Worst};
use drystone::world::BodyHandle;
use drystone::{Event, EventKind, Overlap, Settings, Simulation, StepReport};
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

/// What is watched while the scene runs.
pub struct Watched {
    /// The worst of every metric.
    pub worst: Worst,
    steps: Vec<f32>,
    passes: Vec<Pass>,
    last: StepReport,
    events: Vec<Value>,
    fallback: u32,
    overflow: u32,
}

impl Watched {
    pub fn new(start: &Metrics) -> Self {
        let mut worst = Worst::default();
        worst.see(0, start);
        let (steps, passes, events) = (Vec::new(), Vec::new(), Vec::new());
        Self { worst, steps, passes, last: StepReport::default(), events, fallback: 0, overflow: 0 }
    }

    /// Takes a step into account, the first of whose sub-steps was number `now`.
    pub fn step(&mut self, now: u64, time: Duration, added: Vec<BodyHandle>, report: StepReport) {
        self.steps.push(milliseconds(time));
        // Sub-steps together are one step.
        let all = RunTimes { run: 0, passes: report.times.iter().flat_map(|t| t.passes.iter().copied()).collect() };
        for (name, dispatches, time) in all.by_stage() {
            match self.passes.iter_mut().find(|p| p.name == name) {
                Some(pass) => pass.times.push(milliseconds(time)),
                None => self.passes.push(Pass { name, dispatches, times: vec![milliseconds(time)] }),
            }
        }
        self.events.extend(added.iter().map(|b| json!({"step": now, "event": "added", "body": b.index()})));
        self.events.extend(report.events.iter().map(event));
        self.fallback = self.fallback.max(report.fallback_bodies);
        self.overflow += report.grown;
        self.last = report;
    }
}

fn event(event: &Event) -> Value {
    let step = event.step;
    match event.kind {
        EventKind::Quarantined { body } => json!({"step": step, "event": "quarantined", "body": body.index()}),
        EventKind::Grown { list, from, to } => {
            json!({"step": step, "event": "grown", "list": list, "from": from, "to": to})
        }
        EventKind::Fallback { bodies } => json!({"step": step, "event": "fallback", "bodies": bodies}),
        EventKind::Broken { joint, force, torque } => {
            json!({"step": step, "event": "broken", "joint": joint.index(), "force": force, "torque": torque})
        }
        EventKind::SensorBegin(o) => overlap(step, "sensor_begin", &o),
        EventKind::SensorEnd(o) => overlap(step, "sensor_end", &o),
        other => json!({"step": step, "event": format!("{other:?}")}),
    }
}

fn overlap(step: u64, word: &str, o: &Overlap) -> Value {
    json!({"step": step, "event": word, "sensor": o.sensor.index(), "sensor_collider": o.sensor_collider,
        "body": o.body.index(), "collider": o.collider})
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

fn metrics(m: &Metrics) -> Value {
    json!({
        "kinetic_energy": m.kinetic_energy, "potential_energy": m.potential_energy, "energy": m.energy(),
        "momentum": vector(m.momentum), "angular_momentum": vector(m.angular_momentum),
        "max_penetration": m.max_penetration, "mean_penetration": m.mean_penetration,
        "max_speed": m.max_speed, "top": m.top, "quarantined": m.quarantined,
        "pose_hash": format!("{:016x}", m.pose_hash),
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
        let (manifolds, pairs) = (watched.last.manifolds, watched.last.pairs);
        line("contacts", format!("{} points in {manifolds} manifolds of {pairs} pairs", end.contacts));
        let worst = &watched.worst;
        line("top", format!("{:.3} m at the start, {:.3} m at the end", start.top, end.top));
        let (deepest, at) = (worst.max_penetration.value * 1e3, worst.max_penetration.step);
        line(
            "penetration",
            format!("{:.2} mm at the end, {deepest:.2} mm at worst (step {at})", end.max_penetration * 1e3),
        );
        line("energy", format!("{:.4e} J at the start, {:.4e} J at the end", start.energy(), end.energy()));
        let a_body = memory / simulation.world().len().max(1) as u64;
        line("memory", format!("{:.1} MB, {a_body} bytes a body", memory as f64 / 1e6));
        if end.quarantined > 0 {
            line("taken out", format!("{} bodies whose state was not finite", end.quarantined));
        }
        line("pose hash", format!("{:016x}", end.pose_hash));
        text
    }

    /// For programs. The README says what the fields are.
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
        let worst: Map<_, _> = watched.worst.named().map(|(n, p)| (n.to_owned(), json!(p.value))).collect();
        let worst_step: Map<_, _> = watched.worst.named().map(|(n, p)| (n.to_owned(), json!(p.step))).collect();
        let mut report = json!({
            "scene": self.name,
            "backend": info.backend,
            "device": {"name": info.name, "driver": info.driver, "subgroup_size": info.subgroup_size},
            "bodies": simulation.world().len(),
            "steps": self.steps,
            "dt": short(self.dt),
            "settings": settings(simulation.settings()),
            "step_ms": {"mean": mean, "median": median, "p95": p95},
            "passes": watched.passes.iter().map(pass).collect::<Vec<_>>(),
            "counts": {
                "pairs": watched.last.pairs, "manifolds": watched.last.manifolds, "contacts": end.contacts,
                "colours": simulation.colours()?, "fallback_bodies": watched.fallback, "overflow": watched.overflow,
            },
            "memory": {"total": memory.iter().map(|m| m.bytes).sum::<u64>(), "by_buffer": by_buffer},
            "metrics": {
                "start": metrics(&self.start), "end": metrics(end), "worst": worst, "worst_step": worst_step,
            },
            "pose_hash": format!("{:016x}", end.pose_hash),
            "events": watched.events,
        });
        if state {
            let body = |(handle, b): &(BodyHandle, drystone::BodyState)| {
                json!({
                    "body": handle.index(), "position": b.position.to_array(), "rotation": b.rotation.to_array(),
                    "linear_velocity": b.linear_velocity.to_array(),
                    "angular_velocity": b.angular_velocity.to_array(), "enabled": b.enabled,
                })
            };
            report["state"] = simulation.bodies()?.iter().map(body).collect();
        }
        Ok(report)
    }
}
