//! ML-KEM through `EVP_PKEY`, whose deterministic key generation and encapsulation are public.
//!
//! The symbols that run are `ml_kem_{512,768,1024}_{keypair_deterministic,
//! encapsulate_deterministic, decapsulate}`. A handle keeps the key's bytes as they came, so the
//! prepared form saves an allocation and a copy; the key is expanded and checked at every call.

use crate::ffi::{self, KemContext, MlKemSet};
use pqlab_catalog::Operation;
use pqlab_worker::{Decapsulator, Encapsulator, Entropy, Kem, KeyLengths, Outcome, Scheme};

struct MlKem(MlKemSet);

/// The adapter of one parameter set.
pub fn scheme(set: MlKemSet) -> Outcome<Scheme> {
    Ok(Scheme::Kem(Box::new(MlKem(set))))
}

impl Kem for MlKem {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        ffi::kem_keygen(self.0, &entropy.array(), public_key, secret_key)
    }

    fn encaps(
        &mut self,
        public_key: &[u8],
        entropy: &mut Entropy,
        ciphertext: &mut [u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        KemContext::for_public_key(self.0, public_key)?.encaps(
            &entropy.array(),
            ciphertext,
            shared_secret,
        )
    }

    fn decaps(
        &mut self,
        secret_key: &[u8],
        ciphertext: &[u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        KemContext::for_secret_key(self.0, secret_key)?.decaps(ciphertext, shared_secret)
    }

    fn prepares(&self) -> &'static [Operation] {
        &[Operation::Encaps, Operation::Decaps]
    }

    fn prepare_encapsulator(&mut self, public_key: &[u8]) -> Outcome<Box<dyn Encapsulator>> {
        Ok(Box::new(KemContext::for_public_key(self.0, public_key)?))
    }

    fn prepare_decapsulator(&mut self, secret_key: &[u8]) -> Outcome<Box<dyn Decapsulator>> {
        Ok(Box::new(KemContext::for_secret_key(self.0, secret_key)?))
    }
}

impl Encapsulator for KemContext {
    fn encaps(
        &mut self,
        entropy: &mut Entropy,
        ciphertext: &mut [u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        KemContext::encaps(self, &entropy.array(), ciphertext, shared_secret)
    }
}

impl Decapsulator for KemContext {
    fn decaps(&mut self, ciphertext: &[u8], shared_secret: &mut [u8]) -> Outcome<()> {
        KemContext::decaps(self, ciphertext, shared_secret)
    }
}
