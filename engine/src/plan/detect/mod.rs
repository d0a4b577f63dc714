//! Collision detection (Algorithm 1, line 1): boxes, hierarchy, pairs, which of them touch, and their contacts.
//!
//! Up to `gate` the passes only read the state. The gate checks whether the lists are long enough, and everything
//! behind it is dispatched indirectly: when a list is too short and the step is strict, all later dispatches are
//! empty.

pub mod bvh;
pub(super) mod soft_pairs;

use super::primitives::bits;
use super::primitives::scan::{self, Scan, Sums};
use super::primitives::sort::{KeyedItems, Sort};
use super::step::{StepOptions, event_room};
use super::{PlanError, Recording};
use crate::state::{Capacities, StateBuffers};
use bvh::{Bvh, Members, Search, Tree};
use drystone_kernels::detect::gate::{bit, counter, dispatch};
use drystone_kernels::detect::{
    apart_buckets, apart_pairs, bounds, contacts, contacts_curved, contacts_hull, gate, joints_apart, manifold_pairs,
    sensors, sensors_list, touch, touch_curved, touch_hull, touching_ended, touching_find,
};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::layout::{DispatchArgs, Extent, Pair};
use drystone_kernels::state::rigid::{NONE, node};
use std::ops::Range;

/// Pairs that touch: what detection hands to the gate and to `contacts`.
pub(super) struct Touching {
    pairs: Buffer<Pair>,
    touches: Buffer<u32>,
    axes: Buffer<u32>,
    manifold_offsets: Buffer<u32>,
    manifold_pairs: Buffer<u32>,
    /// Pairs that overlap a sensor, and their places in the list of those.
    sensed: Option<(Buffer<u32>, Buffer<u32>)>,
}

/// Sizes of everything behind the gate.
#[derive(Clone, Copy)]
pub(super) struct Dispatches {
    /// See [`dispatch`].
    pub args: Buffer<DispatchArgs>,
    /// Nodes of every colour and kind, and of the fallback.
    pub colours: Buffer<DispatchArgs>,
}

/// The hierarchy over the colliders, and which commands build it.
pub(super) fn record_tree(
    r: &mut Recording,
    s: &StateBuffers,
    colliders: u32,
    worlds: u32,
) -> Result<(Tree, Range<usize>), PlanError> {
    let first = r.commands().len();
    let boxes = r.scratch("boxes", u64::from(colliders))?;
    let bind = bounds::Bind {
        params: s.params,
        velocities: s.velocities,
        bodies: s.bodies,
        poses: s.poses,
        colliders: s.colliders,
        hulls: s.hulls.hulls,
        hull_vertices: s.hulls.vertices,
        boxes,
    };
    r.dispatch_each(u64::from(colliders), bind.with(bounds::Push { count: colliders }))?;
    let bvh = Bvh { boxes, extent: Extent::host(colliders), counters: s.counters };
    let tree = if worlds > 0 {
        bvh.record_by_world(r, "bvh", Members { colliders: s.colliders, bodies: s.bodies, worlds })?
    } else {
        bvh.record(r, "bvh")?
    };
    Ok((tree, first..r.commands().len()))
}

/// Pairs of overlapping boxes, and which of them touch.
pub(super) fn record_touching(
    r: &mut Recording,
    s: &StateBuffers,
    capacities: &Capacities,
    options: &StepOptions,
    tree: &Tree,
) -> Result<Touching, PlanError> {
    let room = capacities.pairs;
    let search = Search {
        capacity: room,
        needed: counter::PAIRS,
        overflow: s.overflow,
        bit: bit::PAIRS,
        tile: 64,
        crowded: counter::CROWDED,
        most: options.most_pairs,
    };
    let pairs = search.record_list(r, "pairs", tree)?;
    let touches = r.scratch("touches", u64::from(room))?;
    let axes = r.scratch("axes", u64::from(room))?;
    let manifold_offsets = r.scratch("manifold_offsets", u64::from(room))?;
    let bind = touch::Bind {
        params: s.params,
        velocities: s.velocities,
        bodies: s.bodies,
        poses: s.poses,
        colliders: s.colliders,
        counters: s.counters,
        pairs,
        touches,
        axes,
    };
    let found = Extent::counter(counter::PAIRS, room);
    r.dispatch_each(u64::from(room), bind.with(touch::Push { pairs: found }))?;
    if capacities.hulls > 0 {
        let bind = touch_hull::Bind {
            params: s.params,
            velocities: s.velocities,
            bodies: s.bodies,
            poses: s.poses,
            colliders: s.colliders,
            counters: s.counters,
            pairs,
            hulls: s.hulls.hulls,
            hull_vertices: s.hulls.vertices,
            hull_faces: s.hulls.faces,
            hull_loops: s.hulls.loops,
            hull_edges: s.hulls.edges,
            touches,
            axes,
        };
        r.dispatch_each(u64::from(room), bind.with(touch_hull::Push { pairs: found }))?;
    }
    if options.features.curved {
        let bind = touch_curved::Bind {
            params: s.params,
            velocities: s.velocities,
            bodies: s.bodies,
            poses: s.poses,
            colliders: s.colliders,
            counters: s.counters,
            pairs,
            hulls: s.hulls.hulls,
            hull_vertices: s.hulls.vertices,
            hull_faces: s.hulls.faces,
            touches,
        };
        r.dispatch_each(u64::from(room), bind.with(touch_curved::Push { pairs: found }))?;
    }
    if capacities.joints > 0 {
        record_apart(r, s, capacities.joints, pairs, found, touches)?;
    }
    let sensed = if options.features.sensors { Some(record_sensed(r, s, room, pairs, touches)?) } else { None };
    let scratch = scan::Scratch::new(r, "manifold_offsets", room)?;
    let scan = Scan {
        values: touches,
        prefixes: manifold_offsets,
        extent: Extent::host(room),
        counters: s.counters,
        total: counter::MANIFOLDS,
    };
    let Sums { push, before, tiles } = scan.record_sums(r, scratch)?;
    let manifolds = capacities.manifolds;
    let manifold_pairs = r.scratch("manifold_pairs", u64::from(manifolds))?;
    let bind = manifold_pairs::Bind { touches, counters: s.counters, before, manifold_offsets, manifold_pairs };
    r.dispatch(tiles, bind.with(manifold_pairs::Push { scan: push, manifolds }))?;
    Ok(Touching { pairs, touches, axes, manifold_offsets, manifold_pairs, sensed })
}

