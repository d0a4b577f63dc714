//! Converts the world's soft bodies to the device's records, adds them to the uploads, and reads states of particles
//! back.

use super::Stepper;
use super::uploads::Uploads;
use crate::Result;
use crate::backend::{Part, ReadInto, Runner};
use crate::glam::{Mat3, Vec3};
use crate::plan::Buffer;
use crate::plan::step::StepPlan;
use crate::state::Capacities;
use crate::world::soft::{SoftHinge, SoftTetrahedron, SoftTriangle};
use crate::world::{AttachmentDesc, AttachmentHandle, BodyHandle, SoftDesc, SoftHandle, SoftSurface, World};
use bytemuck::{Pod, Zeroable};
use drystone_kernels::detect::soft_pairs_fill::WORDS;
use drystone_kernels::solve::soft::membrane::weights as weights_of_membrane;
use drystone_kernels::solve::soft::tetrahedron::weights as weights_of_tetrahedron;
use drystone_kernels::state::rigid::NONE;
use drystone_kernels::state::soft::{
    Attachment, AttachmentState, HARD, Hinge, Membrane, Particle, SOFT_CONTACTS, SoftCached, SoftRange, Spring,
    SpringState, Tetrahedron, soft_entry,
};
use drystone_kernels::state::soft_pairs::{SoftFace, SoftRest};

/// Positions and velocities of a soft body's particles.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SoftState {
    /// Position of each particle, metres in world space.
    pub positions: Vec<Vec3>,
    /// Velocity of each particle, metres a second in world space.
    pub velocities: Vec<Vec3>,
}

/// A particle and what it touched in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SoftTouch {
    /// Which of the soft body's particles.
    pub particle: u32,
    /// The rigid body.
    pub body: BodyHandle,
    /// Which of its colliders.
    pub collider: usize,
    /// On the particle, newtons in world space; the rigid body got the opposite. Zero for one that is only near.
    pub force: Vec3,
    /// Whether it did not slide.
    pub sticks: bool,
}

/// What the particles of a soft body touched in the last step.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SoftTouches {
    /// By particle; what is nearest comes first.
    pub touches: Vec<SoftTouch>,
    /// Colliders that were left out because particles touched more than four at once: those that were farthest away.
    pub dropped: u32,
}

/// Capacities that the soft bodies of a world need.
pub(super) fn needs(world: &World) -> Capacities {
    let (soft, used) = (world.soft_store(), world.soft_store().used());
    let attachments = soft.attachment_count();
    Capacities {
        soft_bodies: soft.slot_count(),
        particles: used.particles,
        soft_entries: used.entries.saturating_add(attachments),
        springs: used.springs,
        membranes: used.membranes,
        hinges: used.hinges,
        tetrahedra: used.tetrahedra,
        attachments,
        soft_triangles: soft.triangles(),
        soft_faces: used.faces,
        soft_pairs: used.faces.min(1),
        ..Capacities::default()
    }
}

/// Number of particle, spring and attachment states that the device already has.
pub(super) fn used(world: &World, nothing: bool) -> Capacities {
    let (particles, springs, attachments) = if nothing { (0, 0, 0) } else { world.soft_store().sent_states() };
    let soft_faces = if nothing { 0 } else { world.soft_store().sent_faces() };
    Capacities { particles, springs, attachments, soft_faces, ..Capacities::default() }
}

fn stiffness(value: f32) -> f32 {
    if value.is_finite() { value } else { HARD }
}

fn membrane(desc: &SoftDesc, first: u32, t: &SoftTriangle) -> Membrane {
    let [a, b, c] = t.corners.map(|c| desc.rest[c as usize]);
    let (x, normal) = ((b - a).normalize(), (b - a).cross(c - a));
    let y = normal.normalize().cross(x);
    // Sides as columns (bx cx; 0 cy), inverted.
    let (bx, cx, cy) = ((b - a).length(), (c - a).dot(x), (c - a).dot(y));
    let [ia, ib, ic] = t.corners.map(|c| c + first);
    Membrane {
        a: ia,
        b: ib,
        c: ic,
        b0: 1.0 / bx,
        b1: -cx / (bx * cy),
        c0: 0.0,
        c1: 1.0 / cy,
        area: 0.5 * normal.length(),
        mu: t.mu,
        lambda: t.lambda,
        damping: t.damping,
    }
}

