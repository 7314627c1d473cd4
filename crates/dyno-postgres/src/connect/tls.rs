//! Negotiates TLS: the server's reply, certificates, the handshake.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::attempt::{Encrypt, PostgresConnectFailure};
use super::config::{PostgresConnectConfig, PostgresSslMode};
use super::explain;
use crate::wire::{PostgresWireError, Socket, Stream, message};
use dyno_engine::TargetError;
use dyno_engine::net::tls::{self, TlsFailure, unusable};
use dyno_engine::net::verify::{self, Trust};

/// Requests TLS and performs the handshake, or continues without it if `encrypt` permits.
pub(super) fn agree(
    mut socket: Socket,
    host: &str,
    config: &PostgresConnectConfig,
    encrypt: Encrypt,
) -> Result<Stream, PostgresConnectFailure> {
    let broken = |error| {
        PostgresConnectFailure::Final(explain::connection_error(PostgresWireError::Io(error), config))
    };
    let mut request = Vec::with_capacity(8);
    message::tls_request(&mut request);
    std::io::Write::write_all(&mut socket, &request).map_err(broken)?;
    let mut answer = [0];
    // Reads exactly one byte. Bytes that an attacker appends must not be read as if they had come through
    // TLS.
    socket.read_exact(&mut answer).map_err(broken)?;
    match (answer[0], encrypt) {
        (b'S', _) => shake_hands(socket, host, config),
        (b'N', Encrypt::IfPossible) => Ok(Stream::Plain(socket)),
        (b'N', _) => Err(PostgresConnectFailure::Final(no_tls(config))),
        // A server that is too old or has too many connections returns an error to the request.
        (b'E', Encrypt::IfPossible) => Err(PostgresConnectFailure::Tls(no_tls(config))),
        (b'E', _) => Err(PostgresConnectFailure::Final(no_tls(config))),
        (other, _) => {
            let problem = format!("byte {other} as an answer to a TLS request");
            Err(PostgresConnectFailure::Final(PostgresWireError::protocol(problem).into()))
        }
    }
}

fn no_tls(config: &PostgresConnectConfig) -> TargetError {
    let message =
        format!("the server does not accept TLS connections, but sslmode is {}", config.ssl_mode.name());
    TargetError::denied(message)
        .hint("switch on ssl in the server's settings, or write sslmode=prefer or disable")
}

fn shake_hands(
    socket: Socket,
    host: &str,
    config: &PostgresConnectConfig,
) -> Result<Stream, PostgresConnectFailure> {
    let client = tls::client(trust(config)?, client_certificate(config)?, config.tls_offer)?;
    match tls::shake_hands(socket, host, client)? {
        Ok(stream) => Ok(stream),
        Err(TlsFailure::Io(error)) => Err(PostgresConnectFailure::Final(explain::connection_error(
            PostgresWireError::Io(error),
            config,
        ))),
        Err(TlsFailure::Tls(error)) => {
            let (mode, root) = (config.ssl_mode, config.ssl_root_cert.as_deref());
            let roots = root.map_or("none".to_owned(), |path| path.display().to_string());
            let settings = format!("sslmode {}, sslrootcert {roots}", mode.name());
            let hints = [
                certificate_hint(mode, root.is_some()),
                "if the server requires a client certificate, name one with sslcert=FILE and sslkey=FILE",
                "check sslmode, and the server's ssl settings (TLS 1.2 or 1.3 is required)",
            ];
            Err(PostgresConnectFailure::Tls(tls::refused(error, host, &settings, hints)))
        }
    }
}

