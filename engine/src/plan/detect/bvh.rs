//! Plan of the linear BVH: `scene_bounds`, `morton`, sort, `hierarchy`, `pyramid`, `pyramid_top`, `refit`; and of the
//! search for overlapping pairs in it: `pairs_count`, scan, `pairs_fill`, `capacity`.

use crate::plan::primitives::bits;
use crate::plan::primitives::scan::{self, Scan};
use crate::plan::primitives::sort::{KeyedItems, Sort};
use crate::plan::{PlanError, Recording};
use drystone_kernels::detect::pyramid::FAN;
use drystone_kernels::detect::{
    hierarchy, morton, pairs_count, pairs_fill, pyramid, pyramid_top, refit, scene_bounds, world_bounds, world_keys,
    world_morton, world_order, world_roots,
};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::gpu::glam::UVec4;
use drystone_kernels::layout::{Aabb, DispatchArgs, END, Extent, LEAF, Node, Pair, Volume};
use drystone_kernels::primitives::capacity;
use drystone_kernels::state::rigid::{Body, Collider};

/// Most boxes a hierarchy takes: the top bit of a reference marks leaves.
pub const MAX_BOXES: u32 = LEAF - 1;

/// What to build a hierarchy over.
#[derive(Clone, Copy, Debug)]
pub struct Bvh {
    /// The boxes.
    pub boxes: Buffer<Aabb>,
    /// Number of boxes.
    pub extent: Extent,
    /// Holds the count when `extent` says so.
    pub counters: Buffer<u32>,
}

/// A hierarchy in buffers. Inner node 0 is the root when there are two boxes or more.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    /// Inner nodes, one fewer than boxes.
    pub nodes: Buffer<Node>,
    /// Volumes of the inner nodes and of the boxes in Morton order, alternating: see
    /// [`volume_of`](drystone_kernels::layout::volume_of).
    pub volumes: Buffer<Volume>,
    /// For each leaf: the node at which a traversal continues after the subtree that ends with that leaf.
    pub ropes: Buffer<u32>,
    /// Index of the box at each place of the Morton order.
    pub order: Buffer<u32>,
    /// Sorted Morton codes.
    pub keys: Buffer<u32>,
    /// Boxes whose union is around the centres of all boxes.
    pub scene: Buffer<Aabb>,
    extent: Extent,
    counters: Buffer<u32>,
    /// The worlds in the hierarchy, if there are several.
    by_world: Option<ByWorld>,
}

/// Which world every box is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Members {
    pub colliders: Buffer<Collider>,
    pub bodies: Buffer<Body>,
    /// How many there are.
    pub worlds: u32,
}

/// The worlds in a hierarchy.
#[derive(Clone, Copy, Debug)]
struct ByWorld {
    worlds: u32,
    /// The world of every leaf.
    leaf_worlds: Buffer<u32>,
    /// The root of each world's subtree, and after them the root of what belongs to all worlds.
    roots: Buffer<u32>,
}

impl Bvh {
    /// Appends the build. Buffers it makes are named after `name`.
    pub fn record(self, recording: &mut Recording, name: &str) -> Result<Tree, PlanError> {
        let Self { boxes, extent, counters } = self;
        if extent.limit > MAX_BOXES {
            let (count, limit) = (u64::from(extent.limit), u64::from(MAX_BOXES));
            return Err(PlanError::TooManyItems { what: "hierarchy", count, limit });
        }
        let limit = u64::from(extent.limit);

        let (scene, parts) = self.record_scene(recording, name)?;
        let codes = KeyedItems::new(recording, &format!("{name}.codes"), limit)?;
        let bind = morton::Bind { boxes, counters, scene, keys: codes.keys, order: codes.payloads };
        recording.dispatch_each(limit, bind.with(morton::Push { extent, parts }))?;
        let sort = Sort { input: codes, extent, key_bits: morton::KEY_BITS, counters };
        let KeyedItems { keys, payloads: order } = sort.record(recording, &format!("{name}.sort"))?;
        self.record_over(recording, name, (keys, order), scene)
    }

