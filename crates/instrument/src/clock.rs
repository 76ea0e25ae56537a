//! The clock: fenced reads of the machine's cheapest steady counter, and its calibration.
//!
//! It is for timing one call of a few microseconds and up. It counts *ticks of a constant-rate
//! counter*: they convert to nanoseconds, never to core cycles (for those see [`crate::probe`] and
//! [`crate::counters`]). It refuses a TSC that the CPU does not declare invariant, or that is
//! seen to run backwards, and falls back to `clock_gettime`, saying so in the calibration. It
//! subtracts nothing: raw ticks are what is stored, and the overhead is reported beside them.
//!
//! A hot loop takes its tick source as a zero-sized type parameter, so that no branch on the kind
//! of clock is left between the reads. The one `match` stands outside:
//!
//! ```
//! use pqlab_instrument::clock::{Clock, Source, TickSource};
//!
//! fn time_calls<T: TickSource>(ticks: T, samples: &mut [u64]) {
//!     for sample in samples {
//!         let start = ticks.start();
//!         std::hint::black_box(40 + 2);
//!         *sample = ticks.stop().wrapping_sub(start);
//!     }
//! }
//!
//! let clock = Clock::calibrate();
//! let mut samples = [0; 64];
//! match clock.source() {
//!     Source::Tsc(ticks) => time_calls(ticks, &mut samples),
//!     Source::Cntvct(ticks) => time_calls(ticks, &mut samples),
//!     Source::Monotonic(ticks) => time_calls(ticks, &mut samples),
//! }
//! println!("{} ns", clock.ticks_to_ns(samples[63]));
//! ```

use crate::Unavailable;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Consecutive reads that must not go backwards before a counter is believed (design note
/// docs/METHODOLOGY.md).
const MONOTONE_READS: usize = 1000;

/// Times the monotone check is repeated before the counter is given up (§5.1).
const MONOTONE_ATTEMPTS: usize = 10;

/// Empty start/stop pairs behind the overhead figures (§5.1).
const OVERHEAD_PAIRS: usize = 10_000;

/// Times a difference must recur among back-to-back reads to count as the precision (§5.1, after
/// divan).
const PRECISION_RECURRENCE: usize = 100;

/// (counter, reference) pairs tried at each end of a calibration interval; the tightest is kept
/// (§5.1).
const BRACKET_ATTEMPTS: usize = 100;

/// The calibration interval is two halves of this length; that they agree is the check.
const CALIBRATION_HALF: Duration = Duration::from_millis(100);

/// A declared counter frequency (CPUID 15h, CNTFRQ_EL0) is believed only when the measured one
/// is within this: crystals are good to about 100 ppm and Linux slews no more than 500 ppm
/// (adjtimex(2)), so a larger gap means that the declaration is wrong.
const DECLARED_TOLERANCE_PPM: f64 = 500.0;

/// Which counter the ticks come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockKind {
    /// The x86-64 time-stamp counter, invariant by CPUID 8000_0007h EDX bit 8.
    Tsc,
    /// The aarch64 virtual counter CNTVCT_EL0 (architecturally constant-rate).
    Cntvct,
    /// `clock_gettime`: CLOCK_MONOTONIC_RAW on Linux, CLOCK_MONOTONIC elsewhere; 1 tick is 1 ns.
    Monotonic,
}

impl ClockKind {
    /// Every kind.
    pub const ALL: [ClockKind; 3] = [ClockKind::Tsc, ClockKind::Cntvct, ClockKind::Monotonic];

    /// The word used in messages and files, the same as its serialised form.
    pub const fn name(self) -> &'static str {
        match self {
            ClockKind::Tsc => "tsc",
            ClockKind::Cntvct => "cntvct",
            ClockKind::Monotonic => "monotonic",
        }
    }
}

/// A counter that can be read on both sides of a timed call.
///
/// Implementations are zero-sized and their reads are always inlined. The two reads are ordered
/// against the instructions around them: nothing before `start` is still running when it reads,
/// nothing after `start` begins before it has read, and likewise for `stop`.
pub trait TickSource: Copy {
    /// Which counter this is.
    const KIND: ClockKind;

    /// Ticks now, before a timed call.
    fn start(self) -> u64;

