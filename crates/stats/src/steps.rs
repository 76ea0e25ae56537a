//! Sudden change along a series: the places where its distribution changes, without assuming one.
//!
//! The cost of a segment is the empirical-distribution cost of Haynes, Fearnhead and Eckley ("A
//! computationally efficient nonparametric approach for changepoint detection", Statistics and
//! Computing 27, 2017) with K = ⌈4 ln n⌉ quantiles (§5.8). The best cuts are found by optimal
//! partitioning (Jackson et al. 2005), that is ED-PELT without the P: pruning saves nothing on a
//! series without changes, which is the usual one, and with a smallest segment length it can
//! discard the optimum.
//!
//! Two things differ from perfolizer, whose settings §5.8 quotes. Its penalty of 3 ln n per change
//! finds a step in a fifth (n = 20) to a half (n = 500) of series of independent noise; ours is set
//! for 5 %. And blocks
//! remember each other, which shows as steps too; so the penalty is multiplied by how many blocks
//! one independent block takes, judged on what the steps leave over.
//!
//! The module refuses to say whether a step matters or what caused it; [`crate::drift`] sets it
//! against a tolerance.

use crate::quantile::median;
use crate::refusal::check_values;
use crate::series::effective_count;
use crate::trend::{CONDENSE_ABOVE, condense};

/// Shortest segment, in values (blocks): our choice (§5.8). Six 10 ms blocks are 60 ms; anything
/// shorter is an interruption, not a state of the machine.
pub const SHORTEST_SEGMENT: usize = 6;

/// Quantiles per natural logarithm of n: Haynes et al. 2017, section 4.3.
const QUANTILES_PER_LOG: f64 = 4.0;

/// Penalty per change and natural logarithm of n. Calibrated: the penalty that 95 % of series of
/// independent noise stay below is 4.3, 4.5, 4.3, 4.1, 4.0, 4.0 and 4.1 times ln n for n = 20, 30,
/// 50, 100, 200 (400 series each), 500 and 1000 (100 each), with segments of at least
/// [`SHORTEST_SEGMENT`]. The cost depends on ranks alone, so this holds for continuous noise of
/// every distribution. (perfolizer has 3.)
const PENALTY_PER_LOG: f64 = 4.3;

/// Rounds of cutting and raising the penalty. The penalty only rises, so the cuts settle, in two or
/// three rounds as a rule.
const MOST_ROUNDS: usize = 8;

/// The places (from 0) at which a new segment starts, ascending; empty if the series does not
/// change, is shorter than two segments, or has a value that is not finite.
///
/// Series longer than [`CONDENSE_ABOVE`] are condensed first, and a place is then the start of a
/// condensed run; `shortest_segment` counts runs. It is taken as at least 1. Costs O(n² log n) up
/// to that length (a tenth of a second), O(n) beyond.
///
/// ```
/// use pqlab_stats::steps::change_points;
/// let mut series = vec![3.0; 20];
/// series.extend(vec![3.2; 20]);
/// assert_eq!(change_points(&series, 6), [20]);
/// ```
pub fn change_points(values: &[f64], shortest_segment: usize) -> Vec<usize> {
    let shortest = shortest_segment.max(1);
    if check_values(values, 1).is_err() {
        return Vec::new();
    }
    let points = condense(values, CONDENSE_ABOVE);
    if points.len() / 2 < shortest {
        return Vec::new();
    }
    let series: Vec<f64> = points.iter().map(|point| point.value).collect();
    let cost = SegmentCost::of(&series);
    let base = PENALTY_PER_LOG * (series.len() as f64).ln();
    let mut memory = 1.0;
    let mut cuts = best_cuts(&cost, shortest, base);
    for _ in 1..MOST_ROUNDS {
        let memory_left = blocks_per_independent_block(&series, &cuts);
        if cuts.is_empty() || memory_left <= memory {
            break;
        }
        memory = memory_left;
        cuts = best_cuts(&cost, shortest, base * memory);
    }
    cuts.into_iter().map(|cut| points[cut].start).collect()
}

/// n/n_eff of what is left of a series when each segment's median is taken from it; 1 or more.
fn blocks_per_independent_block(series: &[f64], cuts: &[usize]) -> f64 {
    let mut left = series.to_vec();
    let mut start = 0;
    for end in cuts.iter().copied().chain([series.len()]) {
        let level = median(&series[start..end]).unwrap_or(0.0);
        left[start..end].iter_mut().for_each(|value| *value -= level);
        start = end;
    }
    let n = series.len() as f64;
    effective_count(&left).map_or(1.0, |worth| n / worth)
}

