//! One run of a scene: what it is, and what was seen of it.

use super::super::interrupt::Ended;
use super::strip::Strip;
use super::through::through;
use anyhow::Context;
use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::layout::Aabb;
use drystone::metrics::{JointMetrics, Metrics};
use drystone::render::Camera;
use drystone::scenes::{self, Scene, Script};
use drystone::world::BodyHandle;
use drystone::{Settings, Simulation};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What is measured after a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Watch {
    /// Part of its height that the highest body lost.
    Sunk,
    /// What all joints are off by along lengths, together, metres.
    Stretch,
    /// What the worst joint is off by along lengths, metres.
    Worst,
    /// What the worst joint is off by about angles, radians.
    Bent,
    /// Part of the joints that broke.
    Broken,
    /// Energy of motion and height over that of the start without its motion, joules.
    Energy,
    /// Energy of motion, joules.
    Kinetic,
    /// Energy that there is more than at the start, in parts of that.
    Gain,
    /// Speed of the fastest body, m/s.
    Speed,
    /// Sub-steps that were made.
    Substeps,
    /// Rings of a mail that have left a neighbour they hung in.
    Lost,
    /// Part of the bodies that are farther than a metre from where they began.
    Moved,
    /// Deepest overlap, metres.
    Deepest,
    /// Bodies that went through a soft surface.
    Through,
    /// Place of a body along an axis, 0 to 2, metres.
    At(String, usize),
}

impl Watch {
    /// What its series is called.
    pub fn name(&self) -> String {
        match self {
            Self::At(body, axis) => format!("{body} {}", ["x", "y", "z"][*axis]),
            other => format!("{other:?}").to_lowercase(),
        }
    }
}

/// A scene with settings, and what is measured of it.
#[derive(Clone)]
pub struct Case {
    /// What it is called on the page.
    pub label: String,
    pub scene: &'static str,
    pub parameters: Vec<(&'static str, f64)>,
    pub settings: Settings,
    pub dt: f32,
    pub seconds: f64,
    pub watch: Vec<Watch>,
    /// Ended as soon as this is exceeded: then nothing is learned from the rest.
    pub stop: Option<(Watch, f64)>,
    /// What pictures show, if there are any: corners of a box, and where it is looked at from.
    pub view: Option<[[f32; 3]; 3]>,
    pub pictures: bool,
}

/// What was seen of a case.
#[derive(Clone, Default)]
pub struct Outcome {
    /// By [`Watch::name`]: seconds and values.
    pub series: BTreeMap<String, Vec<(f64, f64)>>,
    /// Bodies that were taken out because their state was no number.
    pub out: u32,
    /// Mean time of a frame, detection included, milliseconds.
    pub frame: f64,
    pub steps: u32,
    /// A few pictures side by side, as PNG in base 64.
    pub strip: String,
}

/// As precisely as the file has it: what was run and what was read again are the same.
fn kept(value: f64) -> f64 {
    f64::from(value as f32)
}

impl Outcome {
    fn values(&self, watch: &Watch) -> &[(f64, f64)] {
        self.series.get(&watch.name()).map_or(&[], Vec::as_slice)
    }

    /// The greatest value; infinite where something is no number any more, or nothing was seen.
    pub fn most(&self, watch: &Watch) -> f64 {
        let values = self.values(watch);
        if self.out > 0 || values.is_empty() || values.iter().any(|v| v.1.is_nan()) {
            return f64::INFINITY;
        }
        values.iter().map(|v| v.1).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The least value from a time on.
    pub fn least_from(&self, watch: &Watch, from: f64) -> f64 {
        self.values(watch).iter().filter(|v| v.0 >= from).map(|v| v.1).fold(f64::INFINITY, f64::min)
    }

    /// The first and the last value.
    pub fn ends(&self, watch: &Watch) -> (f64, f64) {
        let values = self.values(watch);
        let value = |v: Option<&(f64, f64)>| v.map_or(f64::NAN, |v| v.1);
        (value(values.first()), value(values.last()))
    }

    /// All values.
    pub fn all<'a>(&'a self, watch: &Watch) -> impl Iterator<Item = (f64, f64)> + use<'a> {
        self.values(watch).iter().copied()
    }

    pub fn json(&self) -> Value {
        json!({
            "series": self.series.iter().map(|(name, of)| {
                (name.clone(), of.iter().map(|(t, v)| json!([*t as f32, *v as f32])).collect())
            }).collect::<serde_json::Map<String, Value>>(),
            "bodies_out": self.out,
            "frame_ms": self.frame as f32,
            "steps": self.steps,
            "strip": self.strip,
        })
    }

