//! The test workers' library: Ed25519 and X25519, for real, so that the honest worker passes its
//! gate honestly and a saboteur differs from it in one deed only.
//!
//! This package holds the tests of pqlab's promises (`tests/promises`) and the two programs they
//! need: a worker that does everything right and a worker that does one thing wrong. The saboteur
//! is told what to do by the name it is started under: a test links it into a folder as
//! `pqlab-worker-hang-at-gate`, and that is what it does. So one run can have several saboteurs,
//! and a folder's listing says what a test is about. Faults are tested through the `pqlab_lab`
//! library, with limits of seconds instead of minutes; what a person sees (exit codes, sentences,
//! JSON, kill -9, Ctrl-C) is tested on the `pqlab` program, which the tests have cargo build first.

mod ed25519;
mod x25519;

pub use ed25519::Ed25519;
pub use x25519::X25519;

use pqlab_worker::{CodePath, KeyExchange, Library, Scheme, Signature, Subject};
use std::path::Path;

/// What every worker program's name begins with.
pub const PROGRAM_PREFIX: &str = "pqlab-worker-";

/// The name this program was started under, without the prefix: the name of its library.
pub fn own_name() -> &'static str {
    let program = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.strip_prefix(PROGRAM_PREFIX).unwrap_or(&name).to_owned().leak()
}

/// The library of a test worker.
pub fn library() -> Library {
    Library {
        name: own_name(),
        version: "1.0".to_owned(),
        package: "dalek 3.0.0",
        licence: "BSD-3-Clause",
        cpu_features_seen: Vec::new(),
    }
}

/// Both subjects, with adapters that a saboteur may replace.
pub fn subjects<S, K>(
    signature: impl Fn() -> S + Send + 'static,
    key_exchange: impl Fn() -> K + Send + 'static,
) -> Vec<Subject>
where
    S: Signature + 'static,
    K: KeyExchange + 'static,
{
    const NO_KAT: &str = "the catalog has no first known answer for classical schemes";
    vec![
        Subject::new("Ed25519", "test", CodePath::Called("ed25519_dalek"), move || {
            Ok(Scheme::Signature(Box::new(signature())))
        })
        .without_first_kat(NO_KAT),
        Subject::new("X25519", "test", CodePath::Called("x25519_dalek"), move || {
            Ok(Scheme::KeyExchange(Box::new(key_exchange())))
        })
        .without_first_kat(NO_KAT),
    ]
}
