//! Converts bodies and colliders of the world to the device's records and back, and gathers the edits of a step into
//! one batch. Touches no device.

use crate::glam::{DVec3, Quat, Vec3};
use crate::state::Capacities;
use crate::stepper::BodyState;
use crate::world::{Edit, World};
use drystone_kernels::math::{Pose, Rotation, Twist};
use drystone_kernels::state::edits::{EditRecord, what};
use drystone_kernels::state::material::Material;
use drystone_kernels::state::material::traits::{CONTINUOUS, GENERATION};
use drystone_kernels::state::rigid::{Body, BodyFrame, Collider, Friction, Size, What, kind, shape};

const STILL: Twist = Twist { linear: Vec3::ZERO, angular: Vec3::ZERO };

/// The records that the device keeps of a body.
pub(crate) struct BodyRecord {
    pub body: Body,
    pub pose: Pose,
    pub velocity: Twist,
    pub force: Twist,
    pub frame: BodyFrame,
}

impl BodyRecord {
    /// The records of the body in a slot; an empty slot gets a disabled body.
    pub fn new(world: &World, index: u32) -> Self {
        let Some(entry) = world.slot(index) else {
            let body = Body { kind: kind::DISABLED, ..Default::default() };
            let pose = Pose { position: Vec3::ZERO, rotation: Rotation::IDENTITY };
            let frame = BodyFrame { centre: Vec3::ZERO, axes: Rotation::IDENTITY };
            return Self { body, pose, velocity: STILL, force: STILL, frame };
        };
        let (desc, mass) = (&entry.desc, &entry.mass);
        let kind = desc.kind.code();
        let velocity = Twist { linear: desc.linear_velocity, angular: desc.angular_velocity };
        Self {
            body: Body {
                mass: mass.mass,
                inertia: mass.inertia,
                gravity_scale: desc.gravity_scale.unwrap_or(1.0),
                kind: kind | world.world_word(index),
                linear_damping: entry.damping.0,
                angular_damping: entry.damping.1,
            },
            pose: to_device(mass.centre, mass.axes, desc.position, desc.rotation),
            velocity: if kind == kind::STATIC { STILL } else { velocity },
            force: if kind == kind::DYNAMIC { Twist { linear: entry.force, angular: entry.torque } } else { STILL },
            frame: BodyFrame { centre: mass.centre, axes: rotation_to_device(mass.axes) },
        }
    }

    /// The state in the user's body space.
    pub fn state(&self, world: &World, index: u32) -> BodyState {
        from_device(world, index, &self.body, &self.pose, &self.velocity)
    }
}

pub(crate) fn rotation_to_device(q: Quat) -> Rotation {
    let q = q.normalize();
    Rotation { x: q.x, y: q.y, z: q.z, s: q.w }
}

/// Converts a pose of the user's body space to one of the principal axes at the centre of mass.
fn to_device(centre: Vec3, axes: Quat, position: Vec3, rotation: Quat) -> Pose {
    Pose { position: position + rotation * centre, rotation: rotation_to_device(rotation * axes) }
}

/// Converts the device's records of a body to the state in the user's body space.
pub(crate) fn from_device(world: &World, index: u32, body: &Body, pose: &Pose, velocity: &Twist) -> BodyState {
    let (centre, axes) = world.slot(index).map_or((Vec3::ZERO, Quat::IDENTITY), |e| (e.mass.centre, e.mass.axes));
    let r = pose.rotation;
    let rotation = (Quat::from_xyzw(r.x, r.y, r.z, r.s) * axes.inverse()).normalize();
    BodyState {
        position: pose.position - rotation * centre,
        rotation,
        linear_velocity: velocity.linear,
        angular_velocity: velocity.angular,
        enabled: !body.is(kind::DISABLED),
    }
}

/// The record of the collider in a slot; an empty slot gets one without a shape.
pub(crate) fn collider_record(world: &World, slot: u32) -> Collider {
    let Some((body, entry, c)) = world.collider(slot) else {
        return Collider { what: What { shape: shape::NONE, ..Default::default() }, ..Default::default() };
    };
    let (centre, axes) = (entry.mass.centre, entry.mass.axes.inverse());
    let (shape, half, radius) = c.parameters();
    // Behind the box, which is the first.
    let hull = world.hull_of(slot).map_or(0, |h| h + 1);
    Collider {
        what: What { body, shape, groups: c.groups, mask: c.mask },
        size: Size { x: half.x, y: half.y, z: half.z, radius },
        hull,
        pose: Pose { position: axes * (c.origin() - centre), rotation: rotation_to_device(axes * c.rotation) },
        friction: Friction { fixed: c.friction_static, sliding: c.friction_dynamic },
        traits: c.traits()
            | if entry.desc.continuous { CONTINUOUS } else { 0 }
            | world.handle(body).map_or(0, |h| h.generation << GENERATION),
    }
}