    pub fn read(value: &Value) -> Option<Self> {
        let number = |v: &Value| v.as_f64().map_or(f64::NAN, kept);
        let points = |of: &Value| -> Vec<(f64, f64)> {
            of.as_array().into_iter().flatten().map(|p| (number(&p[0]), number(&p[1]))).collect()
        };
        Some(Self {
            series: value["series"].as_object()?.iter().map(|(name, of)| (name.clone(), points(of))).collect(),
            out: u32::try_from(value["bodies_out"].as_u64()?).ok()?,
            frame: number(&value["frame_ms"]),
            steps: u32::try_from(value["steps"].as_u64()?).ok()?,
            strip: value["strip"].as_str()?.to_owned(),
        })
    }
}

/// How a mail hangs together: each link with the two rings it goes through.
fn links(names: &BTreeMap<String, BodyHandle>) -> Vec<(BodyHandle, BodyHandle)> {
    let mut links = Vec::new();
    for (name, link) in names {
        let Some((place, way)) = name.strip_prefix("link ").and_then(|rest| rest.split_once(' ')) else { continue };
        let Some((row, column)) = place.split_once('.') else { continue };
        let (Ok(row), Ok(column)) = (row.parse::<u32>(), column.parse::<u32>()) else { continue };
        let next = if way == "x" { (row + 1, column) } else { (row, column + 1) };
        for (row, column) in [(row, column), next] {
            links.extend(names.get(&format!("ring {row}.{column}")).map(|ring| (*link, *ring)));
        }
    }
    links
}

/// Metres from a link to its ring beyond which they no longer hang in each other: they begin 0.7 m apart, and reach
/// 0.99 m.
const APART: f32 = 1.15;

/// What values are measured against.
struct Start {
    top: f64,
    rest: f64,
    energy: f64,
    places: BTreeMap<BodyHandle, Vec3>,
    links: Vec<(BodyHandle, BodyHandle)>,
}

/// A run that goes on.
struct Watched<'a> {
    case: &'a Case,
    simulation: Simulation,
    start: Start,
    outcome: Outcome,
}

impl Watched<'_> {
    fn look(&mut self, time: f64, substeps: u32) -> anyhow::Result<()> {
        let metrics = Metrics::of(&mut self.simulation)?;
        self.outcome.out = metrics.quarantined;
        let watches = self.case.watch.iter().chain(self.case.stop.iter().map(|s| &s.0));
        let mut seen = BTreeMap::new();
        for watch in watches {
            let value = value(watch, &mut self.simulation, &metrics, &self.start, substeps)?;
            seen.extend(value.map(|v| (watch.name(), v)));
        }
        for (name, value) in seen {
            self.outcome.series.entry(name).or_default().push((kept(time), kept(value)));
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        // What is no number exceeds everything.
        let exceeds = |(watch, most): &(Watch, f64)| {
            let last = self.outcome.ends(watch).1;
            last.is_nan() || last > *most
        };
        self.outcome.out > 0 && !self.case.pictures || self.case.stop.as_ref().is_some_and(exceeds)
    }
}

/// What is measured now, if it is there.
fn value(
    watch: &Watch,
    simulation: &mut Simulation,
    metrics: &Metrics,
    start: &Start,
    substeps: u32,
) -> anyhow::Result<Option<f64>> {
    let joints = |simulation: &mut Simulation| JointMetrics::of(simulation);
    Ok(Some(match watch {
        Watch::Sunk if metrics.quarantined > 0 => 1.0,
        Watch::Sunk => 1.0 - metrics.top / start.top,
        Watch::Stretch => {
            let of = joints(simulation)?;
            of.linear_error.mean * f64::from(of.holding)
        }
        Watch::Worst => joints(simulation)?.linear_error.max,
        Watch::Bent => joints(simulation)?.angular_error.max,
        Watch::Broken => {
            let of = joints(simulation)?;
            f64::from(of.broken) / f64::from((of.broken + of.holding).max(1))
        }
        Watch::Energy => metrics.energy() - start.rest,
        Watch::Kinetic => metrics.kinetic_energy,
        Watch::Gain => metrics.energy() / start.energy - 1.0,
        Watch::Speed => metrics.max_speed,
        Watch::Substeps => substeps.into(),
        Watch::Deepest => metrics.max_penetration,
        Watch::Through => through(simulation)?.into(),
        Watch::Lost => {
            let states: BTreeMap<_, _> = simulation.bodies()?.into_iter().collect();
            // What is not there any more is lost, and so is what is no number.
            let holds = |(a, b): &&(BodyHandle, BodyHandle)| match (states.get(a), states.get(b)) {
                (Some(a), Some(b)) => (a.position - b.position).length() <= APART,
                _ => false,
            };
            (start.links.len() - start.links.iter().filter(holds).count()) as f64
        }
        Watch::Moved => {
            let far = |(body, place): (&BodyHandle, Vec3)| {
                !start.places.get(body).is_some_and(|p| (*p - place).length() <= 1.0)
            };
            let states = simulation.bodies()?;
            let known = states.iter().filter(|(body, _)| start.places.contains_key(body));
            known.filter(|(body, s)| far((body, s.position))).count() as f64 / start.places.len().max(1) as f64
        }
        Watch::At(body, axis) => match simulation.world().find(body) {
            Some(body) => simulation.body(body)?.position[*axis].into(),
            // It is thrown in later.
            None => return Ok(None),
        },
    }))
}

