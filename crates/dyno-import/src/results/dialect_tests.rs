//! Tests with tables as users write them.

use std::io::Cursor;

use dyno_record::RunRecord;

use super::super::context::ImportContext;
use super::super::record::ImportLines;
use super::*;

/// The records of `text`, or the error with its hint.
fn read(text: &str, maps: &[&str], args: &TableNotation) -> Result<Vec<RunRecord>, String> {
    let maps: Vec<ColumnMapping> = maps.iter().map(|map| map.parse().unwrap()).collect();
    let mut source = ImportFile::over(Cursor::new(text.to_owned()));
    let common = ImportContext::for_test("t.csv");
    let words = |error: Error| format!("{error} {}", error.hint());
    let (dialect, _) = detect_dialect(&mut source, &maps, args).map_err(words)?;
    let mut lines = ImportLines::new(&mut source, &maps, &common, &dialect);
    let mut records = Vec::new();
    let take = |line: &mut Vec<RunRecord>| {
        records.append(line);
        Ok(())
    };
    lines.each(take).map_err(words)?;
    Ok(records)
}

fn rates(text: &str, args: &TableNotation) -> Result<Vec<(u32, f64)>, String> {
    let records = read(text, &["Threads=sessions", "TPS=ops_per_s"], args)?;
    let rate = |record: &RunRecord| record.metrics["ops_per_s"].value().unwrap();
    Ok(records.iter().map(|record| (record.gate.sessions, rate(record))).collect())
}

#[test]
fn separator_and_decimal_mark_are_detected_for_whole_table() {
    let auto = TableNotation::default();
    for (text, rate) in [
        ("Threads;TPS;p95\n8;1234,5;3,21\n", 1234.5),
        ("Threads;TPS\n8;1.234\n8;1.234,5\n", 1234.0),
        ("Threads;TPS\n8;1.234\n8;2.5\n", 1.234),
        ("Threads\tTPS\tp95\n8\t1234.5\t3.21\n", 1234.5),
        ("Threads|TPS\n8|1234\n", 1234.0),
        ("\"Threads\",\"TPS\"\n8,\"1,034.8\"\n", 1034.8),
        ("\"Threads\",\"TPS\"\n8,\"1,034\"\n9,\"12.5\"\n", 1034.0),
        ("Threads,TPS\n8,1.234\n", 1.234),
        ("Threads,TPS\n8,1 034 567\n", 1_034_567.0),
        ("tool: x\nThreads: 8\nTPS: 1034.8\n", 1034.8),
        ("Threads = 8\nTPS = 1034.8\n", 1034.8),
        ("name,value\nThreads,8\nTPS,1034.8\n", 1034.8),
    ] {
        assert_eq!(rates(text, &auto).unwrap()[0], (8, rate), "{text}");
    }
}

#[test]
fn ambiguous_number_is_refused_until_option_decides() {
    let auto = TableNotation::default();
    for text in ["Threads;TPS\n8;1.234\n", "Threads\tTPS\n8\t1,234\n", "Threads,TPS\n8,\"1,234\"\n"] {
        let error = rates(text, &auto).unwrap_err();
        assert!(error.contains("--decimal-mark point reads 1"), "{error}");
        for (mark, other) in [(DecimalMark::Point, ','), (DecimalMark::Comma, '.')] {
            let args = TableNotation { decimal_mark: Some(mark), ..TableNotation::default() };
            let is_grouped = text.split_once('8').unwrap().1[1..].contains(other);
            assert_eq!(rates(text, &args).unwrap()[0].1, if is_grouped { 1234.0 } else { 1.234 }, "{text}");
        }
    }
    let error = rates("Threads;TPS\n8;1,5\n9;1.5\n", &auto).unwrap_err();
    assert!(error.contains("\"1.5\" (line 3) has a decimal point and \"1,5\" (line 2)"), "{error}");
    let point = TableNotation { decimal_mark: Some(DecimalMark::Point), ..TableNotation::default() };
    assert!(rates("Threads;TPS\n8;1,5\n", &point).unwrap_err().contains("\"1,5\" is not a number"));
    assert!(rates("Threads,TPS\n8.5,1\n", &auto).unwrap_err().contains("not a number of sessions"));
}

#[test]
fn ambiguous_date_needs_column_evidence_or_option() {
    let started = |text: &str, args: &TableNotation| {
        read(text, &["Start=started_at", "TPS=ops_per_s"], args)
            .map(|records| records[0].started_at.chars().take(16).collect::<String>())
    };
    let utc = TableNotation { time_zone: Some("UTC".into()), ..TableNotation::default() };
    let month = TableNotation { date_order: Some(DateOrder::MonthDay), ..utc.clone() };
    let ambiguous = "Start,TPS\n1/7/2020 20:01,100\n";
    assert!(started(ambiguous, &utc).unwrap_err().contains("--date-order month-day"));
    assert_eq!(started(ambiguous, &month).unwrap(), "2020-01-07T20:01");
    let more = format!("{ambiguous}1/13/2020 20:01,100\n");
    assert_eq!(started(&more, &utc).unwrap(), "2020-01-07T20:01");
    assert!(started(&more, &TableNotation::default()).unwrap_err().contains("--time-zone"));
    assert!(
        started(&format!("{more}14/1/2020 20:01,1\n"), &utc).unwrap_err().contains("begins with the day")
    );
    let epoch = started("Start,TPS\n1598650497,100\n", &TableNotation::default());
    assert_eq!(epoch.unwrap(), "2020-08-28T21:34");
    assert_eq!(started("Start,TPS\n2020-08-28,1\n", &TableNotation::default()).unwrap(), "2020-08-28T00:00");
}

#[test]
fn imported_plan_keys_use_the_number_dialect_of_the_file() {
    let records = read(
        "Time;TPS;updates\n180,5;12,5;1.000\n",
        &["TPS=ops_per_s", "Time=seconds", "updates=workload.work_unit"],
        &TableNotation::default(),
    );
    let records = records.unwrap();
    assert_eq!(records[0].window.as_ref().unwrap().seconds, 180.5);
    assert_eq!(records[0].plan.workload.work_unit, 1000);
}
