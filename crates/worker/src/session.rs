//! One subject at work in this process: its adapter, its gate's verdict, and the key pairs that
//! gate and measurement share.

use crate::{Entropy, Outcome, Scheme, Subject, derive_seed};
use pqlab_protocol::GateReport;
use std::time::{Duration, Instant};

/// An encoded key pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyPair {
    pub public_key: Vec<u8>,
    pub secret_key: Vec<u8>,
}

/// Distinct inputs a timed operation cycles through, so that branch predictors cannot learn one of
/// them by heart (distinct signatures per call so the branchy decoders are not
/// trained): enough to defeat that, few enough to prepare quickly.
pub(crate) const INPUTS_WANTED: usize = 8;

/// No further input is prepared after this long: slow key generation must not eat the budget.
pub(crate) const INPUT_TIME_LIMIT: Duration = Duration::from_millis(40);

/// A subject whose adapter has been made.
pub(crate) struct Session<'a> {
    pub subject: &'a Subject,
    pub scheme: Scheme,
    /// The gate's verdict, once it was asked for.
    pub gate: Option<GateReport>,
    /// Key pairs made so far; the first is the one the gate proved.
    pub key_pairs: Vec<KeyPair>,
}

impl<'a> Session<'a> {
    pub fn open(subject: &'a Subject) -> Outcome<Session<'a>> {
        Ok(Session { subject, scheme: (subject.make)()?, gate: None, key_pairs: Vec::new() })
    }

    /// A fresh key pair from `entropy`, trimmed to the lengths the library wrote.
    pub fn keygen(&mut self, entropy: &mut Entropy) -> Outcome<KeyPair> {
        let sizes = &self.subject.parameter_set.sizes;
        let mut public_key = vec![0; sizes.public_key.capacity()];
        let mut secret_key = vec![0; self.subject.secret_key_length().capacity()];
        let lengths = match &mut self.scheme {
            Scheme::Signature(s) => s.keygen(entropy, &mut public_key, &mut secret_key),
            Scheme::Kem(s) => s.keygen(entropy, &mut public_key, &mut secret_key),
            Scheme::KeyExchange(s) => s.keygen(entropy, &mut public_key, &mut secret_key),
        }?;
        public_key.truncate(lengths.public_key);
        secret_key.truncate(lengths.secret_key);
        Ok(KeyPair { public_key, secret_key })
    }

    /// Makes key pairs up to [`INPUTS_WANTED`], within [`INPUT_TIME_LIMIT`], from `seed`.
    pub fn fill_key_pairs(&mut self, seed: u64) -> Outcome<()> {
        let begun = Instant::now();
        while self.key_pairs.len() < INPUTS_WANTED
            && (self.key_pairs.is_empty() || begun.elapsed() < INPUT_TIME_LIMIT)
        {
            let label = 0x6B65_7900 + self.key_pairs.len() as u64;
            let pair = self.keygen(&mut Entropy::seeded(derive_seed(seed, label)))?;
            self.key_pairs.push(pair);
        }
        Ok(())
    }
}

/// The message of input `index` in the list of `seed`.
pub(crate) fn message(seed: u64, index: u64, bytes: usize) -> Vec<u8> {
    let mut message = vec![0; bytes];
    Entropy::seeded(derive_seed(seed, 0x6D73_6700 ^ (index << 8))).fill(&mut message);
    message
}
