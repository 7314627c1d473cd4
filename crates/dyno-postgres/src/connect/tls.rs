//! Agreeing on TLS: the server's yes or no, certificates, the handshake.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::attempt::{Encrypt, Failure};
use super::config::{ConnectConfig, SslMode};
use super::explain;
use crate::wire::{Socket, Stream, WireError, message};
use dyno_engine::error::{TargetError, TargetErrorKind};
use dyno_engine::net::verify::{self, Trust};

/// Asks the server for TLS and shakes hands, or goes on without where `encrypt` lets it.
pub(super) fn agree(
    mut socket: Socket,
    host: &str,
    config: &ConnectConfig,
    encrypt: Encrypt,
) -> Result<Stream, Failure> {
    let broken = |error| Failure::Final(explain::broken(WireError::Io(error), config));
    let mut request = Vec::with_capacity(8);
    message::tls_request(&mut request);
    std::io::Write::write_all(&mut socket, &request).map_err(broken)?;
    let mut answer = [0];
    // Exactly one byte: what an attacker stuffs behind it must not be taken for the server's words inside TLS.
    socket.read_exact(&mut answer).map_err(broken)?;
    match (answer[0], encrypt) {
        (b'S', _) => shake_hands(socket, host, config),
        (b'N', Encrypt::IfPossible) => Ok(Stream::Plain(socket)),
        (b'N', _) => Err(Failure::Final(no_tls(config))),
        // A server too old or too full to know the request answers with an error.
        (b'E', Encrypt::IfPossible) => Err(Failure::Tls(no_tls(config))),
        (b'E', _) => Err(Failure::Final(no_tls(config))),
        (other, _) => {
            let what = format!("byte {other} as an answer to a TLS request");
            Err(Failure::Final(WireError::protocol(what).into()))
        }
    }
}

fn no_tls(config: &ConnectConfig) -> TargetError {
    let message = format!("the server takes no TLS connection, but sslmode is {}", config.ssl_mode.name());
    TargetError::new(TargetErrorKind::Denied, message)
        .hint("switch on ssl in the server's settings, or write sslmode=prefer or disable")
}

fn shake_hands(socket: Socket, host: &str, config: &ConnectConfig) -> Result<Stream, Failure> {
    let client = client_config(config)?;
    let name = ServerName::try_from(host.to_owned()).map_err(|_| {
        TargetError::new(
            TargetErrorKind::Unsupported,
            format!("TLS needs a host name or address, not {host:?}"),
        )
    })?;
    let connection = ClientConnection::new(client, name).map_err(|error| refused(&error, host, config))?;
    let mut tls = StreamOwned::new(connection, socket);
    while tls.conn.is_handshaking() {
        if let Err(error) = tls.conn.complete_io(&mut tls.sock) {
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            return Err(match inner {
                Some(tls_error) => refused(tls_error, host, config),
                None => Failure::Final(explain::broken(WireError::Io(error), config)),
            });
        }
    }
    Ok(Stream::Tls(Box::new(tls)))
}

fn refused(error: &rustls::Error, host: &str, config: &ConnectConfig) -> Failure {
    let mode = config.ssl_mode.name();
    let roots = config.ssl_root_cert.as_deref().map_or("none".to_owned(), |path| path.display().to_string());
    let (message, hint) = match error {
        rustls::Error::InvalidCertificate(reason) => (
            format!(
                "the server's certificate is not accepted for {host} (sslmode {mode}, sslrootcert {roots}): {reason}"
            ),
            certificate_hint(config.ssl_mode, config.ssl_root_cert.is_some()),
        ),
        rustls::Error::AlertReceived(alert) => (
            format!("the server broke off the TLS handshake: {alert:?}"),
            "if it wants a client certificate, give one by sslcert=FILE and sslkey=FILE",
        ),
        other => (
            format!("no TLS connection to {host} could be made: {other}"),
            "check sslmode, and the server's ssl settings (TLS 1.2 or 1.3 is needed)",
        ),
    };
    Failure::Tls(TargetError::new(TargetErrorKind::Denied, message).hint(hint).cause(error.clone()))
}

