//! ML-DSA (FIPS 204), pure mode, empty context, hedged. Randomness is an argument, one 32-byte seed
//! and one 32-byte rnd, so the known answers come out. The library has no decoded form of a key.

use pqlab_worker::{CodePath, Failure, Outcome, Scheme, Subject};

/// One line a parameter set and variant: module, its source, its type of a public key, of a secret
/// key and of a signature.
macro_rules! adapters {
    ($($(#[$attribute:meta])* $module:ident = $set:ident::$variant:ident,
        $public:ident, $secret:ident, $signature:ident;)*) => {$(
        $(#[$attribute])*
        mod $module {
            use super::array;
            use libcrux_ml_dsa::$set::{self as types, $variant as library};
            use pqlab_worker::{Entropy, Failure, KeyLengths, Outcome, Signature};

            pub struct Adapter;

            impl Signature for Adapter {
                fn keygen(
                    &mut self,
                    entropy: &mut Entropy,
                    public_key: &mut [u8],
                    secret_key: &mut [u8],
                ) -> Outcome<KeyLengths> {
                    let pair = library::generate_key_pair(entropy.array());
                    let public = pair.verification_key.as_slice();
                    let secret = pair.signing_key.as_slice();
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
                    let key = types::$secret::new(array("secret key", secret_key)?);
                    let signed = library::sign(&key, message, b"", entropy.array())
                        .map_err(|e| Failure::of("sign", format_args!("{e:?}")))?;
                    let signed = signed.as_slice();
                    signature[..signed.len()].copy_from_slice(signed);
                    Ok(signed.len())
                }

                fn verify(
                    &mut self,
                    public_key: &[u8],
                    message: &[u8],
                    signature: &[u8],
                ) -> Outcome<bool> {
                    let (Ok(key), Ok(signature)) = (public_key.try_into(), signature.try_into())
                    else {
                        return Ok(false);
                    };
                    let key = types::$public::new(key);
                    let signature = types::$signature::new(signature);
                    Ok(library::verify(&key, message, b"", &signature).is_ok())
                }
            }
        }
    )*};
}

adapters! {
    portable_44 = ml_dsa_44::portable, MLDSA44VerificationKey, MLDSA44SigningKey, MLDSA44Signature;
    #[cfg(feature = "tier-default")]
    portable_65 = ml_dsa_65::portable, MLDSA65VerificationKey, MLDSA65SigningKey, MLDSA65Signature;
    #[cfg(feature = "tier-default")]
    portable_87 = ml_dsa_87::portable, MLDSA87VerificationKey, MLDSA87SigningKey, MLDSA87Signature;
}

#[cfg(target_arch = "x86_64")]
adapters! {
    avx2_44 = ml_dsa_44::avx2, MLDSA44VerificationKey, MLDSA44SigningKey, MLDSA44Signature;
    #[cfg(feature = "tier-default")]
    avx2_65 = ml_dsa_65::avx2, MLDSA65VerificationKey, MLDSA65SigningKey, MLDSA65Signature;
    #[cfg(feature = "tier-default")]
    avx2_87 = ml_dsa_87::avx2, MLDSA87VerificationKey, MLDSA87SigningKey, MLDSA87Signature;
}

#[cfg(target_arch = "aarch64")]
adapters! {
    neon_44 = ml_dsa_44::neon, MLDSA44VerificationKey, MLDSA44SigningKey, MLDSA44Signature;
    #[cfg(feature = "tier-default")]
    neon_65 = ml_dsa_65::neon, MLDSA65VerificationKey, MLDSA65SigningKey, MLDSA65Signature;
    #[cfg(feature = "tier-default")]
    neon_87 = ml_dsa_87::neon, MLDSA87VerificationKey, MLDSA87SigningKey, MLDSA87Signature;
}

macro_rules! subjects {
    ($variant:ident:
        $($(#[$attribute:meta])* $set:literal, $module:ident, $path:literal;)*) => {
        /// The subjects of this variant.
        pub fn $variant() -> Vec<Subject> {
            vec![$(
                $(#[$attribute])*
                Subject::new($set, stringify!($variant), CodePath::Called($path), || {
                    Ok(Scheme::Signature(Box::new($module::Adapter)))
                }),
            )*]
        }
    };
}

subjects! { portable:
    "ML-DSA-44", portable_44, "libcrux_ml_dsa::ml_dsa_44::portable";
    #[cfg(feature = "tier-default")]
    "ML-DSA-65", portable_65, "libcrux_ml_dsa::ml_dsa_65::portable";
    #[cfg(feature = "tier-default")]
    "ML-DSA-87", portable_87, "libcrux_ml_dsa::ml_dsa_87::portable";
}

#[cfg(target_arch = "x86_64")]
subjects! { avx2:
    "ML-DSA-44", avx2_44, "libcrux_ml_dsa::ml_dsa_44::avx2";
    #[cfg(feature = "tier-default")]
    "ML-DSA-65", avx2_65, "libcrux_ml_dsa::ml_dsa_65::avx2";
    #[cfg(feature = "tier-default")]
    "ML-DSA-87", avx2_87, "libcrux_ml_dsa::ml_dsa_87::avx2";
}

#[cfg(target_arch = "aarch64")]
subjects! { neon:
    "ML-DSA-44", neon_44, "libcrux_ml_dsa::ml_dsa_44::neon";
    #[cfg(feature = "tier-default")]
    "ML-DSA-65", neon_65, "libcrux_ml_dsa::ml_dsa_65::neon";
    #[cfg(feature = "tier-default")]
    "ML-DSA-87", neon_87, "libcrux_ml_dsa::ml_dsa_87::neon";
}

fn array<const N: usize>(what: &str, encoded: &[u8]) -> Outcome<[u8; N]> {
    encoded.try_into().map_err(|_| Failure(format!("a {what} of {} bytes", encoded.len())))
}
