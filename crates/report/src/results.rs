//! The rows of a run: one for each case, with every statistic the tables and the JSON show.
//!
//! The estimate of a row is the median over fresh processes of each process's median block; its
//! interval is taken over processes. Mean, deviation, quantiles and shape describe the single
//! samples, pooled: they say how calls vary, not how sure the estimate is.

use pqlab_catalog::{Length, find};
use pqlab_protocol::{CheckOutcome, ClockReport, CodePathEvidence};
use pqlab_runfile::values::{self, ProcessValue};
use pqlab_runfile::{Case, Ended, Fault, Run};
use pqlab_stats::drift::Drift;
use pqlab_stats::estimate::Estimate;
use pqlab_stats::grade::{Evidence, Grade, grade};
use pqlab_stats::steps::change_points;
use pqlab_stats::summary::Summary;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Name and version of the JSON form (docs/schema/results.schema.json).
const SCHEMA: &str = "pqlab-results";
const SCHEMA_VERSION: u32 = 1;

/// Everything a table or a file shows of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Results {
    /// Always `pqlab-results`.
    pub schema: &'static str,
    /// Version of the form.
    pub schema_version: u32,
    /// Facts about the run as a whole.
    pub run: RunFacts,
    /// One row a case, in the order of the plan.
    pub rows: Vec<Row>,
    /// What went wrong with workers.
    pub faults: Vec<Fault>,
}

/// Facts about a run as a whole.
#[derive(Debug, Clone, Serialize)]
pub struct RunFacts {
    /// Version of pqlab that measured.
    pub pqlab: String,
    /// When it began, seconds since 1970-01-01 UTC.
    pub started_unix_s: u64,
    /// The selection as typed.
    pub selection: String,
    /// Seed of inputs and order.
    pub seed: u64,
    /// Wanted relative half-width of the intervals.
    pub epsilon: f64,
    /// Budget of measuring in seconds.
    pub budget_s: f64,
    /// Why it ended: `precise`, `budget`, or `unfinished`.
    pub ended: &'static str,
    /// Seconds of measuring.
    pub measured_s: Option<f64>,
    /// CPU time of the lab itself over the measuring time, of its last sitting.
    pub lab_cpu_share: Option<f64>,
    /// Peak memory of the lab itself in bytes.
    pub lab_peak_rss_bytes: Option<u64>,
    /// Worker processes started.
    pub processes: usize,
    /// What an empty operation reads after subtraction, in nanoseconds: median and the value
    /// farthest from zero over all processes.
    pub empty_operation_ns: Option<(f64, f64)>,
    /// Core clock over all blocks in GHz by the clock probe: 5 % quantile, median, 95 % quantile.
    pub core_ghz: Option<(f64, f64, f64)>,
    /// CPU measured on.
    pub pinned_cpu: Option<u32>,
    /// The machine.
    pub machine: pqlab_instrument::machine::Machine,
    /// The clock.
    pub clock: pqlab_instrument::clock::Calibration,
    /// Compilers and flags of the workers, each combination once.
    pub builds: Vec<String>,
    /// Where the file could not be read further, if it is broken.
    pub broken: Option<String>,
}

/// Encoded sizes in bytes as the parameter set's document fixes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Public key.
    pub public_key_bytes: usize,
    /// Secret key, at most.
    pub secret_key_bytes: usize,
    /// Whether the secret key is shorter at times (DER encodings).
    pub secret_key_varies: bool,
    /// Signature or ciphertext, at most; 0 for key exchanges.
    pub output_bytes: usize,
    /// Whether the signature is shorter at times.
    pub output_varies: bool,
}

