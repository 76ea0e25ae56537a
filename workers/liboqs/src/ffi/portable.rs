//! The portable code that liboqs carries beside the code its dispatch prefers, called by its own
//! symbols. Its hashing is still that of liboqs: AVX2 Keccak where the processor has it.

use super::{KemCode, SignatureCode, succeeded};
use pqlab_catalog::ParameterSet;
use pqlab_worker::Buffers;
use pqlab_worker::{KeyLengths, Outcome};
use std::ffi::c_int;

type Keypair = unsafe extern "C" fn(*mut u8, *mut u8) -> c_int;
type Sign = unsafe extern "C" fn(*mut u8, *mut usize, *const u8, usize, *const u8) -> c_int;
type Verify = unsafe extern "C" fn(*const u8, usize, *const u8, usize, *const u8) -> c_int;
type Encaps = unsafe extern "C" fn(*mut u8, *mut u8, *const u8) -> c_int;
type Decaps = unsafe extern "C" fn(*mut u8, *const u8, *const u8) -> c_int;

/// Portable code of one parameter set.
#[derive(Clone, Copy)]
pub struct Portable<Calls> {
    /// The parameter set.
    pub set: &'static ParameterSet,
    /// liboqs' name for this code, the ending of its folder.
    pub variant: &'static str,
    /// What its symbols begin with.
    pub symbol: &'static str,
    buffers: Buffers,
    keypair: Keypair,
    calls: Calls,
}

/// The calls of a signature scheme beside key generation.
#[derive(Clone, Copy)]
pub struct SignatureCalls {
    sign: Sign,
    verify: Verify,
}

/// The calls of a key encapsulation mechanism beside key generation.
#[derive(Clone, Copy)]
pub struct KemCalls {
    encaps: Encaps,
    decaps: Decaps,
}

impl<Calls> Portable<Calls> {
    fn new(
        set: &str,
        variant: &'static str,
        symbol: &'static str,
        keypair: Keypair,
        calls: Calls,
    ) -> Portable<Calls> {
        let set = pqlab_catalog::find(set).expect("a name in the catalog");
        Portable { set, variant, symbol, buffers: Buffers::of(set), keypair, calls }
    }

    fn keypair(&self, public_key: &mut [u8], secret_key: &mut [u8]) -> Outcome<KeyLengths> {
        let lengths = self.buffers.key_buffers(public_key, secret_key)?;
        // SAFETY: both buffers have the lengths the scheme writes.
        let status = unsafe { (self.keypair)(public_key.as_mut_ptr(), secret_key.as_mut_ptr()) };
        succeeded(self.symbol, status)?;
        Ok(lengths)
    }
}

/// PQClean's code as `src/sig/falcon` declares it.
macro_rules! falcon {
    ($set:literal, $symbol:literal) => {{
        unsafe extern "C" {
            #[link_name = concat!($symbol, "_crypto_sign_keypair")]
            fn keypair(pk: *mut u8, sk: *mut u8) -> c_int;
            #[link_name = concat!($symbol, "_crypto_sign_signature")]
            fn sign(
                s: *mut u8,
                slen: *mut usize,
                m: *const u8,
                mlen: usize,
                sk: *const u8,
            ) -> c_int;
            #[link_name = concat!($symbol, "_crypto_sign_verify")]
            fn verify(s: *const u8, slen: usize, m: *const u8, mlen: usize, pk: *const u8)
            -> c_int;
        }
        Portable::new($set, "clean", $symbol, keypair, SignatureCalls { sign, verify })
    }};
}

/// pq-crystals' code as `src/sig/ml_dsa` declares it, called with an empty context.
macro_rules! ml_dsa {
    ($set:literal, $symbol:literal) => {{
        unsafe extern "C" {
            #[link_name = concat!($symbol, "_keypair")]
            fn keypair(pk: *mut u8, sk: *mut u8) -> c_int;
            #[link_name = concat!($symbol, "_signature")]
            fn sign_with_context(
                s: *mut u8,
                slen: *mut usize,
                m: *const u8,
                mlen: usize,
                context: *const u8,
                context_len: usize,
                sk: *const u8,
            ) -> c_int;
            #[link_name = concat!($symbol, "_verify")]
            fn verify_with_context(
                s: *const u8,
                slen: usize,
                m: *const u8,
                mlen: usize,
                context: *const u8,
                context_len: usize,
                pk: *const u8,
            ) -> c_int;
        }
        unsafe extern "C" fn sign(
            s: *mut u8,
            slen: *mut usize,
            m: *const u8,
            mlen: usize,
            sk: *const u8,
        ) -> c_int {
            // SAFETY: our caller answers for the pointers; a context of no bytes is never read.
            unsafe { sign_with_context(s, slen, m, mlen, std::ptr::null(), 0, sk) }
        }
        unsafe extern "C" fn verify(
            s: *const u8,
            slen: usize,
            m: *const u8,
            mlen: usize,
            pk: *const u8,
        ) -> c_int {
            // SAFETY: our caller answers for the pointers; a context of no bytes is never read.
            unsafe { verify_with_context(s, slen, m, mlen, std::ptr::null(), 0, pk) }
        }
        Portable::new($set, "ref", $symbol, keypair, SignatureCalls { sign, verify })
    }};
}

