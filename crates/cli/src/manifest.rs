//! `worker.toml`: what each worker in the source tree offers and needs, so that it is known before
//! anything is built.

use anyhow::Context;
use pqlab_catalog::Selection;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// One worker's manifest.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Manifest {
    /// The worker's name.
    pub library: String,
    /// Version of the library, as the worker will report it.
    pub version: String,
    /// Package it is built from.
    #[allow(dead_code, reason = "held against the worker's own word by a test")]
    pub package: String,
    /// Tools its build needs, of: cc, cmake, make, perl, libclang.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Prefixes of the global symbols its library defines.
    #[serde(default)]
    #[allow(dead_code, reason = "read by the test that looks for foreign symbols")]
    pub symbol_prefixes: Vec<String>,
    /// Its build tiers, each including the ones before it.
    #[serde(rename = "tier")]
    pub tiers: Vec<Tier>,
}

/// A build tier: more parameter sets for more build time.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// `headline`, `default` or `all`.
    pub name: String,
    /// Cargo features that build it.
    #[serde(default)]
    pub features: Vec<String>,
    /// Ids of the parameter sets it adds.
    pub offers: Vec<String>,
}

/// The tier that `--all` asks for; everything before it is in the default build.
pub const LAST_TIER: &str = "all";

impl Manifest {
    /// Whether the default build has this parameter set, or only that of `--all` (`Some(tier)`).
    pub fn tier_of(&self, set: &str) -> Option<&Tier> {
        self.tiers.iter().find(|tier| tier.offers.iter().any(|offered| offered == set))
    }

    /// The last tier that a selection needs; `None` if it needs nothing of this worker. `libraries`
    /// are the names of all workers, so that an `--impl` word can be told from a variant, which no
    /// manifest lists.
    pub fn tier_for(&self, selection: &Selection, libraries: &[String]) -> Option<&Tier> {
        let sets: Vec<String> = selection.parameter_sets().iter().map(|set| set.id()).collect();
        let filters = selection.implementation_filters();
        let may_be_meant = filters.is_empty()
            || filters.iter().any(|filter| match filter.split_once(':') {
                Some((library, _)) => library == self.library,
                None => *filter == self.library || !libraries.contains(filter),
            });
        self.tiers
            .iter()
            .filter(|_| may_be_meant)
            .filter(|tier| !(selection.is_default_scope() && tier.name == LAST_TIER))
            .rfind(|tier| tier.offers.iter().any(|offered| sets.contains(offered)))
    }
}

/// The root of the source tree: `PQLAB_ROOT`, which the entry script sets; `None` for a program
/// that was copied elsewhere.
pub fn source_root() -> Option<PathBuf> {
    std::env::var_os("PQLAB_ROOT").map(PathBuf::from)
}

/// Every manifest of the source tree, in order of name.
pub fn read_all(root: &Path) -> anyhow::Result<Vec<Manifest>> {
    let folder = root.join("workers");
    let entries = std::fs::read_dir(&folder)
        .with_context(|| format!("cannot list the workers in {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path().join("worker.toml")))
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> anyhow::Result<Manifest> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is not a worker manifest", path.display()))
}
