//! The operations as jobs of the timing loop: inputs are staged before the clock starts, each
//! call's return value is looked at, and the last output is proven right after the clock stopped.

use crate::session::{INPUT_TIME_LIMIT, INPUTS_WANTED, KeyPair, Session, message};
use crate::{
    Decapsulator, Deriver, Encapsulator, Entropy, Failure, Kem, KeyExchange, KeyLengths, Outcome,
    Scheme, Signature, Signer, Verifier, derive_seed,
};
use pqlab_catalog::{Operation, ParameterSet};
use pqlab_protocol::{KeyForm, MeasureRequest};
use std::time::Instant;

/// One operation, ready to be timed.
pub(crate) trait Job {
    /// Prepares the inputs of the sample that begins with call `index` of the list.
    fn stage(&mut self, index: u64, calls: usize);

    /// Performs call `call` of the staged sample; this, and only this, is timed.
    fn call(&mut self, call: usize);

    /// Whether every call so far returned what it should; asked after each sample.
    fn settle(&mut self) -> Outcome<()>;

    /// Proves the last output right by another operation; asked once, after the last sample.
    fn prove(&mut self) -> Outcome<()>;

    /// Distinct inputs the calls draw from.
    fn inputs(&self) -> usize;
}

/// Makes the job a request asks for.
pub(crate) fn make<'s>(
    session: &'s mut Session<'_>,
    request: &MeasureRequest,
) -> Outcome<Box<dyn Job + 's>> {
    let prepared = request.mode.key_form == KeyForm::Prepared;
    let seed = request.seed;
    let message_bytes = request.mode.message_bytes as usize;
    if prepared && !session.scheme.prepares().contains(&request.operation) {
        return Err(Failure(format!("{} has no prepared form here", request.operation)));
    }
    session.fill_key_pairs(seed)?;
    let set = session.subject.parameter_set;
    let secret_key_bytes = session.subject.secret_key_length().capacity();
    let key_pairs = &session.key_pairs;
    Ok(match (&mut session.scheme, request.operation) {
        (scheme, Operation::Keygen) => {
            Box::new(KeygenJob::new(scheme, set, secret_key_bytes, seed))
        }
        (Scheme::Signature(scheme), Operation::Sign) => {
            Box::new(SignJob::new(scheme.as_mut(), set, key_pairs, prepared, seed, message_bytes)?)
        }
        (Scheme::Signature(scheme), Operation::Verify) => Box::new(VerifyJob::new(
            scheme.as_mut(),
            set,
            key_pairs,
            prepared,
            seed,
            message_bytes,
        )?),
        (Scheme::Kem(scheme), Operation::Encaps) => {
            Box::new(EncapsJob::new(scheme.as_mut(), set, key_pairs, prepared, seed)?)
        }
        (Scheme::Kem(scheme), Operation::Decaps) => {
            Box::new(DecapsJob::new(scheme.as_mut(), set, key_pairs, prepared, seed)?)
        }
        (Scheme::KeyExchange(scheme), Operation::Derive) => {
            Box::new(DeriveJob::new(scheme.as_mut(), set, key_pairs, prepared)?)
        }
        (_, operation) => {
            return Err(Failure(format!("{} has no operation '{operation}'", set.name)));
        }
    })
}

/// The prepared form of every key pair, where the prepared form is what is timed.
fn prepare<T: ?Sized>(
    prepared: bool,
    key_pairs: &[KeyPair],
    make: impl FnMut(&KeyPair) -> Outcome<Box<T>>,
) -> Outcome<Option<Vec<Box<T>>>> {
    if prepared { key_pairs.iter().map(make).collect::<Outcome<_>>().map(Some) } else { Ok(None) }
}

/// Which of `count` inputs call `index` of the list uses: scattered, so that no predictor learns
/// the order, and the same for every implementation with as many inputs.
fn scattered(index: u64, count: usize) -> usize {
    (derive_seed(index, 0x0072_6465) % count as u64) as usize
}

/// Remembers the first thing that went wrong in a timed call, off the hot path.
#[derive(Default)]
struct Verdict(Option<Failure>);

impl Verdict {
    #[cold]
    fn fail(&mut self, failure: Failure) {
        self.0.get_or_insert(failure);
    }

    fn settle(&mut self) -> Outcome<()> {
        match self.0.take() {
            None => Ok(()),
            Some(failure) => Err(failure),
        }
    }
}

fn expect(holds: bool, otherwise: &str) -> Outcome<()> {
    if holds { Ok(()) } else { Err(Failure(otherwise.to_owned())) }
}

