//! ML-DSA: key generation from a seed and verification through `EVP_PKEY`, signing through the
//! exported `ml_dsa_*_sign_internal`.
//!
//! Signing leaves EVP for two reasons: EVP offers no way to give it the 32 random bytes of hedged
//! signing, and importing an expanded secret key there recomputes the public key first, which is
//! no part of signing (`PQDSA_KEY_set_raw_private_key`). It is the function EVP's own signing ends
//! in. The library keeps a secret key as bytes, so there is no prepared signer; the prepared
//! verifier saves the import of the key, which is a copy.

use crate::ffi::{self, MlDsaSet, MlDsaVerifier};
use pqlab_catalog::Operation;
use pqlab_worker::{Entropy, KeyLengths, Outcome, Scheme, Signature, Verifier};

struct MlDsa(MlDsaSet);

/// The adapter of one parameter set.
pub fn scheme(set: MlDsaSet) -> Outcome<Scheme> {
    Ok(Scheme::Signature(Box::new(MlDsa(set))))
}

impl Signature for MlDsa {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        ffi::ml_dsa_keygen(self.0, &entropy.array(), public_key, secret_key)
    }

    fn sign(
        &mut self,
        secret_key: &[u8],
        message: &[u8],
        entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        ffi::ml_dsa_sign(self.0, secret_key, message, &entropy.array(), signature)
    }

    fn verify(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Outcome<bool> {
        match MlDsaVerifier::new(self.0, public_key) {
            Ok(mut verifier) => Ok(verifier.verify(message, signature)),
            Err(_malformed_key) => Ok(false),
        }
    }

    fn prepares(&self) -> &'static [Operation] {
        &[Operation::Verify]
    }

    fn prepare_verifier(&mut self, public_key: &[u8]) -> Outcome<Box<dyn Verifier>> {
        Ok(Box::new(MlDsaVerifier::new(self.0, public_key)?))
    }
}

impl Verifier for MlDsaVerifier {
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Outcome<bool> {
        Ok(MlDsaVerifier::verify(self, message, signature))
    }
}
