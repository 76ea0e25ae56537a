//! Selections: what a person asks for on the command line, resolved against the catalog.
//!
//! A selection says what is wanted, not what is available: which implementations exist is the
//! workers' word, and [`Selection::wants`] is asked of each thing they offer.

use crate::{Kind, Operation, ParameterSet, parameter_sets};

/// What `pqlab run` measures when asked for nothing in particular: the schemes a protocol designer
/// weighs first, one per family, and the classical ones they would replace.
pub const HEADLINE: [&str; 9] = [
    "Falcon-512",
    "Falcon-padded-512",
    "ML-DSA-44",
    "SLH-DSA-SHA2-128f",
    "RSA-2048",
    "ECDSA-P-256",
    "Ed25519",
    "ML-KEM-768",
    "X25519",
];

/// A word that names nothing, with what may have been meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// No parameter set or scheme of that name.
    #[error("no algorithm is called '{word}'{}; `pqlab list` shows them all", hint(.nearest))]
    UnknownName {
        /// The word as given.
        word: String,
        /// The closest names in the catalog, best first.
        nearest: Vec<String>,
    },
    /// Names and filters leave nothing, such as `ml-kem-768 --kind signature`.
    #[error("nothing in the catalog matches all of the selection: {0}")]
    Empty(String),
}

fn hint(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}

/// Lower case without punctuation, so that `mlkem768`, `ML-KEM-768` and `ml_kem_768` are one name.
pub fn normalised(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// How far the parameter sets of a selection reach when it names none.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Scope {
    Headline,
    Default,
    All,
    Named(Vec<&'static ParameterSet>),
}

/// A resolved wish: parameter sets, narrowed by kind, level, operation and implementation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    scope: Scope,
    kinds: Vec<Kind>,
    levels: Vec<u8>,
    operations: Vec<Operation>,
    implementations: Vec<String>,
}

impl Selection {
    /// Resolves `names` (parameter sets, whole schemes such as `ml-kem`, or `headline`) and filters.
    /// Empty filters admit everything. With neither names nor a kind or level the headline set is
    /// meant; with a kind or level alone, every set of the default build; with `all`, every set.
    pub fn new(
        names: &[String],
        kinds: &[Kind],
        levels: &[u8],
        operations: &[Operation],
        implementations: &[String],
        all: bool,
    ) -> Result<Selection, SelectionError> {
        let scope = if all {
            Scope::All
        } else if names.is_empty() && kinds.is_empty() && levels.is_empty() {
            Scope::Headline
        } else if names.is_empty() {
            Scope::Default
        } else {
            Scope::Named(resolve(names)?)
        };
        let selection = Selection {
            scope,
            kinds: kinds.to_vec(),
            levels: levels.to_vec(),
            operations: operations.to_vec(),
            implementations: implementations.iter().map(|name| name.to_lowercase()).collect(),
        };
        if selection.parameter_sets().is_empty() {
            return Err(SelectionError::Empty(selection.words(names)));
        }
        Ok(selection)
    }

    /// The parameter sets wanted, in catalog order, whether or not any worker offers them. For a
    /// [default-scope](Selection::is_default_scope) selection these are candidates: the sets that
    /// the default build of some worker offers.
    pub fn parameter_sets(&self) -> Vec<&'static ParameterSet> {
        let named = |set: &'static ParameterSet| match &self.scope {
            Scope::Headline => HEADLINE.contains(&set.name),
            Scope::Default | Scope::All => true,
            Scope::Named(sets) => sets.contains(&set),
        };
        parameter_sets()
            .iter()
            .filter(|set| named(set))
            .filter(|set| self.kinds.is_empty() || self.kinds.contains(&set.kind))
            .filter(|set| {
                self.levels.is_empty() || set.level.is_some_and(|l| self.levels.contains(&l))
            })
            .filter(|set| {
                self.operations.is_empty()
                    || set.operations().iter().any(|op| self.operations.contains(op))
            })
            .collect()
    }

    /// Whether the sets are whatever the default build offers (a kind or level was given, no name).
    pub fn is_default_scope(&self) -> bool {
        self.scope == Scope::Default
    }

    /// Whether this implementation of this operation is wanted. `worker` is the library's name,
    /// `variant` its code path; a filter word is `liboqs`, `liboqs:avx2` or `avx2`.
    pub fn wants(&self, operation: Operation, worker: &str, variant: &str) -> bool {
        (self.operations.is_empty() || self.operations.contains(&operation))
            && self.wants_implementation(worker, variant)
    }

    /// Whether any operation of this implementation is wanted.
    pub fn wants_implementation(&self, worker: &str, variant: &str) -> bool {
        self.implementations.is_empty()
            || self.implementations.iter().any(|filter| match filter.split_once(':') {
                Some((w, v)) => w == worker && v == variant,
                None => filter == worker || filter == variant,
            })
    }

    /// The library names and variants asked for by `--impl`, for checking that they exist.
    pub fn implementation_filters(&self) -> &[String] {
        &self.implementations
    }

    fn words(&self, names: &[String]) -> String {
        let mut words = names.to_vec();
        words.extend(self.kinds.iter().map(|kind| format!("--kind {kind}")));
        words.extend(self.levels.iter().map(|level| format!("--level {level}")));
        words.extend(self.operations.iter().map(|operation| format!("--op {operation}")));
        words.join(" ")
    }
}