struct KeygenJob<'s> {
    scheme: &'s mut Scheme,
    set: &'static ParameterSet,
    seed: u64,
    entropy: Entropy,
    public_key: Vec<u8>,
    secret_key: Vec<u8>,
    lengths: KeyLengths,
    verdict: Verdict,
}

impl<'s> KeygenJob<'s> {
    fn new(
        scheme: &'s mut Scheme,
        set: &'static ParameterSet,
        secret_key_bytes: usize,
        seed: u64,
    ) -> KeygenJob<'s> {
        KeygenJob {
            scheme,
            set,
            seed,
            entropy: Entropy::seeded(seed),
            public_key: vec![0; set.sizes.public_key.capacity()],
            secret_key: vec![0; secret_key_bytes],
            lengths: KeyLengths { public_key: 0, secret_key: 0 },
            verdict: Verdict::default(),
        }
    }
}

impl Job for KeygenJob<'_> {
    fn stage(&mut self, index: u64, _calls: usize) {
        self.entropy = Entropy::seeded(derive_seed(self.seed, index));
    }

    fn call(&mut self, _call: usize) {
        let (public_key, secret_key) = (&mut self.public_key, &mut self.secret_key);
        let result = match self.scheme {
            Scheme::Signature(s) => s.keygen(&mut self.entropy, public_key, secret_key),
            Scheme::Kem(s) => s.keygen(&mut self.entropy, public_key, secret_key),
            Scheme::KeyExchange(s) => s.keygen(&mut self.entropy, public_key, secret_key),
        };
        match result {
            Ok(lengths) => self.lengths = lengths,
            Err(failure) => self.verdict.fail(failure),
        }
    }

    fn settle(&mut self) -> Outcome<()> {
        self.verdict.settle()
    }

    fn prove(&mut self) -> Outcome<()> {
        let public_key = &self.public_key[..self.lengths.public_key];
        let secret_key = &self.secret_key[..self.lengths.secret_key];
        let sizes = &self.set.sizes;
        let entropy = &mut self.entropy;
        let works = match self.scheme {
            Scheme::Signature(scheme) => {
                let message = message(self.seed, 0, 32);
                let mut signature = vec![0; sizes.output.capacity()];
                let length = scheme.sign(secret_key, &message, entropy, &mut signature)?;
                scheme.verify(public_key, &message, &signature[..length])?
            }
            Scheme::Kem(scheme) => {
                let mut ciphertext = vec![0; sizes.output.capacity()];
                let mut sent = vec![0; sizes.shared_secret];
                let mut received = vec![0; sizes.shared_secret];
                scheme.encaps(public_key, entropy, &mut ciphertext, &mut sent)?;
                scheme.decaps(secret_key, &ciphertext, &mut received)?;
                sent == received
            }
            Scheme::KeyExchange(scheme) => {
                let mut peer = vec![0; self.public_key.len()];
                let mut peer_secret = vec![0; self.secret_key.len()];
                let lengths = scheme.keygen(entropy, &mut peer, &mut peer_secret)?;
                peer.truncate(lengths.public_key);
                peer_secret.truncate(lengths.secret_key);
                let mut ours = vec![0; sizes.shared_secret];
                let mut theirs = vec![0; sizes.shared_secret];
                scheme.derive(secret_key, &peer, &mut ours)?;
                scheme.derive(&peer_secret, public_key, &mut theirs)?;
                ours == theirs
            }
        };
        expect(works, "the last key pair generated does not work")
    }

    fn inputs(&self) -> usize {
        // Every call has randomness of its own.
        0
    }
}

struct SignJob<'s> {
    scheme: &'s mut dyn Signature,
    key_pairs: &'s [KeyPair],
    signers: Option<Vec<Box<dyn Signer>>>,
    seed: u64,
    messages: Vec<Vec<u8>>,
    message_bytes: usize,
    entropy: Entropy,
    first_key: usize,
    signature: Vec<u8>,
    /// Key, message and length of the last call, for the proof.
    last: (usize, usize, usize),
    verdict: Verdict,
}

impl<'s> SignJob<'s> {
    fn new(
        scheme: &'s mut dyn Signature,
        set: &ParameterSet,
        key_pairs: &'s [KeyPair],
        prepared: bool,
        seed: u64,
        message_bytes: usize,
    ) -> Outcome<SignJob<'s>> {
        let signers = prepare(prepared, key_pairs, |pair| scheme.prepare_signer(&pair.secret_key))?;
        Ok(SignJob {
            scheme,
            key_pairs,
            signers,
            seed,
            messages: Vec::new(),
            message_bytes,
            entropy: Entropy::seeded(seed),
            first_key: 0,
            signature: vec![0; set.sizes.output.capacity()],
            last: (0, 0, 0),
            verdict: Verdict::default(),
        })
    }
}

