//! A protocol of messages on a stream: how they are framed, and what can go wrong.

use std::io;

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

/// What can go wrong on the wire.
#[derive(Debug)]
pub enum WireError<R> {
    /// The connection itself.
    Io(io::Error),
    /// The server refused.
    Server(Box<R>),
    /// The server said what the protocol does not allow.
    Protocol(String),
    /// What was asked for was not done, and the connection is well: values do not fit, a transaction was taken back.
    Undone(Box<OpError>),
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
            Self::Undone(error) => error,
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
            WireError::Undone(error) => Self::database(error.message),
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
}
