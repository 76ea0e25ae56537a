//! ECDSA with SHA-256 over P-256 and secp256k1, DER signatures. Signing is deterministic (RFC 6979,
//! the crates' default). A secret key is its scalar; decoding one computes the public key too,
//! which about doubles the cost of signing with an encoded key and is saved by the prepared signer.
//! k256 signs with low S and verifies only low S, p256 does neither.

use crate::hash;
use pqlab_worker::{CodePath, Scheme, Subject};

/// The subjects of this module.
pub fn subjects() -> Vec<Subject> {
    let path =
        |name| CodePath::Reported(format!("{name}: portable Rust; SHA-256 on {}", hash::sha256()));
    vec![
        Subject::new("ECDSA-P-256", "dispatch", path("p256"), || {
            Ok(Scheme::Signature(Box::new(p256::Adapter)))
        }),
        Subject::new("ECDSA-secp256k1", "dispatch", path("k256"), || {
            Ok(Scheme::Signature(Box::new(k256::Adapter)))
        }),
    ]
    .into_iter()
    .map(|s| s.without_first_kat("the catalog has no first known answer for classical schemes"))
    .collect()
}

/// One line a curve: its crate, and whether its public keys are compressed in the catalog.
macro_rules! curve {
    ($curve:ident, compressed: $compressed:literal) => {
        mod $curve {
            use crate::drawn::Drawn;
            use ::$curve::ecdsa::signature::{Signer as _, Verifier as _};
            use ::$curve::ecdsa::{DerSignature, SigningKey, VerifyingKey};
            use ::$curve::elliptic_curve::Generate;
            use pqlab_catalog::Operation;
            use pqlab_worker::{
                Entropy, Failure, KeyLengths, Outcome, Signature, Signer, Verifier,
            };

            pub struct Adapter;

            impl Signature for Adapter {
                fn keygen(
                    &mut self,
                    entropy: &mut Entropy,
                    public_key: &mut [u8],
                    secret_key: &mut [u8],
                ) -> Outcome<KeyLengths> {
                    let key = SigningKey::generate_from_rng(&mut Drawn(entropy));
                    let public = key.verifying_key().to_sec1_point($compressed);
                    let (public, secret) = (public.as_bytes(), key.to_bytes());
                    public_key[..public.len()].copy_from_slice(public);
                    secret_key[..secret.len()].copy_from_slice(&secret);
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

                fn verify(
                    &mut self,
                    public_key: &[u8],
                    message: &[u8],
                    signature: &[u8],
                ) -> Outcome<bool> {
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

            struct Secret(SigningKey);

            fn decode_secret(encoded: &[u8]) -> Outcome<Secret> {
                // Not `from_slice`, which takes a shorter key for one with leading zeros.
                let encoded =
                    encoded.try_into().map_err(|e| Failure::of("a secret key's length", e))?;
                SigningKey::from_bytes(encoded)
                    .map(Secret)
                    .map_err(|e| Failure::of("SigningKey::from_bytes", e))
            }

            impl Signer for Secret {
                fn sign(
                    &mut self,
                    message: &[u8],
                    _: &mut Entropy,
                    signature: &mut [u8],
                ) -> Outcome<usize> {
                    let signed: DerSignature =
                        self.0.try_sign(message).map_err(|e| Failure::of("try_sign", e))?;
                    signature[..signed.len()].copy_from_slice(signed.as_bytes());
                    Ok(signed.len())
                }
            }

            struct Public(VerifyingKey);

            fn decode_public(encoded: &[u8]) -> Outcome<Public> {
                VerifyingKey::from_sec1_bytes(encoded)
                    .map(Public)
                    .map_err(|e| Failure::of("VerifyingKey::from_sec1_bytes", e))
            }

            impl Verifier for Public {
                fn verify(&mut self, message: &[u8], signature: &[u8]) -> Outcome<bool> {
                    let decoded = DerSignature::from_bytes(signature);
                    Ok(decoded.is_ok_and(|signature| self.0.verify(message, &signature).is_ok()))
                }
            }
        }
    };
}

curve!(p256, compressed: false);
curve!(k256, compressed: true);
