//! The heart of the solver, shared by the primal passes and the dual one: what a contact point asks of two bodies, and
//! how a body answers everything that is asked of it.
//!
//! A contact's error is linear in how far the bodies moved since the start of the step (section 4, "Approximating
//! Constraints"): with d the way the point on a moved relative to the one on b,
//!
//! ```text
//! C = (1 - alpha) C0 + [t b n]^T d        tangents, and the normal when C0 < 0 (Eq. 18)
//! C = C0 + n . d                          the normal when there is still a gap: it is no error to be regularised
//! ```

use crate::gpu::glam::Vec3;
use crate::gpu::{finite, fmax, sqrt};
use crate::math::{Rotation, Twist};
use crate::rigid::{Manifold, Params, Point, STICKS, option};

/// Overlap that a step corrects at most, as a part of the collider's size.
const DEEPEST: f32 = 0.02;

/// Forces of a contact point and its stiffness for the Hessian.
#[derive(Clone, Copy)]
pub struct Response {
    /// Error of the rows: tangent, bitangent, normal.
    pub error: Vec3,
    /// Multipliers after this iteration: clamped `k C + lambda`.
    pub lambda: Vec3,
    /// Stiffness of the normal row in the Hessian.
    pub k_normal: f32,
    /// Stiffness of the tangent rows in the Hessian.
    pub k_tangent: f32,
    /// Whether the friction force had to be cut to the cone.
    pub slides: bool,
    /// Whether the point pushes at all.
    pub active: bool,
}

/// Two bodies that have moved, as the points of their manifold see it: `d` of a point with lever r on a is
/// `shift + turn x r`. Forces on both act at the same place, the point on a, so that they turn nothing together.
#[derive(Clone, Copy)]
pub struct Moved {
    shift: Vec3,
    turn: Vec3,
}

impl Moved {
    /// From how far a and b have moved.
    #[inline(always)]
    pub fn new(manifold: &Manifold, a: &Twist, b: &Twist) -> Self {
        Self { shift: a.linear - b.linear - b.angular.cross(manifold.offset), turn: a.angular - b.angular }
    }
}

/// What a point asks when the bodies have moved.
#[inline(always)]
pub fn respond(params: &Params, manifold: &Manifold, point: &Point, basis: (Vec3, Vec3), moved: &Moved) -> Response {
    let (t, u, n) = (basis.0, basis.1, manifold.normal);
    let d = moved.shift + moved.turn.cross(point.lever);
    let keep = 1.0 - params.alpha;
    // Deep overlaps are worked off over many steps, however deep they are.
    let gap = if point.gap.z > 0.0 { point.gap.z } else { fmax(keep * point.gap.z, -DEEPEST * manifold.length) };
    let error = Vec3::new(keep * point.gap.x + t.dot(d), keep * point.gap.y + u.dot(d), gap + n.dot(d));

    // Eq. 13 with bounds: the normal may only push.
    let normal = point.k_normal * error.z + point.lambda.z;
    let active = normal < 0.0;
    let mut k_normal = point.k_normal;
    if !active {
        // Eq. 14: the stiffness that reaches the bound from the multiplier there is.
        k_normal = if error.z > 0.0 { -point.lambda.z / error.z } else { 0.0 };
    }
    let normal = if active { normal } else { 0.0 };

    // The cone of this same normal force; the coefficient is the static one until the point slides.
    let sticks = point.feature & STICKS != 0;
    let mu = if sticks { manifold.friction_static } else { manifold.friction_dynamic };
    let (ft, fu) = (point.k_tangent * error.x + point.lambda.x, point.k_tangent * error.y + point.lambda.y);
    let size = sqrt(ft * ft + fu * fu);
    let slides = size > mu * -normal;
    let most = (if slides { manifold.friction_dynamic } else { mu }) * -normal;
    let scale = if slides { most / size } else { 1.0 };
    let mut k_tangent = if active { point.k_tangent } else { 0.0 };
    if slides && params.options & option::RESCALE != 0 {
        // Eq. 14 along the direction of sliding, with the whole force instead of what the multiplier lacks of it: a warm
        // multiplier lies at the cone's border already, and a contact that just begins to slide would be left without
        // any stiffness against turning back.
        let way = sqrt(error.x * error.x + error.y * error.y);
        let rescaled = if way > 0.0 { most / way } else { k_tangent };
        k_tangent = if rescaled < k_tangent { rescaled } else { k_tangent };
    }
    Response { error, lambda: Vec3::new(ft * scale, fu * scale, normal), k_normal, k_tangent, slides, active }
}

/// The rotation vector from `from` to `to`, by the short way (the exact form of Eq. 20).
#[inline(always)]
pub fn turned(from: &Rotation, to: &Rotation) -> Vec3 {
    to.then_after(&from.inverse()).log()
}

/// Whether all six components are numbers.
#[inline(always)]
pub fn is_finite(twist: &Twist) -> bool {
    let (l, a) = (twist.linear, twist.angular);
    finite(l.x) & finite(l.y) & finite(l.z) & finite(a.x) & finite(a.y) & finite(a.z)
}
