//! Atomic output files: each is written to a temporary file beside its target, flushed, and renamed when it is
//! complete. Until then an old file stays unchanged. A full disk is an error, and the temporary files of a failed run
//! are removed.

use anyhow::anyhow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Temporary files that are being written; removed when the command ends the process itself.
static PARTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn parts<T>(change: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    change(&mut PARTS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Removes what is not complete, before the process is ended in the middle of a run.
pub fn remove_parts() {
    for part in parts(std::mem::take) {
        // It may have been renamed just now.
        let _ = std::fs::remove_file(part);
    }
}

/// Converts an I/O error to text, so that a broken pipe of a file the user named is reported, unlike that of standard
/// output.
fn unwritable(path: &Path, error: &std::io::Error) -> anyhow::Error {
    anyhow!("cannot write {}: {error}", path.display())
}

/// A file that is being written.
pub struct Output {
    file: BufWriter<File>,
    path: PathBuf,
    /// Where it lies until it is complete. Devices and pipes are written directly.
    part: Option<PathBuf>,
}

impl Output {
    /// Fails early when a file cannot be written later.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        Self::open(path).map_err(|e| unwritable(path, &e))
    }

    fn open(path: &Path) -> std::io::Result<Self> {
        // What a link leads to is replaced, not the link.
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match std::fs::metadata(&target) {
            Ok(found) if !found.is_file() => {
                let file = File::options().write(true).open(&target)?;
                return Ok(Self { file: BufWriter::new(file), path: path.to_owned(), part: None });
            }
            // Renaming would not ask whether it may be written.
            Ok(_) => drop(File::options().append(true).open(&target)?),
            Err(_) => {}
        }
        let mut name = std::ffi::OsString::from(".");
        name.push(target.file_name().unwrap_or_default());
        name.push(format!(".{}.part", std::process::id()));
        let part = target.with_file_name(name);
        // What was left there by a process of the same number goes; a link that somebody put there is not followed.
        let _ = std::fs::remove_file(&part);
        let file = File::create_new(&part)?;
        parts(|all| all.push(part.clone()));
        Ok(Self { file: BufWriter::new(file), path: target, part: Some(part) })
    }

    /// Brings everything to the disk, and the file to its place.
    pub fn finish(mut self) -> anyhow::Result<()> {
        self.complete().map_err(|e| unwritable(&self.path, &e))
    }

    fn complete(&mut self) -> std::io::Result<()> {
        self.file.flush()?;
        let Some(part) = self.part.take() else { return Ok(()) };
        let done = self.file.get_ref().sync_all().and_then(|()| std::fs::rename(&part, &self.path));
        self.part = done.is_err().then_some(part.clone());
        parts(|all| all.retain(|p| *p != part));
        done
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(part) = self.part.take() {
            let _ = std::fs::remove_file(&part);
            parts(|all| all.retain(|p| *p != part));
        }
    }
}

/// Writes a whole file.
pub fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(bytes).map_err(|e| unwritable(path, &e))?;
    output.finish()
}
