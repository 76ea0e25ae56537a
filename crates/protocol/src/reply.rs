//! What a worker answers.

use pqlab_catalog::Operation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line from a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The id of the request this answers.
    pub id: u64,
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
}

/// The kinds of answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// Final answer to a hello.
    Hello(Hello),
    /// Final answer to a gate request.
    Gate(GateReport),
    /// One block of samples; more answers follow.
    Block(Block),
    /// Final answer to a measure request.
    Measured(Measured),
    /// Final answer to any request that cannot be carried out.
    Refused {
        /// Why, in a sentence.
        reason: String,
    },
}

impl Answer {
    /// Whether no further reply to the same request follows.
    pub fn is_final(&self) -> bool {
        !matches!(self, Answer::Block(_))
    }
}

/// Who a worker is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`VERSION`](crate::VERSION) of the worker.
    pub protocol: u32,
    /// The library it holds.
    pub library: LibraryInfo,
    /// How it was built.
    pub build: Build,
    /// What it offers.
    pub subjects: Vec<SubjectInfo>,
    /// Its clock, as measured in this process.
    pub clock: ClockReport,
}

/// The library a worker holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryInfo {
    /// Name, such as `liboqs`.
    pub name: String,
    /// Version the library reports, or is pinned to.
    pub version: String,
    /// Package it was built from.
    pub package: String,
    /// SPDX licence expression.
    pub licence: String,
    /// CPU features the library itself says it sees; empty where it does not say.
    pub cpu_features_seen: Vec<String>,
}

/// How a worker was built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// Target triple.
    pub target: String,
    /// Build profile, such as `release`.
    pub profile: String,
    /// Optimisation level of the profile.
    pub opt_level: String,
    /// Version line of the language's compiler.
    pub compiler: String,
    /// Version line of the C compiler used for bundled C code; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c_compiler: Option<String>,
    /// Flags from the environment that change code (CFLAGS, RUSTFLAGS).
    pub flags: String,
}

/// One implementation of one parameter set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectInfo {
    /// Unique within the worker: `variant/parameter-set`.
    pub id: String,
    /// Catalog id of the parameter set.
    pub parameter_set: String,
    /// Variant within the library.
    pub variant: String,
    /// What is known about the code that runs.
    pub code_path: CodePath,
    /// `given` (seeded by the lab) or `library` (its own generator).
    pub randomness: String,
    /// How the secret key is encoded where that is not the standard's encoding, such as `seed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_key_encoding: Option<String>,
    /// Operations that also exist with a prepared key.
    pub prepares: Vec<Operation>,
}

/// The code path that runs when the subject is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodePath {
    /// Symbol, module or variant; empty when undisclosed.
    pub path: String,
    /// How it is known.
    pub evidence: CodePathEvidence,
}

/// How a code path is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodePathEvidence {
    /// The adapter calls that symbol itself.
    Called,
    /// The library reports the CPU features its dispatch uses.
    Reported,
    /// The library chooses and does not say.
    Undisclosed,
}

/// The clock of a worker process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClockReport {
    /// `tsc`, `cntvct` or `monotonic`.
    pub kind: String,
    /// Ticks in one second.
    pub ticks_per_second: f64,
    /// Ticks of a sample of one empty call, measured through the same loop as every sample and
    /// subtracted from each when results are derived (raw samples still hold it).
    pub overhead_ticks: f64,
    /// Ticks that each further empty call of a sample adds.
    pub overhead_ticks_per_further_call: f64,
    /// What a second, independent measurement of the empty operation reads after subtraction.
    pub empty_operation_ns: f64,
    /// Core cycles a step of the clock probe takes where the architecture fixes it (3 on x86-64);
    /// absent elsewhere, and core cycles are then not derived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_cycles_per_step: Option<f64>,
}

/// One thing the gate looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Name of the check, such as `round-trip`.
    pub name: String,
    /// How it ended.
    pub outcome: CheckOutcome,
    /// What was found, or why it was skipped.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// As it should be.
    Passed,
    /// Not as it should be: the subject is not timed.
    Failed,
    /// Does not apply or cannot be done here; the detail says why.
    Skipped,
}

/// Outcome of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReport {
    /// The subject.
    pub subject: String,
    /// Every check made.
    pub checks: Vec<Check>,
}

impl GateReport {
    /// Whether something was checked and nothing failed.
    pub fn passed(&self) -> bool {
        self.checks.iter().any(|check| check.outcome == CheckOutcome::Passed)
            && self.checks.iter().all(|check| check.outcome != CheckOutcome::Failed)
    }
}

/// Raw samples of about [`block_ns`](crate::MeasureRequest::block_ns).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Calls timed together in each sample; 1 unless a call is shorter than about 5 µs.
    pub calls_per_sample: u32,
    /// Clock ticks of each sample, overhead included, in the order they were taken.
    pub ticks: Vec<u64>,
    /// Clock-probe readings taken between samples.
    pub probes: Vec<ProbeReading>,
    /// What disturbed the block.
    pub noise: Noise,
    /// Hardware counter totals over the block's samples, by name; absent without a PMU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<BTreeMap<String, u64>>,
}

/// One run of the clock probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeReading {
    /// Samples taken in this block before the reading.
    pub after_samples: u32,
    /// Clock ticks of the probe.
    pub ticks: u64,
    /// Steps of its dependent multiplication chain.
    pub steps: u64,
}

/// Disturbances during a block; an absent item could not be read on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Noise {
    /// Times the thread gave up the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voluntary_switches: Option<u64>,
    /// Times the thread was preempted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
    /// Page faults served without I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minor_faults: Option<u64>,
    /// Page faults that needed I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
    /// Whether the thread changed CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migrated: Option<bool>,
    /// Nanoseconds the thread was runnable and waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_delay_ns: Option<u64>,
    /// Nanoseconds the hypervisor took from the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_ns: Option<u64>,
}

/// End of a measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Blocks sent.
    pub blocks: u32,
    /// Whether the warm-up reached a steady state before its limit.
    pub steady: bool,
    /// Calls made in the warm-up.
    pub warm_up_calls: u64,
    /// Distinct (key, message, output) inputs the calls drew from.
    pub inputs: u32,
}
