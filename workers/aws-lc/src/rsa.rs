//! RSA signatures, PKCS #1 v1.5 with SHA-256: `RSA_generate_key_ex`, `RSA_sign`, `RSA_verify`.
//!
//! From encoded keys an operation pays for the DER parser, for the consistency check the parser
//! makes of every private key (`RSA_check_key`), and for the Montgomery constants of a fresh
//! handle; the prepared form is what a server that loads its key once pays.

use crate::ffi::{self, RsaKey};
use pqlab_catalog::Operation;
use pqlab_worker::{Entropy, KeyLengths, Outcome, Scheme, Signature, Signer, Verifier};

struct Rsa {
    modulus_bits: u16,
}

/// The adapter of one modulus size.
pub fn scheme(modulus_bits: u16) -> Outcome<Scheme> {
    Ok(Scheme::Signature(Box::new(Rsa { modulus_bits })))
}

impl Signature for Rsa {
    fn keygen(
        &mut self,
        _entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        let key = RsaKey::generate(self.modulus_bits)?;
        Ok(KeyLengths {
            public_key: key.write_public(public_key)?,
            secret_key: key.write_secret(secret_key)?,
        })
    }

    fn sign(
        &mut self,
        secret_key: &[u8],
        message: &[u8],
        _entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        RsaKey::parse_secret(secret_key)?.sign(&ffi::sha256(message), signature)
    }

    fn verify(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Outcome<bool> {
        match RsaKey::parse_public(public_key) {
            Ok(key) => Ok(key.verify(&ffi::sha256(message), signature)),
            Err(_malformed_key) => Ok(false),
        }
    }

    fn prepares(&self) -> &'static [Operation] {
        &[Operation::Sign, Operation::Verify]
    }

    fn prepare_signer(&mut self, secret_key: &[u8]) -> Outcome<Box<dyn Signer>> {
        Ok(Box::new(RsaKey::parse_secret(secret_key)?))
    }

    fn prepare_verifier(&mut self, public_key: &[u8]) -> Outcome<Box<dyn Verifier>> {
        Ok(Box::new(RsaKey::parse_public(public_key)?))
    }
}

impl Signer for RsaKey {
    fn sign(
        &mut self,
        message: &[u8],
        _entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        RsaKey::sign(self, &ffi::sha256(message), signature)
    }
}

impl Verifier for RsaKey {
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Outcome<bool> {
        Ok(RsaKey::verify(self, &ffi::sha256(message), signature))
    }
}
