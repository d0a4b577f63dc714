//! Structs that live in buffers, shared by kernels and host. They are declared here and nowhere else.

use crate::gpu::{Load, fmax, fmin, glam::Vec3, least};
use crate::layout;
use crate::math::Rotation;

/// Version of [`BodyPose`]: it changes whenever a field moves or means something else.
pub const BODY_POSE_VERSION: u32 = 1;

/// Version of [`SoftVertex`]: it changes whenever a field moves or means something else.
pub const SOFT_VERTEX_VERSION: u32 = 1;

layout! {
    /// The pose of a body as its user described it, for drawing: 32 bytes, [`BODY_POSE_VERSION`].
    pub struct BodyPose {
        /// Of the body's origin, metres.
        pub position: Vec3,
        /// 1 for a body that is there; 0 for a slot without one, or one that was taken out.
        pub present: u32,
        /// From body space to world space: x, y, z and the scalar part, of length 1.
        pub rotation: Rotation,
    }

    /// A particle of a soft body for drawing: 32 bytes, [`SOFT_VERTEX_VERSION`].
    pub struct SoftVertex {
        /// Where it is, metres.
        pub position: Vec3,
        /// 1 for a particle that is there; 0 for a place without one.
        pub present: u32,
        /// Out of the surface, of length 1: the mean of the triangles around it, weighted by their areas. Zero for a
        /// particle that is on no triangle.
        pub normal: Vec3,
        /// Slot of the soft body.
        pub owner: u32,
    }

    /// How many items a stage works on: at most `limit`, and when `slot` names a counter, no more than it holds.
    pub struct Extent {
        /// The capacity, or the count itself when the host knows it.
        pub limit: u32,
        /// Index into the counters, or [`Extent::HOST`].
        pub slot: u32,
    }

    /// An axis-aligned box. Empty when a lower bound is above the upper one.
    pub struct Aabb {
        /// Lower corner.
        pub min: Vec3,
        /// Upper corner.
        pub max: Vec3,
    }

    /// A box in the hierarchy: a leaf's, or the union of those below a node.
    pub struct Volume {
        /// The box.
        pub bounds: Aabb,
        /// The largest [`size_class`] among the leaves in it.
        pub class: u32,
    }

    /// An inner node of the bounding volume hierarchy. Children are inner nodes, or leaves marked with [`LEAF`].
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct Node {
        /// Child that covers the lower half of the leaves.
        pub left: u32,
        /// Child that covers the upper half.
        pub right: u32,
        /// First leaf below the node.
        pub first: u32,
        /// Last leaf below the node.
        pub last: u32,
    }

    /// Two items whose boxes overlap, `a < b`.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct Pair {
        /// The item with the lower index.
        pub a: u32,
        /// The item with the higher index.
        pub b: u32,
    }

    /// Workgroup counts as an indirect dispatch reads them.
    pub struct DispatchArgs {
        /// Along x.
        pub x: u32,
        /// Along y.
        pub y: u32,
        /// Along z.
        pub z: u32,
    }
}

/// Set in a reference to a leaf of the hierarchy; the other bits are the leaf's place in Morton order.
pub const LEAF: u32 = 1 << 31;

/// Where the list of volumes holds the one that a reference to a node or leaf is about: nodes at even places, leaves at
/// odd ones. A walk goes from either to either, and so makes one load of it without asking which.
#[inline(always)]
pub fn volume_of(reference: u32) -> u32 {
    reference.rotate_left(1)
}

/// Where a walk through the hierarchy ends.
pub const END: u32 = u32::MAX;

/// Workgroups along x before a dispatch goes on in y: every Vulkan device allows this many.
pub const MAX_GROUPS_X: u32 = 65_535;

impl BodyPose {
    /// The pose that is `part` of the way from the one of a frame before to this one: 0 is the former, 1 is this. For
    /// renderers whose frames are not those of the physics.
    #[inline(always)]
    pub fn after(&self, before: &Self, part: f32) -> Self {
        let (a, b) = (before.rotation, self.rotation);
        // Both signs of a rotation are the same: the nearer one has the shorter way.
        let near = a.x * b.x + a.y * b.y + a.z * b.z + a.s * b.s;
        let from = if near < 0.0 { part - 1.0 } else { 1.0 - part };
        let mix = |a: f32, b: f32| a * from + b * part;
        let rotation = Rotation { x: mix(a.x, b.x), y: mix(a.y, b.y), z: mix(a.z, b.z), s: mix(a.s, b.s) }.normalized();
        let position = before.position * (1.0 - part) + self.position * part;
        Self { position, present: self.present, rotation }
    }
}

