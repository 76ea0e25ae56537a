//! From pqlab's traits to the library: lends the randomness of each call and nothing else.

use crate::ffi::{KemCode, SignatureCode};
use pqlab_worker::{Entropy, Kem, KeyLengths, Outcome, Scheme, Signature};

/// `code` as a signature scheme.
pub fn signature(code: impl SignatureCode + 'static) -> Outcome<Scheme> {
    Ok(Scheme::Signature(Box::new(Adapter(code))))
}

/// `code` as a key encapsulation mechanism.
pub fn kem(code: impl KemCode + 'static) -> Outcome<Scheme> {
    Ok(Scheme::Kem(Box::new(Adapter(code))))
}

struct Adapter<Code>(Code);

impl<Code: SignatureCode> Signature for Adapter<Code> {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        entropy.lend(|| self.0.keypair(public_key, secret_key))
    }

    fn sign(
        &mut self,
        secret_key: &[u8],
        message: &[u8],
        entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        entropy.lend(|| self.0.sign(secret_key, message, signature))
    }

    fn verify(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Outcome<bool> {
        Ok(self.0.verify(public_key, message, signature))
    }
}

impl<Code: KemCode> Kem for Adapter<Code> {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        entropy.lend(|| self.0.keypair(public_key, secret_key))
    }

    fn encaps(
        &mut self,
        public_key: &[u8],
        entropy: &mut Entropy,
        ciphertext: &mut [u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        entropy.lend(|| self.0.encaps(public_key, ciphertext, shared_secret))
    }

    fn decaps(
        &mut self,
        secret_key: &[u8],
        ciphertext: &[u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        self.0.decaps(secret_key, ciphertext, shared_secret)
    }
}
