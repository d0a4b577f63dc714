//! A figure or a table: methods on a scene, a criterion that is the same for all of them, and what was published. The
//! verdicts are computed from what was run; only what was published is written down.

use super::case::{Case, Outcome, Watch};
use super::method::Method;
use drystone::Settings;
use std::collections::BTreeMap;

/// What a paper says of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    Holds,
    Fails,
    /// The paper does not have it.
    Nothing,
}

/// A number of a run, and the run it is compared with.
pub type Value = Box<dyn Fn(&Outcome, Option<&Outcome>) -> f64 + Send + Sync>;

/// A condition that a run has to meet.
pub struct Test {
    /// In words, with its limit.
    pub criterion: String,
    /// What is behind the value.
    pub unit: &'static str,
    /// The value, of a run and the run it is compared with. Infinite where it is no number.
    pub value: Value,
    pub limit: f64,
    /// Whether it has to be above the limit, not below.
    pub above: bool,
}

impl Test {
    /// Below a limit.
    pub fn below(
        criterion: impl Into<String>,
        unit: &'static str,
        limit: f64,
        value: impl Fn(&Outcome) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self { criterion: criterion.into(), unit, limit, value: Box::new(move |of, _| value(of)), above: false }
    }

    /// Above a limit.
    pub fn above(
        criterion: impl Into<String>,
        unit: &'static str,
        limit: f64,
        value: impl Fn(&Outcome) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self { above: true, ..Self::below(criterion, unit, limit, value) }
    }

    fn met(&self, value: f64) -> bool {
        if self.above { value > self.limit } else { value < self.limit }
    }
}

/// A value of every test, and whether all are met.
#[derive(Clone)]
pub struct Judged {
    pub values: Vec<f64>,
    pub holds: bool,
}

/// A method with the count that was published.
pub struct Row {
    pub method: Method,
    pub at: u32,
    pub said: Said,
    /// The most that is tried when the fewest are searched; 0: not searched.
    pub most: u32,
}

/// What has been found of a row.
pub struct Found {
    /// Runs with the published count: each with what came of it. Empty when something is missing.
    pub cases: Vec<(Case, Outcome, Judged)>,
    /// What was tried in the search: count, values of the best, whether it holds, milliseconds a frame.
    pub tried: Vec<(u32, Judged, f64)>,
    /// Whether nothing is missing.
    pub complete: bool,
}

impl Found {
    /// The best of the published count: those that hold come first, then those of the least first value.
    pub fn best(&self) -> Option<&(Case, Outcome, Judged)> {
        self.cases.iter().min_by(|a, b| order(&a.2, &b.2))
    }

    /// The fewest that hold, with what a frame of them takes.
    pub fn fewest(&self) -> Option<(u32, f64)> {
        self.tried.iter().filter(|t| t.1.holds).map(|t| (t.0, t.2)).min_by_key(|t| t.0)
    }

    pub fn holds(&self) -> Option<bool> {
        self.best().map(|b| b.2.holds)
    }
}

fn order(a: &Judged, b: &Judged) -> std::cmp::Ordering {
    let number = |v: &f64| if v.is_nan() { f64::INFINITY } else { *v };
    let first = |of: &Judged| of.values.first().map_or(f64::INFINITY, number);
    b.holds.cmp(&a.holds).then(first(a).total_cmp(&first(b)))
}

/// Something else that was published, and what is found instead.
pub struct Claim {
    pub published: String,
    pub criterion: String,
    pub found: String,
    pub holds: bool,
}

/// What is shown over time.
pub struct Plot {
    pub title: &'static str,
    pub unit: &'static str,
    pub watch: Watch,
    /// What values are multiplied with.
    pub scale: f64,
    /// How the names of the curves begin.
    pub prefix: &'static str,
}

