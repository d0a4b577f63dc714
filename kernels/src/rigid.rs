//! Structs of the rigid-body step, and what its stages have in common.

use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Local, Store, sqrt};
use crate::layout;
use crate::math::Pose;

layout! {
    /// What stays the same over a step, for all bodies.
    pub struct Params {
        /// Acceleration of everything that falls.
        pub gravity: Vec3,
        /// Seconds.
        pub dt: f32,
        /// Part of last step's error that is left alone along the normal of a contact (Eq. 18).
        pub alpha: f32,
        /// The same along the tangents of a contact.
        pub alpha_tangent: f32,
        /// Overlap that is left alone, as a part of the collider's size.
        pub slop: f32,
        /// How fast stiffness grows with error within a step (Eq. 12), without units.
        pub beta: f32,
        /// What is kept of multipliers from step to step (Eq. 19).
        pub warm: f32,
        /// Lowest stiffness, in units.
        pub k_start: f32,
        /// Stiffness for the load a contact carries, without units.
        pub k_load: f32,
        /// Highest stiffness, in units.
        pub k_max: f32,
        /// Distance at which contacts are made, as a part of the smaller collider's size.
        pub margin: f32,
        /// Part of last step's error that joints leave alone which carry much more than their bodies weigh (Eq. 18).
        pub alpha_joint: f32,
        /// The same of all others.
        pub alpha_light: f32,
        /// The same in the pass behind the iterations.
        pub alpha_stabilised: f32,
        /// What joints keep of multipliers from step to step (Eq. 19).
        pub warm_joint: f32,
        /// Lowest stiffness of a joint, in units.
        pub k_joint: f32,
        /// Stiffness for the load a joint carries, without units.
        pub k_load_joint: f32,
        /// How fast the stiffness of joints grows with error within a step (Eq. 12), without units.
        pub beta_joint: f32,
        /// Bits of [`option`].
        pub options: u32,
    }

    /// A body.
    pub struct Body {
        /// Kilograms; 0 for bodies that are not moved by forces.
        pub mass: f32,
        /// Inertia about the principal axes, which are the axes of body space.
        pub inertia: Vec3,
        /// How strongly gravity acts on it.
        pub gravity_scale: f32,
        /// One of [`kind`].
        pub kind: u32,
    }

    /// What a collider is, and what it meets. Vectors like this one are fetched at once.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct What {
        /// The body.
        pub body: u32,
        /// One of [`shape`].
        pub shape: u32,
        /// Groups it belongs to.
        pub groups: u32,
        /// Groups it collides with.
        pub mask: u32,
    }

    /// How large a collider is.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct Size {
        /// Half the extent of a box, or of the box around a hull.
        pub x: f32,
        /// The same; half the length of a capsule's axis.
        pub y: f32,
        /// The same.
        pub z: f32,
        /// Radius of a sphere or capsule; half the least width of a hull.
        pub radius: f32,
    }

    /// Coefficients of friction.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct Friction {
        /// While it sticks.
        pub fixed: f32,
        /// While it slides.
        pub sliding: f32,
    }

    /// A shape on a body.
    pub struct Collider {
        /// What it is.
        pub what: What,
        /// How large it is.
        pub size: Size,
        /// In body space.
        pub pose: Pose,
        /// Its entry in the list of hulls.
        pub hull: u32,
        /// Of its surface.
        pub friction: Friction,
    }

    /// A convex hull: its share of the tables of vertices, faces and edges begins at `first`, that of loops at twice that.
    pub struct Hull {
        /// First element.
        pub first: u32,
        /// Vertices, around the centre of mass; at most 64.
        pub vertices: u32,
        /// Faces; at most 124.
        pub faces: u32,
        /// Edges; at most 186.
        pub edges: u32,
        /// Radius of the largest ball around the centre of mass that it holds.
        pub inner: f32,
    }

    /// A face of a hull.
    pub struct HullFace {
        /// Outward.
        pub normal: Vec3,
        /// Of its plane, along the normal.
        pub offset: f32,
        /// Where its loop begins in the hull's share.
        pub first: u32,
        /// Vertices of the loop, counter-clockwise from outside.
        pub count: u32,
    }

    /// An edge of a hull.
    pub struct HullEdge {
        /// One end.
        pub start: Vec3,
        /// From there to the other.
        pub along: Vec3,
        /// Normal of the face to its left, seen from outside.
        pub left: Vec3,
        /// Normal of the face to its right.
        pub right: Vec3,
    }

    /// Who touches whom.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct Ends {
        /// The colliders.
        pub collider_a: u32,
        /// The colliders.
        pub collider_b: u32,
        /// Their bodies.
        pub body_a: u32,
        /// Their bodies.
        pub body_b: u32,
    }

    /// What a manifold's stiffness and friction are made of.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct Scales {
        /// Coefficient while it sticks.
        pub friction_static: f32,
        /// Coefficient while it slides.
        pub friction_dynamic: f32,
        /// One unit of stiffness: the reduced mass of the two bodies over dt squared.
        pub unit: f32,
        /// Half the longest side of the smaller collider: what errors are measured against.
        pub length: f32,
    }

    /// Up to four contact points of two colliders that share a normal.
    pub struct Manifold {
        /// Who touches whom.
        pub ends: Ends,
        /// From b to a.
        pub normal: Vec3,
        /// From b's centre of mass to a's, at the start of the step.
        pub offset: Vec3,
        /// Stiffness and friction.
        pub scales: Scales,
        /// Points.
        pub count: u32,
        /// Nothing: a manifold is a line of memory.
        pub spare: u32,
    }

    /// A contact point between steps.
    pub struct CachedPoint {
        /// The point on a, in its body space.
        pub anchor_a: Vec3,
        /// The point on b, in its body space.
        pub anchor_b: Vec3,
        /// Tangential multiplier in world space, and the normal one along the normal.
        pub force: Vec3,
        /// As in [`Point`]; [`NO_FEATURE`] when there is no such point.
        pub feature: u32,
    }

    /// Bodies of a colour, in the list sorted by colour.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct ColourRange {
        /// First of them.
        pub start: u32,
        /// Behind the last.
        pub end: u32,
        /// Lanes that work on a body together; a power of two.
        pub lanes: u32,
    }

    /// Colliders that a cached manifold is about.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct CachedPair {
        /// The colliders.
        pub collider_a: u32,
        /// The colliders.
        pub collider_b: u32,
    }
}

