//! A worker that does everything right.

use pqlab_tests::{Ed25519, X25519, library, subjects};

fn main() -> std::process::ExitCode {
    pqlab_worker::serve(library(), subjects(|| Ed25519, || X25519))
}
