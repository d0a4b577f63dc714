//! The report of a run as one page that needs nothing else: pictures, plots, settings, device.

use super::files::Output;
use super::follow::Followers;
use super::pictures::{Pictures, encode};
use super::plot::{Series, escaped, lines, number, stacked};
use anyhow::Context;
use drystone::metrics::{JointMetrics, Metrics};
use drystone::render::{Picture, RenderOptions, Renderer};
use drystone::{Settings, Simulation, StepReport};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Pictures of a page.
const STILLS: u32 = 6;
/// Pixels across, at most.
const WIDEST: f64 = 640.0;
/// Times at which the state is looked at, at most.
const LOOKS: u32 = 240;
/// Passes that are told apart in the plot; the others are one area.
const TOLD_APART: usize = 9;

pub const STYLE: &str = "
:root{color-scheme:light dark;--ink:#23262b;--soft:#6a7078;--line:#d9dce0;--paper:#f6f5f2;--card:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e6e4df;--soft:#9aa0a8;--line:#3a3e45;--paper:#1b1d21;--card:#25282d}}
*{box-sizing:border-box}
body{margin:0 auto;padding:32px 24px 64px;max-width:1400px;font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:28px;margin:0}h2{font-size:18px;margin:36px 0 12px}
.sub{color:var(--soft);margin:4px 0 24px}
.facts{display:flex;flex-wrap:wrap;gap:12px;margin:0 0 24px}
.facts div{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:10px 16px;min-width:130px}
.facts b{display:block;font-size:20px}.facts span{color:var(--soft);font-size:13px}
.stills{display:grid;grid-template-columns:repeat(auto-fill,minmax(380px,1fr));gap:12px}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(560px,1fr));gap:12px}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:8px;overflow:hidden}
.stills img{width:100%;display:block}.stills figcaption{padding:6px 12px;color:var(--soft);font-size:13px}
.plots figcaption{padding:12px 16px 0;font-weight:600}.plots small{color:var(--soft);font-weight:400}
svg{width:100%;display:block}svg text{font:11px system-ui,sans-serif;fill:var(--soft)}
svg .y{text-anchor:end}svg .x{text-anchor:middle}
.grid{stroke:var(--line);stroke-width:.6}.axis{stroke:var(--soft);stroke-width:1}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round}
.legend{margin:0;padding:0 16px 12px;font-size:13px;color:var(--soft);display:flex;flex-wrap:wrap;gap:4px 16px}
.legend i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px}.legend b{color:var(--ink)}
.tables{display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:12px;align-items:start}
table{width:100%;border-collapse:collapse;background:var(--card);border:1px solid var(--line);border-radius:8px;font-size:13px}
caption{text-align:left;font-weight:600;padding:4px 0 8px}td{padding:4px 12px;border-top:1px solid var(--line)}
td:last-child{text-align:right;font-variant-numeric:tabular-nums}
";

/// What a step did.
struct Step {
    time: Duration,
    passes: BTreeMap<&'static str, f64>,
    pairs: u32,
    manifolds: u32,
    fallback: u32,
    substeps: u32,
    wanted: u32,
}

/// A page that is being put together.
pub struct Page {
    file: Output,
    scene: String,
    dt: f64,
    total: u32,
    picture: Picture,
    renderer: Renderer,
    steps: Vec<Step>,
    looks: Vec<(f64, Metrics)>,
    joints: Vec<(f64, JointMetrics)>,
    stills: Vec<(f64, Vec<u8>)>,
}

pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |w, &b| w << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i) & 63) as usize] as char;
            text.push(if i <= chunk.len() { digit } else { '=' });
        }
    }
    text
}

/// A table of two columns.
fn table(caption: &str, rows: impl IntoIterator<Item = (String, String)>) -> String {
    let rows: String =
        rows.into_iter().map(|(k, v)| format!("<tr><td>{}</td><td>{}</td></tr>", escaped(&k), escaped(&v))).collect();
    format!("<div><table><caption>{}</caption>{rows}</table></div>", escaped(caption))
}

/// The fields of a struct that is printed for debugging.
fn fields(value: &impl std::fmt::Debug) -> Vec<(String, String)> {
    let text = format!("{value:#?}");
    let field = |line: &str| {
        let (name, value) = line.trim().trim_end_matches(',').split_once(": ")?;
        Some((name.replace('_', " "), value.trim_matches('"').to_owned()))
    };
    text.lines().filter_map(field).collect()
}

/// Settings by their names.
fn settings(dt: f64, settings: &Settings) -> impl Iterator<Item = (String, String)> {
    let first = [("dt", format!("{} s", number(dt))), ("solver", settings.solver.name().to_owned())];
    let others = settings.named().filter(|(name, _)| *name != "solver").map(|(name, value)| (name, number(value)));
    first.into_iter().chain(others).map(|(name, value)| (name.replace('_', " "), value))
}

