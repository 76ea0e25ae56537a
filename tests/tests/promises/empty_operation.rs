//! An operation that does nothing takes no time: what the loop itself costs is measured and
//! subtracted, and what is left is the error of every figure.

use crate::workshop::Workshop;
use pqlab_catalog::Operation;
use pqlab_lab::Limits;

/// Each process measures the empty operation twice, 5 000 times each; the difference of the two is
/// not a time on the wall. The median leaves out a process that was disturbed between them.
#[test]
fn an_empty_operation_reads_zero_within_a_nanosecond() {
    let aftermath = Workshop::with(&[]).measure("x25519", Operation::Derive, &Limits::default());
    let mut residuals: Vec<f64> =
        aftermath.run.processes.iter().map(|process| process.clock.empty_operation_ns).collect();
    residuals.sort_by(f64::total_cmp);
    assert!(residuals.len() >= 6);
    let median = residuals[residuals.len() / 2];
    assert!(median.abs() <= 1.0, "{residuals:?}");
}