    /// Ticks now, after a timed call. `stop() - start()` wraps around correctly with
    /// [`u64::wrapping_sub`].
    fn stop(self) -> u64;
}

/// The time-stamp counter. Obtainable only where it is invariant ([`Tsc::detect`]); on other
/// architectures no value of this type exists.
///
/// `start` is `lfence; rdtsc; lfence`, `stop` is `rdtscp; lfence` (rdtscp waits for all earlier
/// instructions by itself). On AMD, lfence orders execution because Linux sets DE_CFG bit 1.
#[derive(Clone, Copy, Debug)]
pub struct Tsc(TscToken);

#[cfg(target_arch = "x86_64")]
type TscToken = ();
#[cfg(not(target_arch = "x86_64"))]
type TscToken = std::convert::Infallible;

impl Tsc {
    /// The TSC, if the CPU declares it invariant, offers `rdtscp`, and it is seen not to run
    /// backwards.
    #[cfg(target_arch = "x86_64")]
    pub fn detect() -> Result<Self, Unavailable> {
        let refuse = |reason: &str, remedy: &str| {
            Err(Unavailable::new("time-stamp counter", reason, remedy))
        };
        let cpuid = raw_cpuid::CpuId::new();
        if !cpuid.get_advanced_power_mgmt_info().is_some_and(|leaf| leaf.has_invariant_tsc()) {
            return refuse(
                "CPUID 80000007h does not declare the TSC invariant",
                "in a virtual machine, have the host pass the invtsc flag (QEMU: -cpu \
                 host,+invtsc); until then the slower clock_gettime is used",
            );
        }
        let extended = cpuid.get_extended_processor_and_feature_identifiers();
        if !extended.is_some_and(|leaf| leaf.has_rdtscp()) {
            return refuse(
                "CPUID 80000001h does not offer the rdtscp instruction",
                "nothing to do on this CPU; the slower clock_gettime is used",
            );
        }
        let tsc = Tsc(());
        if !(0..MONOTONE_ATTEMPTS).any(|_| is_monotone(tsc)) {
            return refuse(
                "the TSC ran backwards between consecutive reads",
                "pin the process to one CPU, and look for what the kernel thinks of it: \
                 sudo dmesg | grep -i tsc",
            );
        }
        Ok(tsc)
    }

    /// Always unavailable: this architecture has no TSC.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn detect() -> Result<Self, Unavailable> {
        Err(Unavailable::new(
            "time-stamp counter",
            format!("{} has none", std::env::consts::ARCH),
            "nothing to do: this machine's own counter is used",
        ))
    }
}

#[cfg(target_arch = "x86_64")]
impl TickSource for Tsc {
    const KIND: ClockKind = ClockKind::Tsc;

    #[inline(always)]
    fn start(self) -> u64 {
        use std::arch::x86_64::{_mm_lfence, _rdtsc};
        // SAFETY: SSE2 (lfence) and the TSC are part of the x86-64 baseline; a `Tsc` value exists
        // only after `detect`, so user-mode rdtsc has already been executed without a trap.
        unsafe {
            _mm_lfence();
            let ticks = _rdtsc();
            _mm_lfence();
            ticks
        }
    }

