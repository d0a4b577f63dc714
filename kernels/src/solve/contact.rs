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
//! With post-stabilisation (section 6) alpha is 1 while iterating, and one more pass behind them corrects overlap. That
//! pass is a small problem of its own: how far to move bodies from where the iterations left them, so that part of the
//! overlap is gone and points that stick stay where they are. Neither multipliers nor gravity take part in it: what the
//! iterations have not balanced would move bodies without giving them velocity, and pump what sways.

use crate::detect::manifold::{Head, ROUND_A, ROUND_B, word};
use crate::gpu::glam::UVec4;
use crate::gpu::{Load, OfPoints, Real, Store, Vector, finite};
use crate::math::Twist;
use crate::solve::surface::Surfaces;
use crate::state::rigid::{Params, option};

/// How a pass looks at errors.
#[derive(Clone, Copy)]
pub struct ContactRules {
    /// Part of the overlap at the start of the step that is corrected: 1 - alpha (Eq. 18).
    pub keep: f32,
    /// The same along the tangents.
    pub keep_tangent: f32,
    /// Overlap that is left alone, as a part of the collider's size,
    pub slop: f32,
    /// or this part of what a point gives way by, its force over its stiffness: within that, where a point is and what it
    /// carries are not told apart by so many iterations. Correcting it would move bodies that sway, without velocity,
    /// and give them energy.
    pub give: f32,
    /// But no more than this, as a part of the collider's size.
    pub margin: f32,
    /// Overlap that is corrected at most, as a part of the collider's size.
    pub deepest: f32,
    /// Whether the stiffness of friction is rescaled (Eq. 14).
    pub rescale: bool,
    /// Part of its stiffness that a row keeps in the Hessian when its force is clamped to nothing: 1 is Algorithm 1,
    /// line 18.
    pub curved: f32,
    /// Whether this is the pass behind the iterations.
    pub stabilise: bool,
}

