//! From raw ticks to quantities: nanoseconds and core cycles per operation, block by block and
//! process by process. The four quantities stay four types of figure: ticks are never called
//! cycles, and core cycles exist only where the clock probe gave the core's clock.

use crate::Run;
use pqlab_protocol::{Block, ClockReport};
use pqlab_stats::quantile::median;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The figures of one block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockValue {
    /// Seconds since the run began, when the block arrived.
    pub at_s: f64,
    /// Median nanoseconds per operation, overhead subtracted.
    pub ns_per_op: f64,
    /// Steps of the clock probe's chain in one second, the median over the block's readings;
    /// `None` when the block has none.
    pub probe_steps_per_s: Option<f64>,
    /// Whether the thread was preempted or moved during the block; `None` where that cannot be seen.
    pub disturbed: Option<bool>,
    /// Seconds of the block's samples.
    pub sampled_s: f64,
    /// Nanoseconds the hypervisor took during the block, where known.
    pub steal_ns: Option<u64>,
}

impl BlockValue {
    /// The block's time in probe steps per operation: a unit that does not change when the core's
    /// clock does. Core cycles are this times the cycles of a step.
    pub fn probe_steps_per_op(&self) -> Option<f64> {
        Some(self.ns_per_op * 1e-9 * self.probe_steps_per_s?)
    }
}

/// The figures of one case in one process.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessValue {
    /// The process.
    pub process: u32,
    /// Blocks in the order they were taken.
    pub blocks: Vec<BlockValue>,
    /// Median of the block medians, nanoseconds per operation.
    pub ns_per_op: f64,
    /// Median of the block medians, probe steps per operation; `None` where the probe gave nothing.
    pub probe_steps_per_op: Option<f64>,
}

/// Nanoseconds per operation of every sample in a block, overhead subtracted, never below zero.
pub fn sample_ns(block: &Block, clock: &ClockReport) -> impl Iterator<Item = f64> {
    let calls = f64::from(block.calls_per_sample.max(1));
    let overhead = clock.overhead_ticks + clock.overhead_ticks_per_further_call * (calls - 1.0);
    let ns_per_tick = 1e9 / clock.ticks_per_second;
    block.ticks.iter().map(move |ticks| (*ticks as f64 - overhead).max(0.0) * ns_per_tick / calls)
}

/// The figures of one block; `None` for a block without samples.
pub fn block_value(block: &Block, clock: &ClockReport, at_s: f64) -> Option<BlockValue> {
    let ns_per_op = median(&sample_ns(block, clock).collect::<Vec<_>>())?;
    let rates = block.probes.iter().filter_map(|probe| {
        // The probe's own pair of clock reads is in its ticks.
        let ticks = probe.ticks as f64 - clock.overhead_ticks;
        (ticks > 0.0).then(|| probe.steps as f64 / ticks * clock.ticks_per_second)
    });
    let noise = &block.noise;
    Some(BlockValue {
        at_s,
        ns_per_op,
        probe_steps_per_s: median(&rates.collect::<Vec<_>>()),
        disturbed: match (noise.involuntary_switches, noise.migrated) {
            (None, None) => None,
            (switches, migrated) => Some(switches.unwrap_or(0) > 0 || migrated == Some(true)),
        },
        sampled_s: block.ticks.iter().map(|ticks| *ticks as f64).sum::<f64>()
            / clock.ticks_per_second,
        steal_ns: noise.steal_ns,
    })
}

/// The figures of one case in one process from its blocks; `None` without blocks.
pub fn process_value(process: u32, blocks: Vec<BlockValue>) -> Option<ProcessValue> {
    let ns_per_op = median(&blocks.iter().map(|block| block.ns_per_op).collect::<Vec<_>>())?;
    let steps: Option<Vec<f64>> = blocks.iter().map(BlockValue::probe_steps_per_op).collect();
    let probe_steps_per_op = steps.and_then(|steps| median(&steps));
    Some(ProcessValue { process, blocks, ns_per_op, probe_steps_per_op })
}

