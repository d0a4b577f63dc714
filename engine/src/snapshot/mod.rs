//! Snapshots: the state of a world at one moment, to be stored, sent or restored.
//!
//! A [`Snapshot`] holds the host's side of a world (bodies, joints, handles with their generations, names, gravity,
//! settings, and the edits since the last step) and every *persistent* buffer of the device, as
//! [`state`](crate::state) declares them: there is no separate list of what to save, so nothing can be forgotten. A
//! restored world continues, to the bit, as it would have without the interruption, on the same device and driver.
//! Another device continues with its own arithmetic.
//!
//! ```
//! use drystone::world::{BodyDesc, Collider, World};
//! use drystone::{Settings, Simulation, Snapshot, backend::Device, glam::Vec3};
//!
//! let mut world = World::new();
//! world.add(BodyDesc::fixed().with(Collider::half_space()))?;
//! let ball = world.add(BodyDesc::dynamic().at(Vec3::Y * 5.0).with(Collider::sphere(0.5)))?;
//! let mut simulation = Simulation::new(world, Settings::default(), Device::Cpu { threads: Some(1) })?;
//! simulation.step(1.0 / 60.0)?;
//!
//! let bytes = simulation.snapshot()?.to_bytes();
//! simulation.step(1.0 / 60.0)?;
//! let went = simulation.body(ball)?;
//! simulation.restore(&Snapshot::from_bytes(&bytes)?)?;
//! simulation.step(1.0 / 60.0)?;
//! assert_eq!(simulation.body(ball)?, went);
//! # Ok::<(), drystone::Error>(())
//! ```
//!
//! Bytes are checked in three ways before any of them reaches a world: length and checksum detect damage in transit;
//! values are checked as if a user had given them; and every index, in the world and in the buffers, is checked
//! against the list it refers to. A forged snapshot with a correct checksum gives an error or a world that can be
//! stepped, whatever it contains.
//!
//! # Format
//! Little-endian, without padding: 8 bytes `drystone`, format ([`FORMAT`]), length of all, settings by name, counters,
//! what of the lists is in use, user buffers, the world, the persistent buffers by name, and a checksum of 64 bits over
//! everything before it. There is no promise across formats: other versions are refused by name.

mod bytes;
mod check;
mod error;

pub(crate) use bytes::{Reader, Writer};
pub use error::SnapshotError;

use crate::backend::ReadInto;
use crate::plan::step::{StepOptions, StepPlan, persistent};
use crate::plan::{BufferId, BufferInfo};
use crate::state::{Capacities, List, Role, UserBuffer};
use crate::world::{BodyHandle, Features, World};
use crate::{Result, Settings};
use drystone_kernels::detect::gate::counter;
use drystone_kernels::detect::soft_pairs_fill;
use drystone_kernels::state::rigid::{Entry, entry};

/// Version of the format. It changes whenever the bytes, or what any persistent buffer means, do.
pub const FORMAT: u32 = 4;

const MAGIC: [u8; 8] = *b"drystone";
/// Bytes of the header: magic, format and length.
const HEAD: usize = 20;

/// The host's side of the state of a world.
#[derive(Clone, Debug)]
pub(crate) struct HostState {
    pub world: World,
    pub settings: Settings,
    /// Sub-steps made.
    pub made: u64,
    /// Whether the next step is not the first.
    pub started: bool,
    /// Bodies whose quarantine has been reported.
    pub quarantined: Vec<BodyHandle>,
    /// Whether the fallback for missing colours has been reported.
    pub fell_back: bool,
    /// Whether the next step was asked to start cold.
    pub start_cold: bool,
}

/// The contents of a persistent buffer, as far as it is in use.
#[derive(Clone, Debug)]
pub(crate) struct SavedBuffer {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The host's side of a snapshot whose device side has not been read yet.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub host: HostState,
    /// How much of the world the device has. The numbers of pairs and manifolds are read from the device.
    pub used: Capacities,
    pub capacities: Capacities,
    pub options: StepOptions,
    pub user: Vec<UserBuffer>,
    /// The buffers of the plan.
    pub buffers: Vec<BufferInfo>,
}

