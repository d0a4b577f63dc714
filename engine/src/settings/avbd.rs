//! Settings of the solver, augmented vertex block descent (AVBD): this engine's defaults, the published scheme, and
//! the plain vertex block descent (VBD) that it is compared with. Values only: nothing here touches a world or a
//! device.

/// How rotations are added and subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RotationForm {
    /// With the exponential and the logarithm of rotations and the gyroscopic term: a free body keeps its angular
    /// momentum.
    Exact,
    /// To first order, as published (Eq. 20 and 21), without the gyroscopic term. A body that spins with 10 rad/s
    /// loses about a fifth of its spin in a second at 60 steps a second.
    FirstOrder,
}

/// Numbers and switches of augmented vertex block descent.
///
/// [`AvbdSettings::default`] is this engine's recommendation, [`AvbdSettings::paper`] the published scheme. All
/// fields are public: start from one of the two and change fields.
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
    /// Fraction of the error at the start of a step that the step leaves uncorrected, 0 to 1 (Eq. 18). The paper uses
    /// 0.95. With [`stabilise`](Self::stabilise), only angle limits and heavily loaded joints
    /// ([`loaded`](Self::loaded)) use it.
    pub alpha: f32,
    /// Iterations of a world's first step, divided among its sub-steps, if that is more than an ordinary step has. A
    /// step requested with [`Stepper::start_cold`](crate::Stepper::start_cold) gets them too. Multipliers carry the
    /// loads from step to step, and a new world has none: until they have built up, a chain would stretch, a lever
    /// overshoot and an arch sink.
    pub cold_iterations: u32,
    /// Iterations of a cold step for every body in series that joints connect to something fixed, if that is more
    /// than [`cold_iterations`](Self::cold_iterations): the missing part of a load travels back and forth along a
    /// chain, one body an iteration. It never raises a step above 1,000 iterations. It has no effect when
    /// [`cold_iterations`](Self::cold_iterations) is 0, and assemblies with more bodies than
    /// [`share_reach`](Self::share_reach) times the iterations are not counted.
    pub cold_reach: u32,
    /// How fast the stiffness of contacts grows with error within a step (Eq. 12): an error of one size adds this many
    /// units in an iteration. 10 is the paper's number; the conversion is this engine's, see [units](Self#units).
    pub beta: f32,
    /// Fraction of the multipliers that is kept from step to step, 0 to 1, on top of alpha; with
    /// [`row_stiffness`](Self::row_stiffness) also of the stiffness (Eq. 19). The paper uses 0.99. Not used with
    /// [`stabilise`](Self::stabilise), where multipliers contain no error correction that would have to fade.
    pub gamma: f32,
    /// Stiffness of a new contact, in units. At 1 the contact is as stiff as the mass it works against. With less,
    /// bodies sink at few iterations; with more, towers tremble.
    pub k_start: f32,
    /// Upper bound of the stiffness, in units; times the size it bounds the multiplier (section 4, "Bounding the Dual
    /// Variables"). 1e5, because f32 resolves one part in 1.6e7: beside such a stiffness a body's own inertia still
    /// keeps five bits and more.
    pub k_max: f32,
    /// Stiffness from the load that a contact carries: the multiplier's force over the size, times this. While its
    /// load builds up, a contact gives way by the size over (this times the iterations), and in the second behind by a
    /// quarter more ([`mean_pull`](Self::mean_pull)): as with 200. So a tower of n equal cubes bends by that distance
    /// over its half width at every contact and buckles beyond about sqrt(2 x 200 x iterations) cubes.
    pub k_load: f32,
    /// Stiffness from the mass that a contact carries: the multiplier's force, over the distance by which the contact
    /// held its two bodies back in the last step from where they would have gone, times this. Force over that
    /// distance is mass over dt squared, so the contact is as stiff as what it carries is heavy. A blow holds bodies
    /// back over a long distance and therefore leaves no stiffness behind. The smaller of this and
    /// [`k_load`](Self::k_load) counts. 5 is 2 x 2 x 5/4: 2 because the distances of both bodies are added, twice that
    /// because a tower of equal bodies buckles at 2 (see [`k_heavy`](Self::k_heavy)), and a quarter more as in
    /// [`k_load`](Self::k_load).
    pub k_carried: f32,
    /// Stiffness from a load, in units, around which a contact starts to get less than its load asks for: the
    /// stiffness u is multiplied by h + (1 - h) k_heavy / (k_heavy + u), with h = k_carried_heavy / k_carried. Bodies
    /// hand a load on one iteration late each, so a stiff column of light bodies throws a heavy body up before the load
    /// has arrived at the bottom. 32: columns of 40 equal bodies reach 50 units; heavy stacks, balls under plates and
    /// chain mail reach thousands.
    pub k_heavy: f32,
    /// What is left of [`k_carried`](Self::k_carried) under heavy loads, see [`k_heavy`](Self::k_heavy); of
    /// [`k_load`](Self::k_load) the same part is left. 2, because the distances of both bodies are added: as stiff as
    /// what is carried is heavy, and no stiffer.
    pub k_carried_heavy: f32,
    /// How fast the running mean of a contact's normal force follows the force: in a step by this times the square
    /// root of the way its bodies are held back, in sizes. See [`mean_pull`](Self::mean_pull).
    pub mean_rate: f32,
    /// Part of that by which the force a step begins with is drawn towards the mean. A few iterations make of contacts
    /// springs, and of towers and arches elastic columns that nothing but implicit Euler damps; a spring whose force
    /// slowly goes back to its mean dissipates the sway of what it carries. A converged step does not depend on the
    /// forces it begins with.
    pub mean_pull: f32,
    /// Factor between a force and its mean beyond which the mean begins anew: a blow, or a load that left, is no sway.
    pub mean_range: f32,
    /// Whether every row (two tangents and a normal per contact point) has its own stiffness, kept from step to step
    /// as published (Eq. 19). Otherwise a point has one stiffness, which follows the load and is not kept: stiffness
    /// that outlives its load makes columns tremble, and with one the hot loops read three cache lines a contact
    /// instead of four.
    pub row_stiffness: bool,
    /// Whether rows keep their stiffness in the Hessian when their force is clamped (Algorithm 1, line 18), which
    /// makes steps at the bounds smaller. Otherwise a contact that does not push adds no stiffness, one whose force
    /// reaches its bound uses Eq. 14, and a body can be thrown through a stiff contact that the sweep did not see:
    /// balls under ten tonnes gain energy that way.
    pub clamped_curvature: bool,
    /// Whether the stiffness of sliding friction is rescaled by the whole force (Eq. 14). Without it sliding bodies
    /// go a fifth too far at 4 iterations. The paper leaves it out ("we use the simple solution", section 5).
    pub rescale_friction: bool,
    /// Post-stabilisation (section 6): the iterations do not correct the overlap at the start of the step; a pass
    /// behind them corrects it without adding velocity. Multipliers are then kept whole from step to step, so a pile
    /// at rest carries its load without any error.
    pub stabilise: bool,
    /// Whether bodies that are connected and touch nothing fixed are also moved together as one rigid body. Without
    /// it, few iterations lose 3% to 70% of the momentum of an impact. Not in the paper.
    pub momentum: bool,
    /// How rotations are added and subtracted. The default is exact; the paper's form is of first order.
    pub rotation: RotationForm,
    /// Overlap that post-stabilisation does not correct, in sizes. 5e-4: bodies lifted until they no longer touch
    /// would fall again in the next step. Chosen on stacks and card houses.
    pub slop: f32,
    /// Fraction of a sticking point's drift that the iterations of a step leave uncorrected, 0 to 1, with
    /// [`stabilise`](Self::stabilise); without it alpha is used instead. 1, because a slow mode that is pulled back
    /// within the iterations integrates its error into the multipliers, and is unstable where its damping is weaker
    /// than that pull.
    pub sticking: f32,
    /// Largest overlap that the iterations of a step correct, in sizes: this correction turns into velocity. 0.02 a
    /// step is 1.2 sizes a second at 60 steps a second, so that overlapping bodies part without being thrown.
    pub correction: f32,
    /// Largest overlap that the pass behind the iterations corrects in a step, in sizes; it adds no velocity. At 0.1
    /// an overlap of one size is gone after ten steps.
    pub correction_stabilised: f32,
    /// Fraction of the overlap that the pass behind the iterations corrects in a step, 0 to 1. Moving a body without
    /// giving it velocity changes its height while the forces on it stay the same, so corrections that keep time with
    /// a swaying tower pump energy into it. 0.3 is ten times as fast as a tower of ten boxes sways, and leaves a
    /// third of the overlap after three steps.
    pub stabilised_overlap: f32,
    /// Overlap, in sizes, beyond which a contact keeps nothing of the last step: a conflict that no step can solve
    /// must not build up force from step to step. 0.4 was chosen on bodies created inside each other.
    pub deep: f32,
    /// Distance, in sizes, within which a contact point whose feature has a new name inherits the state of the
    /// nearest point of the last step. 0.2: a tenth of the distance between a cube's corners, far more than a point
    /// moves in a step at rest.
    pub rematch: f32,
    /// Square of the drift, in squares of the size, beyond which a sticking point gets new anchors. 0.01 is a drift
    /// of a tenth of the size: beyond it the linear error along the tangents is no longer small.
    pub anchor_drift: f32,
    /// Fraction of an external force that may have accelerated a body in the last step for the body still to start
    /// the next step as if it were held in place. The paper's initial guess uses exactly the measured fraction of
    /// gravity (0 here and 1 for [`free`](Self::free)), which feeds trembling back. 0.3 was chosen on piles and
    /// columns at 4 iterations.
    pub quiet: f32,
    /// Fraction from which on a body starts a step as if it were free; between [`quiet`](Self::quiet) and this, in
    /// proportion. Chosen with [`quiet`](Self::quiet).
    pub free: f32,
    /// Whether the initial guess of a body with joints includes gravity only in free fall. A partial share would be
    /// measured again in the next step, and a chain would gain energy. Not in the paper.
    pub falling_only: bool,
    /// Difference from free fall, as a fraction of it, up to which a body with joints counts as falling freely.
    /// Chosen on ragdolls and chains in free fall.
    pub falling: f32,
    /// Difference from free fall from which on a body with joints counts as held; between [`falling`](Self::falling)
    /// and this, in proportion. Chosen with [`falling`](Self::falling).
    pub held: f32,
    /// Whether the initial guess of a body without joints includes as much of the centripetal displacement, w x v
    /// dt^2, as the body had in the last step, so that it starts on the circle on which something carries it.
    /// Starting on the tangent, friction begins every step outside its cone, and few iterations let the body creep.
    /// Not in the paper.
    pub circling: bool,
    /// Stiffness of a joint without load, in units. Stiffer joints stretch less but damp motion: with few iterations,
    /// the bodies between them hardly follow gravity.
    pub k_joint: f32,
    /// Stiffness from the load that a joint carries: the part of the multiplier's force that counts as load
    /// ([`least_share`](Self::least_share)), over the joint's size, times this. Chosen on chains, pendulums, bridges,
    /// ropes and ragdolls.
    pub k_load_joint: f32,
    /// Stiffness from the mass that a joint carries, as [`k_carried`](Self::k_carried), from the multipliers at the
    /// start of a step. The smaller of this and [`k_load_joint`](Self::k_load_joint) counts. 4 was chosen on nets and
    /// chains.
    pub k_carried_joint: f32,
    /// As [`k_carried_joint`](Self::k_carried_joint), but applied after every iteration of a step that starts cold
    /// ([`cold_iterations`](Self::cold_iterations)), because such a step does not know its loads beforehand. At 1 a
    /// joint is as stiff as what it carries is heavy. In ordinary steps this would feed on itself: a quarter of it
    /// made balls on a chain swing along it, and gain 1% of energy.
    pub ramp_cold: f32,
    /// Largest factor by which the stiffness of a contact, or of a joint in a cold step, grows in one iteration: in
    /// the first iterations the distance by which bodies are held back is not yet known. At 2 a thousandfold load is
    /// found in ten iterations.
    pub ramp_most: f32,
    /// How fast the stiffness of joints grows with error within a step (Eq. 12), as [`beta`](Self::beta), with
    /// [`row_stiffness`](Self::row_stiffness) only. 1000 is the upper end of the range in which the paper found no
    /// difference.
    pub beta_joint: f32,
    /// Fraction of a joint's error that the pass behind the iterations leaves uncorrected. 0.5: ropes that are
    /// corrected all at once whip.
    pub stabilised: f32,
    /// Largest error that a joint corrects in a step, in sizes or radians, behind the iterations or by Eq. 18. 0.1
    /// corrects one size in ten steps, as [`correction_stabilised`](Self::correction_stabilised). With less, a loaded
    /// chain stretches faster than it is drawn together again.
    pub correction_joint: f32,
    /// Largest error that a heavily loaded joint corrects within the iterations of a step, in sizes or radians, with
    /// [`stabilise`](Self::stabilise). 0.002, because this correction turns into velocity of a load thousands of
    /// times as heavy as the joint's bodies.
    pub correction_joint_moving: f32,
    /// Stiffness, in units, from which on a joint counts as heavily loaded and uses alpha: the pass behind the
    /// iterations is enough for a limb, but cannot lift a load thousands of times as heavy as what carries it. With
    /// the default `k_load_joint`, a size of 0.1 m and 60 steps a second, 500 units are a pull of 370 times the
    /// weight of its bodies.
    pub loaded: f32,
    /// Multiple of [`loaded`](Self::loaded) at which a joint uses alpha in full; between the two, alpha is blended.
    pub loaded_range: f32,
    /// Fraction of the load that counts for the stiffness of a rod or a rope: one that is much stiffer along its line
    /// than its pull holds it sideways whips. Chosen on rods and ropes.
    pub taut: f32,
    /// Stiffness with which a spring along a line starts, in units. With 1, the first step of a scene under tension
    /// stretches stiff springs by half a millimetre, almost 1% of all energy. With 3, the weak springs of Figure 2
    /// are off by 1%.
    pub k_spring: f32,
    /// Stiffness from the load that a spring carries, as [`k_load`](Self::k_load). Lower than for joints: a spring
    /// that is stiff at once holds its bodies in place, and the weak springs beside it cannot move them (Figures 2
    /// and 4).
    pub k_load_spring: f32,
    /// How fast the stiffness of a spring grows with error (Eq. 16), as [`beta`](Self::beta).
    pub beta_spring: f32,
    /// Whether springs have no multiplier and pull with the stiffness of the current iteration times the error
    /// (Algorithm 1, line 16). Otherwise a multiplier supplies what the stiffness still lacks, and spring forces are
    /// right from the first iterations on.
    pub penalty_springs: bool,
    /// Lower bound of the fraction of the joint forces that counts as load. 0.03, so that joints keep stiffness at
    /// turning points, where few iterations may measure no load at all.
    pub least_share: f32,
    /// Bodies of a jointed assembly, per iteration, up to which all of the joint forces count as load. Corrections
    /// travel about one body in one and a half iterations, so an assembly not much longer than that has no waves that
    /// act as if the bodies were heavier.
    pub share_reach: f32,
    /// Gap, in sizes, below which bodies count as touching when islands are built. 0.01, so that a body does not
    /// count as free to fall when what holds it gives way a little in the last iteration.
    pub near: f32,
    /// Stiffness, in units and summed over the points of a contact, from which on a constraint ties its bodies
    /// together when aggregates are moved behind the iterations. At 1, a softer constraint converges when both sides
    /// answer it at once, and a stiffer one would throw them back and forth.
    pub tie: f32,
    /// Largest rotation of bodies that are moved as one, radians: the motion is rigid to first order only, with an
    /// error of 2% of the lever at 0.2.
    pub largest_turn: f32,
    /// Largest number of connected bodies that are moved as one in every iteration. Larger islands are moved in the
    /// last iteration only, and not when something holds them. 4096, because one subgroup adds them up.
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
            k_load: 250.0,
            k_carried: 5.0,
            k_heavy: 32.0,
            k_carried_heavy: 2.0,
            mean_rate: 0.08,
            mean_pull: 0.25,
            mean_range: 2.0,
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

