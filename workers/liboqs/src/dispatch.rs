//! Which of its implementations liboqs runs, worked out from what the library says it sees.
//!
//! liboqs has no call that names the code it chose, but every choice in its sources is a test of
//! `OQS_CPU_has_extension`; each family's test is repeated here, from the sources packaged in
//! oqs-sys 0.11.0 (liboqs 0.13.0), and put to the same function. Which implementations are built at
//! all is decided in `.CMake/alg_support.cmake`, by processor and operating system.
//!
//! That the tests are copied right was seen with breakpoints on the `keypair` symbol of every
//! implementation while the self-check ran: those named here were hit and no others.
//!
//! The symmetric primitives underneath are chosen apart from all this, for the portable
//! implementations too: `src/common/sha3/xkcp_sha3.c` takes the AVX2 Keccak and
//! `src/common/aes/aes_impl.c` the AES instructions wherever the processor has them.

use crate::ffi::has_extension;
use oqs_sys::common::OQS_CPU_EXT::{self, *};
use pqlab_worker::CodePath;

/// Schemes whose dispatch tests the same extensions.
#[derive(Debug, Clone, Copy)]
pub enum Family {
    /// `src/kem/bike`
    Bike,
    /// `src/kem/classic_mceliece`, the sets without `f`
    ClassicMcEliece,
    /// `src/kem/classic_mceliece`, the sets with `f`
    ClassicMcElieceF,
    /// `src/sig/cross`
    Cross,
    /// `src/sig/dilithium`
    Dilithium,
    /// `src/sig/falcon`
    Falcon,
    /// `src/kem/frodokem`
    FrodoKem,
    /// `src/kem/hqc`
    Hqc,
    /// `src/kem/kyber`
    Kyber,
    /// `src/sig/mayo`
    Mayo,
    /// `src/sig/ml_dsa`
    MlDsa,
    /// `src/kem/ml_kem`
    MlKem,
    /// `src/kem/ntruprime`
    NtruPrime,
    /// `src/sig/sphincs`
    SphincsPlus,
    /// `src/sig/uov`
    Uov,
}

/// The code that `family` runs here.
pub fn code_path(family: Family) -> CodePath {
    let has_all = |extensions: &[OQS_CPU_EXT]| extensions.iter().all(|ext| has_extension(*ext));
    let chosen = if let Family::Bike = family {
        bike(has_extension)
    } else if !avx2_needs(family).is_empty() && has_all(avx2_needs(family)) {
        "avx2".to_owned()
    } else if has_neon_code(family) && has_extension(OQS_CPU_EXT_ARM_NEON) {
        "neon".to_owned()
    } else {
        portable_name(family).to_owned()
    };
    CodePath::Reported(chosen)
}

/// What `OQS_SIG_*` and `OQS_KEM_*` of the family test before they call the AVX2 code; empty where
/// there is none. The sets of extensions are those of `sig_*.c`, `kem_*.c` and, for FrodoKEM,
/// `external/frodo_macrify_optimized.c`.
fn avx2_needs(family: Family) -> &'static [OQS_CPU_EXT] {
    if !cfg!(all(target_arch = "x86_64", any(target_os = "linux", target_os = "macos"))) {
        return &[];
    }
    match family {
        Family::Hqc | Family::Bike => &[],
        Family::Cross
        | Family::Falcon
        | Family::FrodoKem
        | Family::Mayo
        | Family::NtruPrime
        | Family::SphincsPlus
        | Family::Uov => &[OQS_CPU_EXT_AVX2],
        Family::ClassicMcEliece | Family::Dilithium | Family::MlDsa => {
            &[OQS_CPU_EXT_AVX2, OQS_CPU_EXT_POPCNT]
        }
        Family::ClassicMcElieceF => &[OQS_CPU_EXT_AVX2, OQS_CPU_EXT_POPCNT, OQS_CPU_EXT_BMI1],
        Family::Kyber | Family::MlKem => &[OQS_CPU_EXT_AVX2, OQS_CPU_EXT_BMI2, OQS_CPU_EXT_POPCNT],
    }
}

