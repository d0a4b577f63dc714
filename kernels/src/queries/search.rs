//! Search of a shape through the hierarchy that the step has built, down to the shapes in its leaves. The stages
//! `shape_casts`, `overlaps` and `closest` call it, one step at a time.
//!
//! A step visits a node, or adds one corner of a shape in a leaf. There is never a loop over corners inside a loop over
//! leaves: lanes of a subgroup would wait for the longest of each, and drivers that compile every path take very long
//! over it. Nearer nodes come first, so that early results cut the search short.

use super::meeting::{Meeting, Outcome, aim};
use super::rays::{DEPTH, Touch, entry, inverse};
use super::records::{HitRecord, ShapeQuery, generation_of};
use crate::detect::collide::{Convex, Solid};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Read, Store, abs, fmax, fmin, least, sqrt};
use crate::layout::{Aabb, END, LEAF, Node, Volume, volume_of};
use crate::math::Pose;
use crate::state::rigid::{Collider, Friction, Hull, What, shape, world_pose};

/// What a shape may meet.
#[derive(Clone, Copy)]
pub struct Solids<'a> {
    /// Inner nodes of the hierarchy.
    pub nodes: Read<'a, Node>,
    /// Volumes of nodes and leaves: see [`volume_of`].
    pub volumes: Read<'a, Volume>,
    /// The collider at each leaf.
    pub order: Read<'a, u32>,
    /// Colliders.
    pub colliders: Read<'a, Collider>,
    /// Poses of bodies.
    pub poses: Read<'a, Pose>,
    /// Convex hulls.
    pub hulls: Read<'a, Hull>,
    /// Their vertices.
    pub hull_vertices: Read<'a, Vec3>,
}

/// Nodes that wait.
pub type Stack = [u32; DEPTH];

/// A search on its way.
#[derive(Clone, Copy)]
pub struct Search {
    /// Nothing farther is of interest.
    pub limit: f32,
    /// The collider that is looked at.
    pub slot: u32,
    /// The shape that searches.
    own: Convex,
    /// Its box, around its middle.
    reach: Aabb,
    direction: Vec3,
    inverse: Vec3,
    at: u32,
    depth: u32,
    fuel: u32,
    busy: bool,
    other: Convex,
    meeting: Meeting,
}

/// The box of a shape around its middle.
#[inline(always)]
fn reach_of(s: &Convex, hull_vertices: Read<'_, Vec3>) -> Aabb {
    let (solid, h) = (&s.p.solid, s.p.solid.half);
    let along = |x: f32, y: f32, z: f32| abs(x) * h.x + abs(y) * h.y + abs(z) * h.z + s.round;
    let extent = Vec3::new(
        along(solid.x.x, solid.y.x, solid.z.x),
        along(solid.x.y, solid.y.y, solid.z.y),
        along(solid.x.z, solid.y.z, solid.z.z),
    );
    let mut reach = Aabb { min: -extent, max: extent };
    if s.code == shape::HULL {
        reach = Aabb::EMPTY;
        let mut i = 0;
        while i < s.p.hull.vertices {
            let p = solid.to_world(hull_vertices.at(s.p.hull.first.wrapping_add(i)));
            reach = reach.union(&Aabb { min: p, max: p });
            i += 1;
        }
    }
    reach
}

impl Search {
    /// The search of a query among `leaves` leaves.
    #[inline(always)]
    pub fn new(solids: &Solids<'_>, query: &ShapeQuery, leaves: u32, limit: f32) -> Self {
        let collider = Collider {
            what: What { body: query.filter.exclude, shape: query.shape, groups: 0, mask: 0 },
            size: query.size,
            pose: query.pose,
            hull: query.hull,
            friction: Friction { fixed: 0.0, sliding: 0.0 },
            traits: 0,
        };
        let own = Convex::of(solids.hulls, &collider, Solid::new(&collider, &query.pose));
        let leaves = least(leaves, least(solids.order.len(), LEAF - 1));
        let root = if leaves == 1 { LEAF } else { 0 };
        Self {
            limit,
            slot: 0,
            own,
            reach: reach_of(&own, solids.hull_vertices),
            direction: query.direction,
            inverse: inverse(query.direction),
            at: if (leaves == 0) | (limit < 0.0) { END } else { root },
            depth: 0,
            // No node is visited twice, so the bound is only met in a broken tree.
            fuel: leaves.wrapping_mul(2),
            busy: false,
            other: own,
            meeting: Meeting::new(&own, &own, query.direction, 0.0),
        }
    }

