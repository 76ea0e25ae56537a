//! The worker that holds dalek: Ed25519 and X25519 on curve25519-dalek 5.

mod backend;
mod ed25519;
mod x25519;

use pqlab_worker::{CodePath, Library, Scheme, Subject};

const NO_KAT: &str = "the catalog has no first known answer for classical schemes";

fn library() -> Library {
    Library {
        name: "dalek",
        version: "3.0.0".to_owned(),
        package: "ed25519-dalek 3.0.0, x25519-dalek 3.0.0 (curve25519-dalek 5.0.0)",
        licence: "BSD-3-Clause",
        cpu_features_seen: Vec::new(),
    }
}

fn subjects() -> Vec<Subject> {
    vec![
        Subject::new("Ed25519", "dispatch", CodePath::Reported(backend::ed25519()), || {
            Ok(Scheme::Signature(Box::new(ed25519::Ed25519)))
        })
        .without_first_kat(NO_KAT),
        // The Montgomery ladder and the basepoint table exist in the serial backend only.
        Subject::new("X25519", "portable", CodePath::Called(backend::X25519), || {
            Ok(Scheme::KeyExchange(Box::new(x25519::X25519)))
        })
        .without_first_kat(NO_KAT),
    ]
}

fn main() -> std::process::ExitCode {
    pqlab_worker::serve(library(), subjects())
}
