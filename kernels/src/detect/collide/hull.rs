//! Separating axes of convex hulls, and of boxes against hulls.
//!
//! The axis of least overlap is the normal of a face or the cross product of two edges. Only those pairs of edges count
//! that make a face of the Minkowski difference. This shows on the Gauss map: the arcs between the face normals beside
//! the two edges, one of them mirrored, cross (Gregorius, "The Separating Axis Test between Convex Polyhedra", GDC
//! 2013). The test takes four dot products, which is the whole cost for most pairs.
//!
//! A box is hull 0 of the tables, a cube with sides of 2, scaled by its half extents.

use super::Solid;
use super::swept::{Axis, bonus, score};
use crate::detect::collide::numbers::{FACE_PREFERENCE, FACE_SKIN, FACE_TIE};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Read, abs, fmax, fmin, least, sqrt};
use crate::state::rigid::{Approach, Collider, HULL_VERTICES, Hull, HullEdge, HullFace, shape};

/// The tables of all hulls.
#[derive(Clone, Copy)]
pub struct Tables<'a> {
    /// Where each begins in the others.
    pub hulls: Read<'a, Hull>,
    /// Vertices.
    pub vertices: Read<'a, Vec3>,
    /// Faces.
    pub faces: Read<'a, HullFace>,
    /// Vertices of the faces.
    pub loops: Read<'a, u32>,
    /// Edges.
    pub edges: Read<'a, HullEdge>,
}

/// The part of the tables that tells how far a hull extends, for stages that need no more.
#[derive(Clone, Copy)]
pub struct Outlines<'a> {
    /// Where each begins in the others.
    pub hulls: Read<'a, Hull>,
    /// Vertices.
    pub vertices: Read<'a, Vec3>,
    /// Faces.
    pub faces: Read<'a, HullFace>,
}

impl<'a> Tables<'a> {
    /// The part that tells how far hulls extend.
    #[inline(always)]
    pub fn outlines(&self) -> Outlines<'a> {
        Outlines { hulls: self.hulls, vertices: self.vertices, faces: self.faces }
    }
}

/// A hull or a box in world space.
#[derive(Clone, Copy)]
pub struct Polytope {
    /// Its centre and axes.
    pub solid: Solid,
    /// Its ranges in the tables.
    pub hull: Hull,
    /// Scale of the vertices: the half extents of a box, 1 for a hull.
    pub scale: Vec3,
    /// Whether it is a box: only boxes are scaled.
    pub scaled: bool,
}

impl Polytope {
    /// The polytope of a collider whose solid is `solid`.
    #[inline(always)]
    pub fn new(t: &Tables<'_>, collider: &Collider, solid: Solid) -> Self {
        Self::of(&t.outlines(), collider, solid)
    }

    /// The same, for stages that know no more than outlines.
    #[inline(always)]
    pub fn of(t: &Outlines<'_>, collider: &Collider, solid: Solid) -> Self {
        Self::listed(t.hulls, collider, solid)
    }

    /// The same for stages that read no faces.
    #[inline(always)]
    pub fn listed(hulls: Read<'_, Hull>, collider: &Collider, solid: Solid) -> Self {
        let scaled = collider.what.shape == shape::BOX;
        let mut hull = hulls.at(if scaled { 0 } else { collider.hull }).bounded();
        if scaled {
            hull.inner = fmin(fmin(collider.size.half().x, collider.size.half().y), collider.size.half().z);
        }
        Self { solid, hull, scale: if scaled { collider.size.half() } else { Vec3::ONE }, scaled }
    }

    /// The polytope, displaced by `way`.
    #[inline(always)]
    pub fn moved(&self, way: Vec3) -> Self {
        let mut there = *self;
        there.solid.centre += way;
        there
    }

    /// A vertex, in its own axes.
    #[inline(always)]
    pub fn vertex(&self, t: &Tables<'_>, i: u32) -> Vec3 {
        t.vertices.at(self.hull.first.wrapping_add(i)) * self.scale
    }

    /// A face, in its own axes.
    #[inline(always)]
    pub fn face(&self, t: &Tables<'_>, i: u32) -> HullFace {
        self.face_of(&t.outlines(), i)
    }

    /// The same, for stages that know no more than outlines.
    #[inline(always)]
    pub fn face_of(&self, t: &Outlines<'_>, i: u32) -> HullFace {
        let mut face = t.faces.at(self.hull.first.wrapping_add(i));
        face.count = least(face.count, HULL_VERTICES);
        if self.scaled {
            let n = face.normal;
            face.offset = abs(n.x) * self.scale.x + abs(n.y) * self.scale.y + abs(n.z) * self.scale.z;
        }
        face
    }

    /// Index of the vertex at corner `i` of a face.
    #[inline(always)]
    pub fn corner(&self, t: &Tables<'_>, face: &HullFace, i: u32) -> u32 {
        t.loops.at(self.hull.first.wrapping_mul(2).wrapping_add(face.first).wrapping_add(i))
    }

    /// An edge, in its own axes.
    #[inline(always)]
    pub fn edge(&self, t: &Tables<'_>, i: u32) -> HullEdge {
        let edge = t.edges.at(self.hull.first.wrapping_add(i));
        HullEdge { start: edge.start * self.scale, along: edge.along * self.scale, left: edge.left, right: edge.right }
    }

    /// Height of its lowest vertex above its centre along the direction `up` in world space; negative.
    #[inline(always)]
    pub fn lowest(&self, t: &Tables<'_>, up: Vec3) -> f32 {
        let d = self.solid.to_local(up) * self.scale;
        let mut low = f32::MAX;
        let mut i = 0;
        while i < self.hull.vertices {
            low = fmin(low, d.dot(t.vertices.at(self.hull.first.wrapping_add(i))));
            i += 1;
        }
        low
    }
}

