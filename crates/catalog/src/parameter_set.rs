//! A parameter set: one member of a scheme at one revision, with the sizes its document fixes.

use crate::{Kind, Operation, Revision};
use std::fmt;

/// The length in bytes of an encoded object, as its document fixes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Always this many bytes.
    Exactly(usize),
    /// Varies from object to object, never more than this many bytes.
    AtMost(usize),
}

impl Length {
    /// The bytes a buffer must hold to take any such object.
    pub const fn capacity(self) -> usize {
        match self {
            Length::Exactly(n) | Length::AtMost(n) => n,
        }
    }

    /// Whether an object of `bytes` bytes may exist.
    pub const fn admits(self, bytes: usize) -> bool {
        match self {
            Length::Exactly(n) => bytes == n,
            Length::AtMost(n) => bytes <= n && bytes > 0,
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Length::Exactly(n) => f.pad(&n.to_string()),
            Length::AtMost(n) => f.pad(&format!("≤{n}")),
        }
    }
}

/// Encoded sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Public key (encapsulation key).
    pub public_key: Length,
    /// Secret key (decapsulation key) in the document's own encoding. A library that stores a
    /// seed instead says so in its subject; that is another key form, not another size.
    pub secret_key: Length,
    /// Signature or ciphertext; zero for key exchanges, which send only public keys.
    pub output: Length,
    /// Shared secret; zero for signatures.
    pub shared_secret: usize,
}

/// One parameter set of one scheme at one revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterSet {
    /// The name its document gives it, such as `ML-KEM-768`.
    pub name: &'static str,
    /// The scheme it belongs to, such as `ML-KEM`.
    pub scheme: &'static str,
    /// What it is for.
    pub kind: Kind,
    /// The document it follows.
    pub revision: Revision,
    /// NIST security category 1 to 5 as its authors claim it; `None` for classical schemes, which
    /// a quantum computer breaks.
    pub level: Option<u8>,
    /// Encoded sizes.
    pub sizes: Sizes,
    /// Operations whose time depends on secret or random choices by design (rejection loops,
    /// retries, prime search): they need many inputs, and their mean as well as their median.
    pub variable_time: &'static [Operation],
}

/// Why two parameter sets may not be put in one comparison.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Incomparable {
    /// Same scheme family or name, other document.
    #[error(
        "{left} and {right} are different algorithms: {left} follows {left_revision}, {right} follows {right_revision}"
    )]
    Revision {
        /// Name of the first set.
        left: &'static str,
        /// Name of the second set.
        right: &'static str,
        /// Document of the first set.
        left_revision: Revision,
        /// Document of the second set.
        right_revision: Revision,
    },
    /// Other parameters.
    #[error("{left} and {right} are different parameter sets")]
    ParameterSet {
        /// Name of the first set.
        left: &'static str,
        /// Name of the second set.
        right: &'static str,
    },
}

impl ParameterSet {
    /// The identifier used in files and on the command line: the name in lower case, unique over
    /// the whole catalog.
    pub fn id(&self) -> String {
        self.name.to_ascii_lowercase()
    }

    /// The operations this parameter set has.
    pub const fn operations(&self) -> &'static [Operation] {
        self.kind.operations()
    }

    /// Whether the time of `operation` varies by design.
    pub fn is_variable_time(&self, operation: Operation) -> bool {
        self.variable_time.contains(&operation)
    }

    /// Whether figures of `self` and `other` may be compared as two implementations of one thing.
    pub fn comparable(&self, other: &ParameterSet) -> Result<(), Incomparable> {
        if self.revision != other.revision {
            return Err(Incomparable::Revision {
                left: self.name,
                right: other.name,
                left_revision: self.revision,
                right_revision: other.revision,
            });
        }
        if self.name != other.name {
            return Err(Incomparable::ParameterSet { left: self.name, right: other.name });
        }
        Ok(())
    }
}
