//! Real reports, where they are at hand: every key of `NAME.expected.json` must be in what is read from `NAME`, and equal.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Where the reports are: a folder beside the repository, or the one that `DYNO_AWR_REPORTS` names.
fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/awr");
    let named = std::env::var_os("DYNO_AWR_REPORTS").map(PathBuf::from);
    named.into_iter().chain([beside]).find(|folder| folder.is_dir())
}

/// What of `expected` is not in `read`, each with its place.
fn differences(place: &str, expected: &Value, read: &Value, found: &mut Vec<String>) {
    match (expected, read) {
        (Value::Object(expected), Value::Object(read)) => {
            for (key, value) in expected {
                differences(&format!("{place}.{key}"), value, read.get(key).unwrap_or(&Value::Null), found);
            }
        }
        (Value::Array(expected), Value::Array(read)) => {
            if expected.len() != read.len() {
                found.push(format!("{place}: {} expected, {} read", expected.len(), read.len()));
            }
            for (i, (expected, read)) in expected.iter().zip(read).enumerate() {
                differences(&format!("{place}[{i}]"), expected, read, found);
            }
        }
        (Value::Number(expected), Value::Number(read)) if expected.as_f64() == read.as_f64() => {}
        (expected, read) if expected == read => {}
        (expected, read) => found.push(format!("{place}: expected {expected}, read {read}")),
    }
}

#[test]
fn every_expected_key_is_read() {
    let Some(folder) = folder() else {
        eprintln!("skipped: no folder of real reports (DYNO_AWR_REPORTS names one)");
        return;
    };
    let mut found = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".expected.json") else { continue };
        let mut expected: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let object = expected.as_object_mut().unwrap();
        // Words of whoever wrote the file, not of the report.
        object.remove("note");
        object.remove("load_profile_source");
        let file = object["file"].as_str().unwrap().to_owned();
        let text = String::from_utf8_lossy(&std::fs::read(folder.join(&file)).unwrap()).into_owned();
        let report = dyno_awr::read_report(&text, &file, 1).unwrap_or_else(|error| panic!("{file}: {error}"));
        differences(stem, &expected, &dyno_awr::to_json(&report), &mut found);
        for issue in report.issues.iter().filter(|issue| issue.is_error()) {
            found.push(issue.line_of(&file));
        }
        count += 1;
    }
    assert!(count > 0, "{} holds no expected files", folder.display());
    assert!(found.is_empty(), "{} differences in {count} reports:\n{}", found.len(), found.join("\n"));
}
