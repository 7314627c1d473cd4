//! How the server frames its packets: three bytes of length, a sequence number, and the body.

use super::error::MyError;
use super::message::mark::ERROR;
use dyno_engine::net::{Head, Protocol};

/// The length of a packet that goes on in the next one; nothing that Dyno asks for is so long.
const LENGTH_MAX: usize = 0xff_ffff;

/// The MySQL client/server protocol.
#[derive(Debug)]
pub(crate) struct My;

impl Protocol for My {
    type Refusal = MyError;

    #[inline]
    fn head(arrived: &[u8]) -> Result<Option<Head>, String> {
        let Some(&[a, b, c, sequence]) = arrived.first_chunk::<4>() else { return Ok(None) };
        let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
        if length == LENGTH_MAX {
            return Err("a packet of 16 MiB or more".to_owned());
        }
        Ok(Some(Head { tag: sequence, bytes: 4, body_bytes: length }))
    }

    fn refusal(_: u8, body: &[u8]) -> Option<MyError> {
        (body.first() == Some(&ERROR)).then(|| MyError::read(&body[1..]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_length_has_three_bytes_and_the_longest_goes_on() {
        let head = Head { tag: 7, bytes: 4, body_bytes: 0x30201 };
        assert_eq!((My::head(&[1, 2, 3, 7, 9]), My::head(&[1, 2, 3])), (Ok(Some(head)), Ok(None)));
        assert!(My::head(&[255, 255, 255, 0]).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_can_make_it_panic(arrived: Vec<u8>) {
            let _ = My::head(&arrived);
        }
    }
}
