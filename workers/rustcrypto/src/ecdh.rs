//! ECDH over P-256, the x-coordinate as shared secret. A secret key is its scalar, so there is
//! nothing to prepare; the peer's point is checked to lie on the curve at each derivation.

use crate::drawn::Drawn;
use p256::elliptic_curve::{Generate, sec1::ToSec1Point};
use p256::{PublicKey, SecretKey};
use pqlab_worker::{CodePath, Entropy, Failure, KeyExchange, KeyLengths, Outcome, Scheme, Subject};

/// The subjects of this module.
pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::new("ECDH-P-256", "portable", CodePath::Called("p256: portable Rust"), || {
            Ok(Scheme::KeyExchange(Box::new(Adapter)))
        })
        .without_first_kat("the catalog has no first known answer for classical schemes"),
    ]
}

struct Adapter;

impl KeyExchange for Adapter {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        let key = SecretKey::generate_from_rng(&mut Drawn(entropy));
        let (public, secret) = (key.public_key().to_sec1_point(false), key.to_bytes());
        public_key[..public.len()].copy_from_slice(public.as_bytes());
        secret_key[..secret.len()].copy_from_slice(&secret);
        Ok(KeyLengths { public_key: public.len(), secret_key: secret.len() })
    }

    fn derive(
        &mut self,
        secret_key: &[u8],
        peer_public_key: &[u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        // Not `from_slice`, which takes a shorter key for one with leading zeros.
        let secret_key =
            secret_key.try_into().map_err(|e| Failure::of("a secret key's length", e))?;
        let secret = SecretKey::from_bytes(secret_key)
            .map_err(|e| Failure::of("SecretKey::from_bytes", e))?;
        let peer = PublicKey::from_sec1_bytes(peer_public_key)
            .map_err(|e| Failure::of("PublicKey::from_sec1_bytes", e))?;
        let shared = secret.diffie_hellman(&peer);
        let shared = shared.raw_secret_bytes();
        shared_secret[..shared.len()].copy_from_slice(shared);
        Ok(())
    }
}
