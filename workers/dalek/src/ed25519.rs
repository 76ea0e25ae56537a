//! Ed25519 (RFC 8032). The secret key is the 32-byte seed, so signing with an encoded key hashes
//! the seed and computes the public key first, which about doubles its cost; the prepared signer
//! has the public key (and still hashes the seed at each signature, as the crate does).
//!
//! Verification is the crate's `verify`, the cofactorless equation of RFC 8032; `verify_strict`,
//! which also rejects keys of small order, is another call.

use ed25519_dalek::{Signature as Encoded, Signer as _, SigningKey, Verifier as _, VerifyingKey};
use pqlab_catalog::Operation;
use pqlab_worker::{Entropy, Failure, KeyLengths, Outcome, Signature, Signer, Verifier};

/// The adapter.
pub struct Ed25519;

impl Signature for Ed25519 {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        let key = SigningKey::from_bytes(&entropy.array());
        public_key[..32].copy_from_slice(key.as_ref().as_bytes());
        secret_key[..32].copy_from_slice(key.as_bytes());
        Ok(KeyLengths { public_key: 32, secret_key: 32 })
    }

    fn sign(
        &mut self,
        secret_key: &[u8],
        message: &[u8],
        entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        signing_key(secret_key)?.sign(message, entropy, signature)
    }

    fn verify(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Outcome<bool> {
        match VerifyingKey::try_from(public_key) {
            Ok(key) => PreparedVerifier(key).verify(message, signature),
            Err(_) => Ok(false),
        }
    }

    fn prepares(&self) -> &'static [Operation] {
        &[Operation::Sign, Operation::Verify]
    }

    fn prepare_signer(&mut self, secret_key: &[u8]) -> Outcome<Box<dyn Signer>> {
        Ok(Box::new(signing_key(secret_key)?))
    }

    fn prepare_verifier(&mut self, public_key: &[u8]) -> Outcome<Box<dyn Verifier>> {
        let key = VerifyingKey::try_from(public_key)
            .map_err(|e| Failure::of("VerifyingKey::try_from", e))?;
        Ok(Box::new(PreparedVerifier(key)))
    }
}

fn signing_key(secret_key: &[u8]) -> Outcome<PreparedSigner> {
    SigningKey::try_from(secret_key)
        .map(PreparedSigner)
        .map_err(|e| Failure::of("SigningKey::try_from", e))
}

struct PreparedSigner(SigningKey);

impl Signer for PreparedSigner {
    // Ed25519 draws no randomness to sign.
    fn sign(&mut self, message: &[u8], _: &mut Entropy, signature: &mut [u8]) -> Outcome<usize> {
        signature[..64].copy_from_slice(&self.0.sign(message).to_bytes());
        Ok(64)
    }
}

struct PreparedVerifier(VerifyingKey);

impl Verifier for PreparedVerifier {
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Outcome<bool> {
        let decoded = Encoded::from_slice(signature);
        Ok(decoded.is_ok_and(|signature| self.0.verify(message, &signature).is_ok()))
    }
}
