//! Revisions: the document a parameter set follows. Two revisions of one scheme are two
//! different algorithms as far as a measurement is concerned.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! revisions {
    ($($(#[$doc:meta])* $variant:ident = $label:literal, $source:literal;)*) => {
        /// The published document, and its version, that an implementation follows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Revision {
            $($(#[$doc])* #[serde(rename = $label)] $variant,)*
        }

        impl Revision {
            /// Every revision known to the catalog.
            pub const ALL: &'static [Revision] = &[$(Revision::$variant),*];

            /// The short label used on screen and in files, such as `FIPS 203`.
            pub const fn label(self) -> &'static str {
                match self { $(Revision::$variant => $label),* }
            }

            /// The document the label stands for.
            pub const fn source(self) -> &'static str {
                match self { $(Revision::$variant => $source),* }
            }
        }
    };
}

revisions! {
    /// ML-KEM.
    Fips203 = "FIPS 203", "NIST FIPS 203, Module-Lattice-Based KEM Standard, August 2024";
    /// ML-DSA.
    Fips204 = "FIPS 204", "NIST FIPS 204, Module-Lattice-Based Digital Signature Standard, August 2024";
    /// SLH-DSA.
    Fips205 = "FIPS 205", "NIST FIPS 205, Stateless Hash-Based Digital Signature Standard, August 2024";
    /// Falcon as submitted to round 3.
    FalconRound3 = "Falcon round 3", "Falcon specification v1.2, NIST PQC round 3 (upstream code 20211101)";
    /// A guess at FN-DSA published before any FIPS 206 draft.
    FnDsaGuess2026 = "FN-DSA guess 2026-07", "T. Pornin, fn-dsa 0.4: best guess at FIPS 206 as of 2026-07; no NIST draft was public";
    /// Kyber as submitted to round 3.
    KyberRound3 = "Kyber round 3", "CRYSTALS-Kyber, NIST PQC round 3 submission";
    /// Dilithium as submitted to round 3.
    DilithiumRound3 = "Dilithium round 3", "CRYSTALS-Dilithium 3.1, NIST PQC round 3 submission";
    /// SPHINCS+ as submitted to round 3, "simple" instances.
    SphincsPlus31 = "SPHINCS+ 3.1", "SPHINCS+ v3.1 (10 June 2022), NIST PQC round 3 submission, no FIPS 205 context encoding";
    /// FrodoKEM as submitted to round 3.
    FrodoRound3 = "FrodoKEM round 3", "FrodoKEM, NIST PQC round 3 submission (not the ISO draft with salt)";
    /// HQC before the FIPS 207 changes.
    Hqc20230430 = "HQC 2023-04-30", "HQC specification 2023-04-30, NIST PQC round 4; older than the FIPS 207 draft";
    /// Streamlined NTRU Prime.
    NtruPrimeRound3 = "NTRU Prime round 3", "NTRU Prime, NIST PQC round 3 submission (supercop-20200826)";
    /// Classic McEliece.
    McElieceRound4 = "McEliece 2022-10", "Classic McEliece, NIST PQC round 4 code (SUPERCOP-20221025)";
    /// BIKE.
    Bike51 = "BIKE 5.1", "BIKE specification v5.1, NIST PQC round 4";
    /// MAYO.
    MayoRound2 = "MAYO round 2", "MAYO, NIST additional signatures round 2 (February 2025)";
    /// UOV.
    UovRound2 = "UOV round 2", "UOV, NIST additional signatures round 2 (February 2025)";
    /// CROSS.
    Cross20 = "CROSS 2.0", "CROSS v2.0, NIST additional signatures round 2";
    /// RSA signatures.
    Pkcs1V15 = "PKCS #1 v1.5", "RFC 8017 RSASSA-PKCS1-v1_5 with SHA-256, e = 65537";
    /// Elliptic-curve signatures.
    Fips186 = "FIPS 186-5", "NIST FIPS 186-5 ECDSA with SHA-256, DER signatures (secp256k1: SEC 2 curve)";
    /// Ed25519.
    Rfc8032 = "RFC 8032", "RFC 8032 Ed25519";
    /// X25519.
    Rfc7748 = "RFC 7748", "RFC 7748 X25519";
    /// ECDH.
    Sp80056a = "SP 800-56A", "NIST SP 800-56A Rev. 3 ECDH, x-coordinate as the shared secret";
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}
