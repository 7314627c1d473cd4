//! Implements MariaDB's `client_ed25519`: a signature of the scramble with a key derived from the password.
//!
//! Ed25519 (RFC 8032) derives its secret scalar and its nonce from the SHA-512 of a 32-byte seed. MariaDB
//! uses the password itself, of any length, as the seed. Libraries that require a 32-byte seed therefore
//! cannot be used.

use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::{Scalar, clamp_integer};
use sha2::{Digest, Sha512};

/// The signature of `scramble` with the key of `password`.
pub(super) fn sign(password: &[u8], scramble: &[u8]) -> [u8; 64] {
    let expanded: [u8; 64] = Sha512::digest(password).into();
    let (low, nonce) = expanded.split_at(32);
    let mut low: [u8; 32] = low.try_into().expect("half of 64 bytes");
    low = clamp_integer(low);
    let secret = Scalar::from_bytes_mod_order(low);
    let public = EdwardsPoint::mul_base(&secret).compress();
    let wide = |parts: &[&[u8]]| {
        let hash = parts.iter().fold(Sha512::new(), |hash, part| hash.chain_update(part));
        Scalar::from_bytes_mod_order_wide(&hash.finalize().into())
    };
    let r = wide(&[nonce, scramble]);
    let commitment = EdwardsPoint::mul_base(&r).compress();
    let challenge = wide(&[commitment.as_bytes(), public.as_bytes(), scramble]);
    let response = r + challenge * secret;
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(commitment.as_bytes());
    signature[32..].copy_from_slice(response.as_bytes());
    signature
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a password of 32 bytes the scheme is Ed25519 itself: test 2 of RFC 8032, section 7.1.
    #[test]
    fn ed25519_signature_matches_rfc_8032() {
        let hex = |text: &str| -> Vec<u8> {
            (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..][..2], 16).unwrap()).collect()
        };
        let seed = hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
        let signature = hex("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
             085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
        assert_eq!(sign(&seed, &[0x72]).to_vec(), signature);
    }
}
