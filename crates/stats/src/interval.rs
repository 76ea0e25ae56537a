//! The exact order-statistic interval of a median: no normality, no resampling, no seed.
//!
//! The true median lies between the k-th smallest and the k-th largest of n independent values with
//! a chance that depends on n and k alone: the count of values below it is binomial(n, 1/2). The
//! largest k that keeps the promised confidence gives the interval (§5.5), and the chance that it
//! really has, which is a little more than promised, is stated beside it.
//!
//! The module refuses to give an interval where none exists: five values cannot carry 95 %
//! whatever they are. It also refuses to approximate: §5.5 allows the normal approximation above
//! n = 1000, but summing from the centre outward takes O(√n) steps and is exact at every n, so
//! there is no second formula and no seam between two.
//!
//! The values must be independent. Calls and blocks within one process are not (their intervals
//! covered the truth 0 times in 16, §2); medians of fresh processes are.

use serde::{Deserialize, Serialize};

use crate::refusal::{Refusal, check_sorted};

/// The confidence used where the user asks for none: the field's convention.
pub const DEFAULT_CONFIDENCE: f64 = 0.95;

/// The highest confidence given: beyond one in a million the independence of the values, not their
/// number, decides what an interval is worth.
pub const HIGHEST_CONFIDENCE: f64 = 0.999_999;

/// Up to this n the central binomial probability is a plain product; above it the asymptotic
/// series is exact to double precision (its next term is below 1e-13 there).
const PRODUCT_UP_TO: usize = 1000;

/// An interval for a median, in the unit of the values it came from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end: one of the values.
    pub low: f64,
    /// Upper end: one of the values.
    pub high: f64,
    /// The confidence asked for (0 to 1).
    pub confidence_nominal: f64,
    /// The chance that such an interval covers the true median, for independent values from a
    /// continuous distribution; at least the nominal one, and more where values can tie.
    pub coverage_exact: f64,
}

impl Interval {
    /// Distance between the ends, in the unit of the values.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Half of [`width`](Self::width). The interval is not centred on the median; this is the
    /// number to set against a tolerance, not a ± to print.
    pub fn half_width(&self) -> f64 {
        0.5 * self.width()
    }

    /// Whether `value` lies within, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether the two intervals share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// The ranks (counted from 1) of the two values that bound a median, and what they cover.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MedianRanks {
    /// k: the lower end is the k-th smallest value.
    pub low: usize,
    /// n + 1 − k: the upper end is the k-th largest value.
    pub high: usize,
    /// The exact chance of covering the median: P(k ≤ X ≤ n − k), X binomial(n, 1/2).
    pub coverage_exact: f64,
}

/// Chooses the ranks for `n` values: the largest k with Σ_{i<k} C(n,i)/2ⁿ ≤ (1 − confidence)/2.
///
/// Refuses a confidence outside 0 to [`HIGHEST_CONFIDENCE`], and n below
/// [`processes_for_interval`]. Costs O(√n).
///
/// ```
/// use pqlab_stats::interval::median_ranks;
/// let ranks = median_ranks(10, 0.95).unwrap();
/// assert_eq!((ranks.low, ranks.high), (2, 9));
/// ```
pub fn median_ranks(n: usize, confidence: f64) -> Result<MedianRanks, Refusal> {
    let need = processes_for_interval(confidence).ok_or(Refusal::Confidence)?;
    if n < need {
        return Err(Refusal::TooFew { have: n, need });
    }
    // `probability` is P(X = rank); the sum grows outward from the centre, two terms at a time.
    let mut rank = n / 2;
    let mut probability = central_probability(n);
    let mut coverage = if n.is_multiple_of(2) { probability } else { 2.0 * probability };
    while coverage < confidence && rank > 1 {
        probability *= rank as f64 / (n - rank + 1) as f64;
        rank -= 1;
        coverage += 2.0 * probability;
    }
    Ok(MedianRanks { low: rank, high: n + 1 - rank, coverage_exact: coverage.min(1.0) })
}

/// The exact interval of the median of values in ascending order.
///
/// Refuses too few values, values that are not finite or not sorted, and a confidence that is none.
///
/// ```
/// use pqlab_stats::interval::median_interval;
/// let times = [10.0, 11.0, 12.0, 13.0, 14.0, 19.0];
/// let interval = median_interval(&times, 0.95).unwrap();
/// assert_eq!((interval.low, interval.high), (10.0, 19.0));
/// assert_eq!(interval.coverage_exact, 0.96875);
/// ```
pub fn median_interval(sorted: &[f64], confidence: f64) -> Result<Interval, Refusal> {
    let ranks = median_ranks(sorted.len(), confidence)?;
    check_sorted(sorted, 1)?;
    Ok(Interval {
        low: sorted[ranks.low - 1],
        high: sorted[ranks.high - 1],
        confidence_nominal: confidence,
        coverage_exact: ranks.coverage_exact,
    })
}

