//! The timing loop: warm up, choose how many calls make a sample, take samples in blocks with the
//! clock probe between them, and say what disturbed each block.
//!
//! The rules and their reasons are in docs/METHODOLOGY.md. Samples are raw counter differences:
//! nothing is subtracted, averaged or dropped here.

use crate::job::Job;
use crate::{Failure, Outcome};
use pqlab_instrument::clock::TickSource;
use pqlab_instrument::counters::{Counters, Event};
use pqlab_instrument::noise::NoiseReader;
use pqlab_instrument::probe::ClockProbe;
use pqlab_protocol::{Block, ClockReport, MeasureRequest, Measured, Noise, ProbeReading};
use std::collections::BTreeMap;

/// A call shorter than this is timed several at a time: about 200 times the clock's overhead and
/// granularity, so that neither exceeds 0.5 % of a sample. A batch is made no longer than that:
/// preemption spoils long samples (run-to-run spread 17 to 35 % with 1 to 100 ms, 3.4 % with single
/// calls).
const SHORT_CALL_NS: f64 = 5_000.0;

/// Samples a window of the warm-up holds, and of a block at most: keeps a block's line small.
const WARM_UP_WINDOW: usize = 20;
const MAX_SAMPLES_IN_BLOCK: usize = 4_000;

/// Time of samples between two readings of the clock probe, and the probe's steps: 8 µs of probe
/// in every 1 ms, under 1 % of the time, catches frequency steps inside a block.
const PROBE_INTERVAL_NS: f64 = 1_000_000.0;
const PROBE_STEPS: u64 = 8_000;

/// The warm-up is over when two successive windows agree: quartiles within 5 %, median absolute
/// deviation within 10 % of the median (pyperf's rule, its first-value test included below).
const QUARTILE_TOLERANCE: f64 = 0.05;
const DEVIATION_TOLERANCE: f64 = 0.10;

/// The shortest warm-up: caches, branch predictors and the core's clock settle in this time.
const SHORTEST_WARM_UP_NS: f64 = 10_000_000.0;

/// Calls of the warm-up take their inputs from here on in the list, so that measured calls always
/// begin at its head.
const WARM_UP_INDEX: u64 = 1 << 40;

/// What the loop needs to know of its surroundings.
pub(crate) struct Surroundings<'a, T: TickSource> {
    pub ticks: T,
    pub clock: &'a ClockReport,
    pub noise: &'a NoiseReader,
    pub counters: Option<&'a mut Counters>,
}

/// Times `job` as `request` asks; each finished block goes to `emit`.
pub(crate) fn run<T: TickSource>(
    around: &mut Surroundings<'_, T>,
    job: &mut dyn Job,
    request: &MeasureRequest,
    varies: bool,
    emit: &mut dyn FnMut(Block) -> Outcome<()>,
) -> Outcome<Measured> {
    let ticks_per_ns = around.clock.ticks_per_second / 1e9;
    let warm_up = warm_up(around.ticks, job, request, varies, ticks_per_ns)?;
    let calls = calls_per_sample(warm_up.typical_ns_per_call);
    let max_ticks = request.max_ns as f64 * ticks_per_ns;
    let begun = around.ticks.start();
    let mut index = 0;
    let mut blocks = 0;
    while blocks < request.blocks {
        let spent = around.ticks.stop().wrapping_sub(begun) as f64;
        if blocks > 0 && spent > max_ticks {
            break;
        }
        let block = block(around, job, request, calls, &mut index)?;
        emit(block)?;
        blocks += 1;
    }
    job.prove()?;
    Ok(Measured {
        blocks,
        steady: warm_up.steady,
        warm_up_calls: warm_up.calls,
        inputs: job.inputs() as u32,
    })
}

/// One sample: the only code between the two readings of the clock is the job's calls.
#[inline(never)]
fn sample<T: TickSource>(ticks: T, job: &mut dyn Job, calls: usize) -> u64 {
    let start = ticks.start();
    for call in 0..calls {
        job.call(call);
    }
    ticks.stop().wrapping_sub(start)
}