/// The surface material of the collider in a slot.
pub(crate) fn material_record(world: &World, slot: u32) -> Material {
    let Some((_, entry, c)) = world.collider(slot) else { return Material::default() };
    let axes = entry.mass.axes.inverse();
    Material {
        restitution: c.restitution,
        rolling: c.friction_rolling,
        torsional: c.friction_torsional,
        linear: axes * c.surface_velocity,
        angular: axes * c.surface_spin,
    }
}

/// Impulse, newton seconds, from which on the contacts of the collider in a slot are reported as events.
pub(crate) fn report_impulse(world: &World, slot: u32) -> f32 {
    world.collider(slot).map_or(0.0, |(.., c)| c.report_impulse)
}

/// The edits since the last step, as the device gets them.
pub(crate) struct Batch {
    /// Records for the stage `edits`.
    pub records: Vec<EditRecord>,
    /// Runs of colliders in consecutive slots, each with its first slot.
    pub colliders: Vec<(u32, Vec<Collider>)>,
    /// Body spaces of new bodies in consecutive slots, each run with its first slot.
    pub frames: Vec<(u32, Vec<BodyFrame>)>,
    /// Numbers of new bodies in their worlds, by slot as well.
    pub locals: Vec<(u32, Vec<u32>)>,
    /// Edits of the next step that undo what was meant for one step only.
    pub after: Vec<(u32, Edit)>,
}

impl Batch {
    /// For a step of `seconds` with capacities `room`. Edits of slots beyond `room.bodies` are skipped: those bodies
    /// were added and removed again before the device saw them.
    pub fn new(world: &World, room: &Capacities, seconds: f32) -> Self {
        let mut edits: Vec<(u32, Edit)> = world.edits().iter().filter(|e| e.0 < room.bodies).copied().collect();
        // The sort is stable, so that the edits of one body stay in order.
        edits.sort_by_key(|e| e.0);
        let mut batch = Self {
            records: Vec::with_capacity(edits.len()),
            colliders: Vec::new(),
            frames: Vec::new(),
            locals: Vec::new(),
            after: Vec::new(),
        };
        for said in edits.chunk_by(|a, b| a.0 == b.0) {
            let change = said.iter().fold(Change::default(), |change, (_, edit)| change.then(*edit));
            change.write(world, said[0].0, seconds, &mut batch);
        }
        for slot in world.changed_colliders().into_iter().filter(|slot| *slot < room.colliders) {
            append(&mut batch.colliders, slot, collider_record(world, slot));
        }
        batch
    }
}

/// Adds an item to the run that ends before its slot, or begins a new one.
fn append<T>(runs: &mut Vec<(u32, Vec<T>)>, slot: u32, item: T) {
    match runs.last_mut() {
        Some((first, run)) if *first + run.len() as u32 == slot => run.push(item),
        _ => runs.push((slot, vec![item])),
    }
}

/// The sum of impulses or forces at points, as a linear and an angular part about the first point.
#[derive(Clone, Copy)]
struct Pushes {
    linear: DVec3,
    angular: DVec3,
    point: Vec3,
}

impl Pushes {
    fn with(pushes: Option<Self>, linear: Vec3, point: Vec3) -> Option<Self> {
        let mut sum = pushes.unwrap_or(Self { linear: DVec3::ZERO, angular: DVec3::ZERO, point });
        sum.linear += linear.as_dvec3();
        sum.angular += (point.as_dvec3() - sum.point.as_dvec3()).cross(linear.as_dvec3());
        Some(sum)
    }
}

/// How an edit prescribes a body's motion.
#[derive(Clone, Copy)]
enum Motion {
    Velocity(Vec3, Vec3),
    Target(Vec3, Quat),
}

/// All edits of one body, combined.
#[derive(Clone, Copy, Default)]
struct Change {
    body: bool,
    renewed: bool,
    pose: Option<(Vec3, Quat)>,
    motion: Option<Motion>,
    impulse: Option<(DVec3, DVec3)>,
    impulse_at: Option<Pushes>,
    force: bool,
    push: Option<(DVec3, DVec3)>,
    push_at: Option<Pushes>,
    damping: bool,
}

fn sum(to: Option<(DVec3, DVec3)>, linear: Vec3, angular: Vec3) -> Option<(DVec3, DVec3)> {
    let (l, a) = to.unwrap_or_default();
    Some((l + linear.as_dvec3(), a + angular.as_dvec3()))
}

