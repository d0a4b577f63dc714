//! Structs of the rigid-body step in buffers (settings, bodies, colliders, hulls, rows), and functions that its stages
//! share.

use crate::detect::collide::numbers::{GRAZE, GRAZE_THIN, STILL};
use crate::gpu::{Load, Store, decay, fmin, glam::Vec3, least, sqrt};
use crate::layout;
use crate::math::{Pose, Rotation, Twist};
use crate::state::material::traits::{CONTINUOUS, SENSOR};

layout! {
    /// Settings of a step: the same for all bodies, but for gravity. There is an element for every world; what is not
    /// gravity is read from the first.
    pub struct Params {
        /// Gravity of the world, m/s^2.
        pub gravity: Vec3,
        /// Length of the step, seconds.
        pub dt: f32,
        /// Fraction of the error at the start of the step that is left alone along the normal of a contact (alpha of
        /// Eq. 18).
        pub alpha: f32,
        /// The same along the tangents of a contact.
        pub alpha_tangent: f32,
        /// Overlap that is left alone, as a fraction of the collider's size.
        pub slop: f32,
        /// 1 over the number of iterations: fraction of its force over its stiffness by which a point gives way while
        /// the iterations make up for a change of the force.
        pub give: f32,
        /// Growth of stiffness with error within a step (beta of Eq. 12), dimensionless.
        pub beta: f32,
        /// Factor that multipliers keep from step to step (Eq. 19).
        pub warm: f32,
        /// Factor that stiffness keeps from step to step (gamma of Eq. 19), with [`option::ROWS`].
        pub warm_stiffness: f32,
        /// Lowest stiffness (k_start of Eq. 19), in units.
        pub k_start: f32,
        /// Stiffness per load that a contact carries: times its force over its length; dimensionless.
        pub k_load: f32,
        /// The same per mass that it carries: times its force over the way its bodies were held back.
        pub k_carried: f32,
        /// What is left of [`k_carried`](Self::k_carried) under heavy loads.
        pub k_carried_heavy: f32,
        /// Units of stiffness from load at about which a load begins to count as heavy.
        pub k_heavy: f32,
        /// How fast the running mean of a contact's force follows the force, as a fraction a step and square root of
        /// the way its bodies are held back, in sizes.
        pub mean_rate: f32,
        /// Fraction of that by which the force a step begins with is drawn towards the mean.
        pub mean_pull: f32,
        /// Factor between force and mean beyond which the mean begins anew.
        pub mean_range: f32,
        /// Highest stiffness, in units.
        pub k_max: f32,
        /// Distance at which contacts are made, as a part of the smaller collider's size.
        pub margin: f32,
        /// Largest extension of a collider's box by its motion, in sizes of the collider; with 0, contacts are found
        /// only where bodies are.
        pub sweep: f32,
        /// Largest overlap that the iterations correct in a step, as a fraction of the collider's size.
        pub correction: f32,
        /// The same for the stabilising pass.
        pub correction_stabilised: f32,
        /// Fraction of the overlap that the stabilising pass corrects.
        pub stabilised_overlap: f32,
        /// Overlap above which a contact keeps nothing of the last step, as a fraction of the collider's size.
        pub deep: f32,
        /// Distance within which a point whose feature was renamed is matched with one of the last step, as a fraction
        /// of the size.
        pub rematch: f32,
        /// Square of the distance that a sticking point may drift from its anchors, in squares of the collider's size.
        pub anchor_drift: f32,
        /// Fraction of an outer force up to which a body that was accelerated by it still starts its step as if held.
        pub quiet: f32,
        /// Fraction from which on it starts as if free.
        pub free: f32,
        /// Relative difference from free fall up to which a body with joints starts as if free.
        pub falling: f32,
        /// Relative difference from which on it starts as if held.
        pub held: f32,
        /// Fraction of the error at the start of the step that heavily loaded joints leave alone (alpha of Eq. 18).
        pub alpha_joint: f32,
        /// The same for all other joints.
        pub alpha_light: f32,
        /// The same for all joints in the stabilising pass.
        pub alpha_stabilised: f32,
        /// Factor that multipliers of joints keep from step to step (Eq. 19).
        pub warm_joint: f32,
        /// Lowest stiffness of a joint, in units.
        pub k_joint: f32,
        /// Stiffness for the load a joint carries, without units.
        pub k_load_joint: f32,
        /// Stiffness at the start of a step for the mass that a joint carries, without units.
        pub k_carried_joint: f32,
        /// The same within a step: `joints_dual`.
        pub ramp_joint: f32,
        /// Largest factor by which stiffness grows in an iteration.
        pub ramp_most: f32,
        /// How fast the stiffness of joints grows with error within a step (Eq. 12), without units.
        pub beta_joint: f32,
        /// Largest error that joints correct in a step, as a fraction of the joint's length, or in radians.
        pub correction_joint: f32,
        /// The same in the iterations, if the stabilising pass corrects most of it.
        pub correction_joint_moving: f32,
        /// Units of stiffness above which a joint begins to count as heavily loaded.
        pub loaded: f32,
        /// Factor on that number at which it counts fully as heavily loaded.
        pub loaded_range: f32,
        /// Fraction of the load that counts for a rod or a rope.
        pub taut: f32,
        /// Lowest stiffness of a spring along a line, in units.
        pub k_spring: f32,
        /// Stiffness for the load it carries, without units.
        pub k_load_spring: f32,
        /// How fast its stiffness grows with error within a step (Eq. 16), without units.
        pub beta_spring: f32,
        /// Smallest fraction of the pull of joints that counts as a load: see `load_share`.
        pub least_share: f32,
        /// Number of bodies of an island for each iteration up to which all of the pull counts as a load.
        pub share_reach: f32,
        /// Gap below which bodies count as touching in the search for islands, as a fraction of the collider's size.
        pub near: f32,
        /// Stiffness above which a constraint ties bodies into one aggregate, in units.
        pub tie: f32,
        /// Largest turn of an island in an iteration, radians.
        pub largest_turn: f32,
        /// Largest number of bodies of an island that is moved in every iteration.
        pub many: u32,
        /// Smallest speed of an impact that bounces, in units of gravity times dt.
        pub bounce: f32,
        /// Bits of [`option`].
        pub options: u32,
        /// Length of a frame, all of its sub-steps together, seconds.
        pub frame: f32,
        /// alpha of the criterion that chooses sub-steps: the square of the sub-step as a fraction of the largest
        /// stable one.
        pub stability: f32,
        /// Smallest number of sub-steps of a frame.
        pub substeps_least: u32,
        /// Largest number of sub-steps of a frame.
        pub substeps_most: u32,
        /// Part of an error that solvers which go from pair to pair correct in a step.
        pub pair_part: f32,
        /// Overlap that they leave alone, metres.
        pub pair_slop: f32,
        /// Speed at which they correct overlap at most, m/s.
        pub pair_speed: f32,
        /// Frequency of their soft contacts, at most, hertz.
        pub pair_hertz: f32,
        /// The same in steps a second.
        pub pair_rate: f32,
        /// Damping ratio of their soft contacts.
        pub pair_damping: f32,
        /// Damping ratio of their soft joints.
        pub pair_damping_joint: f32,
        /// Compliance of their contacts, metres a newton.
        pub pair_compliance: f32,
    }

    /// A body.
    pub struct Body {
        /// Mass, kilograms; 0 for bodies that forces do not move.
        pub mass: f32,
        /// Principal moments of inertia, kg m^2; the axes of body space are the principal axes.
        pub inertia: Vec3,
        /// Factor on gravity.
        pub gravity_scale: f32,
        /// One of [`kind`], and above it the world it is in: see [`Body::world`].
        pub kind: u32,
        /// Linear damping coefficient, 1/s: see `predict`.
        pub linear_damping: f32,
        /// Angular damping coefficient, 1/s.
        pub angular_damping: f32,
    }

    /// Where the user's body space lies in that of the device: the centre of mass and the principal axes in it.
    pub struct BodyFrame {
        /// Centre of mass.
        pub centre: Vec3,
        /// Principal axes.
        pub axes: Rotation,
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
        /// Half the extent of a box, or of the box around a hull, a cylinder or a cone.
        pub x: f32,
        /// The same; half the length of a capsule's axis.
        pub y: f32,
        /// The same.
        pub z: f32,
        /// Radius of a sphere or capsule; half the least width of a hull, a cylinder or a cone.
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
        /// How its coefficients are combined with others', and what else it is: see
        /// [`traits`](crate::state::material::traits).
        pub traits: u32,
    }

    /// A convex hull: its share of the tables of vertices, faces and edges begins at `first`, that of loops at twice
    /// that.
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

    /// A contact point between steps.
    pub struct CachedPoint {
        /// The point on a, in its body space.
        pub anchor_a: Vec3,
        /// The point on b, in its body space.
        pub anchor_b: Vec3,
        /// Force of the contact in world space, newtons: tangential and normal multipliers.
        pub force: Vec3,
        /// Running mean of the normal force, newtons; negative when there is none yet.
        pub mean: f32,
        /// What it is, see [`features`](crate::detect::manifold::features); [`NO_FEATURE`] when there is no such point.
        pub feature: u32,
    }

    /// A manifold or a joint in a body's row.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct Entry {
        /// Twice the manifold or joint, and one more when the body is its b; one of [`entry`] above [`entry::SHIFT`].
        pub side: u32,
        /// The body at the other end. A joint to the world names the body itself.
        pub other: u32,
    }

    /// Nodes of a colour and of a kind, in the list sorted by both.
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

