//! `drystone`: physics for people who own a Vulkan renderer.
//!
//! Every pass is a compute kernel written in Rust, compiled to SPIR-V and natively from one source. A step is plain data,
//! a [`plan::Recording`]; a backend runs it:
//!
//! - [`vulkan`] records it into *your* command buffer, on *your* device, and never submits or waits on its own;
//! - [`cpu`] calls the same kernels on threads, on machines without a GPU.
//!
//! ```
//! use drystone::backend::{Runner, RunnerExt};
//! use drystone::plan::{Recording, sort::{Pairs, Sort}};
//! use drystone::layout::Extent;
//!
//! let mut recording = Recording::new("sort");
//! let counters = recording.buffer::<u32>("counters", 1)?;
//! let input = Pairs::new(&mut recording, "input", 3)?;
//! let sort = Sort { input, extent: Extent::host(3), key_bits: 32, counters, spare: 0 };
//! let sorted = sort.record(&mut recording, "sort")?;
//!
//! let mut cpu = drystone::cpu::Cpu::new(recording, None)?;
//! cpu.write(input.keys, &[30, 10, 20])?;
//! cpu.write(input.payloads, &[0, 1, 2])?;
//! cpu.run()?;
//! assert_eq!(cpu.read(sorted.payloads)?, [1, 2, 0]);
//! # Ok::<(), drystone::Error>(())
//! ```

pub mod backend;
pub mod cpu;
mod error;
pub mod kernels;
pub mod metrics;
pub mod plan;
pub mod scenes;
mod settings;
mod simulation;
#[cfg(feature = "vulkan")]
pub mod vulkan;
pub mod world;

pub use drystone_kernels::gpu::glam;
pub use drystone_kernels::layout;
pub use error::{Error, Result};
pub use settings::{Settings, SettingsError};
pub use simulation::{BodyState, Simulation, StepReport};
