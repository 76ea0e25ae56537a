//! What an operation costs, judged over fresh processes (§5.6).
//!
//! Each process contributes one value, the median of its block medians; the estimate is the median
//! of those, and its interval is the exact order-statistic interval over processes. The module
//! refuses to look inside a process: intervals from calls or blocks were 0.075 % wide and covered
//! the truth 0 times in 16 (§2).

use serde::{Deserialize, Serialize};

use crate::interval::{Interval, median_interval, processes_for_interval};
use crate::normal::two_sided_z;
use crate::quantile::{robust_standard_deviation, sorted_quantile};
use crate::refusal::{Refusal, check_values, finite, sorted};

/// Standard error of a median over that of a mean in normal data: √(π/2) = 1.2533, rounded as in
/// §5.6.
pub const MEDIAN_OVER_MEAN_ERROR: f64 = 1.25;

/// Fewest processes from which the number needed is predicted: two have no spread beyond their
/// distance.
pub const PILOT_PROCESSES: usize = 3;

/// An estimate over fresh processes, in the unit of the process medians.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// How many processes.
    pub processes: usize,
    /// Median of the process medians: the figure to report.
    pub median: f64,
    /// The confidence asked for (0 to 1).
    pub confidence: f64,
    /// Where the true median lies. `None` for fewer processes than an interval takes (6 at 95 %).
    pub interval: Option<Interval>,
    /// Half the interval's width over the median, without unit. `None` without an interval or
    /// where the median is not above 0.
    pub relative_half_width: Option<f64>,
    /// 1.4826 times the median absolute deviation of the process medians: how far one process
    /// strays from another.
    pub robust_standard_deviation: f64,
}

impl Estimate {
    /// Estimates from the medians of processes, in any order.
    ///
    /// Refuses no values, values that are not finite, and a confidence that is none. Fewer
    /// processes than an interval takes are no reason to refuse: the estimate then has none.
    ///
    /// ```
    /// use pqlab_stats::estimate::Estimate;
    /// let estimate = Estimate::over_processes(&[99.0, 100.0, 101.0, 100.5, 99.5, 100.0], 0.95)?;
    /// assert_eq!(estimate.median, 100.0);
    /// assert_eq!(estimate.relative_half_width, Some(0.01));
    /// # Ok::<(), pqlab_stats::refusal::Refusal>(())
    /// ```
    pub fn over_processes(process_medians: &[f64], confidence: f64) -> Result<Self, Refusal> {
        check_values(process_medians, 1)?;
        let values = sorted(process_medians);
        let interval = match median_interval(&values, confidence) {
            Ok(interval) => Some(interval),
            Err(Refusal::TooFew { .. }) => None,
            Err(refusal) => return Err(refusal),
        };
        let median = sorted_quantile(&values, 0.5).unwrap_or(values[0]);
        Ok(Self {
            processes: values.len(),
            median,
            confidence,
            interval,
            relative_half_width: interval
                .filter(|_| median > 0.0)
                .and_then(|interval| finite(interval.half_width() / median)),
            robust_standard_deviation: robust_standard_deviation(&values).unwrap_or(0.0),
        })
    }

