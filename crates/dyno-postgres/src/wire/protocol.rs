//! Frames the server's messages: a tag, four bytes of length that include themselves, and the body.

use super::error::PostgresError;
use dyno_engine::net::{MessageHeader, WireProtocol};

/// The longest message that Dyno accepts; no result that it requests is nearly that long.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// PostgreSQL's frontend/backend protocol.
#[derive(Debug)]
pub(crate) struct PostgresProtocol;

impl WireProtocol for PostgresProtocol {
    type Refusal = PostgresError;

    #[inline]
    fn head(arrived: &[u8]) -> Result<Option<MessageHeader>, String> {
        let Some([tag, length @ ..]) = arrived.first_chunk::<5>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        if !(4..=MESSAGE_BYTES_MAX).contains(&length) {
            return Err(format!("a message with tag {tag} and impossible length {length}"));
        }
        Ok(Some(MessageHeader { tag: *tag, bytes: 5, body_bytes: length - 4 }))
    }

    fn refusal(tag: u8, body: &[u8]) -> Option<PostgresError> {
        (tag == b'E').then(|| PostgresError::read(body))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn message_length_includes_itself_and_impossible_one_fails() {
        let head = MessageHeader { tag: b'Z', bytes: 5, body_bytes: 1 };
        assert_eq!(
            (PostgresProtocol::head(b"Z\0\0\0\x05I"), PostgresProtocol::head(b"Z\0\0\0")),
            (Ok(Some(head)), Ok(None))
        );
        assert!(PostgresProtocol::head(b"HTTP/1.1 400 Bad Request").is_err());
        assert!(PostgresProtocol::head(b"Z\0\0\0\x03").is_err());
    }

    proptest! {
        #[test]
        fn row_reader_never_panics_on_any_bytes(arrived: Vec<u8>) {
            let _ = PostgresProtocol::head(&arrived);
        }
    }
}
