//! Tails of the standard normal distribution, for p-values and for z at a confidence.
//!
//! Two functions, each good to about 14 digits, so that the crate needs no numerical library. The
//! module refuses to know any other distribution: intervals here are by order statistics, whose
//! distribution is the binomial.

use std::f64::consts::{PI, SQRT_2};

/// Below this argument the series for erf is used, above it the continued fraction for erfc. Both
/// reach double precision there (Abramowitz and Stegun, 7.1.6 and 7.1.14).
const SERIES_BELOW: f64 = 2.0;

/// Levels of the continued fraction. At [`SERIES_BELOW`], where it converges slowest, 100 levels
/// already agree to 1e-15.
const FRACTION_LEVELS: u32 = 200;

/// Beyond this z the tail is below the smallest positive `f64`.
const Z_BEYOND_ALL: f64 = 39.0;

/// Halvings of the bracket \[0, 39\]: enough to leave less than one unit in the last place.
const HALVINGS: u32 = 64;

/// The chance that a standard normal value exceeds `z`. NaN stays NaN.
///
/// ```
/// use pqlab_stats::normal::upper_tail;
/// assert_eq!(upper_tail(0.0), 0.5);
/// assert!((upper_tail(1.96) - 0.024998).abs() < 1e-6);
/// ```
pub fn upper_tail(z: f64) -> f64 {
    if z < 0.0 { 1.0 - 0.5 * erfc(-z / SQRT_2) } else { 0.5 * erfc(z / SQRT_2) }
}

/// The chance that a standard normal value lies further from 0 than `z`, on either side.
pub fn two_sided_p(z: f64) -> f64 {
    erfc(z.abs() / SQRT_2)
}

/// The z that a standard normal value stays within with chance `confidence`: 1.96 for 0.95.
/// `None` unless 0 < `confidence` < 1.
///
/// ```
/// use pqlab_stats::normal::two_sided_z;
/// assert!((two_sided_z(0.95).unwrap() - 1.959964).abs() < 1e-6);
/// assert_eq!(two_sided_z(1.0), None);
/// ```
pub fn two_sided_z(confidence: f64) -> Option<f64> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let outside = 1.0 - confidence;
    let (mut low, mut high) = (0.0, Z_BEYOND_ALL);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if two_sided_p(middle) > outside { low = middle } else { high = middle }
    }
    Some(0.5 * (low + high))
}

/// The complementary error function for `x` of 0 and above; NaN stays NaN.
fn erfc(x: f64) -> f64 {
    if x < SERIES_BELOW { 1.0 - erf_series(x) } else { erfc_fraction(x) }
}

/// erf x = 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (1·3·…·(2n+1)); every term is positive, so nothing
/// cancels (Abramowitz and Stegun 7.1.6).
fn erf_series(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    let mut odd = 1.0;
    while term > sum * f64::EPSILON * 0.25 {
        odd += 2.0;
        term *= 2.0 * x * x / odd;
        sum += term;
    }
    2.0 / PI.sqrt() * (-x * x).exp() * sum
}

/// erfc x = e^(−x²)/√π · 1/(x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …)))) (Abramowitz and Stegun
/// 7.1.14), from the inside out.
fn erfc_fraction(x: f64) -> f64 {
    let mut inner = x;
    for level in (1..=FRACTION_LEVELS).rev() {
        inner = x + 0.5 * f64::from(level) / inner;
    }
    (-x * x).exp() / (PI.sqrt() * inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;
    use statrs::distribution::{ContinuousCDF, Normal};

    /// scipy 1.17.1, `scipy.stats.norm.sf`.
    #[test]
    fn tails_match_scipy() {
        for (z, want) in [
            (0.5, 0.3085375387259869),
            (1.0, 0.15865525393145707),
            (1.96, 0.024997895148220435),
            (2.5, 0.006209665325776132),
            (3.0, 0.0013498980316300933),
            (5.0, 2.866515718791933e-07),
            (10.0, 7.61985302416047e-24),
        ] {
            assert_close(upper_tail(z), want, 2e-13);
            assert_close(two_sided_p(-z), 2.0 * want, 2e-13);
            assert_close(upper_tail(-z), 1.0 - want, 1e-15);
        }
    }

    #[test]
    fn tails_match_statrs() {
        let normal = Normal::standard();
        for step in 0..=800 {
            let z = f64::from(step) * 0.01 - 4.0;
            assert!((upper_tail(z) - normal.sf(z)).abs() < 1e-10, "z = {z}");
        }
    }

    /// 0.975 quantile as tabulated (OEIS A220510: 1.95996398454005…); 0.995 by scipy 1.17.1
    /// `norm.isf(.005)`.
    #[test]
    fn z_at_the_usual_confidences() {
        assert_close(two_sided_z(0.95).unwrap(), 1.959963984540054, 1e-13);
        assert_close(two_sided_z(0.99).unwrap(), 2.575829303548901, 1e-13);
        assert_close(two_sided_z(0.5).unwrap(), 0.6744897501960817, 1e-13);
    }

    #[test]
    fn odd_input_gets_an_answer() {
        assert!(upper_tail(f64::NAN).is_nan());
        assert_eq!(upper_tail(f64::INFINITY), 0.0);
        assert_eq!(upper_tail(f64::NEG_INFINITY), 1.0);
        for confidence in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(two_sided_z(confidence), None);
        }
    }
}
