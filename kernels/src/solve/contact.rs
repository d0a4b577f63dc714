//! The contact model, shared by the primal passes and the dual one: from how far two bodies moved, the force and the
//! stiffness of every contact point between them. The only buffers it touches are the records of points and the
//! stiffness of tangent rows.
//!
//! A contact's error is linear in how far the bodies moved since the start of the step (section 4, "Approximating
//! Constraints"): with d the way the point on a moved relative to the one on b,
//!
//! ```text
//! C = (1 - alpha) C0 + [t b n]^T d        tangents, and the normal when C0 < 0 (Eq. 18)
//! C = C0 + n . d                          the normal when there is still a gap: it is no error to be regularised
//! ```
//!
//! With post-stabilisation (section 6) alpha is 1 during the iterations, and one more pass after them corrects overlap.
//! That pass solves a small problem of its own: how far to move bodies from where the iterations left them, so that
//! part of the overlap is gone and sticking points stay where they are. It uses neither multipliers nor gravity: forces
//! that the iterations did not balance would move bodies without changing their velocity, and add energy to swaying
//! stacks.

use crate::detect::manifold::{Head, ROUND_A, ROUND_B, word};
use crate::gpu::{LoadFour, OfPoints, Real, StoreFour, Vector, finite};
use crate::math::Twist;
use crate::solve::surface::Surfaces;
use crate::state::rigid::{Params, option};

/// How a pass treats errors.
#[derive(Clone, Copy)]
pub struct ContactRules {
    /// Part of the overlap at the start of the step that is corrected: 1 - alpha (Eq. 18).
    pub keep: f32,
    /// The same part for the drift along the tangents.
    pub keep_tangent: f32,
    /// Overlap that is not corrected, as a fraction of the collider's size.
    pub slop: f32,
    /// A larger overlap is not corrected either if it is within this fraction of the point's compliance, its force over
    /// its stiffness. So few iterations do not resolve positions more finely; correcting such overlap moves swaying
    /// bodies without changing their velocity, which adds energy.
    pub give: f32,
    /// Upper bound of the overlap that `give` leaves uncorrected, as a fraction of the collider's size.
    pub margin: f32,
    /// Largest overlap that one step corrects, as a fraction of the collider's size.
    pub deepest: f32,
    /// Whether the stiffness of sliding friction is rescaled (Eq. 14).
    pub rescale: bool,
    /// Fraction of its stiffness that a row keeps in the Hessian when its force is clamped to zero; 1 is Algorithm 1,
    /// line 18.
    pub curved: f32,
    /// Whether this is the stabilising pass, after the iterations.
    pub stabilise: bool,
}

impl ContactRules {
    /// Rules of the iterations, or of the stabilising pass, which corrects errors without changing velocities (section
    /// 6).
    #[inline(always)]
    pub fn new(params: &Params, stabilise: bool) -> Self {
        Self {
            keep: if stabilise { params.stabilised_overlap } else { 1.0 - params.alpha },
            // The drift of sticking points is not corrected: corrected at the rate a tower sways, it amplifies the
            // sway.
            keep_tangent: if stabilise { 0.0 } else { 1.0 - params.alpha_tangent },
            // Bodies that are lifted until they no longer touch would fall again in the next step.
            slop: if stabilise { params.slop } else { 0.0 },
            give: params.give,
            margin: params.margin,
            deepest: if stabilise { params.correction_stabilised } else { params.correction },
            rescale: params.options & option::RESCALE != 0,
            curved: if params.options & option::CURVED != 0 { 1.0 } else { 0.0 },
            stabilise,
        }
    }
}

/// Contact points, as many as are processed at once.
#[derive(Clone, Copy)]
pub struct Points<F: Real> {
    /// See [`Point`](crate::detect::manifold::Point).
    pub lever: Vector<F>,
    /// See [`Point`](crate::detect::manifold::Point).
    pub gap: Vector<F>,
    /// See [`Point`](crate::detect::manifold::Point).
    pub lambda: Vector<F>,
    /// Stiffness of the normal row; [`Point`](crate::detect::manifold::Point) stores it with a sign.
    pub k: F,
    /// Stiffness of the two tangent rows. Equal to that of the normal row unless every row has its own.
    pub k_tangents: (F, F),
    /// Whether the points slid at the end of the last step.
    pub slid: F::Mask,
}

