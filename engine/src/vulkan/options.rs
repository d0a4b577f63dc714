//! What a host chooses when it makes a stepper inside its frames.

use super::timers::Timing;
use crate::state::{Capacities, UserBuffer};

/// What happens to a step whose lists turn out to be too short. In either case the lists grow for a later frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// The step is skipped: the world does not move in that frame, and the report counts the step as dropped.
    #[default]
    Skip,
    /// The step is made without the pairs or contacts that did not fit.
    Partial,
}

/// Options of a stepper inside a host's frames.
#[derive(Clone, Debug)]
pub struct FramesOptions {
    /// Number of recorded frames that may be pending at the same time: 1 to 64.
    pub frames_in_flight: u32,
    /// What to take the time of.
    pub timing: Timing,
    /// What happens to a step whose lists turn out to be too short.
    pub overflow: Overflow,
    /// Whether the commands of a step are recorded only once, when a plan is loaded, into secondary command buffers
    /// of the engine's. [`Stepper::record`](crate::Stepper::record) then only calls them, which takes a few
    /// microseconds however long the driver needs for the several hundred calls of a step. The host's command buffers
    /// must be primary ones, outside a render pass.
    pub recorded_once: bool,
    /// Minimum initial capacities, where they are known better than from the world's size.
    pub capacities: Capacities,
    /// Persistent buffers of the host's own.
    pub user_buffers: Vec<UserBuffer>,
    /// Queue families that use the engine's buffers besides [`Host::queue_family`](super::Host::queue_family). The
    /// buffers are then created with `VK_SHARING_MODE_CONCURRENT` and need no ownership transfer between these
    /// families. Empty, the default: the buffers are `EXCLUSIVE`, and transferred by
    /// [`HostAccess::on_family`](super::HostAccess::on_family). Upload and readback memory, which only the engine
    /// uses, is always `EXCLUSIVE`.
    pub shared_with: Vec<u32>,
}

impl Default for FramesOptions {
    fn default() -> Self {
        Self {
            frames_in_flight: 2,
            timing: Timing::default(),
            overflow: Overflow::default(),
            recorded_once: false,
            capacities: Capacities::default(),
            user_buffers: Vec::new(),
            shared_with: Vec::new(),
        }
    }
}
