//! How far a figure may be trusted: a grade from A to D with its reasons in words.
//!
//! The grade starts from what the interval over fresh processes shows, since that interval already
//! contains every disturbance that differs from process to process. Then it falls by one for each
//! kind of evidence of a disturbance that the interval cannot see, namely one that all processes
//! shared: a machine that had not settled, that drifted, whose clock stepped, or that gave its time
//! to others. It refuses to rise for anything: quiet is no merit beyond the width it brings.
//!
//! Kinds, not findings, are counted: a step in the clock shows as a step, a trend and
//! autocorrelation at once, and is one disturbance. Autocorrelation alone costs nothing: the blocks
//! of a process may depend on each other as they like when the interval is over processes. What was
//! not observed costs nothing either, but is said, so that an A from a machine that hides its
//! steal is read as one.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::drift::DriftFinding;
use crate::stop::FIRST_CHECKPOINTS;

/// Largest relative half-width for an A: the default ε of a run (§5.6).
pub const A_HALF_WIDTH: f64 = 0.005;

/// Largest relative half-width for a B: about the size of layout effects (§5.7), which a narrower
/// interval from one binary would not see.
pub const B_HALF_WIDTH: f64 = 0.01;

/// Largest relative half-width for a C: about the 3.4 % by which medians of single processes vary
/// on a shared machine (§2). Wider says no more than one run would.
pub const C_HALF_WIDTH: f64 = 0.03;

/// Share of blocks preempted above which the grade falls. If a share s of the blocks is slowed, the
/// median of all is the 0.5/(1−s) quantile of the undisturbed ones; at a quarter that is the 67 %
/// quantile, 0.43 standard deviations too high.
pub const PREEMPTED_SHARE: f64 = 0.25;

/// Share of time stolen by the hypervisor above which the grade falls: spread evenly over the calls
/// it would shift them by as much as a B may be wide.
pub const STOLEN_SHARE: f64 = B_HALF_WIDTH;

/// Steps of the core clock from which on the grade falls: one is a machine that settled, two are a
/// machine that does not.
pub const REPEATED_CLOCK_STEPS: usize = 2;

/// What is known about a figure.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// How many fresh processes it comes from.
    pub processes: usize,
    /// Half-width of its interval over its median; `None` without an interval.
    pub relative_half_width: Option<f64>,
    /// Whether every process was steady before it was measured (§5.4).
    pub steady: bool,
    /// What the block medians showed (see [`crate::drift::Drift::findings`]).
    pub drift: Vec<DriftFinding>,
    /// Share of blocks in which the thread was preempted, 0 to 1; `None` if not observed.
    pub share_of_blocks_preempted: Option<f64>,
    /// Share of time that the hypervisor gave to others, 0 to 1; `None` if not observed.
    pub share_of_time_stolen: Option<f64>,
    /// How often the core clock stepped; `None` if no probe ran.
    pub clock_steps: Option<usize>,
}

/// A quality grade. `A < B`: the smaller the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Grade {
    /// Within 0.5 %, and nothing speaks against it.
    A,
    /// Within 1 %.
    B,
    /// Within 3 %.
    C,
    /// Wider, without interval, or spoiled.
    D,
}

impl Grade {
    /// The grade below; D stays D.
    fn lowered(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::C,
            Self::C | Self::D => Self::D,
        }
    }

    fn of_half_width(relative: f64) -> Self {
        match relative {
            width if width <= A_HALF_WIDTH => Self::A,
            width if width <= B_HALF_WIDTH => Self::B,
            width if width <= C_HALF_WIDTH => Self::C,
            _ => Self::D,
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Something that can be observed about the machine or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observation {
    /// Preemption of the measuring thread.
    Preemption,
    /// Time stolen by the hypervisor.
    StolenTime,
    /// Steps of the core clock.
    ClockSteps,
}

/// A reason for a grade.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The width of the interval, from which the grade starts.
    HalfWidth {
        /// Relative half-width (0.01 is 1 %).
        relative: f64,
        /// The grade it gives.
        grade: Grade,
    },
    /// There is no interval, which gives a D.
    NoInterval {
        /// How many processes there are.
        processes: usize,
        /// How many an interval takes.
        need: usize,
    },
    /// A process was not steady when it was measured. Lowers by one.
    NotSteady,
    /// The block medians showed this. All steps and trends together lower by one; autocorrelation
    /// does not.
    Drift(DriftFinding),
    /// More than [`PREEMPTED_SHARE`] of the blocks were preempted. Lowers by one.
    Preempted {
        /// The share, 0 to 1.
        share: f64,
    },
    /// More than [`STOLEN_SHARE`] of the time was stolen. Lowers by one.
    Stolen {
        /// The share, 0 to 1.
        share: f64,
    },
    /// The core clock stepped [`REPEATED_CLOCK_STEPS`] times or more. Lowers by one.
    ClockStepped {
        /// How often.
        times: usize,
    },
    /// This was not observed, or with a share outside 0 to 1. Does not lower.
    NotObserved(Observation),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HalfWidth { relative, grade } => {
                let percent = 100.0 * relative;
                write!(f, "interval of ±{percent:.2} % starts at {grade}")
            }
            Self::NoInterval { processes, need } if processes < need => {
                write!(f, "no interval: {processes} processes, {need} needed")
            }
            Self::NoInterval { .. } => f.write_str("no interval"),
            Self::NotSteady => f.write_str("not steady after warm-up"),
            Self::Drift(finding) => finding.fmt(f),
            Self::Preempted { share } => {
                write!(f, "{:.0} % of blocks preempted", 100.0 * share)
            }
            Self::Stolen { share } => {
                write!(f, "{:.1} % of the time stolen by the hypervisor", 100.0 * share)
            }
            Self::ClockStepped { times } => write!(f, "core clock stepped {times} times"),
            Self::NotObserved(Observation::Preemption) => f.write_str("preemption not observed"),
            Self::NotObserved(Observation::StolenTime) => f.write_str("stolen time not observed"),
            Self::NotObserved(Observation::ClockSteps) => f.write_str("core clock not observed"),
        }
    }
}

