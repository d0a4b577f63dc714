//! What joints cost, pass by pass: the net of balls at 10 iterations, in three sizes, on the CPU backend and on
//! llvmpipe if it is there. Run with `cargo bench --bench joints`; a name behind `--` leaves out the other devices.
//! Times are the least of many: whatever else the machine does only adds to them.

use drystone::backend::Device;
use drystone::vulkan::{Loader, OwnDevice, OwnDeviceOptions};
use drystone::{Settings, Simulation, scenes};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Balls along a side of the net: 1, 9 and 36 thousand of them.
const SIDES: [u32; 3] = [32, 95, 190];
/// Steps that count, after as many as it takes for lists to have their length.
const STEPS: usize = 15;
const BEFORE: usize = 3;
/// What is there for joints alone. `primal_joints` has the contacts in it, too.
const PASSES: [&str; 5] = ["joints_apart", "joints_start", "primal_joints", "joints_dual", "joints_break"];

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// A size: bodies, joints, microseconds a step and of every pass, bytes of the buffers for joints and of all.
struct Row {
    bodies: usize,
    joints: usize,
    step: f64,
    passes: BTreeMap<&'static str, f64>,
    bytes: [u64; 2],
}

fn measure(side: u32, device: Device) -> Row {
    let world = scenes::joint_grid(side).expect("a net");
    let (bodies, joints) = (world.len(), world.joints().count());
    let settings = Settings::default().with(|s| s.iterations = 10);
    let mut simulation = Simulation::new(world, settings, device).expect("a world that fits");
    let mut steps = Vec::new();
    let mut passes: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    for n in 0..BEFORE + STEPS {
        let start = Instant::now();
        let report = simulation.step(scenes::DT).expect("a step");
        let taken = start.elapsed();
        if n >= BEFORE {
            steps.push(taken.as_secs_f64() * 1e6);
            for (name, _, time) in report.times.iter().flat_map(|t| t.by_stage()) {
                passes.entry(name).or_default().push(time.as_secs_f64() * 1e6);
            }
        }
    }
    let memory = simulation.memory();
    let of_joints = ["joints", "joint_rows", "row_states", "joint_forces"];
    let sum = |wanted: &dyn Fn(&str) -> bool| memory.iter().filter(|m| wanted(&m.name)).map(|m| m.bytes).sum();
    let bytes = [sum(&|name| of_joints.contains(&name)), sum(&|_| true)];
    let passes = passes.into_iter().map(|(name, times)| (name, least(&times))).collect();
    Row { bodies, joints, step: least(&steps), passes, bytes }
}

fn table(name: &str, rows: &[Row]) {
    println!("\n{name}: joint_grid at 10 iterations, the least of {STEPS} steps");
    let line = |title: &str, cell: &dyn Fn(&Row) -> String| {
        let cells: Vec<String> = rows.iter().map(|r| format!("{:>12}", cell(r))).collect();
        println!("  {title:<28}{}", cells.concat());
    };
    line("bodies", &|r| r.bodies.to_string());
    line("joints", &|r| r.joints.to_string());
    line("ms a step", &|r| format!("{:.2}", r.step / 1e3));
    for pass in PASSES {
        line(&format!("  {pass}, ms"), &|r| format!("{:.3}", r.passes.get(pass).copied().unwrap_or_default() / 1e3));
    }
    let others = |r: &Row| r.passes.iter().filter(|p| !PASSES.contains(p.0)).map(|p| p.1).sum::<f64>();
    line("  all other passes, ms", &|r| format!("{:.3}", others(r) / 1e3));
    for pass in PASSES {
        let each = |r: &Row| r.passes.get(pass).copied().unwrap_or_default() / r.joints as f64;
        line(&format!("  {pass}, us a joint"), &|r| format!("{:.4}", each(r)));
    }
    line("us a joint, the whole step", &|r| format!("{:.3}", r.step / r.joints as f64));
    line("bytes a joint, for joints", &|r| (r.bytes[0] / r.joints as u64).to_string());
    line("bytes a body, everything", &|r| (r.bytes[1] / r.bodies as u64).to_string());
    // 1 is as many times the time for as many times the joints.
    for pair in rows.windows(2) {
        let (more, longer) = (pair[1].joints as f64 / pair[0].joints as f64, pair[1].step / pair[0].step);
        let power = longer.ln() / more.ln();
        println!("  {more:.1} times the joints take {longer:.1} times the time: n^{power:.2}");
    }
}

fn main() {
    // Cargo adds --bench.
    let wanted = std::env::args().skip(1).find(|a| !a.starts_with('-')).unwrap_or_default();
    let mut devices = vec![("cpu", Device::Cpu { threads: None })];
    let options = OwnDeviceOptions { name: Some("llvmpipe".to_owned()), ..Default::default() };
    match Loader::system().and_then(|loader| OwnDevice::new(&loader, &options)) {
        Ok(device) => devices.push(("llvmpipe", Device::Vulkan(Arc::new(device)))),
        Err(error) => println!("without llvmpipe: {error}"),
    }
    for (name, device) in devices.into_iter().filter(|d| d.0.contains(&wanted)) {
        let rows: Vec<Row> = SIDES.iter().map(|side| measure(*side, device.clone())).collect();
        table(name, &rows);
    }
}
