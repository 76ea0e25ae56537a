//! Properties that hold for every input: order does not matter where it should not, units carry
//! through, quantiles rise, and nothing panics on anything.

use proptest::prelude::*;

use pqlab_stats::agreement::difference_of_runs;
use pqlab_stats::drift::{Drift, DriftFinding};
use pqlab_stats::estimate::Estimate;
use pqlab_stats::grade::{Evidence, grade};
use pqlab_stats::interval::{median_interval, median_ranks};
use pqlab_stats::quantile::{median, median_absolute_deviation, sorted_quantile};
use pqlab_stats::series::{autocorrelation, effective_count};
use pqlab_stats::steps::change_points;
use pqlab_stats::stop::{Stop, decide, is_checkpoint};
use pqlab_stats::summary::Summary;
use pqlab_stats::trend::{mann_kendall, theil_sen_slope};

fn anything() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => any::<f64>(),
        1 => prop::sample::select(vec![
            f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, f64::MAX, f64::MIN,
            f64::MIN_POSITIVE, 5e-324, 1e300, -1e300,
        ]),
        4 => -1e3..1e3_f64,
    ]
}

/// Timings: positive, of the same order, with ties.
fn timings(least: usize, most: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((1_000_u32..4_000).prop_map(|t| f64::from(t) * 0.25), least..most)
}

