//! One worker process: started in its own process group, pinned, limited in memory, spoken to over
//! pipes, timed out, and killed when it is dropped.

use crate::Placement;
use pqlab_protocol::{Answer, Ask, Block, MAX_LINE_BYTES, Reply, Request};
use pqlab_runfile::FaultKind;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a worker may take and how much it may hold.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Longest wait for the answer to a hello.
    pub hello: Duration,
    /// Longest wait for the answer to a gate request: the slowest sets take seconds.
    pub gate: Duration,
    /// Longest silence while measuring, beyond the time asked for: inputs are made in it.
    pub measure_silence: Duration,
    /// Address space of a worker in bytes.
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            hello: Duration::from_secs(20),
            gate: Duration::from_secs(120),
            measure_silence: Duration::from_secs(120),
            memory_bytes: 8 << 30,
        }
    }
}

/// Why a question got no answer.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The worker is at fault.
    Worker(FaultKind, String),
    /// The user asked to stop.
    Interrupted,
}

/// What arrives from a worker.
enum Line {
    Text(String),
    CutOff(String),
    TooLong,
    NotText,
    End,
}

/// Lines that may wait unread: a worker that floods is held up by its pipe, not by our memory.
const LINES_IN_FLIGHT: usize = 16;

/// How often a waiting lab looks whether the user wants to stop.
const STOP_POLL: Duration = Duration::from_millis(50);

/// How much of a worker's last words on standard error is kept, in bytes.
const STDERR_TAIL_BYTES: usize = 2_000;

pub(crate) struct WorkerProcess {
    child: Child,
    input: ChildStdin,
    lines: Receiver<Line>,
    stderr_tail: Arc<Mutex<Vec<u8>>>,
    next_id: u64,
}

impl WorkerProcess {
    /// Starts the worker where `placement` says. `padding` bytes are added to its environment, so
    /// that its stack begins elsewhere in each process.
    pub fn start(
        program: &Path,
        placement: &Placement,
        padding: usize,
        limits: &Limits,
    ) -> Result<WorkerProcess, Trouble> {
        let not_started = |why: String| {
            let program = program.display();
            Trouble::Worker(FaultKind::NotStarted, format!("{program}: {why}"))
        };
        let mut command = Command::new(program);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env("PQLAB_PADDING", "x".repeat(padding))
            // A backtrace would push the panic's own words out of the tail that is kept.
            .env("RUST_BACKTRACE", "0")
            // Ctrl-C in the terminal is for the lab, which then stops its workers in order.
            .process_group(0);
        let spawned = placement.on_measuring_cpu(|| command.spawn());
        let mut child = spawned.map_err(|error| not_started(error.to_string()))?;
        limit_memory(&child, limits.memory_bytes);
        let input = child.stdin.take().expect("piped");
        let output = child.stdout.take().expect("piped");
        let errors = child.stderr.take().expect("piped");
        let (sender, lines) = sync_channel(LINES_IN_FLIGHT);
        std::thread::spawn(move || forward_lines(output, &sender));
        let stderr_tail = Arc::new(Mutex::new(Vec::new()));
        let tail = Arc::clone(&stderr_tail);
        std::thread::spawn(move || keep_tail(errors, &tail));
        Ok(WorkerProcess { child, input, lines, stderr_tail, next_id: 1 })
    }

    /// Sends a request and waits for its final answer; blocks on the way go to `on_block`, each of
    /// which renews the time allowed.
    pub fn ask(
        &mut self,
        ask: Ask,
        patience: Duration,
        stop: &AtomicBool,
        on_block: &mut dyn FnMut(Block) -> Result<(), String>,
    ) -> Result<Answer, Trouble> {
        let id = self.next_id;
        self.next_id += 1;
        let line = pqlab_protocol::encode(&Request { id, ask });
        if self.input.write_all(line.as_bytes()).and_then(|()| self.input.flush()).is_err() {
            return Err(self.died(None));
        }
        loop {
            let reply = self.next_reply(patience, stop)?;
            if reply.id != id {
                let mut detail = format!("it answered request {} when asked {id}", reply.id);
                if let Answer::Refused { reason } = &reply.answer {
                    detail.push_str(&format!(": {}", pqlab_protocol::harmless(reason)));
                }
                return Err(Trouble::Worker(FaultKind::Garbage, detail));
            }
            match reply.answer {
                Answer::Block(block) => {
                    on_block(block).map_err(|why| Trouble::Worker(FaultKind::Implausible, why))?
                }
                Answer::Refused { reason } => {
                    let reason = pqlab_protocol::harmless(&reason);
                    return Err(Trouble::Worker(FaultKind::Refused, reason));
                }
                answer => return Ok(answer),
            }
        }
    }

