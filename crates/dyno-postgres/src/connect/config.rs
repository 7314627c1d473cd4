//! Where and how to connect, as types; `from_url` fills them.

use std::path::PathBuf;
use std::time::Duration;

use super::require_auth::RequireAuth;
use super::session_attrs::SessionAttrs;
use dyno_engine::Secret;
use dyno_engine::net::Address;
use dyno_engine::net::sockopt::Keepalive;
use dyno_engine::net::tls::TlsOffer;

/// Whether and how the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SslMode {
    /// Never.
    Disable,
    /// Only if the server does not take it plain.
    Allow,
    /// If the server can.
    Prefer,
    /// Always; the server's certificate is not checked unless a root certificate is given.
    Require,
    /// Always, with a certificate of a trusted authority.
    VerifyCa,
    /// Always, with a certificate of a trusted authority for this very host.
    VerifyFull,
}

dyno_plan::names! {
    /// libpq's word for it: `verify-full`.
    SslMode {
        Disable = "disable", Allow = "allow", Prefer = "prefer", Require = "require", VerifyCa = "verify-ca",
        VerifyFull = "verify-full"
    }
}

/// Whether the password exchange is bound to the TLS connection (SCRAM-SHA-256-PLUS).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelBinding {
    /// Never.
    Disable,
    /// If the server can.
    Prefer,
    /// Always; a server that cannot is refused.
    Require,
}

/// Everything that is needed to open connections to one server; cheap to clone, never shows a password.
#[derive(Debug, Clone)]
pub struct ConnectConfig {
    /// Where the server may be, tried in this order.
    pub addresses: Vec<Address>,
    /// The port, also part of a Unix socket's name.
    pub port: u16,
    /// The role.
    pub user: String,
    /// The database.
    pub database: String,
    /// The password that the user gave, if so.
    pub password: Option<Secret>,
    /// The file to look for a password in.
    pub passfile: Option<PathBuf>,
    /// Whether and how to encrypt.
    pub ssl_mode: SslMode,
    /// The file of trusted root certificates, or `system`.
    pub ssl_root_cert: Option<PathBuf>,
    /// The client's certificate.
    pub ssl_cert: Option<PathBuf>,
    /// The client's private key.
    pub ssl_key: Option<PathBuf>,
    /// The versions of TLS, and whether the host's name is sent.
    pub(super) tls_offer: TlsOffer,
    /// Whether to bind the password exchange to TLS.
    pub channel_binding: ChannelBinding,
    /// The ways to log in that are accepted; `None` is all.
    pub require_auth: Option<RequireAuth>,
    /// Which kind of server is accepted.
    pub target_session_attrs: SessionAttrs,
    /// What the user wants to read in `application_name`, behind Dyno's own words.
    pub application_name: Option<String>,
    /// Command-line options for the server process: `-c work_mem=64MB`.
    pub options: Option<String>,
    /// Settings of the session that libpq takes from the environment, such as `timezone`.
    pub(super) session_settings: Vec<(&'static str, String)>,
    /// The longest wait for one connection to be ready.
    pub connect_timeout: Duration,
    /// How a dead peer is noticed.
    pub(super) keepalive: Keepalive,
}
