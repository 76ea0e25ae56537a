//! X25519 and ECDH through `EVP_PKEY_derive`.
//!
//! `EVP_PKEY_derive_set_peer` validates the peer's key before it is used, for a curve by a whole
//! scalar multiplication; that is what every caller of OpenSSL's pays unless they turn it off, and
//! it is in both forms. The prepared form keeps one's own key and its context.

use crate::ffi::{Context, Key};
use crate::keys::KeyKind;
use pqlab_catalog::Operation;
use pqlab_worker::{Deriver, Entropy, KeyExchange, KeyLengths, Outcome, Scheme};

struct EvpExchange(KeyKind);

struct OwnKey {
    kind: KeyKind,
    key: Key,
    context: Context,
}

/// The adapter of one algorithm.
pub fn scheme(keys: KeyKind) -> Outcome<Scheme> {
    Ok(Scheme::KeyExchange(Box::new(EvpExchange(keys))))
}

impl EvpExchange {
    fn own(&self, secret_key: &[u8]) -> Outcome<OwnKey> {
        let key = self.0.secret(secret_key)?;
        let context = Context::deriver(&key)?;
        Ok(OwnKey { kind: self.0, key, context })
    }
}

impl KeyExchange for EvpExchange {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        self.0.generate(entropy, public_key, secret_key)
    }

    fn derive(
        &mut self,
        secret_key: &[u8],
        peer_public_key: &[u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        self.own(secret_key)?.derive(peer_public_key, shared_secret)
    }

    fn prepares(&self) -> &'static [Operation] {
        &[Operation::Derive]
    }

    fn prepare_deriver(&mut self, secret_key: &[u8]) -> Outcome<Box<dyn Deriver>> {
        Ok(Box::new(self.own(secret_key)?))
    }
}

impl Deriver for OwnKey {
    fn derive(&mut self, peer_public_key: &[u8], shared_secret: &mut [u8]) -> Outcome<()> {
        let peer = self.kind.peer(&self.key, peer_public_key)?;
        self.context.derive(&peer, shared_secret)
    }
}
