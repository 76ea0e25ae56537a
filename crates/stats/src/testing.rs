//! Deterministic random numbers for the tests of this crate; no part of the library.

/// SplitMix64 (Steele, Lea, Flood 2014): one seed, the same stream on every machine.
pub(crate) struct Stream(pub u64);

impl Stream {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Fails unless `got` lies within `relative` of `want`.
#[track_caller]
pub(crate) fn assert_close(got: f64, want: f64, relative: f64) {
    let error = (got - want).abs();
    assert!(error <= relative * want.abs(), "got {got:?}, want {want:?}, off by {error:e}");
}