/// The hint if a certificate is not accepted. With a root certificate, from the URL or
/// ~/.postgresql/root.crt, `require` verifies the authority too and is not suggested.
fn certificate_hint(mode: PostgresSslMode, has_root: bool) -> &'static str {
    match (mode, has_root) {
        (PostgresSslMode::Require, true) => {
            "name the right authority's certificate with sslrootcert=FILE; sslmode=require checks the \
            authority because a root certificate exists: without sslrootcert and ~/.postgresql/root.crt it \
            encrypts without verifying the server"
        }
        (PostgresSslMode::VerifyCa, true) => {
            "name the right authority's certificate with sslrootcert=FILE; to encrypt without verifying \
            the server, write sslmode=require and leave out sslrootcert and ~/.postgresql/root.crt"
        }
        (_, true) => {
            "name the right authority's certificate with sslrootcert=FILE and connect to a name in the \
            certificate's subjectAltName, or write sslmode=verify-ca, which does not check the name"
        }
        (_, false) => {
            "name the authority's certificate with sslrootcert=FILE, connect to a name in the \
            certificate's subjectAltName, or write sslmode=require to encrypt without verifying the server"
        }
    }
}

/// The certificates that the URL trusts.
fn trust(config: &PostgresConnectConfig) -> Result<Trust, TargetError> {
    Ok(match (config.ssl_mode, &config.ssl_root_cert) {
        (PostgresSslMode::VerifyFull, Some(path)) => Trust::Name(verify::roots(path)?),
        (PostgresSslMode::VerifyCa, Some(path)) => Trust::Authority(verify::roots(path)?),
        // As in libpq, an existing root certificate turns `require` into `verify-ca`.
        (PostgresSslMode::Require, Some(path)) => Trust::Authority(verify::roots(path)?),
        (PostgresSslMode::VerifyFull | PostgresSslMode::VerifyCa, None) => {
            let mode = config.ssl_mode.name();
            return Err(TargetError::unsupported(format!(
                "sslmode {mode} needs a root certificate, but ~/.postgresql/root.crt does not exist"
            ))
            .hint(
                "write sslrootcert=FILE, or sslrootcert=system for the authorities that this machine trusts",
            ));
        }
        (
            PostgresSslMode::Disable
            | PostgresSslMode::Allow
            | PostgresSslMode::Prefer
            | PostgresSslMode::Require,
            _,
        ) => Trust::Anyone,
    })
}

/// The client's certificate and key; absent unless both are set.
fn client_certificate(config: &PostgresConnectConfig) -> Result<Option<(&Path, &Path)>, TargetError> {
    match (config.ssl_cert.as_deref(), config.ssl_key.as_deref()) {
        (Some(certificate), Some(key)) => {
            check_private(key)?;
            Ok(Some((certificate, key)))
        }
        (Some(certificate), None) => {
            let subject = format!("the client's certificate {}", certificate.display());
            Err(unusable(&subject, "it has no private key").hint("name the key with sslkey=FILE"))
        }
        (None, _) => Ok(None),
    }
}

/// libpq's rule: no other user may read a private key, except that root may own it and let one group read it.
fn check_private(key: &Path) -> Result<(), TargetError> {
    let Ok(facts) = std::fs::metadata(key) else { return Ok(()) };
    let forbidden = if facts.uid() == 0 { 0o037 } else { 0o077 };
    if facts.mode() & forbidden == 0 {
        return Ok(());
    }
    let subject = format!("the client's private key {}", key.display());
    Err(unusable(&subject, "users other than its owner can read it")
        .hint(format!("chmod 600 {}", key.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sslmode_require_is_not_suggested_with_root_certificate() {
        let is_told = |mode, has_root| certificate_hint(mode, has_root).contains("or write sslmode=require");
        assert!(is_told(PostgresSslMode::VerifyFull, false));
        for mode in [PostgresSslMode::Require, PostgresSslMode::VerifyCa, PostgresSslMode::VerifyFull] {
            assert!(!is_told(mode, true), "{mode:?}");
        }
        for mode in [PostgresSslMode::Require, PostgresSslMode::VerifyCa] {
            let hint = certificate_hint(mode, true);
            assert!(
                hint.contains("without sslrootcert and ~/.postgresql/root.crt")
                    || hint.contains("leave out sslrootcert and ~/.postgresql/root.crt")
            );
        }
    }
}