impl<F: OfPoints> Points<F> {
    /// The points of the records that begin at `first`, or that one of each.
    #[inline(always)]
    pub fn load(points: &impl LoadFour, first: &F::Each<u32>, point: u32) -> Self {
        Self::of(|w: u32| F::load(points, &F::shift(first, w), point))
    }

    /// Only their levers, from their words.
    #[inline(always)]
    pub fn levers(float: impl Fn(u32) -> F) -> Vector<F> {
        Vector::new(float(word::LEVER), float(word::LEVER + 1), float(word::LEVER + 2))
    }

    /// Points from their words: `float` loads a word by its number.
    #[inline(always)]
    pub fn of(float: impl Fn(u32) -> F) -> Self {
        let vector = |w: u32| Vector::new(float(w), float(w + 1), float(w + 2));
        let k = float(word::K);
        Self {
            lever: vector(word::LEVER),
            gap: vector(word::GAP),
            lambda: vector(word::LAMBDA),
            k: k.size(),
            k_tangents: (k.size(), k.size()),
            slid: k.below(F::splat(0.0)),
        }
    }

    /// Keeps the points of the first `parts` manifolds; multipliers and stiffness of the others become zero.
    #[inline(always)]
    pub fn first(self, parts: u32) -> Self {
        let l = self.lambda;
        Self {
            lambda: Vector::new(l.x.first(parts), l.y.first(parts), l.z.first(parts)),
            k: self.k.first(parts),
            k_tangents: (self.k_tangents.0.first(parts), self.k_tangents.1.first(parts)),
            ..self
        }
    }

    /// Writes what the dual pass changes.
    #[inline(always)]
    pub fn store_duals(&self, points: &mut impl StoreFour, first: &F::Each<u32>, point: u32) {
        self.lambda.x.store(points, &F::shift(first, word::LAMBDA), point);
        self.lambda.y.store(points, &F::shift(first, word::LAMBDA + 1), point);
        self.lambda.z.store(points, &F::shift(first, word::LAMBDA + 2), point);
        F::select(self.slid, -self.k, self.k).store(points, &F::shift(first, word::K), point);
    }
}

/// Vectors a manifold has in the list of tangent stiffness: one for each tangent, with one word for each point.
pub const TANGENTS: u32 = 2;

/// Stiffness of the tangent rows of manifolds when every row has its own: `stiffness` holds [`TANGENTS`] vectors a
/// manifold.
#[inline(always)]
pub fn tangent_stiffness<F: OfPoints>(stiffness: &impl LoadFour, manifolds: &F::Each<u32>, point: u32) -> (F, F) {
    let rows = F::map(manifolds, |manifold| manifold.wrapping_mul(TANGENTS));
    (F::load(stiffness, &rows, point), F::load(stiffness, &F::shift(&rows, 1), point))
}

/// What the points of a manifold have in common, for all manifolds that are processed at once.
#[derive(Clone, Copy)]
pub struct Shared<F: Real> {
    /// Unit normal, from b to a.
    pub normal: Vector<F>,
    /// See [`Head`].
    pub offset: Vector<F>,
    friction_static: F,
    friction_dynamic: F,
    /// See [`Head`].
    pub length: F,
    shift: Vector<F>,
    turn: Vector<F>,
    turn_b: Vector<F>,
    /// 1, or 0 where the second-order motion along arcs is left out.
    arcs: F,
    /// Which of both are round: 0, 1 for a, 2 for b, or 3. Only what turns asks, so it is told apart there.
    round: F,
    /// `shift` and `turn` of the iterations' motion; only set in the stabilising pass.
    before: (Vector<F>, Vector<F>),
}

