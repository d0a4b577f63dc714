//! The C interface, with the feature `ffi`: the record-only path with raw Vulkan handles, and the CPU backend. The
//! header, `engine/include/drystone.h`, is made from these files by cbindgen (`tools/c-library`); its first lines, in
//! `engine/cbindgen.toml`, are the contract with the host. `examples/c` has programs in C and C++.
//!
//! - Every struct begins with its size (`sized.rs`), so that hosts and libraries of different versions understand each
//!   other. Elements of device buffers (`DrystoneBodyPose`) have a version instead.
//! - Errors are numbers and a text of the thread (`error.rs`). Nothing unwinds into the host.
//! - Enumerations come in as numbers and are checked: a number that none of them has would be undefined behaviour in
//!   Rust.
//! - Steppers lock themselves; a call that panicked leaves one that can only be destroyed.
//!
//! This is the only module beside the backends that may be `unsafe`: pointers come from the host.

#[cfg(not(target_pointer_width = "64"))]
compile_error!("the C interface is laid out for 64-bit hosts: structs would have padding at their ends elsewhere");

mod buffers;
mod convert;
mod create;
mod describe;
mod drawn;
mod error;
mod frames;
mod memory;
mod passes;
mod queries;
mod read;
mod report;
mod settings;
mod sized;
mod soft;
mod stepper;
mod vulkan;
mod world;

pub use buffers::*;
pub use convert::*;
pub use create::*;
pub use describe::*;
pub use drawn::*;
pub use error::*;
pub use frames::*;
pub use memory::*;
pub use passes::*;
pub use queries::*;
pub use read::*;
pub use report::*;
pub use settings::*;
pub use soft::*;
pub use stepper::*;
pub use vulkan::*;
pub use world::*;
