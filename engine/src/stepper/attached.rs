//! Parts of a runner that somebody else holds: renderers, ray casters. Each has a token; when that is dropped, the part is given
//! back before the next one is attached or the next step prepared.

use super::Stepper;
use crate::Result;
use crate::backend::{Part, Runner};
use crate::plan::Recording;
use std::sync::{Arc, Weak};

/// Who holds a part of a stepper's runner. Gone when the stepper's buffers are others.
pub(crate) struct Token(#[expect(dead_code, reason = "only whether it is there counts")] Arc<()>);

/// A part that is held.
pub(super) struct Held {
    generation: u64,
    part: Part,
    token: Weak<()>,
}

impl Stepper<Box<dyn Runner>> {
    /// Attaches a recording for as long as its token lives.
    pub(crate) fn attach_held(&mut self, recording: Recording) -> Result<(Part, Token)> {
        let part = self.device.attach(recording)?;
        let token = Arc::new(());
        self.held.push(Held { generation: self.core.generation(), part, token: Arc::downgrade(&token) });
        Ok((part, Token(token)))
    }

    /// Gives back the memory of what nobody holds any more.
    pub(crate) fn detach_unheld(&mut self) -> Result<()> {
        let generation = self.core.generation();
        // With the buffers, everything attached to them went.
        self.held.retain(|h| h.generation == generation);
        while let Some(at) = self.held.iter().position(|h| h.token.strong_count() == 0) {
            self.device.detach(self.held.swap_remove(at).part)?;
        }
        Ok(())
    }
}