/// Removes pairs with a sensor from the pairs that touch, and gives them places in a separate list.
fn record_sensed(
    r: &mut Recording,
    s: &StateBuffers,
    room: u32,
    pairs: Buffer<Pair>,
    touches: Buffer<u32>,
) -> Result<(Buffer<u32>, Buffer<u32>), PlanError> {
    let sensed = r.scratch("sensed", u64::from(room))?;
    let offsets = r.scratch("sensed_offsets", u64::from(room))?;
    let bind = sensors::Bind { counters: s.counters, pairs, colliders: s.colliders, touches, sensed };
    let push = sensors::Push { pairs: Extent::counter(counter::PAIRS, room) };
    r.dispatch_each(u64::from(room), bind.with(push))?;
    let scratch = scan::Scratch::new(r, "sensed_offsets", room)?;
    let extent = Extent::host(room);
    let scan = Scan { values: sensed, prefixes: offsets, extent, counters: s.counters, total: counter::SENSED };
    scan.record(r, scratch)?;
    Ok((sensed, offsets))
}

/// Removes pairs whose bodies a joint keeps from touching each other.
fn record_apart(
    r: &mut Recording,
    s: &StateBuffers,
    count: u32,
    pairs: Buffer<Pair>,
    found: Extent,
    touches: Buffer<u32>,
) -> Result<(), PlanError> {
    let (joints, bits) = (s.joints.joints, bits(count));
    let unsorted = KeyedItems::new(r, "apart.unsorted", u64::from(count))?;
    let bind = apart_pairs::Bind { joints, keys: unsorted.keys, joint_numbers: unsorted.payloads };
    r.dispatch_each(u64::from(count), bind.with(apart_pairs::Push { count, bits }))?;
    let sort = Sort { input: unsorted, extent: Extent::host(count), key_bits: bits + 1, counters: s.counters };
    let sorted = sort.record(r, "apart.sort")?;
    let buckets = r.scratch("apart.buckets", 1 << bits)?;
    r.fill(buckets, 0..1 << bits, NONE)?;
    let bind = apart_buckets::Bind { keys: sorted.keys, buckets };
    r.dispatch_each(u64::from(count), bind.with(apart_buckets::Push { count, bits }))?;
    let bind = joints_apart::Bind {
        counters: s.counters,
        pairs,
        colliders: s.colliders,
        joints,
        keys: sorted.keys,
        joint_numbers: sorted.payloads,
        buckets,
        touches,
    };
    r.dispatch_each(found.limit.into(), bind.with(joints_apart::Push { pairs: found, joints: count, bits }))
}

/// Compares counts with capacities and writes the sizes of everything that follows.
pub(super) fn record_gate(
    r: &mut Recording,
    s: &StateBuffers,
    capacities: &Capacities,
    options: &StepOptions,
) -> Result<Dispatches, PlanError> {
    let StepOptions { colours, strict, .. } = *options;
    let (ranges, sensed) = (node::range(colours + 1, node::KINDS, 0), options.sensed_room(capacities));
    let sizes = Dispatches {
        args: r.dispatch_args("args", u64::from(dispatch::COUNT))?,
        colours: r.dispatch_args("colour_args", u64::from(ranges))?,
    };
    let Capacities { bodies, pairs, manifolds, joints, soft_faces, soft_pairs, .. } = *capacities;
    let strict = u32::from(strict);
    let push = gate::Push { bodies, pairs, manifolds, joints, ranges, sensed, strict, soft_faces, soft_pairs };
    let bind = gate::Bind { counters: s.counters, overflow: s.overflow, args: sizes.args, colour_args: sizes.colours };
    r.dispatch(1, bind.with(push))?;
    Ok(sizes)
}

