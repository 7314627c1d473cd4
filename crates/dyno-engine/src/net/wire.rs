//! A protocol of messages on a stream: how they are framed, and what can go wrong.

use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::inbound::{Inbound, Message};
use super::socket::{Sink as _, Stream};
use crate::error::{ErrorClass, OpError, Refusal, TargetError};

/// How a server frames what it sends, and what it refuses with.
pub trait Protocol {
    /// What the server says when it refuses.
    type Refusal: Refusal;

    /// The head of the message that `arrived` begins with; `None` if that is not all here.
    ///
    /// # Errors
    /// No message begins so: what it is.
    fn head(arrived: &[u8]) -> Result<Option<Head>, String>;

    /// The refusal that a message is, if it is one.
    fn refusal(tag: u8, body: &[u8]) -> Option<Self::Refusal>;
}

/// The head of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its tag, or its number.
    pub tag: u8,
    /// How long the head is.
    pub bytes: usize,
    /// How long the body behind it is.
    pub body_bytes: usize,
}

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
        Self { stream, inbound: Inbound::new(), out: Vec::with_capacity(16 * 1024) }
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

/// What can go wrong on the wire.
#[derive(Debug)]
pub enum WireError<R> {
    /// The connection itself.
    Io(io::Error),
    /// The server refused.
    Server(Box<R>),
    /// The server said what the protocol does not allow.
    Protocol(String),
}

impl<R: Refusal> WireError<R> {
    /// The server said something that the protocol does not allow here.
    #[cold]
    pub fn protocol(what: impl Into<String>) -> Self {
        Self::Protocol(what.into())
    }

    /// As an error of an operation, with its class.
    #[cold]
    pub fn into_op(self) -> Box<OpError> {
        let lost = |code: &str, message: String| {
            Box::new(OpError { class: ErrorClass::Connection, code: code.to_owned(), message })
        };
        match self {
            Self::Server(error) => error.op(),
            Self::Io(error) => lost("io", lost_words(&error)),
            Self::Protocol(what) => lost("protocol", broken_words(&what)),
        }
    }
}

impl<R> From<io::Error> for WireError<R> {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl<R: Refusal> From<WireError<R>> for TargetError {
    fn from(error: WireError<R>) -> Self {
        match error {
            WireError::Io(error) => Self::unreachable(lost_words(&error)).cause(error),
            WireError::Server(error) => error.into_target(),
            WireError::Protocol(what) => Self::unreachable(broken_words(&what))
                .hint(format!("check that host and port are those of {}", R::SERVER)),
        }
    }
}

fn lost_words(error: &io::Error) -> String {
    format!("the connection to the server is lost: {}", describe(error))
}

fn broken_words(what: &str) -> String {
    format!("the server broke the protocol: it sent {what}")
}

/// An I/O error in words; the end of the stream says who ended it.
pub fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the server closed it".to_owned(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "no answer in time".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::error::TargetErrorKind;

    /// A tag, four bytes of length, and the body.
    #[derive(Debug)]
    pub(in super::super) struct Plain;

    #[derive(Debug, thiserror::Error)]
    #[error("no")]
    pub(in super::super) struct No;

    impl Refusal for No {
        const SERVER: &'static str = "a plain server";

        fn kind(&self) -> TargetErrorKind {
            TargetErrorKind::Denied
        }

        fn class(&self) -> ErrorClass {
            ErrorClass::Fatal
        }

        fn code(&self) -> String {
            "7".to_owned()
        }
    }

    impl Protocol for Plain {
        type Refusal = No;

        fn head(arrived: &[u8]) -> Result<Option<Head>, String> {
            let Some([tag, length @ ..]) = arrived.first_chunk::<5>() else { return Ok(None) };
            let body_bytes = u32::from_be_bytes(*length) as usize;
            Ok(Some(Head { tag: *tag, bytes: 5, body_bytes }))
        }

        fn refusal(tag: u8, _: &[u8]) -> Option<No> {
            (tag == b'E').then_some(No)
        }
    }

    #[test]
    fn what_goes_wrong_says_who_did_it() {
        let gone = || WireError::<No>::from(io::Error::from(io::ErrorKind::UnexpectedEof));
        assert_eq!((gone().into_op().class, gone().into_op().code.as_str()), (ErrorClass::Connection, "io"));
        let gone = TargetError::from(gone());
        assert_eq!(gone.message, "the connection to the server is lost: the server closed it");
        let strange = TargetError::from(WireError::<No>::protocol("a riddle"));
        assert!(strange.message.ends_with("it sent a riddle") && strange.hint.ends_with("a plain server"));
        let refused = WireError::Server(Box::new(No)).into_op();
        assert_eq!((refused.class, refused.code.as_str()), (ErrorClass::Fatal, "7"));
        assert!(No::of(&TargetError::from(WireError::Server(Box::new(No)))).is_some());
    }

    #[test]
    fn a_broken_pipe_tells_the_servers_last_words() {
        let (near, mut far) = std::os::unix::net::UnixStream::pair().unwrap();
        std::io::Write::write_all(&mut far, b"E\0\0\0\x01x").unwrap();
        drop(far);
        let mut line = Line::<Plain>::new(super::super::Socket::from(near).into());
        assert!(matches!(line.send_bytes(b"hello"), Err(WireError::Server(_))));
    }
}
