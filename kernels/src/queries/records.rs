//! Structs of queries and their answers in buffers.

use crate::gpu::glam::Vec3;
use crate::layout;
use crate::math::Pose;
use crate::state::material::traits::{GENERATION, SENSOR};
use crate::state::rigid::{Collider, NONE, Size};

/// Version of [`HitRecord`] and [`OverlapRecord`]: it changes whenever a field moves or means something else.
pub const HIT_VERSION: u32 = 2;

layout! {
    /// Filter: which colliders a query sees.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct Filter {
        /// A body whose colliders it does not see, or [`NONE`].
        pub exclude: u32,
        /// Bits of [`filter`].
        pub flags: u32,
        /// Groups it belongs to.
        pub groups: u32,
        /// Groups it sees.
        pub mask: u32,
    }

    /// A ray that asks what it meets first.
    pub struct RayQuery {
        /// Where it starts.
        pub origin: Vec3,
        /// How far it goes, metres.
        pub reach: f32,
        /// Where it goes, of length one.
        pub direction: Vec3,
        /// What it sees.
        pub filter: Filter,
    }

    /// A shape that asks what it meets on its way, what it overlaps, or what is nearest to it.
    pub struct ShapeQuery {
        /// What it sees.
        pub filter: Filter,
        /// How large it is.
        pub size: Size,
        /// In world space; a hull's around its centre of mass.
        pub pose: Pose,
        /// One of [`shape`](crate::state::rigid::shape), no half-space.
        pub shape: u32,
        /// Its entry in the list of hulls.
        pub hull: u32,
        /// Where a cast goes, of length one.
        pub direction: Vec3,
        /// How far a cast goes, or how far away the nearest may be, metres.
        pub reach: f32,
        /// First place for what it overlaps.
        pub first: u32,
        /// Places there are for that.
        pub most: u32,
    }

    /// What a ray or a cast meets first, or what is nearest: 40 bytes, [`HIT_VERSION`].
    pub struct HitRecord {
        /// Metres; the query's reach when there is nothing.
        pub distance: f32,
        /// Slot of the collider, or [`NONE`]; of a triangle of a soft body its number with
        /// [`SOFT`](crate::queries::rays::soft::SOFT) set.
        pub collider: u32,
        /// Slot of its body, or [`NONE`]; of a triangle that of the soft body.
        pub body: u32,
        /// Which of the bodies that had this slot it is, the lower 16 bits.
        pub generation: u32,
        /// Where, in world space.
        pub point: Vec3,
        /// Out of the collider, of length one.
        pub normal: Vec3,
    }

    /// A collider that a query overlaps: 12 bytes, [`HIT_VERSION`].
    pub struct OverlapRecord {
        /// Slot of its body.
        pub body: u32,
        /// Slot of the collider.
        pub collider: u32,
        /// Which of the bodies that had this slot it is, the lower 16 bits.
        pub generation: u32,
    }
}

/// Bits of [`Filter::flags`].
pub mod filter {
    /// Groups and masks do not count.
    pub const EVERY_GROUP: u32 = 1;
    /// Sensors are seen.
    pub const SENSORS: u32 = 2;
    /// Rays see surfaces of soft bodies.
    pub const SOFT: u32 = 4;
}

/// Where the list of counts has how many queries of a kind there are.
pub mod count {
    /// Rays.
    pub const RAYS: u32 = 0;
    /// Casts of shapes.
    pub const CASTS: u32 = 1;
    /// Overlaps.
    pub const OVERLAPS: u32 = 2;
    /// Searches for what is nearest.
    pub const CLOSEST: u32 = 3;
    /// Kinds there are.
    pub const KINDS: u32 = 4;
}

impl Filter {
    /// Everything but sensors.
    pub const SOLID: Self = Self { exclude: NONE, flags: filter::EVERY_GROUP, groups: 0, mask: 0 };

    /// Whether groups and mask of what is in its way let it be seen.
    #[inline(always)]
    pub fn sees_groups(&self, groups: u32, mask: u32) -> bool {
        let meets = (self.mask & groups != 0) & (self.groups & mask != 0);
        meets | (self.flags & filter::EVERY_GROUP != 0)
    }

    /// Whether a collider is seen.
    #[inline(always)]
    pub fn sees(&self, collider: &Collider) -> bool {
        let grouped = self.sees_groups(collider.what.groups, collider.what.mask);
        let solid = (collider.traits & SENSOR == 0) | (self.flags & filter::SENSORS != 0);
        grouped & solid & (collider.what.body != self.exclude)
    }
}

impl HitRecord {
    /// Nothing within a reach.
    #[inline(always)]
    pub fn nothing(reach: f32) -> Self {
        let (point, normal) = (Vec3::ZERO, Vec3::ZERO);
        Self { distance: reach, collider: NONE, body: NONE, generation: 0, point, normal }
    }

    /// Whether something at a distance comes before it: what is nearer, and at the same distance the lower body, then
    /// the lower collider, so that the answer does not depend on the order of the search.
    #[inline(always)]
    pub fn is_behind(&self, distance: f32, body: u32, collider: u32) -> bool {
        let lower = (body < self.body) | ((body == self.body) & (collider < self.collider));
        (distance < self.distance) | ((distance == self.distance) & lower)
    }
}

impl OverlapRecord {
    /// Of a collider in a slot.
    #[inline(always)]
    pub fn of(slot: u32, collider: &Collider) -> Self {
        Self { body: collider.what.body, collider: slot, generation: generation_of(collider) }
    }

    /// The order of lists.
    #[inline(always)]
    pub fn is_before(&self, other: &Self) -> bool {
        (self.body < other.body) | ((self.body == other.body) & (self.collider < other.collider))
    }
}

/// Which of the bodies that had its slot a collider belongs to.
#[inline(always)]
pub fn generation_of(collider: &Collider) -> u32 {
    collider.traits >> GENERATION
}
