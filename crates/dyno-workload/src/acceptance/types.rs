//! Step 4: writes values of every type as bound parameters and reads them back.

use dyno_engine::{
    Dialect, ResultKind, Session, Statement, StatementId, Target, TargetError, Type, Value, explain,
};
use dyno_plan::{DataSpec, StatementProtocol};
use dyno_record::AcceptanceFinding;

use super::scratch::{self, COLUMNS};
use super::{AcceptanceScope, Findings, of_advice, of_error, proved, session_of, wrong};
use crate::conformance::{failed, statements};

const INSERT: StatementId = StatementId(0);
const READ_BACK: StatementId = StatementId(1);
const WHOLE_ROWS: StatementId = StatementId(2);

/// Lengths of long texts in bytes: above the 4,000 of Oracle's `VARCHAR2`, and above a packet of any protocol here.
const LONG_TEXTS: [usize; 2] = [4_001, 60_000];

const AMOUNT: &[u8] = b"12345678901.2345";
const DAY: &[u8] = b"2024-02-29";
const MOMENT: &[u8] = b"2024-02-29 23:59:58";

pub(super) fn types(scope: &AcceptanceScope<'_>, spec: &DataSpec) -> Findings {
    let target = scope.target;
    let mut findings = Vec::new();
    for &protocol in [StatementProtocol::Prepared].iter().chain(scope.protocols) {
        findings.push(of_advice(statements::values(target, protocol)?));
    }
    findings.extend(scratch::with_table(target, || written_and_read(target, spec))?);
    Ok(findings)
}

fn written_and_read(target: &dyn Target, spec: &DataSpec) -> Findings {
    let mut session = session_of(target, typed_statements(target, spec))?;
    let long: Vec<String> = LONG_TEXTS.iter().map(|bytes| "abcdefghij".repeat(bytes.div_ceil(10))).collect();
    let mut findings = Vec::new();
    findings.push(tried("typed values", row(session.as_mut(), &values(1, "short".as_bytes()))));
    findings.push(tried("nulls", row(session.as_mut(), &nulls(2))));
    for (id, (text, &bytes)) in (3..).zip(long.iter().zip(&LONG_TEXTS)) {
        let name = format!("text of {bytes} bytes");
        findings.push(tried(&name, row(session.as_mut(), &values(id, &text.as_bytes()[..bytes]))));
    }
    findings.push(tried("many packets", many_packets(session.as_mut(), spec)));
    session.close();
    Ok(findings)
}

/// The finding of one test: a description of success, or the first problem.
fn tried(name: &str, outcome: Result<Result<String, String>, TargetError>) -> AcceptanceFinding {
    match outcome {
        Ok(Ok(observation)) => proved(name, observation),
        Ok(Err(fault)) => wrong(name, fault),
        Err(error) => of_error(name, &error),
    }
}

fn typed_statements(target: &dyn Target, spec: &DataSpec) -> Vec<Statement> {
    let Dialect { mark, prefix, .. } = target.dialect();
    let table = scratch::name(target);
    let columns = COLUMNS.map(|(name, _)| name).join(", ");
    let marks: Vec<String> = (1..=COLUMNS.len()).map(mark).collect();
    let insert = format!("INSERT INTO {table} ({columns}) VALUES ({})", marks.join(", "));
    let types = [
        Type::Int,
        Type::Int,
        Type::Literal,
        Type::Real,
        Type::Text,
        Type::Literal,
        Type::Literal,
        Type::Bytes,
        Type::Text,
    ];
    let read_back = format!("SELECT {columns} FROM {table} WHERE id = {}", mark(1));
    let whole = format!("SELECT * FROM {prefix}rows_1 WHERE custid BETWEEN 1 AND {}", spec.rows);
    vec![
        Statement::write("insert", insert, &types),
        Statement::read("read_back", read_back, &[Type::Int], ResultKind::Columns),
        Statement::read("whole_rows", whole, &[], ResultKind::Rows),
    ]
}

/// One value per column, with this number and this long text.
fn values(id: i64, body: &[u8]) -> [Value<'_>; COLUMNS.len()] {
    [
        Value::Int(id),
        Value::Int(i64::MAX),
        Value::Text(AMOUNT),
        Value::Real(0.1),
        Value::Text("naïve € 'quoted\\'".as_bytes()),
        Value::Text(DAY),
        Value::Text(MOMENT),
        Value::Bytes(&[0, 255, 39, 92, 10]),
        Value::Text(body),
    ]
}

fn nulls(id: i64) -> [Value<'static>; COLUMNS.len()] {
    let mut row = [Value::Null; COLUMNS.len()];
    row[0] = Value::Int(id);
    row
}

