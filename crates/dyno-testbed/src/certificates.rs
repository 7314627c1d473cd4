//! Certificates made for one test.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails as they do")]

use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};

/// A certificate authority and its server certificate for `localhost`.
pub struct Certificates {
    authority: Issuer<'static, KeyPair>,
    /// The certificate of the authority, PEM.
    pub ca_cert: String,
    /// The certificate of the server, PEM.
    pub server_cert: String,
    /// The private key of the server, PEM.
    pub server_key: String,
}

fn named(names: &[&str], common_name: &str) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params
}

/// Makes a new authority and a new server certificate.
pub fn make() -> Certificates {
    let key = KeyPair::generate().unwrap();
    let mut params = named(&[], "test authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_cert = params.self_signed(&key).unwrap().pem();
    let authority = Issuer::new(params, key);
    let server_key = KeyPair::generate().unwrap();
    let server_cert = named(&["localhost"], "localhost").signed_by(&server_key, &authority).unwrap().pem();
    Certificates { authority, ca_cert, server_cert, server_key: server_key.serialize_pem() }
}

impl Certificates {
    /// Certificate and key of a client whose common name is `user`.
    pub fn client(&self, user: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = named(&[], user);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        (params.signed_by(&key, &self.authority).unwrap().pem(), key.serialize_pem())
    }
}

/// Certificate and key of a server that is its own authority, as `openssl req -x509` makes them.
pub fn self_signed_authority(host: &str) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = named(&[host], host);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}