/// What a scene is run with.
pub struct Setting {
    pub scene: &'static str,
    pub parameters: Vec<(&'static str, f64)>,
    pub seconds: f64,
    pub watch: Vec<Watch>,
    pub stop: Option<(Watch, f64)>,
    pub view: Option<[[f32; 3]; 3]>,
    /// What every method gets.
    pub change: fn(Settings) -> Settings,
}

type Judge = Box<dyn Fn(&Results) -> Vec<Claim> + Send + Sync>;

pub struct Figure {
    pub id: &'static str,
    pub title: &'static str,
    /// What was published.
    pub published: &'static str,
    /// What is not as published, and why.
    pub note: String,
    pub setting: Setting,
    pub rows: Vec<Row>,
    pub tests: Vec<Test>,
    /// Runs that are not judged: references and curves.
    pub others: Vec<Case>,
    /// Which of them values are compared with.
    pub reference: Option<usize>,
    pub plots: Vec<Plot>,
    pub judge: Judge,
    /// Timed: nothing else runs at the same time.
    pub alone: bool,
    /// Why it cannot be run.
    pub missing: Option<String>,
}

/// What has been found of a figure.
pub struct Results {
    pub rows: Vec<Found>,
    pub others: Vec<Option<Outcome>>,
}

impl Results {
    /// The runs of other cases, if all are there.
    pub fn others(&self) -> Option<Vec<&Outcome>> {
        self.others.iter().map(Option::as_ref).collect()
    }

    pub fn complete(&self) -> bool {
        self.rows.iter().all(|r| r.complete) && self.others.iter().all(Option::is_some)
    }
}

/// Gives what came of a case: runs it, or knows it; `None` when it is not known and not to be run.
pub type Source<'a> = dyn FnMut(&Case) -> anyhow::Result<Option<Outcome>> + 'a;

impl Figure {
    /// With nothing in it yet.
    pub fn new(id: &'static str, title: &'static str, published: &'static str, setting: Setting) -> Self {
        Self {
            id,
            title,
            published,
            note: String::new(),
            setting,
            rows: Vec::new(),
            tests: Vec::new(),
            others: Vec::new(),
            reference: None,
            plots: Vec::new(),
            judge: Box::new(|_| Vec::new()),
            alone: false,
            missing: None,
        }
    }

    /// A run of its scene.
    pub fn case(&self, label: impl Into<String>, settings: Settings, pictures: bool) -> Case {
        let Setting { scene, ref parameters, seconds, ref watch, ref stop, view, change } = self.setting;
        Case {
            label: label.into(),
            scene,
            parameters: parameters.clone(),
            settings: change(settings),
            dt: 1.0 / 60.0,
            seconds,
            watch: watch.clone(),
            // A film is shown to its end.
            stop: stop.clone().filter(|_| !pictures),
            view: view.filter(|_| pictures),
            pictures,
        }
    }

    fn cases(&self, method: Method, count: u32, pictures: bool) -> Vec<Case> {
        let each = method.settings(count).into_iter();
        each.map(|(label, settings)| self.case(label, settings, pictures)).collect()
    }

    fn judged(&self, of: &Outcome, reference: Option<&Outcome>) -> Judged {
        let value = |test: &Test| if of.out > 0 { f64::NAN } else { (test.value)(of, reference) };
        let values: Vec<f64> = self.tests.iter().map(value).collect();
        // What is no number meets nothing.
        let holds = values.iter().zip(&self.tests).all(|(v, test)| test.met(*v));
        Judged { values, holds }
    }

    fn reference(&self, source: &mut Source<'_>) -> anyhow::Result<Option<Outcome>> {
        self.reference.map_or(Ok(None), |i| source(&self.others[i]))
    }

    /// The best of what a method does with a count.
    fn attempt(
        &self,
        method: Method,
        count: u32,
        pictures: bool,
        reference: Option<&Outcome>,
        source: &mut Source<'_>,
    ) -> anyhow::Result<Option<(Judged, f64)>> {
        let mut best: Option<(Judged, f64)> = None;
        for case in self.cases(method, count, pictures) {
            let Some(outcome) = source(&case)? else { return Ok(None) };
            let judged = self.judged(&outcome, reference);
            if best.as_ref().is_none_or(|b| order(&judged, &b.0).is_lt()) {
                best = Some((judged, outcome.frame));
            }
        }
        Ok(best)
    }

