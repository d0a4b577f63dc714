//! Structs of contacts between soft surfaces: cloth with itself, and soft bodies with each other. Only worlds with a
//! soft body that asks for them have any of this.

use crate::gpu::glam::Vec3;
use crate::layout;

layout! {
    /// A piece of a soft surface: a triangle, or the line or point that a rope or a lone particle is. Every corner and
    /// every side belongs to one piece, so a search over pairs of pieces finds each contact once.
    pub struct SoftFace {
        /// A corner.
        pub a: u32,
        /// A corner; the first one again if the piece is a point.
        pub b: u32,
        /// A corner; the second one again if the piece is a line.
        pub c: u32,
        /// What belongs to it: see [`owns`].
        pub owns: u32,
    }

    /// Where a particle is at rest: particles of one body that are near each other there are no contact.
    pub struct SoftRest {
        /// Rest position, metres.
        pub position: Vec3,
        /// Its colour.
        pub colour: u32,
    }

    /// A vertex and a triangle, or two edges, that may meet in this step. The first nodes are above, along the normal,
    /// the others below: a plane across the normal always lies between them.
    pub struct SoftPair {
        /// The vertex, or one end of the upper edge.
        pub a: u32,
        /// A corner, or the other end of the upper edge.
        pub b: u32,
        /// A corner, or one end of the lower edge.
        pub c: u32,
        /// A corner, or the other end of the lower edge.
        pub d: u32,
        /// See [`pair_flag`].
        pub flags: u32,
        /// The piece that the partner belongs to.
        pub other: u32,
        /// Which feature meets which.
        pub features: u32,
        /// Shares of the nodes in the vector between the nearest points: positive above, negative below.
        pub wa: f32,
        /// The same.
        pub wb: f32,
        /// The same.
        pub wc: f32,
        /// The same.
        pub wd: f32,
        /// From the lower to the upper.
        pub normal: Vec3,
        /// Heights of the nodes above the lower nearest point at the start of the step, metres.
        pub ha: f32,
        /// The same.
        pub hb: f32,
        /// The same.
        pub hc: f32,
        /// The same.
        pub hd: f32,
        /// Thickness that they keep, metres; 0 when they only must not cross.
        pub thickness: f32,
        /// As in [`SoftContact`](crate::state::soft::SoftContact).
        pub error: Vec3,
        /// The force on the upper side besides that of the stiffness, newtons.
        pub lambda: Vec3,
        /// How far the upper point has gone along the lower one since the start of the step.
        pub way: Vec3,
        /// How far it had gone since it began to stick, at the start of the step.
        pub slid: Vec3,
        /// The stiffness it has now.
        pub k: f32,
        /// As in [`SpringState`](crate::state::soft::SpringState).
        pub unit: f32,
        /// Highest stiffness.
        pub most: f32,
        /// Coefficient of friction.
        pub friction: f32,
        /// Which contact of the last step it was, or none.
        pub cached: u32,
    }

    /// A contact between soft surfaces, between steps.
    pub struct SoftPairCached {
        /// The piece that the partner belongs to.
        pub other: u32,
        /// Which feature meets which.
        pub features: u32,
        /// On the upper side, newtons.
        pub force: Vec3,
        /// How far the upper point has gone along the lower one since it began to stick.
        pub slid: Vec3,
        /// The stiffness it had.
        pub k: f32,
        /// Not 0: it did not slide.
        pub sticks: u32,
    }
}

/// Bits of [`SoftFace::owns`].
pub mod owns {
    /// Its first corner; the next bits are the others.
    pub const CORNER: u32 = 1;
    /// Its side from a to b; the next bits are those from b to c and from c to a.
    pub const SIDE: u32 = 1 << 3;
    /// It is a triangle.
    pub const TRIANGLE: u32 = 1 << 6;
}

/// Bits of [`SoftPair::flags`].
pub mod pair_flag {
    /// Two edges: two nodes are above. Otherwise one is.
    pub const EDGES: u32 = 1;
    /// Both sides are of one soft body.
    pub const INNER: u32 = 1 << 1;
    /// A node above has the colour of one below: both move at once.
    pub const AT_ONCE: u32 = 1 << 2;
}

impl SoftPair {
    /// Whether node `i`, 0 to 3, is above.
    #[inline(always)]
    pub fn is_above(&self, i: u32) -> bool {
        (i == 0) | ((i == 1) & (self.flags & pair_flag::EDGES != 0))
    }

    /// Node `i`.
    #[inline(always)]
    pub fn node(&self, i: u32) -> u32 {
        let high = if i == 2 { self.c } else { self.d };
        let low = if i == 0 { self.a } else { self.b };
        if i < 2 { low } else { high }
    }

    /// Share of node `i`.
    #[inline(always)]
    pub fn share(&self, i: u32) -> f32 {
        let high = if i == 2 { self.wc } else { self.wd };
        let low = if i == 0 { self.wa } else { self.wb };
        if i < 2 { low } else { high }
    }

    /// Height of node `i` at the start of the step.
    #[inline(always)]
    pub fn height(&self, i: u32) -> f32 {
        let high = if i == 2 { self.hc } else { self.hd };
        let low = if i == 0 { self.ha } else { self.hb };
        if i < 2 { low } else { high }
    }
}
