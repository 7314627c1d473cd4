//! Tests real reports, where available: every key of `NAME.expected.json` must be in what is read
//! from `NAME`, and equal.

use std::path::Path;

use serde_json::Value;

/// The parts of `expected` that are missing in `read`, each with its place.
fn differences(place: &str, expected: &Value, read: &Value, mismatches: &mut Vec<String>) {
    match (expected, read) {
        (Value::Object(expected), Value::Object(read)) => {
            for (key, value) in expected {
                differences(
                    &format!("{place}.{key}"),
                    value,
                    read.get(key).unwrap_or(&Value::Null),
                    mismatches,
                );
            }
        }
        (Value::Array(expected), Value::Array(read)) => {
            if expected.len() != read.len() {
                mismatches.push(format!("{place}: {} expected, {} read", expected.len(), read.len()));
            }
            for (i, (expected, read)) in expected.iter().zip(read).enumerate() {
                differences(&format!("{place}[{i}]"), expected, read, mismatches);
            }
        }
        (Value::Number(expected), Value::Number(read)) if expected.as_f64() == read.as_f64() => {}
        (expected, read) if expected == read => {}
        (expected, read) => mismatches.push(format!("{place}: expected {expected}, read {read}")),
    }
}

#[test]
fn awr_reader_matches_expected_values_of_real_reports() {
    let Some(folder) = crate::real::folder("what is expected of real reports") else { return };
    let mut mismatches = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".expected.json") else { continue };
        let mut expected: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let object = expected.as_object_mut().unwrap();
        // Remarks by the author of the file, not part of the report.
        object.remove("note");
        object.remove("load_profile_source");
        let file = object["file"].as_str().unwrap().to_owned();
        let text = String::from_utf8_lossy(&std::fs::read(folder.join(&file)).unwrap()).into_owned();
        let report = dyno_awr::read_report(&text, &file, 1).unwrap_or_else(|error| panic!("{file}: {error}"));
        let read =
            serde_json::to_value(dyno_awr::to_json(&report, dyno_awr::AwrJsonOptions::default())).unwrap();
        differences(stem, &expected, &read, &mut mismatches);
        for issue in report.issues.iter().filter(|issue| issue.is_error()) {
            mismatches.push(issue.line_of(&file));
        }
        count += 1;
    }
    assert!(count > 0, "{} holds no expected files", folder.display());
    assert!(
        mismatches.is_empty(),
        "{} differences in {count} reports:\n{}",
        mismatches.len(),
        mismatches.join("\n")
    );
}

/// All reports of the folder.
fn read_reports(folder: &Path) -> Vec<dyno_awr::AwrReport> {
    let mut reports = Vec::new();
    let pairs = std::fs::read_dir(folder.join("pairs")).into_iter().flatten();
    for entry in std::fs::read_dir(folder).unwrap().chain(pairs) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".txt") || name.ends_with(".html") {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            reports.push(dyno_awr::read_report(&text, &name, 1).unwrap());
        }
    }
    reports
}

/// Unusual content alone causes no warning: what remains are figures that the reports themselves
/// lost.
#[test]
fn real_awr_reports_cause_no_false_warnings() {
    let Some(folder) = crate::real::folder("warnings of real reports") else { return };
    let is_lost = |issue: &dyno_awr::Issue| {
        issue.message.contains("its column was too narrow") || issue.message.contains("names a unit")
    };
    let mut false_warnings = Vec::new();
    for report in read_reports(&folder) {
        let unexpected = report.issues.iter().filter(|issue| issue.is_error() || !is_lost(issue));
        false_warnings.extend(unexpected.map(|issue| issue.line_of(&report.file)));
    }
    assert!(
        false_warnings.is_empty(),
        "{} false warnings:\n{}",
        false_warnings.len(),
        false_warnings.join("\n")
    );
}

/// A text report and an HTML report of one interval of one instance agree, as far as their digits
/// go.
#[test]
fn text_and_html_of_one_interval_agree() {
    let Some(folder) = crate::real::folder("text and HTML of one interval") else { return };
    let reports = read_reports(&folder);
    let key = |report: &dyno_awr::AwrReport| {
        let value = |name| report.value(name).map(|value| value as u64);
        (report.kind, value("dbid"), value("inst_num"), value("begin_snap"), value("end_snap"))
    };
    let mut mismatches = Vec::new();
    let mut pairs = 0;
    for text in reports.iter().filter(|report| report.form == dyno_awr::AwrFormat::Text) {
        for html in reports.iter().filter(|report| report.form == dyno_awr::AwrFormat::Html) {
            if key(text) != key(html) {
                continue;
            }
            pairs += 1;
            for (name, a) in &text.figures {
                let Some(b) = html.figures.get(name) else { continue };
                // Both are rounded, and rounding of halves differs.
                let room = (a.reading.step + b.reading.step) * 0.51 + 1e-9 * a.reading.value.abs();
                if (a.reading.value - b.reading.value).abs() > room {
                    mismatches.push(format!("{}: {name}: {:?} and {:?}", text.file, a.reading, b.reading));
                }
            }
            let lists = |report: &dyno_awr::AwrReport| {
                let lists = [&report.foreground_events, &report.background_events, &report.top_events];
                lists.into_iter().flatten().cloned().collect::<Vec<_>>()
            };
            for (a, b) in lists(text).iter().zip(lists(html)) {
                let waits = [a.waits, b.waits].map(|waits| waits.map(|waits| waits.value));
                if !b.name.starts_with(&a.name) || waits[0] != waits[1] {
                    mismatches.push(format!("{}: {} {waits:?} {}", text.file, a.name, b.name));
                }
            }
            let shape = |report: &dyno_awr::AwrReport| {
                let statements: Vec<_> =
                    report.statements.iter().map(|l| (l.order.clone(), l.statements.len())).collect();
                let segments: Vec<_> =
                    report.segments.iter().map(|l| (l.order.clone(), l.segments.len())).collect();
                let histograms: Vec<_> = report.histograms.iter().map(|h| h.bands.len()).collect();
                let io = [&report.io_functions, &report.io_filetypes, &report.tablespaces, &report.files];
                (
                    statements,
                    segments,
                    histograms,
                    io.map(|rows| rows.iter().map(|row| row.figures.clone()).collect::<Vec<_>>().len()),
                )
            };
            assert_eq!(shape(text), shape(html), "{}", text.file);
            let common = text.figures.keys().filter(|name| html.figures.contains_key(*name)).count();
            assert!(
                common * 10 >= text.figures.len() * 7,
                "{}: {common} of {}",
                text.file,
                text.figures.len()
            );
        }
    }
    assert!(
        mismatches.is_empty(),
        "{} differences in {pairs} pairs:\n{}",
        mismatches.len(),
        mismatches.join("\n")
    );
}
