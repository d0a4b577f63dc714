//! Questions about the world: where rays meet it.

pub mod cast;
pub mod rays;
