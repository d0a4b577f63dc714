//! What belongs to the world between steps, and the passes that change it for the host and for another length of sub-steps.

pub mod edits;
pub mod events;
pub mod material;
pub mod rigid;
pub mod second;
pub mod soft;
pub mod substep_begin;
pub mod substep_pace;
pub mod touching;
