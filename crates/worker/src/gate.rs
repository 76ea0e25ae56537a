//! The quick correctness gate: what must hold in this process before an operation is timed.
//!
//! It shows that keys have the standard's sizes, that what was signed verifies and what was
//! tampered with does not, that both sides of a key exchange agree, that prepared keys do the same
//! work as encoded ones, and, where the library lets us hand it the randomness, that the first
//! published known answer comes out. It takes one key generation and two operations, so that even
//! the slowest scheme can afford it in every process. It is a seam: deeper suites (ACVP,
//! Wycheproof, interoperability) add checks here and nowhere else.

use crate::session::{KeyPair, Session};
use crate::{Entropy, Failure, FirstKat, Kem, KeyExchange, Scheme, Signature, derive_seed};
use pqlab_catalog::{Length, Operation, ParameterSet, first_kat_sha256};
use pqlab_protocol::{Check, CheckOutcome, GateReport};
use sha2::{Digest, Sha256};

/// Runs the gate and keeps the proven key pair in the session.
pub(crate) fn run(session: &mut Session, seed: u64) -> GateReport {
    let mut checks = Checks::default();
    if let Err(failure) = run_checks(session, seed, &mut checks) {
        checks.fail("calls-succeed", failure.0);
    }
    let report = GateReport { subject: session.subject.id(), checks: checks.0 };
    session.gate = Some(report.clone());
    report
}

fn run_checks(session: &mut Session, seed: u64, checks: &mut Checks) -> Result<(), Failure> {
    let subject = session.subject;
    let set = subject.parameter_set;
    let mut transcript = Transcript::begin(subject.first_kat, set, seed);
    let keys = session.keygen(&mut transcript.entropy)?;
    checks.length("public-key-size", set.sizes.public_key, keys.public_key.len());
    checks.length("secret-key-size", subject.secret_key_length(), keys.secret_key.len());
    transcript.field("pk", &keys.public_key);
    transcript.field("sk", &keys.secret_key);
    let peer = match session.scheme {
        Scheme::KeyExchange(_) => session.keygen(&mut Entropy::seeded(derive_seed(seed, 2)))?,
        _ => keys.clone(),
    };
    match &mut session.scheme {
        Scheme::Signature(scheme) => {
            signature(scheme.as_mut(), set, &keys, &mut transcript, checks)?
        }
        Scheme::Kem(scheme) => kem(scheme.as_mut(), set, &keys, &mut transcript, checks)?,
        Scheme::KeyExchange(scheme) => key_exchange(scheme.as_mut(), set, &keys, &peer, checks)?,
    }
    transcript.check(checks);
    session.key_pairs = vec![keys];
    Ok(())
}

fn signature(
    scheme: &mut dyn Signature,
    set: &ParameterSet,
    keys: &KeyPair,
    transcript: &mut Transcript,
    checks: &mut Checks,
) -> Result<(), Failure> {
    let message = transcript.message.clone();
    let mut buffer = vec![0; set.sizes.output.capacity()];
    let length = scheme.sign(&keys.secret_key, &message, &mut transcript.entropy, &mut buffer)?;
    let signature = &buffer[..length];
    transcript.signed_message(set, &message, signature);
    checks.length("signature-size", set.sizes.output, length);
    checks.expect(
        "round-trip",
        scheme.verify(&keys.public_key, &message, signature)?,
        "a valid signature was rejected",
    );

    let mut accepted = Vec::new();
    for (place, forged) in tampered(signature) {
        if scheme.verify(&keys.public_key, &message, &forged)? {
            accepted.push(format!("signature with {place}"));
        }
    }
    for (place, other) in tampered(&message) {
        if scheme.verify(&keys.public_key, &other, signature)? {
            accepted.push(format!("message with {place}"));
        }
    }
    if scheme.verify(&other_key(&keys.public_key), &message, signature)? {
        accepted.push("another public key".to_owned());
    }
    checks.expect("tamper-rejection", accepted.is_empty(), &accepted.join(", "));

    if scheme.prepares().contains(&Operation::Verify) {
        let mut verifier = scheme.prepare_verifier(&keys.public_key)?;
        let mut forged = signature.to_vec();
        forged[length / 2] ^= 1;
        let right = verifier.verify(&message, signature)? && !verifier.verify(&message, &forged)?;
        checks.expect("prepared-verify", right, "a prepared key decides otherwise");
    }
    if scheme.prepares().contains(&Operation::Sign) {
        let mut buffer = vec![0; set.sizes.output.capacity()];
        let mut signer = scheme.prepare_signer(&keys.secret_key)?;
        let length = signer.sign(&message, &mut transcript.entropy, &mut buffer)?;
        let right = scheme.verify(&keys.public_key, &message, &buffer[..length])?;
        checks.expect("prepared-sign", right, "a prepared key's signature was rejected");
    }
    Ok(())
}

