//! `drystone paper`: the figures and tables of the two papers in this program. Every method runs the scene of a figure
//! with the counts that were published; the fewest with which it holds are searched. A page and a JSON file tell what
//! was found beside what was published, with verdicts that are computed from criteria that stand beside them. Nothing
//! is typed in but what was published. What was run is kept in the JSON file, so that a run which was interrupted goes
//! on where it ended.

mod case;
mod figure;
mod figures;
mod method;
mod page;
mod store;
mod strip;
mod through;

use super::interrupt::{self, Ended};
use case::{Case, Outcome};
use clap::Parser;
use drystone::backend::Device;
use figure::{Figure, Verdict};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use method::Method;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use store::Store;

/// Options of `drystone paper`.
#[derive(Parser)]
pub struct Options {
    /// Bricks of the piles, one table for each; the paper has 110000,510000. With `--quick` 200, else 2,000.
    #[arg(long, value_name = "N,N,...", value_delimiter = ',')]
    bodies: Vec<u32>,
    /// Levels of the piles.
    #[arg(long, value_name = "N", default_value_t = 10)]
    levels: u32,
    /// Small scenes and short times: two minutes on two cores. What is not done by then is said to be missing, and run
    /// when the command is given again.
    #[arg(long)]
    quick: bool,
    /// Only the figure of this name, `figure_7`, or those whose names contain it: `table`, `substeps`.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Minutes after which no more is run.
    #[arg(long, value_name = "MINUTES")]
    max_minutes: Option<f64>,
    /// Where the page goes.
    #[arg(long, value_name = "FILE", default_value = "paper.html")]
    html: PathBuf,
    /// Where the numbers go, and what was run; a file of an earlier run is gone on with.
    #[arg(long, value_name = "FILE", default_value = "paper.json")]
    json: PathBuf,
    /// Where the summary goes as a table in Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// All that are compared.
const METHODS: [Method; 6] =
    [Method::Avbd, Method::Published, Method::Vbd, Method::Impulse, Method::XpbdSteps, Method::SoftStep];

/// What a worker does: a row of a figure, or one of its other runs.
#[derive(Clone, Copy)]
enum Task {
    Row(usize, usize),
    Other(usize, usize),
}

/// What workers share.
struct Shared<'a> {
    figures: &'a [Figure],
    store: &'a Mutex<Store>,
    done: ProgressBar,
}

impl Shared<'_> {
    /// Looks a case up, or runs it.
    fn outcome(&self, case: &Case, device: &Device, bar: &ProgressBar) -> anyhow::Result<Outcome> {
        let store = || self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = store().get(case) {
            return Ok(known);
        }
        let outcome = case.run(device.clone(), bar)?;
        store().put(case, &outcome)?;
        Ok(outcome)
    }

    fn work(&self, task: Task, device: &Device, bar: &ProgressBar) -> anyhow::Result<()> {
        let mut source = |case: &Case| self.outcome(case, device, bar).map(Some);
        match task {
            Task::Row(figure, row) => {
                let figure = &self.figures[figure];
                figure.row(&figure.rows[row], &mut source)?;
            }
            Task::Other(figure, other) => {
                source(&self.figures[figure].others[other])?;
            }
        }
        self.done.inc(1);
        Ok(())
    }

    /// Works on all of them; the first error ends it.
    fn all(&self, tasks: &[Task], workers: usize, device: &Device, bars: &MultiProgress) -> anyhow::Result<()> {
        let next = AtomicUsize::new(0);
        let work = || -> anyhow::Result<()> {
            let bar = bars.add(ProgressBar::new(1));
            bar.set_style(ProgressStyle::with_template("{msg:44} {wide_bar} {pos}/{len} steps")?);
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = self.work(*task, device, &bar) {
                    next.store(tasks.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
            bar.finish_and_clear();
            Ok(())
        };
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            all.into_iter().try_for_each(|one| match one.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })
    }
}

