//! Opens connections for loading and dropping, and explains their errors to the user.

use std::sync::Arc;

use super::super::connect::{MySqlConnectConfig, WAIT_TIMEOUT_MAX_S};
use super::super::wire::{MySqlConnection, MySqlError};
use super::quote::{ident, literal};
use dyno_engine::net::Breaker;
use dyno_engine::pool::{self, InterruptFn};
use dyno_engine::{Interrupter, Refusal as _, TargetError, TargetErrorKind};

/// Settings of every connection that loads or reads metadata, independent of the site's defaults. Invalid
/// values are errors, backslashes escape, quotes delimit text, and times are UTC.
const SETTINGS: &str =
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'";

/// Sets up `connection` for loading or for reading metadata.
pub(crate) fn settle(connection: &mut MySqlConnection) -> Result<(), TargetError> {
    if connection.only_sql {
        return Ok(());
    }
    connection.simple(SETTINGS)?;
    settle_script(connection)?;
    fresh_sizes(connection)
}

/// Makes the dictionary show current table sizes instead of ones that are up to a day old.
pub(super) fn fresh_sizes(connection: &mut MySqlConnection) -> Result<(), TargetError> {
    let (mariadb, version) = (connection.is_mariadb(), connection.version_num());
    if !mariadb && version >= 80_000 {
        connection.simple("SET SESSION information_schema_stats_expiry = 0")?;
    }
    Ok(())
}

/// Sets up `connection` for a user's setup SQL with the server's `sql_mode` and time zone. Each statement
/// commits, and no time limit of the server ends the connection or a statement.
pub(crate) fn settle_script(connection: &mut MySqlConnection) -> Result<(), TargetError> {
    if connection.only_sql {
        return Ok(());
    }
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

/// Makes the connection's transactions read-only.
pub(crate) const READ_ONLY: &str = "SET SESSION TRANSACTION READ ONLY";

/// A connection for loading and dropping.
pub(super) fn loader(config: &MySqlConnectConfig) -> Result<MySqlConnection, TargetError> {
    let mut connection = MySqlConnection::open(config, "dyno load")?;
    settle(&mut connection)?;
    Ok(connection)
}

/// A load that uses connections of this engine.
pub(super) type MySqlLoadContext<'a> = dyno_engine::layout::ParallelLoad<'a, MySqlLoaderFactory<'a>>;

/// Opens connections for a pool of loaders.
pub(super) struct MySqlLoaderFactory<'a>(pub(super) &'a MySqlConnectConfig);

impl pool::LoadConnector for MySqlLoaderFactory<'_> {
    type Connection = MySqlConnection;

    fn open(&self) -> Result<(MySqlConnection, InterruptFn), TargetError> {
        let breaker = Arc::new(Breaker::default());
        let mut connection = MySqlConnection::open_guarded(self.0, "dyno load", &breaker)?;
        settle(&mut connection)?;
        // The server rolls back uncommitted work when a connection ends.
        Ok((connection, Box::new(move || breaker.interrupt())))
    }

    fn close(&self, connection: MySqlConnection) {
        connection.close();
    }
}

/// Adds the failed action and a hint to an error of the server.
pub(super) fn explain(error: TargetError, doing: &str, config: &MySqlConnectConfig) -> TargetError {
    let Some(number) = MySqlError::of(&error).map(|server| server.number) else { return error };
    let hint = match number {
        _ if error.kind == TargetErrorKind::Privilege => grants(config),
        _ if error.kind == TargetErrorKind::Full => {
            "free space on the server's disk, or load less data; then load again to resume, or drop"
                .to_owned()
        }
        // The server is read-only, by setting or as a replica.
        1290 | 1836 => "load on the primary: this server is read-only".to_owned(),
        // A table or a routine already exists.
        1050 | 1304 => {
            "an object of that name exists that Dyno did not create: rename it or move it to another database"
                .to_owned()
        }
        _ => error.hint.clone(),
    };
    error.during(doing).hint(hint)
}

/// Like [`explain`], for errors while reading what is loaded, which needs fewer privileges than a load.
pub(crate) fn explain_inspection(error: TargetError, config: &MySqlConnectConfig) -> TargetError {
    let explained = explain(error, "the loaded data cannot be read", config);
    if explained.kind != TargetErrorKind::Privilege {
        return explained;
    }
    let (database, user) = (ident(&config.database), literal(&config.user));
    explained.hint(format!("GRANT SELECT, UPDATE, EXECUTE ON {database}.* TO {user}@'HOST'"))
}

/// The statements with which an administrator allows this user to load.
pub(crate) fn grants(config: &MySqlConnectConfig) -> String {
    let (database, user) = (ident(&config.database), literal(&config.user));
    format!(
        "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, CREATE ROUTINE, ALTER ROUTINE, EXECUTE \
         ON {database}.* TO {user}@'HOST'"
    )
}
