//! Bad input gives one clear sentence that names the thing and the remedy, and the exit code that
//! `pqlab --help` promises.

use crate::program::{Said, pqlab, pqlab_run, said};
use crate::workshop::Workshop;
use pqlab_runfile::Run;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One sentence on standard error, with these words in it, nothing on standard output.
fn complains(said: &Said, code: i32, words: &[&str]) {
    assert_eq!(said.code, Some(code), "{}", said.errors);
    assert_eq!(said.output, "");
    let sentence = said.errors.strip_prefix("pqlab: ").expect("it says who speaks");
    assert_eq!(sentence.matches('\n').count(), 1, "more than a line: {sentence}");
    assert!(!sentence.trim_end().contains(char::is_control), "{sentence:?}");
    assert!(sentence.matches("os error").count() <= 1, "a cause is told twice: {sentence}");
    for word in words {
        assert!(sentence.contains(word), "{word:?} is not in {sentence:?}");
    }
}

/// What clap says of a command line: it names the word and ends with where to find help.
fn complains_of_usage(said: &Said, words: &[&str]) {
    assert_eq!(said.code, Some(2), "{}", said.errors);
    assert!(said.errors.starts_with("error: "), "{}", said.errors);
    for word in words {
        assert!(said.errors.contains(word), "{word:?} is not in {:?}", said.errors);
    }
}

fn run(words: &[&str]) -> Said {
    said(pqlab_run(&Workshop::with(&[]), words))
}

fn show(file: &Path) -> Said {
    said(pqlab([Path::new("show"), file]))
}

fn small() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/small.pqlab.jsonl")
}

#[test]
fn an_unknown_algorithm_is_answered_with_the_nearest_names() {
    complains(&run(&["falcon-521"]), 2, &["'falcon-521'", "did you mean falcon-512", "pqlab list"]);
    complains(&said(pqlab(["list", "mlkem786"])), 2, &["'mlkem786'", "did you mean ml-kem-768"]);
    complains(&run(&["qqqqqq"]), 2, &["'qqqqqq'", "pqlab list"]);
}

#[test]
fn a_bad_command_line_is_a_matter_of_usage() {
    complains_of_usage(&said(pqlab(["run", "--quickly"])), &["--quickly", "--help"]);
    complains_of_usage(&run(&["x25519", "--op", "dance"]), &["dance", "keygen"]);
    complains_of_usage(&run(&["--level", "7"]), &["7", "1..=5"]);
    for budget in ["0", "-1", "nan", "inf", "soon"] {
        let word = format!("--budget={budget}");
        complains_of_usage(&run(&[&word]), &[budget, "a number of seconds above 0"]);
    }
    for precision in ["0", "100", "nan", "fine"] {
        let word = format!("--precision={precision}");
        complains_of_usage(&run(&[&word]), &[precision, "a percentage between 0 and 100"]);
    }
    complains_of_usage(&said(pqlab(["show"])), &["<RUN>"]);
    complains_of_usage(&run(&["x25519", "--resume", "old.jsonl"]), &["--resume"]);
    complains_of_usage(&said(pqlab(["dance"])), &["dance"]);
}

#[test]
fn an_unknown_implementation_is_answered_with_those_that_exist() {
    complains(&run(&["x25519", "--impl", "libqos"]), 2, &["'libqos'", "there are: honest, test"]);
}

#[test]
fn a_selection_that_excludes_itself_is_a_matter_of_usage() {
    complains(&run(&["ml-kem-768", "--kind", "signature"]), 2, &["ml-kem-768 --kind signature"]);
}

#[test]
fn an_algorithm_that_no_worker_here_has_is_an_error() {
    complains(&run(&["falcon-512"]), 1, &["falcon-512", "pqlab list"]);
}

