//! `pqlab run`: measure a selection, print its table.

use super::{message_clock, worker_folder};
use crate::exit::{self, Usage};
use crate::options::RunOptions;
use crate::screen;
use anyhow::Context;
use pqlab_instrument::clock::{Calibration, Clock};
use pqlab_instrument::machine::Machine;
use pqlab_lab::{Discovery, Event, Limits, Outcome, Placement, PlanError, Setting, Watcher};
use pqlab_report::figures::grouped;
use pqlab_report::{Results, table};
use pqlab_runfile::{Case, FORMAT, FaultKind, Header, Plan, Run, RunWriter, VERSION};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

pub fn run(options: &RunOptions) -> anyhow::Result<u8> {
    let folder = worker_folder(&options.workers)?;
    let stop = stop_on_interrupt()?;
    let placement = Placement::choose();
    let limits = Limits::default();

    let (header, mut writer, resumed, discovery) = match &options.resume {
        Some(path) => {
            let (run, writer) = RunWriter::resume(path)?;
            let discovery = discover(&folder, &run.header.clock, &run.header.plan, &limits);
            (run.header.clone(), writer, Some(run), discovery)
        }
        None => {
            let (header, discovery) = prepare(options, &folder, &placement, &limits)?;
            let writer = RunWriter::create(&output_path(options)?, header.clone())?;
            (header, writer, None, discovery)
        }
    };
    for unusable in &discovery.unusable {
        let kind = unusable.kind.words();
        anstream::eprintln!("pqlab: worker {} {kind}: {}", unusable.worker, unusable.detail);
    }

    let path = writer.path().to_owned();
    announce(&header, &placement, &path, resumed.is_some());
    let clock = message_clock(&header.clock);
    let setting = Setting {
        offers: &discovery.offers,
        placement: &placement,
        clock: &clock,
        limits: &limits,
        stop: &stop,
    };
    let mut progress = Progress::new(&header.plan);
    let outcome = pqlab_lab::run(&setting, &header, resumed.as_ref(), &mut writer, &mut progress);
    progress.finish();
    let outcome = outcome?;

    let results = Results::of(&Run::read(&path)?);
    if options.json {
        super::print_json(&results)?;
    } else {
        screen::print(&table::render(&results, screen::columns()))?;
    }
    if outcome == Outcome::Interrupted {
        let path = path.display();
        anstream::eprintln!(
            "Stopped; nothing measured is lost. To go on: pqlab run --resume {path}"
        );
        return Ok(exit::ERROR);
    }
    let packed = writer.pack()?;
    anstream::eprintln!("Raw samples: {}", packed.display());
    Ok(verdict(&results))
}

/// The exit code that the results deserve.
fn verdict(results: &Results) -> u8 {
    let (measured, doubtful) = results.trust();
    if results.faults.iter().any(|fault| fault.kind == FaultKind::GateFailed) {
        exit::CHECK_FAILED
    } else if measured == 0 {
        exit::ERROR
    } else if doubtful * 2 > measured {
        exit::NOT_TRUSTWORTHY
    } else {
        exit::FINE
    }
}

fn prepare(
    options: &RunOptions,
    folder: &Path,
    placement: &Placement,
    limits: &Limits,
) -> anyhow::Result<(Header, Discovery)> {
    let selection = options.selection.resolve()?;
    let machine = Machine::read();
    let clock = Clock::calibrate().calibration().clone();
    let discovery = pqlab_lab::discover(folder, &[], &message_clock(&clock), limits);
    if discovery.offers.is_empty() {
        let folder = folder.display();
        anyhow::bail!("there is no usable worker in {folder}; ./pqlab run builds what it needs");
    }
    let cases = pqlab_lab::cases(&selection, &discovery.offers).map_err(|error| match error {
        PlanError::UnknownImplementation { .. } => anyhow::Error::new(Usage(error.to_string())),
        PlanError::NothingOffered(_) => anyhow::Error::new(error),
    })?;
    let budget_s = options.budget.unwrap_or(pqlab_lab::default_budget_s(cases.len()));
    let header = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        pqlab: env!("CARGO_PKG_VERSION").to_owned(),
        started_unix_s: unix_seconds(SystemTime::now()),
        selection: options.selection.words(),
        plan: pqlab_lab::plan(cases, budget_s, options.precision, options.seed),
        machine,
        clock,
        pinned_cpu: placement.measuring_cpu,
        pinning: placement.reason.clone(),
    };
    Ok((header, discovery))
}

