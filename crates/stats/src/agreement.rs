//! Do repeated runs say the same? Pairs of estimates of the same quantity, compared.
//!
//! This is how a bench is put to the test: run everything twice and count. The module refuses to
//! decide which of two runs is right, or whether two *implementations* differ; that takes an
//! interleaved comparison (§5.7), since sequential runs alarm 80 % of the time (§2).

use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::quantile::{median, sorted_quantile};
use crate::refusal::sorted;

/// Two runs agree when their medians are at most this factor apart, as a share: 1 %, the half-width
/// of a B.
pub const CLOSE: f64 = 0.01;

/// How well pairs of runs agree. Shares are 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// How many pairs were given.
    pub pairs: usize,
    /// How many of them have two finite medians above 0, so that a ratio exists.
    pub pairs_with_ratio: usize,
    /// Share of those whose medians are within [`CLOSE`]: |ln(b/a)| ≤ ln 1.01, which is the same
    /// whichever run is called first. `None` if there is none.
    pub share_within_1_percent: Option<f64>,
    /// Median of larger/smaller − 1 over those pairs. `None` if there is none.
    pub median_difference: Option<f64>,
    /// The largest of larger/smaller − 1 over those pairs. `None` if there is none.
    pub largest_difference: Option<f64>,
    /// How many pairs have an interval on both sides.
    pub pairs_with_intervals: usize,
    /// Share of those whose intervals share a point. Independent 95 % intervals of the same
    /// quantity and width do so in 99 % of pairs, not 95 %. `None` if there is none.
    pub share_of_overlapping_intervals: Option<f64>,
}

/// Compares the runs of each pair.
///
/// ```
/// use pqlab_stats::{agreement::difference_of_runs, estimate::Estimate};
/// let first = Estimate::over_processes(&[100.0; 6], 0.95).unwrap();
/// let second = Estimate::over_processes(&[100.5; 6], 0.95).unwrap();
/// let agreement = difference_of_runs(&[(first, second)]);
/// assert_eq!(agreement.share_within_1_percent, Some(1.0));
/// assert_eq!(agreement.share_of_overlapping_intervals, Some(0.0));
/// ```
pub fn difference_of_runs(pairs: &[(Estimate, Estimate)]) -> Agreement {
    let differences: Vec<f64> =
        pairs.iter().filter_map(|(a, b)| difference(a.median, b.median)).collect();
    let close = differences.iter().filter(|difference| **difference <= CLOSE).count();
    let overlaps: Vec<bool> =
        pairs.iter().filter_map(|(a, b)| Some(a.interval?.overlaps(&b.interval?))).collect();
    let overlapping = overlaps.iter().filter(|overlaps| **overlaps).count();
    Agreement {
        pairs: pairs.len(),
        pairs_with_ratio: differences.len(),
        share_within_1_percent: share(close, differences.len()),
        median_difference: median(&differences),
        largest_difference: sorted_quantile(&sorted(&differences), 1.0),
        pairs_with_intervals: overlaps.len(),
        share_of_overlapping_intervals: share(overlapping, overlaps.len()),
    }
}

/// larger/smaller − 1, for two positive numbers.
fn difference(a: f64, b: f64) -> Option<f64> {
    let (smaller, larger) = (a.min(b), a.max(b));
    let difference = (larger - smaller) / smaller;
    (a > 0.0 && b > 0.0 && difference.is_finite()).then_some(difference)
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Stream, assert_close};

    fn run(median: f64, spread: f64) -> Estimate {
        let values = [-1.0, -0.5, 0.0, 0.0, 0.5, 1.0].map(|x| median + spread * x);
        Estimate::over_processes(&values, 0.95).unwrap()
    }

    #[test]
    fn shares_by_hand() {
        let agreement = difference_of_runs(&[
            (run(1000.0, 1.0), run(1001.0, 1.0)),
            (run(1010.0, 1.0), run(1000.0, 1.0)),
            (run(1000.0, 20.0), run(1011.0, 1.0)),
            (run(1000.0, 1.0), run(1100.0, 1.0)),
        ]);
        assert_eq!((agreement.pairs, agreement.pairs_with_ratio), (4, 4));
        assert_eq!(agreement.share_within_1_percent, Some(0.5));
        assert_eq!(agreement.share_of_overlapping_intervals, Some(0.5));
        assert_close(agreement.median_difference.unwrap(), 0.0105, 1e-12);
        assert_close(agreement.largest_difference.unwrap(), 0.1, 1e-12);
    }

    #[test]
    fn the_order_within_a_pair_does_not_matter() {
        let (a, b) = (run(1000.0, 3.0), run(1009.99, 2.0));
        assert_eq!(difference_of_runs(&[(a, b)]), difference_of_runs(&[(b, a)]));
        assert_eq!(difference_of_runs(&[(a, b)]).share_within_1_percent, Some(1.0));
    }

    #[test]
    fn pairs_that_cannot_be_compared_are_left_out_and_counted() {
        let alone = Estimate::over_processes(&[1000.0], 0.95).unwrap();
        let broken = Estimate { median: f64::NAN, ..run(1.0, 0.0) };
        let zero = run(0.0, 1.0);
        let agreement = difference_of_runs(&[
            (alone, run(1000.0, 1.0)),
            (zero, run(1000.0, 1.0)),
            (run(5.0, 0.0), broken),
        ]);
        assert_eq!((agreement.pairs, agreement.pairs_with_ratio), (3, 1));
        assert_eq!(agreement.share_within_1_percent, Some(1.0));
        assert_eq!(agreement.pairs_with_intervals, 2);

        let none = difference_of_runs(&[]);
        assert_eq!((none.pairs, none.share_within_1_percent), (0, None));
        assert_eq!((none.median_difference, none.largest_difference), (None, None));
        assert_eq!(none.share_of_overlapping_intervals, None);
    }

    /// Honest intervals of the same quantity overlap almost always: 98 % or more of 500 pairs.
    #[test]
    fn independent_runs_of_the_same_overlap() {
        let mut stream = Stream(71);
        let mut draw = || {
            let values: Vec<f64> = (0..16).map(|_| 100.0 + stream.normal()).collect();
            Estimate::over_processes(&values, 0.95).unwrap()
        };
        let pairs: Vec<_> = (0..500).map(|_| (draw(), draw())).collect();
        let agreement = difference_of_runs(&pairs);
        assert!(agreement.share_of_overlapping_intervals.unwrap() >= 0.98);
    }
}
