//! The `pqlab` command: parse, call the verb, turn its error into one sentence and an exit code.

mod exit;
mod manifest;
mod options;
mod screen;
mod verb;

use clap::Parser;
use options::{Options, Verb};
use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            // Writing to a closed pipe is not worth a second error.
            let _ = error.print();
            let code = if error.use_stderr() { exit::USAGE } else { exit::FINE };
            return ExitCode::from(code);
        }
    };
    let result = match &options.verb {
        Verb::List(list) => verb::list::run(list),
        Verb::Doctor(doctor) => verb::doctor::run(doctor),
        Verb::Run(run) => verb::run::run(run),
        Verb::Show(show) => verb::show::run(show),
        Verb::Needs(needs) => verb::needs::run(needs),
    };
    ExitCode::from(exit::code_of(result))
}
