//! Carrying out a plan: rounds of turns, each in a fresh process, every reply written down before
//! the next question is asked.

use crate::discover::greet;
use crate::process::{Limits, Trouble, WorkerProcess};
use crate::schedule::{Schedule, Turn};
use crate::{Offer, Placement};
use pqlab_protocol::{
    Answer, Ask, Block, CheckOutcome, Clock, ClockReport, GateRequest, MeasureRequest, harmless,
};
use pqlab_runfile::{
    Ended, Fault, FaultKind, Footer, GateRecord, Header, MeasuredRecord, Process, RawBlock, Record,
    Run, RunWriter, Subject, WriteError, values,
};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// How a sitting of the lab ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The run is complete; its footer says why.
    Ended(Ended),
    /// The user stopped it; it can be resumed.
    Interrupted,
}

/// Something a person watching would like to know.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// A round of fresh processes begins.
    Round {
        /// Its number, from 0.
        round: u32,
    },
    /// A case is about to be measured.
    Case {
        /// Place of the case in the plan.
        case: u32,
        /// Share of the whole done, 0 to 1, as far as can be foreseen.
        done: f64,
        /// Seconds left, at most.
        seconds_left: f64,
    },
    /// A worker did something wrong.
    Fault(&'a Fault),
}

/// Hears how a run goes. Called only while nothing is being timed.
pub trait Watcher {
    /// Something happened.
    fn event(&mut self, event: &Event<'_>);
}

/// Everything a run needs besides its file.
pub struct Setting<'a> {
    /// The workers of this run.
    pub offers: &'a [Offer],
    /// Where they run.
    pub placement: &'a Placement,
    /// The calibrated clock.
    pub clock: &'a Clock,
    /// Timeouts and memory.
    pub limits: &'a Limits,
    /// Set by the user's Ctrl-C.
    pub stop: &'a AtomicBool,
}

/// Largest padding of a worker's environment, in bytes: one page, so that every alignment of its
/// main stack occurs (hyperfine's measure against layout luck).
const LARGEST_PADDING: u64 = 4096;

/// Fresh processes tried for one turn before its remaining cases wait for the next round.
const PROCESSES_PER_TURN: u32 = 4;

/// Longest warm-up of a case in one process, in nanoseconds.
const WARM_UP_NS: u64 = 200_000_000;

/// Measures what the header plans, going on where `resumed` left off, and writes everything to
/// `writer`. Ends when all is precise, the budget is spent, or the user stops it.
pub fn run(
    setting: &Setting<'_>,
    header: &Header,
    resumed: Option<&Run>,
    writer: &mut RunWriter,
    watcher: &mut dyn Watcher,
) -> Result<Outcome, WriteError> {
    let plan = &header.plan;
    let schedule = match resumed {
        Some(run) => Schedule::resume(plan, run),
        None => Schedule::new(plan),
    };
    let earlier_s = resumed.map_or(0.0, |run| {
        run.blocks
            .iter()
            .map(|b| b.at_s)
            .chain(run.processes.iter().map(|p| p.at_s))
            .fold(0.0, f64::max)
    });
    let last_process = resumed.and_then(|run| run.processes.iter().map(|p| p.process).max());
    let mut sitting = Sitting {
        setting,
        header,
        schedule,
        writer,
        watcher,
        begun: Instant::now(),
        earlier_s,
        next_process: last_process.map_or(0, |last| last.saturating_add(1)),
        turns_done: 0,
    };
    if resumed.is_none() {
        sitting.introduce_subjects()?;
    }
    let outcome = sitting.measure()?;
    if let Outcome::Ended(ended) = outcome {
        let measured_s = sitting.elapsed_s();
        let usage = own_usage();
        sitting.writer.append(&Record::Footer(Footer {
            ended,
            measured_s,
            lab_cpu_s: usage.as_ref().map(|usage| usage.cpu_s),
            lab_peak_rss_bytes: usage.as_ref().map(|usage| usage.peak_rss_bytes),
        }))?;
    }
    Ok(outcome)
}

