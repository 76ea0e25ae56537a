//! A worker that crashes, hangs, talks nonsense or lies costs its own rows and nothing else.

use crate::workshop::{Aftermath, HONEST, Workshop};
use pqlab_catalog::Operation;
use pqlab_lab::Limits;
use pqlab_runfile::FaultKind::{self, *};
use std::time::Duration;

/// Patience for what is expected to answer, even on a machine with other things to do.
const PATIENT: Limits = Limits {
    hello: Duration::from_secs(60),
    gate: Duration::from_secs(60),
    measure_silence: Duration::from_secs(60),
    memory_bytes: 1 << 30,
};

/// Patience for what is expected to hang; an honest worker needs a tenth of it.
const IMPATIENT: Limits = Limits {
    hello: Duration::from_secs(3),
    gate: Duration::from_secs(3),
    measure_silence: Duration::from_secs(3),
    memory_bytes: 1 << 30,
};

fn beside_honest(saboteur: &str) -> Aftermath {
    Workshop::with(&[saboteur]).measure("x25519", Operation::Derive, &PATIENT)
}

/// The saboteur's only row is lost, and its fault says why; the honest row is as it should be.
fn costs_only_its_row(saboteur: &str, kind: FaultKind, words: &str) {
    let aftermath = beside_honest(saboteur);
    aftermath.assert_fault(saboteur, kind, words);
    aftermath.assert_honest_is_unharmed();
}

fn is_not_admitted(saboteur: &str, kind: FaultKind, words: &str) {
    beside_honest(saboteur).assert_not_admitted(saboteur, kind, words);
}

#[test]
fn honest_workers_have_no_faults() {
    let aftermath = Workshop::with(&[]).measure("x25519", Operation::Derive, &PATIENT);
    aftermath.assert_honest_is_unharmed();
    assert_eq!(aftermath.unusable, []);
}

#[test]
fn killed_by_a_signal() {
    is_not_admitted("segfault-at-hello", Died, "signal 11 (SIGSEGV");
    costs_only_its_row("segfault-at-gate", Died, "signal 11 (SIGSEGV");
    costs_only_its_row("segfault-at-measure", Died, "signal 11 (SIGSEGV");
    costs_only_its_row("abort-at-measure", Died, "signal 6 (SIGABRT");
    costs_only_its_row("illegal-instruction-at-gate", Died, "signal 4 (SIGILL");
    costs_only_its_row("kill-at-measure", Died, "signal 9 (SIGKILL");
}

#[test]
fn exits_early() {
    let last_words = r#"exited with status 7; its last words: "I have had enough.\u{1b}[2J""#;
    is_not_admitted("early-exit-at-hello", Died, last_words);
    costs_only_its_row("early-exit-at-measure", Died, last_words);
}

#[test]
fn panics_in_the_library() {
    costs_only_its_row("panic", Died, r"this library panics\u{1b}[31m");
}

#[test]
fn closes_its_output_and_lives_on() {
    costs_only_its_row("closed-output-at-gate", Died, "it closed its output and went on running");
}

#[test]
fn takes_all_memory() {
    costs_only_its_row("memory-at-measure", Died, "signal 6 (SIGABRT");
}

/// The block that came whole stays in the file, and counts for nothing.
#[test]
fn dies_in_the_middle_of_a_block() {
    let aftermath = beside_honest("half-a-line-at-measure");
    aftermath.assert_fault("half-a-line-at-measure", Died, "signal 11 (SIGSEGV");
    aftermath.assert_honest_is_unharmed();
    let fault = aftermath.faults_of("half-a-line-at-measure")[0];
    let of_the_dead = |case, process| Some(case) == fault.case && Some(process) == fault.process;
    assert!(aftermath.run.blocks.iter().any(|block| of_the_dead(block.case, block.process)));
}