impl<F: OfPoints> Shared<F> {
    /// Manifolds whose bodies have moved. `one` is the motion of body a where `is_a` is set and of body b elsewhere;
    /// `other` is that of the body on the other side. A point with lever r on a has then moved by `shift + turn x r`
    /// relative to b. The forces on both bodies act at one place, the point on a, so the pair gets no net torque.
    #[inline(always)]
    pub fn new(heads: &F::Each<Head>, is_a: F::Mask, one: &Moved<F>, other: &Moved<F>) -> Self {
        let normal = Vector::spread(heads, |h: &Head| h.normal);
        let offset = Vector::spread(heads, |h: &Head| h.offset);
        let (shift, turn, turn_b) = seen_from_b(offset, is_a, one, other);
        Self {
            normal,
            offset,
            friction_static: F::spread(heads, |h| h.friction.fixed),
            friction_dynamic: F::spread(heads, |h| h.friction.sliding),
            length: F::spread(heads, |h| h.length),
            shift,
            turn,
            turn_b,
            arcs: F::splat(1.0),
            round: F::spread(heads, |h| h.round as f32),
            before: (Vector::zero(), Vector::zero()),
        }
    }

    /// Unit tangents, at right angles to the normal and to each other: made anew where they are needed, because a GPU
    /// lane would have to keep them.
    #[inline(always)]
    pub fn tangents(&self) -> (Vector<F>, Vector<F>) {
        self.normal.tangents()
    }

    /// Rotation vector of a relative to b since the start of the step, radians.
    #[inline(always)]
    pub fn turn(&self) -> Vector<F> {
        self.turn
    }

    /// Adds the motion of surfaces that move by themselves. For surfaces that turn, `drift` already includes the
    /// second-order arc, so it is not added again.
    #[inline(always)]
    pub fn with_surfaces(mut self, surfaces: &Surfaces<F>) -> Self {
        let (zero, one) = (F::splat(0.0), F::splat(1.0));
        self.shift = self.shift + surfaces.drift();
        self.turn = self.turn + self.normal * surfaces.spin();
        self.arcs = F::select(zero.below(surfaces.spin().size()), zero, one);
        self
    }

    /// Adds the motion of the iterations, for the stabilising pass; `one` and `other` of [`Shared::new`] are then only
    /// what that pass itself moved.
    #[inline(always)]
    pub fn behind(mut self, is_a: F::Mask, one: &Moved<F>, other: &Moved<F>) -> Self {
        let (shift, turn, _) = seen_from_b(self.offset, is_a, one, other);
        self.before = (shift, turn);
        self
    }
}

/// Where the colliders of a and of b are round.
#[inline(always)]
fn round_sides<F: OfPoints>(round: F) -> (F::Mask, F::Mask) {
    const { assert!(ROUND_A == 1 && ROUND_B == 2) };
    let b = F::splat(1.5).below(round);
    (F::splat(0.5).below(F::select(b, round - F::splat(2.0), round)), b)
}

/// Motion of the point on a relative to b, as `shift + turn x lever`, and the rotation vector of b.
#[inline(always)]
fn seen_from_b<F: OfPoints>(
    offset: Vector<F>,
    is_a: F::Mask,
    one: &Moved<F>,
    other: &Moved<F>,
) -> (Vector<F>, Vector<F>, Vector<F>) {
    let turn_b = Vector::select(is_a, other.angular, one.angular);
    let side = F::select(is_a, F::splat(1.0), F::splat(-1.0));
    let shift = (one.linear - other.linear) * side - turn_b.cross(offset);
    (shift, (one.angular - other.angular) * side, turn_b)
}

/// Square of the turn in a step, radians squared, above which its second order counts along the tangents. Below, at
/// 1e-4 radians, the neglected part is 5e-9 of the lever a step: for a body that keeps turning, a thousandth of a
/// millimetre a second at 3 m and 60 Hz.
const FAST_TURN: f32 = 1e-8;

/// How far bodies have moved since the start of the step.
#[derive(Clone, Copy)]
pub struct Moved<F> {
    linear: Vector<F>,
    angular: Vector<F>,
}

impl<F: OfPoints> Moved<F> {
    /// One body for every manifold.
    #[inline(always)]
    pub fn new(twists: &F::Each<Twist>) -> Self {
        Self {
            linear: Vector::spread(twists, |t: &Twist| t.linear),
            angular: Vector::spread(twists, |t: &Twist| t.angular),
        }
    }