/// What the lab itself has used.
struct Usage {
    cpu_s: f64,
    peak_rss_bytes: u64,
}

/// CPU time and peak memory of this process from procfs; `None` where there is none.
fn own_usage() -> Option<Usage> {
    /// Unit of the times in `/proc/self/stat`: USER_HZ, 100 on every Linux architecture we run on.
    const TICKS_PER_S: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Fields are counted after the program's name, which may hold spaces (proc(5)).
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = peak.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Usage { cpu_s: ticks / TICKS_PER_S, peak_rss_bytes: kib * 1024 })
}

/// What became of a turn.
enum TurnEnd {
    Done,
    BudgetSpent,
    Interrupted,
}

struct Sitting<'a> {
    setting: &'a Setting<'a>,
    header: &'a Header,
    schedule: Schedule<'a>,
    writer: &'a mut RunWriter,
    watcher: &'a mut dyn Watcher,
    begun: Instant,
    earlier_s: f64,
    next_process: u32,
    turns_done: u64,
}

impl Sitting<'_> {
    fn elapsed_s(&self) -> f64 {
        self.earlier_s + self.begun.elapsed().as_secs_f64()
    }

    fn budget_spent(&self) -> bool {
        self.elapsed_s() >= self.header.plan.budget_s
    }

    fn introduce_subjects(&mut self) -> Result<(), WriteError> {
        for offer in self.setting.offers {
            for subject in &offer.hello.subjects {
                let name = &offer.hello.library.name;
                let planned = self
                    .header
                    .plan
                    .cases
                    .iter()
                    .any(|case| case.worker == *name && case.subject == subject.id);
                if planned {
                    self.writer.append(&Record::Subject(Box::new(Subject {
                        library: offer.hello.library.clone(),
                        build: offer.hello.build.clone(),
                        subject: subject.clone(),
                    })))?;
                }
            }
        }
        Ok(())
    }

    fn measure(&mut self) -> Result<Outcome, WriteError> {
        while let Some((round, turns)) = self.schedule.next_round() {
            self.watcher.event(&Event::Round { round });
            for turn in turns {
                match self.take_turn(round, turn)? {
                    TurnEnd::Done => {}
                    TurnEnd::BudgetSpent => return Ok(Outcome::Ended(Ended::Budget)),
                    TurnEnd::Interrupted => return Ok(Outcome::Interrupted),
                }
            }
        }
        Ok(Outcome::Ended(Ended::Precise))
    }

    /// Measures the cases of one turn, in one process if all goes well, in a fresh one after each
    /// fault.
    fn take_turn(&mut self, round: u32, turn: Turn) -> Result<TurnEnd, WriteError> {
        let mut waiting = turn.cases;
        waiting.reverse();
        for _ in 0..PROCESSES_PER_TURN {
            if waiting.is_empty() {
                break;
            }
            if self.setting.stop.load(Ordering::Relaxed) {
                return Ok(TurnEnd::Interrupted);
            }
            if self.budget_spent() {
                return Ok(TurnEnd::BudgetSpent);
            }
            let process = self.next_process;
            self.next_process = process.saturating_add(1);
            match self.fresh_process(process, round, &turn.worker) {
                Ok((worker, clock)) => {
                    self.writer.append(&Record::Process(Process {
                        process,
                        round,
                        worker: turn.worker.clone(),
                        clock: clock.clone(),
                        at_s: self.elapsed_s(),
                    }))?;
                    let mut bench = Bench { worker, process, round, clock, gated: HashSet::new() };
                    if let Some(end) = self.work_through(&mut bench, &turn.worker, &mut waiting)? {
                        return Ok(end);
                    }
                }
                Err(Trouble::Interrupted) => return Ok(TurnEnd::Interrupted),
                Err(Trouble::Worker(kind, detail)) => {
                    // Nothing of this worker can be had now; each case pays, so that a worker that
                    // never starts is given up.
                    self.fault(&turn.worker, Some(process), None, None, kind, detail)?;
                    for case in waiting.drain(..) {
                        self.schedule.record_fault(case);
                    }
                }
            }
        }
        Ok(TurnEnd::Done)
    }

    fn fresh_process(
        &self,
        process: u32,
        round: u32,
        worker: &str,
    ) -> Result<(WorkerProcess, ClockReport), Trouble> {
        let offer = self.setting.offers.iter().find(|offer| offer.hello.library.name == worker);
        let Some(offer) = offer else {
            let detail = format!("the worker '{worker}' of this run is not here any more");
            return Err(Trouble::Worker(FaultKind::NotStarted, detail));
        };
        let mixed =
            (u64::from(process) << 20 ^ u64::from(round)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let padding = ((mixed >> 40) % LARGEST_PADDING) as usize;
        let setting = self.setting;
        let mut fresh =
            WorkerProcess::start(&offer.program, setting.placement, padding, setting.limits)?;
        let hello = greet(&mut fresh, setting.clock, setting.limits, setting.stop)?;
        if hello.library != offer.hello.library || hello.subjects != offer.hello.subjects {
            let detail = "it introduces itself otherwise than before".to_owned();
            return Err(Trouble::Worker(FaultKind::Implausible, detail));
        }
        Ok((fresh, hello.clock))
    }

    /// Measures waiting cases until they are done, the process is lost (`None`: try a fresh one),
    /// or the sitting must end.
    fn work_through(
        &mut self,
        bench: &mut Bench,
        worker: &str,
        waiting: &mut Vec<u32>,
    ) -> Result<Option<TurnEnd>, WriteError> {
        while let Some(case) = waiting.pop() {
            if self.schedule.is_given_up(case) {
                continue;
            }
            if self.budget_spent() {
                return Ok(Some(TurnEnd::BudgetSpent));
            }
            self.announce(case);
            let trouble = match self.measure_case(bench, case)? {
                Ok(()) => {
                    self.turns_done += 1;
                    continue;
                }
                Err(trouble) => trouble,
            };
            match trouble {
                Trouble::Interrupted => return Ok(Some(TurnEnd::Interrupted)),
                Trouble::Worker(kind, detail) => {
                    let subject = self.header.plan.cases[case as usize].subject.clone();
                    let process = Some(bench.process);
                    if kind == FaultKind::GateFailed {
                        self.schedule.give_up_subject(worker, &subject);
                        self.fault(worker, process, Some(subject), None, kind, detail)?;
                    } else {
                        self.schedule.record_fault(case);
                        self.fault(worker, process, Some(subject), Some(case), kind, detail)?;
                        // A refusal is an answer: the process is in order and goes on.
                        if kind != FaultKind::Refused {
                            return Ok(None);
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    fn announce(&mut self, case: u32) {
        let plan = &self.header.plan;
        let elapsed = self.elapsed_s();
        let left = (plan.budget_s - elapsed).max(0.0);
        let (settled, cases) = self.schedule.progress();
        let first = f64::from(plan.minimum_processes) * cases as f64;
        let by_turns = self.turns_done as f64 / first;
        let done = (elapsed / plan.budget_s)
            .max(settled as f64 / cases as f64)
            .max(by_turns * 0.7)
            .clamp(0.0, 1.0);
        self.watcher.event(&Event::Case { case, done, seconds_left: left });
    }

    /// Gates the subject if this process has not, then measures the case. The outer error is the
    /// lab's, the inner one the worker's.
    fn measure_case(
        &mut self,
        bench: &mut Bench,
        case: u32,
    ) -> Result<Result<(), Trouble>, WriteError> {
        let planned = &self.header.plan.cases[case as usize];
        if !bench.gated.contains(&planned.subject) {
            if let Err(trouble) = self.gate(bench, case)? {
                return Ok(Err(trouble));
            }
            bench.gated.insert(planned.subject.clone());
        }
        let plan = &self.header.plan;
        let limit_ns = u64::from(plan.blocks).saturating_mul(plan.block_ns).saturating_mul(2);
        let request = MeasureRequest {
            subject: planned.subject.clone(),
            operation: planned.operation,
            mode: planned.mode,
            seed: input_seed(plan.seed, &planned.parameter_set, bench.round),
            blocks: plan.blocks,
            block_ns: plan.block_ns,
            warm_up_ns: WARM_UP_NS,
            max_ns: limit_ns,
        };
        let asked = Instant::now();
        let asked_at_s = self.elapsed_s();
        let mut figures = Vec::new();
        let mut arrived = 0;
        let mut written: Result<(), WriteError> = Ok(());
        let (clock, process) = (bench.clock.clone(), bench.process);
        let writer = &mut *self.writer;
        let mut sampled_s = 0.0;
        let mut on_block = |block: Block| {
            if arrived >= plan.blocks {
                return Err(format!("more than the {} blocks it was asked for", plan.blocks));
            }
            let passed_s = asked.elapsed().as_secs_f64();
            sampled_s += check_block(&block, &clock, passed_s - sampled_s)?;
            figures.extend(values::block_value(&block, &clock, asked_at_s));
            let at_s = asked_at_s + passed_s;
            written = writer.append(&Record::Block(RawBlock { case, process, at_s, block }));
            if written.is_err() {
                return Err("the run file cannot be written".to_owned());
            }
            arrived += 1;
            Ok(())
        };
        let setting = self.setting;
        let patience = setting.limits.measure_silence;
        let answer = bench.worker.ask(Ask::Measure(request), patience, setting.stop, &mut on_block);
        written?;
        let measured = match answer {
            Ok(Answer::Measured(measured)) => measured,
            Ok(_) => return Ok(Err(garbage("it answered a measure request with something else"))),
            Err(trouble) => return Ok(Err(trouble)),
        };
        if measured.blocks != arrived || arrived == 0 {
            let detail = format!("it sent {arrived} blocks and counts {}", measured.blocks);
            return Ok(Err(Trouble::Worker(FaultKind::Implausible, detail)));
        }
        self.writer.append(&Record::Measured(MeasuredRecord { case, process, measured }))?;
        if let Some(value) = values::process_value(process, figures) {
            let value = value.probe_steps_per_op.unwrap_or(value.ns_per_op);
            self.schedule.record_value(case, value);
        }
        Ok(Ok(()))
    }

    fn gate(&mut self, bench: &mut Bench, case: u32) -> Result<Result<(), Trouble>, WriteError> {
        let planned = &self.header.plan.cases[case as usize];
        let ask = Ask::Gate(GateRequest {
            subject: planned.subject.clone(),
            seed: self.header.plan.seed ^ u64::from(bench.process),
        });
        let mut no_blocks = |_| Err("it sent samples when asked for its gate".to_owned());
        let (patience, stop) = (self.setting.limits.gate, self.setting.stop);
        let report = match bench.worker.ask(ask, patience, stop, &mut no_blocks) {
            Ok(Answer::Gate(report)) => report,
            Ok(_) => return Ok(Err(garbage("it answered a gate request with something else"))),
            Err(trouble) => return Ok(Err(trouble)),
        };
        if report.subject != planned.subject {
            return Ok(Err(garbage("it reports the gate of another subject")));
        }
        let passed = report.passed();
        let failures: Vec<String> = report
            .checks
            .iter()
            .filter(|check| check.outcome == CheckOutcome::Failed)
            .map(|check| harmless(&format!("{}: {}", check.name, check.detail)))
            .collect();
        self.writer.append(&Record::Gate(GateRecord {
            process: bench.process,
            worker: planned.worker.clone(),
            report,
        }))?;
        if passed {
            return Ok(Ok(()));
        }
        let detail =
            if failures.is_empty() { "it checked nothing".to_owned() } else { failures.join("; ") };
        Ok(Err(Trouble::Worker(FaultKind::GateFailed, detail)))
    }

    fn fault(
        &mut self,
        worker: &str,
        process: Option<u32>,
        subject: Option<String>,
        case: Option<u32>,
        kind: FaultKind,
        detail: String,
    ) -> Result<(), WriteError> {
        let fault = Fault { worker: worker.to_owned(), process, subject, case, kind, detail };
        self.watcher.event(&Event::Fault(&fault));
        self.writer.append(&Record::Fault(fault))
    }
}

/// A worker process at work.
struct Bench {
    worker: WorkerProcess,
    process: u32,
    round: u32,
    clock: ClockReport,
    gated: HashSet<String>,
}

fn garbage(detail: &str) -> Trouble {
    Trouble::Worker(FaultKind::Garbage, detail.to_owned())
}

/// The seed of the list of inputs: one list for each parameter set and round, the same for every
/// implementation and operation.
fn input_seed(seed: u64, parameter_set: &str, round: u32) -> u64 {
    // FNV-1a over the name: any fixed mixing will do.
    let name = parameter_set.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    seed ^ name ^ (u64::from(round) << 40)
}

/// How far a worker's clock may run ahead of ours before its samples are disbelieved.
const CLOCK_DISAGREEMENT: f64 = 1.01;

/// Whether a block can be true: it has samples, they are not all nothing, and they fit into the
/// time that really passed. Returns the seconds its samples claim.
fn check_block(block: &Block, clock: &ClockReport, passed_s: f64) -> Result<f64, String> {
    if block.ticks.is_empty() || block.calls_per_sample == 0 {
        return Err("a block without samples".to_owned());
    }
    if block.ticks.iter().all(|ticks| *ticks == 0) {
        return Err("a block in which every sample took no time at all".to_owned());
    }
    let claimed_s = block.ticks.iter().map(|t| *t as f64).sum::<f64>() / clock.ticks_per_second;
    if claimed_s > passed_s * CLOCK_DISAGREEMENT + 1e-3 {
        return Err(format!(
            "samples of {claimed_s:.3} s in a block that arrived after {passed_s:.3} s"
        ));
    }
    Ok(claimed_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pqlab_protocol::Noise;

    fn clock() -> ClockReport {
        ClockReport {
            kind: "tsc".into(),
            ticks_per_second: 1e9,
            overhead_ticks: 20.0,
            overhead_ticks_per_further_call: 1.0,
            empty_operation_ns: 0.0,
            probe_cycles_per_step: None,
        }
    }

    fn block(ticks: Vec<u64>) -> Block {
        Block {
            calls_per_sample: 1,
            ticks,
            probes: vec![],
            noise: Noise::default(),
            counters: None,
        }
    }

    #[test]
    fn a_block_must_have_samples_that_fit_into_the_time_that_passed() {
        assert!(check_block(&block(vec![]), &clock(), 1.0).is_err());
        assert!(check_block(&block(vec![0, 0]), &clock(), 1.0).is_err());
        assert!(check_block(&block(vec![2_000_000_000]), &clock(), 1.0).is_err());
        assert_eq!(check_block(&block(vec![500_000_000]), &clock(), 1.0), Ok(0.5));
    }

    #[test]
    fn input_lists_differ_by_set_and_round_only() {
        assert_eq!(input_seed(1, "ml-kem-768", 0), input_seed(1, "ml-kem-768", 0));
        assert_ne!(input_seed(1, "ml-kem-768", 0), input_seed(1, "ml-kem-512", 0));
        assert_ne!(input_seed(1, "ml-kem-768", 0), input_seed(1, "ml-kem-768", 1));
    }
}
