//! The one place that knows whether a kernel runs on a GPU or natively.
//!
//! Stage code is written against this vocabulary and has no `cfg` in it. The idea that makes one source serve
//! both: **the CPU is a device whose workgroups have one lane.** A stage that works in workgroups is written for
//! any number of lanes — lanes stride over the tile, meet at barriers, combine through shared memory — and with a
//! single lane the strides become plain loops, the barriers nothing, and the shared memory an array on the stack.
//! A stage that treats every item by itself is called in a loop.
//!
//! | word | GPU | CPU |
//! |---|---|---|
//! | [`Read`], [`Write`] | storage buffer, unchecked | memory, checked: zeros beyond the end, where stores are dropped |
//! | [`Group::barrier`] | `OpControlBarrier` | nothing |
//! | [`Group::sum`] and friends | subgroup operation | the value itself |
//! | `F` of wide stages | a float: one point of a manifold, or one body | eight: the points of two manifolds, or bodies |
//! | [`Load`], [`Store`] on arrays | workgroup memory | array on the stack |
//! | [`Local`] | a choice between registers | array on the stack |
//!
//! [`stage!`](crate::stage) turns a declaration into the SPIR-V entry point, the native entry point and the
//! description the host plans with.

mod buffers;
mod float;
mod group;
#[cfg(not(target_arch = "spirv"))]
mod host;
#[cfg(all(test, not(target_arch = "spirv")))]
pub(crate) mod lanes;
mod local;
mod macros;
mod wide;
#[cfg(not(target_arch = "spirv"))]
mod words;

#[cfg(not(target_arch = "spirv"))]
pub use buffers::strays;
pub use buffers::{Load, LoadFour, Own, Read, Store, StoreFour, Window, WindowMut, Write, shared_add};
pub use float::{abs, decay, quadrant_angle, sin_cos, sqrt};
pub use group::{Group, Peers, saturating_sum};
#[cfg(target_arch = "x86_64")]
pub use host::has_v3;
#[cfg(not(target_arch = "spirv"))]
pub use host::{Access, Binding, Buffer, BufferId, Call, Invocation, RawBuffer, Stage};

pub use local::Local;
#[cfg(not(target_arch = "spirv"))]
pub use wide::Wide;
#[cfg(target_arch = "x86_64")]
pub(crate) use wide::WideV3;
pub use wide::{Four, OfBodies, OfPoints, POINTS, Real, Vector};
#[cfg(not(target_arch = "spirv"))]
pub use words::{Scalar, Word, Words};

#[cfg(not(target_arch = "spirv"))]
pub use glam;
#[cfg(target_arch = "spirv")]
pub use spirv_std::glam;

/// Smaller of two numbers.
#[inline(always)]
pub fn least(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

/// Smaller of two floats; if one is NaN, the other. Without a branch on both targets, unlike `f32::min` on the GPU.
#[inline(always)]
pub fn fmin(a: f32, b: f32) -> f32 {
    if (a < b) | b.is_nan() { a } else { b }
}

/// Larger of two floats; if one is NaN, the other.
#[inline(always)]
pub fn fmax(a: f32, b: f32) -> f32 {
    if (a > b) | b.is_nan() { a } else { b }
}

/// Neither NaN nor infinite.
#[inline(always)]
pub fn finite(v: f32) -> bool {
    (v >= -f32::MAX) & (v <= f32::MAX)
}
