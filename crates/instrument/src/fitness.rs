//! Fitness: is this machine, as it stands, fit to measure on? The doctor's table.
//!
//! A pure judgement of facts read elsewhere: it reads nothing, and above all it changes nothing.
//! Remedies are the exact commands for a person to run, or not. No verdict stops a measurement:
//! pqlab measures on shared virtual machines too, and says so beside the figures. What is not
//! known is [`Verdict::Unknown`], never `Good`.

use crate::Unavailable;
use crate::clock::{Calibration, ClockKind};
use crate::machine::{CpuQuota, Machine};
use crate::probe::ProbeSpread;
use serde::{Deserialize, Serialize};

/// Share of CPU time stolen since boot from which figures are doubtful. Our choice: at 1 % every
/// tenth block of 10 ms loses a scheduler tick of 1 ms.
const STEAL_BAD: f64 = 0.01;

/// Share of stolen time worth a word: ten times less.
const STEAL_WARNING: f64 = 0.001;

/// Load per CPU up to which a pinned worker is likely to be alone on its CPU.
const LOAD_PER_CPU_GOOD: f64 = 0.25;

/// Load per CPU from which it is certain not to be.
const LOAD_PER_CPU_BAD: f64 = 1.0;

/// CPUs' worth of time that a run needs: a worker measuring and the lab writing beside it.
const QUOTA_NEEDED_CPUS: f64 = 2.0;

/// Relative quartile distance of the clock probe on a quiet core. The probe repeats to 0.01 %
/// within one frequency bin (docs/METHODOLOGY.md); ten times that still is one bin.
const PROBE_SPREAD_GOOD: f64 = 0.001;

/// From here on the core's clock wanders by more than the lab's usual target (ε = 0.5 %).
const PROBE_SPREAD_BAD: f64 = 0.005;

/// Calibration uncertainty that stays invisible beside ε = 0.5 % (§5.1 asks for 10 ppm).
const CLOCK_UNCERTAINTY_GOOD_PPM: f64 = 10.0;

/// How a check came out, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As it should be.
    Good,
    /// Could not be read.
    Unknown,
    /// Costs precision or comparability; figures carry it.
    Warning,
    /// Spoils figures.
    Bad,
}

/// One line of the doctor's table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was checked, for instance `governor`.
    pub name: String,
    /// How it came out.
    pub verdict: Verdict,
    /// What was found, quoting the value.
    pub found: String,
    /// Why it matters for a measurement.
    pub why: String,
    /// The command or step that improves it; `None` where it is good or nothing can be done.
    pub remedy: Option<String>,
}

/// A check's outcome before it gets its name and reason.
struct Finding {
    verdict: Verdict,
    found: String,
    remedy: Option<String>,
}

impl Finding {
    fn good(found: impl Into<String>) -> Self {
        Finding { verdict: Verdict::Good, found: found.into(), remedy: None }
    }

    fn unknown(found: impl Into<String>) -> Self {
        Finding { verdict: Verdict::Unknown, found: found.into(), remedy: None }
    }

    fn warning(found: impl Into<String>, remedy: &str) -> Self {
        Finding { verdict: Verdict::Warning, found: found.into(), remedy: Some(remedy.to_owned()) }
    }

    fn bad(found: impl Into<String>, remedy: &str) -> Self {
        Finding { verdict: Verdict::Bad, found: found.into(), remedy: Some(remedy.to_owned()) }
    }

    fn check(self, name: &str, why: &str) -> Check {
        Check {
            name: name.to_owned(),
            verdict: self.verdict,
            found: self.found,
            why: why.to_owned(),
            remedy: self.remedy,
        }
    }
}

