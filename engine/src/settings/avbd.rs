//! The numbers of augmented vertex block descent: what is published, and what this engine stands for.

/// How rotations are added and subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RotationForm {
    /// By the exponential and the logarithm, and with the gyroscopic term: a free body keeps its angular momentum.
    Exact,
    /// To first order, as published (Eq. 20 and 21), without the gyroscopic term. A body that spins with 10 rad/s
    /// loses about a fifth of its spin in a second at 60 steps a second.
    FirstOrder,
}

/// Numbers and switches of augmented vertex block descent.
///
/// [`AvbdSettings::default`] is what this engine stands for, [`AvbdSettings::paper`] the published scheme. Start from
/// one of them and change fields, they are all public:
///
/// ```
/// use drystone::{AvbdSettings, Settings};
///
/// let firmer = AvbdSettings::default().with(|a| a.k_load = 150.0);
/// let settings = Settings::default().with(|s| s.solver = firmer.into());
/// # settings.check()?;
/// # Ok::<(), drystone::SettingsError>(())
/// ```
///
/// # Units
/// Stiffness is counted in *units*: of a contact the reduced mass of its two bodies over dt squared, of a joint's row
/// 1 / (dt^2 J M^-1 J^T). Errors are measured against a *size*: of a contact half the longest side of the smaller
/// collider, of a joint its length, of angles one radian. So the same numbers serve a scene in millimetres, one with
/// bodies of a million kilograms, and any time step. In newtons per metre, `k` units between two bodies of mass m are
/// k m / (2 dt^2), and a `beta` adds beta m / (2 dt^2 size) for every metre of error: for cubes of 1 kg and 1 m at 60
/// steps a second, the paper's 10 is 36,000 N/m per metre.
///
/// `docs/numbers.md` has all of them in one table, with what each trades.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AvbdSettings {
    /// Part of the error at the start of a step that is left alone, 0 to 1 (Eq. 18). 0.95 is the paper's. With
    /// [`stabilise`](Self::stabilise) it is for limits of angles and for joints that carry much.
    pub alpha: f32,
    /// Iterations of the first step of a world, shared by its sub-steps, if that is more than others have; and of a step
    /// for which [`Stepper::start_cold`](crate::Stepper::start_cold) asks for it. Multipliers carry from step to step
    /// what is known of loads, and there are none yet: a chain would stretch, a lever overshoot and an arch sink until
    /// they have built up.
    pub cold_iterations: u32,
    /// The same for every body in series that joints hold to what does not move, if that makes more: what a load lacks
    /// goes to and fro along a chain, a body an iteration. No step has more than 1,000 for it, and none has any without
    /// [`cold_iterations`](Self::cold_iterations), or for assemblies beyond [`share_reach`](Self::share_reach).
    pub cold_reach: u32,
    /// How fast the stiffness of contacts grows with error within a step (Eq. 12): an error of one size adds this many
    /// units in an iteration. 10 is the paper's number; the conversion is this engine's, see [units](Self#units).
    pub beta: f32,
    /// What is kept of multipliers from step to step, 0 to 1, times alpha, and of stiffness with
    /// [`row_stiffness`](Self::row_stiffness) (Eq. 19). 0.99 is the paper's. Not used with
    /// [`stabilise`](Self::stabilise), where multipliers hold no correction that would have to fade.
    pub gamma: f32,
    /// Stiffness of a new contact, in units. 1: the mass against which the contact works. Less sinks at few iterations,
    /// more makes towers tremble.
    pub k_start: f32,
    /// Highest stiffness, in units, and with the size the highest multiplier (section 4, "Bounding the Dual
    /// Variables"). 1e5: f32 resolves a part in 1.6e7, so a body's own inertia is still there to five bits and more
    /// beside it.
    pub k_max: f32,
    /// Stiffness for the load a contact carries: what a multiplier pushes with, over the size, times this. A contact
    /// gives way by the size over this and the iterations while its load builds up. 200: a tower of n equal cubes bends
    /// by that over its half width at every joint and buckles beyond about sqrt(2 x 200 x iterations) cubes; above it
    /// tall stacks tremble.
    pub k_load: f32,
    /// Stiffness for the mass a contact carries: what its multiplier pushes with, over the way by which it held its two
    /// bodies back in the last step from where they would have gone, times this. Force over that way is mass over dt
    /// squared, so the contact is as stiff as what it carries is heavy, and a blow, which pushes far, leaves no stiffness
    /// behind. The smaller of this and [`k_load`](Self::k_load) counts. 4: each of the two bodies is held back, and the
    /// ways of both are added; and twice that, since a tower of equals buckles at 2 (see [`k_heavy`](Self::k_heavy)).
    pub k_carried: f32,
    /// Units of stiffness from a load about which a contact begins to get only half as much for more. Bodies hand a load
    /// on an iteration late each: a stiff column of light bodies throws up what is heavy before its load has arrived
    /// below. 32: columns of 40 equals reach 40 units; heavy stacks, balls under plates and mails reach thousands.
    pub k_heavy: f32,
    /// Every row has a stiffness of its own, two tangents and a normal a contact point, kept from step to step (Eq.
    /// 19), as published. Otherwise points have one, which follows the load and is not kept: one that outlives its
    /// reason makes columns tremble, and the hot loops read three lines of memory a contact instead of four.
    pub row_stiffness: bool,
    /// Rows keep their stiffness in the Hessian when their force is clamped (Algorithm 1, line 18): smaller steps at
    /// the bounds. Otherwise a contact that does not push has none, one that lets go has Eq. 14, and a body can be
    /// thrown through a stiff contact that the sweep did not see: balls under ten tonnes gain energy that way.
    pub clamped_curvature: bool,
    /// Rescales the stiffness of sliding friction (Eq. 14), by the whole force. Without it sliding bodies go a fifth
    /// too far at 4 iterations. The paper leaves it out ("we use the simple solution", section 5).
    pub rescale_friction: bool,
    /// Post-stabilisation (section 6): the iterations leave the overlap there is alone, and a pass behind them corrects
    /// it without giving velocity. Multipliers are then kept whole from step to step, so a pile at rest needs no error
    /// to carry its load.
    pub stabilise: bool,
    /// Bodies that hang together, and touch nothing that does not move, are also moved as one: few iterations lose
    /// 3% to 70% of the momentum of an impact otherwise. Not in the paper.
    pub momentum: bool,
    /// How rotations are added. The default is exact; the paper's is of first order.
    pub rotation: RotationForm,
    /// Overlap that post-stabilisation leaves alone, in sizes. 5e-4: bodies lifted until they no longer touch would
    /// fall again in the next step. Chosen on stacks and card houses.
    pub slop: f32,
    /// Part of a sticking point's drift that the iterations leave alone in a step, 0 to 1, with
    /// [`stabilise`](Self::stabilise); without it, alpha. 1: a slow mode that is pulled back within the iterations has
    /// the error integrated into its multipliers, and is unstable where it is damped by less than it is pulled back.
    pub sticking: f32,
    /// Overlap that the iterations of a step correct at most, in sizes: what turns into velocity. 0.02 a step is 1.2
    /// sizes a second at 60 steps a second: bodies pushed into each other part without being thrown.
    pub correction: f32,
    /// The same of the pass behind the iterations, which gives no velocity: at 0.1 an
    /// overlap of a size is gone after ten steps.
    pub correction_stabilised: f32,
    /// Part of the overlap that the pass behind the iterations corrects in a step, 0 to 1. Moving a body without giving
    /// it velocity changes its height while the forces on it stay what they were, so a tower that sways is pumped by
    /// what is corrected in step with it. 0.3 is ten times as fast as a tower of ten boxes sways, and leaves a third
    /// after three steps.
    pub stabilised_overlap: f32,
    /// Overlap from which on a contact keeps nothing of the last step, in sizes: a conflict that no step solves must
    /// not pile up force from step to step. 0.4 was chosen on bodies created inside each other.
    pub deep: f32,
    /// Distance within which a point whose feature was renamed takes over from the nearest one of the last step, in
    /// sizes. 0.2: a tenth of the distance of a cube's corners, far more than a point moves in a step at rest.
    pub rematch: f32,
    /// Square of the drift from which on a sticking point gets new anchors, in squares of the size. 0.01 is a drift of
    /// a tenth of the size: beyond it the linear error along the tangents is no longer small.
    pub anchor_drift: f32,
    /// Part of an outer force that a body may feel and still start a step as if it were held. The paper's guess takes
    /// as much of gravity as was felt (0 here, 1 for [`free`](Self::free)); but what trembles is fed back that way. 0.3
    /// was chosen on piles and columns at 4 iterations.
    pub quiet: f32,
    /// Part from which on it starts as if it were free; between, in proportion. Chosen with [`quiet`](Self::quiet).
    pub free: f32,
    /// A body with joints starts from gravity only in free fall: part of it would be felt again in the next step, and a
    /// chain would gain energy. Not in the paper.
    pub falling_only: bool,
    /// Difference from a free fall, as a part of it, up to which a body with joints falls freely. Chosen on ragdolls
    /// and chains in free fall.
    pub falling: f32,
    /// Difference from which on it is held; between, in proportion. Chosen with [`falling`](Self::falling).
    pub held: f32,
    /// A body without joints starts with as much of the way inward, w x v dt^2, as it felt: on the circle on which something
    /// carries it. From the tangent, friction begins every step beyond its cone, and few iterations let it creep. Not in
    /// the paper.
    pub circling: bool,
    /// Stiffness of a joint that carries nothing, in units. Harder joints stretch less and falsify motion: with few
    /// iterations, bodies between them hardly follow gravity.
    pub k_joint: f32,
    /// Stiffness for the load a joint carries: what its multiplier pulls with, as far as that is felt, over its size,
    /// times this. Chosen on chains, pendulums, bridges, ropes and ragdolls.
    pub k_load_joint: f32,
    /// The same for the mass it carries, as [`k_carried`](Self::k_carried), from the multipliers at the start of a
    /// step. The smaller of the two counts. 4 was chosen on nets and chains.
    pub k_carried_joint: f32,
    /// The same after every iteration of a step that starts cold ([`cold_iterations`](Self::cold_iterations)), in which
    /// nothing is known of loads before. 1: as stiff as what it carries is heavy. In other steps it would feed on itself:
    /// a quarter of it made balls on a chain swing along it, and gain 1% of energy.
    pub ramp_cold: f32,
    /// How many times as stiff a contact, or a joint that starts cold, becomes in an iteration at most: in the first ones
    /// the way by which bodies are held back is not yet known. 2: a thousandfold load is found in ten.
    pub ramp_most: f32,
    /// How fast the stiffness of joints grows with error within a step (Eq. 12), as [`beta`](Self::beta), with
    /// [`row_stiffness`](Self::row_stiffness) only. 1000 is the upper end of the range in which the paper found no
    /// difference.
    pub beta_joint: f32,
    /// Part of a joint's error that the pass behind the iterations leaves alone. 0.5: ropes that are corrected at once
    /// whip.
    pub stabilised: f32,
    /// Error that a joint corrects at most in a step, in sizes or radians: behind the iterations, or by Eq. 18. 0.1: a
    /// size in ten steps, as [`correction_stabilised`](Self::correction_stabilised). Less, and a loaded chain stretches
    /// faster than it is drawn together again.
    pub correction_joint: f32,
    /// The same within the iterations, by joints that carry much, with [`stabilise`](Self::stabilise). 0.002: it turns
    /// into velocity of what is thousands of times as heavy.
    pub correction_joint_moving: f32,
    /// Units of stiffness from which on a joint counts as one that carries much and takes alpha: the pass behind the
    /// iterations is enough for a limb, but lifts no load thousands of times as heavy as what carries it. With the
    /// default `k_load_joint`, a size of 0.1 m and 60 steps a second, 500 units are a pull of 370 times the weight of
    /// its bodies.
    pub loaded: f32,
    /// How many times as many make it one altogether; between, alpha is blended.
    pub loaded_range: f32,
    /// Part of the load that counts for a rod or a rope: much stiffer along its line than its pull holds it across, it
    /// whips. Chosen on rods and ropes.
    pub taut: f32,
    /// Stiffness that a spring along a line begins with, in units. With 1, the first step of a scene under tension
    /// stretches stiff springs by half a millimetre, almost 1% of all energy. With 3 the weak springs of Figure 2 are
    /// off by 1%.
    pub k_spring: f32,
    /// Stiffness for the load it carries, as [`k_load`](Self::k_load). Gentler than that of joints: what is stiff at
    /// once holds what it joins where it is, and the weak springs beside it do not get to move it (Figures 2 and 4).
    pub k_load_spring: f32,
    /// How fast its stiffness grows with error (Eq. 16), as [`beta`](Self::beta).
    pub beta_spring: f32,
    /// Springs have no multiplier, and pull with the stiffness of the iteration times the error (Algorithm 1, line 16).
    /// Otherwise a multiplier has what the stiffness still lacks, and springs are right from the first iterations on.
    pub penalty_springs: bool,
    /// Least part of what joints pull with that counts as a load. 0.03: at the turning points of a few crude iterations
    /// nothing may be felt at all, and joints must not let go.
    pub least_share: f32,
    /// Bodies of an assembly of joints, for every iteration, up to which all of it counts. Corrections travel by about
    /// a body in an iteration and a half: what is not much longer than they come has no waves that could be heavy.
    pub share_reach: f32,
    /// Gap below which bodies count as touching when it is asked what hangs together, in sizes. 0.01: what is held by
    /// something that gives way a little in the last iteration is not free to fall.
    pub near: f32,
    /// Stiffness from which on a constraint ties its bodies together when aggregates are moved behind the iterations, in
    /// units, added over the points of a contact. 1: a softer one converges when both sides answer it at once, one that
    /// is stiffer throws them to and fro.
    pub tie: f32,
    /// Largest turn of what is moved as one, radians: the motion is rigid to first order only, with an error of 2% of
    /// the lever at 0.2.
    pub largest_turn: f32,
    /// Bodies that hang together up to which they are moved as one in every iteration; more are in the last one only,
    /// and not when something holds them. 4096: one subgroup adds them up.
    pub many: u32,
}

