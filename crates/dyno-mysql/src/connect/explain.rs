//! Explains why the server rejected a connection, with a hint what to do.

use super::config::MySqlConnectConfig;
use crate::grants::MySqlGrants;
use crate::wire::{MySqlError, MySqlWireError, describe};
use dyno_engine::{Refusal as _, TargetError, TargetErrorKind};

/// The ways to supply a password, for hints.
const WAYS: &str =
    "give the password by target.password_env, target.password_file, MYSQL_PWD, ~/.my.cnf or the prompt";

/// The connection broke before it was ready.
pub(super) fn connection_error(error: MySqlWireError, config: &MySqlConnectConfig) -> TargetError {
    match error {
        MySqlWireError::Io(error) => {
            let seconds = config.connect_timeout.as_secs_f64();
            let reason = describe(&error);
            let message = format!(
                "the server was reached, but the connection failed before login was complete: {reason}"
            );
            TargetError::unreachable(message)
                .hint(format!(
                    "check that the port is that of a MySQL or MariaDB server and that it is not overloaded; the limit was {seconds} s (target.connect_timeout)"
                ))
                .cause(error)
        }
        other => other.into(),
    }
}

/// The server rejected the connection with an error.
pub(super) fn login_error(error: &MySqlError, config: &MySqlConnectConfig) -> TargetError {
    let MySqlConnectConfig { user, database, password, password_note, .. } = config;
    let no_password = password.is_none() && matches!(error.number, 1045 | 1698);
    let kind = if no_password { TargetErrorKind::PasswordNeeded } else { error.kind() };
    let hint = match error.number {
        1045 | 1698 if no_password => {
            let note = password_note.as_ref().map_or(String::new(), |note| format!("; {note}"));
            format!("{WAYS}{note}")
        }
        1045 => format!(
            "check user and password, and that the server has an account {user:?} for this host; {WAYS}"
        ),
        1044 => MySqlGrants::new(user, database).load(),
        1049 => format!("CREATE DATABASE `{database}`, or name another one in the URL"),
        1040 | 1203 | 1226 => {
            "close other connections, plan fewer sessions, or raise max_connections (and the user's limits)"
                .to_owned()
        }
        1129 => "unblock this host on the server: FLUSH HOSTS, or TRUNCATE performance_schema.host_cache"
            .to_owned(),
        1130 => format!("CREATE USER '{user}'@'HOST', with this host's name or address for HOST"),
        3159 => "the account requires TLS: write ssl-mode=REQUIRED".to_owned(),
        1053 => "the server is shutting down: try again when it accepts connections".to_owned(),
        _ => String::new(),
    };
    TargetError::new(kind, format!("the server refused the connection: {error}"))
        .hint(hint)
        .cause(error.clone())
}

/// The URL requires TLS and the server does not support it.
pub(super) fn no_tls(config: &MySqlConnectConfig) -> TargetError {
    let mode = config.ssl_mode.name();
    TargetError::denied(format!("the server does not accept TLS connections, but ssl-mode is {mode}"))
        .hint("give the server a certificate (ssl_cert, ssl_key), or write ssl-mode=PREFERRED or DISABLED")
}

/// The account uses an authentication plugin that Dyno does not support.
pub(super) fn unknown_plugin(plugin: &str, config: &MySqlConnectConfig) -> TargetError {
    let user = &config.user;
    TargetError::denied(format!("user {user:?} logs in with {plugin:?} on this server, which Dyno does not \
        support"),
    )
    .hint(
        "use an account with caching_sha2_password, mysql_native_password, ed25519 or, inside TLS, mysql_clear_password",
    )
}

/// The plugin would send the password in clear text over an unencrypted connection.
pub(super) fn clear_text(plugin: &str) -> TargetError {
    TargetError::denied(format!(
        "the server requests the password in clear text ({plugin}), but the connection is not encrypted"
    ))
    .hint("write ssl-mode=REQUIRED, or connect through the Unix socket")
}
