//! ML-KEM (FIPS 203). Keys are in the standard's expanded encoding; randomness is an argument, one
//! 64-byte d‖z and one 32-byte m, so the known answers come out.
//!
//! `encapsulate` does not make the input checks of FIPS 203 §7.2 and `decapsulate` not those of
//! §7.3: the library offers them as separate calls, which are not in these figures.

use pqlab_worker::{CodePath, Failure, Outcome, Scheme, Subject};

/// One line a parameter set and variant: module, its source, its type of an unpacked public key and
/// of an unpacked key pair.
macro_rules! adapters {
    ($($(#[$attribute:meta])* $module:ident = $set:ident::$variant:ident,
        $public:ident, $pair:ident;)*) => {$(
        $(#[$attribute])*
        mod $module {
            use super::sized;
            use libcrux_ml_kem::$set::$variant::{self as library, unpacked};
            use pqlab_catalog::Operation;
            use pqlab_worker::{
                Decapsulator, Encapsulator, Entropy, Kem, KeyLengths, Outcome,
            };

            pub struct Adapter;

            impl Kem for Adapter {
                fn keygen(
                    &mut self,
                    entropy: &mut Entropy,
                    public_key: &mut [u8],
                    secret_key: &mut [u8],
                ) -> Outcome<KeyLengths> {
                    let pair = library::generate_key_pair(entropy.array());
                    let (public, secret) = (pair.pk(), pair.sk());
                    public_key[..public.len()].copy_from_slice(public);
                    secret_key[..secret.len()].copy_from_slice(secret);
                    Ok(KeyLengths { public_key: public.len(), secret_key: secret.len() })
                }

                fn encaps(
                    &mut self,
                    public_key: &[u8],
                    entropy: &mut Entropy,
                    ciphertext: &mut [u8],
                    shared_secret: &mut [u8],
                ) -> Outcome<()> {
                    let key = sized("public key", public_key)?;
                    let (sent, secret) = library::encapsulate(&key, entropy.array());
                    ciphertext[..sent.as_ref().len()].copy_from_slice(sent.as_ref());
                    shared_secret[..secret.len()].copy_from_slice(&secret);
                    Ok(())
                }

                fn decaps(
                    &mut self,
                    secret_key: &[u8],
                    ciphertext: &[u8],
                    shared_secret: &mut [u8],
                ) -> Outcome<()> {
                    let key = sized("secret key", secret_key)?;
                    let secret = library::decapsulate(&key, &sized("ciphertext", ciphertext)?);
                    shared_secret[..secret.len()].copy_from_slice(&secret);
                    Ok(())
                }

                fn prepares(&self) -> &'static [Operation] {
                    &[Operation::Encaps, Operation::Decaps]
                }

                fn prepare_encapsulator(
                    &mut self,
                    public_key: &[u8],
                ) -> Outcome<Box<dyn Encapsulator>> {
                    let mut key = unpacked::init_public_key();
                    let encoded = sized("public key", public_key)?;
                    unpacked::unpacked_public_key(&encoded, &mut key);
                    Ok(Box::new(Public(key)))
                }

                fn prepare_decapsulator(
                    &mut self,
                    secret_key: &[u8],
                ) -> Outcome<Box<dyn Decapsulator>> {
                    let mut key = unpacked::init_key_pair();
                    let encoded = sized("secret key", secret_key)?;
                    unpacked::key_pair_from_private_mut(&encoded, &mut key);
                    Ok(Box::new(Pair(key)))
                }
            }

            struct Public(unpacked::$public);

            impl Encapsulator for Public {
                fn encaps(
                    &mut self,
                    entropy: &mut Entropy,
                    ciphertext: &mut [u8],
                    shared_secret: &mut [u8],
                ) -> Outcome<()> {
                    let (sent, secret) = unpacked::encapsulate(&self.0, entropy.array());
                    ciphertext[..sent.as_ref().len()].copy_from_slice(sent.as_ref());
                    shared_secret[..secret.len()].copy_from_slice(&secret);
                    Ok(())
                }
            }

            struct Pair(unpacked::$pair);

            impl Decapsulator for Pair {
                fn decaps(&mut self, ciphertext: &[u8], shared_secret: &mut [u8]) -> Outcome<()> {
                    let secret = unpacked::decapsulate(&self.0, &sized("ciphertext", ciphertext)?);
                    shared_secret[..secret.len()].copy_from_slice(&secret);
                    Ok(())
                }
            }
        }
    )*};
}

adapters! {
    #[cfg(feature = "tier-default")]
    portable_512 = mlkem512::portable, MlKem512PublicKeyUnpacked, MlKem512KeyPairUnpacked;
    portable_768 = mlkem768::portable, MlKem768PublicKeyUnpacked, MlKem768KeyPairUnpacked;
    #[cfg(feature = "tier-default")]
    portable_1024 = mlkem1024::portable, MlKem1024PublicKeyUnpacked, MlKem1024KeyPairUnpacked;
}

#[cfg(target_arch = "x86_64")]
adapters! {
    #[cfg(feature = "tier-default")]
    avx2_512 = mlkem512::avx2, MlKem512PublicKeyUnpacked, MlKem512KeyPairUnpacked;
    avx2_768 = mlkem768::avx2, MlKem768PublicKeyUnpacked, MlKem768KeyPairUnpacked;
    #[cfg(feature = "tier-default")]
    avx2_1024 = mlkem1024::avx2, MlKem1024PublicKeyUnpacked, MlKem1024KeyPairUnpacked;
}

#[cfg(target_arch = "aarch64")]
adapters! {
    #[cfg(feature = "tier-default")]
    neon_512 = mlkem512::neon, MlKem512PublicKeyUnpacked, MlKem512KeyPairUnpacked;
    neon_768 = mlkem768::neon, MlKem768PublicKeyUnpacked, MlKem768KeyPairUnpacked;
    #[cfg(feature = "tier-default")]
    neon_1024 = mlkem1024::neon, MlKem1024PublicKeyUnpacked, MlKem1024KeyPairUnpacked;
}

macro_rules! subjects {
    ($variant:ident:
        $($(#[$attribute:meta])* $set:literal, $module:ident, $path:literal;)*) => {
        /// The subjects of this variant.
        pub fn $variant() -> Vec<Subject> {
            vec![$(
                $(#[$attribute])*
                Subject::new($set, stringify!($variant), CodePath::Called($path), || {
                    Ok(Scheme::Kem(Box::new($module::Adapter)))
                }),
            )*]
        }
    };
}

subjects! { portable:
    #[cfg(feature = "tier-default")]
    "ML-KEM-512", portable_512, "libcrux_ml_kem::mlkem512::portable";
    "ML-KEM-768", portable_768, "libcrux_ml_kem::mlkem768::portable";
    #[cfg(feature = "tier-default")]
    "ML-KEM-1024", portable_1024, "libcrux_ml_kem::mlkem1024::portable";
}

#[cfg(target_arch = "x86_64")]
subjects! { avx2:
    #[cfg(feature = "tier-default")]
    "ML-KEM-512", avx2_512, "libcrux_ml_kem::mlkem512::avx2";
    "ML-KEM-768", avx2_768, "libcrux_ml_kem::mlkem768::avx2";
    #[cfg(feature = "tier-default")]
    "ML-KEM-1024", avx2_1024, "libcrux_ml_kem::mlkem1024::avx2";
}

#[cfg(target_arch = "aarch64")]
subjects! { neon:
    #[cfg(feature = "tier-default")]
    "ML-KEM-512", neon_512, "libcrux_ml_kem::mlkem512::neon";
    "ML-KEM-768", neon_768, "libcrux_ml_kem::mlkem768::neon";
    #[cfg(feature = "tier-default")]
    "ML-KEM-1024", neon_1024, "libcrux_ml_kem::mlkem1024::neon";
}

/// The library's type for an object of this size.
fn sized<'a, T: TryFrom<&'a [u8]>>(what: &str, encoded: &'a [u8]) -> Outcome<T> {
    encoded.try_into().map_err(|_| Failure(format!("a {what} of {} bytes", encoded.len())))
}
