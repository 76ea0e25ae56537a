//! The calls into liboqs, the only unsafe code of this worker.
//!
//! The functions of `OQS_SIG` and `OQS_KEM` are declared again here, although oqs-sys declares
//! them, because its declarations return the Rust enumeration `OQS_STATUS`: liboqs casts whatever
//! number the scheme's code returned (MAYO returns 1 for a bad signature), and a number that the
//! enumeration does not list is undefined behaviour in Rust.

pub mod portable;

use oqs_sys::common::OQS_CPU_EXT;
use oqs_sys::kem::{OQS_KEM, OQS_KEM_free, OQS_KEM_new};
use oqs_sys::sig::{OQS_SIG, OQS_SIG_free, OQS_SIG_new};
use pqlab_catalog::ParameterSet;
use pqlab_worker::Buffers;
use pqlab_worker::{Failure, KeyLengths, Outcome};
use std::ffi::{CStr, CString, c_int};
use std::ptr::NonNull;

/// Prepares the library: its view of the processor, and [`randombytes`] as its only generator.
pub fn start() {
    // SAFETY: neither call has a precondition, and `randombytes` is a function of the type asked
    // for that lives as long as the process.
    unsafe {
        oqs_sys::common::OQS_init();
        oqs_sys::rand::OQS_randombytes_custom_algorithm(Some(randombytes));
    }
}

/// Serves the library from the entropy lent to the call under way.
unsafe extern "C" fn randombytes(out: *mut u8, length: usize) {
    // SAFETY: liboqs passes a buffer of `length` bytes of its own.
    let out = unsafe { std::slice::from_raw_parts_mut(out, length) };
    if !pqlab_worker::fill_from_lent(out) {
        // A panic cannot pass through the C frames that called us.
        eprintln!("liboqs asked for {length} random bytes in a call that should draw none");
        std::process::abort();
    }
}

/// The library's own version.
pub fn version() -> String {
    // SAFETY: OQS_version returns a string literal.
    let version = unsafe { CStr::from_ptr(oqs_sys::common::OQS_version()) };
    version.to_string_lossy().into_owned()
}

/// Whether the library sees this extension of the processor.
pub fn has_extension(extension: OQS_CPU_EXT) -> bool {
    // SAFETY: the call has no precondition.
    unsafe { oqs_sys::common::OQS_CPU_has_extension(extension) != 0 }
}

/// Code that signs.
pub trait SignatureCode {
    /// Writes a key pair.
    fn keypair(&self, public_key: &mut [u8], secret_key: &mut [u8]) -> Outcome<KeyLengths>;
    /// Writes a signature and returns its length.
    fn sign(&self, secret_key: &[u8], message: &[u8], signature: &mut [u8]) -> Outcome<usize>;
    /// Whether the signature is good.
    fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool;
}

/// Code that encapsulates.
pub trait KemCode {
    /// Writes a key pair.
    fn keypair(&self, public_key: &mut [u8], secret_key: &mut [u8]) -> Outcome<KeyLengths>;
    /// Writes a ciphertext and its secret.
    fn encaps(&self, public_key: &[u8], ciphertext: &mut [u8], secret: &mut [u8]) -> Outcome<()>;
    /// Writes the secret of a ciphertext.
    fn decaps(&self, secret_key: &[u8], ciphertext: &[u8], secret: &mut [u8]) -> Outcome<()>;
}

unsafe extern "C" {
    fn OQS_SIG_keypair(sig: *const OQS_SIG, pk: *mut u8, sk: *mut u8) -> c_int;
    fn OQS_SIG_sign(
        sig: *const OQS_SIG,
        signature: *mut u8,
        signature_len: *mut usize,
        message: *const u8,
        message_len: usize,
        sk: *const u8,
    ) -> c_int;
    fn OQS_SIG_verify(
        sig: *const OQS_SIG,
        message: *const u8,
        message_len: usize,
        signature: *const u8,
        signature_len: usize,
        pk: *const u8,
    ) -> c_int;
    fn OQS_KEM_keypair(kem: *const OQS_KEM, pk: *mut u8, sk: *mut u8) -> c_int;
    fn OQS_KEM_encaps(kem: *const OQS_KEM, ct: *mut u8, ss: *mut u8, pk: *const u8) -> c_int;
    fn OQS_KEM_decaps(kem: *const OQS_KEM, ss: *mut u8, ct: *const u8, sk: *const u8) -> c_int;
}

/// A scheme of the `OQS_SIG` interface.
pub struct DispatchedSignature {
    handle: NonNull<OQS_SIG>,
    buffers: Buffers,
}

impl DispatchedSignature {
    /// The scheme of that parameter set.
    pub fn new(set: &'static ParameterSet) -> Outcome<DispatchedSignature> {
        let name = library_name(set);
        // SAFETY: `name` is a C string for the time of the call; the result is null or a scheme
        // that is ours until it is freed.
        let handle = NonNull::new(unsafe { OQS_SIG_new(name.as_ptr()) })
            .ok_or_else(|| not_built("OQS_SIG_new", &name))?;
        let scheme = DispatchedSignature { handle, buffers: Buffers::of(set) };
        // SAFETY: the handle came from OQS_SIG_new.
        let described = unsafe { handle.as_ref() };
        scheme.buffers.expect_lengths(
            described.length_public_key,
            described.length_secret_key,
            described.length_signature,
        )?;
        Ok(scheme)
    }
}

