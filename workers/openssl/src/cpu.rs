//! The CPU features OpenSSL works with, taken from what it says of itself
//! (`OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS)`). That text holds the words its own dispatch tests,
//! after the mask in `OPENSSL_ia32cap`, so a masked run shows its mask.

/// Bit of each feature in the 32-bit words CPUID.1:EDX, CPUID.1:ECX, CPUID.7:EBX, CPUID.7:ECX,
/// CPUID.7:EDX, CPUID.7.1:EAX (OpenSSL `crypto/x86_64cpuid.pl`; Intel SDM volume 2, CPUID).
#[rustfmt::skip]
const X86_FEATURES: &[(usize, u32, &str)] = &[
    (0, 26, "sse2"), (1, 9, "ssse3"), (1, 19, "sse4.1"), (1, 1, "pclmulqdq"), (1, 25, "aes"),
    (1, 22, "movbe"), (1, 30, "rdrand"), (1, 28, "avx"), (1, 12, "fma"), (2, 3, "bmi1"),
    (2, 8, "bmi2"), (2, 19, "adx"), (2, 5, "avx2"), (2, 29, "sha"), (2, 16, "avx512f"),
    (2, 17, "avx512dq"), (2, 30, "avx512bw"), (2, 31, "avx512vl"), (2, 21, "avx512ifma"),
    (3, 1, "avx512vbmi"), (3, 6, "avx512vbmi2"), (3, 8, "gfni"), (3, 9, "vaes"),
    (3, 10, "vpclmulqdq"), (5, 23, "avxifma"), (5, 0, "sha512"),
];

/// Names of the features in `settings`; the text itself where its form is another one.
pub fn features_seen(settings: &str) -> Vec<String> {
    let Some(words) = x86_words(settings) else {
        return settings.split_whitespace().map(str::to_owned).collect();
    };
    X86_FEATURES
        .iter()
        .filter(|(word, bit, _)| words.get(*word).is_some_and(|word| word >> bit & 1 == 1))
        .map(|(_, _, name)| (*name).to_owned())
        .collect()
}

/// The words of `OPENSSL_ia32cap=0x…:0x…`, low half first; what follows a space is the mask.
fn x86_words(settings: &str) -> Option<Vec<u32>> {
    let values = settings.strip_prefix("OPENSSL_ia32cap=")?.split(' ').next()?;
    let mut words = Vec::new();
    for value in values.split(':') {
        let value = u64::from_str_radix(value.strip_prefix("0x")?, 16).ok()?;
        words.extend([value as u32, (value >> 32) as u32]);
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_read_from_the_words_and_not_from_the_mask() {
        // Word 1 bit 25 (AES) is bit 57 of the first value; word 2 bit 5 (AVX2) is bit 5 of the
        // second.
        let settings = "OPENSSL_ia32cap=0x0200000000000000:0x20 env::~0x40";
        assert_eq!(features_seen(settings), ["aes", "avx2"]);
    }

    #[test]
    fn another_architecture_is_quoted() {
        assert_eq!(features_seen("OPENSSL_armcap=0x3d"), ["OPENSSL_armcap=0x3d"]);
    }
}