/// A contact point while it is solved. Rows are in the order tangent, bitangent, normal. In memory the four points of a manifold
/// lie together, word by word: the first word of all four, the second of all four, and so on. A lane takes all four, and
/// a word of them at once.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "spirv"), derive(Debug, Default, PartialEq))]
pub struct Point {
    /// From a's centre of mass to the point on a, at the start of the step.
    pub lever: Vec3,
    /// Where a's point is, seen from b's, at the start of the step: along both tangents and the normal.
    pub gap: Vec3,
    /// Multipliers; the normal one is negative when it pushes.
    pub lambda: Vec3,
    /// Stiffness of all three rows; 0 when there is no such point, and with a minus when it slid at the end of the last step.
    pub k: f32,
    /// Feature in the low bits, [`STICKS`] on top.
    pub feature: u32,
}

/// Words of a [`Point`].
pub mod word {
    /// Of the lever.
    pub const LEVER: u32 = 0;
    /// Of the gap.
    pub const GAP: u32 = 3;
    /// Of the multipliers.
    pub const LAMBDA: u32 = 6;
    /// The stiffness.
    pub const K: u32 = 9;
    /// The feature.
    pub const FEATURE: u32 = 10;
    /// All, and one to spare: a manifold's points are three lines of memory.
    pub const COUNT: u32 = 12;
}

/// The four points of a manifold.
#[derive(Clone, Copy)]
pub struct FourPoints {
    lever: Local<Vec3, 4>,
    gap: Local<Vec3, 4>,
    lambda: Local<Vec3, 4>,
    k: Local<f32, 4>,
    feature: Local<u32, 4>,
}

