//! The results of a run as text for a terminal of a given width.

use crate::figures::{bytes, grouped, percent, rate, ratio, time};
use crate::text::{Role, left, right, width, wrapped};
use crate::{Results, Row};
use pqlab_stats::grade::Grade;
use std::collections::BTreeMap;

/// The narrowest terminal that the table is made for.
const NARROW: usize = 80;

/// Width from which the further columns are shown: what they take with those of the narrow table.
const WIDE: usize = 150;

/// Writes the whole report of a run: tables by parameter set, then correctness, faults and what
/// is known of the machine and the measurement.
pub fn render(results: &Results, columns: usize) -> String {
    let columns = columns.max(NARROW);
    let mut text = String::new();
    let mut previous = "";
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in &results.rows {
        match groups.last_mut() {
            Some(group) if same_group(group[0], row) => group.push(row),
            _ => groups.push(vec![row]),
        }
    }
    // A group may have been split by the order of the plan: encoded and prepared rows alternate.
    let groups = merge(groups);
    for group in &groups {
        let row = group[0];
        if row.parameter_set != previous {
            text.push_str(&set_heading(row));
            previous = &row.parameter_set;
        }
        text.push_str(&group_table(group, columns));
    }
    text.push_str(&legend(results, columns));
    text.push_str(&correctness(results, columns));
    text.push_str(&faults(results, columns));
    text.push_str(&run_facts(results, columns));
    text
}

fn same_group(a: &Row, b: &Row) -> bool {
    a.parameter_set == b.parameter_set && a.operation == b.operation && a.key_form == b.key_form
}

fn merge<'r>(groups: Vec<Vec<&'r Row>>) -> Vec<Vec<&'r Row>> {
    let mut merged: Vec<Vec<&'r Row>> = Vec::new();
    for group in groups {
        match merged.iter_mut().find(|other| same_group(other[0], group[0])) {
            Some(other) => other.extend(group),
            None => merged.push(group),
        }
    }
    // Sets keep the order of the plan; within one, operations keep theirs, encoded keys first.
    let order: Vec<String> = merged.iter().fold(Vec::new(), |mut order, group| {
        if !order.contains(&group[0].parameter_set) {
            order.push(group[0].parameter_set.clone());
        }
        order
    });
    let operation_order =
        |row: &Row| pqlab_catalog::Operation::ALL.iter().position(|op| op.name() == row.operation);
    merged.sort_by_key(|group| {
        let row = group[0];
        let set = order.iter().position(|set| *set == row.parameter_set);
        (set, operation_order(row), row.key_form == "prepared")
    });
    merged
}

fn set_heading(row: &Row) -> String {
    let level = match row.level {
        Some(level) => format!("NIST category {level}"),
        None => "classical, no category".to_owned(),
    };
    let sizes = &row.sizes;
    let output = match row.kind {
        "signature" if sizes.output_varies => format!(", signature ≤ {} B", sizes.output_bytes),
        "signature" => format!(", signature {} B", sizes.output_bytes),
        "kem" => format!(", ciphertext {} B", sizes.output_bytes),
        _ => String::new(),
    };
    let title = Role::Heading.paint(row.name);
    let at_most = if sizes.secret_key_varies { "≤ " } else { "" };
    let facts = format!(
        "  {} · {level}\n  public key {} B, secret key {at_most}{} B{output}",
        row.revision, sizes.public_key_bytes, sizes.secret_key_bytes
    );
    format!("\n{title}{}\n", Role::Dim.paint(&facts))
}

/// One column of a table: heading, width, and what it shows of a row.
struct Column {
    heading: &'static str,
    width: usize,
    cell: fn(&Row, f64) -> String,
}

const NAME_WIDTH: usize = 23;

/// The columns of an 80-column terminal: 23 + 9 + 7 + 9 + 9 + 9 + 6 + 2, and a space before each
/// but the first.
const NARROW_COLUMNS: &[Column] = &[
    Column { heading: "ops/s", width: 9, cell: |row, _| show(row.ops_per_s, rate) },
    Column { heading: "±95 %", width: 7, cell: |row, _| half_width(row) },
    Column { heading: "median", width: 8, cell: |row, _| show(ns(row), time) },
    Column { heading: "mean", width: 8, cell: |row, _| sample(row, |s| Some(s.mean)) },
    Column { heading: "SD", width: 8, cell: |row, _| sample(row, |s| s.standard_deviation) },
    Column { heading: "CV", width: 6, cell: |row, _| show(variation(row), percent) },
];