impl Default for AvbdSettings {
    fn default() -> Self {
        Self {
            alpha: 0.95,
            beta: 10.0,
            gamma: 0.99,
            k_start: 1.0,
            k_max: 1e5,
            k_load: 200.0,
            k_carried: 4.0,
            k_heavy: 32.0,
            row_stiffness: false,
            clamped_curvature: true,
            rescale_friction: true,
            stabilise: true,
            momentum: true,
            rotation: RotationForm::Exact,
            slop: 5e-4,
            sticking: 1.0,
            correction: 0.02,
            correction_stabilised: 0.1,
            stabilised_overlap: 0.3,
            deep: 0.4,
            rematch: 0.2,
            anchor_drift: 0.01,
            quiet: 0.3,
            free: 0.9,
            falling_only: true,
            falling: 0.02,
            held: 0.1,
            circling: true,
            k_joint: 1.0,
            k_load_joint: 50.0,
            k_carried_joint: 4.0,
            ramp_cold: 1.0,
            ramp_most: 2.0,
            beta_joint: 1000.0,
            stabilised: 0.5,
            correction_joint: 0.1,
            correction_joint_moving: 0.002,
            loaded: 500.0,
            loaded_range: 10.0,
            taut: 0.2,
            k_spring: 2.5,
            k_load_spring: 10.0,
            beta_spring: 10.0,
            penalty_springs: false,
            least_share: 0.03,
            share_reach: 10.0,
            near: 0.01,
            tie: 1.0,
            largest_turn: 0.2,
            many: 4096,
            cold_iterations: 128,
            cold_reach: 6,
        }
    }
}

