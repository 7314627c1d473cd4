//! From a URL to a connection that is ready: where the server is, TLS, who we are, the password.
//!
//! Names and defaults are those of libpq, so that what `psql` reaches, Dyno reaches with the same URL, environment, service
//! file and password file. What libpq has and this has not is refused by name instead of ignored.

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

pub use config::{ChannelBinding, ConnectConfig, SslMode};
pub use require_auth::RequireAuth;
pub use session_attrs::SessionAttrs;
pub(super) use start::{establish, reach};
