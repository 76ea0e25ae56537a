//! Wrong cryptography, and libraries that misbehave when called.

use pqlab_tests::{Ed25519, X25519, subjects};
use pqlab_worker::{Entropy, KeyExchange, KeyLengths, Outcome, Signature, Subject};

/// The subjects of a sabotaged library; `None` if `name` is no deed of this kind.
pub fn sabotaged(name: &str) -> Option<Vec<Subject>> {
    let derive = |deed| subjects(|| Ed25519, move || Derive { deed, calls: 0 });
    Some(match name {
        "accept-everything" => subjects(|| Verify { always: true }, || X25519),
        "reject-everything" => subjects(|| Verify { always: false }, || X25519),
        "wrong-secret" => derive(Deed::WrongSecret),
        "wrong-when-timed" => derive(Deed::WrongWhenTimed),
        "panic" => derive(Deed::Panic),
        "chatter-on-stderr" => derive(Deed::Chatter),
        _ => return None,
    })
}

struct Verify {
    always: bool,
}

impl Signature for Verify {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        Ed25519.keygen(entropy, public_key, secret_key)
    }

    fn sign(
        &mut self,
        secret_key: &[u8],
        message: &[u8],
        entropy: &mut Entropy,
        signature: &mut [u8],
    ) -> Outcome<usize> {
        Ed25519.sign(secret_key, message, entropy, signature)
    }

    fn verify(&mut self, _: &[u8], _: &[u8], _: &[u8]) -> Outcome<bool> {
        Ok(self.always)
    }
}

#[derive(Clone, Copy)]
enum Deed {
    WrongSecret,
    WrongWhenTimed,
    Panic,
    Chatter,
}

/// More calls than the gate and the making of inputs need, fewer than a warm-up.
const CALLS_BEFORE_THE_CLOCK: u64 = 40;

struct Derive {
    deed: Deed,
    calls: u64,
}

impl KeyExchange for Derive {
    fn keygen(
        &mut self,
        entropy: &mut Entropy,
        public_key: &mut [u8],
        secret_key: &mut [u8],
    ) -> Outcome<KeyLengths> {
        X25519.keygen(entropy, public_key, secret_key)
    }

    fn derive(
        &mut self,
        secret_key: &[u8],
        peer_public_key: &[u8],
        shared_secret: &mut [u8],
    ) -> Outcome<()> {
        self.calls += 1;
        X25519.derive(secret_key, peer_public_key, shared_secret)?;
        match self.deed {
            // The two sides' secrets are changed in different ways.
            Deed::WrongSecret => shared_secret[0] ^= secret_key[0] | 1,
            Deed::WrongWhenTimed if self.calls > CALLS_BEFORE_THE_CLOCK => shared_secret[0] ^= 1,
            Deed::WrongWhenTimed => {}
            Deed::Panic => panic!("this library panics\x1b[31m"),
            Deed::Chatter => eprintln!("{}", "noise ".repeat(1_000)),
        }
        Ok(())
    }
}
