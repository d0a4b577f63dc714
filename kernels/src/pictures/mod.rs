//! Pictures of the world, ray by ray.

pub mod body_values;
pub mod common;
pub mod develop;
pub mod eye_rays;
pub mod occlusion;
pub mod shade;
pub mod sunlight;