/// Most iterations that a step which starts cold gets for bodies in series ([`AvbdSettings::cold_reach`]): a step is recorded
/// before it runs, and a chain of more than some hundred bodies is not worth a recording without end.
pub(crate) const MOST_COLD: u32 = 1000;

/// A bound that nothing reaches, and whose product with a size is still a number.
pub(super) const UNBOUNDED: f32 = 1e30;

impl AvbdSettings {
    /// The published scheme, to the letter: alpha 0.95, beta 10 and gamma 0.99 for all rows (Table 2); Eq. 12 to 16 and
    /// 18; stiffness a row, kept from step to step (Eq. 19); the Hessian of Algorithm 1, line 18; springs by penalty
    /// (line 16); rotations to first order (Eq. 20 and 21); the adaptive guess without a dead zone. No
    /// post-stabilisation, no stiffness from the load, no motion of islands, no bound on what a step corrects, no more
    /// iterations in the first step.
    ///
    /// What the paper leaves open is chosen so: `beta` and `k_start` are in this engine's [units](Self#units), with a
    /// start of one unit; `k` is bounded by 1e6 units and multipliers by that times the size, "large (but finite)"
    /// values; sticking points keep their anchors, as section 3.3 suggests, until they drifted by a tenth of the size.
    /// Contacts across gaps are not the solver's: [`Settings::paper`](super::Settings::paper) leaves them out too.
    pub fn paper() -> Self {
        Self {
            k_max: 1e6,
            k_load: 0.0,
            row_stiffness: true,
            clamped_curvature: true,
            rescale_friction: false,
            stabilise: false,
            momentum: false,
            rotation: RotationForm::FirstOrder,
            correction: UNBOUNDED,
            deep: UNBOUNDED,
            quiet: 0.0,
            free: 1.0,
            falling_only: false,
            circling: false,
            k_load_joint: 0.0,
            beta_joint: 10.0,
            correction_joint: UNBOUNDED,
            k_spring: 1.0,
            k_load_spring: 0.0,
            penalty_springs: true,
            cold_iterations: 0,
            cold_reach: 0,
            ..Self::default()
        }
    }

    /// With something changed.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// Numbers of plain vertex block descent, to compare with: stiffness stays what it is, a spring's its own, and there
/// are no multipliers. What the initial guess needs is as in [`AvbdSettings::default`].
///
/// Start from the default: `VbdSettings::default().with(|v| v.stiffness = 100.0)`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct VbdSettings {
    /// Stiffness of contacts and joints, in [units](AvbdSettings#units). By name `k_vbd`. 1e4 holds the heaviest scene
    /// of the comparison; the softer it is, the better it converges and the more everything stretches.
    pub stiffness: f32,
    /// Part of the overlap at the start of a step that contacts leave alone, 0 to 1. By name `alpha_vbd`. 0 is the
    /// penalty of Eq. 7. 1, the default, is how the engine has compared so far: contacts only resist what a step adds,
    /// so what lies on others sinks for ever: the top of a stack of ten by 4.5 mm a second at 1e3 units.
    pub alpha: f32,
}

impl Default for VbdSettings {
    fn default() -> Self {
        Self { stiffness: 1e4, alpha: 1.0 }
    }
}

impl VbdSettings {
    /// With something changed.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}
