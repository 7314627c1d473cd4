//! Checks statements with values of all types: alone, in transactions, and on an interrupted connection.

use std::sync::Arc;

use dyno_engine::{
    BlockOp, BlockOpSchema, Dialect, ErrorClass, Isolation, MonotonicClock, OpError, RequestCompletion,
    ResultKind, Session, SessionRequest, SessionSetup, Statement, StatementId, Target, TargetError, Type,
    Value,
};
use dyno_plan::{Commit, DataSpec, DriveMode, Redo, StatementProtocol};
use dyno_record::Advice;

use super::{AcknowledgedWork, ROWS, WORK_UNIT, failed, failed_check, passed, session};
use crate::blocks::Operated;

const TYPES: [Type; 5] = [Type::Int, Type::Real, Type::Text, Type::Bytes, Type::Literal];

/// Statements of [`values`], by their numbers.
const FIT: StatementId = StatementId(0);
const NULLS: StatementId = StatementId(1);
const LENGTH: StatementId = StatementId(2);
const RANGE: StatementId = StatementId(3);
const BELOW: StatementId = StatementId(4);
const ODD: StatementId = StatementId(5);
const COLUMNS: StatementId = StatementId(6);
const ORDERED: StatementId = StatementId(7);
const NONE: StatementId = StatementId(8);

/// How a request is sent to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestMode {
    /// In one call that waits.
    Whole,
    /// In two calls: send and receive.
    Halves,
}

impl RequestMode {
    /// The ways that `session` supports.
    fn of(session: &mut dyn Session) -> &'static [Self] {
        if session.duplex().is_some() { &[Self::Whole, Self::Halves] } else { &[Self::Whole] }
    }

    fn ask(
        self,
        session: &mut dyn Session,
        request: SessionRequest<'_>,
    ) -> Result<RequestCompletion, Box<OpError>> {
        let halves = match self {
            Self::Whole => None,
            Self::Halves => session.duplex(),
        };
        let Some(halves) = halves else { return session.ask(request) };
        halves.send(request)?;
        loop {
            if let Some(done) = halves.receive()? {
                return Ok(done);
            }
        }
    }
}

fn statements(Dialect { mark, from_nothing, bytes_length, prefix, .. }: Dialect) -> Vec<Statement> {
    let [int, real, text, bytes, literal] = [1, 2, 3, 4, 5].map(mark);
    let fit = format!(
        "SELECT CASE WHEN {int} = -7 AND {real} = 1.5 AND {text} = 'naïve' AND {bytes_length}({bytes}) = 3 \
         AND {literal} * 1.0 = 12.5 THEN 1 ELSE 0 END{from_nothing}"
    );
    let nulls = format!(
        "SELECT CASE WHEN {int} IS NULL AND {real} IS NULL AND {text} IS NULL AND {bytes} IS NULL \
         AND {literal} * 1.0 IS NULL THEN 1 ELSE 0 END{from_nothing}"
    );
    let length = format!("SELECT LENGTH({}){from_nothing}", mark(1));
    let range = format!("SELECT custid FROM {prefix}rows_1 WHERE custid BETWEEN {} AND {}", mark(1), mark(2));
    let columns = format!("SELECT {int} - 10, 'naïve', NULL{from_nothing}");
    let ordered = format!("{range} ORDER BY custid");
    vec![
        Statement::read("fit", fit, &TYPES, ResultKind::Number),
        Statement::read("nulls", nulls, &TYPES, ResultKind::Number),
        Statement::read("length", length, &[Type::Text], ResultKind::Number),
        Statement::read("range", range, &[Type::Int; 2], ResultKind::Rows),
        Statement::read(
            "below",
            format!("SELECT {int} - 10{from_nothing}"),
            &[Type::Int],
            ResultKind::Number,
        ),
        Statement::read("odd", format!("SELECT 'seven'{from_nothing}"), &[], ResultKind::Number),
        Statement::read("columns", columns, &[Type::Int], ResultKind::Columns),
        Statement::read("ordered", ordered, &[Type::Int; 2], ResultKind::Columns),
    ]
}

