//! The constraint graph as seen from the bodies: rows (which contacts and joints a body has), colours and islands
//! (Algorithm 1, line 2). Reads manifolds and joints; writes lists that `solve` reads.

pub mod body_order;
pub mod colour;
pub mod colour_ranges;
pub mod colour_rest;
pub mod colour_settle;
pub mod entries;
pub mod forest;
pub mod island;
pub mod islands;
pub mod pair_colour;
pub mod pair_settle;
pub mod rows;
pub mod soft_ground;
pub mod soft_islands;
pub mod soft_keys;
pub mod soft_pair_keys;
pub mod soft_rows;
