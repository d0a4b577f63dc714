//! The iterations (Algorithm 1, lines 3 to 36): warm start, prediction, primal and dual passes.

pub mod aggregates;
pub mod aggregates_move;
pub mod carried_load;
pub mod contact;
pub mod dual;
pub mod dual_rows;
pub mod joints;
pub mod joints_dual;
pub mod joints_start;
pub mod load_share;
pub mod momentum;
pub mod predict;
pub mod primal;
pub mod primal_joints;
pub mod primal_joints_rows;
pub mod primal_rows;
pub mod solver_body;
pub mod stabilise;
pub mod stabilise_joints;
pub mod stiffness_start;
pub mod sweep;
pub mod system;
pub mod turns;
