//! What is written to the device before a step: the settings, and everything of the world that the device lacks after its
//! lists have grown. Edits of a step are made in `bodies`, joints in `joints`, soft bodies in `soft`.

use super::bodies::{BodyRecord, collider_record, material_record, report_impulse};
use super::core::Core;
use super::uploads::Uploads;
use crate::Result;
use crate::glam::Vec3;
use crate::plan::step::StepPlan;
use crate::state::Capacities;
use crate::world::{Hull, World, unit_box};
use drystone_kernels::state::rigid::{self, NONE, Params};
use std::sync::Arc;

/// What the device lacks after a plan was loaded: everything from these slots on, and all buffers that the host
/// writes as a whole.
#[derive(Clone, Copy)]
pub(super) struct Resend {
    pub bodies: u32,
    pub colliders: u32,
    pub joints: u32,
    /// First slot whose body space (where the user's body space lies in the device's) is missing.
    pub frames: u32,
    /// Whether the device has no state of any soft body.
    pub soft: bool,
}

impl Resend {
    /// The union: everything that either of the two lacks.
    pub fn and_all_of(self, other: Self) -> Self {
        Self {
            bodies: self.bodies.min(other.bodies),
            colliders: self.colliders.min(other.colliders),
            joints: self.joints.min(other.joints),
            frames: self.frames.min(other.frames),
            soft: self.soft || other.soft,
        }
    }
}

/// The settings that the device has.
#[derive(Clone, PartialEq)]
pub(super) struct SentParams {
    /// Of all worlds, with no gravity.
    pub common: Params,
    pub gravities: Arc<Vec<Vec3>>,
}

impl SentParams {
    /// Adds them to the uploads.
    pub fn push(&self, plan: &StepPlan, uploads: &mut Uploads) {
        let of_world = |gravity: &Vec3| Params { gravity: *gravity, ..self.common };
        let all: Vec<_> = self.gravities.iter().map(of_world).collect();
        uploads.push(plan.buffers.params, 0, &all);
    }
}

impl Core {
    /// Adds the materials and report impulses of `count` colliders from slot `first` on to the uploads.
    pub(super) fn push_surfaces(&self, uploads: &mut Uploads, first: u32, count: usize) {
        let (b, features) = (&self.plan.buffers, self.planned.features);
        let slots = || (first..).take(count);
        if features.surfaces {
            let list: Vec<_> = slots().map(|slot| material_record(&self.world, slot)).collect();
            uploads.push(b.materials, first.into(), &list);
        }
        if features.reports {
            let list: Vec<_> = slots().map(|slot| report_impulse(&self.world, slot)).collect();
            uploads.push(b.report_impulses, first.into(), &list);
        }
    }

    /// Adds everything that the device lacks ([`Resend`]) to the uploads, and all hulls.
    pub(super) fn push_all(&mut self, uploads: &mut Uploads) -> Result<()> {
        let Some(resend) = self.resend else {
            return Ok(());
        };
        let Resend { bodies: first, colliders: first_collider, joints: first_joint, frames, soft } = resend;
        let Capacities { bodies, colliders, joints, .. } = self.plan.capacities;
        let b = &self.plan.buffers;
        if let Some(chosen) = &self.plan.chosen {
            uploads.push(chosen.sizes, 0, &chosen.groups);
        }
        let records: Vec<_> = (first..bodies).map(|i| BodyRecord::new(&self.world, i)).collect();
        let from = u64::from(first);
        uploads.push(b.bodies, from, &records.iter().map(|r| r.body).collect::<Vec<_>>());
        let poses: Vec<_> = records.iter().map(|r| r.pose).collect();
        uploads.push(b.poses, from, &poses);
        uploads.push(b.starts, from, &poses);
        uploads.push(b.velocities, from, &records.iter().map(|r| r.velocity).collect::<Vec<_>>());
        uploads.push(b.previous, from, &records.iter().map(|r| r.velocity.linear).collect::<Vec<_>>());
        uploads.push(b.forces, from, &records.iter().map(|r| r.force).collect::<Vec<_>>());
        uploads.push(b.colours, from, &vec![NONE; records.len()]);
        if self.planned.worlds > 0 {
            uploads.push(b.locals, 0, &(0..bodies).map(|slot| self.world.local(slot)).collect::<Vec<_>>());
        }
        if self.options.body_poses {
            let records = (frames..bodies).map(|i| BodyRecord::new(&self.world, i).frame);
            uploads.push(b.body_frames, frames.into(), &records.collect::<Vec<_>>());
        }
        let list: Vec<_> = (first_collider..colliders).map(|slot| collider_record(&self.world, slot)).collect();
        uploads.push(b.colliders, first_collider.into(), &list);
        self.push_surfaces(uploads, first_collider, list.len());
        // Hull 0 is the unit box: boxes use it when they meet hulls.
        push_hull_at(uploads, &self.plan, 0, 0, &unit_box()?);
        for slot in 0..self.world.hulls().slot_count() {
            push_hull(uploads, &self.plan, &self.world, slot);
        }
        self.world.uploaded(first, first_collider);
        self.world.joint_store_mut().resend(first_joint..joints);
        if soft {
            self.world.soft_store_mut().send_all();
        } else {
            self.world.soft_store_mut().send_again();
        }
        Ok(())
    }
}

pub(super) fn push_hull(uploads: &mut Uploads, plan: &StepPlan, world: &World, slot: u32) {
    if let Some(entry) = world.hulls().entry(slot) {
        push_hull_at(uploads, plan, slot + 1, entry.first, &entry.hull);
    }
}

fn push_hull_at(uploads: &mut Uploads, plan: &StepPlan, index: u32, first: u32, hull: &Hull) {
    let b = plan.buffers.hulls;
    let counts = [hull.vertices.len(), hull.faces.len(), hull.edges.len()].map(|n| n as u32);
    let inner = hull.faces.iter().map(|f| f.offset).fold(f32::MAX, f32::min);
    let record = rigid::Hull { first, vertices: counts[0], faces: counts[1], edges: counts[2], inner };
    let at = u64::from(first);
    uploads.push(b.hulls, index.into(), &[record]);
    uploads.push(b.vertices, at, &hull.vertices);
    uploads.push(b.faces, at, &hull.faces);
    uploads.push(b.loops, 2 * at, &hull.loops);
    uploads.push(b.edges, at, &hull.edges);
}
