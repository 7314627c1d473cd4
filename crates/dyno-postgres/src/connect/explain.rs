//! Why the server would not have us, with the way out.

use super::config::ConnectConfig;
use super::passfile;
use crate::wire::{PgError, WireError, describe};
use dyno_engine::{Refusal as _, TargetError};

/// Whether the server may take without TLS what it refused with it: `pg_hba.conf` has lines for either.
pub(super) fn may_differ_without_tls(error: &PgError) -> bool {
    error.code == "28000"
}

/// The connection broke before it was ready.
pub(super) fn broken(error: WireError, config: &ConnectConfig) -> TargetError {
    match error {
        WireError::Io(error) => {
            let seconds = config.connect_timeout.as_secs_f64();
            let what = describe(&error);
            let message =
                format!("the server was reached, but the connection was not ready in time or broke: {what}");
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

/// The server refused us with an error.
pub(super) fn refused(error: &PgError, config: &ConnectConfig) -> TargetError {
    let ConnectConfig { user, database, port, .. } = config;
    let hint = match error.code.as_str() {
        "28P01" => format!("check the password; {}", passfile::WAYS),
        "28000" => format!(
            "let the server's pg_hba.conf have a line for user {user:?}, database {database:?}, this host and sslmode {}, or take another user",
            config.ssl_mode.name()
        ),
        "3D000" => format!("CREATE DATABASE {database:?}, or name another one in the URL"),
        "42501" => format!("GRANT CONNECT ON DATABASE {database:?} TO {user:?}"),
        "53300" => {
            "close other connections, plan fewer sessions, or raise max_connections (and the role's or database's CONNECTION LIMIT)".to_owned()
        }
        "57P03" => "the server is starting up, recovering or shutting down: try again when it accepts connections".to_owned(),
        _ if error.message.contains("unsupported startup parameter") => {
            "the pooler takes no such setting: add it to ignore_startup_parameters in pgbouncer.ini, or leave options, PGOPTIONS, PGGEQO and the like out".to_owned()
        }
        _ if error.message.contains("max_client_conn") || error.message.contains("no more connections allowed") => {
            "the pooler takes no more clients: plan fewer sessions, or raise max_client_conn in pgbouncer.ini".to_owned()
        }
        _ if error.message.contains("query_wait_timeout") => {
            "no server connection of the pooler came free in time: raise default_pool_size or query_wait_timeout in pgbouncer.ini".to_owned()
        }
        "08P01" => format!("check that port {port} is that of a PostgreSQL server, and that a pooler between knows this user and database"),
        _ => error.hint.clone(),
    };
    TargetError::new(error.kind(), format!("the server refused the connection: {error}"))
        .hint(hint)
        .cause(error.clone())
}
