//! The step as data: what runs, over which buffers, in which order, and which barriers stand between.
//!
//! A [`Recording`] is built without a device and says nothing about one. [`barriers::schedule`] derives its barriers
//! from the access every stage declares, [`Recording`]'s `Display` prints it, and a backend runs it. The modules
//! named after primitives append their passes to a recording.

pub mod barriers;
pub mod detect;
mod finish;
mod graph;
pub mod primitives;
pub mod queries;
mod recording;
mod sharing;
mod solve;

pub mod step;
pub mod substeps;
mod text;

pub use barriers::{Barrier, Schedule, Step};
pub use drystone_kernels::gpu::{Access, Binding, Buffer, BufferId, Invocation, Stage};
pub use recording::{BlockId, BlockInfo, BufferInfo, Command, Groups, PlanError, Recording, Use, UseKind};