/// Kinds of axes, stored in the top bits of their code.
pub mod axis {
    /// A face of the first hull; the low bits are its index.
    pub const FACE_A: u32 = 0;
    /// A face of the second hull; the low bits are its index.
    pub const FACE_B: u32 = 1;
    /// An edge of each hull; the first one's index is stored above the second one's.
    pub const EDGES: u32 = 2;
    /// First bit of the kind.
    pub const SHIFT: u32 = 16;
}

/// The axis with the highest score: along which two hulls are farthest apart, overlap least, or will meet (see
/// [`swept`](super::swept)). Once they are too far apart along any axis, that one. Codes are those of [`axis`]. `size`
/// is the half width of the thicker hull.
#[inline(always)]
pub fn best_axis(t: &Tables<'_>, a: &Polytope, b: &Polytope, size: f32, approach: &Approach) -> Axis {
    let offset = b.solid.centre - a.solid.centre;
    // A later face must beat an earlier one by a little, so that ties are decided the same way every step.
    let half = a.solid.half;
    let bias = FACE_TIE * (half.x + half.y + half.z);
    let mut face = Axis { code: 0, score: f32::NEG_INFINITY, separation: f32::NEG_INFINITY, closing: 0.0 };
    let mut apart = f32::NEG_INFINITY;
    let bonus_a = bonus(approach, a.solid.half, b.solid.half);
    let bonus_b = bonus(approach, b.solid.half, a.solid.half);
    let mut k = 0;
    while k < a.hull.faces + b.hull.faces && apart < approach.near {
        let on_b = k >= a.hull.faces;
        let (reference, other) = if on_b { (*b, *a) } else { (*a, *b) };
        let index = if on_b { k - a.hull.faces } else { k };
        let plane = reference.face(t, index);
        let n = reference.solid.to_world(plane.normal);
        let way = if on_b { -n.dot(offset) } else { n.dot(offset) };
        // Skips most faces: even if the other hull were only its inscribed ball, they would score lower.
        let bonus = if on_b { bonus_b } else { bonus_a };
        if way - other.hull.inner - plane.offset + bonus > face.score {
            let separation = way + other.lowest(t, n) - plane.offset;
            let closing = n.dot(approach.way) * if on_b { -1.0 } else { 1.0 };
            let score = score(approach, separation, closing, bonus);
            apart = fmax(apart, separation);
            if score > face.score + bias {
                let kind = if on_b { axis::FACE_B } else { axis::FACE_A };
                face = Axis { code: kind << axis::SHIFT | index, score, separation, closing };
            }
        }
        k += 1;
    }
    if apart >= approach.near {
        face.separation = apart;
        return face;
    }

    let threshold = face.score + approach.faces * (FACE_PREFERENCE * abs(face.score) + FACE_SKIN * size);
    // Distance of the centres along an axis above which it can score higher, by the inscribed balls.
    let worth = threshold + a.hull.inner + b.hull.inner;
    let mut edge = Axis { code: 0, score: threshold, separation: threshold, closing: 0.0 };
    let mut along = Vec3::Y;
    let way_in_a = a.solid.to_local(approach.way);
    let into_a = |v: Vec3| a.solid.to_local(b.solid.to_world(v));
    let shift = a.solid.to_local(offset);
    let mut j = 0;
    while j < b.hull.edges {
        let eb = b.edge(t, j);
        let (db, left, right) = (into_a(eb.along), into_a(eb.left), into_a(eb.right));
        let start = into_a(eb.start) + shift;
        // Upper bound of the distance of the centres along any axis between the two mirrored normals: reached at one
        // end of the arc, or in between if the vector between the centres points there.
        let (way_l, way_r) = (-left.dot(shift), -right.dot(shift));
        let sideways = db.cross(shift).length_squared() / db.length_squared();
        let faces_a = fmax(way_l, way_r) > worth || (way_l + way_r > 0.0 && sideways > worth * worth) || worth <= 0.0;
        let mut i = 0;
        while i < a.hull.edges && faces_a {
            let ea = a.edge(t, i);
            let (la, ra) = (ea.left.dot(db), ea.right.dot(db));
            let (lb, rb) = (left.dot(ea.along), right.dot(ea.along));
            // The ends of each arc lie on both sides of the other, and both arcs on the same half of the sphere.
            if la * ra < 0.0 && lb * rb < 0.0 && lb * ra < 0.0 {
                let l = ea.along.cross(db);
                let square = l.length_squared();
                // For nearly parallel edges a face axis is as good.
                if square > 1e-5 * ea.along.length_squared() * db.length_squared() {
                    let out = if l.dot(ea.left + ea.right) < 0.0 { -1.0 } else { 1.0 };
                    let l = l * (out / sqrt(square));
                    let separation = l.dot(start - ea.start);
                    let closing = l.dot(way_in_a);
                    let score = score(approach, separation, closing, 0.0);
                    if score > edge.score {
                        edge = Axis { code: axis::EDGES << axis::SHIFT | i << 8 | j, score, separation, closing };
                        along = l;
                    }
                }
            }
            i += 1;
        }
        j += 1;
    }
    if edge.score > threshold {
        // Rounding may have paired edges that do not face each other: measures the real separation along this axis.
        let n = a.solid.to_world(along);
        edge.separation = n.dot(offset) + b.lowest(t, n) + a.lowest(t, -n);
        edge.score = score(approach, edge.separation, edge.closing, 0.0);
    }
    if edge.score > threshold { edge } else { face }
}