/// Optimal partitioning: the cheapest cost of every prefix, and where its last segment starts.
fn best_cuts(cost: &SegmentCost, shortest: usize, penalty: f64) -> Vec<usize> {
    let n = cost.n;
    let mut cheapest = vec![f64::INFINITY; n + 1];
    let mut last_start = vec![0; n + 1];
    cheapest[0] = -penalty;
    for end in shortest..=n {
        for start in 0..=end - shortest {
            if !cheapest[start].is_finite() {
                continue;
            }
            let total = cheapest[start] + penalty + cost.of_segment(start, end);
            if total < cheapest[end] {
                cheapest[end] = total;
                last_start[end] = start;
            }
        }
    }
    let mut cuts = Vec::new();
    let mut end = last_start[n];
    while end > 0 {
        cuts.push(end);
        end = last_start[end];
    }
    cuts.reverse();
    cuts
}

/// The empirical-distribution cost of a segment from tables: no logarithm in the inner loop.
struct SegmentCost {
    n: usize,
    quantiles: usize,
    /// At `[place * quantiles + q]`: how many of the first `place` values lie below quantile q,
    /// doubled, so that a value equal to it counts as half.
    doubled_below: Vec<u32>,
    /// x ln x.
    x_log_x: Vec<f64>,
    scale: f64,
}

impl SegmentCost {
    fn of(series: &[f64]) -> Self {
        let n = series.len();
        let size = n as f64;
        let quantiles = ((QUANTILES_PER_LOG * size.ln()).ceil() as usize).clamp(1, n.max(1));
        let ascending = crate::refusal::sorted(series);
        // Quantiles crowd towards the tails: p = 1/(1 + (2n−1)^(−z)), z evenly in (−1, 1).
        let levels: Vec<f64> = (0..quantiles)
            .map(|q| {
                let z = -1.0 + (2 * q + 1) as f64 / quantiles as f64;
                let p = 1.0 / (1.0 + (2.0 * size - 1.0).powf(-z));
                ascending[((size - 1.0) * p) as usize]
            })
            .collect();
        let mut doubled_below = vec![0; (n + 1) * quantiles];
        for (place, value) in series.iter().enumerate() {
            for (q, level) in levels.iter().enumerate() {
                let here = if value < level { 2 } else { u32::from(value == level) };
                doubled_below[(place + 1) * quantiles + q] =
                    doubled_below[place * quantiles + q] + here;
            }
        }
        let x_log_x = (0..=2 * n).map(|x| x as f64 * (x.max(1) as f64).ln()).collect();
        let scale = 2.0 * (2.0 * size - 1.0).ln() / quantiles as f64;
        Self { n, quantiles, doubled_below, x_log_x, scale }
    }

