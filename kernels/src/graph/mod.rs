//! Who is connected to whom, seen from the bodies: rows, colours, islands (Algorithm 1, line 2).

pub mod body_order;
pub mod colour;
pub mod colour_ranges;
pub mod colour_settle;
pub mod entries;
pub mod island;
pub mod islands;
pub mod rows;
pub mod rows_clear;
pub mod soft_ground;
pub mod soft_keys;
pub mod soft_rows;