fn ascending(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn is_near(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-9 * scale.abs().max(f64::MIN_POSITIVE)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_nothing_answered_is_nan(
        values in prop::collection::vec(anything(), 0..60),
        p in anything(),
        count in any::<usize>(),
    ) {
        let _ = sorted_quantile(&values, p);
        let _ = sorted_quantile(&ascending(values.clone()), p);
        let _ = (median(&values), median_absolute_deviation(&values));
        let _ = median_interval(&values, p);
        let _ = median_ranks(count % 100_000, p);
        let _ = change_points(&values, count);
        let _ = decide(count, Some(p), p);
        for answer in [
            sorted_quantile(&values, p),
            median_absolute_deviation(&values),
            autocorrelation(&values, count % 64),
            effective_count(&values),
            theil_sen_slope(&values),
            mann_kendall(&values).map(|test| test.p_value),
        ].into_iter().flatten() {
            prop_assert!(answer.is_finite());
        }
        if let Ok(summary) = Summary::of(&values) {
            let _ = summary.shape().to_string();
            // JSON turns a number that is not finite into null, and null does not read back as one.
            let text = serde_json::to_string(&summary).unwrap();
            prop_assert!(serde_json::from_str::<Summary>(&text).is_ok(), "{text}");
        }
        if let Ok(drift) = Drift::of(&values) {
            let text = serde_json::to_string(&drift).unwrap();
            prop_assert!(serde_json::from_str::<Drift>(&text).is_ok(), "{text}");
            let evidence = Evidence {
                processes: count,
                relative_half_width: Some(p),
                drift: drift.findings(p),
                share_of_blocks_preempted: Some(p),
                ..Evidence::default()
            };
            for reason in grade(&evidence).reasons {
                let _ = reason.to_string();
            }
        }
        if let Ok(estimate) = Estimate::over_processes(&values, 0.95) {
            let _ = estimate.processes_needed(p);
            let _ = difference_of_runs(&[(estimate, estimate)]);
            let text = serde_json::to_string(&estimate).unwrap();
            prop_assert!(serde_json::from_str::<Estimate>(&text).is_ok(), "{text}");
        }
    }

    #[test]
    fn quantiles_rise_and_stay_inside(
        values in prop::collection::vec(-1e300..1e300_f64, 1..40),
        a in 0.0..=1.0_f64,
        b in 0.0..=1.0_f64,
    ) {
        let values = ascending(values);
        let low = sorted_quantile(&values, a.min(b)).unwrap();
        let high = sorted_quantile(&values, a.max(b)).unwrap();
        prop_assert!(low <= high);
        prop_assert!(values[0] <= low && high <= values[values.len() - 1]);
    }

    #[test]
    fn order_does_not_matter(values in timings(1, 60).prop_shuffle(), turn in 0..60_usize) {
        let mut turned = values.clone();
        turned.rotate_left(turn % values.len());
        turned.reverse();
        prop_assert_eq!(Summary::of(&values), Summary::of(&turned));
        prop_assert_eq!(
            Estimate::over_processes(&values, 0.95),
            Estimate::over_processes(&turned, 0.95)
        );
    }

    #[test]
    fn units_carry_through(
        values in timings(4, 60),
        factor in 0.001..1000.0_f64,
        shift in 0.0..1e4_f64,
    ) {
        let plain = Summary::of(&values).unwrap();
        let moved: Vec<f64> = values.iter().map(|value| factor * value + shift).collect();
        let moved = Summary::of(&moved).unwrap();
        let scale = factor * plain.max + shift;
        prop_assert!(is_near(moved.mean, factor * plain.mean + shift, scale));
        prop_assert!(is_near(moved.median, factor * plain.median + shift, scale));
        prop_assert!(is_near(moved.p99, factor * plain.p99 + shift, scale));
        prop_assert!(is_near(moved.interquartile_range, factor * plain.interquartile_range, scale));
        let deviation = plain.standard_deviation.unwrap();
        prop_assert!(is_near(moved.standard_deviation.unwrap(), factor * deviation, scale));
        // Skewness has no unit, but shifting by much eats digits of the spread.
        if let (Some(before), Some(after)) = (plain.skewness, moved.skewness) {
            prop_assert!((before - after).abs() < 1e-4 * (1.0 + before.abs()));
        }
    }

    #[test]
    fn relative_width_has_no_unit(values in timings(6, 40), power in -20..20_i32) {
        let factor = 2.0_f64.powi(power);
        let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
        let plain = Estimate::over_processes(&values, 0.95).unwrap();
        let scaled = Estimate::over_processes(&scaled, 0.95).unwrap();
        prop_assert_eq!(plain.relative_half_width, scaled.relative_half_width);
        prop_assert_eq!(plain.processes_needed(0.005), scaled.processes_needed(0.005));
    }

    #[test]
    fn an_interval_holds_its_median_and_widens_with_confidence(values in timings(8, 80)) {
        let values = ascending(values);
        let middle = median(&values).unwrap();
        let mut last = 0.0;
        for confidence in [0.5, 0.8, 0.9, 0.95, 0.99] {
            let interval = median_interval(&values, confidence).unwrap();
            prop_assert!(interval.contains(middle));
            prop_assert!(interval.coverage_exact >= confidence - 1e-12);
            prop_assert!(interval.coverage_exact <= 1.0);
            prop_assert!(interval.width() >= last);
            last = interval.width();
        }
    }

    #[test]
    fn trends_turn_with_the_series(values in timings(2, 60)) {
        let turned: Vec<f64> = values.iter().rev().copied().collect();
        let (test, back) = (mann_kendall(&values).unwrap(), mann_kendall(&turned).unwrap());
        prop_assert_eq!((test.s, test.p_value), (-back.s, back.p_value));
        prop_assert_eq!(theil_sen_slope(&values), theil_sen_slope(&turned).map(|slope| -slope));
        let (lag, lag_back) = (autocorrelation(&values, 1), autocorrelation(&turned, 1));
        prop_assert_eq!(lag.is_some(), lag_back.is_some());
        prop_assert!((lag.unwrap_or(0.0) - lag_back.unwrap_or(0.0)).abs() < 1e-9);
    }

    #[test]
    fn steps_have_no_unit(values in timings(12, 60), power in -20..20_i32) {
        let factor = 2.0_f64.powi(power);
        let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
        prop_assert_eq!(change_points(&values, 6), change_points(&scaled, 6));
    }

    #[test]
    fn worse_evidence_never_grades_better(
        width in 0.0..0.05_f64,
        wider in 0.0..0.05_f64,
        preempted in 0.0..1.0_f64,
    ) {
        let evidence = Evidence {
            processes: 10,
            relative_half_width: Some(width),
            steady: true,
            drift: Vec::new(),
            share_of_blocks_preempted: Some(preempted),
            share_of_time_stolen: Some(0.0),
            clock_steps: Some(0),
        };
        let base = grade(&evidence).grade;
        let finding = DriftFinding::Trend { relative_change: 0.1, p_value: 0.0 };
        for worse in [
            Evidence { relative_half_width: Some(width + wider), ..evidence.clone() },
            Evidence { relative_half_width: None, ..evidence.clone() },
            Evidence { steady: false, ..evidence.clone() },
            Evidence { drift: vec![finding], ..evidence.clone() },
            Evidence { share_of_blocks_preempted: Some(1.0), ..evidence.clone() },
            Evidence { share_of_time_stolen: Some(1.0), ..evidence.clone() },
            Evidence { clock_steps: Some(9), ..evidence.clone() },
        ] {
            prop_assert!(grade(&worse).grade >= base);
        }
    }

    #[test]
    fn a_stop_is_only_at_a_checkpoint(processes in 0..1_000_000_usize, width in 0.0..0.01_f64) {
        match decide(processes, Some(width), 0.005) {
            Stop::Precise => prop_assert!(is_checkpoint(processes) && width <= 0.005),
            Stop::Continue { next_check } => {
                prop_assert!(next_check > processes && is_checkpoint(next_check));
                prop_assert!(width > 0.005 || !is_checkpoint(processes));
            }
        }
    }
}
