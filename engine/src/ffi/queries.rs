//! Questions about the world, as C asks them: a list of queries, and answers by the number of each. On the CPU they are
//! answered at once, in a host's frames behind the step that was recorded last, to be polled when that is done.

use super::convert::{body_handle, choice, collider, from_body, switch};
use super::describe::{DrystoneBody, DrystoneCollider};
use super::error::{DrystoneResult, Failure, done, guard};
use super::frames::{DrystoneAccess, access};
use super::sized::{Struct, put, read, read_list, write};
use super::soft::{DrystoneSoft, from_soft};
use super::stepper::{DrystoneStepper, Inside, with};
use super::vulkan::VkCommandBuffer;
use crate::glam::{Quat, Vec3};
use crate::queries::{OverlapHit, QueryBatch, QueryFilter, QueryHit, QueryResults, QueryRoom, SoftHit};
use ash::vk::Handle;
use std::collections::VecDeque;

/// Kinds of queries.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneQueryKind {
    /// What a ray from `position` along `direction` meets first, no farther than `reach`.
    Ray = 0,
    /// What `shape` meets first that moves by `direction`, without turning.
    Cast = 1,
    /// What `shape` overlaps: up to `most` colliders one by one, those with the lowest body slots and collider numbers.
    Overlap = 2,
    /// What is nearest to `shape`, or to the point `position` when there is none, no farther than `reach`.
    Closest = 3,
}

/// A query. Begin with `drystone_query_defaults`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneQuery {
    /// sizeof(DrystoneQuery).
    pub struct_size: u32,
    /// A `DrystoneQueryKind`.
    pub kind: u32,
    /// The shape, and nothing else of it; NULL for rays and points. A hull must be on some body that the device has.
    pub shape: *const DrystoneCollider,
    /// A body that the query does not see, or 0.
    pub exclude: DrystoneBody,
    /// Where the ray begins, or the shape is.
    pub position: [f32; 3],
    /// Of the shape.
    pub rotation: [f32; 4],
    /// Of a ray, of any length; or the way of a cast, metres.
    pub direction: [f32; 3],
    /// Of rays and what is closest, metres: without an end by default.
    pub reach: f32,
    /// Of overlaps: 8 by default.
    pub most: u32,
    /// 1 when only what is in a group of `mask`, and touches `groups`, is seen; 0, the default: every group.
    pub filtered: u32,
    /// Groups that the query is in.
    pub groups: u32,
    /// Groups that it sees.
    pub mask: u32,
    /// 1 when it sees sensors.
    pub sensors: u32,
    /// 1 when a ray sees the surfaces of soft bodies. Other queries never do.
    pub soft: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: `repr(C)`, the size first, no padding behind the last field; numbers and pointers take any bytes.
unsafe impl Struct for DrystoneQuery {
    const NAME: &'static str = "DrystoneQuery";

    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            kind: DrystoneQueryKind::Ray as u32,
            shape: std::ptr::null(),
            exclude: 0,
            position: [0.0; 3],
            rotation: Quat::IDENTITY.into(),
            direction: [0.0; 3],
            reach: f32::INFINITY,
            most: 8,
            filtered: 0,
            groups: 0,
            mask: 0,
            sensors: 0,
            soft: 0,
            reserved: 0,
        }
    }
}

/// What a query met, overlaps or is nearest to.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct DrystoneHit {
    /// sizeof(DrystoneHit).
    pub struct_size: u32,
    /// Which collider of the body, in the order of its description.
    pub collider: u32,
    /// The body.
    pub body: DrystoneBody,
    /// Where, in world space; of overlaps nothing. Of a query that begins inside of the body, its own point or middle.
    pub point: [f32; 3],
    /// Out of the body, of length one: against the way of a ray or cast that begins inside, zero for a search from
    /// there.
    pub normal: [f32; 3],
    /// The way to it, metres; 0 from inside.
    pub distance: f32,
    /// The same as a part of the reach or the motion, 0 to 1.
    pub fraction: f32,
    /// The soft body that a ray met first; then `body` is 0, and `collider` the number of the triangle, as
    /// `drystone_soft_triangles` counts them.
    pub soft: DrystoneSoft,
}

// SAFETY: as above.
unsafe impl Struct for DrystoneHit {
    const NAME: &'static str = "DrystoneHit";

    fn defaults() -> Self {
        Self { struct_size: size_of::<Self>() as u32, ..Self::default() }
    }
}

/// Room for queries in a host's frames.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct DrystoneQueryRoom {
    /// sizeof(DrystoneQueryRoom).
    pub struct_size: u32,
    /// Rays of a batch.
    pub rays: u32,
    /// Casts.
    pub casts: u32,
    /// Overlaps.
    pub overlaps: u32,
    /// Colliders that all overlaps together list: the sum of their `most`.
    pub overlap_hits: u32,
    /// Searches for what is closest.
    pub closest: u32,
}

