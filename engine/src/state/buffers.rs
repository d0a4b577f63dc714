//! The declarations: one line a buffer.

use super::{Role, Room};
use crate::plan::{Buffer, PlanError, Recording};
use drystone_kernels::detect::gate::counter;
use drystone_kernels::detect::manifold::{Manifold, word};
use drystone_kernels::detect::sensors_list::Overlap;
use drystone_kernels::finish::stiffness_store;
use drystone_kernels::gpu::glam::{UVec4, Vec3};
use drystone_kernels::layout::BodyPose;
use drystone_kernels::math::{Pose, Twist};
use drystone_kernels::solve::contact::TANGENTS;
use drystone_kernels::solve::joints::{Joint, JointForce, JointRow, RowState};
use drystone_kernels::solve::{impact, surface};
use drystone_kernels::state::edits::EditRecord;
use drystone_kernels::state::events::EventRecord;
use drystone_kernels::state::material::Material;
use drystone_kernels::state::rigid::{
    Body, BodyFrame, CachedPair, CachedPoint, Collider, ColourRange, Entry, Hull, HullEdge, HullFace, POINTS, Params,
    entry, node,
};
use drystone_kernels::state::second::LastStep;
use drystone_kernels::state::soft::{
    Attachment, AttachmentState, Hinge, Membrane, Particle, SoftRange, Spring, SpringState, Tetrahedron,
};
use drystone_kernels::state::touching::Touching;

/// Declares a struct of buffers: `field "name": Element, Role, length;` with the length a function of [`Room`].
macro_rules! buffers {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$doc:meta])* $field:ident $label:literal: $element:ty, $role:ident, $length:expr;)*
    } $($(#[$nested_doc:meta])* nested $nested:ident: $group:ty;)*
    $(optional $optional:ident: $some:ty, $when:expr, $optional_doc:literal;)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$doc])* pub $field: Buffer<$element>,)*
            $($(#[$nested_doc])* pub $nested: $group,)*
            $(#[doc = $optional_doc] pub $optional: Option<$some>,)*
        }

        impl $name {
            /// Declares all of them in a recording.
            pub(crate) fn declare(r: &mut Recording, room: &Room) -> Result<Self, PlanError> {
                let length = |of: fn(&Room) -> u64| of(room);
                Ok(Self {
                    $($field: r.buffer_as($label, Role::$role, length($length))?,)*
                    $($nested: <$group>::declare(r, room)?,)*
                    $($optional: if length($when) > 0 { Some(<$some>::declare(r, room)?) } else { None },)*
                })
            }
        }
    };
}

buffers! {
    /// Convex hulls. The first one is a box with sides of 2, as which boxes meet hulls.
    pub struct HullBuffers {
        /// Where each begins in the others.
        hulls "hulls": Hull, HostWritten, |n| n.hulls + 1;
        /// Vertices.
        vertices "hull_vertices": Vec3, HostWritten, |n| n.hull_edges;
        /// Faces.
        faces "hull_faces": HullFace, HostWritten, |n| n.hull_edges;
        /// Vertices of the faces, twice as many as edges.
        loops "hull_loops": u32, HostWritten, |n| 2 * n.hull_edges;
        /// Edges.
        edges "hull_edges": HullEdge, HostWritten, |n| n.hull_edges;
    }
}

buffers! {
    /// Joints on the device.
    pub struct JointBuffers {
        /// Joints.
        joints "joints": Joint, Persistent, |n| n.joints.max(1);
        /// Their rows.
        rows "joint_rows": JointRow, Persistent, |n| n.joint_rows.max(1);
        /// What the solver knows of every row.
        states "row_states": RowState, Persistent, |n| n.joint_rows.max(1);
        /// What every joint pulled with in the last step.
        forces "joint_forces": JointForce, Persistent, |n| n.joints.max(1);
    }
}

buffers! {
    /// Soft bodies on the device. Worlds without particles have none of these.
    pub struct SoftBuffers {
        /// Particles.
        particles "particles": Particle, HostWritten, |n| n.particles;
        /// Where they are.
        positions "soft_positions": Vec3, Persistent, |n| n.particles;
        /// How they move.
        velocities "soft_velocities": Vec3, Persistent, |n| n.particles;
        /// How they moved a step earlier.
        previous "soft_previous": Vec3, Persistent, |n| n.particles;
        /// Which of them are a soft body.
        bodies "soft_bodies": SoftRange, HostWritten, |n| n.soft_bodies.max(1);
        /// Particles sorted by colour.
        order "soft_order": u32, HostWritten, |n| n.particles;
        /// Where each colour begins in it, and behind the last where it ends.
        ranges "soft_ranges": u32, HostWritten, |n| n.soft_colours + 1;
        /// What every particle is a corner of: see [`soft_entry`](drystone_kernels::state::soft::soft_entry).
        entries "soft_entries": u32, HostWritten, |n| n.soft_entries.max(1);
        /// Springs.
        springs "springs": Spring, HostWritten, |n| n.springs.max(1);
        /// What the solver knows of them.
        spring_states "spring_states": SpringState, Persistent, |n| n.springs.max(1);
        /// Triangles of cloth.
        membranes "membranes": Membrane, HostWritten, |n| n.membranes.max(1);
        /// Angles between them.
        hinges "hinges": Hinge, HostWritten, |n| n.hinges.max(1);
        /// Tetrahedra.
        tetrahedra "tetrahedra": Tetrahedron, HostWritten, |n| n.tetrahedra.max(1);
        /// What holds particles to bodies and to the world.
        attachments "attachments": Attachment, HostWritten, |n| n.attachments.max(1);
        /// What the solver knows of them.
        attachment_states "attachment_states": AttachmentState, Persistent, |n| n.attachments.max(1);
    }
}

