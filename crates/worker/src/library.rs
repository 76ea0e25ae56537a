//! How a worker introduces its library and the subjects it offers.

use crate::{Outcome, Scheme};
use pqlab_catalog::{Length, ParameterSet};

/// The one library a worker holds.
#[derive(Debug, Clone)]
pub struct Library {
    /// The worker's name, as `--impl` and the tables use it, such as `liboqs`.
    pub name: &'static str,
    /// The library's own version, asked of the library where it can tell.
    pub version: String,
    /// The package it was built from, such as `oqs-sys 0.11.0`.
    pub package: &'static str,
    /// Licence of the library, as an SPDX expression.
    pub licence: &'static str,
    /// CPU features as the library itself reports them; empty where it has no such report.
    pub cpu_features_seen: Vec<String>,
}

/// Where a subject's randomness comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Randomness {
    /// Every random byte is drawn from the [`Entropy`](crate::Entropy) handed over, so inputs
    /// repeat and the generator's cost is negligible.
    Given,
    /// The library's own generator: its cost is in the figure and inputs do not repeat.
    Library,
}

/// Whether the subject can reproduce the published first known-answer vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstKat {
    /// It draws randomness as the reference does: the gate demands the published hash.
    Reproducible,
    /// It cannot, for this reason.
    Not(&'static str),
}

/// Evidence of the code path that runs when the subject is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodePath {
    /// The adapter calls this implementation's own symbol or module, with no dispatch between.
    Called(&'static str),
    /// The library chose at run time and reports what it chose.
    Reported(String),
    /// The library chooses at run time and does not say; these are the CPU features it may use.
    Undisclosed,
}

/// One implementation of one parameter set offered by a worker.
pub struct Subject {
    /// The parameter set.
    pub parameter_set: &'static ParameterSet,
    /// The implementation variant within the library: `ref`, `clean`, `avx2`, `portable`,
    /// `dispatch`.
    pub variant: &'static str,
    /// What is known about the code that runs.
    pub code_path: CodePath,
    /// Where its random bytes come from.
    pub randomness: Randomness,
    /// Whether the first known-answer vector can be reproduced.
    pub first_kat: FirstKat,
    /// The secret key's encoding where it is not the standard's: its words and its length, such
    /// as `("seed", Exactly(64))`.
    pub secret_key_encoding: Option<(&'static str, Length)>,
    /// Makes the adapter. Called on the measuring thread: once for the
    /// introduction, once before the gate.
    pub make: Box<dyn Fn() -> Outcome<Scheme> + Send>,
}

impl Subject {
    /// A subject that draws all randomness from us, reproduces the first known answer, and encodes
    /// its keys as the standard says; the builder methods take back what is not so.
    ///
    /// # Panics
    /// If `parameter_set` is not a name in the catalog: a mistake in the worker's source.
    pub fn new(
        parameter_set: &str,
        variant: &'static str,
        code_path: CodePath,
        make: impl Fn() -> Outcome<Scheme> + Send + 'static,
    ) -> Subject {
        let parameter_set = pqlab_catalog::find(parameter_set)
            .unwrap_or_else(|| panic!("'{parameter_set}' is not in the catalog"));
        Subject {
            parameter_set,
            variant,
            code_path,
            randomness: Randomness::Given,
            first_kat: FirstKat::Reproducible,
            secret_key_encoding: None,
            make: Box::new(make),
        }
    }

    /// The library uses its own generator, which also makes the known answer out of reach.
    pub fn own_randomness(mut self) -> Subject {
        self.randomness = Randomness::Library;
        self.first_kat = FirstKat::Not("the library draws from its own generator");
        self
    }

    /// The first known answer cannot be reproduced, for `reason`.
    pub fn without_first_kat(mut self, reason: &'static str) -> Subject {
        self.first_kat = FirstKat::Not(reason);
        self
    }

    /// The secret key is stored in another form than the standard's, such as a seed.
    pub fn secret_key_as(mut self, words: &'static str, length: Length) -> Subject {
        self.secret_key_encoding = Some((words, length));
        self
    }

    /// The length of the secret key as this subject encodes it.
    pub fn secret_key_length(&self) -> Length {
        self.secret_key_encoding.map_or(self.parameter_set.sizes.secret_key, |(_, length)| length)
    }

    /// `variant/parameter-set`, unique within a worker.
    pub fn id(&self) -> String {
        format!("{}/{}", self.variant, self.parameter_set.id())
    }
}
