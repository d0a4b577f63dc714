//! A trace of every pass of every step, in the format that Chrome (`chrome://tracing`) and Perfetto open.

use super::files::Output;
use anyhow::Context;
use drystone::StepReport;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

const PROCESS: u32 = 1;
const STEPS: u32 = 1;
const PASSES: u32 = 2;

/// A trace that is being written.
pub struct Trace {
    file: Output,
    events: u64,
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

impl Trace {
    pub fn new(path: &Path, scene: &str) -> anyhow::Result<Self> {
        let mut trace = Self { file: Output::create(path)?, events: 0 };
        trace.file.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
        let name = |what: &str, thread: u32, name: &str| json!({"ph": "M", "name": what, "pid": PROCESS, "tid": thread, "args": {"name": name}});
        trace.event(&name("process_name", 0, &format!("drystone run {scene}")))?;
        trace.event(&name("thread_name", STEPS, "steps"))?;
        trace.event(&name("thread_name", PASSES, "passes"))?;
        Ok(trace)
    }

    fn event(&mut self, event: &Value) -> anyhow::Result<()> {
        self.file.write_all(if self.events == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut self.file, event).context("cannot write the trace")?;
        self.events += 1;
        Ok(())
    }

    /// Step number `step`, which began at `start` and took `time`. Passes are laid one after the other from its start:
    /// devices tell how long each took, not when it began.
    pub fn step(&mut self, step: u32, start: Duration, time: Duration, report: &StepReport) -> anyhow::Result<()> {
        let begin = microseconds(start);
        self.event(&json!({
            "ph": "X", "cat": "step", "name": format!("step {step}"), "pid": PROCESS, "tid": STEPS,
            "ts": begin, "dur": microseconds(time),
            "args": {"pairs": report.pairs, "manifolds": report.manifolds, "grown": report.grown,
                "substeps": report.substeps, "substeps_wanted": report.substeps_wanted},
        }))?;
        let mut at = begin;
        for run in &report.times {
            for pass in &run.passes {
                let duration = microseconds(pass.time);
                self.event(&json!({
                    "ph": "X", "cat": "pass", "name": pass.name, "pid": PROCESS, "tid": PASSES,
                    "ts": at, "dur": duration, "args": {"step": step, "command": pass.command, "commands": pass.commands},
                }))?;
                at += duration;
            }
        }
        self.event(&json!({
            "ph": "C", "name": "contacts", "pid": PROCESS, "tid": STEPS, "ts": begin,
            "args": {"pairs": report.pairs, "manifolds": report.manifolds, "substeps": report.substeps},
        }))
    }

    pub fn finish(mut self) -> anyhow::Result<()> {
        self.file.write_all(b"\n]}\n").context("cannot write the trace")?;
        self.file.finish()
    }
}
