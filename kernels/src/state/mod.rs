//! What belongs to the world between steps, and the pass that changes it for the host.

pub mod edits;
pub mod events;
pub mod material;
pub mod rigid;
pub mod soft;
pub mod touching;
