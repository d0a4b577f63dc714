//! Saving and loading soft bodies and attachments. Colours and rows are not written, but computed again.

use super::{Read, nonsense};
use crate::glam::Vec3;
use crate::snapshot::{Reader, SnapshotError, Writer};
use crate::world::soft::{
    AttachmentSlot, Counts, SoftBodies, SoftHinge, SoftSpring, SoftSurface, SoftTetrahedron, SoftTriangle,
};
use crate::world::{AttachmentDesc, BodyHandle, SoftDesc, SoftHandle, World, finite3};
use std::collections::BTreeMap;

/// Upper bound of the gaps left by removed soft bodies: the bytes contain nothing else that would bound them.
const MOST_GAPS: u32 = 1 << 24;

fn save_vectors(list: &[Vec3], w: &mut Writer) {
    w.list(list.iter(), |w, v| w.vec3(*v));
}

fn corners<const N: usize>(r: &mut Reader<'_>) -> Read<[u32; N]> {
    let mut corners = [0; N];
    for corner in &mut corners {
        *corner = r.u32()?;
    }
    Ok(corners)
}

fn save_desc(desc: &SoftDesc, w: &mut Writer) {
    [&desc.rest, &desc.positions, &desc.velocities].into_iter().for_each(|list| save_vectors(list, w));
    w.list(desc.masses.iter(), |w, mass| w.f32(*mass));
    let element = |w: &mut Writer, corners: &[u32], values: &[f32]| {
        corners.iter().for_each(|c| w.u32(*c));
        values.iter().for_each(|v| w.f32(*v));
    };
    w.list(desc.springs.iter(), |w, s| element(w, &s.ends, &[s.rest, s.stiffness, s.damping]));
    w.list(desc.triangles.iter(), |w, t| element(w, &t.corners, &[t.mu, t.lambda, t.damping]));
    w.list(desc.hinges.iter(), |w, h| element(w, &h.corners, &[h.stiffness, h.damping]));
    w.list(desc.tetrahedra.iter(), |w, t| element(w, &t.corners, &[t.mu, t.lambda, t.damping]));
    w.list(desc.skin.iter(), |w, corners| corners.iter().for_each(|c| w.u32(*c)));
    w.option(desc.gravity_scale, Writer::f32);
    w.option(desc.surface, |w, surface| {
        [surface.radius, surface.friction].into_iter().for_each(|v| w.f32(v));
        [surface.groups, surface.mask].into_iter().for_each(|v| w.u32(v));
        w.bool(surface.meets_soft);
    });
}

fn load_desc(r: &mut Reader<'_>) -> Read<SoftDesc> {
    let desc = SoftDesc {
        rest: r.list(12, Reader::vec3)?,
        positions: r.list(12, Reader::vec3)?,
        velocities: r.list(12, Reader::vec3)?,
        masses: r.list(4, Reader::f32)?,
        springs: r.list(20, |r| {
            Ok(SoftSpring { ends: corners(r)?, rest: r.f32()?, stiffness: r.f32()?, damping: r.f32()? })
        })?,
        triangles: r.list(24, |r| {
            Ok(SoftTriangle { corners: corners(r)?, mu: r.f32()?, lambda: r.f32()?, damping: r.f32()? })
        })?,
        hinges: r.list(24, |r| Ok(SoftHinge { corners: corners(r)?, stiffness: r.f32()?, damping: r.f32()? }))?,
        tetrahedra: r.list(28, |r| {
            Ok(SoftTetrahedron { corners: corners(r)?, mu: r.f32()?, lambda: r.f32()?, damping: r.f32()? })
        })?,
        skin: r.list(12, corners)?,
        gravity_scale: r.option("gravity_scale", Reader::f32)?,
        surface: r.option("surface", |r| {
            let (radius, friction, groups, mask) = (r.f32()?, r.f32()?, r.u32()?, r.u32()?);
            Ok(SoftSurface { radius, friction, groups, mask, meets_soft: r.bool("surface")? })
        })?,
    };
    desc.check().map_err(|e| SnapshotError::content("soft bodies", e.to_string()))?;
    Ok(desc)
}

