//! How to open a target, beside its URL.

use std::time::Duration;

use crate::secret::Secret;

/// How to open a target, beside its URL.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The password, if the user gave one. `None` lets the engine look in its own places (`~/.pgpass`).
    pub password: Option<Secret>,
    /// The longest wait for one connection.
    pub connect_timeout: Duration,
}
