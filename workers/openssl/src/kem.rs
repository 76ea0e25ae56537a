//! ML-KEM through `EVP_PKEY_encapsulate` and `EVP_PKEY_decapsulate`.
//!
//! From encoded keys an operation pays for the context and for the import of the key. The import
//! expands the key's matrix, and that of a secret key also encapsulates and decapsulates once, to
//! see that its halves belong together (`ml-kem.import_pct_type`, on by default), which makes
//! decapsulation from an encoded key several times as dear as with a prepared one. The 32 random
//! bytes of an encapsulation are handed over as `ikme`, which serves for one encapsulation.

use crate::ffi::{Context, Param};
use crate::keys::KeyKind;
use pqlab_catalog::Operation;
use pqlab_worker::{Decapsulator, Encapsulator, Entropy, Kem, KeyLengths, Outcome, Scheme};
use std::ffi::CStr;

struct EvpKem(KeyKind);

/// The adapter of the parameter set that OpenSSL calls `name`.
pub fn scheme(name: &'static CStr) -> Outcome<Scheme> {
    const SEED_BYTES: usize = 64;
    Ok(Scheme::Kem(Box::new(EvpKem(KeyKind::Seeded(name, SEED_BYTES)))))
}

fn encaps(
    context: &mut Context,
    entropy: &mut Entropy,
    ciphertext: &mut [u8],
    shared_secret: &mut [u8],
) -> Outcome<()> {
    context.set(Param::octets(c"ikme", &entropy.array::<32>()))?;
    context.encaps(ciphertext, shared_secret)
}

impl Kem for EvpKem {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        self.0.generate(entropy, public_key, secret_key)
    }

    fn encaps(
        &mut self,
        public_key: &[u8],
        entropy: &mut Entropy,
        ciphertext: &mut [u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        let mut context = Context::encapsulator(&self.0.public(public_key)?)?;
        encaps(&mut context, entropy, ciphertext, shared_secret)
    }

    fn decaps(
        &mut self,
        secret_key: &[u8],
        ciphertext: &[u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        Context::decapsulator(&self.0.secret(secret_key)?)?.decaps(ciphertext, shared_secret)
    }

    fn prepares(&self) -> &'static [Operation] {
        &[Operation::Encaps, Operation::Decaps]
    }

    fn prepare_encapsulator(&mut self, public_key: &[u8]) -> Outcome<Box<dyn Encapsulator>> {
        Ok(Box::new(Context::encapsulator(&self.0.public(public_key)?)?))
    }

    fn prepare_decapsulator(&mut self, secret_key: &[u8]) -> Outcome<Box<dyn Decapsulator>> {
        Ok(Box::new(Context::decapsulator(&self.0.secret(secret_key)?)?))
    }
}

impl Encapsulator for Context {
    fn encaps(
        &mut self,
        entropy: &mut Entropy,
        ciphertext: &mut [u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        encaps(self, entropy, ciphertext, shared_secret)
    }
}

impl Decapsulator for Context {
    fn decaps(&mut self, ciphertext: &[u8], shared_secret: &mut [u8]) -> Outcome<()> {
        Context::decaps(self, ciphertext, shared_secret)
    }
}
