//! The rigid-body step, top to bottom as in Algorithm 1.
//!
//! Everything up to `gate` only looks at the state: boxes, hierarchy, pairs, and which of them touch. `gate` then knows
//! whether the lists are long enough, and everything after it is dispatched indirectly: when they are not, and the step is
//! strict, nothing happens and it can be repeated with longer ones.

use super::bvh::{Bvh, Search};
use super::recording::{PlanError, Recording};
use super::scan::{self, Scan};
use super::sort::{Pairs, Sort};
use drystone_kernels::gate::{bit, counter, dispatch};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::gpu::glam::Vec3;
use drystone_kernels::layout::{DispatchArgs, Extent, Pair};
use drystone_kernels::math::{Pose, Twist};
use drystone_kernels::rigid::{Body, CachedPair, CachedPoint, Collider, ColourRange, Manifold, POINTS, Params, Point};
use drystone_kernels::{
    bounds, colour, colour_ranges, colour_settle, contacts, dual, entries, gate, predict, primal, rows, rows_clear,
    store, touch, velocity,
};

/// How much room a step has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacities {
    /// Bodies.
    pub bodies: u32,
    /// Colliders.
    pub colliders: u32,
    /// Pairs of overlapping boxes.
    pub pairs: u32,
    /// Pairs that touch.
    pub manifolds: u32,
}

/// What is built into a step and cannot change from one to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOptions {
    /// Primal and dual passes.
    pub iterations: u32,
    /// Colours, 1 to 32. Bodies that need more are solved in turn.
    pub colours: u32,
    /// Rounds of colouring a step.
    pub colour_rounds: u32,
    /// Lanes that work together on a body of a small colour: a power of two up to 64. Subgroups that are narrower take
    /// as many as they have; the CPU has one.
    pub lanes: u32,
    /// Bodies from which on a colour is not small, and its bodies get one lane each.
    pub large_colour: u32,
    /// Whether a step that does not fit is left out, rather than made without what did not fit.
    pub strict: bool,
}

/// The step's buffers that others read or write.
#[derive(Clone, Copy, Debug)]
pub struct StepBuffers {
    /// Settings, one element.
    pub params: Buffer<Params>,
    /// Bodies.
    pub bodies: Buffer<Body>,
    /// Their poses.
    pub poses: Buffer<Pose>,
    /// Their poses at the start of the last step.
    pub starts: Buffer<Pose>,
    /// Their velocities.
    pub velocities: Buffer<Twist>,
    /// Linear velocities a step earlier.
    pub previous: Buffer<Vec3>,
    /// Colliders.
    pub colliders: Buffer<Collider>,
    /// See [`counter`].
    pub counters: Buffer<u32>,
    /// Bit of each list that was too short.
    pub overflow: Buffer<u32>,
    /// Manifolds of the last step.
    pub manifolds: Buffer<Manifold>,
    /// Their points.
    pub points: Buffer<Point>,
    /// Colour of every body.
    pub colours: Buffer<u32>,
    /// First and last entry of every body's row.
    pub rows: Buffer<u32>,
    /// Rows: manifold and side.
    pub entries: Buffer<u32>,
    /// Contacts of the last step.
    pub cached_pairs: Buffer<CachedPair>,
    /// Their points.
    pub cached_points: Buffer<CachedPoint>,
    /// Bodies of every colour, and behind them those of the fallback.
    pub ranges: Buffer<ColourRange>,
    pairs: Buffer<Pair>,
}

/// A step ready to be run.
#[derive(Clone, Debug)]
pub struct StepPlan {
    /// The commands.
    pub recording: Recording,
    /// The buffers.
    pub buffers: StepBuffers,
    /// The room it has.
    pub capacities: Capacities,
}

/// Buffers only the passes see.
struct Work {
    targets: Buffer<Pose>,
    deltas: Buffer<Twist>,
    args: Buffer<DispatchArgs>,
    colour_args: Buffer<DispatchArgs>,
    coloured: Buffer<u32>,
}

impl StepPlan {
    /// Plans a step.
    pub fn new(capacities: Capacities, options: StepOptions) -> Result<Self, PlanError> {
        let mut r = Recording::new("step");
        let Capacities { bodies, colliders, pairs, manifolds } = capacities;
        let (n, m) = (u64::from(bodies), u64::from(manifolds));
        let buffers = StepBuffers {
            params: r.buffer("params", 1)?,
            bodies: r.buffer("bodies", n)?,
            poses: r.buffer("poses", n)?,
            starts: r.buffer("starts", n)?,
            velocities: r.buffer("velocities", n)?,
            previous: r.buffer("previous", n)?,
            colliders: r.buffer("colliders", u64::from(colliders))?,
            counters: r.buffer("counters", u64::from(counter::COUNT))?,
            overflow: r.buffer("overflow", 1)?,
            manifolds: r.buffer("manifolds", m)?,
            points: r.buffer("points", m * u64::from(POINTS))?,
            colours: r.buffer("colours", n)?,
            rows: r.buffer("rows", 2 * n)?,
            entries: r.buffer("entries", 2 * m)?,
            cached_pairs: r.buffer("cached_pairs", m)?,
            cached_points: r.buffer("cached_points", m * u64::from(POINTS))?,
            ranges: r.buffer("ranges", u64::from(options.colours) + 1)?,
            pairs: Buffer::new(drystone_kernels::gpu::BufferId(0)),
        };
        let mut plan = Self { recording: r, buffers, capacities };
        let touching = plan.record_detection(pairs)?;
        plan.record_solve(&touching, options)?;
        Ok(plan)
    }

