//! Signatures through `EVP_PKEY_sign` and `EVP_PKEY_verify`.
//!
//! The algorithm object (`EVP_SIGNATURE`) and SHA-256 (`EVP_MD`) are looked up once in a process,
//! as OpenSSL's guide advises. From encoded keys an operation pays for the import of the key, for
//! the context and for its set-up; with a prepared key the context is set up once. RSA and ECDSA
//! sign a digest computed here, which lets their context too be used again.

use crate::ffi::{Context, Param, Sha256, SignatureAlgorithm, Takes};
use crate::keys::KeyKind;
use pqlab_catalog::Operation;
use pqlab_worker::{Entropy, KeyLengths, Outcome, Scheme, Signature, Signer, Verifier};
use std::ffi::CStr;

/// The longest randomizer of a hedged signature: SLH-DSA's n at category 5.
const LONGEST_RANDOMIZER: usize = 32;

/// How one algorithm signs.
#[derive(Clone, Copy)]
pub struct Signing {
    /// OpenSSL's name of the algorithm.
    pub algorithm: &'static CStr,
    /// Its keys.
    pub keys: KeyKind,
    /// What it signs.
    pub takes: Takes,
    /// Random bytes of a hedged signature that are drawn here and handed over.
    pub randomizer_bytes: usize,
    /// The hash function a padding names.
    pub names_hash: bool,
}

struct EvpSignature {
    signing: Signing,
    algorithm: SignatureAlgorithm,
    sha256: Sha256,
}

struct PreparedKey {
    signing: Signing,
    context: Context,
    sha256: Sha256,
}

/// The adapter of one algorithm.
pub fn scheme(signing: Signing) -> Outcome<Scheme> {
    Ok(Scheme::Signature(Box::new(EvpSignature {
        signing,
        algorithm: SignatureAlgorithm::fetch(signing.algorithm)?,
        sha256: Sha256::fetch()?,
    })))
}

impl EvpSignature {
    fn signer(&self, secret_key: &[u8]) -> Outcome<Context> {
        let key = self.signing.keys.secret(secret_key)?;
        self.signing.with_params(|params| self.algorithm.signer(&key, self.signing.takes, params))
    }

    fn verifier(&self, public_key: &[u8]) -> Outcome<Context> {
        let key = self.signing.keys.public(public_key)?;
        self.signing.with_params(|params| self.algorithm.verifier(&key, self.signing.takes, params))
    }

    fn prepared(&self, context: Context) -> Outcome<PreparedKey> {
        Ok(PreparedKey { signing: self.signing, context, sha256: Sha256::fetch()? })
    }
}

impl Signing {
    /// Calls `set_up` with the parameters that stay the same for every signature.
    fn with_params<T>(&self, set_up: impl FnOnce(&[Param<'_>]) -> T) -> T {
        if self.names_hash { set_up(&[Param::text(c"digest", c"SHA256")]) } else { set_up(&[]) }
    }

    fn sign(
        &self,
        context: &mut Context,
        sha256: &mut Sha256,
        message: &[u8],
        entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        let mut randomizer = [0; LONGEST_RANDOMIZER];
        let randomizer = &mut randomizer[..self.randomizer_bytes];
        if !randomizer.is_empty() {
            entropy.fill(randomizer);
            context.set(Param::octets(c"test-entropy", randomizer))?;
        }
        match self.takes {
            Takes::Message => context.sign(message, signature),
            Takes::Digest => context.sign(&sha256.hash(message)?, signature),
        }
    }

    fn verify(
        &self,
        context: &mut Context,
        sha256: &mut Sha256,
        message: &[u8],
        signature: &[u8],
    ) -> Outcome<bool> {
        Ok(match self.takes {
            Takes::Message => context.verify(message, signature),
            Takes::Digest => context.verify(&sha256.hash(message)?, signature),
        })
    }
}

impl Signature for EvpSignature {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        self.signing.keys.generate(entropy, public_key, secret_key)
    }

    fn sign(
        &mut self,
        secret_key: &[u8],
        message: &[u8],
        entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        let mut context = self.signer(secret_key)?;
        self.signing.sign(&mut context, &mut self.sha256, message, entropy, signature)
    }

    fn verify(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Outcome<bool> {
        match self.verifier(public_key) {
            Ok(mut context) => {
                self.signing.verify(&mut context, &mut self.sha256, message, signature)
            }
            Err(_malformed_key) => Ok(false),
        }
    }

    fn prepares(&self) -> &'static [Operation] {
        &[Operation::Sign, Operation::Verify]
    }

    fn prepare_signer(&mut self, secret_key: &[u8]) -> Outcome<Box<dyn Signer>> {
        Ok(Box::new(self.prepared(self.signer(secret_key)?)?))
    }

    fn prepare_verifier(&mut self, public_key: &[u8]) -> Outcome<Box<dyn Verifier>> {
        Ok(Box::new(self.prepared(self.verifier(public_key)?)?))
    }
}

impl Signer for PreparedKey {
    fn sign(
        &mut self,
        message: &[u8],
        entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        self.signing.sign(&mut self.context, &mut self.sha256, message, entropy, signature)
    }
}

impl Verifier for PreparedKey {
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Outcome<bool> {
        self.signing.verify(&mut self.context, &mut self.sha256, message, signature)
    }
}