/// The workers that a resumed plan needs.
fn discover(folder: &Path, clock: &Calibration, plan: &Plan, limits: &Limits) -> Discovery {
    let mut workers: Vec<String> = plan.cases.iter().map(|case| case.worker.clone()).collect();
    workers.sort();
    workers.dedup();
    pqlab_lab::discover(folder, &workers, &message_clock(clock), limits)
}

fn unix_seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn output_path(options: &RunOptions) -> anyhow::Result<PathBuf> {
    if let Some(path) = &options.output {
        return Ok(path.clone());
    }
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string().replace(':', "-");
    let here = std::env::current_dir().context("cannot tell the current folder")?;
    Ok(here.join("runs").join(format!("{now}.pqlab.jsonl")))
}

/// A flag that the first Ctrl-C sets; the second ends the program at once, losing nothing that a
/// block had brought.
fn stop_on_interrupt() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(exit::ERROR));
        }
    })
    .context("cannot catch Ctrl-C")?;
    Ok(stop)
}

fn announce(header: &Header, placement: &Placement, path: &Path, resumed: bool) {
    let plan = &header.plan;
    let count = |words: Vec<&str>| {
        let mut words = words;
        words.sort();
        words.dedup();
        words.len()
    };
    let sets = count(plan.cases.iter().map(|case| case.parameter_set.as_str()).collect());
    let libraries = count(plan.cases.iter().map(|case| case.worker.as_str()).collect());
    let verb = if resumed { "Going on with" } else { "Measuring" };
    let place = match placement.measuring_cpu {
        Some(cpu) => format!("CPU {cpu} ({})", placement.reason),
        None => placement.reason.clone(),
    };
    anstream::eprintln!(
        "{verb} {} rows: {sets} parameter sets, {libraries} libraries, at most {:.0} s.",
        grouped(plan.cases.len() as u64),
        plan.budget_s,
    );
    anstream::eprintln!("On {place}; raw samples go to {}", path.display());
}

/// The line of progress on standard error: redrawn on a terminal, one line a round elsewhere.
struct Progress<'a> {
    plan: &'a Plan,
    redraw: bool,
    round: u32,
}

impl Progress<'_> {
    fn new(plan: &Plan) -> Progress<'_> {
        Progress { plan, redraw: screen::progress_can_be_redrawn(), round: 0 }
    }

    fn finish(&self) {
        if self.redraw {
            eprint!("\r\x1b[2K");
        }
    }

    fn case_words(case: &Case) -> String {
        format!("{} {} {}:{}", case.parameter_set, case.operation, case.worker, case.variant)
    }
}

impl Watcher for Progress<'_> {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Round { round } => {
                self.round = *round;
                if !self.redraw {
                    eprintln!("round {}", round.saturating_add(1));
                }
            }
            Event::Case { case, done, seconds_left } if self.redraw => {
                let words = Progress::case_words(&self.plan.cases[*case as usize]);
                let line = format!(
                    "{:>3.0} %  round {:<2}  at most {:>3.0} s left  {words}",
                    done * 100.0,
                    self.round.saturating_add(1),
                    seconds_left
                );
                let columns = screen::columns().saturating_sub(1);
                eprint!("\r\x1b[2K{}", pqlab_report::text::left(&line, columns));
            }
            Event::Case { .. } => {}
            Event::Fault(fault) => {
                self.finish();
                let subject = fault.subject.as_deref().unwrap_or("");
                anstream::eprintln!(
                    "pqlab: {} {subject} {}: {}",
                    fault.worker,
                    fault.kind.words(),
                    fault.detail
                );
            }
        }
    }
}
