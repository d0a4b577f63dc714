//! Capacities of a step: the lengths of the lists from which all buffer lengths are computed. Plain values.

use crate::plan::PlanError;

/// A list whose capacity determines the length of buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum List {
    /// Bodies.
    Bodies,
    /// Colliders.
    Colliders,
    /// Pairs of overlapping boxes.
    Pairs,
    /// Pairs that touch.
    Manifolds,
    /// Changes that the host sends before a step.
    Edits,
    /// Different convex hulls.
    Hulls,
    /// Edges of all hulls together.
    HullEdges,
    /// Joints.
    Joints,
    /// Rows of all joints together.
    JointRows,
    /// Bodies with continuous detection.
    Continuous,
    /// Soft bodies.
    SoftBodies,
    /// Particles of soft bodies.
    Particles,
    /// Corners of all elements of soft bodies, and attachments.
    SoftEntries,
    /// Springs of soft bodies.
    Springs,
    /// Triangles of cloth.
    Membranes,
    /// Angles between triangles of cloth.
    Hinges,
    /// Tetrahedra.
    Tetrahedra,
    /// Attachments of particles.
    Attachments,
    /// Triangles of the surfaces of soft bodies.
    SoftTriangles,
    /// Triangles of soft surfaces that meet each other, and lines and points of ropes.
    SoftFaces,
    /// Contacts of those.
    SoftPairs,
}

impl List {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Bodies,
        Self::Colliders,
        Self::Pairs,
        Self::Manifolds,
        Self::Edits,
        Self::Hulls,
        Self::HullEdges,
        Self::Joints,
        Self::JointRows,
        Self::Continuous,
        Self::SoftBodies,
        Self::Particles,
        Self::SoftEntries,
        Self::Springs,
        Self::Membranes,
        Self::Hinges,
        Self::Tetrahedra,
        Self::Attachments,
        Self::SoftTriangles,
        Self::SoftFaces,
        Self::SoftPairs,
    ];

    /// Its name: the field of [`Capacities`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Bodies => "bodies",
            Self::Colliders => "colliders",
            Self::Pairs => "pairs",
            Self::Manifolds => "manifolds",
            Self::Edits => "edits",
            Self::Hulls => "hulls",
            Self::HullEdges => "hull_edges",
            Self::Joints => "joints",
            Self::JointRows => "joint_rows",
            Self::Continuous => "continuous",
            Self::SoftBodies => "soft_bodies",
            Self::Particles => "particles",
            Self::SoftEntries => "soft_entries",
            Self::Springs => "springs",
            Self::Membranes => "membranes",
            Self::Hinges => "hinges",
            Self::Tetrahedra => "tetrahedra",
            Self::Attachments => "attachments",
            Self::SoftTriangles => "soft_triangles",
            Self::SoftFaces => "soft_faces",
            Self::SoftPairs => "soft_pairs",
        }
    }

    fn described(self) -> &'static str {
        match self {
            Self::Bodies => "a list of bodies",
            Self::Colliders => "a list of colliders",
            Self::Pairs => "a list of pairs",
            Self::Manifolds => "a list of manifolds",
            Self::Edits => "a list of edits",
            Self::Hulls => "a list of hulls",
            Self::HullEdges => "a list of edges of hulls",
            Self::Joints => "a list of joints",
            Self::JointRows => "a list of rows of joints",
            Self::Continuous => "a list of continuous bodies",
            Self::SoftBodies => "a list of soft bodies",
            Self::Particles => "a list of particles",
            Self::SoftEntries => "a list of corners of elements",
            Self::Springs => "a list of springs",
            Self::Membranes => "a list of triangles of cloth",
            Self::Hinges => "a list of hinges of cloth",
            Self::Tetrahedra => "a list of tetrahedra",
            Self::Attachments => "a list of attachments",
            Self::SoftTriangles => "a list of triangles of surfaces",
            Self::SoftFaces => "a list of triangles that meet each other",
            Self::SoftPairs => "a list of contacts of soft surfaces",
        }
    }
}

/// Capacities of a step's lists, in elements.
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
    /// Different convex hulls. With 0 the step has no passes for hulls.
    pub hulls: u32,
    /// Edges of all hulls together, those of the unit box included; vertices and faces get the same capacity.
    pub hull_edges: u32,
    /// Changes of bodies that the host may send before a step.
    pub edits: u32,
    /// Joints. With none, the step has no passes for them.
    pub joints: u32,
    /// Rows of all joints together.
    pub joint_rows: u32,
    /// Bodies with continuous detection. With none, the step has no pass for them.
    pub continuous: u32,
    /// Events of a frame that are reported one by one; further ones are only counted ([`StepReport::events_lost`]).
    /// 0, the default: as many as there are bodies, colliders and joints, up to 4096. It does not grow by itself.
    ///
    /// [`StepReport::events_lost`]: crate::StepReport::events_lost
    pub events: u32,
    /// Soft bodies.
    pub soft_bodies: u32,
    /// Particles of soft bodies. With none, the step has no passes for soft bodies, and no buffers.
    pub particles: u32,
    /// Corners of all elements of soft bodies, and attachments.
    pub soft_entries: u32,
    /// Springs of soft bodies.
    pub springs: u32,
    /// Triangles of cloth.
    pub membranes: u32,
    /// Angles between triangles of cloth.
    pub hinges: u32,
    /// Tetrahedra.
    pub tetrahedra: u32,
    /// Attachments of particles.
    pub attachments: u32,
    /// Triangles of the surfaces of soft bodies: what is drawn, and what rays meet.
    pub soft_triangles: u32,
    /// Triangles of soft surfaces that meet each other, and lines and points of ropes. With none, the step has no
    /// passes for such contacts, and no buffers.
    pub soft_faces: u32,
    /// Contacts of those. Grows as lists of pairs do.
    pub soft_pairs: u32,
}

