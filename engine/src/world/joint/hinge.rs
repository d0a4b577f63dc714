//! Two axes that stay together; a turns about them.
//!
//! ```text
//!              | x          rows: X, Y, Z, SwingY, SwingZ held
//!       a =====+===== b     Twist: the angle, with limits and motor
//!              |
//! ```

use super::{BodyHandle, JointAxis, JointDesc};

impl JointDesc {
    /// A hinge about its x axis: see [`JointDesc::about`]. [`JointAxis::Twist`] is its angle, to be limited or driven.
    ///
    /// ```text
    ///              | x          X, Y, Z, SwingY, SwingZ held
    ///       a =====+===== b     Twist free
    ///              |
    /// ```
    pub fn hinge(a: BodyHandle, b: impl Into<Option<BodyHandle>>) -> Self {
        use JointAxis::{SwingY, SwingZ, X, Y, Z};
        Self::free(a, b.into()).held(&[X, Y, Z, SwingY, SwingZ])
    }
}
