//! Opens connections from a URL: address, TLS, user and password.
//!
//! Names and defaults are those of libpq, so Dyno reaches a server with the same URL, environment, service
//! file and password file as `psql`. Dyno rejects libpq parameters that it does not support; it never ignores
//! them.

mod attempt;
mod auth;
mod binding;
mod config;
mod dial;
mod explain;
mod from_url;
mod parameters;
mod passfile;
mod require_auth;
mod secure;
mod service;
mod session_attrs;
mod settings;
mod start;
mod tls;

pub use config::{ChannelBinding, PostgresConnectConfig, PostgresSslMode};
pub use require_auth::RequireAuth;
pub use session_attrs::SessionAttrs;
pub(super) use start::{establish, open_unauthenticated};
