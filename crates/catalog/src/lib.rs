//! The closed vocabulary of pqlab: which schemes exist, in which parameter sets, at which
//! revision, with which operations and sizes. The code, the run files and the screen use these
//! words and no others.
//!
//! This crate knows no library, measures nothing and reads no file. It refuses to call two
//! revisions of a scheme by one name: Kyber is not ML-KEM, SPHINCS+ is not SLH-DSA, Falcon is
//! not FN-DSA, and a comparison across revisions is refused with the reason
//! ([`ParameterSet::comparable`]).

mod first_kat;
mod operation;
mod parameter_set;
mod revision;
mod selection;
mod table;

pub use first_kat::first_kat_sha256;
pub use operation::{Kind, Operation};
pub use parameter_set::{Incomparable, Length, ParameterSet, Sizes};
pub use revision::Revision;
pub use selection::{HEADLINE, Selection, SelectionError, normalised};
pub use table::{find, parameter_sets};
