//! Encrypts a password with the server's public key: RSA with OAEP padding and SHA-1 (RFC 8017, section
//! 7.1.1).
//!
//! `caching_sha2_password` requires this on a connection that is neither encrypted nor local. Encryption
//! needs one exponentiation with a small public exponent and no secret key, so a big-integer crate is enough.

use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use num_bigint::BigUint;
use sha1::{Digest, Sha1};

/// Bytes of a SHA-1 hash.
const HASH_BYTES: usize = 20;

/// `message` encrypted with the public key in `pem` (`PUBLIC KEY`); `None` if the key is invalid or too
/// short.
pub(super) fn encrypt(pem: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let (modulus, exponent) = public_key(pem)?;
    let bytes = usize::try_from(modulus.bits()).ok()?.div_ceil(8);
    let padded = pad(message, bytes, &random_seed()?)?;
    let encrypted = BigUint::from_bytes_be(&padded).modpow(&exponent, &modulus).to_bytes_be();
    let mut out = vec![0; bytes - encrypted.len()];
    out.extend_from_slice(&encrypted);
    Some(out)
}

/// Random bytes from the system.
fn random_seed() -> Option<[u8; HASH_BYTES]> {
    let mut seed = [0; HASH_BYTES];
    std::fs::File::open("/dev/urandom").ok()?.read_exact(&mut seed).ok()?;
    Some(seed)
}

/// One DER element: its tag, its contents, and the bytes after it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x83 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (bytes.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)), rest)
        }
        _ => return None,
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    Some((tag, contents, rest))
}

/// Modulus and exponent of a SubjectPublicKeyInfo (RFC 5280) that holds an RSAPublicKey (RFC 8017, A.1.1).
fn public_key(pem: &[u8]) -> Option<(BigUint, BigUint)> {
    let text = std::str::from_utf8(pem).ok()?;
    let lines = text.lines().map(str::trim);
    let base64: String = lines
        .skip_while(|line| !line.starts_with("-----BEGIN"))
        .skip(1)
        .take_while(|line| !line.starts_with("-----END"))
        .collect();
    let der = BASE64.decode(base64).ok()?;
    let (0x30, info, _) = element(&der)? else { return None };
    let (0x30, _algorithm, rest) = element(info)? else { return None };
    let (0x03, bits, _) = element(rest)? else { return None };
    // The first byte gives the number of unused bits at the end: zero.
    let (0x30, key, _) = element(bits.strip_prefix(&[0])?)? else { return None };
    let (0x02, modulus, rest) = element(key)? else { return None };
    let (0x02, exponent, _) = element(rest)? else { return None };
    Some((BigUint::from_bytes_be(modulus), BigUint::from_bytes_be(exponent)))
}

/// OAEP with an empty label.
fn pad(message: &[u8], bytes: usize, seed: &[u8; HASH_BYTES]) -> Option<Vec<u8>> {
    let space = bytes.checked_sub(2 * HASH_BYTES + 2)?.checked_sub(message.len())?;
    let mut block = Sha1::digest(b"").to_vec();
    block.resize(HASH_BYTES + space, 0);
    block.push(1);
    block.extend_from_slice(message);
    let masked_block = xor(&block, &mask(seed, block.len()));
    let masked_seed = xor(seed, &mask(&masked_block, HASH_BYTES));
    Some([vec![0], masked_seed, masked_block].concat())
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// MGF1 with SHA-1 (RFC 8017, B.2.1).
fn mask(seed: &[u8], bytes: usize) -> Vec<u8> {
    let block = |counter: u32| Sha1::new().chain_update(seed).chain_update(counter.to_be_bytes()).finalize();
    let mut out: Vec<u8> = (0..).flat_map(block).take(bytes).collect();
    out.truncate(bytes);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padded_message_can_be_recovered() {
        let (message, seed) = (b"secret\0", [7; HASH_BYTES]);
        let padded = pad(message, 256, &seed).unwrap();
        assert_eq!((padded.len(), padded[0]), (256, 0));
        let (masked_seed, masked_block) = padded[1..].split_at(HASH_BYTES);
        assert_eq!(xor(masked_seed, &mask(masked_block, HASH_BYTES)), seed);
        let block = xor(masked_block, &mask(&seed, masked_block.len()));
        assert!(block.starts_with(&Sha1::digest(b"")));
        assert!(block.ends_with(b"\x01secret\0"));
        assert!(pad(&[0; 250], 256, &seed).is_none(), "a message that is too long");
    }

    #[test]
    fn invalid_public_key_is_refused() {
        for text in ["", "-----BEGIN PUBLIC KEY-----\n!!\n-----END PUBLIC KEY-----", "hello"] {
            assert_eq!(encrypt(text.as_bytes(), b"x"), None);
        }
    }
}
