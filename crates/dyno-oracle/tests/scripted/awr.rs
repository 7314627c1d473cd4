//! Tests snapshots around a run, and the reports between them.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use dyno_engine::OwnReport;
use dyno_plan::AwrObserveMode;
use dyno_testbed::{
    ScriptedAnswer, ScriptedCall, ScriptedOptions, ScriptedOracle, ScriptedType, ScriptedValue,
};

use crate::answers::{column, server, target, text};

/// A database of `instances` instances that allows AWR and STATSPACK; its first snapshot is 17.
fn database(instances: i64) -> ScriptedOracle {
    let snapshots = AtomicI64::new(17);
    server(ScriptedOptions::default(), move |ScriptedCall { sql, executions, .. }| {
        let words = sql.to_lowercase();
        if words.contains("control_management_pack_access'") {
            return Some(column("VALUE", ScriptedType::Text, vec![text("DIAGNOSTIC+TUNING")]));
        }
        if words.contains(":snapshot :=") {
            // Parsing the statement does not create a snapshot.
            let number = snapshots.fetch_add(1, SeqCst);
            return Some(ScriptedAnswer::Returned(vec![ScriptedValue::Int(number)]));
        }
        if words.contains("from gv$instance") {
            let row = |number| {
                let texts = ["orcl", "host", "2026-01-01T00:00:00", "OPEN"].map(text);
                [vec![ScriptedValue::Int(number)], texts.to_vec()].concat()
            };
            let text_column = |name| (name, ScriptedType::Text);
            let columns = ["INSTANCE_NAME", "HOST_NAME", "STARTED", "STATUS"].map(text_column);
            let columns = [vec![("INST_ID", ScriptedType::Number)], columns.to_vec()].concat();
            return Some(ScriptedAnswer::Rows { columns, rows: (1..=instances).map(row).collect() });
        }
        if words.contains("con_dbid") {
            let columns = vec![("DBID", ScriptedType::Number), ("INSTANCE_NUMBER", ScriptedType::Number)];
            return Some(ScriptedAnswer::Rows {
                columns,
                rows: vec![[42, 1].map(ScriptedValue::Int).to_vec()],
            });
        }
        if words.contains("_report_html") {
            let binds = format!("<p>{:?}</p>", executions[0]);
            return Some(column("OUTPUT", ScriptedType::Text, vec![text("<html>"), text(&binds)]));
        }
        None
    })
}

fn reports(instances: i64, awr: AwrObserveMode) -> Vec<OwnReport> {
    let server = database(instances);
    target(&server, "").reporter(awr).unwrap().unwrap().finish().unwrap()
}

#[test]
fn cluster_awr_has_global_and_per_instance_reports() {
    let reports = reports(2, AwrObserveMode::Awr);
    let endings: Vec<&str> = reports.iter().map(|report| report.file_ending.as_str()).collect();
    assert_eq!(endings, ["awr.html", "instance-1.awr.html", "instance-2.awr.html"]);
    assert_eq!(reports[0].name, "AWR snapshots 17 to 18");
    assert_eq!(reports[2].name, "AWR snapshots 17 to 18, instance 2");
    for (report, binds) in reports.iter().zip(["42, 17, 18", "42, 1, 17, 18", "42, 2, 17, 18"]) {
        let numbers = report.text.replace("Int(", "").replace(')', "");
        assert!(numbers.contains(binds), "{}: {}", report.name, report.text);
        assert!(report.text.starts_with("<html>\n"), "{}", report.text);
    }
}

#[test]
fn awr_snapshots_at_window_boundaries_replace_the_first_one() {
    let server = database(1);
    let mut reporter = target(&server, "").reporter(AwrObserveMode::Awr).unwrap().unwrap();
    reporter.begin().unwrap();
    reporter.end().unwrap();
    assert_eq!(reporter.finish().unwrap()[0].name, "AWR snapshots 18 to 19");
}

#[test]
fn awr_of_single_instance_has_one_report() {
    let reports = reports(1, AwrObserveMode::Awr);
    assert_eq!(reports.len(), 1);
    assert_eq!(
        (reports[0].file_ending.as_str(), reports[0].name.as_str()),
        ("awr.html", "AWR snapshots 17 to 18")
    );
}

#[test]
fn statspack_gets_a_script_with_both_snapshots() {
    let reports = reports(1, AwrObserveMode::Statspack);
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].file_ending, "statspack.sql");
    assert!(reports[0].text.contains("begin_snap = 17\nDEFINE end_snap = 18\n"), "{}", reports[0].text);
}