const WIDE_COLUMNS: &[Column] = &[
    Column { heading: "cycles*", width: 11, cell: |row, _| show(row.core_cycles_per_op, cycles) },
    Column { heading: "min", width: 8, cell: |row, _| sample(row, |s| Some(s.min)) },
    Column { heading: "P5", width: 8, cell: |row, _| sample(row, |s| Some(s.p5)) },
    Column { heading: "P95", width: 8, cell: |row, _| sample(row, |s| Some(s.p95)) },
    Column { heading: "P99", width: 8, cell: |row, _| sample(row, |s| Some(s.p99)) },
    Column { heading: "proc.", width: 5, cell: |row, _| row.processes.to_string() },
    Column { heading: "n", width: 9, cell: |row, _| grouped(row.samples as u64) },
    Column {
        heading: "slower",
        width: 6,
        cell: |row, best| show(ns(row).map(|t| t / best), ratio),
    },
];

fn show(value: Option<f64>, format: fn(f64) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), format)
}

fn ns(row: &Row) -> Option<f64> {
    row.ns_per_op.as_ref().map(|estimate| estimate.median)
}

fn half_width(row: &Row) -> String {
    let width = row.ns_per_op.as_ref().and_then(|estimate| estimate.relative_half_width);
    match (width, ns(row)) {
        (Some(width), _) => percent(width),
        (None, Some(_)) => "n<6".to_owned(),
        (None, None) => "–".to_owned(),
    }
}

fn sample(row: &Row, pick: fn(&pqlab_stats::summary::Summary) -> Option<f64>) -> String {
    show(row.sample_ns.as_ref().and_then(pick), time)
}

fn variation(row: &Row) -> Option<f64> {
    row.sample_ns.as_ref().and_then(|summary| summary.coefficient_of_variation)
}

fn cycles(value: f64) -> String {
    grouped(value.round() as u64)
}

fn group_table(group: &[&Row], columns: usize) -> String {
    let mut rows = group.to_vec();
    rows.sort_by(|a, b| {
        let key = |row: &Row| ns(row).unwrap_or(f64::INFINITY);
        key(a).total_cmp(&key(b))
    });
    let shown: Vec<&Column> = if columns >= WIDE {
        NARROW_COLUMNS.iter().chain(WIDE_COLUMNS).collect()
    } else {
        NARROW_COLUMNS.iter().collect()
    };
    let first = rows[0];
    let mut title = first.operation.to_owned();
    if first.key_form == "prepared" {
        title.push_str(", key ready");
    }
    let mut text = format!("  {}", Role::Heading.paint(&left(&title, NAME_WIDTH - 2)));
    for column in &shown {
        text.push(' ');
        text.push_str(&Role::Dim.paint(&right(column.heading, column.width)));
    }
    text.push_str(&Role::Dim.paint("  q"));
    text.push('\n');
    let best = ns(first).unwrap_or(f64::NAN);
    for (place, row) in rows.iter().enumerate() {
        text.push_str(&row_line(row, &shown, columns, best, place == 0 && rows.len() > 1));
    }
    text
}

fn row_line(row: &Row, shown: &[&Column], columns: usize, best: f64, fastest: bool) -> String {
    let draws = matches!(row.operation, "keygen" | "sign" | "encaps");
    let mark = if draws && row.randomness == "library" { "°" } else { "" };
    // A long name is cut, its mark is not.
    let name = left(&format!("{}:{}", row.library, row.variant), NAME_WIDTH - 4 - width(mark));
    let name = left(&format!("{}{mark}", name.trim_end()), NAME_WIDTH - 4);
    let role = if fastest { Role::Best } else { Role::Plain };
    let mut text = format!("    {}", role.paint(&name));
    if ns(row).is_none() {
        let fault = row.fault.as_deref().unwrap_or("not measured in this run");
        text.push(' ');
        // In full below the tables.
        text.push_str(&Role::Bad.paint(left(fault, columns - NAME_WIDTH - 1).trim_end()));
        text.push('\n');
        return text;
    }
    for column in shown {
        text.push(' ');
        text.push_str(&right(&(column.cell)(row, best), column.width));
    }
    let grade = format!("{}{}", row.grade, if row.fault.is_some() { "!" } else { "" });
    text.push_str("  ");
    text.push_str(&grade_role(row.grade).paint(&grade));
    text.push('\n');
    text
}

fn grade_role(grade: Grade) -> Role {
    match grade {
        Grade::A | Grade::B => Role::Good,
        Grade::C => Role::Warning,
        Grade::D => Role::Bad,
    }
}

