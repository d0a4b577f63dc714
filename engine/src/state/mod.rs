//! The step's buffers on a device. Every buffer is declared once, with its element, length and role; growth, the
//! memory table and the sharing of scratch memory follow from the declaration. Nothing here touches a device.
//!
//! | role | belongs to | at the end of a step | when lists grow, and in snapshots |
//! |---|---|---|---|
//! | [`Role::Persistent`] | the world | kept | carried over, saved and restored |
//! | [`Role::HostWritten`] | the world on the host | kept | written anew by the host |
//! | [`Role::Result`] | whoever reads it | kept until the next step | lost |
//! | [`Role::Scratch`] | the passes | lost | lost |
//!
//! A new buffer is one line in `state/buffers.rs`; nothing else has to know of it.

mod buffers;
mod capacities;
mod limits;

pub use buffers::{HullBuffers, JointBuffers, SoftBuffers, SoftPairBuffers, StateBuffers};
pub use capacities::{Capacities, List};
pub(crate) use capacities::{Room, with_reserve};
pub use limits::Limits;

/// The role of a buffer: who may rely on its contents, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Belongs to the world and outlives steps. It is kept when lists grow, and it is what a
    /// [snapshot](crate::snapshot) holds.
    Persistent,
    /// Written by the host, which can write all of it again.
    HostWritten,
    /// Left behind by a run for whoever reads it before the next one.
    Result,
    /// Used within a run only. It may share memory with other scratch buffers that are not in use at the same time.
    Scratch,
}

impl Role {
    /// The word for it in printed plans.
    pub fn word(self) -> &'static str {
        match self {
            Self::Persistent => "persistent",
            Self::HostWritten => "host-written",
            Self::Result => "result",
            Self::Scratch => "scratch",
        }
    }
}

/// A persistent buffer of the user's, with one element for every body, collider or joint; it grows with the world.
/// The user's passes find it by its name ([`Recording::find`](crate::plan::Recording::find)).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserBuffer {
    /// Its name, different from all others.
    pub name: String,
    /// Bytes an element, a multiple of 4.
    pub stride: u32,
    /// The list for whose every entry the buffer has an element.
    pub each: List,
}

impl UserBuffer {
    /// A buffer with one element of `stride` bytes for each entry of a list.
    pub fn new(name: impl Into<String>, stride: u32, each: List) -> Self {
        Self { name: name.into(), stride, each }
    }
}
