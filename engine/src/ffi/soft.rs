//! Soft bodies as a C host describes, holds and draws them.

use super::convert::{body_handle, pack, switch, unpack};
use super::describe::DrystoneBody;
use super::error::{DrystoneResult, Failure, done};
use super::sized::{Struct, put, read, slice, write};
use super::stepper::{DrystoneStepper, with};
use super::vulkan::VkBuffer;
use crate::glam::Vec3;
use crate::layout::SoftVertex;
use crate::world::soft::SoftSpring;
use crate::world::{AttachmentDesc, AttachmentHandle, Cloth, SoftDesc, SoftHandle, SoftSurface, Solid};

/// Names a soft body; 0 names none.
pub type DrystoneSoft = u64;

/// Names an attachment; 0 names none.
pub type DrystoneAttachment = u64;

/// The layout of `DrystoneSoftVertex` that this header has.
pub const DRYSTONE_SOFT_VERTEX_VERSION: u32 = 1;

/// A soft body to be added: particles, and the triangles of cloth, tetrahedra and springs that hold them together.
/// Begin with `drystone_soft_defaults`. All lists are copied.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneSoftDesc {
    /// sizeof(DrystoneSoftDesc).
    pub struct_size: u32,
    /// Number of particles.
    pub particle_count: u32,
    /// Where they rest, 3 floats each: the shape to which triangles and tetrahedra return.
    pub rest: *const f32,
    /// Where they are at first, 3 floats each, or NULL: where they rest.
    pub positions: *const f32,
    /// How they move at first, 3 floats each, or NULL: they do not.
    pub velocities: *const f32,
    /// Kilograms, a float each, or NULL: what the densities give. Particles that are on nothing but springs need it.
    pub masses: *const f32,
    /// Triangles of cloth, 3 particles each. Sides that two share bend.
    pub triangles: *const u32,
    /// Tetrahedra, 4 particles each.
    pub tetrahedra: *const u32,
    /// Springs, 2 particles each.
    pub springs: *const u32,
    /// Of every spring, 3 floats: length at rest, stiffness in N/m (infinite for one that keeps its length), damping in
    /// N s/m.
    pub spring_values: *const f32,
    /// Further triangles that are drawn and that rays meet, and nothing else, 3 particles each.
    pub skin: *const u32,
    /// How many triangles there are.
    pub triangle_count: u32,
    /// How many tetrahedra.
    pub tetrahedron_count: u32,
    /// How many springs.
    pub spring_count: u32,
    /// How many triangles of the skin.
    pub skin_count: u32,
    /// Of cloth, kilograms a square metre.
    pub cloth_density: f32,
    /// Of cloth, Young's modulus times thickness, N/m.
    pub stretch: f32,
    /// Of cloth, Poisson's ratio in the plane.
    pub cloth_poisson: f32,
    /// Of cloth, stiffness against bending, N m.
    pub bend: f32,
    /// Of cloth, of the rate of the metric, N s/m.
    pub cloth_damping: f32,
    /// Of cloth, of the rate of the angles, N m s.
    pub bend_damping: f32,
    /// Of solids, kilograms a cubic metre.
    pub solid_density: f32,
    /// Of solids, Young's modulus, pascals.
    pub young: f32,
    /// Of solids, Poisson's ratio.
    pub solid_poisson: f32,
    /// Of solids, of the rate of the metric, pascal seconds.
    pub solid_damping: f32,
    /// How strongly gravity acts on it.
    pub gravity_scale: f32,
    /// Distance that rigid bodies keep from particles, metres; negative, the default: a part of the length of the
    /// sides. Infinite: bodies pass through it.
    pub radius: f32,
    /// Coefficient of friction.
    pub friction: f32,
    /// Groups it belongs to.
    pub groups: u32,
    /// Groups it touches.
    pub mask: u32,
    /// 1 when its surface touches soft bodies, its own among them; 0 when it passes through them.
    pub meets_soft: u32,
}

// SAFETY: `repr(C)`, the size first, no padding behind the last field; numbers and pointers take any bytes.
unsafe impl Struct for DrystoneSoftDesc {
    const NAME: &'static str = "DrystoneSoftDesc";

    fn defaults() -> Self {
        let (cloth, solid) = (Cloth::default(), Solid::default());
        Self {
            struct_size: size_of::<Self>() as u32,
            particle_count: 0,
            rest: std::ptr::null(),
            positions: std::ptr::null(),
            velocities: std::ptr::null(),
            masses: std::ptr::null(),
            triangles: std::ptr::null(),
            tetrahedra: std::ptr::null(),
            springs: std::ptr::null(),
            spring_values: std::ptr::null(),
            skin: std::ptr::null(),
            triangle_count: 0,
            tetrahedron_count: 0,
            spring_count: 0,
            skin_count: 0,
            cloth_density: cloth.density,
            stretch: cloth.stretch,
            cloth_poisson: cloth.poisson,
            bend: cloth.bend,
            cloth_damping: cloth.damping,
            bend_damping: cloth.bend_damping,
            solid_density: solid.density,
            young: solid.young,
            solid_poisson: solid.poisson,
            solid_damping: solid.damping,
            gravity_scale: 1.0,
            radius: -1.0,
            friction: 0.5,
            groups: u32::MAX,
            mask: u32::MAX,
            meets_soft: 0,
        }
    }
}

