//! The calls into PQClean's code, the only unsafe code of this worker.
//!
//! The pqcrypto crates' own `ffi` modules declare the same functions; they are declared again here
//! because a macro can put a symbol together from its parts and a path it cannot, and because for
//! ML-DSA the crates declare `…_signature` and `…_verify`, which this PQClean has only as macros of
//! its header (fixed upstream on 2025-04-07, commit ae29fd8d): calling them fails at link time.

use pqlab_catalog::ParameterSet;
use pqlab_worker::Buffers;
use pqlab_worker::{Failure, KeyLengths, Outcome};
use std::ffi::c_int;

// Named so that the code they carry is linked.
#[cfg(feature = "tier-all")]
use pqcrypto_classicmceliece as _;
use pqcrypto_falcon as _;
#[cfg(feature = "tier-default")]
use pqcrypto_hqc as _;
use pqcrypto_mldsa as _;
use pqcrypto_mlkem as _;
#[cfg(feature = "tier-default")]
use pqcrypto_sphincsplus as _;

/// PQClean's `randombytes`, served from the entropy lent to the call under way.
///
/// pqcrypto-internals defines the same function over the system's generator, in an archive member
/// of its own. A linker takes a member out of an archive only for a symbol that nothing else
/// defines, so with this definition that one is never taken; were it taken for another symbol's
/// sake, the link would fail with a duplicate symbol, not go wrong in silence.
#[unsafe(no_mangle)]
unsafe extern "C" fn PQCRYPTO_RUST_randombytes(out: *mut u8, length: usize) -> c_int {
    // SAFETY: PQClean passes a buffer of `length` bytes of its own.
    let out = unsafe { std::slice::from_raw_parts_mut(out, length) };
    if !pqlab_worker::fill_from_lent(out) {
        // A panic cannot pass through the C frames that called us.
        eprintln!("PQClean asked for {length} random bytes in a call that should draw none");
        std::process::abort();
    }
    0
}

type Keypair = unsafe extern "C" fn(*mut u8, *mut u8) -> c_int;
type Sign = unsafe extern "C" fn(*mut u8, *mut usize, *const u8, usize, *const u8) -> c_int;
type Verify = unsafe extern "C" fn(*const u8, usize, *const u8, usize, *const u8) -> c_int;
type Encaps = unsafe extern "C" fn(*mut u8, *mut u8, *const u8) -> c_int;
type Decaps = unsafe extern "C" fn(*mut u8, *const u8, *const u8) -> c_int;

/// One implementation of one parameter set.
#[derive(Clone, Copy)]
pub struct Code<Calls> {
    /// The parameter set.
    pub set: &'static ParameterSet,
    /// The implementation: `clean`, `avx2` or `neon`.
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
    pub(crate) sign: Sign,
    pub(crate) verify: Verify,
}

/// The calls of a key encapsulation mechanism beside key generation.
#[derive(Clone, Copy)]
pub struct KemCalls {
    pub(crate) encaps: Encaps,
    pub(crate) decaps: Decaps,
}

impl<Calls> Code<Calls> {
    /// The implementation whose symbols begin with `symbol`.
    ///
    /// # Safety
    /// The functions must be those of PQClean's interface for `set`.
    pub(crate) unsafe fn new(
        set: &str,
        variant: &'static str,
        symbol: &'static str,
        keypair: Keypair,
        calls: Calls,
    ) -> Code<Calls> {
        let set = pqlab_catalog::find(set).expect("a name in the catalog");
        Code { set, variant, symbol, buffers: Buffers::of(set), keypair, calls }
    }

    /// Writes a key pair.
    pub fn keypair(&self, public_key: &mut [u8], secret_key: &mut [u8]) -> Outcome<KeyLengths> {
        let lengths = self.buffers.key_buffers(public_key, secret_key)?;
        // SAFETY: both buffers have the lengths the scheme writes.
        let status = unsafe { (self.keypair)(public_key.as_mut_ptr(), secret_key.as_mut_ptr()) };
        succeeded(self.symbol, "keypair", status)?;
        Ok(lengths)
    }
}

