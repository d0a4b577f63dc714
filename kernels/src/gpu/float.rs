//! Float functions that `core` does not have: GLSL's on the GPU, std's on the CPU.

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($argument:ident),+);)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[cfg(target_arch = "spirv")]
        pub fn $name($($argument: f32),+) -> f32 {
            spirv_std::num_traits::Float::$name($($argument),+)
        }

        $(#[$doc])*
        #[inline(always)]
        #[cfg(not(target_arch = "spirv"))]
        pub fn $name($($argument: f32),+) -> f32 {
            f32::$name($($argument),+)
        }
    )*};
}

functions! {
    /// Square root.
    sqrt(v);
    /// Sine.
    sin(v);
    /// Cosine.
    cos(v);
    /// The angle of the vector (x, y).
    atan2(y, x);
    /// Without sign.
    abs(v);
}
