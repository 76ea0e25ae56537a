//! OpenSSL's libcrypto behind safe functions: the only unsafe code of this worker.
//!
//! Handles free themselves; a failure names the C function and the reason at the front of the
//! library's error queue. A length that goes with no buffer is checked here.

use pqlab_worker::{Failure, Outcome};
use std::ffi::{CStr, c_int, c_long, c_uint};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// The declarations used, as in OpenSSL 4.0's `evp.h`, `x509.h`, `core.h`, `crypto.h`, `err.h` and
/// `bn.h`.
#[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "C's own names")]
mod c {
    use std::ffi::{c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_void};

    macro_rules! opaque {
        ($($name:ident)*) => {$( #[repr(C)] pub struct $name([u8; 0]); )*};
    }
    opaque! { BIGNUM EVP_MD EVP_MD_CTX EVP_PKEY EVP_PKEY_CTX EVP_SIGNATURE PKCS8_PRIV_KEY_INFO }

    /// One parameter of an operation; an array of them ends with one whose key is null.
    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct OSSL_PARAM {
        pub key: *const c_char,
        pub data_type: c_uint,
        pub data: *mut c_void,
        pub data_size: usize,
        pub return_size: usize,
    }

    pub const OSSL_PARAM_UNSIGNED_INTEGER: c_uint = 2;
    pub const OSSL_PARAM_UTF8_STRING: c_uint = 4;
    pub const OSSL_PARAM_OCTET_STRING: c_uint = 5;
    pub const OSSL_PARAM_UNMODIFIED: usize = usize::MAX;
    pub const EVP_PKEY_PUBLIC_KEY: c_int = 0x86;
    pub const EVP_PKEY_KEYPAIR: c_int = 0x87;
    pub const EVP_PKEY_RSA: c_int = 6;
    pub const OPENSSL_VERSION: c_int = 0;
    pub const OPENSSL_INFO_CPU_SETTINGS: c_int = 1008;

    type LibraryContext = *mut c_void;
    type Params = *const OSSL_PARAM;

    /// A function that makes a context ready to sign or to verify.
    pub type SetUp = unsafe extern "C" fn(*mut EVP_PKEY_CTX, *mut EVP_SIGNATURE, Params) -> c_int;

    unsafe extern "C" {
        pub fn OpenSSL_version(which: c_int) -> *const c_char;
        pub fn OPENSSL_info(which: c_int) -> *const c_char;
        pub fn ERR_get_error() -> c_ulong;
        pub fn ERR_clear_error();
        pub fn ERR_error_string_n(error: c_ulong, text: *mut c_char, size: usize);

        pub fn EVP_PKEY_new() -> *mut EVP_PKEY;
        pub fn EVP_PKEY_free(key: *mut EVP_PKEY);
        pub fn EVP_PKEY_copy_parameters(to: *mut EVP_PKEY, from: *const EVP_PKEY) -> c_int;
        pub fn EVP_PKEY_set1_encoded_public_key(
            key: *mut EVP_PKEY,
            public: *const c_uchar,
            length: usize,
        ) -> c_int;
        pub fn EVP_PKEY_new_raw_private_key_ex(
            library: LibraryContext,
            key_type: *const c_char,
            properties: *const c_char,
            key: *const c_uchar,
            length: usize,
        ) -> *mut EVP_PKEY;
        pub fn EVP_PKEY_new_raw_public_key_ex(
            library: LibraryContext,
            key_type: *const c_char,
            properties: *const c_char,
            key: *const c_uchar,
            length: usize,
        ) -> *mut EVP_PKEY;
        pub fn EVP_PKEY_get_raw_private_key(
            key: *const EVP_PKEY,
            out: *mut c_uchar,
            length: *mut usize,
        ) -> c_int;
        pub fn EVP_PKEY_get_raw_public_key(
            key: *const EVP_PKEY,
            out: *mut c_uchar,
            length: *mut usize,
        ) -> c_int;
        pub fn EVP_PKEY_get_octet_string_param(
            key: *const EVP_PKEY,
            name: *const c_char,
            out: *mut c_uchar,
            size: usize,
            length: *mut usize,
        ) -> c_int;
        pub fn EVP_PKEY_set_utf8_string_param(
            key: *mut EVP_PKEY,
            name: *const c_char,
            text: *const c_char,
        ) -> c_int;
        pub fn EVP_PKEY_get_bn_param(
            key: *const EVP_PKEY,
            name: *const c_char,
            number: *mut *mut BIGNUM,
        ) -> c_int;
        pub fn BN_bn2binpad(number: *const BIGNUM, out: *mut c_uchar, length: c_int) -> c_int;
        pub fn BN_clear_free(number: *mut BIGNUM);

        pub fn d2i_PUBKEY(
            key: *mut *mut EVP_PKEY,
            der: *mut *const c_uchar,
            length: c_long,
        ) -> *mut EVP_PKEY;
        pub fn i2d_PUBKEY(key: *const EVP_PKEY, out: *mut *mut c_uchar) -> c_int;
        pub fn d2i_PrivateKey(
            key_type: c_int,
            key: *mut *mut EVP_PKEY,
            der: *mut *const c_uchar,
            length: c_long,
        ) -> *mut EVP_PKEY;
        pub fn EVP_PKEY2PKCS8(key: *const EVP_PKEY) -> *mut PKCS8_PRIV_KEY_INFO;
        pub fn i2d_PKCS8_PRIV_KEY_INFO(
            info: *const PKCS8_PRIV_KEY_INFO,
            out: *mut *mut c_uchar,
        ) -> c_int;
        pub fn PKCS8_PRIV_KEY_INFO_free(info: *mut PKCS8_PRIV_KEY_INFO);

        pub fn EVP_PKEY_CTX_new_from_name(
            library: LibraryContext,
            name: *const c_char,
            properties: *const c_char,
        ) -> *mut EVP_PKEY_CTX;
        pub fn EVP_PKEY_CTX_new_from_pkey(
            library: LibraryContext,
            key: *mut EVP_PKEY,
            properties: *const c_char,
        ) -> *mut EVP_PKEY_CTX;
        pub fn EVP_PKEY_CTX_free(context: *mut EVP_PKEY_CTX);
        pub fn EVP_PKEY_CTX_set_params(context: *mut EVP_PKEY_CTX, params: Params) -> c_int;
        pub fn EVP_PKEY_keygen_init(context: *mut EVP_PKEY_CTX) -> c_int;
        pub fn EVP_PKEY_generate(context: *mut EVP_PKEY_CTX, key: *mut *mut EVP_PKEY) -> c_int;
        pub fn EVP_PKEY_fromdata_init(context: *mut EVP_PKEY_CTX) -> c_int;
        pub fn EVP_PKEY_fromdata(
            context: *mut EVP_PKEY_CTX,
            key: *mut *mut EVP_PKEY,
            selection: c_int,
            params: *mut OSSL_PARAM,
        ) -> c_int;

        pub fn EVP_SIGNATURE_fetch(
            library: LibraryContext,
            name: *const c_char,
            properties: *const c_char,
        ) -> *mut EVP_SIGNATURE;
        pub fn EVP_SIGNATURE_free(algorithm: *mut EVP_SIGNATURE);
        pub fn EVP_PKEY_sign_message_init(
            context: *mut EVP_PKEY_CTX,
            algorithm: *mut EVP_SIGNATURE,
            params: Params,
        ) -> c_int;
        pub fn EVP_PKEY_sign_init_ex2(
            context: *mut EVP_PKEY_CTX,
            algorithm: *mut EVP_SIGNATURE,
            params: Params,
        ) -> c_int;
        pub fn EVP_PKEY_sign(
            context: *mut EVP_PKEY_CTX,
            signature: *mut c_uchar,
            length: *mut usize,
            signed: *const c_uchar,
            signed_length: usize,
        ) -> c_int;
        pub fn EVP_PKEY_verify_message_init(
            context: *mut EVP_PKEY_CTX,
            algorithm: *mut EVP_SIGNATURE,
            params: Params,
        ) -> c_int;
        pub fn EVP_PKEY_verify_init_ex2(
            context: *mut EVP_PKEY_CTX,
            algorithm: *mut EVP_SIGNATURE,
            params: Params,
        ) -> c_int;
        pub fn EVP_PKEY_verify(
            context: *mut EVP_PKEY_CTX,
            signature: *const c_uchar,
            length: usize,
            signed: *const c_uchar,
            signed_length: usize,
        ) -> c_int;

        pub fn EVP_PKEY_encapsulate_init(context: *mut EVP_PKEY_CTX, params: Params) -> c_int;
        pub fn EVP_PKEY_encapsulate(
            context: *mut EVP_PKEY_CTX,
            ciphertext: *mut c_uchar,
            ciphertext_length: *mut usize,
            secret: *mut c_uchar,
            secret_length: *mut usize,
        ) -> c_int;
        pub fn EVP_PKEY_decapsulate_init(context: *mut EVP_PKEY_CTX, params: Params) -> c_int;
        pub fn EVP_PKEY_decapsulate(
            context: *mut EVP_PKEY_CTX,
            secret: *mut c_uchar,
            secret_length: *mut usize,
            ciphertext: *const c_uchar,
            ciphertext_length: usize,
        ) -> c_int;

        pub fn EVP_PKEY_derive_init(context: *mut EVP_PKEY_CTX) -> c_int;
        pub fn EVP_PKEY_derive_set_peer(context: *mut EVP_PKEY_CTX, peer: *mut EVP_PKEY) -> c_int;
        pub fn EVP_PKEY_derive(
            context: *mut EVP_PKEY_CTX,
            secret: *mut c_uchar,
            length: *mut usize,
        ) -> c_int;

        pub fn EVP_MD_fetch(
            library: LibraryContext,
            name: *const c_char,
            properties: *const c_char,
        ) -> *mut EVP_MD;
        pub fn EVP_MD_free(digest: *mut EVP_MD);
        pub fn EVP_MD_CTX_new() -> *mut EVP_MD_CTX;
        pub fn EVP_MD_CTX_free(context: *mut EVP_MD_CTX);
        pub fn EVP_DigestInit_ex2(
            context: *mut EVP_MD_CTX,
            digest: *const EVP_MD,
            params: Params,
        ) -> c_int;
        pub fn EVP_DigestUpdate(
            context: *mut EVP_MD_CTX,
            data: *const c_void,
            length: usize,
        ) -> c_int;
        pub fn EVP_DigestFinal_ex(
            context: *mut EVP_MD_CTX,
            digest: *mut c_uchar,
            length: *mut c_uint,
        ) -> c_int;
    }
}

/// The library's own version text, such as `OpenSSL 4.0.3 29 Sep 2026`.
pub fn version() -> String {
    // SAFETY: the function returns a static NUL-terminated string for every argument.
    unsafe { CStr::from_ptr(c::OpenSSL_version(c::OPENSSL_VERSION)) }.to_string_lossy().into_owned()
}

/// What the library says of the CPU; empty where it says nothing.
pub fn cpu_settings() -> String {
    // SAFETY: the function returns null or a static NUL-terminated string.
    let text = unsafe { c::OPENSSL_info(c::OPENSSL_INFO_CPU_SETTINGS) };
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, therefore such a string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The failure of `call`, with the reason the library queued, if any; empties the queue.
#[cold]
fn failure(call: &str) -> Failure {
    let mut text = [0u8; 256];
    // SAFETY: touches only this thread's queue; the text is written with its terminating NUL into
    // the `size` bytes given.
    let code = unsafe {
        let code = c::ERR_get_error();
        c::ERR_error_string_n(code, text.as_mut_ptr().cast(), text.len());
        c::ERR_clear_error();
        code
    };
    if code == 0 {
        return Failure::of(call, "failure without a reason");
    }
    Failure::of(call, CStr::from_bytes_until_nul(&text).unwrap_or_default().to_string_lossy())
}

/// `Ok` where `call` returned 1.
fn succeeded(call: &str, returned: c_int) -> Outcome<()> {
    if returned == 1 { Ok(()) } else { Err(failure(call)) }
}

/// The answer of a verification; a rejection leaves no error in the queue.
fn accepted(returned: c_int) -> bool {
    if returned == 1 {
        return true;
    }
    // SAFETY: no arguments; touches only this thread's queue.
    unsafe { c::ERR_clear_error() };
    false
}

/// Handles of the library's, freed when dropped.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident = $type:ident, $free:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name(NonNull<c::$type>);

        impl $name {
            /// Takes what `call` returned.
            fn take(call: &str, returned: *mut c::$type) -> Outcome<$name> {
                NonNull::new(returned).map($name).ok_or_else(|| failure(call))
            }

            fn as_ptr(&self) -> *mut c::$type {
                self.0.as_ptr()
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the handle came from the library, is owned here, and is freed once.
                unsafe { c::$free(self.as_ptr()) }
            }
        }
    )*};
}