/// One case: a subject, an operation, a mode.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Catalog id of the parameter set.
    pub parameter_set: String,
    /// Its name as its document gives it.
    pub name: &'static str,
    /// `signature`, `kem` or `key-exchange`.
    pub kind: &'static str,
    /// The document it follows.
    pub revision: &'static str,
    /// NIST category; absent for classical schemes.
    pub level: Option<u8>,
    /// Sizes.
    pub sizes: Sizes,
    /// The operation.
    pub operation: &'static str,
    /// `encoded` or `prepared`.
    pub key_form: &'static str,
    /// Bytes of the message; 0 where there is none.
    pub message_bytes: u32,
    /// Library that holds the implementation.
    pub library: String,
    /// Its version.
    pub library_version: String,
    /// Variant within the library.
    pub variant: String,
    /// Code path, empty where the library does not say.
    pub code_path: String,
    /// `called`, `reported` or `undisclosed`.
    pub code_path_evidence: &'static str,
    /// `given` (seeded inputs) or `library` (its own generator, its cost included).
    pub randomness: String,
    /// How the secret key is encoded where not as the standard says.
    pub secret_key_encoding: Option<String>,
    /// Whether the time varies by design, so that the mean matters beside the median.
    pub varies_by_design: bool,
    /// Fresh processes measured.
    pub processes: usize,
    /// Samples in all.
    pub samples: usize,
    /// Calls timed together in a sample, at most.
    pub calls_per_sample: u32,
    /// Distinct inputs, at least; 0 when every call has its own.
    pub inputs: u32,
    /// Median of process medians, nanoseconds per operation, with its interval over processes.
    pub ns_per_op: Option<Estimate>,
    /// The same in clock-probe steps per operation, which a change of the core's clock leaves
    /// alone.
    pub probe_steps_per_op: Option<Estimate>,
    /// Core cycles per operation, derived from the clock probe (not counted by a PMU).
    pub core_cycles_per_op: Option<f64>,
    /// Clock ticks per operation: nanoseconds times the clock's rate. Not cycles.
    pub ticks_per_op: Option<f64>,
    /// Operations per second: the reciprocal of the median.
    pub ops_per_s: Option<f64>,
    /// The interval of `ops_per_s`, low and high.
    pub ops_per_s_interval: Option<(f64, f64)>,
    /// Single samples, nanoseconds per operation, pooled over processes.
    pub sample_ns: Option<Summary>,
    /// The shape of the samples in words.
    pub shape: Option<String>,
    /// Lag-1 autocorrelation, trend and steps of the block medians in time order; absent below 20
    /// blocks.
    pub drift: Option<Drift>,
    /// How far the figure may be trusted.
    pub grade: Grade,
    /// Why that grade.
    pub grade_reasons: Vec<String>,
    /// Hardware counter events per operation, by name; empty without a PMU.
    pub counters_per_op: std::collections::BTreeMap<String, f64>,
    /// The gate of this subject: checks passed in its last process.
    pub gate_passed: usize,
    /// The gate's checks that could not be made, with the reason.
    pub gate_skipped: Vec<String>,
    /// The first thing that went wrong in this case or its subject.
    pub fault: Option<String>,
}

impl Results {
    /// Computes every row of a run.
    pub fn of(run: &Run) -> Results {
        let process_values = values::of_run(run);
        let samples = Samples::of(run);
        let rows = run
            .header
            .plan
            .cases
            .iter()
            .enumerate()
            .map(|(index, case)| row(run, index as u32, case, &process_values[index], &samples))
            .collect();
        Results {
            schema: SCHEMA,
            schema_version: SCHEMA_VERSION,
            run: facts(run, &process_values),
            rows,
            faults: run.faults.clone(),
        }
    }

    /// Rows with figures, and rows whose figures are graded D.
    pub fn trust(&self) -> (usize, usize) {
        let measured = self.rows.iter().filter(|row| row.ns_per_op.is_some());
        let (mut all, mut doubtful) = (0, 0);
        for row in measured {
            all += 1;
            doubtful += usize::from(row.grade == Grade::D);
        }
        (all, doubtful)
    }
}

