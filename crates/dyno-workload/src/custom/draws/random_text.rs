//! Writes random texts and bytes into a session's buffer.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::draw::uniform;

pub(super) const UUID_LETTERS: usize = 36;

/// Characters drawn from one random number: as many as it can encode with the largest alphabet, 95
/// characters.
const OF_ONE: usize = 8;

/// A random length in `low..=high`.
#[inline]
pub(super) fn length(rng: &mut Xoshiro256PlusPlus, (low, high): (u32, u32)) -> usize {
    if low == high {
        return low as usize;
    }
    // Both are far below 2^32.
    (u64::from(low) + uniform(rng, u64::from(high - low) + 1) - 1) as usize
}

/// Fills `out` with random characters of `alphabet`.
#[inline]
pub(super) fn letters(rng: &mut Xoshiro256PlusPlus, alphabet: &[u8], out: &mut [u8]) {
    let count = alphabet.len() as u128;
    for piece in out.chunks_mut(OF_ONE) {
        // A fraction; each character takes its share of the leading part.
        let mut fraction = rng.next_u64();
        for letter in piece {
            let product = u128::from(fraction) * count;
            *letter = alphabet[(product >> 64) as usize];
            fraction = product as u64;
        }
    }
}

/// Fills `out` with random bytes.
#[inline]
pub(super) fn bytes(rng: &mut Xoshiro256PlusPlus, out: &mut [u8]) {
    for piece in out.chunks_mut(8) {
        piece.copy_from_slice(&rng.next_u64().to_le_bytes()[..piece.len()]);
    }
}

/// Writes a UUID of RFC 9562: version 4, or version 7 with this time in milliseconds.
#[inline]
pub(super) fn uuid(rng: &mut Xoshiro256PlusPlus, moment_ms: Option<u64>, out: &mut [u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut raw = [0; 16];
    bytes(rng, &mut raw);
    let version = match moment_ms {
        None => 4,
        Some(ms) => {
            raw[..6].copy_from_slice(&ms.to_be_bytes()[2..]);
            7
        }
    };
    raw[6] = raw[6] & 0x0f | version << 4;
    raw[8] = raw[8] & 0x3f | 0x80;
    let mut at = 0;
    for (place, byte) in raw.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            out[at] = b'-';
            at += 1;
        }
        out[at] = HEX[usize::from(byte >> 4)];
        out[at + 1] = HEX[usize::from(byte & 15)];
        at += 2;
    }
}

/// The number of characters in the longest whole number, with its sign.
pub(super) const WHOLE_LETTERS: usize = 20;

/// Writes a whole number; returns its number of characters.
#[inline]
pub(super) fn whole(number: i64, out: &mut [u8]) -> usize {
    decimal(number, 0, out)
}

/// Writes `number` ÷ 10^`scale`; returns its number of characters.
#[inline]
pub(super) fn decimal(number: i64, scale: u32, out: &mut [u8]) -> usize {
    let mut backwards = [0; WHOLE_LETTERS + 2];
    let (mut left, mut len, mut place) = (number.unsigned_abs(), 0, 0);
    while left > 0 || place <= scale {
        if place == scale && scale > 0 {
            backwards[len] = b'.';
            len += 1;
        }
        backwards[len] = b'0' + (left % 10) as u8;
        (left, len, place) = (left / 10, len + 1, place + 1);
    }
    if number < 0 {
        backwards[len] = b'-';
        len += 1;
    }
    for (to, from) in out.iter_mut().zip(backwards[..len].iter().rev()) {
        *to = *from;
    }
    len
}

/// Writes the last digits of a number with words as digits; the base is the number of words. Returns the
/// number of bytes.
#[inline]
pub(super) fn spelled(
    number: u64,
    words: &[(u32, u32)],
    digits: u32,
    shared: &[u8],
    out: &mut [u8],
) -> usize {
    let base = words.len() as u64;
    let mut at = 0;
    for digit in (0..digits).rev() {
        let (from, len) = words[(number / base.pow(digit) % base) as usize];
        out[at..at + len as usize].copy_from_slice(&shared[from as usize..][..len as usize]);
        at += len as usize;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_core::SeedableRng as _;

    fn written(number: i64, scale: u32) -> String {
        let mut out = [0; WHOLE_LETTERS + 2];
        let len = decimal(number, scale, &mut out);
        String::from_utf8(out[..len].to_vec()).expect("digits")
    }

    #[test]
    fn decimals_are_written_with_their_point() {
        let cases = [
            (0, 0, "0"),
            (0, 2, "0.00"),
            (-5, 2, "-0.05"),
            (12_345, 2, "123.45"),
            (i64::MIN, 1, "-922337203685477580.8"),
        ];
        for (number, scale, expected) in cases {
            assert_eq!(written(number, scale), expected);
        }
    }

    #[test]
    fn uuids_have_their_version_and_variant() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for (moment, version) in [(None, b'4'), (Some(0x0123_4567_89ab), b'7')] {
            let mut out = [0; UUID_LETTERS];
            uuid(&mut rng, moment, &mut out);
            assert_eq!([out[8], out[13], out[18], out[23]], [b'-'; 4]);
            assert_eq!(out[14], version);
            assert!(b"89ab".contains(&out[19]));
            assert!(moment.is_none() || out.starts_with(b"01234567-89ab-7"));
        }
    }

    proptest! {
        #[test]
        fn whole_numbers_are_written_as_they_are(number: i64) {
            prop_assert_eq!(written(number, 0), number.to_string());
        }

        #[test]
        fn random_letters_come_from_the_alphabet(seed: u64, length in 0usize..40) {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut out = vec![0; length];
            letters(&mut rng, b"xyz", &mut out);
            prop_assert!(out.iter().all(|letter| b"xyz".contains(letter)));
            bytes(&mut rng, &mut out);
        }
    }
}
