//! Messages as bytes: JSON on one line, and what travels behind it as it is.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::limits::MESSAGE_BYTES_MAX;

/// As bytes.
pub(crate) fn written(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("messages have names as keys and no maps of other things")
}

/// As bytes, with more bytes behind it.
pub(crate) fn written_with(message: &impl Serialize, rest: &[u8]) -> Vec<u8> {
    let mut bytes = written(message);
    // JSON on one line has no such byte.
    bytes.push(b'\n');
    bytes.extend_from_slice(rest);
    bytes
}

/// A message that came, and the bytes behind it.
///
/// # Errors
/// It is none, in words.
pub(crate) fn read_with<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), String> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(format!("a message of {} bytes, more than {MESSAGE_BYTES_MAX}", bytes.len()));
    }
    let end = bytes.iter().position(|&byte| byte == b'\n');
    let (head, rest) = end.map_or((bytes, &[][..]), |end| (&bytes[..end], &bytes[end + 1..]));
    let read =
        serde_json::from_slice(head).map_err(|error| format!("no message of this version: {error}"))?;
    Ok((read, rest))
}

/// A message that came.
///
/// # Errors
/// It is none, in words.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    read_with(bytes).map(|(message, _)| message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Ask, Upload};

    #[test]
    fn bytes_travel_behind_a_message() {
        let upload = Upload::Piece { rank: 3, number: 1, of: 2, sum: "ab".into() };
        let bytes = written_with(&upload, b"\nany\n\0bytes");
        let (read, rest) = read_with::<Upload>(&bytes).unwrap();
        assert!(matches!(read, Upload::Piece { rank: 3, number: 1, of: 2, .. }));
        assert_eq!(rest, b"\nany\n\0bytes");
    }

    #[test]
    fn what_is_too_long_or_no_message_is_refused_in_words() {
        assert!(read::<Ask>(&vec![b'x'; MESSAGE_BYTES_MAX + 1]).unwrap_err().contains("bytes"));
        assert!(read::<Ask>(b"{\"Fly\":1}").unwrap_err().contains("version"));
        assert!(read::<Ask>(&[b'['; 100_000]).is_err(), "depth is limited");
    }
}
