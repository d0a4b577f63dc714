//! Float functions that `core` does not have. The square root is the target's own; angles are computed here, by
//! polynomials that are good to the last bits on both sides: Vulkan lets a GPU's sine be off by 1/2048, which would
//! lose a spinning body's momentum within seconds. Coefficients are Cephes' for single precision.

#[cfg(target_arch = "spirv")]
mod target {
    #[inline(always)]
    pub fn sqrt(v: f32) -> f32 {
        spirv_std::num_traits::Float::sqrt(v)
    }

    #[inline(always)]
    pub fn abs(v: f32) -> f32 {
        spirv_std::num_traits::Float::abs(v)
    }
}

#[cfg(not(target_arch = "spirv"))]
mod target {
    /// Square root.
    #[inline(always)]
    pub fn sqrt(v: f32) -> f32 {
        v.sqrt()
    }

    /// Without sign.
    #[inline(always)]
    pub fn abs(v: f32) -> f32 {
        v.abs()
    }
}

pub use target::{abs, sqrt};

/// Sine and cosine. Good to the last bits up to a few thousand radians.
#[inline(always)]
pub fn sin_cos(v: f32) -> (f32, f32) {
    // Quarter turns, taken off in three parts so that nothing is lost.
    let turns = (v * core::f32::consts::FRAC_2_PI + if v < 0.0 { -0.5 } else { 0.5 }) as i32;
    let q = turns as f32;
    let x = ((v - q * 1.570_312_5) - q * 4.837_513e-4) - q * 7.549_79e-8;
    let z = x * x;
    let sine = x + x * z * (-1.666_665_5e-1 + z * (8.332_161e-3 - z * 1.951_529_6e-4));
    let cosine = 1.0 - 0.5 * z + z * z * (4.166_664_6e-2 - z * (1.388_731_6e-3 - z * 2.443_315_7e-5));
    let quarter = turns & 3;
    let (s, c) = if quarter & 1 == 0 { (sine, cosine) } else { (cosine, sine) };
    (if quarter & 2 == 0 { s } else { -s }, if quarter == 1 || quarter == 2 { -c } else { c })
}

/// The angle of the vector (x, y) in the first quadrant: neither component is negative.
#[inline(always)]
pub fn quadrant_angle(y: f32, x: f32) -> f32 {
    let steep = y > x;
    let (low, high) = if steep { (x, y) } else { (y, x) };
    let t = if high > 0.0 { low / high } else { 0.0 };
    // Beyond an eighth of a turn's tangent the polynomial is taken around one.
    let far = t > 0.414_213_57;
    let r = if far { (t - 1.0) / (t + 1.0) } else { t };
    let z = r * r;
    let series = (((8.053_744_5e-2 * z - 1.387_768_6e-1) * z + 1.997_771_1e-1) * z - 3.333_295e-1) * z * r + r;
    let angle = series + if far { core::f32::consts::FRAC_PI_4 } else { 0.0 };
    if steep { core::f32::consts::FRAC_PI_2 - angle } else { angle }
}

/// What is left after `x` time constants, e^-x, and its mean until then, (1 - e^-x) / x. For `x` of 0 or more.
#[inline(always)]
pub fn decay(x: f32) -> (f32, f32) {
    // Powers of two go into the exponent; beyond 2^-126 nothing is left.
    let x = if x < 87.0 { x } else { 87.0 };
    let x = if x > 0.0 { x } else { 0.0 };
    let halvings = (x * core::f32::consts::LOG2_E + 0.5) as i32;
    let n = halvings as f32;
    let r = (n * 0.693_359_4 - x) - n * 2.121_944_4e-4;
    let series =
        ((((1.987_569_1e-4 * r + 1.398_199_9e-3) * r + 8.333_452e-3) * r + 4.166_579_6e-2) * r + 1.666_666_5e-1) * r
            + 0.5;
    let left = (series * r * r + r + 1.0) * f32::from_bits(((127 - halvings) as u32) << 23);
    // The difference from 1 would lose its digits where little has decayed.
    let small = x < 0.1;
    let mean = 1.0 - x * (0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x * (1.0 / 120.0))));
    if small { (1.0 - x * mean, mean) } else { (left, (1.0 - left) / x) }
}

#[cfg(all(test, not(target_arch = "spirv")))]
mod tests {
    use super::*;

    #[test]
    fn sine_and_cosine_are_good_to_the_last_bits() {
        for i in -100_000..100_000 {
            let v = i as f32 * 1e-3;
            let (s, c) = sin_cos(v);
            let (es, ec) = f64::from(v).sin_cos();
            assert!(
                (f64::from(s) - es).abs() < 2e-7 && (f64::from(c) - ec).abs() < 2e-7,
                "{v}: {s} {c}, not {es} {ec}"
            );
        }
    }

    #[test]
    fn decays_are_good_to_the_last_bits() {
        assert_eq!(decay(0.0), (1.0, 1.0));
        for i in 1..60_000 {
            let x = i as f32 * 1e-3;
            let (left, mean) = decay(x);
            let (el, em) = ((-f64::from(x)).exp(), -(-f64::from(x)).exp_m1() / f64::from(x));
            assert!((f64::from(left) / el - 1.0).abs() < 3e-7, "{x}: {left}, not {el}");
            assert!((f64::from(mean) / em - 1.0).abs() < 1e-6, "{x}: {mean}, not {em}");
        }
        assert!(decay(1e30).0 < 1e-37 && decay(1e30).1 < 0.02);
    }

    #[test]
    fn angles_are_good_to_the_last_bits() {
        for i in 0..=10_000 {
            let angle = f64::from(i) / 10_000.0 * core::f64::consts::FRAC_PI_2;
            let found = quadrant_angle(angle.sin() as f32, angle.cos() as f32);
            assert!((f64::from(found) - angle).abs() < 3e-7, "{angle}: {found}");
        }
        assert_eq!(quadrant_angle(0.0, 0.0), 0.0);
    }
}
