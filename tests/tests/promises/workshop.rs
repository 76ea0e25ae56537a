//! A folder of workers, and runs of the lab over them.

use pqlab_catalog::{Operation, Selection};
use pqlab_instrument::clock::{Calibration, Clock, ClockKind};
use pqlab_instrument::machine::Machine;
use pqlab_lab::{Discovery, Event, Limits, Outcome, Placement, Setting, Unusable, Watcher};
use pqlab_runfile::values::{self, ProcessValue};
use pqlab_runfile::{FORMAT, Fault, FaultKind, Header, Run, RunWriter, VERSION};
use pqlab_tests::PROGRAM_PREFIX;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The name of the worker that does everything right.
pub const HONEST: &str = "honest";

/// A folder with some workers in it; it and all in it is removed in the end.
pub struct Workshop {
    folder: TempDir,
}

impl Workshop {
    /// A folder with the honest worker and the saboteurs of these names.
    pub fn with(saboteurs: &[&str]) -> Workshop {
        let workshop = Workshop { folder: tempfile::tempdir().unwrap() };
        workshop.link(HONEST, env!("CARGO_BIN_EXE_honest-worker"));
        for saboteur in saboteurs {
            workshop.link(saboteur, env!("CARGO_BIN_EXE_saboteur-worker"));
        }
        workshop
    }

    fn link(&self, worker: &str, program: &str) {
        std::os::unix::fs::symlink(program, self.program(worker)).unwrap();
    }

    /// Where the program of a worker lies.
    pub fn program(&self, worker: &str) -> PathBuf {
        self.folder.path().join(format!("{PROGRAM_PREFIX}{worker}"))
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The run file that the tests write to.
    pub fn output(&self) -> PathBuf {
        self.folder.path().join("run.jsonl")
    }

    /// Runs the lab over one operation of one set, as every worker here offers it.
    pub fn measure(&self, set: &str, operation: Operation, limits: &Limits) -> Aftermath {
        self.measure_after(set, operation, limits, |_| {})
    }

    /// As [`Workshop::measure`], doing something between the introduction and the run.
    pub fn measure_after(
        &self,
        set: &str,
        operation: Operation,
        limits: &Limits,
        meanwhile: impl FnOnce(&Discovery),
    ) -> Aftermath {
        let calibration = calibration();
        let clock = message_clock(calibration);
        let discovery = pqlab_lab::discover(self.folder(), &[], &clock, limits);
        meanwhile(&discovery);
        let placement = Placement::choose();
        let selection =
            Selection::new(&[set.to_owned()], &[], &[], &[operation], &[], false).unwrap();
        let cases = pqlab_lab::cases(&selection, &discovery.offers).unwrap();
        let header = Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            pqlab: "test".to_owned(),
            started_unix_s: 0,
            selection: set.to_owned(),
            plan: pqlab_lab::plan(cases, MORE_THAN_ENOUGH_S, ANY_PRECISION, 1),
            machine: Machine::default(),
            clock: calibration.clone(),
            pinned_cpu: placement.measuring_cpu,
            pinning: placement.reason.clone(),
        };
        let header = Header { plan: short_blocks(header.plan), ..header };
        let mut writer = RunWriter::create(&self.output(), header.clone()).unwrap();
        let setting = Setting {
            offers: &discovery.offers,
            placement: &placement,
            clock: &clock,
            limits,
            stop: &AtomicBool::new(false),
        };
        let outcome = pqlab_lab::run(&setting, &header, None, &mut writer, &mut Silent).unwrap();
        self.assert_no_worker_survives();
        let run = Run::read(&self.output()).unwrap();
        assert_eq!(run.broken, None);
        Aftermath { values: values::of_run(&run), run, unusable: discovery.unusable, outcome }
    }

