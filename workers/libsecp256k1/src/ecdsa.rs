//! ECDSA over secp256k1: message in, DER signature out. SHA-256 of the message, which the C library
//! leaves to its caller, is part of `sign` and `verify` here, as it is in every other worker.
//!
//! Signing is deterministic (RFC 6979, the library's default nonce function) and its signatures
//! have low S; verification accepts low S only. The context is not randomised.

use pqlab_catalog::Operation;
use pqlab_worker::{Entropy, Failure, KeyLengths, Outcome, Signature, Verifier};
use secp256k1_sys as ffi;
use sha2::{Digest, Sha256};
use std::ptr;

/// Bytes of a public key in compressed form.
const PUBLIC_KEY_BYTES: usize = 33;
/// Bytes of a secret key.
const SECRET_KEY_BYTES: usize = 32;
/// Bytes of the longest DER signature the library writes.
const SIGNATURE_BYTES: usize = 72;

/// The adapter, with the context that holds the library's state.
pub struct Ecdsa {
    context: ptr::NonNull<ffi::Context>,
}

impl Ecdsa {
    /// A fresh context.
    pub fn new() -> Ecdsa {
        // SAFETY: the flag is the one the library documents; the pointer is released in `drop`.
        Ecdsa { context: unsafe { ffi::secp256k1_context_create(ffi::SECP256K1_START_NONE) } }
    }
}

impl Drop for Ecdsa {
    fn drop(&mut self) {
        // SAFETY: made by `secp256k1_context_create` in `new` and not used after this.
        unsafe { ffi::secp256k1_context_destroy(self.context) }
    }
}

impl Signature for Ecdsa {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        let secret_key: &mut [u8; SECRET_KEY_BYTES] = sized_mut(secret_key);
        let mut point = blank_point();
        loop {
            entropy.fill(secret_key);
            // SAFETY: `point` is writable and the key is 32 readable bytes. The call fails only for
            // a key that is zero or not below the group order: draw again.
            let made = unsafe {
                let context = self.context.as_ptr();
                ffi::secp256k1_ec_pubkey_create(context, &mut point, secret_key.as_ptr())
            };
            if made == 1 {
                break;
            }
        }
        let encoded: &mut [u8; PUBLIC_KEY_BYTES] = sized_mut(public_key);
        let mut length = encoded.len();
        // SAFETY: `encoded` has `length` writable bytes and `point` was initialised above.
        let written = unsafe {
            ffi::secp256k1_ec_pubkey_serialize(
                ffi::secp256k1_context_static,
                encoded.as_mut_ptr(),
                &mut length,
                &point,
                ffi::SECP256K1_SER_COMPRESSED,
            )
        };
        expect_one("secp256k1_ec_pubkey_serialize", written)?;
        Ok(KeyLengths { public_key: length, secret_key: SECRET_KEY_BYTES })
    }

    fn sign(
        &mut self,
        secret_key: &[u8],
        message: &[u8],
        _: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        let secret_key: &[u8; SECRET_KEY_BYTES] = secret_key.try_into().map_err(|_| {
            Failure(format!("an ECDSA-secp256k1 secret key of {} bytes", secret_key.len()))
        })?;
        let digest = Sha256::digest(message);
        let mut signed = blank_signature();
        // SAFETY: digest and key are 32 readable bytes each; a null nonce function means the
        // library's default, which takes no data.
        let made = unsafe {
            ffi::secp256k1_ecdsa_sign(
                self.context.as_ptr(),
                &mut signed,
                digest.as_ptr(),
                secret_key.as_ptr(),
                None,
                ptr::null(),
            )
        };
        expect_one("secp256k1_ecdsa_sign", made)?;
        let encoded: &mut [u8; SIGNATURE_BYTES] = sized_mut(signature);
        let mut length = encoded.len();
        // SAFETY: `encoded` has `length` writable bytes and `signed` was initialised above.
        let written = unsafe {
            ffi::secp256k1_ecdsa_signature_serialize_der(
                ffi::secp256k1_context_static,
                encoded.as_mut_ptr(),
                &mut length,
                &signed,
            )
        };
        expect_one("secp256k1_ecdsa_signature_serialize_der", written)?;
        Ok(length)
    }

    fn verify(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Outcome<bool> {
        Ok(decode_point(public_key).is_some_and(|point| accepts(&point, message, signature)))
    }

    // A secret key is its scalar, so only the public key's square root can be saved.
    fn prepares(&self) -> &'static [Operation] {
        &[Operation::Verify]
    }

    fn prepare_verifier(&mut self, public_key: &[u8]) -> Outcome<Box<dyn Verifier>> {
        let point =
            decode_point(public_key).ok_or_else(|| Failure::of("secp256k1_ec_pubkey_parse", 0))?;
        Ok(Box::new(PreparedVerifier(point)))
    }
}

struct PreparedVerifier(ffi::PublicKey);

impl Verifier for PreparedVerifier {
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Outcome<bool> {
        Ok(accepts(&self.0, message, signature))
    }
}

fn decode_point(public_key: &[u8]) -> Option<ffi::PublicKey> {
    let mut point = blank_point();
    // SAFETY: `point` is writable; pointer and length are those of one slice.
    let parsed = unsafe {
        ffi::secp256k1_ec_pubkey_parse(
            ffi::secp256k1_context_static,
            &mut point,
            public_key.as_ptr(),
            public_key.len(),
        )
    };
    (parsed == 1).then_some(point)
}

fn accepts(point: &ffi::PublicKey, message: &[u8], signature: &[u8]) -> bool {
    let digest = Sha256::digest(message);
    let mut decoded = blank_signature();
    // SAFETY: pointer and length are those of one slice; the second call reads 32 bytes of digest,
    // the signature the first call initialised, and a point made by `decode_point`. Neither call
    // needs more than the static context.
    unsafe {
        ffi::secp256k1_ecdsa_signature_parse_der(
            ffi::secp256k1_context_static,
            &mut decoded,
            signature.as_ptr(),
            signature.len(),
        ) == 1
            && ffi::secp256k1_ecdsa_verify(
                ffi::secp256k1_context_static,
                &decoded,
                digest.as_ptr(),
                point,
            ) == 1
    }
}

fn blank_point() -> ffi::PublicKey {
    // SAFETY: all zero is a value of the type, though not a point; every caller has the library
    // write one before it is read.
    unsafe { ffi::PublicKey::new() }
}

fn blank_signature() -> ffi::Signature {
    // SAFETY: as in `blank_point`.
    unsafe { ffi::Signature::new() }
}

/// The first `N` bytes of a buffer that has the subject's capacity.
fn sized_mut<const N: usize>(buffer: &mut [u8]) -> &mut [u8; N] {
    buffer.first_chunk_mut().expect("buffers have the subject's capacity")
}

fn expect_one(call: &str, returned: std::ffi::c_int) -> Outcome<()> {
    if returned == 1 { Ok(()) } else { Err(Failure::of(call, returned)) }
}