/// A world at a moment: see the [module](self).
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) host: HostState,
    pub(crate) used: Capacities,
    options: StepOptions,
    pub(crate) user: Vec<UserBuffer>,
    pub(crate) buffers: Vec<SavedBuffer>,
}

impl Moment {
    /// Persistent buffers with their handles.
    fn kept(&self) -> impl Iterator<Item = (BufferId, &BufferInfo)> {
        (0..).map(BufferId).zip(&self.buffers).filter(|(_, b)| b.role == Role::Persistent)
    }

    fn find(&self, name: &str) -> Option<BufferId> {
        self.kept().find(|(_, b)| b.name == name).map(|(id, _)| id)
    }

    /// Bytes of all persistent buffers, one behind the other, and where each begins: how they are recorded on a device.
    #[cfg(feature = "vulkan")]
    pub(crate) fn layout(&self) -> (Vec<(BufferId, u64, u64)>, u64) {
        let mut end = 0;
        let parts = self.kept().map(|(id, info)| {
            let (at, size) = (end, info.capacity());
            end += size;
            (id, at, size)
        });
        (parts.collect(), end)
    }

    /// Completes the snapshot: reads the used part of every persistent buffer with `read`.
    pub(crate) fn finish(mut self, read: &mut dyn FnMut(&mut [ReadInto<'_>]) -> Result<()>) -> Result<Snapshot> {
        let mut whole = |name: &str, bytes: usize| -> Result<Vec<u8>> {
            let mut into = vec![0; bytes];
            if let Some(buffer) = self.find(name) {
                read(&mut [ReadInto { buffer, offset: 0, into: &mut into }])?;
            }
            Ok(into)
        };
        let counters = whole("counters", counter::COUNT as usize * 4)?;
        let count = |slot: u32| word(&counters, slot as usize);
        let row_bytes = self.used.bodies as usize * entry::ROW_WORDS as usize * 4;
        let rows = whole("rows", row_bytes)?;
        let face_words = self.used.soft_faces as usize * soft_pairs_fill::WORDS as usize;
        let face_pairs = whole("soft_face_pairs", face_words * 4)?;
        let row = |body: usize, k: usize| word(&rows, body * entry::ROW_WORDS as usize + k);
        let room = self.find("entries").and_then(|id| self.buffers.get(id.0 as usize)).map_or(0, |b| b.count);
        let ends = (0..self.used.bodies as usize).map(|body| row(body, entry::KINDS as usize));
        let end = u64::from(ends.max().unwrap_or(0)).min(room);
        let entries = whole("entries", end as usize * size_of::<Entry>())?;
        let listed = entries.chunks_exact(size_of::<Entry>()).map(bytemuck::pod_read_unaligned::<Entry>);
        let contacts = listed.filter(|e| e.kind() == entry::CONTACT);
        let manifolds = contacts.map(|e| e.manifold() + 1).max().unwrap_or(0);
        let by_entries = end.div_ceil(2).saturating_sub(u64::from(self.used.joints)) as u32;
        self.used.manifolds = manifolds.max(by_entries);
        let sensors = self.options.features.sensors;
        self.used.pairs = if sensors { count(counter::SENSED_LAST) } else { 0 };
        let ends = (0..self.used.soft_faces as usize)
            .map(|face| word(&face_pairs, 2 * face).saturating_add(word(&face_pairs, 2 * face + 1)));
        self.used.soft_pairs = ends.max().unwrap_or(0).min(self.capacities.soft_pairs);
        // User buffers over lists that every step rebuilds are saved whole, because only the user knows which part is
        // in use.
        for list in [List::Pairs, List::Manifolds, List::Edits] {
            if self.user.iter().any(|b| b.each == list) {
                *self.used.of_mut(list) = self.capacities.of(list);
            }
        }
        // The device counts steps with 32 bits, and may be ahead of the reports the host has received.
        self.host.made += u64::from(count(counter::STEPS).wrapping_sub(self.host.made as u32));

        let declared = persistent(&self.used, &self.options, &self.user)?;
        let mut buffers: Vec<_> = declared
            .iter()
            .map(|b| SavedBuffer { name: b.name.clone(), bytes: vec![0; b.capacity() as usize] })
            .collect();
        {
            let mut reads = Vec::with_capacity(buffers.len());
            for saved in &mut buffers {
                let Some((buffer, info)) = self.kept().find(|(_, b)| b.name == saved.name) else { continue };
                let room = (info.capacity() as usize).min(saved.bytes.len());
                // Entries behind the last row are left over from steps before.
                let size = if saved.name == "entries" { room.min(entries.len()) } else { room };
                reads.push(ReadInto { buffer, offset: 0, into: &mut saved.bytes[..size] });
            }
            read(&mut reads)?;
        }
        if let Some(counters) = buffers.iter_mut().find(|b| b.name == "counters") {
            // Clear the counters of a step that was prepared and never made, and those that are not needed.
            for slot in [counter::SPARE, counter::EDITS, counter::EVENTS, counter::ISLANDS] {
                counters.bytes[slot as usize * 4..][..4].fill(0);
            }
        }
        let Self { host, used, options, user, .. } = self;
        let mut snapshot = Snapshot { host, used, options, user, buffers };
        snapshot.settle();
        Ok(snapshot)
    }
}

fn word(bytes: &[u8], index: usize) -> u32 {
    bytes.get(index * 4..index * 4 + 4).map_or(0, bytemuck::pod_read_unaligned)
}

impl Snapshot {
    /// The world, including edits made since the last step. Bodies and joints are as described; their current poses
    /// are only in the buffers, and a simulation returns them after [`restore`](crate::Simulation::restore).
    pub fn world(&self) -> &World {
        &self.host.world
    }

    /// The settings it was stepped with.
    pub fn settings(&self) -> &Settings {
        &self.host.settings
    }

    /// Number of steps made, each sub-step counted.
    pub fn steps(&self) -> u64 {
        self.host.made
    }

    /// Persistent buffers of the user's.
    pub fn user_buffers(&self) -> &[UserBuffer] {
        &self.user
    }

    /// What the persistent buffers hold, as far as it is in use, by name: see
    /// [`StateBuffers`](crate::state::StateBuffers).
    pub fn buffers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.buffers.iter().map(|b| (b.name.as_str(), b.bytes.as_slice()))
    }

    pub(crate) fn bytes_of(&self, name: &str) -> &[u8] {
        self.buffers.iter().find(|b| b.name == name).map_or(&[], |b| &b.bytes)
    }

    /// Capacities that the next step is likely to need: as many pairs and manifolds as the last one.
    pub(crate) fn room(&self) -> Capacities {
        let counters = self.bytes_of("counters");
        // More than this comes from very dense heaps or from forged counters; lists grow later if the number was
        // right.
        let most = 4096 + 256 * u64::from(self.used.colliders);
        let likely = |slot: u32| u64::from(word(counters, slot as usize)).min(most) as u32;
        Capacities {
            pairs: likely(counter::PAIRS).max(self.used.pairs),
            manifolds: likely(counter::MANIFOLDS).max(self.used.manifolds),
            soft_pairs: self.used.soft_pairs,
            ..Capacities::default()
        }
    }

    /// The bytes to write into the buffers of a plan. The buffers match if the user's buffers do.
    pub(crate) fn contents<'a>(&'a self, plan: &StepPlan) -> Vec<(BufferId, &'a [u8])> {
        contents(&self.buffers, plan)
    }

