//! Slow change along a series: is there one (Mann–Kendall), and how much per step (Theil–Sen).
//!
//! Both use order alone, so a preempted block is one block and not a lever. The module refuses to
//! say whether a trend matters: with enough blocks a drift of one part in a million is certain and
//! irrelevant. [`crate::drift`] sets it against a tolerance.

use serde::{Deserialize, Serialize};

use crate::normal::two_sided_p;
use crate::quantile::median;
use crate::refusal::check_values;

/// Up to this many values the slope is the median over all pairs (half a million slopes, 4 MB);
/// longer series are first condensed to this many medians of neighbouring values. Our choice: a
/// tenth of a second at most, and a trend is seen as well in 1000 points as in 10 000.
pub const CONDENSE_ABOVE: usize = 1000;

/// Mann and Kendall's test for a trend (Mann 1945; Kendall 1975).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MannKendall {
    /// Pairs in which the later value is larger, less those in which it is smaller.
    pub s: i64,
    /// S, moved by one towards 0, over its standard deviation under no trend (with ties).
    pub z: f64,
    /// Two-sided chance of a |z| as large in *independent* values without trend. Neighbours that
    /// resemble each other make it too small; [`crate::drift`] corrects for that.
    pub p_value: f64,
}

/// Tests a series for a trend in O(n log n). `None` for fewer than 2 values or one that is not
/// finite. The p-value is by the normal approximation, good from n = 10 (Kendall 1975).
///
/// ```
/// use pqlab_stats::trend::mann_kendall;
/// let rising = [1.0, 2.0, 4.0, 3.0, 5.0, 6.0, 8.0, 7.0, 9.0, 10.0];
/// assert_eq!(mann_kendall(&rising).unwrap().s, 41);
/// ```
pub fn mann_kendall(values: &[f64]) -> Option<MannKendall> {
    check_values(values, 2).ok()?;
    // −0.0 and 0.0 are one value; total_cmp below would tell them apart.
    let mut ascending: Vec<f64> = values.iter().map(|value| value + 0.0).collect();
    let falling = sort_counting_inversions(&mut ascending);

    let pairs_of = |count: usize| (count as i64) * (count as i64 - 1) / 2;
    let spread_of = |count: f64| count * (count - 1.0) * (2.0 * count + 5.0);
    let mut untied_pairs = pairs_of(values.len());
    let mut variance = spread_of(values.len() as f64);
    for tie in ascending.chunk_by(|a, b| a == b) {
        untied_pairs -= pairs_of(tie.len());
        variance -= spread_of(tie.len() as f64);
    }
    let s = untied_pairs - 2 * falling;
    let z = if s == 0 { 0.0 } else { (s - s.signum()) as f64 / (variance / 18.0).sqrt() };
    Some(MannKendall { s, z, p_value: two_sided_p(z) })
}

/// Sorts and returns in how many pairs the earlier value was the larger.
fn sort_counting_inversions(values: &mut [f64]) -> i64 {
    let half = values.len() / 2;
    if half == 0 {
        return 0;
    }
    let (left, right) = values.split_at_mut(half);
    let mut inversions = sort_counting_inversions(left) + sort_counting_inversions(right);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        if left[i] <= right[j] {
            merged.push(left[i]);
            i += 1;
        } else {
            inversions += (left.len() - i) as i64;
            merged.push(right[j]);
            j += 1;
        }
    }
    merged.extend_from_slice(&left[i..]);
    merged.extend_from_slice(&right[j..]);
    values.copy_from_slice(&merged);
    inversions
}

/// Theil and Sen's slope: the median of the slopes of all pairs, in the unit of the values per
/// step (Sen 1968). Series longer than [`CONDENSE_ABOVE`] are condensed first.
///
/// `None` for fewer than 2 values or one that is not finite.
pub fn theil_sen_slope(values: &[f64]) -> Option<f64> {
    check_values(values, 2).ok()?;
    let points = condense(values, CONDENSE_ABOVE);
    let mut slopes = Vec::with_capacity(points.len() * (points.len() - 1) / 2);
    for (i, earlier) in points.iter().enumerate() {
        for later in &points[i + 1..] {
            slopes.push((later.value - earlier.value) / (later.position - earlier.position));
        }
    }
    median_by_selection(&mut slopes)
}