    /// The same body for all manifolds.
    #[inline(always)]
    pub fn splat(twist: &Twist) -> Self {
        Self { linear: Vector::splat(twist.linear), angular: Vector::splat(twist.angular) }
    }
}

/// Forces of contact points and their stiffness for the Hessian.
#[derive(Clone, Copy)]
pub struct Response<F: Real> {
    /// Error of the rows: tangent, bitangent, normal.
    pub error: Vector<F>,
    /// Multipliers after this iteration: `k C + lambda`, clamped (Eq. 11 and 13).
    pub lambda: Vector<F>,
    /// Stiffness of the normal row in the Hessian.
    pub k_normal: F,
    /// Stiffness of the tangent row in the Hessian; of both tangent rows unless every row has its own.
    pub k_tangent: F,
    /// Stiffness of the bitangent row in the Hessian.
    pub k_bitangent: F,
    /// Whether the friction force was clamped to the cone.
    pub slides: F::Mask,
    /// Whether the normal force is not zero.
    pub active: F::Mask,
}

/// Second-order motion along the tangents: points of a turning body move along arcs, so their levers change on the way,
/// and half of that change counts. The normal row leaves it out.
#[derive(Clone, Copy)]
pub struct Arcs<F: Real> {
    /// Where it counts.
    fast: F::Mask,
    way: Vector<F>,
}

impl<F: OfPoints> Arcs<F> {
    /// Of points with levers `lever` on a. A GPU lane asks before it loads the rest of a point.
    #[inline(always)]
    pub fn new(rules: &ContactRules, shared: &Shared<F>, lever: Vector<F>) -> Self {
        let (none, one) = (Vector::zero(), F::splat(1.0));
        let (turn_a, turn_b) = (shared.turn + shared.turn_b, shared.turn_b);
        let fast = F::splat(FAST_TURN).below(turn_a.dot(turn_a).most(turn_b.dot(turn_b)));
        let mut arcs = Self { fast, way: none };
        // A GPU lane computes this without a branch: SwiftShader needs minutes to compile a branch here.
        if !rules.stabilise && (F::PARTS == 1 || F::any(fast)) {
            // A round collider touches with ever new points at a constant lever and rolls on over the other: a ball
            // that rolls and spins about the normal goes straight. For turns beyond a radian the second order is
            // meaningless, and is left out.
            let way = shared.shift + turn_b.cross(shared.offset);
            let (round_a, round_b) = round_sides(shared.round);
            let levers_a = Vector::select(round_b, -way, turn_a.cross(lever));
            let levers_a = Vector::select(!round_a & turn_a.dot(turn_a).below(one), levers_a, none);
            let of_a = turn_a.cross(levers_a);
            let levers_b = Vector::select(round_a, way, turn_b.cross(lever + shared.offset));
            let levers_b = Vector::select(!round_b & turn_b.dot(turn_b).below(one), levers_b, none);
            arcs.way = (of_a - turn_b.cross(levers_b)) * (F::splat(0.5) * shared.arcs);
        }
        arcs
    }
}

/// Error, force and stiffness of contact points (Eq. 13 to 15, 18).
#[inline(always)]
pub fn respond<F: OfPoints>(rules: &ContactRules, shared: &Shared<F>, points: &Points<F>) -> Response<F> {
    respond_along(rules, shared, points, &Arcs::new(rules, shared, points.lever))
}

