//! Did the machine change while we measured? Block medians in time order, looked at four ways
//! (§5.9): do neighbours move together, is there a trend, is there a step, and how many independent
//! blocks is the series worth.
//!
//! The module refuses to correct anything: it describes, and [`Drift::findings`] puts into words
//! what matters at a stated tolerance. It refuses series of fewer than [`FEWEST_BLOCKS`] blocks,
//! where every one of these tests is guesswork. Normalise the blocks by the clock probe first: what
//! then remains is not the clock's.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::quantile::median;
use crate::refusal::{Refusal, check_values, finite};
use crate::series::{autocorrelation, effective_count};
use crate::steps::{SHORTEST_SEGMENT, change_points};
use crate::trend::{MannKendall, mann_kendall, theil_sen_slope};

/// Fewest blocks in which drift is looked for (§5.9).
pub const FEWEST_BLOCKS: usize = 20;

/// Lag-1 autocorrelation is flagged above this over √m: the one-sided 5 % point of its distribution
/// in independent data (§5.9).
pub const LAG_1_SIGMAS: f64 = 1.64;

/// A trend is reported when its corrected p-value is below this: the field's convention. Relevance
/// is asked separately, by the tolerance.
pub const TREND_SIGNIFICANCE: f64 = 0.05;

/// A sudden change of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// First block at the new level, counted from 0.
    pub at_block: usize,
    /// Median of the blocks since the step before (or the start), in the unit of the blocks.
    pub before: f64,
    /// Median of the blocks up to the next step (or the end), in the unit of the blocks.
    pub after: f64,
    /// (after − before)/|before|, without unit; `None` if `before` is 0. May be 0: a change of
    /// spread alone is a change too.
    pub relative: Option<f64>,
}

/// What a series of block medians shows. Made by [`Drift::of`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// How many blocks.
    pub blocks: usize,
    /// Lag-1 autocorrelation, −1 to 1. `None` for constant blocks.
    pub lag_1: Option<f64>,
    /// [`LAG_1_SIGMAS`]/√blocks: above it neighbours move together.
    pub lag_1_limit: f64,
    /// How many independent blocks the series is worth, 1 to `blocks`.
    pub effective_blocks: f64,
    /// Test for a trend, as for independent blocks.
    pub mann_kendall: MannKendall,
    /// The same test's p-value with its variance raised by n/n_eff of the detrended blocks (Yue and
    /// Wang 2004, who take n_eff from the detrended series for the same reason): neighbours that
    /// move together are no evidence of a trend.
    pub trend_p_value: f64,
    /// Theil–Sen slope in the unit of the blocks, per block.
    pub slope_per_block: f64,
    /// Slope times (blocks − 1), over |median|: the relative change from the first block to the
    /// last. `None` if the median is 0.
    pub relative_change: Option<f64>,
    /// Steps in time order.
    pub steps: Vec<Step>,
}

impl Drift {
    /// Looks for drift in block medians in time order.
    ///
    /// Refuses fewer than [`FEWEST_BLOCKS`] blocks and blocks that are not finite. Series of more
    /// than [`crate::trend::CONDENSE_ABOVE`] blocks are condensed for the slope and the steps.
    ///
    /// ```
    /// use pqlab_stats::drift::Drift;
    /// let blocks: Vec<f64> = (0..40).map(|i| 30_000.0 + 10.0 * f64::from(i)).collect();
    /// let drift = Drift::of(&blocks).unwrap();
    /// assert_eq!(drift.slope_per_block, 10.0);
    /// assert!(!drift.findings(0.005).is_empty());
    /// ```
    pub fn of(block_medians: &[f64]) -> Result<Self, Refusal> {
        check_values(block_medians, FEWEST_BLOCKS)?;
        let blocks = block_medians.len();
        let too_few = Refusal::TooFew { have: blocks, need: FEWEST_BLOCKS };
        let centre = median(block_medians).ok_or(too_few)?;
        let trend = mann_kendall(block_medians).ok_or(too_few)?;
        let slope = theil_sen_slope(block_medians).ok_or(too_few)?;
        Ok(Self {
            blocks,
            lag_1: autocorrelation(block_medians, 1),
            lag_1_limit: LAG_1_SIGMAS / (blocks as f64).sqrt(),
            effective_blocks: effective_count(block_medians).unwrap_or(blocks as f64),
            mann_kendall: trend,
            trend_p_value: corrected_p_value(&trend, block_medians, slope),
            slope_per_block: slope,
            relative_change: finite(slope * (blocks - 1) as f64 / centre.abs()),
            steps: steps_of(block_medians),
        })
    }

