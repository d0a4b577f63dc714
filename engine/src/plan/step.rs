//! The rigid-body step, top to bottom as in Algorithm 1.
//!
//! `edits` brings in what the host changed. Everything from there up to `gate` only looks at the state: boxes, hierarchy,
//! pairs, and which of them touch. `gate` then knows whether the lists are long enough, and everything after it is
//! dispatched indirectly: when they are not, and the step is strict, nothing happens and it can be repeated with longer ones.

use super::bvh::{Bvh, Search, Tree};
use super::islands::IslandPasses;
use super::joints::{JointBuffers, JointPasses, record_apart};
use super::recording::{PlanError, Recording};
use super::rows::{Coloured, record_colours, record_rows};
use super::scan::{self, Scan};
use crate::world::BOX_EDGES;
use drystone_kernels::detect::gate::{bit, counter, dispatch};
use drystone_kernels::detect::manifold::{Manifold, word};
use drystone_kernels::detect::{bounds, contacts, contacts_hull, gate, touch, touch_hull};
use drystone_kernels::finish::{stiffness_store, store, velocity};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::gpu::glam::{UVec4, Vec3};
use drystone_kernels::graph::islands::ties;
use drystone_kernels::layout::{DispatchArgs, Extent, Pair};
use drystone_kernels::math::{Pose, Rotation, Twist};
use drystone_kernels::solve::carried_load::CarriedLoad;
use drystone_kernels::solve::contact::TANGENTS;
use drystone_kernels::solve::{dual, dual_rows, predict, primal, primal_rows, solver_body, stiffness_start};
use drystone_kernels::state::edits::{self, EditRecord};
use drystone_kernels::state::rigid::{
    Body, CachedPair, CachedPoint, Collider, ColourRange, Entry, Hull, HullEdge, HullFace, POINTS, Params,
};
use std::ops::Range;

/// How much room a step has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capacities {
    /// Bodies.
    pub bodies: u32,
    /// Colliders.
    pub colliders: u32,
    /// Pairs of overlapping boxes.
    pub pairs: u32,
    /// Pairs that touch.
    pub manifolds: u32,
    /// Different convex hulls. With none, the step has no passes for them.
    pub hulls: u32,
    /// Edges of all hulls together, those of a box included; as much room is made for vertices and faces.
    pub hull_edges: u32,
    /// Changes of bodies that the host may send before a step: see [`EditRecord`].
    pub edits: u32,
    /// Joints. With none, the step has no passes for them.
    pub joints: u32,
    /// Rows of all joints together.
    pub joint_rows: u32,
}

impl Capacities {
    /// Kernels count with 32 bits, four points a manifold.
    const MOST: u32 = 1 << 29;

    fn check(&self) -> Result<(), PlanError> {
        let lists = [
            ("a list of bodies", self.bodies),
            ("a list of colliders", self.colliders),
            ("a list of pairs", self.pairs),
            ("a list of manifolds", self.manifolds),
            ("a list of edits", self.edits),
            ("a list of hulls", self.hulls),
            ("a list of edges of hulls", self.hull_edges),
            ("a list of joints", self.joints),
            ("a list of rows of joints", self.joint_rows),
        ];
        match lists.into_iter().find(|(_, count)| *count > Self::MOST) {
            None => Ok(()),
            Some((what, count)) => Err(PlanError::TooManyItems { what, count: count.into(), limit: Self::MOST.into() }),
        }
    }
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
    /// Whether a pass behind the velocities corrects the error that is left (section 6).
    pub stabilise: bool,
    /// Whether there are dual passes; plain VBD has none.
    pub dual: bool,
    /// Whether what hangs together is also moved as one. Only with dual passes, whose multipliers tell what touches.
    pub momentum: bool,
    /// Whether every row of a contact has a stiffness of its own that is kept from step to step (Eq. 19).
    pub row_stiffness: bool,
}

/// Convex hulls. The first one is a box with sides of 2, as which boxes meet hulls.
#[derive(Clone, Copy, Debug)]
pub struct HullBuffers {
    /// Where each begins in the others.
    pub hulls: Buffer<Hull>,
    /// Vertices.
    pub vertices: Buffer<Vec3>,
    /// Faces.
    pub faces: Buffer<HullFace>,
    /// Vertices of the faces, twice as many as edges.
    pub loops: Buffer<u32>,
    /// Edges.
    pub edges: Buffer<HullEdge>,
}

