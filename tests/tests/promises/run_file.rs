//! The run file: whatever is done to it, everything before the break is read, nothing panics, and
//! an interrupted run goes on where it was cut.

use pqlab_report::{Results, table};
use pqlab_runfile::{Record, Run, RunWriter};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::TempDir;

/// The lines of the approved run, with their line feeds.
static LINES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/small.pqlab.jsonl");
    let bytes = std::fs::read(path).unwrap();
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
});

/// Without its footer: a run that can be resumed.
fn unfinished() -> &'static [Vec<u8>] {
    &LINES[..LINES.len() - 1]
}

fn file_with(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// Reads and, if that is possible, shows: what `pqlab show` does to a file it did not write.
fn show(bytes: &[u8]) -> Option<Run> {
    let (_folder, path) = file_with(bytes);
    let run = Run::read(&path).ok()?;
    let results = Results::of(&run);
    let text = table::render(&results, 80) + &table::render(&results, 160);
    // The codes of the theme are the only control characters besides line feeds.
    let foreign = text.replace("\u{1b}[", "").replace('\n', "");
    assert!(!foreign.contains(char::is_control), "{foreign:?}");
    serde_json::to_string(&results).unwrap();
    Some(run)
}

fn records_in(run: &Run) -> usize {
    1 + run.subjects.len()
        + run.processes.len()
        + run.gates.len()
        + run.blocks.len()
        + run.measured.len()
        + run.faults.len()
        + usize::from(run.footer.is_some())
        + run.unknown_records as usize
}

#[test]
fn the_approved_run_is_read_whole() {
    let run = show(&LINES.concat()).unwrap();
    assert_eq!(run.broken, None);
    assert_eq!(run.unknown_records, 0);
    assert_eq!(records_in(&run), LINES.len());
}

#[test]
fn a_packed_file_reads_as_the_unpacked_one() {
    let (_folder, path) = file_with(&unfinished().concat());
    let (run, writer) = RunWriter::resume(&path).unwrap();
    let packed = writer.pack().unwrap();
    assert!(!path.exists());
    assert_eq!(Run::read(&packed).unwrap(), Run { packed: true, ..run });
    let refusal = RunWriter::resume(&packed).unwrap_err().to_string();
    assert!(refusal.contains("zstd -d"), "{refusal}");
}

/// A later pqlab may add records, and fields to records.
#[test]
fn unknown_records_and_fields_are_passed_over() {
    let mut lines = LINES.clone();
    for line in &mut lines {
        let text = String::from_utf8(line.clone()).unwrap();
        *line = text.replacen('{', r#"{"from_the_future":[{"a":1}],"#, 1).into_bytes();
    }
    lines.insert(1, b"{\"record\":\"stack-profile\",\"depth\":[1,2]}\n".to_vec());
    lines.insert(9, b"{\"record\":\"weather\",\"sunny\":true}\n".to_vec());
    let run = show(&lines.concat()).unwrap();
    assert_eq!(run.broken, None);
    assert_eq!(run.unknown_records, 2);
    assert_eq!(records_in(&run), lines.len());
}

/// A line in place of any number in the file, one at a time.
#[test]
fn no_number_however_absurd_does_any_harm() {
    let absurd = ["0", "-1", "1e308", "-1e308", "1e-320", "4294967295", "18446744073709551615"];
    // One of each kind of record is enough.
    let mut kinds = Vec::new();
    for (at, line) in LINES.iter().enumerate() {
        let text = std::str::from_utf8(line).unwrap();
        let kind = text.split('"').nth(3).unwrap();
        if kinds.contains(&kind) {
            continue;
        }
        kinds.push(kind);
        for (from, to) in numbers_in(text) {
            for number in absurd {
                let mut lines = LINES.clone();
                lines[at] = format!("{}{number}{}", &text[..from], &text[to..]).into_bytes();
                show(&lines.concat());
            }
        }
    }
    assert_eq!(kinds.len(), 8);
}

/// Where the numbers of a line of JSON begin and end.
fn numbers_in(line: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut quoted = false;
    let mut begun = None;
    for (at, byte) in line.bytes().enumerate() {
        quoted ^= byte == b'"';
        let numeric = byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'e' | b'+');
        match begun {
            None if !quoted && (byte.is_ascii_digit() || byte == b'-') => begun = Some(at),
            Some(from) if !numeric => {
                found.push((from, at));
                begun = None;
            }
            _ => {}
        }
    }
    found
}

/// A process or a round with the highest of all numbers is no reason to panic when going on.
#[test]
fn resuming_after_absurd_numbers_is_possible() {
    let highest = |line: &Vec<u8>| {
        let text = String::from_utf8(line.clone()).unwrap();
        text.replace("\"process\":14", "\"process\":4294967295")
            .replace("\"round\":5", "\"round\":4294967295")
            .into_bytes()
    };
    let lines: Vec<Vec<u8>> = unfinished().iter().map(highest).collect();
    let (_folder, path) = file_with(&lines.concat());
    let (run, _) = RunWriter::resume(&path).unwrap();
    assert!(run.processes.iter().any(|p| p.process == u32::MAX || p.round == u32::MAX));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    /// Cut anywhere, the file reads up to the last whole line, and says where it breaks off.
    #[test]
    fn a_truncated_file_is_read_up_to_the_break(at in 0.0..1.0_f64) {
        let whole = LINES.concat();
        let cut = &whole[..(whole.len() as f64 * at) as usize];
        let intact = cut.iter().filter(|byte| **byte == b'\n').count();
        match show(cut) {
            None => prop_assert_eq!(intact, 0),
            Some(run) => {
                prop_assert_eq!(records_in(&run), intact);
                prop_assert_eq!(run.broken.is_some(), !cut.ends_with(b"\n"));
                if let Some(broken) = run.broken {
                    prop_assert_eq!(broken.line as usize, intact + 1);
                    prop_assert_eq!(broken.intact_bytes as usize, LINES[..intact].concat().len());
                }
            }
        }
    }

    /// A packed file that is cut off gives what could be unpacked, or one error.
    #[test]
    fn a_truncated_packed_file_is_read_as_far_as_it_goes(at in 0.0..1.0_f64) {
        let packed = zstd::encode_all(&LINES.concat()[..], 3).unwrap();
        if let Some(run) = show(&packed[..(packed.len() as f64 * at) as usize]) {
            prop_assert!(run.broken.is_some());
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        show(&bytes);
        show(&[&LINES[0][..], &bytes].concat());
        show(&[&[0x28, 0xB5, 0x2F, 0xFD][..], &bytes].concat());
    }

    /// Bytes overwritten anywhere after the header: what stands before them is read.
    #[test]
    fn a_damaged_file_is_read_up_to_the_damage(
        at in 0.0..1.0_f64,
        damage in proptest::collection::vec(any::<u8>(), 1..8),
    ) {
        let mut bytes = LINES.concat();
        let header = LINES[0].len();
        let from = header + ((bytes.len() - header - damage.len()) as f64 * at) as usize;
        bytes[from..from + damage.len()].copy_from_slice(&damage);
        let before = bytes[..from].iter().filter(|byte| **byte == b'\n').count();
        prop_assert!(records_in(&show(&bytes).unwrap()) >= before);
    }

    /// Lines in any order, some twice, some missing, with foreign ones between.
    #[test]
    fn lines_in_any_order_are_read_or_refused(
        order in proptest::collection::vec(0_usize..200, 0..60),
        foreign in "\\PC{0,40}",
    ) {
        let mut bytes = LINES[0].clone();
        for at in order {
            match LINES.get(at) {
                Some(line) => bytes.extend_from_slice(line),
                None if at % 8 == 0 => bytes.extend_from_slice(foreign.as_bytes()),
                None => bytes.extend_from_slice(b"\n"),
            }
        }
        show(&bytes).unwrap();
    }

    /// After any cut behind the header, going on appends whole lines to whole lines.
    #[test]
    fn resuming_after_a_cut_appends_to_the_last_whole_line(at in 0.0..1.0_f64) {
        let whole = unfinished().concat();
        let header = LINES[0].len();
        let cut = header + ((whole.len() - header) as f64 * at) as usize;
        let (_folder, path) = file_with(&whole[..cut]);
        let (before, mut writer) = RunWriter::resume(&path).unwrap();
        let intact = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
        prop_assert_eq!(records_in(&before), intact);

        let record: Record = serde_json::from_slice(&LINES[intact.min(LINES.len() - 2)]).unwrap();
        prop_assume!(!matches!(record, Record::Header(_)));
        writer.append(&record).unwrap();
        drop(writer);
        let (after, _) = RunWriter::resume(&path).unwrap();
        prop_assert_eq!(after.broken.as_ref(), None);
        prop_assert_eq!(records_in(&after), intact + 1);
        prop_assert!(std::fs::read(&path).unwrap().starts_with(&LINES[..intact].concat()));
    }
}
