//! Authenticates the client with every method that needs only a password.

use postgres_protocol::authentication::{md5_hash, sasl};

use super::config::{ChannelBinding, PostgresConnectConfig};
use super::{binding, passfile};
use crate::wire::{
    PostgresConnection, PostgresError, PostgresFieldReader, PostgresWireError, Stream, message,
};
use dyno_engine::{Secret, TargetError};

pub(super) enum AuthError {
    /// The server returned an error, or the connection was lost.
    Wire(PostgresWireError),
    /// The server requests something that Dyno does not support or that the user excluded.
    Target(TargetError),
}

impl From<PostgresWireError> for AuthError {
    fn from(error: PostgresWireError) -> Self {
        Self::Wire(error)
    }
}

impl From<TargetError> for AuthError {
    fn from(error: TargetError) -> Self {
        Self::Target(error)
    }
}

fn denied(message: impl Into<String>) -> AuthError {
    AuthError::Target(TargetError::denied(message))
}

/// The server's authentication requests (PostgreSQL manual, message formats).
mod request {
    pub(super) const OK: i32 = 0;
    pub(super) const CLEARTEXT: i32 = 3;
    pub(super) const MD5: i32 = 5;
    pub(super) const GSS: i32 = 7;
    pub(super) const SSPI: i32 = 9;
    pub(super) const SASL: i32 = 10;
    pub(super) const SASL_CONTINUE: i32 = 11;
    pub(super) const SASL_FINAL: i32 = 12;
}

/// Answers the server's requests until it accepts the client.
pub(super) fn authenticate(
    connection: &mut PostgresConnection,
    config: &PostgresConnectConfig,
) -> Result<(), AuthError> {
    let mut is_asked = false;
    loop {
        let (request, data) = next(connection)?;
        check_method(config, request, is_asked)?;
        is_asked = true;
        let required = config.channel_binding == ChannelBinding::Require;
        if required && request != request::SASL {
            return Err(denied(
                "channel_binding=require is set, but the server does not request a SCRAM password exchange",
            )
            .hinted("check the method in the server's pg_hba.conf, or leave channel_binding out"));
        }
        match request {
            request::OK => return Ok(()),
            request::CLEARTEXT => {
                let password = password(config)?;
                send_password(connection, password.expose())?;
            }
            request::MD5 => {
                let salt = data
                    .first_chunk()
                    .ok_or_else(|| PostgresWireError::protocol("a salt that is too short"))?;
                let password = password(config)?;
                let hash = md5_hash(config.user.as_bytes(), password.expose().as_bytes(), *salt);
                send_password(connection, &hash)?;
            }
            request::SASL => {
                scram(connection, config, &data)?;
                // Both sides have proved their identity; only the server's OK follows.
                return match next(connection)? {
                    (request::OK, _) => Ok(()),
                    (other, _) => Err(PostgresWireError::protocol(format!(
                        "request {other} after the password exchange"
                    ))
                    .into()),
                };
            }
            request::GSS | request::SSPI => {
                return Err(denied(
                    "the server requires Kerberos (GSSAPI or SSPI), which Dyno does not \
                    support",
                )
                .hinted("allow scram-sha-256 or cert for this user and host in the server's pg_hba.conf"));
            }
            other => {
                return Err(PostgresWireError::protocol(format!(
                    "the unknown authentication request {other}"
                ))
                .into());
            }
        }
    }
}

/// Returns an error if the server requests a method that `require_auth` excludes. `is_asked` states that it
/// has requested another one before.
fn check_method(config: &PostgresConnectConfig, request: i32, is_asked: bool) -> Result<(), AuthError> {
    let Some(accepted) = &config.require_auth else { return Ok(()) };
    let method = match request {
        request::OK if is_asked => return Ok(()),
        request::OK => "none",
        request::CLEARTEXT => "password",
        request::MD5 => "md5",
        request::GSS => "gss",
        request::SSPI => "sspi",
        request::SASL => "scram-sha-256",
        _ => return Ok(()),
    };
    if accepted.accepts(method) {
        return Ok(());
    }
    let asks = match method {
        "none" => "accepts the user without authentication".to_owned(),
        method => format!("requests {method}"),
    };
    Err(denied(format!("the server {asks}, but require_auth is {:?}", accepted.text()))
        .hinted("change the method in the server's pg_hba.conf, or require_auth (PGREQUIREAUTH)"))
}

impl AuthError {
    fn hinted(self, hint: &str) -> Self {
        match self {
            Self::Target(error) => Self::Target(error.hint(hint)),
            wire @ Self::Wire(_) => wire,
        }
    }
}