    /// How many processes in all will bring the relative half-width to `epsilon`, predicted from
    /// the spread so far: (1.25·z·σ̂/(ε·m))², rounded up (§5.6), and at least as many as an
    /// interval takes. A prediction for planning: the spread of few processes is itself uncertain.
    ///
    /// `None` from fewer than [`PILOT_PROCESSES`] processes, for a median or an `epsilon` not above
    /// 0, or where the number would exceed `u32::MAX`.
    pub fn processes_needed(&self, epsilon: f64) -> Option<usize> {
        let usable = self.processes >= PILOT_PROCESSES && self.median > 0.0 && epsilon > 0.0;
        if !usable {
            return None;
        }
        let z = two_sided_z(self.confidence)?;
        let root =
            MEDIAN_OVER_MEAN_ERROR * z * self.robust_standard_deviation / (epsilon * self.median);
        let needed = (root * root).ceil();
        let floor = processes_for_interval(self.confidence)?;
        (needed <= f64::from(u32::MAX)).then(|| (needed as usize).max(floor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Stream, assert_close};

    #[test]
    fn few_processes_have_an_estimate_but_no_interval() {
        for n in 1..6 {
            let values: Vec<f64> = (1..=n).map(|i| 100.0 + f64::from(i)).collect();
            let estimate = Estimate::over_processes(&values, 0.95).unwrap();
            assert_eq!((estimate.interval, estimate.relative_half_width), (None, None));
        }
        let six = [101.0, 102.0, 103.0, 104.0, 105.0, 106.0];
        let estimate = Estimate::over_processes(&six, 0.95).unwrap();
        assert_eq!(estimate.median, 103.5);
        assert_eq!(estimate.interval.unwrap().coverage_exact, 0.96875);
        assert_close(estimate.relative_half_width.unwrap(), 2.5 / 103.5, 1e-15);
        // Distances from 103.5: .5 .5 1.5 1.5 2.5 2.5; their median 1.5.
        assert_close(estimate.robust_standard_deviation, 1.4826 * 1.5, 1e-15);
        assert_eq!(Estimate::over_processes(&six, 0.99).unwrap().interval, None);
    }

    /// §5.6 by hand: σ̂ = 1 %, ε = 0.5 %: (1.25 · 1.959964 · 2)² = 24.01, so 25 processes; a third
    /// of the tolerance takes 216.09, so 217.
    #[test]
    fn processes_needed_by_hand() {
        let estimate = Estimate {
            processes: 6,
            median: 200.0,
            confidence: 0.95,
            interval: None,
            relative_half_width: None,
            robust_standard_deviation: 2.0,
        };
        assert_eq!(estimate.processes_needed(0.005), Some(25));
        assert_eq!(estimate.processes_needed(0.005 / 3.0), Some(217));
        assert_eq!(estimate.processes_needed(0.5), Some(6));
        assert_eq!(Estimate { confidence: 0.99, ..estimate }.processes_needed(0.5), Some(8));
        for epsilon in [0.0, -1.0, f64::NAN, 1e-9] {
            assert_eq!(estimate.processes_needed(epsilon), None);
        }
        assert_eq!(Estimate { processes: 3, ..estimate }.processes_needed(0.005), Some(25));
        assert_eq!(Estimate { processes: 2, ..estimate }.processes_needed(0.1), None);
        assert_eq!(Estimate { median: 0.0, ..estimate }.processes_needed(0.1), None);
        assert_eq!(Estimate { median: -1.0, ..estimate }.processes_needed(0.1), None);
    }

    #[test]
    fn the_rounded_constant_is_the_root_of_half_pi() {
        assert!((MEDIAN_OVER_MEAN_ERROR - (std::f64::consts::PI / 2.0).sqrt()).abs() < 0.005);
    }

    /// The prediction holds: with as many processes as predicted, the median half-width over 300
    /// runs is the tolerance within a quarter (the order-statistic interval is conservative).
    #[test]
    fn the_prediction_holds_on_average() {
        let mut stream = Stream(67);
        let epsilon = 0.005;
        let n = (1.25_f64 * 1.959964 * 0.02 / epsilon).powi(2).ceil() as usize;
        assert_eq!(n, 97);
        let mut widths: Vec<f64> = (0..300)
            .map(|_| {
                let values: Vec<f64> = (0..n).map(|_| 1.0 + 0.02 * stream.normal()).collect();
                let estimate = Estimate::over_processes(&values, 0.95).unwrap();
                estimate.relative_half_width.unwrap()
            })
            .collect();
        widths.sort_by(f64::total_cmp);
        assert_close(widths[150], epsilon, 0.25);
    }

    #[test]
    fn refusals() {
        let over = Estimate::over_processes;
        assert_eq!(over(&[], 0.95), Err(Refusal::TooFew { have: 0, need: 1 }));
        assert_eq!(over(&[1.0, f64::INFINITY], 0.95), Err(Refusal::Unusable { index: 1 }));
        assert_eq!(over(&[1.0], 1.0), Err(Refusal::Confidence));
        assert_eq!(over(&[-1.0; 6], 0.95).unwrap().relative_half_width, None);
    }
}
