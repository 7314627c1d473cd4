//! Answers that do not come, end in the middle, or take many packets.

use std::sync::mpsc::channel;

use dyno_engine::{Answer, ErrorClass, Request, Statement, StatementId, Type, Value};
use dyno_testbed::{
    ScriptedAnswer, ScriptedCall, ScriptedOptions, ScriptedOracle, ScriptedType, ScriptedValue,
};

use crate::answers::{column, server, target, text};
use crate::sessions::setup;

/// A server that answers `SELECT asked …` with this once it is executed; while it is parsed, with the columns.
fn answering(options: ScriptedOptions, answer: ScriptedAnswer) -> ScriptedOracle {
    server(options, move |ScriptedCall { sql, executions, .. }| {
        let is_answered = executions[0].len() == 1 || matches!(answer, ScriptedAnswer::Rows { .. });
        (sql.starts_with("SELECT asked") && is_answered).then(|| answer.clone())
    })
}

fn asked(answer: Answer) -> Statement {
    Statement::read("asked", "SELECT asked FROM t WHERE k = :1".to_owned(), &[Type::Int], answer)
}

const EXECUTE: Request<'static> = Request::Execute(StatementId(0), &[Value::Int(1)]);

#[test]
fn a_call_that_hangs_can_be_broken_off() {
    let (began, has_begun) = channel();
    let server = server(ScriptedOptions::default(), move |ScriptedCall { sql, executions, .. }| {
        let is_asked = sql.starts_with("SELECT asked") && executions[0].len() == 1;
        is_asked.then(|| {
            began.send(()).unwrap();
            ScriptedAnswer::Hang
        })
    });
    let target = target(&server, "");
    let mut session = target.session(&setup(vec![asked(Answer::Row)])).unwrap();
    let breaker = session.interrupter();
    let error = std::thread::scope(|scope| {
        scope.spawn(move || {
            has_begun.recv().unwrap();
            breaker.interrupt();
        });
        session.ask(EXECUTE).unwrap_err()
    });
    assert_eq!(error.class, ErrorClass::Connection, "{error:?}");
    // It comes back.
    session.reconnect().unwrap();
    session.ask(Request::Begin(dyno_engine::Isolation::Serializable)).unwrap();
    session.close();
}

#[test]
fn an_answer_that_ends_in_the_middle_is_a_lost_connection() {
    for bytes in [0, 1, 3, 9, 20] {
        let server = answering(ScriptedOptions::default(), ScriptedAnswer::CutOff(bytes));
        let target = target(&server, "");
        let mut session = target.session(&setup(vec![asked(Answer::Row)])).unwrap();
        let error = session.ask(EXECUTE).unwrap_err();
        assert_eq!(error.class, ErrorClass::Connection, "{bytes}: {error:?}");
        session.reconnect().unwrap();
        session.close();
    }
}

#[test]
fn rows_that_take_many_packets_are_read_whole() {
    let rows: Vec<_> = (0..3_000).map(|row| text(&format!("{row:0>40}"))).collect();
    for sdu in [512, 2_048, 8_192] {
        let answer = column("ASKED", ScriptedType::Text, rows.clone());
        let server = answering(ScriptedOptions { sdu, ..ScriptedOptions::default() }, answer);
        let target = target(&server, "");
        let mut session = target.session(&setup(vec![asked(Answer::Columns)])).unwrap();
        assert_eq!(session.ask(EXECUTE).unwrap().rows, 3_000, "sdu {sdu}");
        let last = format!("{:0>40}", 2_999);
        assert_eq!(session.answered(0), Some(Value::Text(last.as_bytes())), "sdu {sdu}");
        session.close();
    }
}

#[test]
fn numbers_are_read_to_the_last_digit() {
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
        let server = answering(ScriptedOptions::default(), answer);
        let target = target(&server, "");
        let mut session = target.session(&setup(vec![asked(Answer::Columns)])).unwrap();
        session.ask(EXECUTE).unwrap();
        assert_eq!(session.answered(0), Some(read));
        session.close();
    }
}
