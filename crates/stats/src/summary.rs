//! What a set of values looks like: place, spread, tails and shape, in one pass of sorting.
//!
//! A summary describes; it refuses to infer. It holds no interval (see [`crate::interval`], which
//! needs independent values) and its normality test is a label for a reader, never a gate: timings
//! are not normal and no estimate here assumes that they are (§5.11).
//!
//! The moments are taken in two passes over the sorted values, shifted by the smallest and divided
//! by the range. So they depend on neither the order nor the unit, keep their digits when the
//! values agree in the first eight (NIST's NumAcc4), and cannot overflow.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::quantile::{median_absolute_deviation, sorted_quantile};
use crate::refusal::{Refusal, check_values, finite, sorted};

/// A value is an outlier here beyond this many standard deviations from the mean: the three-sigma
/// convention. With n of 10 or fewer no value can lie so far, since |x − mean| ≤ (n−1)/√n · s
/// (Thompson 1935).
pub const OUTLIER_SIGMAS: f64 = 3.0;

/// Adjusted skewness beyond which data are called skewed: Bulmer (Principles of Statistics, 1979)
/// calls 1/2 to 1 moderate and less than 1/2 roughly symmetric.
pub const SKEWED: f64 = 0.5;

/// Excess kurtosis beyond which tails are called heavy. The uniform distribution has −1.2, the
/// logistic +1.2; our choice between them and the normal's 0.
pub const HEAVY_TAILS: f64 = 1.0;

/// Excess kurtosis below which tails are called light, by the same scale.
pub const LIGHT_TAILS: f64 = -1.0;

/// A shape is named only where it exceeds this many standard errors, so that chance alone names it
/// in about 5 % of normal samples.
pub const SHAPE_STANDARD_ERRORS: f64 = 1.96;

/// Fewest values whose shape is put in words: the adjusted skewness of fewer has a standard error
/// above 0.75, more than the effect to name.
pub const SHAPE_NEEDS: usize = 8;

/// Jarque and Bera's test of normality (1980).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JarqueBera {
    /// n/6 · (S² + K²/4), with S and K the plain (biased) skewness and excess kurtosis.
    pub statistic: f64,
    /// e^(−statistic/2): the χ² tail with two degrees of freedom. The test is asymptotic: below
    /// some 2000 values it errs (§5.11).
    pub p_value: f64,
}

/// A description of a set of values. Places and spreads are in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many values.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation with divisor n − 1. `None` for one value.
    pub standard_deviation: Option<f64>,
    /// Standard deviation over |mean|, without unit. `None` where either is missing or the mean is
    /// 0.
    pub coefficient_of_variation: Option<f64>,
    /// Smallest value.
    pub min: f64,
    /// 5 % quantile: the robust floor, since the minimum repeats worse than the median (§5.12).
    pub p5: f64,
    /// Lower quartile.
    pub p25: f64,
    /// Median.
    pub median: f64,
    /// Upper quartile.
    pub p75: f64,
    /// 95 % quantile.
    pub p95: f64,
    /// 99 % quantile.
    pub p99: f64,
    /// Largest value.
    pub max: f64,
    /// p75 − p25.
    pub interquartile_range: f64,
    /// Median distance from the median, unscaled.
    pub median_absolute_deviation: f64,
    /// How many values lie beyond [`OUTLIER_SIGMAS`] standard deviations from the mean. They are
    /// counted, never dropped.
    pub outliers_beyond_3_sigma: usize,
    /// Adjusted Fisher–Pearson skewness G₁. `None` for fewer than 3 values or constant ones.
    pub skewness: Option<f64>,
    /// Bias-corrected excess kurtosis G₂ (0 for normal data). `None` for fewer than 4 values or
    /// constant ones.
    pub excess_kurtosis: Option<f64>,
    /// Test of normality. `None` for fewer than 4 values or constant ones.
    pub jarque_bera: Option<JarqueBera>,
}

impl Summary {
    /// Summarises values in any order, in O(n log n).
    ///
    /// Refuses an empty slice and values that are not finite, naming the first.
    ///
    /// ```
    /// use pqlab_stats::summary::Summary;
    /// let summary = Summary::of(&[4.0, 1.0, 3.0, 2.0]).unwrap();
    /// assert_eq!((summary.min, summary.median, summary.max), (1.0, 2.5, 4.0));
    /// assert!(Summary::of(&[1.0, f64::NAN]).is_err());
    /// ```
    pub fn of(values: &[f64]) -> Result<Self, Refusal> {
        check_values(values, 1)?;
        let values = sorted(values);
        let moments = Moments::of_sorted(&values);
        let at = |p| sorted_quantile(&values, p).unwrap_or(values[0]);
        let (p25, p75) = (at(0.25), at(0.75));
        Ok(Self {
            n: values.len(),
            mean: moments.mean,
            standard_deviation: moments.standard_deviation,
            coefficient_of_variation: moments
                .standard_deviation
                .and_then(|deviation| finite(deviation / moments.mean.abs())),
            min: values[0],
            p5: at(0.05),
            p25,
            median: at(0.5),
            p75,
            p95: at(0.95),
            p99: at(0.99),
            max: values[values.len() - 1],
            interquartile_range: p75 - p25,
            median_absolute_deviation: median_absolute_deviation(&values).unwrap_or(0.0),
            outliers_beyond_3_sigma: moments.outliers,
            skewness: moments.adjusted_skewness(),
            excess_kurtosis: moments.corrected_excess_kurtosis(),
            jarque_bera: moments.jarque_bera(),
        })
    }

