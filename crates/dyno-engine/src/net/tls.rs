//! Configures TLS for a client and does the handshake.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, StreamOwned, SupportedProtocolVersion};

use super::socket::{Socket, Stream};
use super::verify::{Trust, Verifier};
use crate::error::TargetError;

/// The reason why a handshake failed.
#[derive(Debug)]
pub enum TlsFailure {
    /// Reading or writing the socket failed.
    Io(io::Error),
    /// The certificate was not accepted, or the TLS parameters do not match.
    Tls(rustls::Error),
}

/// The options that a client offers in a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlsOffer {
    /// Whether TLS 1.2 is offered.
    pub tls12: bool,
    /// Whether TLS 1.3 is offered.
    pub tls13: bool,
    /// Whether the host's name is sent unencrypted (SNI).
    pub server_name: bool,
}

impl Default for TlsOffer {
    fn default() -> Self {
        Self { tls12: true, tls13: true, server_name: true }
    }
}

impl TlsOffer {
    fn versions(self) -> Vec<&'static SupportedProtocolVersion> {
        let offered = [(self.tls13, &TLS13), (self.tls12, &TLS12)];
        offered.into_iter().filter_map(|(is_offered, version)| is_offered.then_some(version)).collect()
    }
}

/// The error that something cannot be used for TLS.
pub fn unusable(subject: &str, why: impl std::fmt::Display) -> TargetError {
    TargetError::unsupported(format!("{subject} cannot be used: {why}"))
}

/// The configuration of a client that trusts `trust` and presents the certificate and key in these files.
///
/// # Errors
/// One of the files cannot be used.
pub fn client(
    trust: Trust,
    certificate: Option<(&Path, &Path)>,
    offer: TlsOffer,
) -> Result<Arc<ClientConfig>, TargetError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = Verifier::new(trust, provider.signature_verification_algorithms);
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&offer.versions())
        .map_err(|error| unusable("the TLS versions", error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut client = match certificate {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let file = |what, path: &Path| format!("the client's {what} {}", path.display());
            let chain = CertificateDer::pem_file_iter(certificate)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(|error| unusable(&file("certificate", certificate), error))?;
            let key = PrivateKeyDer::from_pem_file(key).map_err(|error| {
                unusable(&file("private key", key), error).hint("the key must be PEM without a passphrase")
            })?;
            let shown = builder.with_client_auth_cert(chain, key);
            shown.map_err(|error| unusable("the client's certificate and key", error))?
        }
    };
    client.enable_sni = offer.server_name;
    Ok(Arc::new(client))
}

/// Does the handshake with the server called `host`.
///
/// # Errors
/// `host` is not a valid server name. The inner result tells why a handshake failed.
pub fn shake_hands(
    socket: Socket,
    host: &str,
    client: Arc<ClientConfig>,
) -> Result<Result<Stream, TlsFailure>, TargetError> {
    let name = ServerName::try_from(host.to_owned()).map_err(|_| {
        let message = format!("TLS needs a host name or address, not {host:?}");
        TargetError::unsupported(message)
    })?;
    let connection = match ClientConnection::new(client, name) {
        Ok(connection) => connection,
        Err(error) => return Ok(Err(TlsFailure::Tls(error))),
    };
    let mut tls = StreamOwned::new(connection, socket);
    while tls.conn.is_handshaking() {
        if let Err(error) = tls.conn.complete_io(&mut tls.sock) {
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()).cloned();
            return Ok(Err(inner.map_or(TlsFailure::Io(error), TlsFailure::Tls)));
        }
    }
    Ok(Ok(Stream::Tls(Box::new(tls))))
}

/// The error for a handshake that failed with `error`; `settings` are the URL's TLS parameters. The three
/// hints are for certificates, TLS alerts and all else.
pub fn refused(
    error: rustls::Error,
    host: &str,
    settings: &str,
    [certificate, alert, other]: [&str; 3],
) -> TargetError {
    let (message, hint) = match &error {
        rustls::Error::InvalidCertificate(reason) => {
            let message =
                format!("the server's certificate is not accepted for {host} ({settings}): {reason}");
            (message, certificate)
        }
        rustls::Error::AlertReceived(alert_received) => {
            (format!("the server aborted the TLS handshake: {alert_received:?}"), alert)
        }
        error => (format!("cannot establish a TLS connection to {host}: {error}"), other),
    };
    TargetError::denied(message).hint(hint).cause(error)
}
