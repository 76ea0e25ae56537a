//! What the lab asks.

use pqlab_catalog::Operation;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One line from the lab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Repeated in every reply to this request.
    pub id: u64,
    /// What is asked.
    #[serde(flatten)]
    pub ask: Ask,
}

/// The kinds of request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Ask {
    /// Who are you, and what do you offer? Always first.
    Hello(HelloRequest),
    /// Prove a subject correct in this process.
    Gate(GateRequest),
    /// Time one operation of a subject that passed its gate in this process.
    Measure(MeasureRequest),
}

/// The lab's greeting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HelloRequest {
    /// [`VERSION`](crate::VERSION) of the lab.
    pub protocol: u32,
    /// The clock to use, calibrated once by the lab so that no worker spends 200 ms on it; absent
    /// when the worker runs on another machine and must calibrate its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
}

/// A calibrated clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// `tsc`, `cntvct` or `monotonic`.
    pub kind: String,
    /// Ticks in one second.
    pub ticks_per_second: f64,
}

/// Asks for the correctness gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateRequest {
    /// [`SubjectInfo::id`](crate::SubjectInfo::id).
    pub subject: String,
    /// Seed of the gate's keys and messages.
    pub seed: u64,
}

/// How keys enter an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyForm {
    /// As encoded bytes; decoding them is part of the operation.
    Encoded,
    /// Decoded or expanded beforehand and used many times.
    Prepared,
}

impl KeyForm {
    /// The word used on screen and in files.
    pub const fn name(self) -> &'static str {
        match self {
            KeyForm::Encoded => "encoded",
            KeyForm::Prepared => "prepared",
        }
    }
}

impl fmt::Display for KeyForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What besides algorithm and operation changes the cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mode {
    /// How keys enter.
    pub key_form: KeyForm,
    /// Bytes of the message that is signed or verified; 0 for kems and key exchanges.
    pub message_bytes: u32,
}

/// Asks for blocks of timed samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasureRequest {
    /// [`SubjectInfo::id`](crate::SubjectInfo::id).
    pub subject: String,
    /// The operation to time.
    pub operation: Operation,
    /// How it is used.
    pub mode: Mode,
    /// Seed of the list of inputs; the same seed gives every implementation the same list.
    pub seed: u64,
    /// Blocks wanted.
    pub blocks: u32,
    /// Length of a block in nanoseconds; a block holds at least one sample.
    pub block_ns: u64,
    /// Longest warm-up in nanoseconds.
    pub warm_up_ns: u64,
    /// No new block is begun after this many nanoseconds of measuring, once there is one.
    pub max_ns: u64,
}