    #[inline(always)]
    fn stop(self) -> u64 {
        use std::arch::x86_64::{__rdtscp, _mm_lfence};
        let mut processor = 0u32;
        // SAFETY: `detect` has checked the rdtscp feature bit and executed it; `processor` is a
        // live local for the instruction's third output.
        unsafe {
            let ticks = __rdtscp(&mut processor);
            _mm_lfence();
            ticks
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl TickSource for Tsc {
    const KIND: ClockKind = ClockKind::Tsc;

    fn start(self) -> u64 {
        match self.0 {}
    }

    fn stop(self) -> u64 {
        match self.0 {}
    }
}

/// The aarch64 virtual counter. On other architectures no value of this type exists.
///
/// It ticks at 24 MHz to 1 GHz, so one tick may be 42 ns: see
/// [`Calibration::precision_ticks`] before timing anything short.
#[derive(Clone, Copy, Debug)]
pub struct Cntvct(CntvctToken);

#[cfg(target_arch = "aarch64")]
type CntvctToken = ();
#[cfg(not(target_arch = "aarch64"))]
type CntvctToken = std::convert::Infallible;

impl Cntvct {
    /// The virtual counter, if it is seen not to run backwards.
    #[cfg(target_arch = "aarch64")]
    pub fn detect() -> Result<Self, Unavailable> {
        let counter = Cntvct(());
        if (0..MONOTONE_ATTEMPTS).any(|_| is_monotone(counter)) {
            return Ok(counter);
        }
        Err(Unavailable::new(
            "virtual counter CNTVCT_EL0",
            "it ran backwards between consecutive reads",
            "pin the process to one CPU; until then the slower clock_gettime is used",
        ))
    }

    /// Always unavailable: this architecture has no CNTVCT_EL0.
    #[cfg(not(target_arch = "aarch64"))]
    pub fn detect() -> Result<Self, Unavailable> {
        Err(Unavailable::new(
            "virtual counter CNTVCT_EL0",
            format!("{} has none", std::env::consts::ARCH),
            "nothing to do: this machine's own counter is used",
        ))
    }
}

#[cfg(target_arch = "aarch64")]
impl Cntvct {
    #[inline(always)]
    fn read() -> u64 {
        let ticks: u64;
        // SAFETY: CNTVCT_EL0 is readable from user mode on Linux and macOS (the kernel's own vDSO
        // or commpage relies on it); the read touches no memory and no flags. The default
        // (memory-clobbering) asm keeps the compiler from moving loads and stores across it.
        unsafe {
            std::arch::asm!("isb", "mrs {0}, cntvct_el0", "isb", out(reg) ticks,
                options(nostack, preserves_flags));
        }
        ticks
    }
}

#[cfg(target_arch = "aarch64")]
impl TickSource for Cntvct {
    const KIND: ClockKind = ClockKind::Cntvct;

    #[inline(always)]
    fn start(self) -> u64 {
        Self::read()
    }

    #[inline(always)]
    fn stop(self) -> u64 {
        Self::read()
    }
}

#[cfg(not(target_arch = "aarch64"))]
impl TickSource for Cntvct {
    const KIND: ClockKind = ClockKind::Cntvct;

    fn start(self) -> u64 {
        match self.0 {}
    }

    fn stop(self) -> u64 {
        match self.0 {}
    }
}

/// The operating system's monotonic clock in nanoseconds; works everywhere, costs a vDSO call.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic;

#[cfg(target_os = "linux")]
const MONOTONIC_CLOCK: rustix::time::ClockId = rustix::time::ClockId::MonotonicRaw;
#[cfg(not(target_os = "linux"))]
const MONOTONIC_CLOCK: rustix::time::ClockId = rustix::time::ClockId::Monotonic;

/// The name of [`MONOTONIC_CLOCK`], for the method's words.
const MONOTONIC_NAME: &str =
    if cfg!(target_os = "linux") { "CLOCK_MONOTONIC_RAW" } else { "CLOCK_MONOTONIC" };

impl TickSource for Monotonic {
    const KIND: ClockKind = ClockKind::Monotonic;

    #[inline(always)]
    fn start(self) -> u64 {
        let now = rustix::time::clock_gettime(MONOTONIC_CLOCK);
        // The kernel keeps both fields non-negative; 2^64 ns are 584 years of uptime.
        (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
    }

    #[inline(always)]
    fn stop(self) -> u64 {
        self.start()
    }
}

/// The tick source of a [`Clock`], to be matched once outside a hot loop (see the module's
/// example). All three variants exist on every architecture, so the match is portable.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The x86-64 time-stamp counter.
    Tsc(Tsc),
    /// The aarch64 virtual counter.
    Cntvct(Cntvct),
    /// `clock_gettime`.
    Monotonic(Monotonic),
}

/// What the clock was found to be: stored in the run file, and handed from the lab to its workers
/// so that they need not repeat the 200 ms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Which counter.
    pub kind: ClockKind,
    /// Ticks per second of physical time.
    pub ticks_per_second: f64,
    /// How the rate was found, in words; includes why a better counter was refused.
    pub method: String,
    /// How far the rate may be off, in parts per million of the reference it was compared with
    /// (the crystal's own error is not in it).
    pub uncertainty_ppm: f64,
    /// Smallest positive difference between back-to-back reads that recurs, in ticks: an upper
    /// bound on the counter's granule.
    pub precision_ticks: u64,
    /// Median of an empty start/stop pair, in ticks.
    pub overhead_ticks_median: u64,
    /// 99.9 % quantile of an empty start/stop pair, in ticks.
    pub overhead_ticks_p999: u64,
}

/// What an empty start/stop pair costs, in ticks, measured here and now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overhead {
    /// Smallest recurring positive difference between back-to-back reads.
    pub precision_ticks: u64,
    /// Median of an empty start/stop pair.
    pub median_ticks: u64,
    /// 99.9 % quantile of an empty start/stop pair.
    pub p999_ticks: u64,
}

/// A calibrated clock.
#[derive(Clone, Debug)]
pub struct Clock {
    source: Source,
    calibration: Calibration,
}

impl Clock {
    /// Picks the best counter of this machine and calibrates it; takes about 200 ms, most of it
    /// asleep. Never fails: the last resort is `clock_gettime`, and
    /// [`Calibration::method`] then says what was refused and why.
    pub fn calibrate() -> Clock {
        let refusal = match Tsc::detect() {
            Ok(tsc) => match calibrate_counter(tsc, declared_tsc_hz()) {
                Ok(rate) => return Clock::assemble(Source::Tsc(tsc), rate),
                Err(refusal) => refusal,
            },
            Err(tsc_refusal) => match Cntvct::detect() {
                Ok(counter) => match calibrate_counter(counter, declared_cntvct_hz()) {
                    Ok(rate) => return Clock::assemble(Source::Cntvct(counter), rate),
                    Err(refusal) => refusal,
                },
                Err(cntvct_refusal) if cfg!(target_arch = "aarch64") => cntvct_refusal,
                Err(_) => tsc_refusal,
            },
        };
        let method = format!("{MONOTONIC_NAME} itself ({}: {})", refusal.what, refusal.reason);
        let rate = Rate { ticks_per_second: 1e9, uncertainty_ppm: 0.0, method };
        Clock::assemble(Source::Monotonic(Monotonic), rate)
    }

