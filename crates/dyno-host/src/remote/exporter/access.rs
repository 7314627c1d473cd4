//! Connects to node_exporter: TLS certificates and the user. Errors never contain secrets.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use crate::remote::{HostAccess, SourceError, SourceErrorKind};

/// The `Authorization` header of each request, if there is one.
pub(super) fn authorization(way: &HostAccess) -> Option<String> {
    let (user, password) = (way.url.user.as_ref()?, way.password.as_ref()?);
    Some(format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
}

/// An HTTP client that follows no redirects and uses no proxy.
///
/// # Errors
/// The file of certificate authorities cannot be read, or contains none.
pub(super) fn agent(way: &HostAccess, name: &str) -> Result<ureq::Agent, SourceError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = TlsConfig::builder()
        .root_certs(roots(way, name)?)
        .unversioned_rustls_crypto_provider(provider)
        .build();
    Ok(ureq::Agent::config_builder().max_redirects(0).proxy(None).tls_config(tls).build().into())
}

/// The trusted authorities: those of the file, else those of this machine.
fn roots(way: &HostAccess, name: &str) -> Result<RootCerts, SourceError> {
    if way.url.scheme != dyno_plan::HostScheme::NodeExporterTls {
        return Ok(RootCerts::new_with_certs(&[]));
    }
    let Some(file) = &way.ca else {
        let all = rustls_native_certs::load_native_certs().certs;
        return Ok(all.iter().map(|cert| Certificate::from_der(cert.as_ref()).to_owned()).into());
    };
    let wrong = |why: &str| {
        let words = format!("{name}: its ca, {}, {why}", file.display());
        SourceError::new(SourceErrorKind::Unproven, words)
            .hint("name a PEM file with the certificates of the authorities")
    };
    let pem = std::fs::read(file).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    let certificates = parse_pem(&pem).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    let certificates: Vec<_> = certificates.collect();
    match certificates.is_empty() {
        true => Err(wrong("holds no certificate")),
        false => Ok(certificates.into()),
    }
}
