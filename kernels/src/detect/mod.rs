//! Collision detection (Algorithm 1, line 1): boxes, hierarchy, pairs, contacts. Up to `gate` nothing of the state is changed.

pub mod apart_buckets;
pub mod apart_pairs;
pub mod bounds;
pub mod collide;
pub mod contacts;
pub mod contacts_curved;
pub mod contacts_hull;
pub mod gate;
pub mod hierarchy;
pub mod joints_apart;
pub mod leaves;
pub mod manifold;
pub mod manifold_pairs;
pub mod morton;
pub mod pairs_count;
pub mod pairs_fill;
pub mod pyramid;
pub mod refit;
pub mod scene_bounds;
pub mod sensors;
pub mod sensors_list;
pub mod touch;
pub mod touch_curved;
pub mod touch_hull;
pub mod walk;
