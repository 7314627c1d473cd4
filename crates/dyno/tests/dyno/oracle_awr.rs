//! AWR snapshots around the window, and the report that is read back. The model prints a report of its own
//! counters: it shows that Dyno compares both, and nothing about AWR.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use dyno_testbed::{
    ModelDatabase, ModelOptions, ModelWork, ScriptedAnswer, ScriptedCall, ScriptedType, ScriptedValue,
};

use crate::common::find_check;
use crate::common::json::ExpectJson;
use crate::oracle_double::{OracleDouble, ROWS};

/// Snapshots of the model's counters. Their number is their place.
#[derive(Default)]
struct SnapshotStore {
    model: OnceLock<Arc<ModelDatabase>>,
    taken: Mutex<Vec<(Instant, ModelWork)>>,
    /// What the printed logical reads are multiplied with.
    falsified_by: f64,
}

fn column(name: &'static str, texts: &[String]) -> ScriptedAnswer {
    let rows = texts.iter().map(|text| vec![ScriptedValue::Text(text.clone())]).collect();
    ScriptedAnswer::Rows { columns: vec![(name, ScriptedType::Text)], rows }
}

impl SnapshotStore {
    fn answer(&self, call: ScriptedCall<'_>) -> Option<ScriptedAnswer> {
        let words = call.sql.to_lowercase();
        if words.contains("control_management_pack_access'") {
            return Some(column("VALUE", &["DIAGNOSTIC+TUNING".to_owned()]));
        }
        if words.contains(":snapshot :=") {
            let mut taken = self.taken.lock().unwrap();
            taken.push((Instant::now(), self.model.get().unwrap().work_of("")));
            return Some(ScriptedAnswer::Returned(vec![ScriptedValue::Int(taken.len() as i64 - 1)]));
        }
        if words.contains("con_dbid") {
            let columns = vec![("DBID", ScriptedType::Number), ("INSTANCE_NUMBER", ScriptedType::Number)];
            let row = [42, 1].map(ScriptedValue::Int).to_vec();
            return Some(ScriptedAnswer::Rows { columns, rows: vec![row] });
        }
        if words.contains("_report_html") {
            let numbers = call.executions.first()?.iter().filter_map(|bind| match bind {
                ScriptedValue::Int(number) => usize::try_from(*number).ok(),
                _ => None,
            });
            let numbers: Vec<usize> = numbers.collect();
            let &[.., first, last] = numbers.as_slice() else { return None };
            let lines: Vec<String> = self.report(first, last).lines().map(str::to_owned).collect();
            return Some(column("OUTPUT", &lines));
        }
        None
    }

    /// The parts of an AWR report that show the load between two snapshots.
    fn report(&self, first: usize, last: usize) -> String {
        let taken = self.taken.lock().unwrap();
        let ((began, before), (ended, after)) = (taken[first], taken[last]);
        let seconds = (ended - began).as_secs_f64();
        let rate = |before: u64, after: u64| (after - before) as f64 / seconds;
        let (reads, executions) = (
            rate(before.logical_reads, after.logical_reads) * self.falsified_by,
            rate(before.executions, after.executions),
        );
        format!(
            "<html><head><title>AWR Report for DB: SHOP, Inst: shop, Snaps: {first}-{last}</title></head>\n\
             <body class='awr'><h1 class=\"awr\">\nWORKLOAD REPOSITORY report for\n</h1>\n\
             <table><tr><th>DB Name</th><th>DB Id</th><th>Release</th><th>RAC</th></tr>\n\
             <tr><td>SHOP</td><td>42</td><td>19.0.0.0.0</td><td>NO</td></tr></table>\n\
             <table><tr><th>Instance</th><th>Inst Num</th><th>Startup Time</th></tr>\n\
             <tr><td>shop</td><td>1</td><td>01-Mar-24 06:00</td></tr></table>\n\
             <table><tr><th></th><th>Snap Id</th><th>Snap Time</th><th>Sessions</th></tr>\n\
             <tr><td>Begin Snap:</td><td>{first}</td><td>05-Mar-24 10:00:00</td><td>21</td></tr>\n\
             <tr><td>End Snap:</td><td>{last}</td><td>05-Mar-24 10:00:10</td><td>22</td></tr>\n\
             <tr><td>Elapsed:</td><td>&#160;</td><td>{:.2} (mins)</td><td>&#160;</td></tr></table>\n\
             <h3 class=\"awr\">Report Summary</h3>\n<p />Load Profile<p />\n\
             <table><tr><th></th><th>Per Second</th><th>Per Transaction</th></tr>\n\
             <tr><td>Logical read (blocks):</td><td>{reads:.1}</td><td>10.0</td></tr>\n\
             <tr><td>Executes (SQL):</td><td>{executions:.1}</td><td>2.0</td></tr></table>\n\
             End of Report</body></html>",
            seconds / 60.0
        )
    }
}

