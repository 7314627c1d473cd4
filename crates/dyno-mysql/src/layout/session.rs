//! Connections for loading and dropping, and what their refusals mean to the user.

use std::sync::Arc;

use super::super::connect::{ConnectConfig, WAIT_TIMEOUT_MAX_S};
use super::super::wire::{Connection, MyError};
use super::quote::{ident, literal};
use dyno_engine::net::Breaker;
use dyno_engine::pool::{self, BreakOff};
use dyno_engine::{Interrupter, Refusal as _, TargetError, TargetErrorKind};

/// Settings of every connection that loads or looks: whatever the site has set for its own sessions, a value that does not
/// fit is an error, backslashes escape, quotes are quotes, and times are UTC.
const SETTINGS: &str =
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'";

/// Makes `connection` one that loads or looks.
pub(crate) fn settle(connection: &mut Connection) -> Result<(), TargetError> {
    connection.simple(SETTINGS)?;
    settle_script(connection)?;
    fresh_sizes(connection)
}

/// Lets the dictionary show sizes of tables as they are, not as they were up to a day ago.
pub(super) fn fresh_sizes(connection: &mut Connection) -> Result<(), TargetError> {
    let (mariadb, version) = (connection.is_mariadb(), connection.version_num());
    if !mariadb && version >= 80_000 {
        connection.simple("SET SESSION information_schema_stats_expiry = 0")?;
    }
    Ok(())
}

/// Makes `connection` one that executes a user's setup SQL, which keeps the server's `sql_mode` and time zone: each statement
/// commits, and no time limit of the server ends the connection or a statement.
pub(crate) fn settle_script(connection: &mut Connection) -> Result<(), TargetError> {
    connection.simple(&script_settings(connection.is_mariadb(), connection.version_num())).map(drop)
}

fn script_settings(mariadb: bool, version: u32) -> String {
    let limits: &[&str] = match (mariadb, version) {
        (false, _) => &["max_execution_time"],
        (true, ..100_300) => &["max_statement_time"],
        (true, _) => &[
            "max_statement_time",
            "idle_transaction_timeout",
            "idle_readonly_transaction_timeout",
            "idle_write_transaction_timeout",
        ],
    };
    let limits: String = limits.iter().map(|limit| format!(", {limit} = 0")).collect();
    format!(
        "SET SESSION autocommit = 1, wait_timeout = {WAIT_TIMEOUT_MAX_S}, net_write_timeout = 600, net_read_timeout = 600{limits}"
    )
}

/// Keeps what a connection does from writing.
pub(crate) const READ_ONLY: &str = "SET SESSION TRANSACTION READ ONLY";

/// A connection for loading and dropping.
pub(super) fn loader(config: &ConnectConfig) -> Result<Connection, TargetError> {
    let mut connection = Connection::open(config, "dyno load")?;
    settle(&mut connection)?;
    Ok(connection)
}

/// A load on such connections.
pub(super) type Loading<'a> = dyno_engine::layout::Loading<'a, Loaders<'a>>;

/// Connections for a pool of them.
pub(super) struct Loaders<'a>(pub(super) &'a ConnectConfig);

impl pool::Loaders for Loaders<'_> {
    type Connection = Connection;

    fn open(&self) -> Result<(Connection, BreakOff), TargetError> {
        let breaker = Arc::new(Breaker::default());
        let mut connection = Connection::open_guarded(self.0, "dyno load", &breaker)?;
        settle(&mut connection)?;
        // The server rolls back what a connection that ends has not committed.
        Ok((connection, Box::new(move || breaker.interrupt())))
    }

    fn close(&self, connection: Connection) {
        connection.close();
    }
}

/// Adds to an error of the server what was being done, and a way out.
pub(super) fn explain(error: TargetError, doing: &str, config: &ConnectConfig) -> TargetError {
    let Some(number) = MyError::of(&error).map(|server| server.number) else { return error };
    let hint = match number {
        _ if error.kind == TargetErrorKind::Privilege => grants(config),
        _ if error.kind == TargetErrorKind::Full => {
            "free space on the server's disk, or load less; then load again to resume, or drop".to_owned()
        }
        // Read-only, by setting or as a replica.
        1290 | 1836 => "load on the primary: this server is read-only".to_owned(),
        // A table or a routine is there already.
        1050 | 1304 => {
            "something of that name is not recorded as Dyno's: rename it or move it to another database"
                .to_owned()
        }
        _ => error.hint.clone(),
    };
    error.during(doing).hint(hint)
}

/// The same for an error met while looking at what is loaded, which needs fewer rights than a load.
pub(crate) fn explain_look(error: TargetError, config: &ConnectConfig) -> TargetError {
    let explained = explain(error, "what Dyno has loaded cannot be looked at", config);
    if explained.kind != TargetErrorKind::Privilege {
        return explained;
    }
    let (database, user) = (ident(&config.database), literal(&config.user));
    explained.hint(format!("GRANT SELECT, UPDATE, EXECUTE ON {database}.* TO {user}@'HOST'"))
}

/// What an administrator runs so that this user can load.
pub(crate) fn grants(config: &ConnectConfig) -> String {
    let (database, user) = (ident(&config.database), literal(&config.user));
    format!(
        "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, CREATE ROUTINE, ALTER ROUTINE, EXECUTE \
         ON {database}.* TO {user}@'HOST'"
    )
}
