//! From an address to a connection that is ready: greeting, TLS or not, authentication.

use std::time::Instant;

use super::config::{ConnectConfig, ResultMetadata, SslMode};
use super::dial::dial;
use super::failure::Failure;
use super::greet::{self, capability};
use super::{auth, explain, tls};
use crate::wire::{Connection, WireError};
use dyno_engine::TargetError;
use dyno_engine::net::{Address, Breaker, Stream};

/// A connection that is ready for statements.
pub(crate) fn establish(
    config: &ConnectConfig,
    name: &str,
    breaker: &Breaker,
) -> Result<Connection, TargetError> {
    let deadline = Instant::now() + config.connect_timeout;
    let (socket, address) = dial(config, deadline, breaker)?;
    let opened = open(socket.into(), address, config, name).and_then(|mut connection| {
        connection.line.stream.socket().set_deadline(None).map_err(WireError::Io)?;
        Ok(connection)
    });
    opened.map_err(|failure| match failure {
        Failure::Told(error) => error,
        Failure::Wire(WireError::Server(error)) => explain::refused(&error, config),
        Failure::Wire(error) => explain::broken(error, config),
    })
}

fn open(
    stream: Stream,
    address: &Address,
    config: &ConnectConfig,
    name: &str,
) -> Result<Connection, Failure> {
    let mut connection = Connection::on(stream);
    let body = connection.next_body()?;
    let hello = greet::Hello::read(body)?;
    let mut wanted = greet::wanted(&hello)?;
    if config.result_metadata == ResultMetadata::Each {
        wanted &= !(capability::CACHE_METADATA | capability::OPTIONAL_METADATA);
    }
    let mut sequence = 1;
    let encrypt = match address {
        // It does not leave the machine.
        Address::Unix(_) => false,
        Address::Tcp(..) if config.ssl_mode == SslMode::Disabled => false,
        Address::Tcp(..) if hello.has(capability::SSL) => true,
        Address::Tcp(..) if config.ssl_mode == SslMode::Preferred => false,
        Address::Tcp(..) => return Err(explain::no_tls(config).into()),
    };
    if encrypt {
        wanted |= capability::SSL;
        greet::ask_for_tls(&mut connection.line.out, sequence, wanted);
        connection.line.send()?;
        sequence += 1;
        connection = encrypted(connection, address, config)?;
    }
    connection.marked = greet::marked(wanted);
    let secure = encrypt || matches!(address, Address::Unix(_));
    auth::authenticate(&mut connection, &hello, wanted, sequence, config, name, secure)?;
    connection.greeting = hello.greeting;
    Ok(connection)
}

/// The connection inside TLS. Nothing may have arrived in the clear behind the greeting: it would be taken for the
/// server's words inside.
fn encrypted(
    connection: Connection,
    address: &Address,
    config: &ConnectConfig,
) -> Result<Connection, Failure> {
    if !connection.line.inbound.is_empty() {
        return Err(WireError::protocol("bytes in the clear where TLS was to begin").into());
    }
    let host = match address {
        Address::Tcp(host, ..) => host,
        Address::Unix(_) => return Err(WireError::protocol("TLS on a Unix socket").into()),
    };
    match connection.line.stream {
        Stream::Plain(socket) => Ok(Connection::on(tls::shake_hands(socket, host, config)?)),
        Stream::Tls(_) => Err(WireError::protocol("TLS inside TLS").into()),
    }
}
