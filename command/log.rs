//! `--log`: what the engine says to `tracing`, a line each on standard error.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Detail {
    /// Steps that were left out or made in part, and bodies that were taken out.
    Warnings,
    /// Lists that grow, too.
    Changes,
    /// And the host's work: preparing, recording, compiling.
    Spans,
}

struct Lines {
    most: Level,
    start: Instant,
    spans: AtomicU64,
}

/// The fields of a line.
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

impl Lines {
    fn print(&self, what: &str, record: impl FnOnce(&mut Fields)) {
        let mut fields = Fields(String::new());
        record(&mut fields);
        eprintln!("{:>10.3} ms {what}{}", self.start.elapsed().as_secs_f64() * 1e3, fields.0);
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "drystone" && *metadata.level() <= self.most
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.print(span.metadata().name(), |fields| span.record(fields));
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.print(event.metadata().level().as_str(), |fields| event.record(fields));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Prints from here on.
pub fn start(detail: Detail) {
    let most = match detail {
        Detail::Warnings => Level::WARN,
        Detail::Changes => Level::INFO,
        Detail::Spans => Level::DEBUG,
    };
    // Nobody else sets one in this program.
    let _ = tracing::subscriber::set_global_default(Lines { most, start: Instant::now(), spans: AtomicU64::new(1) });
}
