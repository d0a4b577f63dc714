//! What bodies and joints do, read from the device between steps.
//!
//! Each call here waits for the device once, and only for what it copies; a step itself reads none of it. A host that
//! records steps into its own frames reads the same buffers there, without any wait: `Stepper::poses`,
//! `Stepper::joint_forces`, and [`JointDesc::error`](crate::world::JointDesc::error) of the poses.

use super::bodies::{BodyRecord, from_device};
use super::{JointForce, Stepper};
use crate::Result;
use crate::backend::{Part, ReadInto, Runner};
use crate::glam::{Quat, Vec3};
use crate::plan::Buffer;
use crate::world::{BodyHandle, JointDesc, JointError, JointHandle, World};
use bytemuck::{Pod, Zeroable};
use drystone_kernels::math::{Pose, Twist};
use drystone_kernels::state::rigid::Body;

/// Position, rotation and velocities of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Of its origin.
    pub position: Vec3,
    /// From body space to world space.
    pub rotation: Quat,
    /// Of its centre of mass.
    pub linear_velocity: Vec3,
    /// In world space.
    pub angular_velocity: Vec3,
    /// False when its state was not finite and it was taken out.
    pub enabled: bool,
}

/// What a joint does.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct JointState {
    /// Force on body a at its point in the last step (the last sub-step, if there are several), newtons in world space.
    /// Body b gets the opposite. Of a joint that broke in that step, what it broke at.
    pub force: Vec3,
    /// Torque on body a of rows about angles, newton metres in world space.
    pub torque: Vec3,
    /// How far it is from where it holds its bodies; 0 when it is broken.
    pub error: JointError,
    /// Whether it is broken.
    pub broken: bool,
}

/// A body's records on the device.
#[derive(Clone, Copy)]
struct Records {
    body: Body,
    pose: Pose,
    velocity: Twist,
}

impl Records {
    fn empty() -> Self {
        Self { body: Body::zeroed(), pose: Pose::zeroed(), velocity: Twist::zeroed() }
    }

    fn state(&self, world: &World, index: u32) -> BodyState {
        if world.is_sent(index) {
            from_device(world, index, &self.body, &self.pose, &self.velocity)
        } else {
            // The device has what was in the slot before.
            BodyRecord::new(world, index).state(world, index)
        }
    }
}

/// Room for one element.
fn one<T: Pod>(buffer: Buffer<T>, index: u32, into: &mut T) -> ReadInto<'_> {
    let offset = u64::from(index) * size_of::<T>() as u64;
    ReadInto { buffer: buffer.id(), offset, into: bytemuck::bytes_of_mut(into) }
}

fn joint_state(world: &World, joint: JointHandle, pull: JointForce, at: [BodyState; 2]) -> Result<JointState> {
    let (desc, broken) = (world.joint(joint)?, world.is_broken(joint)?);
    let [a, b] = at.map(|state| (state.position, state.rotation));
    let error = if broken { JointError::default() } else { desc.error(a, b) };
    Ok(JointState { force: pull.force, torque: pull.torque, error, broken })
}

/// Slots of a joint's bodies; the first twice when it holds to the world.
fn ends(desc: &JointDesc) -> [u32; 2] {
    [desc.body_a, desc.body_b.unwrap_or(desc.body_a)].map(BodyHandle::index)
}

impl Stepper<Box<dyn Runner>> {
    /// The state of a body after the last step; as it was described if it was added since. Waits for the device once.
    pub fn body(&mut self, body: BodyHandle) -> Result<BodyState> {
        self.core.world.entry(body)?;
        Ok(self.states([body.index()], None)?.0[0])
    }

    /// The states of all bodies, as [`Stepper::body`] gives them, in the order of [`World::handles`]. Waits for the
    /// device once.
    pub fn bodies(&mut self) -> Result<Vec<(BodyHandle, BodyState)>> {
        let (states, _) = self.all(false)?;
        let world = &self.core.world;
        Ok(world.handles().map(|h| (h, states[h.index() as usize])).collect())
    }