fn block<T: TickSource>(
    around: &mut Surroundings<'_, T>,
    job: &mut dyn Job,
    request: &MeasureRequest,
    calls: usize,
    index: &mut u64,
) -> Outcome<Block> {
    let ticks_per_ns = around.clock.ticks_per_second / 1e9;
    let block_ticks = (request.block_ns as f64 * ticks_per_ns) as u64;
    let probe_interval_ticks = (PROBE_INTERVAL_NS * ticks_per_ns) as u64;
    let probe = ClockProbe::new(PROBE_STEPS);
    let mut samples = Vec::with_capacity(MAX_SAMPLES_IN_BLOCK);
    let mut probes = Vec::new();
    let mut sampled_ticks = 0;
    let mut ticks_since_probe = u64::MAX;
    let mut totals = BTreeMap::new();
    let before = around.noise.take();
    while samples.is_empty() || sampled_ticks < block_ticks && samples.len() < MAX_SAMPLES_IN_BLOCK
    {
        if ticks_since_probe >= probe_interval_ticks {
            probes.push(read_probe(&probe, around.ticks, samples.len()));
            ticks_since_probe = 0;
        }
        job.stage(*index, calls);
        let counted = around.counters.as_mut().and_then(|counters| counters.read().ok());
        let ticks = sample(around.ticks, job, calls);
        if let (Some(counters), Some(before)) = (&mut around.counters, counted)
            && let Some(counts) = counters.read().ok().and_then(|after| after.since(&before))
        {
            for (event, count) in counts.values {
                *totals.entry(event_name(event).to_owned()).or_insert(0) += count;
            }
        }
        job.settle()?;
        *index += calls as u64;
        samples.push(ticks);
        sampled_ticks += ticks;
        ticks_since_probe += ticks;
    }
    probes.push(read_probe(&probe, around.ticks, samples.len()));
    Ok(Block {
        calls_per_sample: calls as u32,
        ticks: samples,
        probes,
        noise: noise_message(&around.noise.take().since(&before)),
        counters: (!totals.is_empty()).then_some(totals),
    })
}

fn event_name(event: Event) -> &'static str {
    match event {
        Event::Cycles => "core-cycles",
        Event::Instructions => "instructions",
        Event::RefCycles => "reference-cycles",
        Event::Branches => "branches",
        Event::BranchMisses => "branch-misses",
        Event::CacheMisses => "cache-misses",
    }
}

fn noise_message(noise: &pqlab_instrument::noise::Noise) -> Noise {
    Noise {
        voluntary_switches: noise.voluntary_switches,
        involuntary_switches: noise.involuntary_switches,
        minor_faults: noise.minor_faults,
        major_faults: noise.major_faults,
        migrated: noise.migrated(),
        run_delay_ns: noise.run_delay_ns,
        steal_ns: noise.steal_ns,
    }
}

fn read_probe<T: TickSource>(probe: &ClockProbe, ticks: T, samples: usize) -> ProbeReading {
    let reading = probe.run(ticks);
    ProbeReading { after_samples: samples as u32, ticks: reading.ticks, steps: reading.steps }
}

struct WarmUp {
    steady: bool,
    calls: u64,
    typical_ns_per_call: f64,
}

/// Runs the job until its time has settled. A job that varies by design never settles by the
/// window rule; it gets the shortest warm-up and counts as steady.
fn warm_up<T: TickSource>(
    ticks: T,
    job: &mut dyn Job,
    request: &MeasureRequest,
    varies: bool,
    ticks_per_ns: f64,
) -> Outcome<WarmUp> {
    let shortest = SHORTEST_WARM_UP_NS.min(request.warm_up_ns as f64) * ticks_per_ns;
    let longest = request.warm_up_ns as f64 * ticks_per_ns;
    let mut calls = 0;
    let mut spent = 0.0;
    let mut previous: Option<Window> = None;
    loop {
        let mut window = Vec::with_capacity(WARM_UP_WINDOW);
        while window.len() < WARM_UP_WINDOW && (window.is_empty() || spent < longest) {
            // Short calls are warmed in runs, so that a window is not over in microseconds.
            let run = previous.as_ref().map_or(1, |w| calls_per_sample(w.median / ticks_per_ns));
            job.stage(WARM_UP_INDEX + calls, run);
            let sampled = sample(ticks, job, run);
            job.settle()?;
            calls += run as u64;
            spent += sampled as f64;
            window.push(sampled as f64 / run as f64);
        }
        let window = Window::of(window);
        let settled = varies || previous.as_ref().is_some_and(|p| window.agrees_with(p));
        let steady = spent >= shortest && settled;
        if steady || spent >= longest {
            let typical_ns_per_call = window.median / ticks_per_ns;
            // One call longer than the whole warm-up has nothing to settle.
            let one_call_suffices = window.count == 1;
            return Ok(WarmUp { steady: steady || one_call_suffices, calls, typical_ns_per_call });
        }
        previous = Some(window);
    }
}

