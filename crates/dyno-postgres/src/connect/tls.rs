//! Agreeing on TLS: the server's yes or no, certificates, the handshake.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::attempt::{Encrypt, Failure};
use super::config::{ConnectConfig, SslMode};
use super::explain;
use crate::wire::{Socket, Stream, WireError, message};
use dyno_engine::TargetError;
use dyno_engine::net::tls::{self, Failed, unusable};
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
    TargetError::denied(message)
        .hint("switch on ssl in the server's settings, or write sslmode=prefer or disable")
}

fn shake_hands(socket: Socket, host: &str, config: &ConnectConfig) -> Result<Stream, Failure> {
    let client = tls::client(trust(config)?, client_certificate(config)?, config.tls_offer)?;
    match tls::shake_hands(socket, host, client)? {
        Ok(stream) => Ok(stream),
        Err(Failed::Io(error)) => Err(Failure::Final(explain::broken(WireError::Io(error), config))),
        Err(Failed::Tls(error)) => {
            let (mode, root) = (config.ssl_mode, config.ssl_root_cert.as_deref());
            let roots = root.map_or("none".to_owned(), |path| path.display().to_string());
            let settings = format!("sslmode {}, sslrootcert {roots}", mode.name());
            let hints = [
                certificate_hint(mode, root.is_some()),
                "if it wants a client certificate, give one by sslcert=FILE and sslkey=FILE",
                "check sslmode, and the server's ssl settings (TLS 1.2 or 1.3 is needed)",
            ];
            Err(Failure::Tls(tls::refused(error, host, &settings, hints)))
        }
    }
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

/// Whom the URL trusts.
fn trust(config: &ConnectConfig) -> Result<Trust, TargetError> {
    Ok(match (config.ssl_mode, &config.ssl_root_cert) {
        (SslMode::VerifyFull, Some(path)) => Trust::Name(verify::roots(path)?),
        (SslMode::VerifyCa, Some(path)) => Trust::Authority(verify::roots(path)?),
        // As libpq: a root certificate that is there turns `require` into `verify-ca`.
        (SslMode::Require, Some(path)) => Trust::Authority(verify::roots(path)?),
        (SslMode::VerifyFull | SslMode::VerifyCa, None) => {
            let mode = config.ssl_mode.name();
            return Err(TargetError::unsupported(format!(
                "sslmode {mode} needs a root certificate, and there is no ~/.postgresql/root.crt"
            ))
            .hint(
                "write sslrootcert=FILE, or sslrootcert=system for the authorities that this machine trusts",
            ));
        }
        (SslMode::Disable | SslMode::Allow | SslMode::Prefer | SslMode::Require, _) => Trust::Anyone,
    })
}

/// Certificate and key of the client, if it has both.
fn client_certificate(config: &ConnectConfig) -> Result<Option<(&Path, &Path)>, TargetError> {
    match (config.ssl_cert.as_deref(), config.ssl_key.as_deref()) {
        (Some(certificate), Some(key)) => {
            check_private(key)?;
            Ok(Some((certificate, key)))
        }
        (Some(certificate), None) => {
            let what = format!("the client's certificate {}", certificate.display());
            Err(unusable(&what, "there is no private key for it").hint("give the key by sslkey=FILE"))
        }
        (None, _) => Ok(None),
    }
}

/// libpq's rule: nobody else may read a private key, but root may own it and let one group read it.
fn check_private(key: &Path) -> Result<(), TargetError> {
    let Ok(facts) = std::fs::metadata(key) else { return Ok(()) };
    let forbidden = if facts.uid() == 0 { 0o037 } else { 0o077 };
    if facts.mode() & forbidden == 0 {
        return Ok(());
    }
    let what = format!("the client's private key {}", key.display());
    Err(unusable(&what, "others than its owner may read it").hint(format!("chmod 600 {}", key.display())))
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
