//! `pqlab show RUN`: the table of a run file, again.

use crate::options::ShowOptions;
use crate::{exit, screen};
use pqlab_report::{Results, table};
use pqlab_runfile::Run;

pub fn run(options: &ShowOptions) -> anyhow::Result<u8> {
    let run = Run::read(&options.run)?;
    let results = Results::of(&run);
    if options.json {
        super::print_json(&results)?;
    } else {
        screen::print(&table::render(&results, screen::columns()))?;
    }
    Ok(exit::FINE)
}
