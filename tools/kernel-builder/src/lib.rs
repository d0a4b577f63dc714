//! Compiles the kernels with rust-gpu, looks into the modules, and writes them with their manifest.
//!
//! Used by `tools/kernels` and by the engine's build script under the feature `build-kernels`.

mod fuse;
mod reflect;

use drystone_kernels::gpu::Stage;
use drystone_kernels::manifest::{self, Manifest, fnv1a};
use spirv_builder::{Capability, SpirvBuilder};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Version of spirv-builder this crate is pinned to.
pub const SPIRV_BUILDER: &str = "0.10.0-alpha.1";

/// Why the kernels could not be built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The toolchain's folder has no code generator.
    #[error("{0} has no lib/librustc_codegen_spirv.so: not a rust-gpu toolchain; set DRYSTONE_RUST_GPU to one")]
    NoCodegen(PathBuf),
    /// The toolchain's compiler does not answer.
    #[error("cannot ask {compiler} for its version: {why}")]
    NoCompiler {
        /// The compiler.
        compiler: PathBuf,
        /// What it said.
        why: String,
    },
    /// rust-gpu refused the kernels.
    #[error("rust-gpu cannot compile the kernels: {0}")]
    Compile(#[from] spirv_builder::SpirvBuilderError),
    /// A stage is in the source but rust-gpu made no module for it.
    #[error("rust-gpu made no entry point for stage `{0}`; it drops small ones when they are inlined across crates")]
    Vanished(String),
    /// A compiled module cannot be understood.
    #[error("module `{stage}`: {why}")]
    Reflect {
        /// The stage.
        stage: String,
        /// What is odd about it.
        why: String,
    },
    /// The manifest or a module is wrong.
    #[error(transparent)]
    Manifest(#[from] manifest::Error),
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

/// A compiled kernel.
pub struct Compiled {
    /// The stage it belongs to.
    pub stage: &'static Stage,
    /// SPIR-V.
    pub bytes: Vec<u8>,
}

/// All kernels, compiled.
pub struct Output {
    /// What to write beside them.
    pub manifest: Manifest,
    /// The modules.
    pub modules: Vec<Compiled>,
}

fn compiler_version(toolchain: Option<&Path>) -> Result<(String, semver::Version), Error> {
    let compiler = toolchain.map_or_else(|| PathBuf::from("rustc"), |t| t.join("bin/rustc"));
    let failed = |why: String| Error::NoCompiler { compiler: compiler.clone(), why };
    let output = Command::new(&compiler).arg("--version").output().map_err(|e| failed(e.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let number = text.split_whitespace().nth(1).unwrap_or_default();
    let version = semver::Version::parse(number).map_err(|e| failed(format!("`{text}`: {e}")))?;
    Ok((text, version))
}

/// Compiles every stage. `toolchain` is a folder with `bin/rustc`, `bin/cargo` and the code generator; without one, the
/// compiler on the path is used, and this crate must have been built with `compile-codegen`.
///
/// # Safety
/// Sets environment variables of this process for the compiler it starts: no other thread may run.
pub unsafe fn build(toolchain: Option<&Path>, target_dir: &Path) -> Result<Output, Error> {
    let (compiler, version) = compiler_version(toolchain)?;
    let mut builder = SpirvBuilder::new(manifest::crate_root(), "spirv-unknown-vulkan1.2")
        .multimodule(true)
        .scalar_block_layout(true)
        .deny_warnings(true)
        .target_dir_path(target_dir)
        .capability(Capability::GroupNonUniform)
        .capability(Capability::GroupNonUniformArithmetic)
        .capability(Capability::GroupNonUniformBallot)
        .capability(Capability::GroupNonUniformShuffle);
    builder.toolchain_rustc_version = Some(version);
    // The modules must not depend on where the checkout lies: paths reach crate hashes, and those the order of code.
    let mut flags = vec!["-Zcross-crate-inline-threshold=never".to_owned()];
    if let Some(toolchain) = toolchain {
        let codegen = toolchain.join("lib/librustc_codegen_spirv.so");
        if !codegen.is_file() {
            return Err(Error::NoCodegen(toolchain.to_owned()));
        }
        builder = builder.rustc_codegen_spirv_location(codegen);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(toolchain.join("bin")).chain(std::env::split_paths(&path));
        if let Ok(path) = std::env::join_paths(paths) {
            // SAFETY: this function's contract: no other thread runs.
            unsafe { std::env::set_var("PATH", path) };
        }
        flags.push(format!("--remap-path-prefix={}=toolchain", toolchain.display()));
    }
    // SAFETY: as above. The compiler is a stable release that must accept unstable flags, and its stack must hold the
    // inlined kernels.
    unsafe {
        std::env::set_var("RUSTC_BOOTSTRAP", "1");
        std::env::set_var("RUST_MIN_STACK", "33554432");
        std::env::set_var("RUSTGPU_RUSTFLAGS", flags.join(" "));
        // Line tables would put paths of this machine into the modules and make them thirty times larger.
        std::env::set_var("CARGO_PROFILE_RELEASE_DEBUG", "false");
    }

    let result = builder.build()?;
    let files = result.module.unwrap_multi();
    let mut output = Output {
        manifest: Manifest {
            sources: manifest::source_hash(manifest::crate_root())?,
            compiler,
            builder: SPIRV_BUILDER.to_owned(),
            modules: Vec::new(),
        },
        modules: Vec::new(),
    };
    for stage in drystone_kernels::STAGES {
        let path = files.get(stage.name).ok_or_else(|| Error::Vanished(stage.name.to_owned()))?;
        let bytes = std::fs::read(path).map_err(|source| manifest::Error::Unreadable { path: path.clone(), source })?;
        let odd = |why| Error::Reflect { stage: stage.name.to_owned(), why };
        let bytes = fuse::access_chains(&bytes).map_err(odd)?;
        let mut module = reflect::module(stage, &bytes).map_err(odd)?;
        module.bytes = bytes.len();
        module.hash = fnv1a(bytes.iter().copied());
        module.matches(stage)?;
        output.manifest.modules.push(module);
        output.modules.push(Compiled { stage, bytes });
    }
    Ok(output)
}

impl Output {
    /// Writes the modules and the manifest, and removes modules of stages that are no more.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::Write { path, source }
        };
        std::fs::create_dir_all(folder).map_err(failed(folder))?;
        for entry in std::fs::read_dir(folder).map_err(failed(folder))?.flatten() {
            let path = entry.path();
            let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            let known = self.modules.iter().any(|m| m.stage.name == stem);
            if path.extension().is_some_and(|e| e == "spv") && !known {
                std::fs::remove_file(&path).map_err(failed(&path))?;
            }
        }
        for module in &self.modules {
            let path = folder.join(format!("{}.spv", module.stage.name));
            std::fs::write(&path, &module.bytes).map_err(failed(&path))?;
        }
        let path = folder.join(manifest::FILE);
        std::fs::write(&path, self.manifest.to_text()).map_err(failed(&path))
    }

    /// What differs between this build and the modules in `folder`, a line each; empty when every byte agrees.
    pub fn differences(&self, folder: &Path) -> Vec<String> {
        let mut lines = Vec::new();
        for module in &self.modules {
            match std::fs::read(folder.join(format!("{}.spv", module.stage.name))) {
                Ok(bytes) if bytes == module.bytes => {}
                Ok(bytes) => lines.push(format!(
                    "{}.spv: {} bytes checked in, {} bytes built, contents differ",
                    module.stage.name,
                    bytes.len(),
                    module.bytes.len()
                )),
                Err(error) => lines.push(format!("{}.spv: {error}", module.stage.name)),
            }
        }
        match std::fs::read_to_string(folder.join(manifest::FILE)).map(|text| Manifest::parse(&text)) {
            Ok(Ok(there)) => {
                // Another build of the same compiler release may name itself differently; its bytes are what counts.
                let there = Manifest { compiler: self.manifest.compiler.clone(), ..there };
                if there != self.manifest {
                    lines.push(format!("{}: does not describe this build", manifest::FILE));
                }
            }
            Ok(Err(error)) => lines.push(error.to_string()),
            Err(error) => lines.push(format!("{}: {error}", manifest::FILE)),
        }
        lines
    }
}