fn hinge(desc: &SoftDesc, first: u32, h: &SoftHinge) -> Hinge {
    let [a, b, c, d] = h.corners.map(|c| desc.rest[c as usize]);
    let e = b - a;
    let (left, right) = (e.cross(c - a), (d - a).cross(e));
    let angle = left.cross(right).dot(e.normalize()).atan2(left.dot(right));
    let [ia, ib, ic, id] = h.corners.map(|c| c + first);
    Hinge { a: ia, b: ib, c: ic, d: id, angle, stiffness: h.stiffness, damping: h.damping }
}

fn tetrahedron(desc: &SoftDesc, first: u32, t: &SoftTetrahedron) -> Tetrahedron {
    let [a, b, c, d] = t.corners.map(|c| desc.rest[c as usize]);
    let edges = Mat3::from_cols(b - a, c - a, d - a);
    // Rows of the inverse are columns of its transpose.
    let rows = edges.inverse().transpose();
    let [ia, ib, ic, id] = t.corners.map(|c| c + first);
    Tetrahedron {
        a: ia,
        b: ib,
        c: ic,
        d: id,
        wb: rows.x_axis,
        wc: rows.y_axis,
        wd: rows.z_axis,
        volume: edges.determinant().abs() / 6.0,
        mu: t.mu,
        lambda: t.lambda,
        damping: t.damping,
    }
}

fn attachment(world: &World, desc: &AttachmentDesc) -> Attachment {
    let mut anchor = desc.anchor.unwrap_or_default();
    let body = desc.body.and_then(|b| world.slot(b.index()));
    if let Some(entry) = body {
        anchor = entry.mass.axes.inverse() * (anchor - entry.mass.centre);
    }
    Attachment {
        particle: world.soft_store().particle(desc),
        body: desc.body.map_or(NONE, |b| b.index()),
        anchor,
        max_force: desc.max_force.min(f32::MAX),
        stiffness: stiffness(desc.stiffness),
        there: 1,
    }
}

/// For every particle, the stiffness with which elements hold it at rest, N/m: a third of the trace of its Hessian
/// block.
fn stiffnesses(desc: &SoftDesc) -> Vec<f32> {
    let mut sums = vec![0.0; desc.len()];
    for s in desc.springs.iter().filter(|s| s.stiffness.is_finite()) {
        s.ends.iter().for_each(|e| sums[*e as usize] += s.stiffness / 3.0);
    }
    for t in &desc.triangles {
        let m = membrane(desc, 0, t);
        for (corner, at) in (0..).zip(t.corners) {
            let (u, v) = weights_of_membrane(&m, corner);
            sums[at as usize] += m.area * (m.mu + (m.lambda + m.mu) / 3.0) * (u * u + v * v);
        }
    }
    for t in &desc.tetrahedra {
        let r = tetrahedron(desc, 0, t);
        for (corner, at) in (0..).zip(t.corners) {
            let w = weights_of_tetrahedron(&r, corner).length_squared();
            sums[at as usize] += r.volume * (r.mu + (r.lambda + r.mu) / 3.0) * w;
        }
    }
    sums
}

/// For every particle, the mean distance to the particles it is connected with, metres.
fn lengths(desc: &SoftDesc) -> Vec<f32> {
    let mut sums = vec![(0.0, 0.0f32); desc.len()];
    let springs = desc.springs.iter().map(|s| &s.ends[..]);
    let triangles = desc.triangles.iter().map(|t| &t.corners[..]);
    let tetrahedra = desc.tetrahedra.iter().map(|t| &t.corners[..]);
    for corners in springs.chain(triangles).chain(tetrahedra) {
        for (i, a) in corners.iter().enumerate() {
            for b in &corners[..i] {
                let length = (desc.rest[*a as usize] - desc.rest[*b as usize]).length();
                for end in [*a, *b] {
                    let sum = &mut sums[end as usize];
                    *sum = (sum.0 + length, sum.1 + 1.0);
                }
            }
        }
    }
    sums.into_iter().map(|(sum, count)| if sum > 0.0 { sum / count } else { 1.0 }).collect()
}

/// Which particles touch what comes: all but those that tetrahedra enclose, or none.
fn touches(desc: &SoftDesc) -> Vec<bool> {
    let mut inside = vec![false; desc.len()];
    desc.tetrahedra.iter().flat_map(|t| t.corners).for_each(|c| inside[c as usize] = true);
    desc.springs.iter().flat_map(|s| s.ends).for_each(|c| inside[c as usize] = false);
    desc.outside().into_iter().flatten().for_each(|c| inside[c as usize] = false);
    inside.into_iter().map(|inside| !inside && desc.surface.is_some()).collect()
}