impl Capacities {
    /// Largest capacity of a list: kernels count with 32 bits, with four points a manifold.
    const MOST: u32 = 1 << 29;

    /// Capacity of one list.
    pub fn of(&self, list: List) -> u32 {
        match list {
            List::Bodies => self.bodies,
            List::Colliders => self.colliders,
            List::Pairs => self.pairs,
            List::Manifolds => self.manifolds,
            List::Edits => self.edits,
            List::Hulls => self.hulls,
            List::HullEdges => self.hull_edges,
            List::Joints => self.joints,
            List::JointRows => self.joint_rows,
            List::Continuous => self.continuous,
            List::SoftBodies => self.soft_bodies,
            List::Particles => self.particles,
            List::SoftEntries => self.soft_entries,
            List::Springs => self.springs,
            List::Membranes => self.membranes,
            List::Hinges => self.hinges,
            List::Tetrahedra => self.tetrahedra,
            List::Attachments => self.attachments,
            List::SoftTriangles => self.soft_triangles,
            List::SoftFaces => self.soft_faces,
            List::SoftPairs => self.soft_pairs,
        }
    }

    /// Mutable capacity of one list.
    pub fn of_mut(&mut self, list: List) -> &mut u32 {
        match list {
            List::Bodies => &mut self.bodies,
            List::Colliders => &mut self.colliders,
            List::Pairs => &mut self.pairs,
            List::Manifolds => &mut self.manifolds,
            List::Edits => &mut self.edits,
            List::Hulls => &mut self.hulls,
            List::HullEdges => &mut self.hull_edges,
            List::Joints => &mut self.joints,
            List::JointRows => &mut self.joint_rows,
            List::Continuous => &mut self.continuous,
            List::SoftBodies => &mut self.soft_bodies,
            List::Particles => &mut self.particles,
            List::SoftEntries => &mut self.soft_entries,
            List::Springs => &mut self.springs,
            List::Membranes => &mut self.membranes,
            List::Hinges => &mut self.hinges,
            List::Tetrahedra => &mut self.tetrahedra,
            List::Attachments => &mut self.attachments,
            List::SoftTriangles => &mut self.soft_triangles,
            List::SoftFaces => &mut self.soft_faces,
            List::SoftPairs => &mut self.soft_pairs,
        }
    }

    /// Returns capacities that are at least those of `other`, list by list.
    #[must_use]
    pub fn at_least(mut self, other: &Self) -> Self {
        for &list in List::ALL {
            *self.of_mut(list) = self.of(list).max(other.of(list));
        }
        self.events = self.events.max(other.events);
        self
    }

    /// Returns capacities of at least `needed`: lists that are too short grow with some reserve, the others stay.
    #[must_use]
    pub(crate) fn grown_to(mut self, needed: &Self) -> Self {
        for &list in List::ALL {
            if needed.of(list) > self.of(list) {
                *self.of_mut(list) = with_reserve(needed.of(list));
            }
        }
        self
    }

    pub(crate) fn check(&self) -> Result<(), PlanError> {
        if self.events > Self::MOST {
            let (what, count, limit) = ("a list of events", self.events.into(), Self::MOST.into());
            return Err(PlanError::TooManyItems { what, count, limit });
        }
        match List::ALL.iter().find(|list| self.of(**list) > Self::MOST) {
            None => Ok(()),
            Some(list) => Err(PlanError::TooManyItems {
                what: list.described(),
                count: self.of(*list).into(),
                limit: Self::MOST.into(),
            }),
        }
    }
}

/// Adds a reserve of 1/32 + 64 elements, so that a list does not grow in every step.
pub(crate) fn with_reserve(needed: u32) -> u32 {
    needed.saturating_add(needed / 32).saturating_add(64)
}

/// Capacities in the form from which buffer lengths are computed, with what the plan's options add.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Worlds, or 0 where there is only one.
    pub worlds: u64,
    pub bodies: u64,
    pub colliders: u64,
    pub manifolds: u64,
    pub edits: u64,
    pub hulls: u64,
    /// Edges of all hulls, at least those of the unit box, which boxes use when they meet hulls.
    pub hull_edges: u64,
    pub joints: u64,
    pub joint_rows: u64,
    /// Colours, the fallback not counted.
    pub colours: u64,
    /// Rounds of colouring.
    pub colour_rounds: u64,
    /// Bodies whose last step is remembered: all, or none.
    pub last_steps: u64,
    /// Manifolds whose rows have a stiffness each: all, or none.
    pub stiff_rows: u64,
    /// Bodies whose poses are kept for drawing: all, or none (and room for one).
    pub shown: u64,
    /// Colliders whose surfaces do something: all, or none.
    pub materials: u64,
    /// Manifolds whose surfaces do something: all, or none.
    pub surfaces: u64,
    /// Manifolds that may bounce: all, or none.
    pub bounces: u64,
    /// Overlaps with sensors there is room for.
    pub sensed: u64,
    /// Manifolds whose events are told: all, or none.
    pub told: u64,
    /// Colliders whose contacts may be told: all, or none.
    pub reporters: u64,
    /// Events of a frame that are told one by one.
    pub events: u64,
    pub soft_bodies: u64,
    pub particles: u64,
    /// Colours of particles.
    pub soft_colours: u64,
    pub soft_entries: u64,
    pub springs: u64,
    pub membranes: u64,
    pub hinges: u64,
    pub tetrahedra: u64,
    pub attachments: u64,
    pub soft_triangles: u64,
    /// Particles whose vertices are kept for drawing: all, or none (and room for one).
    pub soft_shown: u64,
    pub soft_faces: u64,
    pub soft_pairs: u64,
}
