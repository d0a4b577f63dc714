//! What a body costs as the world grows: the pile at 10, 112 and 518 thousand bricks on the CPU backend, time a body by
//! pass and bytes a body. Run with `cargo bench --bench growth`; numbers behind `--` are other sizes. The sizes take
//! turns, so that whatever else the machine does meets all of them; a turn's time is the median of its steps, and the
//! table shows the median of all turns.

use drystone::backend::Device;
use drystone::{Settings, Simulation, scenes};
use std::collections::BTreeMap;
use std::time::Instant;

/// Bricks asked for; the scene takes the nearest number that closes its rings.
const SIZES: [u32; 3] = [10_000, 110_000, 510_000];
/// Turns every size has.
const TURNS: usize = 5;
/// Bodies that a turn steps in all, and the fewest steps it makes.
const WORK: usize = 1_500_000;
const FEWEST: usize = 3;
/// Passes that are shown; the others are added up.
const SHOWN: usize = 10;

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A size: its world, and microseconds a body of every turn, of steps and by pass.
struct Size {
    bodies: usize,
    simulation: Simulation,
    steps: Vec<f64>,
    passes: BTreeMap<&'static str, Vec<f64>>,
}

impl Size {
    fn new(bricks: u32) -> Self {
        let world = scenes::pile(bricks, 40).expect("a pile");
        let bodies = world.len();
        let simulation =
            Simulation::new(world, Settings::default(), Device::Cpu { threads: None }).expect("a world that fits");
        let mut size = Self { bodies, simulation, steps: Vec::new(), passes: BTreeMap::new() };
        // Until lists have their length and contacts carry their load.
        for _ in 0..5 {
            size.simulation.step(scenes::DT).expect("a step");
        }
        size
    }

    fn turn(&mut self) {
        let each = 1e6 / self.bodies as f64;
        let (mut steps, mut passes) = (Vec::new(), BTreeMap::<_, Vec<f64>>::new());
        for _ in 0..(WORK / self.bodies).max(FEWEST) {
            let start = Instant::now();
            let report = self.simulation.step(scenes::DT).expect("a step");
            steps.push(start.elapsed().as_secs_f64() * each);
            for (name, _, time) in report.times.iter().flat_map(|t| t.by_stage()) {
                passes.entry(name).or_default().push(time.as_secs_f64() * each);
            }
        }
        self.steps.push(median(steps));
        for (name, times) in passes {
            self.passes.entry(name).or_default().push(median(times));
        }
    }
}

fn main() {
    // Cargo adds --bench.
    let asked: Vec<u32> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let mut sizes: Vec<Size> =
        if asked.is_empty() { &SIZES[..] } else { &asked }.iter().map(|n| Size::new(*n)).collect();
    for _ in 0..TURNS {
        sizes.iter_mut().for_each(Size::turn);
    }
    let line = |title: &str, cells: Vec<f64>, digits: usize| {
        let shown: Vec<String> = cells.iter().map(|v| format!("{v:>12.digits$}")).collect();
        let grown = cells.last().copied().unwrap_or_default() / cells.first().copied().unwrap_or_default() - 1.0;
        println!("  {title:<28}{} {:>+8.1} %", shown.concat(), grown * 1e2);
    };
    println!("pile, the median of {TURNS} turns");
    let bodies: Vec<String> = sizes.iter().map(|s| format!("{:>12}", s.bodies)).collect();
    println!("  {:<28}{}", "bodies", bodies.concat());
    line("us a body", sizes.iter().map(|s| median(s.steps.clone())).collect(), 3);
    let of = |s: &Size, name: &str| median(s.passes.get(name).cloned().unwrap_or_default());
    let mut names: Vec<_> = sizes.last().map(|s| s.passes.keys().copied().collect()).unwrap_or_default();
    names.sort_by(|a, b| sizes.last().map_or(0.0, |s| of(s, b)).total_cmp(&sizes.last().map_or(0.0, |s| of(s, a))));
    for name in names.iter().take(SHOWN) {
        line(&format!("  {name}"), sizes.iter().map(|s| of(s, name)).collect(), 3);
    }
    let rest = |s: &Size| names.iter().skip(SHOWN).map(|name| of(s, name)).sum();
    line("  all other passes", sizes.iter().map(rest).collect(), 3);
    let bytes = |s: &Size| s.simulation.memory().iter().map(|m| m.bytes).sum::<u64>() as f64 / s.bodies as f64;
    line("bytes a body", sizes.iter().map(bytes).collect(), 0);
}
