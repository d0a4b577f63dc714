//! Two points that stay together; the bodies turn about them as they like.
//!
//! ```text
//!     a ------(o)------ b       rows: X, Y, Z held
//! ```

use super::{BodyHandle, JointAxis, JointDesc};

impl JointDesc {
    /// A ball joint: two points that stay together. With the world for b, the hard attachment of a body to a point.
    ///
    /// ```text
    ///             y
    ///             |               X, Y, Z held: a's point stays on b's
    ///     a -----(o)----- b       Twist, SwingY, SwingZ free, measured from b's frame to a's
    ///            / \
    ///           z   x
    /// ```
    pub fn ball(a: BodyHandle, b: impl Into<Option<BodyHandle>>) -> Self {
        Self::free(a, b.into()).held(&[JointAxis::X, JointAxis::Y, JointAxis::Z])
    }
}
