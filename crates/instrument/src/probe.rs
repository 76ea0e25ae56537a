//! The clock probe: a chain of dependent multiplications that gives the core's clock without a
//! PMU.
//!
//! Run beside every block of samples, it tells a slow core from slow code: each step waits for the
//! one before, so the chain's duration is steps x latency / core clock whatever else the core
//! could do in parallel. On x86-64 the latency of `imul r64, r64` is 3 cycles on every core since
//! about 2010, so the chain is a core-cycle reference; elsewhere only the *chain steps per
//! second* are reported, because the latency differs from core to core (aarch64: 3 on Cortex-A76
//! and Neoverse N1, 2 on Neoverse V2, more on small cores). It refuses to normalise anything
//! itself: it gives readings, and the statistics are made elsewhere.
//!
//! A multiply chain, not additions: an `add r, 1` chain ran at "12 GHz" on a core that folds
//! additions at rename (docs/METHODOLOGY.md).

use crate::clock::TickSource;
use serde::{Deserialize, Serialize};

/// Chain steps per turn of the loop; the counter's decrement hides behind 16 x 3 cycles.
const UNROLL: u64 = 16;

/// Steps of the usual probe: 24 000 x 3 cycles are 24 µs at 3 GHz, about 1 % of the time when run
/// every 2 ms. The resolution is the counter's granule over this length: where the TSC moves in
/// steps of 26 ticks (AMD EPYC at 2.6 GHz) one step is 0.04 % of a reading.
pub const DEFAULT_STEPS: u64 = 24_000;

/// Latency of `imul r64, r64` in core cycles on x86-64: 3 on Intel from Nehalem (2008), on AMD
/// from Zen (2017), and on Gracemont; source: uops.info and Agner Fog's instruction tables. AMD
/// Bulldozer-family and Intel Atom before Goldmont Plus need 4 to 6: there the figure is wrong by
/// that constant, ratios stay right.
pub const X86_64_IMUL_LATENCY_CYCLES: f64 = 3.0;

/// Core cycles per chain step where that is one number for the architecture, else `None`.
pub const CYCLES_PER_STEP: Option<f64> =
    if cfg!(target_arch = "x86_64") { Some(X86_64_IMUL_LATENCY_CYCLES) } else { None };

/// A probe of a fixed number of chain steps.
#[derive(Clone, Copy, Debug)]
pub struct ClockProbe {
    turns: u64,
}

impl Default for ClockProbe {
    fn default() -> Self {
        ClockProbe::new(DEFAULT_STEPS)
    }
}

impl ClockProbe {
    /// A probe of at least `steps` chain steps, rounded up to a multiple of 16 and at least 16.
    pub fn new(steps: u64) -> Self {
        ClockProbe { turns: steps.div_ceil(UNROLL).max(1) }
    }

    /// Chain steps of one run.
    pub fn steps(&self) -> u64 {
        self.turns * UNROLL
    }

