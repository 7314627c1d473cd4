//! Performs TLS handshakes, selects the trusted certificates, and explains failures.

use super::config::{MySqlConnectConfig, MySqlSslMode};
use super::explain;
use super::failure::MySqlConnectFailure;
use crate::wire::MySqlWireError;
use dyno_engine::net::tls::{self, TlsFailure, unusable};
use dyno_engine::net::verify::{Trust, roots};
use dyno_engine::net::{Socket, Stream};

/// Performs the TLS handshake with the server named `host`.
pub(super) fn shake_hands(
    socket: Socket,
    host: &str,
    config: &MySqlConnectConfig,
) -> Result<Stream, MySqlConnectFailure> {
    let trust = match (config.ssl_mode, &config.ssl_ca) {
        (MySqlSslMode::VerifyIdentity, Some(path)) => Trust::Name(roots(path)?),
        (MySqlSslMode::VerifyCa, Some(path)) => Trust::Authority(roots(path)?),
        _ => Trust::Anyone,
    };
    let certificate = match (&config.ssl_cert, &config.ssl_key) {
        (None, None) => None,
        (Some(certificate), Some(key)) => Some((certificate.as_path(), key.as_path())),
        _ => return Err(unusable("the client's certificate", "ssl-cert and ssl-key go together").into()),
    };
    match tls::shake_hands(socket, host, tls::client(trust, certificate, config.tls_offer)?)? {
        Ok(stream) => Ok(stream),
        Err(TlsFailure::Io(error)) => {
            Err(explain::connection_error(MySqlWireError::Io(error), config).into())
        }
        Err(TlsFailure::Tls(error)) => {
            let ca = config.ssl_ca.as_deref().map_or("none".to_owned(), |path| path.display().to_string());
            let settings = format!("ssl-mode {}, ssl-ca {ca}", config.ssl_mode.name());
            let hints = [
                "name the authority's certificate with ssl-ca=FILE, connect to a name in the certificate's \
                subjectAltName, or write ssl-mode=REQUIRED without ssl-ca to encrypt without verifying the \
                server",
                "if the server requires a client certificate, name one with ssl-cert=FILE and ssl-key=FILE",
                "check ssl-mode, and the server's tls_version (1.2 or 1.3 is required)",
            ];
            Err(tls::refused(error, host, &settings, hints).into())
        }
    }
}