handles! {
    /// A key, secret or public, of any algorithm.
    Key = EVP_PKEY, EVP_PKEY_free;
    /// An operation with a key, of which it holds a reference.
    Context = EVP_PKEY_CTX, EVP_PKEY_CTX_free;
    /// A signature algorithm, looked up once and used many times.
    SignatureAlgorithm = EVP_SIGNATURE, EVP_SIGNATURE_free;
    /// A hash function, looked up once and used many times.
    HashAlgorithm = EVP_MD, EVP_MD_free;
    /// A hash computation.
    HashContext = EVP_MD_CTX, EVP_MD_CTX_free;
    /// A big number.
    BigNumber = BIGNUM, BN_clear_free;
    /// A secret key on its way to DER.
    Pkcs8 = PKCS8_PRIV_KEY_INFO, PKCS8_PRIV_KEY_INFO_free;
}

// -------------------------------------------------------------------------------------- parameters

/// One named parameter of an operation; what it points at outlives it.
#[derive(Clone, Copy)]
pub struct Param<'a>(c::OSSL_PARAM, PhantomData<&'a [u8]>);

impl<'a> Param<'a> {
    /// A string of bytes.
    pub fn octets(key: &'static CStr, bytes: &'a [u8]) -> Param<'a> {
        Param::new(key, c::OSSL_PARAM_OCTET_STRING, bytes)
    }

    /// A text.
    pub fn text(key: &'static CStr, text: &'static CStr) -> Param<'a> {
        Param::new(key, c::OSSL_PARAM_UTF8_STRING, text.to_bytes())
    }

    /// A natural number of any size, its bytes in the machine's order.
    pub fn natural(key: &'static CStr, native_endian: &'a [u8]) -> Param<'a> {
        Param::new(key, c::OSSL_PARAM_UNSIGNED_INTEGER, native_endian)
    }

    fn new(key: &'static CStr, data_type: c_uint, data: &'a [u8]) -> Param<'a> {
        let param = c::OSSL_PARAM {
            key: key.as_ptr(),
            data_type,
            // The library writes only to parameters it was asked to get, and these are all set.
            data: data.as_ptr().cast_mut().cast(),
            data_size: data.len(),
            return_size: c::OSSL_PARAM_UNMODIFIED,
        };
        Param(param, PhantomData)
    }
}

