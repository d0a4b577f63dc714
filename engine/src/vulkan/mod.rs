//! The Vulkan backend: turns a recording into `vkCmd*` calls inside a command buffer that somebody else owns.
//!
//! Everything here works on *borrowed* handles ([`Host`]). Nothing is submitted, waited for or loaded behind the
//! caller's back; the helpers that do ([`Queue`], [`OwnDevice`], [`VulkanRunner`]) are layers on top.
//!
//! 1. Before `vkCreateDevice`: [`Support::query`] tells what a physical device offers and what is missing;
//!    [`enable_required`] sets the features.
//! 2. [`Program::new`] makes pipelines, buffers and descriptor sets for a recording. Descriptor sets are
//!    written once and never again, so any number of frames may be in flight.
//! 3. [`Program::record`] records it. State on entry and exit is documented there.
//! 4. [`Program::times`] gives the time of every pass of an earlier run, when the device has it; it never waits.
//!
//! | crate | version this works with |
//! |---|---|
//! | `ash` | 0.38 |
//! | `gpu-allocator` | 0.28 (optional) |

mod error;
mod host;
mod memory;
#[cfg(feature = "loader")]
mod own;
mod pipelines;
mod program;
mod queue;
mod record;
mod requirements;
#[cfg(feature = "loader")]
mod runner;
mod timers;
#[cfg(feature = "loader")]
mod validation;

pub use ash;
pub use error::Error;
pub use host::Host;
#[cfg(feature = "gpu-allocator")]
pub use memory::GpuAllocator;
pub use memory::{Allocation, Location, Memory};
#[cfg(feature = "loader")]
pub use own::{Loader, OwnDevice, OwnDeviceOptions};
pub use program::{Program, ProgramOptions};
pub use queue::{Queue, Signal};
pub use record::Exit;
pub use requirements::{API_VERSION, Missing, Support, enable_required};
#[cfg(feature = "loader")]
pub use runner::VulkanRunner;
pub use timers::Timing;
#[cfg(feature = "loader")]
pub use validation::ValidationLog;
