//! a slides along an axis of b, and does not turn.
//!
//! ```text
//!       b =======[ a ]=====> x      rows: Y, Z and all angles held
//!                                   X: the way, with limits and motor
//! ```

use super::{BodyHandle, JointAxis, JointDesc};

impl JointDesc {
    /// A slider along its x axis: see [`JointDesc::about`]. [`JointAxis::X`] is its way, to be limited or driven.
    ///
    /// ```text
    ///       b =======[ a ]=====> x      Y, Z, Twist, SwingY, SwingZ held
    ///                                   X free
    /// ```
    pub fn slider(a: BodyHandle, b: impl Into<Option<BodyHandle>>) -> Self {
        use JointAxis::{SwingY, SwingZ, Twist, Y, Z};
        Self::free(a, b.into()).held(&[Y, Z, Twist, SwingY, SwingZ])
    }
}