// SAFETY: as above.
unsafe impl Struct for DrystoneQueryRoom {
    const NAME: &'static str = "DrystoneQueryRoom";

    fn defaults() -> Self {
        Self { struct_size: size_of::<Self>() as u32, ..Self::default() }
    }
}

impl From<QueryHit> for DrystoneHit {
    fn from(hit: QueryHit) -> Self {
        Self {
            collider: hit.collider as u32,
            body: from_body(hit.body),
            point: hit.point.into(),
            normal: hit.normal.into(),
            distance: hit.distance,
            fraction: hit.fraction,
            ..Self::defaults()
        }
    }
}

impl From<SoftHit> for DrystoneHit {
    fn from(hit: SoftHit) -> Self {
        Self {
            collider: hit.triangle,
            point: hit.point.into(),
            normal: hit.normal.into(),
            distance: hit.distance,
            fraction: hit.fraction,
            soft: from_soft(hit.soft),
            ..Self::defaults()
        }
    }
}

impl From<OverlapHit> for DrystoneHit {
    fn from(hit: OverlapHit) -> Self {
        Self { collider: hit.collider as u32, body: from_body(hit.body), ..Self::defaults() }
    }
}

/// Where the answer to each query of a list lies: its kind, and its number among those.
type Places = Vec<(DrystoneQueryKind, usize)>;

/// Queries of a stepper.
#[derive(Default)]
pub(super) struct Asked {
    /// Batches that were recorded and whose answers have not come.
    pending: VecDeque<Places>,
    /// Answers that were not told yet, with their frames.
    answered: VecDeque<(u64, Places, QueryResults)>,
    /// The answers that are told now.
    told: (Places, QueryResults),
}

/// A batch of a host's queries.
///
/// # Safety
/// Shapes are as they say.
unsafe fn batch(queries: &[DrystoneQuery]) -> Result<(QueryBatch, Places), Failure> {
    use DrystoneQueryKind::{Cast, Closest, Overlap, Ray};
    let (mut batch, mut places) = (QueryBatch::new(), Places::new());
    for (i, query) in queries.iter().enumerate() {
        let kind = choice("DrystoneQuery.kind", &[Ray, Cast, Overlap, Closest], query.kind)?;
        let mut filter = QueryFilter::default();
        if query.exclude != 0 {
            filter = filter.without(body_handle(query.exclude)?);
        }
        if switch("DrystoneQuery.filtered", query.filtered)? {
            filter = filter.groups(query.groups, query.mask);
        }
        if switch("DrystoneQuery.sensors", query.sensors)? {
            filter = filter.with_sensors();
        }
        if switch("DrystoneQuery.soft", query.soft)? {
            filter = filter.with_soft();
        }
        if query.reserved != 0 {
            return Err(Failure::value("DrystoneQuery.reserved must be 0"));
        }
        let shape = match query.shape.is_null() {
            true => None,
            // SAFETY: this function's contract.
            false => Some(unsafe { collider(&read("DrystoneQuery.shape", query.shape)?) }?.shape),
        };
        let missing = || Failure::pointer(&format!("queries[{i}].shape"), true);
        let (position, direction) = (Vec3::from(query.position), Vec3::from(query.direction));
        let (rotation, reach) = (Quat::from_array(query.rotation), query.reach);
        let place = match (kind, shape) {
            (Ray, None) => batch.ray(position, direction, reach, filter),
            (Ray, Some(_)) => return Err(Failure::value(format!("queries[{i}]: a ray has no shape"))),
            (Cast, shape) => batch.shape_cast(&shape.ok_or_else(missing)?, position, rotation, direction, filter),
            (Overlap, shape) => batch.overlap(&shape.ok_or_else(missing)?, position, rotation, query.most, filter),
            (Closest, None) => batch.closest_point(position, reach, filter),
            (Closest, Some(shape)) => batch.closest(&shape, position, rotation, reach, filter),
        };
        places.push((kind, place?));
    }
    Ok((batch, places))
}

/// Fills in what a query is when nobody says anything. Set `struct_size` before.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_query_defaults(query: *mut DrystoneQuery) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe { write("query", query, &DrystoneQuery::defaults()) })
}

/// Answers queries about the world as the last step left it, on the CPU: `drystone_query_hit` has the answers until the
/// next call.
///
/// # Safety
/// As at the top of this header; there are `count` queries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_query(
    stepper: *mut DrystoneStepper,
    queries: *const DrystoneQuery,
    count: u32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let (batch, places) = batch(&read_list("queries", queries, count)?)?;
        with(stepper, |inside| {
            let answers = inside.backend.on_cpu("drystone_query")?.query(&batch)?;
            inside.queries.told = (places, answers);
            Ok(())
        })
    })
}

