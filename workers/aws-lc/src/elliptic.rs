//! ECDSA with SHA-256 and ECDH over `EC_KEY`: `ECDSA_sign`, `ECDSA_verify`, `ECDH_compute_key`.
//!
//! From encoded keys an operation pays for the handle, the range check of the scalar, and the
//! curve equation of the point (a square root where the point is compressed).

use crate::ffi::{self, Curve, EcKey, EcPoint};
use pqlab_catalog::Operation;
use pqlab_worker::{
    Deriver, Entropy, KeyExchange, KeyLengths, Outcome, Scheme, Signature, Signer, Verifier,
};

struct Ecdsa(Curve);

struct Ecdh(Curve);

struct EcdhSecret(Curve, EcKey);

/// The ECDSA adapter of one curve.
pub fn ecdsa(curve: Curve) -> Outcome<Scheme> {
    Ok(Scheme::Signature(Box::new(Ecdsa(curve))))
}

/// The ECDH adapter of one curve.
pub fn ecdh(curve: Curve) -> Outcome<Scheme> {
    Ok(Scheme::KeyExchange(Box::new(Ecdh(curve))))
}

fn keygen(curve: Curve, public_key: &mut [u8], secret_key: &mut [u8]) -> Outcome<KeyLengths> {
    let key = EcKey::generate(curve)?;
    Ok(KeyLengths {
        public_key: key.write_public(curve, public_key)?,
        secret_key: key.write_secret(secret_key)?,
    })
}

impl Signature for Ecdsa {
    fn keygen(
        &mut self,
        _entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        keygen(self.0, public_key, secret_key)
    }

    fn sign(
        &mut self,
        secret_key: &[u8],
        message: &[u8],
        _entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        EcKey::from_secret(self.0, secret_key)?.sign(&ffi::sha256(message), signature)
    }

    fn verify(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Outcome<bool> {
        match EcKey::from_public(self.0, public_key) {
            Ok(key) => Ok(key.verify(&ffi::sha256(message), signature)),
            Err(_malformed_key) => Ok(false),
        }
    }

    fn prepares(&self) -> &'static [Operation] {
        &[Operation::Sign, Operation::Verify]
    }

    fn prepare_signer(&mut self, secret_key: &[u8]) -> Outcome<Box<dyn Signer>> {
        Ok(Box::new(EcKey::from_secret(self.0, secret_key)?))
    }

    fn prepare_verifier(&mut self, public_key: &[u8]) -> Outcome<Box<dyn Verifier>> {
        Ok(Box::new(EcKey::from_public(self.0, public_key)?))
    }
}

impl Signer for EcKey {
    fn sign(
        &mut self,
        message: &[u8],
        _entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        EcKey::sign(self, &ffi::sha256(message), signature)
    }
}

impl Verifier for EcKey {
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Outcome<bool> {
        Ok(EcKey::verify(self, &ffi::sha256(message), signature))
    }
}

impl KeyExchange for Ecdh {
    fn keygen(
        &mut self,
        _entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        keygen(self.0, public_key, secret_key)
    }

    fn derive(
        &mut self,
        secret_key: &[u8],
        peer_public_key: &[u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        let peer = EcPoint::parse(self.0, peer_public_key)?;
        EcKey::from_secret(self.0, secret_key)?.shared_x_coordinate(&peer, shared_secret)
    }

    fn prepares(&self) -> &'static [Operation] {
        &[Operation::Derive]
    }

    fn prepare_deriver(&mut self, secret_key: &[u8]) -> Outcome<Box<dyn Deriver>> {
        Ok(Box::new(EcdhSecret(self.0, EcKey::from_secret(self.0, secret_key)?)))
    }
}

impl Deriver for EcdhSecret {
    fn derive(&mut self, peer_public_key: &[u8], shared_secret: &mut [u8]) -> Outcome<()> {
        self.1.shared_x_coordinate(&EcPoint::parse(self.0, peer_public_key)?, shared_secret)
    }
}
