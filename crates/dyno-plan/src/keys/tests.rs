//! Tests that the list of keys is complete and that its defaults and examples are valid.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::engine::fixture::{ENGINES, nothing};
use crate::read::{PlanSource, read};

fn read_sets(sets: &[String]) -> Result<Plan, crate::PlanErrors> {
    read_sets_at("sqlite:dyno.db", sets)
}

fn read_sets_at(target: &str, sets: &[String]) -> Result<Plan, crate::PlanErrors> {
    let target = Some(target.to_owned());
    read(&PlanSource { target, sets: sets.to_vec(), ..nothing() })
}

/// Paths of all fields of `Plan` from its JSON Schema, which includes optional fields.
fn fields_of_plan() -> BTreeSet<String> {
    let schema = serde_json::to_value(schemars::schema_for!(Plan)).unwrap();
    let properties = |value: &Value| value["properties"].as_object().cloned().unwrap_or_default();
    let mut paths = BTreeSet::new();
    for (name, property) in properties(&schema) {
        let definition = property["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
        let fields = definition.map(|name| properties(&schema["$defs"][name])).unwrap_or_default();
        if fields.is_empty() {
            paths.insert(name);
        } else {
            paths.extend(fields.keys().map(|field| format!("{name}.{field}")));
        }
    }
    paths
}

#[test]
fn key_list_matches_plan_fields() {
    let listed: BTreeSet<_> = all().map(|key| key.path.to_owned()).collect();
    let mut fields = fields_of_plan();
    assert!(fields.remove("sweep.axes"), "axes are keys of other sections");
    assert!(fields.remove("workload.own_rates"), "folders of workloads say them");
    assert_eq!(listed, fields);
    assert_eq!(listed.len(), all().count(), "a key is listed twice");
    assert!(listed.len() > 25);
}

#[test]
fn plan_keys_are_listed_in_their_section() {
    for section in &SECTIONS {
        assert!(section.keys.iter().all(|key| key.section() == section.name), "{}", section.name);
    }
}

#[test]
fn key_default_is_valid_and_shown_in_plan() {
    let plan = read_sets(&[]).unwrap();
    for key in all() {
        let shown = key.get(&plan);
        match key.default {
            Fallback::Value("60s") => assert_eq!(shown.as_deref(), Some("1m")),
            Fallback::Value(value) => assert_eq!(shown.as_deref(), Some(value), "{}", key.path),
            Fallback::None(_) => assert_eq!(shown, None, "{}", key.path),
            Fallback::Required => assert_eq!(key.path, "target.url"),
        }
    }
}

#[test]
fn key_example_is_valid_and_changes_only_its_key() {
    // `several_targets_are_read_from_files_and_options` tests the keys of several targets.
    let (scan, own) = ("data.scan_scale=10".to_owned(), "workload.folder=shop".to_owned());
    let left_out =
        |path| matches!(path, "version" | "target.url" | "target.urls" | "target.count" | "target.weights");
    for key in all().filter(|key| !left_out(key.path)) {
        // One key belongs to a single engine.
        let target = match key.path {
            "workload.commit" | "observe.awr" => "oracle://u@h/s",
            "target.observe_url" | "workload.protocol" | "observe.host" | "observe.hosts" => {
                "postgres://u@h/d"
            }
            _ => "sqlite:dyno.db",
        };
        // One key belongs to custom workloads only.
        let beside = if key.path == "workload.connect" { &own } else { &scan };
        let defaults =
            read_sets_at(target, std::slice::from_ref(beside)).unwrap_or_else(|errors| panic!("{errors}"));
        let plan = read_sets_at(target, &[beside.clone(), format!("{}={}", key.path, key.example)])
            .unwrap_or_else(|errors| panic!("{errors}"));
        let differing: Vec<_> =
            all().filter(|key| key.get(&plan) != key.get(&defaults)).map(|key| key.path).collect();
        let expected =
            if key.path == "run.ops_per_session" { vec!["run.time", key.path] } else { vec![key.path] };
        assert_eq!(differing, expected);
    }
}

#[test]
fn every_plan_key_is_documented() {
    for key in all() {
        assert!(key.doc.ends_with('.'), "{}", key.path);
        assert!(!key.allowed().is_empty(), "{}", key.path);
        assert!(!key.example.is_empty(), "{}", key.path);
        assert!(key.more.is_empty() || key.more.ends_with('.'), "{}", key.path);
    }
}

fn key_is_command(path: &str) -> bool {
    matches!(find(path).unwrap().kind, PlanKeyKind::Command { .. })
}

#[test]
fn plan_key_limits_are_inclusive() {
    let accepted = |path: &str, value: &str| {
        let mut plan = read_sets(&[]).unwrap();
        find(path).unwrap().kind.put(&mut plan, RawValue::Text(value), ENGINES).is_ok()
    };
    for (path, good, bad) in [
        ("version", "1 1", "0 2"),
        ("target.count", "1 100", "0 101"),
        ("target.connect_timeout", "100ms 10m", "99ms 601s"),
        ("data.schemas", "1 10000", "0 10001"),
        ("data.scale", "1 1000000000000 4K 1000T", "0 1000000000001 4095B 1025000T 0B"),
        ("data.scan_scale", "0 0B 1000000000000 1000T", "1000000000001 1B"),
        ("data.block_size", "4K 8192 64K", "2K 128K 12K 0 4097"),
        ("data.compressible", "0 100", "101"),
        ("data.seed", "0 18446744073709551615", "18446744073709551616"),
        ("data.load_parallel", "1 256", "0 257"),
        ("workload.update_pct", "0 100", "101"),
        ("workload.scan_pct", "0 100", "101"),
        ("workload.lookup_pct", "0 100", "101"),
        ("workload.secondary_pct", "0 100", "101"),
        ("workload.insert_pct", "0 50 100", "101"),
        ("workload.delete_pct", "0 50 100", "101"),
        ("workload.work_unit", "1 1000000", "0 1000001"),
        ("workload.keys", "uniform zipf latest", "Zipf pareto"),
        ("workload.zipf_exponent", "0.01 0.99 1 1.0 10", "0 0.009 10.01 inf 1. .5 +1 1e0"),
        ("workload.hot_spot_every", "0 3 1000000", "1000001"),
        ("workload.hot_spot_offset", "0 0B 100 16M", "1B"),
        ("workload.hot_spot_size", "1 8M", "0 0B 1B"),
        ("workload.hot_schema_every", "0 1 1000000", "1000001"),
        ("workload.think_every", "0 1 1000000", "1000001"),
        ("workload.think_min", "0s 1ms 1h", "61m 5"),
        ("workload.think_max", "0s 0.1s 1h", "61m 5"),
        ("workload.think_compensated", "true false", "yes 1 True"),
        ("workload.redo", "lite heavy", "Lite none"),
        ("workload.drive", "client server", "both"),
        ("workload.commit", "wait nowait plsql", "batch"),
        ("workload.protocol", "prepared extended simple", "binary"),
        ("workload.rate", "0.001/s 100000000/s off", "0/s 100000001/s 0.0009/s nan/s inf/s 5000 OFF"),
        ("workload.seed", "fresh 0 18446744073709551615", "Fresh 18446744073709551616 -1"),
        ("workload.arrivals", "poisson constant", "random"),
        ("run.sessions_per_schema", "1 100000", "0 100001"),
        ("run.threads", "1 1024", "0 1025"),
        ("run.warmup", "0s 24h", "25h 0 5"),
        ("run.time", "1s 720h", "999ms 721h 30 0s"),
        ("run.ops_per_session", "1 1000000000000", "0 1000000000001"),
        ("run.drain", "100ms 1h", "0s 61m"),
        ("run.drop_page_cache", "true false", "yes 1 on"),
        ("run.on_lost", "fail reconnect", "true retry"),
        ("observe.interval", "100ms 1h", "99ms 61m 0s"),
        ("observe.waits", "0.1/s 1000/s off", "0.01/s 1001/s on"),
        ("observe.host", "auto driver", "database off"),
        (
            "observe.hosts",
            "ssh://db1 ssh://a@b:22 node-exporter://db1 node-exporter+https://db1:9100 agent agent://db1",
            "db1 ssh://a:b@c http://db1 ssh://-x",
        ),
        ("observe.awr", "off statspack awr", "auto"),
        ("hooks.before_run", "sync mysql_pwd=$X a://b:c", "password=x mysql_pwd='x' a://b:c@d"),
        ("hooks.after_run", "--password=$P", "--Password=P"),
        ("hooks.pre", "sync", "password=x"),
        ("hooks.post", "sync", "password=x"),
        ("hooks.end", "sync", "password=x"),
        ("hooks.timeout", "1s 24h", "999ms 25h"),
        ("sweep.until", "end saturation", "knee"),
        ("sweep.repeats", "1 1000", "0 1001"),
        ("sweep.order", "random up up-down", "down"),
        ("sweep.seed", "0 18446744073709551615", "18446744073709551616"),
        ("sweep.pause", "0s 24h", "25h"),
        ("observe.perf", "true false", "yes 1 on"),
        ("target.shared", "true false", "yes 1 TRUE"),
        ("target.password_env", "DYNO_PASSWORD _x1", "1x a-b pass!word"),
        ("target.password_file", "/run/x ~/.secret", "\0"),
        (
            "target.url",
            "sqlite:x postgres://h/d mysql://h/d mariadb://h/d oracle://h/s",
            "nosuch://h/d x sqlite:",
        ),
    ] {
        assert!(good.split(' ').all(|value| accepted(path, value)), "{path}: one of {good} is refused");
        let named = path.starts_with("target.password") || key_is_command(path);
        let never = ["-1", "1e18", "nan", "", "１"].iter().copied().filter(|_| !named);
        for value in bad.split(' ').chain(never) {
            assert!(!accepted(path, value), "{path}: {value:?} is accepted");
        }
    }
    assert!(!accepted("target.password_file", ""));
    assert!(!accepted("target.password_file", "a\0"));
}
