//! Questions about the world: what rays and shapes meet, what they overlap, what is nearest to them.

pub mod cast;
pub mod closest;
pub mod meeting;
pub mod overlaps;
pub mod ray_casts;
pub mod rays;
pub mod records;
pub mod search;
pub mod shape_casts;
