//! From a URL to a connection on which a session's statements are prepared.

use super::inferred::{InferredTypes, Oids, is_type_error};
use super::slice;
use super::{settings_sql, statements};
use crate::connect::ConnectConfig;
use crate::pool::{POOLED_NAME, Statements};
use crate::wire::{Breaker, Connection, PgError, Row, WireError, message};
use dyno_engine::slices::Call;
use dyno_engine::{Blocks, Place, Refusal as _, SessionSetup, TargetError};

/// The block operations that loops inside the database do, if there are any.
pub(super) fn blocks_in_loops(setup: &SessionSetup) -> Option<&Blocks> {
    setup.blocks.as_ref().filter(|_| setup.slices)
}

/// Transactions that opening a session adds to `xact_commit` (counted on 15.20 and 18.4): the start of its process, the
/// settings, the preparation.
const OPENING_COMMITS: u64 = 3;

/// Those of a session through a pooler: one that asks who serves it, and the preparation, where the pooler carries it. What
/// the pooler does to its own connections is not the session's.
pub(super) fn opening_commits(statements: Option<Statements>) -> u64 {
    match statements {
        None => OPENING_COMMITS,
        Some(Statements::Prepared) => 2,
        Some(Statements::Unnamed) => 1,
    }
}

/// What the server's views show of the session's connections.
pub(super) fn name_of(setup: &SessionSetup) -> String {
    format!("dyno session {}", setup.number)
}

/// A connection on which everything is prepared, and the types of the parameters. The server infers them for statements that
/// it refuses with the declared ones.
pub(super) fn prepare_inferred(
    config: &ConnectConfig,
    setup: &SessionSetup,
    inferred: &InferredTypes,
    through: Option<Statements>,
    breaker: &Breaker,
) -> Result<(Connection, Vec<Oids>), TargetError> {
    // Nothing is prepared where each execution carries its statement, so that nothing would be refused.
    if through == Some(Statements::Unnamed) && setup.blocks.is_none() {
        inferred.infer(config, setup, |error| not_prepared(error, setup))?;
    }
    let types = inferred.of(setup);
    match prepare(config, setup, &types, through, breaker) {
        Err(error) if setup.blocks.is_none() && is_type_error(&error) => {
            breaker.release();
            inferred.infer(config, setup, |error| not_prepared(error, setup))?;
            let types = inferred.of(setup);
            Ok((prepare(config, setup, &types, through, breaker)?, types))
        }
        prepared => prepared.map(|connection| (connection, types)),
    }
}

/// A connection on which everything is prepared.
pub(super) fn prepare(
    config: &ConnectConfig,
    setup: &SessionSetup,
    types: &[Oids],
    through: Option<Statements>,
    breaker: &Breaker,
) -> Result<Connection, TargetError> {
    if let Some(statements) = through {
        return prepare_through(config, setup, types, statements, breaker);
    }
    let mut connection = Connection::open_guarded(config, &name_of(setup), breaker)?;
    let rows = connection.simple(&settings_sql(&connection, setup))?;
    refuse_pooler(&connection, rows.last())?;
    statements::prepare(&mut connection, setup, types, false);
    if let Some(blocks) = blocks_in_loops(setup) {
        let (out, calls) = (&mut connection.line.out, || Call::of(blocks.extra));
        calls().for_each(|call| slice::parse(call, out, blocks.schema, blocks.redo, Place::Own));
        if blocks.also_first() {
            calls().for_each(|call| slice::parse(call, out, 1, blocks.redo, Place::First));
        }
    }
    finish_preparing(connection, setup)
}

/// Ends what was written with Sync, and takes in the answers.
fn finish_preparing(mut connection: Connection, setup: &SessionSetup) -> Result<Connection, TargetError> {
    message::sync(&mut connection.line.out);
    let prepared = connection.line.send().and_then(|()| connection.read_results().map(|_| ()));
    prepared.map_err(|error| not_prepared(error, setup))?;
    Ok(connection)
}

/// A connection through a pooler; prepared, where the pooler carries that to whichever server connection is free.
fn prepare_through(
    config: &ConnectConfig,
    setup: &SessionSetup,
    types: &[Oids],
    through: Statements,
    breaker: &Breaker,
) -> Result<Connection, TargetError> {
    // One name for all: a pooler sets the name of the client on a server connection whenever another one gets it, which
    // costs a round trip and a transaction.
    let mut connection = Connection::open_guarded(config, POOLED_NAME, breaker)?;
    // Also tells at once where the pooler has no server to give.
    connection.simple("SELECT pg_catalog.pg_backend_pid()")?;
    if through == Statements::Unnamed {
        return Ok(connection);
    }
    statements::prepare(&mut connection, setup, types, true);
    // A pooler answers itself where its server connection knows the statement already (PgBouncer does), so that preparing alone is a
    // transaction for some sessions and none for others: with this it is one for all.
    let out = &mut connection.line.out;
    message::parse(out, "", "SELECT WHERE false", &[]);
    message::bind_text(out, "", &[]);
    message::execute(out);
    finish_preparing(connection, setup)
}

/// Refuses to measure through a pooler without knowing of it: its statements are lost, and its counters are another
/// connection's.
fn refuse_pooler(connection: &Connection, row: Option<&Row>) -> Result<(), TargetError> {
    match row.and_then(|row| row.parse::<i32>(0)) {
        Some(pid) if pid != connection.backend_pid() => Err(TargetError::unsupported(format!(
                "a connection pooler is in between: the session was opened as process {} and is served by process {pid}",
                connection.backend_pid()
            ),
        )
        .hint(
            "give target.observe_url the server's own address beside it, and sessions go through the pooler; or give \
             target.url the server's own",
        )),
        _ => Ok(()),
    }
}

/// Why the statements could not be prepared.
fn not_prepared(error: WireError, setup: &SessionSetup) -> TargetError {
    let error = TargetError::from(error);
    let Some(server) = PgError::of(&error) else { return error };
    // No such table, schema, column, function or procedure.
    let is_missing = matches!(server.code.as_str(), "42P01" | "3F000" | "42703" | "42883");
    let is_function = server.code == "42883" && setup.blocks.is_none();
    let error =
        setup.not_prepared(error, is_missing, "USAGE on schema dyno, SELECT and UPDATE on its tables");
    match is_function {
        true => error.hint("create the function or operator there first, or write the type behind the parameter, as :n::integer"),
        false => error,
    }
}
