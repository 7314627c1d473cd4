//! Why the server would not have us, with the way out.

use super::config::ConnectConfig;
use crate::wire::{MyError, WireError, describe};
use dyno_engine::{Refusal as _, TargetError, TargetErrorKind};

/// The ways to give a password, for hints.
const WAYS: &str =
    "give the password by target.password_env, target.password_file, MYSQL_PWD, ~/.my.cnf or the prompt";

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
                    "check that the port is that of a MySQL or MariaDB server and that it is not overloaded; the limit was {seconds} s (target.connect_timeout)"
                ))
                .cause(error)
        }
        other => other.into(),
    }
}

/// The server refused us with an error.
pub(super) fn refused(error: &MyError, config: &ConnectConfig) -> TargetError {
    let ConnectConfig { user, database, password, password_note, .. } = config;
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
        1044 => format!("GRANT ALL PRIVILEGES ON `{database}`.* TO '{user}'@'HOST'"),
        1049 => format!("CREATE DATABASE `{database}`, or name another one in the URL"),
        1040 | 1203 | 1226 => {
            "close other connections, plan fewer sessions, or raise max_connections (and the user's limits)"
                .to_owned()
        }
        1129 => "unblock this host on the server: FLUSH HOSTS, or TRUNCATE performance_schema.host_cache"
            .to_owned(),
        1130 => format!("CREATE USER '{user}'@'HOST', with this host's name or address for HOST"),
        3159 => "the account wants TLS: write ssl-mode=REQUIRED".to_owned(),
        1053 => "the server is shutting down: try again when it accepts connections".to_owned(),
        _ => String::new(),
    };
    TargetError::new(kind, format!("the server refused the connection: {error}"))
        .hint(hint)
        .cause(error.clone())
}

/// TLS is asked for and the server has none.
pub(super) fn no_tls(config: &ConnectConfig) -> TargetError {
    let mode = config.ssl_mode.name();
    TargetError::denied(format!("the server takes no TLS connection, but ssl-mode is {mode}"))
        .hint("give the server a certificate (ssl_cert, ssl_key), or write ssl-mode=PREFERRED or DISABLED")
}

/// The account wants a way of logging in that is not here.
pub(super) fn unknown_plugin(plugin: &str, config: &ConnectConfig) -> TargetError {
    let user = &config.user;
    TargetError::denied(format!("user {user:?} logs in by {plugin:?} on this server, which Dyno cannot do"),
    )
    .hint(
        "use an account with caching_sha2_password, mysql_native_password, ed25519 or, inside TLS, mysql_clear_password",
    )
}

/// The password would have to be sent so that anyone can read it.
pub(super) fn clear_text(plugin: &str) -> TargetError {
    TargetError::denied(format!(
        "the server asks for the password in the clear ({plugin}), and the line is not encrypted"
    ))
    .hint("write ssl-mode=REQUIRED, or connect by the Unix socket")
}