    /// Collision detection (line 1): reads the state, changes nothing of it.
    fn record_detection(&mut self, room: u32) -> Result<Touching, PlanError> {
        let Self { recording: r, buffers: s, capacities } = self;
        let colliders = capacities.colliders;
        let boxes = r.buffer("boxes", u64::from(colliders))?;
        let bind = bounds::Bind { params: s.params, bodies: s.bodies, poses: s.poses, colliders: s.colliders, boxes };
        r.dispatch_each(u64::from(colliders), bind.with(bounds::Push { count: colliders }))?;

        let extent = Extent::host(colliders);
        let bvh = Bvh { boxes, extent, counters: s.counters, spare: counter::SPARE };
        let tree = bvh.record(r, "bvh")?;
        let search = Search { capacity: room, needed: counter::PAIRS, overflow: s.overflow, bit: bit::PAIRS, tile: 64 };
        s.pairs = search.record(r, "pairs", &tree)?.pairs;

        let touches = r.buffer("touches", u64::from(room))?;
        let axes = r.buffer("axes", u64::from(room))?;
        let places = r.buffer("places", u64::from(room))?;
        let bind = touch::Bind {
            params: s.params,
            bodies: s.bodies,
            poses: s.poses,
            colliders: s.colliders,
            counters: s.counters,
            pairs: s.pairs,
            touches,
            axes,
        };
        r.dispatch_each(u64::from(room), bind.with(touch::Push { pairs: Extent::counter(counter::PAIRS, room) }))?;
        let scratch = scan::Scratch::new(r, "places", room)?;
        let scan = Scan {
            values: touches,
            prefixes: places,
            extent: Extent::host(room),
            counters: s.counters,
            total: counter::MANIFOLDS,
        };
        scan.record(r, scratch)?;
        Ok(Touching { touches, axes, places })
    }

    /// Everything that changes the state.
    fn record_solve(&mut self, touching: &Touching, options: StepOptions) -> Result<(), PlanError> {
        let Capacities { bodies, pairs, manifolds, .. } = self.capacities;
        let r = &mut self.recording;
        let s = self.buffers;
        let n = u64::from(bodies);
        let work = Work {
            targets: r.buffer("targets", n)?,
            deltas: r.buffer("deltas", n)?,
            args: r.dispatch_args("args", u64::from(dispatch::COUNT))?,
            colour_args: r.dispatch_args("colour_args", u64::from(options.colours) + 1)?,
            coloured: r.buffer("coloured", n)?,
        };
        let push =
            gate::Push { bodies, pairs, manifolds, colours: options.colours + 1, strict: u32::from(options.strict) };
        let bind =
            gate::Bind { counters: s.counters, overflow: s.overflow, args: work.args, colour_args: work.colour_args };
        r.dispatch(1, bind.with(push))?;

        let bind = contacts::Bind {
            params: s.params,
            bodies: s.bodies,
            poses: s.poses,
            colliders: s.colliders,
            pairs: s.pairs,
            touches: touching.touches,
            axes: touching.axes,
            places: touching.places,
            rows: s.rows,
            entries: s.entries,
            cached_pairs: s.cached_pairs,
            cached_points: s.cached_points,
            manifolds: s.manifolds,
            points: s.points,
        };
        r.dispatch_indirect(work.args, dispatch::PAIRS, bind.with(contacts::Push { pairs, manifolds }))?;
        let neighbours = record_rows(r, &s, &work, self.capacities)?;
        let by_colour = record_colours(r, &s, &work, neighbours, bodies, options)?;

        let bind = predict::Bind {
            params: s.params,
            bodies: s.bodies,
            velocities: s.velocities,
            previous: s.previous,
            poses: s.poses,
            starts: s.starts,
            targets: work.targets,
            deltas: work.deltas,
        };
        r.dispatch_indirect(work.args, dispatch::BODIES, bind.with(predict::Push { count: bodies }))?;

        let primal = primal::Bind {
            params: s.params,
            bodies: s.bodies,
            starts: s.starts,
            targets: work.targets,
            manifolds: s.manifolds,
            points: s.points,
            rows: s.rows,
            entries: s.entries,
            neighbours,
            ranges: s.ranges,
            order: by_colour,
            poses: s.poses,
            deltas: work.deltas,
        };
        let dual = dual::Bind {
            params: s.params,
            manifolds: s.manifolds,
            deltas: work.deltas,
            counters: s.counters,
            points: s.points,
        };
        // Iterations together double a contact's stiffness at most.
        let growth = std::f32::consts::LN_2 / options.iterations as f32;
        for _ in 0..options.iterations {
            for colour in 0..=options.colours {
                let serial = u32::from(colour == options.colours);
                r.dispatch_indirect(work.colour_args, colour, primal.with(primal::Push { colour, serial }))?;
            }
            r.dispatch_indirect(work.args, dispatch::MANIFOLDS, dual.with(dual::Push { limit: manifolds, growth }))?;
        }

        let bind = velocity::Bind {
            params: s.params,
            starts: s.starts,
            deltas: work.deltas,
            bodies: s.bodies,
            poses: s.poses,
            velocities: s.velocities,
            previous: s.previous,
        };
        r.dispatch_indirect(work.args, dispatch::BODIES, bind.with(velocity::Push { count: bodies }))?;
        let bind = store::Bind {
            manifolds: s.manifolds,
            points: s.points,
            starts: s.starts,
            counters: s.counters,
            cached_pairs: s.cached_pairs,
            cached_points: s.cached_points,
        };
        r.dispatch_indirect(work.args, dispatch::MANIFOLDS, bind.with(store::Push { limit: manifolds }))
    }
}

