//! Finding workers: programs named `pqlab-worker-…` in one folder, each asked who it is.

use crate::process::{Limits, Trouble, WorkerProcess};
use crate::{Placement, process};
use pqlab_catalog::find;
use pqlab_protocol::{Answer, Ask, Clock, ClockReport, Hello, HelloRequest, SubjectInfo, VERSION};
use pqlab_runfile::FaultKind;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// What worker programs are called.
const PROGRAM_PREFIX: &str = "pqlab-worker-";

/// A worker that answered.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The program.
    pub program: PathBuf,
    /// What it said.
    pub hello: Hello,
}

/// A worker program that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// The program's name without its prefix.
    pub worker: String,
    /// What kind of fault.
    pub kind: FaultKind,
    /// In words.
    pub detail: String,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    /// Workers that answered, by name.
    pub offers: Vec<Offer>,
    /// Programs that did not.
    pub unusable: Vec<Unusable>,
}

/// Asks every worker program in `folder` who it is; `only` narrows to those names, all if empty.
pub fn discover(folder: &Path, only: &[String], clock: &Clock, limits: &Limits) -> Discovery {
    let mut discovery = Discovery::default();
    let mut names = HashSet::new();
    for (worker, program) in installed(folder) {
        if !only.is_empty() && !only.contains(&worker) {
            continue;
        }
        match introduce(&program, clock, limits) {
            Ok(hello) if !names.insert(hello.library.name.clone()) => {
                let detail = format!("a second worker calls itself '{}'", hello.library.name);
                discovery.unusable.push(Unusable { worker, kind: FaultKind::Garbage, detail });
            }
            Ok(hello) => discovery.offers.push(Offer { program, hello }),
            Err((kind, detail)) => discovery.unusable.push(Unusable { worker, kind, detail }),
        }
    }
    discovery
}

fn introduce(program: &Path, clock: &Clock, limits: &Limits) -> Result<Hello, (FaultKind, String)> {
    let unpinned = Placement::unpinned();
    let never = AtomicBool::new(false);
    let hello = WorkerProcess::start(program, &unpinned, 0, limits)
        .and_then(|mut process| greet(&mut process, clock, limits, &never));
    match hello {
        Ok(hello) => Ok(hello),
        Err(Trouble::Worker(kind, detail)) => Err((kind, detail)),
        Err(Trouble::Interrupted) => unreachable!("nobody can interrupt this"),
    }
}

/// Says hello to a fresh worker and checks that its answer makes sense.
pub(crate) fn greet(
    process: &mut process::WorkerProcess,
    clock: &Clock,
    limits: &Limits,
    stop: &AtomicBool,
) -> Result<Hello, Trouble> {
    let ask = Ask::Hello(HelloRequest { protocol: VERSION, clock: Some(clock.clone()) });
    let mut no_blocks = |_| Err("it sent samples before it was asked to measure".to_owned());
    let hello = match process.ask(ask, limits.hello, stop, &mut no_blocks)? {
        Answer::Hello(hello) => hello,
        _ => return Err(garbage("it answered a hello with something else".to_owned())),
    };
    if hello.protocol != VERSION {
        let found = hello.protocol;
        return Err(garbage(format!("it speaks protocol {found}, the lab speaks {VERSION}")));
    }
    if let Some(words) = printed(&hello).find(|words| words.contains(char::is_control)) {
        let words = pqlab_protocol::quoted(words);
        return Err(garbage(format!("it introduces itself with control characters: {words}")));
    }
    check_clock(&hello.clock, clock)
        .map_err(|detail| Trouble::Worker(FaultKind::Implausible, detail))?;
    let mut ids = HashSet::new();
    for subject in &hello.subjects {
        if !ids.insert(&subject.id) {
            return Err(garbage(format!("it offers '{}' twice", subject.id)));
        }
        if find(&subject.parameter_set).is_none_or(|set| set.id() != subject.parameter_set) {
            let name = pqlab_protocol::quoted(&subject.parameter_set);
            return Err(garbage(format!("it offers {name}, which is not in the catalog")));
        }
    }
    Ok(hello)
}

/// The words of a greeting that end up on a screen. The names of parameter sets are not among them:
/// those must be the catalog's.
fn printed(hello: &Hello) -> impl Iterator<Item = &str> {
    let library = &hello.library;
    let build = &hello.build;
    fn of_subject(subject: &SubjectInfo) -> [&str; 4] {
        [&subject.id, &subject.variant, &subject.code_path.path, &subject.randomness]
    }
    [&library.name, &library.version, &library.package, &build.target, &build.compiler]
        .into_iter()
        .map(String::as_str)
        .chain([build.profile.as_str(), &build.opt_level, &build.flags])
        .chain(build.c_compiler.as_deref())
        .chain(hello.subjects.iter().flat_map(of_subject))
}

/// An empty call cannot take longer than this: even a clock that is a system call under a slow
/// sandbox takes a fraction of it.
const LONGEST_EMPTY_CALL_NS: f64 = 10_000.0;

/// How far the reported rate may be from the given one, for workers that print fewer digits.
const RATE_TOLERANCE: f64 = 1e-6;

/// Whether the worker measures with the clock it was given, or in nanoseconds, and subtracts what can be true: either
/// lie would scale or shift every figure of this worker.
fn check_clock(reported: &ClockReport, given: &Clock) -> Result<(), String> {
    let rate = reported.ticks_per_second;
    let is = |kind: &str, expected: f64| {
        reported.kind == kind && (rate / expected - 1.0).abs() <= RATE_TOLERANCE
    };
    // A language without the given counter has the operating system's clock, whose rate is known.
    if !is(&given.kind, given.ticks_per_second) && !is("monotonic", 1e9) {
        let kind = pqlab_protocol::harmless(&reported.kind);
        return Err(format!(
            "its clock, {kind}, makes {rate} ticks a second; it was given {}, {}",
            given.kind, given.ticks_per_second
        ));
    }
    let longest = LONGEST_EMPTY_CALL_NS * 1e-9 * rate;
    for ticks in [reported.overhead_ticks, reported.overhead_ticks_per_further_call] {
        if !(0.0..=longest).contains(&ticks) {
            return Err(format!("it says that an empty call takes {ticks} ticks of its clock"));
        }
    }
    Ok(())
}

fn garbage(detail: String) -> Trouble {
    Trouble::Worker(FaultKind::Garbage, detail)
}

/// The worker programs in `folder`, name and path, in order of name; none if there is no such
/// folder.
pub fn installed(folder: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let worker = path.file_name()?.to_str()?.strip_prefix(PROGRAM_PREFIX)?;
            // Cargo leaves `pqlab-worker-x.d` beside the program.
            (!worker.contains('.') && path.is_file()).then(|| (worker.to_owned(), path.clone()))
        })
        .collect();
    found.sort();
    found
}
