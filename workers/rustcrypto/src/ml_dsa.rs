//! ML-DSA (FIPS 204), pure mode, empty context, hedged. The crate prefers the 32-byte seed as
//! secret key; here keys are in the standard's expanded encoding, so that rows compare. Prepared
//! keys hold the matrix A expanded.

#![allow(deprecated, reason = "the crate deprecates the expanded encoding in favour of the seed")]

use crate::drawn::Drawn;
use crate::hash;
use ml_dsa::{
    EncodedVerifyingKey, ExpandedSigningKey, ExpandedSigningKeyBytes, MlDsa44, MlDsa65, MlDsa87,
    MlDsaParams, Seed, Signature as Encoded, SigningKey, VerifyingKey, signature::Keypair,
};
use pqlab_catalog::Operation;
use pqlab_worker::{
    CodePath, Entropy, Failure, KeyLengths, Outcome, Scheme, Signature, Signer, Subject, Verifier,
};
use std::marker::PhantomData;

/// The subjects of this module.
pub fn subjects() -> Vec<Subject> {
    vec![
        subject::<MlDsa44>("ML-DSA-44"),
        subject::<MlDsa65>("ML-DSA-65"),
        subject::<MlDsa87>("ML-DSA-87"),
    ]
}

fn subject<P: MlDsaParams + 'static>(name: &str) -> Subject {
    let code_path = match hash::KECCAK_VARIANT {
        "portable" => CodePath::Called("ml_dsa, shake: portable Rust"),
        _ => CodePath::Reported(format!("ml_dsa: portable Rust; Keccak on {}", hash::keccak())),
    };
    Subject::new(name, hash::KECCAK_VARIANT, code_path, || {
        Ok(Scheme::Signature(Box::new(Adapter::<P>(PhantomData))))
    })
}

struct Adapter<P>(PhantomData<P>);

impl<P: MlDsaParams + 'static> Signature for Adapter<P> {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        let key = SigningKey::<P>::from_seed(&Seed::from(entropy.array()));
        let (public, secret) = (key.verifying_key().encode(), key.expanded_key().to_expanded());
        public_key[..public.len()].copy_from_slice(&public);
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
        decode_secret::<P>(secret_key)?.sign(message, entropy, signature)
    }

    fn verify(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Outcome<bool> {
        match decode_public::<P>(public_key) {
            Ok(mut key) => key.verify(message, signature),
            Err(_) => Ok(false),
        }
    }

    fn prepares(&self) -> &'static [Operation] {
        &[Operation::Sign, Operation::Verify]
    }

    fn prepare_signer(&mut self, secret_key: &[u8]) -> Outcome<Box<dyn Signer>> {
        Ok(Box::new(decode_secret::<P>(secret_key)?))
    }

    fn prepare_verifier(&mut self, public_key: &[u8]) -> Outcome<Box<dyn Verifier>> {
        Ok(Box::new(decode_public::<P>(public_key)?))
    }
}

struct Secret<P: MlDsaParams>(ExpandedSigningKey<P>);

fn decode_secret<P: MlDsaParams>(encoded: &[u8]) -> Outcome<Secret<P>> {
    let encoded: &ExpandedSigningKeyBytes<P> =
        encoded.try_into().map_err(|e| Failure::of("a secret key's length", e))?;
    Ok(Secret(ExpandedSigningKey::from_expanded(encoded)))
}

impl<P: MlDsaParams> Signer for Secret<P> {
    fn sign(
        &mut self,
        message: &[u8],
        entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        let signed = self
            .0
            .sign_randomized(message, b"", &mut Drawn(entropy))
            .map_err(|e| Failure::of("sign_randomized", e))?
            .encode();
        signature[..signed.len()].copy_from_slice(&signed);
        Ok(signed.len())
    }
}

struct Public<P: MlDsaParams>(VerifyingKey<P>);

fn decode_public<P: MlDsaParams>(encoded: &[u8]) -> Outcome<Public<P>> {
    let encoded: &EncodedVerifyingKey<P> =
        encoded.try_into().map_err(|e| Failure::of("a public key's length", e))?;
    Ok(Public(VerifyingKey::decode(encoded)))
}

impl<P: MlDsaParams> Verifier for Public<P> {
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Outcome<bool> {
        let decoded = Encoded::<P>::try_from(signature);
        Ok(decoded.is_ok_and(|signature| self.0.verify_with_context(message, b"", &signature)))
    }
}