    /// What a joint did in the last step, and how far it is off now. Waits for the device once.
    pub fn joint(&mut self, joint: JointHandle) -> Result<JointState> {
        let ends = ends(self.core.world.joint(joint)?);
        let new = self.core.world.joint_store().fresh().contains(&joint.index());
        let (states, pull) = self.states(ends, (!new).then_some(joint.index()))?;
        joint_state(&self.core.world, joint, pull, states)
    }

    /// What all joints did, as [`Stepper::joint`] tells it, in the order of [`World::joints`]. Waits for the device
    /// once.
    pub fn joints(&mut self) -> Result<Vec<(JointHandle, JointState)>> {
        if self.core.world.joints().next().is_none() {
            return Ok(Vec::new());
        }
        let (states, pulls) = self.all(true)?;
        let (world, fresh) = (&self.core.world, self.core.world.joint_store().fresh());
        let state = |joint: JointHandle| {
            let at = ends(world.joint(joint)?).map(|slot| states[slot as usize]);
            let pull = pulls.get(joint.index() as usize).filter(|_| !fresh.contains(&joint.index())).copied();
            Ok((joint, joint_state(world, joint, pull.unwrap_or(JointForce::zeroed()), at)?))
        };
        world.joints().map(state).collect()
    }

    /// States of bodies by slot, and what one joint pulls with. Slots that the device does not have yet are not read.
    fn states<const N: usize>(&mut self, slots: [u32; N], joint: Option<u32>) -> Result<([BodyState; N], JointForce)> {
        let (b, room) = (self.core.plan().buffers, self.core.plan().capacities);
        let mut records = [Records::empty(); N];
        let mut pull = JointForce::zeroed();
        let mut reads = Vec::with_capacity(3 * N + 1);
        for (record, slot) in records.iter_mut().zip(slots).filter(|(_, slot)| *slot < room.bodies) {
            reads.push(one(b.bodies, slot, &mut record.body));
            reads.push(one(b.poses, slot, &mut record.pose));
            reads.push(one(b.velocities, slot, &mut record.velocity));
        }
        reads.extend(joint.filter(|j| *j < room.joints).map(|j| one(b.joints.forces, j, &mut pull)));
        self.device.run_and_read(Part::FIRST, 0, &mut reads)?;
        drop(reads);
        let world = &self.core.world;
        Ok((std::array::from_fn(|i| records[i].state(world, slots[i])), pull))
    }

    /// States of all slots of bodies that are in use, and what all joints pull with if that is asked for.
    fn all(&mut self, joints: bool) -> Result<(Vec<BodyState>, Vec<JointForce>)> {
        let (b, room) = (self.core.plan().buffers, self.core.plan().capacities);
        let slots = self.core.world.slot_count();
        let there = slots.min(room.bodies) as usize;
        let mut bodies = vec![Body::zeroed(); there];
        let mut poses = vec![Pose::zeroed(); there];
        let mut velocities = vec![Twist::zeroed(); there];
        let mut pulls = vec![JointForce::zeroed(); if joints { room.joints as usize } else { 0 }];
        let mut reads = vec![
            ReadInto::new(b.bodies, &mut bodies),
            ReadInto::new(b.poses, &mut poses),
            ReadInto::new(b.velocities, &mut velocities),
        ];
        if joints {
            reads.push(ReadInto::new(b.joints.forces, &mut pulls));
        }
        self.device.run_and_read(Part::FIRST, 0, &mut reads)?;
        drop(reads);
        let record = |slot: u32| {
            let i = slot as usize;
            let new = Records::empty();
            if i < there { Records { body: bodies[i], pose: poses[i], velocity: velocities[i] } } else { new }
        };
        let world = &self.core.world;
        Ok(((0..slots).map(|slot| record(slot).state(world, slot)).collect(), pulls))
    }
}
