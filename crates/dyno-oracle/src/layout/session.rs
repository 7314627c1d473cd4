//! Opens connections for loading and dropping, and explains their errors to the user.

use std::sync::Arc;

use super::super::connect::OracleConnectConfig;
use super::super::connection::OracleConnection;
use super::super::error::OracleError;
use crate::grants::OracleGrants;
use dyno_engine::net::Breaker;
use dyno_engine::pool::{self, InterruptFn};
use dyno_engine::{Interrupter, Refusal as _, TargetError, TargetErrorKind};

/// A load that uses connections of this engine.
pub(super) type OracleLoadContext<'a> = dyno_engine::layout::ParallelLoad<'a, OracleLoaderFactory<'a>>;

/// Opens connections for a pool of loaders.
pub(super) struct OracleLoaderFactory<'a>(pub(super) &'a OracleConnectConfig);

impl pool::LoadConnector for OracleLoaderFactory<'_> {
    type Connection = OracleConnection;

    fn open(&self) -> Result<(OracleConnection, InterruptFn), TargetError> {
        let breaker = Arc::new(Breaker::default());
        let connection = OracleConnection::open_guarded(self.0, "load", &breaker)?;
        // The database rolls back uncommitted work when a session ends.
        Ok((connection, Box::new(move || breaker.interrupt())))
    }

    fn close(&self, connection: OracleConnection) {
        connection.close();
    }
}

/// Adds the failed action and a hint to an error of the database.
pub(super) fn explain(error: TargetError, doing: &str, config: &OracleConnectConfig) -> TargetError {
    let Some(number) = OracleError::of(&error).map(|server| server.number) else { return error };
    let user = &config.user;
    let hint = match number {
        1031 => format!("by a DBA: {}", OracleGrants::new(user).load()),
        1950 | 1536 => format!("ALTER USER {user} QUOTA UNLIMITED ON the tablespace, by a DBA"),
        // Sorts extend the temporary tablespace; direct-path inserts and index builds extend the table's own.
        1652 => {
            "enlarge the tablespace that the message names; then load again to resume, or drop".to_owned()
        }
        _ if error.kind == TargetErrorKind::Full => {
            "free space in the tablespace, or load less data; then load again to resume, or drop".to_owned()
        }
        955 => "an object of that name exists that Dyno did not create: rename it, or load as another user"
            .to_owned(),
        16_000 => "load on the primary: this database is open for reading only".to_owned(),
        _ => error.hint.clone(),
    };
    error.during(doing).hint(hint)
}
