//! Tests replies that do not arrive, end too early, or span many packets.

use std::sync::mpsc::channel;

use dyno_engine::{ErrorClass, ResultKind, SessionRequest, Statement, StatementId, Type, Value};
use dyno_testbed::{
    ScriptedAnswer, ScriptedCall, ScriptedOptions, ScriptedOracle, ScriptedType, ScriptedValue,
};

use crate::answers::{column, each_release, server, target, text};
use crate::sessions::setup;

/// A server that answers the execution of `SELECT asked …` with this result, and its parsing with the
/// columns.
fn server_answering(options: ScriptedOptions, answer: ScriptedAnswer) -> ScriptedOracle {
    server(options, move |ScriptedCall { sql, executions, .. }| {
        let has_rows = matches!(answer, ScriptedAnswer::Rows { .. } | ScriptedAnswer::CutOff(..));
        let is_answered = executions[0].len() == 1 || has_rows;
        (sql.starts_with("SELECT asked") && is_answered).then(|| answer.clone())
    })
}

fn asked_statement(answer: ResultKind) -> Statement {
    Statement::read("asked", "SELECT asked FROM t WHERE k = :1".to_owned(), &[Type::Int], answer)
}

const EXECUTE: SessionRequest<'static> = SessionRequest::Execute(StatementId(0), &[Value::Int(1)]);

#[test]
fn hanging_call_can_be_interrupted() {
    each_release(|options| {
        let (began, has_begun) = channel();
        let server = server(options, move |ScriptedCall { sql, executions, .. }| {
            let is_asked = sql.starts_with("SELECT asked") && executions[0].len() == 1;
            is_asked.then(|| {
                began.send(()).unwrap();
                ScriptedAnswer::Hang
            })
        });
        let target = target(&server, "");
        let mut session = target.session(&setup(vec![asked_statement(ResultKind::Row)])).unwrap();
        let breaker = session.interrupter();
        let error = std::thread::scope(|scope| {
            scope.spawn(move || {
                has_begun.recv().unwrap();
                breaker.interrupt();
            });
            session.ask(EXECUTE).unwrap_err()
        });
        assert_eq!(error.class, ErrorClass::Connection, "{error:?}");
        // The session can reconnect.
        session.reconnect().unwrap();
        session.ask(SessionRequest::Begin(dyno_engine::Isolation::Serializable)).unwrap();
        session.close();
    });
}

#[test]
fn truncated_answer_is_a_lost_connection() {
    each_release(|options| {
        for bytes in [0, 1, 3, 9, 20] {
            let server =
                server_answering(options, ScriptedAnswer::CutOff(Box::new(ScriptedAnswer::Done), bytes));
            let target = target(&server, "");
            let mut session = target.session(&setup(vec![asked_statement(ResultKind::Row)])).unwrap();
            let error = session.ask(EXECUTE).unwrap_err();
            assert_eq!(error.class, ErrorClass::Connection, "{bytes}: {error:?}");
            session.reconnect().unwrap();
            session.close();
        }
    });
}

#[test]
fn truncated_rows_are_reported_as_lost_connection() {
    let rows: Vec<_> = (0..50).map(|row| text(&format!("{row:0>40}"))).collect();
    each_release(|options| {
        for bytes in [1, 30, 70, 100, 130, 2_000] {
            let rows = column("ASKED", ScriptedType::Text, rows.clone());
            let server = server_answering(options, ScriptedAnswer::CutOff(Box::new(rows), bytes));
            let target = target(&server, "");
            let mut session = target.session(&setup(vec![asked_statement(ResultKind::Columns)])).unwrap();
            let error = session.ask(EXECUTE).unwrap_err();
            assert_eq!(error.class, ErrorClass::Connection, "{bytes}: {error:?}");
            session.reconnect().unwrap();
            session.close();
        }
    });
}

/// A server that answers `SELECT asked …` with this result, and shows in `V$SESSION` a session that waits for
/// a lock.
fn blocked_server(options: ScriptedOptions, answer: ScriptedAnswer) -> ScriptedOracle {
    server(options, move |ScriptedCall { sql, executions, .. }| {
        if sql.contains("blocking_session") {
            assert_eq!(executions[0], [ScriptedValue::Int(77), ScriptedValue::Int(4_242)]);
            let columns = ["STATUS", "EVENT", "BLOCKER"].map(|name| (name, ScriptedType::Text)).to_vec();
            let rows = vec![vec![text("ACTIVE"), text("enq: TX - row lock contention"), text("12")]];
            return Some(ScriptedAnswer::Rows { columns, rows });
        }
        (sql.starts_with("SELECT asked") && executions[0].len() == 1).then(|| answer.clone())
    })
}

#[test]
fn call_timeout_cancels_call_and_describes_session() {
    for (answer, expected_text, breaks) in [
        (ScriptedAnswer::AwaitBreak, "the driver had the call cancelled", 1),
        (ScriptedAnswer::Hang, "did not end a call that was to be cancelled", 0),
    ] {
        each_release(|options| {
            let server = blocked_server(options, answer.clone());
            let target = target(&server, "?call-timeout=1");
            let mut session = target.session(&setup(vec![asked_statement(ResultKind::Row)])).unwrap();
            let error = session.ask(EXECUTE).unwrap_err();
            assert_eq!(error.class, ErrorClass::Connection, "{error:?}");
            let shown = "session 77,4242: V$SESSION shows it ACTIVE, waits for enq: TX - row lock contention, blocked by session 12";
            assert!(error.message.contains(expected_text), "{error:?}");
            assert!(error.message.contains(shown), "{error:?}");
            assert!(error.message.contains("call-timeout"), "{error:?}");
            assert_eq!(server.counts().breaks, breaks);
            session.reconnect().unwrap();
            session.ask(SessionRequest::Begin(dyno_engine::Isolation::Serializable)).unwrap();
            session.close();
        });
    }
}

