//! Declarations of all buffers of the step, one line each: field, name, element, role, length. Everything else
//! (growth, memory table, snapshots) follows from these lines.

use super::{Role, Room};
use crate::plan::{Buffer, PlanError, Recording};
use drystone_kernels::detect::gate::counter;
use drystone_kernels::detect::manifold::{Manifold, word};
use drystone_kernels::detect::sensors_list::Overlap;
use drystone_kernels::detect::soft_pairs_fill;
use drystone_kernels::finish::stiffness_store;
use drystone_kernels::gpu::glam::{UVec4, Vec3};
use drystone_kernels::layout::{BodyPose, SoftVertex};
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
    Attachment, AttachmentState, Hinge, Membrane, Particle, SOFT_CONTACTS, SoftCached, SoftRange, Spring, SpringState,
    Tetrahedron,
};
use drystone_kernels::state::soft_pairs::{SoftFace, SoftPairCached, SoftRest};
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
    /// Convex hulls. Hull 0 is a box with sides of 2, which boxes use when they meet hulls.
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
        /// The solver's state of every row.
        states "row_states": RowState, Persistent, |n| n.joint_rows.max(1);
        /// Force and torque of every joint in the last step.
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
        /// Velocities of the particles one step earlier.
        previous "soft_previous": Vec3, Persistent, |n| n.particles;
        /// Range of the particles of every soft body.
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
        /// Triangles of the surfaces, three particles each. Those that are not there have three times the same.
        triangles "soft_triangles": u32, HostWritten, |n| 3 * n.soft_triangles.max(1);
        /// Where the triangles around each particle begin in the fans, and behind the last where they end.
        fan_starts "soft_fan_starts": u32, HostWritten, |n| n.particles + 1;
        /// Triangles around each particle.
        fans "soft_fans": u32, HostWritten, |n| 3 * n.soft_triangles.max(1);
        /// Positions and normals for drawing: see [`SoftVertex`]. A single element when nothing is shown.
        vertices "soft_vertices": SoftVertex, Persistent, |n| n.soft_shown;
        /// The same of the frame before.
        previous_vertices "previous_soft_vertices": SoftVertex, Persistent, |n| n.soft_shown;
        /// Contacts of the last step, [`SOFT_CONTACTS`] a particle.
        cached "soft_cached": SoftCached, Persistent, |n| n.particles * u64::from(SOFT_CONTACTS);
    }
}

buffers! {
    /// Soft surfaces that meet each other. Worlds without any have none of these.
    pub struct SoftPairBuffers {
        /// Their pieces.
        faces "soft_faces": SoftFace, HostWritten, |n| n.soft_faces;
        /// Where particles are at rest.
        rests "soft_rests": SoftRest, HostWritten, |n| n.particles;
        /// Where the contacts of each piece begin in the list of the last step, and how many they are.
        ranges "soft_face_pairs": u32, Persistent, |n| n.soft_faces * u64::from(soft_pairs_fill::WORDS);
        /// Contacts of the last step.
        cached "soft_cached_pairs": SoftPairCached, Persistent, |n| n.soft_pairs.max(1);
    }
}

