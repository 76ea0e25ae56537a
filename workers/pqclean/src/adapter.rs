//! From pqlab's traits to the library: lends the randomness of each call and nothing else.

use crate::ffi::{Code, KemCalls, SignatureCalls};
use pqlab_worker::{Entropy, Kem, KeyLengths, Outcome, Scheme, Signature};

/// `code` as a signature scheme.
pub fn signature(code: Code<SignatureCalls>) -> Outcome<Scheme> {
    Ok(Scheme::Signature(Box::new(code)))
}

/// `code` as a key encapsulation mechanism.
pub fn kem(code: Code<KemCalls>) -> Outcome<Scheme> {
    Ok(Scheme::Kem(Box::new(code)))
}

impl Signature for Code<SignatureCalls> {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        entropy.lend(|| self.keypair(public_key, secret_key))
    }

    fn sign(
        &mut self,
        secret_key: &[u8],
        message: &[u8],
        entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        entropy.lend(|| Code::sign(self, secret_key, message, signature))
    }

    fn verify(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Outcome<bool> {
        Ok(Code::verify(self, public_key, message, signature))
    }
}

impl Kem for Code<KemCalls> {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        entropy.lend(|| self.keypair(public_key, secret_key))
    }

    fn encaps(
        &mut self,
        public_key: &[u8],
        entropy: &mut Entropy,
        ciphertext: &mut [u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        entropy.lend(|| Code::encaps(self, public_key, ciphertext, shared_secret))
    }

    fn decaps(
        &mut self,
        secret_key: &[u8],
        ciphertext: &[u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        Code::decaps(self, secret_key, ciphertext, shared_secret)
    }
}
