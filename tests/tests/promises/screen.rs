//! What a person sees: nothing wider than the terminal, colours only where they are wanted, and
//! the table of a small run exactly as it was last approved.

use crate::program::{pqlab, said};
use pqlab_report::text::width;
use std::path::{Path, PathBuf};

/// A run of seven processes of two workers with a few samples each, one fault and one gate that
/// failed; its figures are made up.
fn small() -> PathBuf {
    data("small.pqlab.jsonl")
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn shown(variables: &[(&str, &str)]) -> String {
    let mut command = pqlab([Path::new("show"), &small()]);
    command.envs(variables.iter().copied());
    let said = said(command);
    assert_eq!((said.code, said.errors.as_str()), (Some(0), ""));
    said.output
}

fn is_as_approved(columns: usize) {
    let shown = shown(&[("COLUMNS", &columns.to_string())]);
    for line in shown.lines() {
        assert!(width(line) <= columns, "{} columns: {line}", width(line));
    }
    let approved = data(&format!("small.{columns}.txt"));
    if std::env::var_os("PQLAB_APPROVE").is_some() {
        std::fs::write(&approved, &shown).unwrap();
    }
    let expected = std::fs::read_to_string(&approved).unwrap();
    assert!(
        shown == expected,
        "the table has changed; if it should, PQLAB_APPROVE=1 cargo test -p pqlab-tests screen \
         approves it:\n{shown}"
    );
}

#[test]
fn a_run_on_80_columns_is_as_approved() {
    is_as_approved(80);
}

#[test]
fn a_run_on_160_columns_is_as_approved() {
    is_as_approved(160);
}

#[test]
fn no_width_is_exceeded_from_80_columns_on() {
    for columns in [80, 81, 100, 132, 149, 150, 200] {
        let shown = shown(&[("COLUMNS", &columns.to_string())]);
        for line in shown.lines() {
            assert!(width(line) <= columns, "{} of {columns} columns: {line}", width(line));
        }
    }
    for columns in ["0", "1", "-5", "wide", "99999999"] {
        assert!(shown(&[("COLUMNS", columns)]).contains("X25519"));
    }
}

#[test]
fn colours_come_only_where_they_are_wanted() {
    const ESCAPE: char = '\u{1b}';
    assert!(!shown(&[]).contains(ESCAPE), "a pipe is no terminal");
    assert!(!shown(&[("NO_COLOR", "1")]).contains(ESCAPE));
    assert!(shown(&[("CLICOLOR_FORCE", "1")]).contains(ESCAPE));
    // The file quotes a worker that tries to clear the screen.
    assert!(!shown(&[("CLICOLOR_FORCE", "1")]).contains("\u{1b}[2J"));
}

/// Without colours, the same words.
#[test]
fn colours_say_nothing_that_words_do_not() {
    let coloured = shown(&[("CLICOLOR_FORCE", "1")]);
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, code)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = code.split_once('m').expect("only colours").1;
    }
    assert_eq!(plain + rest, shown(&[]));
}
