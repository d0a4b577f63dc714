//! An entry for everything that holds a particle to a body that forces move: keys and payloads that are sorted into the
//! rows of bodies.

use crate::gpu::{Load, Store};
use crate::state::rigid::Body;
use crate::state::soft::{Attachment, AttachmentState};
use crate::{layout, stage};

stage! {
    "soft_keys" each 256 {
        read 0 bodies: Body,
        read 1 attachments: Attachment,
        read 2 attachment_states: AttachmentState,
        write 3 keys: u32,
        write 4 payloads: u32,
    }
}

layout! {
    /// Push constants of `soft_keys`.
    pub struct Push {
        /// Entries.
        pub limit: u32,
        /// Number of bodies, and the key of entries that belong to none: behind all others.
        pub nobody: u32,
    }
}

/// Writes one entry.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.limit {
        return;
    }
    let mut key = push.nobody;
    let attachment = b.attachments.at(item);
    if (attachment.there != 0) & (attachment.body < push.nobody) && b.attachment_states.at(item).broken == 0 {
        key = if b.bodies.at(attachment.body).is_dynamic() { attachment.body } else { key };
    }
    b.keys.put(item, key);
    b.payloads.put(item, item);
}
