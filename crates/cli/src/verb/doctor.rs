//! `pqlab doctor`: is this machine fit to measure, and what would make it fitter. Reads only.

use crate::options::DoctorOptions;
use crate::{exit, screen};
use pqlab_instrument::clock::{Clock, Source, TickSource};
use pqlab_instrument::counters::Counters;
use pqlab_instrument::fitness::{Check, Verdict, assess};
use pqlab_instrument::machine::Machine;
use pqlab_instrument::probe::{ClockProbe, ProbeReading, ProbeSpread};
use pqlab_report::text::{Role, left, wrapped};

/// Readings of the clock probe behind its spread: 25 ms of them.
const PROBE_READINGS: usize = 1_000;

pub fn run(options: &DoctorOptions) -> anyhow::Result<u8> {
    let machine = Machine::read();
    let clock = Clock::calibrate();
    let counters = Counters::open();
    let spread = probe_spread(&clock);
    let checks =
        assess(&machine, clock.calibration(), counters.as_ref().map(|_| ()), spread.as_ref());
    if options.json {
        super::print_json(&checks)?;
    } else {
        screen::print(&render(&machine, &checks, screen::columns()))?;
    }
    Ok(exit::FINE)
}

fn probe_spread(clock: &Clock) -> Option<ProbeSpread> {
    fn readings<T: TickSource>(ticks: T) -> Vec<ProbeReading> {
        let probe = ClockProbe::default();
        (0..PROBE_READINGS).map(|_| probe.run(ticks)).collect()
    }
    let readings = match clock.source() {
        Source::Tsc(ticks) => readings(ticks),
        Source::Cntvct(ticks) => readings(ticks),
        Source::Monotonic(ticks) => readings(ticks),
    };
    ProbeSpread::of(&readings, clock.calibration().ticks_per_second)
}

const NAME_WIDTH: usize = 16;

fn render(machine: &Machine, checks: &[Check], columns: usize) -> String {
    let cpu = machine.cpu_model_name.as_deref().unwrap_or("unnamed CPU");
    let kernel = machine.kernel_release.as_deref().unwrap_or("unknown kernel");
    let mut text = format!("\n{}  {kernel}\n\n", Role::Heading.paint(cpu));
    for check in checks {
        let (mark, role) = match check.verdict {
            Verdict::Good => ("good", Role::Good),
            Verdict::Unknown => ("unknown", Role::Dim),
            Verdict::Warning => ("warning", Role::Warning),
            Verdict::Bad => ("bad", Role::Bad),
        };
        let indent = " ".repeat(8 + NAME_WIDTH + 1);
        let head = format!("{}{} ", role.paint(&left(mark, 8)), left(&check.name, NAME_WIDTH));
        let found = wrapped(&check.found, columns, &indent);
        text.push_str(&format!("{head}{}", found.trim_start()));
        if check.verdict != Verdict::Good {
            text.push_str(&Role::Dim.paint(&wrapped(&check.why, columns, &indent)));
            if let Some(remedy) = &check.remedy {
                text.push_str(&wrapped(&format!("remedy: {remedy}"), columns, &indent));
            }
        }
    }
    let count = |verdict| checks.iter().filter(|check| check.verdict == verdict).count();
    let (bad, warnings) = (count(Verdict::Bad), count(Verdict::Warning));
    let sentence = match (bad, warnings) {
        (0, 0) => "This machine is fit to measure.".to_owned(),
        (0, n) => format!("Fit to measure, with {n} reservations named above."),
        (b, n) => format!(
            "Not fit for figures to publish: {b} bad, {n} doubtful. Rankings within one run are \
             still sound where intervals do not overlap."
        ),
    };
    text.push('\n');
    text.push_str(&wrapped(&sentence, columns, ""));
    text
}
