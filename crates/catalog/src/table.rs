//! The table of parameter sets. Sizes of the NIST schemes are those of FIPS 203 §8, FIPS 204 §4,
//! FIPS 205 §11; of the others those of their submissions (as liboqs 0.13.0's datasheets list
//! them). Every row is checked against the libraries by each worker's gate.

use crate::Kind::{Kem, KeyExchange, Signature};
use crate::Length::{AtMost, Exactly};
use crate::Operation::{Keygen, Sign};
use crate::{Length, ParameterSet, Revision, Sizes, normalised};

/// Every parameter set pqlab knows, grouped by scheme.
pub const fn parameter_sets() -> &'static [ParameterSet] {
    TABLE
}

/// The parameter set of that name; case and punctuation do not matter (`mlkem768`, `ML-KEM-768`).
pub fn find(name: &str) -> Option<&'static ParameterSet> {
    let wanted = normalised(name);
    TABLE.iter().find(|set| normalised(set.name) == wanted)
}

#[allow(clippy::too_many_arguments, reason = "one argument a column of the table below")]
const fn kem(
    name: &'static str,
    scheme: &'static str,
    revision: Revision,
    level: u8,
    public_key: usize,
    secret_key: usize,
    ciphertext: usize,
    shared_secret: usize,
) -> ParameterSet {
    ParameterSet {
        name,
        scheme,
        kind: Kem,
        revision,
        level: Some(level),
        sizes: Sizes {
            public_key: Exactly(public_key),
            secret_key: Exactly(secret_key),
            output: Exactly(ciphertext),
            shared_secret,
        },
        variable_time: &[],
    }
}

const fn signature(
    name: &'static str,
    scheme: &'static str,
    revision: Revision,
    level: u8,
    public_key: usize,
    secret_key: usize,
    signature: Length,
) -> ParameterSet {
    ParameterSet {
        name,
        scheme,
        kind: Signature,
        revision,
        level: Some(level),
        sizes: Sizes {
            public_key: Exactly(public_key),
            secret_key: Exactly(secret_key),
            output: signature,
            shared_secret: 0,
        },
        variable_time: &[],
    }
}

const fn classical_signature(
    name: &'static str,
    scheme: &'static str,
    revision: Revision,
    public_key: Length,
    secret_key: Length,
    signature: Length,
) -> ParameterSet {
    ParameterSet {
        name,
        scheme,
        kind: Signature,
        revision,
        level: None,
        sizes: Sizes { public_key, secret_key, output: signature, shared_secret: 0 },
        variable_time: &[],
    }
}

const fn key_exchange(
    name: &'static str,
    scheme: &'static str,
    revision: Revision,
    public_key: usize,
    secret_key: usize,
    shared_secret: usize,
) -> ParameterSet {
    ParameterSet {
        name,
        scheme,
        kind: KeyExchange,
        revision,
        level: None,
        sizes: Sizes {
            public_key: Exactly(public_key),
            secret_key: Exactly(secret_key),
            output: Exactly(0),
            shared_secret,
        },
        variable_time: &[],
    }
}

impl ParameterSet {
    const fn varying(mut self, operations: &'static [crate::Operation]) -> ParameterSet {
        self.variable_time = operations;
        self
    }
}

