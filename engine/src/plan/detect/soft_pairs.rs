//! Contacts of soft surfaces before the gate: where particles may go, the hierarchy over the pieces of surfaces, and
//! how many contacts there are. Worlds without surfaces that meet each other have none of this.

use super::bvh::{Bvh, Tree};
use crate::plan::primitives::scan::{self, Scan};
use crate::plan::{PlanError, Recording};
use crate::state::{Capacities, SoftBuffers, SoftPairBuffers, StateBuffers};
use drystone_kernels::detect::gate::counter;
use drystone_kernels::detect::{soft_boxes, soft_pairs_count, soft_regions};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::layout::{Aabb, Extent};

/// What detection hands to the list of contacts.
#[derive(Clone, Copy)]
pub(in crate::plan) struct SoftNear {
    /// Displacements that particles may have.
    pub regions: Buffer<Aabb>,
    /// Boxes of pieces.
    pub boxes: Buffer<Aabb>,
    /// The hierarchy over them.
    pub tree: Tree,
    /// Where the contacts of each piece begin, and behind the last how many there are.
    pub places: Buffer<u32>,
}

/// Counts the contacts into [`counter::SPARE`], for the gate right behind.
pub(in crate::plan) fn record(
    r: &mut Recording,
    s: &StateBuffers,
    soft: &SoftBuffers,
    meeting: &SoftPairBuffers,
    capacities: &Capacities,
) -> Result<SoftNear, PlanError> {
    let Capacities { particles, soft_faces: faces, .. } = *capacities;
    let regions = r.scratch("soft_regions", u64::from(particles))?;
    let bind = soft_regions::Bind {
        params: s.params,
        particles: soft.particles,
        soft_velocities: soft.velocities,
        soft_regions: regions,
    };
    r.dispatch_each(u64::from(particles), bind.with(soft_regions::Push { count: particles }))?;
    let boxes = r.scratch("soft_boxes", u64::from(faces))?;
    let bind = soft_boxes::Bind {
        particles: soft.particles,
        soft_positions: soft.positions,
        soft_regions: regions,
        soft_faces: meeting.faces,
        soft_boxes: boxes,
    };
    r.dispatch_each(u64::from(faces), bind.with(soft_boxes::Push { count: faces }))?;
    let bvh = Bvh { boxes, extent: Extent::host(faces), counters: s.counters };
    let tree = bvh.record(r, "soft_bvh")?;
    let counts = r.scratch("soft_pair_counts", u64::from(faces) + 1)?;
    let bind = soft_pairs_count::Bind {
        particles: soft.particles,
        soft_positions: soft.positions,
        soft_regions: regions,
        soft_rests: meeting.rests,
        soft_faces: meeting.faces,
        soft_boxes: boxes,
        nodes: tree.nodes,
        volumes: tree.volumes,
        ropes: tree.ropes,
        order: tree.order,
        soft_pair_counts: counts,
    };
    r.dispatch_each(u64::from(faces) + 1, bind.with(soft_pairs_count::Push { count: faces }))?;
    let places = r.scratch("soft_pair_places", u64::from(faces) + 1)?;
    let scratch = scan::Scratch::new(r, "soft_pair_places", faces + 1)?;
    let scan = Scan {
        values: counts,
        prefixes: places,
        extent: Extent::host(faces + 1),
        counters: s.counters,
        total: counter::SPARE,
    };
    scan.record(r, scratch)?;
    Ok(SoftNear { regions, boxes, tree, places })
}
