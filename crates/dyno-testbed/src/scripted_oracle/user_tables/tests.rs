//! Executes statements in Oracle's words on a MariaDB server.

use super::*;
use crate::scripted_oracle::ScriptedType;

fn text(text: &str) -> ScriptedValue {
    ScriptedValue::Text(text.to_owned())
}

fn execute(tables: &UserTables, session: u64, sql: &str, values: &[ScriptedValue]) -> Executed {
    tables.execute(session, sql, &[values.to_vec()])
}

/// Executes a statement that defines an object and must succeed.
fn define(tables: &UserTables, sql: &str) {
    let answer = execute(tables, 1, sql, &[]).answer;
    assert!(matches!(answer, ScriptedAnswer::Done), "{sql}: {answer:?}");
}

fn rows(executed: Executed) -> Vec<Vec<ScriptedValue>> {
    match executed.answer {
        ScriptedAnswer::Rows { rows, .. } => rows,
        answer => panic!("{answer:?}"),
    }
}

fn refused(executed: &Executed) -> u32 {
    match executed.answer {
        ScriptedAnswer::RefusedWith(number, _) => number,
        ref answer => panic!("{answer:?}"),
    }
}

const EVERY_TYPE: &str = "CREATE TABLE t (id NUMBER(10), amount NUMBER(18, 4), ratio BINARY_DOUBLE, label VARCHAR2(40 CHAR), \
                          day DATE, moment TIMESTAMP(0), raw_bytes RAW(200), body CLOB)";

#[test]
fn values_of_every_type_are_stored_and_returned() {
    let Some(tables) = UserTables::start() else { return };
    define(&tables, EVERY_TYPE);
    let values = [
        ScriptedValue::Int(1),
        text("12345678901.2345"),
        ScriptedValue::Decimal("0.1".to_owned()),
        text("naïve € 'quoted\\'"),
        text("2024-02-29"),
        text("2024-02-29 23:59:58"),
        ScriptedValue::Raw(vec![0, 255, 39, 92, 10]),
        text(&"long ".repeat(2_000)),
    ];
    let insert =
        "INSERT INTO t VALUES (:1, TO_NUMBER(:2, '9D9', 'x'), :3, :4, TO_DATE(:5, 'YYYY-MM-DD'), :6, :7, :8)";
    let inserted = execute(&tables, 1, insert, &values);
    assert!(inserted.has_changes, "{:?}", inserted.answer);
    tables.end_transaction(1, true);
    let query = "SELECT * FROM t WHERE id = :1";
    let ScriptedAnswer::Rows { columns, .. } = tables.describe(1, query) else { panic!("it has columns") };
    let kinds: Vec<_> = columns.iter().map(|(_, kind)| *kind).collect();
    let expected = [
        ScriptedType::Number,
        ScriptedType::Number,
        ScriptedType::Double,
        ScriptedType::Text,
        ScriptedType::Date,
        ScriptedType::Timestamp,
        ScriptedType::Raw,
        ScriptedType::Clob,
    ];
    assert_eq!(kinds, expected);
    let read = rows(execute(&tables, 2, query, &values[..1]));
    let expected = vec![
        values[0].clone(),
        ScriptedValue::Decimal("12345678901.2345".to_owned()),
        ScriptedValue::double(0.1),
        values[3].clone(),
        ScriptedValue::moment(2024, 2, 29, 0, 0, 0),
        ScriptedValue::moment(2024, 2, 29, 23, 59, 58),
        values[6].clone(),
        values[7].clone(),
    ];
    assert_eq!(read, [expected]);
    assert!(tables.table_bytes(1, "T").is_some());
    assert!(tables.table_bytes(1, "U").is_none());
}

#[test]
fn transactions_of_sessions_are_isolated_and_rolled_back() {
    let Some(tables) = UserTables::start() else { return };
    define(&tables, "CREATE TABLE t (id NUMBER(10) PRIMARY KEY, n NUMBER(10))");
    let count = |session| rows(execute(&tables, session, "SELECT COUNT(*) FROM t", &[]))[0][0].clone();
    let array: Vec<_> = (0..1_200).map(|id| vec![ScriptedValue::Int(id), ScriptedValue::Null]).collect();
    let inserted = tables.execute(1, "INSERT INTO t (id, n) VALUES (:1, :2)", &array);
    assert!(matches!(inserted.answer, ScriptedAnswer::Changed(1_200)), "{:?}", inserted.answer);
    assert_eq!((count(1), count(2)), (ScriptedValue::Int(1_200), ScriptedValue::Int(0)));
    tables.end_transaction(1, false);
    assert_eq!(count(1), ScriptedValue::Int(0));
    execute(&tables, 1, "INSERT INTO t (id) VALUES (7)", &[]);
    tables.end_transaction(1, true);
    assert_eq!(refused(&execute(&tables, 2, "INSERT INTO t (id) VALUES (7)", &[])), 1);
    execute(&tables, 2, "DELETE FROM t", &[]);
    tables.log_off(2);
    assert_eq!(count(1), ScriptedValue::Int(1), "a session that leaves commits nothing");
    execute(&tables, 3, "SET TRANSACTION READ ONLY", &[]);
    assert_eq!(refused(&execute(&tables, 3, "DELETE FROM t", &[])), 1_456);
    assert_eq!(refused(&execute(&tables, 3, "SELECT a FROM missing", &[])), 942);
}

#[test]
fn procedures_return_values_of_out_parameters() {
    let Some(tables) = UserTables::start() else { return };
    let body = "CREATE OR REPLACE PROCEDURE pay(p_id IN NUMBER, p_left OUT NUMBER) AS
        BEGIN UPDATE t SET n = n - 1 WHERE id = p_id; SELECT n INTO p_left FROM t WHERE id = p_id; END;";
    let tables = tables.with_procedure("PAY", body);
    define(&tables, "CREATE TABLE t (id NUMBER(10) PRIMARY KEY, n NUMBER(10))");
    execute(&tables, 1, "INSERT INTO t VALUES (1, 10)", &[]);
    define(&tables, "CREATE OR REPLACE PROCEDURE pay(a IN NUMBER, b OUT NUMBER) IS BEGIN whatever; END;");
    let values = [ScriptedValue::Int(1), ScriptedValue::Null];
    let called = execute(&tables, 1, "BEGIN pay(:1, :2); END;", &values);
    assert!(called.has_changes);
    assert!(
        matches!(&called.answer, ScriptedAnswer::ReturnedAt(out) if *out == [(1, ScriptedValue::Int(9))]),
        "{:?}",
        called.answer
    );
    assert_eq!(refused(&execute(&tables, 1, "BEGIN pay(:1); END;", &values[..1])), 6_550);
}
