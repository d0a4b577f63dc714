//! What a step leaves behind: velocities, broken joints, contacts for the next step (Algorithm 1, line 37).

pub mod body_poses;
pub mod continuous;
pub mod drawn_poses;
pub mod joints_break;
pub mod second_velocity;
pub mod sensors_keep;
pub mod sensors_tell;
pub mod soft_break;
pub mod soft_velocity;
pub mod stiffness_store;
pub mod store;
pub mod substep_need;
pub mod surfaces_store;
pub mod touching_tell;
pub mod velocity;