/// Kinds of bodies, by what moves them.
pub mod kind {
    /// Forces.
    pub const DYNAMIC: u32 = 0;
    /// Its velocity, and nothing else.
    pub const KINEMATIC: u32 = 1;
    /// Nothing.
    pub const STATIC: u32 = 2;
    /// Nothing: the slot is free, or the body was disabled because its state was not finite.
    pub const DISABLED: u32 = 3;
    /// The bits of [`Body::kind`](super::Body::kind) that hold one of these.
    pub const MASK: u32 = 3;
    /// Set in it when the body belongs to all worlds. Such bodies are static.
    pub const SHARED: u32 = 4;
    /// First bit in it of the number of the body's world.
    pub const WORLD_SHIFT: u32 = 3;
    /// Most worlds: the whole word is sent to the device in the upper 24 bits of another.
    pub const MOST_WORLDS: u32 = 1 << 20;
}

/// Kinds of nodes, by their degrees of freedom: a colour has one pass for each kind.
pub mod node {
    /// A rigid body: six.
    pub const RIGID: u32 = 0;
    /// Kinds there are.
    pub const KINDS: u32 = 1;

    /// Index of a colour's nodes of one kind in the list of ranges, and the key they are sorted by. The fallback is the
    /// colour after the last.
    #[inline(always)]
    pub fn range(colour: u32, kinds: u32, kind: u32) -> u32 {
        colour.wrapping_mul(kinds).wrapping_add(kind)
    }
}

