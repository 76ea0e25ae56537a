//! The one error of this crate: something the machine does not offer, in words to act on.

use serde::{Deserialize, Serialize};

/// Something this machine, kernel or account does not offer, why, and what a person can do.
///
/// It travels with the results it qualifies (hence serde), so the words must stand alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{what}: {reason}; {remedy}")]
pub struct Unavailable {
    /// What was asked for, for instance "hardware counters".
    pub what: String,
    /// Why it cannot be had, quoting the value or error that says so.
    pub reason: String,
    /// What to do about it, as a command where one exists.
    pub remedy: String,
}

impl Unavailable {
    /// Builds the error from its three sentences.
    pub(crate) fn new(
        what: impl Into<String>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Unavailable { what: what.into(), reason: reason.into(), remedy: remedy.into() }
    }
}