/// Makes room for lists of queries of this size in the host's frames, for as many that are pending as frames may be.
/// It does nothing if there is that much room; otherwise it allocates, and queries that are pending are forgotten.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_reserve_queries(
    stepper: *mut DrystoneStepper,
    room: *const DrystoneQueryRoom,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let DrystoneQueryRoom { rays, casts, overlaps, overlap_hits, closest, .. } = read("room", room)?;
        with(stepper, |inside| {
            let room = QueryRoom { rays, casts, overlaps, overlap_hits, closest };
            inside.backend.on_vulkan("drystone_reserve_queries")?.reserve_queries(room)?;
            inside.queries.pending.clear();
            Ok(())
        })
    })
}

/// Records the answers to queries behind the frame that was recorded last, about the state that it leaves behind: it
/// does not submit, wait or allocate device memory. `frame` gets the number of that frame and may be NULL. What they
/// wrote is visible to what `exit` names, which may be NULL.
///
/// # Safety
/// As for `drystone_record`; there are `count` queries. The commands come behind those of the last recorded frame, and
/// that frame does not count as completed before they are done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_record_queries(
    stepper: *mut DrystoneStepper,
    commands: VkCommandBuffer,
    queries: *const DrystoneQuery,
    count: u32,
    exit: *const DrystoneAccess,
    frame: *mut u64,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let exit = access("exit", exit)?;
        if commands.is_null() {
            return Err(Failure::pointer("commands", true));
        }
        let (batch, places) = batch(&read_list("queries", queries, count)?)?;
        let number = with(stepper, |inside| {
            let stepper = inside.backend.on_vulkan("drystone_record_queries")?;
            let number = stepper.record_queries(commands, &batch, exit)?;
            inside.queries.pending.push_back(places);
            Ok(number)
        })?;
        if frame.is_null() { Ok(()) } else { put("frame", frame, number) }
    })
}

/// Takes the answers to the oldest queries that were recorded behind frames up to `completed` and were not taken yet;
/// `drystone_query_hit` has them until the next call. `frame` gets the number of their frame. Never waits.
/// `DRYSTONE_RESULT_NOTHING` when there are none.
///
/// # Safety
/// As at the top of this header; frames up to `completed` are done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_poll_queries(
    stepper: *mut DrystoneStepper,
    completed: u64,
    frame: *mut u64,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    guard(|| unsafe {
        with(stepper, |inside| {
            let answers = inside.backend.on_vulkan("drystone_poll_queries")?.poll_queries(completed)?;
            let asked = &mut inside.queries;
            for (number, results) in answers {
                // They come in the order in which they were recorded.
                let places = asked.pending.pop_front().unwrap_or_default();
                asked.answered.push_back((number, places, results));
            }
            let Some((number, ..)) = asked.answered.front() else { return Ok(DrystoneResult::Nothing) };
            put("frame", frame, *number)?;
            if let Some((_, places, results)) = asked.answered.pop_front() {
                asked.told = (places, results);
            }
            Ok(DrystoneResult::Ok)
        })
    })
}

impl Inside {
    /// The answer to a query of the list that was answered last: how many there are, and number `item` of those.
    fn answer(&self, query: u32, item: u32) -> Result<(u32, Option<DrystoneHit>), Failure> {
        use DrystoneQueryKind::{Cast, Closest, Overlap, Ray};
        let (places, results) = &self.queries.told;
        let none = || Failure::value(format!("there is no query {query}: the last answers are to {}", places.len()));
        let &(kind, place) = places.get(query as usize).ok_or_else(none)?;
        let one = |hits: &[Option<QueryHit>]| hits.get(place).copied().flatten().map(DrystoneHit::from);
        let hit = match kind {
            Ray => {
                let soft = results.soft_rays.get(place).copied().flatten().map(DrystoneHit::from);
                one(&results.rays).or(soft)
            }
            Cast => one(&results.casts),
            Closest => one(&results.closest),
            Overlap => {
                let Some(found) = results.overlaps.get(place) else { return Ok((0, None)) };
                return Ok((found.count, found.hits.get(item as usize).copied().map(DrystoneHit::from)));
            }
        };
        Ok((hit.is_some().into(), hit.filter(|_| item == 0)))
    }
}

/// What query number `query` of the last answers met, and of overlaps number `item`, from 0 on; else `item` is 0.
/// `DRYSTONE_RESULT_NOTHING` when there is none. `count` gets how many there are, of overlaps also those that are not
/// listed, and may be NULL.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_query_hit(
    stepper: *const DrystoneStepper,
    query: u32,
    item: u32,
    hit: *mut DrystoneHit,
    count: *mut u32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    guard(|| unsafe {
        let (there, found) = with(stepper, |inside| inside.answer(query, item))?;
        if !count.is_null() {
            put("count", count, there)?;
        }
        let Some(found) = found else { return Ok(DrystoneResult::Nothing) };
        write("hit", hit, &found)?;
        Ok(DrystoneResult::Ok)
    })
}