/// The median without a full sort; the slopes are finite.
fn median_by_selection(values: &mut [f64]) -> Option<f64> {
    let half = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    if values.is_empty() {
        return None;
    }
    let (below, upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let upper = *upper;
    if !even {
        return Some(upper);
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(0.5 * lower + 0.5 * upper)
}

/// A point of a condensed series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// Place of the first value that the point stands for.
    pub(crate) start: usize,
    /// Middle of the places that the point stands for.
    pub(crate) position: f64,
    /// Median of the values that the point stands for.
    pub(crate) value: f64,
}

/// Cuts a series into at most `limit` runs of neighbours, as even as can be, and takes each run's
/// median. A series within the limit is kept value for value.
pub(crate) fn condense(values: &[f64], limit: usize) -> Vec<Point> {
    let count = values.len().min(limit);
    (0..count)
        .filter_map(|i| {
            let start = i * values.len() / count;
            let end = (i + 1) * values.len() / count;
            let position = 0.5 * (start + end - 1) as f64;
            Some(Point { start, position, value: median(&values[start..end])? })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Stream, assert_close};

    /// J. Little, "A Mann-Kendall Example (By Hand)", College of the Holy Cross,
    /// mathcs.holycross.edu/~little/Montserrat/MannKendallByHand.txt.
    const BY_HAND: [f64; 14] =
        [12.9, 14.8, 13.2, 15.7, 13.8, 15.6, 12.9, 11.0, 17.3, 15.9, 19.0, 18.3, 20.1, 21.7];

    /// Published there: S = 54, Z = 2.9058, one tie. pymannkendall 1.4.3 `original_test` gives
    /// z = 2.905836845996537, p = 0.0036627237628823472.
    #[test]
    fn mann_kendall_by_hand() {
        let test = mann_kendall(&BY_HAND).unwrap();
        assert_eq!(test.s, 54);
        assert!((test.z - 2.9058).abs() < 5e-5);
        assert_close(test.z, 2.905836845996537, 1e-14);
        assert_close(test.p_value, 0.0036627237628823472, 1e-12);
    }

    #[test]
    fn mann_kendall_is_odd_under_reversal() {
        let reversed: Vec<f64> = BY_HAND.iter().rev().copied().collect();
        let (forth, back) = (mann_kendall(&BY_HAND).unwrap(), mann_kendall(&reversed).unwrap());
        assert_eq!((forth.s, forth.z, forth.p_value), (-back.s, -back.z, back.p_value));
    }

    /// The count by merging equals the count by definition, ties and signed zeros included.
    #[test]
    fn mann_kendall_equals_its_definition() {
        let mut stream = Stream(3);
        for n in 2..60 {
            let values: Vec<f64> = (0..n)
                .map(|_| {
                    let value = (stream.uniform() * 9.0).floor() - 4.0;
                    if value == 0.0 && stream.uniform() < 0.5 { -0.0 } else { value }
                })
                .collect();
            let mut s = 0;
            for i in 0..n {
                for j in i + 1..n {
                    s += i64::from(values[j] > values[i]) - i64::from(values[j] < values[i]);
                }
            }
            assert_eq!(mann_kendall(&values).unwrap().s, s);
        }
    }

    /// The test holds its level on independent data: 5 % of 4000 series, ± 4 standard errors.
    #[test]
    fn mann_kendall_holds_its_level() {
        let mut stream = Stream(19);
        let alarms = (0..4000)
            .filter(|_| {
                let values: Vec<f64> = (0..30).map(|_| -stream.uniform().ln()).collect();
                mann_kendall(&values).unwrap().p_value < 0.05
            })
            .count();
        assert!((145..=255).contains(&alarms), "{alarms}");
    }

    /// scipy 1.17.1 `theilslopes`: 0.566666666666667 (an odd number of pairs, 91).
    #[test]
    fn theil_sen_matches_scipy() {
        assert_close(theil_sen_slope(&BY_HAND).unwrap(), 0.566666666666667, 1e-14);
        // Slopes 1, 1.75, 1, 2.5, 1, −0.5; the middle two are 1 and 1.
        assert_eq!(theil_sen_slope(&[0.0, 1.0, 3.5, 3.0]), Some(1.0));
        // Slopes 1, 2, 3, 3, 4, 5; the middle two are 3 and 3.
        assert_eq!(theil_sen_slope(&[0.0, 1.0, 4.0, 9.0]), Some(3.0));
        // Slopes 1, 2, 3: one in the middle.
        assert_eq!(theil_sen_slope(&[0.0, 1.0, 4.0]), Some(2.0));
        assert_eq!(theil_sen_slope(&[5.0, 3.0]), Some(-2.0));
    }

    #[test]
    fn an_even_count_takes_the_mean_of_the_middle_two() {
        assert_eq!(median_by_selection(&mut [4.0, 1.0, 9.0, 2.0]), Some(3.0));
        assert_eq!(median_by_selection(&mut [4.0, 1.0, 9.0]), Some(4.0));
        assert_eq!(median_by_selection(&mut []), None);
    }

    #[test]
    fn a_long_series_is_condensed_without_losing_its_slope() {
        let rising: Vec<f64> = (0..10_000).map(|i| 5.0 + 0.25 * f64::from(i)).collect();
        assert_close(theil_sen_slope(&rising).unwrap(), 0.25, 1e-12);
        let points = condense(&rising[..1501], CONDENSE_ABOVE);
        assert_eq!(points.len(), 1000);
        assert!(points.windows(2).all(|pair| pair[0].start < pair[1].start));
        assert_eq!((points[0].start, points[999].position), (0, 1499.5));
    }

    #[test]
    fn a_spoiled_third_does_not_move_the_slope_far() {
        let mut stream = Stream(23);
        let values: Vec<f64> = (0..200)
            .map(|i| {
                let clean = f64::from(i) + 0.1 * stream.normal();
                if stream.uniform() < 0.2 { clean + 1e6 } else { clean }
            })
            .collect();
        assert_close(theil_sen_slope(&values).unwrap(), 1.0, 0.01);
    }

    #[test]
    fn what_does_not_exist_is_none() {
        for values in [&[][..], &[1.0], &[1.0, f64::NAN], &[f64::INFINITY, 1.0]] {
            assert_eq!(mann_kendall(values), None);
            assert_eq!(theil_sen_slope(values), None);
        }
        let constant = mann_kendall(&[2.0; 30]).unwrap();
        assert_eq!((constant.s, constant.z, constant.p_value), (0, 0.0, 1.0));
        assert_eq!(theil_sen_slope(&[2.0; 30]), Some(0.0));
    }
}
