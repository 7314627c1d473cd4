//! Asks the server to infer parameter types for statements that it rejects with Dyno's declared types.
//!
//! Dyno declares integers as `bigint` and texts as `text`, so `repeat('x', :n)` matches no function. Such a
//! statement is parsed again: first with all types left to the server, then with the types of literals
//! (`integer`, `numeric` and unknown), which the simple protocol would use.

use parking_lot::Mutex;

use super::encode::{oid, type_oid};
use crate::connections::PostgresConnections;
use crate::wire::{PostgresConnection, PostgresError, PostgresFieldReader, PostgresWireError, message};
use dyno_engine::{Refusal as _, SessionSetup, Statement, TargetError, Type};

/// The longest wait for the server to end the connection that infers types.
const CLOSE_WAIT: std::time::Duration = std::time::Duration::from_secs(2);

/// Errors that other parameter types may avoid: no such function or operator, wrong type, ambiguous function,
/// ambiguous or unknown parameter type, no such cast.
const TYPE_ERRORS: [&str; 6] = ["42883", "42804", "42725", "42P08", "42P18", "42846"];

/// The server's types for the parameters of a statement, as numbers of `pg_type`.
pub(super) type Oids = Vec<u32>;

/// Inferred parameter types. All sessions of a target share them, so the server is asked once.
#[derive(Debug, Default)]
pub(crate) struct InferredTypes(Mutex<Vec<(Statement, Oids)>>);

impl InferredTypes {
    /// The types for each statement of `setup`: inferred ones if known, otherwise the declared ones.
    pub(super) fn of(&self, setup: &SessionSetup) -> Vec<Oids> {
        let entries = self.0.lock();
        let types = |statement: &Statement| {
            let inferred = entries.iter().find(|(other, _)| is_same(other, statement));
            inferred.map_or_else(|| declared(statement), |(_, types)| types.clone())
        };
        setup.statements.iter().map(types).collect()
    }

    /// Asks the server for the types of all statements that it rejects with the declared ones, on a
    /// connection of its own. `explain` words its errors.
    ///
    /// # Errors
    /// The server rejects a statement with every possible combination of types.
    pub(super) fn infer(
        &self,
        connections: &PostgresConnections,
        setup: &SessionSetup,
        explain: impl Fn(PostgresWireError) -> TargetError,
    ) -> Result<(), TargetError> {
        let mut entries = self.0.lock();
        let is_new = |statement: &&Statement| {
            !statement.params.is_empty() && entries.iter().all(|(other, _)| !is_same(other, statement))
        };
        let open: Vec<&Statement> = setup.statements.iter().filter(is_new).collect();
        if open.is_empty() {
            return Ok(());
        }
        let mut connection = connections.plain("dyno check")?;
        for statement in open {
            let types = infer(&mut connection, statement).map_err(&explain)?;
            entries.push((statement.clone(), types));
        }
        connection.close_within(CLOSE_WAIT);
        Ok(())
    }
}

/// Whether other parameter types may avoid `error`.
pub(super) fn is_type_error(error: &TargetError) -> bool {
    PostgresError::of(error).is_some_and(|server| TYPE_ERRORS.contains(&server.code.as_str()))
}

fn is_same(a: &Statement, b: &Statement) -> bool {
    a.sql == b.sql && a.params == b.params
}

/// The types that Dyno declares for the parameters.
fn declared(statement: &Statement) -> Oids {
    statement.params.iter().map(|&kind| type_oid(kind)).collect()
}

/// The types with which the server accepts `statement`.
fn infer(connection: &mut PostgresConnection, statement: &Statement) -> Result<Oids, PostgresWireError> {
    let kinds = &statement.params;
    let first = describe(connection, &statement.sql, &declared(statement));
    if !matches!(&first, Err(PostgresWireError::Server(error)) if TYPE_ERRORS.contains(&error.code.as_str()))
    {
        return first.map(|_| declared(statement));
    }
    let unspecified: Oids =
        kinds.iter().map(|&kind| if kind == Type::Bytes { oid::BYTEA } else { oid::UNKNOWN }).collect();
    let from_server = describe(connection, &statement.sql, &unspecified);
    let suits = |types: &Oids, suits: fn(Type, u32) -> bool| {
        types.len() == kinds.len() && kinds.iter().zip(types).all(|(&kind, &number)| suits(kind, number))
    };
    if let Ok(types) = &from_server
        && suits(types, is_exact)
    {
        return from_server;
    }
    let literal: Oids = kinds.iter().map(|&kind| literal_oid(kind)).collect();
    let as_literals = describe(connection, &statement.sql, &literal);
    match from_server {
        Ok(types) if as_literals.is_err() && suits(&types, is_writable) => Ok(types),
        _ => as_literals.map(|_| literal),
    }
}

/// The type that a literal of this kind has in a statement.
fn literal_oid(kind: Type) -> u32 {
    match kind {
        Type::Int => oid::INT4,
        Type::Real => oid::NUMERIC,
        Type::Bytes => oid::BYTEA,
        Type::Text | Type::Literal => oid::UNKNOWN,
    }
}

/// Whether the type with this number holds values of this kind without conversion.
fn is_exact(kind: Type, number: u32) -> bool {
    match kind {
        Type::Int => matches!(number, oid::INT2 | oid::INT4 | oid::INT8 | oid::OID),
        Type::Real => matches!(number, oid::NUMERIC | oid::FLOAT4 | oid::FLOAT8),
        Type::Text | Type::Bytes | Type::Literal => true,
    }
}

/// Whether the server can parse a text value of this kind as the type with this number.
fn is_writable(kind: Type, number: u32) -> bool {
    const TEXTS: [u32; 3] = [oid::TEXT, oid::BPCHAR, oid::VARCHAR];
    const NUMBERS: [u32; 3] = [oid::NUMERIC, oid::FLOAT4, oid::FLOAT8];
    is_exact(kind, number) || TEXTS.contains(&number) || NUMBERS.contains(&number)
}

/// The parameter types of `sql`, given `types`; the server infers those that are 0.
fn describe(
    connection: &mut PostgresConnection,
    sql: &str,
    types: &[u32],
) -> Result<Oids, PostgresWireError> {
    let out = &mut connection.line.out;
    message::parse(out, "", sql, types);
    message::describe_statement(out, "");
    message::sync(out);
    connection.line.send()?;
    let (mut found, mut refusal) = (Vec::new(), None);
    loop {
        let (tag, body) = match connection.next() {
            Ok(message) => message,
            Err(error) => return Err(refusal.unwrap_or(error)),
        };
        let body = connection.line.body(body);
        match tag {
            b't' => {
                found = described(body)
                    .ok_or_else(|| PostgresWireError::protocol("a truncated parameter description"))?;
            }
            b'E' if refusal.is_none() => {
                refusal = Some(PostgresWireError::Server(Box::new(PostgresError::read(body))));
            }
            b'Z' => return refusal.map_or(Ok(found), Err),
            _ => {}
        }
    }
}

/// Parses the types in a description of parameters.
fn described(body: &[u8]) -> Option<Oids> {
    let mut fields = PostgresFieldReader::new(body);
    let count = fields.u16()?;
    (0..count).map(|_| fields.i32().map(i32::cast_unsigned)).collect()
}
