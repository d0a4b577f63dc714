//! Narrow phase: contact points and normal of two colliders. Pure functions of shapes in world space; `touch` and
//! `contacts` call them.
//!
//! The two shapes are ordered by their codes (sphere, box, capsule, hull, cylinder, cone, half-space), so each
//! combination exists once. The normal always points from the second to the first.

mod box_box;
mod curved;
pub mod hull;
mod hull_clip;
mod hull_round;
pub mod numbers;
pub mod point;
mod round;
mod spread;
pub mod swept;

pub use box_box::{best_axis, contact as box_contact};
pub use curved::{Convex, apart as curved_apart, contact as curved_contact, gjk};
pub use hull_clip::{contact as hull_contact, direction_of};
pub use hull_round::{half_space_contact, round_contact};
pub use round::{box_capsule, box_half_space, round_half_space, round_round, sphere_box};

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Local, Store};
use crate::math::Pose;
use crate::state::rigid::{Collider, shape};

/// A collider in world space.
#[derive(Clone, Copy)]
pub struct Solid {
    /// Centre of the shape.
    pub centre: Vec3,
    /// Its axes.
    pub x: Vec3,
    /// Its axes.
    pub y: Vec3,
    /// Its axes.
    pub z: Vec3,
    /// Half extents, metres.
    pub half: Vec3,
    /// Radius, metres.
    pub radius: f32,
}

/// Contact points on both colliders, and their normal.
#[derive(Clone, Copy)]
pub struct Contact {
    /// Unit normal, from b to a.
    pub normal: Vec3,
    /// Number of points.
    pub count: u32,
    /// Points on a.
    pub on_a: Local<Vec3, 4>,
    /// Points on b.
    pub on_b: Local<Vec3, 4>,
    /// Feature of each point: names what it is on the shapes, and stays the same from step to step while the contact
    /// does.
    pub feature: Local<u32, 4>,
}

impl Contact {
    /// No points.
    #[inline(always)]
    pub fn none() -> Self {
        Self {
            normal: Vec3::Y,
            count: 0,
            on_a: Local::splat(Vec3::ZERO),
            on_b: Local::splat(Vec3::ZERO),
            feature: Local::splat(0),
        }
    }

    /// Adds a point; there is room for four.
    #[inline(always)]
    pub fn add(&mut self, on_a: Vec3, on_b: Vec3, feature: u32) {
        self.add_if(true, on_a, on_b, feature);
    }

    /// Adds a point if it is wanted.
    #[inline(always)]
    pub fn add_if(&mut self, wanted: bool, on_a: Vec3, on_b: Vec3, feature: u32) {
        let place = if wanted { self.count } else { 4 };
        self.on_a.put(place, on_a);
        self.on_b.put(place, on_b);
        self.feature.put(place, feature);
        self.count += (place < 4) as u32;
    }
}

impl Solid {
    /// The collider at `pose`.
    #[inline(always)]
    pub fn new(collider: &Collider, pose: &Pose) -> Self {
        let (v, s) = (pose.rotation.v(), pose.rotation.s);
        let (xx, yy, zz) = (v.x * v.x, v.y * v.y, v.z * v.z);
        let (xy, xz, yz) = (v.x * v.y, v.x * v.z, v.y * v.z);
        let (sx, sy, sz) = (s * v.x, s * v.y, s * v.z);
        Self {
            centre: pose.position,
            x: Vec3::new(1.0 - 2.0 * (yy + zz), 2.0 * (xy + sz), 2.0 * (xz - sy)),
            y: Vec3::new(2.0 * (xy - sz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz + sx)),
            z: Vec3::new(2.0 * (xz + sy), 2.0 * (yz - sx), 1.0 - 2.0 * (xx + yy)),
            half: collider.size.half(),
            radius: collider.size.radius,
        }
    }

    /// Transforms a vector from world space into the solid's axes.
    #[inline(always)]
    pub fn to_local(&self, v: Vec3) -> Vec3 {
        Vec3::new(self.x.dot(v), self.y.dot(v), self.z.dot(v))
    }

    /// Transforms a vector from the solid's axes into world space.
    #[inline(always)]
    pub fn to_world(&self, v: Vec3) -> Vec3 {
        self.x * v.x + self.y * v.y + self.z * v.z
    }

    /// Axis 0, 1 or 2.
    #[inline(always)]
    pub fn axis(&self, i: u32) -> Vec3 {
        if i == 0 {
            self.x
        } else if i == 1 {
            self.y
        } else {
            self.z
        }
    }
}

/// Component 0, 1 or 2.
#[inline(always)]
pub fn component(v: Vec3, i: u32) -> f32 {
    if i == 0 {
        v.x
    } else if i == 1 {
        v.y
    } else {
        v.z
    }
}

/// Contact of two shapes with `code_a <= code_b` that are not both boxes, and neither hulls, cylinders nor cones.
#[inline(always)]
pub fn other_contact(a: &Solid, code_a: u32, b: &Solid, code_b: u32, margin: f32) -> Contact {
    if code_b == shape::HALF_SPACE {
        if code_a == shape::BOX { box_half_space(a, b, margin) } else { round_half_space(a, b, margin) }
    } else if code_a == shape::BOX {
        box_capsule(a, b, margin)
    } else if code_b == shape::BOX {
        sphere_box(a, b, margin)
    } else {
        round_round(a, b, margin)
    }
}

/// The point at `i` of a small array.
#[inline(always)]
pub(crate) fn at<const N: usize>(points: &Local<Vec3, N>, i: u32) -> Vec3 {
    points.at(i)
}
