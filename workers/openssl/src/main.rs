//! The OpenSSL worker: the NIST schemes and the classical ones they are to replace, through the
//! `EVP_PKEY` interface every program uses.
//!
//! `ffi` calls the library, `keys` reads and writes keys, `signature`, `kem` and `exchange` adapt
//! the three kinds of scheme. build.rs builds the library.

mod cpu;
mod exchange;
mod ffi;
mod kem;
mod keys;
mod signature;

use ffi::Takes;
use keys::KeyKind;
use pqlab_worker::{CodePath, Library, Outcome, Scheme, Subject};
use signature::Signing;
use std::ffi::CStr;
use std::process::ExitCode;

fn main() -> ExitCode {
    pqlab_worker::serve(library(), subjects())
}

fn library() -> Library {
    Library {
        name: "openssl",
        version: ffi::version(),
        package: "openssl-src 400.0.2",
        licence: "Apache-2.0",
        cpu_features_seen: cpu::features_seen(&ffi::cpu_settings()),
    }
}

/// The catalog's name of each SLH-DSA parameter set, which is OpenSSL's too, and its n (FIPS 205
/// §11, table 2).
const SLH_DSA: &[(&str, &CStr, usize)] = &[
    ("SLH-DSA-SHA2-128s", c"SLH-DSA-SHA2-128s", 16),
    ("SLH-DSA-SHA2-128f", c"SLH-DSA-SHA2-128f", 16),
    ("SLH-DSA-SHA2-192s", c"SLH-DSA-SHA2-192s", 24),
    ("SLH-DSA-SHA2-192f", c"SLH-DSA-SHA2-192f", 24),
    ("SLH-DSA-SHA2-256s", c"SLH-DSA-SHA2-256s", 32),
    ("SLH-DSA-SHA2-256f", c"SLH-DSA-SHA2-256f", 32),
    ("SLH-DSA-SHAKE-128s", c"SLH-DSA-SHAKE-128s", 16),
    ("SLH-DSA-SHAKE-128f", c"SLH-DSA-SHAKE-128f", 16),
    ("SLH-DSA-SHAKE-192s", c"SLH-DSA-SHAKE-192s", 24),
    ("SLH-DSA-SHAKE-192f", c"SLH-DSA-SHAKE-192f", 24),
    ("SLH-DSA-SHAKE-256s", c"SLH-DSA-SHAKE-256s", 32),
    ("SLH-DSA-SHAKE-256f", c"SLH-DSA-SHAKE-256f", 32),
];

const P256: KeyKind = KeyKind::Curve(c"P-256", c"uncompressed");
const SECP256K1: KeyKind = KeyKind::Curve(c"secp256k1", c"compressed");

fn subjects() -> Vec<Subject> {
    let mut subjects = vec![
        subject("ML-KEM-512", || kem::scheme(c"ML-KEM-512")),
        subject("ML-KEM-768", || kem::scheme(c"ML-KEM-768")),
        subject("ML-KEM-1024", || kem::scheme(c"ML-KEM-1024")),
        subject("ML-DSA-44", || signature::scheme(ml_dsa(c"ML-DSA-44"))),
        subject("ML-DSA-65", || signature::scheme(ml_dsa(c"ML-DSA-65"))),
        subject("ML-DSA-87", || signature::scheme(ml_dsa(c"ML-DSA-87"))),
    ];
    for &(set, name, n) in SLH_DSA {
        subjects.push(subject(set, move || signature::scheme(slh_dsa(name, n))));
    }
    subjects.extend([
        subject("RSA-2048", || signature::scheme(rsa(2048))).own_randomness(),
        subject("RSA-3072", || signature::scheme(rsa(3072))).own_randomness(),
        subject("RSA-4096", || signature::scheme(rsa(4096))).own_randomness(),
        subject("ECDSA-P-256", || signature::scheme(ecdsa(P256))).own_randomness(),
        subject("ECDSA-secp256k1", || signature::scheme(ecdsa(SECP256K1))).own_randomness(),
        subject("Ed25519", || signature::scheme(ed25519())),
        subject("X25519", || exchange::scheme(KeyKind::RandomBytes(c"X25519"))),
        subject("ECDH-P-256", || exchange::scheme(P256)).own_randomness(),
    ]);
    subjects
}

/// OpenSSL picks its code at run time from the CPU features it saw and does not say what it picked.
fn subject(parameter_set: &str, make: impl Fn() -> Outcome<Scheme> + Send + 'static) -> Subject {
    Subject::new(parameter_set, "dispatch", CodePath::Undisclosed, make)
}

/// Seed ξ of key generation and rnd of hedged signing: 32 bytes each (FIPS 204 §5).
fn ml_dsa(name: &'static CStr) -> Signing {
    Signing {
        algorithm: name,
        keys: KeyKind::Seeded(name, 32),
        takes: Takes::Message,
        randomizer_bytes: 32,
        names_hash: false,
    }
}

/// SK.seed, SK.prf and PK.seed of key generation and addrnd of hedged signing: n bytes each (FIPS
/// 205 §9, §10).
fn slh_dsa(name: &'static CStr, n: usize) -> Signing {
    Signing {
        algorithm: name,
        keys: KeyKind::Seeded(name, 3 * n),
        takes: Takes::Message,
        randomizer_bytes: n,
        names_hash: false,
    }
}

/// OpenSSL's default padding for RSA is PKCS #1 v1.5.
fn rsa(bits: u16) -> Signing {
    Signing {
        algorithm: c"RSA",
        keys: KeyKind::Rsa(bits),
        takes: Takes::Digest,
        randomizer_bytes: 0,
        names_hash: true,
    }
}

fn ecdsa(keys: KeyKind) -> Signing {
    Signing {
        algorithm: c"ECDSA",
        keys,
        takes: Takes::Digest,
        randomizer_bytes: 0,
        names_hash: false,
    }
}

fn ed25519() -> Signing {
    Signing {
        algorithm: c"ED25519",
        keys: KeyKind::RandomBytes(c"ED25519"),
        takes: Takes::Message,
        randomizer_bytes: 0,
        names_hash: false,
    }
}
