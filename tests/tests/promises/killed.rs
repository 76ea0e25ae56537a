//! `kill -9` of the lab at a random moment loses no finished block, and the run can be resumed.

use crate::program::{pqlab_run, said};
use crate::workshop::Workshop;
use pqlab_report::Results;
use pqlab_runfile::Run;
use pqlab_worker::derive_seed;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const KILLS: u64 = 20;

/// Changes all twenty moments; any number will do.
const SEED: u64 = 20;

/// When to kill, after the start: from before the first record to the middle of a round.
fn moment(kill: u64) -> Duration {
    let thousandths = derive_seed(SEED, kill) % 1_000;
    // Squared, so that early moments, where more happens, are more frequent.
    Duration::from_millis(50 + 1_500 * thousandths * thousandths / 1_000_000)
}

#[test]
fn twenty_kills_lose_nothing() {
    let workshop = Workshop::with(&[]);
    let file = workshop.output();
    let path = file.to_str().unwrap();
    let mut kept = Vec::new();
    let mut blocks_at_kills = Vec::new();
    for kill in 0..KILLS {
        // The budget is more than twenty sittings can spend; no row is ever precise enough.
        let first = ["x25519", "ed25519", "--budget", "15", "--precision", "0.0001", "--output"];
        let mut words = vec!["--resume"];
        if kept.is_empty() {
            // Killed before the header was written: there is nothing to go on with.
            let _ = std::fs::remove_file(&file);
            words = first.to_vec();
        }
        words.push(path);
        let mut lab = pqlab_run(&workshop, &words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(moment(kill));
        let seen = whole_lines(&file);
        lab.kill().unwrap();
        let code = lab.wait().unwrap().code();
        assert_eq!(code, None, "kill {kill}: it ended by itself, with {code:?}");
        workshop.assert_no_worker_survives();

        let found = whole_lines(&file);
        assert!(seen.starts_with(&kept), "kill {kill}: resuming changed what was there");
        assert!(found.starts_with(&seen), "kill {kill}: it took what was written");
        kept = found;
        if !kept.is_empty() {
            let run = Run::read(&file).unwrap();
            assert_eq!(records_in(&run), kept.iter().filter(|byte| **byte == b'\n').count());
            blocks_at_kills.push(run.blocks.len());
        }
    }
    assert!(blocks_at_kills.last() > Some(&0), "nothing was ever measured: {blocks_at_kills:?}");

    let last = said(pqlab_run(&workshop, &["--resume", path]));
    assert!(matches!(last.code, Some(0 | 4)), "{}", last.errors);
    assert!(!file.exists(), "the finished run is packed");
    let run = Run::read(&file.with_extension("jsonl.zst")).unwrap();
    assert!(run.footer.is_some() && run.broken.is_none());
    assert!(run.blocks.len() >= *blocks_at_kills.last().unwrap());
    let rows = Results::of(&run).rows;
    assert_eq!(rows.len(), 5);
    assert!(rows.iter().all(|row| row.ns_per_op.is_some() && row.fault.is_none()));
}

/// The file without the line that may be being written.
fn whole_lines(file: &Path) -> Vec<u8> {
    let mut bytes = std::fs::read(file).unwrap_or_default();
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    bytes.truncate(end);
    bytes
}

fn records_in(run: &Run) -> usize {
    1 + run.subjects.len()
        + run.processes.len()
        + run.gates.len()
        + run.blocks.len()
        + run.measured.len()
        + run.faults.len()
        + usize::from(run.footer.is_some())
}
