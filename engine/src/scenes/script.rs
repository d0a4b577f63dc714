//! Scripted actions of a scene while it runs: adding and removing bodies, impulses and forces, motion of kinematic
//! bodies, breaking and repairing joints.

use super::{Scene, SceneError};
use crate::glam::{Quat, Vec3};
use crate::world::{BodyDesc, BodyHandle, JointHandle, World};
use crate::{Result, Simulation};

/// A single action. It refers to bodies and joints by their names in the world; an added body by the name it is added
/// with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Action {
    /// A body is thrown in.
    Add {
        /// What it is called from then on.
        name: Option<String>,
        /// The body.
        body: BodyDesc,
    },
    /// A body is taken away.
    Remove {
        /// The body.
        body: String,
    },
    /// A body is put somewhere.
    Pose {
        /// The body.
        body: String,
        /// Where.
        position: Vec3,
        /// And how.
        rotation: Quat,
    },
    /// A body gets a velocity.
    Velocity {
        /// The body.
        body: String,
        /// Linear.
        linear: Vec3,
        /// Angular.
        angular: Vec3,
    },
    /// A body gets an impulse.
    Impulse {
        /// The body.
        body: String,
        /// Linear.
        linear: Vec3,
        /// Angular.
        angular: Vec3,
        /// Where the linear one acts, in world space; at the centre of mass when `None`.
        point: Option<Vec3>,
    },
    /// From now on, a force and a torque act on a body.
    Force {
        /// The body.
        body: String,
        /// The force.
        force: Vec3,
        /// The torque.
        torque: Vec3,
    },
    /// A kinematic body goes somewhere.
    Target {
        /// The body.
        body: String,
        /// Where.
        position: Vec3,
        /// And how it is turned there.
        rotation: Quat,
        /// How long it takes; at least a step.
        seconds: f32,
    },
    /// A joint is broken: it does nothing until it is repaired.
    Break {
        /// The joint.
        joint: String,
    },
    /// A joint is repaired.
    Repair {
        /// The joint.
        joint: String,
    },
    /// Gravity changes.
    Gravity {
        /// The acceleration.
        gravity: Vec3,
    },
}

impl From<BodyDesc> for Action {
    fn from(body: BodyDesc) -> Self {
        Self::Add { name: None, body }
    }
}

/// A kinematic body on its way.
struct Way {
    body: BodyHandle,
    from: (Vec3, Quat),
    to: (Vec3, Quat),
    start: f64,
    seconds: f64,
}

/// Makes [`Scene::later`] happen.
pub struct Script {
    /// The last is the first to happen.
    later: Vec<(f32, Action)>,
    ways: Vec<Way>,
}

impl Script {
    /// Of a scene that has not begun.
    pub fn new(scene: &Scene) -> Self {
        let mut later = scene.later.clone();
        later.reverse();
        // Stable: what happens at the same time happens in the order of the list.
        later.sort_by(|a, b| b.0.total_cmp(&a.0));
        Self { later, ways: Vec::new() }
    }

    /// To be called before the step from `time` to `time + dt`. Returns the bodies that were added.
    pub fn before_step(&mut self, simulation: &mut Simulation, time: f64, dt: f32) -> Result<Vec<BodyHandle>> {
        // A tolerance of half a step covers the rounding error of the summed time in the longest runs.
        let now = time + 0.5 * f64::from(dt);
        let mut added = Vec::new();
        while let Some((_, action)) = self.later.pop_if(|(at, _)| f64::from(*at) <= now) {
            self.act(simulation, action, time, &mut added)?;
        }
        let world = simulation.world_mut();
        for way in &self.ways {
            let part = ((time + f64::from(dt) - way.start) / way.seconds).min(1.0) as f32;
            let rotation = way.from.1.slerp(way.to.1, part).normalize();
            world.set_target(way.body, way.from.0.lerp(way.to.0, part), rotation)?;
        }
        self.ways.retain(|way| way.start + way.seconds > time + f64::from(dt));
        Ok(added)
    }

    fn act(&mut self, simulation: &mut Simulation, act: Action, time: f64, added: &mut Vec<BodyHandle>) -> Result<()> {
        let world = simulation.world_mut();
        match act {
            Action::Add { name, body } => {
                added.push(match name {
                    Some(name) => world.add_named(name, body)?,
                    None => world.add(body)?,
                });
            }
            Action::Remove { body } => {
                let handle = body_named(world, &body)?;
                world.remove(handle)?;
                self.ways.retain(|way| way.body != handle);
            }
            Action::Pose { body, position, rotation } => {
                world.set_pose(body_named(world, &body)?, position, rotation)?
            }
            Action::Velocity { body, linear, angular } => {
                let handle = body_named(world, &body)?;
                world.set_velocity(handle, linear, angular)?;
                self.ways.retain(|way| way.body != handle);
            }
            Action::Impulse { body, linear, angular, point: None } => {
                world.apply_impulse(body_named(world, &body)?, linear, angular)?;
            }
            Action::Impulse { body, linear, angular, point: Some(point) } => {
                world.apply_impulse_at(body_named(world, &body)?, linear, point)?;
                world.apply_impulse(body_named(world, &body)?, Vec3::ZERO, angular)?;
            }
            Action::Force { body, force, torque } => world.set_force(body_named(world, &body)?, force, torque)?,
            Action::Target { body, position, rotation, seconds } => {
                let body = body_named(world, &body)?;
                let state = simulation.body(body)?;
                let (from, to) = ((state.position, state.rotation), (position, rotation));
                self.ways.retain(|way| way.body != body);
                self.ways.push(Way { body, from, to, start: time, seconds: f64::from(seconds).max(1e-9) });
            }
            Action::Break { joint } => world.break_joint(joint_named(world, &joint)?)?,
            Action::Repair { joint } => world.repair_joint(joint_named(world, &joint)?)?,
            Action::Gravity { gravity } => world.set_gravity(gravity)?,
        }
        Ok(())
    }
}

fn body_named(world: &World, name: &str) -> Result<BodyHandle, SceneError> {
    world.find(name).ok_or_else(|| SceneError::NoBody { name: name.to_owned() })
}

fn joint_named(world: &World, name: &str) -> Result<JointHandle, SceneError> {
    world.find_joint(name).ok_or_else(|| SceneError::NoJoint { name: name.to_owned() })
}