/// What holds a particle. Begin with `drystone_attachment_defaults`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneAttachmentDesc {
    /// sizeof(DrystoneAttachmentDesc).
    pub struct_size: u32,
    /// Which particle of the soft body.
    pub particle: u32,
    /// The soft body.
    pub soft: DrystoneSoft,
    /// The body that holds it, or 0: the world.
    pub body: DrystoneBody,
    /// 1 when `anchor` says where on the body, or in the world; 0: where the particle was described to be.
    pub anchored: u32,
    /// See `anchored`.
    pub anchor: [f32; 3],
    /// N/m; infinite by default: it does not give way.
    pub stiffness: f32,
    /// Force at which it lets go, newtons; infinite by default.
    pub max_force: f32,
}

// SAFETY: as above.
unsafe impl Struct for DrystoneAttachmentDesc {
    const NAME: &'static str = "DrystoneAttachmentDesc";

    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            particle: 0,
            soft: 0,
            body: 0,
            anchored: 0,
            anchor: [0.0; 3],
            stiffness: f32::INFINITY,
            max_force: f32::INFINITY,
        }
    }
}

/// A particle as it lies in the buffers of `DrystoneSoftVertexView`: 32 bytes. An element of a buffer: it has no size in
/// front, but a version, DRYSTONE_SOFT_VERTEX_VERSION.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct DrystoneSoftVertex {
    /// Where it is, metres.
    pub position: [f32; 3],
    /// 1 for a particle that is there; 0 for a place without one.
    pub present: u32,
    /// Out of the surface, of length 1; zero for a particle that is on no triangle.
    pub normal: [f32; 3],
    /// Slot of the soft body.
    pub owner: u32,
}

const _: () = assert!(size_of::<DrystoneSoftVertex>() == size_of::<SoftVertex>());

/// Where the vertices of all soft bodies lie: `DrystoneSoftVertex` by particle, as vertices or as a storage buffer. They
/// are handed to other queue families together with the buffers of `DrystonePoseView`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneSoftVertexView {
    /// sizeof(DrystoneSoftVertexView).
    pub struct_size: u32,
    /// DRYSTONE_SOFT_VERTEX_VERSION: another number is another layout.
    pub version: u32,
    /// Vertices behind the frame that was recorded last.
    pub current: VkBuffer,
    /// Vertices behind the frame before it.
    pub previous: VkBuffer,
    /// First byte in either.
    pub offset: u64,
    /// Changes whenever the buffers do.
    pub generation: u64,
    /// Bytes from one vertex to the next.
    pub stride: u32,
    /// Vertices there is room for.
    pub count: u32,
}

// SAFETY: as above.
unsafe impl Struct for DrystoneSoftVertexView {
    const NAME: &'static str = "DrystoneSoftVertexView";

    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            version: DRYSTONE_SOFT_VERTEX_VERSION,
            current: VkBuffer::null(),
            previous: VkBuffer::null(),
            offset: 0,
            generation: 0,
            stride: 0,
            count: 0,
        }
    }
}

pub(super) fn from_soft(soft: SoftHandle) -> DrystoneSoft {
    pack(soft.index, soft.generation)
}

fn soft_handle(soft: DrystoneSoft) -> Result<SoftHandle, Failure> {
    let none = || Failure::new(DrystoneResult::ErrorStale, "the soft body is 0, which names none");
    unpack(soft).map(|(index, generation)| SoftHandle { index, generation }).ok_or_else(none)
}

fn attachment_handle(attachment: DrystoneAttachment) -> Result<AttachmentHandle, Failure> {
    let none = || Failure::new(DrystoneResult::ErrorStale, "the attachment is 0, which names none");
    unpack(attachment).map(|(index, generation)| AttachmentHandle { index, generation }).ok_or_else(none)
}

/// # Safety
/// `pointer` is NULL or points to `count` groups of `N` values.
unsafe fn groups<T: Copy + Default, const N: usize>(
    name: &str,
    pointer: *const T,
    count: u32,
) -> Result<Vec<[T; N]>, Failure> {
    // SAFETY: this function's contract.
    let all = unsafe { slice(name, pointer, count as usize * N) }?;
    Ok(all.chunks_exact(N).map(|group| std::array::from_fn(|i| group[i])).collect())
}