impl Job for SignJob<'_> {
    fn stage(&mut self, index: u64, calls: usize) {
        while self.messages.len() < calls {
            self.messages.push(message(self.seed, 0, self.message_bytes));
        }
        for (call, message) in self.messages.iter_mut().take(calls).enumerate() {
            // Each call of the list signs a message of its own: the head alone differs.
            let head = derive_seed(self.seed ^ 0x7369_676E, index + call as u64).to_le_bytes();
            let bytes = message.len().min(head.len());
            message[..bytes].copy_from_slice(&head[..bytes]);
        }
        self.entropy = Entropy::seeded(derive_seed(self.seed, index));
        self.first_key = scattered(index, self.key_pairs.len());
    }

    fn call(&mut self, call: usize) {
        let key = (self.first_key + call) % self.key_pairs.len();
        let message = &self.messages[call];
        let result = match &mut self.signers {
            None => {
                let secret_key = &self.key_pairs[key].secret_key;
                self.scheme.sign(secret_key, message, &mut self.entropy, &mut self.signature)
            }
            Some(signers) => signers[key].sign(message, &mut self.entropy, &mut self.signature),
        };
        match result {
            Ok(length) => self.last = (key, call, length),
            Err(failure) => self.verdict.fail(failure),
        }
    }

    fn settle(&mut self) -> Outcome<()> {
        self.verdict.settle()
    }

    fn prove(&mut self) -> Outcome<()> {
        let (key, call, length) = self.last;
        let signature = &self.signature[..length];
        let public_key = &self.key_pairs[key].public_key;
        let accepted = self.scheme.verify(public_key, &self.messages[call], signature)?;
        expect(accepted, "the last signature made is rejected")
    }

    fn inputs(&self) -> usize {
        self.key_pairs.len()
    }
}

struct SignedInput {
    key: usize,
    message: Vec<u8>,
    signature: Vec<u8>,
}

struct VerifyJob<'s> {
    scheme: &'s mut dyn Signature,
    key_pairs: &'s [KeyPair],
    verifiers: Option<Vec<Box<dyn Verifier>>>,
    inputs: Vec<SignedInput>,
    first: usize,
    verdict: Verdict,
}

impl<'s> VerifyJob<'s> {
    fn new(
        scheme: &'s mut dyn Signature,
        set: &ParameterSet,
        key_pairs: &'s [KeyPair],
        prepared: bool,
        seed: u64,
        message_bytes: usize,
    ) -> Outcome<VerifyJob<'s>> {
        let begun = Instant::now();
        let mut entropy = Entropy::seeded(derive_seed(seed, 0x7665_7269));
        let mut buffer = vec![0; set.sizes.output.capacity()];
        let mut inputs: Vec<SignedInput> = Vec::new();
        while inputs.len() < INPUTS_WANTED
            && (inputs.is_empty() || begun.elapsed() < INPUT_TIME_LIMIT)
        {
            let key = inputs.len() % key_pairs.len();
            let message = message(seed, inputs.len() as u64, message_bytes);
            let secret_key = &key_pairs[key].secret_key;
            let length = scheme.sign(secret_key, &message, &mut entropy, &mut buffer)?;
            inputs.push(SignedInput { key, message, signature: buffer[..length].to_vec() });
        }
        let verifiers =
            prepare(prepared, key_pairs, |pair| scheme.prepare_verifier(&pair.public_key))?;
        Ok(VerifyJob {
            scheme,
            key_pairs,
            verifiers,
            inputs,
            first: 0,
            verdict: Verdict::default(),
        })
    }
}

impl Job for VerifyJob<'_> {
    fn stage(&mut self, index: u64, _calls: usize) {
        self.first = scattered(index, self.inputs.len());
    }

    fn call(&mut self, call: usize) {
        let SignedInput { key, message, signature } =
            &self.inputs[(self.first + call) % self.inputs.len()];
        let result = match &mut self.verifiers {
            None => self.scheme.verify(&self.key_pairs[*key].public_key, message, signature),
            Some(verifiers) => verifiers[*key].verify(message, signature),
        };
        match result {
            Ok(true) => {}
            Ok(false) => {
                self.verdict.fail(Failure("a valid signature was rejected while timed".to_owned()))
            }
            Err(failure) => self.verdict.fail(failure),
        }
    }

    fn settle(&mut self) -> Outcome<()> {
        self.verdict.settle()
    }

    fn prove(&mut self) -> Outcome<()> {
        // The accepting calls were looked at one by one; that it can still say no shows that it
        // looked at the signature.
        let SignedInput { key, message, signature } = &mut self.inputs[self.first];
        let middle = signature.len() / 2;
        signature[middle] ^= 1;
        let accepted = match &mut self.verifiers {
            None => self.scheme.verify(&self.key_pairs[*key].public_key, message, signature),
            Some(verifiers) => verifiers[*key].verify(message, signature),
        };
        signature[middle] ^= 1;
        expect(!accepted?, "a forged signature is accepted after the measurement")
    }

    fn inputs(&self) -> usize {
        self.inputs.len()
    }
}

