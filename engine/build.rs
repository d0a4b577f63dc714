//! Embeds the kernels' SPIR-V: the modules checked in beside the kernels, or, with the feature `build-kernels`, modules
//! compiled now. Fails with a message when the checked-in ones do not belong to the sources.

use drystone_kernels::STAGES;
use drystone_kernels::manifest::{self, Manifest};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    match embed() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("cargo::error={message}");
            ExitCode::FAILURE
        }
    }
}

fn embed() -> Result<(), String> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR for build scripts")?);
    let root = manifest::crate_root();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", root.display());
    let folder = modules(&out)?;
    Manifest::verify(&folder, root, STAGES).map_err(|e| e.to_string())?;

    let mut code = String::from("&[\n");
    for stage in STAGES {
        let path = folder.join(format!("{}.spv", stage.name));
        // Writing to a string cannot fail.
        let _ = writeln!(code, "    ({:?}, include_bytes!({:?})),", stage.name, path.display().to_string());
    }
    code.push_str("]\n");
    std::fs::write(out.join("modules.rs"), code).map_err(|e| format!("cannot write the list of modules: {e}"))
}

#[cfg(not(feature = "build-kernels"))]
fn modules(_out: &Path) -> Result<PathBuf, String> {
    Ok(manifest::checked_in())
}

#[cfg(feature = "build-kernels")]
fn modules(out: &Path) -> Result<PathBuf, String> {
    println!("cargo::rerun-if-env-changed=DRYSTONE_RUST_GPU");
    let toolchain = std::env::var_os("DRYSTONE_RUST_GPU").map(PathBuf::from);
    // Cargo holds its own target folder locked while it runs this script: rust-gpu gets another one.
    // SAFETY: the only thread of the build script.
    let built = unsafe { drystone_kernel_builder::build(toolchain.as_deref(), &out.join("rust-gpu")) };
    let folder = out.join("spirv");
    built.and_then(|output| output.write(&folder)).map_err(|e| e.to_string())?;
    Ok(folder)
}
