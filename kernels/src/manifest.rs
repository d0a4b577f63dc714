//! The record kept beside the compiled kernels: which sources they were made from, by which compiler, and what every
//! module offers. Host only. The kernel builder writes it, the build script and the tests check it.
//!
//! Plain text, a line a fact, so that a change of the kernels can be read in a diff:
//!
//! ```text
//! drystone-kernels 1
//! sources 8c1f...          FNV-1a over the crate's sources
//! compiler rustc 1.96.0
//! spirv-builder 0.10.0-alpha.1
//! stage reduce threads 256 push 12 bytes 3120 hash 77ab...
//!   0 read values stride 4
//! ```

use crate::gpu::{Access, Stage};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Name of the manifest in the folder of the compiled modules.
pub const FILE: &str = "manifest.txt";

/// Where the checked-in modules are.
pub fn checked_in() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("spirv")
}

/// The crate that the modules are compiled from.
pub fn crate_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What is wrong with a folder of compiled kernels.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}; run `tools/kernels` to build the kernels")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A line of the manifest is not understood.
    #[error("line {line} of the kernel manifest is not understood: `{text}`; run `tools/kernels` to write it anew")]
    Malformed {
        /// Number of the line, from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// The kernels' sources were changed after the modules were compiled.
    #[error(
        "the compiled kernels are out of date: sources have hash {sources:016x}, the manifest was written for \
         {manifest:016x}; run `tools/kernels`, or build with the feature `build-kernels`"
    )]
    OutOfDate {
        /// Hash of the sources as they are.
        sources: u64,
        /// Hash in the manifest.
        manifest: u64,
    },
    /// A module's bytes are not those the manifest describes.
    #[error("module `{stage}` is damaged: {what}; run `tools/kernels`, or restore kernels/spirv")]
    Damaged {
        /// The stage.
        stage: String,
        /// How.
        what: String,
    },
    /// The manifest and the stages in the source disagree.
    #[error("stage `{stage}`: {what}; run `tools/kernels`")]
    Mismatch {
        /// The stage.
        stage: String,
        /// How.
        what: String,
    },
}

/// A binding as the compiled module has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Number in descriptor set 0.
    pub number: u32,
    /// How the module uses it.
    pub access: Access,
    /// The field's name.
    pub name: String,
    /// Bytes an element.
    pub stride: u32,
}

/// A compiled module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Stage and entry point.
    pub stage: String,
    /// Lanes a workgroup.
    pub threads: u32,
    /// Bytes of push constants.
    pub push: u32,
    /// Bytes of the file.
    pub bytes: usize,
    /// FNV-1a of the file.
    pub hash: u64,
    /// Storage buffers.
    pub bindings: Vec<Bound>,
}

/// Everything the manifest says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Hash of the sources, see [`source_hash`].
    pub sources: u64,
    /// What the compiler says of itself.
    pub compiler: String,
    /// Version of spirv-builder.
    pub builder: String,
    /// The modules, in the order of the stages.
    pub modules: Vec<Module>,
}

/// 64-bit FNV-1a: enough to see that something changed, and the same everywhere.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| Error::Unreadable { path: path.to_owned(), source })
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) -> Result<(), Error> {
    let unreadable = |source| Error::Unreadable { path: folder.to_owned(), source };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            sources(&path, into)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
    Ok(())
}

/// Hash over every source file of the kernel crate at `root`: names and contents, carriage returns left out so that a
/// checkout on Windows gives the same.
///
/// `Cargo.toml` is no part of it: cargo rewrites that file when it packages the crate. Whether a change of it changes a
/// module is seen by `tools/kernels --check`, which compiles them anew.
pub fn source_hash(root: &Path) -> Result<u64, Error> {
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files)?;
    let mut named = Vec::new();
    for path in files {
        let relative = path.strip_prefix(root).unwrap_or(&path);
        let name = relative.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
        named.push((name, read(&path)?));
    }
    named.sort();
    Ok(fnv1a(named.into_iter().flat_map(|(name, contents)| {
        name.into_bytes().into_iter().chain([0]).chain(contents.into_iter().filter(|&b| b != b'\r')).chain([0])
    })))
}

/// Checks that `bytes` are whole SPIR-V words with the right header.
pub fn check_spirv(stage: &str, bytes: &[u8]) -> Result<(), Error> {
    let damaged = |what: String| Err(Error::Damaged { stage: stage.to_owned(), what });
    if bytes.len() < 20 || !bytes.len().is_multiple_of(4) {
        return damaged(format!("{} bytes are not a SPIR-V module", bytes.len()));
    }
    if bytes[..4] != 0x0723_0203u32.to_le_bytes() {
        return damaged("it does not start with SPIR-V's magic number".to_owned());
    }
    Ok(())
}

