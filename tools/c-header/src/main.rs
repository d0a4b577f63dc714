//! Makes `engine/include/drystone.h` from `engine/src/ffi` with cbindgen. With `--check` nothing is written, and a
//! header that does not belong to the sources is an error. `tools/c-library` calls it.

use anyhow::{Context, Result, bail};
use std::path::Path;

/// In the order in which the header has their functions.
const SOURCES: &[&str] = &[
    "error", "vulkan", "memory", "create", "stepper", "frames", "report", "passes", "settings", "describe", "convert",
    "world", "soft", "read", "queries", "buffers", "drawn",
];

fn main() -> Result<()> {
    let check = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--check") => true,
        Some(other) => bail!("unknown argument `{other}`; there is --check"),
    };
    let engine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engine");
    let path = engine.join("include/drystone.h");
    let configuration = cbindgen::Config::from_file(engine.join("cbindgen.toml")).map_err(anyhow::Error::msg)?;
    let sources = SOURCES.iter();
    let builder = sources.fold(cbindgen::Builder::new().with_config(configuration), |builder, name| {
        builder.with_src(engine.join(format!("src/ffi/{name}.rs")))
    });
    let mut header = Vec::new();
    builder.generate()?.write(&mut header);
    if !check {
        return std::fs::write(&path, header).with_context(|| format!("{}", path.display()));
    }
    let there = std::fs::read(&path).with_context(|| format!("{}", path.display()))?;
    if there != header {
        bail!("engine/include/drystone.h does not belong to engine/src/ffi: run tools/c-library --header");
    }
    Ok(())
}
