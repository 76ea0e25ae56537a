//! Does pqlab say the same twice? Measures a selection twice, back to back, and compares the rows.
//!
//! `cargo run --release -p pqlab-bench-repeatability -- [WORDS OF pqlab run…]`, from the root of the
//! source tree; with no words, the headline. Prints Markdown for docs/METHODOLOGY.md. It judges
//! nothing: the reader does.

use anyhow::{Context, ensure};
use pqlab_report::figures::{bytes, percent};
use pqlab_report::{Results, Row};
use pqlab_runfile::Run;
use pqlab_stats::agreement::{Agreement, difference_of_runs};
use pqlab_stats::estimate::Estimate;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let folder = std::env::temp_dir().join(format!("pqlab-repeatability-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let first = measure(&words, &folder.join("first.pqlab.jsonl"))?;
    let second = measure(&words, &folder.join("second.pqlab.jsonl"))?;
    std::fs::remove_dir_all(&folder)?;
    print(&words, &first, &second);
    Ok(())
}

fn measure(words: &[String], path: &Path) -> anyhow::Result<Results> {
    let status = Command::new("./pqlab")
        .arg("run")
        .args(words)
        .arg("--output")
        .arg(path)
        .stdout(std::process::Stdio::null())
        .status()
        .context("cannot start ./pqlab: run this from the root of the source tree")?;
    // 4 is "measured but not trustworthy": rows all the same, and worth comparing.
    ensure!(matches!(status.code(), Some(0 | 4)), "pqlab run ended with {status}");
    let packed = PathBuf::from(format!("{}.zst", path.display()));
    Ok(Results::of(&Run::read(&packed)?))
}

type Figure = fn(&Row) -> Option<Estimate>;
type Belongs = fn(&Row) -> bool;

fn print(words: &[String], first: &Results, second: &Results) {
    let machine = first.run.machine.cpu_model_name.as_deref().unwrap_or("an unnamed CPU");
    let selection = if words.is_empty() { "the headline".to_owned() } else { words.join(" ") };
    println!("Two runs of {selection}, back to back, on {machine}:\n");
    println!("| rows | figure | within 1 % | intervals overlap | median difference | largest |");
    println!("|---|---|---|---|---|---|");
    let figures: [(&str, Figure); 2] =
        [("probe-normalised", |row| row.probe_steps_per_op), ("nanoseconds", |row| row.ns_per_op)];
    let groups: [(&str, Belongs); 3] = [
        ("all", |_| true),
        ("fixed work, seeded", |row| !row.varies_by_design),
        ("varies by design", |row| row.varies_by_design),
    ];
    for (group, belongs) in groups {
        for (name, figure) in figures {
            let pairs: Vec<_> = first
                .rows
                .iter()
                .zip(&second.rows)
                .filter(|(a, _)| belongs(a))
                .filter_map(|(a, b)| Some((figure(a)?, figure(b)?)))
                .collect();
            print_line(group, name, pairs.len(), &difference_of_runs(&pairs));
        }
    }
    println!();
    for (name, results) in [("first", first), ("second", second)] {
        let run = &results.run;
        let share = run.lab_cpu_share.map_or("unknown".to_owned(), percent);
        let memory = run.lab_peak_rss_bytes.map_or("unknown".to_owned(), bytes);
        let (empty, worst) = run.empty_operation_ns.unwrap_or((f64::NAN, f64::NAN));
        let (all, doubtful) = results.trust();
        println!(
            "- {name} run: {:.0} s, {} processes; an empty operation reads {empty:+.2} ns (worst \
             process {worst:+.2} ns); the lab used {share} of a CPU and {memory}; {doubtful} of \
             {all} rows graded D.",
            run.measured_s.unwrap_or(f64::NAN),
            run.processes,
        );
    }
}

fn print_line(group: &str, figure: &str, rows: usize, agreement: &Agreement) {
    let share = |share: Option<f64>| share.map_or("–".to_owned(), percent);
    println!(
        "| {rows} {group} | {figure} | {} | {} | {} | {} |",
        share(agreement.share_within_1_percent),
        share(agreement.share_of_overlapping_intervals),
        share(agreement.median_difference),
        share(agreement.largest_difference),
    );
}