/// Parameters and the end mark.
struct Params<'a>([c::OSSL_PARAM; Params::ROOM + 1], PhantomData<&'a [u8]>);

impl<'a> Params<'a> {
    const ROOM: usize = 3;
    const END: c::OSSL_PARAM = c::OSSL_PARAM {
        key: ptr::null(),
        data_type: 0,
        data: ptr::null_mut(),
        data_size: 0,
        return_size: 0,
    };

    fn of(given: &[Param<'a>]) -> Params<'a> {
        let mut all = [Params::END; Params::ROOM + 1];
        assert!(given.len() <= Params::ROOM, "room for {} parameters", Params::ROOM);
        for (place, param) in all.iter_mut().zip(given) {
            *place = param.0;
        }
        Params(all, PhantomData)
    }
}

// -------------------------------------------------------------------------------------------- keys

impl Key {
    /// A fresh key of the algorithm `name`.
    pub fn generate(name: &CStr, params: &[Param<'_>]) -> Outcome<Key> {
        let params = Params::of(params);
        // SAFETY: `context` is live throughout; the parameters end with their mark and outlive the
        // calls; `key` receives a new handle that is taken at once.
        unsafe {
            let context =
                c::EVP_PKEY_CTX_new_from_name(ptr::null_mut(), name.as_ptr(), ptr::null());
            let context = Context::take("EVP_PKEY_CTX_new_from_name", context)?;
            succeeded("EVP_PKEY_keygen_init", c::EVP_PKEY_keygen_init(context.as_ptr()))?;
            let returned = c::EVP_PKEY_CTX_set_params(context.as_ptr(), params.0.as_ptr());
            succeeded("EVP_PKEY_CTX_set_params", returned)?;
            let mut key = ptr::null_mut();
            succeeded("EVP_PKEY_generate", c::EVP_PKEY_generate(context.as_ptr(), &mut key))?;
            Key::take("EVP_PKEY_generate", key)
        }
    }

    /// The secret key whose standard encoding is `bytes`.
    pub fn from_raw_secret(name: &CStr, bytes: &[u8]) -> Outcome<Key> {
        // SAFETY: the bytes are readable for the length passed and are copied; null asks for the
        // default library context and no properties.
        Key::take("EVP_PKEY_new_raw_private_key_ex", unsafe {
            c::EVP_PKEY_new_raw_private_key_ex(
                ptr::null_mut(),
                name.as_ptr(),
                ptr::null(),
                bytes.as_ptr(),
                bytes.len(),
            )
        })
    }

    /// The public key whose standard encoding is `bytes`.
    pub fn from_raw_public(name: &CStr, bytes: &[u8]) -> Outcome<Key> {
        // SAFETY: as above.
        Key::take("EVP_PKEY_new_raw_public_key_ex", unsafe {
            c::EVP_PKEY_new_raw_public_key_ex(
                ptr::null_mut(),
                name.as_ptr(),
                ptr::null(),
                bytes.as_ptr(),
                bytes.len(),
            )
        })
    }

    /// Writes the standard encoding of the secret key and returns its length.
    pub fn write_raw_secret(&self, out: &mut [u8]) -> Outcome<usize> {
        let mut length = out.len();
        // SAFETY: the buffer goes with its length, which the function checks before it writes.
        succeeded("EVP_PKEY_get_raw_private_key", unsafe {
            c::EVP_PKEY_get_raw_private_key(self.as_ptr(), out.as_mut_ptr(), &mut length)
        })?;
        Ok(length)
    }

    /// Writes the standard encoding of the public key and returns its length.
    pub fn write_raw_public(&self, out: &mut [u8]) -> Outcome<usize> {
        let mut length = out.len();
        // SAFETY: the buffer goes with its length, which the function checks before it writes.
        succeeded("EVP_PKEY_get_raw_public_key", unsafe {
            c::EVP_PKEY_get_raw_public_key(self.as_ptr(), out.as_mut_ptr(), &mut length)
        })?;
        Ok(length)
    }

    /// The secret key made of named parts.
    pub fn from_secret_parts(name: &CStr, parts: &[Param<'_>]) -> Outcome<Key> {
        Key::from_parts(name, c::EVP_PKEY_KEYPAIR, parts)
    }

    /// The public key made of named parts.
    pub fn from_public_parts(name: &CStr, parts: &[Param<'_>]) -> Outcome<Key> {
        Key::from_parts(name, c::EVP_PKEY_PUBLIC_KEY, parts)
    }

    fn from_parts(name: &CStr, selection: c_int, parts: &[Param<'_>]) -> Outcome<Key> {
        let mut params = Params::of(parts);
        // SAFETY: as in `generate`.
        unsafe {
            let context =
                c::EVP_PKEY_CTX_new_from_name(ptr::null_mut(), name.as_ptr(), ptr::null());
            let context = Context::take("EVP_PKEY_CTX_new_from_name", context)?;
            succeeded("EVP_PKEY_fromdata_init", c::EVP_PKEY_fromdata_init(context.as_ptr()))?;
            let mut key = ptr::null_mut();
            let returned =
                c::EVP_PKEY_fromdata(context.as_ptr(), &mut key, selection, params.0.as_mut_ptr());
            succeeded("EVP_PKEY_fromdata", returned)?;
            Key::take("EVP_PKEY_fromdata", key)
        }
    }

    /// Another public key with this key's domain parameters.
    pub fn sibling(&self, public: &[u8]) -> Outcome<Key> {
        // SAFETY: both handles are live; the bytes are readable for the length passed.
        unsafe {
            let key = Key::take("EVP_PKEY_new", c::EVP_PKEY_new())?;
            let returned = c::EVP_PKEY_copy_parameters(key.as_ptr(), self.as_ptr());
            succeeded("EVP_PKEY_copy_parameters", returned)?;
            let returned =
                c::EVP_PKEY_set1_encoded_public_key(key.as_ptr(), public.as_ptr(), public.len());
            succeeded("EVP_PKEY_set1_encoded_public_key", returned)?;
            Ok(key)
        }
    }

    /// Sets a property of the key that is a text.
    pub fn set_text(&mut self, name: &'static CStr, text: &'static CStr) -> Outcome<()> {
        // SAFETY: the key is live; both texts end with NUL.
        succeeded("EVP_PKEY_set_utf8_string_param", unsafe {
            c::EVP_PKEY_set_utf8_string_param(self.as_ptr(), name.as_ptr(), text.as_ptr())
        })
    }

    /// Writes the part of that name and returns its length.
    pub fn write_octets(&self, name: &'static CStr, out: &mut [u8]) -> Outcome<usize> {
        let mut length = 0;
        // SAFETY: the buffer goes with its size.
        succeeded("EVP_PKEY_get_octet_string_param", unsafe {
            c::EVP_PKEY_get_octet_string_param(
                self.as_ptr(),
                name.as_ptr(),
                out.as_mut_ptr(),
                out.len(),
                &mut length,
            )
        })?;
        Ok(length)
    }

    /// Writes the number of that name, big-endian, filling `out`.
    pub fn write_number(&self, name: &'static CStr, out: &mut [u8]) -> Outcome<()> {
        let mut number = ptr::null_mut();
        // SAFETY: `number` receives a new handle, taken at once; the buffer goes with its length.
        unsafe {
            let returned = c::EVP_PKEY_get_bn_param(self.as_ptr(), name.as_ptr(), &mut number);
            succeeded("EVP_PKEY_get_bn_param", returned)?;
            let number = BigNumber::take("EVP_PKEY_get_bn_param", number)?;
            let length = c_int::try_from(out.len()).expect("a key is shorter than 2 GiB");
            if c::BN_bn2binpad(number.as_ptr(), out.as_mut_ptr(), length) == length {
                Ok(())
            } else {
                Err(failure("BN_bn2binpad"))
            }
        }
    }

    /// Decodes a SubjectPublicKeyInfo.
    pub fn from_spki(der: &[u8]) -> Outcome<Key> {
        // SAFETY: `read_der` passes bytes readable for the length passed; null asks for a new key.
        Key::read_der("d2i_PUBKEY", der, |place, length| unsafe {
            c::d2i_PUBKEY(ptr::null_mut(), place, length)
        })
    }

    /// Decodes a PKCS #8 RSA key.
    pub fn from_rsa_pkcs8(der: &[u8]) -> Outcome<Key> {
        // SAFETY: as above.
        Key::read_der("d2i_PrivateKey", der, |place, length| unsafe {
            c::d2i_PrivateKey(c::EVP_PKEY_RSA, ptr::null_mut(), place, length)
        })
    }

    /// Calls a `d2i` function; bytes that it leaves unread are an error.
    fn read_der(
        call: &str,
        der: &[u8],
        decode: impl FnOnce(&mut *const u8, c_long) -> *mut c::EVP_PKEY,
    ) -> Outcome<Key> {
        let length = c_long::try_from(der.len()).expect("a slice is shorter than c_long's range");
        let mut place = der.as_ptr();
        let key = Key::take(call, decode(&mut place, length))?;
        if place == der.as_ptr_range().end {
            Ok(key)
        } else {
            Err(Failure::of(call, "before the end of the key"))
        }
    }

    /// Encodes the public key as a SubjectPublicKeyInfo and returns its length.
    pub fn write_spki(&self, out: &mut [u8]) -> Outcome<usize> {
        // SAFETY: `write_der` passes null, or a pointer to as many bytes as the first call asked
        // for.
        write_der("i2d_PUBKEY", out, |place| unsafe { c::i2d_PUBKEY(self.as_ptr(), place) })
    }

    /// Encodes the secret key as PKCS #8 and returns its length.
    pub fn write_pkcs8(&self, out: &mut [u8]) -> Outcome<usize> {
        // SAFETY: the key is live.
        let info = Pkcs8::take("EVP_PKEY2PKCS8", unsafe { c::EVP_PKEY2PKCS8(self.as_ptr()) })?;
        // SAFETY: as in `write_spki`.
        write_der("i2d_PKCS8_PRIV_KEY_INFO", out, |place| unsafe {
            c::i2d_PKCS8_PRIV_KEY_INFO(info.as_ptr(), place)
        })
    }

    /// A context for operations with this key.
    fn context(&self) -> Outcome<Context> {
        // SAFETY: the key is live and the context takes its own reference to it.
        Context::take("EVP_PKEY_CTX_new_from_pkey", unsafe {
            c::EVP_PKEY_CTX_new_from_pkey(ptr::null_mut(), self.as_ptr(), ptr::null())
        })
    }
}

/// Calls an `i2d` function for the length, checks that it fits, and calls it again to write.
fn write_der(call: &str, out: &mut [u8], encode: impl Fn(*mut *mut u8) -> c_int) -> Outcome<usize> {
    let length = usize::try_from(encode(ptr::null_mut())).map_err(|_| failure(call))?;
    if length == 0 || length > out.len() {
        return Err(Failure(format!("{call} needs {length} bytes and has {}", out.len())));
    }
    let mut place = out.as_mut_ptr();
    if encode(&mut place) == length as c_int { Ok(length) } else { Err(failure(call)) }
}

// -------------------------------------------------------------------------------------- operations

/// What a signature algorithm takes: the message, or a digest its caller has computed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// The message (`EVP_PKEY_sign_message_init`).
    Message,
    /// A digest (`EVP_PKEY_sign_init_ex2`).
    Digest,
}

impl SignatureAlgorithm {
    /// Looks the algorithm up by name.
    pub fn fetch(name: &CStr) -> Outcome<SignatureAlgorithm> {
        // SAFETY: the name ends with NUL; null asks for the default library context.
        SignatureAlgorithm::take("EVP_SIGNATURE_fetch", unsafe {
            c::EVP_SIGNATURE_fetch(ptr::null_mut(), name.as_ptr(), ptr::null())
        })
    }

    /// A context that signs with `key`.
    pub fn signer(&self, key: &Key, takes: Takes, params: &[Param<'_>]) -> Outcome<Context> {
        match takes {
            Takes::Message => {
                let call = "EVP_PKEY_sign_message_init";
                self.context(key, params, call, c::EVP_PKEY_sign_message_init)
            }
            Takes::Digest => {
                self.context(key, params, "EVP_PKEY_sign_init_ex2", c::EVP_PKEY_sign_init_ex2)
            }
        }
    }

    /// A context that verifies with `key`.
    pub fn verifier(&self, key: &Key, takes: Takes, params: &[Param<'_>]) -> Outcome<Context> {
        match takes {
            Takes::Message => {
                let call = "EVP_PKEY_verify_message_init";
                self.context(key, params, call, c::EVP_PKEY_verify_message_init)
            }
            Takes::Digest => {
                self.context(key, params, "EVP_PKEY_verify_init_ex2", c::EVP_PKEY_verify_init_ex2)
            }
        }
    }

    fn context(
        &self,
        key: &Key,
        params: &[Param<'_>],
        call: &str,
        set_up: c::SetUp,
    ) -> Outcome<Context> {
        let (context, params) = (key.context()?, Params::of(params));
        // SAFETY: the handles are live; the parameters end with their mark and are copied.
        succeeded(call, unsafe { set_up(context.as_ptr(), self.as_ptr(), params.0.as_ptr()) })?;
        Ok(context)
    }
}

impl Context {
    /// A context that encapsulates to `key`.
    pub fn encapsulator(key: &Key) -> Outcome<Context> {
        let context = key.context()?;
        // SAFETY: the handle is live; null stands for no parameters.
        succeeded("EVP_PKEY_encapsulate_init", unsafe {
            c::EVP_PKEY_encapsulate_init(context.as_ptr(), ptr::null())
        })?;
        Ok(context)
    }

    /// A context that decapsulates with `key`.
    pub fn decapsulator(key: &Key) -> Outcome<Context> {
        let context = key.context()?;
        // SAFETY: the handle is live; null stands for no parameters.
        succeeded("EVP_PKEY_decapsulate_init", unsafe {
            c::EVP_PKEY_decapsulate_init(context.as_ptr(), ptr::null())
        })?;
        Ok(context)
    }

    /// A context that derives shared secrets with `key`.
    pub fn deriver(key: &Key) -> Outcome<Context> {
        let context = key.context()?;
        // SAFETY: the handle is live.
        succeeded("EVP_PKEY_derive_init", unsafe { c::EVP_PKEY_derive_init(context.as_ptr()) })?;
        Ok(context)
    }

    /// Sets a parameter of the operation the context is ready for.
    pub fn set(&mut self, param: Param<'_>) -> Outcome<()> {
        let params = Params::of(&[param]);
        // SAFETY: the handle is live; the parameters end with their mark and are copied.
        succeeded("EVP_PKEY_CTX_set_params", unsafe {
            c::EVP_PKEY_CTX_set_params(self.as_ptr(), params.0.as_ptr())
        })
    }

    /// Signs what the algorithm takes and returns the signature's length.
    pub fn sign(&mut self, signed: &[u8], signature: &mut [u8]) -> Outcome<usize> {
        let mut length = signature.len();
        // SAFETY: each buffer goes with its length, checked before the function writes.
        succeeded("EVP_PKEY_sign", unsafe {
            c::EVP_PKEY_sign(
                self.as_ptr(),
                signature.as_mut_ptr(),
                &mut length,
                signed.as_ptr(),
                signed.len(),
            )
        })?;
        Ok(length)
    }

    /// Whether the signature of what the algorithm takes is accepted.
    pub fn verify(&mut self, signed: &[u8], signature: &[u8]) -> bool {
        // SAFETY: each buffer goes with its length.
        accepted(unsafe {
            c::EVP_PKEY_verify(
                self.as_ptr(),
                signature.as_ptr(),
                signature.len(),
                signed.as_ptr(),
                signed.len(),
            )
        })
    }

    /// Writes a ciphertext and the shared secret it carries.
    pub fn encaps(&mut self, ciphertext: &mut [u8], shared_secret: &mut [u8]) -> Outcome<()> {
        let (mut ciphertext_length, mut secret_length) = (ciphertext.len(), shared_secret.len());
        // SAFETY: each buffer goes with its length, checked before the function writes.
        succeeded("EVP_PKEY_encapsulate", unsafe {
            c::EVP_PKEY_encapsulate(
                self.as_ptr(),
                ciphertext.as_mut_ptr(),
                &mut ciphertext_length,
                shared_secret.as_mut_ptr(),
                &mut secret_length,
            )
        })
    }

    /// Writes the shared secret of a ciphertext.
    pub fn decaps(&mut self, ciphertext: &[u8], shared_secret: &mut [u8]) -> Outcome<()> {
        let mut length = shared_secret.len();
        // SAFETY: each buffer goes with its length, checked before the function writes.
        succeeded("EVP_PKEY_decapsulate", unsafe {
            c::EVP_PKEY_decapsulate(
                self.as_ptr(),
                shared_secret.as_mut_ptr(),
                &mut length,
                ciphertext.as_ptr(),
                ciphertext.len(),
            )
        })
    }

    /// Writes the secret shared with `peer`, whose public key is validated first.
    pub fn derive(&mut self, peer: &Key, shared_secret: &mut [u8]) -> Outcome<()> {
        let mut length = shared_secret.len();
        // SAFETY: the handles are live and the context takes its own reference to the peer's key;
        // the buffer goes with its length, checked before the function writes.
        unsafe {
            let returned = c::EVP_PKEY_derive_set_peer(self.as_ptr(), peer.as_ptr());
            succeeded("EVP_PKEY_derive_set_peer", returned)?;
            let returned =
                c::EVP_PKEY_derive(self.as_ptr(), shared_secret.as_mut_ptr(), &mut length);
            succeeded("EVP_PKEY_derive", returned)
        }
    }
}

/// SHA-256, looked up once, with a context that is used again for every message.
pub struct Sha256(HashAlgorithm, HashContext);

impl Sha256 {
    /// Looks SHA-256 up.
    pub fn fetch() -> Outcome<Sha256> {
        // SAFETY: the name ends with NUL; null asks for the default library context.
        let (algorithm, context) = unsafe {
            (c::EVP_MD_fetch(ptr::null_mut(), c"SHA256".as_ptr(), ptr::null()), c::EVP_MD_CTX_new())
        };
        let context = HashContext::take("EVP_MD_CTX_new", context);
        Ok(Sha256(HashAlgorithm::take("EVP_MD_fetch", algorithm)?, context?))
    }

    /// The hash of a message.
    pub fn hash(&mut self, message: &[u8]) -> Outcome<[u8; 32]> {
        let (mut digest, mut length) = ([0; 32], 0);
        // SAFETY: the handles are live; the message goes with its length; `digest` has the 32
        // bytes SHA-256 writes; null stands for no parameters.
        unsafe {
            let (context, algorithm) = (self.1.as_ptr(), self.0.as_ptr());
            let returned = c::EVP_DigestInit_ex2(context, algorithm, ptr::null());
            succeeded("EVP_DigestInit_ex2", returned)?;
            let returned = c::EVP_DigestUpdate(context, message.as_ptr().cast(), message.len());
            succeeded("EVP_DigestUpdate", returned)?;
            let returned = c::EVP_DigestFinal_ex(context, digest.as_mut_ptr(), &mut length);
            succeeded("EVP_DigestFinal_ex", returned)?;
        }
        Ok(digest)
    }
}
