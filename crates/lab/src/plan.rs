//! From a selection and the workers' offers to the list of cases, and how long each may take.

use crate::Offer;
use pqlab_catalog::{Kind, Operation, ParameterSet, Selection, find};
use pqlab_protocol::{KeyForm, Mode};
use pqlab_runfile::{Case, Plan};
use pqlab_stats::stop::FIRST_CHECKPOINTS;

/// Bytes of every message signed or verified: a digest, as blockchains and certificates sign.
pub const MESSAGE_BYTES: u32 = 32;

/// Length of a block: long enough for a median of many short calls, short beside the seconds over
/// which a shared machine drifts.
const BLOCK_NS: u64 = 10_000_000;

/// Fewest and most blocks of a case in one process.
const BLOCKS: std::ops::RangeInclusive<u32> = 2..=10;

/// Seconds of the default budget for each case, and at least in all.
const BUDGET_S_PER_CASE: f64 = 0.75;
const SHORTEST_BUDGET_S: f64 = 60.0;

/// Share of the budget meant for the first [`FIRST_CHECKPOINTS`] processes of every case; the rest
/// is for cases that are not precise by then.
const SHARE_OF_FIRST_PROCESSES: f64 = 0.7;

/// What a case costs in each process beside its blocks: process start, gate, inputs, warm-up
/// (measured over the headline selection; docs/METHODOLOGY.md).
const CASE_OVERHEAD_S: f64 = 0.045;

/// Nothing can be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No worker offers what was asked for.
    #[error(
        "no worker here offers {0}; `pqlab list` shows what is available and why the rest is not"
    )]
    NothingOffered(String),
    /// An `--impl` word names nothing that any worker has.
    #[error("no implementation is called '{word}'; there are: {known}")]
    UnknownImplementation {
        /// The word.
        word: String,
        /// Library and variant names that exist.
        known: String,
    },
}

/// The cases of a selection over what the workers offer, in the order of the catalog.
pub fn cases(selection: &Selection, offers: &[Offer]) -> Result<Vec<Case>, PlanError> {
    check_implementations(selection, offers)?;
    let wanted = selection.parameter_sets();
    let mut cases = Vec::new();
    for set in &wanted {
        for operation in set.operations() {
            for offer in offers {
                cases.extend(cases_of(selection, set, *operation, offer));
            }
        }
    }
    if cases.is_empty() {
        let names: Vec<_> = wanted.iter().take(5).map(|set| set.id()).collect();
        return Err(PlanError::NothingOffered(names.join(", ")));
    }
    Ok(cases)
}

fn cases_of(
    selection: &Selection,
    set: &ParameterSet,
    operation: Operation,
    offer: &Offer,
) -> Vec<Case> {
    let worker = &offer.hello.library.name;
    let message_bytes = if set.kind == Kind::Signature && operation != Operation::Keygen {
        MESSAGE_BYTES
    } else {
        0
    };
    let mut cases = Vec::new();
    for subject in &offer.hello.subjects {
        let same = find(&subject.parameter_set).is_some_and(|offered| offered == set);
        if !same || !selection.wants(operation, worker, &subject.variant) {
            continue;
        }
        let mut key_forms = vec![KeyForm::Encoded];
        if subject.prepares.contains(&operation) {
            key_forms.push(KeyForm::Prepared);
        }
        cases.extend(key_forms.into_iter().map(|key_form| Case {
            worker: worker.clone(),
            subject: subject.id.clone(),
            parameter_set: subject.parameter_set.clone(),
            variant: subject.variant.clone(),
            operation,
            mode: Mode { key_form, message_bytes },
        }));
    }
    cases
}

fn check_implementations(selection: &Selection, offers: &[Offer]) -> Result<(), PlanError> {
    let mut known: Vec<String> = Vec::new();
    for offer in offers {
        let worker = &offer.hello.library.name;
        known.push(worker.clone());
        for subject in &offer.hello.subjects {
            known.push(subject.variant.clone());
            known.push(format!("{worker}:{}", subject.variant));
        }
    }
    for word in selection.implementation_filters() {
        if !known.contains(word) {
            let mut names: Vec<_> = known.iter().filter(|name| !name.contains(':')).collect();
            names.sort();
            names.dedup();
            let known = names.iter().map(|s| s.as_str()).collect::<Vec<_>>().join(", ");
            return Err(PlanError::UnknownImplementation { word: word.clone(), known });
        }
    }
    Ok(())
}

/// Seconds of measuring for that many cases unless the user says otherwise.
pub fn default_budget_s(cases: usize) -> f64 {
    (cases as f64 * BUDGET_S_PER_CASE).max(SHORTEST_BUDGET_S)
}

/// The plan for these cases within a budget.
pub fn plan(cases: Vec<Case>, budget_s: f64, epsilon: f64, seed: u64) -> Plan {
    let minimum_processes = FIRST_CHECKPOINTS[0] as u32;
    let turns = cases.len() as f64 * f64::from(minimum_processes);
    let turn_s = budget_s * SHARE_OF_FIRST_PROCESSES / turns;
    let blocks = ((turn_s - CASE_OVERHEAD_S) / (BLOCK_NS as f64 * 1e-9)).floor();
    // `as` saturates, so a negative or huge figure lands on an end of the range.
    let blocks = (blocks as u32).clamp(*BLOCKS.start(), *BLOCKS.end());
    Plan { seed, epsilon, budget_s, minimum_processes, blocks, block_ns: BLOCK_NS, cases }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_cases(count: usize) -> Vec<Case> {
        let case = Case {
            worker: "w".into(),
            subject: "v/ml-kem-768".into(),
            parameter_set: "ml-kem-768".into(),
            variant: "v".into(),
            operation: Operation::Encaps,
            mode: Mode { key_form: KeyForm::Encoded, message_bytes: 0 },
        };
        vec![case; count]
    }

    #[test]
    fn more_time_means_more_blocks_within_bounds() {
        let blocks = |count, budget_s| plan(some_cases(count), budget_s, 0.005, 1).blocks;
        assert_eq!(blocks(1, 1_000.0), *BLOCKS.end());
        assert_eq!(blocks(1_000, 1.0), *BLOCKS.start());
        assert!(blocks(100, 120.0) > blocks(100, 60.0));
    }

    #[test]
    fn the_default_budget_of_the_headline_is_under_two_minutes() {
        // 150 cases is more than the headline selection has over all default workers.
        assert!(default_budget_s(150) < 120.0);
    }
}
