//! From a URL to a connection that is ready: where the server is, TLS, who we are, the password.
//!
//! Names and defaults are those of the `mysql` client, so that what it reaches, Dyno reaches with the same words. What it has
//! and this has not is refused by name instead of ignored.

mod auth;
mod config;
mod dial;
mod ed25519;
mod explain;
mod failure;
mod from_url;
mod greet;
mod option_file;
mod rsa;
mod secure;
mod settings;
mod start;
mod tls;

pub use config::{ConnectConfig, SslMode};
pub(super) use start::establish;

/// The longest time that the server lets a connection be idle, s: a year.
pub(crate) const WAIT_TIMEOUT_MAX_S: u32 = 31_536_000;