buffers! {
    /// The step's buffers that others read or write.
    pub struct StateBuffers {
        /// Settings; an element for every world, which differ in gravity only.
        params "params": Params, HostWritten, |n| n.worlds.max(1);
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
        /// The last step of every body, for integration of second order; a single element without it.
        last_steps "last_steps": LastStep, Persistent, |n| n.last_steps.max(1);
        /// Where the user's body space lies in the device's body space.
        body_frames "body_frames": BodyFrame, Persistent, |n| n.shown;
        /// Poses of the user's body space, for drawing: see [`BodyPose`].
        body_poses "body_poses": BodyPose, Persistent, |n| n.shown;
        /// The same of the frame before.
        previous_body_poses "previous_body_poses": BodyPose, Persistent, |n| n.shown;
        /// Forces and torques that the user applies to bodies.
        forces "forces": Twist, Persistent, |n| n.bodies;
        /// Edits of the host since the last step; [`counter::EDITS`] has their number.
        edits "edits": EditRecord, HostWritten, |n| n.edits;
        /// Colliders.
        colliders "colliders": Collider, Persistent, |n| n.colliders;
        /// Surface materials of the colliders; a single element when no collider has one.
        materials "materials": Material, Persistent, |n| n.materials.max(1);
        /// Impulse from which on contacts of each collider are reported, N s; a single element when none are.
        report_impulses "report_impulses": f32, Persistent, |n| n.reporters.max(1);
        /// See [`counter`].
        counters "counters": u32, Persistent, |_| counter::COUNT.into();
        /// Overflow word: a bit for each list that was too short.
        overflow "overflow": u32, Result, |_| 1;
        /// Events of the step; [`counter::EVENTS`] has their number.
        events "events": EventRecord, Result, |n| n.events;
        /// Manifolds of the last step.
        manifolds "manifolds": Manifold, Result, |n| n.manifolds;
        /// Their points.
        points "points": UVec4, Result, |n| n.manifolds * u64::from(word::COUNT);
        /// Features of the colliders that the contact points come from.
        features "features": UVec4, Result, |n| n.manifolds;
        /// Number of every body among those of its world; a single element where there is one world.
        locals "locals": u32, HostWritten, |n| if n.worlds > 0 { n.bodies } else { 1 };
        /// Running means of their normal forces.
        means "means": UVec4, Result, |n| n.manifolds;
        /// Colour of every body.
        colours "colours": u32, Persistent, |n| n.bodies;
        /// Whether each round of colouring changed anything; 0 between steps.
        colour_changes "colour_changes": u32, Persistent, |n| n.colour_rounds;
        /// Every body's row: where its entries of each kind begin, and where they end.
        rows "rows": u32, Persistent, |n| u64::from(entry::ROW_WORDS) * n.bodies;
        /// Entries of rows: manifold or joint, side, and the body at the other end.
        entries "entries": Entry, Persistent, |n| 2 * (n.manifolds + n.joints);
        /// Contacts of the last step.
        cached_pairs "cached_pairs": CachedPair, Persistent, |n| n.manifolds;
        /// Their points.
        cached_points "cached_points": CachedPoint, Persistent, |n| n.manifolds * u64::from(POINTS);
        /// Stiffness of the tangent rows of the last step, [`TANGENTS`] vectors a manifold; that of the normal rows is
        /// in the points. One vector when points have one stiffness.
        tangent_stiffness "tangent_stiffness": UVec4, Result, |n| (n.stiff_rows * u64::from(TANGENTS)).max(1);
        /// Stiffness of all rows that the next step begins with, [`stiffness_store::ROWS`] vectors a manifold; or one
        /// vector.
        cached_stiffness "cached_stiffness": UVec4, Persistent,
            |n| (n.stiff_rows * u64::from(stiffness_store::ROWS)).max(1);
        /// Surface data of every manifold, [`surface::word::COUNT`] vectors each; that of a single one when there are
        /// no surfaces.
        surfaces "surfaces": UVec4, Result, |n| n.surfaces.max(1) * u64::from(surface::word::COUNT);
        /// Torques against rolling that the next step begins with, one vector a manifold; or one vector.
        cached_torques "cached_torques": UVec4, Persistent, |n| n.surfaces.max(1);
        /// Impulses of impacts, [`impact::word::COUNT`] vectors a manifold; or one vector.
        impacts "impacts": UVec4, Result, |n| (n.bounces * u64::from(impact::word::COUNT)).max(1);
        /// Overlaps with sensors in this step; a single element without sensors.
        overlaps "overlaps": Overlap, Result, |n| n.sensed.max(1);
        /// Overlaps with sensors in the last step.
        last_overlaps "last_overlaps": Overlap, Persistent, |n| n.sensed.max(1);
        /// Contacts that pushed in the last step, by manifold; a single element without reports.
        last_touching "last_touching": Touching, Persistent, |n| n.told.max(1);
        /// Nodes of every colour and kind, and behind them those of the fallback; see [`node::range`].
        ranges "ranges": ColourRange, Result, |n| (n.colours + 1) * u64::from(node::KINDS);
    }
    /// Convex hulls.
    nested hulls: HullBuffers;
    /// Joints.
    nested joints: JointBuffers;
    optional soft: SoftBuffers, |n| n.particles, "Soft bodies, in worlds that have any.";
    optional soft_pairs: SoftPairBuffers, |n| n.soft_faces, "Soft surfaces that meet each other, in worlds that have any.";
}