/// Judges a machine. `counters` is whether [`crate::counters::Counters::open`] worked; `probe` a
/// summary of readings taken on the CPU to be measured on.
pub fn assess(
    machine: &Machine,
    calibration: &Calibration,
    counters: Result<(), &Unavailable>,
    probe: Option<&ProbeSpread>,
) -> Vec<Check> {
    vec![
        cpus(machine).check("cpus", "the lab and the worker need a CPU each"),
        isolated(machine).check(
            "isolated CPUs",
            "an isolated CPU runs nothing that was not put there, so nothing preempts the worker",
        ),
        governor(machine).check(
            "governor",
            "a governor that follows the load changes the clock while the worker measures",
        ),
        turbo(machine).check(
            "turbo",
            "boost depends on temperature and on the other cores; the clock probe corrects for it, \
             nanoseconds remain those of the moment",
        ),
        smt(machine).check("SMT", "a sibling thread shares the core's caches and units"),
        virtualisation(machine).check(
            "virtualisation",
            "a guest sees neither its host's load nor, mostly, the core's counters and frequency",
        ),
        steal(machine).check("steal", "time taken by the hypervisor appears as slow code"),
        counters_check(counters)
            .check("counters", "core cycles and instructions tell a slow clock from slow code"),
        tick_counter(calibration)
            .check("tick counter", "every figure is a difference of two of its reads"),
        clocksource(machine).check(
            "clocksource",
            "a kernel that left the TSC for another time source has found it unreliable",
        ),
        clock_probe(probe).check("clock probe", "the spread of the core's own clock, as measured"),
        huge_pages(machine).check(
            "huge pages",
            "with `always`, whether a buffer gets huge pages is luck of the process",
        ),
        aslr(machine).check(
            "ASLR",
            "fresh layouts in each process turn the luck of one layout into a spread that shows",
        ),
        load(machine).check("load", "other work preempts the worker and shares its caches"),
        quota(machine).check(
            "CPU quota",
            "a control group that has used up its quota stands still for the rest of the period",
        ),
        swap(machine).check("swap", "a page fetched from disk costs milliseconds"),
    ]
}

fn cpus(machine: &Machine) -> Finding {
    match machine.logical_cpus {
        None => Finding::unknown("the number of CPUs cannot be read"),
        Some(0 | 1) => Finding::bad("1 CPU", "measure on a machine with at least 2 CPUs"),
        Some(count) => Finding::good(match machine.physical_cores {
            Some(cores) => format!("{count} CPUs on {cores} cores"),
            None => format!("{count} CPUs"),
        }),
    }
}

fn isolated(machine: &Machine) -> Finding {
    match (&machine.isolated_cpus, machine.logical_cpus) {
        (None, _) => Finding::unknown("the list of isolated CPUs cannot be read"),
        (Some(cpus), _) if !cpus.is_empty() => Finding::good(format!("isolated: {cpus:?}")),
        (Some(_), Some(count @ 2..)) => {
            let last = count - 1;
            Finding::warning(
                "none",
                &format!(
                    "add to the kernel's command line and reboot: isolcpus={last} \
                     nohz_full={last} rcu_nocbs={last}"
                ),
            )
        }
        (Some(_), _) => Finding::warning("none", "needs a machine with at least 2 CPUs"),
    }
}

fn governor(machine: &Machine) -> Finding {
    let found = machine.governors.join(", ");
    match machine.governors.as_slice() {
        [] => Finding::unknown("the kernel shows no frequency governor (usual in a guest)"),
        [only] if only == "performance" => Finding::good(found),
        _ => Finding::warning(
            found,
            "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
        ),
    }
}

fn turbo(machine: &Machine) -> Finding {
    let intel = machine.frequency_driver.as_deref().is_some_and(|name| name.starts_with("intel"));
    match machine.boost {
        None => Finding::unknown("the boost state cannot be read (usual in a guest)"),
        Some(false) => Finding::good("off"),
        Some(true) if intel => Finding::warning(
            "on",
            "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo",
        ),
        Some(true) => {
            Finding::warning("on", "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost")
        }
    }
}

fn smt(machine: &Machine) -> Finding {
    match (machine.smt_active, machine.virtualised) {
        (None, _) => Finding::unknown("the SMT state cannot be read"),
        (Some(true), _) => Finding::warning(
            "two threads share each core",
            "echo off | sudo tee /sys/devices/system/cpu/smt/control",
        ),
        (Some(false), Some(true)) => {
            Finding::unknown("off for this guest; its host may still share the cores")
        }
        (Some(false), _) => Finding::good("off"),
    }
}

fn virtualisation(machine: &Machine) -> Finding {
    match machine.virtualised {
        None => Finding::unknown("whether this is a virtual machine cannot be told"),
        Some(false) => Finding::good("none seen"),
        Some(true) => Finding::warning(
            format!(
                "a virtual machine ({})",
                machine.hypervisor.as_deref().unwrap_or("hypervisor unknown")
            ),
            "for figures to publish, measure on bare metal",
        ),
    }
}

fn steal(machine: &Machine) -> Finding {
    const REMEDY: &str = "use a machine with CPUs of its own (dedicated host or bare metal)";
    let Some(share) = machine.steal_share else {
        return Finding::unknown("/proc/stat shows no steal");
    };
    let found = format!("{:.2} % of the CPU time since boot", share * 100.0);
    if share >= STEAL_BAD {
        Finding::bad(found, REMEDY)
    } else if share >= STEAL_WARNING {
        Finding::warning(found, REMEDY)
    } else {
        Finding::good(found)
    }
}