    /// The clock a calibration describes, at once. Refused when this machine does not offer that
    /// counter or the figures make no sense: a calibration belongs to the machine and boot that
    /// it was taken on.
    pub fn from_calibration(calibration: &Calibration) -> Result<Clock, Unavailable> {
        let rate = calibration.ticks_per_second;
        if !(rate.is_finite() && rate > 0.0) {
            return Err(Unavailable::new(
                "clock from a calibration",
                format!("its rate is {rate} ticks per second"),
                "calibrate again on this machine",
            ));
        }
        let source = match calibration.kind {
            ClockKind::Tsc => Source::Tsc(Tsc::detect()?),
            ClockKind::Cntvct => Source::Cntvct(Cntvct::detect()?),
            ClockKind::Monotonic => Source::Monotonic(Monotonic),
        };
        Ok(Clock { source, calibration: calibration.clone() })
    }

    fn assemble(source: Source, rate: Rate) -> Clock {
        let overhead = measure_overhead(source);
        let kind = match source {
            Source::Tsc(_) => ClockKind::Tsc,
            Source::Cntvct(_) => ClockKind::Cntvct,
            Source::Monotonic(_) => ClockKind::Monotonic,
        };
        let calibration = Calibration {
            kind,
            ticks_per_second: rate.ticks_per_second,
            method: rate.method,
            uncertainty_ppm: rate.uncertainty_ppm,
            precision_ticks: overhead.precision_ticks,
            overhead_ticks_median: overhead.median_ticks,
            overhead_ticks_p999: overhead.p999_ticks,
        };
        Clock { source, calibration }
    }

    /// The tick source, to be matched once outside the hot loop.
    pub fn source(&self) -> Source {
        self.source
    }

    /// The calibration in force.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Measures the overhead again (about 1 ms) and keeps it in the calibration: a worker does so
    /// on the CPU it is pinned to.
    pub fn measure_overhead(&mut self) -> Overhead {
        let overhead = measure_overhead(self.source);
        self.calibration.precision_ticks = overhead.precision_ticks;
        self.calibration.overhead_ticks_median = overhead.median_ticks;
        self.calibration.overhead_ticks_p999 = overhead.p999_ticks;
        overhead
    }

