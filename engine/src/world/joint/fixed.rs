//! Two bodies like one, until the joint breaks.
//!
//! ```text
//!     [ a ]#[ b ]       rows: everything held
//! ```

use super::{BodyHandle, JointAxis, JointDesc};

impl JointDesc {
    /// A fixed joint: a's frame stays where b's is.
    ///
    /// ```text
    ///          y
    ///          |
    ///     [ a ]#[ b ]       X, Y, Z, Twist, SwingY, SwingZ held: the frames of both, at the point, stay one
    ///         / \
    ///        z   x
    /// ```
    pub fn fixed(a: BodyHandle, b: impl Into<Option<BodyHandle>>) -> Self {
        use JointAxis::{SwingY, SwingZ, Twist, X, Y, Z};
        Self::free(a, b.into()).held(&[X, Y, Z, Twist, SwingY, SwingZ])
    }
}