fn counts(size: &Counts) -> [u32; 7] {
    [size.particles, size.springs, size.membranes, size.hinges, size.tetrahedra, size.entries, size.faces]
}

impl World {
    pub(super) fn save_soft(&self, w: &mut Writer) {
        w.list(self.soft.slots.iter(), |w, slot| {
            counts(&slot.size).into_iter().for_each(|c| w.u32(c));
            w.option(slot.entry.as_deref(), |w, entry| save_desc(&entry.desc, w));
            w.list(slot.forces.iter(), |w, (particle, force)| {
                w.u32(*particle);
                w.vec3(*force);
            });
        });
        w.list(self.soft.attachments.iter(), |w, slot| {
            w.bool(slot.broken);
            w.option(slot.desc, |w, desc| {
                w.u32(desc.soft.index);
                w.u32(desc.particle);
                w.option(desc.body, |w, body| {
                    w.u32(body.index);
                    w.u32(body.generation);
                });
                w.vec3(desc.anchor.unwrap_or_default());
                w.f32(desc.stiffness);
                w.f32(desc.max_force);
            });
        });
        let (particles, springs, attachments) = self.soft.sent;
        [particles, springs, attachments].into_iter().for_each(|c| w.u32(c));
    }

    pub(super) fn load_soft(&mut self, r: &mut Reader<'_>) -> Read<()> {
        let wrong = |e: crate::world::WorldError| SnapshotError::content("soft bodies", e.to_string());
        let slots = r.list(33, |r| {
            let [particles, springs, membranes, hinges, tetrahedra, entries, faces] = corners(r)?;
            let size = Counts { particles, springs, membranes, hinges, tetrahedra, entries, faces };
            let desc = r.option("a soft body", load_desc)?;
            let forces = r.list(16, |r| Ok((r.u32()?, r.vec3()?)))?;
            let forces: BTreeMap<u32, Vec3> = forces.into_iter().collect();
            for (particle, force) in &forces {
                finite3("force", *force).map_err(wrong)?;
                if *particle >= particles {
                    return nonsense("soft bodies", format!("a force on particle {particle} of {particles}"));
                }
            }
            Ok((size, desc, forces))
        })?;
        let sizes: Vec<Counts> = slots.iter().map(|s| s.0).collect();
        let gaps = slots.iter().filter(|s| s.1.is_none()).flat_map(|s| counts(&s.0));
        if gaps.fold(0u32, u32::saturating_add) > MOST_GAPS {
            return nonsense("soft bodies", "more places of removed ones than anybody needs");
        }
        let Some(soft) = SoftBodies::restore(slots) else { return nonsense("soft bodies", "too many particles") };
        if soft.slots.iter().zip(&sizes).any(|(slot, size)| slot.size != *size) {
            return nonsense("soft bodies", "one takes up another number of places than it says");
        }
        self.soft = soft;
        let attachments = r.list(2, |r| {
            let broken = r.bool("attachments")?;
            let desc = r.option("attachments", |r| {
                Ok(AttachmentDesc {
                    soft: SoftHandle { index: r.u32()?, generation: 0 },
                    particle: r.u32()?,
                    body: r.option("attachments", |r| Ok(BodyHandle { index: r.u32()?, generation: r.u32()? }))?,
                    anchor: Some(r.vec3()?),
                    stiffness: r.f32()?,
                    max_force: r.f32()?,
                })
            })?;
            Ok(AttachmentSlot { desc, broken })
        })?;
        // Each is one that could have been made.
        for slot in attachments {
            if let Some(desc) = slot.desc {
                self.attach(desc).map_err(wrong)?;
            } else {
                self.soft.attachments.push(slot);
            }
            if let Some(made) = self.soft.attachments.last_mut() {
                made.broken = slot.broken;
            }
        }
        let sent = (r.u32()?, r.u32()?, r.u32()?);
        let used = self.soft.used();
        if sent.0 > used.particles || sent.1 > used.springs || sent.2 > self.soft.attachment_count() {
            return nonsense("soft bodies", format!("{sent:?} states on a device, of fewer"));
        }
        (self.soft.sent, self.soft.changed) = (sent, true);
        Ok(())
    }
}