/// # Safety
/// As for [`groups`].
unsafe fn vectors(name: &str, pointer: *const f32, count: u32) -> Result<Vec<Vec3>, Failure> {
    // SAFETY: this function's contract.
    Ok(unsafe { groups::<f32, 3>(name, pointer, count) }?.into_iter().map(Vec3::from).collect())
}

/// # Safety
/// Lists are as long as they say.
unsafe fn described(from: &DrystoneSoftDesc) -> Result<SoftDesc, Failure> {
    let count = from.particle_count;
    // SAFETY: this function's contract, for all lists.
    unsafe {
        let optional =
            |name, list: *const f32| if list.is_null() { Ok(Vec::new()) } else { vectors(name, list, count) };
        let rest = vectors("DrystoneSoftDesc.rest", from.rest, count)?;
        let triangles = groups::<u32, 3>("DrystoneSoftDesc.triangles", from.triangles, from.triangle_count)?;
        let tetrahedra = groups::<u32, 4>("DrystoneSoftDesc.tetrahedra", from.tetrahedra, from.tetrahedron_count)?;
        let ends = groups::<u32, 2>("DrystoneSoftDesc.springs", from.springs, from.spring_count)?;
        let values = groups::<f32, 3>("DrystoneSoftDesc.spring_values", from.spring_values, from.spring_count)?;
        let cloth = Cloth {
            density: from.cloth_density,
            stretch: from.stretch,
            poisson: from.cloth_poisson,
            bend: from.bend,
            damping: from.cloth_damping,
            bend_damping: from.bend_damping,
        };
        let solid = Solid {
            density: from.solid_density,
            young: from.young,
            poisson: from.solid_poisson,
            damping: from.solid_damping,
        };
        let mut desc = SoftDesc::from_mesh(rest, &triangles, &cloth, &tetrahedra, &solid);
        desc.positions = optional("DrystoneSoftDesc.positions", from.positions)?;
        desc.velocities = optional("DrystoneSoftDesc.velocities", from.velocities)?;
        desc.skin = groups::<u32, 3>("DrystoneSoftDesc.skin", from.skin, from.skin_count)?;
        if !from.masses.is_null() {
            desc.masses = slice("DrystoneSoftDesc.masses", from.masses, count as usize)?.to_vec();
        }
        let spring =
            |(ends, [rest, stiffness, damping]): ([u32; 2], [f32; 3])| SoftSpring { ends, rest, stiffness, damping };
        desc.springs = ends.into_iter().zip(values).map(spring).collect();
        desc.gravity_scale = Some(from.gravity_scale);
        let usual = desc.surface.map_or(0.0, |s| s.radius);
        let surface = SoftSurface {
            radius: if from.radius < 0.0 { usual } else { from.radius },
            friction: from.friction,
            groups: from.groups,
            mask: from.mask,
            meets_soft: switch("DrystoneSoftDesc.meets_soft", from.meets_soft)?,
        };
        desc.surface = (from.radius != f32::INFINITY).then_some(surface);
        Ok(desc)
    }
}

/// Fills in a description with what everything is when nobody says anything. `desc` has its `struct_size`.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_soft_defaults(desc: *mut DrystoneSoftDesc) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe { write("desc", desc, &DrystoneSoftDesc::defaults()) })
}

/// The same for an attachment.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_attachment_defaults(desc: *mut DrystoneAttachmentDesc) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe { write("desc", desc, &DrystoneAttachmentDesc::defaults()) })
}

/// Adds a soft body. It is there from the start of the next step.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_add_soft(
    stepper: *mut DrystoneStepper,
    desc: *const DrystoneSoftDesc,
    added: *mut DrystoneSoft,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        put("added", added, 0)?;
        let desc = described(&read("desc", desc)?)?;
        let handle = with(stepper, |inside| Ok(inside.backend.world().add_soft(desc)?))?;
        put("added", added, from_soft(handle))
    })
}

/// Removes a soft body and its attachments. Its handle is stale from now on.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_remove_soft(stepper: *mut DrystoneStepper, soft: DrystoneSoft) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let soft = soft_handle(soft)?;
        with(stepper, |inside| Ok(inside.backend.world().remove_soft(soft)?))
    })
}

/// Holds a particle to a body or to the world, from the next step on.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_attach(
    stepper: *mut DrystoneStepper,
    desc: *const DrystoneAttachmentDesc,
    added: *mut DrystoneAttachment,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        put("added", added, 0)?;
        let from = read("desc", desc)?;
        let anchor = match from.anchored {
            0 => None,
            1 => Some(Vec3::from(from.anchor)),
            other => {
                return Err(Failure::value(format!("DrystoneAttachmentDesc.anchored is {other}: it must be 0 or 1")));
            }
        };
        let desc = AttachmentDesc {
            soft: soft_handle(from.soft)?,
            particle: from.particle,
            body: if from.body == 0 { None } else { Some(body_handle(from.body)?) },
            anchor,
            stiffness: from.stiffness,
            max_force: from.max_force,
        };
        let made = with(stepper, |inside| Ok(inside.backend.world().attach(desc)?))?;
        put("added", added, pack(made.index, made.generation))
    })
}