impl FourPoints {
    /// No points: they push nothing.
    #[inline(always)]
    pub fn none() -> Self {
        let zero = Local::splat(Vec3::ZERO);
        Self { lever: zero, gap: zero, lambda: zero, k: Local::splat(0.0), feature: Local::splat(0) }
    }

    /// Where the words of a manifold's points begin.
    #[inline(always)]
    pub fn place(manifold: u32) -> u32 {
        manifold * word::COUNT
    }

    /// Point `k`.
    #[inline(always)]
    pub fn at(&self, k: u32) -> Point {
        Point {
            lever: self.lever.at(k),
            gap: self.gap.at(k),
            lambda: self.lambda.at(k),
            k: self.k.at(k),
            feature: self.feature.at(k),
        }
    }

    /// Makes `point` point `k`.
    #[inline(always)]
    pub fn put(&mut self, k: u32, point: &Point) {
        self.lever.put(k, point.lever);
        self.gap.put(k, point.gap);
        self.lambda.put(k, point.lambda);
        self.k.put(k, point.k);
        self.feature.put(k, point.feature);
    }

    /// Reads those of a manifold.
    #[inline(always)]
    pub fn load(points: &impl Load<UVec4>, manifold: u32) -> Self {
        let first = Self::place(manifold);
        let vectors = |word: u32| {
            let (x, y, z) = (points.at(first + word), points.at(first + word + 1), points.at(first + word + 2));
            let vector = |x, y, z| Vec3::new(f32::from_bits(x), f32::from_bits(y), f32::from_bits(z));
            Local::of([vector(x.x, y.x, z.x), vector(x.y, y.y, z.y), vector(x.z, y.z, z.z), vector(x.w, y.w, z.w)])
        };
        let (k, feature) = (points.at(first + word::K), points.at(first + word::FEATURE));
        Self {
            lever: vectors(word::LEVER),
            gap: vectors(word::GAP),
            lambda: vectors(word::LAMBDA),
            k: Local::of([f32::from_bits(k.x), f32::from_bits(k.y), f32::from_bits(k.z), f32::from_bits(k.w)]),
            feature: Local::of([feature.x, feature.y, feature.z, feature.w]),
        }
    }

    /// Writes them to a manifold's place.
    #[inline(always)]
    pub fn store(&self, points: &mut impl Store<UVec4>, manifold: u32) {
        let first = Self::place(manifold);
        let mut put = |word: u32, a: f32, b: f32, c: f32, d: f32| {
            points.put(first + word, UVec4::new(a.to_bits(), b.to_bits(), c.to_bits(), d.to_bits()));
        };
        let mut vectors = |word: u32, all: &Local<Vec3, 4>| {
            let (a, b, c, d) = (all.at(0), all.at(1), all.at(2), all.at(3));
            put(word, a.x, b.x, c.x, d.x);
            put(word + 1, a.y, b.y, c.y, d.y);
            put(word + 2, a.z, b.z, c.z, d.z);
        };
        vectors(word::LEVER, &self.lever);
        vectors(word::GAP, &self.gap);
        vectors(word::LAMBDA, &self.lambda);
        put(word::K, self.k.at(0), self.k.at(1), self.k.at(2), self.k.at(3));
        let f = &self.feature;
        points.put(first + word::FEATURE, UVec4::new(f.at(0), f.at(1), f.at(2), f.at(3)));
    }
}

/// What may move a body.
pub mod kind {
    /// Forces.
    pub const DYNAMIC: u32 = 0;
    /// Its velocity, and nothing else.
    pub const KINEMATIC: u32 = 1;
    /// Nothing.
    pub const STATIC: u32 = 2;
    /// Nothing, it is no longer there or was taken out because its state was not finite.
    pub const DISABLED: u32 = 3;
}

/// What a collider is.
pub mod shape {
    /// A ball.
    pub const SPHERE: u32 = 0;
    /// A box.
    pub const BOX: u32 = 1;
    /// A segment along y with a radius.
    pub const CAPSULE: u32 = 2;
    /// A convex hull.
    pub const HULL: u32 = 3;
    /// Everything below the plane through the collider's origin, at right angles to its y axis.
    pub const HALF_SPACE: u32 = 4;
    /// Nothing: a free slot.
    pub const NONE: u32 = 5;
}