/// The same with the arcs of the points.
#[inline(always)]
pub fn respond_along<F: OfPoints>(
    rules: &ContactRules,
    shared: &Shared<F>,
    points: &Points<F>,
    arcs: &Arcs<F>,
) -> Response<F> {
    let (zero, one) = (F::splat(0.0), F::splat(1.0));
    let (n, (t, u)) = (shared.normal, shared.tangents());
    let d = shared.shift + shared.turn.cross(points.lever);
    let mut start = points.gap.z;
    let mut lambda = points.lambda;
    if rules.stabilise {
        start = start + n.dot(shared.before.0 + shared.before.1.cross(points.lever));
        lambda = Vector::zero();
    }
    let mut slop = F::splat(rules.slop) * shared.length;
    if rules.stabilise {
        let yields = F::select(zero.below(points.k), -points.lambda.z / points.k, zero);
        slop = slop.most((F::splat(rules.give) * yields).least(F::splat(rules.margin) * shared.length));
    }
    let overlap = F::splat(rules.keep) * (start + slop).least(zero);
    // A deep overlap is corrected over many steps, by at most `deepest` in each.
    let deepest = F::splat(-rules.deepest) * shared.length;
    let gap = F::select(zero.below(start), start, overlap.most(deepest));
    let drift = F::splat(rules.keep_tangent);
    let mut error = Vector::new(drift * points.gap.x + t.dot(d), drift * points.gap.y + u.dot(d), gap + n.dot(d));
    if !rules.stabilise && (F::PARTS == 1 || F::any(arcs.fast)) {
        // Selected lane by lane, so that a point gets the same bits whichever points are processed together with it.
        error.x = F::select(arcs.fast, error.x + t.dot(arcs.way), error.x);
        error.y = F::select(arcs.fast, error.y + u.dot(arcs.way), error.y);
    }

    // Eq. 13 with bounds: the normal may only push.
    let normal = points.k * error.z + lambda.z;
    let active = normal.below(zero);
    let curved = F::splat(rules.curved);
    let mut k_normal = F::select(active, points.k, points.k * curved);
    // Eq. 14: stiffness with which the multiplier reaches its bound, zero, at this error.
    let lifted = zero.below(error.z) & lambda.z.below(zero) & !active;
    if rules.curved == 0.0 && F::any(lifted) {
        k_normal = F::select(lifted, -lambda.z / error.z, k_normal);
    }
    let normal = F::select(active, normal, zero);

    // The cone of this normal force; in the stabilising pass, of the one that the iterations found. The static
    // coefficient applies in all iterations to a point that did not slide in the last step, because in the first
    // iterations the normal force is not converged yet.
    let mut pressed = normal;
    let mut held = active;
    if rules.stabilise {
        pressed = points.lambda.z;
        held = pressed.below(zero);
    }
    let dynamic = shared.friction_dynamic;
    let mu = F::select(points.slid, dynamic, shared.friction_static);
    let (kt, ku) = points.k_tangents;
    let ft = kt * error.x + lambda.x;
    let fu = ku * error.y + lambda.y;
    // Compares roots, not squares: the square of a very large force overflows a float.
    let size = (ft * ft + fu * fu).root();
    let slides = (mu * -pressed).below(size);
    let most = F::select(slides, dynamic, mu) * -pressed;
    let mut scale = one;
    if F::any(slides) {
        scale = F::select(slides, most / size, one);
    }
    let mut k_tangent = F::select(held, kt, kt * curved);
    let mut k_bitangent = F::select(held, ku, ku * curved);
    let sliding = points.slid & slides;
    if rules.rescale && F::any(sliding) {
        // Eq. 14 along the direction of sliding, but with the whole force instead of bound minus multiplier: a warm
        // multiplier lies at the border of the cone already, so a contact that begins to slide would lose all stiffness
        // against turning back. Points that stuck until now are not rescaled: an arch would creep.
        let way = (error.x * error.x + error.y * error.y).root();
        let moves = zero.below(way);
        let rescaled = F::select(moves, most / way, k_tangent);
        k_tangent = F::select(sliding & rescaled.below(k_tangent), rescaled, k_tangent);
        let rescaled = F::select(moves, most / way, k_bitangent);
        k_bitangent = F::select(sliding & rescaled.below(k_bitangent), rescaled, k_bitangent);
    }
    let lambda = Vector::new(ft * scale, fu * scale, normal);
    Response { error, lambda, k_normal, k_tangent, k_bitangent, slides, active }
}

/// Whether all six components are numbers.
#[inline(always)]
pub fn is_finite(twist: &Twist) -> bool {
    let (l, a) = (twist.linear, twist.angular);
    finite(l.x) & finite(l.y) & finite(l.z) & finite(a.x) & finite(a.y) & finite(a.z)
}