    /// Runs the chain once and gives the ticks it took.
    #[inline]
    pub fn run<T: TickSource>(&self, ticks: T) -> ProbeReading {
        let start = ticks.start();
        run_chain(self.turns);
        ProbeReading { ticks: ticks.stop().wrapping_sub(start), steps: self.steps() }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn run_chain(turns: u64) {
    // SAFETY: registers and flags only, no memory, no stack; `turns` is at least 1
    // (`ClockProbe::new`), so the decrement reaches zero. `volatile` by default: not removed.
    unsafe {
        std::arch::asm!(
            "2:",
            "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}",
            "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}",
            "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}",
            "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}",
            "dec {turns}",
            "jnz 2b",
            x = inout(reg) 0x9e37_79b9_7f4a_7c15_u64 => _,
            turns = inout(reg) turns => _,
            options(nomem, nostack),
        );
    }
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn run_chain(turns: u64) {
    // SAFETY: as above; registers and flags only, and `turns` is at least 1.
    unsafe {
        std::arch::asm!(
            "2:",
            "mul {x}, {x}, {x}", "mul {x}, {x}, {x}", "mul {x}, {x}, {x}", "mul {x}, {x}, {x}",
            "mul {x}, {x}, {x}", "mul {x}, {x}, {x}", "mul {x}, {x}, {x}", "mul {x}, {x}, {x}",
            "mul {x}, {x}, {x}", "mul {x}, {x}, {x}", "mul {x}, {x}, {x}", "mul {x}, {x}, {x}",
            "mul {x}, {x}, {x}", "mul {x}, {x}, {x}", "mul {x}, {x}, {x}", "mul {x}, {x}, {x}",
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            x = inout(reg) 0x9e37_79b9_7f4a_7c15_u64 => _,
            turns = inout(reg) turns => _,
            options(nomem, nostack),
        );
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn run_chain(turns: u64) {
    // The adjusted chain keeps the compiler from folding the squarings; slower than the
    // multiplier, still proportional to the clock.
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..turns * UNROLL {
        x = std::hint::black_box(x.wrapping_mul(x));
    }
}

/// One run of the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeReading {
    /// Clock ticks the chain took, the clock's own overhead included.
    pub ticks: u64,
    /// Steps of the chain.
    pub steps: u64,
}

impl ProbeReading {
    /// Chain steps per second: the quantity that is honest on every architecture. `None` for a
    /// reading of zero ticks.
    pub fn steps_per_second(&self, ticks_per_second: f64) -> Option<f64> {
        (self.ticks > 0).then(|| self.steps as f64 / self.ticks as f64 * ticks_per_second)
    }

    /// The core's clock in Hz, where the architecture fixes the chain's latency
    /// ([`CYCLES_PER_STEP`]); elsewhere `None`.
    pub fn core_hz(&self, ticks_per_second: f64) -> Option<f64> {
        Some(CYCLES_PER_STEP? * self.steps_per_second(ticks_per_second)?)
    }
}

/// How steady the core's clock was over several readings; a summary for the doctor, not an
/// estimate for a report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeSpread {
    /// Readings summarised.
    pub readings: usize,
    /// Median of the chain steps per second.
    pub median_steps_per_second: f64,
    /// Third quartile less first quartile, divided by the median (nearest-rank quartiles).
    pub relative_iqr: f64,
}

impl ProbeSpread {
    /// Fewest readings that have quartiles worth the name.
    pub const MIN_READINGS: usize = 8;

    /// Summarises readings; `None` when fewer than [`Self::MIN_READINGS`] are usable.
    pub fn of(readings: &[ProbeReading], ticks_per_second: f64) -> Option<Self> {
        let mut rates: Vec<f64> = readings
            .iter()
            .filter_map(|reading| reading.steps_per_second(ticks_per_second))
            .filter(|rate| rate.is_finite() && *rate > 0.0)
            .collect();
        if rates.len() < Self::MIN_READINGS {
            return None;
        }
        rates.sort_unstable_by(f64::total_cmp);
        let last = rates.len() - 1;
        let median = rates[last / 2];
        let iqr = rates[last * 3 / 4] - rates[last / 4];
        Some(ProbeSpread {
            readings: rates.len(),
            median_steps_per_second: median,
            relative_iqr: iqr / median,
        })
    }

    /// The median as a core clock in Hz where the architecture allows it.
    pub fn median_core_hz(&self) -> Option<f64> {
        Some(CYCLES_PER_STEP? * self.median_steps_per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Monotonic, Tsc};

    /// Readings of each half of an interleaved pair of probes, as medians of ticks.
    fn interleaved_medians<T: TickSource>(ticks: T, a: ClockProbe, b: ClockProbe) -> (u64, u64) {
        const PAIRS: usize = 101;
        let mut of_a = Vec::with_capacity(PAIRS);
        let mut of_b = Vec::with_capacity(PAIRS);
        for _ in 0..PAIRS {
            of_a.push(a.run(ticks).ticks);
            of_b.push(b.run(ticks).ticks);
        }
        of_a.sort_unstable();
        of_b.sort_unstable();
        (of_a[PAIRS / 2], of_b[PAIRS / 2])
    }

    /// The ratio b / a falls into the band in at least one of several attempts.
    fn ratio_falls_within(a: ClockProbe, b: ClockProbe, band: std::ops::Range<f64>) {
        let mut seen = Vec::new();
        for _ in 0..8 {
            let (of_a, of_b) = match Tsc::detect() {
                Ok(tsc) => interleaved_medians(tsc, a, b),
                Err(_) => interleaved_medians(Monotonic, a, b),
            };
            let ratio = of_b as f64 / of_a as f64;
            if band.contains(&ratio) {
                return;
            }
            seen.push(ratio);
        }
        panic!("never within {band:?}: {seen:?}");
    }

    #[test]
    fn equal_probes_repeat() {
        ratio_falls_within(ClockProbe::default(), ClockProbe::default(), 0.95..1.05);
    }

    #[test]
    fn positive_control_twice_the_steps_take_twice_the_ticks() {
        let twice = ClockProbe::new(2 * DEFAULT_STEPS);
        ratio_falls_within(ClockProbe::default(), twice, 1.8..2.2);
    }

    #[test]
    fn steps_round_up_and_never_reach_zero() {
        assert_eq!(ClockProbe::new(0).steps(), 16);
        assert_eq!(ClockProbe::new(17).steps(), 32);
        assert_eq!(ClockProbe::new(DEFAULT_STEPS).steps(), DEFAULT_STEPS);
        assert!(ClockProbe::new(0).run(Monotonic).steps == 16);
    }

    #[test]
    fn a_reading_becomes_a_core_clock_by_the_multipliers_latency() {
        // 24 000 steps in 48 000 ticks of a 2 GHz counter are 24 µs: 1e9 steps/s, 3 GHz.
        let reading = ProbeReading { ticks: 48_000, steps: 24_000 };
        assert_eq!(reading.steps_per_second(2e9), Some(1e9));
        let core_hz = if cfg!(target_arch = "x86_64") { Some(3e9) } else { None };
        assert_eq!(reading.core_hz(2e9), core_hz);
        assert_eq!(ProbeReading { ticks: 0, steps: 16 }.core_hz(2e9), None);
    }

    #[test]
    fn spread_is_the_quartile_distance_over_the_median() {
        // Rates 91..=99 steps/s: nearest ranks 2, 4, 6 of 0..=8 are 93, 95, 97.
        let readings: Vec<ProbeReading> =
            (91..=99).map(|steps| ProbeReading { ticks: 1, steps }).collect();
        let spread = ProbeSpread::of(&readings, 1.0).expect("nine readings");
        assert_eq!((spread.readings, spread.median_steps_per_second), (9, 95.0));
        assert_eq!(spread.relative_iqr, 4.0 / 95.0);
        assert_eq!(ProbeSpread::of(&readings[..7], 1.0), None);
    }
}
