//! Buffers what a server sends, and cuts it into messages in place.

use std::io::{self, Read};
use std::marker::PhantomData;
use std::ops::Range;

use super::socket::Sink;
use super::wire::{WireError, WireProtocol};

/// Initial buffer size, for the answer to a small operation: each of thousands of sessions has a buffer.
const START_BYTES: usize = 2 * 1024;
/// The buffer grows up to this size while answers fill it, so that one `read` takes all that an operation
/// returns. Beyond it, the buffer grows only for a message that does not fit.
const ROOM_BYTES: usize = 16 * 1024;

/// One message: its tag, and where its body is until the next [`Inbound::fill`].
pub type WireMessage = (u8, Range<usize>);

/// Received bytes, cut into the messages of a protocol without copying.
#[derive(Debug)]
pub struct Inbound<P> {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Whether the last `read` filled the buffer.
    is_tight: bool,
    protocol: PhantomData<P>,
}

impl<P: WireProtocol> Inbound<P> {
    /// A new buffer that contains nothing.
    #[expect(clippy::new_without_default, reason = "it allocates")]
    pub fn new() -> Self {
        Self { buffer: vec![0; START_BYTES], start: 0, end: 0, is_tight: false, protocol: PhantomData }
    }

    /// Takes the next message from the buffer, if it is complete.
    #[inline]
    pub fn cut(&mut self) -> Result<Option<WireMessage>, WireError<P::Refusal>> {
        let head = P::head(&self.buffer[self.start..self.end]).map_err(WireError::Protocol)?;
        let Some(head) = head else { return Ok(None) };
        let body = self.start + head.bytes;
        let end = body + head.body_bytes;
        if end > self.end {
            return Ok(None);
        }
        self.start = end;
        Ok(Some((head.tag, body..end)))
    }

    /// A body that [`Inbound::cut`] returned.
    #[inline]
    pub fn body(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }

    /// Whether the buffer holds no bytes of an untaken message.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    #[cold]
    fn widen(&mut self) {
        self.is_tight = false;
        if self.buffer.len() < ROOM_BYTES {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
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

impl<P: WireProtocol> Sink for Inbound<P> {
    /// Reads once into the free part of the buffer.
    #[inline]
    fn fill(&mut self, source: &mut impl Read) -> io::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.is_tight {
                self.widen();
            }
        } else if self.end == self.buffer.len() {
            self.make_room();
        }
        loop {
            match source.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    self.end += count;
                    self.is_tight |= self.end == self.buffer.len();
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

    use super::super::wire::tests::Plain;
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
        let mut inbound = Inbound::<Plain>::new();
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

    #[test]
    fn inbound_buffer_grows_with_large_answers() {
        let message = |bytes: u32| [&b"x"[..], &bytes.to_be_bytes(), &vec![b'.'; bytes as usize]].concat();
        let mut inbound = Inbound::<Plain>::new();
        let mut reads = |answer: &[u8]| {
            let (mut source, mut reads, mut left) = (answer, 0, 5);
            while left > 0 {
                inbound.fill(&mut source).unwrap();
                reads += 1;
                while inbound.cut().unwrap().is_some() {
                    left -= 1;
                }
            }
            reads
        };
        assert_eq!(reads(&message(100).repeat(5)), 1);
        let several = message(2_000).repeat(5);
        let grown: Vec<usize> = (0..5).map(|_| reads(&several)).collect();
        assert!(grown[0] > 2, "{grown:?}");
        assert!(grown[4] == 1, "{grown:?}");
        assert!(inbound.buffer.len() <= ROOM_BYTES);
    }

    proptest! {
        #[test]
        fn inbound_messages_are_complete_for_any_chunk_size(
            messages in prop::collection::vec((any::<u8>(), any::<u8>(), 0..40_000usize), 0..8),
            step in 1usize..20_000,
        ) {
            // Bytes that differ from place to place; drawing each at random would take longer than the rest
            // of the test.
            let body = |first: u8, length| (0..length).map(|at| (at * 31 / 16) as u8 ^ first).collect();
            let messages: Vec<(u8, Vec<u8>)> =
                messages.into_iter().map(|(tag, first, length)| (tag, body(first, length))).collect();
            let mut wire = Vec::new();
            for (tag, body) in &messages {
                wire.push(*tag);
                wire.extend_from_slice(&(body.len() as u32).to_be_bytes());
                wire.extend_from_slice(body);
            }
            prop_assert_eq!(cut_all(&wire, step), messages);
        }
    }
}