    /// Whether there is more to look at.
    #[inline(always)]
    pub fn goes_on(&self) -> bool {
        (self.at != END) & (self.busy | (self.fuel > 0))
    }

    /// How near what is in a box can be, or [`Touch::NEVER`].
    #[inline(always)]
    fn bound<const AIM: u32>(&self, solids: &Solids<'_>, child: u32) -> f32 {
        let bounds = solids.volumes.at(volume_of(child)).bounds;
        // Seen from the middle of the shape, which is a point then.
        let grown = Aabb { min: bounds.min - self.reach.max, max: bounds.max - self.reach.min };
        let middle = self.own.p.solid.centre;
        if AIM == aim::CAST {
            let empty = bounds.min.x > bounds.max.x;
            let enters = entry(middle, self.inverse, self.limit, &grown);
            if empty { Touch::NEVER } else { enters }
        } else {
            let gap = |low: f32, high: f32, p: f32| fmax(fmax(low - p, p - high), 0.0);
            let apart = Vec3::new(
                gap(grown.min.x, grown.max.x, middle.x),
                gap(grown.min.y, grown.max.y, middle.y),
                gap(grown.min.z, grown.max.z, middle.z),
            );
            let distance = sqrt(apart.length_squared());
            if distance * 0.999_99 <= self.limit + 1e-6 { distance } else { Touch::NEVER }
        }
    }

    #[inline(always)]
    fn pop(&mut self, stack: &Stack) {
        let more = (self.depth > 0) & (self.fuel > 0);
        self.depth -= more as u32;
        self.at = if more { stack.at(self.depth) } else { END };
    }

    /// Looks at one node, or at one corner. What comes back is over when it is about the collider in [`Search::slot`].
    #[inline(always)]
    pub fn step<const AIM: u32>(&mut self, solids: &Solids<'_>, query: &ShapeQuery, stack: &mut Stack) -> Outcome {
        let mut outcome = Outcome { over: false, met: false, distance: 0.0, normal: Vec3::ZERO, point: Vec3::ZERO };
        if self.busy {
            let (own, other) = (self.own, self.other);
            outcome = self.meeting.step::<AIM>(solids.hull_vertices, &own, &other, self.direction, self.limit);
            if outcome.over {
                self.busy = false;
                self.pop(stack);
            }
        } else if self.at & LEAF != 0 {
            self.fuel -= 1;
            self.slot = solids.order.at(self.at & !LEAF);
            let collider = solids.colliders.at(self.slot);
            let bound = self.bound::<AIM>(solids, self.at);
            if (bound < Touch::NEVER) & query.filter.sees(&collider) & (collider.what.shape < shape::NONE) {
                let pose = world_pose(&collider, &solids.poses.at(collider.what.body));
                self.other = Convex::of(solids.hulls, &collider, Solid::new(&collider, &pose));
                let way = if AIM == aim::CAST { bound } else { 0.0 };
                self.meeting = Meeting::new(&self.own, &self.other, self.direction, way);
                self.busy = true;
            } else {
                self.pop(stack);
            }
        } else {
            self.fuel -= 1;
            let node = solids.nodes.at(self.at);
            let left = self.bound::<AIM>(solids, node.left);
            let right = self.bound::<AIM>(solids, node.right);
            let (near, far) = if left <= right { (node.left, node.right) } else { (node.right, node.left) };
            let (first, second) = (fmin(left, right), fmax(left, right));
            if (second < Touch::NEVER) & (self.depth < DEPTH as u32) {
                stack.put(self.depth, far);
                self.depth += 1;
            }
            if first < Touch::NEVER {
                self.at = near;
            } else {
                self.pop(stack);
            }
        }
        outcome
    }
}

/// The nearest of what a query meets: on its way, or around it.
#[inline(always)]
pub fn nearest<const AIM: u32>(solids: &Solids<'_>, query: &ShapeQuery, leaves: u32) -> HitRecord {
    let mut hit = HitRecord::nothing(query.reach);
    let mut stack = [END; DEPTH];
    let mut search = Search::new(solids, query, leaves, query.reach);
    while search.goes_on() {
        let found = search.step::<AIM>(solids, query, &mut stack);
        if found.over & found.met {
            let collider = solids.colliders.at(search.slot);
            if hit.is_behind(found.distance, collider.what.body, search.slot) {
                hit.distance = found.distance;
                hit.collider = search.slot;
                hit.body = collider.what.body;
                hit.generation = generation_of(&collider);
                hit.point = found.point;
                hit.normal = found.normal;
                search.limit = found.distance;
            }
        }
    }
    hit
}