    /// Nanoseconds of a number of ticks.
    #[inline]
    pub fn ticks_to_ns(&self, ticks: u64) -> f64 {
        ticks as f64 * (1e9 / self.calibration.ticks_per_second)
    }
}

/// A counter's rate as found by [`calibrate_counter`].
struct Rate {
    ticks_per_second: f64,
    uncertainty_ppm: f64,
    method: String,
}

/// The TSC rate by CPUID leaf 15h (crystal clock and ratio), where the CPU gives all three values.
fn declared_tsc_hz() -> Option<(f64, &'static str)> {
    #[cfg(target_arch = "x86_64")]
    {
        let hz = raw_cpuid::CpuId::new().get_tsc_info()?.tsc_frequency()?;
        Some((hz as f64, "CPUID 15h"))
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// The rate that firmware wrote into CNTFRQ_EL0.
fn declared_cntvct_hz() -> Option<(f64, &'static str)> {
    #[cfg(target_arch = "aarch64")]
    {
        let hz: u64;
        // SAFETY: CNTFRQ_EL0 is readable wherever CNTVCT_EL0 is; no memory, no flags.
        unsafe {
            std::arch::asm!("mrs {0}, cntfrq_el0", out(reg) hz,
                options(nomem, nostack, preserves_flags));
        }
        (hz > 0).then_some((hz as f64, "CNTFRQ_EL0"))
    }
    #[cfg(not(target_arch = "aarch64"))]
    None
}

/// Whether [`MONOTONE_READS`] consecutive reads never went backwards.
fn is_monotone<T: TickSource>(ticks: T) -> bool {
    let mut last = ticks.start();
    (0..MONOTONE_READS).all(|_| {
        let now = ticks.stop();
        let forward = now >= last;
        last = now;
        forward
    })
}

/// A counter reading and a reference reading that belong together: the reference was read
/// within `bracket` ticks, centred on `ticks`.
#[derive(Clone, Copy)]
struct ClockPair {
    ticks: u64,
    bracket_ticks: u64,
    reference_ns: u64,
}

/// The tightest of [`BRACKET_ATTEMPTS`] pairs.
fn read_pair<T: TickSource>(ticks: T) -> ClockPair {
    let one = || {
        let before = ticks.start();
        let reference_ns = Monotonic.start();
        let bracket_ticks = ticks.stop().saturating_sub(before);
        ClockPair { ticks: before.wrapping_add(bracket_ticks / 2), bracket_ticks, reference_ns }
    };
    (1..BRACKET_ATTEMPTS).fold(one(), |best, _| {
        let pair = one();
        if pair.bracket_ticks < best.bracket_ticks { pair } else { best }
    })
}

/// Ticks per second between two pairs; `None` if either clock stood still.
fn rate_between(from: ClockPair, to: ClockPair) -> Option<f64> {
    let ticks = to.ticks.checked_sub(from.ticks).filter(|&ticks| ticks > 0)?;
    let nanoseconds = to.reference_ns.checked_sub(from.reference_ns).filter(|&ns| ns > 0)?;
    Some(ticks as f64 * 1e9 / nanoseconds as f64)
}

/// Finds a counter's rate against the reference clock over twice [`CALIBRATION_HALF`], and takes
/// the declared rate instead where the two agree.
fn calibrate_counter<T: TickSource>(
    ticks: T,
    declared: Option<(f64, &'static str)>,
) -> Result<Rate, Unavailable> {
    let first = read_pair(ticks);
    std::thread::sleep(CALIBRATION_HALF);
    let middle = read_pair(ticks);
    std::thread::sleep(CALIBRATION_HALF);
    let last = read_pair(ticks);
    let rates =
        (rate_between(first, last), rate_between(first, middle), rate_between(middle, last));
    let (Some(measured), Some(first_half), Some(second_half)) = rates else {
        return Err(Unavailable::new(
            "the CPU's own counter",
            format!("it or {MONOTONIC_NAME} stood still for {CALIBRATION_HALF:?}"),
            "nothing to do: clock_gettime is used",
        ));
    };

    // Each end may be off by half its bracket; a change of rate shows as unequal halves.
    let interval_ticks = (last.ticks - first.ticks) as f64;
    let bracket_ppm =
        (first.bracket_ticks + last.bracket_ticks) as f64 / 2.0 / interval_ticks * 1e6;
    let halves_ppm = ppm_between(first_half, second_half) / 2.0;
    let measured_ppm = bracket_ppm.max(halves_ppm);
    let measured_words = format!(
        "{} ms against {MONOTONIC_NAME}, best of {BRACKET_ATTEMPTS} pairs",
        2 * CALIBRATION_HALF.as_millis()
    );
    Ok(match declared {
        Some((hz, source)) if ppm_between(hz, measured) <= DECLARED_TOLERANCE_PPM => Rate {
            ticks_per_second: hz,
            uncertainty_ppm: measured_ppm.max(ppm_between(hz, measured)),
            method: format!("{source}, confirmed over {measured_words}"),
        },
        Some((hz, source)) => Rate {
            ticks_per_second: measured,
            uncertainty_ppm: measured_ppm,
            method: format!("{measured_words}; {source} says {hz:.0} Hz and was not believed"),
        },
        None => Rate {
            ticks_per_second: measured,
            uncertainty_ppm: measured_ppm,
            method: measured_words,
        },
    })
}

/// How far apart two rates are, in parts per million of the second.
fn ppm_between(rate: f64, reference: f64) -> f64 {
    (rate / reference - 1.0).abs() * 1e6
}

fn measure_overhead(source: Source) -> Overhead {
    match source {
        Source::Tsc(ticks) => measure_overhead_of(ticks),
        Source::Cntvct(ticks) => measure_overhead_of(ticks),
        Source::Monotonic(ticks) => measure_overhead_of(ticks),
    }
}

fn measure_overhead_of<T: TickSource>(ticks: T) -> Overhead {
    let mut pairs = vec![0u64; OVERHEAD_PAIRS];
    // The first pass faults the pages in and warms the code; the second is kept.
    for _ in 0..2 {
        for pair in &mut pairs {
            let start = ticks.start();
            *pair = ticks.stop().wrapping_sub(start);
        }
    }
    pairs.sort_unstable();
    let mut last = ticks.start();
    let mut steps = vec![0u64; OVERHEAD_PAIRS];
    for step in &mut steps {
        let now = ticks.start();
        *step = now.saturating_sub(last);
        last = now;
    }
    steps.sort_unstable();
    Overhead {
        precision_ticks: smallest_recurring(&steps, PRECISION_RECURRENCE),
        median_ticks: pairs[OVERHEAD_PAIRS / 2],
        p999_ticks: pairs[OVERHEAD_PAIRS * 999 / 1000],
    }
}

/// The smallest positive value that occurs at least `times` times in a sorted slice; the most
/// frequent positive value if none does so often; 1 if none is positive.
fn smallest_recurring(sorted: &[u64], times: usize) -> u64 {
    let runs = || sorted.chunk_by(|a, b| a == b).filter(|run| run[0] > 0);
    runs()
        .find(|run| run.len() >= times)
        .or_else(|| runs().max_by_key(|run| run.len()))
        .map_or(1, |run| run[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries a statement about a noisy machine several times; one success is enough, because
    /// noise only ever breaks the statement.
    fn eventually(attempts: usize, mut holds: impl FnMut() -> Result<(), String>) {
        let mut last = String::new();
        for _ in 0..attempts {
            match holds() {
                Ok(()) => return,
                Err(why) => last = why,
            }
        }
        panic!("never held in {attempts} attempts: {last}");
    }

    fn read(source: Source) -> u64 {
        match source {
            Source::Tsc(ticks) => ticks.start(),
            Source::Cntvct(ticks) => ticks.start(),
            Source::Monotonic(ticks) => ticks.start(),
        }
    }

    #[test]
    fn agrees_with_the_kernels_clock_over_50_ms() {
        let clock = Clock::calibrate();
        eventually(8, || {
            let (ticks, ns) = (read(clock.source()), Monotonic.start());
            while Monotonic.start() - ns < 50_000_000 {
                std::hint::spin_loop();
            }
            let (ticks_end, ns_end) = (read(clock.source()), Monotonic.start());
            let ratio = clock.ticks_to_ns(ticks_end - ticks) / (ns_end - ns) as f64;
            if (ratio - 1.0).abs() < 1e-3 { Ok(()) } else { Err(format!("ratio {ratio}")) }
        });
    }

    #[test]
    fn every_source_of_this_machine_is_monotone() {
        assert!(is_monotone(Monotonic));
        if let Ok(tsc) = Tsc::detect() {
            eventually(MONOTONE_ATTEMPTS, || is_monotone(tsc).then_some(()).ok_or(String::new()));
        }
    }

    #[test]
    fn calibration_is_sane_and_survives_the_trip_to_a_worker() {
        let clock = Clock::calibrate();
        let calibration = clock.calibration();
        assert!(calibration.ticks_per_second > 1e6, "{calibration:?}");
        assert!(calibration.precision_ticks > 0, "{calibration:?}");
        assert!(calibration.overhead_ticks_p999 >= calibration.overhead_ticks_median);
        assert!(!calibration.method.is_empty());
        let line = serde_json::to_string(calibration).expect("serialises");
        let back: Calibration = serde_json::from_str(&line).expect("parses");
        assert_eq!(&back, calibration);
        let mut worker = Clock::from_calibration(&back).expect("same machine");
        let overhead = worker.measure_overhead();
        assert_eq!(worker.calibration().overhead_ticks_median, overhead.median_ticks);
        assert!(overhead.precision_ticks > 0);
    }

    #[test]
    fn a_calibration_of_another_machine_or_without_a_rate_is_refused() {
        let good = Calibration {
            kind: ClockKind::Monotonic,
            ticks_per_second: 1e9,
            method: String::new(),
            uncertainty_ppm: 0.0,
            precision_ticks: 1,
            overhead_ticks_median: 1,
            overhead_ticks_p999: 1,
        };
        assert!(Clock::from_calibration(&good).is_ok());
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let bad = Calibration { ticks_per_second: rate, ..good.clone() };
            assert!(Clock::from_calibration(&bad).is_err(), "{rate}");
        }
        let foreign = if cfg!(target_arch = "x86_64") { ClockKind::Cntvct } else { ClockKind::Tsc };
        let refusal = Clock::from_calibration(&Calibration { kind: foreign, ..good }).unwrap_err();
        assert!(!refusal.reason.is_empty() && !refusal.remedy.is_empty());
    }

    #[test]
    fn precision_is_the_smallest_difference_that_recurs() {
        let mut steps = vec![0; 500];
        steps.extend(std::iter::repeat_n(3, 7)); // rarer than 100: a fluke
        steps.extend(std::iter::repeat_n(26, 100));
        steps.extend(std::iter::repeat_n(52, 900));
        assert_eq!(smallest_recurring(&steps, 100), 26);
        assert_eq!(smallest_recurring(&[0, 0, 5, 7, 7], 100), 7);
        assert_eq!(smallest_recurring(&[0, 0], 100), 1);
        assert_eq!(smallest_recurring(&[], 100), 1);
    }

    /// A counter driven by the reference clock at a known rate: 3 ticks per nanosecond.
    #[derive(Clone, Copy)]
    struct Threefold;

    impl TickSource for Threefold {
        const KIND: ClockKind = ClockKind::Monotonic;
        fn start(self) -> u64 {
            Monotonic.start() * 3
        }
        fn stop(self) -> u64 {
            self.start()
        }
    }

    #[test]
    fn calibration_finds_a_known_rate_and_disbelieves_a_wrong_declaration() {
        eventually(5, || {
            let right = calibrate_counter(Threefold, Some((3e9, "CPUID 15h"))).expect("moves");
            let wrong = calibrate_counter(Threefold, Some((2e9, "CPUID 15h"))).expect("moves");
            let holds = right.ticks_per_second == 3e9
                && right.method.starts_with("CPUID 15h")
                && ppm_between(wrong.ticks_per_second, 3e9) < 100.0
                && wrong.method.contains("not believed");
            if holds { Ok(()) } else { Err(format!("{} {}", right.method, wrong.method)) }
        });
    }

    #[test]
    fn a_counter_that_stands_still_is_refused() {
        #[derive(Clone, Copy)]
        struct Stopped;
        impl TickSource for Stopped {
            const KIND: ClockKind = ClockKind::Monotonic;
            fn start(self) -> u64 {
                7
            }
            fn stop(self) -> u64 {
                7
            }
        }
        assert!(calibrate_counter(Stopped, None).is_err());
    }
}
