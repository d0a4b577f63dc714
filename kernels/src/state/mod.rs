//! State that the world keeps between steps: its structs, and the passes that change it for the host's edits and for
//! sub-steps of another length.

pub mod edits;
pub mod events;
pub mod material;
pub mod rigid;
pub mod second;
pub mod soft;
pub mod soft_pairs;
pub mod substep_begin;
pub mod substep_pace;
pub mod touching;
