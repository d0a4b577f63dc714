//! Queries about the world: which colliders rays and shapes hit, overlap, or are nearest to. They read the world and
//! its hierarchy, and write only their answers.

pub mod cast;
pub mod closest;
pub mod meeting;
pub mod overlaps;
pub mod ray_casts;
pub mod rays;
pub mod records;
pub mod search;
pub mod shape_casts;
pub mod soft_cast;
pub mod soft_ray_casts;
pub mod surface_boxes;