    /// As [`Bvh::record`], for several worlds: each gets a subtree and a Morton grid of its own.
    pub(super) fn record_by_world(
        self,
        recording: &mut Recording,
        name: &str,
        members: Members,
    ) -> Result<Tree, PlanError> {
        let Self { boxes, extent, counters } = self;
        let Members { colliders, bodies, worlds } = members;
        let (count, limit, all) = (extent.limit, u64::from(extent.limit), u64::from(worlds) + 1);
        if extent.limit > MAX_BOXES {
            return Err(PlanError::TooManyItems { what: "hierarchy", count: limit, limit: MAX_BOXES.into() });
        }
        let half = all * u64::from(world_bounds::WORDS);
        let scenes = recording.scratch(format!("{name}.scenes"), 2 * half)?;
        recording.fill(scenes, 0..half, u32::MAX)?;
        recording.fill(scenes, half..2 * half, 0)?;
        let bind = world_bounds::Bind { boxes, colliders, bodies, scenes };
        recording.dispatch_each(limit, bind.with(world_bounds::Push { count, worlds }))?;
        let codes = KeyedItems::new(recording, &format!("{name}.codes"), limit)?;
        let bind = world_morton::Bind { boxes, colliders, bodies, scenes, keys: codes.keys, order: codes.payloads };
        recording.dispatch_each(limit, bind.with(world_morton::Push { count, worlds }))?;
        let sort = Sort { input: codes, extent, key_bits: morton::KEY_BITS, counters };
        let by_code = sort.record(recording, &format!("{name}.sort"))?;

        // Stable, so each world's boxes stay in the order of their codes.
        let unsorted = KeyedItems::new(recording, &format!("{name}.worlds"), limit)?;
        let (keys, places) = (unsorted.keys, unsorted.payloads);
        let bind = world_keys::Bind { order: by_code.payloads, colliders, bodies, keys, places };
        recording.dispatch_each(limit, bind.with(world_keys::Push { count, worlds }))?;
        let world_bits = bits(worlds);
        let sort = Sort { input: unsorted, extent, key_bits: world_bits, counters };
        let KeyedItems { keys: leaf_worlds, payloads: places } =
            sort.record(recording, &format!("{name}.worlds.sort"))?;
        let sorted = KeyedItems::new(recording, &format!("{name}.sorted"), limit)?;
        let bind = world_order::Bind {
            leaf_worlds,
            places,
            codes: by_code.keys,
            code_order: by_code.payloads,
            keys: sorted.keys,
            order: sorted.payloads,
        };
        recording.dispatch_each(limit, bind.with(world_order::Push { count, world_bits }))?;

        let scene = recording.scratch(format!("{name}.scene"), 1)?;
        let mut tree = self.record_over(recording, name, (sorted.keys, sorted.payloads), scene)?;
        let roots = recording.scratch(format!("{name}.roots"), all)?;
        tree.by_world = Some(ByWorld { worlds, leaf_worlds, roots });
        Ok(tree)
    }

    /// Appends the passes that build the hierarchy from sorted keys.
    fn record_over(
        self,
        recording: &mut Recording,
        name: &str,
        (keys, order): (Buffer<u32>, Buffer<u32>),
        scene: Buffer<Aabb>,
    ) -> Result<Tree, PlanError> {
        let Self { boxes, extent, counters, .. } = self;
        let limit = u64::from(extent.limit);
        let nodes = recording.scratch(format!("{name}.nodes"), limit)?;
        let ropes = recording.scratch(format!("{name}.ropes"), limit)?;
        let volumes = recording.scratch(format!("{name}.volumes"), limit * 2)?;
        let sizes = level_sizes(extent.limit);
        let levels = recording.scratch(format!("{name}.levels"), sizes.iter().map(|&s| u64::from(s)).sum())?;
        let bind = hierarchy::Bind { keys, counters, nodes, ropes, boxes, order, volumes, levels };
        recording.dispatch_each(limit, bind.with(hierarchy::Push { extent }))?;
        self.record_pyramid(recording, &sizes, levels)?;
        let bind = refit::Bind { volumes, counters, levels, nodes };
        recording.dispatch_each(limit, bind.with(refit::Push { extent }))?;
        Ok(Tree { nodes, volumes, ropes, order, keys, scene, extent, counters, by_world: None })
    }

    /// Partial bounds of the scene, and their number. There are few, because `morton` reads all of them.
    fn record_scene(self, recording: &mut Recording, name: &str) -> Result<(Buffer<Aabb>, u32), PlanError> {
        let Self { mut boxes, mut extent, counters, .. } = self;
        let mut centres = 1;
        let mut level = 0;
        loop {
            let tiles = extent.limit.div_ceil(scene_bounds::TILE).max(1);
            let partials = recording.scratch(format!("{name}.scene{level}"), u64::from(tiles))?;
            let bind = scene_bounds::Bind { boxes, counters, partials };
            recording.dispatch(u64::from(tiles), bind.with(scene_bounds::Push { extent, centres }))?;
            if tiles <= morton::FEW_PARTS {
                return Ok((partials, tiles));
            }
            (boxes, extent, centres, level) = (partials, Extent::host(tiles), 0, level + 1);
        }
    }