/// Values that are kept of a series: as many as a plot shows.
const MOST_LOOKS: u32 = 600;

impl Case {
    /// What decides about its outcome, as text.
    pub fn key(&self) -> String {
        let Self { scene, parameters, settings, dt, seconds, watch, stop, view, pictures, .. } = self;
        format!("{scene} {parameters:?} {settings:?} {dt} {seconds} {watch:?} {stop:?} {view:?} {pictures}")
    }

    pub fn scene(&self) -> anyhow::Result<Scene> {
        let parameters = self.parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Ok(scenes::build(self.scene, &parameters)?)
    }

    fn camera(&self, scene: &Scene) -> Camera {
        self.view.map_or(scene.camera, |view| {
            let [min, max, from] = view.map(Vec3::from_array);
            Camera::framing(&Aabb { min, max }, from)
        })
    }

    /// Runs it; an error when the command is to end.
    pub fn run(&self, device: Device, bar: &ProgressBar) -> anyhow::Result<Outcome> {
        self.run_of(device, bar).with_context(|| format!("{} ({})", self.label, self.scene))
    }

    fn run_of(&self, device: Device, bar: &ProgressBar) -> anyhow::Result<Outcome> {
        let scene = self.scene()?;
        let mut script = Script::new(&scene);
        let mut strip = if self.pictures { Some(Strip::new(self.camera(&scene))?) } else { None };
        let names = scene.world.names().map(|(name, body)| (name.to_owned(), body)).collect();
        let mut simulation = Simulation::new(scene.world, self.settings, device)?;
        let begin = Metrics::of(&mut simulation)?;
        let places = simulation.bodies()?.into_iter().map(|(body, s)| (body, s.position)).collect();
        let start = Start {
            top: begin.top,
            rest: begin.potential_energy,
            energy: begin.energy(),
            places,
            links: links(&names),
        };
        let mut run = Watched { case: self, simulation, start, outcome: Outcome::default() };
        let steps = (self.seconds / f64::from(self.dt)).round() as u32;
        let every = steps.div_ceil(MOST_LOOKS).max(1);
        bar.set_length(steps.into());
        bar.set_position(0);
        bar.set_message(self.label.clone());
        let mut spent = Duration::ZERO;
        for step in 0..steps {
            if let Some(ended) = Ended::after(step, steps) {
                return Err(ended.into());
            }
            script.before_step(&mut run.simulation, f64::from(step) * f64::from(self.dt), self.dt)?;
            let clock = Instant::now();
            let report = run.simulation.step(self.dt)?;
            spent += clock.elapsed();
            run.outcome.steps = step + 1;
            bar.inc(1);
            let due = (step + 1).is_multiple_of(every) || step + 1 == steps;
            if due {
                run.look(f64::from(step + 1) * f64::from(self.dt), report.substeps)?;
            }
            let over = due && run.is_over();
            if let Some(strip) = &mut strip {
                strip.step(step, steps, over, &mut run.simulation)?;
            }
            if over {
                break;
            }
        }
        let mut outcome = run.outcome;
        outcome.frame = kept(spent.as_secs_f64() * 1e3 / f64::from(outcome.steps.max(1)));
        outcome.strip = strip.map_or(Ok(String::new()), Strip::finish)?;
        Ok(outcome)
    }
}