fn resolve(names: &[String]) -> Result<Vec<&'static ParameterSet>, SelectionError> {
    let mut chosen = Vec::new();
    for word in names {
        let wanted = normalised(word);
        // The padded form of Falcon is an encoding of the same parameters: asking for `falcon-512`
        // asks for both, or libraries that have only one would be missed.
        let exact = |set: &&ParameterSet| {
            let name = normalised(set.name);
            name == wanted || name.replace("padded", "") == wanted
        };
        let family = |set: &&ParameterSet| {
            normalised(set.scheme) == wanted || wanted == "headline" && HEADLINE.contains(&set.name)
        };
        let mut found: Vec<_> = parameter_sets().iter().filter(exact).collect();
        if found.is_empty() {
            found = parameter_sets().iter().filter(family).collect();
        }
        if found.is_empty() {
            return Err(SelectionError::UnknownName { word: word.clone(), nearest: nearest(word) });
        }
        chosen.extend(found);
    }
    Ok(chosen)
}

/// How alike two names must be to be suggested, on strsim's Jaro-Winkler scale of 0 to 1; below
/// this, suggestions for random words look silly.
const LIKENESS_WORTH_SUGGESTING: f64 = 0.8;

fn nearest(word: &str) -> Vec<String> {
    let wanted = normalised(word);
    let mut scored: Vec<(f64, String)> = parameter_sets()
        .iter()
        .flat_map(|set| [set.name, set.scheme])
        .map(|name| (strsim::jaro_winkler(&wanted, &normalised(name)), name.to_ascii_lowercase()))
        .filter(|(likeness, _)| *likeness >= LIKENESS_WORTH_SUGGESTING)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut names: Vec<String> = Vec::new();
    for (_, name) in scored {
        if !names.contains(&name) && names.len() < 3 {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(names: &[&str]) -> Result<Vec<&'static str>, SelectionError> {
        let names: Vec<String> = names.iter().map(|s| s.to_string()).collect();
        let selection = Selection::new(&names, &[], &[], &[], &[], false)?;
        Ok(selection.parameter_sets().iter().map(|set| set.name).collect())
    }

    #[test]
    fn a_name_may_be_written_as_people_write_it() {
        for word in ["ml-kem-768", "ML-KEM-768", "mlkem768", "ml_kem_768"] {
            assert_eq!(select(&[word]).unwrap(), ["ML-KEM-768"], "{word}");
        }
        assert_eq!(select(&["x25519"]).unwrap(), ["X25519"]);
    }

    #[test]
    fn a_scheme_means_all_its_parameter_sets_and_no_other_revision() {
        assert_eq!(select(&["ml-kem"]).unwrap(), ["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"]);
    }

    #[test]
    fn falcon_means_both_its_encodings_and_padded_means_one() {
        assert_eq!(select(&["falcon-512"]).unwrap(), ["Falcon-512", "Falcon-padded-512"]);
        assert_eq!(select(&["falcon-padded-512"]).unwrap(), ["Falcon-padded-512"]);
    }

    #[test]
    fn nothing_means_the_headline() {
        let mut expected = HEADLINE.to_vec();
        let mut got = select(&[]).unwrap();
        expected.sort();
        got.sort();
        assert_eq!(got, expected);
    }

    #[test]
    fn a_misspelt_name_is_answered_with_the_nearest() {
        let error = select(&["falcom-512"]).unwrap_err().to_string();
        assert!(error.contains("'falcom-512'") && error.contains("falcon-512"), "{error}");
        let error = select(&["zzzzqqqq"]).unwrap_err().to_string();
        assert!(!error.contains("did you mean"), "{error}");
    }

    #[test]
    fn filters_narrow_and_an_empty_result_is_an_error() {
        let levels = Selection::new(&[], &[Kind::Signature], &[1], &[], &[], false).unwrap();
        assert!(levels.is_default_scope());
        assert!(
            levels.parameter_sets().iter().all(|s| s.kind == Kind::Signature && s.level == Some(1))
        );
        let names = ["ml-kem-768".to_string()];
        assert!(matches!(
            Selection::new(&names, &[Kind::Signature], &[], &[], &[], false),
            Err(SelectionError::Empty(_))
        ));
    }

    #[test]
    fn an_implementation_filter_takes_library_variant_or_both() {
        let wants = |filter: &str, worker: &str, variant: &str| {
            Selection::new(&[], &[], &[], &[], &[filter.to_string()], false).unwrap().wants(
                Operation::Verify,
                worker,
                variant,
            )
        };
        assert!(wants("pqclean", "pqclean", "clean") && wants("pqclean", "pqclean", "avx2"));
        assert!(wants("avx2", "pqclean", "avx2") && wants("avx2", "libcrux", "avx2"));
        assert!(wants("pqclean:avx2", "pqclean", "avx2"));
        assert!(!wants("pqclean:avx2", "pqclean", "clean") && !wants("liboqs", "pqclean", "avx2"));
    }
}