    /// A snapshot restores into a world with the same buffers of the user's.
    pub(crate) fn check_user_buffers(&self, user: &[UserBuffer]) -> Result<(), SnapshotError> {
        let refuse = |buffer: &UserBuffer, why: &str| {
            Err(SnapshotError::Buffer { buffer: buffer.name.clone(), why: why.to_owned() })
        };
        if let Some(b) = self.user.iter().find(|b| !user.contains(b)) {
            return refuse(b, "is not in this world, or is another there");
        }
        match user.iter().find(|b| !self.user.contains(b)) {
            Some(b) => refuse(b, "of this world is not in the snapshot"),
            None => Ok(()),
        }
    }

    /// Takes over joints that broke on the device, which the host may not have been told of yet.
    fn settle(&mut self) {
        let bytes = self.buffers.iter().find(|b| b.name == "joints").map_or(&[][..], |b| &b.bytes);
        let broken = check::broken_joints(bytes, self.used.joints);
        self.host.world.joints_broke(&broken);
        let bytes = self.buffers.iter().find(|b| b.name == "attachment_states").map_or(&[][..], |b| &b.bytes);
        for slot in check::broken_attachments(bytes, self.used.attachments) {
            self.host.world.soft_store_mut().let_go(slot);
        }
    }

    /// The snapshot as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.raw(&MAGIC);
        w.u32(FORMAT);
        w.u64(0);
        let named: Vec<_> = self.host.settings.named().collect();
        w.list(named.into_iter(), |w, (name, value)| {
            w.text(name);
            w.f64(value);
        });
        w.u64(self.host.made);
        w.bool(self.host.fell_back);
        w.bool(self.host.start_cold);
        w.list(self.host.quarantined.iter(), |w, body| {
            w.u32(body.index);
            w.u32(crate::world::handle::uses(body.generation));
        });
        LISTS.iter().for_each(|list| w.u32(self.used.of(*list)));
        let o = &self.options;
        w.u32(o.colour_rounds);
        let f = o.features;
        let of_colliders = [f.surfaces, f.rolling, f.bounces, f.sensors, f.curved, f.reports];
        let bits = [o.row_stiffness, o.body_poses, o.second_order].into_iter().chain(of_colliders);
        bits.for_each(|bit| w.bool(bit));
        w.list(self.user.iter(), |w, b| {
            w.text(&b.name);
            w.u32(b.stride);
            w.text(b.each.name());
        });
        self.host.world.save(&mut w);
        w.list(self.buffers.iter(), |w, b| {
            w.text(&b.name);
            w.u64(b.bytes.len() as u64);
            w.raw(&b.bytes);
        });
        let mut bytes = w.finish();
        let length = bytes.len() as u64 + 8;
        bytes[12..HEAD].copy_from_slice(&length.to_le_bytes());
        let sum = bytes::checksum(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads a snapshot that [`Snapshot::to_bytes`] wrote. Everything in it is checked; an error says what is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(SnapshotError::Foreign);
        }
        let r = &mut Reader::new(bytes);
        r.take(MAGIC.len())?;
        let (found, written) = (r.u32()?, r.u64()?);
        if found != FORMAT {
            return Err(SnapshotError::Version { found, known: FORMAT });
        }
        if written != bytes.len() as u64 || bytes.len() < HEAD + 8 {
            return Err(SnapshotError::Length { found: bytes.len() as u64, written });
        }
        let (body, sum) = bytes.split_at(bytes.len() - 8);
        let (found, written) = (bytes::checksum(body), Reader::new(sum).u64()?);
        if found != written {
            return Err(SnapshotError::Checksum { found, written });
        }
        let r = &mut Reader::new(body);
        r.take(HEAD)?;
        let mut snapshot = Self::load(r)?;
        if r.left() > 0 {
            return Err(SnapshotError::content("its end", format!("{} bytes too many", r.left())));
        }
        check::buffers(&snapshot)?;
        snapshot.settle();
        Ok(snapshot)
    }

    fn load(r: &mut Reader<'_>) -> Result<Self, SnapshotError> {
        let settings = load_settings(r)?;
        let (made, fell_back, start_cold) = (r.u64()?, r.bool("fell_back")?, r.bool("start_cold")?);
        let quarantined = r.list(8, |r| Ok(BodyHandle { index: r.u32()?, generation: r.u32()? }))?;
        let mut used = Capacities::default();
        for list in LISTS {
            *used.of_mut(list) = r.u32()?;
        }
        used.check().map_err(|e| SnapshotError::content("lists in use", e.to_string()))?;
        let colour_rounds = r.u32()?;
        if !(1..=100).contains(&colour_rounds) {
            return Err(SnapshotError::content("options", format!("{colour_rounds} rounds of colouring")));
        }
        let options = StepOptions {
            colour_rounds,
            row_stiffness: r.bool("options")?,
            body_poses: r.bool("options")?,
            second_order: r.bool("options")?,
            features: Features {
                surfaces: r.bool("options")?,
                rolling: r.bool("options")?,
                bounces: r.bool("options")?,
                sensors: r.bool("options")?,
                curved: r.bool("options")?,
                reports: r.bool("options")?,
            },
            ..StepOptions::default()
        };
        let user = r.list(12, |r| {
            let (name, stride, each) = (r.text("user buffers")?.to_owned(), r.u32()?, r.text("user buffers")?);
            let each = List::ALL.iter().copied().find(|list| list.name() == each);
            let each = each.ok_or_else(|| SnapshotError::content("user buffers", "a list that there is not"))?;
            Ok(UserBuffer { name, stride, each })
        })?;
        let world = World::load(r, used.bodies)?;
        let buffers = r.list(12, |r| {
            let (name, size) = (r.text("buffers")?.to_owned(), r.u64()?);
            let bytes = r.take(usize::try_from(size).unwrap_or(usize::MAX))?.to_vec();
            Ok(SavedBuffer { name, bytes })
        })?;
        let host = HostState { world, settings, made, started: made > 0, quarantined, fell_back, start_cold };
        Ok(Self { host, used, options, user, buffers })
    }
}

