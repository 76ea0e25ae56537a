//! The liboqs worker: every scheme of the packaged liboqs through its ordinary API, and beside it
//! the portable code of the headline schemes through that code's own symbols.
//!
//! `ffi` calls the library, `dispatch` asks it which code it chose, `adapter` lends it randomness.
//! It holds no second library: liboqs and PQClean define the same symbols (`PQCLEAN_*`), and linked
//! together one of them silently runs the other's code.

mod adapter;
mod dispatch;
mod ffi;

use dispatch::Family;
use pqlab_catalog::ParameterSet;
use pqlab_worker::{CodePath, Library, Outcome, Scheme, Subject};
use std::process::ExitCode;

const HQC_GENERATOR: &str = "its known answers use the HQC submission's SHAKE generator";

fn main() -> ExitCode {
    ffi::start();
    pqlab_worker::serve(library(), subjects())
}

fn library() -> Library {
    Library {
        name: "liboqs",
        version: ffi::version(),
        package: "oqs-sys 0.11.0",
        licence: "MIT",
        cpu_features_seen: dispatch::extensions_seen(),
    }
}

fn subjects() -> Vec<Subject> {
    let mut subjects = headline();
    if cfg!(feature = "tier-default") {
        subjects.extend(tier_default());
    }
    if cfg!(feature = "tier-all") {
        subjects.extend(tier_all());
    }
    subjects
}

fn headline() -> Vec<Subject> {
    let mut subjects = Vec::new();
    subjects.extend(["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"].map(|set| kem(set, Family::MlKem)));
    subjects.extend(["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"].map(|set| sig(set, Family::MlDsa)));
    subjects.extend(
        ["Falcon-512", "Falcon-1024", "Falcon-padded-512", "Falcon-padded-1024"]
            .map(|set| sig(set, Family::Falcon)),
    );
    for code in ffi::portable::kems() {
        let path = CodePath::Called(code.symbol);
        let make = move || adapter::kem(code);
        subjects.push(Subject::new(code.set.name, code.variant, path, make));
    }
    for code in ffi::portable::signatures() {
        let path = CodePath::Called(code.symbol);
        let make = move || adapter::signature(code);
        subjects.push(Subject::new(code.set.name, code.variant, path, make));
    }
    subjects
}

fn tier_default() -> Vec<Subject> {
    let mut subjects = Vec::new();
    for hash in ["SHA2", "SHAKE"] {
        for size in ["128f", "128s", "192f", "192s", "256f", "256s"] {
            subjects.push(sig(&format!("SPHINCS+-{hash}-{size}-simple"), Family::SphincsPlus));
        }
    }
    subjects.extend(["MAYO-1", "MAYO-2", "MAYO-3", "MAYO-5"].map(|set| sig(set, Family::Mayo)));
    for size in ["Is", "Ip", "III", "V"] {
        for keys in ["", "-pkc", "-pkc-skc"] {
            subjects.push(sig(&format!("OV-{size}{keys}"), Family::Uov));
        }
    }
    for size in ["640", "976", "1344"] {
        for matrix in ["AES", "SHAKE"] {
            subjects.push(kem(&format!("FrodoKEM-{size}-{matrix}"), Family::FrodoKem));
        }
    }
    subjects.push(kem("sntrup761", Family::NtruPrime));
    subjects.extend(
        ["HQC-128", "HQC-192", "HQC-256"]
            .map(|set| kem(set, Family::Hqc).without_first_kat(HQC_GENERATOR)),
    );
    subjects
}

fn tier_all() -> Vec<Subject> {
    let mut subjects = Vec::new();
    for problem in ["RSDP", "RSDPG"] {
        for size in ["128", "192", "256"] {
            for goal in ["balanced", "fast", "small"] {
                subjects.push(sig(&format!("CROSS-{problem}-{size}-{goal}"), Family::Cross));
            }
        }
    }
    subjects
        .extend(["Dilithium2", "Dilithium3", "Dilithium5"].map(|set| sig(set, Family::Dilithium)));
    subjects.extend(["Kyber512", "Kyber768", "Kyber1024"].map(|set| kem(set, Family::Kyber)));
    subjects.extend(["BIKE-L1", "BIKE-L3", "BIKE-L5"].map(|set| kem(set, Family::Bike)));
    for size in ["348864", "460896", "6688128", "6960119", "8192128"] {
        let set = format!("Classic-McEliece-{size}");
        subjects.push(kem(&set, Family::ClassicMcEliece));
        subjects.push(kem(&format!("{set}f"), Family::ClassicMcElieceF));
    }
    subjects
}

/// A signature scheme as `OQS_SIG_new` gives it.
fn sig(set: &str, family: Family) -> Subject {
    dispatched(set, family, |set| adapter::signature(ffi::DispatchedSignature::new(set)?))
}

/// A key encapsulation mechanism as `OQS_KEM_new` gives it.
fn kem(set: &str, family: Family) -> Subject {
    dispatched(set, family, |set| adapter::kem(ffi::DispatchedKem::new(set)?))
}

fn dispatched(
    set: &str,
    family: Family,
    make: fn(&'static ParameterSet) -> Outcome<Scheme>,
) -> Subject {
    let set = pqlab_catalog::find(set).unwrap_or_else(|| panic!("'{set}' is not in the catalog"));
    Subject::new(set.name, "dispatch", dispatch::code_path(family), move || make(set))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pqlab_worker::Entropy;

    /// A second library in this program that defines the same symbols would draw from a generator
    /// of its own.
    #[test]
    fn every_key_pair_follows_from_the_entropy_handed_over() {
        ffi::start();
        for subject in subjects() {
            if subject.parameter_set.scheme == "Classic McEliece" {
                continue; // Needs more stack than a test's thread has.
            }
            let fresh = || {
                let sizes = &subject.parameter_set.sizes;
                let mut pk = vec![0; sizes.public_key.capacity()];
                let mut sk = vec![0; sizes.secret_key.capacity()];
                let mut entropy = Entropy::seeded(7);
                match (subject.make)().unwrap() {
                    Scheme::Signature(mut code) => code.keygen(&mut entropy, &mut pk, &mut sk),
                    Scheme::Kem(mut code) => code.keygen(&mut entropy, &mut pk, &mut sk),
                    Scheme::KeyExchange(_) => unreachable!("this library has none"),
                }
                .unwrap();
                (pk, sk)
            };
            assert!(fresh() == fresh(), "{} draws elsewhere", subject.id());
        }
    }

    #[test]
    fn worker_toml_tells_what_is_built() {
        let toml = include_str!("../worker.toml");
        let library = library();
        for told in [library.name, &library.version, library.package] {
            assert!(toml.contains(&format!("= \"{told}\"\n")), "{told}");
        }
        for subject in subjects() {
            let id = subject.parameter_set.id();
            assert!(toml.contains(&format!("\"{id}\"")), "{id} is not offered");
        }
    }
}
