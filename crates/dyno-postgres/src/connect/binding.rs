//! Channel binding `tls-server-end-point` (RFC 5929): a hash of the server's certificate that ties the
//! password exchange to its TLS connection.
//!
//! The hash function is that of the certificate's signature, with SHA-256 instead of MD5 and SHA-1. The
//! certificate's signature algorithm is the second element of a DER sequence, so no X.509 library is needed
//! to find it.

use sha2::{Digest, Sha256, Sha384, Sha512};

const SEQUENCE: u8 = 0x30;
const OBJECT_ID: u8 = 0x06;

/// One DER element: its tag, its contents, and the bytes after it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (bytes.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)), rest)
        }
        _ => return None,
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    Some((tag, contents, rest))
}

/// The object identifier of the algorithm that signed `certificate`.
fn signature_algorithm(certificate: &[u8]) -> Option<&[u8]> {
    let (SEQUENCE, certificate, _) = element(certificate)? else { return None };
    let (SEQUENCE, _to_be_signed, rest) = element(certificate)? else { return None };
    let (SEQUENCE, algorithm, _) = element(rest)? else { return None };
    let (OBJECT_ID, id, _) = element(algorithm)? else { return None };
    Some(id)
}

/// The hash that binds to `certificate`. `None` if its signature does not have a single hash function
/// (Ed25519, RSA-PSS); as in libpq, there is then no binding.
pub(super) fn server_end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    // Identifiers of RFC 8017 (PKCS #1) and RFC 5758 (ECDSA), in DER.
    const PKCS1: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA_SHA1: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01];
    const ECDSA_SHA2: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03];
    let id = signature_algorithm(certificate)?;
    let (&last, family) = id.split_last()?;
    match (family, last) {
        // MD5, SHA-1, SHA-256 with RSA.
        (PKCS1, 4 | 5 | 11) => Some(Sha256::digest(certificate).to_vec()),
        (PKCS1, 12) => Some(Sha384::digest(certificate).to_vec()),
        (PKCS1, 13) => Some(Sha512::digest(certificate).to_vec()),
        _ if id == ECDSA_SHA1 => Some(Sha256::digest(certificate).to_vec()),
        (ECDSA_SHA2, 2) => Some(Sha256::digest(certificate).to_vec()),
        (ECDSA_SHA2, 3) => Some(Sha384::digest(certificate).to_vec()),
        (ECDSA_SHA2, 4) => Some(Sha512::digest(certificate).to_vec()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519};

    use super::*;

    fn certificate(algorithm: &'static rcgen::SignatureAlgorithm) -> Vec<u8> {
        let key = KeyPair::generate_for(algorithm).unwrap();
        let params = CertificateParams::new(vec!["db.example".to_owned()]).unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn channel_binding_hash_matches_certificate_signature() {
        let p256 = certificate(&PKCS_ECDSA_P256_SHA256);
        assert_eq!(server_end_point(&p256), Some(Sha256::digest(&p256).to_vec()));
        let p384 = certificate(&PKCS_ECDSA_P384_SHA384);
        assert_eq!(server_end_point(&p384), Some(Sha384::digest(&p384).to_vec()));
        assert_eq!(server_end_point(&certificate(&PKCS_ED25519)), None);
    }

    proptest! {
        #[test]
        fn row_reader_never_panics_on_any_bytes(der: Vec<u8>) {
            server_end_point(&der);
        }
    }
}
