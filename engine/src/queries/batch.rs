//! Batches of queries. Each query is checked when it is added, so that the device only gets valid ones.

use super::{QueryError, QueryRoom};
use crate::Result;
use crate::glam::{Quat, Vec3};
use crate::stepper::bodies::rotation_to_device;
use crate::world::{BodyHandle, Collider, Hull, Shape, World};
use drystone_kernels::math::Pose;
use drystone_kernels::queries::records::{Filter, RayQuery, ShapeQuery, count, filter};
use drystone_kernels::state::rigid::{NONE, Size, shape};
use std::borrow::Cow;
use std::sync::Arc;

/// Which colliders a query sees; by default all but sensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct QueryFilter {
    /// Groups of the query, and mask of the groups that it sees, as with colliders: both sides have to agree. `None`
    /// sees every collider.
    pub groups: Option<(u32, u32)>,
    /// A body that the query does not see, for example the one that asks.
    pub exclude: Option<BodyHandle>,
    /// Whether it sees sensors.
    pub sensors: bool,
    /// Whether rays see the surfaces of soft bodies. Other queries never do.
    pub soft: bool,
}

impl QueryFilter {
    /// Puts the query into `groups`, and lets it see only colliders in a group of `mask`.
    #[must_use]
    pub fn groups(mut self, groups: u32, mask: u32) -> Self {
        self.groups = Some((groups, mask));
        self
    }

    /// Excludes a body.
    #[must_use]
    pub fn without(mut self, body: BodyHandle) -> Self {
        self.exclude = Some(body);
        self
    }

    /// Lets the query see sensors too.
    #[must_use]
    pub fn with_sensors(mut self) -> Self {
        self.sensors = true;
        self
    }

    /// Lets rays meet the surfaces of soft bodies, too: see [`QueryResults::soft_rays`].
    ///
    /// [`QueryResults::soft_rays`]: super::QueryResults::soft_rays
    #[must_use]
    pub fn with_soft(mut self) -> Self {
        self.soft = true;
        self
    }

    fn record(&self) -> Filter {
        let (groups, mask) = self.groups.unwrap_or_default();
        Filter {
            exclude: self.exclude.map_or(NONE, BodyHandle::index),
            flags: if self.groups.is_none() { filter::EVERY_GROUP } else { 0 }
                | if self.sensors { filter::SENSORS } else { 0 }
                | if self.soft { filter::SOFT } else { 0 },
            groups,
            mask,
        }
    }
}

/// Longest distance that a cast may have, metres.
const FARTHEST: f32 = 1e15;

/// Kinds of queries with shapes, in the order of the lists.
const KINDS: [&str; 3] = ["cast", "overlap", "search for the closest"];

/// Queries to be answered together. Each call adds one and returns its number among those of its kind, which is where
/// [`QueryResults`](super::QueryResults) has the answer. A batch can be asked any number of times.
#[derive(Clone, Debug, Default)]
pub struct QueryBatch {
    pub(super) rays: Vec<RayQuery>,
    /// By [`KINDS`].
    pub(super) shapes: [Vec<ShapeQuery>; 3],
    /// Kind, number and hull of the queries whose shape is a hull.
    hulls: Vec<(usize, usize, Arc<Hull>)>,
    /// Bodies that some query excludes, to be checked when the batch is asked.
    excluded: Vec<BodyHandle>,
    /// Number of colliders that all overlap queries together may list.
    listed: u32,
}

/// A batch as the device gets it.
pub(crate) struct Asked<'a> {
    pub counts: [u32; count::KINDS as usize],
    pub rays: &'a [RayQuery],
    /// Casts, overlaps, searches.
    pub shapes: [Cow<'a, [ShapeQuery]>; 3],
}

impl QueryBatch {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all queries and keeps the memory.
    pub fn clear(&mut self) {
        self.rays.clear();
        self.shapes.iter_mut().for_each(Vec::clear);
        self.hulls.clear();
        self.excluded.clear();
        self.listed = 0;
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.rays.is_empty() && self.shapes.iter().all(Vec::is_empty)
    }

    /// The number of queries of each kind, as [`QueryRoom`].
    pub fn room(&self) -> QueryRoom {
        let [casts, overlaps, closest] = [0, 1, 2].map(|kind| self.shapes[kind].len() as u32);
        QueryRoom { rays: self.rays.len() as u32, casts, overlaps, overlap_hits: self.listed, closest }
    }

    /// Adds a query for the first hit of a ray. The direction need not be of length one; the reach is in metres and
    /// may be infinite. An error when the origin is not finite, the direction has no length or the reach is negative.
    pub fn ray(&mut self, origin: Vec3, direction: Vec3, reach: f32, filter: QueryFilter) -> Result<usize> {
        let index = self.rays.len();
        let wrong = |why| QueryError::Invalid { what: "ray", index, why };
        if !origin.is_finite() {
            return Err(wrong("its origin is not finite").into());
        }
        let direction = direction.try_normalize().ok_or(wrong("its direction has no length"))?;
        let reach = checked_reach(reach).ok_or(wrong("its reach must be 0 or more"))?;
        self.rays.push(RayQuery { origin, reach, direction, filter: filter.record() });
        self.exclude(filter);
        Ok(index)
    }

    /// Adds a query for the first hit of a ball that moves by `motion`, metres.
    pub fn sphere_cast(&mut self, centre: Vec3, radius: f32, motion: Vec3, filter: QueryFilter) -> Result<usize> {
        self.shape_cast(&Shape::Sphere { radius }, centre, Quat::IDENTITY, motion, filter)
    }