#[rustfmt::skip]
const TABLE: &[ParameterSet] = &[
    kem("ML-KEM-512", "ML-KEM", Revision::Fips203, 1, 800, 1632, 768, 32),
    kem("ML-KEM-768", "ML-KEM", Revision::Fips203, 3, 1184, 2400, 1088, 32),
    kem("ML-KEM-1024", "ML-KEM", Revision::Fips203, 5, 1568, 3168, 1568, 32),
    signature("ML-DSA-44", "ML-DSA", Revision::Fips204, 2, 1312, 2560, Exactly(2420)).varying(&[Sign]),
    signature("ML-DSA-65", "ML-DSA", Revision::Fips204, 3, 1952, 4032, Exactly(3309)).varying(&[Sign]),
    signature("ML-DSA-87", "ML-DSA", Revision::Fips204, 5, 2592, 4896, Exactly(4627)).varying(&[Sign]),
    signature("SLH-DSA-SHA2-128s", "SLH-DSA", Revision::Fips205, 1, 32, 64, Exactly(7856)),
    signature("SLH-DSA-SHA2-128f", "SLH-DSA", Revision::Fips205, 1, 32, 64, Exactly(17088)),
    signature("SLH-DSA-SHA2-192s", "SLH-DSA", Revision::Fips205, 3, 48, 96, Exactly(16224)),
    signature("SLH-DSA-SHA2-192f", "SLH-DSA", Revision::Fips205, 3, 48, 96, Exactly(35664)),
    signature("SLH-DSA-SHA2-256s", "SLH-DSA", Revision::Fips205, 5, 64, 128, Exactly(29792)),
    signature("SLH-DSA-SHA2-256f", "SLH-DSA", Revision::Fips205, 5, 64, 128, Exactly(49856)),
    signature("SLH-DSA-SHAKE-128s", "SLH-DSA", Revision::Fips205, 1, 32, 64, Exactly(7856)),
    signature("SLH-DSA-SHAKE-128f", "SLH-DSA", Revision::Fips205, 1, 32, 64, Exactly(17088)),
    signature("SLH-DSA-SHAKE-192s", "SLH-DSA", Revision::Fips205, 3, 48, 96, Exactly(16224)),
    signature("SLH-DSA-SHAKE-192f", "SLH-DSA", Revision::Fips205, 3, 48, 96, Exactly(35664)),
    signature("SLH-DSA-SHAKE-256s", "SLH-DSA", Revision::Fips205, 5, 64, 128, Exactly(29792)),
    signature("SLH-DSA-SHAKE-256f", "SLH-DSA", Revision::Fips205, 5, 64, 128, Exactly(49856)),
    signature("Falcon-512", "Falcon", Revision::FalconRound3, 1, 897, 1281, AtMost(752)).varying(&[Keygen, Sign]),
    signature("Falcon-1024", "Falcon", Revision::FalconRound3, 5, 1793, 2305, AtMost(1462)).varying(&[Keygen, Sign]),
    signature("Falcon-padded-512", "Falcon", Revision::FalconRound3, 1, 897, 1281, Exactly(666)).varying(&[Keygen, Sign]),
    signature("Falcon-padded-1024", "Falcon", Revision::FalconRound3, 5, 1793, 2305, Exactly(1280)).varying(&[Keygen, Sign]),
    signature("FN-DSA-512", "FN-DSA", Revision::FnDsaGuess2026, 1, 897, 1345, Exactly(666)).varying(&[Keygen, Sign]),
    signature("FN-DSA-1024", "FN-DSA", Revision::FnDsaGuess2026, 5, 1793, 2369, Exactly(1280)).varying(&[Keygen, Sign]),
    signature("SPHINCS+-SHA2-128f-simple", "SPHINCS+", Revision::SphincsPlus31, 1, 32, 64, Exactly(17088)),
    signature("SPHINCS+-SHA2-128s-simple", "SPHINCS+", Revision::SphincsPlus31, 1, 32, 64, Exactly(7856)),
    signature("SPHINCS+-SHA2-192f-simple", "SPHINCS+", Revision::SphincsPlus31, 3, 48, 96, Exactly(35664)),
    signature("SPHINCS+-SHA2-192s-simple", "SPHINCS+", Revision::SphincsPlus31, 3, 48, 96, Exactly(16224)),
    signature("SPHINCS+-SHA2-256f-simple", "SPHINCS+", Revision::SphincsPlus31, 5, 64, 128, Exactly(49856)),
    signature("SPHINCS+-SHA2-256s-simple", "SPHINCS+", Revision::SphincsPlus31, 5, 64, 128, Exactly(29792)),
    signature("SPHINCS+-SHAKE-128f-simple", "SPHINCS+", Revision::SphincsPlus31, 1, 32, 64, Exactly(17088)),
    signature("SPHINCS+-SHAKE-128s-simple", "SPHINCS+", Revision::SphincsPlus31, 1, 32, 64, Exactly(7856)),
    signature("SPHINCS+-SHAKE-192f-simple", "SPHINCS+", Revision::SphincsPlus31, 3, 48, 96, Exactly(35664)),
    signature("SPHINCS+-SHAKE-192s-simple", "SPHINCS+", Revision::SphincsPlus31, 3, 48, 96, Exactly(16224)),
    signature("SPHINCS+-SHAKE-256f-simple", "SPHINCS+", Revision::SphincsPlus31, 5, 64, 128, Exactly(49856)),
    signature("SPHINCS+-SHAKE-256s-simple", "SPHINCS+", Revision::SphincsPlus31, 5, 64, 128, Exactly(29792)),
    signature("MAYO-1", "MAYO", Revision::MayoRound2, 1, 1420, 24, Exactly(454)),
    signature("MAYO-2", "MAYO", Revision::MayoRound2, 1, 4912, 24, Exactly(186)),
    signature("MAYO-3", "MAYO", Revision::MayoRound2, 3, 2986, 32, Exactly(681)),
    signature("MAYO-5", "MAYO", Revision::MayoRound2, 5, 5554, 40, Exactly(964)),
    signature("OV-Is", "UOV", Revision::UovRound2, 1, 412160, 348704, Exactly(96)),
    signature("OV-Ip", "UOV", Revision::UovRound2, 1, 278432, 237896, Exactly(128)),
    signature("OV-III", "UOV", Revision::UovRound2, 3, 1225440, 1044320, Exactly(200)),
    signature("OV-V", "UOV", Revision::UovRound2, 5, 2869440, 2436704, Exactly(260)),
    signature("OV-Is-pkc", "UOV", Revision::UovRound2, 1, 66576, 348704, Exactly(96)),
    signature("OV-Ip-pkc", "UOV", Revision::UovRound2, 1, 43576, 237896, Exactly(128)),
    signature("OV-III-pkc", "UOV", Revision::UovRound2, 3, 189232, 1044320, Exactly(200)),
    signature("OV-V-pkc", "UOV", Revision::UovRound2, 5, 446992, 2436704, Exactly(260)),
    signature("OV-Is-pkc-skc", "UOV", Revision::UovRound2, 1, 66576, 32, Exactly(96)),
    signature("OV-Ip-pkc-skc", "UOV", Revision::UovRound2, 1, 43576, 32, Exactly(128)),
    signature("OV-III-pkc-skc", "UOV", Revision::UovRound2, 3, 189232, 32, Exactly(200)),
    signature("OV-V-pkc-skc", "UOV", Revision::UovRound2, 5, 446992, 32, Exactly(260)),
    signature("CROSS-RSDP-128-balanced", "CROSS", Revision::Cross20, 1, 77, 32, Exactly(13152)),
    signature("CROSS-RSDP-128-fast", "CROSS", Revision::Cross20, 1, 77, 32, Exactly(18432)),
    signature("CROSS-RSDP-128-small", "CROSS", Revision::Cross20, 1, 77, 32, Exactly(12432)),
    signature("CROSS-RSDP-192-balanced", "CROSS", Revision::Cross20, 3, 115, 48, Exactly(29853)),
    signature("CROSS-RSDP-192-fast", "CROSS", Revision::Cross20, 3, 115, 48, Exactly(41406)),
    signature("CROSS-RSDP-192-small", "CROSS", Revision::Cross20, 3, 115, 48, Exactly(28391)),
    signature("CROSS-RSDP-256-balanced", "CROSS", Revision::Cross20, 5, 153, 64, Exactly(53527)),
    signature("CROSS-RSDP-256-fast", "CROSS", Revision::Cross20, 5, 153, 64, Exactly(74590)),
    signature("CROSS-RSDP-256-small", "CROSS", Revision::Cross20, 5, 153, 64, Exactly(50818)),
    signature("CROSS-RSDPG-128-balanced", "CROSS", Revision::Cross20, 1, 54, 32, Exactly(9120)),
    signature("CROSS-RSDPG-128-fast", "CROSS", Revision::Cross20, 1, 54, 32, Exactly(11980)),
    signature("CROSS-RSDPG-128-small", "CROSS", Revision::Cross20, 1, 54, 32, Exactly(8960)),
    signature("CROSS-RSDPG-192-balanced", "CROSS", Revision::Cross20, 3, 83, 48, Exactly(22464)),
    signature("CROSS-RSDPG-192-fast", "CROSS", Revision::Cross20, 3, 83, 48, Exactly(26772)),
    signature("CROSS-RSDPG-192-small", "CROSS", Revision::Cross20, 3, 83, 48, Exactly(20452)),
    signature("CROSS-RSDPG-256-balanced", "CROSS", Revision::Cross20, 5, 106, 64, Exactly(40100)),
    signature("CROSS-RSDPG-256-fast", "CROSS", Revision::Cross20, 5, 106, 64, Exactly(48102)),
    signature("CROSS-RSDPG-256-small", "CROSS", Revision::Cross20, 5, 106, 64, Exactly(36454)),
    signature("Dilithium2", "Dilithium", Revision::DilithiumRound3, 2, 1312, 2528, Exactly(2420)).varying(&[Sign]),
    signature("Dilithium3", "Dilithium", Revision::DilithiumRound3, 3, 1952, 4000, Exactly(3293)).varying(&[Sign]),
    signature("Dilithium5", "Dilithium", Revision::DilithiumRound3, 5, 2592, 4864, Exactly(4595)).varying(&[Sign]),
    kem("FrodoKEM-640-AES", "FrodoKEM", Revision::FrodoRound3, 1, 9616, 19888, 9720, 16),
    kem("FrodoKEM-640-SHAKE", "FrodoKEM", Revision::FrodoRound3, 1, 9616, 19888, 9720, 16),
    kem("FrodoKEM-976-AES", "FrodoKEM", Revision::FrodoRound3, 3, 15632, 31296, 15744, 24),
    kem("FrodoKEM-976-SHAKE", "FrodoKEM", Revision::FrodoRound3, 3, 15632, 31296, 15744, 24),
    kem("FrodoKEM-1344-AES", "FrodoKEM", Revision::FrodoRound3, 5, 21520, 43088, 21632, 32),
    kem("FrodoKEM-1344-SHAKE", "FrodoKEM", Revision::FrodoRound3, 5, 21520, 43088, 21632, 32),
    kem("HQC-128", "HQC", Revision::Hqc20230430, 1, 2249, 2305, 4433, 64).varying(&[Keygen]),
    kem("HQC-192", "HQC", Revision::Hqc20230430, 3, 4522, 4586, 8978, 64).varying(&[Keygen]),
    kem("HQC-256", "HQC", Revision::Hqc20230430, 5, 7245, 7317, 14421, 64).varying(&[Keygen]),
    kem("sntrup761", "NTRU Prime", Revision::NtruPrimeRound3, 2, 1158, 1763, 1039, 32).varying(&[Keygen]),
    kem("Classic-McEliece-348864", "Classic McEliece", Revision::McElieceRound4, 1, 261120, 6492, 96, 32).varying(&[Keygen]),
    kem("Classic-McEliece-348864f", "Classic McEliece", Revision::McElieceRound4, 1, 261120, 6492, 96, 32).varying(&[Keygen]),
    kem("Classic-McEliece-460896", "Classic McEliece", Revision::McElieceRound4, 3, 524160, 13608, 156, 32).varying(&[Keygen]),
    kem("Classic-McEliece-460896f", "Classic McEliece", Revision::McElieceRound4, 3, 524160, 13608, 156, 32).varying(&[Keygen]),
    kem("Classic-McEliece-6688128", "Classic McEliece", Revision::McElieceRound4, 5, 1044992, 13932, 208, 32).varying(&[Keygen]),
    kem("Classic-McEliece-6688128f", "Classic McEliece", Revision::McElieceRound4, 5, 1044992, 13932, 208, 32).varying(&[Keygen]),
    kem("Classic-McEliece-6960119", "Classic McEliece", Revision::McElieceRound4, 5, 1047319, 13948, 194, 32).varying(&[Keygen]),
    kem("Classic-McEliece-6960119f", "Classic McEliece", Revision::McElieceRound4, 5, 1047319, 13948, 194, 32).varying(&[Keygen]),
    kem("Classic-McEliece-8192128", "Classic McEliece", Revision::McElieceRound4, 5, 1357824, 14120, 208, 32).varying(&[Keygen]),
    kem("Classic-McEliece-8192128f", "Classic McEliece", Revision::McElieceRound4, 5, 1357824, 14120, 208, 32).varying(&[Keygen]),
    kem("BIKE-L1", "BIKE", Revision::Bike51, 1, 1541, 5223, 1573, 32).varying(&[Keygen]),
    kem("BIKE-L3", "BIKE", Revision::Bike51, 3, 3083, 10105, 3115, 32).varying(&[Keygen]),
    kem("BIKE-L5", "BIKE", Revision::Bike51, 5, 5122, 16494, 5154, 32).varying(&[Keygen]),
    kem("Kyber512", "Kyber", Revision::KyberRound3, 1, 800, 1632, 768, 32),
    kem("Kyber768", "Kyber", Revision::KyberRound3, 3, 1184, 2400, 1088, 32),
    kem("Kyber1024", "Kyber", Revision::KyberRound3, 5, 1568, 3168, 1568, 32),
    classical_signature("RSA-2048", "RSA", Revision::Pkcs1V15, Exactly(294), AtMost(1300), Exactly(256)).varying(&[Keygen]),
    classical_signature("RSA-3072", "RSA", Revision::Pkcs1V15, Exactly(422), AtMost(1900), Exactly(384)).varying(&[Keygen]),
    classical_signature("RSA-4096", "RSA", Revision::Pkcs1V15, Exactly(550), AtMost(2500), Exactly(512)).varying(&[Keygen]),
    classical_signature("ECDSA-P-256", "ECDSA", Revision::Fips186, Exactly(65), Exactly(32), AtMost(72)),
    classical_signature("ECDSA-secp256k1", "ECDSA", Revision::Fips186, Exactly(33), Exactly(32), AtMost(72)),
    classical_signature("Ed25519", "EdDSA", Revision::Rfc8032, Exactly(32), Exactly(32), Exactly(64)),
    key_exchange("X25519", "X25519", Revision::Rfc7748, 32, 32, 32),
    key_exchange("ECDH-P-256", "ECDH", Revision::Sp80056a, 65, 32, 32),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_however_they_are_punctuated() {
        let mut seen = HashSet::new();
        for set in TABLE {
            assert!(seen.insert(normalised(set.name)), "{} stands twice", set.name);
        }
    }

    /// FIPS 205 §11.1 table 2, FIPS 204 §4 table 2, FIPS 203 §8 table 3, Falcon v1.2 §3.11.
    #[test]
    fn sizes_are_those_of_the_standards() {
        let sizes = |name: &str| {
            let s = find(name).unwrap().sizes;
            (s.public_key.capacity(), s.secret_key.capacity(), s.output.capacity(), s.shared_secret)
        };
        assert_eq!(sizes("ML-KEM-512"), (800, 1632, 768, 32));
        assert_eq!(sizes("ML-KEM-768"), (1184, 2400, 1088, 32));
        assert_eq!(sizes("ML-KEM-1024"), (1568, 3168, 1568, 32));
        assert_eq!(sizes("ML-DSA-44"), (1312, 2560, 2420, 0));
        assert_eq!(sizes("ML-DSA-65"), (1952, 4032, 3309, 0));
        assert_eq!(sizes("ML-DSA-87"), (2592, 4896, 4627, 0));
        assert_eq!(sizes("SLH-DSA-SHA2-128s"), (32, 64, 7856, 0));
        assert_eq!(sizes("SLH-DSA-SHAKE-256f"), (64, 128, 49856, 0));
        assert_eq!(sizes("Falcon-padded-512"), (897, 1281, 666, 0));
        assert_eq!(sizes("Falcon-padded-1024"), (1793, 2305, 1280, 0));
    }

    #[test]
    fn a_comparison_across_revisions_is_refused_with_the_reason() {
        let (falcon, fn_dsa) = (find("falcon-512").unwrap(), find("fn-dsa-512").unwrap());
        let reason = falcon.comparable(fn_dsa).unwrap_err().to_string();
        assert!(reason.contains("Falcon round 3") && reason.contains("FN-DSA guess"), "{reason}");
        assert!(falcon.comparable(find("falcon-1024").unwrap()).is_err());
        assert_eq!(falcon.comparable(falcon), Ok(()));
    }
}