impl Drop for DispatchedSignature {
    fn drop(&mut self) {
        // SAFETY: the handle came from OQS_SIG_new and is used no more.
        unsafe { OQS_SIG_free(self.handle.as_ptr()) }
    }
}

impl SignatureCode for DispatchedSignature {
    fn keypair(&self, public_key: &mut [u8], secret_key: &mut [u8]) -> Outcome<KeyLengths> {
        let lengths = self.buffers.key_buffers(public_key, secret_key)?;
        // SAFETY: the handle is valid and both buffers have the lengths the scheme writes.
        succeeded("OQS_SIG_keypair", unsafe {
            OQS_SIG_keypair(self.handle.as_ptr(), public_key.as_mut_ptr(), secret_key.as_mut_ptr())
        })?;
        Ok(lengths)
    }

    fn sign(&self, secret_key: &[u8], message: &[u8], signature: &mut [u8]) -> Outcome<usize> {
        self.buffers.secret_key_and_output(secret_key, signature)?;
        let mut length = signature.len();
        // SAFETY: the handle is valid, the key has the scheme's length, the buffer its capacity.
        succeeded("OQS_SIG_sign", unsafe {
            OQS_SIG_sign(
                self.handle.as_ptr(),
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
        // SAFETY: the handle is valid, key and signature have lengths the scheme may read.
        self.buffers.verifiable(public_key, signature)
            && 0 == unsafe {
                OQS_SIG_verify(
                    self.handle.as_ptr(),
                    message.as_ptr(),
                    message.len(),
                    signature.as_ptr(),
                    signature.len(),
                    public_key.as_ptr(),
                )
            }
    }
}

/// A scheme of the `OQS_KEM` interface.
pub struct DispatchedKem {
    handle: NonNull<OQS_KEM>,
    buffers: Buffers,
}

impl DispatchedKem {
    /// The scheme of that parameter set.
    pub fn new(set: &'static ParameterSet) -> Outcome<DispatchedKem> {
        let name = library_name(set);
        // SAFETY: `name` is a C string for the time of the call; the result is null or a scheme
        // that is ours until it is freed.
        let handle = NonNull::new(unsafe { OQS_KEM_new(name.as_ptr()) })
            .ok_or_else(|| not_built("OQS_KEM_new", &name))?;
        let scheme = DispatchedKem { handle, buffers: Buffers::of(set) };
        // SAFETY: the handle came from OQS_KEM_new.
        let described = unsafe { handle.as_ref() };
        scheme.buffers.expect_lengths(
            described.length_public_key,
            described.length_secret_key,
            described.length_ciphertext,
        )?;
        Ok(scheme)
    }
}

impl Drop for DispatchedKem {
    fn drop(&mut self) {
        // SAFETY: the handle came from OQS_KEM_new and is used no more.
        unsafe { OQS_KEM_free(self.handle.as_ptr()) }
    }
}

impl KemCode for DispatchedKem {
    fn keypair(&self, public_key: &mut [u8], secret_key: &mut [u8]) -> Outcome<KeyLengths> {
        let lengths = self.buffers.key_buffers(public_key, secret_key)?;
        // SAFETY: the handle is valid and both buffers have the lengths the scheme writes.
        succeeded("OQS_KEM_keypair", unsafe {
            OQS_KEM_keypair(self.handle.as_ptr(), public_key.as_mut_ptr(), secret_key.as_mut_ptr())
        })?;
        Ok(lengths)
    }

    fn encaps(&self, public_key: &[u8], ciphertext: &mut [u8], secret: &mut [u8]) -> Outcome<()> {
        self.buffers.public_key_and_ciphertext(public_key, ciphertext, secret)?;
        // SAFETY: the handle is valid and the three slices have the scheme's lengths.
        succeeded("OQS_KEM_encaps", unsafe {
            OQS_KEM_encaps(
                self.handle.as_ptr(),
                ciphertext.as_mut_ptr(),
                secret.as_mut_ptr(),
                public_key.as_ptr(),
            )
        })
    }

    fn decaps(&self, secret_key: &[u8], ciphertext: &[u8], secret: &mut [u8]) -> Outcome<()> {
        self.buffers.secret_key_and_ciphertext(secret_key, ciphertext, secret)?;
        // SAFETY: the handle is valid and the three slices have the scheme's lengths.
        succeeded("OQS_KEM_decaps", unsafe {
            OQS_KEM_decaps(
                self.handle.as_ptr(),
                secret.as_mut_ptr(),
                ciphertext.as_ptr(),
                secret_key.as_ptr(),
            )
        })
    }
}

/// liboqs' name for a parameter set: the catalog's, but CROSS in lower case.
fn library_name(set: &ParameterSet) -> CString {
    let name = if set.scheme == "CROSS" { set.id() } else { set.name.to_owned() };
    CString::new(name).expect("no name in the catalog holds a zero byte")
}

fn not_built(call: &str, name: &CStr) -> Failure {
    Failure(format!("{call}({name:?}) returned NULL: this liboqs was built without it"))
}

fn succeeded(call: &str, status: c_int) -> Outcome<()> {
    if status == 0 { Ok(()) } else { Err(Failure::of(call, status)) }
}
