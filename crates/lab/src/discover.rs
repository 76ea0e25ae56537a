//! Finding workers: programs named `pqlab-worker-…` in one folder, each asked who it is.

use crate::process::{Limits, Trouble, WorkerProcess};
use crate::{Placement, process};
use pqlab_catalog::find;
use pqlab_protocol::{Answer, Ask, Clock, Hello, HelloRequest, VERSION};
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
    let rate = hello.clock.ticks_per_second;
    let sane = rate.is_finite() && rate > 0.0 && hello.clock.overhead_ticks.is_finite();
    if !sane {
        let detail = format!("its clock makes {rate} ticks a second");
        return Err(Trouble::Worker(FaultKind::Implausible, detail));
    }
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
