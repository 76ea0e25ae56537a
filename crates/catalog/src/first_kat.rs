//! The published hash of each parameter set's first known-answer vector.

use crate::ParameterSet;

/// `data/vectors/first-kat/first-kat.tsv`: name, tab, hash. Origin and licence stand beside it.
const FIRST_KAT: &str = include_str!("../../../data/vectors/first-kat/first-kat.tsv");

/// SHA-256, in lower-case hex, of the text of the first vector of the NIST `.rsp` file of `set`;
/// `None` where no such hash was published for this revision.
pub fn first_kat_sha256(set: &ParameterSet) -> Option<&'static str> {
    FIRST_KAT.lines().find_map(|line| {
        let (name, hash) = line.split_once('\t')?;
        (name == set.name).then_some(hash)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{find, parameter_sets};

    #[test]
    fn every_row_of_the_file_belongs_to_a_parameter_set() {
        for line in FIRST_KAT.lines() {
            let (name, hash) = line.split_once('\t').expect(line);
            assert_eq!(find(name).map(|set| set.name), Some(name));
            assert!(hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()), "{line}");
        }
    }

    #[test]
    fn every_liboqs_scheme_has_a_hash_and_slh_dsa_has_none() {
        let without: Vec<_> = parameter_sets()
            .iter()
            .filter(|set| set.level.is_some() && first_kat_sha256(set).is_none())
            .map(|set| set.scheme)
            .collect();
        assert!(without.iter().all(|s| *s == "SLH-DSA" || *s == "FN-DSA"), "{without:?}");
    }
}
