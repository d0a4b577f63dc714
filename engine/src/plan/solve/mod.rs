//! The iterations (Algorithm 1, lines 3 to 36): warm start, prediction, primal and dual passes.

pub(super) mod bounce;
mod joints;
mod momentum;
pub(super) mod pairs;
pub(super) mod row_stiffness;
pub(super) mod second;
pub(super) mod soft;
mod soft_islands;
mod soft_pairs;
pub(super) mod surfaces;

use super::detect::Dispatches;
use super::graph::Graph;
use super::graph::islands::Forest;
use super::step::{Method, StepOptions};
use super::{PlanError, Recording};
use crate::state::{Capacities, StateBuffers};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::gpu::Buffer;
use drystone_kernels::gpu::glam::UVec4;
use drystone_kernels::graph::islands::ties;
use drystone_kernels::math::{Rotation, Twist};
use drystone_kernels::solve::{
    dual, dual_rows, predict, primal, primal_joints, primal_joints_rows, primal_rows, primal_soft, primal_soft_rows,
    solver_body, stabilise, stabilise_joints, sweep,
};
use drystone_kernels::state::rigid::node;
use soft::Soft;

/// The passes that solve, with what they share.
#[derive(Clone, Copy)]
pub(super) struct Solve<'a> {
    pub state: &'a StateBuffers,
    pub capacities: &'a Capacities,
    pub options: &'a StepOptions,
    pub sizes: Dispatches,
    pub graph: Graph,
    /// Constant data of each body for the iterations, in the order of the colours.
    pub solver_bodies: Buffer<UVec4>,
    /// Rotations, in the same order.
    pub rotations: Buffer<Rotation>,
    /// Displacement of every body since the start of the step.
    pub deltas: Buffer<Twist>,
    /// Soft bodies, if there are any.
    pub soft: Option<&'a Soft>,
}

impl<'a> Solve<'a> {
    /// Declares what the passes share.
    pub fn new(
        r: &mut Recording,
        state: &'a StateBuffers,
        capacities: &'a Capacities,
        options: &'a StepOptions,
        sizes: Dispatches,
        graph: Graph,
        soft: Option<&'a Soft>,
    ) -> Result<Self, PlanError> {
        let n = u64::from(capacities.bodies);
        Ok(Self {
            state,
            capacities,
            options,
            sizes,
            graph,
            solver_bodies: r.scratch("solver_bodies", n * u64::from(solver_body::word::COUNT))?,
            rotations: r.scratch("rotations", n)?,
            deltas: r.scratch("deltas", n)?,
            soft,
        })
    }

    fn has_joints(&self) -> bool {
        self.capacities.joints > 0
    }

    /// Lines 5 and 6: initial multipliers and stiffness of joints; contacts get theirs from `contacts`. Returns the
    /// forest in which joints have joined the bodies, if there are joints.
    pub fn record_warm_start(&self, r: &mut Recording) -> Result<Option<Forest>, PlanError> {
        if !self.has_joints() {
            return Ok(None);
        }
        if self.options.method != Method::Descent {
            pairs::record_joints_start(self, r)?;
            return Ok(None);
        }
        let mut forest = self.forest(r)?;
        joints::record_start(self, r, &mut forest)?;
        Ok(Some(forest))
    }

    fn forest(&self, r: &mut Recording) -> Result<Forest, PlanError> {
        self.new_forest(r, "islands")
    }

    /// A forest with every body by itself; bodies with attached particles count as ground.
    fn new_forest(&self, r: &mut Recording, name: &str) -> Result<Forest, PlanError> {
        let forest = Forest::new(r, self.state, self.capacities, self.sizes, name, self.options.worlds)?;
        if let Some(soft) = self.soft {
            soft.record_ground(self, r, forest.parents)?;
        }
        Ok(forest)
    }

    /// Line 3 and 4: inertial targets, and where the iterations start.
    pub fn record_predict(&self, r: &mut Recording) -> Result<(), PlanError> {
        let s = self.state;
        let bind = predict::Bind {
            params: s.params,
            bodies: s.bodies,
            velocities: s.velocities,
            previous: s.previous,
            poses: s.poses,
            starts: s.starts,
            solver_bodies: self.solver_bodies,
            deltas: self.deltas,
            forces: s.forces,
            rows: s.rows,
            body_order: self.graph.body_order,
            rotations: self.rotations,
        };
        let push = predict::Push { count: self.capacities.bodies };
        r.dispatch_indirect(self.sizes.args, dispatch::BODIES, bind.with(push))?;
        self.soft.map_or(Ok(()), |soft| soft.record_predict(self, r))
    }

