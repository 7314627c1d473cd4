//! Requests that cannot be answered.

use std::io;

use super::codec::Short;

/// Why a request could not be answered.
pub(super) enum RequestFailure {
    /// Its rest is in the next packet.
    Short,
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
