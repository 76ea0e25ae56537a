//! NIST's Statistical Reference Datasets, univariate summary statistics: the certified mean,
//! standard deviation and lag-1 autocorrelation (https://www.itl.nist.gov/div898/strd/univ).

use pqlab_stats::{quantile, series, summary, trend};

#[track_caller]
fn assert_close(got: f64, want: f64, relative: f64) {
    let error = (got - want).abs();
    assert!(error <= relative * want.abs(), "got {got:?}, want {want:?}, off by {error:e}");
}

/// NumAcc2 to NumAcc4: one `centre`, then 500 pairs of `low` and `high`.
fn alternating(centre: f64, low: f64, high: f64) -> Vec<f64> {
    let mut values = vec![centre];
    for _ in 0..500 {
        values.extend([low, high]);
    }
    values
}

#[track_caller]
fn assert_certified(values: &[f64], mean: f64, deviation: (f64, f64), lag_1: (f64, f64)) {
    let summary = summary::Summary::of(values).unwrap();
    assert_close(summary.mean, mean, 1e-15);
    assert_close(summary.standard_deviation.unwrap(), deviation.0, deviation.1);
    assert_close(series::autocorrelation(values, 1).unwrap(), lag_1.0, lag_1.1);
}

/// Difficulty lower: mean 10000002, s = 1, r₁ = −0.5, exact.
#[test]
fn num_acc_1() {
    let values = [10_000_001.0, 10_000_003.0, 10_000_002.0];
    assert_certified(&values, 10_000_002.0, (1.0, 1e-15), (-0.5, 1e-15));
}

/// Difficulty average: mean 1.2, s = 0.1, r₁ = −0.999, exact.
#[test]
fn num_acc_2() {
    assert_certified(&alternating(1.2, 1.1, 1.3), 1.2, (0.1, 1e-14), (-0.999, 1e-13));
}

/// Difficulty average: mean 1000000.2, s = 0.1, r₁ = −0.999, exact. The decimal data are not exact
/// in binary; nine or ten digits of s are all that any `f64` program can have.
#[test]
fn num_acc_3() {
    let values = alternating(1_000_000.2, 1_000_000.1, 1_000_000.3);
    assert_certified(&values, 1_000_000.2, (0.1, 1e-8), (-0.999, 1e-8));
}

/// Difficulty higher: mean 10000000.2, s = 0.1, r₁ = −0.999, exact; eight digits can be had.
#[test]
fn num_acc_4() {
    let values = alternating(10_000_000.2, 10_000_000.1, 10_000_000.3);
    assert_certified(&values, 10_000_000.2, (0.1, 2e-8), (-0.999, 1e-7));
}

/// Michelso: the speed of light in air, in millions of metres per second (Dorsey 1944).
const MICHELSON: [f64; 100] = [
    299.85, 299.74, 299.90, 300.07, 299.93, 299.85, 299.95, 299.98, 299.98, 299.88, 300.00, 299.98,
    299.93, 299.65, 299.76, 299.81, 300.00, 300.00, 299.96, 299.96, 299.96, 299.94, 299.96, 299.94,
    299.88, 299.80, 299.85, 299.88, 299.90, 299.84, 299.83, 299.79, 299.81, 299.88, 299.88, 299.83,
    299.80, 299.79, 299.76, 299.80, 299.88, 299.88, 299.88, 299.86, 299.72, 299.72, 299.62, 299.86,
    299.97, 299.95, 299.88, 299.91, 299.85, 299.87, 299.84, 299.84, 299.85, 299.84, 299.84, 299.84,
    299.89, 299.81, 299.81, 299.82, 299.80, 299.77, 299.76, 299.74, 299.75, 299.76, 299.91, 299.92,
    299.89, 299.86, 299.88, 299.72, 299.84, 299.85, 299.85, 299.78, 299.89, 299.84, 299.78, 299.81,
    299.76, 299.81, 299.79, 299.81, 299.82, 299.85, 299.87, 299.87, 299.81, 299.74, 299.81, 299.94,
    299.95, 299.80, 299.81, 299.87,
];

/// Certified: mean 299.852400000000, s = 0.0790105478190518, r₁ = 0.535199668621283.
#[test]
fn michelson_certified() {
    let deviation = (0.0790105478190518, 1e-12);
    assert_certified(&MICHELSON, 299.8524, deviation, (0.535199668621283, 1e-12));
}

/// The rest of the summary by scipy 1.17.1 (`skew(bias=False)`, `kurtosis(bias=False)`,
/// `jarque_bera`, `iqr`, `median_abs_deviation`, `theilslopes`), NumPy 2.4.6 (`percentile`) and
/// pymannkendall 1.4.3 (`original_test`, 100 values with many ties).
#[test]
fn michelson_by_scipy() {
    let summary = summary::Summary::of(&MICHELSON).unwrap();
    for (got, want) in [
        (summary.min, 299.62),
        (summary.p5, 299.739),
        (summary.p25, 299.8075),
        (summary.median, 299.85),
        (summary.p75, 299.8925),
        (summary.p95, 299.98),
        (summary.p99, 300.0007),
        (summary.max, 300.07),
    ] {
        assert_close(got, want, 1e-15);
    }
    assert_close(summary.interquartile_range, 0.085, 1e-11);
    assert_close(summary.median_absolute_deviation, 0.045, 1e-11);
    assert_close(quantile::robust_standard_deviation(&MICHELSON).unwrap(), 0.066717, 1e-11);
    assert_close(summary.skewness.unwrap(), -0.018538863774755665, 1e-9);
    assert_close(summary.excess_kurtosis.unwrap(), 0.3396845984201926, 1e-10);
    let normality = summary.jarque_bera.unwrap();
    assert_close(normality.statistic, 0.2949249811195649, 1e-10);
    assert_close(normality.p_value, 0.8628948044154349, 1e-10);
    assert_eq!(summary.outliers_beyond_3_sigma, 0);
    assert_eq!(summary.shape().to_string(), "near normal");

    let test = trend::mann_kendall(&MICHELSON).unwrap();
    assert_eq!(test.s, -1265);
    assert_close(test.z, -3.7722156856717586, 1e-13);
    assert_close(test.p_value, 0.0001618042918507534, 1e-11);
    assert_close(trend::theil_sen_slope(&MICHELSON).unwrap(), -0.001071428571427597, 1e-9);
}
