//! Requests that cannot be answered.

use std::io;

use super::codec::Short;

/// How a request ended that could not be answered.
pub(super) enum RequestFailure {
    /// The rest of it is in the next packet.
    Short,
    /// The connection is to end.
    End(io::Error),
}

impl From<Short> for RequestFailure {
    fn from(Short: Short) -> Self {
        Self::Short
    }
}

impl From<io::Error> for RequestFailure {
    fn from(error: io::Error) -> Self {
        Self::End(error)
    }
}

pub(super) fn unexpected(problem: String) -> RequestFailure {
    RequestFailure::End(io::Error::new(io::ErrorKind::InvalidData, problem))
}
