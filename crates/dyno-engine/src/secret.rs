//! Passwords that cannot be printed.

use std::fmt;

/// A password. It prints as `***`, so that no log, error or record can contain it.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Wraps a password in clear text.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The password itself, for the authentication exchange only.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