struct EncapsJob<'s> {
    scheme: &'s mut dyn Kem,
    key_pairs: &'s [KeyPair],
    encapsulators: Option<Vec<Box<dyn Encapsulator>>>,
    seed: u64,
    entropy: Entropy,
    first_key: usize,
    last_key: usize,
    ciphertext: Vec<u8>,
    shared_secret: Vec<u8>,
    verdict: Verdict,
}

impl<'s> EncapsJob<'s> {
    fn new(
        scheme: &'s mut dyn Kem,
        set: &ParameterSet,
        key_pairs: &'s [KeyPair],
        prepared: bool,
        seed: u64,
    ) -> Outcome<EncapsJob<'s>> {
        let encapsulators =
            prepare(prepared, key_pairs, |pair| scheme.prepare_encapsulator(&pair.public_key))?;
        Ok(EncapsJob {
            scheme,
            key_pairs,
            encapsulators,
            seed,
            entropy: Entropy::seeded(seed),
            first_key: 0,
            last_key: 0,
            ciphertext: vec![0; set.sizes.output.capacity()],
            shared_secret: vec![0; set.sizes.shared_secret],
            verdict: Verdict::default(),
        })
    }
}

impl Job for EncapsJob<'_> {
    fn stage(&mut self, index: u64, _calls: usize) {
        self.entropy = Entropy::seeded(derive_seed(self.seed, index));
        self.first_key = scattered(index, self.key_pairs.len());
    }

    fn call(&mut self, call: usize) {
        let key = (self.first_key + call) % self.key_pairs.len();
        self.last_key = key;
        let (ciphertext, shared_secret) = (&mut self.ciphertext, &mut self.shared_secret);
        let result = match &mut self.encapsulators {
            None => {
                let public_key = &self.key_pairs[key].public_key;
                self.scheme.encaps(public_key, &mut self.entropy, ciphertext, shared_secret)
            }
            Some(prepared) => prepared[key].encaps(&mut self.entropy, ciphertext, shared_secret),
        };
        if let Err(failure) = result {
            self.verdict.fail(failure);
        }
    }

    fn settle(&mut self) -> Outcome<()> {
        self.verdict.settle()
    }

    fn prove(&mut self) -> Outcome<()> {
        let mut received = vec![0; self.shared_secret.len()];
        let secret_key = &self.key_pairs[self.last_key].secret_key;
        self.scheme.decaps(secret_key, &self.ciphertext, &mut received)?;
        expect(received == self.shared_secret, "the last encapsulation does not decapsulate")
    }

    fn inputs(&self) -> usize {
        self.key_pairs.len()
    }
}

struct SentSecret {
    key: usize,
    ciphertext: Vec<u8>,
    shared_secret: Vec<u8>,
}

struct DecapsJob<'s> {
    scheme: &'s mut dyn Kem,
    key_pairs: &'s [KeyPair],
    decapsulators: Option<Vec<Box<dyn Decapsulator>>>,
    inputs: Vec<SentSecret>,
    first: usize,
    last: usize,
    shared_secret: Vec<u8>,
    verdict: Verdict,
}

impl<'s> DecapsJob<'s> {
    fn new(
        scheme: &'s mut dyn Kem,
        set: &ParameterSet,
        key_pairs: &'s [KeyPair],
        prepared: bool,
        seed: u64,
    ) -> Outcome<DecapsJob<'s>> {
        let mut entropy = Entropy::seeded(derive_seed(seed, 0x6465_6361));
        let mut inputs = Vec::with_capacity(INPUTS_WANTED);
        for index in 0..INPUTS_WANTED {
            let key = index % key_pairs.len();
            let mut ciphertext = vec![0; set.sizes.output.capacity()];
            let mut shared_secret = vec![0; set.sizes.shared_secret];
            let public_key = &key_pairs[key].public_key;
            scheme.encaps(public_key, &mut entropy, &mut ciphertext, &mut shared_secret)?;
            inputs.push(SentSecret { key, ciphertext, shared_secret });
        }
        let decapsulators =
            prepare(prepared, key_pairs, |pair| scheme.prepare_decapsulator(&pair.secret_key))?;
        Ok(DecapsJob {
            scheme,
            key_pairs,
            decapsulators,
            inputs,
            first: 0,
            last: 0,
            shared_secret: vec![0; set.sizes.shared_secret],
            verdict: Verdict::default(),
        })
    }
}