    /// Runs or looks up what a row needs. The fewest that hold: doubled until they do, then halved between. More are
    /// taken to hold where fewer do.
    pub fn row(&self, row: &Row, source: &mut Source<'_>) -> anyhow::Result<Found> {
        let mut found = Found { cases: Vec::new(), tried: Vec::new(), complete: false };
        let reference = self.reference(source)?;
        if self.reference.is_some() && reference.is_none() {
            return Ok(found);
        }
        let reference = reference.as_ref();
        let pictures = !self.alone;
        if row.at > 0 {
            let mut cases = Vec::new();
            for case in self.cases(row.method, row.at, pictures) {
                let Some(outcome) = source(&case)? else { return Ok(found) };
                let judged = self.judged(&outcome, reference);
                cases.push((case, outcome, judged));
            }
            found.cases = cases;
        }
        if row.most == 0 {
            found.complete = true;
            return Ok(found);
        }
        let mut attempt = |count: u32, found: &mut Found| -> anyhow::Result<Option<bool>> {
            let pictures = pictures && count == row.at;
            let Some((judged, frame)) = self.attempt(row.method, count, pictures, reference, source)? else {
                return Ok(None);
            };
            let holds = judged.holds;
            found.tried.push((count, judged, frame));
            Ok(Some(holds))
        };
        let (mut falls, mut stands) = (0, 1);
        loop {
            match attempt(stands, &mut found)? {
                None => return Ok(found),
                Some(true) => break,
                Some(false) if stands >= row.most => {
                    found.complete = true;
                    return Ok(found);
                }
                Some(false) => (falls, stands) = (stands, (stands * 2).min(row.most)),
            }
        }
        while stands - falls > 1 {
            let middle = (falls + stands) / 2;
            match attempt(middle, &mut found)? {
                None => return Ok(found),
                Some(true) => stands = middle,
                Some(false) => falls = middle,
            }
        }
        found.complete = true;
        Ok(found)
    }

    /// All that is known of it.
    pub fn results(&self, source: &mut Source<'_>) -> anyhow::Result<Results> {
        let rows = self.rows.iter().map(|row| self.row(row, source)).collect::<anyhow::Result<_>>()?;
        let others = self.others.iter().map(source).collect::<anyhow::Result<_>>()?;
        Ok(Results { rows, others })
    }
}

/// What becomes of what was published.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    AsPublished,
    InPart,
    Differs,
    NotRun,
    CannotRun,
}

impl Verdict {
    pub fn text(self) -> &'static str {
        match self {
            Self::AsPublished => "as published",
            Self::InPart => "as published in part",
            Self::Differs => "differs",
            Self::NotRun => "not run to its end",
            Self::CannotRun => "cannot be run yet",
        }
    }

    /// Of a row.
    pub fn of_row(said: Said, holds: Option<bool>) -> Option<bool> {
        match said {
            Said::Nothing => None,
            Said::Holds => holds,
            Said::Fails => holds.map(|h| !h),
        }
    }

    /// Of a figure: how many of the statements are found to be so, of how many.
    pub fn of(figure: &Figure, results: &Results, claims: &[Claim]) -> (Self, usize, usize) {
        let rows = figure.rows.iter().zip(&results.rows);
        let rows = rows.filter_map(|(row, found)| Self::of_row(row.said, found.holds()));
        let all: Vec<bool> = rows.chain(claims.iter().map(|c| c.holds)).collect();
        let so = all.iter().filter(|a| **a).count();
        let verdict = match (figure.missing.is_some(), results.complete(), so) {
            (true, ..) => Self::CannotRun,
            (_, false, _) => Self::NotRun,
            (_, _, so) if so == all.len() => Self::AsPublished,
            (_, _, 0) => Self::Differs,
            _ => Self::InPart,
        };
        (verdict, so, all.len())
    }
}

/// Number of each verdict.
pub fn tally(verdicts: impl Iterator<Item = Verdict>) -> BTreeMap<&'static str, usize> {
    let mut tally = BTreeMap::new();
    for verdict in verdicts {
        *tally.entry(verdict.text()).or_insert(0) += 1;
    }
    tally
}
