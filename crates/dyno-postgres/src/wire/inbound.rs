//! What the server sends: a buffer that is cut into messages in place.

use std::io::{self, Read};
use std::ops::Range;

use super::error::WireError;
use dyno_engine::net::Sink;

/// Room for what one operation sends back, so that one `read` takes all of it.
const START_BYTES: usize = 16 * 1024;

/// The longest message we accept; nothing that Dyno asks for comes near it.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Tag and length word of every message.
const HEADER_BYTES: usize = 5;

/// Received bytes, cut into messages without copying.
#[derive(Debug)]
pub(crate) struct Inbound {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Inbound {
    /// An empty buffer.
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; START_BYTES], start: 0, end: 0 }
    }

    /// Cuts off the next message if all of it is here: its tag, and where its body is until the next [`Inbound::fill`].
    #[inline]
    pub(crate) fn cut(&mut self) -> Result<Option<(u8, Range<usize>)>, WireError> {
        let Some(header) = self.buffer[self.start..self.end].first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let [tag, length @ ..] = *header;
        let length = u32::from_be_bytes(length) as usize;
        if !(4..=MESSAGE_BYTES_MAX).contains(&length) {
            return Err(WireError::protocol(format!(
                "a message with tag {tag} and impossible length {length}"
            )));
        }
        let end = self.start + 1 + length;
        if end > self.end {
            return Ok(None);
        }
        let body = self.start + HEADER_BYTES..end;
        self.start = end;
        Ok(Some((tag, body)))
    }

    /// A body that [`Inbound::cut`] returned.
    #[inline]
    pub(crate) fn body(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }

    /// Whether bytes are here that no cut has taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    #[cold]
    fn make_room(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.end * 2 > self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
    }
}

impl Sink for Inbound {
    /// One `read` into the free room.
    #[inline]
    fn fill(&mut self, source: &mut impl Read) -> io::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.make_room();
        }
        loop {
            match source.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    self.end += count;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A source that hands out at most `step` bytes at a time.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(self.1).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn cut_all(wire: &[u8], step: usize) -> Vec<(u8, Vec<u8>)> {
        let mut source = Drip(wire, step);
        let mut inbound = Inbound::new();
        let mut messages = Vec::new();
        loop {
            while let Some((tag, body)) = inbound.cut().unwrap() {
                messages.push((tag, inbound.body(body).to_vec()));
            }
            if inbound.fill(&mut source).is_err() {
                assert!(inbound.is_empty());
                return messages;
            }
        }
    }

    proptest! {
        #[test]
        fn messages_are_whole_however_they_arrive(
            messages in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..40_000)), 0..8),
            step in 1usize..20_000,
        ) {
            let mut wire = Vec::new();
            for (tag, body) in &messages {
                wire.push(*tag);
                wire.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
                wire.extend_from_slice(body);
            }
            prop_assert_eq!(cut_all(&wire, step), messages);
        }

        #[test]
        fn no_bytes_can_make_it_panic(wire: Vec<u8>) {
            let mut inbound = Inbound::new();
            let mut source = &wire[..];
            while let Ok(cut) = inbound.cut() {
                if cut.is_none() && inbound.fill(&mut source).is_err() {
                    break;
                }
            }
        }
    }

    #[test]
    fn an_impossible_length_is_an_error() {
        let mut inbound = Inbound::new();
        inbound.fill(&mut &b"HTTP/1.1 400 Bad Request"[..]).unwrap();
        assert!(inbound.cut().is_err());
    }
}
