//! The part of a worker that is the same for every library: it speaks the protocol on standard
//! input and output, proves each subject correct before timing it, and measures.
//!
//! A worker's `main` describes its [`Library`], lists its [`Subject`]s and calls [`serve`]; the
//! adapters implement [`Signature`], [`Kem`] or [`KeyExchange`]. See docs/WRITING-A-WORKER.md.

mod entropy;
mod library;
mod scheme;

pub use entropy::{Entropy, derive_seed, fill_from_lent};
pub use library::{CodePath, FirstKat, Library, Randomness, Subject};
pub use scheme::{
    Decapsulator, Deriver, Encapsulator, Failure, Kem, KeyExchange, KeyLengths, Outcome, Scheme,
    Signature, Signer, Verifier,
};

/// Answers the lab on standard input and output until it hangs up. Called by a worker's `main`.
pub fn serve(_library: Library, _subjects: Vec<Subject>) -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
