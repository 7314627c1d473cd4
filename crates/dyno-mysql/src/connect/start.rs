//! Opens a connection at an address: greeting, TLS if required, authentication.

use std::time::Instant;

use super::config::{MySqlConnectConfig, MySqlSslMode, ResultMetadata};
use super::dial::dial;
use super::failure::MySqlConnectFailure;
use super::handshake::{self, capability};
use super::{auth, explain, tls};
use crate::wire::{MySqlConnection, MySqlWireError};
use dyno_engine::TargetError;
use dyno_engine::net::{Address, Breaker, Stream};

/// Returns a connection that is ready for statements.
pub(crate) fn establish(
    config: &MySqlConnectConfig,
    name: &str,
    breaker: &Breaker,
) -> Result<MySqlConnection, TargetError> {
    let deadline = Instant::now() + config.connect_timeout;
    let (socket, address) = dial(config, deadline, breaker)?;
    let opened = open(socket.into(), address, config, name).and_then(|mut connection| {
        connection.line.stream.socket().set_deadline(None).map_err(MySqlWireError::Io)?;
        Ok(connection)
    });
    opened.map_err(|failure| match failure {
        MySqlConnectFailure::Final(error) => error,
        MySqlConnectFailure::Wire(MySqlWireError::Server(error)) => explain::login_error(&error, config),
        MySqlConnectFailure::Wire(error) => explain::connection_error(error, config),
    })
}

fn open(
    stream: Stream,
    address: &Address,
    config: &MySqlConnectConfig,
    name: &str,
) -> Result<MySqlConnection, MySqlConnectFailure> {
    let mut connection = MySqlConnection::from_stream(stream);
    let body = connection.next_body()?;
    let hello = handshake::MySqlHandshake::read(body)?;
    let mut wanted = handshake::requested_capabilities(&hello)?;
    if config.result_metadata == ResultMetadata::Each {
        wanted &= !(capability::CACHE_METADATA | capability::OPTIONAL_METADATA);
    }
    let mut sequence = 1;
    let encrypt = match address {
        // A Unix socket does not leave the machine.
        Address::Unix(_) => false,
        Address::Tcp(..) if config.ssl_mode == MySqlSslMode::Disabled => false,
        Address::Tcp(..) if hello.has(capability::SSL) => true,
        Address::Tcp(..) if config.ssl_mode == MySqlSslMode::Preferred => false,
        Address::Tcp(..) => return Err(explain::no_tls(config).into()),
    };
    if encrypt {
        wanted |= capability::SSL;
        handshake::ask_for_tls(&mut connection.line.out, sequence, wanted);
        connection.line.send()?;
        sequence += 1;
        connection = encrypted(connection, address, config)?;
    }
    connection.has_metadata_flag = handshake::has_metadata_flag(wanted);
    let secure = encrypt || matches!(address, Address::Unix(_));
    auth::authenticate(&mut connection, &hello, wanted, sequence, config, name, secure)?;
    connection.greeting = hello.greeting;
    Ok(connection)
}

/// Wraps the connection in TLS. Bytes that arrived in clear text after the greeting are an error: they would
/// be read as if they had come through TLS.
fn encrypted(
    connection: MySqlConnection,
    address: &Address,
    config: &MySqlConnectConfig,
) -> Result<MySqlConnection, MySqlConnectFailure> {
    if !connection.line.inbound.is_empty() {
        return Err(MySqlWireError::protocol("unencrypted bytes before the TLS handshake").into());
    }
    let host = match address {
        Address::Tcp(host, ..) => host,
        Address::Unix(_) => return Err(MySqlWireError::protocol("TLS on a Unix socket").into()),
    };
    match connection.line.stream {
        Stream::Plain(socket) => Ok(MySqlConnection::from_stream(tls::shake_hands(socket, host, config)?)),
        Stream::Tls(_) => Err(MySqlWireError::protocol("TLS inside TLS").into()),
    }
}
