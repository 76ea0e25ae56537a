//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use pqlab_catalog::{Kind, Operation, Selection};
use std::path::PathBuf;

use crate::exit::Usage;

/// Measures every implementation of post-quantum cryptography this machine can run.
///
/// Proves each one correct before timing it, keeps every raw sample, and prints no figure without
/// its uncertainty.
#[derive(Debug, Parser)]
#[command(name = "pqlab", version, after_help = EXIT_CODES)]
pub struct Options {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

const EXIT_CODES: &str = "\
Exit codes: 0 fine, 1 error or interrupted, 2 usage, 3 a correctness gate failed, 4 measured but
not trustworthy (more than half of the rows have grade D).
./pqlab test runs the test suite (the entry script's own verb).";

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// What exists, what is available here, and why the rest is not.
    List(ListOptions),
    /// Is this machine fit to measure? Names what is not, and the remedy. Changes nothing.
    Doctor(DoctorOptions),
    /// Measure a selection and print its table.
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunOptions),
    /// Print the table of a run file again.
    Show(ShowOptions),
    /// What must be built for the words that follow; read by the entry script.
    #[command(hide = true)]
    Needs(NeedsOptions),
}

const RUN_EXAMPLES: &str = "\
Examples:
  pqlab run                                    the headline: one set of each family
  pqlab run falcon-512                         one parameter set, every implementation
  pqlab run ml-kem-768 --op encaps --impl liboqs,aws-lc
  pqlab run --level 1 --kind signature         by NIST category and kind
  pqlab run --all                              everything, hours of it
  pqlab run --resume runs/….jsonl              go on with an interrupted run";

/// What to measure.
#[derive(Debug, Clone, Args)]
pub struct SelectionOptions {
    /// Parameter sets (falcon-512) or schemes (ml-kem); none means the headline
    pub names: Vec<String>,
    /// Only these kinds
    #[arg(long, value_delimiter = ',')]
    pub kind: Vec<KindWord>,
    /// Only these NIST security categories, 1 to 5
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..=5))]
    pub level: Vec<u8>,
    /// Only these operations
    #[arg(long, value_delimiter = ',')]
    pub op: Vec<OperationWord>,
    /// Only these implementations: a library (liboqs), a variant (avx2), or both (pqclean:avx2)
    #[arg(long = "impl", value_delimiter = ',', value_name = "IMPL")]
    pub implementation: Vec<String>,
    /// Every parameter set of every worker, also those that the default build leaves out
    #[arg(long)]
    pub all: bool,
}

impl SelectionOptions {
    /// Resolves the words against the catalog.
    pub fn resolve(&self) -> anyhow::Result<Selection> {
        let kinds: Vec<Kind> = self.kind.iter().map(|word| word.kind()).collect();
        let operations: Vec<Operation> = self.op.iter().map(|word| word.operation()).collect();
        let selection = Selection::new(
            &self.names,
            &kinds,
            &self.level,
            &operations,
            &self.implementation,
            self.all,
        );
        selection.map_err(|error| Usage(error.to_string()).into())
    }

    /// The words as typed, for the run's header.
    pub fn words(&self) -> String {
        let joined = |name: &str, words: Vec<String>| {
            if words.is_empty() { None } else { Some(format!("--{name} {}", words.join(","))) }
        };
        let mut words = self.names.clone();
        words.extend(joined("kind", self.kind.iter().map(|w| w.kind().to_string()).collect()));
        words.extend(joined("level", self.level.iter().map(ToString::to_string).collect()));
        words.extend(joined("op", self.op.iter().map(|w| w.operation().to_string()).collect()));
        words.extend(joined("impl", self.implementation.clone()));
        words.extend(self.all.then(|| "--all".to_owned()));
        words.join(" ")
    }
}

/// [`Kind`] as a word of the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum KindWord {
    /// Digital signatures
    Signature,
    /// Key encapsulation mechanisms
    Kem,
    /// Diffie-Hellman
    KeyExchange,
}

impl KindWord {
    fn kind(self) -> Kind {
        match self {
            KindWord::Signature => Kind::Signature,
            KindWord::Kem => Kind::Kem,
            KindWord::KeyExchange => Kind::KeyExchange,
        }
    }
}

/// [`Operation`] as a word of the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[allow(missing_docs, reason = "the words are the catalog's operations")]
pub enum OperationWord {
    Keygen,
    Sign,
    Verify,
    Encaps,
    Decaps,
    Derive,
}

impl OperationWord {
    fn operation(self) -> Operation {
        match self {
            OperationWord::Keygen => Operation::Keygen,
            OperationWord::Sign => Operation::Sign,
            OperationWord::Verify => Operation::Verify,
            OperationWord::Encaps => Operation::Encaps,
            OperationWord::Decaps => Operation::Decaps,
            OperationWord::Derive => Operation::Derive,
        }
    }
}

/// Options of `list`.
#[derive(Debug, Args)]
pub struct ListOptions {
    /// What to list.
    #[command(flatten)]
    pub selection: SelectionOptions,
    /// As JSON (docs/schema/list.schema.json)
    #[arg(long)]
    pub json: bool,
    /// Folder of the worker programs [default: beside pqlab]
    #[arg(long, value_name = "DIR")]
    pub workers: Option<PathBuf>,
}

/// Options of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorOptions {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `run`.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// What to measure.
    #[command(flatten)]
    pub selection: SelectionOptions,
    /// Seconds to measure [default: 0.75 a row, at least 60; ends sooner when every row is precise]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub budget: Option<f64>,
    /// Stop a row when its interval is this narrow, in per cent of its figure
    #[arg(long, value_name = "PERCENT", default_value = "0.5", value_parser = percent)]
    pub precision: f64,
    /// Seed of inputs and order
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// File for the raw samples [default: runs/TIME.pqlab.jsonl]
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub output: Option<PathBuf>,
    /// Go on with an interrupted run
    #[arg(long, value_name = "FILE", conflicts_with_all = ["names", "kind", "level", "op",
        "implementation", "all", "budget", "precision", "seed"])]
    pub resume: Option<PathBuf>,
    /// Print JSON (docs/schema/results.schema.json) instead of the table
    #[arg(long)]
    pub json: bool,
    /// Folder of the worker programs [default: beside pqlab]
    #[arg(long, value_name = "DIR")]
    pub workers: Option<PathBuf>,
}

/// Options of `show`.
#[derive(Debug, Args)]
pub struct ShowOptions {
    /// The run file, packed or not
    pub run: PathBuf,
    /// As JSON (docs/schema/results.schema.json)
    #[arg(long)]
    pub json: bool,
}

/// Options of `needs`.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct NeedsOptions {
    /// The command line to be prepared for.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

fn seconds(word: &str) -> Result<f64, String> {
    match word.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err("a number of seconds above 0 is wanted".to_owned()),
    }
}

fn percent(word: &str) -> Result<f64, String> {
    match word.trim_end_matches('%').parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent < 100.0 => Ok(percent / 100.0),
        _ => Err("a percentage between 0 and 100 is wanted".to_owned()),
    }
}