/// Inserts a row, reads it back and compares every column.
fn row(session: &mut dyn Session, values: &[Value<'_>]) -> Result<Result<String, String>, TargetError> {
    let inserted = session.execute(INSERT, values).map_err(|error| failed(&error))?.rows;
    if inserted != 1 {
        return Ok(Err(format!("an insert of one row wrote {inserted}")));
    }
    let row_count = session.execute(READ_BACK, &values[..1]).map_err(|error| failed(&error))?.rows;
    if row_count != 1 {
        return Ok(Err(format!("{row_count} rows were read back, but one was written")));
    }
    for (at, ((name, _), &written)) in COLUMNS.iter().zip(values).enumerate() {
        let read = session.answered(at);
        if !read.is_some_and(|read| is_same(written, read)) {
            return Ok(Err(format!(
                "column {name}: {} was written, but {} was read",
                shown(Some(written)),
                shown(read)
            )));
        }
    }
    let bytes: usize = values.iter().map(|value| byte_count(*value)).sum();
    Ok(Ok(format!("{} columns were written and read back, {bytes} bytes of texts", COLUMNS.len())))
}

fn byte_count(value: Value<'_>) -> usize {
    match value {
        Value::Text(bytes) | Value::Bytes(bytes) => bytes.len(),
        Value::Null | Value::Int(_) | Value::Real(_) => 0,
    }
}

/// Whether `read` equals `written`: engines read decimals as numbers or texts, and times with additional digits.
fn is_same(written: Value<'_>, read: Value<'_>) -> bool {
    match (written, read) {
        (Value::Text(AMOUNT), _) => {
            number(read).is_some_and(|amount| (amount - 12_345_678_901.234_5).abs() < 5e-5)
        }
        (Value::Text(day), Value::Text(read)) if day == DAY => {
            read.strip_prefix(DAY).is_some_and(|rest| rest.is_empty() || rest == b" 00:00:00")
        }
        (Value::Text(moment), Value::Text(read)) if moment == MOMENT => {
            let rest = read.strip_prefix(MOMENT);
            rest.is_some_and(|rest| rest.iter().all(|byte| matches!(byte, b'.' | b'0')))
        }
        (Value::Int(written), _) if number(read).is_some() => integer(read) == Some(written),
        (Value::Real(written), _) => number(read) == Some(written),
        // Some engines return bytes as hex digits.
        (Value::Bytes(written), Value::Text(digits)) => {
            let digits = String::from_utf8_lossy(digits).to_lowercase();
            digits.trim_start_matches("\\x") == explain::hex(written)
        }
        _ => written == read,
    }
}

fn number(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Int(number) => Some(number as f64),
        Value::Real(number) => Some(number),
        Value::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
        Value::Null | Value::Bytes(_) => None,
    }
}

fn integer(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Int(number) => Some(number),
        Value::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
        Value::Null | Value::Real(_) | Value::Bytes(_) => None,
    }
}

/// A value for a message; a long value is truncated.
fn shown(value: Option<Value<'_>>) -> String {
    let text = match value {
        None => return "nothing".to_owned(),
        Some(Value::Text(text)) => format!("text {:?}", String::from_utf8_lossy(text)),
        Some(other) => format!("{other:?}"),
    };
    text.chars().take(60).collect()
}

/// Reads all rows and columns of a table in one result.
fn many_packets(session: &mut dyn Session, spec: &DataSpec) -> Result<Result<String, String>, TargetError> {
    let rows = session.execute(WHOLE_ROWS, &[]).map_err(|error| failed(&error))?.rows;
    Ok(match rows == spec.rows {
        true => Ok(format!("one query returned {rows} complete rows")),
        false => Err(format!("one query returned {rows} complete rows, but the table has {}", spec.rows)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_as_engines_return_them() {
        for (written, read) in [
            (Value::Text(AMOUNT), Value::Real(12_345_678_901.234_5)),
            (Value::Text(AMOUNT), Value::Text(b"12345678901.23450")),
            (Value::Text(DAY), Value::Text(b"2024-02-29 00:00:00")),
            (Value::Text(MOMENT), Value::Text(b"2024-02-29 23:59:58.000")),
            (Value::Int(i64::MAX), Value::Text(b"9223372036854775807")),
            (Value::Bytes(&[0, 255]), Value::Text(b"\\x00ff")),
            (Value::Bytes(&[0, 255]), Value::Text(b"00FF")),
            (Value::Null, Value::Null),
        ] {
            assert!(is_same(written, read), "{written:?} {read:?}");
        }
        for (written, read) in [
            (Value::Text(AMOUNT), Value::Text(b"12345678901.2346")),
            (Value::Text(DAY), Value::Text(b"2024-02-28")),
            (Value::Text(MOMENT), Value::Text(b"2024-02-29 23:59:58.5")),
            (Value::Int(i64::MAX), Value::Real(9_223_372_036_854_775_807.0)),
            (Value::Bytes(&[0, 255]), Value::Text(b"\\x00")),
            (Value::Null, Value::Text(b"")),
            (Value::Text(b"a"), Value::Null),
        ] {
            assert!(!is_same(written, read), "{written:?} {read:?}");
        }
    }
}