/// Calls to time together so that a sample is long enough for the clock and short enough to dodge
/// preemption.
fn calls_per_sample(ns_per_call: f64) -> usize {
    if ns_per_call >= SHORT_CALL_NS {
        return 1;
    }
    (SHORT_CALL_NS / ns_per_call.max(0.1)).ceil() as usize
}

struct Window {
    count: usize,
    first: f64,
    first_quartile: f64,
    median: f64,
    third_quartile: f64,
    deviation: f64,
}

impl Window {
    fn of(values: Vec<f64>) -> Window {
        let first = values[0];
        let mut sorted = values;
        sorted.sort_by(f64::total_cmp);
        let at = |p: f64| sorted[((sorted.len() - 1) as f64 * p).round() as usize];
        let median = at(0.5);
        let mut deviations: Vec<f64> = sorted.iter().map(|v| (v - median).abs()).collect();
        deviations.sort_by(f64::total_cmp);
        Window {
            count: sorted.len(),
            first,
            first_quartile: at(0.25),
            median,
            third_quartile: at(0.75),
            deviation: deviations[deviations.len() / 2],
        }
    }

    fn agrees_with(&self, previous: &Window) -> bool {
        let close = |a: f64, b: f64, tolerance: f64| (a - b).abs() <= tolerance * self.median;
        let spread = self.third_quartile - self.first_quartile;
        close(self.first_quartile, previous.first_quartile, QUARTILE_TOLERANCE)
            && close(self.third_quartile, previous.third_quartile, QUARTILE_TOLERANCE)
            && close(self.deviation, previous.deviation, DEVIATION_TOLERANCE)
            && self.first <= self.third_quartile + 1.5 * spread + QUARTILE_TOLERANCE * self.median
    }
}

/// A job that does nothing, to measure what the loop itself costs.
pub(crate) struct EmptyJob;

impl Job for EmptyJob {
    fn stage(&mut self, _index: u64, _calls: usize) {}
    fn call(&mut self, _call: usize) {}
    fn settle(&mut self) -> Outcome<()> {
        Ok(())
    }
    fn prove(&mut self) -> Outcome<()> {
        Ok(())
    }
    fn inputs(&self) -> usize {
        0
    }
}

/// Samples of the empty job behind each overhead figure, and the calls of a sample that shows what
/// a further call adds.
const OVERHEAD_SAMPLES: usize = 5_000;
const OVERHEAD_CALLS: usize = 100;

/// What the loop costs on this clock: ticks of one empty call, ticks of each further one, and what
/// a second measurement of the empty call reads after subtracting the first, in ticks.
pub(crate) fn overhead<T: TickSource>(ticks: T) -> (f64, f64, f64) {
    let mut job = EmptyJob;
    let mut mean_of_middle = |calls: usize, samples: usize| {
        let mut values: Vec<u64> =
            (0..samples).map(|_| sample(ticks, std::hint::black_box(&mut job), calls)).collect();
        values.sort_unstable();
        // The mean of the middle half resolves fractions of a tick, which a median cannot.
        let middle = &values[samples / 4..samples - samples / 4];
        middle.iter().sum::<u64>() as f64 / middle.len() as f64
    };
    mean_of_middle(1, OVERHEAD_SAMPLES / 5);
    let one = mean_of_middle(1, OVERHEAD_SAMPLES);
    let many = mean_of_middle(OVERHEAD_CALLS, OVERHEAD_SAMPLES / 5);
    let per_further_call = ((many - one) / (OVERHEAD_CALLS - 1) as f64).max(0.0);
    let residual = mean_of_middle(1, OVERHEAD_SAMPLES) - one;
    (one, per_further_call, residual)
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure(format!("the lab hung up: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_calls_are_batched_and_long_ones_never() {
        assert_eq!(calls_per_sample(30_000.0), 1);
        assert_eq!(calls_per_sample(5_000.0), 1);
        assert_eq!(calls_per_sample(100.0), 50);
        assert_eq!(calls_per_sample(0.0), 50_000);
    }

    #[test]
    fn windows_agree_only_when_settled() {
        let flat = Window::of(vec![100.0; 20]);
        assert!(flat.agrees_with(&Window::of(vec![101.0; 20])));
        assert!(!flat.agrees_with(&Window::of(vec![120.0; 20])));
        let mut spiked = vec![100.0; 20];
        spiked[0] = 200.0;
        assert!(!Window::of(spiked).agrees_with(&flat), "the first value still stands out");
    }
}