/// A loaded model whose reports show its logical reads, multiplied.
fn double_with_reports(falsified_by: f64) -> (OracleDouble, Arc<SnapshotStore>) {
    let store = Arc::new(SnapshotStore { falsified_by, ..SnapshotStore::default() });
    let taught = {
        let store = Arc::clone(&store);
        move |call: ScriptedCall<'_>| store.answer(call)
    };
    let double =
        OracleDouble::new(ModelOptions { taught: Some(Box::new(taught)), ..ModelOptions::default() });
    assert!(store.model.set(Arc::clone(&double.model)).is_ok());
    assert_eq!(double.run_dyno(&[&["load"], &ROWS[..]].concat()).code, 0);
    (double, store)
}

/// A steady load, whose rates are the same over the window and a little more.
const STEADY: [&str; 9] = [
    "run",
    "--set",
    "observe.awr=awr",
    "--set",
    "workload.rate=300/s",
    "--set",
    "run.warmup=2s",
    "--set",
    "run.time=4s",
];

#[test]
fn awr_snapshots_enclose_the_window_and_the_report_is_compared() {
    let (double, store) = double_with_reports(1.0);
    let updates = ["--set", "workload.update_pct=100"];
    let (code, record) = double.json(&[&STEADY[..], &ROWS, &updates].concat());
    assert_eq!((code, &record["status"]), (0, &"valid".into()), "{:#}", record["reasons"]);
    let report = &record["database_report"];
    let name = report["name"].text();
    let taken = store.taken.lock().unwrap();
    let [.., (began, before), (ended, after)] = taken.as_slice() else { panic!("{} snapshots", taken.len()) };
    assert_eq!(name, format!("AWR snapshots {} to {}", taken.len() - 2, taken.len() - 1));
    // Neither the warm-up before the first snapshot nor the end of the sessions is between them.
    let commits = after.commits - before.commits;
    let (window, whole) = (&record["window"], record["whole"]["commits"].count());
    assert!(commits >= window["counted"]["commits"].count(), "{commits}: {window:#}");
    assert!(commits < whole, "{commits} of {whole}");
    assert!((*ended - *began).as_secs_f64() >= window["seconds"].number());
    let check = find_check(&record, "database_report");
    assert_eq!(check["status"], "pass", "{check:#}");
    assert!(check["detail"].text().contains("executions"), "{check:#}");
    assert_eq!(report["reported"]["load_profile"][0]["name"], "logical reads (blocks)", "{report:#}");
    let shown = double.desk.dyno(&["show", "last"]).out;
    assert!(shown.contains("rates compared with the database's own report"), "{shown}");
    assert_eq!(double.desk.dyno(&["report", "last", "-o", "page.html"]).code, 0);
    let page = std::fs::read_to_string(double.desk.file("page.html")).unwrap();
    assert!(page.contains("The database's own report"));
    assert!(page.contains("As printed in the report."));
}

#[test]
fn awr_report_with_other_rates_is_a_warning() {
    let (double, _) = double_with_reports(1.5);
    let (code, record) = double.json(&[&STEADY[..], &ROWS].concat());
    assert_eq!((code, &record["status"]), (0, &"valid".into()), "{:#}", record["reasons"]);
    let check = find_check(&record, "database_report");
    assert_eq!(check["status"], "warn", "{check:#}");
    assert!(check["detail"].text().contains("logical reads"), "{check:#}");
}
