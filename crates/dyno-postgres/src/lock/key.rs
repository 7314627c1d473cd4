//! The names and keys of locks that all Dyno processes share.

/// The key: `dyno` in ASCII, and the version of its meaning. Advisory locks belong to one database, and Dyno
/// has one schema per database, so no more is needed. Loads and drops use a separate lock with a single
/// number.
pub(super) const KEY: (u32, u32) = (0x6479_6e6f, 1);

/// Prefix of the application name of a lock's connection.
pub(super) const NAME: &str = "dyno lock ";

/// Milliseconds to wait for a holder that is ending: a server notices within a moment that its client has
/// died.
pub(super) const DYING_MS: u32 = 500;
