//! Something between two points: a rod, a rope, a spring.
//!
//! ```text
//!     a o--------------o b      rod      Distance held
//!     a o~~~~~~~~~~~~~~o b      rope     Distance between 0 and its length: it pulls and never pushes
//!     a o-/\/\/\/\/\/\-o b      spring   Distance pulled towards its rest length
//! ```

use super::{BodyHandle, Drive, Hold, JointAxis, JointDesc};

impl JointDesc {
    /// A rod: two points that keep their distance.
    ///
    /// ```text
    ///     a o--------------o b      Distance held; frames do not matter, the bodies turn as they like
    /// ```
    pub fn rod(a: BodyHandle, b: impl Into<Option<BodyHandle>>, length: f32) -> Self {
        let mut desc = Self::free(a, b.into()).colliding();
        desc.axes[JointAxis::Distance as usize].hold = Hold::At(length);
        desc
    }

    /// A rope: two points that are no farther apart than its length. It pulls and never pushes.
    ///
    /// ```text
    ///     a o~~~~~~~~~~~~~~o b      Distance at most the length; frames do not matter
    /// ```
    pub fn rope(a: BodyHandle, b: impl Into<Option<BodyHandle>>, length: f32) -> Self {
        let desc = Self::free(a, b.into()).colliding();
        desc.limited(JointAxis::Distance, f32::NEG_INFINITY, length)
    }

    /// A spring between two points, with a damper of its length's rate.
    ///
    /// ```text
    ///     a o-/\/\/\/\/\/\-o b      Distance pulled towards the rest length; frames do not matter
    /// ```
    pub fn spring(a: BodyHandle, b: impl Into<Option<BodyHandle>>, rest: f32, stiffness: f32, damping: f32) -> Self {
        let spring = Drive::Spring { target: rest, stiffness, damping, max: f32::INFINITY };
        Self::free(a, b.into()).colliding().driven(JointAxis::Distance, spring)
    }
}