/// Most iterations that a cold step gets for bodies in series ([`AvbdSettings::cold_reach`]): a step is recorded
/// before it runs, and a chain of more than a few hundred bodies does not justify an unlimited recording.
pub(crate) const MOST_COLD: u32 = 1000;

/// An effectively infinite bound: no value reaches it, and its product with a size is still finite.
pub(super) const UNBOUNDED: f32 = 1e30;

impl AvbdSettings {
    /// The published scheme, to the letter: alpha 0.95, beta 10 and gamma 0.99 for all rows (Table 2); Eq. 12 to 16 and
    /// 18; stiffness a row, kept from step to step (Eq. 19); the Hessian of Algorithm 1, line 18; springs by penalty
    /// (line 16); rotations to first order (Eq. 20 and 21); the adaptive guess without a dead zone. No
    /// post-stabilisation, no stiffness from the load, no motion of islands, no bound on what a step corrects, no more
    /// iterations in the first step.
    ///
    /// Where the paper leaves a choice open: `beta` and `k_start` are in this engine's [units](Self#units), with a
    /// start of one unit; `k` is bounded by 1e6 units and multipliers by that times the size, "large (but finite)"
    /// values; sticking points keep their anchors, as section 3.3 suggests, until they have drifted by a tenth of the
    /// size. Contacts across gaps are not part of the solver: [`Settings::paper`](super::Settings::paper) switches
    /// them off too.
    pub fn paper() -> Self {
        Self {
            k_max: 1e6,
            k_load: 0.0,
            mean_pull: 0.0,
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

/// Settings of plain vertex block descent, for comparison: stiffness is constant (a spring has its own) and there are
/// no multipliers. The initial guess uses the values of [`AvbdSettings::default`].
///
/// Start from the default: `VbdSettings::default().with(|v| v.stiffness = 100.0)`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct VbdSettings {
    /// Stiffness of contacts and joints, in [units](AvbdSettings#units). By name `k_vbd`. 1e4 holds the heaviest scene
    /// of the comparison; the softer it is, the better it converges and the more everything stretches.
    pub stiffness: f32,
    /// Fraction of the overlap at the start of a step that contacts leave uncorrected, 0 to 1. By name `alpha_vbd`. 0
    /// is the penalty of Eq. 7. 1, the default, is how the engine has compared so far: contacts only resist the
    /// overlap that a step adds, so stacked bodies keep sinking, the top of a stack of ten by 4.5 mm a second at 1e3
    /// units.
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