/// Samples and counters pooled by case.
struct Samples {
    ns: HashMap<u32, Vec<f64>>,
    calls: HashMap<u32, u32>,
    operations: HashMap<u32, f64>,
    counters: HashMap<u32, std::collections::BTreeMap<String, u64>>,
}

impl Samples {
    fn of(run: &Run) -> Samples {
        let clocks: HashMap<u32, &ClockReport> =
            run.processes.iter().map(|process| (process.process, &process.clock)).collect();
        let proven = values::proven(run);
        let mut samples = Samples {
            ns: HashMap::new(),
            calls: HashMap::new(),
            operations: HashMap::new(),
            counters: HashMap::new(),
        };
        for raw in &run.blocks {
            let Some(clock) = clocks.get(&raw.process) else { continue };
            if !proven.contains(&(raw.case, raw.process)) {
                continue;
            }
            let pooled = samples.ns.entry(raw.case).or_default();
            pooled.extend(values::sample_ns(&raw.block, clock));
            let calls = samples.calls.entry(raw.case).or_default();
            *calls = (*calls).max(raw.block.calls_per_sample);
            if let Some(counters) = &raw.block.counters {
                *samples.operations.entry(raw.case).or_default() +=
                    raw.block.ticks.len() as f64 * f64::from(raw.block.calls_per_sample);
                let totals = samples.counters.entry(raw.case).or_default();
                for (name, count) in counters {
                    *totals.entry(name.clone()).or_default() += count;
                }
            }
        }
        samples
    }
}

