//! Queries of a stepper that waits. Their buffers are a part attached to the runner, which is made again with longer
//! ones when a batch does not fit.

use super::Stepper;
use crate::Result;
use crate::backend::{Part, ReadInto, Runner, Write};
use crate::queries::{Answers, Expected, QueryBatch, QueryBuffers, QueryPlan, QueryResults, QueryRoom};

/// The part of the runner that answers queries. It is lost when the step's buffers are replaced.
pub(super) struct Attached {
    generation: u64,
    part: Part,
    buffers: QueryBuffers,
    room: QueryRoom,
}

impl Stepper<Box<dyn Runner>> {
    /// Answers a batch about the state after the last step. Waits for the device once; allocates when the batch is
    /// larger than earlier ones: see [`queries`](crate::queries).
    pub fn query(&mut self, batch: &QueryBatch) -> Result<QueryResults> {
        let asked = batch.asked(&self.core.world)?;
        if batch.is_empty() {
            return Ok(QueryResults::default());
        }
        let (part, b) = self.attach_queries(&batch.room())?;
        let [casts, overlaps, closest] = &asked.shapes;
        let writes = [
            Write::new(b.counts, 0, &asked.counts),
            Write::new(b.rays, 0, asked.rays),
            Write::new(b.casts, 0, casts),
            Write::new(b.overlaps, 0, overlaps),
            Write::new(b.closest, 0, closest),
        ];
        self.device.write_batch(&writes)?;
        let expected = Expected::of(batch);
        let mut answers = expected.answers();
        let Answers { rays, casts, overlap_counts, overlap_hits, closest } = &mut answers;
        let mut reads = [
            ReadInto::new(b.ray_hits, rays),
            ReadInto::new(b.cast_hits, casts),
            ReadInto::new(b.overlap_counts, overlap_counts),
            ReadInto::new(b.overlap_hits, overlap_hits),
            ReadInto::new(b.closest_hits, closest),
        ];
        self.device.run_and_read(part, 1, &mut reads)?;
        Ok(expected.results(&answers, &self.core.world))
    }

    fn attach_queries(&mut self, needed: &QueryRoom) -> Result<(Part, QueryBuffers)> {
        let generation = self.core.generation();
        let there = self.queries.as_ref().filter(|a| a.generation == generation);
        if let Some(attached) = there.filter(|a| a.room.holds(needed)) {
            return Ok((attached.part, attached.buffers));
        }
        let room = there.map_or(QueryRoom::default(), |a| a.room).grown_to(needed);
        let before = there.map(|a| a.part);
        self.queries = None;
        if let Some(part) = before {
            self.device.detach(part)?;
        }
        let base = self.device.recording().clone();
        let plan = QueryPlan::new(&base, self.core.plan(), &base.free_name("queries"), room)?;
        let part = self.device.attach(plan.recording)?;
        self.queries = Some(Attached { generation, part, buffers: plan.buffers, room });
        Ok((part, plan.buffers))
    }
}