impl HullBuffers {
    fn new(r: &mut Recording, capacities: Capacities) -> Result<Self, PlanError> {
        let edges = u64::from(capacities.hull_edges.max(BOX_EDGES));
        Ok(Self {
            hulls: r.buffer("hulls", u64::from(capacities.hulls) + 1)?,
            vertices: r.buffer("hull_vertices", edges)?,
            faces: r.buffer("hull_faces", edges)?,
            loops: r.buffer("hull_loops", 2 * edges)?,
            edges: r.buffer("hull_edges", edges)?,
        })
    }
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
    /// Forces and torques that the user lets act on them.
    pub forces: Buffer<Twist>,
    /// What the host changed since the last step; how many there are is [`counter::EDITS`].
    pub edits: Buffer<EditRecord>,
    /// Colliders.
    pub colliders: Buffer<Collider>,
    /// Convex hulls.
    pub hulls: HullBuffers,
    /// Joints.
    pub joints: JointBuffers,
    /// See [`counter`].
    pub counters: Buffer<u32>,
    /// Bit of each list that was too short.
    pub overflow: Buffer<u32>,
    /// Manifolds of the last step.
    pub manifolds: Buffer<Manifold>,
    /// Their points.
    pub points: Buffer<UVec4>,
    /// What the points are on the colliders.
    pub features: Buffer<UVec4>,
    /// Colour of every body.
    pub colours: Buffer<u32>,
    /// First and last entry of every body's row.
    pub rows: Buffer<u32>,
    /// Rows: manifold and side, and who is at the other end.
    pub entries: Buffer<Entry>,
    /// Contacts of the last step.
    pub cached_pairs: Buffer<CachedPair>,
    /// Their points.
    pub cached_points: Buffer<CachedPoint>,
    /// Stiffness of the tangent rows of the last step, [`TANGENTS`] vectors a manifold; that of the normal rows is in
    /// the points. One vector when points have one stiffness.
    pub tangent_stiffness: Buffer<UVec4>,
    /// Stiffness of all rows that the next step begins with, [`stiffness_store::ROWS`] vectors a manifold; or one
    /// vector.
    pub cached_stiffness: Buffer<UVec4>,
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
    /// The hierarchy over the colliders, as it was at the start of the last step.
    pub tree: Tree,
    /// The commands that build it from poses and colliders. Others that want it up to date repeat them.
    pub tree_commands: Range<usize>,
}

/// Buffers only the passes see.
pub(super) struct Work {
    pub solver_bodies: Buffer<UVec4>,
    pub body_order: Buffer<u32>,
    pub rotations: Buffer<Rotation>,
    pub deltas: Buffer<Twist>,
    pub args: Buffer<DispatchArgs>,
    pub colour_args: Buffer<DispatchArgs>,
    pub coloured: Buffer<u32>,
    pub carried_loads: Buffer<CarriedLoad>,
    pub load_shares: Buffer<f32>,
}

