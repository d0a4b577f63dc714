//! End of a step: velocities (Algorithm 1, line 37), broken joints, events, and the cache of contacts for the next
//! step. Reads what the solver wrote; writes persistent state.

pub mod body_poses;
pub mod continuous;
pub mod drawn_poses;
pub mod joints_break;
pub mod second_velocity;
pub mod sensors_keep;
pub mod sensors_tell;
pub mod soft_break;
pub mod soft_follow;
pub mod soft_keep;
pub mod soft_pairs_keep;
pub mod soft_velocity;
pub mod soft_vertices;
pub mod stiffness_store;
pub mod store;
pub mod substep_need;
pub mod surfaces_store;
pub mod touching_tell;
pub mod velocity;
