//! Counters: what is read of a server's views is what it says, and what it does not show is absent.

use dyno_engine::Op;
use dyno_plan::{Commit, DataSpec, Drive};
use dyno_record::{Counter, Counters, Reading};
use dyno_testbed::{
    ScriptedAnswer, ScriptedCall, ScriptedOptions, ScriptedOracle, ScriptedType, ScriptedValue,
};
use dyno_workload::blocks::Operated;

use crate::answers::{each_release, server, target, text};
use crate::sessions::{blocks, clock};

/// Rows of a view of names and values.
fn values(rows: &[(&str, u64)]) -> ScriptedAnswer {
    let columns =
        vec![("INST", ScriptedType::Number), ("NAME", ScriptedType::Text), ("VALUE", ScriptedType::Number)];
    let row = |&(name, value): &(&str, u64)| {
        vec![ScriptedValue::Int(0), text(name), ScriptedValue::Int(value as i64)]
    };
    ScriptedAnswer::Rows { columns, rows: rows.iter().map(row).collect() }
}

fn nothing() -> ScriptedAnswer {
    values(&[])
}

/// A container whose own statistics follow what clients did; those of the instance are there or not.
fn container(options: ScriptedOptions, shows_instance: bool) -> ScriptedOracle {
    server(options, move |ScriptedCall { sql, executions, counts, .. }| {
        let is_of = |view: &str| sql.contains(&format!("FROM {view}\n"));
        let of_instance = executions[0].first() == Some(&ScriptedValue::Int(0));
        if is_of("v$con_sysstat") {
            return Some(values(&[
                ("user commits", counts.commits),
                ("execute count", counts.parses + counts.re_executions),
                ("parse count (total)", counts.parses),
                ("redo size", 512 * counts.commits),
            ]));
        }
        if is_of("v$sysstat") {
            let is_shown = shows_instance && of_instance;
            return Some(if is_shown {
                values(&[("physical writes", 7), ("redo writes", 3)])
            } else {
                nothing()
            });
        }
        if sql.contains("v$con_sys_time_model") || sql.contains("v$sys_time_model") {
            return Some(values(&[("DB time", 1_000), ("DB CPU", 400)]));
        }
        if ["_event", "histogram", "v$osstat", "v$iostat_file", "v$sesstat", "user_objects"]
            .iter()
            .any(|view| sql.contains(view))
        {
            return Some(nothing());
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
fn what_sessions_do_is_counted_by_their_container() {
    each_release(|options| {
        let server = container(options, true);
        let target = target(&server, "");
        let mut observer = target.observer(&spec()).unwrap();
        let mut session =
            Operated::open(target.as_ref(), &blocks(), Drive::Client, Commit::Wait, clock()).unwrap();
        let begin = observer.snapshot().unwrap();
        for number in 0..50 {
            session.execute(Op::Lookup { key: 1 }).unwrap();
            session.execute(Op::Update { first: 1, number }).unwrap();
        }
        let end = observer.snapshot().unwrap();
        let moved = Counters::between(&begin, &end);
        assert_eq!(moved.get(Counter::Commits).unwrap(), 50);
        assert_eq!(moved.get(Counter::RedoBytes).unwrap(), 50 * 512);
        // The observer's own statements are among the executions.
        assert!(moved.get(Counter::Executions).unwrap() >= 100, "{:?}", moved.get(Counter::Executions));
        assert_eq!(begin.portable[&Counter::PhysicalWrites], Reading::Value(7));
        session.close();
    });
}

#[test]
fn what_a_container_does_not_show_of_the_instance_is_absent_and_not_0() {
    each_release(|options| {
        let server = container(options, false);
        let snapshot = target(&server, "").observer(&spec()).unwrap().snapshot().unwrap();
        for counter in [Counter::PhysicalWrites, Counter::RedoWrites] {
            let reading = &snapshot.portable[&counter];
            assert!(
                matches!(reading, Reading::Absent(reason) if !reason.is_empty()),
                "{counter:?}: {reading:?}"
            );
        }
        assert!(matches!(snapshot.portable[&Counter::Commits], Reading::Value(_)));
    });
}

#[test]
fn a_view_that_fails_otherwise_is_no_missing_grant() {
    each_release(|options| {
        let reason = |code, text| {
            let server = server(options, move |ScriptedCall { sql, .. }| {
                sql.contains("v$con_sysstat").then_some(ScriptedAnswer::Refused(code, text))
            });
            let snapshot = target(&server, "").observer(&spec()).unwrap().snapshot().unwrap();
            match &snapshot.portable[&Counter::Commits] {
                Reading::Absent(words) => words.clone(),
                Reading::Value(value) => panic!("{value} commits"),
            }
        };
        assert!(
            reason(942, "ORA-00942: table or view does not exist\n")
                .contains("GRANT SELECT ON SYS.V_$CON_SYSSTAT")
        );
        let other = reason(904, "ORA-00904: \"CON_ID\": invalid identifier\n");
        assert!(other.contains("ORA-00904") && !other.contains("GRANT"), "{other}");
    });
}
