//! Every coordinate by itself: free, held, limited or driven.
//!
//! ```text
//!        y   a
//!        | /          rows: as many as coordinates are held, limited or driven
//!   b ---o---- x
//!       /
//!      z
//! ```

use super::{BodyHandle, JointDesc};

impl JointDesc {
    /// A joint that does nothing yet: [`JointDesc::locked`], [`JointDesc::limited`] and [`JointDesc::driven`] say what
    /// it does to each of its axes.
    ///
    /// ```text
    ///        y   a
    ///        | /          X, Y, Z              along b's axes
    ///   b ---o---- x      Twist                about a's x axis
    ///       /             SwingY, SwingZ       of a's x axis, about b's y and z axes
    ///      z
    /// ```
    pub fn generic(a: BodyHandle, b: impl Into<Option<BodyHandle>>) -> Self {
        Self::free(a, b.into())
    }
}
