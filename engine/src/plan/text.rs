//! A recording as text: buffers first, then the commands as they run, with what each reads and writes and the barriers
//! in between. Meant for people; nothing parses it.

use super::barriers::{Barrier, Step, schedule};
use super::recording::{Command, Groups, Recording, UseKind};
use drystone_kernels::gpu::BufferId;
use std::collections::BTreeSet;
use std::fmt;

/// Bytes in a unit that fits.
pub(crate) fn bytes(size: u64) -> String {
    match size {
        0..1_000 => format!("{size} B"),
        1_000..1_000_000 => format!("{:.1} kB", size as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", size as f64 / 1e6),
        _ => format!("{:.2} GB", size as f64 / 1e9),
    }
}

impl Recording {
    fn name_of(&self, buffer: BufferId) -> &str {
        self.info(buffer).map_or("?", |b| b.name.as_str())
    }

    fn write_command(&self, f: &mut fmt::Formatter<'_>, command: &Command) -> fmt::Result {
        match command {
            Command::Dispatch { invocation, groups } => {
                let stage = invocation.stage;
                write!(f, "{}", stage.name)?;
                match *groups {
                    Groups::Direct(count) => write!(f, " x{count}")?,
                    Groups::Indirect { args, index } => write!(f, " x{}[{index}]", self.name_of(args))?,
                }
                for (binding, &buffer) in stage.bindings.iter().zip(&invocation.buffers) {
                    write!(f, "  {} {}", binding.access.word(), self.name_of(buffer))?;
                }
                write!(f, "  {}", (stage.push_text)(&invocation.push))
            }
            Command::Fill { buffer, range, value } => {
                write!(f, "fill  write {}[{}..{}]  {value}", self.name_of(*buffer), range.start, range.end)
            }
            Command::Copy { source, source_offset, target, target_offset, size } => write!(
                f,
                "copy  read {}[{source_offset}..]  write {}[{target_offset}..]  {size} bytes",
                self.name_of(*source),
                self.name_of(*target),
            ),
        }
    }

    fn write_barrier(&self, f: &mut fmt::Formatter<'_>, barrier: &Barrier) -> fmt::Result {
        let side = |kinds: &BTreeSet<UseKind>| {
            let words: Vec<_> = kinds.iter().map(UseKind::to_string).collect();
            words.join(" + ")
        };
        let what = if barrier.memory { "barrier" } else { "wait" };
        let buffers: Vec<_> = barrier.buffers.iter().map(|&b| self.name_of(b)).collect();
        write!(f, "---- {what} {} -> {}  ({})", side(&barrier.before), side(&barrier.after), buffers.join(", "))
    }
}

impl fmt::Display for UseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shader => "shader",
            Self::Transfer => "transfer",
            Self::Indirect => "indirect",
        })
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.memory();
        writeln!(f, "recording {}: {} buffers, {}", self.name(), self.buffers().len(), bytes(total))?;
        for b in self.buffers() {
            let indirect = if b.indirect { ", indirect" } else { "" };
            let (role, size) = (b.role.word(), bytes(b.size()));
            writeln!(f, "  {:<20} {:>10} x {:>3} B = {size}, {role}{indirect}", b.name, b.count, b.stride)?;
        }
        for step in schedule(self).steps {
            match step {
                Step::Command(index) => {
                    write!(f, "  {index:>4} ")?;
                    self.write_command(f, &self.commands()[index])?;
                }
                Step::Barrier(barrier) => {
                    write!(f, "       ")?;
                    self.write_barrier(f, &barrier)?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
