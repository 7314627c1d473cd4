//! Finding and opening an Oracle database: the URL, `tnsnames.ora`, TLS with a wallet, and what a refusal means.

mod config;
mod dial;
mod explain;
mod from_url;
mod surroundings;

pub use config::{ConnectConfig, Endpoint, Protocol};
pub(super) use dial::dial;
