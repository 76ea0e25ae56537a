//! `worker --self-check`: the gate over every subject, one line each, for the person who is
//! writing the worker.

use crate::session::Session;
use crate::{Library, Subject, gate};
use pqlab_protocol::CheckOutcome;
use std::process::ExitCode;

/// The seed of a self-check: any will do, one that stays makes failures repeat.
const SEED: u64 = 1;

pub(crate) fn run(library: &Library, subjects: &[Subject]) -> ExitCode {
    println!("{} {} ({})", library.name, library.version, library.package);
    let failed = subjects.iter().filter(|subject| !subject_passes(subject)).count();
    println!("{} subjects, {failed} failed", subjects.len());
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(3) }
}

fn subject_passes(subject: &Subject) -> bool {
    let mut session = match Session::open(subject) {
        Ok(session) => session,
        Err(failure) => {
            println!("FAILED {:<40} cannot be made: {failure}", subject.id());
            return false;
        }
    };
    let report = gate::run(&mut session, SEED);
    let remarks: Vec<String> = report
        .checks
        .iter()
        .filter(|check| check.outcome != CheckOutcome::Passed)
        .map(|check| format!("{}: {}", check.name, check.detail))
        .collect();
    let passed = report.checks.len() - remarks.len();
    let verdict = if report.passed() { "passed" } else { "FAILED" };
    println!("{verdict} {:<40} {passed:>2} checks  {}", subject.id(), remarks.join("; "));
    report.passed()
}
