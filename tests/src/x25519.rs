//! X25519 (RFC 7748).

use pqlab_worker::{Entropy, Failure, KeyExchange, KeyLengths, Outcome};
use x25519_dalek::{PublicKey, StaticSecret};

/// The adapter.
pub struct X25519;

impl KeyExchange for X25519 {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        let secret = StaticSecret::from(entropy.array::<32>());
        public_key[..32].copy_from_slice(PublicKey::from(&secret).as_bytes());
        secret_key[..32].copy_from_slice(secret.as_bytes());
        Ok(KeyLengths { public_key: 32, secret_key: 32 })
    }

    fn derive(
        &mut self,
        secret_key: &[u8],
        peer_public_key: &[u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        let secret = StaticSecret::from(key_bytes(secret_key)?);
        let shared = secret.diffie_hellman(&PublicKey::from(key_bytes(peer_public_key)?));
        shared_secret[..32].copy_from_slice(shared.as_bytes());
        Ok(())
    }
}

fn key_bytes(encoded: &[u8]) -> Outcome<[u8; 32]> {
    encoded.try_into().map_err(|_| Failure(format!("an X25519 key of {} bytes", encoded.len())))
}
