//! Acts done in place of an answer. Most never return.

use pqlab_protocol::{Answer, Block, Noise, Reply, encode};
use rustix::process::{Signal, getpid, kill_process};
use std::io::{Error, Result, Write};
use std::process::Command;

/// Told to the child that is left behind.
pub const LINGER: &str = "--linger";

/// Does `deed` while request `id` waits for its answer.
pub fn now(deed: &str, id: u64, output: &mut impl Write) -> Result<()> {
    match deed {
        "segfault" => die_of(Signal::SEGV)?,
        "illegal-instruction" => die_of(Signal::ILL)?,
        "abort" => std::process::abort(),
        "kill" => die_of(Signal::KILL)?,
        "hang" => linger(),
        "hang-with-a-child" => {
            let myself = std::env::args_os().next().unwrap_or_default();
            Command::new(myself).arg(LINGER).spawn()?;
            linger();
        }
        "early-exit" => {
            eprintln!("I have had enough.\u{1b}[2J");
            std::process::exit(7);
        }
        "closed-output" => {
            rustix::stdio::dup2_stdout(std::fs::File::open("/dev/null")?)?;
            linger();
        }
        "garbage" => say(output, b"\x1b[31mcore temperature nominal\x07\n")?,
        "binary-garbage" => say(output, b"\xff\xfe\x00\x80\xc3\x28\n")?,
        "deep-garbage" => say(output, format!("{}\n", "[".repeat(1 << 20)).as_bytes())?,
        "another-message" => say(output, b"{\"id\":1,\"answer\":\"dance\"}\n")?,
        "endless-line" => loop {
            output.write_all(&[b'x'; 1 << 16])?;
        },
        "endless-blocks" => loop {
            let answer = Answer::Block(plausible_block());
            say(output, encode(&Reply { id, answer }).as_bytes())?;
        },
        "half-a-line" => {
            let answer = Answer::Block(plausible_block());
            let whole = encode(&Reply { id, answer });
            say(output, whole.as_bytes())?;
            say(output, &whole.as_bytes()[..whole.len() / 2])?;
            die_of(Signal::SEGV)?;
        }
        "memory" => eat_memory(),
        "rude-refusal" => {
            let reason = "\u{1b}[2J\u{1b}]0;owned\u{7}no\nand again no".to_owned();
            say(output, encode(&Reply { id, answer: Answer::Refused { reason } }).as_bytes())?;
        }
        other => return Err(Error::other(format!("'{other}' is no sabotage"))),
    }
    // What was said stands in place of an answer: wait for the consequences.
    linger()
}

/// Does nothing, for ever.
pub fn linger() -> ! {
    loop {
        std::thread::park();
    }
}

/// Sent twice: the first SIGSEGV is caught by Rust's own handler, which looks for an overflown stack,
/// finds none, and takes itself away.
fn die_of(signal: Signal) -> Result<()> {
    kill_process(getpid(), signal)?;
    kill_process(getpid(), signal)?;
    linger()
}

fn say(output: &mut impl Write, words: &[u8]) -> Result<()> {
    output.write_all(words)?;
    output.flush()
}

/// A block that fits into any time that may have passed.
fn plausible_block() -> Block {
    Block {
        calls_per_sample: 1,
        ticks: vec![20_000; 3],
        probes: Vec::new(),
        noise: Noise::default(),
        counters: None,
    }
}

/// Asks for more memory until there is no more, or far more than any limit has been given.
fn eat_memory() {
    const PORTION: usize = 64 << 20;
    const FAR_TOO_MUCH: usize = 1 << 40;
    for _ in 0..FAR_TOO_MUCH / PORTION {
        Vec::<u8>::with_capacity(PORTION).leak();
    }
    eprintln!("there was no limit");
    std::process::exit(0);
}
