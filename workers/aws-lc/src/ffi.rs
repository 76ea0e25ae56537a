//! AWS-LC behind safe functions: the only unsafe code of this worker.
//!
//! Handles free themselves. Lengths are checked here wherever the C function does not take them;
//! a failure names the C function and the reason at the front of the library's error queue.

use aws_lc_sys as lc;
use pqlab_worker::{Failure, KeyLengths, Outcome};
use std::ffi::{CStr, c_int, c_uint};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// The library's own version text, such as `AWS-LC 5.12.0`.
pub fn version() -> String {
    // SAFETY: the function returns a static NUL-terminated string for every argument.
    unsafe { CStr::from_ptr(lc::OpenSSL_version(0)) }.to_string_lossy().into_owned()
}

/// The capability words the library's dispatch tests, after `OPENSSL_ia32cap`; x86 only.
#[cfg(target_arch = "x86_64")]
pub fn x86_capability_words() -> Option<[u32; 4]> {
    unsafe extern "C" {
        #[link_name = "aws_lc_0_47_0_OPENSSL_ia32cap_P"]
        static OPENSSL_IA32CAP_P: [u32; 4];
    }
    lc::init();
    // SAFETY: `crypto/fipsmodule/cpucap/cpucap.c` defines `uint32_t OPENSSL_ia32cap_P[4]`, and it
    // is written only during the initialisation that has just completed.
    Some(unsafe { OPENSSL_IA32CAP_P })
}

/// The library keeps its capabilities in another form on this architecture.
#[cfg(not(target_arch = "x86_64"))]
pub fn x86_capability_words() -> Option<[u32; 4]> {
    None
}

/// A handle of the library's, freed when dropped.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident = $type:ty, $free:path;)*) => {$(
        $(#[$doc])*
        struct $name(NonNull<$type>);

        impl $name {
            /// Takes what `call` returned.
            fn take(call: &str, returned: *mut $type) -> Outcome<$name> {
                NonNull::new(returned).map($name).ok_or_else(|| failure(call))
            }

            fn as_ptr(&self) -> *mut $type {
                self.0.as_ptr()
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the handle came from the library, is owned here, and is freed once.
                unsafe { $free(self.as_ptr()) }
            }
        }
    )*};
}

handles! {
    /// A key of any algorithm.
    Pkey = lc::EVP_PKEY, lc::EVP_PKEY_free;
    /// An operation with a key, of which it holds a reference.
    PkeyContext = lc::EVP_PKEY_CTX, lc::EVP_PKEY_CTX_free;
    /// A signature operation on whole messages.
    MessageContext = lc::EVP_MD_CTX, lc::EVP_MD_CTX_free;
    /// A big number.
    BigNumber = lc::BIGNUM, lc::BN_free;
    /// An RSA key before it is wrapped.
    RsaHandle = lc::RSA, lc::RSA_free;
    /// A scalar, a point, or both, on a curve.
    EcHandle = lc::EC_KEY, lc::EC_KEY_free;
    /// A point of a curve.
    PointHandle = lc::EC_POINT, lc::EC_POINT_free;
}