    /// Lines 7 to 36. Islands are also moved as one: in every iteration when there are joints (`jointed` has the
    /// bodies they join) together with all contacts; and aggregates of stiff constraints in the last iteration, when
    /// their stiffness is known.
    pub fn record_iterations(&self, r: &mut Recording, jointed: Option<Forest>) -> Result<(), PlanError> {
        let options = self.options;
        let moves_islands = options.momentum && options.dual;
        let islands = match jointed {
            Some(forest) if moves_islands => Some(momentum::find(self, r, forest, ties::TOUCHING)?),
            _ => None,
        };
        for iteration in 0..options.iterations {
            self.record_sweep(r, false)?;
            if let Some(islands) = islands {
                momentum::record(self, r, islands, iteration + 1 == options.iterations)?;
            }
            if moves_islands && iteration + 1 == options.iterations {
                momentum::record_aggregates(self, r)?;
            }
            if options.dual {
                self.record_dual(r)?;
            }
        }
        if let Some(soft) = self.soft.filter(|_| moves_islands) {
            soft_islands::record(soft, self, r)?;
        }
        Ok(())
    }

    /// Lines 8 to 25: every colour's bodies, and those of the fallback one after the other. `stabilise` corrects the
    /// error that is left behind the iterations (section 6).
    pub fn record_sweep(&self, r: &mut Recording, stabilise: bool) -> Result<(), PlanError> {
        let s = self.state;
        let all = sweep::Buffers {
            params: s.params,
            solver_bodies: self.solver_bodies,
            points: s.points,
            entries: s.entries,
            ranges: s.ranges,
            order: self.graph.order,
            rotations: self.rotations,
            poses: s.poses,
            velocities: s.velocities,
            deltas: self.deltas,
            starts: s.starts,
            joints: s.joints.joints,
            joint_rows: s.joints.rows,
            row_states: s.joints.states,
            rows: s.rows,
            tangent_stiffness: s.tangent_stiffness,
            surfaces: s.surfaces,
            // Only stages for worlds with particles bind these.
            soft_rows: self.soft.map_or(Buffer::new(s.rows.id()), |soft| soft.rows),
            soft_pulls: self.soft.map_or(Buffer::new(s.rows.id()), |soft| soft.pulls),
        };
        let colours = self.options.colours;
        if let Some(soft) = self.soft.filter(|_| !stabilise) {
            soft.record_pull(self, r)?;
        }
        let soft = self.soft.is_some();
        let rigid = |push: primal::Push| match (self.has_joints(), self.options.row_stiffness) {
            (false, _) if stabilise => stabilise::Bind::of(&all).with(push),
            (true, _) if stabilise => stabilise_joints::Bind::of(&all).with(push),
            (_, false) if soft => primal_soft::Bind::of(&all).with(push),
            (_, true) if soft => primal_soft_rows::Bind::of(&all).with(push),
            (false, false) => primal::Bind::of(&all).with(push),
            (true, false) => primal_joints::Bind::of(&all).with(push),
            (false, true) => primal_rows::Bind::of(&all).with(push),
            (true, true) => primal_joints_rows::Bind::of(&all).with(push),
        };
        // Each colour has a range for every kind of node; these are the rigid bodies.
        let range = |colour: u32| node::range(colour, node::KINDS, node::RIGID);
        let swept = self.options.swept();
        for colour in 0..swept {
            let push = primal::Push { range: range(colour), rest: 0 };
            r.dispatch_indirect(self.sizes.colours, range(colour), rigid(push))?;
        }
        // Colours without a dispatch of their own, and then the fallback.
        let rest = primal::Push { range: range(swept), rest: colours + 1 - swept };
        r.dispatch_indirect(self.sizes.colours, range(colours), rigid(rest))?;
        match self.soft.filter(|_| !stabilise) {
            Some(soft) => soft.record_sweep(self, r),
            None => Ok(()),
        }
    }

    /// Lines 26 to 35.
    fn record_dual(&self, r: &mut Recording) -> Result<(), PlanError> {
        let s = self.state;
        let all = dual::Buffers {
            params: s.params,
            manifolds: s.manifolds,
            deltas: self.deltas,
            counters: s.counters,
            points: s.points,
            features: s.features,
            tangent_stiffness: s.tangent_stiffness,
            surfaces: s.surfaces,
        };
        let push = dual::Push { limit: self.capacities.manifolds };
        let by_row = self.options.row_stiffness;
        let pass = if by_row { dual_rows::Bind::of(&all).with(push) } else { dual::Bind::of(&all).with(push) };
        r.dispatch_indirect(self.sizes.args, dispatch::MANIFOLDS, pass)?;
        if self.options.features.rolling {
            surfaces::record_dual(self, r)?;
        }
        if self.has_joints() {
            joints::record_dual(self, r)?;
        }
        self.soft.map_or(Ok(()), |soft| soft.record_dual(self, r))
    }
}
