//! A worker that does one thing wrong, the one it is named after: `pqlab-worker-hang-at-gate`
//! hangs when asked for its gate, `pqlab-worker-zero-time` says that nothing takes any time.
//!
//! Three kinds of sabotage: in the cryptography ([`library`]), in what is said ([`tamper`]), and
//! acts that end or cripple the process ([`strike`]). The last two sit between the lab and an
//! honest copy of this program ([`proxy`]), so everything around the one deed is as it should be.

mod library;
mod proxy;
mod strike;
mod tamper;

use pqlab_tests::{Ed25519, X25519, own_name, subjects};
use std::process::ExitCode;

/// Told by the proxy to its copy: work honestly, whatever the name says.
const HONESTLY: &str = "--honestly";

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == HONESTLY) {
        return pqlab_worker::serve(pqlab_tests::library(), subjects(|| Ed25519, || X25519));
    }
    if std::env::args().any(|argument| argument == strike::LINGER) {
        strike::linger();
    }
    let name = own_name();
    if let Some(subjects) = library::sabotaged(name) {
        return pqlab_worker::serve(pqlab_tests::library(), subjects);
    }
    match proxy::run(name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