#[test]
fn a_folder_without_workers_is_an_error() {
    let empty = tempfile::tempdir().unwrap();
    let folder = empty.path().to_str().unwrap();
    let errors = said(pqlab(["run", "x25519", "--workers", folder]));
    complains(&errors, 1, &[folder, "there is no usable worker", "./pqlab run"]);
}

/// Below a file there can be no folder, not even for root, as whom tests often run.
#[test]
fn an_unwritable_folder_is_an_error() {
    let workshop = Workshop::with(&[]);
    let file = workshop.folder().join("a-file");
    std::fs::write(&file, "").unwrap();
    let output = file.join("run.jsonl");
    let path = output.to_str().unwrap();
    let errors = said(pqlab_run(&workshop, &["x25519", "--output", path]));
    complains(&errors, 1, &["cannot create the run file", path, "--output"]);
}

#[test]
fn an_existing_file_is_never_overwritten() {
    let workshop = Workshop::with(&[]);
    std::fs::write(workshop.output(), "precious").unwrap();
    let path = workshop.output();
    let words = ["x25519", "--output", path.to_str().unwrap()];
    complains(&said(pqlab_run(&workshop, &words)), 1, &[words[2], "exists", "--output"]);
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}

#[test]
fn a_file_that_is_no_run_is_named_and_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("some.file");
    let path = file.to_str().unwrap();
    complains(&show(&file), 1, &[path, "No such file"]);
    complains(&show(folder.path()), 1, &["cannot read the run file", "directory"]);
    for (content, words) in [
        (&b""[..], "it is empty"),
        (b"a letter\n", "\"a letter\\n\""),
        (b"\x1b[2J\x07\n", "\\u{1b}[2J"),
        (b"\x7fELF\x02\x01\x01\0\0\0\xff\xfe\n", "is not a pqlab run file"),
        (b"{\"record\":\"footer\",\"ended\":\"budget\",\"measured_s\":1}\n", "begin with a header"),
        (b"{\"some\":\"json\"}\n", "missing field `record`"),
        (b"[[[[\n", "is not a pqlab run file"),
        (b"\x28\xb5\x2f\xfdnot really zstd", "is not a pqlab run file"),
    ] {
        std::fs::write(&file, content).unwrap();
        complains(&show(&file), 1, &[path, words]);
    }
    let header = std::fs::read(small()).unwrap();
    std::fs::write(&file, &header[..100]).unwrap();
    complains(&show(&file), 1, &[path, "cut off"]);
}

#[test]
fn a_file_of_a_later_version_asks_for_a_later_pqlab() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("later.jsonl");
    let today = std::fs::read_to_string(small()).unwrap();
    let with_other_fields = r#"{"record":"header","format":"pqlab-run","version":9}"#.to_owned();
    for later in [today.replacen("\"version\":1", "\"version\":9", 1), with_other_fields + "\n"] {
        std::fs::write(&file, later).unwrap();
        complains(&show(&file), 1, &["has format version 9", "use a newer one"]);
    }
}

#[test]
fn a_truncated_file_is_shown_up_to_the_break() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("truncated.jsonl");
    let whole = std::fs::read(small()).unwrap();
    std::fs::write(&file, &whole[..whole.len() - 150]).unwrap();
    let shown = show(&file);
    assert_eq!((shown.code, shown.errors.as_str()), (Some(0), ""));
    assert!(shown.output.contains("broken off at line"), "{}", shown.output);
    assert!(shown.output.contains("X25519"), "{}", shown.output);

    let packed = zstd::encode_all(&whole[..], 3).unwrap();
    std::fs::write(&file, &packed[..packed.len() - 20]).unwrap();
    let shown = show(&file);
    assert!(shown.code == Some(0) || shown.errors.contains("is not a pqlab run file"));
    assert!(!shown.errors.contains("panicked"), "{}", shown.errors);
}