/// For every particle, the triangles that it is a corner of: where they begin in a list, and behind the last where they
/// end; and the list.
fn fans(triangles: &[u32], particles: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0; particles + 1];
    triangles.iter().for_each(|corner| starts[*corner as usize + 1] += 1);
    (0..particles).for_each(|i| starts[i + 1] += starts[i]);
    let (mut next, mut list) = (starts.clone(), vec![0; triangles.len()]);
    for (place, corner) in triangles.iter().enumerate() {
        let at = &mut next[*corner as usize];
        list[*at as usize] = place as u32 / 3;
        *at += 1;
    }
    (starts, list)
}

/// The device's constant tables of all soft bodies.
#[derive(Default)]
struct Tables {
    bodies: Vec<SoftRange>,
    particles: Vec<Particle>,
    order: Vec<u32>,
    ranges: Vec<u32>,
    entries: Vec<u32>,
    springs: Vec<Spring>,
    membranes: Vec<Membrane>,
    hinges: Vec<Hinge>,
    tetrahedra: Vec<Tetrahedron>,
    attachments: Vec<Attachment>,
    triangles: Vec<u32>,
    fan_starts: Vec<u32>,
    fans: Vec<u32>,
    faces: Vec<SoftFace>,
    rests: Vec<SoftRest>,
}

impl Tables {
    fn new(world: &World) -> Self {
        let (soft, used) = (world.soft_store(), world.soft_store().used());
        let mut tables = Self {
            bodies: vec![SoftRange::zeroed(); soft.slot_count() as usize],
            particles: vec![Particle::zeroed(); used.particles as usize],
            springs: vec![Spring::zeroed(); used.springs as usize],
            membranes: vec![Membrane::zeroed(); used.membranes as usize],
            hinges: vec![Hinge::zeroed(); used.hinges as usize],
            tetrahedra: vec![Tetrahedron::zeroed(); used.tetrahedra as usize],
            attachments: vec![Attachment::zeroed(); soft.attachment_count() as usize],
            faces: vec![SoftFace::zeroed(); used.faces as usize],
            rests: vec![SoftRest::zeroed(); used.particles as usize],
            ..Self::default()
        };
        let mut held: Vec<Vec<u32>> = vec![Vec::new(); used.particles as usize];
        for (index, desc) in soft.attachments() {
            let record = attachment(world, desc);
            held[record.particle as usize].push(soft_entry::pack(soft_entry::ATTACHMENT, 0, index));
            tables.attachments[index as usize] = record;
        }
        let mut by_colour: Vec<Vec<u32>> = vec![Vec::new(); soft.colours() as usize];
        for (owner, first, entry, forces) in soft.entries() {
            let mass = entry.desc.masses.iter().sum();
            tables.bodies[owner as usize] = SoftRange { first: first.particles, count: entry.desc.len() as u32, mass };
            let (desc, topology) = (&entry.desc, &entry.topology);
            let first_of = |kind: u32| match kind {
                soft_entry::SPRING => first.springs,
                soft_entry::MEMBRANE => first.membranes,
                soft_entry::HINGE => first.hinges,
                _ => first.tetrahedra,
            };
            let (surface, contact) = (touches(desc), desc.surface.unwrap_or(SoftSurface::new(0.0, 0.0)));
            for (i, (length, stiffness)) in lengths(desc).into_iter().zip(stiffnesses(desc)).enumerate() {
                let at = first.particles + i as u32;
                let start = tables.entries.len() as u32;
                let row = &topology.entries[topology.first[i] as usize..topology.first[i + 1] as usize];
                tables.entries.extend(row.iter().map(|e| e + first_of(soft_entry::kind(*e))));
                tables.entries.extend(&held[at as usize]);
                by_colour[topology.colours[i] as usize].push(at);
                tables.rests[at as usize] = SoftRest { position: desc.rest[i], colour: topology.colours[i] };
                tables.particles[at as usize] = Particle {
                    mass: desc.masses[i],
                    gravity_scale: desc.gravity_scale.unwrap_or(1.0),
                    stiffness,
                    length,
                    owner,
                    first: start,
                    end: tables.entries.len() as u32,
                    radius: if surface[i] { contact.radius } else { -1.0 },
                    friction: contact.friction,
                    groups: contact.groups,
                    mask: contact.mask,
                    force: forces.get(&(i as u32)).copied().unwrap_or_default(),
                };
            }
            let corners = topology.surface.iter().flatten();
            tables.triangles.extend(corners.map(|c| c + first.particles));
            for (record, [a, b, c, owns]) in tables.faces[first.faces as usize..].iter_mut().zip(&topology.faces) {
                let [a, b, c] = [a, b, c].map(|corner| corner + first.particles);
                *record = SoftFace { a, b, c, owns: *owns };
            }
            for (record, s) in tables.springs[first.springs as usize..].iter_mut().zip(&desc.springs) {
                let [a, b] = s.ends.map(|e| e + first.particles);
                *record = Spring { a, b, rest: s.rest, stiffness: stiffness(s.stiffness), damping: s.damping };
            }
            for (record, t) in tables.membranes[first.membranes as usize..].iter_mut().zip(&desc.triangles) {
                *record = membrane(desc, first.particles, t);
            }
            for (record, h) in tables.hinges[first.hinges as usize..].iter_mut().zip(&desc.hinges) {
                *record = hinge(desc, first.particles, h);
            }
            for (record, t) in tables.tetrahedra[first.tetrahedra as usize..].iter_mut().zip(&desc.tetrahedra) {
                *record = tetrahedron(desc, first.particles, t);
            }
        }
        (tables.fan_starts, tables.fans) = fans(&tables.triangles, used.particles as usize);
        tables.ranges.push(0);
        for particles in by_colour {
            tables.order.extend(particles);
            tables.ranges.push(tables.order.len() as u32);
        }
        tables
    }
}

