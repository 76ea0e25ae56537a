//! Why a statistic was not given: one closed list of reasons, shared by every module.
//!
//! A refusal is a value that the caller shows or acts on ("measure three more processes"). It
//! refuses to stand for anything that has an answer: a width that is zero or a moment that does
//! not exist is `Some(0.0)` or `None` in the result, never a refusal.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Largest magnitude a value may have. It leaves room for differences, sums of two and standard
/// deviations without overflow (`f64::MAX` is 1.8e308); no measurement comes within 280 decades.
pub const LARGEST_MAGNITUDE: f64 = 1e300;

/// The reason why a statistic was not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// There are fewer values than the statistic needs.
    TooFew {
        /// How many values there are.
        have: usize,
        /// How many values are needed.
        need: usize,
    },
    /// The value at this place is NaN, infinite, or beyond [`LARGEST_MAGNITUDE`].
    Unusable {
        /// Place of the first such value, counted from 0.
        index: usize,
    },
    /// The values are not in ascending order.
    NotSorted {
        /// Place of the first value smaller than the one before it, counted from 0.
        index: usize,
    },
    /// The confidence does not lie within the range that [`crate::interval`] documents.
    Confidence,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { have, need } => {
                write!(f, "too few values: have {have}, need {need}; measure {} more", {
                    need.saturating_sub(*have)
                })
            }
            Self::Unusable { index } => {
                write!(f, "value {index} is not a finite number below 1e300; leave it out")
            }
            Self::NotSorted { index } => {
                write!(f, "value {index} is smaller than the one before it; sort the values first")
            }
            Self::Confidence => write!(f, "confidence must lie above 0 and at most 0.999999"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Accepts values that every statistic here can take.
pub(crate) fn check_values(values: &[f64], need: usize) -> Result<(), Refusal> {
    if values.len() < need {
        return Err(Refusal::TooFew { have: values.len(), need });
    }
    match values.iter().position(|value| !is_usable(*value)) {
        Some(index) => Err(Refusal::Unusable { index }),
        None => Ok(()),
    }
}

/// Accepts values that are usable and ascending.
pub(crate) fn check_sorted(values: &[f64], need: usize) -> Result<(), Refusal> {
    check_values(values, need)?;
    match values.windows(2).position(|pair| pair[1] < pair[0]) {
        Some(before) => Err(Refusal::NotSorted { index: before + 1 }),
        None => Ok(()),
    }
}

fn is_usable(value: f64) -> bool {
    value.abs() <= LARGEST_MAGNITUDE
}

/// A copy in ascending order. The values must be usable.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_unstable_by(f64::total_cmp);
    copy
}

/// Keeps a figure only if it is a number that can be written down.
pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_offender_is_named() {
        assert_eq!(check_values(&[], 1), Err(Refusal::TooFew { have: 0, need: 1 }));
        assert_eq!(check_values(&[1.0, f64::NAN, f64::INFINITY], 1), {
            Err(Refusal::Unusable { index: 1 })
        });
        assert_eq!(check_values(&[1.0, f64::NEG_INFINITY], 1), {
            Err(Refusal::Unusable { index: 1 })
        });
        assert_eq!(check_values(&[1e300, -1e300], 1), Ok(()));
        assert_eq!(check_values(&[1.1e300], 1), Err(Refusal::Unusable { index: 0 }));
        assert_eq!(check_sorted(&[1.0, 1.0, 0.5], 1), Err(Refusal::NotSorted { index: 2 }));
        assert_eq!(check_sorted(&[1.0, 1.0, 2.0], 3), Ok(()));
    }

    #[test]
    fn refusals_say_what_to_do() {
        let words = Refusal::TooFew { have: 4, need: 6 }.to_string();
        assert_eq!(words, "too few values: have 4, need 6; measure 2 more");
        assert!(Refusal::NotSorted { index: 3 }.to_string().ends_with("sort the values first"));
    }
}
