//! The CPU features AWS-LC works with, read from the words its own dispatch tests. They are filled
//! when the library starts and already obey `OPENSSL_ia32cap`, so a masked run shows its mask.

use crate::ffi;

/// Bit of each feature in the four words CPUID.1:EDX, CPUID.1:ECX, CPUID.7:EBX, CPUID.7:ECX
/// (AWS-LC `crypto/fipsmodule/cpucap/cpu_intel.c`; Intel SDM volume 2, CPUID).
#[rustfmt::skip]
const X86_FEATURES: &[(usize, u32, &str)] = &[
    (0, 26, "sse2"), (1, 9, "ssse3"), (1, 19, "sse4.1"), (1, 1, "pclmulqdq"), (1, 25, "aes"),
    (1, 22, "movbe"), (1, 30, "rdrand"), (1, 28, "avx"), (1, 12, "fma"), (2, 3, "bmi1"),
    (2, 8, "bmi2"), (2, 19, "adx"), (2, 5, "avx2"), (2, 29, "sha"), (2, 16, "avx512f"),
    (2, 17, "avx512dq"), (2, 30, "avx512bw"), (2, 31, "avx512vl"), (2, 21, "avx512ifma"),
    (3, 1, "avx512vbmi"), (3, 6, "avx512vbmi2"), (3, 8, "gfni"), (3, 9, "vaes"),
    (3, 10, "vpclmulqdq"),
];

/// Names of the features the library sees; empty where it keeps them in another form.
pub fn features_seen() -> Vec<String> {
    let Some(words) = ffi::x86_capability_words() else { return Vec::new() };
    X86_FEATURES
        .iter()
        .filter(|(word, bit, _)| words[*word] >> bit & 1 == 1)
        .map(|(_, _, name)| (*name).to_owned())
        .collect()
}
