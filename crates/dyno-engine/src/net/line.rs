//! Sends and receives the messages of a protocol on a stream.

use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::inbound::{Inbound, WireMessage};
use super::socket::{Sink as _, Stream};
use super::wire::{WireError, WireProtocol};

/// Initial size of the send buffer.
const OUT_BYTES: usize = 1024;

/// A stream with its receive and send buffers.
#[derive(Debug)]
pub struct WireStream<P> {
    /// The connected stream, plain or encrypted.
    pub stream: Stream,
    /// Received bytes that are not processed yet.
    pub inbound: Inbound<P>,
    /// Messages that wait to be sent.
    pub out: Vec<u8>,
}

impl<P: WireProtocol> WireStream<P> {
    /// A line on a new connection.
    pub fn new(stream: Stream) -> Self {
        Self { stream, inbound: Inbound::new(), out: Vec::with_capacity(OUT_BYTES) }
    }

    /// Sends what is in `out` and empties it.
    #[inline]
    pub fn send(&mut self) -> Result<(), WireError<P::Refusal>> {
        let result = self.stream.send(&self.out);
        self.out.clear();
        result.map_err(|error| self.lost(error))
    }

    /// Sends messages that are already encoded.
    #[inline]
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), WireError<P::Refusal>> {
        self.stream.send(bytes).map_err(|error| self.lost(error))
    }

    /// Waits for the next message and returns it.
    #[inline]
    pub fn receive(&mut self) -> Result<WireMessage, WireError<P::Refusal>> {
        loop {
            match self.inbound.cut()? {
                Some(message) => return Ok(message),
                None => self.fill()?,
            }
        }
    }

    /// Waits for bytes and adds them to the buffer.
    #[inline]
    pub fn fill(&mut self) -> Result<(), WireError<P::Refusal>> {
        Ok(self.inbound.fill(&mut self.stream)?)
    }

    /// Reads the bytes that have arrived; does not wait if the socket is readable.
    #[inline]
    pub fn fill_arrived(&mut self) -> Result<(), WireError<P::Refusal>> {
        Ok(self.stream.arrived(&mut self.inbound)?)
    }

    /// The body of a message that [`WireStream::receive`] returned.
    #[inline]
    pub fn body(&self, range: Range<usize>) -> &[u8] {
        self.inbound.body(range)
    }

    /// A write failed. If the server sent a reason before it closed, that reason is a better error than the
    /// broken pipe.
    #[cold]
    fn lost(&mut self, error: io::Error) -> WireError<P::Refusal> {
        while let Ok((tag, body)) = self.receive() {
            if let Some(refusal) = P::refusal(tag, self.body(body)) {
                return WireError::Server(Box::new(refusal));
            }
        }
        WireError::Io(error)
    }

    /// Sends the farewell message that `farewell` appends. With a `wait`, waits at most that long until the
    /// server closes its side.
    pub fn close(mut self, farewell: impl FnOnce(&mut Vec<u8>), wait: Option<Duration>) {
        self.end(farewell, wait);
    }

    /// As [`WireStream::close`], for a line that another one replaces; no more messages are sent on it.
    pub fn end(&mut self, farewell: impl FnOnce(&mut Vec<u8>), wait: Option<Duration>) {
        self.out.clear();
        farewell(&mut self.out);
        let deadline = wait.map(|wait| Instant::now() + wait);
        let limited = deadline.map_or(Ok(()), |_| self.stream.socket().set_deadline(deadline));
        // If sending fails, the connection has already ended.
        let sent = limited.and_then(|()| self.stream.send(&self.out));
        if sent.is_ok() && wait.is_some() {
            // This loop ends at the end of the stream, or at the deadline.
            while self.receive().is_ok() {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::tests::Plain;
    use super::*;

    #[test]
    fn broken_pipe_error_reports_last_server_message() {
        let (near, mut far) = std::os::unix::net::UnixStream::pair().unwrap();
        std::io::Write::write_all(&mut far, b"E\0\0\0\x01x").unwrap();
        drop(far);
        let mut line = WireStream::<Plain>::new(super::super::Socket::from(near).into());
        assert!(matches!(line.send_bytes(b"hello"), Err(WireError::Server(_))));
    }
}