fn kem(
    scheme: &mut dyn Kem,
    set: &ParameterSet,
    keys: &KeyPair,
    transcript: &mut Transcript,
    checks: &mut Checks,
) -> Result<(), Failure> {
    let mut ciphertext = vec![0; set.sizes.output.capacity()];
    let mut sent = vec![0; set.sizes.shared_secret];
    let entropy = &mut transcript.entropy;
    scheme.encaps(&keys.public_key, entropy, &mut ciphertext, &mut sent)?;
    transcript.field("ct", &ciphertext);
    transcript.field("ss", &sent);
    let mut received = vec![0; set.sizes.shared_secret];
    scheme.decaps(&keys.secret_key, &ciphertext, &mut received)?;
    checks.expect("shared-secrets-equal", sent == received, "the two sides differ");
    checks.expect("shared-secret-set", sent.iter().any(|b| *b != 0), "the secret is all zero");

    let mut agreeing = Vec::new();
    for (place, forged) in tampered(&ciphertext) {
        if forged.len() != ciphertext.len() {
            continue;
        }
        let mut other = vec![0; set.sizes.shared_secret];
        if scheme.decaps(&keys.secret_key, &forged, &mut other).is_ok() && other == sent {
            agreeing.push(format!("ciphertext with {place}"));
        }
    }
    checks.expect("tamper-rejection", agreeing.is_empty(), &agreeing.join(", "));

    let mut second = (vec![0; ciphertext.len()], vec![0; sent.len()]);
    if scheme.prepares().contains(&Operation::Encaps) {
        let mut encapsulator = scheme.prepare_encapsulator(&keys.public_key)?;
        encapsulator.encaps(&mut transcript.entropy, &mut second.0, &mut second.1)?;
    } else {
        let entropy = &mut transcript.entropy;
        scheme.encaps(&keys.public_key, entropy, &mut second.0, &mut second.1)?;
    }
    checks.expect("secrets-are-fresh", second.1 != sent, "two encapsulations share one secret");
    if scheme.prepares().contains(&Operation::Decaps) {
        scheme.prepare_decapsulator(&keys.secret_key)?.decaps(&second.0, &mut received)?;
    } else {
        scheme.decaps(&keys.secret_key, &second.0, &mut received)?;
    }
    checks.expect("second-secrets-equal", second.1 == received, "the two sides differ");
    Ok(())
}

fn key_exchange(
    scheme: &mut dyn KeyExchange,
    set: &ParameterSet,
    own: &KeyPair,
    peer: &KeyPair,
    checks: &mut Checks,
) -> Result<(), Failure> {
    let mut derive = |secret_key: &[u8], public_key: &[u8]| {
        let mut secret = vec![0; set.sizes.shared_secret];
        scheme.derive(secret_key, public_key, &mut secret).map(|()| secret)
    };
    let ours = derive(&own.secret_key, &peer.public_key)?;
    let theirs = derive(&peer.secret_key, &own.public_key)?;
    let with_self = derive(&own.secret_key, &own.public_key)?;
    checks.expect("shared-secrets-equal", ours == theirs, "the two sides differ");
    checks.expect("shared-secret-set", ours.iter().any(|b| *b != 0), "the secret is all zero");
    checks.expect("depends-on-peer", ours != with_self, "another peer gives the same secret");
    if scheme.prepares().contains(&Operation::Derive) {
        let mut secret = vec![0; set.sizes.shared_secret];
        scheme.prepare_deriver(&own.secret_key)?.derive(&peer.public_key, &mut secret)?;
        checks.expect("prepared-derive", secret == ours, "a prepared key derives otherwise");
    }
    Ok(())
}

/// A public key that differs from `key` in many places. One changed coefficient of a UOV key has no
/// effect on a given signature when one of the two variables it multiplies is zero: 12 % of single
/// flips over GF(16) (measured: 252 of 2000).
fn other_key(key: &[u8]) -> Vec<u8> {
    let flip = |(place, byte): (usize, &u8)| byte ^ u8::from(place % 61 == 30 % key.len());
    key.iter().enumerate().map(flip).collect()
}

