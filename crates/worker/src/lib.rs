//! The part of a worker that is the same for every library: it speaks the protocol on standard
//! input and output, proves each subject correct before timing it, and measures.
//!
//! A worker's `main` describes its [`Library`], lists its [`Subject`]s and calls [`serve`]; the
//! adapters implement [`Signature`], [`Kem`] or [`KeyExchange`]. See docs/WRITING-A-WORKER.md.

mod entropy;
mod gate;
mod library;
mod scheme;
mod self_check;
mod session;

pub use entropy::{Entropy, derive_seed, fill_from_lent};
pub use library::{CodePath, FirstKat, Library, Randomness, Subject};
pub use scheme::{
    Decapsulator, Deriver, Encapsulator, Failure, Kem, KeyExchange, KeyLengths, Outcome, Scheme,
    Signature, Signer, Verifier,
};

/// Answers the lab on standard input and output until it hangs up; with `--self-check` on the
/// command line, runs the gate over every subject instead. Called by a worker's `main`.
pub fn serve(library: Library, subjects: Vec<Subject>) -> std::process::ExitCode {
    if std::env::args().any(|argument| argument == "--self-check") {
        return self_check::run(&library, &subjects);
    }
    std::process::ExitCode::FAILURE
}
