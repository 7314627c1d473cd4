//! Types that hold where and how to connect; `from_url` fills them.

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
pub enum PostgresSslMode {
    Disable,
    /// Only if the server rejects an unencrypted connection.
    Allow,
    /// Encrypted if the server supports TLS.
    Prefer,
    /// Always encrypted; the server's certificate is verified only if a root certificate is set.
    Require,
    /// Always encrypted; a trusted authority must have issued the certificate.
    VerifyCa,
    /// Always encrypted; a trusted authority must have issued the certificate for this host name.
    VerifyFull,
}

dyno_plan::names! {
    /// The mode's name in libpq: `verify-full`.
    PostgresSslMode {
        Disable = "disable", Allow = "allow", Prefer = "prefer", Require = "require", VerifyCa = "verify-ca",
        VerifyFull = "verify-full"
    }
}

/// Whether the password exchange is bound to the TLS connection (SCRAM-SHA-256-PLUS).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelBinding {
    Disable,
    /// Bound if the server supports it.
    Prefer,
    /// Always bound; the connection fails if the server does not support it.
    Require,
}

dyno_plan::names! {
    /// The value in libpq: `prefer`.
    ChannelBinding { Disable = "disable", Prefer = "prefer", Require = "require" }
}

/// Everything needed to open connections to one server. It is cheap to clone and never shows a password.
#[derive(Debug, Clone)]
pub struct PostgresConnectConfig {
    /// Addresses of the server, tried in this order.
    pub addresses: Vec<Address>,
    /// The port, also part of a Unix socket's name.
    pub port: u16,
    pub user: String,
    pub database: String,
    /// The password that the user supplied; absent if none.
    pub password: Option<Secret>,
    /// The password file; absent if none is used.
    pub passfile: Option<PathBuf>,
    /// Whether and how to encrypt.
    pub ssl_mode: PostgresSslMode,
    /// The file of trusted root certificates, or `system`.
    pub ssl_root_cert: Option<PathBuf>,
    /// File with the client's certificate; absent if none is used.
    pub ssl_cert: Option<PathBuf>,
    /// File with the client's private key; absent if none is used.
    pub ssl_key: Option<PathBuf>,
    /// The accepted TLS versions, and whether the host name is sent.
    pub(super) tls_offer: TlsOffer,
    /// Whether to bind the password exchange to TLS.
    pub channel_binding: ChannelBinding,
    /// The accepted authentication methods; `None` accepts all.
    pub require_auth: Option<RequireAuth>,
    /// The kind of server that is accepted.
    pub target_session_attrs: SessionAttrs,
    /// Text that the user adds to `application_name` after Dyno's own.
    pub application_name: Option<String>,
    /// Command-line options for the server process: `-c work_mem=64MB`.
    pub options: Option<String>,
    /// Settings of the session that libpq takes from the environment, such as `timezone`.
    pub(super) session_settings: Vec<(&'static str, String)>,
    /// The longest time to wait until a connection is ready.
    pub connect_timeout: Duration,
    /// How a dead peer is detected.
    pub(super) keepalive: Keepalive,
}
