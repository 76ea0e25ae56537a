//! Kinds of scheme and the operations each kind has.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a scheme is for; it decides which operations exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Digital signature: keygen, sign, verify.
    Signature,
    /// Key encapsulation mechanism: keygen, encaps, decaps.
    Kem,
    /// Diffie-Hellman key exchange: keygen, derive.
    KeyExchange,
}

impl Kind {
    /// Every kind, in the order tables show them.
    pub const ALL: [Kind; 3] = [Kind::Signature, Kind::Kem, Kind::KeyExchange];

    /// The operations of this kind, in the order a user performs them.
    pub const fn operations(self) -> &'static [Operation] {
        match self {
            Kind::Signature => &[Operation::Keygen, Operation::Sign, Operation::Verify],
            Kind::Kem => &[Operation::Keygen, Operation::Encaps, Operation::Decaps],
            Kind::KeyExchange => &[Operation::Keygen, Operation::Derive],
        }
    }

    /// The word used on screen and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Signature => "signature",
            Kind::Kem => "kem",
            Kind::KeyExchange => "key-exchange",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One thing a scheme can be asked to do; the unit that is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// From randomness to an encoded public and secret key.
    Keygen,
    /// From secret key and message to a signature.
    Sign,
    /// From public key, message and signature to accepted or rejected; timed on valid input.
    Verify,
    /// From public key and randomness to a ciphertext and a shared secret.
    Encaps,
    /// From secret key and ciphertext to the shared secret.
    Decaps,
    /// From own secret key and peer public key to the shared secret.
    Derive,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Operation; 6] = [
        Operation::Keygen,
        Operation::Sign,
        Operation::Verify,
        Operation::Encaps,
        Operation::Decaps,
        Operation::Derive,
    ];

    /// The word used on screen and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Operation::Keygen => "keygen",
            Operation::Sign => "sign",
            Operation::Verify => "verify",
            Operation::Encaps => "encaps",
            Operation::Decaps => "decaps",
            Operation::Derive => "derive",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
