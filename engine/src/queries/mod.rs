//! Batches of queries about the world: what rays, spheres and other shapes hit first, what shapes overlap, and what
//! is nearest to them. The device answers them with a hierarchy built over its current poses; they see every shape
//! and every collider of a body.
//!
//! ```
//! use drystone::queries::{QueryBatch, QueryFilter};
//! use drystone::world::{BodyDesc, Collider, Shape, World};
//! use drystone::{Settings, Simulation, backend::Device, glam::{Quat, Vec3}};
//!
//! let mut world = World::new();
//! world.add(BodyDesc::fixed().with(Collider::half_space()))?;
//! let ball = world.add(BodyDesc::dynamic().at(Vec3::Y * 5.0).with(Collider::sphere(0.5)))?;
//! let mut simulation = Simulation::new(world, Settings::default(), Device::Cpu { threads: None })?;
//!
//! let (all, mut batch) = (QueryFilter::default(), QueryBatch::new());
//! let down = batch.ray(Vec3::Y * 10.0, Vec3::NEG_Y, 100.0, all)?;
//! let past_it = batch.ray(Vec3::Y * 10.0, Vec3::NEG_Y, 100.0, all.without(ball))?;
//! let wide = batch.sphere_cast(Vec3::new(1.0, 10.0, 0.0), 1.0, Vec3::NEG_Y * 9.5, all)?;
//! let half = Vec3::splat(5.0);
//! let inside = batch.overlap(&Shape::Box { half }, Vec3::ZERO, Quat::IDENTITY, 8, all)?;
//! let near = batch.closest_point(Vec3::new(0.0, 5.0, 2.0), 3.0, all)?;
//!
//! let results = simulation.query(&batch)?;
//! assert!((results.rays[down].unwrap().distance - 4.5).abs() < 1e-5);
//! assert_eq!(results.rays[down].unwrap().body, ball);
//! assert!((results.rays[past_it].unwrap().distance - 10.0).abs() < 1e-5);
//! assert_eq!(results.casts[wide].unwrap().body, ball);
//! assert_eq!(results.overlaps[inside].count, 2);
//! assert!((results.closest[near].unwrap().distance - 1.5).abs() < 1e-5);
//! # Ok::<(), drystone::Error>(())
//! ```
//!
//! [`Simulation::query`](crate::Simulation::query) waits for the answers. Inside a host's frames,
//! [`Stepper::record_queries`](crate::stepper::Stepper::record_queries) only records them behind the step of the
//! frame; the answers are polled some frames later, or read by the host's own shaders in device memory
//! ([`HitRecord`], [`OverlapRecord`]).
//!
//! - **State.** Queries see the bodies as they are on the device: a body added since the last step is not there yet,
//!   and a hit on a body removed since is not reported.
//! - **Inside.** Bodies are solid. A ray or cast that begins inside one hits it at distance 0, with a normal against
//!   its direction; a search from inside finds it at distance 0, with a zero normal. The point is then that of the
//!   query.
//! - **Order.** The nearest hit is reported; of equally near ones that with the lower body slot, then the lower
//!   collider. Overlaps are listed in the same order. Nothing depends on threads or on the order of the search.
//! - **Soft bodies.** Rays meet the surfaces of soft bodies when their filter says so ([`QueryFilter::with_soft`]):
//!   triangles without an inside. Casts, overlaps and searches for the closest only look at colliders: they rest on
//!   convex shapes that lie around a point, and a triangle of cloth is none.
//! - **Precision.** Rays are as exact as single precision is at the distance from where they start. Casts and searches
//!   end when shapes are known to be within a millionth of their size of each other.

mod batch;
mod results;

pub use crate::plan::queries::{QueryBuffers, QueryPlan, QueryRoom};
pub use batch::{QueryBatch, QueryFilter};
pub use drystone_kernels::queries::records::{HIT_VERSION, HitRecord, OverlapRecord};
pub(crate) use results::{Answers, Expected};
pub use results::{OverlapHit, OverlapHits, QueryHit, QueryResults, SoftHit};

/// A query that cannot be answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A query has invalid values.
    #[error("{what} {index} of the batch: {why}")]
    Invalid {
        /// Its kind.
        what: &'static str,
        /// Which of its kind.
        index: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A hull that the device does not have.
    #[error(
        "{what} {index} of the batch: its hull is on no body of the world, or on none that the device has yet; add a body \
         with this hull, which may be far away, and make a step"
    )]
    UnknownHull {
        /// Its kind.
        what: &'static str,
        /// Which of its kind.
        index: usize,
    },
    /// A batch has more queries than were reserved.
    #[error("the batch has {asked} {what}, and there is room for {room}; reserve more, or ask in several frames")]
    TooMany {
        /// The kind.
        what: &'static str,
        /// How many there are.
        asked: u32,
        /// How many there may be.
        room: u32,
    },
    /// No memory was reserved for queries.
    #[error("there is no room for queries; call `reserve_queries` before they are recorded")]
    NotReserved,
    /// No frame was recorded yet.
    #[error("no frame was recorded yet, so there is nothing to ask about; record queries behind a frame")]
    NoFrame,
    /// As many batches are pending as frames may be in flight.
    #[error(
        "{pending} batches of queries are pending, as many as frames may be; take the results of earlier ones first"
    )]
    Pending {
        /// How many.
        pending: usize,
    },
}
