//! What the stages of the primal family share: their buffers, and the trait by which the code in `primal` reaches them.
//!
//! A stage of the family is one call of `primal_stage!`. The call says whether the stage handles joints and whether
//! every row of a contact has its own stiffness, and lists the buffers the stage has besides the common ones. Plans
//! bind every stage from one set of buffers ([`Buffers`]).

use crate::detect::manifold::Record;
#[cfg(not(target_arch = "spirv"))]
use crate::gpu::{Buffer, glam::UVec4};
use crate::gpu::{Group, Load, OfPoints, Read, Write, glam::Vec3};
use crate::math::{Pose, Rotation, Twist};
use crate::solve::joints::{Joint, JointEnds, JointRow, JointRules, RowState, add, flag};
use crate::solve::solver_body::SolverBody;
use crate::solve::surface::Surface;
use crate::solve::system::System;
use crate::state::rigid::{ColourRange, Entry, EntryRange, Params, joint_row};
#[cfg(not(target_arch = "spirv"))]
use crate::state::soft::SoftPull;

/// What a stage of the primal family reads and writes.
pub trait Bound {
    /// Whether the stage handles joints.
    const JOINTS: bool;
    /// Whether every row of a contact has a stiffness of its own.
    const ROWS: bool;
    /// Whether this is the pass after the iterations that corrects the error left over (section 6).
    const STABILISE: bool;
    /// Whether particles are held to bodies.
    const SOFT: bool = false;
    /// Settings.
    fn params(&self) -> Params;
    /// Range of the bodies of one colour and kind.
    fn range(&self, index: u32) -> ColourRange;
    /// The body at a place in the order of colours.
    fn ordered(&self, place: u32) -> u32;
    /// Target, start, mass and inertia of the body at a place.
    fn frame(&self, place: u32) -> SolverBody;
    /// Range of the entries of its contacts.
    fn row(&self, place: u32) -> EntryRange;
    /// Its current rotation.
    fn rotation(&self, place: u32) -> Rotation;
    /// How far a body has moved since the start of the step.
    fn delta(&self, index: u32) -> Twist;
    /// Velocity of a body; only the stabilising pass needs it.
    #[inline(always)]
    fn velocity(&self, _index: u32) -> Twist {
        Twist { linear: Vec3::ZERO, angular: Vec3::ZERO }
    }
    /// An entry of a row.
    ///
    /// # Safety
    /// `e` is within a range that [`Bound::row`] returned.
    unsafe fn entry(&self, e: u32) -> Entry;
    /// The record of a manifold.
    fn record(&self, manifold: u32) -> Record<'_>;
    /// What the surfaces of a manifold do besides friction; nothing in the stabilising pass.
    #[inline(always)]
    fn surface(&self, _manifold: u32) -> Surface {
        Surface::none()
    }
    /// Number of places in the order of colours.
    fn places(&self) -> u32;
    /// Prefetches the entries of the body at a place, and its delta.
    fn prefetch_entries(&self, place: u32);
    /// Prefetches the manifold of entry `e` with its points, and the delta of the other body.
    fn prefetch_contact(&self, e: u32);
    /// Prefetches the manifold of entry `e` into an outer cache, several bodies ahead.
    fn prefetch_contact_early(&self, e: u32);
    /// Writes the rotation of the body at a place.
    fn turn(&mut self, place: u32, rotation: Rotation);
    /// Writes how far a body has moved.
    fn put(&mut self, index: u32, delta: Twist);
    /// Writes the pose of a body. During the iterations only joints read poses.
    #[inline(always)]
    fn show(&mut self, _index: u32, _pose: Pose) {}
    /// Stiffness of the tangent rows of manifolds, where every row has its own.
    #[inline(always)]
    fn tangents<F: OfPoints>(&self, _manifolds: &F::Each<u32>, _point: u32) -> (F, F) {
        (F::splat(0.0), F::splat(0.0))
    }
    /// Adds to `system` the forces and stiffness of this lane's share of a body's joints: every `lanes`-th joint from
    /// number `lane` on. All lanes of a subgroup call it together; a lane for which `on` is false has no body.
    #[inline(always)]
    fn joints(&self, _group: &Group, _on: bool, _index: u32, _share: (u32, u32), system: System) -> System {
        system
    }
    /// Whether a body has joints.
    #[inline(always)]
    fn has_joints(&self, _index: u32) -> bool {
        false
    }
    /// Whether particles are held to a body.
    #[inline(always)]
    fn has_particles(&self, _index: u32) -> bool {
        false
    }
    /// The system of a body with the forces and stiffness of its particles added.
    #[inline(always)]
    fn with_particles(&self, _index: u32, system: System) -> System {
        system
    }
}