#[test]
fn hangs() {
    for (saboteur, limits) in [
        ("hang-at-gate", Limits { gate: IMPATIENT.gate, ..PATIENT }),
        ("hang-at-measure", Limits { measure_silence: IMPATIENT.measure_silence, ..PATIENT }),
    ] {
        let aftermath = Workshop::with(&[saboteur]).measure("x25519", Operation::Derive, &limits);
        aftermath.assert_fault(saboteur, Hung, "no answer in 3 s");
        aftermath.assert_honest_is_unharmed();
    }
}

#[test]
fn hangs_before_it_says_hello() {
    let limits = Limits { hello: IMPATIENT.hello, ..PATIENT };
    let workshop = Workshop::with(&["hang-at-hello"]);
    let aftermath = workshop.measure("x25519", Operation::Derive, &limits);
    aftermath.assert_not_admitted("hang-at-hello", Hung, "no answer in 3 s");
}

/// [`Workshop::measure`] fails if the child is left running.
#[test]
fn hangs_and_leaves_a_child_behind() {
    let limits = Limits { gate: IMPATIENT.gate, ..PATIENT };
    let workshop = Workshop::with(&["hang-with-a-child-at-gate"]);
    let aftermath = workshop.measure("x25519", Operation::Derive, &limits);
    aftermath.assert_fault("hang-with-a-child-at-gate", Hung, "no answer in 3 s");
    aftermath.assert_honest_is_unharmed();
}