/// A grade and every reason for it, the interval's first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Graded {
    /// The grade.
    pub grade: Grade,
    /// Why, in the order in which it was judged.
    pub reasons: Vec<Reason>,
}

/// Grades a figure.
///
/// ```
/// use pqlab_stats::grade::{Evidence, Grade, grade};
/// let evidence = Evidence {
///     processes: 10,
///     relative_half_width: Some(0.004),
///     steady: true,
///     share_of_blocks_preempted: Some(0.37),
///     share_of_time_stolen: Some(0.0),
///     clock_steps: Some(0),
///     ..Evidence::default()
/// };
/// let graded = grade(&evidence);
/// assert_eq!(graded.grade, Grade::B);
/// assert_eq!(graded.reasons[1].to_string(), "37 % of blocks preempted");
/// ```
pub fn grade(evidence: &Evidence) -> Graded {
    let mut reasons = vec![start(evidence)];
    let mut grade = match reasons[0] {
        Reason::HalfWidth { grade, .. } => grade,
        _ => Grade::D,
    };
    let mut judge = |lowers: bool, reason: Reason| {
        if lowers {
            grade = grade.lowered();
        }
        reasons.push(reason);
    };

    if !evidence.steady {
        judge(true, Reason::NotSteady);
    }
    let mut drift_has_lowered = false;
    for finding in &evidence.drift {
        let is_level = !matches!(finding, DriftFinding::Autocorrelated { .. });
        judge(is_level && !drift_has_lowered, Reason::Drift(*finding));
        drift_has_lowered |= is_level;
    }
    match observed_share(evidence.share_of_blocks_preempted) {
        Some(share) if share > PREEMPTED_SHARE => judge(true, Reason::Preempted { share }),
        Some(_) => {}
        None => judge(false, Reason::NotObserved(Observation::Preemption)),
    }
    match observed_share(evidence.share_of_time_stolen) {
        Some(share) if share > STOLEN_SHARE => judge(true, Reason::Stolen { share }),
        Some(_) => {}
        None => judge(false, Reason::NotObserved(Observation::StolenTime)),
    }
    match evidence.clock_steps {
        Some(times) if times >= REPEATED_CLOCK_STEPS => {
            judge(true, Reason::ClockStepped { times });
        }
        Some(_) => {}
        None => judge(false, Reason::NotObserved(Observation::ClockSteps)),
    }
    Graded { grade, reasons }
}

/// The reason that the grade starts from. A width from fewer processes than an interval takes, or
/// one that is no width, is none.
fn start(evidence: &Evidence) -> Reason {
    let need = FIRST_CHECKPOINTS[0];
    match evidence.relative_half_width {
        Some(relative) if relative >= 0.0 && evidence.processes >= need => {
            Reason::HalfWidth { relative, grade: Grade::of_half_width(relative) }
        }
        _ => Reason::NoInterval { processes: evidence.processes, need },
    }
}

