//! The parameter sets and, for each, the implementations built for this processor: one line adds
//! one parameter set.
//!
//! After the catalog's name stands the name in PQClean's symbols, then the implementations it has
//! beside `clean`.

use crate::ffi::{Code, KemCalls, SignatureCalls, kem, signature, signature_with_context};

/// Every key encapsulation mechanism of the tiers built.
pub fn kems() -> Vec<Code<KemCalls>> {
    let mut codes = Vec::new();
    kem!(codes, "ML-KEM-512", "MLKEM512", avx2, neon);
    kem!(codes, "ML-KEM-768", "MLKEM768", avx2, neon);
    kem!(codes, "ML-KEM-1024", "MLKEM1024", avx2, neon);
    #[cfg(feature = "tier-default")]
    {
        kem!(codes, "HQC-128", "HQC128",);
        kem!(codes, "HQC-192", "HQC192",);
        kem!(codes, "HQC-256", "HQC256",);
    }
    #[cfg(feature = "tier-all")]
    {
        kem!(codes, "Classic-McEliece-348864", "MCELIECE348864", avx2);
        kem!(codes, "Classic-McEliece-348864f", "MCELIECE348864F", avx2);
        kem!(codes, "Classic-McEliece-460896", "MCELIECE460896", avx2);
        kem!(codes, "Classic-McEliece-460896f", "MCELIECE460896F", avx2);
        kem!(codes, "Classic-McEliece-6688128", "MCELIECE6688128", avx2);
        kem!(codes, "Classic-McEliece-6688128f", "MCELIECE6688128F", avx2);
        kem!(codes, "Classic-McEliece-6960119", "MCELIECE6960119", avx2);
        kem!(codes, "Classic-McEliece-6960119f", "MCELIECE6960119F", avx2);
        kem!(codes, "Classic-McEliece-8192128", "MCELIECE8192128", avx2);
        kem!(codes, "Classic-McEliece-8192128f", "MCELIECE8192128F", avx2);
    }
    codes
}

/// Every signature scheme of the tiers built.
pub fn signatures() -> Vec<Code<SignatureCalls>> {
    let mut codes = Vec::new();
    signature!(codes, "Falcon-512", "FALCON512", avx2, neon);
    signature!(codes, "Falcon-1024", "FALCON1024", avx2, neon);
    signature!(codes, "Falcon-padded-512", "FALCONPADDED512", avx2, neon);
    signature!(codes, "Falcon-padded-1024", "FALCONPADDED1024", avx2, neon);
    signature_with_context!(codes, "ML-DSA-44", "MLDSA44", avx2, neon);
    signature_with_context!(codes, "ML-DSA-65", "MLDSA65", avx2, neon);
    signature_with_context!(codes, "ML-DSA-87", "MLDSA87", avx2, neon);
    #[cfg(feature = "tier-default")]
    {
        signature!(codes, "SPHINCS+-SHA2-128f-simple", "SPHINCSSHA2128FSIMPLE", avx2);
        signature!(codes, "SPHINCS+-SHA2-128s-simple", "SPHINCSSHA2128SSIMPLE", avx2);
        signature!(codes, "SPHINCS+-SHA2-192f-simple", "SPHINCSSHA2192FSIMPLE", avx2);
        signature!(codes, "SPHINCS+-SHA2-192s-simple", "SPHINCSSHA2192SSIMPLE", avx2);
        signature!(codes, "SPHINCS+-SHA2-256f-simple", "SPHINCSSHA2256FSIMPLE", avx2);
        signature!(codes, "SPHINCS+-SHA2-256s-simple", "SPHINCSSHA2256SSIMPLE", avx2);
        signature!(codes, "SPHINCS+-SHAKE-128f-simple", "SPHINCSSHAKE128FSIMPLE", avx2);
        signature!(codes, "SPHINCS+-SHAKE-128s-simple", "SPHINCSSHAKE128SSIMPLE", avx2);
        signature!(codes, "SPHINCS+-SHAKE-192f-simple", "SPHINCSSHAKE192FSIMPLE", avx2);
        signature!(codes, "SPHINCS+-SHAKE-192s-simple", "SPHINCSSHAKE192SSIMPLE", avx2);
        signature!(codes, "SPHINCS+-SHAKE-256f-simple", "SPHINCSSHAKE256FSIMPLE", avx2);
        signature!(codes, "SPHINCS+-SHAKE-256s-simple", "SPHINCSSHAKE256SSIMPLE", avx2);
    }
    codes
}
