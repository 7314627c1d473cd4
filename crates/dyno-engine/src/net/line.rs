//! A stream on which messages of a protocol go both ways.

use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::inbound::{Inbound, Message};
use super::socket::{Sink as _, Stream};
use super::wire::{Protocol, WireError};

/// Room for what is sent, at first.
const OUT_BYTES: usize = 1024;

/// A stream, what has arrived on it, and what is to be sent.
#[derive(Debug)]
pub struct Line<P> {
    /// The stream itself.
    pub stream: Stream,
    /// What has arrived.
    pub inbound: Inbound<P>,
    /// What is to be sent.
    pub out: Vec<u8>,
}

impl<P: Protocol> Line<P> {
    /// A line on which nothing was said yet.
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

    /// Sends messages that are ready.
    #[inline]
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), WireError<P::Refusal>> {
        self.stream.send(bytes).map_err(|error| self.lost(error))
    }

    /// The next message.
    #[inline]
    pub fn receive(&mut self) -> Result<Message, WireError<P::Refusal>> {
        loop {
            match self.inbound.cut()? {
                Some(message) => return Ok(message),
                None => self.fill()?,
            }
        }
    }

    /// Waits for bytes and takes them in.
    #[inline]
    pub fn fill(&mut self) -> Result<(), WireError<P::Refusal>> {
        Ok(self.inbound.fill(&mut self.stream)?)
    }

    /// Takes in what has arrived; does not wait if the socket is readable.
    #[inline]
    pub fn fill_arrived(&mut self) -> Result<(), WireError<P::Refusal>> {
        Ok(self.stream.arrived(&mut self.inbound)?)
    }

    /// The body of a message that [`Line::receive`] returned.
    #[inline]
    pub fn body(&self, range: Range<usize>) -> &[u8] {
        self.inbound.body(range)
    }

    /// A write failed: the server's last words, if it said why it went, say more than the broken pipe.
    #[cold]
    fn lost(&mut self, error: io::Error) -> WireError<P::Refusal> {
        while let Ok((tag, body)) = self.receive() {
            if let Some(refusal) = P::refusal(tag, self.body(body)) {
                return WireError::Server(Box::new(refusal));
            }
        }
        WireError::Io(error)
    }

    /// Says good-bye by the message that `farewell` appends, and, where there is a `wait`, waits so long until the server has
    /// ended its side.
    pub fn close(mut self, farewell: impl FnOnce(&mut Vec<u8>), wait: Option<Duration>) {
        self.end(farewell, wait);
    }

    /// The same, where another line takes its place: nothing more is said on it.
    pub fn end(&mut self, farewell: impl FnOnce(&mut Vec<u8>), wait: Option<Duration>) {
        self.out.clear();
        farewell(&mut self.out);
        let deadline = wait.map(|wait| Instant::now() + wait);
        let limited = deadline.map_or(Ok(()), |_| self.stream.socket().set_deadline(deadline));
        // If it cannot be sent, the connection has ended already.
        let said = limited.and_then(|()| self.stream.send(&self.out));
        if said.is_ok() && wait.is_some() {
            // It ends with the end of the stream, or at the deadline.
            while self.receive().is_ok() {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::tests::Plain;
    use super::*;

    #[test]
    fn a_broken_pipe_tells_the_servers_last_words() {
        let (near, mut far) = std::os::unix::net::UnixStream::pair().unwrap();
        std::io::Write::write_all(&mut far, b"E\0\0\0\x01x").unwrap();
        drop(far);
        let mut line = Line::<Plain>::new(super::super::Socket::from(near).into());
        assert!(matches!(line.send_bytes(b"hello"), Err(WireError::Server(_))));
    }
}