#[test]
fn prints_garbage() {
    let quoted = r#""\u{1b}[31mcore temperature nominal\u{7}""#;
    is_not_admitted("garbage-at-hello", Garbage, quoted);
    costs_only_its_row("garbage-at-gate", Garbage, quoted);
    costs_only_its_row("garbage-at-measure", Garbage, quoted);
    costs_only_its_row("binary-garbage-at-measure", Garbage, "a line that is not UTF-8");
    costs_only_its_row("deep-garbage-at-gate", Garbage, r#""[[["#);
    costs_only_its_row("another-message-at-gate", Garbage, "unknown variant `dance`");
}

#[test]
fn floods() {
    is_not_admitted("endless-line-at-hello", Garbage, "a line of more than 8388608 bytes");
    costs_only_its_row("endless-line-at-measure", Garbage, "a line of more than 8388608 bytes");
    is_not_admitted("endless-blocks-at-hello", Implausible, "before it was asked to measure");
    costs_only_its_row("endless-blocks-at-gate", Implausible, "when asked for its gate");
    costs_only_its_row("endless-blocks-at-measure", Implausible, "more than the 2 blocks");
}

#[test]
fn chatter_on_standard_error_is_no_fault() {
    let aftermath = beside_honest("chatter-on-stderr");
    aftermath.assert_honest_is_unharmed();
    assert_eq!(aftermath.processes_of("chatter-on-stderr"), 6);
    assert_eq!(aftermath.run.faults, []);
}

#[test]
fn answers_another_question() {
    is_not_admitted("wrong-id", Garbage, "it answered request 2 when asked 1");
    costs_only_its_row("everything-twice", Garbage, "it answered request 1 when asked 2");
    costs_only_its_row("gate-of-another", Garbage, "the gate of another subject");
}

#[test]
fn refuses_with_control_characters() {
    let reason = r"\u{1b}[2J\u{1b}]0;owned\u{7}no\nand again no";
    is_not_admitted("rude-refusal-at-hello", Refused, reason);
    costs_only_its_row("rude-refusal-at-measure", Refused, reason);
}

#[test]
fn speaks_another_protocol() {
    is_not_admitted("old-protocol", Garbage, "it speaks protocol 0, the lab speaks 1");
}

#[test]
fn introduces_itself_badly() {
    is_not_admitted("rude-name", Garbage, r#""1\u{1b}[2J""#);
    is_not_admitted("unknown-set", Garbage, r#""rot13\u{1b}[31m", which is not in the catalog"#);
    is_not_admitted("offers-twice", Garbage, "it offers 'test/ed25519' twice");
}

#[test]
fn lies_about_its_clock() {
    is_not_admitted("stopped-clock", Implausible, "0 ticks a second");
    is_not_admitted("other-clock", Implausible, "ticks a second");
    is_not_admitted("huge-overhead", Implausible, "an empty call");
    is_not_admitted("negative-overhead", Implausible, "an empty call");
}

#[test]
fn is_another_in_each_process() {
    let words = "it introduces itself otherwise than before";
    costs_only_its_row("changing-version", Implausible, words);
}

#[test]
fn lies_about_time() {
    costs_only_its_row("lie-about-time", Implausible, "s in a block that arrived after");
    costs_only_its_row("zero-time", Implausible, "no time at all");
    costs_only_its_row("empty-block", Implausible, "a block without samples");
    costs_only_its_row("no-blocks", Implausible, "it sent 0 blocks and counts");
    costs_only_its_row("miscounted-blocks", Implausible, "blocks and counts");
}

/// The other algorithm of the same worker is right and is measured.
#[test]
fn computes_wrongly() {
    let words = "shared-secrets-equal: the two sides differ";
    costs_only_its_row("wrong-secret", GateFailed, words);
    costs_only_its_row("gate-without-checks", GateFailed, "it checked nothing");
    costs_only_its_row("wrong-when-timed", Refused, "differs from the peer's while timed");
    for (saboteur, words) in [
        ("accept-everything", "tamper-rejection: signature with its first byte changed"),
        ("reject-everything", "round-trip: a valid signature was rejected"),
    ] {
        let workshop = Workshop::with(&[saboteur]);
        let aftermath = workshop.measure("ed25519", Operation::Verify, &PATIENT);
        aftermath.assert_fault(saboteur, GateFailed, words);
        aftermath.assert_honest_is_unharmed();
    }
}

#[test]
fn is_right_in_one_algorithm_and_wrong_in_the_other() {
    let aftermath = beside_honest("accept-everything");
    assert_eq!(aftermath.processes_of("accept-everything"), 6);
    aftermath.assert_honest_is_unharmed();
}

#[test]
fn vanishes_before_the_run() {
    let workshop = Workshop::with(&["accept-everything"]);
    let remove = || std::fs::remove_file(workshop.program("accept-everything")).unwrap();
    let aftermath = workshop.measure_after("x25519", Operation::Derive, &PATIENT, |_| remove());
    aftermath.assert_fault("accept-everything", NotStarted, "No such file");
    aftermath.assert_honest_is_unharmed();
}

#[test]
fn is_no_program() {
    let workshop = Workshop::with(&[]);
    std::fs::write(workshop.program("text"), "not a program").unwrap();
    let aftermath = workshop.measure("x25519", Operation::Derive, &PATIENT);
    aftermath.assert_not_admitted("text", NotStarted, "Permission denied");
}

#[test]
fn takes_the_name_of_another() {
    let workshop = Workshop::with(&[]);
    std::fs::create_dir(workshop.folder().join("elsewhere")).unwrap();
    // A script that starts the honest worker under the name of the first.
    let script = format!(
        "#!/bin/bash\nexec -a {} {}\n",
        workshop.program(HONEST).display(),
        env!("CARGO_BIN_EXE_honest-worker")
    );
    let program = workshop.program("impostor");
    std::fs::write(&program, script).unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let aftermath = workshop.measure("x25519", Operation::Derive, &PATIENT);
    aftermath.assert_not_admitted("impostor", Garbage, "a second worker calls itself 'honest'");
}

/// All at once: every fault is its own worker's, and the honest row is still right.
#[test]
fn many_saboteurs_at_once() {
    let saboteurs = [
        "segfault-at-measure",
        "early-exit-at-gate",
        "garbage-at-measure",
        "lie-about-time",
        "miscounted-blocks",
        "wrong-secret",
        "panic",
    ];
    let aftermath = Workshop::with(&saboteurs).measure("x25519", Operation::Derive, &PATIENT);
    for saboteur in saboteurs {
        assert!(!aftermath.faults_of(saboteur).is_empty(), "{saboteur} has no fault");
        assert_eq!(aftermath.processes_of(saboteur), 0);
    }
    aftermath.assert_honest_is_unharmed();
}