fn counters_check(counters: Result<(), &Unavailable>) -> Finding {
    match counters {
        Ok(()) => Finding::good("available"),
        Err(refusal) => Finding::warning(refusal.reason.clone(), &refusal.remedy),
    }
}

fn tick_counter(calibration: &Calibration) -> Finding {
    let overhead_ns = calibration.overhead_ticks_median as f64 * 1e9 / calibration.ticks_per_second;
    let found = format!(
        "{:?}, {:.3} MHz within {:.1} ppm ({}); an empty pair takes {overhead_ns:.0} ns",
        calibration.kind,
        calibration.ticks_per_second / 1e6,
        calibration.uncertainty_ppm,
        calibration.method,
    );
    // A NaN is not a good uncertainty either.
    let steady = calibration.uncertainty_ppm <= CLOCK_UNCERTAINTY_GOOD_PPM;
    match calibration.kind {
        ClockKind::Tsc | ClockKind::Cntvct if steady => Finding::good(found),
        ClockKind::Tsc | ClockKind::Cntvct => {
            Finding::warning(found, "calibrate again on an idle machine: pqlab doctor")
        }
        ClockKind::Monotonic => Finding::warning(
            found,
            "in a virtual machine, have the host pass the invariant TSC (QEMU: -cpu \
             host,+invtsc)",
        ),
    }
}

