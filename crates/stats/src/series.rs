//! Dependence within a series in time order: autocorrelation, and how many independent values the
//! series is worth.
//!
//! Neighbouring blocks share the machine's state, so n blocks carry less than n values' worth of
//! knowledge (lag-1 was 0.61 on our shared machine, §2). The module measures that; it refuses to
//! correct an estimate by it. pqlab's intervals are over fresh processes precisely so that no such
//! correction is needed.

use crate::refusal::check_values;

/// Autocorrelation at `lag`: Σ(bᵢ−b̄)(bᵢ₊ₗ−b̄)/Σ(bᵢ−b̄)², as §5.9 and NIST's certified values have
/// it.
///
/// `None` if a value is not finite, the values are constant, or `lag` is not below their number.
///
/// ```
/// use pqlab_stats::series::autocorrelation;
/// assert_eq!(autocorrelation(&[1.0, 3.0, 2.0], 1), Some(-0.5));
/// ```
pub fn autocorrelation(values: &[f64], lag: usize) -> Option<f64> {
    if lag >= values.len() {
        return None;
    }
    let distances = centred(values)?;
    Some(product_at(&distances, lag) / product_at(&distances, 0))
}

/// How many independent values carry as much knowledge of the mean as this series: n/(1 + 2Σρₖ),
/// with the sum cut by Geyer's initial positive sequence (Practical Markov Chain Monte Carlo, 1992,
/// §3.3): pairs ρ₂ₜ + ρ₂ₜ₊₁ are added while they are positive.
///
/// At least 1 and at most n: a series that swings more evenly than chance is not credited for it.
/// `None` as for [`autocorrelation`]. Costs O(n · lags), a few lags unless the series drifts.
pub fn effective_count(values: &[f64]) -> Option<f64> {
    let n = values.len();
    let distances = centred(values)?;
    let variance = product_at(&distances, 0);
    let correlation = |lag| product_at(&distances, lag) / variance;
    let mut time = -1.0;
    let mut lag = 0;
    while lag + 1 < n {
        let pair = correlation(lag) + correlation(lag + 1);
        if pair <= 0.0 {
            break;
        }
        time += 2.0 * pair;
        lag += 2;
    }
    let n = n as f64;
    Some(if time > 1.0 { (n / time).max(1.0) } else { n })
}

/// Distances from the mean in units of the range; `None` for values without any.
fn centred(values: &[f64]) -> Option<Vec<f64>> {
    check_values(values, 2).ok()?;
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let range = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least;
    if range == 0.0 {
        return None;
    }
    let mut units: Vec<f64> = values.iter().map(|value| (value - least) / range).collect();
    let mean = units.iter().sum::<f64>() / units.len() as f64;
    units.iter_mut().for_each(|unit| *unit -= mean);
    Some(units)
}

fn product_at(distances: &[f64], lag: usize) -> f64 {
    distances.iter().zip(&distances[lag..]).map(|(earlier, later)| earlier * later).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Stream, assert_close};

    fn autoregressive(stream: &mut Stream, n: usize, memory: f64) -> Vec<f64> {
        let mut state = stream.normal() / (1.0 - memory * memory).sqrt();
        (0..n)
            .map(|_| {
                state = memory * state + stream.normal();
                state
            })
            .collect()
    }

    /// By hand: 1, 2, 3, 4 has distances −1.5, −.5, .5, 1.5; lag 1: (.75 − .25 + .75)/5 = .25;
    /// lag 2: (−.75 − .75)/5 = −.3; lag 3: −2.25/5 = −.45.
    #[test]
    fn autocorrelations_by_hand() {
        let values = [1.0, 2.0, 3.0, 4.0];
        for (lag, want) in [(0, 1.0), (1, 0.25), (2, -0.3), (3, -0.45)] {
            assert_close(autocorrelation(&values, lag).unwrap(), want, 1e-14);
        }
        assert_eq!(autocorrelation(&values, 4), None);
    }

    /// For the same values the first pair is 1 + .25, the second −.3 − .45 stops the sum:
    /// n/(−1 + 2·1.25) = 4/1.5.
    #[test]
    fn effective_count_by_hand() {
        assert_close(effective_count(&[1.0, 2.0, 3.0, 4.0]).unwrap(), 4.0 / 1.5, 1e-14);
    }

    /// A first-order autoregression with memory φ is worth n(1−φ)/(1+φ) (Sokal 1989).
    #[test]
    fn effective_count_of_an_autoregression() {
        let mut stream = Stream(11);
        for memory in [0.0, 0.3, 0.61, 0.9] {
            let values = autoregressive(&mut stream, 20_000, memory);
            let want = 20_000.0 * (1.0 - memory) / (1.0 + memory);
            assert_close(effective_count(&values).unwrap(), want, 0.1);
            assert!((autocorrelation(&values, 1).unwrap() - memory).abs() < 0.03);
        }
    }

    #[test]
    fn never_more_than_counted_nor_less_than_one() {
        let swinging: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        assert_eq!(effective_count(&swinging), Some(100.0));
        let rising: Vec<f64> = (0..100).map(f64::from).collect();
        let worth = effective_count(&rising).unwrap();
        assert!((1.0..4.0).contains(&worth), "{worth}");
    }

    #[test]
    fn what_does_not_exist_is_none() {
        for values in [&[][..], &[1.0], &[2.0, 2.0, 2.0], &[1.0, f64::NAN], &[1.0, f64::INFINITY]] {
            assert_eq!(autocorrelation(values, 1), None);
            assert_eq!(effective_count(values), None);
        }
    }
}