/// Rows of ten columns, of which the first always repeats, the second repeats in pairs, and the last never
/// repeats.
fn repeating_rows(rows: usize) -> ScriptedAnswer {
    let names = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "ASKED"];
    let row = |row: usize| {
        let column = |place: usize| match place {
            0 => text("always"),
            9 => ScriptedValue::Int(row as i64),
            place if place % 2 == 0 => ScriptedValue::Null,
            _ => text(&format!("{}", row / 2)),
        };
        (0..names.len()).map(column).collect()
    };
    let columns =
        names.map(|name| (name, if name == "ASKED" { ScriptedType::Number } else { ScriptedType::Text }));
    ScriptedAnswer::Rows { columns: columns.to_vec(), rows: (0..rows).map(row).collect() }
}

#[test]
fn omitted_repeated_columns_are_filled_in() {
    each_release(|options| {
        let options = ScriptedOptions { leaves_out_repeats: true, ..options };
        for rows in [1, 2, 3, 4, 7, 2_500] {
            let server = server_answering(options, repeating_rows(rows));
            let target = target(&server, "");
            let mut session = target.session(&setup(vec![asked_statement(ResultKind::Columns)])).unwrap();
            // A statement that was executed before is not described again.
            for execution in 0..3 {
                let read = session.ask(EXECUTE).unwrap().rows;
                assert_eq!(read, rows as u64, "execution {execution}");
                let pair = ((rows - 1) / 2).to_string();
                assert_eq!(session.answered(0), Some(Value::Text(b"always")), "{rows} rows");
                assert_eq!(session.answered(1), Some(Value::Text(pair.as_bytes())), "{rows} rows");
                assert_eq!(session.answered(2), Some(Value::Null), "{rows} rows");
                assert_eq!(session.answered(9), Some(Value::Int(rows as i64 - 1)), "{rows} rows");
            }
            session.close();
        }
    });
}

#[test]
fn catalog_rows_match_with_and_without_repeated_columns() {
    each_release(|options| {
        let identity = |leaves_out_repeats| {
            let server = server(ScriptedOptions { leaves_out_repeats, ..options }, |call| {
                call.sql.contains("FROM v$parameter").then(|| ScriptedAnswer::Rows {
                    columns: ["NAME", "VALUE", "ISDEFAULT"].map(|name| (name, ScriptedType::Text)).to_vec(),
                    rows: (0..40)
                        .map(|row| {
                            vec![
                                text(&format!("setting_{row}")),
                                text(&format!("{}", row / 3)),
                                text("FALSE"),
                            ]
                        })
                        .collect(),
                })
            });
            let identity = target(&server, "").identify().unwrap();
            format!("{identity:?}").replace(&server.port().to_string(), "PORT")
        };
        let whole = identity(false);
        assert!(whole.contains("setting_39"), "{whole}");
        assert_eq!(identity(true), whole);
    });
}

#[test]
fn oracle_rows_in_many_packets_are_read_whole() {
    each_release(|options| {
        let rows: Vec<_> = (0..3_000).map(|row| text(&format!("{row:0>40}"))).collect();
        for sdu in [512, 2_048, 8_192] {
            let answer = column("ASKED", ScriptedType::Text, rows.clone());
            let server = server_answering(ScriptedOptions { sdu, ..options }, answer);
            let target = target(&server, "");
            let mut session = target.session(&setup(vec![asked_statement(ResultKind::Columns)])).unwrap();
            assert_eq!(session.ask(EXECUTE).unwrap().rows, 3_000, "sdu {sdu}");
            let last = format!("{:0>40}", 2_999);
            assert_eq!(session.answered(0), Some(Value::Text(last.as_bytes())), "sdu {sdu}");
            session.close();
        }
    });
}

#[test]
fn oracle_numbers_are_read_without_losing_digits() {
    each_release(|options| {
        for (value, read) in [
            (ScriptedValue::Int(i64::MAX), Value::Int(i64::MAX)),
            (ScriptedValue::Int(-1), Value::Int(-1)),
            (ScriptedValue::Decimal("0.01".to_owned()), Value::Text(b"0.01")),
            (
                ScriptedValue::Decimal("12345678901234567890123456789012345678".to_owned()),
                Value::Text(b"12345678901234567890123456789012345678"),
            ),
            (ScriptedValue::Null, Value::Null),
        ] {
            let answer = column("ASKED", ScriptedType::Number, vec![value]);
            let server = server_answering(options, answer);
            let target = target(&server, "");
            let mut session = target.session(&setup(vec![asked_statement(ResultKind::Columns)])).unwrap();
            session.ask(EXECUTE).unwrap();
            assert_eq!(session.answered(0), Some(read));
            session.close();
        }
    });
}