/// Contact manifolds, with multipliers and anchors taken over from the last step.
pub(super) fn record_contacts(
    r: &mut Recording,
    s: &StateBuffers,
    capacities: &Capacities,
    options: &StepOptions,
    touching: &Touching,
    sizes: Dispatches,
) -> Result<(), PlanError> {
    let Capacities { pairs, manifolds, .. } = *capacities;
    if let Some((sensed, sensed_offsets)) = touching.sensed {
        let bind = sensors_list::Bind {
            pairs: touching.pairs,
            colliders: s.colliders,
            sensed,
            sensed_offsets,
            overlaps: s.overlaps,
        };
        r.dispatch_indirect(sizes.args, dispatch::PAIRS, bind.with(sensors_list::Push { pairs, limit: pairs }))?;
    }
    if capacities.hulls > 0 {
        let bind = contacts_hull::Bind {
            params: s.params,
            velocities: s.velocities,
            poses: s.poses,
            colliders: s.colliders,
            pairs: touching.pairs,
            touches: touching.touches,
            axes: touching.axes,
            manifold_offsets: touching.manifold_offsets,
            hulls: s.hulls.hulls,
            hull_vertices: s.hulls.vertices,
            hull_faces: s.hulls.faces,
            hull_loops: s.hulls.loops,
            hull_edges: s.hulls.edges,
            manifolds: s.manifolds,
            points: s.points,
            features: s.features,
        };
        r.dispatch_indirect(sizes.args, dispatch::PAIRS, bind.with(contacts_hull::Push { pairs, manifolds }))?;
    }
    if options.features.curved {
        let bind = contacts_curved::Bind {
            params: s.params,
            velocities: s.velocities,
            poses: s.poses,
            colliders: s.colliders,
            pairs: touching.pairs,
            touches: touching.touches,
            manifold_offsets: touching.manifold_offsets,
            hulls: s.hulls.hulls,
            hull_vertices: s.hulls.vertices,
            hull_faces: s.hulls.faces,
            hull_loops: s.hulls.loops,
            hull_edges: s.hulls.edges,
            manifolds: s.manifolds,
            points: s.points,
            features: s.features,
        };
        r.dispatch_indirect(sizes.args, dispatch::PAIRS, bind.with(contacts_curved::Push { pairs, manifolds }))?;
    }
    let bind = contacts::Bind {
        params: s.params,
        velocities: s.velocities,
        bodies: s.bodies,
        poses: s.poses,
        colliders: s.colliders,
        pairs: touching.pairs,
        manifold_pairs: touching.manifold_pairs,
        counters: s.counters,
        axes: touching.axes,
        rows: s.rows,
        entries: s.entries,
        cached_pairs: s.cached_pairs,
        cached_points: s.cached_points,
        manifolds: s.manifolds,
        points: s.points,
        features: s.features,
        previous: s.previous,
        means: s.means,
    };
    r.dispatch_indirect(sizes.args, dispatch::MANIFOLDS, bind.with(contacts::Push { manifolds }))
}

/// Finds which reported contacts pushed in the last step, one word a manifold, and reports the end of those without a
/// manifold in this step. Must run before the rows of the last step are overwritten.
pub(super) fn record_touching_before(
    r: &mut Recording,
    s: &StateBuffers,
    capacities: &Capacities,
    sizes: Dispatches,
) -> Result<Buffer<u32>, PlanError> {
    let limit = capacities.manifolds;
    let touched = r.scratch("touched", u64::from(limit))?;
    let met_again = r.scratch("met_again", u64::from(limit))?;
    r.fill(met_again, 0..u64::from(limit), 0)?;
    let bind = touching_find::Bind {
        manifolds: s.manifolds,
        colliders: s.colliders,
        counters: s.counters,
        bodies: s.bodies,
        rows: s.rows,
        entries: s.entries,
        cached_pairs: s.cached_pairs,
        last_touching: s.last_touching,
        touched,
        met_again,
    };
    r.dispatch_indirect(sizes.args, dispatch::MANIFOLDS, bind.with(touching_find::Push { limit }))?;
    let bind = touching_ended::Bind {
        cached_pairs: s.cached_pairs,
        colliders: s.colliders,
        last_touching: s.last_touching,
        met_again,
        counters: s.counters,
        events: s.events,
    };
    let push = touching_ended::Push { limit, events: event_room(capacities) };
    r.dispatch_indirect(sizes.args, dispatch::BEFORE, bind.with(push))?;
    Ok(touched)
}
