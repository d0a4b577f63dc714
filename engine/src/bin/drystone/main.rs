//! The `drystone` command.

mod info;
mod passes;
mod table;

use clap::{Parser, Subcommand};

/// Physics in Rust compute kernels, on Vulkan or on the CPU.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Lists Vulkan devices: driver, version, subgroup size, limits that matter, and what is missing if unusable.
    Info,
    /// Runs the broad phase over random boxes and shows the time of every pass (what runs without any command).
    Passes(passes::Options),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Some(Command::Info) => info::run(),
        Some(Command::Passes(options)) => passes::run(&options),
        None => passes::run(&passes::Options::parse_from(["passes"])),
    }
}