/// Adds the constant tables to the uploads when soft bodies were added or removed, and the states that the device
/// lacks.
pub(super) fn push(world: &World, plan: &StepPlan, uploads: &mut Uploads) {
    let (Some(b), soft) = (&plan.buffers.soft, world.soft_store()) else { return };
    if !soft.is_changed() {
        return;
    }
    let mut tables = Tables::new(world);
    // Pads with zeros, so that old entries behind the last one are erased.
    fn filled<T: Pod>(mut list: Vec<T>, room: u32) -> Vec<T> {
        list.resize(list.len().max(room as usize), T::zeroed());
        list
    }
    let room = plan.capacities;
    uploads.push(b.particles, 0, &filled(tables.particles, room.particles));
    uploads.push(b.bodies, 0, &filled(tables.bodies, room.soft_bodies));
    uploads.push(b.order, 0, &tables.order);
    uploads.push(b.ranges, 0, &tables.ranges);
    uploads.push(b.entries, 0, &tables.entries);
    uploads.push(b.springs, 0, &filled(tables.springs, room.springs));
    uploads.push(b.membranes, 0, &tables.membranes);
    uploads.push(b.hinges, 0, &tables.hinges);
    uploads.push(b.tetrahedra, 0, &tables.tetrahedra);
    // What lies behind the last is three times the same particle.
    uploads.push(b.triangles, 0, &filled(tables.triangles, 3 * room.soft_triangles.max(1)));
    // Particles that are yet to come have no triangles.
    let end = tables.fans.len() as u32;
    tables.fan_starts.resize(room.particles as usize + 1, end);
    uploads.push(b.fan_starts, 0, &tables.fan_starts);
    uploads.push(b.fans, 0, &tables.fans);
    uploads.push(b.attachments, 0, &filled(tables.attachments, room.attachments));
    if let Some(b) = &plan.buffers.soft_pairs {
        uploads.push(b.faces, 0, &filled(tables.faces, room.soft_faces));
        uploads.push(b.rests, 0, &filled(tables.rests, room.particles));
        fresh(uploads, b.ranges, soft.sent_faces() * WORDS, soft.used().faces * WORDS, 0);
    }
    let (sent, used) = (soft.sent_states(), soft.used());
    let mut positions = vec![Vec3::ZERO; used.particles as usize];
    let mut velocities = positions.clone();
    for (_, first, entry, _) in soft.entries() {
        for i in 0..entry.desc.len() {
            let at = first.particles as usize + i;
            (positions[at], velocities[at]) = (entry.desc.position(i), entry.desc.velocity(i));
        }
    }
    let from = sent.0.min(used.particles);
    uploads.push(b.positions, from.into(), &positions[from as usize..]);
    uploads.push(b.velocities, from.into(), &velocities[from as usize..]);
    uploads.push(b.previous, from.into(), &velocities[from as usize..]);
    fresh(uploads, b.spring_states, sent.1, used.springs, SpringState::zeroed());
    let places = |particles: u32| particles * SOFT_CONTACTS;
    fresh(uploads, b.cached, places(sent.0), places(used.particles), SoftCached::zeroed());
    fresh(uploads, b.attachment_states, sent.2, soft.attachment_count(), AttachmentState::zeroed());
}