impl Code<SignatureCalls> {
    /// Writes a signature and returns its length.
    pub fn sign(&self, secret_key: &[u8], message: &[u8], signature: &mut [u8]) -> Outcome<usize> {
        self.buffers.secret_key_and_output(secret_key, signature)?;
        let mut length = signature.len();
        // SAFETY: the key has the scheme's length and the buffer its capacity.
        let status = unsafe {
            (self.calls.sign)(
                signature.as_mut_ptr(),
                &mut length,
                message.as_ptr(),
                message.len(),
                secret_key.as_ptr(),
            )
        };
        succeeded(self.symbol, "signature", status)?;
        Ok(length)
    }

    /// Whether the signature is good.
    pub fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
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

impl Code<KemCalls> {
    /// Writes a ciphertext and its secret.
    pub fn encaps(
        &self,
        public_key: &[u8],
        ciphertext: &mut [u8],
        secret: &mut [u8],
    ) -> Outcome<()> {
        self.buffers.public_key_and_ciphertext(public_key, ciphertext, secret)?;
        // SAFETY: the three slices have the scheme's lengths.
        let status = unsafe {
            (self.calls.encaps)(ciphertext.as_mut_ptr(), secret.as_mut_ptr(), public_key.as_ptr())
        };
        succeeded(self.symbol, "enc", status)
    }

    /// Writes the secret of a ciphertext.
    pub fn decaps(&self, secret_key: &[u8], ciphertext: &[u8], secret: &mut [u8]) -> Outcome<()> {
        self.buffers.secret_key_and_ciphertext(secret_key, ciphertext, secret)?;
        // SAFETY: the three slices have the scheme's lengths.
        let status = unsafe {
            (self.calls.decaps)(secret.as_mut_ptr(), ciphertext.as_ptr(), secret_key.as_ptr())
        };
        succeeded(self.symbol, "dec", status)
    }
}

fn succeeded(symbol: &str, call: &str, status: c_int) -> Outcome<()> {
    if status == 0 { Ok(()) } else { Err(Failure::of(&format!("{symbol}_…_{call}"), status)) }
}

/// Whether this processor has everything the pqcrypto crates' build scripts let the compiler use
/// in the `avx2` code: `-mavx2 -mbmi2 -mbmi -maes -mpopcnt -mpclmul`.
#[cfg(target_arch = "x86_64")]
pub(crate) fn runs_avx2() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2")
        && has!("bmi2")
        && has!("bmi1")
        && has!("aes")
        && has!("popcnt")
        && has!("pclmulqdq")
}

/// `for_each_code!(push, codes, set, name, …)` pushes the clean code and those of the others listed
/// that are built for this processor and that it can run.
macro_rules! for_each_code {
    ($push:ident, $codes:ident, $set:literal, $name:literal, $($other:ident),*) => {
        $codes.push($crate::ffi::$push!($set, "clean", concat!("PQCLEAN_", $name, "_CLEAN")));
        $( $crate::ffi::for_each_code!(@$other $push, $codes, $set, $name); )*
    };
    (@avx2 $push:ident, $codes:ident, $set:literal, $name:literal) => {
        // The crates leave some of it out on Windows.
        #[cfg(all(target_arch = "x86_64", not(windows)))]
        if $crate::ffi::runs_avx2() {
            $codes.push($crate::ffi::$push!($set, "avx2", concat!("PQCLEAN_", $name, "_AVX2")));
        }
    };
    (@neon $push:ident, $codes:ident, $set:literal, $name:literal) => {
        // NEON is part of every 64-bit Arm.
        #[cfg(target_arch = "aarch64")]
        $codes.push($crate::ffi::$push!($set, "neon", concat!("PQCLEAN_", $name, "_AARCH64")));
    };
}