impl Change {
    fn then(mut self, edit: Edit) -> Self {
        match edit {
            Edit::Body => self = Self { body: true, ..Self::default() },
            Edit::Renew => self = Self { body: self.body, renewed: true, ..Self::default() },
            Edit::Pose(position, rotation) => self.pose = Some((position, rotation)),
            Edit::Velocity(linear, angular) => self = self.moved(Motion::Velocity(linear, angular)),
            Edit::Target(position, rotation) => self = self.moved(Motion::Target(position, rotation)),
            Edit::Impulse(linear, angular) => self.impulse = sum(self.impulse, linear, angular),
            Edit::ImpulseAt(impulse, point) => self.impulse_at = Pushes::with(self.impulse_at, impulse, point),
            Edit::Force => self.force = true,
            Edit::Push(force, torque) => self.push = sum(self.push, force, torque),
            Edit::Damping => self.damping = true,
            Edit::PushAt(force, point) => self.push_at = Pushes::with(self.push_at, force, point),
        }
        self
    }

    /// Sets the motion. It replaces all impulses before it.
    fn moved(self, motion: Motion) -> Self {
        Self { motion: Some(motion), impulse: None, impulse_at: None, ..self }
    }

    /// Writes the body's records, in the order of [`what`].
    fn write(&self, world: &World, body: u32, seconds: f32, batch: &mut Batch) {
        let on_device = |position, rotation| {
            let (centre, axes) =
                world.slot(body).map_or((Vec3::ZERO, Quat::IDENTITY), |e| (e.mass.centre, e.mass.axes));
            to_device(centre, axes, position, rotation)
        };
        let record = BodyRecord::new(world, body);
        let mut new = self.body && !world.is_sent(body);
        if new {
            append(&mut batch.frames, body, record.frame);
            append(&mut batch.locals, body, world.local(body));
        }
        // What is as it was described is sent like what is new.
        new |= self.renewed && world.slot(body).is_some();
        let mut put = |what, a, b, c| batch.records.push(EditRecord { body, what, a, b, c });
        if new {
            let Body { mass, inertia, gravity_scale, kind, linear_damping, angular_damping } = record.body;
            let code = what::BODY | kind << what::KIND_SHIFT;
            put(code, Vec3::new(mass, gravity_scale, 0.0), inertia, Vec3::new(linear_damping, angular_damping, 0.0));
        }
        let pose = self.pose.map(|(p, r)| on_device(p, r)).or(new.then_some(record.pose));
        if let Some(Pose { position, rotation }) = pose {
            put(what::POSE, position, rotation.v(), Vec3::X * rotation.s);
        }
        let described = new.then_some(Motion::Velocity(record.velocity.linear, record.velocity.angular));
        match self.motion.or(described) {
            Some(Motion::Velocity(linear, angular)) => put(what::VELOCITY, linear, angular, Vec3::ZERO),
            Some(Motion::Target(p, r)) => {
                let Pose { position, rotation } = on_device(p, r);
                put(what::TARGET, position, rotation.v(), Vec3::new(rotation.s, 1.0 / seconds, 0.0));
                batch.after.push((body, Edit::Velocity(Vec3::ZERO, Vec3::ZERO)));
            }
            None => {}
        }
        if let Some((linear, angular)) = self.impulse {
            put(what::IMPULSE, linear.as_vec3(), angular.as_vec3(), Vec3::ZERO);
        }
        if let Some(p) = self.impulse_at {
            put(what::IMPULSE_AT, p.linear.as_vec3(), p.angular.as_vec3(), p.point);
        }
        if self.force || self.push.is_some() || self.push_at.is_some() || (new && record.force != STILL) {
            let (push, turn) = self.push.unwrap_or_default();
            let (force, torque) = (record.force.linear.as_dvec3() + push, record.force.angular.as_dvec3() + turn);
            put(what::FORCE, force.as_vec3(), torque.as_vec3(), Vec3::ZERO);
        }
        if let Some(p) = self.push_at {
            put(what::FORCE_AT, p.linear.as_vec3(), p.angular.as_vec3(), p.point);
        }
        if self.damping && !new {
            let (linear, angular) = (record.body.linear_damping, record.body.angular_damping);
            put(what::DAMPING, Vec3::new(linear, angular, 0.0), Vec3::ZERO, Vec3::ZERO);
        }
        if self.push.is_some() || self.push_at.is_some() {
            batch.after.push((body, Edit::Force));
        }
    }
}
