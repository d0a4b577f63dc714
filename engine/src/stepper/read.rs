//! States of bodies and forces of joints, read from the device between steps.
//!
//! Each call waits for the device once and copies only what it returns; a step itself reads none of this. A host that
//! records steps into its own frames reads the same buffers there, without waiting: `Stepper::poses`,
//! `Stepper::joint_forces`, and [`JointDesc::error`](crate::world::JointDesc::error) applied to the poses.

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
#[non_exhaustive]
pub struct BodyState {
    /// Position of the body's origin, metres in world space.
    pub position: Vec3,
    /// Rotation from body space to world space.
    pub rotation: Quat,
    /// Velocity of the centre of mass, metres a second in world space.
    pub linear_velocity: Vec3,
    /// Angular velocity, radians a second in world space.
    pub angular_velocity: Vec3,
    /// False when the body was quarantined because its state was not finite.
    pub enabled: bool,
}

/// Force and error of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct JointState {
    /// Force on body a at its anchor in the last step (the last sub-step, if there are several), newtons in world
    /// space. Body b gets the opposite force. For a joint that broke in that step, the force at which it broke.
    pub force: Vec3,
    /// Torque on body a from the joint's angular rows, newton metres in world space.
    pub torque: Vec3,
    /// How far the bodies are from where the joint holds them; 0 when it is broken.
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
            // The device still has the slot's previous body.
            BodyRecord::new(world, index).state(world, index)
        }
    }
}

/// A read of one element.
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

/// Slots of a joint's bodies; the first one twice when the other end is the world.
fn ends(desc: &JointDesc) -> [u32; 2] {
    [desc.body_a, desc.body_b.unwrap_or(desc.body_a)].map(BodyHandle::index)
}

impl Stepper<Box<dyn Runner>> {
    /// The state of a body after the last step, or as described if the body was added since. Waits for the device
    /// once.
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

    /// The force of a joint in the last step, and its error now. Waits for the device once.
    pub fn joint(&mut self, joint: JointHandle) -> Result<JointState> {
        let ends = ends(self.core.world.joint(joint)?);
        let new = self.core.world.joint_store().fresh().contains(&joint.index());
        let (states, pull) = self.states(ends, (!new).then_some(joint.index()))?;
        joint_state(&self.core.world, joint, pull, states)
    }

    /// The states of all joints, as [`Stepper::joint`] gives them, in the order of [`World::joints`]. Waits for the
    /// device once.
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

    /// States of the bodies in `slots`, and the force of one joint if asked for. Slots that the device does not have
    /// yet are not read.
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

    /// States of all body slots in use, and the forces of all joints if asked for.
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
