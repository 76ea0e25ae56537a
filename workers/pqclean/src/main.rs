//! The PQClean worker: every implementation the pqcrypto crates carry, side by side.
//!
//! `table` lists the parameter sets, `ffi` calls the implementations by their own symbols, without
//! the crates' dispatch, `adapter` lends them randomness. It holds no second library: liboqs
//! defines the same symbols (`PQCLEAN_*`), and linked together one silently runs the other's code.

mod adapter;
mod ffi;
mod table;

use pqlab_worker::{CodePath, Library, Subject};
use std::process::ExitCode;

/// The PQClean commit whose sources the pqcrypto crates carry, and its date: all six were packaged
/// from rustpq/pqcrypto ea05906f, and of their C and assembly files every one equals that commit's.
const PQCLEAN_COMMIT: &str = "66a9a03f (2025-03-03)";

const HQC_GENERATOR: &str = "its known answers use the HQC submission's SHAKE generator";

fn main() -> ExitCode {
    pqlab_worker::serve(library(), subjects())
}

fn library() -> Library {
    Library {
        name: "pqclean",
        version: PQCLEAN_COMMIT.to_owned(),
        package: "pqcrypto-falcon 0.4.1, -mldsa 0.1.2, -mlkem 0.1.1, -sphincsplus 0.7.2, \
                  -hqc 0.2.2, -classicmceliece 0.2.1",
        licence: "MIT AND CC0-1.0 AND Apache-2.0",
        cpu_features_seen: Vec::new(),
    }
}

fn subjects() -> Vec<Subject> {
    let kems = table::kems().into_iter().map(|code| {
        let path = CodePath::Called(code.symbol);
        let subject = Subject::new(code.set.name, code.variant, path, move || adapter::kem(code));
        match code.set.scheme {
            "HQC" => subject.without_first_kat(HQC_GENERATOR),
            _ => subject,
        }
    });
    let signatures = table::signatures().into_iter().map(|code| {
        let path = CodePath::Called(code.symbol);
        Subject::new(code.set.name, code.variant, path, move || adapter::signature(code))
    });
    kems.chain(signatures).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pqlab_worker::{Entropy, Scheme};

    /// A second library in this program that defines the same symbols would draw from a generator
    /// of its own.
    #[test]
    fn every_key_pair_follows_from_the_entropy_handed_over() {
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
