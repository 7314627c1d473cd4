//! From an address to a connection that is ready: TLS or not, greeting, authentication, first parameters.

use std::time::Instant;

use super::attempt::{Encrypt, Failure};
use super::config::{ConnectConfig, SslMode};
use super::dial::dial;
use super::explain;
use super::{auth, tls};
use crate::wire::{Breaker, Connection, PgError, Stream, WireError, message};
use dyno_engine::TargetError;
use dyno_engine::net::Address;

/// A connection that is ready for statements.
pub(crate) fn establish(
    config: &ConnectConfig,
    application_name: &str,
    breaker: &Breaker,
) -> Result<Connection, TargetError> {
    let deadline = Instant::now() + config.connect_timeout;
    let greet = |encrypt| attempt(config, application_name, deadline, breaker, encrypt);
    let first = if config.ssl_mode == SslMode::Allow { Encrypt::Never } else { first_choice(config) };
    match (greet(first), config.ssl_mode) {
        (Ok(connection), _) => Ok(connection),
        // As libpq: what was refused in one way is tried in the other, and its answer is the one that is told.
        (Err(Failure::Refused(_)), SslMode::Allow) => {
            greet(Encrypt::Always).map_err(|failure| told(failure, config))
        }
        (Err(Failure::Refused(error)), SslMode::Prefer) if explain::may_differ_without_tls(&error) => {
            greet(Encrypt::Never).map_err(|_| explain::refused(&error, config))
        }
        (Err(Failure::Tls(_)), SslMode::Prefer) => {
            greet(Encrypt::Never).map_err(|failure| told(failure, config))
        }
        (Err(failure), _) => Err(told(failure, config)),
    }
}

fn told(failure: Failure, config: &ConnectConfig) -> TargetError {
    match failure {
        Failure::Final(error) | Failure::Tls(error) => error,
        Failure::Refused(error) => explain::refused(&error, config),
    }
}

fn first_choice(config: &ConnectConfig) -> Encrypt {
    match config.ssl_mode {
        SslMode::Disable => Encrypt::Never,
        SslMode::Allow | SslMode::Prefer => Encrypt::IfPossible,
        SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => Encrypt::Always,
    }
}

/// A stream to the server that is encrypted as the mode says, for requests that need no authentication.
pub(crate) fn reach(config: &ConnectConfig, breaker: &Breaker) -> Result<Stream, TargetError> {
    let deadline = Instant::now() + config.connect_timeout;
    open_stream(config, deadline, breaker, first_choice(config)).map_err(|failure| told(failure, config))
}

fn open_stream(
    config: &ConnectConfig,
    deadline: Instant,
    breaker: &Breaker,
    encrypt: Encrypt,
) -> Result<Stream, Failure> {
    let (socket, address) = dial(config, deadline, breaker)?;
    match address {
        // As libpq: a Unix socket does not leave the machine, and servers take no TLS on it.
        Address::Unix(_) => Ok(Stream::Plain(socket)),
        Address::Tcp(..) if encrypt == Encrypt::Never => Ok(Stream::Plain(socket)),
        Address::Tcp(host, ..) => tls::agree(socket, host, config, encrypt),
    }
}

fn attempt(
    config: &ConnectConfig,
    application_name: &str,
    deadline: Instant,
    breaker: &Breaker,
    encrypt: Encrypt,
) -> Result<Connection, Failure> {
    let stream = open_stream(config, deadline, breaker, encrypt)?;
    let mut connection = Connection::on(stream, config);
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
                .map_err(WireError::Io)
                .map_err(TargetError::from)?;
            Ok(connection)
        }
        Err(auth::AuthError::Wire(WireError::Server(error))) => Err(Failure::Refused(error)),
        Err(auth::AuthError::Wire(error)) => Err(Failure::Final(explain::broken(error, config))),
        Err(auth::AuthError::Target(error)) => Err(Failure::Final(error)),
    }
}

fn greet(
    connection: &mut Connection,
    config: &ConnectConfig,
    application_name: &str,
) -> Result<(), auth::AuthError> {
    // Dyno's own words come first: its observer finds its sessions by them.
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

/// Takes in the server's first parameters until it is ready.
fn settle(connection: &mut Connection) -> Result<(), auth::AuthError> {
    loop {
        let (tag, body) = connection.next()?;
        match tag {
            b'K' => connection.set_key(body)?,
            b'Z' => return Ok(()),
            b'E' => return Err(WireError::Server(Box::new(PgError::read(connection.line.body(body)))).into()),
            // Protocol version negotiation: the server offers what we do not use.
            b'v' => {}
            other => {
                return Err(
                    WireError::protocol(format!("message {:?} at the start", char::from(other))).into()
                );
            }
        }
    }
}
