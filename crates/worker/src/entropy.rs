//! Where the bytes an operation calls random come from.
//!
//! While an operation is timed they come from a small seeded generator, so that every run and
//! every implementation sees the same ones and the cost of a system call is in nobody's figure;
//! while known answers are checked they come from the generator NIST's vectors were made with.
//! Neither is fit to protect anything: these keys are for measuring.

use aes::Aes256;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use std::cell::RefCell;

/// A deterministic source of bytes.
#[derive(Debug, Clone)]
pub struct Entropy(Source);

#[derive(Debug, Clone)]
enum Source {
    SplitMix { state: u64 },
    NistDrbg(Box<NistDrbg>),
    Lent,
}

impl Entropy {
    /// The fast generator used in timed regions: SplitMix64 (Steele, Lea, Flood 2014).
    pub fn seeded(seed: u64) -> Entropy {
        Entropy(Source::SplitMix { state: seed })
    }

    /// The AES-256-CTR DRBG of NIST's known-answer programs, without derivation function
    /// (SP 800-90A §10.2.1; `randombytes_init` of the PQC submissions' rng.c).
    pub fn nist_drbg(entropy_input: &[u8; 48]) -> Entropy {
        Entropy(Source::NistDrbg(Box::new(NistDrbg::new(entropy_input))))
    }

    /// Fills `out`. Calls are not divisible for the NIST generator: two calls of 32 bytes give
    /// other bytes than one of 64.
    pub fn fill(&mut self, out: &mut [u8]) {
        match &mut self.0 {
            Source::SplitMix { state } => {
                for chunk in out.chunks_mut(8) {
                    chunk.copy_from_slice(&split_mix(state).to_le_bytes()[..chunk.len()]);
                }
            }
            Source::NistDrbg(drbg) => drbg.fill(out),
            Source::Lent => unreachable!("entropy is used by its borrower only while it is lent"),
        }
    }

    /// A fresh array of random bytes.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        self.fill(&mut out);
        out
    }

    /// Runs `call` while this source answers [`fill_from_lent`] on this thread: the way to serve a
    /// C library whose `randombytes` hook takes no context argument.
    pub fn lend<T>(&mut self, call: impl FnOnce() -> T) -> T {
        LENT.with(|slot| std::mem::swap(&mut *slot.borrow_mut(), self));
        let result = call();
        LENT.with(|slot| std::mem::swap(&mut *slot.borrow_mut(), self));
        result
    }
}

thread_local! {
    static LENT: RefCell<Entropy> = const { RefCell::new(Entropy(Source::Lent)) };
}

/// Fills `out` from the source lent on this thread; false when none is, so that a library that
/// draws randomness at an unexpected time is noticed instead of being served predictable bytes.
#[must_use]
pub fn fill_from_lent(out: &mut [u8]) -> bool {
    LENT.with(|slot| {
        let mut entropy = slot.borrow_mut();
        let lent = !matches!(entropy.0, Source::Lent);
        if lent {
            entropy.fill(out);
        }
        lent
    })
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A seed for one purpose, derived from another: mixing in `label` keeps the streams apart.
pub fn derive_seed(seed: u64, label: u64) -> u64 {
    let mut state = seed ^ label.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    split_mix(&mut state)
}

#[derive(Debug, Clone)]
struct NistDrbg {
    key: [u8; 32],
    counter: [u8; 16],
}

impl NistDrbg {
    fn new(entropy_input: &[u8; 48]) -> NistDrbg {
        let mut drbg = NistDrbg { key: [0; 32], counter: [0; 16] };
        drbg.update(entropy_input);
        drbg
    }

    fn next_block(&mut self, cipher: &Aes256) -> [u8; 16] {
        self.counter = u128::from_be_bytes(self.counter).wrapping_add(1).to_be_bytes();
        let mut block = Array::from(self.counter);
        cipher.encrypt_block(&mut block);
        block.into()
    }

    fn update(&mut self, provided: &[u8; 48]) {
        let cipher = Aes256::new(&self.key.into());
        let mut fresh = [0; 48];
        for chunk in fresh.chunks_exact_mut(16) {
            chunk.copy_from_slice(&self.next_block(&cipher));
        }
        for (byte, given) in fresh.iter_mut().zip(provided) {
            *byte ^= given;
        }
        self.key.copy_from_slice(&fresh[..32]);
        self.counter.copy_from_slice(&fresh[32..]);
    }

    fn fill(&mut self, out: &mut [u8]) {
        let cipher = Aes256::new(&self.key.into());
        for chunk in out.chunks_mut(16) {
            let block = self.next_block(&cipher);
            chunk.copy_from_slice(&block[..chunk.len()]);
        }
        self.update(&[0; 48]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs for seed 1234567, from Vigna's splitmix64.c as quoted by Rosetta Code.
    #[test]
    fn split_mix_gives_the_published_sequence() {
        let mut state = 1_234_567;
        let got: [u64; 3] = std::array::from_fn(|_| split_mix(&mut state));
        assert_eq!(got, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }

    /// The `seed` of count 0 in every NIST PQC .rsp file: the first 48 bytes of the generator
    /// seeded with 00 01 02 … 2F.
    #[test]
    fn the_nist_generator_gives_the_seed_every_rsp_file_begins_with() {
        let mut drbg = Entropy::nist_drbg(&std::array::from_fn(|i| i as u8));
        let expected = "061550234D158C5EC95595FE04EF7A25767F2E24CC2BC479D09D86DC9ABCFDE7056A8C266F9EF97ED08541DBD2E1FFA1";
        let got: String = drbg.array::<48>().iter().map(|b| format!("{b:02X}")).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn a_lent_source_serves_its_borrower_and_nobody_after() {
        let mut direct = Entropy::seeded(7);
        let mut lent = direct.clone();
        let mut served = [0; 20];
        assert!(lent.lend(|| fill_from_lent(&mut served)));
        assert_eq!(served, direct.array::<20>());
        assert!(!fill_from_lent(&mut served));
        assert_eq!(lent.array::<8>(), direct.array::<8>(), "the lender goes on where it stopped");
    }

    #[test]
    fn derived_seeds_differ_by_label() {
        assert_ne!(derive_seed(1, 0), derive_seed(1, 1));
        assert_ne!(derive_seed(1, 0), derive_seed(2, 0));
    }
}