impl StepPlan {
    /// Plans a step.
    pub fn new(capacities: Capacities, options: StepOptions) -> Result<Self, PlanError> {
        capacities.check()?;
        let mut r = Recording::new("step");
        let Capacities { bodies, colliders, pairs, manifolds, edits, .. } = capacities;
        let (n, m) = (u64::from(bodies), u64::from(manifolds));
        let by_row = |vectors: u32| if options.row_stiffness { m * u64::from(vectors) } else { 1 };
        let buffers = StepBuffers {
            params: r.buffer("params", 1)?,
            bodies: r.buffer("bodies", n)?,
            poses: r.buffer("poses", n)?,
            starts: r.buffer("starts", n)?,
            velocities: r.buffer("velocities", n)?,
            previous: r.buffer("previous", n)?,
            forces: r.buffer("forces", n)?,
            edits: r.buffer("edits", u64::from(edits))?,
            colliders: r.buffer("colliders", u64::from(colliders))?,
            hulls: HullBuffers::new(&mut r, capacities)?,
            joints: JointBuffers::new(&mut r, capacities)?,
            counters: r.buffer("counters", u64::from(counter::COUNT))?,
            overflow: r.buffer("overflow", 1)?,
            manifolds: r.buffer("manifolds", m)?,
            // Until there are points, the search for pairs has it.
            points: r.buffer("points", (m * u64::from(word::COUNT)).max(Search::scratch(colliders)))?,
            features: r.buffer("features", m)?,
            colours: r.buffer("colours", n)?,
            rows: r.buffer("rows", 2 * n)?,
            entries: r.buffer("entries", 2 * m)?,
            cached_pairs: r.buffer("cached_pairs", m)?,
            cached_points: r.buffer("cached_points", m * u64::from(POINTS))?,
            tangent_stiffness: r.buffer("tangent_stiffness", by_row(TANGENTS))?,
            cached_stiffness: r.buffer("cached_stiffness", by_row(stiffness_store::ROWS))?,
            ranges: r.buffer("ranges", u64::from(options.colours) + 1)?,
            pairs: Buffer::new(drystone_kernels::gpu::BufferId(0)),
        };
        record_edits(&mut r, &buffers, edits)?;
        let (tree, tree_commands) = record_tree(&mut r, &buffers, colliders)?;
        let mut plan = Self { recording: r, buffers, capacities, tree, tree_commands };
        let touching = plan.record_detection(pairs)?;
        plan.record_solve(&touching, options)?;
        Ok(plan)
    }