    /// Adds a query for the first hit of a shape that moves by `motion`, metres, without turning. A hull must be on
    /// some body of the world, because the device takes its vertices from there; that body may be far from
    /// everything. Half-spaces cannot be cast.
    pub fn shape_cast(
        &mut self,
        shape: &Shape,
        position: Vec3,
        rotation: Quat,
        motion: Vec3,
        filter: QueryFilter,
    ) -> Result<usize> {
        let mut query = self.shape(0, shape, position, rotation, filter)?;
        if !motion.is_finite() || motion.abs().max_element() > FARTHEST {
            let (what, index) = (KINDS[0], self.shapes[0].len());
            return Err(QueryError::Invalid { what, index, why: "its motion must be finite, and below 1e15 m" }.into());
        }
        // Scale by the largest component first, because the squares of short distances underflow.
        let longest = motion.abs().max_element();
        let way = if longest > 0.0 { motion / longest } else { Vec3::ZERO };
        (query.direction, query.reach) = (way.normalize_or(Vec3::Y), way.length() * longest);
        Ok(self.push(0, query, shape, filter))
    }

    /// Adds a query for the colliders that a shape overlaps. Up to `most` are listed: those with the lowest body
    /// slots and collider numbers. [`OverlapHits::count`](super::OverlapHits::count) has the number of all of them.
    pub fn overlap(
        &mut self,
        shape: &Shape,
        position: Vec3,
        rotation: Quat,
        most: u32,
        filter: QueryFilter,
    ) -> Result<usize> {
        let mut query = self.shape(1, shape, position, rotation, filter)?;
        let too_many = QueryError::TooMany { what: "overlaps to list", asked: u32::MAX, room: u32::MAX };
        let listed = self.listed.checked_add(most).ok_or(too_many)?;
        (query.first, query.most) = (self.listed, most);
        self.listed = listed;
        Ok(self.push(1, query, shape, filter))
    }

    /// Adds a query for the point of the world nearest to `point`, no farther than `reach` metres, which may be
    /// infinite.
    pub fn closest_point(&mut self, point: Vec3, reach: f32, filter: QueryFilter) -> Result<usize> {
        // A ball of radius 0. A world would refuse it, so the radius is set after the check.
        let ball = Shape::Sphere { radius: 1.0 };
        let mut query = self.shape(2, &ball, point, Quat::IDENTITY, filter)?;
        query.size.radius = 0.0;
        self.search(query, &ball, reach, filter)
    }

    /// Adds a query for the collider nearest to a shape, no farther than `reach` metres; the hit has the point on the
    /// world's side.
    pub fn closest(
        &mut self,
        shape: &Shape,
        position: Vec3,
        rotation: Quat,
        reach: f32,
        filter: QueryFilter,
    ) -> Result<usize> {
        let query = self.shape(2, shape, position, rotation, filter)?;
        self.search(query, shape, reach, filter)
    }

    fn search(&mut self, mut query: ShapeQuery, shape: &Shape, reach: f32, filter: QueryFilter) -> Result<usize> {
        let (what, index) = (KINDS[2], self.shapes[2].len());
        let why = "its reach must be 0 or more";
        query.reach = checked_reach(reach).ok_or(QueryError::Invalid { what, index, why })?;
        Ok(self.push(2, query, shape, filter))
    }

    /// The record of a shape that stands still.
    fn shape(
        &self,
        kind: usize,
        shape: &Shape,
        position: Vec3,
        rotation: Quat,
        filter: QueryFilter,
    ) -> Result<ShapeQuery> {
        let (what, index) = (KINDS[kind], self.shapes[kind].len());
        if *shape == Shape::HalfSpace {
            let why = "a half-space can be met, but not asked with; take a large box";
            return Err(QueryError::Invalid { what, index, why }.into());
        }
        let collider = Collider::from(shape.clone()).at(position).turned(rotation);
        collider.check()?;
        let (code, half, radius) = collider.parameters();
        debug_assert_ne!(code, shape::HALF_SPACE);
        Ok(ShapeQuery {
            filter: filter.record(),
            size: Size { x: half.x, y: half.y, z: half.z, radius },
            pose: Pose { position: collider.origin(), rotation: rotation_to_device(rotation) },
            shape: code,
            ..ShapeQuery::default()
        })
    }

    fn push(&mut self, kind: usize, query: ShapeQuery, shape: &Shape, filter: QueryFilter) -> usize {
        let index = self.shapes[kind].len();
        self.shapes[kind].push(query);
        if let Shape::ConvexHull(hull) = shape {
            self.hulls.push((kind, index, hull.clone()));
        }
        self.exclude(filter);
        index
    }

    fn exclude(&mut self, filter: QueryFilter) {
        self.excluded.extend(filter.exclude.filter(|body| self.excluded.last() != Some(body)));
    }

    /// The batch as the device gets it, with hulls as slots of the device's tables. An error when an excluded body or
    /// a hull is not in the world.
    pub(crate) fn asked(&self, world: &World) -> Result<Asked<'_>> {
        for body in &self.excluded {
            world.entry(*body)?;
        }
        let mut shapes = self.shapes.each_ref().map(|list| Cow::Borrowed(list.as_slice()));
        let new = world.changed_hulls();
        for (kind, index, hull) in &self.hulls {
            let there = world.hulls().find(hull).filter(|slot| !new.contains(slot));
            let slot = there.ok_or(QueryError::UnknownHull { what: KINDS[*kind], index: *index })?;
            // Behind the box, which is the first.
            shapes[*kind].to_mut()[*index].hull = slot + 1;
        }
        let QueryRoom { rays, casts, overlaps, closest, .. } = self.room();
        Ok(Asked { counts: [rays, casts, overlaps, closest], rays: &self.rays, shapes })
    }
}

/// Clamps a reach to what the device can compute with; `None` when it is negative or NaN.
fn checked_reach(reach: f32) -> Option<f32> {
    (reach >= 0.0).then_some(reach.min(1e30))
}
