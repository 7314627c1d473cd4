//! Tests every format with the same runs.

use dyno_analyze::{fixture, judge};
use dyno_record::{Host, Observed, Role, RunRecord};

use super::*;

fn records() -> Vec<RunRecord> {
    let record = |i: u32| {
        let mut record = fixture::postgres();
        record.plan.run.sessions_per_schema = 4;
        record.plan.workload.update_pct = 20 + i;
        record.id = format!("run-{i}");
        judge(&mut record);
        record
    };
    (0..3).map(record).collect()
}

fn export(name: &str, records: &[RunRecord], chart: Option<&str>) -> Result<Vec<u8>, ExportError> {
    let exporter = EXPORTERS.iter().find(|exporter| exporter.name == name).unwrap();
    let request = ReportRequest {
        made_at: "2026-01-01T00:00:00Z".into(),
        chart: chart.map(str::to_owned),
        ..ReportRequest::default()
    };
    let mut bytes = Vec::new();
    (exporter.export)(&Report::of(records), &request, &mut bytes).map(|()| bytes)
}

#[test]
fn every_export_format_contains_every_run() {
    let records = records();
    for name in ["html", "md", "csv", "json"] {
        let text = String::from_utf8(export(name, &records, None).unwrap()).unwrap();
        for record in &records {
            assert!(text.contains(&record.id), "{name} is silent about {}", record.id);
        }
    }
}

#[test]
fn json_export_contains_the_records() {
    let records = records();
    let json: serde_json::Value = serde_json::from_slice(&export("json", &records, None).unwrap()).unwrap();
    let read: Vec<RunRecord> = serde_json::from_value(json["runs"].clone()).unwrap();
    assert_eq!(read, records);
    assert_eq!(json["answers"]["curves"].as_array().map(Vec::len), Some(3), "one for each share of updates");
    let single_run = String::from_utf8(export("json", &records[..1], None).unwrap()).unwrap();
    assert!(single_run.starts_with("{\n  \"answers\": {"), "the answer stands in front");
    assert_eq!(RunRecord::from_json(&single_run).unwrap(), records[0], "and the record is one all the same");
}

#[test]
fn csv_export_has_header_and_one_line_per_run() {
    let text = String::from_utf8(export("csv", &records(), None).unwrap()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].contains("ops_per_s"), "{}", lines[0]);
    assert!(lines[0].contains("workload.update_pct"), "{}", lines[0]);
}

#[test]
fn unknown_chart_error_lists_available_charts() {
    let error = export("svg", &records(), Some("petals")).unwrap_err().to_string();
    assert!(error.contains("\"petals\""), "{error}");
    assert!(error.contains("throughput"), "{error}");
}

#[cfg(feature = "png")]
#[test]
fn png_export_is_valid_or_reports_missing_font() {
    match export("png", &records(), Some("throughput")) {
        Ok(bytes) => assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 5_000, "{} bytes", bytes.len()),
        // A machine without fonts must report an error instead of drawing charts without labels.
        Err(error) => assert!(error.to_string().contains("no font"), "{error}"),
    }
}

/// The page and the text state to which host processor figures belong if the database runs elsewhere, and
/// nothing if it does not.
#[test]
fn results_name_the_host_of_remote_processor_figures() {
    let mut records = records();
    let text = |records: &[RunRecord], name| String::from_utf8(export(name, records, None).unwrap()).unwrap();
    for name in ["html", "md"] {
        assert!(!text(&records, name).contains("CPU and device are those of"), "{name}");
    }
    for record in &mut records {
        record.hosts[0].roles = [Role::Driver].into();
        record.targets[0].identity.same_host = false;
        let observed = Observed { url: "ssh://db2".into(), targets: [1].into(), ..Observed::default() };
        record.hosts.push(Host {
            name: "d<b2".into(),
            roles: [Role::Database].into(),
            observed: Some(observed),
            ..Host::default()
        });
    }
    for name in ["html", "md"] {
        let text = text(&records, name);
        let words = "CPU and device are those of d&lt;b2 (ssh://db2) (attribution unknown), \
                     and its counters were not read to the end.";
        assert_eq!(text.matches(words).count(), 1, "{name}: once for all runs");
    }
}
