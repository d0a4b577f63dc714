//! Steps that fail are not made at all. When longer lists are refused, what was said has reached the device already, and
//! sub-steps may have been made: where that can happen the state before the step is kept until the step is through, and
//! brought back when it fails, with everything that was said to it.

use super::Stepper;
use super::core::Resend;
use crate::Result;
use crate::backend::Runner;
use crate::snapshot::{HostState, SavedBuffer, contents};
use crate::state::Capacities;

/// The world before a step that is prepared.
pub(super) struct Before {
    host: HostState,
    start_cold: bool,
    resend: Option<Resend>,
    capacities: Capacities,
    buffers: Vec<SavedBuffer>,
}

impl Stepper<Box<dyn Runner>> {
    /// The world before the step that is prepared, if it may fail in the middle. Costs a copy of the persistent buffers.
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

    /// Goes back to it.
    pub(super) fn undo(&mut self, before: Before) -> Result<()> {
        let Before { host, start_cold, resend, capacities, buffers } = before;
        let core = &mut self.core;
        super::StepDevice::restore(&mut self.device, &contents(&buffers, &core.plan))?;
        core.exchange(host);
        (core.start_cold, core.params) = (start_cold, None);
        let Capacities { bodies, colliders, joints, .. } = capacities;
        // Lists that have grown since have nothing yet behind what they were.
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
