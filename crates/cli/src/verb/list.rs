//! `pqlab list`: what exists, what is available here, and why the rest is not.

use super::{message_clock, worker_folder};
use crate::manifest::{self, LAST_TIER, Manifest};
use crate::options::ListOptions;
use crate::{exit, screen};
use pqlab_catalog::{ParameterSet, Selection};
use pqlab_instrument::clock::Clock;
use pqlab_lab::{Discovery, Limits, discover};
use pqlab_report::text::{Role, left, width, wrapped};
use serde::Serialize;

/// The JSON form (docs/schema/list.schema.json).
#[derive(Serialize)]
struct Listing {
    schema: &'static str,
    schema_version: u32,
    parameter_sets: Vec<Entry>,
    unusable_workers: Vec<Unusable>,
}

#[derive(Serialize)]
struct Entry {
    id: String,
    name: &'static str,
    scheme: &'static str,
    kind: &'static str,
    revision: &'static str,
    revision_source: &'static str,
    level: Option<u8>,
    operations: Vec<&'static str>,
    public_key_bytes: usize,
    secret_key_bytes: usize,
    output_bytes: usize,
    implementations: Vec<Implementation>,
}

#[derive(Serialize)]
struct Implementation {
    library: String,
    version: String,
    /// Empty while the worker is not built: its variants depend on this CPU.
    variant: String,
    code_path: String,
    available: bool,
    /// Why it is not available.
    reason: String,
}

#[derive(Serialize)]
struct Unusable {
    worker: String,
    reason: String,
}

pub fn run(options: &ListOptions) -> anyhow::Result<u8> {
    let mut words = options.selection.clone();
    // `list` alone shows everything, where `run` alone means the headline.
    words.all |= words.names.is_empty() && words.kind.is_empty() && words.level.is_empty();
    let selection = words.resolve()?;
    let discovery = ask_workers(options)?;
    let manifests = match manifest::source_root() {
        Some(root) => manifest::read_all(&root)?,
        None => Vec::new(),
    };
    let listing = listing(&selection, &discovery, &manifests);
    if options.json {
        super::print_json(&listing)?;
    } else {
        screen::print(&render(&listing, screen::columns()))?;
    }
    Ok(exit::FINE)
}

fn ask_workers(options: &ListOptions) -> anyhow::Result<Discovery> {
    let folder = worker_folder(&options.workers)?;
    if pqlab_lab::installed(&folder).is_empty() {
        return Ok(Discovery::default());
    }
    let calibration = Clock::calibrate().calibration().clone();
    let clock = message_clock(&calibration);
    Ok(discover(&folder, &[], &clock, &Limits::default()))
}

fn listing(selection: &Selection, discovery: &Discovery, manifests: &[Manifest]) -> Listing {
    Listing {
        schema: "pqlab-list",
        schema_version: 1,
        parameter_sets: selection
            .parameter_sets()
            .into_iter()
            .map(|set| entry(set, selection, discovery, manifests))
            .collect(),
        unusable_workers: discovery
            .unusable
            .iter()
            .map(|unusable| Unusable {
                worker: unusable.worker.clone(),
                reason: format!("{}: {}", unusable.kind.words(), unusable.detail),
            })
            .collect(),
    }
}

fn entry(
    set: &'static ParameterSet,
    selection: &Selection,
    discovery: &Discovery,
    manifests: &[Manifest],
) -> Entry {
    let mut implementations = Vec::new();
    for offer in &discovery.offers {
        let library = &offer.hello.library;
        for subject in offer.hello.subjects.iter().filter(|s| s.parameter_set == set.id()) {
            if selection.wants_implementation(&library.name, &subject.variant) {
                implementations.push(Implementation {
                    library: library.name.clone(),
                    version: library.version.clone(),
                    variant: subject.variant.clone(),
                    code_path: subject.code_path.path.clone(),
                    available: true,
                    reason: String::new(),
                });
            }
        }
    }
    for manifest in manifests {
        let offered = implementations.iter().any(|i| i.library == manifest.library);
        let Some(tier) = manifest.tier_of(&set.id()) else { continue };
        if offered || !selection.wants_implementation(&manifest.library, "") {
            continue;
        }
        let reason = match tier.name.as_str() {
            LAST_TIER => "not built: only a selection that names it, or --all, builds it",
            _ => "not built yet: pqlab run builds it when a selection needs it",
        };
        implementations.push(Implementation {
            library: manifest.library.clone(),
            version: manifest.version.clone(),
            variant: String::new(),
            code_path: String::new(),
            available: false,
            reason: reason.to_owned(),
        });
    }
    Entry {
        id: set.id(),
        name: set.name,
        scheme: set.scheme,
        kind: set.kind.name(),
        revision: set.revision.label(),
        revision_source: set.revision.source(),
        level: set.level,
        operations: set.operations().iter().map(|operation| operation.name()).collect(),
        public_key_bytes: set.sizes.public_key.capacity(),
        secret_key_bytes: set.sizes.secret_key.capacity(),
        output_bytes: set.sizes.output.capacity(),
        implementations,
    }
}

const NAME_WIDTH: usize = 27;

fn render(listing: &Listing, columns: usize) -> String {
    let mut text = String::new();
    let mut scheme = "";
    for entry in &listing.parameter_sets {
        if entry.scheme != scheme {
            scheme = entry.scheme;
            let heading = Role::Heading.paint(scheme);
            text.push_str(&format!("\n{heading}  {}, {}\n", entry.kind, entry.revision));
        }
        let indent = " ".repeat(NAME_WIDTH + 2);
        let level = entry.level.map_or("–".to_owned(), |level| level.to_string());
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            entry.implementations.iter().partition(|implementation| implementation.available);
        let mut parts: Vec<String> =
            here.iter().map(|i| format!("{}:{}", i.library, i.variant)).collect();
        parts.extend(elsewhere.iter().map(|i| format!("({})", i.library)));
        if parts.is_empty() {
            parts.push("no worker has it".to_owned());
        }
        let name = left(&format!("  {}", entry.id), NAME_WIDTH.max(width(&entry.id) + 3));
        let body = wrapped(&parts.join("  "), columns, &indent);
        text.push_str(&format!("{name}{level} {}", body.trim_start()));
    }
    text.push_str(
        "\nAfter each name: NIST category, then the implementations that this machine can run;\n\
         (in brackets) those not built yet. pqlab run NAME builds and measures them.\n",
    );
    for unusable in &listing.unusable_workers {
        let words = format!("worker {} {}", unusable.worker, unusable.reason);
        text.push_str(&Role::Bad.paint(&wrapped(&words, columns, "")));
    }
    text
}
