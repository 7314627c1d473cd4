//! Cloud metrics added to a run: shown, marked as imported, and used for no figure.

use serde_json::Value;

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_fits_schema};

const DATA: [&str; 4] = ["--set", "data.scale=300 blocks", "--set", "workload.work_unit=8"];

/// A test environment with one run, and its record.
fn run_and_record() -> (TestEnv, Value) {
    let desk = TestEnv::new();
    let url = format!("sqlite:{}", desk.file("bench.db").display());
    assert_eq!(desk.dyno(&[&["load", "--target", &url][..], &DATA].concat()).code, 0);
    let run = [
        "run",
        "--target",
        &url,
        "--set",
        "run.time=3s",
        "--set",
        "run.warmup=0s",
        "--set",
        "observe.interval=500ms",
    ];
    let (code, _) = desk.json(&[&run[..], &DATA].concat());
    assert!(code <= 1);
    let (_, record) = desk.json(&["show", "last"]);
    (desk, record)
}

/// A time in the run's window, this number of seconds after its start.
fn at(record: &Value, after_s: i64) -> jiff::Timestamp {
    let begin: jiff::Timestamp = record["window"]["begin"].text().parse().unwrap();
    jiff::Timestamp::from_second(begin.as_second() + after_s).unwrap()
}

#[test]
fn imported_cloud_metrics_leave_run_record_unchanged() {
    let (desk, before) = run_and_record();
    // Whole seconds: the window began within one, so two or three of four one-second periods lie completely
    // in it.
    let mut text = String::from(
        "Full label,db1 CPU,db1 <b>IOPS</b>\nMetric,CPUUtilization,<b>IOPS</b>\nStatistic,Average,Sum\n\
        Unit,Percent,Count\nPeriod,1,1\n",
    );
    for second in -40..40 {
        let value = if (0..4).contains(&second) { 40 + second } else { 99_999 };
        let time = at(&before, second).to_string().replace('T', " ").replace('Z', "");
        text += &format!("{time},{value},\n");
    }
    desk.write("rds.csv", &text);
    let refused = desk.dyno(&["import", "metrics", "last", "rds.csv"]);
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.err.contains("line 6"), "{}", refused.err);
    assert!(refused.err.contains("has no time zone"), "{}", refused.err);
    assert!(refused.err.contains("--time-zone UTC"), "{}", refused.err);
    let elsewhere = desk.dyno(&["import", "metrics", "last", "rds.csv", "--time-zone", "+09:00"]);
    assert!(elsewhere.code == 2, "{elsewhere:#?}");
    assert!(elsewhere.err.contains("no value lies in the window of a run"), "{elsewhere:#?}");
    assert_eq!(desk.json(&["show", "last"]).1, before, "nothing was stored");

    let (code, import_report) = desk.json(&["import", "metrics", "last", "rds.csv", "--time-zone", "UTC"]);
    assert_eq!(code, 0, "{import_report:#}");
    let (_, record) = desk.json(&["show", "last"]);
    assert_fits_schema(&record);
    let all = record["imported_metrics"].items();
    assert_eq!(all.len(), 1, "a metric without values is none: {all:#?}");
    let cpu = &all[0];
    assert_eq!(
        (&cpu["name"], &cpu["statistic"], &cpu["period_s"]),
        (&"CPUUtilization".into(), &"Average".into(), &1.0.into())
    );
    let within = &cpu["within"];
    let (periods, most) = (within["periods"].count(), within["most"].number());
    assert!((2..=3).contains(&periods), "what is outside makes no figure: {cpu:#}");
    assert!(most <= 43.0, "what is outside makes no figure: {cpu:#}");
    let outside: Vec<u64> = cpu["outside"].items().iter().map(|n| n.count()).collect();
    assert!(outside.iter().all(|rows| *rows >= 36), "{cpu:#}");
    let mut without = record.clone();
    without.as_object_mut().unwrap().remove("imported_metrics");
    assert_eq!(without, before, "all else is as it was");

    let shown = desk.dyno(&["show", "last"]).out;
    assert!(shown.contains("imported, not audited"), "{shown}");
    assert!(shown.contains("no figure, check or conclusion"), "{shown}");
    let page = desk.file("page.html");
    assert_eq!(desk.dyno(&["report", "last", "-o", page.to_str().unwrap()]).code, 0);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Imported, not audited"));
    assert!(page.contains("CPUUtilization: imported, not audited"));
    let (_, answer) = desk.json(&["compare", "last", "last"]);
    assert!(!answer.to_string().contains("CPUUtilization"), "{answer:#}");

    // A second import replaces the first; then it is removed.
    desk.write(
        "more.csv",
        &format!(
            "time,metric,value,unit\n{},CPUUtilization,7,Percent\n{},<i>x</i>,1,",
            at(&before, 1),
            at(&before, 1)
        ),
    );
    let output = desk.dyno(&["import", "metrics", "last", "more.csv", "--period", "1s"]);
    assert!(output.code == 0, "{output:#?}");
    assert!(output.err.contains("its last line has no end"), "{output:#?}");
    let names: Vec<String> = desk.json(&["show", "last"]).1["imported_metrics"]
        .items()
        .iter()
        .map(|metric| metric["name"].text().to_owned())
        .collect();
    assert_eq!(
        names,
        ["<i>x</i>", "CPUUtilization", "CPUUtilization"],
        "another statistic is another metric"
    );
    assert_eq!(desk.dyno(&["import", "metrics", "last", "--remove"]).code, 0);
    assert_eq!(desk.json(&["show", "last"]).1, before);
}