impl Job for DecapsJob<'_> {
    fn stage(&mut self, index: u64, _calls: usize) {
        self.first = scattered(index, self.inputs.len());
    }

    fn call(&mut self, call: usize) {
        self.last = (self.first + call) % self.inputs.len();
        let SentSecret { key, ciphertext, .. } = &self.inputs[self.last];
        let result = match &mut self.decapsulators {
            None => {
                let secret_key = &self.key_pairs[*key].secret_key;
                self.scheme.decaps(secret_key, ciphertext, &mut self.shared_secret)
            }
            Some(prepared) => prepared[*key].decaps(ciphertext, &mut self.shared_secret),
        };
        if let Err(failure) = result {
            self.verdict.fail(failure);
        }
    }

    fn settle(&mut self) -> Outcome<()> {
        self.verdict.settle()?;
        let right = self.shared_secret == self.inputs[self.last].shared_secret;
        // A call that wrote nothing must not live off the sample before it.
        self.shared_secret.fill(0);
        expect(right, "a shared secret differs from its sender's while timed")
    }

    fn prove(&mut self) -> Outcome<()> {
        // Every sample's secret was compared in `settle`.
        Ok(())
    }

    fn inputs(&self) -> usize {
        self.inputs.len()
    }
}

struct DeriveJob<'s> {
    scheme: &'s mut dyn KeyExchange,
    key_pairs: &'s [KeyPair],
    derivers: Option<Vec<Box<dyn Deriver>>>,
    expected: Vec<Vec<u8>>,
    first: usize,
    last: usize,
    shared_secret: Vec<u8>,
    verdict: Verdict,
}

impl<'s> DeriveJob<'s> {
    fn new(
        scheme: &'s mut dyn KeyExchange,
        set: &ParameterSet,
        key_pairs: &'s [KeyPair],
        prepared: bool,
    ) -> Outcome<DeriveJob<'s>> {
        let mut expected = Vec::with_capacity(key_pairs.len());
        for own in 0..key_pairs.len() {
            // As the peer computes it, so that agreement is what is checked.
            let mut secret = vec![0; set.sizes.shared_secret];
            let peer = &key_pairs[peer_of(own, key_pairs.len())];
            scheme.derive(&peer.secret_key, &key_pairs[own].public_key, &mut secret)?;
            expected.push(secret);
        }
        let derivers =
            prepare(prepared, key_pairs, |pair| scheme.prepare_deriver(&pair.secret_key))?;
        Ok(DeriveJob {
            scheme,
            key_pairs,
            derivers,
            expected,
            first: 0,
            last: 0,
            shared_secret: vec![0; set.sizes.shared_secret],
            verdict: Verdict::default(),
        })
    }
}

fn peer_of(own: usize, count: usize) -> usize {
    (own + 1) % count
}

impl Job for DeriveJob<'_> {
    fn stage(&mut self, index: u64, _calls: usize) {
        self.first = scattered(index, self.key_pairs.len());
    }

    fn call(&mut self, call: usize) {
        let own = (self.first + call) % self.key_pairs.len();
        self.last = own;
        let peer = &self.key_pairs[peer_of(own, self.key_pairs.len())].public_key;
        let result = match &mut self.derivers {
            None => {
                let secret_key = &self.key_pairs[own].secret_key;
                self.scheme.derive(secret_key, peer, &mut self.shared_secret)
            }
            Some(derivers) => derivers[own].derive(peer, &mut self.shared_secret),
        };
        if let Err(failure) = result {
            self.verdict.fail(failure);
        }
    }

    fn settle(&mut self) -> Outcome<()> {
        self.verdict.settle()?;
        let right = self.shared_secret == self.expected[self.last];
        self.shared_secret.fill(0);
        expect(right, "a shared secret differs from the peer's while timed")
    }

    fn prove(&mut self) -> Outcome<()> {
        // Every sample's secret was compared in `settle`.
        Ok(())
    }

    fn inputs(&self) -> usize {
        self.key_pairs.len()
    }
}
