//! The `drystone` command.

mod export;
mod film;
mod follow;
mod html;
mod info;
mod log;
mod near;
mod outputs;
mod passes;
mod pictures;
mod plot;
mod report;
mod run;
mod sweep;
mod table;
mod trace;

use clap::{Parser, Subcommand};

/// Physics in Rust compute kernels, on Vulkan or on the CPU.
#[derive(Parser)]
#[command(name = "drystone", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Lists Vulkan devices: driver, version, subgroup size, limits that matter, and what is missing if unusable.
    Info,
    /// Runs a scene and shows the time of every pass (without any command: the pile, until it is hit and falls).
    Run(Box<run::Options>),
    /// Prints the whole step of a scene: buffers, commands, and the barriers between them. Without a scene: runs the broad
    /// phase over random boxes on every backend, shows the time of every pass, and compares results.
    Passes(passes::Options),
    /// Writes a scene as a file that `run` reads.
    Export(export::Options),
    /// Runs a scene once for every value of a parameter, and writes the curves.
    Sweep(sweep::Options),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Some(Command::Info) => info::run(),
        Some(Command::Run(options)) => run::run(&options),
        Some(Command::Passes(options)) => passes::run(&options),
        Some(Command::Export(options)) => export::run(&options),
        Some(Command::Sweep(options)) => sweep::run(&options),
        None => run::run(&run::Options::parse_from(["run"])),
    }
}
