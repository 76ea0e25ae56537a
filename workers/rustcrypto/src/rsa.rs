//! RSA signatures, PKCS #1 v1.5 with SHA-256. Keys are SubjectPublicKeyInfo and PKCS #8 in DER;
//! decoding a secret key checks it and computes its CRT values, which is a good part of signing
//! with an encoded key. Signing is blinded, as the crate does by default, with our randomness.

use crate::drawn::Drawn;
use crate::hash;
use pqlab_catalog::Operation;
use pqlab_worker::{
    CodePath, Entropy, Failure, KeyLengths, Outcome, Scheme, Signature, Signer, Subject, Verifier,
};
use rsa::RsaPrivateKey;
use rsa::pkcs1v15::{Signature as Encoded, SigningKey, VerifyingKey};
use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use rsa::signature::{RandomizedSigner, SignatureEncoding, Verifier as _};
use sha2::Sha256;

/// The subjects of this module.
pub fn subjects() -> Vec<Subject> {
    vec![subject("RSA-2048", 2048), subject("RSA-3072", 3072), subject("RSA-4096", 4096)]
}

fn subject(name: &str, bits: usize) -> Subject {
    let path = format!("rsa on crypto-bigint: portable Rust; SHA-256 on {}", hash::sha256());
    Subject::new(name, "dispatch", CodePath::Reported(path), move || {
        Ok(Scheme::Signature(Box::new(Adapter { bits })))
    })
    .without_first_kat("the catalog has no first known answer for classical schemes")
}

struct Adapter {
    bits: usize,
}

impl Signature for Adapter {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        let key = RsaPrivateKey::new(&mut Drawn(entropy), self.bits)
            .map_err(|e| Failure::of("RsaPrivateKey::new", e))?;
        let public = key
            .as_public_key()
            .to_public_key_der()
            .map_err(|e| Failure::of("to_public_key_der", e))?;
        let secret = key.to_pkcs8_der().map_err(|e| Failure::of("to_pkcs8_der", e))?;
        let (public, secret) = (public.as_bytes(), secret.as_bytes());
        public_key[..public.len()].copy_from_slice(public);
        secret_key[..secret.len()].copy_from_slice(secret);
        Ok(KeyLengths { public_key: public.len(), secret_key: secret.len() })
    }

    fn sign(
        &mut self,
        secret_key: &[u8],
        message: &[u8],
        entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        decode_secret(secret_key)?.sign(message, entropy, signature)
    }

    fn verify(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Outcome<bool> {
        match decode_public(public_key) {
            Ok(mut key) => key.verify(message, signature),
            Err(_) => Ok(false),
        }
    }

    fn prepares(&self) -> &'static [Operation] {
        &[Operation::Sign, Operation::Verify]
    }

    fn prepare_signer(&mut self, secret_key: &[u8]) -> Outcome<Box<dyn Signer>> {
        Ok(Box::new(decode_secret(secret_key)?))
    }

    fn prepare_verifier(&mut self, public_key: &[u8]) -> Outcome<Box<dyn Verifier>> {
        Ok(Box::new(decode_public(public_key)?))
    }
}

struct Secret(SigningKey<Sha256>);

fn decode_secret(encoded: &[u8]) -> Outcome<Secret> {
    SigningKey::from_pkcs8_der(encoded)
        .map(Secret)
        .map_err(|e| Failure::of("SigningKey::from_pkcs8_der", e))
}

impl Signer for Secret {
    fn sign(
        &mut self,
        message: &[u8],
        entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        let signed = self
            .0
            .try_sign_with_rng(&mut Drawn(entropy), message)
            .map_err(|e| Failure::of("try_sign_with_rng", e))?
            .to_bytes();
        signature[..signed.len()].copy_from_slice(&signed);
        Ok(signed.len())
    }
}

struct Public(VerifyingKey<Sha256>);

fn decode_public(encoded: &[u8]) -> Outcome<Public> {
    VerifyingKey::from_public_key_der(encoded)
        .map(Public)
        .map_err(|e| Failure::of("VerifyingKey::from_public_key_der", e))
}

impl Verifier for Public {
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Outcome<bool> {
        let decoded = Encoded::try_from(signature);
        Ok(decoded.is_ok_and(|signature| self.0.verify(message, &signature).is_ok()))
    }
}
