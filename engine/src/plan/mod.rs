//! The step as data: which stages run, over which buffers, in which order, and with which barriers between them.
//!
//! A [`Recording`] is built without a device and is independent of one. [`barriers::schedule`] derives its barriers
//! from the access that every stage declares, [`Recording`]'s `Display` prints it, and a backend runs it. The modules
//! under [`primitives`] and the phases of the step append their passes to a recording.

pub mod barriers;
pub mod detect;
mod error;
mod finish;
mod graph;
pub mod primitives;
pub mod queries;
mod recording;
mod sharing;
pub(crate) mod soft_surface;
mod solve;

pub mod step;
pub mod substeps;
mod text;

pub use barriers::{Barrier, Schedule, Step};
pub use drystone_kernels::gpu::{Access, Binding, Buffer, BufferId, Invocation, Stage};
pub use error::PlanError;
pub use recording::{BlockId, BlockInfo, BufferInfo, Command, Groups, Recording, Use, UseKind};
