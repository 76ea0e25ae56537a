//! The worker that holds libcrux: formally verified ML-KEM and ML-DSA. Its portable and its SIMD
//! modules are public side by side, so each is a variant of its own and nothing is dispatched.

mod ml_dsa;
mod ml_kem;

use pqlab_worker::{Library, Subject};

/// Whether the AVX2 modules, compiled on every x86-64 host, may be called here.
fn avx2_is_here() -> bool {
    libcrux_platform::simd256_support()
}

fn library() -> Library {
    let features = [
        ("avx2", cfg!(target_arch = "x86_64") && avx2_is_here()),
        ("neon", cfg!(target_arch = "aarch64") && libcrux_platform::simd128_support()),
    ];
    Library {
        name: "libcrux",
        version: "0.0.11".to_owned(),
        package: "libcrux-ml-kem 0.0.11, libcrux-ml-dsa 0.0.11",
        licence: "Apache-2.0",
        cpu_features_seen: features
            .iter()
            .filter(|(_, seen)| *seen)
            .map(|(name, _)| (*name).to_owned())
            .collect(),
    }
}

fn subjects() -> Vec<Subject> {
    let mut subjects = ml_kem::portable();
    subjects.extend(ml_dsa::portable());
    #[cfg(target_arch = "x86_64")]
    if avx2_is_here() {
        subjects.extend(ml_kem::avx2());
        subjects.extend(ml_dsa::avx2());
    }
    // Every aarch64 processor has NEON.
    #[cfg(target_arch = "aarch64")]
    {
        subjects.extend(ml_kem::neon());
        subjects.extend(ml_dsa::neon());
    }
    subjects
}

fn main() -> std::process::ExitCode {
    pqlab_worker::serve(library(), subjects())
}