buffers! {
    /// The step's buffers that others read or write.
    pub struct StateBuffers {
        /// Settings, one element.
        params "params": Params, HostWritten, |_| 1;
        /// Bodies.
        bodies "bodies": Body, Persistent, |n| n.bodies;
        /// Poses of their principal axes at their centres of mass.
        poses "poses": Pose, Persistent, |n| n.bodies;
        /// The same at the start of the last step.
        starts "starts": Pose, Persistent, |n| n.bodies;
        /// Their velocities.
        velocities "velocities": Twist, Persistent, |n| n.bodies;
        /// Linear velocities a step earlier.
        previous "previous": Vec3, Persistent, |n| n.bodies;
        /// What the last step of each was, for integration of second order; or of one.
        last_steps "last_steps": LastStep, Persistent, |n| n.last_steps.max(1);
        /// Where the user's body space lies in that of each.
        body_frames "body_frames": BodyFrame, Persistent, |n| n.shown;
        /// Poses as the user means them, for drawing: see [`BodyPose`].
        body_poses "body_poses": BodyPose, Persistent, |n| n.shown;
        /// The same of the frame before.
        previous_body_poses "previous_body_poses": BodyPose, Persistent, |n| n.shown;
        /// Forces and torques that the user lets act on them.
        forces "forces": Twist, Persistent, |n| n.bodies;
        /// What the host changed since the last step; how many there are is [`counter::EDITS`].
        edits "edits": EditRecord, HostWritten, |n| n.edits;
        /// Colliders.
        colliders "colliders": Collider, Persistent, |n| n.colliders;
        /// What their surfaces do; or one, when none does anything.
        materials "materials": Material, Persistent, |n| n.materials.max(1);
        /// Impulse from which on contacts of each collider are told; or one, when none are.
        report_impulses "report_impulses": f32, Persistent, |n| n.reporters.max(1);
        /// See [`counter`].
        counters "counters": u32, Persistent, |_| counter::COUNT.into();
        /// Bit of each list that was too short.
        overflow "overflow": u32, Result, |_| 1;
        /// What happened; how much there is, is [`counter::EVENTS`].
        events "events": EventRecord, Result, |n| n.events;
        /// Manifolds of the last step.
        manifolds "manifolds": Manifold, Result, |n| n.manifolds;
        /// Their points.
        points "points": UVec4, Result, |n| n.manifolds * u64::from(word::COUNT);
        /// What the points are on the colliders.
        features "features": UVec4, Result, |n| n.manifolds;
        /// Colour of every body.
        colours "colours": u32, Persistent, |n| n.bodies;
        /// Whether each round of colouring changed anything; 0 between steps.
        colour_changes "colour_changes": u32, Persistent, |n| n.colour_rounds;
        /// Every body's row: where its entries of each kind begin, and where they end.
        rows "rows": u32, Persistent, |n| u64::from(entry::ROW_WORDS) * n.bodies;
        /// Entries of rows: manifold or joint, side, and who is at the other end.
        entries "entries": Entry, Persistent, |n| 2 * (n.manifolds + n.joints);
        /// Contacts of the last step.
        cached_pairs "cached_pairs": CachedPair, Persistent, |n| n.manifolds;
        /// Their points.
        cached_points "cached_points": CachedPoint, Persistent, |n| n.manifolds * u64::from(POINTS);
        /// Stiffness of the tangent rows of the last step, [`TANGENTS`] vectors a manifold; that of the normal rows is in
        /// the points. One vector when points have one stiffness.
        tangent_stiffness "tangent_stiffness": UVec4, Result, |n| (n.stiff_rows * u64::from(TANGENTS)).max(1);
        /// Stiffness of all rows that the next step begins with, [`stiffness_store::ROWS`] vectors a manifold; or one
        /// vector.
        cached_stiffness "cached_stiffness": UVec4, Persistent,
            |n| (n.stiff_rows * u64::from(stiffness_store::ROWS)).max(1);
        /// What the surfaces of every manifold do, [`surface::word::COUNT`] vectors each; or of one.
        surfaces "surfaces": UVec4, Result, |n| n.surfaces.max(1) * u64::from(surface::word::COUNT);
        /// Torques against rolling that the next step begins with, one vector a manifold; or one vector.
        cached_torques "cached_torques": UVec4, Persistent, |n| n.surfaces.max(1);
        /// Impulses of impacts, [`impact::word::COUNT`] vectors a manifold; or one vector.
        impacts "impacts": UVec4, Result, |n| (n.bounces * u64::from(impact::word::COUNT)).max(1);
        /// What overlaps sensors; or one.
        overlaps "overlaps": Overlap, Result, |n| n.sensed.max(1);
        /// What did in the last step.
        last_overlaps "last_overlaps": Overlap, Persistent, |n| n.sensed.max(1);
        /// Which contacts pushed in the last step, by manifold; or one.
        last_touching "last_touching": Touching, Persistent, |n| n.told.max(1);
        /// Nodes of every colour and kind, and behind them those of the fallback; see [`node::range`].
        ranges "ranges": ColourRange, Result, |n| (n.colours + 1) * u64::from(node::KINDS);
    }
    /// Convex hulls.
    nested hulls: HullBuffers;
    /// Joints.
    nested joints: JointBuffers;
    optional soft: SoftBuffers, |n| n.particles, "Soft bodies, in worlds that have any.";
}
