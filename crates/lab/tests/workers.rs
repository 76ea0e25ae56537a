//! Every built worker keeps its word: it is what its manifest says, all its subjects pass their
//! gate, and the symbols in it come from its own library.
//!
//! Needs the workers' programs, which take minutes to build: `./pqlab test` builds them, names
//! their folder in `PQLAB_WORKERS`, and runs these ignored tests.

use pqlab_instrument::clock::Clock;
use pqlab_lab::{Limits, discover, installed};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Manifest {
    library: String,
    version: String,
    package: String,
    symbol_prefixes: Vec<String>,
    tier: Vec<Tier>,
}

#[derive(Deserialize)]
struct Tier {
    name: String,
    offers: Vec<String>,
}

fn manifests() -> Vec<Manifest> {
    let workers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workers");
    let mut manifests: Vec<Manifest> = std::fs::read_dir(workers)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("worker.toml"))
        .filter(|path| path.exists())
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        })
        .collect();
    manifests.sort_by(|a, b| a.library.cmp(&b.library));
    manifests
}

fn programs() -> BTreeMap<String, PathBuf> {
    let folder = std::env::var("PQLAB_WORKERS").expect("PQLAB_WORKERS names the workers' folder");
    installed(Path::new(&folder)).into_iter().collect()
}

#[test]
#[ignore = "needs the workers' programs: ./pqlab test"]
fn every_worker_is_what_its_manifest_says() {
    let folder = std::env::var("PQLAB_WORKERS").expect("PQLAB_WORKERS names the workers' folder");
    let calibration = Clock::calibrate().calibration().clone();
    let clock = pqlab_protocol::Clock {
        kind: calibration.kind.name().to_owned(),
        ticks_per_second: calibration.ticks_per_second,
    };
    let discovery = discover(Path::new(&folder), &[], &clock, &Limits::default());
    assert!(discovery.unusable.is_empty(), "{:?}", discovery.unusable);
    for manifest in manifests() {
        let offer = discovery
            .offers
            .iter()
            .find(|offer| offer.hello.library.name == manifest.library)
            .unwrap_or_else(|| panic!("{} is not built", manifest.library));
        let library = &offer.hello.library;
        assert_eq!(library.version, manifest.version, "{}", manifest.library);
        assert_eq!(library.package, manifest.package, "{}", manifest.library);
        let offered: BTreeSet<&str> =
            offer.hello.subjects.iter().map(|subject| subject.parameter_set.as_str()).collect();
        let promised = |wanted: fn(&str) -> bool| -> BTreeSet<&str> {
            let tiers = manifest.tier.iter().filter(|tier| wanted(&tier.name));
            tiers.flat_map(|tier| tier.offers.iter().map(String::as_str)).collect()
        };
        let missing: Vec<_> =
            promised(|tier| tier != "all").difference(&offered).copied().collect();
        assert!(missing.is_empty(), "{} promises but lacks {missing:?}", manifest.library);
        let unannounced: Vec<_> = offered.difference(&promised(|_| true)).copied().collect();
        assert!(unannounced.is_empty(), "{} offers unannounced {unannounced:?}", manifest.library);
    }
}

#[test]
#[ignore = "needs the workers' programs: ./pqlab test"]
fn every_subject_of_every_worker_passes_its_gate() {
    let programs = programs();
    assert!(!programs.is_empty());
    for (worker, program) in programs {
        let output = Command::new(program).arg("--self-check").output().unwrap();
        let report = String::from_utf8_lossy(&output.stdout);
        print!("{report}");
        assert!(output.status.success(), "{worker}:\n{report}");
        assert!(report.contains("passed "), "{worker} has no subject:\n{report}");
    }
}

/// Function symbols a program defines (`nm`: `T`, `t` and `W` in the second column; libraries built
/// with hidden visibility show as `t`).
fn functions_in(program: &Path) -> Vec<String> {
    let output = Command::new("nm")
        .args(["--defined-only", "--format=posix"])
        .arg(program)
        .output()
        .expect("nm comes with the C compiler");
    assert!(output.status.success(), "nm failed on {}", program.display());
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (name, kind) = (words.next()?, words.next()?);
            matches!(kind, "T" | "t" | "W").then(|| name.to_owned())
        })
        .collect()
}

/// liboqs and PQClean export thousands of identical names; linked together, one silently runs the
/// other's code. So no worker may hold a symbol that belongs to another worker's library, and each
/// must hold its own.
#[test]
#[ignore = "needs the workers' programs: ./pqlab test"]
fn every_worker_holds_its_own_librarys_symbols_and_no_other() {
    let manifests = manifests();
    let symbols: BTreeMap<String, BTreeSet<String>> = programs()
        .into_iter()
        .map(|(worker, program)| (worker, functions_in(&program).into_iter().collect()))
        .collect();
    let mut seen_any = 0;
    for manifest in &manifests {
        let own = &symbols[&manifest.library];
        for other in &manifests {
            for prefix in &other.symbol_prefixes {
                if other.library == manifest.library {
                    let found = own.iter().any(|symbol| symbol.starts_with(prefix.as_str()));
                    assert!(found, "{} has no symbol {prefix}…", manifest.library);
                    seen_any += 1;
                } else if !manifest.symbol_prefixes.contains(prefix) {
                    // AWS-LC, a descendant of OpenSSL, has static functions named in its style:
                    // foreign is only what the other program defines too.
                    let foreign: Vec<_> = own
                        .intersection(&symbols[&other.library])
                        .filter(|symbol| symbol.starts_with(prefix.as_str()))
                        .collect();
                    let library = &manifest.library;
                    assert!(foreign.is_empty(), "{library} holds {}'s {foreign:?}", other.library);
                }
            }
        }
    }
    assert!(seen_any > 0, "no manifest names a symbol: this test would find nothing");
}

/// The twin definitions that a silent swap would merge: PQClean's Falcon stands once in each of the
/// two programs that bundle it, and nowhere else.
#[test]
#[ignore = "needs the workers' programs: ./pqlab test"]
fn falcon_stands_once_in_each_program_that_bundles_it() {
    let name = "PQCLEAN_FALCON512_CLEAN_crypto_sign_verify";
    let holders: BTreeMap<String, usize> = programs()
        .into_iter()
        .map(|(worker, program)| {
            let count = functions_in(&program).iter().filter(|symbol| *symbol == name).count();
            (worker, count)
        })
        .filter(|(_, count)| *count > 0)
        .collect();
    let expected = [("liboqs", 1), ("pqclean", 1)].map(|(w, n)| (w.to_owned(), n));
    assert_eq!(holders, BTreeMap::from(expected));
}