/// The way out where a certificate is not accepted. With a root certificate, from the URL or from ~/.postgresql/root.crt,
/// `require` looks at the authority, too: then it is no way out.
fn certificate_hint(mode: SslMode, has_root: bool) -> &'static str {
    match (mode, has_root) {
        (SslMode::Require, true) => {
            "give the right authority's certificate by sslrootcert=FILE; sslmode=require looks at the authority because there is a root certificate: without sslrootcert and ~/.postgresql/root.crt it encrypts without knowing the server"
        }
        (SslMode::VerifyCa, true) => {
            "give the right authority's certificate by sslrootcert=FILE; to encrypt without knowing the server, write sslmode=require and leave out sslrootcert and ~/.postgresql/root.crt"
        }
        (_, true) => {
            "give the right authority's certificate by sslrootcert=FILE and connect by a name that is in the certificate's subjectAltName, or write sslmode=verify-ca, which does not look at the name"
        }
        (_, false) => {
            "give the authority's certificate by sslrootcert=FILE, connect by a name that is in the certificate's subjectAltName, or write sslmode=require to encrypt without knowing the server"
        }
    }
}

/// rustls's settings for one connection.
fn client_config(config: &ConnectConfig) -> Result<Arc<ClientConfig>, TargetError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let trust = match (config.ssl_mode, &config.ssl_root_cert) {
        (SslMode::VerifyFull, Some(path)) => Trust::Name(verify::roots(path)?),
        (SslMode::VerifyCa, Some(path)) => Trust::Authority(verify::roots(path)?),
        // As libpq: a root certificate that is there turns `require` into `verify-ca`.
        (SslMode::Require, Some(path)) => Trust::Authority(verify::roots(path)?),
        (SslMode::VerifyFull | SslMode::VerifyCa, None) => {
            let mode = config.ssl_mode.name();
            return Err(TargetError::new(
                TargetErrorKind::Unsupported,
                format!("sslmode {mode} needs a root certificate, and there is no ~/.postgresql/root.crt"),
            )
            .hint(
                "write sslrootcert=FILE, or sslrootcert=system for the authorities that this machine trusts",
            ));
        }
        (SslMode::Disable | SslMode::Allow | SslMode::Prefer | SslMode::Require, _) => Trust::Anyone,
    };
    let verifier = verify::Verifier::new(trust, provider.signature_verification_algorithms);
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| own("the TLS versions", &error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let client = match client_certificate(config)? {
        Some((chain, key)) => {
            builder.with_client_auth_cert(chain, key).map_err(|error| own("sslcert and sslkey", &error))?
        }
        None => builder.with_no_client_auth(),
    };
    Ok(Arc::new(client))
}

fn own(what: &str, error: &rustls::Error) -> TargetError {
    TargetError::new(TargetErrorKind::Unsupported, format!("{what} cannot be used: {error}"))
}

type ClientCertificate = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn client_certificate(config: &ConnectConfig) -> Result<Option<ClientCertificate>, TargetError> {
    let (Some(cert), Some(key)) = (&config.ssl_cert, &config.ssl_key) else {
        return match (&config.ssl_cert, &config.ssl_key) {
            (Some(cert), None) => {
                Err(unreadable("the client's certificate", cert, "there is no private key for it")
                    .hint("give the key by sslkey=FILE"))
            }
            _ => Ok(None),
        };
    };
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable("the client's certificate", cert, &error.to_string()))?;
    check_private(key)?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| {
        unreadable("the client's private key", key, &error.to_string())
            .hint("the key has to be PEM without a passphrase")
    })?;
    Ok(Some((chain, key)))
}

fn unreadable(what: &str, path: &Path, why: &str) -> TargetError {
    TargetError::new(TargetErrorKind::Unsupported, format!("{what} {} cannot be used: {why}", path.display()))
}

/// libpq's rule: nobody else may read a private key, but root may own it and let one group read it.
fn check_private(key: &Path) -> Result<(), TargetError> {
    let Ok(facts) = std::fs::metadata(key) else { return Ok(()) };
    let forbidden = if facts.uid() == 0 { 0o037 } else { 0o077 };
    if facts.mode() & forbidden == 0 {
        return Ok(());
    }
    Err(unreadable("the client's private key", key, "others than its owner may read it")
        .hint(format!("chmod 600 {}", key.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn require_is_no_way_out_while_there_is_a_root_certificate() {
        let is_told = |mode, has_root| certificate_hint(mode, has_root).contains("or write sslmode=require");
        assert!(is_told(SslMode::VerifyFull, false));
        for mode in [SslMode::Require, SslMode::VerifyCa, SslMode::VerifyFull] {
            assert!(!is_told(mode, true), "{mode:?}");
        }
        for mode in [SslMode::Require, SslMode::VerifyCa] {
            let hint = certificate_hint(mode, true);
            assert!(
                hint.contains("without sslrootcert and ~/.postgresql/root.crt")
                    || hint.contains("leave out sslrootcert and ~/.postgresql/root.crt")
            );
        }
    }
}