/// Checks that values of every type, NULL and texts of any length arrive unchanged by `protocol`, and that values that do not
/// fit are refused.
pub(crate) fn values(target: &dyn Target, protocol: StatementProtocol) -> Result<Advice, TargetError> {
    let mut session = target.session(&SessionSetup {
        number: 0,
        statements: statements(target.dialect()).into(),
        rehearsal: None,
        commit: Commit::Wait,
        protocol,
        connect: dyno_plan::Connect::Session,
        blocks: None,
        bulk: None,
        read_only: false,
        slices: false,
        clock: Arc::new(MonotonicClock::default()),
    })?;
    let (mut wrong, mut count) = (Vec::new(), 0);
    let fit = [
        Value::Int(-7),
        Value::Real(1.5),
        Value::Text("naïve".as_bytes()),
        Value::Bytes(&[0, 255, 39]),
        Value::Text(b"12.50"),
    ];
    let other =
        [Value::Int(i64::MIN), Value::Real(-0.5), Value::Text(b""), Value::Bytes(&[]), Value::Text(b"1")];
    let long = "x".repeat(3_000);
    // Twice: the second execution overwrites the values of the first.
    for &way in RequestMode::of(session.as_mut()).repeat(2).iter() {
        let mut is = |id, values: &[Value<'_>], wanted| -> Result<(), TargetError> {
            let got = way
                .ask(session.as_mut(), SessionRequest::Execute(id, values))
                .map_err(|error| failed(&error))?;
            count += 1;
            if got.rows != wanted {
                wrong.push(format!("{values:?} returned {} instead of {wanted}", got.rows));
            }
            Ok(())
        };
        is(FIT, &fit, 1)?;
        is(FIT, &other, 0)?;
        is(FIT, &[Value::Null; 5], 0)?;
        is(FIT, &fit, 1)?;
        // Numbers for which the database decides the type, between texts with the same number of bytes.
        for number in [Value::Real(12.5), Value::Text(b"12.50000"), Value::Real(12.5), Value::Int(12)] {
            let fits = u64::from(number != Value::Int(12));
            is(FIT, &[fit[0], fit[1], fit[2], fit[3], number], fits)?;
        }
        is(FIT, &fit, 1)?;
        is(NULLS, &[Value::Null; 5], 1)?;
        is(NULLS, &fit, 0)?;
        for length in [3, 3, 1, 250, 3_000, 7] {
            is(LENGTH, &[Value::Text(&long.as_bytes()[..length])], length as u64)?;
        }
        // Characters in the text must not end it or act as escapes.
        for text in ["it's", "'; --", "a\\", "\\'", "line\nline", "?$1:x"] {
            is(LENGTH, &[Value::Text(text.as_bytes())], text.len() as u64)?;
        }
        is(RANGE, &[Value::Int(11), Value::Int(40)], 30)?;
        is(RANGE, &[Value::Int(40), Value::Int(11)], 0)?;
        is(BELOW, &[Value::Int(17)], 7)?;
        is(BELOW, &[Value::Int(3)], -7i64 as u64)?;
        is(BELOW, &[Value::Null], 0)?;
        wrong.extend(columns(session.as_mut(), way)?);
        count += 3;
        let misfits: [(StatementId, &[Value<'_>]); 5] = [
            (ODD, &[]),
            (LENGTH, &[Value::Int(1)]),
            (LENGTH, &[]),
            (RANGE, &[Value::Int(1), Value::Int(1), Value::Int(1)]),
            (NONE, &[]),
        ];
        for (id, values) in misfits {
            match way.ask(session.as_mut(), SessionRequest::Execute(id, values)) {
                Err(error) if error.class == ErrorClass::Fatal => {}
                other => wrong.push(format!("{values:?} for statement {} gave {other:?}", id.0)),
            }
        }
    }
    session.close();
    let name = match protocol {
        StatementProtocol::Prepared => "values".to_owned(),
        StatementProtocol::Extended | StatementProtocol::Simple => format!("values {}", protocol.name()),
    };
    Ok(match wrong.first() {
        Some(first) => failed_check(&name, format!("{} executions failed: {first}", wrong.len())),
        None => passed(
            &name,
            format!(
                "{count} executions with values of every type returned the expected \
                                       results"
            ),
        ),
    })
}

/// The problem with the columns of last rows; `None` if there is none.
fn columns(session: &mut dyn Session, way: RequestMode) -> Result<Option<String>, TargetError> {
    type Case<'a> = (StatementId, &'a [Value<'a>], u64, &'a [Value<'a>]);
    let cases: [Case<'_>; 3] = [
        (COLUMNS, &[Value::Int(7)], 1, &[Value::Int(-3), Value::Text("naïve".as_bytes()), Value::Null]),
        (ORDERED, &[Value::Int(11), Value::Int(40)], 30, &[Value::Int(40)]),
        (ORDERED, &[Value::Int(40), Value::Int(11)], 0, &[]),
    ];
    for (id, values, rows, expected) in cases {
        let outcome =
            way.ask(session, SessionRequest::Execute(id, values)).map_err(|error| failed(&error))?;
        let last_row: Vec<Value<'_>> = (0..).map_while(|column| session.answered(column)).collect();
        if (outcome.rows, &last_row[..]) != (rows, expected) {
            return Ok(Some(format!("{values:?} gave {} rows, the last with {last_row:?}", outcome.rows)));
        }
    }
    Ok(None)
}

/// A session that updates a range of rows, and another that reads it.
struct SessionPair {
    writer: Operated,
    reader: Operated,
    number: u64,
}

const FIRST: u64 = 1 + ROWS / 2;

impl SessionPair {
    fn open(target: &dyn Target, spec: &DataSpec) -> Result<Self, TargetError> {
        let open = || session(target, spec, DriveMode::Client, Commit::Wait, Redo::Lite);
        Ok(Self { writer: open()?, reader: open()?, number: 1_000 })
    }

    /// Updates the range, within the current transaction.
    fn update(&mut self, way: RequestMode) -> Result<u64, Box<OpError>> {
        self.number += 1;
        let op = BlockOp::Update { first: FIRST, number: self.number };
        let Operated { session, operator, .. } = &mut self.writer;
        let outcome =
            operator.request(op, BlockOpSchema::Own, |request| way.ask(session.as_mut(), request))?;
        operator.acknowledged(op, BlockOpSchema::Own);
        Ok(outcome.rows)
    }

    /// Rows that the other session finds with the values of the last update. Both have the same session number, so it looks for
    /// values of this one.
    fn visible_rows(&mut self) -> Result<u64, Box<OpError>> {
        let counts = self.writer.operator.verify_last_update(self.reader.session.as_mut())?;
        Ok(counts.map_or(0, |(_, fresh)| fresh))
    }
}

/// Checks that transactions take effect completely or not at all.
pub(crate) fn transactions(
    target: &dyn Target,
    spec: &DataSpec,
    work: &mut AcknowledgedWork,
) -> Result<Vec<Advice>, TargetError> {
    let unit = u64::from(WORK_UNIT);
    let mut pair = SessionPair::open(target, spec)?;
    let ways = RequestMode::of(pair.writer.session.as_mut());
    let mut findings = Vec::new();
    for &way in ways {
        let mut wrong = Vec::new();
        let mut is = |what: &str, got: u64, wanted: u64| {
            if got != wanted {
                wrong.push(format!("{what}: {got} rows instead of {wanted}"));
            }
        };
        let mut act = || -> Result<(), Box<OpError>> {
            let ask =
                |pair: &mut SessionPair, request| way.ask(pair.writer.session.as_mut(), request).map(|_| ());
            for isolation in [Isolation::Platform, Isolation::ReadCommitted, Isolation::Serializable] {
                ask(&mut pair, SessionRequest::Begin(isolation))?;
                is("an update that is taken back", pair.update(way)?, unit);
                ask(&mut pair, SessionRequest::Rollback)?;
                is("what was taken back", pair.visible_rows()?, 0);
                ask(&mut pair, SessionRequest::Begin(isolation))?;
                for _ in 0..3 {
                    is("an update in a transaction", pair.update(way)?, unit);
                }
                ask(&mut pair, SessionRequest::Commit)?;
                is("what was committed", pair.visible_rows()?, unit);
                work.rows_updated += 3 * unit;
                work.commits += 1;
                work.rows_read += 2 * unit;
            }
            // There is no transaction to roll back.
            ask(&mut pair, SessionRequest::Rollback)?;
            is("an update alone", pair.update(way)?, unit);
            is("what was updated alone", pair.visible_rows()?, unit);
            work.rows_updated += unit;
            work.commits += 1;
            Ok(())
        };
        let outcome = act();
        outcome.map_err(|error| failed(&error))?;
        let name = if way == RequestMode::Whole { "transactions" } else { "transactions in halves" };
        findings.push(match wrong.first() {
            Some(first) => failed_check(name, format!("{} checks failed: {first}", wrong.len())),
            None => passed(name, "committed rows exist, and rolled-back rows do not".to_owned()),
        });
    }
    pair.writer.close();
    pair.reader.close();
    Ok(findings)
}

/// Checks that an interrupted session reports it, reconnects, and left nothing of its transaction behind.
pub(crate) fn broken_off(
    target: &dyn Target,
    spec: &DataSpec,
    work: &mut AcknowledgedWork,
) -> Result<Advice, TargetError> {
    let unit = u64::from(WORK_UNIT);
    let mut pair = SessionPair::open(target, spec)?;
    let mut begin = || -> Result<(), Box<OpError>> {
        pair.writer.session.ask(SessionRequest::Begin(Isolation::Platform))?;
        pair.update(RequestMode::Whole).map(|_| ())
    };
    begin().map_err(|error| failed(&error))?;
    pair.writer.session.interrupter().interrupt();
    let update_result = pair.update(RequestMode::Whole);
    pair.writer.session.reconnect()?;
    let mut wrong = Vec::new();
    match update_result {
        Err(error) if error.class == ErrorClass::Connection => {}
        other => wrong.push(format!("an update after the interruption returned {other:?}")),
    }
    let mut after = || -> Result<(), Box<OpError>> {
        match pair.visible_rows()? {
            0 => {}
            rows => wrong.push(format!("{rows} rows of the interrupted transaction exist")),
        }
        match (pair.update(RequestMode::Whole)?, pair.visible_rows()?) {
            (rows, seen) if (rows, seen) == (unit, unit) => {}
            other => wrong.push(format!("an update on the new connection returned {other:?}")),
        }
        Ok(())
    };
    after().map_err(|error| failed(&error))?;
    work.rows_updated += unit;
    work.commits += 1;
    pair.writer.close();
    pair.reader.close();
    Ok(match wrong.into_iter().next() {
        Some(wrong) => failed_check("broken off", wrong),
        None => passed("broken off", "an interrupted session reports it and reconnects".to_owned()),
    })
}