/// The server's next request and its data.
fn next(connection: &mut PostgresConnection) -> Result<(i32, Vec<u8>), AuthError> {
    loop {
        let (tag, body) = connection.next()?;
        let body = connection.line.body(body);
        match tag {
            b'R' => {
                let mut fields = PostgresFieldReader::new(body);
                let request = fields.i32().ok_or_else(|| PostgresWireError::protocol("an empty request"))?;
                return Ok((request, fields.rest().to_vec()));
            }
            b'E' => return Err(PostgresWireError::Server(Box::new(PostgresError::read(body))).into()),
            b'v' => {}
            other => {
                let problem = format!("message {:?} instead of an authentication request", char::from(other));
                return Err(PostgresWireError::protocol(problem).into());
            }
        }
    }
}

fn password(config: &PostgresConnectConfig) -> Result<Secret, AuthError> {
    match &config.password {
        Some(password) => Ok(password.clone()),
        None => Ok(passfile::look_up(config)?),
    }
}

fn send_password(connection: &mut PostgresConnection, password: &str) -> Result<(), AuthError> {
    message::message(&mut connection.line.out, b'p', |out| message::text(out, password));
    Ok(connection.line.send()?)
}

/// One SCRAM exchange (RFC 5802, RFC 7677), bound to the TLS connection if both sides support it (RFC 5929).
fn scram(
    connection: &mut PostgresConnection,
    config: &PostgresConnectConfig,
    offer: &[u8],
) -> Result<(), AuthError> {
    let (mechanism, channel) = choose(connection, config, offer)?;
    let password = password(config)?;
    let mut scram = sasl::ScramSha256::new(password.expose().as_bytes(), channel);
    message::message(&mut connection.line.out, b'p', |out| {
        message::text(out, mechanism);
        message::bytes(out, scram.message());
    });
    connection.line.send()?;
    let challenge = expect(connection, request::SASL_CONTINUE)?;
    scram
        .update(&challenge)
        .map_err(|error| denied(format!("the server's SCRAM challenge cannot be answered: {error}")))?;
    message::message(&mut connection.line.out, b'p', |out| out.extend_from_slice(scram.message()));
    connection.line.send()?;
    let proof = expect(connection, request::SASL_FINAL)?;
    scram.finish(&proof).map_err(|error| {
        denied(format!("the server could not prove that it knows the password: {error}"))
            .hinted("this may be the wrong server: check host, port and sslmode=verify-full")
    })
}

fn expect(connection: &mut PostgresConnection, wanted: i32) -> Result<Vec<u8>, AuthError> {
    match next(connection)? {
        (request, data) if request == wanted => Ok(data),
        (other, _) => Err(PostgresWireError::protocol(format!(
            "request {other} instead of {wanted} while authenticating"
        ))
        .into()),
    }
}

fn choose(
    connection: &PostgresConnection,
    config: &PostgresConnectConfig,
    offer: &[u8],
) -> Result<(&'static str, sasl::ChannelBinding), AuthError> {
    let mut offered = (false, false);
    let mut names = PostgresFieldReader::new(offer);
    while let Some(name) = names.text().filter(|name| !name.is_empty()) {
        offered.0 |= name == sasl::SCRAM_SHA_256.as_bytes();
        offered.1 |= name == sasl::SCRAM_SHA_256_PLUS.as_bytes();
    }
    let hash = match &connection.line.stream {
        Stream::Tls(tls) if config.channel_binding != ChannelBinding::Disable => {
            tls.conn.peer_certificates().and_then(|chain| binding::server_end_point(chain.first()?))
        }
        _ => None,
    };
    match (offered, hash) {
        ((_, true), Some(hash)) => {
            Ok((sasl::SCRAM_SHA_256_PLUS, sasl::ChannelBinding::tls_server_end_point(hash)))
        }
        _ if config.channel_binding == ChannelBinding::Require => Err(denied(
            "channel_binding=require is set, but this connection does not support channel binding",
        )
        .hinted(
            "channel binding needs TLS, PostgreSQL 11 or later and a certificate signed with SHA-256, \
            SHA-384 or SHA-512",
        )),
        // This flag means "supported, but not offered". It lets the server detect an attacker who removed the
        // offer.
        ((true, _), Some(_)) => Ok((sasl::SCRAM_SHA_256, sasl::ChannelBinding::unrequested())),
        ((true, _), None) => Ok((sasl::SCRAM_SHA_256, sasl::ChannelBinding::unsupported())),
        _ => Err(denied("the server offers no password exchange that Dyno supports (SCRAM-SHA-256)")),
    }
}
