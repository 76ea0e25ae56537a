//! `pqlab needs WORDS…`: for the entry script, what must be built before `pqlab WORDS…` can run.
//! One line a worker: its cargo package, the features of its tier joined by commas or `-`, and the
//! tools its build needs joined by commas or `-`.

use crate::manifest::{self, LAST_TIER, Manifest};
use crate::options::{NeedsOptions, Options, Verb};
use crate::{exit, screen};
use anyhow::Context;
use clap::Parser;

pub fn run(options: &NeedsOptions) -> anyhow::Result<u8> {
    let words = std::iter::once("pqlab").chain(options.words.iter().map(String::as_str));
    // A mistake in the words is reported by the verb itself, once it runs.
    let Ok(Options { verb: Verb::Run(run) }) = Options::try_parse_from(words) else {
        return Ok(exit::FINE);
    };
    if run.workers.is_some() {
        return Ok(exit::FINE);
    }
    let root = manifest::source_root().context("PQLAB_ROOT is not set")?;
    let manifests = manifest::read_all(&root)?;
    if let Some(path) = &run.resume {
        // The run knows its workers; each is built with all it has, since a plan has no tiers.
        let Ok(resumed) = pqlab_runfile::Run::read(path) else { return Ok(exit::FINE) };
        let cases = &resumed.header.plan.cases;
        for manifest in &manifests {
            let tier = manifest.tiers.iter().rfind(|tier| {
                cases.iter().any(|case| {
                    case.worker == manifest.library && tier.offers.contains(&case.parameter_set)
                })
            });
            if let Some(tier) = tier {
                print_line(manifest, &tier.features)?;
            }
        }
        return Ok(exit::FINE);
    }
    let Ok(selection) = run.selection.resolve() else { return Ok(exit::FINE) };
    let libraries: Vec<String> = manifests.iter().map(|m| m.library.clone()).collect();
    for manifest in &manifests {
        let tier = if run.selection.all {
            let last = manifest.tiers.iter().rfind(|tier| tier.name == LAST_TIER);
            last.or(manifest.tiers.last())
        } else {
            manifest.tier_for(&selection, &libraries)
        };
        if let Some(tier) = tier {
            print_line(manifest, &tier.features)?;
        }
    }
    Ok(exit::FINE)
}

fn print_line(manifest: &Manifest, features: &[String]) -> anyhow::Result<()> {
    let joined = |words: &[String]| {
        if words.is_empty() { "-".to_owned() } else { words.join(",") }
    };
    let (features, needs) = (joined(features), joined(&manifest.needs));
    screen::print(&format!("pqlab-worker-{} {features} {needs}\n", manifest.library))?;
    Ok(())
}