impl Page {
    /// A page about so many steps, with small pictures of the quality of `pictures`.
    pub fn new(path: &Path, scene: &str, steps: u32, dt: f32, pictures: &Pictures<'_>) -> anyhow::Result<Self> {
        let RenderOptions { width, height, .. } = pictures.quality();
        let smaller = (WIDEST / f64::from(width)).min(1.0);
        let [width, height] = [width, height].map(|v| ((f64::from(v) * smaller) as u32).max(1));
        let quality = RenderOptions { width, height, ..pictures.quality() };
        Ok(Self {
            file: Output::create(path)?,
            scene: scene.to_owned(),
            dt: f64::from(dt),
            total: steps,
            picture: pictures.picture(),
            renderer: Renderer::new(quality)?,
            steps: Vec::new(),
            looks: Vec::new(),
            joints: Vec::new(),
            stills: Vec::new(),
        })
    }

    fn still(&mut self, time: f64, simulation: &mut Simulation) -> anyhow::Result<()> {
        let image = self.renderer.render(simulation, &self.picture)?;
        self.picture.scale = image.scale;
        let mut bytes = Vec::new();
        encode(&image, &mut bytes)?;
        self.stills.push((time, bytes));
        Ok(())
    }

    pub fn start(&mut self, simulation: &mut Simulation) -> anyhow::Result<()> {
        self.look(0.0, simulation)?;
        self.still(0.0, simulation)
    }

    pub fn step(
        &mut self,
        step: u32,
        time: Duration,
        report: &StepReport,
        simulation: &mut Simulation,
    ) -> anyhow::Result<()> {
        let mut passes = BTreeMap::new();
        for pass in report.times.iter().flat_map(|run| &run.passes) {
            *passes.entry(pass.name).or_default() += pass.time.as_secs_f64() * 1e3;
        }
        let StepReport { pairs, manifolds, fallback_bodies: fallback, substeps, .. } = *report;
        let wanted = report.substeps_wanted;
        self.steps.push(Step { time, passes, pairs, manifolds, fallback, substeps, wanted });
        let now = f64::from(step + 1) * self.dt;
        if (step + 1).is_multiple_of(self.total.div_ceil(LOOKS).max(1)) || step + 1 == self.total {
            self.look(now, simulation)?;
        }
        // The start is one of the pictures, the end another.
        let due = |s: u32| u64::from(s) * u64::from(STILLS - 1) / u64::from(self.total);
        if due(step + 1) > due(step) {
            self.still(now, simulation)?;
        }
        Ok(())
    }

    fn over_steps(&self, name: &str, value: impl Fn(&Step) -> f64) -> Series {
        Series::new(name, (1..).zip(&self.steps).map(|(i, s)| (f64::from(i) * self.dt, value(s))))
    }

    fn look(&mut self, now: f64, simulation: &mut Simulation) -> anyhow::Result<()> {
        self.looks.push((now, Metrics::of(simulation)?));
        if simulation.world().joints().next().is_some() {
            self.joints.push((now, JointMetrics::of(simulation)?));
        }
        Ok(())
    }

    fn over_looks(&self, name: &str, value: impl Fn(&Metrics) -> f64) -> Series {
        Series::new(name, self.looks.iter().map(|(time, m)| (*time, value(m))))
    }

