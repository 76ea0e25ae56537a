//! The `pqlab` program, built by cargo before the first test that needs it and run as a person
//! would run it, over a workshop's workers.

use crate::workshop::Workshop;
use pqlab_runfile::Run;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Where `pqlab` lies. It belongs to another package, whose programs cargo does not build for our
/// tests: ask it to, for the folder and the profile that our own programs were built in.
fn program() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_BIN_EXE_honest-worker")).parent().unwrap();
        let profile = match folder.file_name().and_then(OsStr::to_str).unwrap() {
            "debug" => "dev",
            profile => profile,
        };
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "pqlab-cli", "--profile", profile])
            .arg("--target-dir")
            .arg(folder.parent().unwrap())
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .unwrap();
        assert!(status.success(), "pqlab cannot be built");
        folder.join("pqlab")
    });
    &PROGRAM
}

/// A command line of `pqlab`, in an environment where nothing but the words matters.
pub fn pqlab<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(program());
    command
        .args(words)
        .stdin(Stdio::null())
        .env_remove("PQLAB_ROOT")
        .env_remove("COLUMNS")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR")
        .env_remove("CLICOLOR_FORCE");
    command
}

/// `pqlab run` over the workers of `workshop`.
pub fn pqlab_run(workshop: &Workshop, words: &[&str]) -> Command {
    let mut command = pqlab(["run"]);
    command.args(words).arg("--workers").arg(workshop.folder());
    command
}

/// Standard output and standard error as text, and the exit code.
pub struct Said {
    /// What it printed.
    pub output: String,
    /// What it complained of.
    pub errors: String,
    /// How it ended; `None` for a signal.
    pub code: Option<i32>,
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said {
            output: text(output.stdout),
            errors: text(output.stderr),
            code: output.status.code(),
        }
    }
}

/// Runs to the end.
pub fn said(mut command: Command) -> Said {
    command.output().unwrap().into()
}

/// Starts with its output to be read later.
pub fn started(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Sends a signal.
pub fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Waits until the run file holds what is wanted.
pub fn wait_for(run_file: &Path, wanted: impl Fn(&Run) -> bool) -> Run {
    let patience = Instant::now() + Duration::from_secs(60);
    loop {
        match Run::read(run_file) {
            Ok(run) if wanted(&run) => return run,
            _ => assert!(Instant::now() < patience, "the run file does not get that far"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
