//! What is answered: the device's records as the user sees them.

use super::QueryBatch;
#[cfg(feature = "vulkan")]
use super::QueryRoom;
use crate::glam::Vec3;
use crate::world::{BodyHandle, World};
use drystone_kernels::queries::records::{HitRecord, OverlapRecord};
use drystone_kernels::state::rigid::NONE;

/// What a ray or cast met first, or what is nearest.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct QueryHit {
    /// The body.
    pub body: BodyHandle,
    /// Which of its colliders, in the order of its description.
    pub collider: usize,
    /// Where, in world space. Of a query that begins inside of the body, its own point or middle.
    pub point: Vec3,
    /// Out of the body, of length one: against the way of a ray or cast that begins inside, zero for a search from there.
    pub normal: Vec3,
    /// The way to it, metres; 0 from inside.
    pub distance: f32,
    /// The same as a part of the reach or the motion, 0 to 1.
    pub fraction: f32,
}

/// A collider that a query overlaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OverlapHit {
    /// The body.
    pub body: BodyHandle,
    /// Which of its colliders, in the order of its description.
    pub collider: usize,
}

/// What a shape overlaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverlapHits {
    /// As many as the query has room for: those with the lowest body slots, and of a body with the lowest colliders.
    pub hits: Vec<OverlapHit>,
    /// How many there are on the device, listed or not.
    pub count: u32,
}

/// Answers to a batch, by the numbers of its queries.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct QueryResults {
    /// What rays met.
    pub rays: Vec<Option<QueryHit>>,
    /// What casts of spheres and other shapes met.
    pub casts: Vec<Option<QueryHit>>,
    /// What shapes overlap.
    pub overlaps: Vec<OverlapHits>,
    /// What is nearest.
    pub closest: Vec<Option<QueryHit>>,
}

/// What is needed of a batch to understand its answers.
#[derive(Debug)]
pub(crate) struct Expected {
    rays: Vec<f32>,
    casts: Vec<f32>,
    /// Place of the first one, and how many are listed.
    overlaps: Vec<(u32, u32)>,
    closest: Vec<f32>,
    listed: u32,
}

/// The device's answers.
#[derive(Debug)]
pub(crate) struct Answers {
    pub rays: Vec<HitRecord>,
    pub casts: Vec<HitRecord>,
    pub overlap_counts: Vec<u32>,
    pub overlap_hits: Vec<OverlapRecord>,
    pub closest: Vec<HitRecord>,
}

impl Expected {
    pub fn of(batch: &QueryBatch) -> Self {
        let [casts, overlaps, closest] = &batch.shapes;
        Self {
            rays: batch.rays.iter().map(|q| q.reach).collect(),
            casts: casts.iter().map(|q| q.reach).collect(),
            overlaps: overlaps.iter().map(|q| (q.first, q.most)).collect(),
            closest: closest.iter().map(|q| q.reach).collect(),
            listed: batch.room().overlap_hits,
        }
    }

    /// The size of the batch.
    #[cfg(feature = "vulkan")]
    pub fn room(&self) -> QueryRoom {
        QueryRoom {
            rays: self.rays.len() as u32,
            casts: self.casts.len() as u32,
            overlaps: self.overlaps.len() as u32,
            overlap_hits: self.listed,
            closest: self.closest.len() as u32,
        }
    }

    /// Room for the answers.
    pub fn answers(&self) -> Answers {
        let hits = |count: usize| vec![HitRecord::default(); count];
        Answers {
            rays: hits(self.rays.len()),
            casts: hits(self.casts.len()),
            overlap_counts: vec![0; self.overlaps.len()],
            overlap_hits: vec![OverlapRecord::default(); self.listed as usize],
            closest: hits(self.closest.len()),
        }
    }

    /// What the answers mean. Bodies that are no longer there are left out.
    pub fn results(&self, answers: &Answers, world: &World) -> QueryResults {
        let hits = |records: &[HitRecord], reaches: &[f32]| {
            records.iter().zip(reaches).map(|(record, reach)| hit(record, *reach, world)).collect()
        };
        let overlaps = self.overlaps.iter().zip(&answers.overlap_counts).map(|((first, most), count)| {
            let records = answers.overlap_hits.iter().skip(*first as usize).take((*most).min(*count) as usize);
            let hits = records.filter_map(|r| {
                let (body, collider) = world.collider_owner(r.collider, r.generation)?;
                Some(OverlapHit { body, collider })
            });
            OverlapHits { hits: hits.collect(), count: *count }
        });
        QueryResults {
            rays: hits(&answers.rays, &self.rays),
            casts: hits(&answers.casts, &self.casts),
            overlaps: overlaps.collect(),
            closest: hits(&answers.closest, &self.closest),
        }
    }
}

fn hit(record: &HitRecord, reach: f32, world: &World) -> Option<QueryHit> {
    if record.collider == NONE {
        return None;
    }
    let (body, collider) = world.collider_owner(record.collider, record.generation)?;
    let HitRecord { point, normal, distance, .. } = *record;
    let fraction = if reach > 0.0 { (distance / reach).min(1.0) } else { 0.0 };
    Some(QueryHit { body, collider, point, normal, distance, fraction })
}
