//! Which code of curve25519-dalek 5 runs. The crate does not tell, so this repeats the decision of
//! its `build.rs` and of `get_selected_backend` in its `src/backend.rs`, and refuses to guess more.
//!
//! Only multiplication by a variable point is vectorised, so only Ed25519 verification gains. AVX2
//! is chosen at run time; AVX-512 IFMA is not: it is compiled in only if the whole build is for a
//! target that has it (`-C target-cpu=native`), and only then tested at run time.

/// The code X25519 runs, whatever the processor.
pub const X25519: &str = "x25519_dalek on curve25519_dalek::backend::serial: Montgomery ladder \
                          to derive, Edwards basepoint table to generate keys";

/// The code Ed25519 runs on this processor.
pub fn ed25519() -> String {
    format!(
        "curve25519-dalek 5.0.0: verify on {}; keygen and sign on the serial basepoint table; \
         SHA-512 of sha2 0.11 on {}",
        verification(),
        if has_avx2() { "AVX2" } else { "portable code" }
    )
}

// The first condition is a flag that curve25519-dalek documents: it is set on the command line.
#[allow(unexpected_cfgs, reason = "curve25519_dalek_backend is another crate's flag")]
fn verification() -> &'static str {
    let forced_serial =
        cfg!(any(curve25519_dalek_backend = "serial", curve25519_dalek_backend = "fiat"));
    let forced_avx2 = cfg!(curve25519_dalek_backend = "simd");
    let built_for_ifma = cfg!(all(target_feature = "avx512ifma", target_feature = "avx512vl"));
    if forced_serial || !has_avx2() {
        "the serial backend"
    } else if built_for_ifma && !forced_avx2 {
        "the AVX-512 IFMA backend"
    } else {
        "the AVX2 backend"
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}
