//! Connections for loading and dropping, and what their refusals mean to the user.

use std::sync::Arc;

use super::super::connect::ConnectConfig;
use super::super::connection::Connection;
use super::super::error::OraError;
use dyno_engine::net::Breaker;
use dyno_engine::pool::{self, BreakOff};
use dyno_engine::{Interrupter, Refusal as _, TargetError, TargetErrorKind};

/// A load on such connections.
pub(super) type Loading<'a> = dyno_engine::layout::Loading<'a, Loaders<'a>>;

/// Connections for a pool of them.
pub(super) struct Loaders<'a>(pub(super) &'a ConnectConfig);

impl pool::Loaders for Loaders<'_> {
    type Connection = Connection;

    fn open(&self) -> Result<(Connection, BreakOff), TargetError> {
        let breaker = Arc::new(Breaker::default());
        let connection = Connection::open_guarded(self.0, "load", &breaker)?;
        // The database rolls back what a session that ends has not committed.
        Ok((connection, Box::new(move || breaker.interrupt())))
    }

    fn close(&self, connection: Connection) {
        connection.close();
    }
}

/// Adds to an error of the database what was being done, and a way out.
pub(super) fn explain(error: TargetError, doing: &str, config: &ConnectConfig) -> TargetError {
    let Some(number) = OraError::of(&error).map(|server| server.number) else { return error };
    let user = &config.user;
    let hint = match number {
        1031 => format!("GRANT CREATE SESSION, CREATE TABLE TO {user}, by a DBA"),
        1950 | 1536 => format!("ALTER USER {user} QUOTA UNLIMITED ON the tablespace, by a DBA"),
        _ if error.kind == TargetErrorKind::Full => {
            "make room in the tablespace, or load less; then load again to resume, or drop".to_owned()
        }
        955 => "something of that name is not Dyno's: rename it, or load as another user".to_owned(),
        16_000 => "load on the primary: this database is open for reading only".to_owned(),
        _ => error.hint.clone(),
    };
    error.during(doing).hint(hint)
}