/// The (case, process) pairs of a run whose blocks count: the worker came to the end, where it proves
/// its last output, and had no fault in that case. What it says before, or before it proves wrong,
/// stays in the file and counts for nothing.
pub fn proven(run: &Run) -> HashSet<(u32, u32)> {
    let mut proven: HashSet<(u32, u32)> =
        run.measured.iter().map(|measured| (measured.case, measured.process)).collect();
    for fault in &run.faults {
        if let (Some(case), Some(process)) = (fault.case, fault.process) {
            proven.remove(&(case, process));
        }
    }
    proven
}

/// The process values of every case of a run, in the order of the plan's cases, from its
/// [`proven`] blocks.
pub fn of_run(run: &Run) -> Vec<Vec<ProcessValue>> {
    let clocks: HashMap<u32, &ClockReport> =
        run.processes.iter().map(|process| (process.process, &process.clock)).collect();
    let proven = proven(run);
    let mut blocks: Vec<BTreeMap<u32, Vec<BlockValue>>> =
        vec![BTreeMap::new(); run.header.plan.cases.len()];
    for raw in &run.blocks {
        let Some(clock) = clocks.get(&raw.process) else { continue };
        if !proven.contains(&(raw.case, raw.process)) {
            continue;
        }
        if let Some(value) = block_value(&raw.block, clock, raw.at_s) {
            blocks[raw.case as usize].entry(raw.process).or_default().push(value);
        }
    }
    blocks
        .into_iter()
        .map(|processes| {
            processes.into_iter().filter_map(|(process, b)| process_value(process, b)).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pqlab_protocol::{Noise, ProbeReading};

    fn clock() -> ClockReport {
        ClockReport {
            kind: "tsc".into(),
            ticks_per_second: 2e9,
            overhead_ticks: 50.0,
            overhead_ticks_per_further_call: 2.0,
            empty_operation_ns: 0.0,
            probe_cycles_per_step: Some(3.0),
        }
    }

    fn block(calls: u32, ticks: &[u64]) -> Block {
        Block {
            calls_per_sample: calls,
            ticks: ticks.to_vec(),
            probes: vec![ProbeReading { after_samples: 0, ticks: 16_050, steps: 8_000 }],
            noise: Noise::default(),
            counters: None,
        }
    }

    /// 20 050 ticks less 50 of overhead are 20 000 ticks, at 2 GHz 10 000 ns. The probe: 8 000 steps
    /// in 16 000 ticks = 8 µs, so 1e9 steps a second, and 10 µs are 10 000 steps.
    #[test]
    fn a_block_gives_nanoseconds_and_probe_steps() {
        let value = block_value(&block(1, &[20_050, 20_050, 90_000]), &clock(), 1.5).unwrap();
        assert_eq!(value.ns_per_op, 10_000.0);
        assert_eq!(value.probe_steps_per_s, Some(1e9));
        assert_eq!(value.probe_steps_per_op(), Some(10_000.0));
    }

    /// 10 calls cost 50 + 9 × 2 = 68 ticks of overhead: (2 068 − 68) / 10 = 200 ticks = 100 ns.
    #[test]
    fn a_batch_is_shared_out_and_its_overhead_grows_with_the_calls() {
        let value = block_value(&block(10, &[2_068]), &clock(), 0.0).unwrap();
        assert_eq!(value.ns_per_op, 100.0);
    }

    #[test]
    fn a_reading_below_the_overhead_is_zero_and_an_empty_block_is_nothing() {
        assert_eq!(block_value(&block(1, &[10]), &clock(), 0.0).unwrap().ns_per_op, 0.0);
        assert_eq!(block_value(&block(1, &[]), &clock(), 0.0), None);
        assert_eq!(process_value(0, vec![]), None);
    }
}
