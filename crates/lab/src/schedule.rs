//! What to measure next: rounds of fresh processes in random order, until every case is precise.
//!
//! Pure: it starts nothing and knows no time, so its order and its stopping are tested without
//! waiting.

use pqlab_runfile::{Plan, Run, values};
use pqlab_stats::estimate::Estimate;
use pqlab_stats::stop::{Stop, decide};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// Confidence of every interval.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// A case with this many faults is given up: once may be an accident of the machine.
const FAULTS_TOLERATED: u32 = 2;

/// One worker's turn in a round: a fresh process and the cases it measures, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    pub worker: String,
    pub cases: Vec<u32>,
}

#[derive(Debug, Clone, Default)]
struct CaseState {
    /// Probe steps (or, without a probe, nanoseconds) per operation, one value a process.
    values: Vec<f64>,
    faults: u32,
    given_up: bool,
}

pub(crate) struct Schedule<'p> {
    plan: &'p Plan,
    states: Vec<CaseState>,
    round: u32,
}

impl<'p> Schedule<'p> {
    pub fn new(plan: &'p Plan) -> Schedule<'p> {
        Schedule { plan, states: vec![CaseState::default(); plan.cases.len()], round: 0 }
    }

    /// The schedule as an interrupted run left it.
    pub fn resume(plan: &'p Plan, run: &Run) -> Schedule<'p> {
        let mut schedule = Schedule::new(plan);
        schedule.round = run.processes.iter().map(|p| p.round.saturating_add(1)).max().unwrap_or(0);
        for (case, processes) in values::of_run(run).iter().enumerate() {
            for value in processes {
                let value = value.probe_steps_per_op.unwrap_or(value.ns_per_op);
                schedule.record_value(case as u32, value);
            }
        }
        for fault in &run.faults {
            match (fault.kind, fault.case, &fault.subject) {
                (pqlab_runfile::FaultKind::GateFailed, _, Some(subject)) => {
                    schedule.give_up_subject(&fault.worker, subject);
                }
                (_, Some(case), _) => schedule.record_fault(case),
                _ => {}
            }
        }
        schedule
    }

    /// The next round, or nothing when no case can gain from one. The order of workers, and of
    /// cases within each, is drawn from the plan's seed and the round.
    pub fn next_round(&mut self) -> Option<(u32, Vec<Turn>)> {
        let mut turns: Vec<Turn> = Vec::new();
        for (index, case) in self.plan.cases.iter().enumerate() {
            if !self.wants_more(index) {
                continue;
            }
            let index = index as u32;
            match turns.iter_mut().find(|turn| turn.worker == case.worker) {
                Some(turn) => turn.cases.push(index),
                None => turns.push(Turn { worker: case.worker.clone(), cases: vec![index] }),
            }
        }
        if turns.is_empty() {
            return None;
        }
        let round = self.round;
        self.round = round.saturating_add(1);
        let mut order = Pcg64Mcg::seed_from_u64(self.plan.seed ^ (u64::from(round) << 32));
        turns.shuffle(&mut order);
        for turn in &mut turns {
            turn.cases.shuffle(&mut order);
        }
        Some((round, turns))
    }

    /// A process has given its value for a case.
    pub fn record_value(&mut self, case: u32, value: f64) {
        self.states[case as usize].values.push(value);
    }

    /// A process has failed in a case.
    pub fn record_fault(&mut self, case: u32) {
        let state = &mut self.states[case as usize];
        state.faults += 1;
        state.given_up |= state.faults >= FAULTS_TOLERATED;
    }

    /// A subject is wrong: none of its cases is timed again.
    pub fn give_up_subject(&mut self, worker: &str, subject: &str) {
        for (case, state) in self.plan.cases.iter().zip(&mut self.states) {
            state.given_up |= case.worker == worker && case.subject == subject;
        }
    }

    /// Whether a case was given up since its turn was drawn up.
    pub fn is_given_up(&self, case: u32) -> bool {
        self.states[case as usize].given_up
    }

    /// Cases that want no further process, and all cases.
    pub fn progress(&self) -> (usize, usize) {
        let settled = (0..self.states.len()).filter(|case| !self.wants_more(*case)).count();
        (settled, self.states.len())
    }

    fn wants_more(&self, case: usize) -> bool {
        let state = &self.states[case];
        if state.given_up {
            return false;
        }
        let width = Estimate::over_processes(&state.values, CONFIDENCE)
            .ok()
            .and_then(|estimate| estimate.relative_half_width);
        decide(state.values.len(), width, self.plan.epsilon) != Stop::Precise
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pqlab_catalog::Operation;
    use pqlab_protocol::{KeyForm, Mode};
    use pqlab_runfile::Case;

    fn plan(cases: &[(&str, &str)]) -> Plan {
        let cases = cases.iter().map(|(worker, subject)| Case {
            worker: worker.to_string(),
            subject: subject.to_string(),
            parameter_set: "ml-kem-768".into(),
            variant: "v".into(),
            operation: Operation::Encaps,
            mode: Mode { key_form: KeyForm::Encoded, message_bytes: 0 },
        });
        Plan {
            seed: 7,
            epsilon: 0.005,
            budget_s: 1.0,
            minimum_processes: 6,
            blocks: 2,
            block_ns: 1,
            cases: cases.collect(),
        }
    }

    fn cases_in(turns: &[Turn]) -> Vec<u32> {
        let mut cases: Vec<u32> = turns.iter().flat_map(|turn| turn.cases.clone()).collect();
        cases.sort();
        cases
    }

    #[test]
    fn every_round_has_each_case_once_and_orders_differ() {
        let plan = plan(&[("a", "1"), ("b", "2"), ("a", "3"), ("b", "4"), ("c", "5"), ("c", "6")]);
        let mut schedule = Schedule::new(&plan);
        let mut orders = std::collections::HashSet::new();
        for round in 0..10 {
            let (number, turns) = schedule.next_round().unwrap();
            assert_eq!(number, round);
            assert_eq!(cases_in(&turns), [0, 1, 2, 3, 4, 5]);
            orders.insert(format!("{turns:?}"));
        }
        assert!(orders.len() > 5, "ten rounds came in only {} orders", orders.len());
    }

    #[test]
    fn the_same_seed_gives_the_same_order() {
        let plan = plan(&[("a", "1"), ("b", "2"), ("a", "3"), ("c", "4")]);
        assert_eq!(Schedule::new(&plan).next_round(), Schedule::new(&plan).next_round());
    }

    #[test]
    fn a_precise_case_stops_at_a_checkpoint_and_a_wide_one_goes_on() {
        let plan = plan(&[("a", "steady"), ("a", "wild")]);
        let mut schedule = Schedule::new(&plan);
        for round in 0..6 {
            let (_, turns) = schedule.next_round().unwrap();
            assert_eq!(cases_in(&turns), [0, 1], "round {round}");
            schedule.record_value(0, 100.0);
            schedule.record_value(1, 100.0 + 10.0 * f64::from(round));
        }
        assert_eq!(cases_in(&schedule.next_round().unwrap().1), [1]);
        assert_eq!(schedule.progress(), (1, 2));
    }

    #[test]
    fn a_case_is_given_up_after_its_second_fault_and_others_go_on() {
        let plan = plan(&[("a", "1"), ("a", "2")]);
        let mut schedule = Schedule::new(&plan);
        schedule.record_fault(0);
        assert_eq!(cases_in(&schedule.next_round().unwrap().1), [0, 1]);
        schedule.record_fault(0);
        assert_eq!(cases_in(&schedule.next_round().unwrap().1), [1]);
        schedule.give_up_subject("a", "2");
        assert_eq!(schedule.next_round(), None);
    }
}
