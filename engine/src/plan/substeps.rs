//! Sub-steps whose number the device chooses. A frame consists of the maximum number of runs of the step; the first
//! command of each run decides whether that sub-step is made. If not, every dispatch of the run is empty: those
//! behind the gate because it is closed, and those before it because their sizes, though known to the host, are also
//! taken from a buffer.
//!
//! Fills and copies always run: they only touch scratch.

use super::detect::Dispatches;
use super::recording::{Command, Groups};
use super::solve::Solve;
use super::step::StepOptions;
use super::{Buffer, PlanError, Recording};
use crate::state::{Capacities, Role, StateBuffers};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::detect::substep_gate;
use drystone_kernels::finish::substep_need;
use drystone_kernels::gpu::BufferId;
use drystone_kernels::solve::soft_gate;
use drystone_kernels::state::rigid::node;
use drystone_kernels::state::{substep_begin, substep_pace};

/// What sub-steps need that the device chooses.
#[derive(Clone, Debug)]
pub struct ChosenSubsteps {
    /// Sizes of the dispatches that the host knows, which it writes once.
    pub sizes: Buffer<u32>,
    /// What the host writes there: workgroups.
    pub groups: Vec<u32>,
    /// The same, or nothing, as they are dispatched.
    args: BufferId,
}

impl ChosenSubsteps {
    /// Makes commands of such a step run whatever is chosen.
    pub(super) fn always(&self, commands: &mut [Command]) {
        for command in commands {
            let Command::Dispatch { groups, .. } = command else { continue };
            if let Groups::Indirect { args, index } = *groups
                && args == self.args
                && let Some(&count) = self.groups.get(index as usize)
            {
                *groups = Groups::Direct(count);
            }
        }
    }
}

/// After the gate: closes it if the sub-step is left out; otherwise rescales the velocities of the sub-step
/// before, from which accelerations are found, to the length of this one.
pub(super) fn record_gate(
    r: &mut Recording,
    s: &StateBuffers,
    capacities: &Capacities,
    sizes: Dispatches,
    options: &StepOptions,
) -> Result<(), PlanError> {
    let ranges = node::range(options.colours + 1, node::KINDS, 0);
    let Dispatches { args, colours: colour_args } = sizes;
    let bind = substep_gate::Bind { params: s.params, counters: s.counters, args, colour_args };
    r.dispatch(1, bind.with(substep_gate::Push { ranges }))?;
    let bind = substep_pace::Bind { counters: s.counters, velocities: s.velocities, previous: s.previous };
    r.dispatch_indirect(args, dispatch::BODIES, bind.with(substep_pace::Push { count: capacities.bodies }))
}

/// After the iterations: how many sub-steps the next frame needs.
pub(super) fn record_need(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let s = solve.state;
    let bind = substep_need::Bind {
        bodies: s.bodies,
        poses: s.poses,
        rows: s.rows,
        entries: s.entries,
        manifolds: s.manifolds,
        points: s.points,
        joints: s.joints.joints,
        joint_rows: s.joints.rows,
        joint_forces: s.joints.forces,
        counters: s.counters,
    };
    let push = substep_need::Push { count: solve.capacities.bodies };
    r.dispatch_indirect(solve.sizes.args, dispatch::BODIES, bind.with(push))
}

/// To be called when all commands are recorded. Inserts the command that chooses before them, and makes the size of
/// every dispatch depend on its choice.
pub(super) fn choose(r: &mut Recording, s: &StateBuffers) -> Result<ChosenSubsteps, PlanError> {
    // The stages that close the gates always run.
    let closes = |command: &Command| [substep_gate::STAGE.name, soft_gate::STAGE.name].contains(&command.name());
    let mut groups = Vec::new();
    for command in r.commands() {
        if let Command::Dispatch { groups: Groups::Direct(count), .. } = command
            && !closes(command)
            && !groups.contains(count)
        {
            groups.push(*count);
        }
    }
    let count = groups.len() as u64;
    let sizes = r.buffer_as("substep_sizes", Role::HostWritten, count)?;
    let args = r.dispatch_args("substep_args", count)?;
    for command in r.commands_mut() {
        let open = !closes(command);
        let Command::Dispatch { groups: size, .. } = command else { continue };
        if let Groups::Direct(count) = *size
            && let Some(index) = groups.iter().position(|g| *g == count).filter(|_| open)
        {
            *size = Groups::Indirect { args: args.id(), index: index as u32 };
        }
    }
    let bind = substep_begin::Bind { params: s.params, counters: s.counters, sizes, args };
    r.dispatch(1, bind.with(substep_begin::Push { count: groups.len() as u32 }))?;
    let commands = r.commands_mut();
    commands.rotate_right(1);
    Ok(ChosenSubsteps { sizes, groups, args: args.id() })
}
