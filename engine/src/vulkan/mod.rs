//! The Vulkan backend: turns a recording into `vkCmd*` calls inside a command buffer that somebody else owns.
//!
//! Everything here works on *borrowed* handles ([`Host`]). Nothing is submitted, waited for or loaded without the
//! caller's knowledge; the helpers that do so ([`Queue`], and with the feature `loader` `OwnDevice` and
//! `VulkanRunner`) are separate layers on top.
//!
//! 1. Before `vkCreateDevice`: [`Support::query`] tells what a physical device offers and what is missing;
//!    [`enable_required`] sets the features, [`enable_required_in_chain`] wherever in a chain they are.
//! 2. [`Kernels::new`] holds the pipelines of a device, compiled when they are needed or ahead of time.
//! 3. [`Stepper`](crate::stepper::Stepper) steps a world inside the host's frames: `prepare`, `record`, `poll`.
//! 4. [`PoseView`] names the buffers that poses are drawn from; [`PoseTarget`] is a buffer of the host's that poses
//!    are written into, interpolated between two frames if the renderer has its own frame rate.
//!
//! One level lower, for any recording: [`Program::new`] makes buffers and descriptor sets, which are written once and
//! never again, so any number of frames may be in flight; [`Program::record`] records it and documents the state on
//! entry and exit; [`Program::times`] returns the time of every pass of an earlier run, once the device has it.
//!
//! | crate | version this works with |
//! |---|---|
//! | `ash` | 0.38 |
//! | `gpu-allocator` | 0.28 (optional) |

mod commands;
mod drawn;
mod error;
mod frames;
mod handover;
mod host;
mod kept;
mod kernels;
mod memory;
mod once;
mod options;
#[cfg(feature = "loader")]
mod own;
mod program;
mod queries;
mod queue;
mod record;
mod requirements;
#[cfg(feature = "loader")]
mod runner;
mod snapshots;
mod staging;
mod timers;
#[cfg(feature = "loader")]
mod validation;
mod views;

pub use ash;
pub use drawn::{LentPoses, PoseTarget};
pub use error::Error;
pub use frames::Frames;
#[cfg(feature = "gpu-allocator")]
pub use gpu_allocator;
pub use host::{Host, HostAllocation};
pub use kernels::Kernels;
pub use memory::{Allocation, Location, Memory, SharedMemory};
#[cfg(feature = "gpu-allocator")]
pub use memory::{GpuAllocator, LendAllocator};
pub use options::{FramesOptions, Overflow};
#[cfg(feature = "loader")]
pub use own::{Loader, OwnDevice, OwnDeviceOptions};
#[cfg(feature = "ffi")]
pub(crate) use program::MOST_IN_FLIGHT;
pub use program::{Program, ProgramOptions};
pub use queries::{QueryView, QueryViews};
pub use queue::{Queue, Signal};
pub use record::HostAccess;
pub use requirements::{API_VERSION, Missing, Support, enable_required, enable_required_in_chain, required_features};
#[cfg(feature = "loader")]
pub use runner::VulkanRunner;
pub use snapshots::RecordedSnapshot;
pub use timers::Timing;
#[cfg(feature = "loader")]
pub use validation::ValidationLog;
pub use views::{JointForceView, PoseView, SoftVertexView, UserBufferView};