/// Copies of `original` that must not pass for it, each with the place that was changed.
fn tampered(original: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let flipped = |index: usize| {
        let mut copy = original.to_vec();
        copy[index] ^= 1;
        copy
    };
    let last = original.len() - 1;
    vec![
        ("its first byte changed", flipped(0)),
        ("a middle byte changed", flipped(original.len() / 2)),
        ("its last byte changed", flipped(last)),
        ("its last byte missing", original[..last].to_vec()),
    ]
}

#[derive(Default)]
struct Checks(Vec<Check>);

impl Checks {
    fn push(&mut self, name: &str, outcome: CheckOutcome, detail: String) {
        self.0.push(Check { name: name.to_owned(), outcome, detail });
    }

    fn fail(&mut self, name: &str, detail: String) {
        self.push(name, CheckOutcome::Failed, detail);
    }

    fn expect(&mut self, name: &str, holds: bool, otherwise: &str) {
        if holds {
            self.push(name, CheckOutcome::Passed, String::new());
        } else {
            self.fail(name, otherwise.to_owned());
        }
    }

    fn length(&mut self, name: &str, expected: Length, bytes: usize) {
        self.expect(name, expected.admits(bytes), &format!("{bytes} bytes, expected {expected}"));
    }
}

/// The text of the first vector of a NIST `.rsp` file, as it grows, and the randomness it is made
/// with; for subjects that cannot reproduce it, ordinary seeded randomness and no text.
struct Transcript {
    entropy: Entropy,
    message: Vec<u8>,
    text: String,
    expected: Result<&'static str, &'static str>,
}

/// Bytes of the first vector's message: `33 * (count + 1)` in NIST's PQCgenKAT_sign.c.
const FIRST_KAT_MESSAGE_BYTES: usize = 33;

impl Transcript {
    fn begin(kat: FirstKat, set: &ParameterSet, seed: u64) -> Transcript {
        let expected = match (kat, first_kat_sha256(set)) {
            (FirstKat::Not(reason), _) => Err(reason),
            (FirstKat::Reproducible, None) => Err("no hash is published for this revision"),
            (FirstKat::Reproducible, Some(hash)) => Ok(hash),
        };
        if expected.is_err() {
            let mut entropy = Entropy::seeded(derive_seed(seed, 1));
            let message = entropy.array::<FIRST_KAT_MESSAGE_BYTES>().to_vec();
            return Transcript { entropy, message, text: String::new(), expected };
        }
        let mut outer = Entropy::nist_drbg(&std::array::from_fn(|i| i as u8));
        let kat_seed = outer.array::<48>();
        let mut text = format!("count = 0\nseed = {}\n", hex(&kat_seed));
        let mut message = Vec::new();
        if set.kind == pqlab_catalog::Kind::Signature {
            message = outer.array::<FIRST_KAT_MESSAGE_BYTES>().to_vec();
            text.push_str(&format!("mlen = {}\nmsg = {}\n", message.len(), hex(&message)));
        }
        Transcript { entropy: Entropy::nist_drbg(&kat_seed), message, text, expected }
    }

    fn field(&mut self, name: &str, bytes: &[u8]) {
        if self.expected.is_ok() {
            self.text.push_str(&format!("{name} = {}\n", hex(bytes)));
        }
    }

    /// The `sm` line: how signature and message are joined is each submission's choice.
    fn signed_message(&mut self, set: &ParameterSet, message: &[u8], signature: &[u8]) {
        let joined = match set.name {
            "Falcon-512" | "Falcon-1024" if signature.len() > 41 => {
                let (header, body) = signature.split_first().expect("longer than 41 bytes");
                let (nonce, encoded) = body.split_at(40);
                let length = u16::try_from(encoded.len() + 1).expect("at most 1462 bytes");
                let kind = 0x20 | (header & 0x0F);
                [&length.to_be_bytes(), nonce, message, &[kind], encoded].concat()
            }
            _ if matches!(set.scheme, "CROSS" | "UOV") => [message, signature].concat(),
            _ => [signature, message].concat(),
        };
        if self.expected.is_ok() {
            self.text.push_str(&format!("smlen = {}\n", joined.len()));
            self.field("sm", &joined);
        }
    }

    fn check(&self, checks: &mut Checks) {
        match self.expected {
            Err(reason) => checks.push("first-kat", CheckOutcome::Skipped, reason.to_owned()),
            Ok(expected) => {
                let found = hex(&Sha256::digest(self.text.as_bytes())).to_lowercase();
                let otherwise = format!("SHA-256 {found}, published {expected}");
                checks.expect("first-kat", found == expected, &otherwise);
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}