/// mlkem-native's C code as `src/kem/ml_kem` declares it.
macro_rules! ml_kem {
    ($set:literal, $symbol:literal) => {{
        unsafe extern "C" {
            #[link_name = concat!($symbol, "_keypair")]
            fn keypair(pk: *mut u8, sk: *mut u8) -> c_int;
            #[link_name = concat!($symbol, "_enc")]
            fn encaps(ct: *mut u8, ss: *mut u8, pk: *const u8) -> c_int;
            #[link_name = concat!($symbol, "_dec")]
            fn decaps(ss: *mut u8, ct: *const u8, sk: *const u8) -> c_int;
        }
        Portable::new($set, "ref", $symbol, keypair, KemCalls { encaps, decaps })
    }};
}

/// The signature schemes whose portable code can be called by its own symbols.
pub fn signatures() -> [Portable<SignatureCalls>; 7] {
    [
        falcon!("Falcon-512", "PQCLEAN_FALCON512_CLEAN"),
        falcon!("Falcon-1024", "PQCLEAN_FALCON1024_CLEAN"),
        falcon!("Falcon-padded-512", "PQCLEAN_FALCONPADDED512_CLEAN"),
        falcon!("Falcon-padded-1024", "PQCLEAN_FALCONPADDED1024_CLEAN"),
        ml_dsa!("ML-DSA-44", "pqcrystals_ml_dsa_44_ref"),
        ml_dsa!("ML-DSA-65", "pqcrystals_ml_dsa_65_ref"),
        ml_dsa!("ML-DSA-87", "pqcrystals_ml_dsa_87_ref"),
    ]
}

/// The mechanisms whose portable code can be called by its own symbols.
pub fn kems() -> [Portable<KemCalls>; 3] {
    [
        ml_kem!("ML-KEM-512", "PQCP_MLKEM_NATIVE_MLKEM512_C"),
        ml_kem!("ML-KEM-768", "PQCP_MLKEM_NATIVE_MLKEM768_C"),
        ml_kem!("ML-KEM-1024", "PQCP_MLKEM_NATIVE_MLKEM1024_C"),
    ]
}

impl SignatureCode for Portable<SignatureCalls> {
    fn keypair(&self, public_key: &mut [u8], secret_key: &mut [u8]) -> Outcome<KeyLengths> {
        self.keypair(public_key, secret_key)
    }

    fn sign(&self, secret_key: &[u8], message: &[u8], signature: &mut [u8]) -> Outcome<usize> {
        self.buffers.secret_key_and_output(secret_key, signature)?;
        let mut length = signature.len();
        // SAFETY: the key has the scheme's length and the buffer its capacity.
        succeeded(self.symbol, unsafe {
            (self.calls.sign)(
                signature.as_mut_ptr(),
                &mut length,
                message.as_ptr(),
                message.len(),
                secret_key.as_ptr(),
            )
        })?;
        Ok(length)
    }

    fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        // SAFETY: key and signature have lengths the scheme may read.
        self.buffers.verifiable(public_key, signature)
            && 0 == unsafe {
                (self.calls.verify)(
                    signature.as_ptr(),
                    signature.len(),
                    message.as_ptr(),
                    message.len(),
                    public_key.as_ptr(),
                )
            }
    }
}

impl KemCode for Portable<KemCalls> {
    fn keypair(&self, public_key: &mut [u8], secret_key: &mut [u8]) -> Outcome<KeyLengths> {
        self.keypair(public_key, secret_key)
    }

    fn encaps(&self, public_key: &[u8], ciphertext: &mut [u8], secret: &mut [u8]) -> Outcome<()> {
        self.buffers.public_key_and_ciphertext(public_key, ciphertext, secret)?;
        // SAFETY: the three slices have the scheme's lengths.
        succeeded(self.symbol, unsafe {
            (self.calls.encaps)(ciphertext.as_mut_ptr(), secret.as_mut_ptr(), public_key.as_ptr())
        })
    }

    fn decaps(&self, secret_key: &[u8], ciphertext: &[u8], secret: &mut [u8]) -> Outcome<()> {
        self.buffers.secret_key_and_ciphertext(secret_key, ciphertext, secret)?;
        // SAFETY: the three slices have the scheme's lengths.
        succeeded(self.symbol, unsafe {
            (self.calls.decaps)(secret.as_mut_ptr(), ciphertext.as_ptr(), secret_key.as_ptr())
        })
    }
}
