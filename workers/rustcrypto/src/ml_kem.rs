//! ML-KEM (FIPS 203). The crate prefers the 64-byte seed as secret key; here keys are in the
//! standard's expanded encoding, so that rows compare. Decoding makes the checks of FIPS 203 §7.2
//! and the hash check of §7.3, and they are in the figures of the encoded form.

#![allow(deprecated, reason = "the crate deprecates the expanded encoding in favour of the seed")]

use crate::drawn::Drawn;
use crate::hash;
use ml_kem::kem::{Decapsulate, Encapsulate, FromSeed, Kem as Set, KeyExport, TryKeyInit};
use ml_kem::{ExpandedKeyEncoding, MlKem512, MlKem768, MlKem1024, Seed, array::sizes::U64};
use pqlab_catalog::Operation;
use pqlab_worker::{
    CodePath, Decapsulator, Encapsulator, Entropy, Failure, Kem, KeyLengths, Outcome, Scheme,
    Subject,
};
use std::marker::PhantomData;

/// The subjects of this module.
pub fn subjects() -> Vec<Subject> {
    vec![
        subject::<MlKem512>("ML-KEM-512"),
        subject::<MlKem768>("ML-KEM-768"),
        subject::<MlKem1024>("ML-KEM-1024"),
    ]
}

fn subject<P>(name: &str) -> Subject
where
    P: Set + FromSeed<SeedSize = U64>,
    P::EncapsulationKey: Encapsulate<Kem = P>,
    P::DecapsulationKey: Decapsulate<Kem = P> + ExpandedKeyEncoding,
{
    let code_path = match hash::KECCAK_VARIANT {
        "portable" => CodePath::Called("ml_kem, sha3: portable Rust"),
        _ => CodePath::Reported(format!("ml_kem: portable Rust; Keccak on {}", hash::keccak())),
    };
    Subject::new(name, hash::KECCAK_VARIANT, code_path, || {
        Ok(Scheme::Kem(Box::new(Adapter::<P>(PhantomData))))
    })
}

struct Adapter<P>(PhantomData<P>);

impl<P> Kem for Adapter<P>
where
    P: Set + FromSeed<SeedSize = U64>,
    P::EncapsulationKey: Encapsulate<Kem = P>,
    P::DecapsulationKey: Decapsulate<Kem = P> + ExpandedKeyEncoding,
{
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        let (secret, public) = P::from_seed(&Seed::from(entropy.array()));
        let (secret, public) = (secret.to_expanded_bytes(), public.to_bytes());
        public_key[..public.len()].copy_from_slice(&public);
        secret_key[..secret.len()].copy_from_slice(&secret);
        Ok(KeyLengths { public_key: public.len(), secret_key: secret.len() })
    }

    fn encaps(
        &mut self,
        public_key: &[u8],
        entropy: &mut Entropy,
        ciphertext: &mut [u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        decode_public::<P>(public_key)?.encaps(entropy, ciphertext, shared_secret)
    }

    fn decaps(
        &mut self,
        secret_key: &[u8],
        ciphertext: &[u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        decode_secret::<P>(secret_key)?.decaps(ciphertext, shared_secret)
    }

    fn prepares(&self) -> &'static [Operation] {
        &[Operation::Encaps, Operation::Decaps]
    }

    fn prepare_encapsulator(&mut self, public_key: &[u8]) -> Outcome<Box<dyn Encapsulator>> {
        Ok(Box::new(decode_public::<P>(public_key)?))
    }

    fn prepare_decapsulator(&mut self, secret_key: &[u8]) -> Outcome<Box<dyn Decapsulator>> {
        Ok(Box::new(decode_secret::<P>(secret_key)?))
    }
}

struct Public<P: Set>(P::EncapsulationKey);

fn decode_public<P: Set>(encoded: &[u8]) -> Outcome<Public<P>> {
    P::EncapsulationKey::new_from_slice(encoded)
        .map(Public)
        .map_err(|e| Failure::of("EncapsulationKey::new_from_slice", e))
}

impl<P> Encapsulator for Public<P>
where
    P: Set,
    P::EncapsulationKey: Encapsulate<Kem = P>,
{
    fn encaps(
        &mut self,
        entropy: &mut Entropy,
        ciphertext: &mut [u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        let (sent, secret) = self.0.encapsulate_with_rng(&mut Drawn(entropy));
        ciphertext[..sent.len()].copy_from_slice(&sent);
        shared_secret[..secret.len()].copy_from_slice(&secret);
        Ok(())
    }
}

struct Secret<P: Set>(P::DecapsulationKey);

fn decode_secret<P>(encoded: &[u8]) -> Outcome<Secret<P>>
where
    P: Set,
    P::DecapsulationKey: ExpandedKeyEncoding,
{
    let encoded = encoded.try_into().map_err(|e| Failure::of("a secret key's length", e))?;
    P::DecapsulationKey::from_expanded_bytes(encoded)
        .map(Secret)
        .map_err(|e| Failure::of("DecapsulationKey::from_expanded_bytes", e))
}

impl<P> Decapsulator for Secret<P>
where
    P: Set,
    P::DecapsulationKey: Decapsulate<Kem = P>,
{
    fn decaps(&mut self, ciphertext: &[u8], shared_secret: &mut [u8]) -> Outcome<()> {
        let secret = self
            .0
            .decapsulate_slice(ciphertext)
            .map_err(|e| Failure::of("decapsulate_slice", e))?;
        shared_secret[..secret.len()].copy_from_slice(&secret);
        Ok(())
    }
}