/// Switches in [`Params`].
pub mod option {
    /// Rescale the stiffness of friction rows at the cone's border (Eq. 14).
    pub const RESCALE: u32 = 1;
    /// Solve a body's system by the Schur complement instead of LDL^T.
    pub const SCHUR: u32 = 2;
    /// Plain VBD: stiffness stays what it is, and there are no multipliers.
    pub const VBD: u32 = 4;
}

/// Set in a feature when the point did not slide in the last step.
pub const STICKS: u32 = 1 << 31;
/// Set in a feature, as the narrow phase gives it, of a shape that rolls: its anchors are never kept.
pub const ROLLS: u32 = 1 << 30;
/// The feature of a point that is not there.
pub const NO_FEATURE: u32 = u32::MAX;
/// Points a manifold has room for.
pub const POINTS: u32 = 4;
/// No body, no colour, no entry.
pub const NONE: u32 = u32::MAX;

/// A body's entries in the list of rows.
#[derive(Clone, Copy)]
pub struct Row {
    /// First entry.
    pub start: u32,
    /// Behind the last.
    pub end: u32,
}

/// The row of `body`: two words, since `rows` writes them from different lanes.
#[inline(always)]
pub fn row(rows: &impl Load<u32>, body: u32) -> Row {
    Row { start: rows.at(body * 2), end: rows.at(body * 2 + 1) }
}

impl Size {
    /// Half extents.
    #[inline(always)]
    pub fn half(&self) -> Vec3 {
        Vec3::new(self.x, self.y, self.z)
    }
}

impl Body {
    /// Whether forces move it.
    #[inline(always)]
    pub fn is_dynamic(&self) -> bool {
        self.kind == kind::DYNAMIC
    }
}

/// The world pose of a collider.
#[inline(always)]
pub fn world_pose(collider: &Collider, body: &Pose) -> Pose {
    body.of(&collider.pose)
}

/// Half of a collider's longest side: the length that errors are measured against.
#[inline(always)]
pub fn reach(collider: &Collider) -> f32 {
    let h = collider.size.half();
    let longest = if h.x > h.y { h.x } else { h.y };
    let longest = if longest > h.z { longest } else { h.z };
    if collider.what.shape == shape::HULL { longest } else { longest + collider.size.radius }
}

/// A collider's shortest half side: what contact margins are measured against.
#[inline(always)]
pub fn thickness(collider: &Collider) -> f32 {
    if collider.what.shape == shape::BOX {
        let h = collider.size.half();
        let shortest = if h.x < h.y { h.x } else { h.y };
        if shortest < h.z { shortest } else { h.z }
    } else if collider.what.shape == shape::HALF_SPACE {
        f32::MAX
    } else {
        collider.size.radius
    }
}

/// The way a collider goes in a step if nothing stops it: what its box is drawn out by. Held at some times its size, so that
/// a body which is far too fast does not meet the whole scene.
#[inline(always)]
pub fn sweep(params: &Params, collider: &Collider, velocity: Vec3) -> Vec3 {
    let way = velocity * params.dt;
    let most = FARTHEST * reach(collider);
    let square = way.length_squared();
    if square > most * most { way * (most / sqrt(square)) } else { way }
}

/// Longest [`sweep`], in sizes of the collider.
const FARTHEST: f32 = 16.0;

/// How far apart two colliders may be and still get contacts: a margin, and the way they go towards each other. Contacts
/// across a gap push only once the bodies would overlap, so fast bodies stop at each other instead of inside.
#[inline(always)]
pub fn margin(params: &Params, a: &Collider, b: &Collider, velocity_a: Vec3, velocity_b: Vec3) -> f32 {
    let (thick_a, thick_b) = (thickness(a), thickness(b));
    let way = sweep(params, a, velocity_a) - sweep(params, b, velocity_b);
    params.margin * if thick_a < thick_b { thick_a } else { thick_b } + sqrt(way.length_squared())
}
