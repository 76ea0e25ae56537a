//! Reading, up to the break if there is one. Hostile content gives an error that names the line,
//! never a panic.

use crate::{
    FORMAT, Fault, Footer, GateRecord, Header, MeasuredRecord, Process, RawBlock, Record, Subject,
    VERSION,
};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// A run file could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Opening or reading failed.
    #[error("cannot read the run file {path}: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It does not begin with a run file's header.
    #[error("{path} is not a pqlab run file: {why}")]
    NotARun {
        /// The file.
        path: PathBuf,
        /// What it begins with instead.
        why: String,
    },
    /// It was written by a later pqlab.
    #[error("{path} has format version {found}; this pqlab reads up to {VERSION}: use a newer one")]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
}

/// Where and why reading stopped before the end of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// Number of the first line that could not be read, from 1.
    pub line: u64,
    /// Bytes of the whole lines before it.
    pub intact_bytes: u64,
    /// What is wrong with it.
    pub why: String,
}

/// The content of a run file.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The header.
    pub header: Header,
    /// Subjects, as introduced.
    pub subjects: Vec<Subject>,
    /// Worker processes.
    pub processes: Vec<Process>,
    /// Gates.
    pub gates: Vec<GateRecord>,
    /// Raw blocks, in the order they arrived.
    pub blocks: Vec<RawBlock>,
    /// Ends of measurements.
    pub measured: Vec<MeasuredRecord>,
    /// Faults.
    pub faults: Vec<Fault>,
    /// The footer, if the run ended by itself.
    pub footer: Option<Footer>,
    /// Records of later versions that were passed over.
    pub unknown_records: u64,
    /// Where reading stopped early, if it did.
    pub broken: Option<Break>,
    /// Whether the file is packed with zstd.
    pub packed: bool,
}

/// The longest line read, in bytes; a block of the largest size is under 1 MiB.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// First bytes of a zstd frame (RFC 8878 §3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

impl Run {
    /// Reads the file, packed or not, up to its end or its first unreadable line.
    pub fn read(path: &Path) -> Result<Run, ReadError> {
        let failed = |source| ReadError::Open { path: path.to_owned(), source };
        let mut file = BufReader::new(File::open(path).map_err(failed)?);
        let packed = file.fill_buf().map_err(failed)?.starts_with(&ZSTD_MAGIC);
        if packed {
            let unpacked = zstd::stream::read::Decoder::with_buffer(file).map_err(failed)?;
            let run = Run::read_lines(path, BufReader::new(unpacked))?;
            Ok(Run { packed: true, ..run })
        } else {
            Run::read_lines(path, file)
        }
    }

    fn read_lines(path: &Path, mut lines: impl BufRead) -> Result<Run, ReadError> {
        let not_a_run = |why: String| ReadError::NotARun { path: path.to_owned(), why };
        let mut line = Vec::new();
        let first = next_line(&mut lines, &mut line);
        let Ok(true) = first else {
            let why = first.err().unwrap_or_else(|| "it is empty".to_owned());
            return Err(not_a_run(why));
        };
        let header = match serde_json::from_slice::<Record>(&line) {
            Ok(Record::Header(header)) if header.format == FORMAT => *header,
            Ok(_) => return Err(not_a_run("it does not begin with a header".to_owned())),
            Err(error) => {
                // A later version may have a header this one cannot read in full.
                if let Some(found) = newer_version(&line) {
                    return Err(ReadError::TooNew { path: path.to_owned(), found });
                }
                let start = String::from_utf8_lossy(&line);
                let quote = pqlab_protocol::quoted(&start);
                return Err(not_a_run(format!("its first line is {quote} ({error})")));
            }
        };
        if header.version > VERSION {
            return Err(ReadError::TooNew { path: path.to_owned(), found: header.version });
        }
        let mut run = Run {
            header,
            subjects: Vec::new(),
            processes: Vec::new(),
            gates: Vec::new(),
            blocks: Vec::new(),
            measured: Vec::new(),
            faults: Vec::new(),
            footer: None,
            unknown_records: 0,
            broken: None,
            packed: false,
        };
        let mut intact_bytes = line.len() as u64;
        for number in 2.. {
            let outcome = match next_line(&mut lines, &mut line) {
                Ok(false) => break,
                Ok(true) => serde_json::from_slice(&line).map_err(|error| error.to_string()),
                Err(why) => Err(why),
            };
            match outcome.and_then(|record| run.take(record)) {
                Ok(()) => intact_bytes += line.len() as u64,
                Err(why) => {
                    run.broken = Some(Break { line: number, intact_bytes, why });
                    break;
                }
            }
        }
        Ok(run)
    }

    fn take(&mut self, record: Record) -> Result<(), String> {
        let cases = self.header.plan.cases.len();
        let known = |case: u32| {
            if (case as usize) < cases { Ok(()) } else { Err(format!("there is no case {case}")) }
        };
        match record {
            Record::Header(_) => return Err("a second header".to_owned()),
            Record::Subject(subject) => self.subjects.push(*subject),
            Record::Process(process) => self.processes.push(process),
            Record::Gate(gate) => self.gates.push(gate),
            Record::Block(block) => {
                known(block.case)?;
                self.blocks.push(block);
            }
            Record::Measured(measured) => {
                known(measured.case)?;
                self.measured.push(measured);
            }
            Record::Fault(fault) => {
                fault.case.map_or(Ok(()), known)?;
                self.faults.push(fault);
            }
            Record::Footer(footer) => self.footer = Some(footer),
            Record::Unknown => self.unknown_records += 1,
        }
        Ok(())
    }
}

/// Reads one line with its line feed; `Ok(false)` at the end, an error for a line cut off.
fn next_line(lines: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, String> {
    line.clear();
    lines.take(MAX_LINE_BYTES).read_until(b'\n', line).map_err(|error| error.to_string())?;
    match line.last() {
        None => Ok(false),
        Some(b'\n') => Ok(true),
        Some(_) if line.len() as u64 == MAX_LINE_BYTES => {
            Err(format!("the line is longer than {MAX_LINE_BYTES} bytes"))
        }
        Some(_) => Err("the last line is cut off".to_owned()),
    }
}

fn newer_version(line: &[u8]) -> Option<u32> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    let version = u32::try_from(value.get("version")?.as_u64()?).ok()?;
    (value.get("format")?.as_str()? == FORMAT && version > VERSION).then_some(version)
}