fn row(run: &Run, index: u32, case: &Case, processes: &[ProcessValue], samples: &Samples) -> Row {
    let set = find(&case.parameter_set);
    let sizes = set.map(|set| set.sizes);
    let subject =
        run.subjects.iter().find(|s| s.library.name == case.worker && s.subject.id == case.subject);
    let over = |values: Option<Vec<f64>>| {
        values.and_then(|values| Estimate::over_processes(&values, CONFIDENCE).ok())
    };
    let ns = over(Some(processes.iter().map(|p| p.ns_per_op).collect()));
    let steps = over(processes.iter().map(|p| p.probe_steps_per_op).collect());
    let cycles_per_step =
        run.processes.iter().find_map(|process| process.clock.probe_cycles_per_step);
    let pooled = samples.ns.get(&index).map(Vec::as_slice).unwrap_or_default();
    let summary = Summary::of(pooled).ok();
    let blocks: Vec<_> = processes.iter().flat_map(|process| &process.blocks).collect();
    let series: Vec<f64> = match &steps {
        Some(_) => blocks.iter().filter_map(|block| block.probe_steps_per_op()).collect(),
        None => blocks.iter().map(|block| block.ns_per_op).collect(),
    };
    let drift = Drift::of(&series).ok();
    let graded = grade(&evidence(run, index, processes, ns.as_ref(), drift.as_ref()));
    let gate = run
        .gates
        .iter()
        .rfind(|gate| gate.worker == case.worker && gate.report.subject == case.subject);
    let checks = gate.map(|gate| gate.report.checks.as_slice()).unwrap_or_default();
    let (path, evidence) = subject.map_or((String::new(), "undisclosed"), |s| {
        let evidence = match s.subject.code_path.evidence {
            CodePathEvidence::Called => "called",
            CodePathEvidence::Reported => "reported",
            CodePathEvidence::Undisclosed => "undisclosed",
        };
        (s.subject.code_path.path.clone(), evidence)
    });
    let fault = run.faults.iter().find(|fault| {
        fault.case == Some(index)
            || fault.worker == case.worker
                && fault.case.is_none()
                && fault.subject.as_ref().is_none_or(|subject| *subject == case.subject)
    });
    Row {
        parameter_set: case.parameter_set.clone(),
        name: set.map_or("", |set| set.name),
        kind: set.map_or("", |set| set.kind.name()),
        revision: set.map_or("", |set| set.revision.label()),
        level: set.and_then(|set| set.level),
        sizes: Sizes {
            public_key_bytes: sizes.map_or(0, |s| s.public_key.capacity()),
            secret_key_bytes: sizes.map_or(0, |s| s.secret_key.capacity()),
            secret_key_varies: sizes.is_some_and(|s| matches!(s.secret_key, Length::AtMost(_))),
            output_bytes: sizes.map_or(0, |s| s.output.capacity()),
            output_varies: sizes.is_some_and(|s| matches!(s.output, Length::AtMost(_))),
        },
        operation: case.operation.name(),
        key_form: case.mode.key_form.name(),
        message_bytes: case.mode.message_bytes,
        library: case.worker.clone(),
        library_version: subject.map_or(String::new(), |s| s.library.version.clone()),
        variant: case.variant.clone(),
        code_path: path,
        code_path_evidence: evidence,
        randomness: subject.map_or(String::new(), |s| s.subject.randomness.clone()),
        secret_key_encoding: subject.and_then(|s| s.subject.secret_key_encoding.clone()),
        varies_by_design: set.is_some_and(|set| set.is_variable_time(case.operation)),
        processes: processes.len(),
        samples: pooled.len(),
        calls_per_sample: samples.calls.get(&index).copied().unwrap_or(0),
        inputs: run
            .measured
            .iter()
            .filter(|measured| measured.case == index)
            .map(|measured| measured.measured.inputs)
            .min()
            .unwrap_or(0),
        core_cycles_per_op: steps.as_ref().zip(cycles_per_step).map(|(s, c)| s.median * c),
        ticks_per_op: ns.as_ref().map(|ns| ns.median * 1e-9 * run.header.clock.ticks_per_second),
        ops_per_s: ns.as_ref().filter(|ns| ns.median > 0.0).map(|ns| 1e9 / ns.median),
        ops_per_s_interval: ns
            .as_ref()
            .and_then(|ns| ns.interval)
            .filter(|interval| interval.low > 0.0)
            .map(|interval| (1e9 / interval.high, 1e9 / interval.low)),
        ns_per_op: ns,
        probe_steps_per_op: steps,
        shape: summary.as_ref().map(|summary| summary.shape().to_string()),
        sample_ns: summary,
        drift,
        grade: graded.grade,
        grade_reasons: graded.reasons.iter().map(ToString::to_string).collect(),
        counters_per_op: counters_per_op(samples, index),
        gate_passed: checks.iter().filter(|c| c.outcome == CheckOutcome::Passed).count(),
        gate_skipped: checks
            .iter()
            .filter(|c| c.outcome == CheckOutcome::Skipped)
            .map(|c| format!("{}: {}", c.name, c.detail))
            .collect(),
        fault: fault.map(|fault| format!("{}: {}", fault.kind.words(), fault.detail)),
    }
}

fn counters_per_op(samples: &Samples, index: u32) -> std::collections::BTreeMap<String, f64> {
    let operations = samples.operations.get(&index).copied().unwrap_or(0.0);
    let totals = samples.counters.get(&index).into_iter().flatten();
    totals
        .filter(|_| operations > 0.0)
        .map(|(name, count)| (name.clone(), *count as f64 / operations))
        .collect()
}

/// A change of the core's clock below this is not called a step: the probe's own scatter.
const CLOCK_STEP: f64 = 0.01;

/// The shortest stretch of blocks at one clock that counts as a level.
const CLOCK_LEVEL_BLOCKS: usize = 6;

