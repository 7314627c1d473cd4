//! Tests that counters contain what a server's views show, and that hidden ones are absent.

use dyno_engine::BlockOp;
use dyno_plan::{Commit, DataSpec, DriveMode};
use dyno_record::{Counter, CounterReading, Counters};
use dyno_testbed::{
    ScriptedAnswer, ScriptedCall, ScriptedOptions, ScriptedOracle, ScriptedType, ScriptedValue,
};
use dyno_workload::blocks::Operated;

use crate::answers::{each_release, server, target, text};
use crate::sessions::{blocks, clock};

/// Rows of a view with names and values.
fn name_value_rows(rows: &[(&str, u64)]) -> ScriptedAnswer {
    let columns =
        vec![("INST", ScriptedType::Number), ("NAME", ScriptedType::Text), ("VALUE", ScriptedType::Number)];
    let row = |&(name, value): &(&str, u64)| {
        vec![ScriptedValue::Int(0), text(name), ScriptedValue::Int(value as i64)]
    };
    ScriptedAnswer::Rows { columns, rows: rows.iter().map(row).collect() }
}

fn no_rows() -> ScriptedAnswer {
    name_value_rows(&[])
}

/// A container whose own statistics follow what clients do; those of the instance are visible or not.
fn container_server(options: ScriptedOptions, shows_instance: bool) -> ScriptedOracle {
    server(options, move |ScriptedCall { sql, executions, counts, .. }| {
        let is_of = |view: &str| sql.contains(&format!("FROM {view}\n"));
        let of_instance = executions[0].first() == Some(&ScriptedValue::Int(0));
        if is_of("v$con_sysstat") {
            return Some(name_value_rows(&[
                ("user commits", counts.commits),
                ("execute count", counts.parses + counts.re_executions),
                ("parse count (total)", counts.parses),
                ("redo size", 512 * counts.commits),
            ]));
        }
        if is_of("v$sysstat") {
            let is_shown = shows_instance && of_instance;
            return Some(if is_shown {
                name_value_rows(&[("physical writes", 7), ("redo writes", 3)])
            } else {
                no_rows()
            });
        }
        if sql.contains("v$con_sys_time_model") || sql.contains("v$sys_time_model") {
            return Some(name_value_rows(&[("DB time", 1_000), ("DB CPU", 400)]));
        }
        if ["_event", "histogram", "v$osstat", "v$iostat_file", "v$sesstat", "user_objects"]
            .iter()
            .any(|view| sql.contains(view))
        {
            return Some(no_rows());
        }
        sql.to_lowercase()
            .contains("gv$instance")
            .then_some(ScriptedAnswer::Refused(942, "ORA-00942: table or view does not exist\n"))
    })
}

fn spec() -> DataSpec {
    blocks().spec
}

#[test]
fn session_activity_is_counted_by_its_container() {
    each_release(|options| {
        let server = container_server(options, true);
        let target = target(&server, "");
        let mut observer = target.observer(&spec()).unwrap();
        let mut session =
            Operated::open(target.as_ref(), &blocks(), DriveMode::Client, Commit::Wait, clock()).unwrap();
        let begin = observer.snapshot().unwrap();
        for number in 0..50 {
            session.execute(BlockOp::Lookup { key: 1 }).unwrap();
            session.execute(BlockOp::Update { first: 1, number }).unwrap();
        }
        let end = observer.snapshot().unwrap();
        let moved = Counters::between(&begin, &end);
        assert_eq!(moved.get(Counter::Commits).unwrap(), 50);
        assert_eq!(moved.get(Counter::RedoBytes).unwrap(), 50 * 512);
        // The executions include the observer's own statements.
        assert!(moved.get(Counter::Executions).unwrap() >= 100, "{:?}", moved.get(Counter::Executions));
        assert_eq!(begin.portable[&Counter::PhysicalWrites], CounterReading::Value(7));
        session.close();
    });
}

#[test]
fn instance_counters_hidden_from_container_are_absent_not_zero() {
    each_release(|options| {
        let server = container_server(options, false);
        let snapshot = target(&server, "").observer(&spec()).unwrap().snapshot().unwrap();
        for counter in [Counter::PhysicalWrites, Counter::RedoWrites] {
            let reading = &snapshot.portable[&counter];
            assert!(
                matches!(reading, CounterReading::Absent(reason) if !reason.is_empty()),
                "{counter:?}: {reading:?}"
            );
        }
        assert!(matches!(snapshot.portable[&Counter::Commits], CounterReading::Value(_)));
    });
}

#[test]
fn other_view_error_is_not_a_missing_grant() {
    each_release(|options| {
        let reason = |code, text| {
            let server = server(options, move |ScriptedCall { sql, .. }| {
                sql.contains("v$con_sysstat").then_some(ScriptedAnswer::Refused(code, text))
            });
            let snapshot = target(&server, "").observer(&spec()).unwrap().snapshot().unwrap();
            match &snapshot.portable[&Counter::Commits] {
                CounterReading::Absent(words) => words.clone(),
                CounterReading::Value(value) => panic!("{value} commits"),
            }
        };
        assert!(
            reason(942, "ORA-00942: table or view does not exist\n")
                .contains("GRANT SELECT ON SYS.V_$CON_SYSSTAT")
        );
        let other = reason(904, "ORA-00904: \"CON_ID\": invalid identifier\n");
        assert!(other.contains("ORA-00904"), "{other}");
        assert!(!other.contains("GRANT"), "{other}");
    });
}