/// What an entry of a row is about. A row lists them kind by kind, in this order.
pub mod entry {
    /// A manifold.
    pub const CONTACT: u32 = 0;
    /// A joint.
    pub const JOINT: u32 = 1;
    /// Kinds there are.
    pub const KINDS: u32 = 2;
    /// Where the kind begins in [`Entry::side`](super::Entry::side): lists are shorter than 2^29.
    pub const SHIFT: u32 = 30;
    /// Words of a body's row: where the entries of each kind begin, and behind the last kind where they end. They are
    /// written by different lanes.
    pub const ROW_WORDS: u32 = KINDS + 1;
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
    /// A cylinder along y.
    pub const CYLINDER: u32 = 4;
    /// A cone along y, with its base below; the origin is in the middle of its height.
    pub const CONE: u32 = 5;
    /// Everything below the plane through the collider's origin, at right angles to its y axis.
    pub const HALF_SPACE: u32 = 6;
    /// Nothing: a free slot.
    pub const NONE: u32 = 7;

    /// Whether contacts of a shape are found by stages of their own: a hull's, a cylinder's and a cone's.
    #[inline(always)]
    pub fn has_own_stages(shape: u32) -> bool {
        shape.wrapping_sub(HULL) <= CONE - HULL
    }

    /// Whether it is a cylinder or a cone.
    #[inline(always)]
    pub fn is_curved(shape: u32) -> bool {
        shape.wrapping_sub(CYLINDER) <= CONE - CYLINDER
    }
}