/// Adds a signature scheme of the plain interface.
macro_rules! signature {
    ($codes:ident, $($line:tt)*) => {
        $crate::ffi::for_each_code!(signature_code, $codes, $($line)*)
    };
}

/// Adds a signature scheme that takes a context string, which stays empty.
macro_rules! signature_with_context {
    ($codes:ident, $($line:tt)*) => {
        $crate::ffi::for_each_code!(signature_with_context_code, $codes, $($line)*)
    };
}

/// Adds a key encapsulation mechanism.
macro_rules! kem {
    ($codes:ident, $($line:tt)*) => {
        $crate::ffi::for_each_code!(kem_code, $codes, $($line)*)
    };
}

/// PQClean's `crypto_sign`.
macro_rules! signature_code {
    ($set:literal, $variant:literal, $symbol:expr) => {{
        unsafe extern "C" {
            #[link_name = concat!($symbol, "_crypto_sign_keypair")]
            fn keypair(pk: *mut u8, sk: *mut u8) -> std::ffi::c_int;
            #[link_name = concat!($symbol, "_crypto_sign_signature")]
            fn sign(
                s: *mut u8,
                slen: *mut usize,
                m: *const u8,
                mlen: usize,
                sk: *const u8,
            ) -> std::ffi::c_int;
            #[link_name = concat!($symbol, "_crypto_sign_verify")]
            fn verify(
                s: *const u8,
                slen: usize,
                m: *const u8,
                mlen: usize,
                pk: *const u8,
            ) -> std::ffi::c_int;
        }
        let calls = $crate::ffi::SignatureCalls { sign, verify };
        // SAFETY: the declarations are those of the scheme's `api.h`.
        unsafe { $crate::ffi::Code::new($set, $variant, $symbol, keypair, calls) }
    }};
}

/// PQClean's `crypto_sign` with a context string.
macro_rules! signature_with_context_code {
    ($set:literal, $variant:literal, $symbol:expr) => {{
        use std::ffi::c_int;
        unsafe extern "C" {
            #[link_name = concat!($symbol, "_crypto_sign_keypair")]
            fn keypair(pk: *mut u8, sk: *mut u8) -> c_int;
            #[link_name = concat!($symbol, "_crypto_sign_signature_ctx")]
            fn sign_with_context(
                s: *mut u8,
                slen: *mut usize,
                m: *const u8,
                mlen: usize,
                context: *const u8,
                context_len: usize,
                sk: *const u8,
            ) -> c_int;
            #[link_name = concat!($symbol, "_crypto_sign_verify_ctx")]
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
        let calls = $crate::ffi::SignatureCalls { sign, verify };
        // SAFETY: the declarations are those of the scheme's `api.h`.
        unsafe { $crate::ffi::Code::new($set, $variant, $symbol, keypair, calls) }
    }};
}

/// PQClean's `crypto_kem`.
macro_rules! kem_code {
    ($set:literal, $variant:literal, $symbol:expr) => {{
        unsafe extern "C" {
            #[link_name = concat!($symbol, "_crypto_kem_keypair")]
            fn keypair(pk: *mut u8, sk: *mut u8) -> std::ffi::c_int;
            #[link_name = concat!($symbol, "_crypto_kem_enc")]
            fn encaps(ct: *mut u8, ss: *mut u8, pk: *const u8) -> std::ffi::c_int;
            #[link_name = concat!($symbol, "_crypto_kem_dec")]
            fn decaps(ss: *mut u8, ct: *const u8, sk: *const u8) -> std::ffi::c_int;
        }
        let calls = $crate::ffi::KemCalls { encaps, decaps };
        // SAFETY: the declarations are those of the mechanism's `api.h`.
        unsafe { $crate::ffi::Code::new($set, $variant, $symbol, keypair, calls) }
    }};
}

pub(crate) use {
    for_each_code, kem, kem_code, signature, signature_code, signature_with_context,
    signature_with_context_code,
};