    /// Time by pass: the slowest by name, the others together.
    fn passes(&self) -> Vec<(&'static str, f64)> {
        let mut sums = BTreeMap::new();
        for (name, time) in self.steps.iter().flat_map(|s| &s.passes) {
            *sums.entry(*name).or_insert(0.0) += time / self.steps.len() as f64;
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by(|a, b| b.1.total_cmp(&a.1));
        sums
    }

    fn plots(&self) -> String {
        let passes = self.passes();
        let named: Vec<&str> = passes.iter().take(TOLD_APART).map(|p| p.0).collect();
        let mut times: Vec<Series> =
            named.iter().map(|&n| self.over_steps(n, |s| s.passes.get(n).copied().unwrap_or(0.0))).collect();
        times.push(
            self.over_steps("others", |s| {
                s.passes.iter().filter(|(n, _)| !named.contains(n)).map(|(_, time)| time).sum()
            }),
        );
        let mut page = String::new();
        if passes.is_empty() {
            page += "<p>The device has no time stamps.</p>";
        } else {
            page += &stacked("Time by pass", "ms a step", &times);
        }
        page += &lines(
            "Energy",
            "J",
            &[
                self.over_looks("kinetic", |m| m.kinetic_energy),
                self.over_looks("potential", |m| m.potential_energy),
                self.over_looks("together", Metrics::energy),
            ],
        );
        page += &lines(
            "Momentum",
            "kg m/s",
            &[
                self.over_looks("x", |m| m.momentum.x),
                self.over_looks("y", |m| m.momentum.y),
                self.over_looks("z", |m| m.momentum.z),
            ],
        );
        page += &lines(
            "Angular momentum",
            "kg m²/s",
            &[
                self.over_looks("x", |m| m.angular_momentum.x),
                self.over_looks("y", |m| m.angular_momentum.y),
                self.over_looks("z", |m| m.angular_momentum.z),
            ],
        );
        page += &lines(
            "Penetration",
            "mm",
            &[
                self.over_looks("deepest", |m| m.max_penetration * 1e3),
                self.over_looks("mean", |m| m.mean_penetration * 1e3),
            ],
        );
        if !self.joints.is_empty() {
            let over = |name, get: fn(&JointMetrics) -> f64| {
                Series::new(name, self.joints.iter().map(|(time, m)| (*time, get(m))))
            };
            let forces = [over("greatest", |m| m.force.max), over("mean", |m| m.force.mean)];
            let torques = [over("greatest", |m| m.torque.max), over("mean", |m| m.torque.mean)];
            page += &lines("Force of joints", "N", &forces);
            page += &lines("Torque of joints", "N m", &torques);
            page += &lines("Worst error of a joint", "mm", &[over("along lengths", |m| m.linear_error.max * 1e3)]);
            let angles = over("about angles", |m| m.angular_error.max.to_degrees());
            page += &lines("Worst error of a joint", "degrees", &[angles]);
        }
        if self.steps.iter().any(|s| s.substeps != self.steps[0].substeps) {
            let (made, wanted) = (|s: &Step| f64::from(s.substeps), |s: &Step| f64::from(s.wanted));
            page += &lines("Sub-steps", "a step", &[self.over_steps("made", made), self.over_steps("wanted", wanted)]);
        }
        page += &lines("Highest speed", "m/s", &[self.over_looks("speed", |m| m.max_speed)]);
        page += &lines(
            "Counts",
            "",
            &[
                self.over_steps("pairs", |s| f64::from(s.pairs)),
                self.over_steps("manifolds", |s| f64::from(s.manifolds)),
                self.over_looks("contact points", |m| m.contacts as f64),
                self.over_steps("bodies without a colour", |s| f64::from(s.fallback)),
            ],
        );
        page
    }

    pub fn finish(mut self, simulation: &mut Simulation, followers: &Followers) -> anyhow::Result<()> {
        let device = simulation.device().clone();
        let end = Metrics::of(simulation)?;
        let mut wall: Vec<f64> = self.steps.iter().map(|s| s.time.as_secs_f64() * 1e3).collect();
        wall.sort_by(f64::total_cmp);
        let median = wall.get(wall.len() / 2).copied().unwrap_or(0.0);
        let memory = simulation.memory();
        let total: u64 = memory.iter().map(|m| m.bytes).sum();
        let deepest = self.looks.iter().fold(0.0f64, |d, (_, m)| d.max(m.max_penetration));
        let facts = [
            (simulation.world().len().to_string(), "bodies"),
            (self.steps.len().to_string(), "steps"),
            (format!("{} ms", number(median)), "a step, median"),
            (end.contacts.to_string(), "contact points at the end"),
            (format!("{} mm", number(deepest * 1e3)), "deepest overlap"),
            (format!("{} MB", number(total as f64 / 1e6)), "on the device"),
        ];
        let facts: String =
            facts.iter().map(|(v, what)| format!("<div><b>{}</b><span>{what}</span></div>", escaped(v))).collect();
        let stills: String = self
            .stills
            .iter()
            .map(|(time, png)| {
                let at = number(*time);
                let data = base64(png);
                format!(
                    r#"<figure><img alt="the scene after {at} s" src="data:image/png;base64,{data}"><figcaption>{at} s</figcaption></figure>"#
                )
            })
            .collect();
        let mut by_size: Vec<_> = memory.iter().map(|m| (m.name.clone(), m.bytes)).collect();
        by_size.sort_by_key(|m| std::cmp::Reverse(m.1));
        let tables = [
            table("Settings", settings(self.dt, simulation.settings())),
            table("Device", fields(&device)),
            table("Mean time by pass", self.passes().into_iter().map(|(n, t)| (n.to_owned(), format!("{t:.3} ms")))),
            table(
                "Memory by buffer",
                by_size.into_iter().take(20).map(|(n, b)| (n, format!("{} kB", number(b as f64 / 1e3)))),
            ),
        ]
        .concat();
        let (scene, hash) = (escaped(&self.scene), end.pose_hash);
        let where_ = escaped(&format!("{} ({})", device.name, device.backend));
        let version = env!("CARGO_PKG_VERSION");
        let followed = match followers.is_empty() {
            true => String::new(),
            false => format!("<h2>Followed</h2><div class=\"plots\">{}</div>\n", followers.plots()),
        };
        let page = format!(
            r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>drystone: {scene}</title>
<link rel="icon" href="data:,"><style>{STYLE}</style></head><body>
<h1>{scene}</h1><p class="sub">drystone {version} on {where_}, poses {hash:016x}</p>
<div class="facts">{facts}</div>
<div class="stills">{stills}</div>
<h2>Over time</h2><div class="plots">{}</div>
{followed}<h2>Details</h2><div class="tables">{tables}</div>
</body></html>
"#,
            self.plots(),
        );
        self.file.write_all(page.as_bytes()).context("cannot write the report")?;
        self.file.finish()
    }
}