    /// Collision detection (line 1): reads the state, changes nothing of it.
    fn record_detection(&mut self, room: u32) -> Result<Touching, PlanError> {
        let Self { recording: r, buffers: s, tree, capacities, .. } = self;
        let search = Search { capacity: room, needed: counter::PAIRS, overflow: s.overflow, bit: bit::PAIRS, tile: 64 };
        s.pairs = search.record_in(r, "pairs", tree, s.points)?.pairs;

        let touches = r.buffer("touches", u64::from(room))?;
        let axes = r.buffer("axes", u64::from(room))?;
        let manifold_offsets = r.buffer("manifold_offsets", u64::from(room))?;
        let bind = touch::Bind {
            params: s.params,
            velocities: s.velocities,
            bodies: s.bodies,
            poses: s.poses,
            colliders: s.colliders,
            counters: s.counters,
            pairs: s.pairs,
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
                pairs: s.pairs,
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
        if capacities.joints > 0 {
            record_apart(r, s, s.pairs, touches, room)?;
        }
        let scratch = scan::Scratch::new(r, "manifold_offsets", room)?;
        let scan = Scan {
            values: touches,
            prefixes: manifold_offsets,
            extent: Extent::host(room),
            counters: s.counters,
            total: counter::MANIFOLDS,
        };
        scan.record(r, scratch)?;
        Ok(Touching { touches, axes, manifold_offsets })
    }

    /// Everything that changes the state.
    fn record_solve(&mut self, touching: &Touching, options: StepOptions) -> Result<(), PlanError> {
        let Capacities { bodies, pairs, manifolds, joints, .. } = self.capacities;
        let r = &mut self.recording;
        let s = self.buffers;
        let n = u64::from(bodies);
        let jointed_bodies = if joints > 0 { n } else { 1 };
        let work = Work {
            solver_bodies: r.buffer("solver_bodies", n * u64::from(solver_body::word::COUNT))?,
            body_order: r.buffer("body_order", n)?,
            rotations: r.buffer("rotations", n)?,
            deltas: r.buffer("deltas", n)?,
            args: r.dispatch_args("args", u64::from(dispatch::COUNT))?,
            colour_args: r.dispatch_args("colour_args", u64::from(options.colours) + 1)?,
            coloured: r.buffer("coloured", n)?,
            carried_loads: r.buffer("carried_load", jointed_bodies)?,
            load_shares: r.buffer("load_share", jointed_bodies)?,
        };
        let (colours, strict) = (options.colours + 1, u32::from(options.strict));
        let push = gate::Push { bodies, pairs, manifolds, joints, colours, strict };
        let bind =
            gate::Bind { counters: s.counters, overflow: s.overflow, args: work.args, colour_args: work.colour_args };
        r.dispatch(1, bind.with(push))?;

        if self.capacities.hulls > 0 {
            let bind = contacts_hull::Bind {
                params: s.params,
                velocities: s.velocities,
                poses: s.poses,
                colliders: s.colliders,
                pairs: s.pairs,
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
            r.dispatch_indirect(work.args, dispatch::PAIRS, bind.with(contacts_hull::Push { pairs, manifolds }))?;
        }
        let bind = contacts::Bind {
            params: s.params,
            velocities: s.velocities,
            bodies: s.bodies,
            poses: s.poses,
            colliders: s.colliders,
            pairs: s.pairs,
            touches: touching.touches,
            axes: touching.axes,
            manifold_offsets: touching.manifold_offsets,
            rows: s.rows,
            entries: s.entries,
            cached_pairs: s.cached_pairs,
            cached_points: s.cached_points,
            manifolds: s.manifolds,
            points: s.points,
            features: s.features,
        };
        r.dispatch_indirect(work.args, dispatch::PAIRS, bind.with(contacts::Push { pairs, manifolds }))?;
        if options.row_stiffness {
            let bind = stiffness_start::Bind {
                params: s.params,
                bodies: s.bodies,
                manifolds: s.manifolds,
                rows: s.rows,
                entries: s.entries,
                cached_pairs: s.cached_pairs,
                cached_stiffness: s.cached_stiffness,
                counters: s.counters,
                points: s.points,
                tangent_stiffness: s.tangent_stiffness,
            };
            let push = stiffness_start::Push { limit: manifolds };
            r.dispatch_indirect(work.args, dispatch::MANIFOLDS, bind.with(push))?;
        }
        record_rows(r, &s, &work, self.capacities)?;
        let Coloured { order: by_colour, unsorted, room } = record_colours(r, &s, &work, self.capacities, options)?;
        let jointed = JointPasses { buffers: s, deltas: work.deltas, args: work.args, count: joints };
        // The lists that sorted the colours are free, but for the order of the bodies.
        let mut room = room;
        room.other.payloads = work.coloured;
        let Work { solver_bodies, body_order, rotations, deltas, args, .. } = work;
        let iterations = options.iterations;
        let together = IslandPasses {
            buffers: s,
            solver_bodies,
            body_order,
            rotations,
            deltas,
            args,
            unsorted,
            room,
            bodies,
            joints,
            iterations,
        };
        if joints > 0 {
            together.record_load_shares(r, work.carried_loads, work.load_shares)?;
            jointed.start(r, work.load_shares)?;
        }

        let bind = predict::Bind {
            params: s.params,
            bodies: s.bodies,
            velocities: s.velocities,
            previous: s.previous,
            poses: s.poses,
            starts: s.starts,
            solver_bodies: work.solver_bodies,
            deltas: work.deltas,
            forces: s.forces,
            joint_links: s.joints.links,
            rows: s.rows,
            body_order: work.body_order,
            rotations: work.rotations,
        };
        r.dispatch_indirect(work.args, dispatch::BODIES, bind.with(predict::Push { count: bodies, joints }))?;

        let primal = primal::Bind {
            params: s.params,
            solver_bodies: work.solver_bodies,
            points: s.points,
            entries: s.entries,
            ranges: s.ranges,
            order: by_colour,
            rotations: work.rotations,
            poses: s.poses,
            deltas: work.deltas,
        };
        let primal_rows = primal_rows::Bind {
            params: s.params,
            solver_bodies: work.solver_bodies,
            points: s.points,
            entries: s.entries,
            ranges: s.ranges,
            order: by_colour,
            rotations: work.rotations,
            poses: s.poses,
            deltas: work.deltas,
            tangent_stiffness: s.tangent_stiffness,
        };
        let dual = dual::Bind {
            params: s.params,
            manifolds: s.manifolds,
            deltas: work.deltas,
            counters: s.counters,
            points: s.points,
            features: s.features,
        };
        let dual_rows = dual_rows::Bind {
            params: s.params,
            manifolds: s.manifolds,
            deltas: work.deltas,
            counters: s.counters,
            points: s.points,
            features: s.features,
            tangent_stiffness: s.tangent_stiffness,
        };
        let sweep = |r: &mut Recording, stabilise: u32| -> Result<(), PlanError> {
            for colour in 0..=options.colours {
                let serial = u32::from(colour == options.colours);
                let push = primal::Push { colour, serial, stabilise };
                let pass = match (joints > 0, options.row_stiffness) {
                    (false, false) => primal.with(push),
                    (true, false) => jointed.primal(primal).with(push),
                    (false, true) => primal_rows.with(push),
                    (true, true) => jointed.primal_rows(primal).with(push),
                };
                r.dispatch_indirect(work.colour_args, colour, pass)?;
            }
            Ok(())
        };
        let keeps = options.momentum && options.dual;
        let islands = if joints > 0 && keeps { Some(together.find(r, ties::TOUCHING)?) } else { None };
        for iteration in 0..options.iterations {
            sweep(r, 0)?;
            if let Some(islands) = islands {
                together.correct(r, islands, iteration + 1 == options.iterations)?;
            }
            if options.dual {
                let push = dual::Push { limit: manifolds };
                let pass = if options.row_stiffness { dual_rows.with(push) } else { dual.with(push) };
                r.dispatch_indirect(work.args, dispatch::MANIFOLDS, pass)?;
                if joints > 0 {
                    jointed.dual(r)?;
                }
            }
        }
        if joints > 0 {
            jointed.forces(r, !options.dual)?;
        } else if keeps {
            let islands = together.find(r, ties::PUSHING)?;
            together.correct(r, islands, true)?;
        }

        let bind = velocity::Bind {
            params: s.params,
            starts: s.starts,
            deltas: work.deltas,
            bodies: s.bodies,
            poses: s.poses,
            velocities: s.velocities,
            previous: s.previous,
            counters: s.counters,
            solver_bodies: work.solver_bodies,
            body_order: work.body_order,
            rotations: work.rotations,
        };
        r.dispatch_indirect(work.args, dispatch::BODIES, bind.with(velocity::Push { count: bodies }))?;
        if options.stabilise {
            sweep(r, 1)?;
        }
        let bind = store::Bind {
            manifolds: s.manifolds,
            points: s.points,
            features: s.features,
            starts: s.starts,
            counters: s.counters,
            cached_pairs: s.cached_pairs,
            cached_points: s.cached_points,
        };
        r.dispatch_indirect(work.args, dispatch::MANIFOLDS, bind.with(store::Push { limit: manifolds }))?;
        if options.row_stiffness {
            let bind = stiffness_store::Bind {
                counters: s.counters,
                points: s.points,
                tangent_stiffness: s.tangent_stiffness,
                cached_stiffness: s.cached_stiffness,
            };
            let push = stiffness_store::Push { limit: manifolds };
            r.dispatch_indirect(work.args, dispatch::MANIFOLDS, bind.with(push))?;
        }
        Ok(())
    }
}

/// What detection hands to the solve.
struct Touching {
    touches: Buffer<u32>,
    axes: Buffer<u32>,
    manifold_offsets: Buffer<u32>,
}

/// What the host changed.
fn record_edits(r: &mut Recording, s: &StepBuffers, limit: u32) -> Result<(), PlanError> {
    let bind = edits::Bind {
        edits: s.edits,
        counters: s.counters,
        bodies: s.bodies,
        poses: s.poses,
        starts: s.starts,
        velocities: s.velocities,
        previous: s.previous,
        forces: s.forces,
        colours: s.colours,
        rows: s.rows,
    };
    r.dispatch_each(u64::from(limit), bind.with(edits::Push { limit }))
}

/// The hierarchy over the colliders, and which commands build it.
fn record_tree(r: &mut Recording, s: &StepBuffers, colliders: u32) -> Result<(Tree, Range<usize>), PlanError> {
    let first = r.commands().len();
    let boxes = r.buffer("boxes", u64::from(colliders))?;
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
    let bvh = Bvh { boxes, extent: Extent::host(colliders), counters: s.counters, spare: counter::SPARE };
    let tree = bvh.record(r, "bvh")?;
    Ok((tree, first..r.commands().len()))
}
