//! Opens connections from a URL: address, TLS, user and password.
//!
//! Names and defaults are those of the `mysql` client, so Dyno reaches a server with the same settings as the
//! client. Dyno rejects client options that it does not support; it never ignores them.

mod auth;
mod config;
mod dial;
mod ed25519;
mod explain;
mod failure;
mod from_url;
mod handshake;
mod option_file;
mod rsa;
mod secure;
mod settings;
mod start;
mod tls;

pub use config::{MySqlConnectConfig, MySqlSslMode, ResultMetadata};
pub(super) use start::establish;
