//! Opens a connection from a URL and prepares a session's statements on it.

use super::inferred::{InferredTypes, Oids, is_type_error};
use super::slice;
use super::statements;
use crate::connections::{PostgresConnections, open_session};
use crate::pool::{POOLED_NAME, PostgresPoolerStatements};
use crate::wire::{Breaker, PostgresConnection, PostgresError, PostgresWireError, message};
use dyno_engine::slices::SliceProcedure;
use dyno_engine::{
    BlockOpSchema, BlockSessionConfig, Refusal as _, SessionSetup, TargetError, TextConnection as _,
};

/// The block operations that loops inside the database execute; absent if there are none.
pub(super) fn blocks_in_loops(setup: &SessionSetup) -> Option<&BlockSessionConfig> {
    setup.blocks.as_ref().filter(|_| setup.slices)
}

/// Transactions that opening a session adds to `xact_commit` (measured on 15.20 and 18.4): the start of its
/// process, the settings, the preparation.
const OPENING_COMMITS: u64 = 3;

/// The same for a session through a pooler: one query for its server process, and the preparation if the
/// pooler keeps it. The pooler's transactions on its own connections do not count.
pub(super) fn opening_commits(statements: Option<PostgresPoolerStatements>) -> u64 {
    match statements {
        None => OPENING_COMMITS,
        Some(PostgresPoolerStatements::Prepared) => 2,
        Some(PostgresPoolerStatements::Unnamed) => 1,
    }
}

/// Opens a connection with all statements prepared; returns it with the parameter types. The server infers
/// types for statements that it rejects with the declared ones.
pub(super) fn prepare_inferred(
    connections: &PostgresConnections,
    setup: &SessionSetup,
    inferred: &InferredTypes,
    through: Option<PostgresPoolerStatements>,
    breaker: &Breaker,
) -> Result<(PostgresConnection, Vec<Oids>), TargetError> {
    // If each execution carries its statement, nothing is prepared and the server would reject nothing here.
    if through == Some(PostgresPoolerStatements::Unnamed) && setup.blocks.is_none() {
        inferred.infer(connections, setup, |error| not_prepared(error, setup))?;
    }
    let types = inferred.of(setup);
    match prepare(connections, setup, &types, through, breaker) {
        Err(error) if setup.blocks.is_none() && is_type_error(&error) => {
            breaker.release();
            inferred.infer(connections, setup, |error| not_prepared(error, setup))?;
            let types = inferred.of(setup);
            Ok((prepare(connections, setup, &types, through, breaker)?, types))
        }
        prepared => prepared.map(|connection| (connection, types)),
    }
}

/// Opens a connection and prepares every statement on it.
pub(super) fn prepare(
    connections: &PostgresConnections,
    setup: &SessionSetup,
    types: &[Oids],
    through: Option<PostgresPoolerStatements>,
    breaker: &Breaker,
) -> Result<PostgresConnection, TargetError> {
    if let Some(statements) = through {
        return prepare_through(connections, setup, types, statements, breaker);
    }
    let mut connection = open_session(connections, setup, breaker)?;
    statements::prepare(&mut connection, setup, types, false);
    if let Some(blocks) = blocks_in_loops(setup) {
        let (out, calls) = (&mut connection.line.out, || SliceProcedure::of(blocks.extra));
        calls().for_each(|call| slice::parse(call, out, blocks.schema, blocks.redo, BlockOpSchema::Own));
        if blocks.uses_hot_schema() {
            calls().for_each(|call| slice::parse(call, out, 1, blocks.redo, BlockOpSchema::First));
        }
    }
    finish_preparing(connection, setup)
}

/// Ends the preparation with Sync and reads the results.
fn finish_preparing(
    mut connection: PostgresConnection,
    setup: &SessionSetup,
) -> Result<PostgresConnection, TargetError> {
    message::sync(&mut connection.line.out);
    let prepared = connection.line.send().and_then(|()| connection.read_results().map(|_| ()));
    prepared.map_err(|error| not_prepared(error, setup))?;
    Ok(connection)
}

/// Opens a connection through a pooler. Statements are prepared if the pooler prepares them on whichever
/// server connection is free.
fn prepare_through(
    connections: &PostgresConnections,
    setup: &SessionSetup,
    types: &[Oids],
    through: PostgresPoolerStatements,
    breaker: &Breaker,
) -> Result<PostgresConnection, TargetError> {
    // All sessions use one name. A pooler sets the client's name whenever it assigns a server connection to
    // another client, which costs a round trip and a transaction.
    let mut connection = PostgresConnection::connect(&connections.config, POOLED_NAME, breaker)?;
    // This also reports immediately if the pooler has no server available.
    connection.simple("SELECT pg_catalog.pg_backend_pid()")?;
    if through == PostgresPoolerStatements::Unnamed {
        return Ok(connection);
    }
    statements::prepare(&mut connection, setup, types, true);
    // A pooler may reply itself if its server connection already has the statement (as PgBouncer does).
    // Preparing alone would then be a transaction for some sessions only. With this statement it is one for
    // all.
    let out = &mut connection.line.out;
    message::parse(out, "", "SELECT WHERE false", &[]);
    message::bind_text(out, "", &[]);
    message::execute(out);
    finish_preparing(connection, setup)
}

/// The error if the statements could not be prepared.
fn not_prepared(error: PostgresWireError, setup: &SessionSetup) -> TargetError {
    let error = TargetError::from(error);
    let Some(server) = PostgresError::of(&error) else { return error };
    // A table, schema, column, function or procedure does not exist.
    let is_missing = matches!(server.code.as_str(), "42P01" | "3F000" | "42703" | "42883");
    let is_function = server.code == "42883" && setup.blocks.is_none();
    let error =
        setup.not_prepared(error, is_missing, "USAGE on schema dyno, SELECT and UPDATE on its tables");
    match is_function {
        true => error.hint("create the function or operator there first, or write the type behind the parameter, as :n::integer"),
        false => error,
    }
}
