//! Ctrl-C keeps everything, says how to go on, and `--resume` goes on.

use crate::program::{Said, pqlab_run, said, signal, started, wait_for};
use crate::workshop::Workshop;
use pqlab_runfile::Run;
use rustix::process::Signal;

#[test]
fn ctrl_c_keeps_everything_and_resume_finishes() {
    stopped_by(Signal::INT);
}

#[test]
fn a_system_that_shuts_down_is_no_worse_than_ctrl_c() {
    stopped_by(Signal::TERM);
}

fn stopped_by(stop: Signal) {
    let workshop = Workshop::with(&[]);
    let file = workshop.output();
    let path = file.to_str().unwrap();
    let words = ["x25519", "--op", "derive", "--precision", "0.0001", "--budget", "4"];
    let lab = started(pqlab_run(&workshop, &[&words[..], &["--output", path]].concat()));
    let before = wait_for(&file, |run| run.blocks.len() >= 3);
    signal(&lab, stop);
    let stopped: Said = lab.wait_with_output().unwrap().into();

    assert_eq!(stopped.code, Some(1), "{}", stopped.errors);
    let advice = format!("pqlab run --resume {path}");
    assert!(stopped.errors.contains(&advice), "{}", stopped.errors);
    assert!(stopped.output.contains("X25519"), "{}", stopped.output);
    assert!(stopped.output.contains("unfinished"), "{}", stopped.output);
    workshop.assert_no_worker_survives();
    let kept = Run::read(&file).unwrap();
    assert_eq!((kept.broken.as_ref(), kept.footer.as_ref()), (None, None));
    assert_eq!(kept.blocks[..before.blocks.len()], before.blocks);

    let resumed = said(pqlab_run(&workshop, &["--resume", path]));
    assert!(matches!(resumed.code, Some(0 | 4)), "{}", resumed.errors);
    let run = Run::read(&file.with_extension("jsonl.zst")).unwrap();
    assert_eq!(run.blocks[..kept.blocks.len()], kept.blocks);
    assert!(run.blocks.len() > kept.blocks.len());
    assert!(run.footer.is_some());
    let numbers: Vec<u32> = run.processes.iter().map(|process| process.process).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "a process number came twice: {numbers:?}");
}

/// The lab waits two minutes for a hung worker; a person who wants to stop does not.
#[test]
fn ctrl_c_does_not_wait_for_a_hung_worker() {
    let workshop = Workshop::with(&["hang-at-measure"]);
    let file = workshop.output();
    let path = file.to_str().unwrap();
    let words = ["x25519", "--op", "derive", "--impl", "hang-at-measure", "--output", path];
    let lab = started(pqlab_run(&workshop, &words));
    // After its gate comes the question that it does not answer.
    wait_for(&file, |run| !run.gates.is_empty());
    signal(&lab, Signal::INT);
    let stopped: Said = lab.wait_with_output().unwrap().into();
    assert_eq!(stopped.code, Some(1), "{}", stopped.errors);
    assert!(stopped.errors.contains("--resume"), "{}", stopped.errors);
    assert_eq!(Run::read(&file).unwrap().faults, [], "it was given up, not interrupted");
    workshop.assert_no_worker_survives();
}
