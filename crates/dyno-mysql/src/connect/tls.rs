//! TLS: certificates and the handshake.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::config::{ConnectConfig, SslMode};
use super::explain;
use super::failure::Failure;
use crate::wire::WireError;
use dyno_engine::error::{TargetError, TargetErrorKind};
use dyno_engine::net::verify::{Trust, Verifier, roots};
use dyno_engine::net::{Socket, Stream};

/// Shakes hands with the server called `host`.
pub(super) fn shake_hands(socket: Socket, host: &str, config: &ConnectConfig) -> Result<Stream, Failure> {
    let client = client_config(config)?;
    let name = ServerName::try_from(host.to_owned()).map_err(|_| {
        let message = format!("TLS needs a host name or address, not {host:?}");
        TargetError::new(TargetErrorKind::Unsupported, message)
    })?;
    let connection = ClientConnection::new(client, name).map_err(|error| refused(&error, host, config))?;
    let mut tls = StreamOwned::new(connection, socket);
    while tls.conn.is_handshaking() {
        if let Err(error) = tls.conn.complete_io(&mut tls.sock) {
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            return Err(match inner {
                Some(tls_error) => refused(tls_error, host, config).into(),
                None => explain::broken(WireError::Io(error), config).into(),
            });
        }
    }
    Ok(Stream::Tls(Box::new(tls)))
}

fn refused(error: &rustls::Error, host: &str, config: &ConnectConfig) -> TargetError {
    let mode = config.ssl_mode.name();
    let ca = config.ssl_ca.as_deref().map_or("none".to_owned(), |path| path.display().to_string());
    let (message, hint) = match error {
        rustls::Error::InvalidCertificate(reason) => (
            format!(
                "the server's certificate is not accepted for {host} (ssl-mode {mode}, ssl-ca {ca}): {reason}"
            ),
            "give the authority's certificate by ssl-ca=FILE, connect by a name that is in the certificate's subjectAltName, or write ssl-mode=REQUIRED without ssl-ca to encrypt without knowing the server",
        ),
        rustls::Error::AlertReceived(alert) => (
            format!("the server broke off the TLS handshake: {alert:?}"),
            "if it wants a client certificate, give one by ssl-cert=FILE and ssl-key=FILE",
        ),
        other => (
            format!("no TLS connection to {host} could be made: {other}"),
            "check ssl-mode, and the server's tls_version (1.2 or 1.3 is needed)",
        ),
    };
    TargetError::new(TargetErrorKind::Denied, message).hint(hint).cause(error.clone())
}

/// rustls's settings for one connection.
fn client_config(config: &ConnectConfig) -> Result<Arc<ClientConfig>, TargetError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let trust = match (config.ssl_mode, &config.ssl_ca) {
        (SslMode::VerifyIdentity, Some(path)) => Trust::Name(roots(path)?),
        (SslMode::VerifyCa, Some(path)) => Trust::Authority(roots(path)?),
        _ => Trust::Anyone,
    };
    let verifier = Verifier::new(trust, provider.signature_verification_algorithms);
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable("the TLS versions", &error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let client = match (&config.ssl_cert, &config.ssl_key) {
        (Some(cert), Some(key)) => {
            let (chain, key) = client_certificate(cert, key)?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| unusable("ssl-cert and ssl-key", &error.to_string()))?
        }
        (None, None) => builder.with_no_client_auth(),
        _ => return Err(unusable("the client's certificate", "ssl-cert and ssl-key go together")),
    };
    Ok(Arc::new(client))
}

fn unusable(what: &str, why: &str) -> TargetError {
    TargetError::new(TargetErrorKind::Unsupported, format!("{what} cannot be used: {why}"))
}

fn client_certificate(
    cert: &Path,
    key: &Path,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TargetError> {
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unusable(&cert.display().to_string(), &error.to_string()))?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| {
        unusable(&key.display().to_string(), &error.to_string())
            .hint("the key has to be PEM without a passphrase")
    })?;
    Ok((chain, key))
}