/// Buffers that are read to add joints to a body's system.
pub struct JointViews<'a, 'b> {
    /// Settings.
    pub params: &'b Read<'a, Params>,
    /// Ranges of entries, body by body.
    pub rows: &'b Read<'a, u32>,
    /// Entries of those ranges.
    pub entries: &'b Read<'a, Entry>,
    /// Joints.
    pub joints: &'b Read<'a, Joint>,
    /// Rows of the joints.
    pub joint_rows: &'b Read<'a, JointRow>,
    /// Multiplier and stiffness of each row.
    pub row_states: &'b Read<'a, RowState>,
    /// Poses at the start of the step.
    pub starts: &'b Read<'a, Pose>,
    /// How far every body has moved since then.
    pub deltas: &'b Write<'a, Twist>,
    /// Current poses.
    pub poses: &'b Write<'a, Pose>,
}

impl JointViews<'_, '_> {
    /// See [`Bound::joints`].
    #[inline(always)]
    pub fn pull(
        &self,
        group: &Group,
        on: bool,
        index: u32,
        (lane, lanes): (u32, u32),
        mut system: System,
        stabilise: bool,
    ) -> System {
        let rules = JointRules::new(&self.params.at(0), stabilise);
        let mut row = EntryRange::EMPTY;
        if on {
            row = joint_row(self.rows, index, self.entries.len());
        }
        // Every lane makes as many rounds as the lane of its subgroup that has the most joints, and inside a round as
        // many as the joint with the most rows, because the sums over teams need all lanes. A lane with none left reads
        // joint 0 and adds nothing. Loops end at their foot, as in `primal`.
        let mut e = row.start + lane;
        loop {
            let here = e < row.end;
            let entry = self.entries.at(if here { e } else { 0 });
            let joint = self.joints.at(if here { entry.joint() } else { 0 });
            let holds = here && joint.flags & flag::BROKEN == 0;
            let mut ends = JointEnds::none();
            if holds {
                ends = JointEnds::moving(&joint, self.starts, self.deltas, self.poses);
            }
            let side = if entry.is_a() { 1.0 } else { -1.0 };
            add(&mut system, &rules, (group, holds), &joint, &ends, side, self.joint_rows, self.row_states);
            e += lanes;
            if !group.any(e < row.end) {
                break;
            }
        }
        system
    }
}

/// Buffers of a recording that stages of the family are bound to; each takes those that it has.
#[cfg(not(target_arch = "spirv"))]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "fields have the names of the bindings")]
pub struct Buffers {
    pub params: Buffer<Params>,
    pub solver_bodies: Buffer<UVec4>,
    pub points: Buffer<UVec4>,
    pub entries: Buffer<Entry>,
    pub ranges: Buffer<ColourRange>,
    pub order: Buffer<u32>,
    pub rotations: Buffer<Rotation>,
    pub deltas: Buffer<Twist>,
    pub poses: Buffer<Pose>,
    pub velocities: Buffer<Twist>,
    pub starts: Buffer<Pose>,
    pub joints: Buffer<Joint>,
    pub joint_rows: Buffer<JointRow>,
    pub row_states: Buffer<RowState>,
    pub rows: Buffer<u32>,
    pub tangent_stiffness: Buffer<UVec4>,
    pub surfaces: Buffer<UVec4>,
    pub soft_rows: Buffer<u32>,
    pub soft_pulls: Buffer<SoftPull>,
}