impl Module {
    /// Checks a module's bytes against what the manifest says of them.
    pub fn check(&self, bytes: &[u8]) -> Result<(), Error> {
        check_spirv(&self.stage, bytes)?;
        let damaged = |what: String| Err(Error::Damaged { stage: self.stage.clone(), what });
        if bytes.len() != self.bytes {
            return damaged(format!("{} bytes instead of {}", bytes.len(), self.bytes));
        }
        let hash = fnv1a(bytes.iter().copied());
        if hash != self.hash {
            return damaged(format!("hash {hash:016x} instead of {:016x}", self.hash));
        }
        Ok(())
    }

    /// Checks that the module offers what the stage in the source declares.
    pub fn matches(&self, stage: &Stage) -> Result<(), Error> {
        let mismatch = |what: String| Err(Error::Mismatch { stage: stage.name.to_owned(), what });
        if self.threads != stage.threads {
            return mismatch(format!("compiled for {} lanes, declared with {}", self.threads, stage.threads));
        }
        if self.push != stage.push_size {
            return mismatch(format!("compiled push constants have {} bytes, declared {}", self.push, stage.push_size));
        }
        let declared: Vec<Bound> = stage
            .bindings
            .iter()
            .map(|b| Bound { number: b.number, access: b.access, name: b.name.to_owned(), stride: b.stride })
            .collect();
        if self.bindings != declared {
            return mismatch(format!("compiled bindings {:?}, declared {declared:?}", self.bindings));
        }
        Ok(())
    }
}

impl Manifest {
    /// The manifest as text.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "drystone-kernels 1");
        let _ = writeln!(text, "sources {:016x}", self.sources);
        let _ = writeln!(text, "compiler {}", self.compiler);
        let _ = writeln!(text, "spirv-builder {}", self.builder);
        for m in &self.modules {
            let Module { stage, threads, push, bytes, hash, bindings } = m;
            let _ = writeln!(text, "stage {stage} threads {threads} push {push} bytes {bytes} hash {hash:016x}");
            for b in bindings {
                let _ = writeln!(text, "  {} {} {} stride {}", b.number, b.access.word(), b.name, b.stride);
            }
        }
        text
    }

    /// Reads a manifest's text.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut manifest = Self { sources: 0, compiler: String::new(), builder: String::new(), modules: Vec::new() };
        let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
        let malformed = |(line, text): (usize, &str)| Error::Malformed { line, text: text.to_owned() };
        let header = lines.next().unwrap_or((1, ""));
        if header.1 != "drystone-kernels 1" {
            return Err(malformed(header));
        }
        for line in lines {
            manifest.parse_line(line.1).ok_or_else(|| malformed(line))?;
        }
        Ok(manifest)
    }

    fn parse_line(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["sources", hash] => self.sources = u64::from_str_radix(hash, 16).ok()?,
            ["compiler", ..] => self.compiler = line.strip_prefix("compiler ")?.to_owned(),
            ["spirv-builder", version] => self.builder = (*version).to_owned(),
            ["stage", stage, "threads", threads, "push", push, "bytes", bytes, "hash", hash] => {
                self.modules.push(Module {
                    stage: (*stage).to_owned(),
                    threads: threads.parse().ok()?,
                    push: push.parse().ok()?,
                    bytes: bytes.parse().ok()?,
                    hash: u64::from_str_radix(hash, 16).ok()?,
                    bindings: Vec::new(),
                });
            }
            [number, access, name, "stride", stride] => self.modules.last_mut()?.bindings.push(Bound {
                number: number.parse().ok()?,
                access: match *access {
                    "read" => Access::Read,
                    "write" => Access::Write,
                    "update" => Access::Update,
                    _ => return None,
                },
                name: (*name).to_owned(),
                stride: stride.parse().ok()?,
            }),
            _ => return None,
        }
        Some(())
    }

    /// Reads the manifest in `folder` and checks it against the sources at `root`, the stages in this build, and
    /// every module file.
    pub fn verify(folder: &Path, root: &Path, stages: &[&Stage]) -> Result<Self, Error> {
        let manifest = Self::parse(&String::from_utf8_lossy(&read(&folder.join(FILE))?))?;
        let sources = source_hash(root)?;
        if sources != manifest.sources {
            return Err(Error::OutOfDate { sources, manifest: manifest.sources });
        }
        for stage in stages {
            let module = manifest.modules.iter().find(|m| m.stage == stage.name).ok_or_else(|| Error::Mismatch {
                stage: stage.name.to_owned(),
                what: "declared, but not among the compiled modules".to_owned(),
            })?;
            module.matches(stage)?;
            module.check(&read(&folder.join(format!("{}.spv", stage.name)))?)?;
        }
        Ok(manifest)
    }
}
