//! Opens connections to an Oracle database: URL, `tnsnames.ora`, TLS with a wallet, and the meaning of
//! errors.

mod client_settings;
mod config;
mod dial;
mod explain;
mod from_url;

pub use config::{Endpoint, OracleConnectConfig, OracleNetProtocol};
pub(super) use dial::dial;
