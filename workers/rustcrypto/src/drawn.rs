//! Our entropy, dressed as the generator the crates draw from.

use pqlab_worker::Entropy;
use rand_core::{TryCryptoRng, TryRng};
use std::convert::Infallible;

/// A generator that draws from the entropy of the operation.
pub struct Drawn<'a>(pub &'a mut Entropy);

impl TryCryptoRng for Drawn<'_> {}

impl TryRng for Drawn<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(self.0.array()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(self.0.array()))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill(out);
        Ok(())
    }
}
