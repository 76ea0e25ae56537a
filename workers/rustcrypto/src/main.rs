//! The worker that holds the RustCrypto project's crates: ML-KEM, ML-DSA, SLH-DSA, and RSA, ECDSA
//! and ECDH as the classical schemes beside them.

mod drawn;
mod ecdh;
mod ecdsa;
mod hash;
mod ml_dsa;
mod ml_kem;
mod rsa;
mod slh_dsa;

use pqlab_worker::{Library, Subject};

/// Every crate has its own version, so the worker's is the list of them.
const VERSIONS: &str = "ml-kem 0.3.4, ml-dsa 0.1.2, slh-dsa 0.2.0-rc.5, rsa 0.10.0-rc.20, \
                        p256 0.14.0, k256 0.14.0";

fn library() -> Library {
    Library {
        name: "rustcrypto",
        version: VERSIONS.to_owned(),
        package: VERSIONS,
        licence: "Apache-2.0 OR MIT",
        cpu_features_seen: Vec::new(),
    }
}

fn subjects() -> Vec<Subject> {
    let mut subjects = ml_kem::subjects();
    subjects.extend(ml_dsa::subjects());
    subjects.extend(slh_dsa::subjects());
    subjects.extend(rsa::subjects());
    subjects.extend(ecdsa::subjects());
    subjects.extend(ecdh::subjects());
    subjects
}

fn main() -> std::process::ExitCode {
    pqlab_worker::serve(library(), subjects())
}