    /// Whether neighbouring blocks move together more than chance allows.
    pub fn is_autocorrelated(&self) -> bool {
        self.lag_1.is_some_and(|lag_1| lag_1 > self.lag_1_limit)
    }

    /// What is worth saying: autocorrelation above its limit; a trend that is significant and
    /// changes the level by more than `tolerance` over the run; every step by more than
    /// `tolerance`. The tolerance is relative (0.005 for 0.5 %), usually the ε of the run; one that
    /// is negative or NaN counts as 0.
    pub fn findings(&self, tolerance: f64) -> Vec<DriftFinding> {
        let tolerance = tolerance.max(0.0);
        let mut findings = Vec::new();
        if let Some(lag_1) = self.lag_1.filter(|_| self.is_autocorrelated()) {
            findings.push(DriftFinding::Autocorrelated {
                lag_1,
                limit: self.lag_1_limit,
                blocks: self.blocks,
                effective_blocks: self.effective_blocks,
            });
        }
        if let Some(relative_change) = self.relative_change
            && relative_change.abs() > tolerance
            && self.trend_p_value < TREND_SIGNIFICANCE
        {
            findings.push(DriftFinding::Trend { relative_change, p_value: self.trend_p_value });
        }
        for step in &self.steps {
            if let Some(relative) = step.relative
                && relative.abs() > tolerance
            {
                findings.push(DriftFinding::Step {
                    at_block: step.at_block,
                    blocks: self.blocks,
                    relative,
                });
            }
        }
        findings
    }
}

/// Something that a series of blocks shows, with the figures that say so.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftFinding {
    /// Neighbouring blocks move together.
    Autocorrelated {
        /// Lag-1 autocorrelation.
        lag_1: f64,
        /// What chance allows.
        limit: f64,
        /// How many blocks.
        blocks: usize,
        /// How many independent blocks they are worth.
        effective_blocks: f64,
    },
    /// The level moves steadily.
    Trend {
        /// Relative change from the first block to the last (0.01 is +1 %).
        relative_change: f64,
        /// Corrected two-sided p-value.
        p_value: f64,
    },
    /// The level jumps.
    Step {
        /// First block at the new level, counted from 0.
        at_block: usize,
        /// How many blocks.
        blocks: usize,
        /// Relative size of the jump (0.01 is +1 %).
        relative: f64,
    },
}

impl fmt::Display for DriftFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Autocorrelated { lag_1, limit, blocks, effective_blocks } => write!(
                f,
                "neighbouring blocks move together (lag-1 {lag_1:.2}, chance allows {limit:.2}): \
                 {blocks} blocks are worth {effective_blocks:.0}"
            ),
            Self::Trend { relative_change, p_value } => {
                let percent = 100.0 * relative_change;
                write!(f, "drift of {percent:+.2} % over the run (p = {p_value:.2e})")
            }
            Self::Step { at_block, blocks, relative } => {
                let percent = 100.0 * relative;
                write!(f, "step of {percent:+.2} % at block {at_block} of {blocks}")
            }
        }
    }
}

fn corrected_p_value(trend: &MannKendall, values: &[f64], slope: f64) -> f64 {
    let detrended: Vec<f64> =
        values.iter().enumerate().map(|(place, value)| value - slope * place as f64).collect();
    let n = values.len() as f64;
    let worth = effective_count(&detrended).unwrap_or(n);
    crate::normal::two_sided_p(trend.z * (worth / n).sqrt())
}

