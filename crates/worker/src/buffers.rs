//! The lengths that a C function takes on trust, checked before each call.
//!
//! Most of these functions are told no lengths, and some ignore the length they are told (liboqs'
//! CROSS reads a whole signature whatever `signature_len` says); a slice of another length would be
//! read or written beyond its end.

use crate::{Failure, KeyLengths, Outcome};
use pqlab_catalog::{Length, ParameterSet};

/// The lengths of one parameter set.
#[derive(Debug, Clone, Copy)]
pub struct Buffers {
    public_key: usize,
    secret_key: usize,
    output: Length,
    shared_secret: usize,
}

impl Buffers {
    /// The lengths the catalog gives for `set`, whose keys have one length each.
    pub fn of(set: &ParameterSet) -> Buffers {
        Buffers {
            public_key: set.sizes.public_key.capacity(),
            secret_key: set.sizes.secret_key.capacity(),
            output: set.sizes.output,
            shared_secret: set.sizes.shared_secret,
        }
    }

    /// The library must give the lengths that the buffers have.
    pub fn expect_lengths(
        &self,
        public_key: usize,
        secret_key: usize,
        output: usize,
    ) -> Outcome<()> {
        exactly("public key of the library", self.public_key, public_key)?;
        exactly("secret key of the library", self.secret_key, secret_key)?;
        exactly("output of the library", self.output.capacity(), output)
    }

    /// Buffers for a fresh key pair.
    pub fn key_buffers(&self, public_key: &[u8], secret_key: &[u8]) -> Outcome<KeyLengths> {
        at_least("public-key buffer", self.public_key, public_key.len())?;
        at_least("secret-key buffer", self.secret_key, secret_key.len())?;
        Ok(KeyLengths { public_key: self.public_key, secret_key: self.secret_key })
    }

    /// A secret key to sign with and a buffer for the signature.
    pub fn secret_key_and_output(&self, secret_key: &[u8], output: &[u8]) -> Outcome<()> {
        exactly("secret key", self.secret_key, secret_key.len())?;
        at_least("signature buffer", self.output.capacity(), output.len())
    }

    /// Whether a public key and a signature have lengths that the scheme may be given.
    pub fn verifiable(&self, public_key: &[u8], signature: &[u8]) -> bool {
        public_key.len() == self.public_key && self.output.admits(signature.len())
    }

    /// A public key to encapsulate to and buffers for what comes out.
    pub fn public_key_and_ciphertext(
        &self,
        public_key: &[u8],
        ciphertext: &[u8],
        shared_secret: &[u8],
    ) -> Outcome<()> {
        exactly("public key", self.public_key, public_key.len())?;
        at_least("ciphertext buffer", self.output.capacity(), ciphertext.len())?;
        at_least("shared-secret buffer", self.shared_secret, shared_secret.len())
    }

    /// A secret key and a ciphertext to decapsulate and a buffer for the secret.
    pub fn secret_key_and_ciphertext(
        &self,
        secret_key: &[u8],
        ciphertext: &[u8],
        shared_secret: &[u8],
    ) -> Outcome<()> {
        exactly("secret key", self.secret_key, secret_key.len())?;
        exactly("ciphertext", self.output.capacity(), ciphertext.len())?;
        at_least("shared-secret buffer", self.shared_secret, shared_secret.len())
    }
}

fn exactly(what: &str, expected: usize, bytes: usize) -> Outcome<()> {
    if bytes == expected {
        return Ok(());
    }
    Err(Failure(format!("the {what} has {bytes} bytes, expected {expected}")))
}

fn at_least(what: &str, expected: usize, bytes: usize) -> Outcome<()> {
    if bytes >= expected {
        return Ok(());
    }
    Err(Failure(format!("the {what} has {bytes} bytes, expected at least {expected}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_another_length_never_reach_the_library() {
        let buffers = Buffers::of(pqlab_catalog::find("ML-KEM-512").unwrap());
        assert!(buffers.public_key_and_ciphertext(&[0; 800], &[0; 768], &[0; 32]).is_ok());
        assert!(buffers.public_key_and_ciphertext(&[0; 799], &[0; 768], &[0; 32]).is_err());
        assert!(buffers.public_key_and_ciphertext(&[0; 800], &[0; 767], &[0; 32]).is_err());
        assert!(buffers.secret_key_and_ciphertext(&[0; 1632], &[0; 769], &[0; 32]).is_err());
        let buffers = Buffers::of(pqlab_catalog::find("Falcon-512").unwrap());
        assert!(buffers.verifiable(&[0; 897], &[0; 650]));
        assert!(!buffers.verifiable(&[0; 897], &[0; 753]));
        assert!(!buffers.verifiable(&[0; 896], &[0; 650]));
        assert!(buffers.key_buffers(&[0; 897], &[0; 1280]).is_err());
    }
}