    /// The shape in words for a reader.
    pub fn shape(&self) -> Shape {
        if self.n < SHAPE_NEEDS {
            return Shape::TooFew;
        }
        let (Some(skewness), Some(kurtosis)) = (self.skewness, self.excess_kurtosis) else {
            return Shape::Constant;
        };
        let (skewness_error, kurtosis_error) = shape_standard_errors(self.n as f64);
        let stands_out = |value: f64, error: f64| value.abs() > SHAPE_STANDARD_ERRORS * error;
        let skew = match skewness {
            s if s > SKEWED && stands_out(s, skewness_error) => Skew::Right,
            s if s < -SKEWED && stands_out(s, skewness_error) => Skew::Left,
            _ => Skew::Symmetric,
        };
        let tails = match kurtosis {
            k if k > HEAVY_TAILS && stands_out(k, kurtosis_error) => Tails::Heavy,
            k if k < LIGHT_TAILS && stands_out(k, kurtosis_error) => Tails::Light,
            _ => Tails::Normal,
        };
        Shape::Described { skew, tails }
    }
}

/// Standard errors of G₁ and G₂ in normal samples of `n` (Cramér 1946; Joanes and Gill 1998).
fn shape_standard_errors(n: f64) -> (f64, f64) {
    let skewness = (6.0 * n * (n - 1.0) / ((n - 2.0) * (n + 1.0) * (n + 3.0))).sqrt();
    let kurtosis = 2.0 * skewness * ((n * n - 1.0) / ((n - 3.0) * (n + 5.0))).sqrt();
    (skewness, kurtosis)
}

/// Which side the longer tail is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skew {
    /// The longer tail is below.
    Left,
    /// No side stands out from chance.
    Symmetric,
    /// The longer tail is above: what interruptions make.
    Right,
}

/// How the tails compare with a normal distribution's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tails {
    /// Lighter: bounded or two-peaked data.
    Light,
    /// Not to be told from a normal distribution's.
    Normal,
    /// Heavier: a few values far out.
    Heavy,
}

/// The shape of a set of values, to be shown in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Fewer than [`SHAPE_NEEDS`] values.
    TooFew,
    /// All values are the same.
    Constant,
    /// Skew and tails, each named only where it stands out from chance.
    Described {
        /// Which side the longer tail is on.
        skew: Skew,
        /// How heavy the tails are.
        tails: Tails,
    },
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (skew, tails) = match self {
            Self::TooFew => return f.write_str("too few values to tell"),
            Self::Constant => return f.write_str("constant"),
            Self::Described { skew, tails } => (skew, tails),
        };
        let skew = match skew {
            Skew::Left => "left-skewed",
            Skew::Right => "right-skewed",
            Skew::Symmetric => "symmetric",
        };
        match tails {
            Tails::Light => write!(f, "{skew}, light tails"),
            Tails::Heavy => write!(f, "{skew}, heavy tails"),
            Tails::Normal if skew == "symmetric" => f.write_str("near normal"),
            Tails::Normal => f.write_str(skew),
        }
    }
}

/// Moments about the mean; the plain ones, from which the corrected follow.
struct Moments {
    n: f64,
    mean: f64,
    standard_deviation: Option<f64>,
    outliers: usize,
    /// Plain skewness m₃/m₂^(3/2) and excess kurtosis m₄/m₂² − 3; `None` for constant values.
    plain: Option<(f64, f64)>,
}

impl Moments {
    /// `values` are usable, ascending and not empty.
    fn of_sorted(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let least = values[0];
        let range = values[values.len() - 1] - least;
        if range == 0.0 {
            let standard_deviation = (values.len() > 1).then_some(0.0);
            return Self { n, mean: least, standard_deviation, outliers: 0, plain: None };
        }
        let unit = |value: &f64| (value - least) / range;
        let centre = values.iter().map(unit).sum::<f64>() / n;
        let distances = || values.iter().map(|value| unit(value) - centre);

        let (mut squares, mut cubes, mut fourths) = (0.0, 0.0, 0.0);
        for distance in distances() {
            let square = distance * distance;
            squares += square;
            cubes += square * distance;
            fourths += square * square;
        }
        let variance = squares / n;
        let deviation = (squares / (n - 1.0)).sqrt();
        let outliers =
            distances().filter(|distance| distance.abs() > OUTLIER_SIGMAS * deviation).count();
        Self {
            n,
            mean: (least + range * centre).clamp(least, values[values.len() - 1]),
            standard_deviation: Some(range * deviation),
            outliers,
            plain: Some((
                cubes / n / (variance * variance.sqrt()),
                fourths / n / (variance * variance) - 3.0,
            )),
        }
    }

