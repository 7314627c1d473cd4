//! Packet framing of the protocol: three bytes of length, a sequence number, and the body.

use super::error::MySqlError;
use super::message::mark::ERROR;
use dyno_engine::net::{MessageHeader, WireProtocol};

/// The length of a packet that continues in the next one; no result that Dyno requests is that long.
const LENGTH_MAX: usize = 0xff_ffff;

/// The MySQL client/server protocol.
#[derive(Debug)]
pub(crate) struct MySqlProtocol;

impl WireProtocol for MySqlProtocol {
    type Refusal = MySqlError;

    #[inline]
    fn head(arrived: &[u8]) -> Result<Option<MessageHeader>, String> {
        let Some(&[a, b, c, sequence]) = arrived.first_chunk::<4>() else { return Ok(None) };
        let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
        if length == LENGTH_MAX {
            return Err("a packet of 16 MiB or more".to_owned());
        }
        Ok(Some(MessageHeader { tag: sequence, bytes: 4, body_bytes: length }))
    }

    fn refusal(_: u8, body: &[u8]) -> Option<MySqlError> {
        (body.first() == Some(&ERROR)).then(|| MySqlError::read(&body[1..]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn packet_length_has_three_bytes_and_maximum_is_refused() {
        let head = MessageHeader { tag: 7, bytes: 4, body_bytes: 0x30201 };
        assert_eq!(
            (MySqlProtocol::head(&[1, 2, 3, 7, 9]), MySqlProtocol::head(&[1, 2, 3])),
            (Ok(Some(head)), Ok(None))
        );
        assert!(MySqlProtocol::head(&[255, 255, 255, 0]).is_err());
    }

    proptest! {
        #[test]
        fn row_reader_never_panics_on_any_bytes(arrived: Vec<u8>) {
            let _ = MySqlProtocol::head(&arrived);
        }
    }
}
