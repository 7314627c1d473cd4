//! The options for opening a target, besides its URL.

use std::time::Duration;

use crate::secret::Secret;

/// The options for opening a target, besides its URL.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The password, if the user gave one. With `None` the engine looks in its own places (`~/.pgpass`).
    pub password: Option<Secret>,
    /// The longest wait for one connection.
    pub connect_timeout: Duration,
}
