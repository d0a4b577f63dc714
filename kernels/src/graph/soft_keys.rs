//! An entry for everything that holds a particle to a body that forces move, or pushes one against it: keys and
//! payloads that are sorted into the rows of bodies.

use crate::gpu::{Load, Store};
use crate::state::rigid::{Body, NONE};
use crate::state::soft::{Attachment, AttachmentState, SoftContact};
use crate::{layout, stage};

stage! {
    "soft_keys" each 256 {
        read 0 bodies: Body,
        read 1 attachments: Attachment,
        read 2 attachment_states: AttachmentState,
        write 3 keys: u32,
        write 4 payloads: u32,
        read 5 soft_contacts: SoftContact,
    }
}

layout! {
    /// Push constants of `soft_keys`.
    pub struct Push {
        /// Number of entries.
        pub limit: u32,
        /// Attachments; contacts are the entries behind them.
        pub attachments: u32,
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
    let mut body = push.nobody;
    if item < push.attachments {
        let attachment = b.attachments.at(item);
        let holds = (attachment.there != 0) & (b.attachment_states.at(item).broken == 0);
        body = if holds { attachment.body } else { body };
    } else {
        let contact = b.soft_contacts.at(item - push.attachments);
        body = if contact.collider != NONE { contact.body } else { body };
    }
    let moves = body < push.nobody && b.bodies.at(body).is_dynamic();
    let key = if moves { body } else { push.nobody };
    b.keys.put(item, key);
    b.payloads.put(item, item);
}
