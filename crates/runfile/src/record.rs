//! The records of a run file, one a line.

use pqlab_catalog::Operation;
use pqlab_instrument::clock::Calibration;
use pqlab_instrument::machine::Machine;
use pqlab_protocol::{
    Block, Build, ClockReport, GateReport, LibraryInfo, Measured, Mode, SubjectInfo,
};
use serde::{Deserialize, Serialize};

/// One line of a run file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// First line: what was planned, where.
    Header(Box<Header>),
    /// One implementation of one parameter set, as its worker introduced it.
    Subject(Box<Subject>),
    /// A fresh worker process.
    Process(Process),
    /// A subject's correctness gate in one process.
    Gate(GateRecord),
    /// Raw samples.
    Block(RawBlock),
    /// End of one case's measurement in one process.
    Measured(MeasuredRecord),
    /// Something went wrong with a worker; its other rows go on.
    Fault(Fault),
    /// Last line of a run that ended by itself.
    Footer(Footer),
    /// A record of a later version: kept in the file, not understood here.
    #[serde(other)]
    Unknown,
}

/// What was planned, where, by which pqlab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Always [`FORMAT`](crate::FORMAT).
    pub format: String,
    /// [`VERSION`](crate::VERSION) of the writer.
    pub version: u32,
    /// Version of pqlab.
    pub pqlab: String,
    /// When the run began, seconds since 1970-01-01 UTC.
    pub started_unix_s: u64,
    /// The selection as it was typed; empty for the headline.
    pub selection: String,
    /// What is to be measured and how long.
    pub plan: Plan,
    /// The machine, before the run.
    pub machine: Machine,
    /// The lab's clock.
    pub clock: Calibration,
    /// The CPU that workers are pinned to, and why that one; absent where pinning is impossible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned_cpu: Option<u32>,
    /// Why that CPU, or why none.
    pub pinning: String,
}

/// What is to be measured and how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Seed of all inputs and of the order of measurement.
    pub seed: u64,
    /// Wanted relative half-width of a case's interval.
    pub epsilon: f64,
    /// Seconds of measuring after which no new process is begun.
    pub budget_s: f64,
    /// Processes every case gets before precision is judged.
    pub minimum_processes: u32,
    /// Blocks of a case in one process.
    pub blocks: u32,
    /// Length of a block in nanoseconds.
    pub block_ns: u64,
    /// The cases; other records name them by their place in this list.
    pub cases: Vec<Case>,
}

/// One row of the final table: a subject, an operation, a mode.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Case {
    /// The worker's library.
    pub worker: String,
    /// [`SubjectInfo::id`] within the worker.
    pub subject: String,
    /// Catalog id of the parameter set.
    pub parameter_set: String,
    /// Variant of the implementation.
    pub variant: String,
    /// The operation.
    pub operation: Operation,
    /// What else changes its cost.
    pub mode: Mode,
}

/// One implementation of one parameter set, as its worker introduced it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// The worker's library.
    pub library: LibraryInfo,
    /// How the worker was built.
    pub build: Build,
    /// The subject.
    pub subject: SubjectInfo,
}

/// A fresh worker process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// Number of the process within the run, from 0.
    pub process: u32,
    /// The round it belongs to, from 0.
    pub round: u32,
    /// The worker's library.
    pub worker: String,
    /// The clock as measured in this process.
    pub clock: ClockReport,
    /// Seconds since the run began.
    pub at_s: f64,
}

/// A subject's correctness gate in one process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateRecord {
    /// [`Process::process`].
    pub process: u32,
    /// The worker's library.
    pub worker: String,
    /// What was checked and found.
    #[serde(flatten)]
    pub report: GateReport,
}

/// Raw samples of one case in one process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RawBlock {
    /// Place of the case in [`Plan::cases`].
    pub case: u32,
    /// [`Process::process`].
    pub process: u32,
    /// Seconds since the run began, when the block arrived.
    pub at_s: f64,
    /// The samples.
    pub block: Block,
}

/// End of one case's measurement in one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredRecord {
    /// Place of the case in [`Plan::cases`].
    pub case: u32,
    /// [`Process::process`].
    pub process: u32,
    /// What the worker said of it.
    pub measured: Measured,
}

/// What kind of thing went wrong with a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// It could not be started.
    NotStarted,
    /// It ended, by a signal or by itself, before it answered.
    Died,
    /// It did not answer in time.
    Hung,
    /// It said something that is no message of the protocol, or not an answer to the question.
    Garbage,
    /// What it reported cannot be true, such as more time than passed.
    Implausible,
    /// It refused a request, with its own reason.
    Refused,
    /// Its correctness gate failed.
    GateFailed,
}

impl FaultKind {
    /// The words used on screen.
    pub const fn words(self) -> &'static str {
        match self {
            FaultKind::NotStarted => "could not be started",
            FaultKind::Died => "died",
            FaultKind::Hung => "hung",
            FaultKind::Garbage => "spoke garbage",
            FaultKind::Implausible => "reported the impossible",
            FaultKind::Refused => "refused",
            FaultKind::GateFailed => "failed its correctness gate",
        }
    }
}

/// Something went wrong with a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The worker's library.
    pub worker: String,
    /// [`Process::process`], where a process was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// The subject concerned, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Place of the case in [`Plan::cases`], where one was being measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<u32>,
    /// What kind.
    pub kind: FaultKind,
    /// What happened, quoting the worker.
    pub detail: String,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Every case reached the wanted precision, or can gain nothing more.
    Precise,
    /// The budget was spent.
    Budget,
}

/// Last line of a run that ended by itself. A run without one was interrupted and can be resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Footer {
    /// Why it ended.
    pub ended: Ended,
    /// Seconds of measuring, over all sittings.
    pub measured_s: f64,
    /// CPU seconds the lab itself used in the last sitting; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab_cpu_s: Option<f64>,
    /// Peak resident memory of the lab in bytes; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab_peak_rss_bytes: Option<u64>,
}