#[test]
fn a_finished_run_is_not_resumed() {
    let workshop = Workshop::with(&[]);
    std::fs::copy(small(), workshop.output()).unwrap();
    let path = workshop.output();
    let errors = said(pqlab_run(&workshop, &["--resume", path.to_str().unwrap()]));
    complains(&errors, 1, &["nothing to resume", "pqlab show"]);
    assert_eq!(std::fs::read(path).unwrap(), std::fs::read(small()).unwrap());
}

/// A run file is not believed: going on with one that was tampered with ends, in whatever way, by
/// itself.
#[test]
fn resuming_a_file_of_absurd_numbers_is_no_panic() {
    let lines = std::fs::read_to_string(small()).unwrap();
    let unfinished = &lines[..lines.trim_end().rfind('\n').unwrap() + 1];
    let absurd = unfinished
        .replace("\"process\":14,", "\"process\":4294967295,")
        .replace("\"round\":5,", "\"round\":4294967295,")
        .replace(
            "\"blocks\":2,\"block_ns\":10000000",
            "\"blocks\":4294967295,\"block_ns\":18446744073709551615",
        );
    let workshop = Workshop::with(&[]);
    std::fs::write(workshop.output(), absurd).unwrap();
    let said = said(pqlab_run(&workshop, &["--resume", workshop.output().to_str().unwrap()]));
    assert_eq!(said.code, Some(3), "{}", said.errors);
    assert!(said.errors.contains("of this run is not here any more"), "{}", said.errors);
}

/// A limit on the size of files stands in for a full disk: the write fails in the same way, in the
/// middle of a line, and nobody has to mount anything.
#[test]
fn a_full_disk_keeps_what_was_written_and_the_run_can_go_on() {
    let workshop = Workshop::with(&[]);
    let path = workshop.output();
    let words = ["x25519", "--op", "derive", "--budget", "6", "--precision", "0.0001"];
    let run = pqlab_run(&workshop, &[&words[..], &["--output", path.to_str().unwrap()]].concat());
    let mut limited = Command::new("bash");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 24; exec \"$@\"", "bash"])
        .arg(run.get_program())
        .args(run.get_args());
    let errors = said(limited);
    assert_eq!(errors.code, Some(1), "{}", errors.errors);
    let last = errors.errors.lines().last().unwrap();
    let sentence = ["pqlab: cannot write to the run file", "File too large", "is safe", "--resume"];
    assert!(sentence.iter().all(|words| last.contains(words)), "{}", errors.errors);
    workshop.assert_no_worker_survives();

    let kept = Run::read(&path).unwrap();
    assert!(!kept.blocks.is_empty());
    assert!(kept.faults.is_empty(), "the disk is nobody's fault: {:?}", kept.faults);
    let resumed = said(pqlab_run(&workshop, &["--resume", path.to_str().unwrap()]));
    assert!(matches!(resumed.code, Some(0 | 4)), "{}", resumed.errors);
    let finished = Run::read(&path.with_extension("jsonl.zst")).unwrap();
    assert_eq!(finished.blocks[..kept.blocks.len()], kept.blocks);
    assert!(finished.blocks.len() > kept.blocks.len());
}

/// A wrong library costs its rows; the run is complete, and its exit code says that a gate failed.
#[test]
fn a_failed_gate_is_exit_code_three() {
    let workshop = Workshop::with(&["wrong-secret"]);
    let path = workshop.output();
    let words = ["x25519", "--op", "derive", "--precision", "90", "--output"];
    let run = pqlab_run(&workshop, &[&words[..], &[path.to_str().unwrap()]].concat());
    let said = said(run);
    assert_eq!(said.code, Some(3), "{}", said.errors);
    assert!(said.output.contains("wrong-secret"), "{}", said.output);
    assert!(said.errors.contains("failed its correctness gate"), "{}", said.errors);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for words in [&["list"][..], &["list", "--json"], &["show", small().to_str().unwrap()]] {
        let mut child = pqlab(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let said: Said = child.wait_with_output().unwrap().into();
        assert_eq!((said.code, said.errors.as_str()), (Some(0), ""));
    }
}