/// Whether the family has a folder `*_aarch64` or `*_neon`.
fn has_neon_code(family: Family) -> bool {
    cfg!(target_arch = "aarch64")
        && matches!(
            family,
            Family::Dilithium
                | Family::Falcon
                | Family::Kyber
                | Family::Mayo
                | Family::MlKem
                | Family::Uov
        )
}

/// The name that liboqs gives the family's portable code, the ending of its folder.
fn portable_name(family: Family) -> &'static str {
    match family {
        Family::ClassicMcEliece
        | Family::ClassicMcElieceF
        | Family::Cross
        | Family::Falcon
        | Family::Hqc
        | Family::NtruPrime
        | Family::SphincsPlus => "clean",
        Family::Dilithium | Family::Kyber | Family::MlDsa | Family::MlKem | Family::Uov => "ref",
        Family::Mayo => "opt",
        Family::Bike | Family::FrodoKem => "portable",
    }
}

/// BIKE fills function tables instead, widest first: `decode_internal.h`, `gf2x_internal.h` and
/// `sampling_internal.h` in `src/kem/bike/additional_r4`; the multiplication has a choice of its
/// own. It is the one family of liboqs 0.13.0 with AVX-512 code.
fn bike(has_extension: impl Fn(OQS_CPU_EXT) -> bool) -> String {
    let tables = [(OQS_CPU_EXT_AVX512, "avx512"), (OQS_CPU_EXT_AVX2, "avx2")];
    let products = [(OQS_CPU_EXT_VPCLMULQDQ, "vpclmulqdq"), (OQS_CPU_EXT_PCLMULQDQ, "pclmulqdq")];
    let first = |choices: [(OQS_CPU_EXT, &'static str); 2]| {
        choices.into_iter().find(|(ext, _)| has_extension(*ext)).map(|(_, name)| name)
    };
    let parts: Vec<_> = [first(tables), first(products)].into_iter().flatten().collect();
    if parts.is_empty() { portable_name(Family::Bike).to_owned() } else { parts.join("+") }
}

/// The extensions the library sees, in the words of Linux' `/proc/cpuinfo`.
pub fn extensions_seen() -> Vec<String> {
    const NAMES: [(OQS_CPU_EXT, &str); 17] = [
        (OQS_CPU_EXT_SSE, "sse"),
        (OQS_CPU_EXT_SSE2, "sse2"),
        (OQS_CPU_EXT_SSE3, "sse3"),
        (OQS_CPU_EXT_POPCNT, "popcnt"),
        (OQS_CPU_EXT_AES, "aes"),
        (OQS_CPU_EXT_PCLMULQDQ, "pclmulqdq"),
        (OQS_CPU_EXT_AVX, "avx"),
        (OQS_CPU_EXT_AVX2, "avx2"),
        (OQS_CPU_EXT_BMI1, "bmi1"),
        (OQS_CPU_EXT_BMI2, "bmi2"),
        (OQS_CPU_EXT_ADX, "adx"),
        (OQS_CPU_EXT_AVX512, "avx512f+bw+dq"),
        (OQS_CPU_EXT_VPCLMULQDQ, "vpclmulqdq"),
        (OQS_CPU_EXT_ARM_NEON, "asimd"),
        (OQS_CPU_EXT_ARM_AES, "aes"),
        (OQS_CPU_EXT_ARM_SHA2, "sha2"),
        (OQS_CPU_EXT_ARM_SHA3, "sha3"),
    ];
    NAMES.iter().filter(|(ext, _)| has_extension(*ext)).map(|(_, name)| (*name).into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bike_takes_the_widest_of_each_kind() {
        let with = |seen: &[OQS_CPU_EXT]| bike(|ext| seen.contains(&ext));
        assert_eq!(with(&[]), "portable");
        assert_eq!(with(&[OQS_CPU_EXT_AVX2, OQS_CPU_EXT_PCLMULQDQ]), "avx2+pclmulqdq");
        let all =
            [OQS_CPU_EXT_AVX2, OQS_CPU_EXT_AVX512, OQS_CPU_EXT_PCLMULQDQ, OQS_CPU_EXT_VPCLMULQDQ];
        assert_eq!(with(&all), "avx512+vpclmulqdq");
    }

    #[test]
    fn hqc_has_no_vector_code() {
        assert_eq!(code_path(Family::Hqc), CodePath::Reported("clean".into()));
    }
}