/// What detection hands to the solve.
struct Touching {
    touches: Buffer<u32>,
    axes: Buffer<u32>,
    places: Buffer<u32>,
}

/// Bits that a key up to `largest` needs.
fn bits(largest: u32) -> u32 {
    u32::BITS - largest.leading_zeros()
}

/// Rows of manifolds for every body, in the order of the manifolds. Returns the bodies at the other ends.
fn record_rows(
    r: &mut Recording,
    s: &StepBuffers,
    work: &Work,
    capacities: Capacities,
) -> Result<Buffer<u32>, PlanError> {
    let Capacities { bodies, manifolds, .. } = capacities;
    let (limit, nobody) = (manifolds * 2, bodies);
    let unsorted = Pairs::new(r, "rows.unsorted", u64::from(limit))?;
    let bind = entries::Bind {
        bodies: s.bodies,
        manifolds: s.manifolds,
        counters: s.counters,
        keys: unsorted.keys,
        payloads: unsorted.payloads,
    };
    r.dispatch_indirect(work.args, dispatch::ENTRIES, bind.with(entries::Push { limit, nobody }))?;
    let sort = Sort {
        input: unsorted,
        extent: Extent::host(limit),
        key_bits: bits(nobody),
        counters: s.counters,
        spare: counter::SPARE,
    };
    let sorted = sort.record(r, "rows.sort")?;
    let clear = rows_clear::Bind { rows: s.rows };
    r.dispatch_indirect(work.args, dispatch::BODIES, clear.with(rows_clear::Push { count: bodies }))?;
    let bind = rows::Bind {
        keys: sorted.keys,
        manifolds: s.manifolds,
        payloads: sorted.payloads,
        rows: s.rows,
        entries: s.entries,
    };
    r.dispatch_indirect(work.args, dispatch::ENTRIES, bind.with(rows::Push { limit, nobody }))?;
    Ok(sorted.payloads)
}

/// Colours (line 2), and the bodies sorted by them.
fn record_colours(
    r: &mut Recording,
    s: &StepBuffers,
    work: &Work,
    neighbours: Buffer<u32>,
    count: u32,
    options: StepOptions,
) -> Result<Buffer<u32>, PlanError> {
    let colours = options.colours;
    let (mut from, mut to) = (s.colours, work.coloured);
    // An odd number of rounds ends in the array that `colour_settle` reads.
    for _ in 0..options.colour_rounds | 1 {
        let bind = colour::Bind { bodies: s.bodies, rows: s.rows, neighbours, colours: from, coloured: to };
        r.dispatch_indirect(work.args, dispatch::BODIES, bind.with(colour::Push { count, colours }))?;
        (from, to) = (to, from);
    }
    let keyed = Pairs::new(r, "colours.unsorted", u64::from(count))?;
    let bind = colour_settle::Bind {
        bodies: s.bodies,
        rows: s.rows,
        neighbours,
        coloured: from,
        colours: to,
        keys: keyed.keys,
        order: keyed.payloads,
    };
    r.dispatch_indirect(work.args, dispatch::BODIES, bind.with(colour_settle::Push { count, colours }))?;
    let sort =
        Sort { input: keyed, extent: Extent::host(count), key_bits: 8, counters: s.counters, spare: counter::SPARE };
    let sorted = sort.record(r, "colours.sort")?;
    let bind =
        colour_ranges::Bind { keys: sorted.keys, counters: s.counters, ranges: s.ranges, args: work.colour_args };
    let (lanes, large) = (1 << options.lanes.clamp(1, primal::LANES).ilog2(), options.large_colour);
    r.dispatch_indirect(work.args, dispatch::ONCE, bind.with(colour_ranges::Push { count, colours, lanes, large }))?;
    Ok(sorted.payloads)
}
