//! Answers to queries: converts the device's records to handles and values for the user.

use super::QueryBatch;
#[cfg(feature = "vulkan")]
use super::QueryRoom;
use crate::glam::Vec3;
use crate::world::{BodyHandle, SoftHandle, World};
use drystone_kernels::queries::rays::soft::{SOFT, is_soft};
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
    /// Point of the hit, in world space. For a query that begins inside the body, the query's own point or centre.
    pub point: Vec3,
    /// Normal out of the body, of length one. For a ray or cast that begins inside, against its direction; for a
    /// search that begins inside, zero.
    pub normal: Vec3,
    /// Distance to the hit, metres; 0 from inside.
    pub distance: f32,
    /// Distance as a fraction of the reach or the motion, 0 to 1.
    pub fraction: f32,
}

/// A triangle of a soft body that a ray met first.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SoftHit {
    /// The soft body.
    pub soft: SoftHandle,
    /// Which triangle of its surface: [`World::soft_triangles`].
    pub triangle: u32,
    /// Its particles.
    pub particles: [u32; 3],
    /// Point of the hit, in world space.
    pub point: Vec3,
    /// Normal of the triangle, of length one, towards where the ray comes from.
    pub normal: Vec3,
    /// Distance to the hit, metres.
    pub distance: f32,
    /// Distance as a fraction of the reach, 0 to 1.
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
#[non_exhaustive]
pub struct OverlapHits {
    /// The listed colliders, as many as the query asked for at most: those with the lowest body slots, and within a
    /// body the lowest colliders.
    pub hits: Vec<OverlapHit>,
    /// Number of all overlapping colliders on the device, listed or not.
    pub count: u32,
}

/// Answers to a batch, by the numbers of its queries.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct QueryResults {
    /// What rays met.
    pub rays: Vec<Option<QueryHit>>,
    /// What rays with [`with_soft`](super::QueryFilter::with_soft) met where a soft body came first: then `rays` has
    /// nothing at the same place.
    pub soft_rays: Vec<Option<SoftHit>>,
    /// What casts of spheres and other shapes met.
    pub casts: Vec<Option<QueryHit>>,
    /// What shapes overlap.
    pub overlaps: Vec<OverlapHits>,
    /// What is nearest.
    pub closest: Vec<Option<QueryHit>>,
}

/// What has to be remembered of a batch to interpret its answers.
#[derive(Debug)]
pub(crate) struct Expected {
    rays: Vec<f32>,
    casts: Vec<f32>,
    /// Index of the first listed collider, and how many may be listed.
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

    /// Converts the answers to results. Bodies that no longer exist are left out.
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
            soft_rays: answers.rays.iter().zip(&self.rays).map(|(r, reach)| soft_hit(r, *reach, world)).collect(),
            casts: hits(&answers.casts, &self.casts),
            overlaps: overlaps.collect(),
            closest: hits(&answers.closest, &self.closest),
        }
    }
}

fn hit(record: &HitRecord, reach: f32, world: &World) -> Option<QueryHit> {
    if record.collider == NONE || is_soft(record.collider) {
        return None;
    }
    let (body, collider) = world.collider_owner(record.collider, record.generation)?;
    let HitRecord { point, normal, distance, .. } = *record;
    let fraction = fraction(distance, reach);
    Some(QueryHit { body, collider, point, normal, distance, fraction })
}

fn fraction(distance: f32, reach: f32) -> f32 {
    if reach > 0.0 { (distance / reach).min(1.0) } else { 0.0 }
}

fn soft_hit(record: &HitRecord, reach: f32, world: &World) -> Option<SoftHit> {
    if !is_soft(record.collider) {
        return None;
    }
    let (soft, triangle, particles) = world.soft_store().triangle(record.collider & !SOFT)?;
    let HitRecord { point, normal, distance, body, .. } = *record;
    // Triangles are numbered anew when a soft body is removed: an answer from before is not somebody else's.
    let same = soft.index() == body;
    same.then_some(SoftHit { soft, triangle, particles, point, normal, distance, fraction: fraction(distance, reach) })
}