fn fresh<T: Pod>(uploads: &mut Uploads, buffer: Buffer<T>, from: u32, to: u32, value: T) {
    uploads.push(buffer, from.into(), &vec![value; to.saturating_sub(from) as usize]);
}

impl Stepper<Box<dyn Runner>> {
    /// Positions and velocities of a soft body's particles after the last step, or as described if it was added
    /// since. Waits for the device once.
    pub fn soft(&mut self, soft: SoftHandle) -> Result<SoftState> {
        let world = &self.core.world;
        let desc = world.soft_desc(soft)?;
        let first = world.soft_store().first(soft);
        let described = SoftState {
            positions: (0..desc.len()).map(|i| desc.position(i)).collect(),
            velocities: (0..desc.len()).map(|i| desc.velocity(i)).collect(),
        };
        let Some(b) = self.core.plan().buffers.soft else { return Ok(described) };
        if first + desc.len() as u32 > world.soft_store().sent_states().0 {
            return Ok(described);
        }
        let mut state = described;
        let offset = u64::from(first) * size_of::<Vec3>() as u64;
        let mut reads = [
            ReadInto { buffer: b.positions.id(), offset, into: bytemuck::cast_slice_mut(&mut state.positions) },
            ReadInto { buffer: b.velocities.id(), offset, into: bytemuck::cast_slice_mut(&mut state.velocities) },
        ];
        self.device.run_and_read(Part::FIRST, 0, &mut reads)?;
        Ok(state)
    }

    /// What the particles of a soft body touched in the last step. Waits for the device once.
    pub fn soft_touches(&mut self, soft: SoftHandle) -> Result<SoftTouches> {
        let world = &self.core.world;
        let count = world.soft_desc(soft)?.len();
        let first = world.soft_store().first(soft);
        let mut found = SoftTouches::default();
        let there = first + count as u32 <= world.soft_store().sent_states().0;
        let Some(b) = self.core.plan().buffers.soft.filter(|_| there) else { return Ok(found) };
        let mut cached = vec![SoftCached::zeroed(); count * SOFT_CONTACTS as usize];
        let offset = u64::from(first) * u64::from(SOFT_CONTACTS) * size_of::<SoftCached>() as u64;
        let buffer = b.cached.id();
        let mut reads = [ReadInto { buffer, offset, into: bytemuck::cast_slice_mut(&mut cached) }];
        self.device.run_and_read(Part::FIRST, 0, &mut reads)?;
        let world = &self.core.world;
        for (place, record) in (0..).zip(&cached) {
            found.dropped += record.dropped;
            // What was removed since is nobody's.
            let owner = record.collider.checked_sub(1).and_then(|c| world.collider_owner(c, record.generation));
            if let Some((body, collider)) = owner {
                let (particle, sticks) = (place / SOFT_CONTACTS, record.sticks != 0);
                found.touches.push(SoftTouch { particle, body, collider, force: record.force, sticks });
            }
        }
        Ok(found)
    }

    /// The force of an attachment on its particle in the last step, newtons in world space; zero if it was added
    /// since. Waits for the device once.
    pub fn attachment_force(&mut self, attachment: AttachmentHandle) -> Result<Vec3> {
        self.core.world.attachment(attachment)?;
        let there = attachment.index() < self.core.world.soft_store().sent_states().2;
        let Some(b) = self.core.plan().buffers.soft.filter(|_| there) else { return Ok(Vec3::ZERO) };
        let mut state = AttachmentState::zeroed();
        let offset = u64::from(attachment.index()) * size_of::<AttachmentState>() as u64;
        let buffer = b.attachment_states.id();
        let mut reads = [ReadInto { buffer, offset, into: bytemuck::bytes_of_mut(&mut state) }];
        self.device.run_and_read(Part::FIRST, 0, &mut reads)?;
        Ok(state.force)
    }
}