/// The fewest independent values (in pqlab: fresh processes) for which an interval exists: the
/// smallest n with 1 − 2¹⁻ⁿ ≥ confidence. 6 at 95 %, 8 at 99 %.
///
/// `None` for a confidence outside 0 to [`HIGHEST_CONFIDENCE`].
pub fn processes_for_interval(confidence: f64) -> Option<usize> {
    if !(confidence > 0.0 && confidence <= HIGHEST_CONFIDENCE) {
        return None;
    }
    let mut n = 2;
    let mut outside = 0.5;
    while 1.0 - outside < confidence {
        n += 1;
        outside *= 0.5;
    }
    Some(n)
}

/// P(X = ⌊n/2⌋) for X binomial(n, 1/2).
///
/// With m = ⌈n/2⌉ it is C(2m, m)/4^m for even n and for odd n alike, since C(2m−1, m−1) is half of
/// C(2m, m).
fn central_probability(n: usize) -> f64 {
    let half = n.div_ceil(2);
    if n <= PRODUCT_UP_TO {
        (1..=half).map(|i| (2 * i - 1) as f64 / (2 * i) as f64).product()
    } else {
        let m = half as f64;
        // C(2m,m)/4^m = (πm)^(−1/2) · (1 − 1/(8m) + 1/(128m²) + 5/(1024m³) − 21/(32768m⁴) − …)
        // (from DLMF 5.11.13, the ratio Γ(m+1/2)/Γ(m+1)).
        let series =
            1.0 + (-1.0 / 8.0 + (1.0 / 128.0 + (5.0 / 1024.0 - 21.0 / 32768.0 / m) / m) / m) / m;
        series / (std::f64::consts::PI * m).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Stream, assert_close};

    /// k for n at 95 % as §5.5 lists it (6, 10, 20, 30, 50, 100), beyond by scipy; the coverage by
    /// scipy 1.17.1 `binom.cdf(n-k, n, .5) - binom.cdf(k-1, n, .5)`.
    #[test]
    fn ranks_and_coverage_at_95_percent() {
        for (n, k, coverage) in [
            (6, 1, 0.96875),
            (10, 2, 0.978515625),
            (20, 6, 0.9586105346679688),
            (30, 10, 0.9572260547429323),
            (50, 18, 0.9671608624357315),
            (100, 40, 0.9647997997822952),
            (1000, 469, 0.9537088026395018),
            (1001, 470, 0.9500154764972457),
            (5000, 2431, 0.9506841418958285),
            (100_000, 49_690, 0.9504442853304775),
        ] {
            let ranks = median_ranks(n, 0.95).unwrap();
            assert_eq!((ranks.low, ranks.high), (k, n + 1 - k), "n = {n}");
            assert_close(ranks.coverage_exact, coverage, 1e-12);
        }
    }

    /// The same by scipy 1.17.1 at 99 %.
    #[test]
    fn ranks_and_coverage_at_99_percent() {
        for (n, k, coverage) in [
            (10, 1, 0.998046875),
            (20, 4, 0.9974231719970703),
            (30, 8, 0.9947771206498146),
            (50, 16, 0.9933995520331891),
            (100, 37, 0.9933628794840739),
            (1001, 460, 0.9904859597157918),
            (100_000, 49_593, 0.9900415411987196),
        ] {
            let ranks = median_ranks(n, 0.99).unwrap();
            assert_eq!(ranks.low, k, "n = {n}");
            assert_close(ranks.coverage_exact, coverage, 1e-12);
        }
    }

    /// Σ_{i<k} C(n,i) in integers: the rank is the largest that keeps the promise.
    #[test]
    fn ranks_are_the_largest_allowed_by_integer_arithmetic() {
        for n in 6..=100_usize {
            let k = median_ranks(n, 0.95).unwrap().low;
            let below = |k: usize| -> u128 {
                let mut term = 1_u128;
                let mut sum = 0;
                for i in 0..k {
                    sum += term;
                    term = term * (n - i) as u128 / (i + 1) as u128;
                }
                sum
            };
            // Σ/2ⁿ ≤ 1/40, rearranged.
            assert!(40 * below(k) <= 1 << n, "n = {n}");
            assert!(40 * below(k + 1) > 1 << n, "n = {n}");
        }
    }

    /// A confidence that a rank meets exactly is met, as 31/32 is at n = 6: the sums, like the
    /// coverages, are exact in `f64` up to n = 52.
    #[test]
    fn a_promise_met_exactly_is_kept() {
        for n in 6..=52_u32 {
            let mut term = 1_u64;
            let mut below = 0_u64;
            for k in 1..n / 2 {
                below += term;
                term = term * u64::from(n - k + 1) / u64::from(k);
                let coverage = 1.0 - 2.0 * below as f64 / (1_u64 << n) as f64;
                if coverage > 0.5 && coverage < HIGHEST_CONFIDENCE {
                    let ranks = median_ranks(n as usize, coverage).unwrap();
                    assert_eq!(ranks.low, k as usize, "n = {n}");
                }
            }
        }
    }

    /// §5.5's normal approximation for large n is never more than one rank away.
    #[test]
    fn the_normal_approximation_agrees_within_a_rank() {
        for n in (1001..20_000).step_by(37) {
            let size = n as f64;
            let approximate = (0.5 * size - 1.96 * 0.5 * size.sqrt()).floor() as usize;
            let exact = median_ranks(n, 0.95).unwrap().low;
            assert!(exact.abs_diff(approximate) <= 1, "n = {n}: {exact} and {approximate}");
        }
    }

    #[test]
    fn the_series_meets_the_product_at_the_seam() {
        let product = central_probability(PRODUCT_UP_TO);
        let next = product * (PRODUCT_UP_TO + 1) as f64 / (PRODUCT_UP_TO + 2) as f64;
        assert_close(central_probability(PRODUCT_UP_TO + 2), next, 1e-13);
        assert_close(central_probability(PRODUCT_UP_TO + 1), next, 1e-13);
    }

    #[test]
    fn fewest_processes() {
        assert_eq!(processes_for_interval(0.95), Some(6));
        assert_eq!(processes_for_interval(0.99), Some(8));
        assert_eq!(processes_for_interval(0.96875), Some(6));
        assert_eq!(processes_for_interval(0.969), Some(7));
        assert_eq!(processes_for_interval(0.5), Some(2));
        for confidence in [0.0, -0.1, 1.0, 0.9999999, f64::NAN, f64::INFINITY] {
            assert_eq!(processes_for_interval(confidence), None);
            assert_eq!(median_ranks(100, confidence), Err(Refusal::Confidence));
        }
    }

    #[test]
    fn refusals() {
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(median_interval(&five, 0.95), Err(Refusal::TooFew { have: 5, need: 6 }));
        assert_eq!(median_interval(&[], 0.95), Err(Refusal::TooFew { have: 0, need: 6 }));
        let unsorted = [1.0, 2.0, 3.0, 2.5, 5.0, 6.0];
        assert_eq!(median_interval(&unsorted, 0.95), Err(Refusal::NotSorted { index: 3 }));
        let broken = [1.0, 2.0, 3.0, f64::NAN, 5.0, 6.0];
        assert_eq!(median_interval(&broken, 0.95), Err(Refusal::Unusable { index: 3 }));
    }

    #[test]
    fn ends_count_as_inside() {
        let a = Interval { low: 1.0, high: 2.0, confidence_nominal: 0.95, coverage_exact: 0.96 };
        let b = Interval { low: 2.0, high: 6.0, ..a };
        let c = Interval { low: 2.5, high: 3.0, ..a };
        assert!(a.overlaps(&b) && b.overlaps(&a) && b.overlaps(&c));
        assert!(!a.overlaps(&c) && !c.overlaps(&a));
        assert!(a.contains(1.0) && a.contains(2.0) && !a.contains(2.1) && !a.contains(0.9));
        assert_eq!((b.width(), b.half_width()), (4.0, 2.0));
    }

    /// Simulated coverage on skewed data (exponential, true median ln 2) is the exact coverage,
    /// within 4 binomial standard errors of 4000 trials.
    #[test]
    fn coverage_is_what_it_says_on_skewed_data() {
        const TRIALS: u32 = 4000;
        let mut stream = Stream(0x5eed);
        for n in [6, 10, 16, 26, 42] {
            let mut covered = 0;
            let mut claimed = 0.0;
            for _ in 0..TRIALS {
                let mut values: Vec<f64> = (0..n).map(|_| -stream.uniform().ln()).collect();
                values.sort_by(f64::total_cmp);
                let interval = median_interval(&values, 0.95).unwrap();
                claimed = interval.coverage_exact;
                covered += u32::from(interval.contains(std::f64::consts::LN_2));
            }
            let share = f64::from(covered) / f64::from(TRIALS);
            let error = (claimed * (1.0 - claimed) / f64::from(TRIALS)).sqrt();
            assert!((share - claimed).abs() < 4.0 * error, "n = {n}: {share} against {claimed}");
        }
    }
}
