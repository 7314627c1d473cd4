//! Defines a message protocol on a stream: its framing and its errors.

use std::io;

use crate::error::{ErrorClass, OpError, Refusal, TargetError};

/// The message framing of a server's protocol, and its error type.
pub trait WireProtocol {
    /// The server's error response.
    type Refusal: Refusal;

    /// The header at the beginning of `arrived`; `None` if it is incomplete.
    ///
    /// # Errors
    /// The bytes are not a valid header; the error describes them.
    fn head(arrived: &[u8]) -> Result<Option<MessageHeader>, String>;

    /// The error response in a message, if it is one.
    fn refusal(tag: u8, body: &[u8]) -> Option<Self::Refusal>;
}

/// The header of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageHeader {
    /// The message's tag or number.
    pub tag: u8,
    /// Length of the header in bytes.
    pub bytes: usize,
    /// Length of the body in bytes.
    pub body_bytes: usize,
}

/// Errors of communication with a server.
#[derive(Debug)]
pub enum WireError<R> {
    /// Reading or writing the connection failed.
    Io(io::Error),
    /// The server sent an error response.
    Server(Box<R>),
    /// The server sent something that the protocol does not allow.
    Protocol(String),
    /// The request was not executed and the connection is usable: values do not fit, or a transaction was
    /// rolled back.
    Undone(Box<OpError>),
}

impl<R: Refusal> WireError<R> {
    /// The error of a message that the protocol does not allow here.
    #[cold]
    pub fn protocol(message: impl Into<String>) -> Self {
        Self::Protocol(message.into())
    }

    /// Converts it to the error of an operation, with its class.
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

fn broken_words(violation: &str) -> String {
    format!("the server violated the protocol: it sent {violation}")
}

/// Describes an I/O error; for the end of a stream, says which side closed it.
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

    /// Test framing: a tag, four bytes of length, and the body.
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

    impl WireProtocol for Plain {
        type Refusal = No;

        fn head(arrived: &[u8]) -> Result<Option<MessageHeader>, String> {
            let Some([tag, length @ ..]) = arrived.first_chunk::<5>() else { return Ok(None) };
            let body_bytes = u32::from_be_bytes(*length) as usize;
            Ok(Some(MessageHeader { tag: *tag, bytes: 5, body_bytes }))
        }

        fn refusal(tag: u8, _: &[u8]) -> Option<No> {
            (tag == b'E').then_some(No)
        }
    }

    #[test]
    fn wire_errors_name_the_side_that_caused_them() {
        let lost_connection = || WireError::<No>::from(io::Error::from(io::ErrorKind::UnexpectedEof));
        assert_eq!(
            (lost_connection().into_op().class, lost_connection().into_op().code.as_str()),
            (ErrorClass::Connection, "io")
        );
        let closed_error = TargetError::from(lost_connection());
        assert_eq!(closed_error.message, "the connection to the server is lost: the server closed it");
        let strange = TargetError::from(WireError::<No>::protocol("a riddle"));
        assert!(strange.message.ends_with("it sent a riddle"));
        assert!(strange.hint.ends_with("a plain server"));
        let refused = WireError::Server(Box::new(No)).into_op();
        assert_eq!((refused.class, refused.code.as_str()), (ErrorClass::Fatal, "7"));
        assert!(No::of(&TargetError::from(WireError::Server(Box::new(No)))).is_some());
    }
}
