//! Tests that the stored JSON Schema matches the types and accepts only records.

use std::path::PathBuf;

use dyno_record::{RunRecord, schema};
use serde_json::{Value, json};

/// The variable that makes the tests rewrite the schema file.
const BLESS: &str = "DYNO_BLESS";

fn schema_file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../catalog/schema/run-record.schema.json")
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&schema()).expect("the schema is a JSON Schema")
}

/// Records as programs write them: complete, ended before any measurement, with absent figures, and imported.
fn samples() -> Vec<(&'static str, Value)> {
    [
        ("full", include_str!("../records/full.json")),
        ("minimal", include_str!("../records/minimal.json")),
        ("absent", include_str!("../records/absent.json")),
        ("imported", include_str!("../records/imported.json")),
    ]
    .map(|(name, text)| (name, serde_json::from_str(text).expect("the sample is JSON")))
    .to_vec()
}

#[test]
fn checked_in_schema_is_current() {
    let text = format!("{}\n", serde_json::to_string_pretty(&schema()).unwrap());
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(schema_file(), &text).unwrap();
    }
    let stored = std::fs::read_to_string(schema_file()).unwrap_or_default();
    assert!(
        stored == text,
        "catalog/schema/run-record.schema.json is not current: run the tests with {BLESS}=1"
    );
}

#[test]
fn schema_is_valid_and_has_its_id() {
    let schema = schema();
    assert!(jsonschema::meta::is_valid(&schema));
    assert_eq!(schema["$id"], "urn:dyno:run-record:2");
    for key in [
        "schema_version",
        "kind",
        "id",
        "started_at",
        "status",
        "reasons",
        "plan",
        "targets",
        "hosts",
        "gate",
        "window",
        "ops",
        "metrics",
        "waits",
        "series",
        "audit",
    ] {
        assert!(
            schema["properties"][key]["description"].is_string()
                || schema["properties"][key]["$ref"].is_string()
        );
        assert!(schema["required"].as_array().unwrap().contains(&json!(key)), "{key} is not required");
    }
    for key in ["mean", "p50", "p90", "p95", "p99", "p999", "max", "histogram"] {
        assert!(schema["$defs"]["Latency"]["properties"][key].is_object(), "{key}");
    }
}

#[test]
fn sample_records_validate_and_round_trip() {
    let validator = validator();
    for (name, sample) in samples() {
        let faults: Vec<String> = validator.iter_errors(&sample).map(|e| e.to_string()).collect();
        assert!(faults.is_empty(), "{name}: {faults:?}");
        let record = RunRecord::from_json(&sample.to_string()).unwrap();
        let written: Value = serde_json::from_str(&record.to_json().unwrap()).unwrap();
        assert_eq!(written, sample, "{name}");
    }
}

#[test]
fn broken_records_do_not_validate() {
    let validator = validator();
    let whole = samples().remove(0).1;
    assert!(validator.is_valid(&whole));
    let broken = |pointer: &str, value: Value| {
        let mut record = whole.clone();
        *record.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer} in the sample")) = value;
        assert!(!validator.is_valid(&record), "{pointer} should not be valid");
    };
    broken("/status", json!("splendid"));
    broken("/schema_version", json!(1));
    broken("/kind", json!("splendid"));
    broken("/gate/sessions", json!(-1));
    broken("/window/seconds", json!("10"));
    broken("/ops/all/count", json!(1.5));
    broken("/ops/all/service_us/p99", json!("fast"));
    broken("/metrics/logical_reads_per_s", json!({"value": 1.0}));
    broken("/metrics/logical_reads_per_s", json!({"value": 1.0, "unit": "furlongs"}));
    broken("/waits", json!({}));
    broken("/counters/portable", json!({"splendour": {"absent": "nobody knows"}}));
    broken("/audit/0/status", json!("perhaps"));
    broken("/plan/workload/redo", json!("none"));
    for key in whole.as_object().unwrap().keys() {
        if ["whole", "variant", "tags", "one_target_of", "imported", "profile"].contains(&key.as_str()) {
            continue;
        }
        let mut record = whole.clone();
        record.as_object_mut().unwrap().remove(key);
        assert!(!validator.is_valid(&record), "a record without {key} should not be valid");
    }
}
