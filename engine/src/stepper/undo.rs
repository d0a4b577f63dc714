//! Undoing failed steps: a step that fails must not change the world. When longer lists are refused, edits have
//! already reached the device, and sub-steps may have been made. Where that can happen, the state before the step is
//! kept until the step succeeds, and restored when it fails, with its edits pending again.

use super::Stepper;
use super::sending::Resend;
use crate::Result;
use crate::backend::Runner;
use crate::snapshot::{HostState, SavedBuffer, contents};
use crate::state::Capacities;

/// The state before the prepared step.
pub(super) struct Before {
    host: HostState,
    start_cold: bool,
    resend: Option<Resend>,
    capacities: Capacities,
    buffers: Vec<SavedBuffer>,
}

impl Stepper<Box<dyn Runner>> {
    /// Keeps the state before the prepared step, if the step may fail in the middle. Costs a copy of the persistent
    /// buffers.
    pub(super) fn before(&mut self) -> Result<Option<Before>> {
        let Some(prepared) = self.core.prepared.as_ref().filter(|_| self.core.may_fail_in_the_middle()) else {
            return Ok(None);
        };
        let mut host = self.core.host_state();
        host.world.unsend(prepared.sent.clone());
        let resend = prepared.resend;
        let (start_cold, capacities) = (self.core.start_cold, self.core.plan.capacities);
        let buffers = self.read_persistent()?;
        Ok(Some(Before { host, start_cold, resend, capacities, buffers }))
    }

    /// Restores the state before the step.
    pub(super) fn undo(&mut self, before: Before) -> Result<()> {
        let Before { host, start_cold, resend, capacities, buffers } = before;
        let core = &mut self.core;
        super::StepDevice::restore(&mut self.device, &contents(&buffers, &core.plan))?;
        core.exchange(host);
        (core.start_cold, core.params) = (start_cold, None);
        let Capacities { bodies, colliders, joints, .. } = capacities;
        // Lists that have grown since lack everything beyond their old length.
        let grown = (core.plan.capacities != capacities || core.resend.is_some()).then_some(Resend {
            bodies,
            colliders,
            joints,
            frames: bodies,
            soft: false,
        });
        core.resend = match (resend, grown) {
            (Some(one), Some(two)) => Some(one.and_all_of(two)),
            (one, two) => one.or(two),
        };
        Ok(())
    }
}
