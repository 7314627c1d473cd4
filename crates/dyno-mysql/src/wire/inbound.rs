//! What the server sends: a buffer that is cut into packets in place.

use std::io::{self, Read};
use std::ops::Range;

use super::error::WireError;
use dyno_engine::net::Sink;

/// Room for what one operation sends back, so that one `read` takes all of it.
const START_BYTES: usize = 16 * 1024;

/// Length and sequence number in front of every packet.
pub(super) const HEADER_BYTES: usize = 4;

/// The length of a packet that goes on in the next one; nothing that Dyno asks for is so long.
const LENGTH_MAX: usize = 0xff_ffff;

/// One packet: its sequence number, and where its body is until the next [`Inbound::fill`].
pub(crate) type Packet = (u8, Range<usize>);

/// Received bytes, cut into packets without copying.
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

    /// Cuts off the next packet if all of it is here.
    #[inline]
    pub(crate) fn cut(&mut self) -> Result<Option<Packet>, WireError> {
        let Some(&[a, b, c, sequence]) = self.buffer[self.start..self.end].first_chunk::<HEADER_BYTES>()
        else {
            return Ok(None);
        };
        let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
        if length == LENGTH_MAX {
            return Err(WireError::protocol("a packet of 16 MiB or more"));
        }
        let body = self.start + HEADER_BYTES;
        let end = body + length;
        if end > self.end {
            return Ok(None);
        }
        self.start = end;
        Ok(Some((sequence, body..end)))
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
        let mut packets = Vec::new();
        loop {
            while let Some((sequence, body)) = inbound.cut().unwrap() {
                packets.push((sequence, inbound.body(body).to_vec()));
            }
            if inbound.fill(&mut source).is_err() {
                assert!(inbound.is_empty());
                return packets;
            }
        }
    }

    proptest! {
        #[test]
        fn packets_are_whole_however_they_arrive(
            packets in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..40_000)), 0..8),
            step in 1usize..20_000,
        ) {
            let mut wire = Vec::new();
            for (sequence, body) in &packets {
                wire.extend_from_slice(&(body.len() as u32).to_le_bytes()[..3]);
                wire.push(*sequence);
                wire.extend_from_slice(body);
            }
            prop_assert_eq!(cut_all(&wire, step), packets);
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
}