    fn next_reply(&mut self, patience: Duration, stop: &AtomicBool) -> Result<Reply, Trouble> {
        let deadline = Instant::now() + patience;
        let garbage = |detail: String| Trouble::Worker(FaultKind::Garbage, detail);
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(Trouble::Interrupted);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let detail = format!("no answer in {:.0} s", patience.as_secs_f64());
                return Err(Trouble::Worker(FaultKind::Hung, detail));
            }
            match self.lines.recv_timeout(left.min(STOP_POLL)) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Line::Text(line)) => {
                    return pqlab_protocol::decode(&line).map_err(|e| garbage(e.to_string()));
                }
                Ok(Line::CutOff(line)) => return Err(self.died(Some(&line))),
                Ok(Line::TooLong) => {
                    return Err(garbage(format!("a line of more than {MAX_LINE_BYTES} bytes")));
                }
                Ok(Line::NotText) => return Err(garbage("a line that is not UTF-8".to_owned())),
                Ok(Line::End) | Err(RecvTimeoutError::Disconnected) => return Err(self.died(None)),
            }
        }
    }

    /// The end of a worker that should have answered, in words; `unfinished` is the line it was
    /// writing.
    fn died(&mut self, unfinished: Option<&str>) -> Trouble {
        // Its output is closed; if it lingers all the same it is killed, and that is said.
        let patience = Instant::now() + Duration::from_secs(1);
        let status = loop {
            match status_of(&self.child) {
                Some(status) => break Some(status),
                None if Instant::now() < patience => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                None => break None,
            }
        };
        let mut detail = match status {
            None => "it closed its output and went on running".to_owned(),
            Some(status) => match (status.terminating_signal(), status.exit_status()) {
                (Some(signal), _) => format!("killed by {}", signal_name(signal)),
                (None, Some(code)) => format!("exited with status {code}"),
                (None, None) => "ended".to_owned(),
            },
        };
        if let Some(line) = unfinished {
            detail.push_str(&format!(" in the middle of {}", pqlab_protocol::quoted(line)));
        }
        // The thread that reads standard error ends with the process; give it that moment.
        std::thread::sleep(Duration::from_millis(20));
        let tail = self.stderr_tail.lock().map(|tail| tail.clone()).unwrap_or_default();
        if let Some(words) = last_words(&tail) {
            detail.push_str(&format!("; its last words: {words}"));
        }
        Trouble::Worker(FaultKind::Died, detail)
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        kill_group(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pid_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// How the worker ended; `None` while it runs. It stays a zombie, so that its number, which is also
/// that of its process group, is not given to another before the group is killed.
fn status_of(child: &Child) -> Option<WaitIdStatus> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(pid_of(child)?), options).ok().flatten()
}

/// Kills the worker and whatever it has started, which share its process group. To be called before
/// the worker is waited for.
fn kill_group(child: &Child) {
    if let Some(group) = pid_of(child) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(target_os = "linux")]
fn limit_memory(child: &Child, bytes: u64) {
    use rustix::process::{Resource, Rlimit, prlimit};
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    if let Some(worker) = pid_of(child) {
        // A worker that cannot be limited runs unlimited, as it does where there is no prlimit.
        let _ = prlimit(Some(worker), Resource::As, limit);
    }
}

#[cfg(not(target_os = "linux"))]
fn limit_memory(_child: &Child, _bytes: u64) {}

fn forward_lines(output: impl Read, lines: &SyncSender<Line>) {
    let mut reader = BufReader::new(output);
    loop {
        let mut bytes = Vec::new();
        let read = (&mut reader).take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut bytes);
        let line = match read {
            Ok(0) | Err(_) => Line::End,
            Ok(_) if bytes.last() != Some(&b'\n') && bytes.len() == MAX_LINE_BYTES => Line::TooLong,
            Ok(_) => {
                let whole = bytes.last() == Some(&b'\n');
                match String::from_utf8(bytes) {
                    Ok(text) if whole => Line::Text(text.trim_end().to_owned()),
                    Ok(text) => Line::CutOff(text),
                    Err(_) => Line::NotText,
                }
            }
        };
        let last = !matches!(line, Line::Text(_));
        if lines.send(line).is_err() || last {
            return;
        }
    }
}

fn keep_tail(mut errors: impl Read, tail: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(bytes) = errors.read(&mut buffer)
        && bytes > 0
    {
        let Ok(mut tail) = tail.lock() else { return };
        tail.extend_from_slice(&buffer[..bytes]);
        let excess = tail.len().saturating_sub(STDERR_TAIL_BYTES);
        tail.drain(..excess);
    }
}

/// The last line a worker wrote to standard error that says something.
fn last_words(tail: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(tail);
    let backtrace_hint = "note: run with `RUST_BACKTRACE";
    let said = |line: &&str| !line.trim().is_empty() && !line.starts_with(backtrace_hint);
    text.lines().rfind(said).map(|line| pqlab_protocol::quoted(line.trim()))
}

/// Names of the signals that end programs (POSIX; the numbers are those of Linux and macOS).
fn signal_name(signal: i32) -> String {
    let name = match signal {
        4 => "SIGILL, an instruction this CPU does not have",
        6 => "SIGABRT, it gave up by itself",
        8 => "SIGFPE, an arithmetic error",
        9 => "SIGKILL, perhaps for lack of memory",
        11 => "SIGSEGV, a wrong memory access",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}
