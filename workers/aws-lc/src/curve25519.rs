//! Ed25519 and X25519 through their own public functions on bytes (`openssl/curve25519.h`).
//!
//! AWS-LC signs with the seed and the public key side by side. An encoded Ed25519 key is the seed
//! alone, so signing from it first derives the public key; the prepared form keeps the pair. Public
//! keys and X25519 keys have no other form than their bytes.

use crate::ffi::{self, Ed25519Pair};
use pqlab_catalog::Operation;
use pqlab_worker::{Entropy, Failure, KeyExchange, KeyLengths, Outcome, Scheme, Signature, Signer};

struct Ed25519;

struct X25519;

/// The Ed25519 adapter.
pub fn ed25519() -> Outcome<Scheme> {
    Ok(Scheme::Signature(Box::new(Ed25519)))
}

/// The X25519 adapter.
pub fn x25519() -> Outcome<Scheme> {
    Ok(Scheme::KeyExchange(Box::new(X25519)))
}

/// `bytes` as the array the library reads.
fn exactly<'a, const N: usize>(bytes: &'a [u8], what: &str) -> Outcome<&'a [u8; N]> {
    bytes
        .try_into()
        .map_err(|_| Failure(format!("{what} of {} bytes where {N} are due", bytes.len())))
}

/// The array the library writes at the start of `buffer`.
fn room<'a, const N: usize>(buffer: &'a mut [u8], what: &str) -> Outcome<&'a mut [u8; N]> {
    let given = buffer.len();
    buffer
        .first_chunk_mut()
        .ok_or_else(|| Failure(format!("buffer of {given} bytes for a {what} of {N}")))
}

impl Signature for Ed25519 {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        let seed = room::<32>(secret_key, "seed")?;
        entropy.fill(seed);
        *room::<32>(public_key, "public key")? = Ed25519Pair::from_seed(seed).public_key();
        Ok(KeyLengths { public_key: 32, secret_key: 32 })
    }

    fn sign(
        &mut self,
        secret_key: &[u8],
        message: &[u8],
        entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        Ed25519Pair::from_seed(exactly(secret_key, "seed")?).sign(message, entropy, signature)
    }

    fn verify(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Outcome<bool> {
        let (Ok(public_key), Ok(signature)) = (public_key.try_into(), signature.try_into()) else {
            return Ok(false);
        };
        Ok(ffi::ed25519_verify(public_key, message, signature))
    }

    fn prepares(&self) -> &'static [Operation] {
        &[Operation::Sign]
    }

    fn prepare_signer(&mut self, secret_key: &[u8]) -> Outcome<Box<dyn Signer>> {
        Ok(Box::new(Ed25519Pair::from_seed(exactly(secret_key, "seed")?)))
    }
}

impl Signer for Ed25519Pair {
    fn sign(
        &mut self,
        message: &[u8],
        _entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        Ed25519Pair::sign_into(self, message, room(signature, "signature")?)?;
        Ok(64)
    }
}

impl KeyExchange for X25519 {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        let scalar = room::<32>(secret_key, "secret key")?;
        entropy.fill(scalar);
        *room::<32>(public_key, "public key")? = ffi::x25519_public(scalar);
        Ok(KeyLengths { public_key: 32, secret_key: 32 })
    }

    fn derive(
        &mut self,
        secret_key: &[u8],
        peer_public_key: &[u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        ffi::x25519(
            exactly(secret_key, "secret key")?,
            exactly(peer_public_key, "public key")?,
            room(shared_secret, "shared secret")?,
        )
    }
}
