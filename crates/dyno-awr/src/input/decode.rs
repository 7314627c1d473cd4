//! Decodes bytes into text: UTF-8, UTF-16 with or without a byte order mark, and otherwise
//! Windows-1252, in which every byte is a character.

use std::borrow::Cow;

use super::InputError;

/// Characters of the bytes 0x80 to 0x9f in Windows-1252; the rest of the upper half is as in
/// Unicode.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Bytes at the start of a file from which its encoding is detected.
const SAMPLE: usize = 4_096;

/// The text of a file.
pub(crate) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, InputError> {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    match bytes {
        [0xff, 0xfe, rest @ ..] => return Ok(utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => return Ok(utf16(rest, u16::from_be_bytes)),
        _ => {}
    }
    // Reports are mostly ASCII, so in UTF-16 every other byte is zero.
    let zeros = |parity: usize| sample.iter().skip(parity).step_by(2).filter(|b| **b == 0).count();
    let half = sample.len() / 2;
    if half > 0 && zeros(1) > half / 2 && zeros(0) == 0 {
        return Ok(utf16(bytes, u16::from_le_bytes));
    }
    if half > 0 && zeros(0) > half / 2 && zeros(1) == 0 {
        return Ok(utf16(bytes, u16::from_be_bytes));
    }
    if sample.contains(&0) {
        return Err(InputError::Binary);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    Ok(match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| latin(byte)).collect()),
    })
}

fn latin(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

fn utf16(bytes: &[u8], word: fn([u8; 2]) -> u16) -> Cow<'static, str> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let words = pairs.iter().map(|pair| word(*pair));
    Cow::Owned(char::decode_utf16(words).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_decodes_the_same_in_every_encoding() {
        let text = "Größe; WORKLOAD REPOSITORY report for";
        let utf16 = |order: fn(u16) -> [u8; 2], mark: &[u8]| {
            let words = text.encode_utf16().flat_map(order);
            mark.iter().copied().chain(words).collect::<Vec<u8>>()
        };
        let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        let all = [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            latin,
            utf16(u16::to_le_bytes, b"\xff\xfe"),
            utf16(u16::to_be_bytes, b"\xfe\xff"),
            utf16(u16::to_le_bytes, b""),
            utf16(u16::to_be_bytes, b""),
        ];
        for bytes in all {
            assert_eq!(decode(&bytes).unwrap(), text);
        }
        assert!(matches!(decode(b"\x7fELF\0\0\0\x01"), Err(InputError::Binary)));
    }

    proptest! {
        #[test]
        fn awr_decode_never_panics_on_any_bytes(bytes: Vec<u8>) {
            let _ = decode(&bytes);
        }
    }
}
