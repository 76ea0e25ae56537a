//! One adapter for both versions: their traits have the same shape but are different traits, so a
//! macro writes a module for each. The types made for one degree are used, not the `…Standard`
//! ones that hold either, because the latter clear twice the memory at degree 512.

use pqlab_worker::{Entropy, Failure, Outcome};
// Both versions stand on rand_core 0.6, so one generator serves them.
use fn_dsa_0_4::{CryptoRng, RngCore, RngError};

/// Our entropy, dressed as the generator that fn-dsa draws from.
struct Drawn<'a>(&'a mut Entropy);

impl CryptoRng for Drawn<'_> {}

impl RngCore for Drawn<'_> {
    fn next_u32(&mut self) -> u32 {
        u32::from_le_bytes(self.0.array())
    }

    fn next_u64(&mut self) -> u64 {
        u64::from_le_bytes(self.0.array())
    }

    fn fill_bytes(&mut self, out: &mut [u8]) {
        self.0.fill(out);
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), RngError> {
        self.0.fill(out);
        Ok(())
    }
}

/// What `sign` gives back: nothing in 0.3, an option in 0.4.
trait Signed {
    fn outcome(self) -> Outcome<()>;
}

impl Signed for () {
    fn outcome(self) -> Outcome<()> {
        Ok(())
    }
}

impl Signed for Option<()> {
    fn outcome(self) -> Outcome<()> {
        self.ok_or_else(|| Failure("SigningKey::sign gave up: the key is invalid".to_owned()))
    }
}

macro_rules! version {
    ($(#[$doc:meta])* $name:ident, $library:ident, $common:ident, $hash_id:ident) => {
        $(#[$doc])*
        pub mod $name {
            use super::{Drawn, Signed};
            use $library::{
                DOMAIN_NONE, FN_DSA_LOGN_512, FN_DSA_LOGN_1024, $hash_id, KeyPairGenerator,
                KeyPairGenerator512, KeyPairGenerator1024, SigningKey, SigningKey512,
                SigningKey1024, VerifyingKey, VerifyingKey512, VerifyingKey1024, sign_key_size,
                signature_size, vrfy_key_size,
            };
            use pqlab_catalog::Operation;
            use pqlab_worker::{
                Entropy, Failure, KeyLengths, Outcome, Signature, Signer, Verifier,
            };
            use std::marker::PhantomData;

            /// Degree 512.
            pub type Degree512 =
                Adapter<{ FN_DSA_LOGN_512 }, KeyPairGenerator512, SigningKey512, VerifyingKey512>;
            /// Degree 1024.
            pub type Degree1024 = Adapter<
                { FN_DSA_LOGN_1024 },
                KeyPairGenerator1024,
                SigningKey1024,
                VerifyingKey1024,
            >;

            /// Whether the library takes its AVX2 code, by the very function it asks itself.
            pub fn has_avx2() -> bool {
                #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
                return $common::has_avx2();
                #[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
                return false;
            }

            /// The adapter. It keeps the generator, whose buffers the library means to be reused.
            pub struct Adapter<const LOGN: u32, G, S, V> {
                generator: G,
                keys: PhantomData<(S, V)>,
            }

            impl<const LOGN: u32, G: KeyPairGenerator, S, V> Adapter<LOGN, G, S, V> {
                /// An adapter with clear buffers.
                pub fn new() -> Self {
                    Adapter { generator: G::default(), keys: PhantomData }
                }
            }

            impl<const LOGN: u32, G, S, V> Signature for Adapter<LOGN, G, S, V>
            where
                G: KeyPairGenerator,
                S: SigningKey + 'static,
                V: VerifyingKey + 'static,
            {
                fn keygen(
                    &mut self,
                    entropy: &mut Entropy,
                    public_key: &mut [u8],
                    secret_key: &mut [u8],
                ) -> Outcome<KeyLengths> {
                    let lengths = KeyLengths {
                        public_key: vrfy_key_size(LOGN),
                        secret_key: sign_key_size(LOGN),
                    };
                    self.generator.keygen(
                        LOGN,
                        &mut Drawn(entropy),
                        &mut secret_key[..lengths.secret_key],
                        &mut public_key[..lengths.public_key],
                    );
                    Ok(lengths)
                }

                fn sign(
                    &mut self,
                    secret_key: &[u8],
                    message: &[u8],
                    entropy: &mut Entropy,
                    signature: &mut [u8],
                ) -> Outcome<usize> {
                    signer::<S>(secret_key)?.sign(message, entropy, signature)
                }

                fn verify(
                    &mut self,
                    public_key: &[u8],
                    message: &[u8],
                    signature: &[u8],
                ) -> Outcome<bool> {
                    let key = V::decode(public_key);
                    Ok(key.is_some_and(|key| accepts(&key, message, signature)))
                }

                fn prepares(&self) -> &'static [Operation] {
                    &[Operation::Sign, Operation::Verify]
                }

                fn prepare_signer(&mut self, secret_key: &[u8]) -> Outcome<Box<dyn Signer>> {
                    Ok(Box::new(signer::<S>(secret_key)?))
                }

                fn prepare_verifier(&mut self, public_key: &[u8]) -> Outcome<Box<dyn Verifier>> {
                    let key = V::decode(public_key)
                        .ok_or_else(|| Failure::of("VerifyingKey::decode", "None"))?;
                    Ok(Box::new(PreparedVerifier(key)))
                }
            }

            fn signer<S: SigningKey>(secret_key: &[u8]) -> Outcome<PreparedSigner<S>> {
                let key = S::decode(secret_key)
                    .ok_or_else(|| Failure::of("SigningKey::decode", "None"))?;
                Ok(PreparedSigner(key))
            }

            fn accepts<V: VerifyingKey>(key: &V, message: &[u8], signature: &[u8]) -> bool {
                key.verify(signature, &DOMAIN_NONE, &$hash_id, message)
            }

            struct PreparedSigner<S>(S);

            impl<S: SigningKey> Signer for PreparedSigner<S> {
                fn sign(
                    &mut self,
                    message: &[u8],
                    entropy: &mut Entropy,
                    signature: &mut [u8],
                ) -> Outcome<usize> {
                    let length = signature_size(self.0.get_logn());
                    let signature = &mut signature[..length];
                    let (rng, hash_id) = (&mut Drawn(entropy), &$hash_id);
                    self.0.sign(rng, &DOMAIN_NONE, hash_id, message, signature).outcome()?;
                    Ok(length)
                }
            }

            struct PreparedVerifier<V>(V);

            impl<V: VerifyingKey> Verifier for PreparedVerifier<V> {
                fn verify(&mut self, message: &[u8], signature: &[u8]) -> Outcome<bool> {
                    Ok(accepts(&self.0, message, signature))
                }
            }
        }
    };
}

version! {
    /// fn-dsa 0.3.0, hashing nonce and message as round-3 Falcon does.
    v0_3, fn_dsa_0_3, fn_dsa_comm_0_3, HASH_ID_ORIGINAL_FALCON
}
version! {
    /// fn-dsa 0.4.0, pure mode: message not pre-hashed, empty context.
    v0_4, fn_dsa_0_4, fn_dsa_comm_0_4, HASH_ID_RAW
}
