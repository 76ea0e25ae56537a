//! What a worker's author implements: one trait a kind of scheme, all of them byte slices in and
//! byte slices out, so that C and Rust libraries are timed over the same boundary.
//!
//! Every buffer is the caller's and exists before the clock starts. An operation begins with its
//! inputs in encoded form and ends with its outputs in the caller's buffers; decoding a key is
//! part of the operation. A library that can decode a key once and use it many times offers that
//! as the prepared form, which is another row, never the same one.

use crate::Entropy;
use pqlab_catalog::Operation;

/// A library's call returned an error, in words that name the call and its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(pub String);

impl Failure {
    /// A failure of `call`, such as `OQS_SIG_sign`, with what it returned.
    pub fn of(call: &str, returned: impl std::fmt::Display) -> Failure {
        Failure(format!("{call} returned {returned}"))
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

/// The outcome of a library call.
pub type Outcome<T> = Result<T, Failure>;

/// Bytes written to the public-key and the secret-key buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyLengths {
    /// Bytes of the public key.
    pub public_key: usize,
    /// Bytes of the secret key.
    pub secret_key: usize,
}

fn not_prepared<T>(what: &str) -> Outcome<T> {
    Err(Failure(format!("this implementation has no prepared {what}")))
}

/// A signature scheme as one implementation offers it.
pub trait Signature {
    /// Writes a fresh key pair; buffers have the subject's capacity.
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths>;

    /// Signs, empty context, and returns the signature's length.
    fn sign(
        &mut self,
        secret_key: &[u8],
        message: &[u8],
        entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize>;

    /// Whether the signature is accepted. A malformed key or signature is `Ok(false)`; an error is
    /// for calls that could not be made at all.
    fn verify(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Outcome<bool>;

    /// The operations that a decoded, reusable key makes cheaper: `Sign`, `Verify`, or neither.
    fn prepares(&self) -> &'static [Operation] {
        &[]
    }

    /// Decodes a secret key for many signatures.
    fn prepare_signer(&mut self, _secret_key: &[u8]) -> Outcome<Box<dyn Signer>> {
        not_prepared("signing key")
    }

    /// Decodes a public key for many verifications.
    fn prepare_verifier(&mut self, _public_key: &[u8]) -> Outcome<Box<dyn Verifier>> {
        not_prepared("verification key")
    }
}

/// A decoded secret key that signs.
pub trait Signer {
    /// As [`Signature::sign`].
    fn sign(
        &mut self,
        message: &[u8],
        entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize>;
}

/// A decoded public key that verifies.
pub trait Verifier {
    /// As [`Signature::verify`].
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Outcome<bool>;
}

/// A key encapsulation mechanism as one implementation offers it.
pub trait Kem {
    /// Writes a fresh key pair; buffers have the subject's capacity.
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths>;

    /// Writes a ciphertext and the shared secret it carries.
    fn encaps(
        &mut self,
        public_key: &[u8],
        entropy: &mut Entropy,
        ciphertext: &mut [u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()>;

    /// Writes the shared secret of a ciphertext; with implicit rejection a wrong ciphertext gives
    /// another secret and no error.
    fn decaps(
        &mut self,
        secret_key: &[u8],
        ciphertext: &[u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()>;

    /// The operations that a decoded, reusable key makes cheaper: `Encaps`, `Decaps`, or neither.
    fn prepares(&self) -> &'static [Operation] {
        &[]
    }

    /// Decodes a public key for many encapsulations.
    fn prepare_encapsulator(&mut self, _public_key: &[u8]) -> Outcome<Box<dyn Encapsulator>> {
        not_prepared("encapsulation key")
    }

    /// Decodes a secret key for many decapsulations.
    fn prepare_decapsulator(&mut self, _secret_key: &[u8]) -> Outcome<Box<dyn Decapsulator>> {
        not_prepared("decapsulation key")
    }
}

/// A decoded public key that encapsulates.
pub trait Encapsulator {
    /// As [`Kem::encaps`].
    fn encaps(
        &mut self,
        entropy: &mut Entropy,
        ciphertext: &mut [u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()>;
}

/// A decoded secret key that decapsulates.
pub trait Decapsulator {
    /// As [`Kem::decaps`].
    fn decaps(&mut self, ciphertext: &[u8], shared_secret: &mut [u8]) -> Outcome<()>;
}

/// A Diffie-Hellman key exchange as one implementation offers it.
pub trait KeyExchange {
    /// Writes a fresh key pair; buffers have the subject's capacity.
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths>;

    /// Writes the secret shared with the holder of `peer_public_key`.
    fn derive(
        &mut self,
        secret_key: &[u8],
        peer_public_key: &[u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()>;

    /// The operations that a decoded, reusable key makes cheaper: `Derive`, or none.
    fn prepares(&self) -> &'static [Operation] {
        &[]
    }

    /// Decodes a secret key for many derivations.
    fn prepare_deriver(&mut self, _secret_key: &[u8]) -> Outcome<Box<dyn Deriver>> {
        not_prepared("secret key")
    }
}

/// A decoded secret key that derives.
pub trait Deriver {
    /// As [`KeyExchange::derive`].
    fn derive(&mut self, peer_public_key: &[u8], shared_secret: &mut [u8]) -> Outcome<()>;
}

/// One implementation of one parameter set, ready to work.
pub enum Scheme {
    /// A signature scheme.
    Signature(Box<dyn Signature>),
    /// A key encapsulation mechanism.
    Kem(Box<dyn Kem>),
    /// A key exchange.
    KeyExchange(Box<dyn KeyExchange>),
}

impl Scheme {
    /// The operations that a prepared key makes cheaper.
    pub fn prepares(&self) -> &'static [Operation] {
        match self {
            Scheme::Signature(scheme) => scheme.prepares(),
            Scheme::Kem(scheme) => scheme.prepares(),
            Scheme::KeyExchange(scheme) => scheme.prepares(),
        }
    }
}