/// Switches in [`Params`].
pub mod option {
    /// Rescale the stiffness of friction rows at the cone's border (Eq. 14).
    pub const RESCALE: u32 = 1;
    /// Solve a body's system by the Schur complement instead of LDL^T.
    pub const SCHUR: u32 = 2;
    /// Plain VBD: stiffness stays what it is, and there are no multipliers.
    pub const VBD: u32 = 4;
    /// Every row has a stiffness of its own that is kept from step to step (Eq. 19).
    pub const ROWS: u32 = 8;
    /// Rows keep their stiffness in the Hessian when their force is clamped (Algorithm 1, line 18).
    pub const CURVED: u32 = 16;
    /// Rotations to first order (Eq. 20 and 21), without the gyroscopic term.
    pub const FIRST_ORDER: u32 = 32;
    /// Springs have no multiplier: their force is the stiffness of the iteration times the error (Eq. 16).
    pub const PENALTY_SPRINGS: u32 = 64;
    /// A body with joints starts from gravity only in free fall.
    pub const FALLING_ONLY: u32 = 128;
    /// A body without joints starts on the circle on which it is carried, not on the tangent.
    pub const CIRCLING: u32 = 256;
    /// The solver goes from pair to pair, and a step starts where bodies would go on their own.
    pub const PAIRS: u32 = 512;
    /// With [`PAIRS`]: errors are corrected by damped springs.
    pub const SOFT_STEP: u32 = 1024;
    /// With [`PAIRS`]: positions are corrected, and velocities follow from them.
    pub const XPBD: u32 = 2048;
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

/// Most vertices of a hull.
pub const HULL_VERTICES: u32 = 64;
/// Most faces of a hull.
pub const HULL_FACES: u32 = 124;
/// Most edges of a hull.
pub const HULL_EDGES: u32 = 186;

impl Hull {
    /// With no more of everything than a hull can have: what loops go by.
    #[inline(always)]
    pub fn bounded(mut self) -> Self {
        self.vertices = least(self.vertices, HULL_VERTICES);
        self.faces = least(self.faces, HULL_FACES);
        self.edges = least(self.edges, HULL_EDGES);
        self
    }
}

/// A body's entries in the list of rows.
#[derive(Clone, Copy)]
pub struct EntryRange {
    /// First entry.
    pub start: u32,
    /// Behind the last.
    pub end: u32,
}

impl Entry {
    /// One of [`entry`]. Where a row is known to list contacts, the bits above the manifold are 0.
    #[inline(always)]
    pub fn kind(&self) -> u32 {
        self.side >> entry::SHIFT
    }

    /// The manifold of an entry that is a contact.
    #[inline(always)]
    pub fn manifold(&self) -> u32 {
        self.side >> 1
    }

    /// The joint of an entry that is one.
    #[inline(always)]
    pub fn joint(&self) -> u32 {
        (self.side & ((1 << entry::SHIFT) - 1)) >> 1
    }

    /// Whether the body is its a.
    #[inline(always)]
    pub fn is_a(&self) -> bool {
        self.side & 1 == 0
    }
}

impl EntryRange {
    /// No entries.
    pub const EMPTY: Self = Self { start: 0, end: 0 };

    /// What of it lies in a list of `room` entries.
    #[inline(always)]
    pub fn within(self, room: u32) -> Self {
        let end = least(self.end, room);
        Self { start: least(self.start, end), end }
    }

    /// How many there are.
    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.end - self.start
    }
}

/// The row of `body` in a list of `room` entries.
#[inline(always)]
pub fn row(rows: &impl Load<u32>, body: u32, room: u32) -> EntryRange {
    kinds(rows, body, 0, entry::KINDS, room)
}

/// Contacts in the row of `body`.
#[inline(always)]
pub fn contact_row(rows: &impl Load<u32>, body: u32, room: u32) -> EntryRange {
    kinds(rows, body, entry::CONTACT, entry::CONTACT + 1, room)
}

