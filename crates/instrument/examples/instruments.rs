//! Shows what every instrument reads on this machine, and what reading costs.
//!
//! `cargo run --release -p pqlab-instrument --example instruments`

use pqlab_instrument::affinity;
use pqlab_instrument::clock::{Clock, Source, TickSource};
use pqlab_instrument::counters::{Counters, Event};
use pqlab_instrument::fitness;
use pqlab_instrument::machine::Machine;
use pqlab_instrument::noise::NoiseReader;
use pqlab_instrument::probe::{ClockProbe, ProbeReading, ProbeSpread};

/// Repetitions behind each cost and spread shown.
const REPETITIONS: usize = 5_000;

fn main() {
    let machine = Machine::read();
    println!("{machine:#?}\n");
    match affinity::best_measuring_cpu() {
        Ok(choice) => {
            println!("measuring on CPU {} ({})", choice.cpu, choice.reason);
            if let Err(refusal) = affinity::pin_self(choice.cpu) {
                println!("{refusal}");
            }
        }
        Err(refusal) => println!("{refusal}"),
    }
    let mut clock = Clock::calibrate();
    clock.measure_overhead();
    println!("{:#?}\n", clock.calibration());
    let spread = match clock.source() {
        Source::Tsc(ticks) => show(ticks, &clock),
        Source::Cntvct(ticks) => show(ticks, &clock),
        Source::Monotonic(ticks) => show(ticks, &clock),
    };
    let counters = Counters::open().and_then(|mut counters| {
        let before = counters.read()?;
        ClockProbe::default().run(pqlab_instrument::clock::Monotonic);
        if let Some(counts) = counters.read()?.since(&before) {
            println!("cycles of one probe: {:?}, {counts:?}", counts.get(Event::Cycles));
        }
        Ok(())
    });
    let counters = counters.as_ref().map(|_| ());
    for check in fitness::assess(&machine, clock.calibration(), counters, spread.as_ref()) {
        println!("{:<8} {:<14} {}", format!("{:?}", check.verdict), check.name, check.found);
        if let Some(remedy) = check.remedy {
            println!("{:24}-> {remedy}", "");
        }
    }
}

/// Shows the probe's repeatability and the cost of a noise snapshot.
fn show<T: TickSource>(ticks: T, clock: &Clock) -> Option<ProbeSpread> {
    let probe = ClockProbe::default();
    let readings: Vec<ProbeReading> = (0..REPETITIONS).map(|_| probe.run(ticks)).collect();
    let ticks_per_second = clock.calibration().ticks_per_second;
    let spread = ProbeSpread::of(&readings, ticks_per_second);
    println!("probe of {} steps: {spread:?}", probe.steps());
    let of_probe = readings.iter().map(|reading| reading.ticks).collect();
    println!("  one run takes {}", quantiles(of_probe, clock));

    let noise = NoiseReader::new();
    let before = noise.take();
    let costs = (0..REPETITIONS)
        .map(|_| {
            let start = ticks.start();
            std::hint::black_box(noise.take());
            ticks.stop().wrapping_sub(start)
        })
        .collect();
    let during = noise.take().since(&before);
    println!("noise snapshot takes {}", quantiles(costs, clock));
    println!("  meanwhile: {:?} {during:?}\n", during.words());
    spread
}

fn quantiles(mut ticks: Vec<u64>, clock: &Clock) -> String {
    ticks.sort_unstable();
    let at = |permille: usize| clock.ticks_to_ns(ticks[(ticks.len() - 1) * permille / 1000]) / 1e3;
    format!("{:.2} µs (p5 {:.2}, p95 {:.2}, p99.9 {:.2})", at(500), at(50), at(950), at(999))
}