/// Declares a stage of the family: `stage!`, `run`, and how they get at the buffers.
macro_rules! primal_stage {
    ($name:literal, joints $joints:tt, rows $rows:tt, stabilise $stabilise:tt, poses $poses:tt {
        $($access:ident $binding:tt $field:ident : $ty:ty,)*
    }) => {
        $crate::stage! {
            $name group 64, wide {
                read 0 params: $crate::state::rigid::Params,
                read 1 solver_bodies: $crate::gpu::glam::UVec4,
                read 2 points: $crate::gpu::glam::UVec4,
                read 3 entries: $crate::state::rigid::Entry,
                read 4 ranges: $crate::state::rigid::ColourRange,
                read 5 order: u32,
                update 6 rotations: $crate::math::Rotation,
                update 7 deltas: $crate::math::Twist,
                $($access $binding $field: $ty,)*
            }
        }

        #[cfg(not(target_arch = "spirv"))]
        impl Bind {
            /// Those buffers of the family that the stage has.
            pub fn of(all: &$crate::solve::sweep::Buffers) -> Self {
                Self {
                    params: all.params,
                    solver_bodies: all.solver_bodies,
                    points: all.points,
                    entries: all.entries,
                    ranges: all.ranges,
                    order: all.order,
                    rotations: all.rotations,
                    deltas: all.deltas,
                    $($field: all.$field,)*
                }
            }
        }

        impl $crate::solve::sweep::Bound for Bindings<'_> {
            const JOINTS: bool = $joints;
            const ROWS: bool = $rows;
            const STABILISE: bool = $stabilise;
            #[inline(always)]
            fn params(&self) -> $crate::state::rigid::Params {
                $crate::gpu::Load::at(&self.params, 0)
            }
            #[inline(always)]
            fn range(&self, index: u32) -> $crate::state::rigid::ColourRange {
                $crate::gpu::Load::at(&self.ranges, index)
            }
            #[inline(always)]
            fn ordered(&self, place: u32) -> u32 {
                $crate::gpu::Load::at(&self.order, place)
            }
            #[inline(always)]
            fn frame(&self, place: u32) -> $crate::solve::solver_body::SolverBody {
                use $crate::solve::solver_body::SolverBody;
                SolverBody::load(&SolverBody::at(&self.solver_bodies, place))
            }
            #[inline(always)]
            fn row(&self, place: u32) -> $crate::state::rigid::EntryRange {
                use $crate::solve::solver_body::SolverBody;
                SolverBody::row(&SolverBody::at(&self.solver_bodies, place), self.entries.len())
            }
            #[inline(always)]
            fn rotation(&self, place: u32) -> $crate::math::Rotation {
                $crate::gpu::Load::at(&self.rotations, place)
            }
            #[inline(always)]
            fn delta(&self, index: u32) -> $crate::math::Twist {
                $crate::gpu::Load::at(&self.deltas, index)
            }
            #[inline(always)]
            unsafe fn entry(&self, e: u32) -> $crate::state::rigid::Entry {
                // SAFETY: `row` clamps its end to the number of entries.
                unsafe { self.entries.known(e) }
            }
            #[inline(always)]
            fn record(&self, manifold: u32) -> $crate::detect::manifold::Record<'_> {
                self.points.window($crate::detect::manifold::record(manifold))
            }
            #[inline(always)]
            fn places(&self) -> u32 {
                self.order.len()
            }
            #[inline(always)]
            fn prefetch_entries(&self, place: u32) {
                let (index, row) = (self.ordered(place), self.row(place));
                self.entries.prefetch(row.start, row.count());
                self.deltas.prefetch(index, 1);
            }
            #[inline(always)]
            fn prefetch_contact(&self, e: u32) {
                use $crate::detect::manifold::{record, word};
                let entry = $crate::gpu::Load::at(&self.entries, e);
                self.points.prefetch(record(entry.manifold()), word::COUNT);
                self.deltas.prefetch(entry.other, 1);
            }
            #[inline(always)]
            fn prefetch_contact_early(&self, e: u32) {
                use $crate::detect::manifold::{record, word};
                let entry = $crate::gpu::Load::at(&self.entries, e);
                self.points.prefetch_early(record(entry.manifold()), word::COUNT);
            }
            #[inline(always)]
            fn turn(&mut self, place: u32, rotation: $crate::math::Rotation) {
                $crate::gpu::Store::put(&mut self.rotations, place, rotation);
            }
            #[inline(always)]
            fn put(&mut self, index: u32, delta: $crate::math::Twist) {
                $crate::gpu::Store::put(&mut self.deltas, index, delta);
            }
            $crate::solve::sweep::primal_stage! { @poses $poses }
            $crate::solve::sweep::primal_stage! { @joints $joints }
            $crate::solve::sweep::primal_stage! { @rows $rows }
            $crate::solve::sweep::primal_stage! { @stabilise $stabilise }
        }

        /// Solves a workgroup's bodies of the colour, or all of them.
        #[inline(always)]
        pub fn run<F: $crate::gpu::OfPoints>(group: &$crate::gpu::Group, push: &Push, b: &mut Bindings<'_>) {
            $crate::solve::primal::sweep::<F, _>(group, push, b);
        }
    };
    (@joints true) => {
        #[inline(always)]
        fn joints(
            &self,
            group: &$crate::gpu::Group,
            on: bool,
            index: u32,
            share: (u32, u32),
            system: $crate::solve::system::System,
        ) -> $crate::solve::system::System {
            let views = $crate::solve::sweep::JointViews {
                params: &self.params,
                rows: &self.rows,
                entries: &self.entries,
                joints: &self.joints,
                joint_rows: &self.joint_rows,
                row_states: &self.row_states,
                starts: &self.starts,
                deltas: &self.deltas,
                poses: &self.poses,
            };
            views.pull(group, on, index, share, system, <Self as $crate::solve::sweep::Bound>::STABILISE)
        }
        #[inline(always)]
        fn has_joints(&self, index: u32) -> bool {
            $crate::state::rigid::joint_row(&self.rows, index, u32::MAX).count() > 0
        }
    };
    (@rows true) => {
        #[inline(always)]
        fn tangents<F: $crate::gpu::OfPoints>(&self, manifolds: &F::Each<u32>, point: u32) -> (F, F) {
            $crate::solve::contact::tangent_stiffness(&self.tangent_stiffness, manifolds, point)
        }
    };
    (@stabilise true) => {
        #[inline(always)]
        fn velocity(&self, index: u32) -> $crate::math::Twist {
            $crate::gpu::Load::at(&self.velocities, index)
        }
    };
    (@stabilise false) => {
        #[inline(always)]
        fn surface(&self, manifold: u32) -> $crate::solve::surface::Surface {
            $crate::solve::surface::Surface::load(&self.surfaces, manifold)
        }
    };
    (@poses true) => {
        #[inline(always)]
        fn show(&mut self, index: u32, pose: $crate::math::Pose) {
            $crate::gpu::Store::put(&mut self.poses, index, pose);
        }
    };
    (@poses soft) => {
        const SOFT: bool = true;
        #[inline(always)]
        fn show(&mut self, index: u32, pose: $crate::math::Pose) {
            $crate::gpu::Store::put(&mut self.poses, index, pose);
        }
        #[inline(always)]
        fn has_particles(&self, index: u32) -> bool {
            let first = index.wrapping_mul($crate::state::soft::SOFT_ROW_WORDS);
            let start = $crate::gpu::Load::at(&self.soft_rows, first);
            start < $crate::gpu::Load::at(&self.soft_rows, first.wrapping_add(1))
        }
        #[inline(always)]
        fn with_particles(
            &self,
            index: u32,
            system: $crate::solve::system::System,
        ) -> $crate::solve::system::System {
            let mut system = system;
            // The record of a body without particles is never written.
            if $crate::solve::sweep::Bound::has_particles(self, index) {
                system = $crate::gpu::Load::at(&self.soft_pulls, index).plus(&system);
            }
            system
        }
    };
    (@poses false) => {};
    (@joints false) => {};
    (@rows false) => {};
}
pub(crate) use primal_stage;