/// Joints in the row of `body`, broken ones too.
#[inline(always)]
pub fn joint_row(rows: &impl Load<u32>, body: u32, room: u32) -> EntryRange {
    kinds(rows, body, entry::JOINT, entry::JOINT + 1, room)
}

/// Entries of the kinds from `from` up to `to`.
#[inline(always)]
fn kinds(rows: &impl Load<u32>, body: u32, from: u32, to: u32, room: u32) -> EntryRange {
    let first = body.wrapping_mul(entry::ROW_WORDS);
    EntryRange { start: rows.at(first.wrapping_add(from)), end: rows.at(first.wrapping_add(to)) }.within(room)
}

/// Empties the row of `body`.
#[inline(always)]
pub fn clear_row(rows: &mut impl Store<u32>, body: u32) {
    let mut word = 0;
    while word < entry::ROW_WORDS {
        rows.put(body.wrapping_mul(entry::ROW_WORDS).wrapping_add(word), 0);
        word += 1;
    }
}

impl Size {
    /// Half extents.
    #[inline(always)]
    pub fn half(&self) -> Vec3 {
        Vec3::new(self.x, self.y, self.z)
    }
}

impl Collider {
    /// Whether its body must not pass through anything.
    #[inline(always)]
    pub fn is_continuous(&self) -> bool {
        self.traits & CONTINUOUS != 0
    }

    /// Whether it is a sphere or a capsule.
    #[inline(always)]
    pub fn is_round(&self) -> bool {
        self.what.shape == shape::SPHERE || self.what.shape == shape::CAPSULE
    }
}

impl Body {
    /// Whether forces move it.
    #[inline(always)]
    pub fn is_dynamic(&self) -> bool {
        self.is(kind::DYNAMIC)
    }

    /// Whether it is of this [`kind`].
    #[inline(always)]
    pub fn is(&self, which: u32) -> bool {
        self.kind & kind::MASK == which
    }

    /// The same body of another kind.
    #[inline(always)]
    pub fn turned_into(mut self, which: u32) -> Self {
        self.kind = (self.kind & !kind::MASK) | which;
        self
    }

    /// Number of the world it is in; 0 where there is only one, and for bodies that belong to all.
    #[inline(always)]
    pub fn world(&self) -> u32 {
        self.kind >> kind::WORLD_SHIFT
    }

    /// Whether it belongs to all worlds.
    #[inline(always)]
    pub fn is_shared(&self) -> bool {
        self.kind & kind::SHARED != 0
    }

