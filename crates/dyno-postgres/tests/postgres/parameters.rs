//! Tests parameters whose types the server infers because it rejects the types that Dyno declares.

use std::sync::Arc;

use crate::wire::{each_version, target_at};
use dyno_engine::{
    MonotonicClock, ResultKind, Session, SessionSetup, Statement, StatementId, Target, TargetError, Type,
    Value,
};
use dyno_plan::{Commit, Connect, StatementProtocol};
use dyno_testbed::Postgres;

fn session(
    target: &dyn Target,
    protocol: StatementProtocol,
    connect: Connect,
    statements: &[Statement],
) -> Result<Box<dyn Session>, TargetError> {
    target.session(&SessionSetup {
        number: 0,
        statements: statements.into(),
        rehearsal: None,
        commit: Commit::Wait,
        protocol,
        connect,
        blocks: None,
        bulk: None,
        slices: false,
        read_only: false,
        clock: Arc::new(MonotonicClock::default()),
    })
}

const INT: Value<'_> = Value::Int(3);
const REAL: Value<'_> = Value::Real(2.5);
const TEXT: Value<'_> = Value::Text(b"abc");

/// Statements that PostgreSQL rejects with `bigint`, `double precision` and `text`, with their values and
/// results.
const STATEMENTS: [(&str, &[Value<'_>], u64); 17] = [
    ("SELECT length(repeat('x', $1))", &[INT], 3),
    ("SELECT length(substr('abcdef', $1, $2))", &[INT, INT], 3),
    ("SELECT ascii(chr($1))", &[INT], 3),
    ("SELECT length(lpad($1, $2, 'x'))", &[TEXT, INT], 3),
    ("SELECT extract(day FROM date '2020-01-10' - $1)::int8", &[INT], 7),
    ("SELECT extract(day FROM date '2020-01-10' + $1)::int8", &[INT], 13),
    ("SELECT (round($1, 1) * 10)::int8", &[REAL], 25),
    ("SELECT (round(12.3456, $1) * 1000)::int8", &[INT], 12_346),
    ("SELECT ('[7, 8, 9, 10]'::jsonb -> $1)::int8", &[INT], 10),
    ("SELECT (ARRAY[7, 8, 9])[$1]", &[INT], 9),
    ("SELECT extract(year FROM make_date($1 + 2000, $1, $1))::int8", &[INT], 2003),
    ("SELECT small($1)", &[INT], 4),
    ("SELECT added($1, $2)", &[Value::Int(3_000_000_000), INT], 3_000_000_003),
    ("SELECT length($1 || 'x') + length(left('abc', $2))", &[TEXT, INT], 7),
    ("SELECT count(*) FROM doc WHERE code = $1", &[INT], 1),
    ("SELECT count(*) FROM doc WHERE day = $1 AND id < $2", &[Value::Text(b"2020-01-10"), INT], 2),
    ("SELECT (count(pg_try_advisory_xact_lock($1, $2)))", &[INT, INT], 1),
];

fn kind(value: &Value<'_>) -> Type {
    match value {
        Value::Int(_) => Type::Int,
        Value::Real(_) => Type::Real,
        _ => Type::Text,
    }
}

#[test]
fn parameter_types_are_inferred_when_declared_type_fails() {
    each_version(|version| {
        let server = Postgres::start(version, &[("fsync", "off")]);
        server.psql(
            "CREATE TABLE doc (id int, code text, day date); \
             INSERT INTO doc SELECT i, i::text, '2020-01-10' FROM generate_series(1, 9) i; \
             CREATE FUNCTION small(n smallint) RETURNS int8 LANGUAGE sql AS 'SELECT n::int8 + 1'; \
             CREATE FUNCTION added(a int8, b int) RETURNS int8 LANGUAGE sql AS 'SELECT a + b'; \
             CREATE PROCEDURE keep(n int, code text) LANGUAGE sql AS 'UPDATE doc SET code = $2 WHERE id = $1'",
        );
        let mut statements: Vec<Statement> = (0..)
            .zip(STATEMENTS)
            .map(|(number, (sql, values, _))| {
                let kinds: Vec<Type> = values.iter().map(kind).collect();
                Statement::read(&format!("s{number}"), sql.to_owned(), &kinds, ResultKind::Number)
            })
            .collect();
        statements.push(Statement::write("keep", "CALL keep($1, $2)".to_owned(), &[Type::Int, Type::Text]));
        let call = StatementId(STATEMENTS.len() as u16);
        for (protocol, connect) in [
            (StatementProtocol::Prepared, Connect::Session),
            (StatementProtocol::Prepared, Connect::Transaction),
            (StatementProtocol::Extended, Connect::Session),
        ] {
            let target = target_at(&server.url());
            let mut session = session(target.as_ref(), protocol, connect, &statements).unwrap();
            for (number, (sql, values, wanted)) in (0..).zip(STATEMENTS) {
                let outcome = session.execute(StatementId(number), values);
                assert_eq!(
                    outcome.map(|done| done.rows).ok(),
                    Some(wanted),
                    "{sql} {protocol:?} {connect:?}"
                );
            }
            session.execute(call, &[Value::Int(5), TEXT]).unwrap();
            assert_eq!(server.psql("SELECT code FROM doc WHERE id = 5").trim(), "abc");
            let error = session.execute(StatementId(0), &[Value::Int(3_000_000_000)]).unwrap_err();
            assert!(error.message.contains("is integer on the server"), "{error}");
            assert!(error.message.contains("3000000000"), "{error}");
            // The session remains usable after the error.
            assert_eq!(session.execute(StatementId(0), &[Value::Int(9)]).unwrap().rows, 9);
            session.close();
        }
        // The simple protocol prepares nothing: a missing object is an error only on execution.
        let later = Statement::read(
            "later",
            "SELECT count(*) FROM later WHERE n = $1".to_owned(),
            &[Type::Int],
            ResultKind::Number,
        );
        let escapes = r"SELECT length(E'it\'s $1') + length(repeat('x', $1))".to_owned();
        let escapes = Statement::read("escapes", escapes, &[Type::Int], ResultKind::Number);
        let target = target_at(&server.url());
        let simple = [later, escapes];
        let mut plain =
            session(target.as_ref(), StatementProtocol::Simple, Connect::Session, &simple).unwrap();
        server.psql("CREATE TABLE later (n smallint)");
        assert_eq!(plain.execute(StatementId(0), &[INT]).unwrap().rows, 0);
        assert_eq!(plain.execute(StatementId(1), &[INT]).unwrap().rows, 10);
        plain.close();
        // No type helps: the error names the function with the types of literals, and gives a hint.
        let missing =
            Statement::read("none", "SELECT nothing($1)".to_owned(), &[Type::Int], ResultKind::Number);
        let error = session(target.as_ref(), StatementProtocol::Prepared, Connect::Session, &[missing])
            .err()
            .unwrap();
        assert!(error.to_string().contains("nothing(integer)"), "{error}");
        assert!(error.hint.contains(":n::integer"), "{}", error.hint);
    });
}
