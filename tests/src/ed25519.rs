//! Ed25519 (RFC 8032), keys as bytes only.

use ed25519_dalek::{Signature as Encoded, Signer as _, SigningKey, Verifier as _, VerifyingKey};
use pqlab_worker::{Entropy, Failure, KeyLengths, Outcome, Signature};

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

    // Ed25519 draws no randomness to sign.
    fn sign(
        &mut self,
        secret_key: &[u8],
        message: &[u8],
        _: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        let key = SigningKey::try_from(secret_key)
            .map_err(|error| Failure::of("SigningKey::try_from", error))?;
        signature[..64].copy_from_slice(&key.sign(message).to_bytes());
        Ok(64)
    }

    fn verify(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Outcome<bool> {
        let key = VerifyingKey::try_from(public_key);
        let signature = Encoded::from_slice(signature);
        Ok(key.is_ok_and(|key| signature.is_ok_and(|s| key.verify(message, &s).is_ok())))
    }
}
