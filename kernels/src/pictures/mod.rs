//! Ray-traced pictures of the world. Stages read poses, colliders and the hierarchy, and write only buffers of the
//! picture.

pub mod body_values;
pub mod common;
pub mod develop;
pub mod eye_rays;
pub mod occlusion;
pub mod shade;
pub mod soft_shadows;
pub mod sunlight;
