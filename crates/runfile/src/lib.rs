//! The run file: one file a run, one JSON object a line, appended and never rewritten. It holds
//! everything measured and everything known about the machine; every table is computed from it.
//!
//! This crate writes, resumes and reads it, and turns raw ticks into nanoseconds and core cycles
//! ([`values`]). It does no statistics beyond the medians that define a process's value, and it
//! formats nothing for people. docs/RUNFILE.md is the reference.

mod read;
mod record;
pub mod values;
mod write;

pub use read::{Break, ReadError, Run};
pub use record::{
    Case, Ended, Fault, FaultKind, Footer, GateRecord, Header, MeasuredRecord, Plan, Process,
    RawBlock, Record, Subject,
};
pub use write::{RunWriter, WriteError};

/// The run file's format name, in every header.
pub const FORMAT: &str = "pqlab-run";

/// The run file's version. Readers refuse a newer one and keep what they do not know of an older.
pub const VERSION: u32 = 1;
