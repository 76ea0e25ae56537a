//! Quantiles, the median and the median absolute deviation: robust answers to "how much" and "how
//! far apart".
//!
//! One definition of a quantile is used everywhere, Hyndman and Fan's type 7, because it is what R,
//! NumPy and criterion print and a reader will compare. The module refuses to guess: no value, a
//! value that is not finite, or a share outside 0 to 1 gets `None`.

use crate::refusal::{finite, sorted};

/// Makes the median absolute deviation estimate the standard deviation of normal data: 1/Φ⁻¹(3/4)
/// rounded as in R's `mad` (R manual, `stats::mad`, argument `constant`).
pub const NORMAL_CONSISTENCY: f64 = 1.4826;

/// The value at share `p` (0 to 1) of values in ascending order, in their unit.
///
/// Hyndman and Fan (1996), definition 7: h = (n−1)p, linear between the two neighbours. The caller
/// vouches for the order; it is not checked, so that a quantile costs O(1).
///
/// `None` for an empty slice, `p` outside 0 to 1, or a neighbour that is not finite.
///
/// ```
/// use pqlab_stats::quantile::sorted_quantile;
/// assert_eq!(sorted_quantile(&[1.0, 2.0, 4.0], 0.75), Some(3.0));
/// assert_eq!(sorted_quantile(&[], 0.5), None);
/// ```
pub fn sorted_quantile(sorted: &[f64], p: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    let last = sorted.len().checked_sub(1)?;
    let position = last as f64 * p;
    // A product of a length and a share: 0 ≤ position ≤ last, and the cast truncates.
    let below = (position as usize).min(last);
    let above = (below + 1).min(last);
    interpolate(sorted[below], sorted[above], position - below as f64)
}

/// The point at `fraction` (0 up to 1) between two values, never past the upper one.
fn interpolate(low: f64, high: f64, fraction: f64) -> Option<f64> {
    finite(low)?;
    finite(high)?;
    let distance = high - low;
    if distance.is_finite() {
        Some((low + fraction * distance).min(high))
    } else {
        Some((1.0 - fraction) * low + fraction * high)
    }
}

/// The median of values in any order, in their unit. `None` if there are none or one is not
/// finite.
///
/// ```
/// use pqlab_stats::quantile::median;
/// assert_eq!(median(&[3.0, 1.0, 2.0, 10.0]), Some(2.5));
/// assert_eq!(median(&[3.0, f64::NAN]), None);
/// ```
pub fn median(values: &[f64]) -> Option<f64> {
    if !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    sorted_quantile(&sorted(values), 0.5)
}

/// The median distance from the median, in the unit of the values. `None` as for [`median`].
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    median(&distances)
}

/// [`median_absolute_deviation`] times [`NORMAL_CONSISTENCY`]: a standard deviation that half the
/// data may spoil without effect.
pub fn robust_standard_deviation(values: &[f64]) -> Option<f64> {
    finite(median_absolute_deviation(values)? * NORMAL_CONSISTENCY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    /// R's data set `mtcars`, column `mpg` (Henderson and Velleman 1981).
    const MILES_PER_GALLON: [f64; 32] = [
        21.0, 21.0, 22.8, 21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8, 16.4, 17.3, 15.2, 10.4,
        10.4, 14.7, 32.4, 30.4, 33.9, 21.5, 15.5, 15.2, 13.3, 19.2, 27.3, 26.0, 30.4, 15.8, 19.7,
        15.0, 21.4,
    ];

    /// R `quantile(1:10)`: 1.00 3.25 5.50 7.75 10.00.
    #[test]
    fn quartiles_of_one_to_ten_match_r() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let got = [0.0, 0.25, 0.5, 0.75, 1.0].map(|p| sorted_quantile(&values, p).unwrap());
        assert_eq!(got, [1.0, 3.25, 5.5, 7.75, 10.0]);
    }

    /// R `quantile(mtcars$mpg)`: 10.400 15.425 19.200 22.800 33.900; 5 % and 99 % by NumPy 2.4.6
    /// `percentile` (default method "linear").
    #[test]
    fn mtcars_quantiles_match_r_and_numpy() {
        let values = sorted(&MILES_PER_GALLON);
        for (p, want) in [
            (0.0, 10.4),
            (0.05, 11.995),
            (0.25, 15.425),
            (0.5, 19.2),
            (0.75, 22.8),
            (0.95, 31.3),
            (0.99, 33.435),
            (1.0, 33.9),
        ] {
            assert_close(sorted_quantile(&values, p).unwrap(), want, 1e-14);
        }
    }

    /// R `mad(mtcars$mpg)`: 5.41149; `mad(mtcars$mpg, constant = 1)`: 3.65.
    #[test]
    fn mtcars_mad_matches_r() {
        assert_close(median_absolute_deviation(&MILES_PER_GALLON).unwrap(), 3.65, 1e-14);
        assert_close(robust_standard_deviation(&MILES_PER_GALLON).unwrap(), 5.41149, 1e-14);
    }

    /// The constant is 1/Φ⁻¹(3/4) to the four places that R uses.
    #[test]
    fn the_consistency_constant_is_derived() {
        let exact = 1.0 / crate::normal::two_sided_z(0.5).unwrap();
        assert!((NORMAL_CONSISTENCY - exact).abs() < 5e-5);
    }

    #[test]
    fn one_value_is_every_quantile() {
        for p in [0.0, 0.3, 1.0] {
            assert_eq!(sorted_quantile(&[7.0], p), Some(7.0));
        }
        assert_eq!(median_absolute_deviation(&[7.0]), Some(0.0));
    }

    #[test]
    fn what_does_not_exist_is_none() {
        for p in [-0.001, 1.001, f64::NAN, f64::INFINITY] {
            assert_eq!(sorted_quantile(&[1.0, 2.0], p), None);
        }
        assert_eq!(sorted_quantile(&[1.0, f64::INFINITY], 0.5), None);
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::INFINITY, 2.0]), None);
        assert_eq!(median_absolute_deviation(&[]), None);
    }

    #[test]
    fn extremes_do_not_overflow() {
        assert_eq!(sorted_quantile(&[-f64::MAX, f64::MAX], 0.5), Some(0.0));
        assert_eq!(robust_standard_deviation(&[-f64::MAX, f64::MAX]), None);
    }
}
