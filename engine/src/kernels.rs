//! The compiled kernels that ship with the engine, as SPIR-V embedded by the build script. The Vulkan backend and
//! tools read them from here.

use crate::Result;
use drystone_kernels::manifest;

pub use drystone_kernels::STAGES;
pub use drystone_kernels::manifest::{Error as ManifestError, Manifest};

static MODULES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/modules.rs"));

/// Returns the SPIR-V of a stage as words. An error when there is no such stage or its bytes cannot be a SPIR-V
/// module.
pub fn spirv(stage: &str) -> Result<Vec<u32>> {
    let module = MODULES.iter().find(|(name, _)| *name == stage);
    let (_, bytes) = module.ok_or_else(|| manifest::Error::Mismatch {
        stage: stage.to_owned(),
        what: "not among the compiled kernels".to_owned(),
    })?;
    words(stage, bytes)
}

/// Converts bytes to SPIR-V words. An error when they cannot be a SPIR-V module.
pub fn words(stage: &str, bytes: &[u8]) -> Result<Vec<u32>> {
    manifest::check_spirv(stage, bytes)?;
    Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}
