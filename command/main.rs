//! The `drystone` command.

/// Prints a line. Unlike `println!` it does not panic when nobody reads on: that is an error like any other, and ends
/// the command quietly.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        writeln!(std::io::stdout(), $($text)*)?
    }};
}

mod budget;
mod export;
mod files;
mod film;
mod follow;
mod html;
mod import;
mod info;
mod interrupt;
mod log;
mod near;
mod outputs;
mod paper;
mod passes;
mod pictures;
mod plot;
mod report;
mod run;
mod sweep;
mod table;
mod trace;

use clap::{Parser, Subcommand};
use std::io::Write;
use std::process::ExitCode;

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
    /// Prints the whole step of a scene: buffers, commands, and the barriers between them. Without a scene: runs the
    /// broad phase over random boxes on every backend, shows the time of every pass, and compares results.
    Passes(passes::Options),
    /// Writes a scene as a file that `run` reads.
    Export(export::Options),
    /// Writes a mesh as a scene file: cloth or a solid over a floor.
    Import(import::Options),
    /// Runs a scene once for every value of a parameter, and writes the curves.
    Sweep(sweep::Options),
    /// The figures and tables of the papers, with every method: pictures, plots, and what was published beside what is
    /// found, as a page and as JSON.
    Paper(paper::Options),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Some(Command::Info) => info::run(),
        Some(Command::Run(options)) => run::run(&options),
        Some(Command::Passes(options)) => passes::run(&options),
        Some(Command::Export(options)) => export::run(&options),
        Some(Command::Import(options)) => import::run(&options),
        Some(Command::Sweep(options)) => sweep::run(&options),
        Some(Command::Paper(options)) => paper::run(&options),
        None => run::run(&run::Options::parse_from(["run"])),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read what was printed has seen enough of it.
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let code = if error.is::<interrupt::Ended>() { interrupt::ENDED } else { 1 };
            // Where nobody reads standard error, nobody can be told.
            let _ = writeln!(std::io::stderr(), "Error: {error:?}");
            ExitCode::from(code)
        }
    }
}

/// Whether all that went wrong is that nobody reads standard output on. A pipe that the user named is another matter.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
