//! The verbs, one file each: parse, call, print.

pub mod doctor;
pub mod list;
pub mod needs;
pub mod run;
pub mod show;

use anyhow::Context;
use pqlab_instrument::clock::Calibration;
use std::path::PathBuf;

/// The folder of the worker programs: as given, else where this program lies.
fn worker_folder(given: &Option<PathBuf>) -> anyhow::Result<PathBuf> {
    if let Some(folder) = given {
        return Ok(folder.clone());
    }
    let program = std::env::current_exe().context("cannot tell where this program lies")?;
    Ok(program.parent().map(PathBuf::from).unwrap_or_default())
}

/// Prints a value as JSON, indented, with a line feed.
fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    crate::screen::print(&text)?;
    Ok(())
}

/// A calibration as the protocol tells it to workers.
fn message_clock(calibration: &Calibration) -> pqlab_protocol::Clock {
    pqlab_protocol::Clock {
        kind: calibration.kind.name().to_owned(),
        ticks_per_second: calibration.ticks_per_second,
    }
}
