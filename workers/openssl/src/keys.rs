//! How the keys of each algorithm are made, written and read.
//!
//! Keys with an encoding of their own in the standard (the lattice and hash schemes, curve25519)
//! are imported by `EVP_PKEY_new_raw_*_key_ex`, which also expands them; RSA goes through DER, and
//! the points and scalars of elliptic curves through `EVP_PKEY_fromdata`. Where a secret key does
//! not contain the public one (scalars, seeds of Ed25519, X25519), its import computes that: a
//! scalar multiplication in every operation from an encoded secret key.

use crate::ffi::{Key, Param};
use pqlab_worker::{Entropy, Failure, KeyLengths, Outcome};
use std::ffi::CStr;

/// The longest seed: SLH-DSA's SK.seed‖SK.prf‖PK.seed at category 5.
const LONGEST_SEED: usize = 96;

/// Bytes of a scalar of a 256-bit curve.
const SCALAR_BYTES: usize = 32;

/// An algorithm's keys.
#[derive(Clone, Copy)]
pub enum KeyKind {
    /// Generated from a seed of that many bytes, which is not the secret key.
    Seeded(&'static CStr, usize),
    /// The secret key is any string of 32 bytes.
    RandomBytes(&'static CStr),
    /// RSA of that many bits.
    Rsa(u16),
    /// A curve by its name, and the form of its points.
    Curve(&'static CStr, &'static CStr),
}

impl KeyKind {
    /// Writes a fresh key pair.
    pub fn generate(
        self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        match self {
            KeyKind::Seeded(name, seed_bytes) => {
                let mut seed = [0; LONGEST_SEED];
                let seed = &mut seed[..seed_bytes];
                entropy.fill(seed);
                let key = Key::generate(name, &[Param::octets(c"seed", seed)])?;
                Ok(KeyLengths {
                    public_key: key.write_raw_public(public_key)?,
                    secret_key: key.write_raw_secret(secret_key)?,
                })
            }
            KeyKind::RandomBytes(name) => {
                let key = Key::from_raw_secret(name, &entropy.array::<32>())?;
                Ok(KeyLengths {
                    public_key: key.write_raw_public(public_key)?,
                    secret_key: key.write_raw_secret(secret_key)?,
                })
            }
            KeyKind::Rsa(bits) => {
                let bits = u32::from(bits).to_ne_bytes();
                let key = Key::generate(c"RSA", &[Param::natural(c"bits", &bits)])?;
                Ok(KeyLengths {
                    public_key: key.write_spki(public_key)?,
                    secret_key: key.write_pkcs8(secret_key)?,
                })
            }
            KeyKind::Curve(curve, point_form) => {
                let mut key = Key::generate(c"EC", &[Param::text(c"group", curve)])?;
                // Not a parameter of the generation: there it would change how the curve is
                // written, and not the point.
                key.set_text(c"point-format", point_form)?;
                let given = secret_key.len();
                let scalar = secret_key.get_mut(..SCALAR_BYTES).ok_or_else(|| {
                    Failure(format!("scalar buffer of {given} bytes, {SCALAR_BYTES} are due"))
                })?;
                key.write_number(c"priv", scalar)?;
                Ok(KeyLengths {
                    public_key: key.write_octets(c"pub", public_key)?,
                    secret_key: SCALAR_BYTES,
                })
            }
        }
    }

    /// Decodes a secret key.
    pub fn secret(self, bytes: &[u8]) -> Outcome<Key> {
        match self {
            KeyKind::Seeded(name, _) | KeyKind::RandomBytes(name) => {
                Key::from_raw_secret(name, bytes)
            }
            KeyKind::Rsa(_) => Key::from_rsa_pkcs8(bytes),
            KeyKind::Curve(curve, _) => {
                let mut scalar: [u8; SCALAR_BYTES] = bytes
                    .try_into()
                    .map_err(|_| Failure(format!("scalar of {} bytes", bytes.len())))?;
                if cfg!(target_endian = "little") {
                    scalar.reverse();
                }
                let parts = [Param::text(c"group", curve), Param::natural(c"priv", &scalar)];
                Key::from_secret_parts(c"EC", &parts)
            }
        }
    }

    /// Decodes a public key.
    pub fn public(self, bytes: &[u8]) -> Outcome<Key> {
        match self {
            KeyKind::Seeded(name, _) | KeyKind::RandomBytes(name) => {
                Key::from_raw_public(name, bytes)
            }
            KeyKind::Rsa(_) => Key::from_spki(bytes),
            KeyKind::Curve(curve, _) => {
                let parts = [Param::text(c"group", curve), Param::octets(c"pub", bytes)];
                Key::from_public_parts(c"EC", &parts)
            }
        }
    }

    /// Decodes the public key of the party `own` exchanges keys with. On a curve the parameters
    /// come from `own`, as in OpenSSL's own TLS (`ssl/statem/statem_clnt.c`).
    pub fn peer(self, own: &Key, bytes: &[u8]) -> Outcome<Key> {
        match self {
            KeyKind::Curve(..) => own.sibling(bytes),
            _ => self.public(bytes),
        }
    }
}
