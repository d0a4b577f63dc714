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
//!
//! With post-stabilisation (section 6) alpha is 1 along the normal while iterating, and 0 in one more pass behind them.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Real, Vector, finite};
use crate::math::{Rotation, Twist};
use crate::rigid::{Manifold, Params, Point, option};

/// Overlap that a step corrects at most, as a part of the collider's size: what turns into velocity, and what does not.
const DEEPEST: f32 = 0.02;
const DEEPEST_STABILISED: f32 = 0.1;

/// How a pass looks at errors.
#[derive(Clone, Copy)]
pub struct Rules {
    /// Part of the overlap at the start of the step that is corrected: 1 - alpha (Eq. 18).
    pub keep: f32,
    /// The same along the tangents.
    pub keep_tangent: f32,
    /// Overlap that is left alone, as a part of the collider's size.
    pub slop: f32,
    /// Overlap that is corrected at most, as a part of the collider's size.
    pub deepest: f32,
    /// Whether the stiffness of friction is rescaled (Eq. 14).
    pub rescale: bool,
}

impl Rules {
    /// Of a step's iterations, or of the pass behind them that corrects the error without giving velocity (section 6).
    #[inline(always)]
    pub fn new(params: &Params, stabilise: bool) -> Self {
        Self {
            keep: if stabilise { 1.0 } else { 1.0 - params.alpha },
            // Correcting the drift of sticking points without giving velocity pulls a card house apart.
            keep_tangent: if stabilise { 0.0 } else { 1.0 - params.alpha_tangent },
            // Lifting bodies until they no longer touch would let them fall again in the next step.
            slop: if stabilise { params.slop } else { 0.0 },
            deepest: if stabilise { DEEPEST_STABILISED } else { DEEPEST },
            rescale: params.options & option::RESCALE != 0,
        }
    }
}

/// Contact points of one manifold, as many as are worked on at once.
#[derive(Clone, Copy)]
pub struct Points<F: Real> {
    /// See [`Point`].
    pub lever: Vector<F>,
    /// See [`Point`].
    pub gap: Vector<F>,
    /// See [`Point`].
    pub lambda: Vector<F>,
    /// See [`Point`].
    pub k: F,
    /// Which of them slid in the last step already.
    pub slid: F::Mask,
}

impl<F: Real> Points<F> {
    /// The points from `first` on, `count` of them at most; those that are not there push nothing.
    #[inline(always)]
    pub fn load(points: &impl Load<Point>, first: u32, count: u32) -> Self {
        // `SLID` is the bit below the sign.
        let c = F::columns(count, |i| {
            let Point { lever: r, gap: g, lambda: l, k, feature } = points.at(first + i);
            [r.x, r.y, r.z, g.x, g.y, g.z, l.x, l.y, l.z, k, 0.0, f32::from_bits(feature << 1)]
        });
        Self {
            lever: Vector::new(c[0], c[1], c[2]),
            gap: Vector::new(c[3], c[4], c[5]),
            lambda: Vector::new(c[6], c[7], c[8]),
            k: c[9],
            slid: c[11].signed(),
        }
    }
}

/// Forces of contact points and their stiffness for the Hessian.
#[derive(Clone, Copy)]
pub struct Response<F: Real> {
    /// Error of the rows: tangent, bitangent, normal.
    pub error: Vector<F>,
    /// Multipliers after this iteration: clamped `k C + lambda`.
    pub lambda: Vector<F>,
    /// Stiffness of the normal row in the Hessian.
    pub k_normal: F,
    /// Stiffness of the tangent rows in the Hessian.
    pub k_tangent: F,
    /// Whether the friction force had to be cut to the cone.
    pub slides: F::Mask,
    /// Whether the point pushes at all.
    pub active: F::Mask,
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

/// What points ask when the bodies have moved.
#[inline(always)]
pub fn respond<F: Real>(
    rules: &Rules,
    manifold: &Manifold,
    points: &Points<F>,
    basis: (Vec3, Vec3),
    moved: &Moved,
) -> Response<F> {
    let splat = Vector::<F>::splat;
    let (t, u, n) = (splat(basis.0), splat(basis.1), splat(manifold.normal));
    let (zero, one) = (F::splat(0.0), F::splat(1.0));
    let d = splat(moved.shift) + splat(moved.turn).cross(points.lever);
    let overlap = F::splat(rules.keep) * (points.gap.z + F::splat(rules.slop * manifold.length)).least(zero);
    // Deep overlaps are worked off over many steps, however deep they are.
    let deepest = F::splat(-rules.deepest * manifold.length);
    let gap = F::select(zero.below(points.gap.z), points.gap.z, overlap.most(deepest));
    let drift = F::splat(rules.keep_tangent);
    let error = Vector::new(drift * points.gap.x + t.dot(d), drift * points.gap.y + u.dot(d), gap + n.dot(d));

    // Eq. 13 with bounds: the normal may only push.
    let normal = points.k * error.z + points.lambda.z;
    let active = normal.below(zero);
    // Eq. 14: the stiffness that reaches the bound from the multiplier there is.
    let reaching = F::select(zero.below(error.z), -points.lambda.z / error.z, zero);
    let k_normal = F::select(active, points.k, reaching);
    let normal = F::select(active, normal, zero);

    // The cone of this same normal force. The static coefficient holds a point that did not slide in the last step, through
    // all iterations: in the first ones the normal force is not yet what it will be.
    let dynamic = F::splat(manifold.friction_dynamic);
    let mu = F::select(points.slid, dynamic, F::splat(manifold.friction_static));
    let ft = points.k * error.x + points.lambda.x;
    let fu = points.k * error.y + points.lambda.y;
    let size = (ft * ft + fu * fu).root();
    let slides = (mu * -normal).below(size);
    let most = F::select(slides, dynamic, mu) * -normal;
    let scale = F::select(slides, most / size, one);
    let mut k_tangent = F::select(active, points.k, zero);
    if rules.rescale {
        // Eq. 14 along the direction of sliding, with the whole force instead of what the multiplier lacks of it: a warm
        // multiplier lies at the cone's border already, and a contact that just begins to slide would be left without
        // any stiffness against turning back. Nor is it for points that held until now: an arch would creep.
        let way = (error.x * error.x + error.y * error.y).root();
        let rescaled = F::select(zero.below(way), most / way, k_tangent);
        k_tangent = F::select(points.slid & slides & rescaled.below(k_tangent), rescaled, k_tangent);
    }
    Response { error, lambda: Vector::new(ft * scale, fu * scale, normal), k_normal, k_tangent, slides, active }
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
