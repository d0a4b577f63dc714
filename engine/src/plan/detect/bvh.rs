//! Plan of the linear BVH: `scene_bounds`, `morton`, sort, `hierarchy`, `leaves`, `pyramid`, `refit`; and of the
//! search for overlapping pairs in it: `pairs_count`, scan, `pairs_fill`, `capacity`.

use crate::plan::primitives::scan::{self, Scan};
use crate::plan::primitives::sort::{KeyedItems, Sort};
use crate::plan::{PlanError, Recording};
use drystone_kernels::detect::pyramid::FAN;
use drystone_kernels::detect::{hierarchy, leaves, morton, pairs_count, pairs_fill, pyramid, refit, scene_bounds};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::gpu::glam::UVec4;
use drystone_kernels::layout::{Aabb, DispatchArgs, Extent, LEAF, Node, Pair, Volume};
use drystone_kernels::primitives::capacity;

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
    /// A counter the passes may overwrite.
    pub spare: u32,
}

/// A hierarchy in buffers. Inner node 0 is the root when there are two boxes or more.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    /// Inner nodes, one fewer than boxes.
    pub nodes: Buffer<Node>,
    /// Volumes of the inner nodes and of the boxes in Morton order, in turns: see
    /// [`volume_of`](drystone_kernels::layout::volume_of).
    pub volumes: Buffer<Volume>,
    /// Where a walk goes on after the subtree that ends with a leaf.
    pub ropes: Buffer<u32>,
    /// Index of the box at each place of the Morton order.
    pub order: Buffer<u32>,
    /// Sorted Morton codes.
    pub keys: Buffer<u32>,
    /// The box around the centres of all boxes, element 0.
    pub scene: Buffer<Aabb>,
    extent: Extent,
    counters: Buffer<u32>,
}

impl Bvh {
    /// Appends the build. Buffers it makes are named after `name`.
    pub fn record(self, recording: &mut Recording, name: &str) -> Result<Tree, PlanError> {
        let Self { boxes, extent, counters, spare } = self;
        if extent.limit > MAX_BOXES {
            let (count, limit) = (u64::from(extent.limit), u64::from(MAX_BOXES));
            return Err(PlanError::TooManyItems { what: "hierarchy", count, limit });
        }
        let limit = u64::from(extent.limit);

        let scene = self.record_scene(recording, name)?;
        let codes = KeyedItems::new(recording, &format!("{name}.codes"), limit)?;
        let bind = morton::Bind { boxes, counters, scene, keys: codes.keys, order: codes.payloads };
        recording.dispatch_each(limit, bind.with(morton::Push { extent }))?;
        let sort = Sort { input: codes, extent, key_bits: morton::KEY_BITS, counters, spare };
        let KeyedItems { keys, payloads: order } = sort.record(recording, &format!("{name}.sort"))?;

        let nodes = recording.scratch(format!("{name}.nodes"), limit)?;
        let ropes = recording.scratch(format!("{name}.ropes"), limit)?;
        let bind = hierarchy::Bind { keys, counters, nodes, ropes };
        recording.dispatch_each(limit, bind.with(hierarchy::Push { extent }))?;
        let volumes = recording.scratch(format!("{name}.volumes"), limit * 2)?;
        let bind = leaves::Bind { boxes, counters, order, volumes };
        recording.dispatch_each(limit, bind.with(leaves::Push { extent }))?;

        let levels = self.record_pyramid(recording, name, volumes)?;
        let bind = refit::Bind { volumes, counters, levels, nodes };
        recording.dispatch_each(limit, bind.with(refit::Push { extent }))?;
        Ok(Tree { nodes, volumes, ropes, order, keys, scene, extent, counters })
    }

    fn record_scene(self, recording: &mut Recording, name: &str) -> Result<Buffer<Aabb>, PlanError> {
        let Self { mut boxes, mut extent, counters, .. } = self;
        let mut centres = 1;
        let mut level = 0;
        loop {
            let tiles = extent.limit.div_ceil(scene_bounds::TILE).max(1);
            let partials = recording.scratch(format!("{name}.scene{level}"), u64::from(tiles))?;
            let bind = scene_bounds::Bind { boxes, counters, partials };
            recording.dispatch(u64::from(tiles), bind.with(scene_bounds::Push { extent, centres }))?;
            if tiles == 1 {
                return Ok(partials);
            }
            (boxes, extent, centres, level) = (partials, Extent::host(tiles), 0, level + 1);
        }
    }

    fn record_pyramid(
        self,
        recording: &mut Recording,
        name: &str,
        volumes: Buffer<Volume>,
    ) -> Result<Buffer<Volume>, PlanError> {
        let Self { extent, counters, .. } = self;
        let mut sizes = Vec::new();
        let mut size = extent.limit;
        while size > 1 {
            size = size.div_ceil(FAN);
            sizes.push(size);
        }
        let levels = recording.scratch(format!("{name}.levels"), sizes.iter().map(|&s| u64::from(s)).sum())?;
        let (mut below, mut start) = (0, 0);
        for (level, &size) in (1..).zip(&sizes) {
            let bind = pyramid::Bind { volumes, counters, levels };
            recording.dispatch_each(u64::from(size), bind.with(pyramid::Push { extent, level, below, start }))?;
            (below, start) = (start, start + size);
        }
        Ok(levels)
    }
}

/// Where a search for pairs puts what it finds.
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
    /// Pairs a workgroup of the stage that goes through the list takes.
    pub tile: u32,
    /// Counter, 0 before the search, of what boxes with many pairs find.
    pub crowded: u32,
    /// Pairs beyond which nobody looks for more; the number of them is then told as `u32::MAX`.
    pub most: u32,
}

/// The list of overlapping pairs.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The pairs, in an order that depends on the boxes only.
    pub pairs: Buffer<Pair>,
    /// Entry 0 dispatches over the pairs that are there.
    pub args: Buffer<DispatchArgs>,
}

impl Search {
    /// Appends the search through `tree`.
    pub fn record(self, recording: &mut Recording, name: &str, tree: &Tree) -> Result<Found, PlanError> {
        let Self { capacity, needed, overflow, bit, tile, crowded, most } = self;
        let Tree { nodes, volumes, ropes, order, extent, counters, .. } = *tree;
        let limit = u64::from(extent.limit);
        let partners: Buffer<UVec4> =
            recording.scratch(format!("{name}.partners"), limit * u64::from(pairs_count::KEPT_ELEMENTS))?;
        let counts = recording.scratch(format!("{name}.counts"), limit)?;
        let places = recording.scratch(format!("{name}.places"), limit)?;
        let pairs = recording.scratch(name, u64::from(capacity))?;
        let args = recording.dispatch_args(format!("{name}.args"), 1)?;
        let scratch = scan::Scratch::new(recording, name, extent.limit)?;

        let bind = pairs_count::Bind { nodes, volumes, ropes, counters, counts, partners, order };
        recording.dispatch_each(limit, bind.with(pairs_count::Push { extent, crowded, most }))?;
        let scan = Scan { values: counts, prefixes: places, extent, counters, total: needed };
        scan.record(recording, scratch)?;
        let bind = pairs_fill::Bind { nodes, volumes, ropes, counters, order, places, pairs, counts, partners };
        recording.dispatch_each(limit, bind.with(pairs_fill::Push { extent, capacity }))?;
        let push = capacity::Push { slot: needed, capacity, tile, bit, index: 0 };
        recording.dispatch(1, capacity::Bind { counters, overflow, args }.with(push))?;
        Ok(Found { pairs, args })
    }
}
