//! Opens a connection at an address: TLS if required, greeting, authentication, first parameters.

use std::time::Instant;

use super::attempt::{Encrypt, PostgresConnectFailure};
use super::config::{PostgresConnectConfig, PostgresSslMode};
use super::dial::dial;
use super::explain;
use super::{auth, tls};
use crate::wire::{Breaker, PostgresConnection, PostgresError, PostgresWireError, Stream, message};
use dyno_engine::TargetError;
use dyno_engine::net::Address;

/// Returns a connection that is ready for statements.
pub(crate) fn establish(
    config: &PostgresConnectConfig,
    application_name: &str,
    breaker: &Breaker,
) -> Result<PostgresConnection, TargetError> {
    let deadline = Instant::now() + config.connect_timeout;
    let greet = |encrypt| attempt(config, application_name, deadline, breaker, encrypt);
    let first = if config.ssl_mode == PostgresSslMode::Allow { Encrypt::Never } else { first_choice(config) };
    match (greet(first), config.ssl_mode) {
        (Ok(connection), _) => Ok(connection),
        // As in libpq: an attempt that the server rejected is repeated the other way, and the second result
        // is returned.
        (Err(PostgresConnectFailure::Refused(_)), PostgresSslMode::Allow) => {
            greet(Encrypt::Always).map_err(|failure| into_target_error(failure, config))
        }
        (Err(PostgresConnectFailure::Refused(error)), PostgresSslMode::Prefer)
            if explain::may_differ_without_tls(&error) =>
        {
            greet(Encrypt::Never).map_err(|_| explain::login_error(&error, config))
        }
        (Err(PostgresConnectFailure::Tls(_)), PostgresSslMode::Prefer) => {
            greet(Encrypt::Never).map_err(|failure| into_target_error(failure, config))
        }
        (Err(failure), _) => Err(into_target_error(failure, config)),
    }
}

fn into_target_error(failure: PostgresConnectFailure, config: &PostgresConnectConfig) -> TargetError {
    match failure {
        PostgresConnectFailure::Final(error) | PostgresConnectFailure::Tls(error) => error,
        PostgresConnectFailure::Refused(error) => explain::login_error(&error, config),
    }
}

fn first_choice(config: &PostgresConnectConfig) -> Encrypt {
    match config.ssl_mode {
        PostgresSslMode::Disable => Encrypt::Never,
        PostgresSslMode::Allow | PostgresSslMode::Prefer => Encrypt::IfPossible,
        PostgresSslMode::Require | PostgresSslMode::VerifyCa | PostgresSslMode::VerifyFull => Encrypt::Always,
    }
}

/// A stream to the server, encrypted as the mode requires, for requests without authentication.
pub(crate) fn open_unauthenticated(
    config: &PostgresConnectConfig,
    breaker: &Breaker,
) -> Result<Stream, TargetError> {
    let deadline = Instant::now() + config.connect_timeout;
    open_stream(config, deadline, breaker, first_choice(config))
        .map_err(|failure| into_target_error(failure, config))
}

fn open_stream(
    config: &PostgresConnectConfig,
    deadline: Instant,
    breaker: &Breaker,
    encrypt: Encrypt,
) -> Result<Stream, PostgresConnectFailure> {
    let (socket, address) = dial(config, deadline, breaker)?;
    match address {
        // As in libpq: a Unix socket does not leave the machine, and servers do not support TLS on it.
        Address::Unix(_) => Ok(Stream::Plain(socket)),
        Address::Tcp(..) if encrypt == Encrypt::Never => Ok(Stream::Plain(socket)),
        Address::Tcp(host, ..) => tls::agree(socket, host, config, encrypt),
    }
}

fn attempt(
    config: &PostgresConnectConfig,
    application_name: &str,
    deadline: Instant,
    breaker: &Breaker,
    encrypt: Encrypt,
) -> Result<PostgresConnection, PostgresConnectFailure> {
    let stream = open_stream(config, deadline, breaker, encrypt)?;
    let mut connection = PostgresConnection::from_stream(stream, config);
    let result = greet(&mut connection, config, application_name)
        .and_then(|()| auth::authenticate(&mut connection, config))
        .and_then(|()| settle(&mut connection));
    match result {
        Ok(()) => {
            config.target_session_attrs.check(|name| connection.parameter(name))?;
            connection
                .line
                .stream
                .socket()
                .set_deadline(None)
                .map_err(PostgresWireError::Io)
                .map_err(TargetError::from)?;
            Ok(connection)
        }
        Err(auth::AuthError::Wire(PostgresWireError::Server(error))) => {
            Err(PostgresConnectFailure::Refused(error))
        }
        Err(auth::AuthError::Wire(error)) => {
            Err(PostgresConnectFailure::Final(explain::connection_error(error, config)))
        }
        Err(auth::AuthError::Target(error)) => Err(PostgresConnectFailure::Final(error)),
    }
}

fn greet(
    connection: &mut PostgresConnection,
    config: &PostgresConnectConfig,
    application_name: &str,
) -> Result<(), auth::AuthError> {
    // Dyno's own text comes first because its observer finds its sessions by it.
    let name = match &config.application_name {
        Some(own) => format!("{application_name} {own}"),
        None => application_name.to_owned(),
    };
    let mut parameters = vec![
        ("user", config.user.as_str()),
        ("database", config.database.as_str()),
        ("client_encoding", "UTF8"),
        ("application_name", &name),
    ];
    if let Some(options) = &config.options {
        parameters.push(("options", options));
    }
    parameters.extend(config.session_settings.iter().map(|(name, value)| (*name, value.as_str())));
    message::startup(&mut connection.line.out, &parameters);
    Ok(connection.line.send()?)
}

/// Reads the server's first parameters until it is ready.
fn settle(connection: &mut PostgresConnection) -> Result<(), auth::AuthError> {
    loop {
        let (tag, body) = connection.next()?;
        match tag {
            b'K' => connection.set_key(body)?,
            b'Z' => return Ok(()),
            b'E' => {
                return Err(PostgresWireError::Server(Box::new(PostgresError::read(
                    connection.line.body(body),
                )))
                .into());
            }
            // Protocol version negotiation: the server offers features that Dyno does not use.
            b'v' => {}
            other => {
                return Err(PostgresWireError::protocol(format!(
                    "message {:?} during startup",
                    char::from(other)
                ))
                .into());
            }
        }
    }
}