fn tasks(figures: &[Figure], alone: bool) -> Vec<Task> {
    let chosen = || (0..).zip(figures).filter(|(_, f)| f.alone == alone && f.missing.is_none());
    // References first: rows wait for them by running them themselves. Other curves last: some of them are long.
    let others = |references: bool| {
        let wanted = move |f: &Figure, k: usize| (f.reference == Some(k)) == references;
        chosen()
            .flat_map(move |(i, f)| (0..f.others.len()).filter(move |k| wanted(f, *k)).map(move |k| Task::Other(i, k)))
    };
    let rows = chosen().flat_map(|(i, f)| (0..f.rows.len()).map(move |k| Task::Row(i, k)));
    others(true).chain(rows).chain(others(false)).collect()
}

/// Runs all that is not known yet.
fn run_all(figures: &[Figure], store: &Mutex<Store>) -> anyhow::Result<()> {
    let (beside, alone) = (tasks(figures, false), tasks(figures, true));
    let bars = MultiProgress::new();
    let done = bars.add(ProgressBar::new((beside.len() + alone.len()) as u64));
    done.set_style(ProgressStyle::with_template("{pos}/{len} methods and curves {wide_bar} {elapsed}, {eta} left")?);
    done.enable_steady_tick(Duration::from_secs(1));
    let shared = Shared { figures, store, done };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let one = Device::Cpu { threads: Some(1) };
    // What is timed has the machine to itself.
    let result = shared.all(&beside, workers, &one, &bars);
    let result = result.and_then(|()| shared.all(&alone, 1, &Device::Cpu { threads: None }, &bars));
    shared.done.finish_and_clear();
    result
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    let quick = options.quick;
    let bodies = match &options.bodies[..] {
        [] if quick => vec![200],
        [] => vec![2000],
        given => given.to_vec(),
    };
    let size = figures::Size { quick, bodies, levels: options.levels };
    let mut figures = figures::all(&size);
    if let Some(name) = &options.only {
        let exact = figures.iter().any(|f| f.id == name);
        figures.retain(|f| f.id == name || !exact && f.id.contains(name.as_str()));
        let known = || figures::all(&size).iter().map(|f| f.id).collect::<Vec<_>>().join(", ");
        anyhow::ensure!(!figures.is_empty(), "--only {name}: no figure is called so; there are: {}", known());
    }
    for figure in figures.iter().filter(|f| f.missing.is_none()) {
        // What cannot be built is said before anything runs.
        figure.case("", drystone::Settings::default(), false).scene()?;
    }
    let store = Mutex::new(Store::open(&options.json)?);
    let minutes = options.max_minutes.unwrap_or(if quick { 2.0 } else { 30.0 * 24.0 * 60.0 });
    anyhow::ensure!((0.0..=1e6).contains(&minutes), "--max-minutes {minutes}: it must be between 0 and a million");
    interrupt::watch(Duration::from_secs_f64(60.0 * minutes))?;
    let ran = run_all(&figures, &store);
    let mut store = store.into_inner().unwrap_or_else(PoisonError::into_inner);
    // What ended early has its page, too; whatever else went wrong has not.
    let ended = match ran {
        Err(error) if error.is::<Ended>() => Some(error),
        other => other.map(|()| None)?,
    };
    let mut known = |case: &Case| Ok(store.get(case));
    let results = figures.iter().map(|f| f.results(&mut known)).collect::<anyhow::Result<Vec<_>>>()?;
    let page = page::Page::new(&size, &figures, &results);
    for (figure, summary) in figures.iter().zip(&page.summaries) {
        say!("{:26} {}", figure.id, summary.line());
    }
    let verdicts = figure::tally(page.summaries.iter().map(|s| s.verdict));
    say!("{}", verdicts.iter().map(|(what, count)| format!("{count} {what}")).collect::<Vec<_>>().join(", "));
    store.save(&page.json())?;
    super::files::write(&options.html, page.html().as_bytes())?;
    if let Some(path) = &options.markdown {
        super::files::write(path, page.markdown().as_bytes())?;
    }
    say!("{} and {}", options.html.display(), options.json.display());
    let missing = page.summaries.iter().filter(|s| s.verdict == Verdict::NotRun).count();
    match ended {
        Some(error) if missing > 0 => {
            Err(error.context(format!("{missing} figures are not complete; run it again to go on")))
        }
        _ => Ok(()),
    }
}