fn legend(results: &Results, columns: usize) -> String {
    let mut remarks = vec![
        "ops/s: 1 / median over fresh processes; ±95 %: half of its exact interval over processes, \
         relative. mean, SD, CV: single calls, pooled. q: quality A (±0.5 %) to D, see \
         docs/METHODOLOGY.md."
            .to_owned(),
    ];
    if results.rows.iter().any(|row| row.key_form == "prepared") {
        let words = "key ready: the key was decoded beforehand; in the other tables decoding it is \
                     part of the operation.";
        remarks.push(words.to_owned());
    }
    if results.rows.iter().any(|row| row.randomness == "library") {
        let words = "°: the library draws from its own generator, whose cost is in the figure; the \
                     others are given seeded bytes.";
        remarks.push(words.to_owned());
    }
    if columns >= WIDE {
        let words = "cycles*: core cycles derived from the clock probe, not counted by a PMU.";
        remarks.push(words.to_owned());
    }
    let text: String =
        remarks.iter().map(|remark| Role::Dim.paint(&wrapped(remark, columns, ""))).collect();
    format!("\n{text}")
}

fn correctness(results: &Results, columns: usize) -> String {
    let mut subjects: BTreeMap<(&str, &str, &str), &Row> = BTreeMap::new();
    for row in &results.rows {
        subjects.insert((&row.library, &row.variant, &row.parameter_set), row);
    }
    let gated = subjects.values().filter(|row| row.gate_passed > 0 && row.ns_per_op.is_some());
    let known_answer = subjects
        .values()
        .filter(|row| {
            row.gate_passed > 0 && !row.gate_skipped.iter().any(|s| s.starts_with("first-kat"))
        })
        .filter(|row| row.ns_per_op.is_some());
    let (passed, all, kat) = (gated.count(), subjects.len(), known_answer.count());
    let words = format!(
        "Correctness: {passed} of {all} implementations passed their gate in every process that \
         timed them (round trip, tampering, sizes); {kat} of them also reproduce the first \
         published known answer."
    );
    format!("\n{}", wrapped(&words, columns, ""))
}

fn faults(results: &Results, columns: usize) -> String {
    results
        .faults
        .iter()
        .map(|fault| {
            let subject = fault.subject.as_deref().unwrap_or("");
            let words =
                format!("{} {subject} {}: {}", fault.worker, fault.kind.words(), fault.detail);
            Role::Bad.paint(&wrapped(&words, columns, ""))
        })
        .collect()
}

fn run_facts(results: &Results, columns: usize) -> String {
    let run = &results.run;
    let machine = &run.machine;
    let mut words = Vec::new();
    let cpu = machine.cpu_model_name.as_deref().unwrap_or("an unnamed CPU");
    let mut line = format!("Measured on {cpu}");
    if let Some(hypervisor) = &machine.hypervisor {
        line.push_str(&format!(" under {hypervisor}"));
    }
    if let Some((low, median, high)) = run.core_ghz {
        line.push_str(&format!(
            ", core clock {median:.2} GHz (5-95 % of blocks: {low:.2}-{high:.2}) by the clock probe"
        ));
    }
    words.push(line + ".");
    let mut line = format!("{} worker processes", run.processes);
    if let Some(seconds) = run.measured_s {
        line.push_str(&format!(", {seconds:.0} s of measuring"));
    }
    line.push_str(match run.ended {
        "precise" => ", ended because every row was precise enough",
        "budget" => ", ended by its time budget",
        _ => ", unfinished: continue it with --resume",
    });
    if let (Some(share), Some(rss)) = (run.lab_cpu_share, run.lab_peak_rss_bytes) {
        line.push_str(&format!(
            "; the lab itself used {} of a CPU and {}",
            percent(share),
            bytes(rss)
        ));
    }
    words.push(line + ".");
    if let Some((median, worst)) = run.empty_operation_ns {
        words.push(format!(
            "An empty operation reads {median:+.2} ns after subtraction (worst process \
             {worst:+.2} ns)."
        ));
    }
    if let Some(broken) = &run.broken {
        words.push(format!(
            "The run file is broken off at {broken}; what stands before it is shown."
        ));
    }
    let (all, doubtful) = results.trust();
    if doubtful > 0 {
        words.push(format!(
            "{doubtful} of {all} rows have grade D: do not publish those figures; more time \
             (--budget) or a quieter machine (pqlab doctor) helps."
        ));
    }
    words.iter().map(|line| wrapped(line, columns, "")).collect()
}
