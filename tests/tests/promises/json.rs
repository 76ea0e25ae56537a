//! What `--json` prints is what docs/schema says.

use crate::program::{Said, pqlab, pqlab_run, said};
use crate::workshop::Workshop;
use serde_json::Value;
use std::path::Path;

fn from_repository(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Parses the output and holds it against a schema.
fn valid(said: &Said, schema: &str) -> Value {
    let schema = from_repository(&format!("docs/schema/{schema}.schema.json"));
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let value: Value = serde_json::from_str(&said.output)
        .unwrap_or_else(|error| panic!("{error}: {:?} {}", said.output, said.errors));
    let validator = jsonschema::validator_for(&schema).unwrap();
    let violations: Vec<String> = validator
        .iter_errors(&value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(violations, Vec::<String>::new());
    value
}

/// A schema that admits anything would prove nothing.
#[test]
fn the_schemas_refuse_what_is_missing_and_what_is_unknown() {
    for name in ["list", "results"] {
        let schema = from_repository(&format!("docs/schema/{name}.schema.json"));
        let schema: Value = serde_json::from_str(&schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(!validator.is_valid(&serde_json::json!({})), "{name}");
        assert!(!validator.is_valid(&serde_json::json!([])), "{name}");
    }
}

#[test]
fn list_is_valid_with_workers_and_without() {
    let workshop = Workshop::with(&["garbage-at-hello"]);
    let folder = workshop.folder().to_str().unwrap();
    let listed = valid(&said(pqlab(["list", "--json", "--workers", folder])), "list");
    let here = |set: &Value| {
        let implementations = set["implementations"].as_array().unwrap();
        implementations.iter().any(|implementation| implementation["library"] == "honest")
    };
    let sets = listed["parameter_sets"].as_array().unwrap();
    let mut ids: Vec<&Value> = sets.iter().filter(|set| here(set)).map(|set| &set["id"]).collect();
    ids.sort_by_key(|id| id.as_str());
    assert_eq!(ids, ["ed25519", "x25519"]);
    assert_eq!(listed["unusable_workers"][0]["worker"], "garbage-at-hello");

    let nowhere = tempfile::tempdir().unwrap();
    let folder = nowhere.path().to_str().unwrap();
    let listed = valid(&said(pqlab(["list", "--json", "--workers", folder])), "list");
    assert_eq!(listed["parameter_sets"].as_array().unwrap().len(), sets.len());
}

/// As it lies in this source tree, where the workers' manifests are.
#[test]
fn list_is_valid_in_the_source_tree() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let nowhere = tempfile::tempdir().unwrap();
    let mut list = pqlab(["list", "--json", "--workers", nowhere.path().to_str().unwrap()]);
    list.env("PQLAB_ROOT", root);
    valid(&said(list), "list");
}

#[test]
fn run_and_show_are_valid_and_the_same() {
    let workshop = Workshop::with(&["wrong-secret", "segfault-at-measure"]);
    let path = workshop.output();
    let words = ["x25519", "--op", "derive", "--precision", "90", "--json", "--output"];
    let run = said(pqlab_run(&workshop, &[&words[..], &[path.to_str().unwrap()]].concat()));
    assert_eq!(run.code, Some(3), "{}", run.errors);
    let of_run = valid(&run, "results");
    assert_eq!(of_run["rows"].as_array().unwrap().len(), 3);
    assert!(of_run["faults"].as_array().unwrap().len() >= 2);

    let packed = path.with_extension("jsonl.zst");
    let of_show = valid(&said(pqlab(["show", "--json", packed.to_str().unwrap()])), "results");
    assert_eq!(of_run, of_show);
}

#[test]
fn the_approved_run_is_valid() {
    let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/small.pqlab.jsonl");
    valid(&said(pqlab(["show", "--json", small.to_str().unwrap()])), "results");
}
