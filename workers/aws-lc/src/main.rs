//! The AWS-LC worker: NIST's lattice schemes and the classical ones they are to replace, through
//! AWS-LC's lowest public interface that takes and gives bytes.
//!
//! `ffi` calls the library; each of the other modules adapts one kind of scheme.

mod cpu;
mod curve25519;
mod elliptic;
mod ffi;
mod ml_dsa;
mod ml_kem;
mod rsa;

use pqlab_worker::{CodePath, Library, Outcome, Scheme, Subject};
use std::process::ExitCode;

fn main() -> ExitCode {
    pqlab_worker::serve(library(), subjects())
}

fn library() -> Library {
    Library {
        name: "aws-lc",
        version: ffi::version(),
        package: "aws-lc-sys 0.47.0",
        licence: "ISC AND (Apache-2.0 OR ISC) AND Apache-2.0 AND MIT AND BSD-3-Clause AND \
                  (Apache-2.0 OR ISC OR MIT) AND (Apache-2.0 OR ISC OR MIT-0)",
        cpu_features_seen: cpu::features_seen(),
    }
}

fn subjects() -> Vec<Subject> {
    use ffi::{Curve, MlDsaSet, MlKemSet};
    vec![
        subject("ML-KEM-512", || ml_kem::scheme(MlKemSet::MlKem512)),
        subject("ML-KEM-768", || ml_kem::scheme(MlKemSet::MlKem768)),
        subject("ML-KEM-1024", || ml_kem::scheme(MlKemSet::MlKem1024)),
        subject("ML-DSA-44", || ml_dsa::scheme(MlDsaSet::MlDsa44)),
        subject("ML-DSA-65", || ml_dsa::scheme(MlDsaSet::MlDsa65)),
        subject("ML-DSA-87", || ml_dsa::scheme(MlDsaSet::MlDsa87)),
        subject("RSA-2048", || rsa::scheme(2048)).own_randomness(),
        subject("RSA-3072", || rsa::scheme(3072)).own_randomness(),
        subject("RSA-4096", || rsa::scheme(4096)).own_randomness(),
        subject("ECDSA-P-256", || elliptic::ecdsa(Curve::P256)).own_randomness(),
        subject("ECDSA-secp256k1", || elliptic::ecdsa(Curve::Secp256k1)).own_randomness(),
        subject("Ed25519", curve25519::ed25519),
        subject("X25519", curve25519::x25519),
        subject("ECDH-P-256", || elliptic::ecdh(Curve::P256)).own_randomness(),
    ]
}

/// AWS-LC picks its code at run time from the CPU features it saw and does not say what it picked.
fn subject(parameter_set: &str, make: impl Fn() -> Outcome<Scheme> + Send + 'static) -> Subject {
    Subject::new(parameter_set, "dispatch", CodePath::Undisclosed, make)
}
