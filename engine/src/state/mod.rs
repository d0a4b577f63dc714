//! What the engine keeps on a device. Every buffer of the step is declared once, with its element, its length and its
//! role; growth, the memory table and the sharing of scratch follow from the declaration.
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

pub use buffers::{HullBuffers, JointBuffers, SoftBuffers, StateBuffers};
pub use capacities::{Capacities, List};
pub(crate) use capacities::{Room, with_reserve};
pub use limits::Limits;

/// What a buffer is for: who may count on its contents, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Belongs to the world and outlives steps. It survives growth, and it is what a [snapshot](crate::snapshot) holds.
    Persistent,
    /// Written by the host, which can write all of it again.
    HostWritten,
    /// Left behind by a run for whoever reads it before the next one.
    Result,
    /// Of use within a run only. It may share memory with scratch that is not in use at the same time.
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

/// A persistent buffer of the user's: something of their own for every body, collider or joint, which grows with the
/// world. Passes of the user's find it by its name ([`Recording::find`](crate::plan::Recording::find)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserBuffer {
    /// Its name, different from all others.
    pub name: String,
    /// Bytes an element, a multiple of 4.
    pub stride: u32,
    /// The list that it has an element for each entry of.
    pub each: List,
}
