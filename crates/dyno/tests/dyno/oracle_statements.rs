//! Tests the top statements of a run over Oracle's wire protocol. The model behind it is a test double: no test
//! here shows what an Oracle database does.

use dyno_testbed::{ModelOptions, ScriptedAnswer};
use serde_json::Value;

use crate::common::json::ExpectJson;
use crate::oracle_double::{OracleDouble, ROWS, with_sets};

const LOAD: [&str; 4] =
    ["workload.update_pct=30", "run.sessions_per_schema=2", "run.warmup=0s", "run.ops_per_session=200"];

fn run(double: &OracleDouble) -> Value {
    let (code, record) = double.json(&[&["run"], &ROWS[..], &with_sets(&LOAD)].concat());
    assert_eq!(code, 0, "{:#}", record["reasons"]);
    record
}

#[test]
fn top_statements_on_oracle_agree_with_operations() {
    let double = OracleDouble::loaded();
    let record = run(&double);
    let counted = &record["statements"];
    assert_eq!(counted["source"], "V$SQLSTATS", "{counted:#}");
    let statements = counted["statements"].items();
    for (name, rows) in [("select", 1), ("update", record["plan"]["workload"]["work_unit"].count())] {
        let of_name = statements.iter().find(|one| one["operation"] == name);
        let statement = of_name.unwrap_or_else(|| panic!("no {name} in {counted:#}"));
        let counts = &statement["counts"];
        let calls = counts["calls"].count();
        let (in_window, in_all) =
            (record["ops"][name]["count"].count(), record["whole"]["ops"][name].count());
        assert!((in_window..=in_all).contains(&calls), "{name}: {in_window} to {in_all}: {statement:#}");
        assert_eq!(counts["rows"].count(), calls * rows, "{statement:#}");
        assert!(statement["text"].text().contains("dyno_rows_1"), "{statement:#}");
        assert!(counts["cpu_s"].number() <= counts["time_s"].number(), "{statement:#}");
    }
    // The observer and the sampler read only views.
    assert!(counted["monitoring"]["statements"].count() > 0, "{counted:#}");
    let views = statements.iter().filter(|one| one["text"].text().contains("v$"));
    assert_eq!(views.count(), 0, "{statements:#?}");
    let show = double.desk.dyno(&["show"]).out;
    assert!(show.contains("V$SQLSTATS"), "{show}");
}

#[test]
fn unreadable_cursor_cache_is_reported_with_its_grants() {
    let refuses = |call: dyno_testbed::ScriptedCall<'_>| {
        let is_cache = call.sql.contains("v$sqlstats");
        is_cache.then_some(ScriptedAnswer::Refused(942, "ORA-00942: table or view does not exist\n"))
    };
    let options = ModelOptions { taught: Some(Box::new(refuses)), ..ModelOptions::default() };
    let double = OracleDouble::new(options);
    assert_eq!(double.run_dyno(&[&["load"], &ROWS[..]].concat()).code, 0);
    let record = run(&double);
    let statements = &record["statements"];
    assert_eq!(statements["absent"], "V$SQLSTATS and V$SQL cannot be read");
    assert!(statements["hint"].text().contains("GRANT SELECT ON SYS.V_$SQLSTATS"), "{statements:#}");
}
