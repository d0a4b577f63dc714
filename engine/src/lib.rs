//! `drystone`: physics for people who own a Vulkan renderer.
//!
//! Every pass is a compute kernel written in Rust, compiled from one source to SPIR-V and to native code. A step is
//! plain data, a [`plan::Recording`]; a backend executes it:
//!
//! - [`vulkan`] records it into *your* command buffer, on *your* device, and never submits or waits on its own;
//! - [`cpu`] calls the same kernels on threads, on machines without a GPU.
//!
//! ```
//! use drystone::{Settings, Simulation, backend::Device, glam::Vec3};
//! use drystone::world::{BodyDesc, Collider, World};
//!
//! let mut world = World::new();
//! world.add(BodyDesc::fixed().with(Collider::half_space()))?;
//! let ball = world.add(BodyDesc::dynamic().at(Vec3::Y * 5.0).with(Collider::sphere(0.5)))?;
//!
//! let mut simulation = Simulation::new(world, Settings::default(), Device::Cpu { threads: None })?;
//! for _ in 0..120 {
//!     simulation.step(1.0 / 60.0)?;
//! }
//! assert!((simulation.body(ball)?.position.y - 0.5).abs() < 0.01);
//! # Ok::<(), drystone::Error>(())
//! ```
//!
//! A [`world`] holds what the user describes, a [`plan`] is the step as data, a [`backend`] runs it, and
//! [`Simulation`] combines the three and waits for every step. Hosts with a renderer use a [`Stepper`] on [`vulkan`]
//! instead, which only records.

pub mod backend;
pub mod cpu;
mod error;
#[cfg(feature = "ffi")]
pub mod ffi;
pub mod kernels;
mod log;
#[cfg(feature = "mesh-files")]
pub mod meshes;
pub mod metrics;
pub mod plan;
pub mod queries;
pub mod render;
pub mod scenes;
mod settings;
mod simulation;
pub mod snapshot;
pub mod state;
pub mod stepper;
#[cfg(feature = "vulkan")]
pub mod vulkan;
pub mod world;

pub use drystone_kernels::gpu::glam;
pub use drystone_kernels::layout;
pub use error::{Error, Result};
pub use queries::{QueryBatch, QueryError, QueryFilter, QueryResults};
pub use settings::{
    AvbdSettings, ImpulseSettings, Integration, PrimalForm, RotationForm, Settings, SettingsError, SoftStepSettings,
    SolveForm, Solver, VbdSettings, XpbdSettings,
};
pub use simulation::Simulation;
pub use snapshot::{Snapshot, SnapshotError};
pub use stepper::LEAST_TIME_STEP;
pub use stepper::{
    BodyState, Contact, Event, EventKind, JointState, Overlap, SoftState, SoftTouch, SoftTouches, StepReport, Stepper,
};