/// The failure of `call`, with the reason the library queued, if any; empties the queue.
#[cold]
fn failure(call: &str) -> Failure {
    let mut text = [0u8; 256];
    // SAFETY: touches only this thread's queue; the text is written with its terminating NUL into
    // the `len` bytes given.
    let code = unsafe {
        let code = lc::ERR_get_error();
        lc::ERR_error_string_n(code, text.as_mut_ptr().cast(), text.len());
        lc::ERR_clear_error();
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
    unsafe { lc::ERR_clear_error() };
    false
}

fn due(what: &str, given: usize, needed: usize) -> Failure {
    Failure(format!("{what} of {given} bytes where {needed} are due"))
}

/// SHA-256 of a message.
pub fn sha256(message: &[u8]) -> [u8; 32] {
    let mut digest = [0; 32];
    // SAFETY: `message` is readable for its length and `digest` has the 32 bytes written.
    unsafe { lc::SHA256(message.as_ptr(), message.len(), digest.as_mut_ptr()) };
    digest
}

// ---------------------------------------------------------------------------------------- ML-KEM

/// A parameter set of ML-KEM.
#[derive(Clone, Copy)]
pub enum MlKemSet {
    /// Category 1.
    MlKem512 = lc::NID_MLKEM512 as isize,
    /// Category 3.
    MlKem768 = lc::NID_MLKEM768 as isize,
    /// Category 5.
    MlKem1024 = lc::NID_MLKEM1024 as isize,
}

/// Writes the key pair of the seed d‖z.
pub fn kem_keygen(
    set: MlKemSet,
    seed: &[u8; 64],
    public_key: &mut [u8],
    secret_key: &mut [u8],
) -> Outcome<KeyLengths> {
    // SAFETY: `context` is a live handle throughout; `pkey` receives a new handle that is taken at
    // once; the seed is readable for the length passed.
    let key = unsafe {
        let context = lc::EVP_PKEY_CTX_new_id(lc::EVP_PKEY_KEM, ptr::null_mut());
        let context = PkeyContext::take("EVP_PKEY_CTX_new_id", context)?;
        let nid = set as c_int;
        succeeded(
            "EVP_PKEY_CTX_kem_set_params",
            lc::EVP_PKEY_CTX_kem_set_params(context.as_ptr(), nid),
        )?;
        succeeded("EVP_PKEY_keygen_init", lc::EVP_PKEY_keygen_init(context.as_ptr()))?;
        let (mut pkey, mut seed_length) = (ptr::null_mut(), seed.len());
        succeeded(
            "EVP_PKEY_keygen_deterministic",
            lc::EVP_PKEY_keygen_deterministic(
                context.as_ptr(),
                &mut pkey,
                seed.as_ptr(),
                &mut seed_length,
            ),
        )?;
        Pkey::take("EVP_PKEY_keygen_deterministic", pkey)?
    };
    key.write_raw(public_key, secret_key)
}

/// An ML-KEM key ready for encapsulation or decapsulation.
pub struct KemContext(PkeyContext);

impl KemContext {
    /// A context that can encapsulate.
    pub fn for_public_key(set: MlKemSet, public_key: &[u8]) -> Outcome<KemContext> {
        // SAFETY: the bytes are readable for the length passed and are copied.
        let key = unsafe {
            lc::EVP_PKEY_kem_new_raw_public_key(set as c_int, public_key.as_ptr(), public_key.len())
        };
        Pkey::take("EVP_PKEY_kem_new_raw_public_key", key)?.context().map(KemContext)
    }

    /// A context that can decapsulate.
    pub fn for_secret_key(set: MlKemSet, secret_key: &[u8]) -> Outcome<KemContext> {
        // SAFETY: the bytes are readable for the length passed and are copied.
        let key = unsafe {
            lc::EVP_PKEY_kem_new_raw_secret_key(set as c_int, secret_key.as_ptr(), secret_key.len())
        };
        Pkey::take("EVP_PKEY_kem_new_raw_secret_key", key)?.context().map(KemContext)
    }

    /// Encapsulates the message `m`.
    pub fn encaps(
        &self,
        m: &[u8; 32],
        ciphertext: &mut [u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        let (mut c, mut s, mut r) = (ciphertext.len(), shared_secret.len(), m.len());
        // SAFETY: each buffer goes with its length, which the function checks before it writes.
        succeeded("EVP_PKEY_encapsulate_deterministic", unsafe {
            lc::EVP_PKEY_encapsulate_deterministic(
                self.0.as_ptr(),
                ciphertext.as_mut_ptr(),
                &mut c,
                shared_secret.as_mut_ptr(),
                &mut s,
                m.as_ptr(),
                &mut r,
            )
        })
    }

    /// Recovers the shared secret of a ciphertext.
    pub fn decaps(&self, ciphertext: &[u8], shared_secret: &mut [u8]) -> Outcome<()> {
        let mut length = shared_secret.len();
        // SAFETY: each buffer goes with its length, which the function checks before it writes.
        succeeded("EVP_PKEY_decapsulate", unsafe {
            lc::EVP_PKEY_decapsulate(
                self.0.as_ptr(),
                shared_secret.as_mut_ptr(),
                &mut length,
                ciphertext.as_ptr(),
                ciphertext.len(),
            )
        })
    }
}

impl Pkey {
    fn context(&self) -> Outcome<PkeyContext> {
        // SAFETY: the key is live and the context takes its own reference to it.
        PkeyContext::take("EVP_PKEY_CTX_new", unsafe {
            lc::EVP_PKEY_CTX_new(self.as_ptr(), ptr::null_mut())
        })
    }

    fn write_raw(&self, public_key: &mut [u8], secret_key: &mut [u8]) -> Outcome<KeyLengths> {
        let mut lengths = KeyLengths { public_key: public_key.len(), secret_key: secret_key.len() };
        // SAFETY: each buffer goes with its length, which the functions check before they write.
        unsafe {
            succeeded(
                "EVP_PKEY_get_raw_public_key",
                lc::EVP_PKEY_get_raw_public_key(
                    self.as_ptr(),
                    public_key.as_mut_ptr(),
                    &mut lengths.public_key,
                ),
            )?;
            succeeded(
                "EVP_PKEY_get_raw_private_key",
                lc::EVP_PKEY_get_raw_private_key(
                    self.as_ptr(),
                    secret_key.as_mut_ptr(),
                    &mut lengths.secret_key,
                ),
            )?;
        }
        Ok(lengths)
    }
}

// ---------------------------------------------------------------------------------------- ML-DSA

/// A parameter set of ML-DSA.
#[derive(Clone, Copy)]
pub enum MlDsaSet {
    /// Category 2.
    MlDsa44 = lc::NID_MLDSA44 as isize,
    /// Category 3.
    MlDsa65 = lc::NID_MLDSA65 as isize,
    /// Category 5.
    MlDsa87 = lc::NID_MLDSA87 as isize,
}

/// The type of `ml_dsa_*_sign_internal` (AWS-LC `crypto/fipsmodule/ml_dsa/ml_dsa.h`).
type SignInternal = unsafe extern "C" fn(
    private_key: *const u8,
    sig: *mut u8,
    sig_len: *mut usize,
    message: *const u8,
    message_len: usize,
    pre: *const u8,
    pre_len: usize,
    rnd: *const u8,
) -> c_int;

macro_rules! declare_sign_internal {
    ($($name:ident = $symbol:literal;)*) => {
        unsafe extern "C" {$(
            #[link_name = $symbol]
            fn $name(
                private_key: *const u8,
                sig: *mut u8,
                sig_len: *mut usize,
                message: *const u8,
                message_len: usize,
                pre: *const u8,
                pre_len: usize,
                rnd: *const u8,
            ) -> c_int;
        )*}
    };
}

// Exported by the library but declared in none of its public headers, so not in the bindings.
declare_sign_internal! {
    ml_dsa_44_sign_internal = "aws_lc_0_47_0_ml_dsa_44_sign_internal";
    ml_dsa_65_sign_internal = "aws_lc_0_47_0_ml_dsa_65_sign_internal";
    ml_dsa_87_sign_internal = "aws_lc_0_47_0_ml_dsa_87_sign_internal";
}

impl MlDsaSet {
    /// The signing function, its name, and the bytes of a secret key and a signature.
    fn signing(self) -> (SignInternal, &'static str, usize, usize) {
        match self {
            MlDsaSet::MlDsa44 => (ml_dsa_44_sign_internal, "ml_dsa_44_sign_internal", 2560, 2420),
            MlDsaSet::MlDsa65 => (ml_dsa_65_sign_internal, "ml_dsa_65_sign_internal", 4032, 3309),
            MlDsaSet::MlDsa87 => (ml_dsa_87_sign_internal, "ml_dsa_87_sign_internal", 4896, 4627),
        }
    }
}

/// Writes the key pair of a seed; `ml_dsa_*_keypair_internal` runs.
pub fn ml_dsa_keygen(
    set: MlDsaSet,
    seed: &[u8; 32],
    public_key: &mut [u8],
    secret_key: &mut [u8],
) -> Outcome<KeyLengths> {
    // SAFETY: the seed is readable for the length passed and is copied.
    let key =
        unsafe { lc::EVP_PKEY_pqdsa_new_raw_private_key(set as c_int, seed.as_ptr(), seed.len()) };
    Pkey::take("EVP_PKEY_pqdsa_new_raw_private_key", key)?.write_raw(public_key, secret_key)
}

/// Signs with an empty context and the random bytes of hedged signing (FIPS 204 algorithm 2).
pub fn ml_dsa_sign(
    set: MlDsaSet,
    secret_key: &[u8],
    message: &[u8],
    rnd: &[u8; 32],
    signature: &mut [u8],
) -> Outcome<usize> {
    const PURE_WITH_EMPTY_CONTEXT: [u8; 2] = [0, 0];
    let (sign_internal, name, secret_key_bytes, signature_bytes) = set.signing();
    if secret_key.len() != secret_key_bytes {
        return Err(due("secret key", secret_key.len(), secret_key_bytes));
    }
    if signature.len() < signature_bytes {
        return Err(due("signature buffer", signature.len(), signature_bytes));
    }
    let mut length = 0;
    // SAFETY: the two buffers whose lengths the function does not take were checked above; `rnd`
    // has the 32 bytes it reads; the others go with their lengths.
    let returned = unsafe {
        sign_internal(
            secret_key.as_ptr(),
            signature.as_mut_ptr(),
            &mut length,
            message.as_ptr(),
            message.len(),
            PURE_WITH_EMPTY_CONTEXT.as_ptr(),
            PURE_WITH_EMPTY_CONTEXT.len(),
            rnd.as_ptr(),
        )
    };
    if returned == 1 { Ok(length) } else { Err(Failure::of(name, returned)) }
}

/// An ML-DSA public key ready to verify messages; `ml_dsa_*_verify` runs.
pub struct MlDsaVerifier(MessageContext);

impl MlDsaVerifier {
    /// Imports a public key.
    pub fn new(set: MlDsaSet, public_key: &[u8]) -> Outcome<MlDsaVerifier> {
        // SAFETY: the bytes are readable for the length passed and are copied; the context takes
        // its own reference to the key; null asks for no digest, engine, or inner context.
        unsafe {
            let key = lc::EVP_PKEY_pqdsa_new_raw_public_key(
                set as c_int,
                public_key.as_ptr(),
                public_key.len(),
            );
            let key = Pkey::take("EVP_PKEY_pqdsa_new_raw_public_key", key)?;
            let context = MessageContext::take("EVP_MD_CTX_new", lc::EVP_MD_CTX_new())?;
            let returned = lc::EVP_DigestVerifyInit(
                context.as_ptr(),
                ptr::null_mut(),
                ptr::null(),
                ptr::null_mut(),
                key.as_ptr(),
            );
            succeeded("EVP_DigestVerifyInit", returned)?;
            Ok(MlDsaVerifier(context))
        }
    }

    /// Whether the signature is accepted.
    pub fn verify(&mut self, message: &[u8], signature: &[u8]) -> bool {
        // SAFETY: both buffers go with their lengths.
        accepted(unsafe {
            lc::EVP_DigestVerify(
                self.0.as_ptr(),
                signature.as_ptr(),
                signature.len(),
                message.as_ptr(),
                message.len(),
            )
        })
    }
}

// ------------------------------------------------------------------------------------------- RSA

/// An RSA key, secret or public.
pub struct RsaKey(Pkey);

impl RsaKey {
    /// A fresh key with e = 65537, from the library's own generator.
    pub fn generate(modulus_bits: u16) -> Outcome<RsaKey> {
        // SAFETY: all handles are live; on success the key owns the RSA handle, which is therefore
        // forgotten here.
        unsafe {
            let exponent = BigNumber::take("BN_new", lc::BN_new())?;
            succeeded("BN_set_u64", lc::BN_set_u64(exponent.as_ptr(), lc::RSA_F4 as u64))?;
            let rsa = RsaHandle::take("RSA_new", lc::RSA_new())?;
            let returned = lc::RSA_generate_key_ex(
                rsa.as_ptr(),
                c_int::from(modulus_bits),
                exponent.as_ptr(),
                ptr::null_mut(),
            );
            succeeded("RSA_generate_key_ex", returned)?;
            let key = Pkey::take("EVP_PKEY_new", lc::EVP_PKEY_new())?;
            succeeded("EVP_PKEY_assign_RSA", lc::EVP_PKEY_assign_RSA(key.as_ptr(), rsa.as_ptr()))?;
            std::mem::forget(rsa);
            Ok(RsaKey(key))
        }
    }

    /// Decodes PKCS #8.
    pub fn parse_secret(der: &[u8]) -> Outcome<RsaKey> {
        RsaKey::parse("EVP_parse_private_key", lc::EVP_parse_private_key, der)
    }

    /// Decodes a SubjectPublicKeyInfo.
    pub fn parse_public(der: &[u8]) -> Outcome<RsaKey> {
        RsaKey::parse("EVP_parse_public_key", lc::EVP_parse_public_key, der)
    }

    fn parse(
        call: &str,
        parser: unsafe extern "C" fn(*mut lc::CBS) -> *mut lc::EVP_PKEY,
        der: &[u8],
    ) -> Outcome<RsaKey> {
        let mut reader = MaybeUninit::uninit();
        // SAFETY: `CBS_init` initialises the reader, which borrows `der` for this block only.
        let (key, unread) = unsafe {
            lc::CBS_init(reader.as_mut_ptr(), der.as_ptr(), der.len());
            (parser(reader.as_mut_ptr()), lc::CBS_len(reader.as_ptr()))
        };
        let key = RsaKey(Pkey::take(call, key)?);
        if key.rsa().is_null() || unread != 0 {
            return Err(failure(call));
        }
        Ok(key)
    }

    /// Encodes the public key and returns its length.
    pub fn write_public(&self, out: &mut [u8]) -> Outcome<usize> {
        self.write("EVP_marshal_public_key", lc::EVP_marshal_public_key, out)
    }

    /// Encodes the secret key and returns its length.
    pub fn write_secret(&self, out: &mut [u8]) -> Outcome<usize> {
        self.write("EVP_marshal_private_key", lc::EVP_marshal_private_key, out)
    }

    fn write(
        &self,
        call: &str,
        marshal: unsafe extern "C" fn(*mut lc::CBB, *const lc::EVP_PKEY) -> c_int,
        out: &mut [u8],
    ) -> Outcome<usize> {
        let mut writer = MaybeUninit::uninit();
        let mut length = 0;
        // SAFETY: `CBB_init_fixed` initialises the writer, which never writes past `out` and owns
        // no memory, so that abandoning it after an error leaks nothing.
        unsafe {
            lc::CBB_init_fixed(writer.as_mut_ptr(), out.as_mut_ptr(), out.len());
            succeeded(call, marshal(writer.as_mut_ptr(), self.0.as_ptr()))?;
            let returned = lc::CBB_finish(writer.as_mut_ptr(), ptr::null_mut(), &mut length);
            succeeded("CBB_finish", returned)?;
        }
        Ok(length)
    }

    fn rsa(&self) -> *mut lc::RSA {
        // SAFETY: the key is live; the result is borrowed from it, null where it is not RSA.
        unsafe { lc::EVP_PKEY_get0_RSA(self.0.as_ptr()) }
    }

    /// Signs a SHA-256 digest.
    pub fn sign(&self, digest: &[u8; 32], signature: &mut [u8]) -> Outcome<usize> {
        // SAFETY: the key is live.
        let needed = unsafe { lc::RSA_size(self.rsa()) } as usize;
        if signature.len() < needed {
            return Err(due("signature buffer", signature.len(), needed));
        }
        let mut length: c_uint = 0;
        // SAFETY: the digest goes with its length and the buffer has `RSA_size` bytes.
        let returned = unsafe {
            lc::RSA_sign(
                lc::NID_sha256,
                digest.as_ptr(),
                digest.len(),
                signature.as_mut_ptr(),
                &mut length,
                self.rsa(),
            )
        };
        succeeded("RSA_sign", returned)?;
        Ok(length as usize)
    }

    /// Whether the signature of a SHA-256 digest is accepted.
    pub fn verify(&self, digest: &[u8; 32], signature: &[u8]) -> bool {
        // SAFETY: both buffers go with their lengths.
        accepted(unsafe {
            lc::RSA_verify(
                lc::NID_sha256,
                digest.as_ptr(),
                digest.len(),
                signature.as_ptr(),
                signature.len(),
                self.rsa(),
            )
        })
    }
}

// ------------------------------------------------------------------------------- elliptic curves

/// A curve over a 256-bit prime field.
#[derive(Clone, Copy)]
pub enum Curve {
    /// NIST's P-256; points are encoded uncompressed.
    P256 = lc::NID_X9_62_prime256v1 as isize,
    /// SEC 2's secp256k1; points are encoded compressed.
    Secp256k1 = lc::NID_secp256k1 as isize,
}

impl Curve {
    fn point_form(self) -> lc::point_conversion_form_t {
        match self {
            Curve::P256 => lc::point_conversion_form_t::POINT_CONVERSION_UNCOMPRESSED,
            Curve::Secp256k1 => lc::point_conversion_form_t::POINT_CONVERSION_COMPRESSED,
        }
    }

    fn key(self) -> Outcome<EcHandle> {
        // SAFETY: takes a curve number and returns a new handle or null.
        EcHandle::take("EC_KEY_new_by_curve_name", unsafe {
            lc::EC_KEY_new_by_curve_name(self as c_int)
        })
    }
}

/// A point of a curve.
pub struct EcPoint(PointHandle);

impl EcPoint {
    /// Decodes a point, which must lie on the curve.
    pub fn parse(curve: Curve, bytes: &[u8]) -> Outcome<EcPoint> {
        // SAFETY: the group of a named curve is static; the bytes go with their length.
        unsafe {
            let group = lc::EC_GROUP_new_by_curve_name(curve as c_int);
            let point = PointHandle::take("EC_POINT_new", lc::EC_POINT_new(group))?;
            let returned = lc::EC_POINT_oct2point(
                group,
                point.as_ptr(),
                bytes.as_ptr(),
                bytes.len(),
                ptr::null_mut(),
            );
            succeeded("EC_POINT_oct2point", returned)?;
            Ok(EcPoint(point))
        }
    }
}

/// Bytes of a scalar of a 256-bit curve.
const SCALAR_BYTES: usize = 32;

/// A secret scalar or a public point.
pub struct EcKey(EcHandle);

impl EcKey {
    /// A fresh key pair from the library's own generator.
    pub fn generate(curve: Curve) -> Outcome<EcKey> {
        let key = curve.key()?;
        // SAFETY: the handle is live and has a curve.
        succeeded("EC_KEY_generate_key", unsafe { lc::EC_KEY_generate_key(key.as_ptr()) })?;
        Ok(EcKey(key))
    }

    /// The key of a big-endian scalar; its public point is not computed.
    pub fn from_secret(curve: Curve, scalar: &[u8]) -> Outcome<EcKey> {
        if scalar.len() != SCALAR_BYTES {
            return Err(due("scalar", scalar.len(), SCALAR_BYTES));
        }
        let key = curve.key()?;
        // SAFETY: the bytes go with their length; the key copies the number.
        unsafe {
            let number = lc::BN_bin2bn(scalar.as_ptr(), scalar.len(), ptr::null_mut());
            let number = BigNumber::take("BN_bin2bn", number)?;
            succeeded(
                "EC_KEY_set_private_key",
                lc::EC_KEY_set_private_key(key.as_ptr(), number.as_ptr()),
            )?;
        }
        Ok(EcKey(key))
    }

    /// The key of an encoded point.
    pub fn from_public(curve: Curve, bytes: &[u8]) -> Outcome<EcKey> {
        let key = curve.key()?;
        let point = EcPoint::parse(curve, bytes)?;
        // SAFETY: both handles are live; the key copies the point.
        succeeded("EC_KEY_set_public_key", unsafe {
            lc::EC_KEY_set_public_key(key.as_ptr(), point.0.as_ptr())
        })?;
        Ok(EcKey(key))
    }

    /// Encodes the public point in the curve's customary form and returns its length.
    pub fn write_public(&self, curve: Curve, out: &mut [u8]) -> Outcome<usize> {
        // SAFETY: group and point are borrowed from the live key; the buffer goes with its length.
        let written = unsafe {
            lc::EC_POINT_point2oct(
                lc::EC_KEY_get0_group(self.0.as_ptr()),
                lc::EC_KEY_get0_public_key(self.0.as_ptr()),
                curve.point_form(),
                out.as_mut_ptr(),
                out.len(),
                ptr::null_mut(),
            )
        };
        if written == 0 { Err(failure("EC_POINT_point2oct")) } else { Ok(written) }
    }

    /// Writes the secret scalar in 32 big-endian bytes.
    pub fn write_secret(&self, out: &mut [u8]) -> Outcome<usize> {
        let given = out.len();
        let out =
            out.get_mut(..SCALAR_BYTES).ok_or_else(|| due("scalar buffer", given, SCALAR_BYTES))?;
        // SAFETY: the number is borrowed from the live key; the buffer goes with its length.
        succeeded("BN_bn2bin_padded", unsafe {
            let number = lc::EC_KEY_get0_private_key(self.0.as_ptr());
            lc::BN_bn2bin_padded(out.as_mut_ptr(), out.len(), number)
        })?;
        Ok(SCALAR_BYTES)
    }

    /// Signs a SHA-256 digest; the signature is DER.
    pub fn sign(&self, digest: &[u8; 32], signature: &mut [u8]) -> Outcome<usize> {
        // SAFETY: the key is live.
        let needed = unsafe { lc::ECDSA_size(self.0.as_ptr()) };
        if signature.len() < needed {
            return Err(due("signature buffer", signature.len(), needed));
        }
        let mut length: c_uint = 0;
        // SAFETY: the digest goes with its length and the buffer has `ECDSA_size` bytes.
        let returned = unsafe {
            lc::ECDSA_sign(
                0,
                digest.as_ptr(),
                digest.len(),
                signature.as_mut_ptr(),
                &mut length,
                self.0.as_ptr(),
            )
        };
        succeeded("ECDSA_sign", returned)?;
        Ok(length as usize)
    }

    /// Whether the signature of a SHA-256 digest is accepted.
    pub fn verify(&self, digest: &[u8; 32], signature: &[u8]) -> bool {
        // SAFETY: both buffers go with their lengths.
        accepted(unsafe {
            lc::ECDSA_verify(
                0,
                digest.as_ptr(),
                digest.len(),
                signature.as_ptr(),
                signature.len(),
                self.0.as_ptr(),
            )
        })
    }

    /// Writes the x-coordinate shared with the holder of `peer`.
    pub fn shared_x_coordinate(&self, peer: &EcPoint, out: &mut [u8]) -> Outcome<()> {
        // SAFETY: both handles are live; at most `out.len()` bytes are written; null asks for the
        // bare coordinate.
        let written = unsafe {
            lc::ECDH_compute_key(
                out.as_mut_ptr().cast(),
                out.len(),
                peer.0.as_ptr(),
                self.0.as_ptr(),
                None,
            )
        };
        if usize::try_from(written) == Ok(out.len()) {
            Ok(())
        } else {
            Err(failure("ECDH_compute_key"))
        }
    }
}

// ------------------------------------------------------------------------------------ curve25519

/// An Ed25519 seed with its public key, as the library signs with it.
pub struct Ed25519Pair([u8; 64]);

impl Ed25519Pair {
    /// Derives the public key of a seed.
    pub fn from_seed(seed: &[u8; 32]) -> Ed25519Pair {
        let (mut public_key, mut pair) = ([0; 32], [0; 64]);
        // SAFETY: the arrays have the 32, 64 and 32 bytes the header declares.
        unsafe {
            lc::ED25519_keypair_from_seed(
                public_key.as_mut_ptr(),
                pair.as_mut_ptr(),
                seed.as_ptr(),
            );
        }
        Ed25519Pair(pair)
    }

    /// The public key.
    pub fn public_key(&self) -> [u8; 32] {
        *self.0.last_chunk().expect("64 bytes have a last 32")
    }

    /// Signs a message.
    pub fn sign_into(&self, message: &[u8], signature: &mut [u8; 64]) -> Outcome<()> {
        // SAFETY: the arrays have the 64 bytes the header declares; the message goes with its
        // length.
        succeeded("ED25519_sign", unsafe {
            lc::ED25519_sign(
                signature.as_mut_ptr(),
                message.as_ptr(),
                message.len(),
                self.0.as_ptr(),
            )
        })
    }
}

/// Whether an Ed25519 signature is accepted.
pub fn ed25519_verify(public_key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    // SAFETY: the arrays have the bytes the header declares; the message goes with its length.
    accepted(unsafe {
        lc::ED25519_verify(message.as_ptr(), message.len(), signature.as_ptr(), public_key.as_ptr())
    })
}

/// The X25519 public key of a secret key.
pub fn x25519_public(secret_key: &[u8; 32]) -> [u8; 32] {
    let mut public_key = [0; 32];
    // SAFETY: both arrays have the 32 bytes the header declares.
    unsafe { lc::X25519_public_from_private(public_key.as_mut_ptr(), secret_key.as_ptr()) };
    public_key
}

/// Writes the X25519 secret shared with the holder of `peer`.
pub fn x25519(secret_key: &[u8; 32], peer: &[u8; 32], shared_secret: &mut [u8; 32]) -> Outcome<()> {
    // SAFETY: the three arrays have the 32 bytes the header declares.
    succeeded("X25519", unsafe {
        lc::X25519(shared_secret.as_mut_ptr(), secret_key.as_ptr(), peer.as_ptr())
    })
}
