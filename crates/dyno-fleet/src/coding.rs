//! Encodes messages as one line of JSON, optionally followed by raw bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::limits::MESSAGE_BYTES_MAX;

pub(crate) fn encode(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("messages have names as keys and no maps of other things")
}

/// Encodes a message, followed by a newline and raw bytes.
pub(crate) fn encode_with_payload(message: &impl Serialize, rest: &[u8]) -> Vec<u8> {
    let mut bytes = encode(message);
    // One line of JSON contains no newline, so this byte separates the parts.
    bytes.push(b'\n');
    bytes.extend_from_slice(rest);
    bytes
}

/// Decodes a message and returns the raw bytes that follow it.
///
/// # Errors
/// The bytes are not a message; the text says why.
pub(crate) fn decode_with_payload<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), String> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(format!("a message of {} bytes, more than {MESSAGE_BYTES_MAX}", bytes.len()));
    }
    let end = bytes.iter().position(|&byte| byte == b'\n');
    let (head, rest) = end.map_or((bytes, &[][..]), |end| (&bytes[..end], &bytes[end + 1..]));
    let read =
        serde_json::from_slice(head).map_err(|error| format!("not a message of this version: {error}"))?;
    Ok((read, rest))
}

/// Decodes a message.
///
/// # Errors
/// The bytes are not a message; the text says why.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    decode_with_payload(bytes).map(|(message, _)| message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{AgentRequest, Upload};

    #[test]
    fn payload_bytes_follow_encoded_message() {
        let upload = Upload::Piece { rank: 3, number: 1, of: 2, sum: "ab".into() };
        let bytes = encode_with_payload(&upload, b"\nany\n\0bytes");
        let (read, rest) = decode_with_payload::<Upload>(&bytes).unwrap();
        assert!(matches!(read, Upload::Piece { rank: 3, number: 1, of: 2, .. }));
        assert_eq!(rest, b"\nany\n\0bytes");
    }

    #[test]
    fn oversized_or_invalid_messages_are_refused_with_reason() {
        assert!(decode::<AgentRequest>(&vec![b'x'; MESSAGE_BYTES_MAX + 1]).unwrap_err().contains("bytes"));
        assert!(decode::<AgentRequest>(b"{\"Fly\":1}").unwrap_err().contains("version"));
        assert!(decode::<AgentRequest>(&[b'['; 100_000]).is_err(), "depth is limited");
    }
}