fn observed_share(share: Option<f64>) -> Option<f64> {
    share.filter(|share| (0.0..=1.0).contains(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: DriftFinding = DriftFinding::Step { at_block: 9, blocks: 40, relative: 0.02 };
    const TREND: DriftFinding = DriftFinding::Trend { relative_change: 0.02, p_value: 0.001 };
    const TOGETHER: DriftFinding =
        DriftFinding::Autocorrelated { lag_1: 0.6, limit: 0.2, blocks: 60, effective_blocks: 15.0 };

    fn quiet(half_width: f64) -> Evidence {
        Evidence {
            processes: 6,
            relative_half_width: Some(half_width),
            steady: true,
            drift: Vec::new(),
            share_of_blocks_preempted: Some(0.0),
            share_of_time_stolen: Some(0.0),
            clock_steps: Some(0),
        }
    }

    #[test]
    fn widths_set_the_start() {
        for (width, want) in [
            (0.0, Grade::A),
            (0.005, Grade::A),
            (0.00501, Grade::B),
            (0.01, Grade::B),
            (0.0101, Grade::C),
            (0.03, Grade::C),
            (0.0301, Grade::D),
            (f64::INFINITY, Grade::D),
        ] {
            let graded = grade(&quiet(width));
            assert_eq!(graded.grade, want, "{width}");
            assert_eq!(graded.reasons.len(), 1);
        }
    }

    #[test]
    fn no_interval_is_a_d() {
        for evidence in [
            Evidence { relative_half_width: None, ..quiet(0.0) },
            Evidence { processes: 5, ..quiet(0.001) },
            quiet(f64::NAN),
            quiet(-0.001),
        ] {
            let graded = grade(&evidence);
            assert_eq!(graded.grade, Grade::D);
            assert!(matches!(graded.reasons[0], Reason::NoInterval { need: 6, .. }));
        }
        assert_eq!(grade(&Evidence::default()).grade, Grade::D);
        let words = Reason::NoInterval { processes: 3, need: 6 }.to_string();
        assert_eq!(words, "no interval: 3 processes, 6 needed");
    }

    #[test]
    fn each_kind_lowers_by_one() {
        for (evidence, reason) in [
            (Evidence { steady: false, ..quiet(0.001) }, Reason::NotSteady),
            (Evidence { drift: vec![STEP], ..quiet(0.001) }, Reason::Drift(STEP)),
            (Evidence { drift: vec![TREND], ..quiet(0.001) }, Reason::Drift(TREND)),
            (
                Evidence { share_of_blocks_preempted: Some(0.26), ..quiet(0.001) },
                Reason::Preempted { share: 0.26 },
            ),
            (
                Evidence { share_of_time_stolen: Some(0.011), ..quiet(0.001) },
                Reason::Stolen { share: 0.011 },
            ),
            (Evidence { clock_steps: Some(2), ..quiet(0.001) }, Reason::ClockStepped { times: 2 }),
        ] {
            let graded = grade(&evidence);
            assert_eq!(graded.grade, Grade::B, "{reason}");
            assert_eq!(graded.reasons[1..], [reason]);
            let worse = Evidence { relative_half_width: Some(0.02), ..evidence };
            assert_eq!(grade(&worse).grade, Grade::D);
        }
    }

    #[test]
    fn at_the_threshold_nothing_is_lowered() {
        let evidence = Evidence {
            share_of_blocks_preempted: Some(0.25),
            share_of_time_stolen: Some(0.01),
            clock_steps: Some(1),
            drift: vec![TOGETHER],
            ..quiet(0.005)
        };
        let graded = grade(&evidence);
        assert_eq!(graded.grade, Grade::A);
        assert_eq!(graded.reasons[1..], [Reason::Drift(TOGETHER)]);
    }

    #[test]
    fn one_disturbance_counts_once_but_kinds_add_up() {
        let drifting = Evidence { drift: vec![TOGETHER, TREND, STEP, STEP], ..quiet(0.001) };
        let graded = grade(&drifting);
        assert_eq!((graded.grade, graded.reasons.len()), (Grade::B, 5));
        let also_unsteady = Evidence { steady: false, ..drifting };
        assert_eq!(grade(&also_unsteady).grade, Grade::C);
        let also_stepping = Evidence { clock_steps: Some(3), ..also_unsteady };
        assert_eq!(grade(&also_stepping).grade, Grade::D);
    }

    #[test]
    fn what_was_not_observed_is_said_and_costs_nothing() {
        let evidence = Evidence {
            share_of_blocks_preempted: None,
            share_of_time_stolen: Some(f64::NAN),
            clock_steps: None,
            ..quiet(0.001)
        };
        let graded = grade(&evidence);
        assert_eq!(graded.grade, Grade::A);
        let words: Vec<String> = graded.reasons.iter().map(Reason::to_string).collect();
        assert_eq!(
            words,
            [
                "interval of ±0.10 % starts at A",
                "preemption not observed",
                "stolen time not observed",
                "core clock not observed"
            ]
        );
        let absurd = Evidence { share_of_blocks_preempted: Some(37.0), ..quiet(0.001) };
        assert_eq!(grade(&absurd).grade, Grade::A);
    }

    /// The derivation beside [`PREEMPTED_SHARE`]: 0.5/(1 − 0.25) = 2/3, and Φ(0.4307) = 2/3.
    #[test]
    fn the_preemption_threshold_is_derived() {
        let quantile = 0.5 / (1.0 - PREEMPTED_SHARE);
        assert!((crate::normal::upper_tail(0.4307) - (1.0 - quantile)).abs() < 1e-4);
    }

    #[test]
    fn grades_order_from_best_to_worst() {
        assert!(Grade::A < Grade::B && Grade::B < Grade::C && Grade::C < Grade::D);
        assert_eq!(Grade::C.to_string(), "C");
    }
}
