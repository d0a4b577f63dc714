//! `drystone-kernel-builder [--toolchain DIR] [--check]`: called by `tools/kernels`, which finds the toolchain.

use drystone_kernel_builder::build;
use drystone_kernels::manifest;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut toolchain = None;
    let mut check = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--check" => check = true,
            "--toolchain" => toolchain = arguments.next().map(PathBuf::from),
            other => {
                eprintln!("unknown argument `{other}`; usage: drystone-kernel-builder [--toolchain DIR] [--check]");
                return ExitCode::FAILURE;
            }
        }
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let target = match std::path::absolute(target.join("kernels")) {
        Ok(target) => target,
        Err(error) => {
            eprintln!("no folder to build in: {error}");
            return ExitCode::FAILURE;
        }
    };
    // SAFETY: the only thread of this process.
    let output = match unsafe { build(toolchain.as_deref(), &target) } {
        Ok(output) => output,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let folder = manifest::checked_in();
    if check {
        let differences = output.differences(&folder);
        for line in &differences {
            eprintln!("{line}");
        }
        if !differences.is_empty() {
            eprintln!("the checked-in kernels are not what the sources give: run tools/kernels and commit the result");
            return ExitCode::FAILURE;
        }
        println!("{} kernels: every byte as checked in", output.modules.len());
        return ExitCode::SUCCESS;
    }
    if let Err(error) = output.write(&folder) {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    for module in &output.modules {
        println!("{:>7} bytes  {}.spv", module.bytes.len(), module.stage.name);
    }
    ExitCode::SUCCESS
}