    /// G₁ = g₁·√(n(n−1))/(n−2) (Joanes and Gill 1998).
    fn adjusted_skewness(&self) -> Option<f64> {
        let (skewness, _) = self.plain?;
        (self.n >= 3.0).then(|| skewness * (self.n * (self.n - 1.0)).sqrt() / (self.n - 2.0))
    }

    /// G₂ = (n−1)/((n−2)(n−3)) · ((n+1)g₂ + 6) (Joanes and Gill 1998).
    fn corrected_excess_kurtosis(&self) -> Option<f64> {
        let (_, kurtosis) = self.plain?;
        let n = self.n;
        (n >= 4.0).then(|| (n - 1.0) / ((n - 2.0) * (n - 3.0)) * ((n + 1.0) * kurtosis + 6.0))
    }

    fn jarque_bera(&self) -> Option<JarqueBera> {
        let (skewness, kurtosis) = self.plain?;
        (self.n >= 4.0).then(|| {
            let statistic = self.n / 6.0 * (skewness * skewness + kurtosis * kurtosis / 4.0);
            JarqueBera { statistic, p_value: (-0.5 * statistic).exp() }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Stream, assert_close};

    /// Weights in pounds of 11 men (Snedecor and Cochran 1989), the example of scipy's `skewtest`.
    /// Expected: scipy 1.17.1 `skew(bias=False)`, `kurtosis(bias=False)`, `jarque_bera`; NumPy
    /// 2.4.6 `mean`, `std(ddof=1)`, `percentile`.
    #[test]
    fn weights_match_scipy() {
        let weights = [148.0, 154.0, 158.0, 160.0, 161.0, 162.0, 166.0, 170.0, 182.0, 195.0, 236.0];
        let summary = Summary::of(&weights).unwrap();
        assert_eq!(summary.n, 11);
        assert_eq!(summary.mean, 172.0);
        assert_close(summary.standard_deviation.unwrap(), 24.951953831313492, 1e-14);
        assert_close(summary.coefficient_of_variation.unwrap(), 0.14506949901926448, 1e-14);
        assert_eq!(
            [summary.min, summary.p5, summary.p25, summary.median, summary.p75, summary.p95],
            [148.0, 151.0, 159.0, 162.0, 176.0, 215.5]
        );
        assert_close(summary.p99, 231.9, 1e-14);
        assert_eq!((summary.max, summary.interquartile_range), (236.0, 17.0));
        assert_eq!(summary.median_absolute_deviation, 8.0);
        assert_close(summary.skewness.unwrap(), 1.9560796622506866, 1e-13);
        assert_close(summary.excess_kurtosis.unwrap(), 4.152162915725951, 1e-13);
        let test = summary.jarque_bera.unwrap();
        assert_close(test.statistic, 6.982848237344646, 1e-13);
        assert_close(test.p_value, 0.03045746622458189, 1e-13);
        assert_eq!(summary.shape().to_string(), "right-skewed, heavy tails");
    }

    #[test]
    fn undefined_moments_are_none() {
        let one = Summary::of(&[5.0]).unwrap();
        assert_eq!((one.mean, one.standard_deviation, one.skewness), (5.0, None, None));
        assert_eq!((one.coefficient_of_variation, one.jarque_bera), (None, None));

        let constant = Summary::of(&[5.0; 10]).unwrap();
        assert_eq!(constant.standard_deviation, Some(0.0));
        assert_eq!(constant.coefficient_of_variation, Some(0.0));
        assert_eq!((constant.skewness, constant.excess_kurtosis), (None, None));
        assert_eq!((constant.jarque_bera, constant.outliers_beyond_3_sigma), (None, 0));
        assert_eq!(constant.shape(), Shape::Constant);

        let two = Summary::of(&[1.0, 2.0]).unwrap();
        assert!(two.standard_deviation.is_some() && two.skewness.is_none());
        let three = Summary::of(&[1.0, 2.0, 4.0]).unwrap();
        assert!(three.skewness.is_some() && three.excess_kurtosis.is_none());
        assert!(three.jarque_bera.is_none() && three.shape() == Shape::TooFew);
        assert!(Summary::of(&[1.0, 2.0, 4.0, 5.0]).unwrap().excess_kurtosis.is_some());

        let centred = Summary::of(&[-1.0, 1.0]).unwrap();
        assert_eq!(centred.coefficient_of_variation, None);
    }

    #[test]
    fn refusals_name_the_value() {
        assert_eq!(Summary::of(&[]), Err(Refusal::TooFew { have: 0, need: 1 }));
        assert_eq!(Summary::of(&[1.0, f64::NAN]), Err(Refusal::Unusable { index: 1 }));
        assert_eq!(Summary::of(&[f64::INFINITY]), Err(Refusal::Unusable { index: 0 }));
    }

    #[test]
    fn extremes_neither_overflow_nor_vanish() {
        let large = Summary::of(&[-1e300, 0.0, 1e300]).unwrap();
        assert_eq!(large.standard_deviation, Some(1e300));
        let small = Summary::of(&[0.0, 1e-300, 2e-300]).unwrap();
        assert_close(small.standard_deviation.unwrap(), 1e-300, 1e-14);
        assert_close(small.mean, 1e-300, 1e-14);
    }

    /// 3 sigma, not 2.9 or 3.1: 19 values of 0 and one of 1 put the one at (n−1)/√n = 4.25 sigma;
    /// of 10 values and one, at 10/√11 = 3.015; of 9 and one, at 9/√10 = 2.846.
    #[test]
    fn outliers_are_beyond_three_sigma() {
        let with_zeros = |zeros: usize| {
            let mut values = vec![0.0; zeros];
            values.push(1.0);
            Summary::of(&values).unwrap().outliers_beyond_3_sigma
        };
        assert_eq!([with_zeros(9), with_zeros(10), with_zeros(19)], [0, 1, 1]);
        // Both sides count: ±1 among 98 zeros lie at √(99/2) = 7 sigma.
        let mut values = vec![0.0; 98];
        values.extend([1.0, -1.0]);
        assert_eq!(Summary::of(&values).unwrap().outliers_beyond_3_sigma, 2);
    }

    /// Standard errors of skewness and kurtosis for n = 50: 0.337 and 0.662 (tabulated e.g. in
    /// SPSS Statistics Algorithms, "EXAMINE").
    #[test]
    fn shape_standard_errors_match_the_table() {
        let (skewness, kurtosis) = shape_standard_errors(50.0);
        assert!((skewness - 0.337).abs() < 5e-4 && (kurtosis - 0.662).abs() < 5e-4);
    }

    /// A shape is named beyond its threshold, and beyond 1.96 standard errors (0.660 and 1.298 at
    /// n = 50).
    #[test]
    fn shapes_are_named_beyond_effect_and_chance() {
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        let base = Summary::of(&values).unwrap();
        let words = |n, skewness, kurtosis| {
            let (skewness, excess_kurtosis) = (Some(skewness), Some(kurtosis));
            Summary { n, skewness, excess_kurtosis, ..base }.shape().to_string()
        };
        assert_eq!(words(5000, 0.49, 0.99), "near normal");
        assert_eq!(words(5000, -0.49, -0.99), "near normal");
        assert_eq!(words(5000, 0.51, 1.01), "right-skewed, heavy tails");
        assert_eq!(words(5000, -0.51, -1.01), "left-skewed, light tails");
        assert_eq!(words(50, 0.65, 1.29), "near normal");
        assert_eq!(words(50, 0.67, 1.31), "right-skewed, heavy tails");
        assert_eq!(words(50, -0.65, -1.29), "near normal");
        assert_eq!(words(50, -0.67, -1.31), "left-skewed, light tails");
        assert_eq!(words(8, 0.0, 0.0), "near normal");
        assert_eq!(words(7, 0.0, 0.0), "too few values to tell");
    }

    #[test]
    fn shapes_in_words() {
        let mut stream = Stream(7);
        let mut words = |draw: &mut dyn FnMut(&mut Stream) -> f64| {
            let values: Vec<f64> = (0..2000).map(|_| draw(&mut stream)).collect();
            Summary::of(&values).unwrap().shape().to_string()
        };
        assert_eq!(words(&mut |s| s.normal()), "near normal");
        assert_eq!(words(&mut |s| s.uniform()), "symmetric, light tails");
        assert_eq!(words(&mut |s| -s.uniform().ln()), "right-skewed, heavy tails");
        assert_eq!(words(&mut |s| s.uniform().ln()), "left-skewed, heavy tails");
        // Laplace: the difference of two exponentials.
        assert_eq!(words(&mut |s| (s.uniform() / s.uniform()).ln()), "symmetric, heavy tails");
        // The smaller of two uniforms: a right triangle, skewness 0.566, excess kurtosis −0.6.
        assert_eq!(words(&mut |s| s.uniform().min(s.uniform())), "right-skewed");
        assert_eq!(words(&mut |s| s.uniform().max(s.uniform())), "left-skewed");
    }
}
