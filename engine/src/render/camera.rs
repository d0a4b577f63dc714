//! Where pictures are taken from.

use super::RenderError;
use crate::glam::{Quat, Vec3};
use crate::layout::Aabb;
use crate::world::World;
use drystone_kernels::pictures::eye_rays::FAR;
use drystone_kernels::queries::rays::Ray;
use drystone_kernels::state::rigid::shape;

/// An eye that looks at a point, y upwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where the eye is.
    pub eye: Vec3,
    /// What it looks at.
    pub target: Vec3,
    /// Angle between the upper and the lower border of the picture.
    pub fov_degrees: f32,
}

/// Width over height that [`Camera::framing`] expects.
const ASPECT: f32 = 16.0 / 9.0;

impl Camera {
    /// A camera that sees all of `bounds`, standing in `direction` of it.
    pub fn framing(bounds: &Aabb, direction: Vec3) -> Self {
        let fov_degrees = 32.0;
        let target = bounds.centre();
        let direction = direction.normalize_or(Vec3::Z);
        let camera = Self { eye: target + direction, target, fov_degrees };
        let (right, up, forward) = camera.axes();
        let high = (fov_degrees.to_radians() * 0.5).tan();
        let half = (bounds.max - bounds.min) * 0.5;
        // Every corner wants the eye as far back as its way from the line of sight asks for.
        let corners = (0..8u32).map(|i| {
            let sign = |bit: u32| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
            let corner = half * Vec3::new(sign(0), sign(1), sign(2));
            let aside = (corner.dot(up).abs() / high).max(corner.dot(right).abs() / (high * ASPECT));
            aside * 1.12 - corner.dot(forward)
        });
        let distance = corners.fold(0.1 + half.length() * 1.2, f32::max);
        Self { eye: target + direction * distance, ..camera }
    }

    /// A camera that sees every body of a world that has an end, from the front, right and above.
    pub fn of(world: &World) -> Self {
        let unit = Aabb { min: Vec3::splat(-1.0), max: Vec3::ONE };
        Self::framing(&bounds(world).unwrap_or(unit), Vec3::new(0.8, 0.5, 1.2))
    }

    /// Right, up and forward.
    pub(super) fn axes(&self) -> (Vec3, Vec3, Vec3) {
        let forward = (self.target - self.eye).normalize_or(Vec3::NEG_Z);
        // Looking straight down, the picture's top is -z.
        let right = forward.cross(Vec3::Y).try_normalize().unwrap_or(Vec3::X);
        (right, right.cross(forward), forward)
    }

    /// Checks that it looks somewhere.
    pub fn check(&self) -> Result<(), RenderError> {
        if !self.eye.is_finite() || !self.target.is_finite() {
            return Err(RenderError::Camera("place or target is not finite"));
        }
        if self.eye.distance(self.target) < 1e-4 {
            return Err(RenderError::Camera("eye is at its target"));
        }
        if !(1.0..=150.0).contains(&self.fov_degrees) {
            return Err(RenderError::Camera("field of view is not between 1 and 150 degrees"));
        }
        Ok(())
    }

    /// The ray through the middle of a pixel, counted from the upper left, of a picture of `size` pixels.
    pub fn ray(&self, pixel: [u32; 2], size: [u32; 2]) -> Ray {
        let (right, up, forward) = self.axes();
        let high = (self.fov_degrees.to_radians() * 0.5).tan();
        let [width, height] = size.map(|s| s.max(1) as f32);
        let x = (pixel[0] as f32 + 0.5) / width * 2.0 - 1.0;
        let y = 1.0 - (pixel[1] as f32 + 0.5) / height * 2.0;
        let direction = (forward + right * (x * high * width / height) + up * (y * high)).normalize();
        Ray { origin: self.eye, reach: FAR, direction }
    }
}

/// The box around all bodies and soft bodies as they were added, half-spaces left out. `None` when there are none.
pub fn bounds(world: &World) -> Option<Aabb> {
    let mut all = Aabb::EMPTY;
    for desc in world.handles().filter_map(|h| world.desc(h).ok()) {
        for collider in &desc.colliders {
            let (code, half, radius) = collider.parameters();
            if code == shape::HALF_SPACE {
                continue;
            }
            let centre = desc.position + desc.rotation * collider.position;
            let extent = rotated(desc.rotation * collider.rotation, half) + radius;
            all = all.union(&Aabb { min: centre - extent, max: centre + extent });
        }
    }
    for desc in world.soft_bodies().filter_map(|h| world.soft_desc(h).ok()) {
        for i in 0..desc.len() {
            let at = desc.position(i);
            all = all.union(&Aabb { min: at, max: at });
        }
    }
    (all.min.x <= all.max.x).then_some(all)
}

/// Half the sides of the box around a rotated one.
fn rotated(rotation: Quat, half: Vec3) -> Vec3 {
    let axis = |v: Vec3| (rotation * v).abs();
    axis(Vec3::X) * half.x + axis(Vec3::Y) * half.y + axis(Vec3::Z) * half.z
}