impl SoftVertex {
    /// The vertex that is `part` of the way from the one of a frame before to this one, as
    /// [`after`](BodyPose::after) for bodies. The normal is not of length 1 where it turned.
    #[inline(always)]
    pub fn after(&self, before: &Self, part: f32) -> Self {
        let mix = |a: Vec3, b: Vec3| a * (1.0 - part) + b * part;
        let (position, normal) = (mix(before.position, self.position), mix(before.normal, self.normal));
        Self { position, normal, present: self.present, owner: self.owner }
    }
}

impl Extent {
    /// `slot` of an extent that the host knows.
    pub const HOST: u32 = u32::MAX;

    /// A count known on the host.
    pub const fn host(count: u32) -> Self {
        Self { limit: count, slot: Self::HOST }
    }

    /// A count in a counter on the device, never more than `limit`.
    pub const fn counter(slot: u32, limit: u32) -> Self {
        Self { limit, slot }
    }

    /// The number of items, and no more than `room`, the length of the list that they are in.
    #[inline(always)]
    pub fn count(&self, counters: &impl Load<u32>, room: u32) -> u32 {
        let limit = least(self.limit, room);
        if self.slot == Self::HOST { limit } else { least(counters.at(self.slot), limit) }
    }
}

/// Items `start..end` of tile `index`, out of `count` in tiles of `size`; empty beyond the count.
#[inline(always)]
pub fn tile(index: u32, size: u32, count: u32) -> (u32, u32) {
    // Tiles are compared before the product is made: there may be so many that it would not fit.
    let last = index >= count / size;
    let start = if index < count.div_ceil(size) { index * size } else { count };
    (start, if last { count } else { start + size })
}

impl Volume {
    /// The volume that holds nothing.
    pub const EMPTY: Self = Self { bounds: Aabb::EMPTY, class: 0 };

    /// The smallest volume around both.
    #[inline(always)]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            bounds: self.bounds.union(&other.bounds),
            class: if self.class > other.class { self.class } else { other.class },
        }
    }
}

/// How large a box is, in powers of four of its longest side: the top bits of the float. Boxes that are no boxes are 0.
#[inline(always)]
pub fn size_class(bounds: &Aabb) -> u32 {
    let side = bounds.max - bounds.min;
    let longest = fmax(fmax(side.x, side.y), side.z);
    if longest > 0.0 { longest.to_bits() >> 24 } else { 0 }
}

impl Aabb {
    /// The box that holds nothing.
    pub const EMPTY: Self = Self { min: Vec3::splat(f32::INFINITY), max: Vec3::splat(f32::NEG_INFINITY) };

    /// The smallest box around both.
    #[inline(always)]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            min: Vec3::new(fmin(self.min.x, other.min.x), fmin(self.min.y, other.min.y), fmin(self.min.z, other.min.z)),
            max: Vec3::new(fmax(self.max.x, other.max.x), fmax(self.max.y, other.max.y), fmax(self.max.z, other.max.z)),
        }
    }

    /// True when the boxes share a point; touching counts, a NaN or an empty box overlaps nothing.
    #[inline(always)]
    pub fn overlaps(&self, other: &Self) -> bool {
        // Bitwise `&`: six comparisons without branches are cheaper than a chain of jumps on both targets.
        (self.min.x <= other.max.x)
            & (other.min.x <= self.max.x)
            & (self.min.y <= other.max.y)
            & (other.min.y <= self.max.y)
            & (self.min.z <= other.max.z)
            & (other.min.z <= self.max.z)
    }

    /// The middle. Halved before the sum, so that boxes near the end of the float range keep a finite one.
    #[inline(always)]
    pub fn centre(&self) -> Vec3 {
        self.min * 0.5 + self.max * 0.5
    }
}
