//! The part of a worker that is the same for every library: it speaks the protocol on standard
//! input and output, proves each subject correct before timing it, and measures.
//!
//! A worker's `main` describes its [`Library`], lists its [`Subject`]s and calls [`serve`]; the
//! adapters implement [`Signature`], [`Kem`] or [`KeyExchange`]. See docs/WRITING-A-WORKER.md.

mod buffers;
mod entropy;
mod gate;
mod job;
mod library;
mod measure;
mod scheme;
mod self_check;
mod serve;
mod session;
mod stack;

use std::process::ExitCode;

pub use buffers::Buffers;
pub use entropy::{Entropy, derive_seed, fill_from_lent};
pub use library::{CodePath, FirstKat, Library, Randomness, Subject};
pub use scheme::{
    Decapsulator, Deriver, Encapsulator, Failure, Kem, KeyExchange, KeyLengths, Outcome, Scheme,
    Signature, Signer, Verifier,
};

/// Stack of the measuring thread in bytes: Classic McEliece needs several MiB, and a library that
/// overflows it would take the worker down; pages are only committed when touched.
const STACK_BYTES: usize = 64 << 20;

/// Answers the lab on standard input and output until it hangs up; with `--self-check` on the
/// command line, runs the gate over every subject instead. Called by a worker's `main`.
pub fn serve(library: Library, subjects: Vec<Subject>) -> ExitCode {
    let self_check = std::env::args().any(|argument| argument == "--self-check");
    end_with_the_lab();
    let work = move || {
        if self_check {
            return self_check::run(&library, &subjects);
        }
        match serve::run(&library, &subjects, std::io::stdin().lock(), std::io::stdout().lock()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        }
    };
    // `join` fails only when the work panicked, and the panic has already said why.
    std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || stack::shifted(work))
        .map_or(ExitCode::FAILURE, |thread| thread.join().unwrap_or(ExitCode::FAILURE))
}

/// Asks the kernel to end this process when the lab is gone: a library that hangs would otherwise
/// outlive a killed lab and keep the measuring CPU busy for the next one.
#[cfg(target_os = "linux")]
fn end_with_the_lab() {
    use rustix::process::{Signal, set_parent_process_death_signal};
    // Refused by no kernel we know; without it, only a hung worker outlives a killed lab.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

#[cfg(not(target_os = "linux"))]
fn end_with_the_lab() {}