    /// Nothing that was started from this folder runs any more, or stops soon by itself.
    pub fn assert_no_worker_survives(&self) {
        let patience = Instant::now() + Duration::from_secs(20);
        loop {
            let survivors = self.running();
            if survivors.is_empty() {
                return;
            }
            assert!(Instant::now() < patience, "still running: {survivors:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Command lines of the processes that were started from this folder.
    fn running(&self) -> Vec<String> {
        let prefix = format!("{}/{PROGRAM_PREFIX}", self.folder().display());
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
            .map(|words| String::from_utf8_lossy(&words).replace('\0', " "))
            .filter(|words| words.starts_with(&prefix))
            .collect()
    }
}

/// A budget that no test should come near, and a precision that any six processes reach: so a run
/// ends by the number of its processes, however slow the machine is today.
const MORE_THAN_ENOUGH_S: f64 = 300.0;
const ANY_PRECISION: f64 = 1e6;

fn short_blocks(plan: pqlab_runfile::Plan) -> pqlab_runfile::Plan {
    pqlab_runfile::Plan { blocks: 2, block_ns: 1_000_000, ..plan }
}

fn calibration() -> &'static Calibration {
    static CALIBRATION: LazyLock<Calibration> =
        LazyLock::new(|| Clock::calibrate().calibration().clone());
    &CALIBRATION
}

fn message_clock(calibration: &Calibration) -> pqlab_protocol::Clock {
    let kind = match calibration.kind {
        ClockKind::Tsc => "tsc",
        ClockKind::Cntvct => "cntvct",
        ClockKind::Monotonic => "monotonic",
    };
    pqlab_protocol::Clock { kind: kind.to_owned(), ticks_per_second: calibration.ticks_per_second }
}

struct Silent;

impl Watcher for Silent {
    fn event(&mut self, _: &Event<'_>) {}
}

/// What is left when the lab is done.
pub struct Aftermath {
    /// How it ended.
    pub outcome: Outcome,
    /// The run file.
    pub run: Run,
    /// Workers that could not even introduce themselves.
    pub unusable: Vec<Unusable>,
    values: Vec<Vec<ProcessValue>>,
}

impl Aftermath {
    /// Processes whose figures count for the only case of `worker`.
    pub fn processes_of(&self, worker: &str) -> usize {
        let case = self.run.header.plan.cases.iter().position(|case| case.worker == worker);
        self.values[case.expect("the worker is in the plan")].len()
    }

    /// The faults of `worker`.
    pub fn faults_of(&self, worker: &str) -> Vec<&Fault> {
        self.run.faults.iter().filter(|fault| fault.worker == worker).collect()
    }

    /// The honest worker's row has all its processes and no fault, and the run ended by itself.
    pub fn assert_honest_is_unharmed(&self) {
        assert!(matches!(self.outcome, Outcome::Ended(_)), "{:?}", self.outcome);
        assert_eq!(self.faults_of(HONEST), Vec::<&Fault>::new());
        assert_eq!(self.processes_of(HONEST), 6);
    }

    /// `worker` has no figure, and its first fault is of this kind and says this.
    pub fn assert_fault(&self, worker: &str, kind: FaultKind, words: &str) {
        let faults = self.faults_of(worker);
        let fault = faults.first().expect("a fault is recorded");
        assert_eq!(fault.kind, kind, "{fault:?}");
        assert!(fault.detail.contains(words), "{words:?} is not in {:?}", fault.detail);
        assert!(!fault.detail.contains(char::is_control), "{:?}", fault.detail);
        assert_eq!(self.processes_of(worker), 0);
    }

    /// `worker` was not admitted, for this reason, and the honest one was measured all the same.
    pub fn assert_not_admitted(&self, worker: &str, kind: FaultKind, words: &str) {
        let unusable = self.unusable.iter().find(|unusable| unusable.worker == worker);
        let unusable = unusable.expect("the worker is unusable");
        assert_eq!(unusable.kind, kind, "{unusable:?}");
        assert!(unusable.detail.contains(words), "{words:?} is not in {:?}", unusable.detail);
        assert!(!unusable.detail.contains(char::is_control), "{:?}", unusable.detail);
        assert_eq!(self.unusable.len(), 1, "{:?}", self.unusable);
        self.assert_honest_is_unharmed();
    }
}