fn steps_of(values: &[f64]) -> Vec<Step> {
    let mut bounds = vec![0];
    bounds.extend(change_points(values, SHORTEST_SEGMENT));
    bounds.push(values.len());
    bounds
        .windows(3)
        .filter_map(|bound| {
            let before = median(&values[bound[0]..bound[1]])?;
            let after = median(&values[bound[1]..bound[2]])?;
            let relative = finite((after - before) / before.abs());
            Some(Step { at_block: bound[1], before, after, relative })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Stream, assert_close};

    fn noise(stream: &mut Stream, n: usize) -> Vec<f64> {
        (0..n).map(|_| 30_000.0 * (1.0 + 0.002 * stream.normal())).collect()
    }

    fn autoregressive(stream: &mut Stream, n: usize, memory: f64) -> Vec<f64> {
        let mut state = stream.normal() / (1.0 - memory * memory).sqrt();
        (0..n)
            .map(|_| {
                state = memory * state + stream.normal();
                30_000.0 * (1.0 + 0.002 * state)
            })
            .collect()
    }

    #[test]
    fn too_few_blocks_are_refused() {
        let too_few = Refusal::TooFew { have: 19, need: 20 };
        assert_eq!(Drift::of(&[1.0; 19]), Err(too_few));
        assert_eq!(Drift::of(&[]), Err(Refusal::TooFew { have: 0, need: 20 }));
        let mut blocks = [1.0; 20];
        assert!(Drift::of(&blocks).is_ok());
        blocks[7] = f64::NAN;
        assert_eq!(Drift::of(&blocks), Err(Refusal::Unusable { index: 7 }));
    }

    #[test]
    fn constant_blocks_show_nothing() {
        let drift = Drift::of(&[5.0; 64]).unwrap();
        assert_eq!((drift.lag_1, drift.effective_blocks), (None, 64.0));
        assert_eq!((drift.slope_per_block, drift.relative_change), (0.0, Some(0.0)));
        assert_eq!((drift.trend_p_value, drift.steps.len()), (1.0, 0));
        assert!(drift.findings(0.0).is_empty());
        assert_close(drift.lag_1_limit, 0.205, 1e-14);
    }

    #[test]
    fn steady_noise_is_left_alone() {
        let mut stream = Stream(41);
        let loud = (0..100)
            .filter(|_| {
                let drift = Drift::of(&noise(&mut stream, 100)).unwrap();
                drift
                    .findings(0.005)
                    .iter()
                    .any(|finding| !matches!(finding, DriftFinding::Autocorrelated { .. }))
            })
            .count();
        assert_eq!(loud, 0);
    }

    /// Lag-1 is flagged in some 5 % of independent series, and in all with a memory of 0.61.
    #[test]
    fn autocorrelation_is_flagged_at_its_level() {
        let mut stream = Stream(43);
        let flagged = (0..400)
            .filter(|_| Drift::of(&noise(&mut stream, 50)).unwrap().is_autocorrelated())
            .count();
        assert!((4..=32).contains(&flagged), "{flagged} of 400");
        for _ in 0..50 {
            let drift = Drift::of(&autoregressive(&mut stream, 100, 0.61)).unwrap();
            let findings = drift.findings(0.005);
            assert!(matches!(findings[0], DriftFinding::Autocorrelated { .. }));
            assert!(drift.effective_blocks < 60.0);
        }
    }

    /// Memory alone makes the plain test cry trend in about a third of the series; corrected, near
    /// its level.
    #[test]
    fn memory_is_no_trend() {
        let mut stream = Stream(47);
        let (mut plain, mut corrected) = (0, 0);
        for _ in 0..200 {
            let drift = Drift::of(&autoregressive(&mut stream, 100, 0.61)).unwrap();
            plain += usize::from(drift.mann_kendall.p_value < TREND_SIGNIFICANCE);
            corrected += usize::from(drift.trend_p_value < TREND_SIGNIFICANCE);
        }
        assert!(plain >= 40, "{plain} of 200");
        assert!(corrected <= 30, "{corrected} of 200");
    }

    #[test]
    fn a_trend_is_reported_above_the_tolerance_only() {
        let mut stream = Stream(53);
        let blocks: Vec<f64> = noise(&mut stream, 100)
            .iter()
            .enumerate()
            .map(|(i, block)| block + 30_000.0 * 0.01 * i as f64 / 99.0)
            .collect();
        let drift = Drift::of(&blocks).unwrap();
        assert_close(drift.relative_change.unwrap(), 0.01, 0.15);
        let has_trend = |tolerance| {
            let is_trend = |finding: &DriftFinding| matches!(finding, DriftFinding::Trend { .. });
            drift.findings(tolerance).iter().any(is_trend)
        };
        assert!(has_trend(0.005) && has_trend(f64::NAN) && has_trend(-1.0));
        assert!(!has_trend(0.02));
    }

    #[test]
    fn a_step_is_placed_and_sized() {
        let mut stream = Stream(59);
        let blocks: Vec<f64> = noise(&mut stream, 120)
            .iter()
            .enumerate()
            .map(|(i, block)| if i < 80 { *block } else { block * 0.97 })
            .collect();
        let drift = Drift::of(&blocks).unwrap();
        let step = drift.steps.iter().find(|step| step.at_block == 80).unwrap();
        assert_close(step.relative.unwrap(), -0.03, 0.05);
        assert_close(step.after / step.before, 0.97, 0.002);
        let is_step = |finding: &&DriftFinding| matches!(finding, DriftFinding::Step { .. });
        assert_eq!(drift.findings(0.005).iter().filter(is_step).count(), 1);
        assert_eq!(drift.findings(0.05).iter().filter(is_step).count(), 0);
    }

    /// 40 blocks from 30 000 rising by 10: 390 in all, over a median of 30 195.
    #[test]
    fn the_relative_change_is_from_first_to_last() {
        let blocks: Vec<f64> = (0..40).map(|i| 30_000.0 + 10.0 * f64::from(i)).collect();
        let drift = Drift::of(&blocks).unwrap();
        assert_close(drift.relative_change.unwrap(), 390.0 / 30_195.0, 1e-14);
    }

    #[test]
    fn six_blocks_make_a_step() {
        let mut blocks = [30_000.0; 60];
        blocks[54..].fill(33_000.0);
        let steps = Drift::of(&blocks).unwrap().steps;
        let step = Step { at_block: 54, before: 30_000.0, after: 33_000.0, relative: Some(0.1) };
        assert_eq!(steps, [step]);
        blocks[54] = 30_000.0;
        assert_ne!(Drift::of(&blocks).unwrap().steps.first().map(|step| step.at_block), Some(55));
    }

    #[test]
    fn a_level_of_zero_has_no_relative_change() {
        let blocks: Vec<f64> = (-10..=10).map(f64::from).collect();
        let drift = Drift::of(&blocks).unwrap();
        assert_eq!((drift.slope_per_block, drift.relative_change), (1.0, None));
    }

    #[test]
    fn ten_thousand_blocks_are_no_trouble() {
        let mut stream = Stream(61);
        let drift = Drift::of(&noise(&mut stream, 10_000)).unwrap();
        assert!(drift.relative_change.unwrap().abs() < 0.001);
        assert!(drift.effective_blocks > 9000.0);
    }

    #[test]
    fn findings_in_words() {
        let words = DriftFinding::Step { at_block: 80, blocks: 120, relative: -0.0312 };
        assert_eq!(words.to_string(), "step of -3.12 % at block 80 of 120");
        let words = DriftFinding::Trend { relative_change: 0.0123, p_value: 0.00042 };
        assert_eq!(words.to_string(), "drift of +1.23 % over the run (p = 4.20e-4)");
        let words = DriftFinding::Autocorrelated {
            lag_1: 0.61,
            limit: 0.164,
            blocks: 100,
            effective_blocks: 24.2,
        };
        assert_eq!(
            words.to_string(),
            "neighbouring blocks move together (lag-1 0.61, chance allows 0.16): \
             100 blocks are worth 24"
        );
    }
}