/// Lists whose lengths a snapshot stores: those that determine the lengths of persistent buffers.
const LISTS: [List; 15] = [
    List::Bodies,
    List::Colliders,
    List::Pairs,
    List::Manifolds,
    List::Edits,
    List::Hulls,
    List::HullEdges,
    List::Joints,
    List::JointRows,
    List::Continuous,
    List::Particles,
    List::Springs,
    List::Attachments,
    List::SoftFaces,
    List::SoftPairs,
];

/// Bytes for the persistent buffers of a plan, as many as fit.
pub(crate) fn contents<'a>(saved: &'a [SavedBuffer], plan: &StepPlan) -> Vec<(BufferId, &'a [u8])> {
    let kept = (0..).map(BufferId).zip(plan.recording.buffers()).filter(|(_, b)| b.role == Role::Persistent);
    let found = kept.map(|(id, info)| {
        let bytes = saved.iter().find(|s| s.name == info.name).map_or(&[][..], |s| &s.bytes);
        (id, &bytes[..bytes.len().min(info.capacity() as usize)])
    });
    found.collect()
}

/// Settings by name: all there are, and no others.
fn load_settings(r: &mut Reader<'_>) -> Result<Settings, SnapshotError> {
    let wrong = |e: crate::SettingsError| SnapshotError::Settings(e.to_string());
    let values = r.list(12, |r| Ok((r.text("settings")?, r.f64()?)))?;
    let mut settings = Settings::default();
    settings.set_all(values.iter().copied()).map_err(wrong)?;
    settings.check().map_err(wrong)?;
    match settings.named().find(|(name, _)| values.iter().filter(|v| v.0 == *name).count() != 1) {
        Some((name, _)) => Err(SnapshotError::Settings(format!("{name} is missing or there twice"))),
        None => Ok(settings),
    }
}
