//! The worker that holds libsecp256k1, Bitcoin Core's C library, as ECDSA-secp256k1.

mod ecdsa;

use pqlab_worker::{CodePath, Library, Scheme, Subject};

/// The build script of secp256k1-sys does not define `USE_ASM_X86_64`, so the scalar arithmetic is
/// C too, and there is nothing to choose at run time.
const CODE_PATH: &str = "rustsecp256k1_v0_14_ecdsa_sign and _verify: C (5x52 field, 4x64 scalars), \
                         no assembly; SHA-256 of the message by the crate sha2";

fn library() -> Library {
    Library {
        name: "libsecp256k1",
        // The library has no function that tells; this is `configure.ac` of the bundled source.
        version: "0.8.0".to_owned(),
        package: "secp256k1-sys 0.14.1",
        licence: "MIT AND CC0-1.0",
        cpu_features_seen: Vec::new(),
    }
}

fn subjects() -> Vec<Subject> {
    vec![
        Subject::new("ECDSA-secp256k1", "portable", CodePath::Called(CODE_PATH), || {
            Ok(Scheme::Signature(Box::new(ecdsa::Ecdsa::new())))
        })
        .without_first_kat("the catalog has no first known answer for classical schemes"),
    ]
}

fn main() -> std::process::ExitCode {
    pqlab_worker::serve(library(), subjects())
}
