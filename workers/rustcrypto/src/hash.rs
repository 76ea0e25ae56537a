//! Which code of the hash crates runs. They do not tell, so this repeats the tests that sha2 0.11
//! and keccak 0.2 make through the crate cpufeatures, and refuses to guess more.

/// What SHA-256 of sha2 0.11 runs on this processor.
pub fn sha256() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("sha") && std::arch::is_x86_feature_detected!("sse4.1") {
        return "SHA-NI";
    }
    #[cfg(target_arch = "aarch64")]
    if std::arch::is_aarch64_feature_detected!("sha2") {
        return "the SHA-2 instructions";
    }
    "portable code"
}

/// What SHA-512 of sha2 0.11 runs on this processor.
pub fn sha512() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        return "AVX2";
    }
    #[cfg(target_arch = "aarch64")]
    if std::arch::is_aarch64_feature_detected!("sha3") {
        return "the SHA-512 instructions";
    }
    "portable code"
}

/// What Keccak of keccak 0.2 runs on this processor.
pub fn keccak() -> &'static str {
    #[cfg(target_arch = "aarch64")]
    if std::arch::is_aarch64_feature_detected!("sha3") {
        return "the SHA-3 instructions";
    }
    "portable code"
}

/// The variant of a scheme that is portable but for Keccak, which only aarch64 can accelerate.
pub const KECCAK_VARIANT: &str =
    if cfg!(target_arch = "aarch64") { "dispatch" } else { "portable" };