/// Lets a particle go. The handle is stale from now on.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_detach(
    stepper: *mut DrystoneStepper,
    attachment: DrystoneAttachment,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let attachment = attachment_handle(attachment)?;
        with(stepper, |inside| Ok(inside.backend.world().detach(attachment)?))
    })
}

/// Sets the force on a particle, 3 floats, newtons; it acts until it is changed.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_set_particle_force(
    stepper: *mut DrystoneStepper,
    soft: DrystoneSoft,
    particle: u32,
    force: *const f32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let (soft, force) = (soft_handle(soft)?, Vec3::from_slice(slice("force", force, 3)?));
        with(stepper, |inside| Ok(inside.backend.world().set_particle_force(soft, particle, force)?))
    })
}

/// Tells the slot of a soft body (`owner` of its vertices), and its first vertex. They never change. Either may be NULL.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_soft_slot(
    stepper: *mut DrystoneStepper,
    soft: DrystoneSoft,
    slot: *mut u32,
    first_vertex: *mut u32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let soft = soft_handle(soft)?;
        let first = with(stepper, |inside| Ok(inside.backend.world().soft_first_vertex(soft)?))?;
        if !slot.is_null() {
            put("slot", slot, soft.index)?;
        }
        if first_vertex.is_null() { Ok(()) } else { put("first_vertex", first_vertex, first) }
    })
}

/// Reads the triangles of a soft body's surface, 3 particles each, counted from its first vertex: an index buffer. They
/// never change. `count` gets the number of triangles; when there is not room for as many, `capacity`, nothing is
/// written and the call fails, unless `corners` is NULL.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_soft_triangles(
    stepper: *mut DrystoneStepper,
    soft: DrystoneSoft,
    corners: *mut u32,
    capacity: u32,
    count: *mut u32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let soft = soft_handle(soft)?;
        with(stepper, |inside| {
            let triangles = inside.backend.world().soft_triangles(soft)?;
            put("count", count, triangles.len() as u32)?;
            if corners.is_null() {
                return Ok(());
            }
            if (capacity as usize) < triangles.len() {
                let there = triangles.len();
                return Err(Failure::value(format!("there is room for {capacity} triangles, and there are {there}")));
            }
            (0..).zip(triangles.iter().flatten()).try_for_each(|(i, corner)| put("corners", corners.add(i), *corner))
        })
    })
}

/// Reads positions and velocities of a soft body's particles after the last step, 3 floats each, on the CPU. Either list
/// may be NULL; each that is not has room for `capacity` particles, at least as many as there are.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_soft_state(
    stepper: *mut DrystoneStepper,
    soft: DrystoneSoft,
    positions: *mut f32,
    velocities: *mut f32,
    capacity: u32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let soft = soft_handle(soft)?;
        let state = with(stepper, |inside| Ok(inside.backend.on_cpu("drystone_soft_state")?.soft(soft)?))?;
        let there = state.positions.len();
        if (capacity as usize) < there {
            return Err(Failure::value(format!("there is room for {capacity} particles, and there are {there}")));
        }
        for (name, to, from) in
            [("positions", positions, &state.positions), ("velocities", velocities, &state.velocities)]
        {
            if !to.is_null() {
                let values = from.iter().flat_map(|v| v.to_array());
                (0..).zip(values).try_for_each(|(i, value)| put(name, to.add(i), value))?;
            }
        }
        Ok(())
    })
}

/// Tells where the vertices of all soft bodies lie; `DRYSTONE_RESULT_NOTHING` when there are no soft bodies yet. Ask
/// again after every `drystone_prepare`: growth brings other buffers.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_soft_vertices(
    stepper: *const DrystoneStepper,
    vertices: *mut DrystoneSoftVertexView,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    super::error::guard(|| unsafe {
        with(stepper, |inside| {
            let found = inside.backend.on_vulkan("drystone_soft_vertices")?.soft_vertices();
            let Some(found) = found else { return Ok(DrystoneResult::Nothing) };
            let told = DrystoneSoftVertexView {
                version: found.version,
                current: found.current,
                previous: found.previous,
                offset: found.offset,
                generation: found.generation,
                stride: found.stride,
                count: found.count,
                ..DrystoneSoftVertexView::defaults()
            };
            write("vertices", vertices, &told)?;
            Ok(DrystoneResult::Ok)
        })
    })
}