impl ContactRules {
    /// Of a step's iterations, or of the pass behind them that corrects the error without giving velocity (section 6).
    #[inline(always)]
    pub fn new(params: &Params, stabilise: bool) -> Self {
        Self {
            keep: if stabilise { params.stabilised_overlap } else { 1.0 - params.alpha },
            // The drift of sticking points is left alone: pulled back at the rate a tower sways, it makes it sway more.
            keep_tangent: if stabilise { 0.0 } else { 1.0 - params.alpha_tangent },
            // Lifting bodies until they no longer touch would let them fall again in the next step.
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

/// Contact points, as many as are worked on at once.
#[derive(Clone, Copy)]
pub struct Points<F: Real> {
    /// See [`Point`](crate::detect::manifold::Point).
    pub lever: Vector<F>,
    /// See [`Point`](crate::detect::manifold::Point).
    pub gap: Vector<F>,
    /// See [`Point`](crate::detect::manifold::Point).
    pub lambda: Vector<F>,
    /// See [`Point`](crate::detect::manifold::Point), without the sign: stiffness of the normal row.
    pub k: F,
    /// Stiffness of the tangent rows. The same as that of the normal one unless every row has its own.
    pub k_tangents: (F, F),
    /// Whether they slid at the end of the last step.
    pub slid: F::Mask,
}

impl<F: OfPoints> Points<F> {
    /// The points of the records that begin at `first`.
    #[inline(always)]
    pub fn load(points: &impl Load<UVec4>, first: &F::Each<u32>) -> Self {
        Self::of(|w: u32| F::load(points, &F::shift(first, w)))
    }

    /// Those whose words `float` gives.
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

    /// Only those of the first `parts` manifolds; the others push nothing.
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
    pub fn store_duals(&self, points: &mut impl Store<UVec4>, first: &F::Each<u32>) {
        self.lambda.x.store(points, &F::shift(first, word::LAMBDA));
        self.lambda.y.store(points, &F::shift(first, word::LAMBDA + 1));
        self.lambda.z.store(points, &F::shift(first, word::LAMBDA + 2));
        F::select(self.slid, -self.k, self.k).store(points, &F::shift(first, word::K));
    }
}

/// Vectors of a manifold in the list of stiffnesses of tangent rows: one for each tangent, a word a point.
pub const TANGENTS: u32 = 2;

/// Stiffness of the tangent rows of manifolds when every row has its own: `stiffness` holds [`TANGENTS`] vectors a manifold.
#[inline(always)]
pub fn tangent_stiffness<F: OfPoints>(stiffness: &impl Load<UVec4>, manifolds: &F::Each<u32>) -> (F, F) {
    let rows = F::map(manifolds, |manifold| manifold.wrapping_mul(TANGENTS));
    (F::load(stiffness, &rows), F::load(stiffness, &F::shift(&rows, 1)))
}

/// What the points of a manifold have in common, for all manifolds that are worked on at once.
#[derive(Clone, Copy)]
pub struct Shared<F: Real> {
    /// From b to a.
    pub normal: Vector<F>,
    /// At right angles to it, and to each other.
    pub tangents: (Vector<F>, Vector<F>),
    /// See [`Head`].
    pub offset: Vector<F>,
    friction_static: F,
    friction_dynamic: F,
    /// See [`Head`].
    pub length: F,
    shift: Vector<F>,
    turn: Vector<F>,
    turn_b: Vector<F>,
    /// 1, or 0 where points are not followed along arcs.
    arcs: F,
    /// Which of both are round, a and b.
    round: (F::Mask, F::Mask),
    /// The same as `shift` and `turn` of what the iterations did, in the pass behind them.
    before: (Vector<F>, Vector<F>),
}

impl<F: OfPoints> Shared<F> {
    /// Of manifolds whose bodies have moved: `one` that on the side of a where `is_a` says so, and `other` on the other side. A
    /// point with lever r on a has then moved by `shift + turn x r`, seen from b. Forces on both act at the same place,
    /// the point on a, so that they turn nothing together.
    #[inline(always)]
    pub fn new(heads: &F::Each<Head>, is_a: F::Mask, one: &Moved<F>, other: &Moved<F>) -> Self {
        let normal = Vector::spread(heads, |h: &Head| h.normal);
        let offset = Vector::spread(heads, |h: &Head| h.offset);
        let (shift, turn, turn_b) = seen_from_b(offset, is_a, one, other);
        Self {
            normal,
            tangents: normal.tangents(),
            offset,
            friction_static: F::spread(heads, |h| h.friction.fixed),
            friction_dynamic: F::spread(heads, |h| h.friction.sliding),
            length: F::spread(heads, |h| h.length),
            shift,
            turn,
            turn_b,
            arcs: F::splat(1.0),
            round: (is_round::<F>(heads, ROUND_A), is_round::<F>(heads, ROUND_B)),
            before: (Vector::zero(), Vector::zero()),
        }
    }

    /// How far a turned, seen from b.
    #[inline(always)]
    pub fn turn(&self) -> Vector<F> {
        self.turn
    }

    /// With surfaces that move by themselves. The arcs of those that turn are in the drift already, and so are those of what
    /// goes round with them.
    #[inline(always)]
    pub fn with_surfaces(mut self, surfaces: &Surfaces<F>) -> Self {
        let (zero, one) = (F::splat(0.0), F::splat(1.0));
        self.shift = self.shift + surfaces.drift();
        self.turn = self.turn + self.normal * surfaces.spin();
        self.arcs = F::select(zero.below(surfaces.spin().size()), zero, one);
        self
    }

    /// The same in the pass behind the iterations, where `one` and `other` are what bodies are moved by besides, and these
    /// are what the iterations moved them by.
    #[inline(always)]
    pub fn behind(mut self, is_a: F::Mask, one: &Moved<F>, other: &Moved<F>) -> Self {
        let (shift, turn, _) = seen_from_b(self.offset, is_a, one, other);
        self.before = (shift, turn);
        self
    }
}

/// Where the collider of a side is round.
#[inline(always)]
fn is_round<F: OfPoints>(heads: &F::Each<Head>, side: u32) -> F::Mask {
    F::splat(0.0).below(F::spread(heads, |h| if h.round & side != 0 { 1.0 } else { 0.0 }))
}

/// What a point on a moved by, seen from b: `shift + turn x lever`; and how b turned.
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

/// Squares of a turn in a step from which on its second order counts along tangents, radians squared. What is left out adds up
/// on something that keeps turning: below 1e-4 radians it is 5e-9 of the lever a step, a thousandth of a millimetre a second
/// at 3 m and 60 Hz.
const FAST_TURN: f32 = 1e-8;

/// How far bodies have moved.
#[derive(Clone, Copy)]
pub struct Moved<F> {
    linear: Vector<F>,
    angular: Vector<F>,
}

impl<F: OfPoints> Moved<F> {
    /// A body for every manifold.
    #[inline(always)]
    pub fn new(twists: &F::Each<Twist>) -> Self {
        Self {
            linear: Vector::spread(twists, |t: &Twist| t.linear),
            angular: Vector::spread(twists, |t: &Twist| t.angular),
        }
    }

    /// The same body for all.
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
    /// Multipliers after this iteration: clamped `k C + lambda`.
    pub lambda: Vector<F>,
    /// Stiffness of the normal row in the Hessian.
    pub k_normal: F,
    /// Stiffness of the tangent row in the Hessian; of both tangent rows unless every row has its own.
    pub k_tangent: F,
    /// Stiffness of the bitangent row in the Hessian.
    pub k_bitangent: F,
    /// Whether the friction force had to be cut to the cone.
    pub slides: F::Mask,
    /// Whether the point pushes at all.
    pub active: F::Mask,
}

/// What points ask.
#[inline(always)]
pub fn respond<F: OfPoints>(rules: &ContactRules, shared: &Shared<F>, points: &Points<F>) -> Response<F> {
    let (zero, one) = (F::splat(0.0), F::splat(1.0));
    let (n, (t, u)) = (shared.normal, shared.tangents);
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
    // Deep overlaps are worked off over many steps, however deep they are.
    let deepest = F::splat(-rules.deepest) * shared.length;
    let gap = F::select(zero.below(start), start, overlap.most(deepest));
    let drift = F::splat(rules.keep_tangent);
    let mut error = Vector::new(drift * points.gap.x + t.dot(d), drift * points.gap.y + u.dot(d), gap + n.dot(d));
    let (turn_a, turn_b) = (shared.turn + shared.turn_b, shared.turn_b);
    let fast = F::splat(FAST_TURN).below(turn_a.dot(turn_a).most(turn_b.dot(turn_b)));
    // A lane of a GPU has other things to do than to branch: SwiftShader needs minutes to compile one here.
    if !rules.stabilise && (F::PARTS == 1 || F::any(fast)) {
        // Points of what turns go along arcs: as they go, their levers change, and half of that counts. Along the normal
        // this is left out. What is round touches with ever new points at the same lever, and goes on over the other: a
        // ball that rolls and spins about the normal goes straight. Beyond a radian there is no second order to speak of.
        let way = shared.shift + turn_b.cross(shared.offset);
        let (none, (round_a, round_b)) = (Vector::zero(), shared.round);
        let levers_a = Vector::select(round_b, -way, turn_a.cross(points.lever));
        let levers_b = Vector::select(round_a, way, turn_b.cross(points.lever + shared.offset));
        let levers_a = Vector::select(!round_a & turn_a.dot(turn_a).below(one), levers_a, none);
        let levers_b = Vector::select(!round_b & turn_b.dot(turn_b).below(one), levers_b, none);
        let arc = (turn_a.cross(levers_a) - turn_b.cross(levers_b)) * (F::splat(0.5) * shared.arcs);
        // The same bits whoever is worked on at the same time.
        error.x = F::select(fast, error.x + t.dot(arc), error.x);
        error.y = F::select(fast, error.y + u.dot(arc), error.y);
    }

    // Eq. 13 with bounds: the normal may only push.
    let normal = points.k * error.z + lambda.z;
    let active = normal.below(zero);
    let curved = F::splat(rules.curved);
    let mut k_normal = F::select(active, points.k, points.k * curved);
    // Eq. 14: the stiffness that reaches the bound from the multiplier there is.
    let lifted = zero.below(error.z) & lambda.z.below(zero) & !active;
    if rules.curved == 0.0 && F::any(lifted) {
        k_normal = F::select(lifted, -lambda.z / error.z, k_normal);
    }
    let normal = F::select(active, normal, zero);

    // The cone of this same normal force; behind the iterations, of that which they found. The static coefficient holds a
    // point that did not slide in the last step, through all iterations: in the first ones the normal force is not yet
    // what it will be.
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
    // The root, although squares could be compared: those of a world's weight are beyond what a float holds.
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
        // Eq. 14 along the direction of sliding, with the whole force instead of what the multiplier lacks of it: a warm
        // multiplier lies at the cone's border already, and a contact that just begins to slide would be left without
        // any stiffness against turning back. Nor is it for points that held until now: an arch would creep.
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
