//! Explains why the server rejected a connection, with a hint what to do.

use super::config::PostgresConnectConfig;
use super::passfile;
use crate::grants::PostgresGrants;
use crate::wire::{PostgresError, PostgresWireError, describe};
use dyno_engine::{Refusal as _, TargetError};

/// Whether the server may accept without TLS what it rejected with it: `pg_hba.conf` has separate lines for
/// both.
pub(super) fn may_differ_without_tls(error: &PostgresError) -> bool {
    error.code == "28000"
}

/// The connection broke before it was ready.
pub(super) fn connection_error(error: PostgresWireError, config: &PostgresConnectConfig) -> TargetError {
    match error {
        PostgresWireError::Io(error) => {
            let seconds = config.connect_timeout.as_secs_f64();
            let reason = describe(&error);
            let message = format!(
                "the server was reached, but the connection failed before login was complete: {reason}"
            );
            TargetError::unreachable(message)
                .hint(format!(
                    "check that port {} is that of a PostgreSQL server and that it is not overloaded; the limit was {seconds} s (target.connect_timeout)",
                    config.port
                ))
                .cause(error)
        }
        other => other.into(),
    }
}

/// The server rejected the connection with an error.
pub(super) fn login_error(error: &PostgresError, config: &PostgresConnectConfig) -> TargetError {
    let PostgresConnectConfig { user, database, port, .. } = config;
    let hint = match error.code.as_str() {
        "28P01" => format!("check the password; {}", passfile::WAYS),
        "28000" => format!(
            "add a line to the server's pg_hba.conf for user {user:?}, database {database:?}, this host \
            and sslmode {}, or use another user",
            config.ssl_mode.name()
        ),
        "3D000" => format!("CREATE DATABASE {database:?}, or name another one in the URL"),
        "42501" => PostgresGrants::new(user, database).load(),
        "53300" => {
            "close other connections, plan fewer sessions, or raise max_connections (and the role's or database's CONNECTION LIMIT)".to_owned()
        }
        "57P03" => "the server is starting up, recovering or shutting down: try again when it accepts connections".to_owned(),
        _ if error.message.contains("unsupported startup parameter") => {
            "the pooler rejects this setting: add it to ignore_startup_parameters in pgbouncer.ini, or \
            leave options, PGOPTIONS, PGGEQO and similar settings out".to_owned()
        }
        _ if error.message.contains("max_client_conn") || error.message.contains("no more connections allowed") => {
            "the pooler accepts no more clients: plan fewer sessions, or raise max_client_conn in \
            pgbouncer.ini".to_owned()
        }
        _ if error.message.contains("query_wait_timeout") => {
            "no server connection of the pooler became free in time: raise default_pool_size or \
            query_wait_timeout in pgbouncer.ini".to_owned()
        }
        "08P01" => format!("check that port {port} is that of a PostgreSQL server, and that a pooler in \
            front of it knows this user and database"),
        _ => error.hint.clone(),
    };
    TargetError::new(error.kind(), format!("the server refused the connection: {error}"))
        .hint(hint)
        .cause(error.clone())
}
