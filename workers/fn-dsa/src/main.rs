//! The worker that holds fn-dsa by Thomas Pornin, in the two versions that are two algorithms:
//! 0.3.0 in its original-Falcon mode, as Falcon-padded-512/1024 of round 3, and 0.4.0 as
//! FN-DSA-512/1024, its author's guess at FIPS 206.
//!
//! The encodings of 0.3.0 are those of round 3: public keys (header 0x00 + logn, 14 bits a
//! coefficient), secret keys (0x50 + logn, then f, g and F) and padded signatures (0x30 + logn,
//! 40-byte nonce, compressed s2, zeros) pass between it and PQClean in both directions. It
//! verifies only the padded length, so it does not offer Falcon-512/1024, whose signatures vary.

mod adapter;

use pqlab_worker::{CodePath, Library, Outcome, Scheme, Signature, Subject};

const NO_KAT_0_3: &str = "fn-dsa generates keys with another algorithm (ntrugen) and feeds its \
                          samplers from SHAKE256 where the reference uses ChaCha20";
const NO_KAT_0_4: &str = "no vector was published for this guess at FIPS 206";

fn library() -> Library {
    let avx2 = adapter::v0_3::has_avx2() && adapter::v0_4::has_avx2();
    Library {
        name: "fn-dsa",
        version: "0.3.0 and 0.4.0".to_owned(),
        package: "fn-dsa 0.3.0, fn-dsa 0.4.0",
        licence: "Unlicense",
        cpu_features_seen: if avx2 { vec!["avx2".to_owned()] } else { Vec::new() },
    }
}

fn subjects() -> Vec<Subject> {
    let falcon = |name, make: fn() -> Box<dyn Signature>| {
        subject(name, "0.3.0", adapter::v0_3::has_avx2(), make).without_first_kat(NO_KAT_0_3)
    };
    let fn_dsa = |name, make: fn() -> Box<dyn Signature>| {
        subject(name, "0.4.0", adapter::v0_4::has_avx2(), make).without_first_kat(NO_KAT_0_4)
    };
    vec![
        falcon("Falcon-padded-512", || Box::new(adapter::v0_3::Degree512::new())),
        falcon("Falcon-padded-1024", || Box::new(adapter::v0_3::Degree1024::new())),
        fn_dsa("FN-DSA-512", || Box::new(adapter::v0_4::Degree512::new())),
        fn_dsa("FN-DSA-1024", || Box::new(adapter::v0_4::Degree1024::new())),
    ]
}

fn subject(
    parameter_set: &str,
    version: &str,
    avx2: bool,
    make: fn() -> Box<dyn Signature>,
) -> Subject {
    let chosen = if avx2 { "AVX2" } else { "portable code" };
    let code_path = CodePath::Reported(format!("fn-dsa {version} chose {chosen}"));
    let scheme = move || -> Outcome<Scheme> { Ok(Scheme::Signature(make())) };
    Subject::new(parameter_set, "dispatch", code_path, scheme)
}

fn main() -> std::process::ExitCode {
    pqlab_worker::serve(library(), subjects())
}