    fn record_pyramid(self, recording: &mut Recording, sizes: &[u32], levels: Buffer<Volume>) -> Result<(), PlanError> {
        let Self { extent, counters, .. } = self;
        // `hierarchy` has made the lowest level.
        let (mut below, mut start) = (0, sizes.first().copied().unwrap_or(0));
        for (level, &size) in (2..).zip(sizes.iter().skip(1)) {
            let push = pyramid::Push { extent, level, below, start };
            if size <= pyramid_top::MOST {
                // One workgroup makes this level and all levels above it.
                recording.dispatch(1, pyramid_top::Bind { counters, levels }.with(push))?;
                break;
            }
            recording.dispatch_each(u64::from(size), pyramid::Bind { counters, levels }.with(push))?;
            (below, start) = (start, start + size);
        }
        Ok(())
    }
}

/// Boxes of every level of the pyramid over so many leaves.
fn level_sizes(leaves: u32) -> Vec<u32> {
    let above = |size: &u32| (*size > 1).then(|| size.div_ceil(FAN));
    std::iter::successors(Some(leaves), above).skip(1).collect()
}

/// Where a search for pairs writes its results.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Pairs there is room for.
    pub capacity: u32,
    /// Counter that receives the number of pairs there are, whether they fit or not.
    pub needed: u32,
    /// Overflow word: element 0 gets `bit` set when the pairs do not fit.
    pub overflow: Buffer<u32>,
    /// The list's bit in the overflow word.
    pub bit: u32,
    /// Pairs per workgroup of the stage that reads the list.
    pub tile: u32,
    /// Counter of the pairs of boxes with many pairs; must be 0 before the search.
    pub crowded: u32,
    /// Number of pairs at which the search stops; the number of pairs is then reported as `u32::MAX`.
    pub most: u32,
}

/// The list of overlapping pairs.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Found {
    /// The pairs, in an order that depends on the boxes only.
    pub pairs: Buffer<Pair>,
    /// Entry 0 dispatches over the pairs that are there.
    pub args: Buffer<DispatchArgs>,
}

impl Search {
    /// Appends the search through `tree`.
    pub fn record(self, recording: &mut Recording, name: &str, tree: &Tree) -> Result<Found, PlanError> {
        let pairs = self.record_list(recording, name, tree)?;
        let args = recording.dispatch_args(format!("{name}.args"), 1)?;
        let Self { capacity, needed: slot, overflow, bit, tile, .. } = self;
        let push = capacity::Push { slot, capacity, tile, bit, index: 0 };
        recording.dispatch(1, capacity::Bind { counters: tree.counters, overflow, args }.with(push))?;
        Ok(Found { pairs, args })
    }

    /// As [`Search::record`], without the stage `capacity`: the gate of a step compares the number of pairs with the
    /// room for them.
    pub(super) fn record_list(
        self,
        recording: &mut Recording,
        name: &str,
        tree: &Tree,
    ) -> Result<Buffer<Pair>, PlanError> {
        let Self { capacity, needed, crowded, most, .. } = self;
        let Tree { nodes, volumes, ropes, order, extent, counters, by_world, .. } = *tree;
        let limit = u64::from(extent.limit);
        let partners: Buffer<UVec4> =
            recording.scratch(format!("{name}.partners"), limit * u64::from(pairs_count::KEPT_ELEMENTS))?;
        let counts = recording.scratch(format!("{name}.counts"), limit)?;
        let places = recording.scratch(format!("{name}.places"), limit)?;
        let pairs = recording.scratch(name, u64::from(capacity))?;
        let scratch = scan::Scratch::new(recording, name, extent.limit)?;

        // A single world needs no such lists; `order` is bound in their place and not read.
        let (mut worlds, mut leaf_worlds, mut roots) = (0, order, order);
        if let Some(by_world) = by_world {
            ByWorld { worlds, leaf_worlds, roots } = by_world;
            recording.fill(roots, 0..u64::from(worlds) + 1, END)?;
            let bind = world_roots::Bind { leaf_worlds, nodes, roots, ropes };
            recording.dispatch_each(limit, bind.with(world_roots::Push { count: extent.limit }))?;
        }
        let bind = pairs_count::Bind { nodes, volumes, ropes, counters, counts, partners, order, leaf_worlds, roots };
        recording.dispatch_each(limit, bind.with(pairs_count::Push { extent, crowded, most, worlds }))?;
        let scan = Scan { values: counts, prefixes: places, extent, counters, total: needed };
        scan.record(recording, scratch)?;
        let bind = pairs_fill::Bind {
            nodes,
            volumes,
            ropes,
            counters,
            order,
            places,
            pairs,
            counts,
            partners,
            leaf_worlds,
            roots,
        };
        recording.dispatch_each(limit, bind.with(pairs_fill::Push { extent, capacity, worlds }))?;
        Ok(pairs)
    }
}