    /// 2 ln(2n−1)/K · Σ_q −ℓ(F ln F + (1−F) ln(1−F)), with ℓ the length of the segment and F the
    /// share of it below quantile q (Haynes et al. 2017, sections 2 and 3).
    fn of_segment(&self, start: usize, end: usize) -> f64 {
        let row = |place: usize| &self.doubled_below[place * self.quantiles..][..self.quantiles];
        let doubled_length = 2 * (end - start);
        let sum: f64 = row(start)
            .iter()
            .zip(row(end))
            .map(|(before, after)| {
                let below = (after - before) as usize;
                self.x_log_x[below] + self.x_log_x[doubled_length - below]
            })
            .sum();
        // Doubled counts double every term: halve.
        0.5 * self.scale * (self.quantiles as f64 * self.x_log_x[doubled_length] - sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Stream, assert_close};

    /// perfolizer's tests of ED-PELT, with its penalty: Test1, Test3, Test4 and Test5 of
    /// src/Perfolizer/Perfolizer.Tests/Mathematics/Cpd/EdPeltTests.cs. It gives the last place of a
    /// segment, we the first of the next.
    #[test]
    fn perfolizer_vectors() {
        let change_points = |series: &[f64], shortest| {
            best_cuts(&SegmentCost::of(series), shortest, 3.0 * (series.len() as f64).ln())
        };
        let none = [3240.0, 3207.0, 2029.0, 3028.0, 3021.0, 2624.0, 3290.0, 2823.0, 3573.0];
        assert!(change_points(&none, 1).is_empty());
        let one = [0.0, 0.0, 0.0, 0.0, 0.0, 100.0, 100.0, 100.0, 100.0];
        assert_eq!(change_points(&one, 1), [5]);
        let two: Vec<f64> = (0..18).map(|i| f64::from(i / 6)).collect();
        assert_eq!(change_points(&two, 1), [6, 12]);
        let rising: Vec<f64> = (1..=1000).map(f64::from).collect();
        let published = [15, 47, 79, 129, 204, 306, 432, 565, 691, 793, 868, 918, 950, 982];
        assert_eq!(change_points(&rising, 1), published.map(|last| last + 1));
    }

    /// The cost of a segment from its formula, in the plain way.
    fn cost_by_formula(series: &[f64], start: usize, end: usize) -> f64 {
        let n = series.len() as f64;
        let k = (4.0 * n.ln()).ceil().min(n);
        let mut ascending = series.to_vec();
        ascending.sort_by(f64::total_cmp);
        let length = (end - start) as f64;
        let mut sum = 0.0;
        for q in 0..k as usize {
            let z = -1.0 + (2.0 * q as f64 + 1.0) / k;
            let p = 1.0 / (1.0 + (2.0 * n - 1.0).powf(-z));
            let level = ascending[((n - 1.0) * p) as usize];
            let share = series[start..end]
                .iter()
                .map(|&x| {
                    if x < level {
                        1.0
                    } else if x == level {
                        0.5
                    } else {
                        0.0
                    }
                })
                .sum::<f64>()
                / length;
            if share > 0.0 && share < 1.0 {
                sum += length * (share * share.ln() + (1.0 - share) * (1.0 - share).ln());
            }
        }
        -2.0 * (2.0 * n - 1.0).ln() / k * sum
    }

    #[test]
    fn tabled_costs_equal_the_formula() {
        let mut stream = Stream(5);
        let series: Vec<f64> = (0..40).map(|_| (stream.uniform() * 12.0).floor()).collect();
        let cost = SegmentCost::of(&series);
        for start in 0..40 {
            for end in start + 2..=40 {
                let want = cost_by_formula(&series, start, end);
                assert!((cost.of_segment(start, end) - want).abs() < 1e-9, "{start}..{end}");
            }
        }
        assert_close(cost.of_segment(0, 40), cost_by_formula(&series, 0, 40), 1e-12);
    }

    #[test]
    fn steps_keep_their_distance() {
        let mut series = vec![1.0; 30];
        series[12..15].fill(9.0);
        assert!(change_points(&series, 6).iter().all(|cut| (6..=24).contains(cut)));
        let cuts = change_points(&series, 6);
        assert!(cuts.windows(2).all(|pair| pair[1] - pair[0] >= 6), "{cuts:?}");
        // Eleven values cannot hold two segments of six; twelve can.
        let step = |n: usize| -> Vec<f64> { (0..n).map(|i| f64::from(i >= n / 2)).collect() };
        assert!(change_points(&step(11), 6).is_empty());
        assert_eq!(change_points(&step(12), 6), [6]);
    }

    /// In how many of 100 series of 100 blocks, unit variance and lag-1 `memory`, a step is seen
    /// where there is none, and in how many one of 3 sigma is placed within 2 blocks.
    fn alarms_and_finds(memory: f64) -> (usize, usize) {
        let mut stream = Stream(29);
        let (mut alarms, mut found) = (0, 0);
        for _ in 0..100 {
            let mut state = stream.normal();
            let noise: Vec<f64> = (0..100)
                .map(|_| {
                    state = memory * state + (1.0 - memory * memory).sqrt() * stream.normal();
                    state
                })
                .collect();
            alarms += usize::from(!change_points(&noise, SHORTEST_SEGMENT).is_empty());
            let stepped: Vec<f64> =
                noise.iter().enumerate().map(|(i, x)| x + 3.0 * f64::from(i >= 60)).collect();
            let cuts = change_points(&stepped, SHORTEST_SEGMENT);
            found += usize::from(cuts.iter().any(|cut| cut.abs_diff(60) <= 2));
        }
        (alarms, found)
    }

    /// perfolizer's penalty alone would alarm in 37 of these 100.
    #[test]
    fn independent_noise_shows_no_steps_and_a_step_is_found() {
        let (alarms, found) = alarms_and_finds(0.0);
        assert!(alarms <= 8 && found >= 95, "{alarms} alarms, {found} found");
    }

    /// Without regard to memory most of these series would show steps.
    #[test]
    fn memory_shows_few_steps_and_a_step_is_still_found() {
        let (alarms, found) = alarms_and_finds(0.6);
        assert!(alarms <= 18 && found >= 75, "{alarms} alarms, {found} found");
    }

    /// The cuts for a given penalty depend on the order of size alone, not on the unit or scale.
    #[test]
    fn cuts_depend_on_ranks_alone() {
        let mut stream = Stream(31);
        let plain: Vec<f64> = (0..60).map(|i| stream.uniform() + f64::from(i / 20)).collect();
        let bent: Vec<f64> = plain.iter().map(|x| (3.0 * x).exp()).collect();
        let cuts = |series: &[f64]| best_cuts(&SegmentCost::of(series), 6, 15.0);
        assert_eq!(cuts(&plain), cuts(&bent));
        assert_eq!(cuts(&plain), [20, 40]);
    }

    #[test]
    fn a_long_series_is_condensed() {
        let series: Vec<f64> = (0..10_000).map(|i| f64::from(i >= 4000) + 10.0).collect();
        assert_eq!(change_points(&series, SHORTEST_SEGMENT), [4000]);
    }

    #[test]
    fn odd_input_has_no_steps() {
        assert!(change_points(&[], 6).is_empty());
        assert!(change_points(&[1.0], 0).is_empty());
        assert!(change_points(&[1.0; 50], 6).is_empty());
        assert!(change_points(&[f64::NAN; 50], 6).is_empty());
        assert!(change_points(&[1.0, 2.0, 3.0], usize::MAX).is_empty());
    }
}
