//! The names of locks, which all Dynos agree on.

/// The key: `dyno` in ASCII, and the version of its meaning. Advisory locks are each database's own, and Dyno has one
/// schema in each, so no more is needed. Loads and drops have a lock of one number for themselves beside it.
pub(super) const KEY: (u32, u32) = (0x6479_6e6f, 1);

/// What the name of a lock's connection begins with.
pub(super) const NAME: &str = "dyno lock ";

/// How long a holder may take to be gone: a server sees within a moment that its client has died.
pub(super) const DYING_MS: u32 = 500;
