//! Verifies the server's certificate against root certificates, as `sslmode` requires.

use std::path::Path;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::error::TargetError;

/// Root certificates that the client trusts.
#[derive(Debug)]
pub struct Roots {
    store: RootCertStore,
    /// The certificates as they are in the file: a server that presents one of them itself is trusted.
    certificates: Vec<CertificateDer<'static>>,
}

/// Which servers are trusted.
#[derive(Debug)]
pub enum Trust {
    /// Any server: the connection is encrypted, but the server's identity is not verified.
    Anyone,
    /// Any server with a certificate of a trusted authority.
    Authority(Roots),
    /// A server with a certificate of a trusted authority for its host name.
    Name(Roots),
}

/// Verifies certificates as `sslmode` requires.
#[derive(Debug)]
pub struct Verifier {
    trust: Trust,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    /// A verifier that trusts `trust`.
    pub fn new(trust: Trust, algorithms: WebPkiSupportedAlgorithms) -> Self {
        Self { trust, algorithms }
    }

    fn check_chain(
        &self,
        roots: &Roots,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        let parsed = ParsedCertificate::try_from(shown)?;
        let all = self.algorithms.all;
        match verify_server_cert_signed_by_trust_anchor(&parsed, &roots.store, intermediates, now, all) {
            // `openssl req -x509` creates CA certificates, and many servers present one as their own. It is
            // trusted if it is itself among the roots; this error comes after the check of its dates.
            Err(Error::InvalidCertificate(CertificateError::Other(error)))
                if error.to_string().contains("CaUsedAsEndEntity") && roots.certificates.contains(shown) =>
            {
                Ok(())
            }
            other => other,
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match &self.trust {
            Trust::Anyone => {}
            Trust::Authority(roots) => self.check_chain(roots, shown, intermediates, now)?,
            Trust::Name(roots) => {
                self.check_chain(roots, shown, intermediates, now)?;
                verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// The root certificates in the PEM file `path`, or the operating system's for `system`.
pub fn roots(path: &Path) -> Result<Roots, TargetError> {
    let bad = |why: String| {
        let message = format!("the root certificates in {} cannot be used: {why}", path.display());
        TargetError::unsupported(message)
            .hint("write sslrootcert=FILE with PEM certificates, or sslrootcert=system")
    };
    let certificates = if path.as_os_str() == "system" {
        rustls_native_certs::load_native_certs().certs
    } else {
        CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| bad(error.to_string()))?
    };
    let mut store = RootCertStore::empty();
    let (added, ignored) = store.add_parsable_certificates(certificates.iter().cloned());
    if added == 0 {
        return Err(bad(format!("none of {ignored} is a certificate")));
    }
    Ok(Roots { store, certificates })
}
