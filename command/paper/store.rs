//! What has been run, in the JSON file: a run that was interrupted goes on where it ended.

use super::case::{Case, Outcome};
use anyhow::{Context, bail};
use drystone::backend::Device;
use drystone::metrics::Metrics;
use drystone::{Settings, Simulation, scenes};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long something that was run may be in no file.
const EVERY: Duration = Duration::from_secs(5);

/// FNV-1a.
fn hash(text: &str) -> String {
    let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// What every solver makes of two small worlds: what another one has found is not gone on with.
fn engines() -> anyhow::Result<BTreeMap<&'static str, String>> {
    let mut engines = BTreeMap::new();
    for method in super::METHODS {
        for world in [scenes::pyramid(3)?, scenes::pendulum(4, 10.0, 1.0)?] {
            let settings: Settings = method.settings(3).remove(0).1;
            let mut simulation = Simulation::new(world, settings, Device::Cpu { threads: Some(1) })?;
            for _ in 0..10 {
                simulation.step(1.0 / 60.0)?;
            }
            let made: &mut String = engines.entry(settings.solver.name()).or_default();
            *made = hash(&format!("{made}{:x}", Metrics::of(&mut simulation)?.pose_hash));
        }
    }
    Ok(engines)
}

/// All outcomes that are known.
pub struct Store {
    path: PathBuf,
    engines: BTreeMap<&'static str, String>,
    cases: Map<String, Value>,
    saved: Instant,
}

impl Store {
    /// Takes over what an earlier run has found with the same engine.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let engines = engines()?;
        let mut cases = Map::new();
        if let Ok(text) = std::fs::read_to_string(path) {
            let told = || format!("{}: not a file of `drystone paper`; take it away or name another", path.display());
            let mut value: Value = serde_json::from_str(&text).with_context(told)?;
            match value["cases"].take() {
                Value::Object(known) => cases = known,
                _ => bail!(told()),
            }
        }
        // What is of no use any more goes.
        cases.retain(|_, case| engines.values().any(|engine| case["engine"] == *engine));
        Ok(Self { path: path.to_owned(), engines, cases, saved: Instant::now() })
    }

    fn engine(&self, case: &Case) -> &str {
        self.engines.get(case.settings.solver.name()).map_or("", String::as_str)
    }

    pub fn get(&self, case: &Case) -> Option<Outcome> {
        let known = self.cases.get(&hash(&case.key()))?;
        if known["engine"] == self.engine(case) { Outcome::read(known) } else { None }
    }

    /// Keeps what came of a case.
    pub fn put(&mut self, case: &Case, outcome: &Outcome) -> anyhow::Result<()> {
        let mut value = outcome.json();
        value["what"] = format!("{}: {} {:?}", case.label, case.scene, case.parameters).into();
        value["engine"] = self.engine(case).into();
        self.cases.insert(hash(&case.key()), value);
        if self.saved.elapsed() > EVERY {
            self.save(&Value::Null)?;
        }
        Ok(())
    }

    /// Writes the file, with what was found of the figures.
    pub fn save(&mut self, figures: &Value) -> anyhow::Result<()> {
        let value = json!({ "engines": self.engines, "figures": figures, "cases": self.cases });
        super::super::files::write(&self.path, format!("{value}\n").as_bytes())?;
        self.saved = Instant::now();
        Ok(())
    }
}