fn clocksource(machine: &Machine) -> Finding {
    // Paravirtual clocks are read through the TSC and leave it usable.
    const STEADY: [&str; 5] =
        ["tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "xen"];
    match machine.clocksource.as_deref() {
        None => Finding::unknown("the clocksource cannot be read"),
        Some(name) if STEADY.contains(&name) => match machine.tsc_invariant {
            Some(false) => Finding::warning(
                format!("{name}, but the TSC is not declared invariant"),
                "in a virtual machine, have the host pass the invariant TSC (QEMU: -cpu \
                 host,+invtsc)",
            ),
            _ => Finding::good(name),
        },
        Some(name) => Finding::bad(name, "see why: sudo dmesg | grep -i -e tsc -e clocksource"),
    }
}

fn clock_probe(probe: Option<&ProbeSpread>) -> Finding {
    const REMEDY: &str = "let the machine settle; see what runs: ps -eo pcpu,pid,comm --sort=-pcpu \
         | head";
    let Some(spread) = probe else { return Finding::unknown("not run") };
    let rate = match spread.median_core_hz() {
        Some(hz) => format!("core at {:.3} GHz", hz / 1e9),
        None => format!("{:.1} million steps/s", spread.median_steps_per_second / 1e6),
    };
    let found = format!(
        "{rate}, quartiles {:.3} % apart over {} readings",
        spread.relative_iqr * 100.0,
        spread.readings
    );
    if spread.relative_iqr <= PROBE_SPREAD_GOOD {
        Finding::good(found)
    } else if spread.relative_iqr <= PROBE_SPREAD_BAD {
        Finding::warning(found, REMEDY)
    } else {
        Finding::bad(found, REMEDY)
    }
}

fn huge_pages(machine: &Machine) -> Finding {
    match machine.transparent_huge_pages.as_deref() {
        None => Finding::unknown("the mode cannot be read"),
        Some("always") => Finding::warning(
            "always",
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        ),
        Some(mode @ ("madvise" | "never")) => Finding::good(mode),
        Some(mode) => Finding::unknown(format!("an unknown mode, {mode}")),
    }
}

fn aslr(machine: &Machine) -> Finding {
    const REMEDY: &str = "sudo sysctl kernel.randomize_va_space=2";
    match machine.aslr {
        None => Finding::unknown("kernel.randomize_va_space cannot be read"),
        Some(2) => Finding::good("full"),
        Some(1) => Finding::warning("without the heap (1)", REMEDY),
        Some(0) => Finding::warning("off (0)", REMEDY),
        Some(level) => Finding::unknown(format!("an unknown level, {level}")),
    }
}

fn load(machine: &Machine) -> Finding {
    const REMEDY: &str = "see what runs, and stop it: ps -eo pcpu,pid,comm --sort=-pcpu | head";
    let (Some([one_minute, ..]), Some(cpus @ 1..)) = (machine.load_averages, machine.logical_cpus)
    else {
        return Finding::unknown("the load cannot be read");
    };
    let found = format!("{one_minute:.2} over the last minute, on {cpus} CPUs");
    let per_cpu = one_minute / f64::from(cpus);
    if per_cpu <= LOAD_PER_CPU_GOOD {
        Finding::good(found)
    } else if per_cpu <= LOAD_PER_CPU_BAD {
        Finding::warning(found, REMEDY)
    } else {
        Finding::bad(found, REMEDY)
    }
}

fn quota(machine: &Machine) -> Finding {
    const REMEDY: &str = "run outside the container, or lift the limit: docker update --cpus 0 \
         <container>, or for systemd: systemctl set-property <unit> CPUQuota=";
    match machine.cpu_quota {
        None => Finding::unknown("the control group's limit cannot be read"),
        Some(CpuQuota::Unlimited) => Finding::good("none"),
        Some(CpuQuota::Cpus(cpus)) if cpus < QUOTA_NEEDED_CPUS => {
            Finding::bad(format!("{cpus:.2} CPUs' worth of time"), REMEDY)
        }
        Some(CpuQuota::Cpus(cpus)) => {
            Finding::warning(format!("{cpus:.2} CPUs' worth of time"), REMEDY)
        }
    }
}

fn swap(machine: &Machine) -> Finding {
    match (machine.swap_total_bytes, machine.swap_used_bytes) {
        (Some(0), _) => Finding::good("none configured"),
        (Some(_), Some(0)) => Finding::good("none in use"),
        (Some(_), Some(used)) => {
            Finding::warning(format!("{} MiB in use", used >> 20), "sudo swapoff -a")
        }
        _ => Finding::unknown("the use of swap cannot be read"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bare metal, set up by the book.
    fn good_machine() -> Machine {
        Machine {
            logical_cpus: Some(8),
            physical_cores: Some(8),
            isolated_cpus: Some(vec![6, 7]),
            governors: vec!["performance".to_owned()],
            frequency_driver: Some("intel_pstate".to_owned()),
            boost: Some(false),
            smt_active: Some(false),
            virtualised: Some(false),
            steal_share: Some(0.0),
            clocksource: Some("tsc".to_owned()),
            tsc_invariant: Some(true),
            transparent_huge_pages: Some("madvise".to_owned()),
            aslr: Some(2),
            load_averages: Some([0.1, 0.1, 0.1]),
            cpu_quota: Some(CpuQuota::Unlimited),
            swap_total_bytes: Some(1 << 30),
            swap_used_bytes: Some(0),
            ..Machine::default()
        }
    }

    fn good_calibration() -> Calibration {
        Calibration {
            kind: ClockKind::Tsc,
            ticks_per_second: 2.6e9,
            method: "CPUID 15h".to_owned(),
            uncertainty_ppm: 1.0,
            precision_ticks: 26,
            overhead_ticks_median: 52,
            overhead_ticks_p999: 78,
        }
    }

    const GOOD_PROBE: ProbeSpread =
        ProbeSpread { readings: 100, median_steps_per_second: 1e9, relative_iqr: 0.0002 };

    fn verdict_of(checks: &[Check], name: &str) -> Check {
        checks.iter().find(|check| check.name == name).expect("the check exists").clone()
    }

    fn assess_machine(machine: &Machine) -> Vec<Check> {
        assess(machine, &good_calibration(), Ok(()), Some(&GOOD_PROBE))
    }

    #[test]
    fn a_good_machine_is_good_throughout() {
        for check in assess_machine(&good_machine()) {
            assert_eq!(check.verdict, Verdict::Good, "{check:?}");
            assert_eq!(check.remedy, None, "{check:?}");
            assert!(!check.found.is_empty() && !check.why.is_empty(), "{check:?}");
        }
    }

    #[test]
    fn a_machine_of_which_nothing_is_known_is_unknown_and_never_good() {
        let refusal = Unavailable::new("hardware counters", "no PMU", "use bare metal");
        let checks = assess(&Machine::default(), &good_calibration(), Err(&refusal), None);
        for check in checks.iter().filter(|check| check.name != "tick counter") {
            let expected = match check.name.as_str() {
                "counters" => Verdict::Warning,
                _ => Verdict::Unknown,
            };
            assert_eq!(check.verdict, expected, "{check:?}");
        }
    }

    /// Each row spoils one fact of the good machine and must turn exactly that check.
    #[test]
    fn each_bad_fact_turns_its_own_check_and_no_other() {
        type Spoil = fn(&mut Machine);
        let rows: &[(&str, Verdict, Spoil)] = &[
            ("cpus", Verdict::Bad, |m| (m.logical_cpus, m.physical_cores) = (Some(1), Some(1))),
            ("isolated CPUs", Verdict::Warning, |m| m.isolated_cpus = Some(vec![])),
            ("governor", Verdict::Warning, |m| m.governors = vec!["powersave".to_owned()]),
            ("governor", Verdict::Warning, |m| m.governors.push("schedutil".to_owned())),
            ("turbo", Verdict::Warning, |m| m.boost = Some(true)),
            ("SMT", Verdict::Warning, |m| m.smt_active = Some(true)),
            ("steal", Verdict::Warning, |m| m.steal_share = Some(0.005)),
            ("steal", Verdict::Bad, |m| m.steal_share = Some(0.02)),
            ("clocksource", Verdict::Bad, |m| m.clocksource = Some("hpet".to_owned())),
            ("clocksource", Verdict::Warning, |m| m.tsc_invariant = Some(false)),
            ("huge pages", Verdict::Warning, |m| {
                m.transparent_huge_pages = Some("always".to_owned());
            }),
            ("ASLR", Verdict::Warning, |m| m.aslr = Some(0)),
            ("ASLR", Verdict::Warning, |m| m.aslr = Some(1)),
            ("load", Verdict::Warning, |m| m.load_averages = Some([4.0, 0.0, 0.0])),
            ("load", Verdict::Bad, |m| m.load_averages = Some([9.0, 0.0, 0.0])),
            ("CPU quota", Verdict::Bad, |m| m.cpu_quota = Some(CpuQuota::Cpus(1.5))),
            ("CPU quota", Verdict::Warning, |m| m.cpu_quota = Some(CpuQuota::Cpus(4.0))),
            ("swap", Verdict::Warning, |m| m.swap_used_bytes = Some(5 << 20)),
        ];
        for (name, verdict, spoil) in rows {
            let mut machine = good_machine();
            spoil(&mut machine);
            for check in assess_machine(&machine) {
                let expected = if check.name == *name { *verdict } else { Verdict::Good };
                assert_eq!(check.verdict, expected, "spoiling {name}: {check:?}");
                assert_eq!(check.remedy.is_some(), check.name == *name, "{check:?}");
            }
        }
    }

    #[test]
    fn a_guest_is_warned_of_and_its_smt_is_not_believed() {
        let machine = Machine {
            virtualised: Some(true),
            hypervisor: Some("KVM".to_owned()),
            ..good_machine()
        };
        let checks = assess_machine(&machine);
        let virtualisation = verdict_of(&checks, "virtualisation");
        assert_eq!(virtualisation.verdict, Verdict::Warning);
        assert!(virtualisation.found.contains("KVM"));
        assert_eq!(verdict_of(&checks, "SMT").verdict, Verdict::Unknown);
    }

    #[test]
    fn counters_clock_and_probe_turn_too() {
        let machine = good_machine();
        let refusal = Unavailable::new("hardware counters", "no PMU", "use bare metal");
        let checks = assess(&machine, &good_calibration(), Err(&refusal), Some(&GOOD_PROBE));
        let counters = verdict_of(&checks, "counters");
        assert_eq!((counters.verdict, counters.found.as_str()), (Verdict::Warning, "no PMU"));
        assert_eq!(counters.remedy.as_deref(), Some("use bare metal"));

        for calibration in [
            Calibration { kind: ClockKind::Monotonic, ..good_calibration() },
            Calibration { uncertainty_ppm: 50.0, ..good_calibration() },
            Calibration { uncertainty_ppm: f64::NAN, ..good_calibration() },
        ] {
            let checks = assess(&machine, &calibration, Ok(()), Some(&GOOD_PROBE));
            assert_eq!(verdict_of(&checks, "tick counter").verdict, Verdict::Warning);
        }

        for (relative_iqr, verdict) in
            [(0.003, Verdict::Warning), (0.02, Verdict::Bad), (f64::NAN, Verdict::Bad)]
        {
            let probe = ProbeSpread { relative_iqr, ..GOOD_PROBE };
            let checks = assess(&machine, &good_calibration(), Ok(()), Some(&probe));
            assert_eq!(verdict_of(&checks, "clock probe").verdict, verdict, "{relative_iqr}");
        }
    }

    #[test]
    fn the_turbo_remedy_fits_the_driver() {
        let mut machine = Machine { boost: Some(true), ..good_machine() };
        let remedy = |machine: &Machine| {
            verdict_of(&assess_machine(machine), "turbo").remedy.expect("a remedy")
        };
        assert!(remedy(&machine).contains("no_turbo"));
        machine.frequency_driver = Some("acpi-cpufreq".to_owned());
        assert!(remedy(&machine).contains("cpufreq/boost"));
    }

    #[test]
    fn verdicts_are_ordered_from_best_to_worst() {
        assert!(Verdict::Good < Verdict::Unknown && Verdict::Warning < Verdict::Bad);
    }
}