fn evidence(
    run: &Run,
    index: u32,
    processes: &[ProcessValue],
    ns: Option<&Estimate>,
    drift: Option<&Drift>,
) -> Evidence {
    let blocks: Vec<_> = processes.iter().flat_map(|process| &process.blocks).collect();
    let rates: Vec<f64> = blocks.iter().filter_map(|block| block.probe_steps_per_s).collect();
    let points = change_points(&rates, CLOCK_LEVEL_BLOCKS);
    let steps = points.iter().filter(|&&at| {
        at > 0 && at < rates.len() && (rates[at] / rates[at - 1] - 1.0).abs() > CLOCK_STEP
    });
    let seen: Vec<bool> = blocks.iter().filter_map(|block| block.disturbed).collect();
    let disturbed = seen.iter().filter(|disturbed| **disturbed).count();
    let stolen_ns: Option<u64> = blocks.iter().map(|block| block.steal_ns).sum();
    let sampled_ns = blocks.iter().map(|block| block.sampled_s).sum::<f64>() * 1e9;
    Evidence {
        processes: processes.len(),
        relative_half_width: ns.and_then(|ns| ns.relative_half_width),
        steady: run.measured.iter().filter(|m| m.case == index).all(|m| m.measured.steady),
        drift: drift.map(|drift| drift.findings(run.header.plan.epsilon)).unwrap_or_default(),
        share_of_blocks_preempted: (!seen.is_empty()).then(|| disturbed as f64 / seen.len() as f64),
        share_of_time_stolen: stolen_ns.map(|ns| (ns as f64 / sampled_ns.max(1.0)).min(1.0)),
        clock_steps: (!rates.is_empty()).then(|| steps.count()),
    }
}

fn facts(run: &Run, processes: &[Vec<ProcessValue>]) -> RunFacts {
    let header = &run.header;
    let mut residuals: Vec<f64> =
        run.processes.iter().map(|process| process.clock.empty_operation_ns).collect();
    residuals.sort_by(f64::total_cmp);
    let worst = residuals.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
    let cycles_per_step =
        run.processes.iter().find_map(|process| process.clock.probe_cycles_per_step);
    let mut ghz: Vec<f64> = processes
        .iter()
        .flatten()
        .flat_map(|process| &process.blocks)
        .filter_map(|block| Some(block.probe_steps_per_s? * cycles_per_step? / 1e9))
        .collect();
    ghz.sort_by(f64::total_cmp);
    let at = |p| pqlab_stats::quantile::sorted_quantile(&ghz, p);
    let builds: BTreeSet<String> = run
        .subjects
        .iter()
        .map(|subject| {
            let build = &subject.build;
            let parts = [
                build.compiler.as_str(),
                build.c_compiler.as_deref().unwrap_or_default(),
                &format!("{} (opt-level {})", build.profile, build.opt_level),
                &build.target,
                &build.flags,
            ];
            parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(", ")
        })
        .collect();
    RunFacts {
        pqlab: header.pqlab.clone(),
        started_unix_s: header.started_unix_s,
        selection: header.selection.clone(),
        seed: header.plan.seed,
        epsilon: header.plan.epsilon,
        budget_s: header.plan.budget_s,
        ended: match &run.footer {
            Some(footer) if footer.ended == Ended::Precise => "precise",
            Some(_) => "budget",
            None => "unfinished",
        },
        measured_s: run.footer.as_ref().map(|footer| footer.measured_s),
        lab_cpu_share: run
            .footer
            .as_ref()
            .and_then(|footer| Some(footer.lab_cpu_s? / footer.measured_s.max(1e-9))),
        lab_peak_rss_bytes: run.footer.as_ref().and_then(|footer| footer.lab_peak_rss_bytes),
        processes: run.processes.len(),
        empty_operation_ns: pqlab_stats::quantile::median(&residuals).zip(worst),
        core_ghz: at(0.05).zip(at(0.5)).zip(at(0.95)).map(|((low, mid), high)| (low, mid, high)),
        pinned_cpu: header.pinned_cpu,
        machine: header.machine.clone(),
        clock: header.clock.clone(),
        builds: builds.into_iter().collect(),
        broken: run.broken.as_ref().map(|b| format!("line {}: {}", b.line, b.why)),
    }
}
