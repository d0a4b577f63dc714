//! What becomes of each of many worlds: counts, energy and a hash of the poses, read from the device between steps.
//!
//! Each call waits for the device once. A host that records steps into its own frames reads the buffers of poses and
//! velocities there, and gives them to [`World::pose_hash_of`].

use super::Stepper;
use crate::Result;
use crate::backend::{Part, ReadInto, Runner};
use crate::glam::DVec3;
use crate::world::World;
use bytemuck::Zeroable;
use drystone_kernels::math::{Pose, Twist};
use drystone_kernels::state::rigid::{Body, Entry, contact_row, entry, kind};

/// One of many worlds after the last step. What belongs to all worlds counts for none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WorldReport {
    /// Bodies.
    pub bodies: u32,
    /// Bodies that were taken out because their state was not finite.
    pub quarantined: u32,
    /// Pairs of colliders that touch.
    pub contacts: u32,
    /// Energy of motion, joules, of moving centres of mass and of turning about them.
    pub kinetic_energy: f64,
    /// Energy of height, joules.
    pub potential_energy: f64,
    /// Hash of every pose's bytes: that of the world alone after the same steps.
    pub pose_hash: u64,
}

/// What reports are made of: an element for every body.
struct Read {
    bodies: Vec<Body>,
    poses: Vec<Pose>,
    velocities: Vec<Twist>,
    rows: Vec<u32>,
    entries: Vec<Entry>,
}

impl Read {
    fn report(&self, world: &World, number: u32) -> Result<WorldReport> {
        let gravity = world.gravity_of(number)?.as_dvec3();
        let pose_hash = world.pose_hash_of(number, &self.poses)?;
        let mut report = WorldReport { pose_hash, ..WorldReport::default() };
        for body in world.handles_in(number) {
            report.bodies += 1;
            let slot = body.index();
            let at = slot as usize;
            let (Some(body), Some(pose), Some(velocity)) =
                (self.bodies.get(at), self.poses.get(at), self.velocities.get(at))
            else {
                continue;
            };
            if body.is(kind::DISABLED) && world.is_sent(slot) {
                report.quarantined += 1;
            }
            if !body.is_dynamic() {
                continue;
            }
            let (mass, inertia) = (f64::from(body.mass), body.inertia.as_dvec3());
            let v = velocity.linear.as_dvec3();
            let w: DVec3 = pose.rotation.inverse().apply(velocity.angular).as_dvec3();
            report.kinetic_energy += 0.5 * (mass * v.length_squared() + w.dot(inertia * w));
            report.potential_energy -= mass * f64::from(body.gravity_scale) * gravity.dot(pose.position.as_dvec3());
            let row = contact_row(&self.rows, slot, self.entries.len() as u32);
            for entry in &self.entries[row.start as usize..row.end as usize] {
                // Of two dynamic bodies, both list the contact.
                let both = self.bodies.get(entry.other as usize).is_some_and(Body::is_dynamic);
                report.contacts += u32::from(entry.is_a() || !both);
            }
        }
        Ok(report)
    }
}

impl Stepper<Box<dyn Runner>> {
    /// What became of one of the worlds. Waits for the device once.
    pub fn world_report(&mut self, world: u32) -> Result<WorldReport> {
        self.core.world.check_world(world)?;
        self.read_worlds()?.report(&self.core.world, world)
    }

    /// The same of every world, in their order. Waits for the device once.
    pub fn world_reports(&mut self) -> Result<Vec<WorldReport>> {
        let read = self.read_worlds()?;
        (0..self.core.world.worlds()).map(|world| read.report(&self.core.world, world)).collect()
    }

    /// Hash of the poses of a world's bodies: to the bit that of the world alone ([`World::alone`]) after the same
    /// steps and edits. Waits for the device once.
    pub fn world_hash(&mut self, world: u32) -> Result<u64> {
        let poses = self.read_poses()?;
        Ok(self.core.world.pose_hash_of(world, &poses)?)
    }

    /// The same of every world, in their order. Waits for the device once.
    pub fn world_hashes(&mut self) -> Result<Vec<u64>> {
        let (poses, world) = (self.read_poses()?, &self.core.world);
        (0..world.worlds()).map(|number| Ok(world.pose_hash_of(number, &poses)?)).collect()
    }

    fn read_poses(&mut self) -> Result<Vec<Pose>> {
        let (b, room) = (self.core.plan().buffers, self.core.plan().capacities);
        let mut poses = vec![Pose::zeroed(); room.bodies as usize];
        self.device.run_and_read(Part::FIRST, 0, &mut [ReadInto::new(b.poses, &mut poses)])?;
        Ok(poses)
    }

    fn read_worlds(&mut self) -> Result<Read> {
        let (b, room) = (self.core.plan().buffers, self.core.plan().capacities);
        let count = room.bodies as usize;
        let mut read = Read {
            bodies: vec![Body::zeroed(); count],
            poses: vec![Pose::zeroed(); count],
            velocities: vec![Twist::zeroed(); count],
            rows: vec![0; count * entry::ROW_WORDS as usize],
            entries: vec![Entry::zeroed(); 2 * (room.manifolds as usize + room.joints as usize)],
        };
        let mut reads = [
            ReadInto::new(b.bodies, &mut read.bodies),
            ReadInto::new(b.poses, &mut read.poses),
            ReadInto::new(b.velocities, &mut read.velocities),
            ReadInto::new(b.rows, &mut read.rows),
            ReadInto::new(b.entries, &mut read.entries),
        ];
        self.device.run_and_read(Part::FIRST, 0, &mut reads)?;
        Ok(read)
    }
}