    /// The world in which it meets another body: bodies that do are of one world, or one of them belongs to all.
    #[inline(always)]
    pub fn world_with(&self, other: &Self) -> u32 {
        self.world() | other.world()
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
    if shape::has_own_stages(collider.what.shape) { longest } else { longest + collider.size.radius }
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

/// Whether one of two colliders only reports what overlaps it.
#[inline(always)]
pub fn senses(a: &Collider, b: &Collider) -> bool {
    (a.traits | b.traits) & SENSOR != 0
}

/// Whether two colliders have to be tested: of different bodies, in groups that collide, and at least one body dynamic.
/// A sensor also detects kinematic bodies, but no other sensor.
#[inline(always)]
pub fn may_touch(a: &Collider, b: &Collider, body_a: &Body, body_b: &Body) -> bool {
    let meets = (a.what.groups & b.what.mask) != 0 && (b.what.groups & a.what.mask) != 0;
    let forced = body_a.is_dynamic() || body_b.is_dynamic();
    let driven = body_a.is(kind::KINEMATIC) || body_b.is(kind::KINEMATIC);
    let moves = forced || (driven && senses(a, b));
    moves && meets && a.what.body != b.what.body && a.traits & b.traits & SENSOR == 0
}

/// Motion of a collider in a step if nothing stops it, by which its box is extended. Limited to a multiple of its size
/// ([`Params::sweep`]), so that a body which is far too fast does not meet the whole scene.
#[inline(always)]
pub fn sweep(params: &Params, collider: &Collider, velocity: Vec3) -> Vec3 {
    let way = velocity * params.dt;
    let most = params.sweep * reach(collider);
    let square = way.length_squared();
    if square > most * most && !collider.is_continuous() { way * (most / sqrt(square)) } else { way }
}

/// Largest distance that points of a continuous collider move by the rotation of its body in a step, in addition to the
/// body's way; 0 for other colliders. `spin` is the angular velocity.
#[inline(always)]
pub fn spin_reach(params: &Params, collider: &Collider, spin: Vec3) -> f32 {
    let mut way = 0.0;
    if collider.is_continuous() {
        // Two positions of a point are never farther apart than twice its distance from the centre of mass.
        way = fmin(sqrt(spin.length_squared()) * params.dt, 2.0) * turning_radius(collider);
    }
    way
}

/// How far from its body's centre of mass the points are that make a collider wide; what is round is so all around
/// them.
#[inline(always)]
pub fn turning_radius(collider: &Collider) -> f32 {
    sqrt(collider.pose.position.length_squared()) + sqrt(collider.size.half().length_squared())
}

/// The velocity with which a collider comes towards others: that of its middle if it is round, since it goes round with
/// a body of several colliders. A flat one turns as it does so, and has that of its body. `pose` and `velocity` are the
/// body's.
#[inline(always)]
pub fn own_velocity(collider: &Collider, pose: &Pose, velocity: &Twist) -> Vec3 {
    let mut own = velocity.linear;
    if collider.is_round() {
        own += velocity.angular.cross(pose.rotation.apply(collider.pose.position));
    }
    own
}

/// How two colliders approach each other in a step.
#[derive(Clone, Copy)]
pub struct Approach {
    /// The way of a, seen from b, if nothing stops them; nothing when it is too short to matter.
    pub way: Vec3,
    /// Distance up to which contacts are made: a margin plus the way. Contacts across a gap push only once the bodies
    /// would overlap, so fast bodies stop at each other instead of inside.
    pub near: f32,
    /// Skin: overlap that does not count as a collision, metres.
    pub skin: f32,
    /// 1, or 0 when any axis that they are apart along is as good as a face.
    pub faces: f32,
}

impl Approach {
    /// Of two colliders with their velocities, see [`own_velocity`]. A sensor sees what overlaps it at the start of the
    /// step.
    #[inline(always)]
    pub fn new(params: &Params, a: &Collider, b: &Collider, velocity_a: Vec3, velocity_b: Vec3) -> Self {
        let thickness = fmin(thickness(a), thickness(b));
        let reach_b = if b.what.shape == shape::HALF_SPACE { f32::MAX } else { reach(b) };
        let reach = fmin(reach(a), reach_b);
        let way = sweep(params, a, velocity_a) - sweep(params, b, velocity_b);
        let square = way.length_squared();
        let near = params.margin * thickness + sqrt(square);
        let still = square <= STILL * STILL * reach * reach;
        let skin = fmin(GRAZE * reach, GRAZE_THIN * thickness);
        let senses = senses(a, b);
        Self {
            way: if still || senses { Vec3::ZERO } else { way },
            near: if senses { 0.0 } else { near },
            skin,
            faces: 1.0,
        }
    }

    /// Whether they move enough to look where to.
    #[inline(always)]
    pub fn moves(&self) -> bool {
        self.way.length_squared() > 0.0
    }
}

/// Gravity of a world, m/s^2.
#[inline(always)]
pub fn gravity(params: &impl Load<Params>, world: u32) -> Vec3 {
    params.at(world).gravity
}

/// Distance by which constraints held a body back in the last step from where it would have gone on its own, metres; 0
/// for bodies that do not move. `gravity` is that of its world.
#[inline(always)]
pub fn held_back(params: &Params, gravity: Vec3, body: &Body, velocity: Vec3, previous: Vec3) -> f32 {
    // What damping took does not count as held back.
    let (mut left, mut share) = (1.0, 1.0);
    if body.linear_damping > 0.0 {
        (left, share) = decay(body.linear_damping * params.dt);
    }
    let gained = (velocity - previous * left) * params.dt;
    let fall = gravity * (body.gravity_scale * params.dt * params.dt * share);
    if body.is_dynamic() { sqrt((gained - fall).length_squared()) } else { 0.0 }
}
