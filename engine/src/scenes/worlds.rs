//! Small worlds, of which there may be thousands in one: see [`World::copies`].

use crate::glam::{Quat, Vec3};
use crate::world::joint::JointAxis;
use crate::world::{BodyDesc, Collider, JointDesc, World, WorldError};

/// A cart of 1 kg on a rail of 4.8 m along x, and on it a pole of 0.1 kg and 1 m that stands on end, hinged about z.
/// "cart" and "pole" are their names, in this order.
pub fn cartpole() -> Result<World, WorldError> {
    let mut world = World::new();
    let (rail, top) = (Vec3::Y * 1.0, Vec3::Y * 1.1);
    let cart = BodyDesc::dynamic().at(rail).with(Collider::cuboid(Vec3::new(0.4, 0.2, 0.2))).weighing(1.0);
    let cart = world.add_named("cart", cart)?;
    let pole = BodyDesc::dynamic().at(top + Vec3::Y * 0.5).with(Collider::capsule(0.47, 0.03)).weighing(0.1);
    let pole = world.add_named("pole", pole)?;
    let slider = JointDesc::slider(cart, None).placed(&world, rail, Quat::IDENTITY)?;
    world.add_joint_named("rail", slider.limited(JointAxis::X, -2.4, 2.4))?;
    let hinge = JointDesc::hinge(pole, cart).placed(&world, top, Quat::from_rotation_arc(Vec3::X, Vec3::Z))?;
    world.add_joint_named("hinge", hinge)?;
    Ok(world)
}
