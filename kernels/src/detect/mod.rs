//! Collision detection (Algorithm 1, line 1): boxes, hierarchy, pairs, contacts.
//!
//! Reads bodies, colliders and poses; writes manifolds with their points. Up to `gate` no persistent state changes.

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
pub mod manifold;
pub mod manifold_pairs;
pub mod morton;
pub mod pairs_count;
pub mod pairs_fill;
pub mod pyramid;
pub mod pyramid_top;
pub mod refit;
pub mod scene_bounds;
pub mod sensors;
pub mod sensors_list;
pub mod soft_boxes;
pub mod soft_near;
pub mod soft_pairs_count;
pub mod soft_pairs_fill;
pub mod soft_regions;
pub mod soft_touch;
pub mod substep_gate;
pub mod touch;
pub mod touch_curved;
pub mod touch_hull;
pub mod touching_ended;
pub mod touching_find;
pub mod walk;
pub mod world_bounds;
pub mod world_keys;
pub mod world_morton;
pub mod world_order;
pub mod world_roots;
