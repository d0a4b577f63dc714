//! Parts of a stepper's runner that belong to others, such as renderers and ray casters. Each part has a token. When
//! the token has been dropped, the part is detached before the next part is attached or the next step prepared.

use super::Stepper;
use crate::Result;
use crate::backend::{Part, Runner};
use crate::plan::Recording;
use std::sync::{Arc, Weak};

/// Keeps a part attached to a stepper's runner while it lives. The part is lost anyway when the stepper's buffers are
/// replaced.
pub(crate) struct Token(#[expect(dead_code, reason = "only whether it is there counts")] Arc<()>);

/// An attached part, and whether its token still lives.
pub(super) struct Held {
    generation: u64,
    part: Part,
    token: Weak<()>,
}

impl Stepper<Box<dyn Runner>> {
    /// Attaches a recording. When its token has been dropped, [`Stepper::detach_unheld`] detaches it.
    pub(crate) fn attach_held(&mut self, recording: Recording) -> Result<(Part, Token)> {
        let part = self.device.attach(recording)?;
        let token = Arc::new(());
        self.held.push(Held { generation: self.core.generation(), part, token: Arc::downgrade(&token) });
        Ok((part, Token(token)))
    }

    /// Detaches the parts whose tokens have been dropped, and frees their memory.
    pub(crate) fn detach_unheld(&mut self) -> Result<()> {
        let generation = self.core.generation();
        // Parts of an earlier generation were dropped together with its buffers.
        self.held.retain(|h| h.generation == generation);
        while let Some(at) = self.held.iter().position(|h| h.token.strong_count() == 0) {
            self.device.detach(self.held.swap_remove(at).part)?;
        }
        Ok(())
    }
}
