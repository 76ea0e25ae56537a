//! SLH-DSA (FIPS 205), pure mode, empty context, hedged with n bytes of opt_rand. Keys are their
//! bytes, so there is nothing to prepare.

use crate::drawn::Drawn;
use crate::hash;
use pqlab_worker::{CodePath, Entropy, Failure, KeyLengths, Outcome, Scheme, Signature, Subject};
use slh_dsa::signature::{Keypair, RandomizedSigner, Verifier};
use slh_dsa::{
    ParameterSet, Sha2_128f, Sha2_128s, Sha2_192f, Sha2_192s, Sha2_256f, Sha2_256s, Shake128f,
    Shake128s, Shake192f, Shake192s, Shake256f, Shake256s, Signature as Encoded, SigningKey,
    VerifyingKey,
};
use std::marker::PhantomData;

/// The subjects of this module; the crate's names of the sets are the catalog's.
pub fn subjects() -> Vec<Subject> {
    vec![
        sha2::<Sha2_128s>(),
        sha2::<Sha2_128f>(),
        sha2::<Sha2_192s>(),
        sha2::<Sha2_192f>(),
        sha2::<Sha2_256s>(),
        sha2::<Sha2_256f>(),
        shake::<Shake128s>(),
        shake::<Shake128f>(),
        shake::<Shake192s>(),
        shake::<Shake192f>(),
        shake::<Shake256s>(),
        shake::<Shake256f>(),
    ]
}

fn sha2<P: ParameterSet + 'static>() -> Subject {
    let (sha256, sha512) = (hash::sha256(), hash::sha512());
    let code_path = format!("slh_dsa; sha2 0.11: SHA-256 on {sha256}, SHA-512 on {sha512}");
    subject::<P>("dispatch", CodePath::Reported(code_path))
}

fn shake<P: ParameterSet + 'static>() -> Subject {
    let code_path = match hash::KECCAK_VARIANT {
        "portable" => CodePath::Called("slh_dsa, sha3: portable Rust"),
        _ => CodePath::Reported(format!("slh_dsa; Keccak on {}", hash::keccak())),
    };
    subject::<P>(hash::KECCAK_VARIANT, code_path)
}

fn subject<P: ParameterSet + 'static>(variant: &'static str, code_path: CodePath) -> Subject {
    Subject::new(P::NAME, variant, code_path, || {
        Ok(Scheme::Signature(Box::new(Adapter::<P>(PhantomData))))
    })
}

struct Adapter<P>(PhantomData<P>);

impl<P: ParameterSet> Signature for Adapter<P> {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        let key = SigningKey::<P>::new(&mut Drawn(entropy));
        let (public, secret) = (key.verifying_key().to_bytes(), key.to_bytes());
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
        let signed = SigningKey::<P>::try_from(secret_key)
            .map_err(|e| Failure::of("SigningKey::try_from", e))?
            .try_sign_with_rng(&mut Drawn(entropy), message)
            .map_err(|e| Failure::of("try_sign_with_rng", e))?
            .to_bytes();
        signature[..signed.len()].copy_from_slice(&signed);
        Ok(signed.len())
    }

    fn verify(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Outcome<bool> {
        let decoded = (VerifyingKey::<P>::try_from(public_key), Encoded::<P>::try_from(signature));
        let (Ok(key), Ok(signature)) = decoded else { return Ok(false) };
        Ok(key.verify(message, &signature).is_ok())
    }
}
