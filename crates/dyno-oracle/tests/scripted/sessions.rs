//! Tests sessions: how often the server parses, executes and fetches, and how many round trips it receives.

use std::sync::Arc;

use dyno_engine::{
    BlockOp, BlockSessionConfig, Clock, Extra, MonotonicClock, ResultKind, SessionRequest, SessionSetup,
    Statement, StatementId, Type, Value,
};
use dyno_plan::{Commit, Connect, DataSpec, DriveMode, Redo, StatementProtocol};
use dyno_testbed::{ScriptedAnswer, ScriptedOptions, ScriptedType, ScriptedValue, WireCounts};
use dyno_workload::blocks::Operated;

use crate::answers::{each_release, server, target, text};

pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(MonotonicClock::default())
}

pub(crate) fn blocks() -> BlockSessionConfig {
    let spec = DataSpec {
        schemas: 1,
        rows: 500,
        scan_rows: 0,
        block_size: 8192,
        compressible: 0,
        seed: 1,
        secondary: false,
        copied: false,
    };
    BlockSessionConfig {
        schema: 1,
        spec,
        work_unit: 64,
        redo: Redo::Lite,
        extra: Extra::default(),
        seed: 1,
        run_stamp: 1,
        session: 0,
    }
}

pub(crate) fn setup(statements: Vec<Statement>) -> SessionSetup {
    SessionSetup {
        number: 0,
        statements: statements.into(),
        rehearsal: None,
        commit: Commit::Wait,
        protocol: StatementProtocol::Prepared,
        connect: Connect::Session,
        blocks: None,
        bulk: None,
        slices: false,
        read_only: false,
        clock: clock(),
    }
}

/// The server's counts between two moments.
fn between(before: WireCounts, after: WireCounts) -> WireCounts {
    WireCounts {
        parses: after.parses - before.parses,
        re_executions: after.re_executions - before.re_executions,
        fetches: after.fetches - before.fetches,
        closed_cursors: after.closed_cursors - before.closed_cursors,
        commits: after.commits - before.commits,
        rollbacks: after.rollbacks - before.rollbacks,
        round_trips: after.round_trips - before.round_trips,
        oversized_packets: after.oversized_packets - before.oversized_packets,
        breaks: after.breaks - before.breaks,
        resets: after.resets - before.resets,
    }
}

#[test]
fn statements_are_parsed_once_and_take_one_round_trip() {
    each_release(|options| {
        let server = server(options, |_| None);
        let target = target(&server, "");
        let mut session =
            Operated::open(target.as_ref(), &blocks(), DriveMode::Client, Commit::Wait, clock()).unwrap();
        let before = server.counts();
        for _ in 0..100 {
            assert_eq!(session.execute(BlockOp::Select { first: 1 }).unwrap().rows, 64);
        }
        let selects = between(before, server.counts());
        let expected = WireCounts { re_executions: 100, round_trips: 100, ..WireCounts::default() };
        assert_eq!(selects, expected);
        let before = server.counts();
        for number in 0..100 {
            assert_eq!(session.execute(BlockOp::Update { first: 1, number }).unwrap().rows, 64);
        }
        let updates = between(before, server.counts());
        assert_eq!((updates.parses, updates.re_executions, updates.commits), (0, 100, 100), "{updates:?}");
        session.close();
    });
}

#[test]
fn a_lookup_is_one_execution_and_one_round_trip() {
    each_release(|options| {
        let server = server(options, |_| None);
        let target = target(&server, "");
        let mut session =
            Operated::open(target.as_ref(), &blocks(), DriveMode::Client, Commit::Wait, clock()).unwrap();
        let before = server.counts();
        for _ in 0..100 {
            assert_eq!(session.execute(BlockOp::Lookup { key: 1 }).unwrap().rows, 1);
        }
        let lookups = between(before, server.counts());
        assert_eq!(lookups, WireCounts { re_executions: 100, round_trips: 100, ..WireCounts::default() });
        session.close();
    });
}

#[test]
fn notices_before_answers_do_not_change_results() {
    each_release(|options| {
        let server = server(ScriptedOptions { sends_notices: true, ..options }, |_| None);
        let target = target(&server, "");
        target.identify().unwrap();
        let mut session =
            Operated::open(target.as_ref(), &blocks(), DriveMode::Client, Commit::Wait, clock()).unwrap();
        let before = server.counts();
        for number in 0..10 {
            assert_eq!(session.execute(BlockOp::Select { first: 1 }).unwrap().rows, 64);
            assert_eq!(session.execute(BlockOp::Lookup { key: 1 }).unwrap().rows, 1);
            assert_eq!(session.execute(BlockOp::Update { first: 1, number }).unwrap().rows, 64);
        }
        let counts = between(before, server.counts());
        let expected =
            WireCounts { re_executions: 30, commits: 10, round_trips: 40, ..WireCounts::default() };
        assert_eq!(counts, expected);
        session.close();
    });
}

#[test]
fn oracle_columns_of_each_type_are_read() {
    each_release(|options| {
        let server = server(options, |call| {
            use ScriptedType::{Date, Number, Raw, Text, Timestamp};
            call.sql.starts_with("SELECT o_id").then(|| ScriptedAnswer::Rows {
                columns: vec![
                    ("A", Number),
                    ("B", Date),
                    ("C", Timestamp),
                    ("D", Raw),
                    ("E", Text),
                    ("F", Number),
                    ("G", Date),
                ],
                rows: vec![vec![
                    ScriptedValue::Int(7),
                    ScriptedValue::moment(2026, 3, 21, 14, 25, 1),
                    ScriptedValue::moment(1999, 12, 31, 23, 59, 59),
                    ScriptedValue::Raw(vec![0, 0xab, 0xff]),
                    text("a text"),
                    ScriptedValue::Decimal("-12.5".to_owned()),
                    ScriptedValue::Null,
                ]],
            })
        });
        let target = target(&server, "");
        let sql = "SELECT o_id, o_entry_d FROM orders WHERE o_w_id = :1".to_owned();
        let statement = Statement::read("last", sql, &[Type::Int], ResultKind::Columns);
        let mut session = target.session(&setup(vec![statement])).unwrap();
        let outcome = session.ask(SessionRequest::Execute(StatementId(0), &[Value::Int(1)])).unwrap();
        assert_eq!(outcome.rows, 1);
        let expected = [
            Value::Int(7),
            Value::Text(b"2026-03-21 14:25:01"),
            Value::Text(b"1999-12-31 23:59:59"),
            Value::Bytes(&[0, 0xab, 0xff]),
            Value::Text(b"a text"),
            Value::Text(b"-12.5"),
            Value::Null,
        ];
        for (column, expected) in expected.iter().enumerate() {
            assert_eq!(session.answered(column).as_ref(), Some(expected), "column {column}");
        }
        session.close();
    });
}
