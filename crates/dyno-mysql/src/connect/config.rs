//! Types that hold where and how to connect; `from_url` fills them.

use std::path::PathBuf;
use std::time::Duration;

use dyno_engine::Secret;
use dyno_engine::net::Address;
use dyno_engine::net::tls::TlsOffer;

/// Whether and how the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MySqlSslMode {
    Disabled,
    /// Encrypted if the server supports TLS; its certificate is not verified.
    Preferred,
    /// Always encrypted; the server's certificate is not verified.
    Required,
    /// Always encrypted; a trusted authority must have issued the certificate.
    VerifyCa,
    /// Always encrypted; a trusted authority must have issued the certificate for this host name.
    VerifyIdentity,
}

dyno_plan::names! {
    /// The mode's name in the `mysql` client: `VERIFY_CA`.
    MySqlSslMode {
        Disabled = "DISABLED", Preferred = "PREFERRED", Required = "REQUIRED", VerifyCa = "VERIFY_CA",
        VerifyIdentity = "VERIFY_IDENTITY"
    }
}

/// When the server sends the definitions of a prepared statement's columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ResultMetadata {
    /// Once, when a statement is prepared, if the server can omit them from its results.
    #[default]
    Once,
    /// With each result, as most drivers request them.
    Each,
}

dyno_plan::names! {
    /// The value in URLs: `once`.
    ResultMetadata { Once = "once", Each = "each" }
}

/// Everything needed to open connections to one server. It is cheap to clone and never shows a password.
#[derive(Debug, Clone)]
pub struct MySqlConnectConfig {
    /// Addresses of the server, tried in this order.
    pub addresses: Vec<Address>,
    pub user: String,
    pub database: String,
    /// The password; absent if none is set.
    pub password: Option<Secret>,
    /// Why option files were not used for a password; absent if they were.
    pub(super) password_note: Option<String>,
    /// Whether and how to encrypt.
    pub ssl_mode: MySqlSslMode,
    /// The file of trusted root certificates, or `system`.
    pub ssl_ca: Option<PathBuf>,
    /// File with the client's certificate; absent if none is used.
    pub ssl_cert: Option<PathBuf>,
    /// File with the client's private key; absent if none is used.
    pub ssl_key: Option<PathBuf>,
    /// The versions of TLS that handshakes offer.
    pub(super) tls_offer: TlsOffer,
    /// When the server sends the definitions of columns.
    pub result_metadata: ResultMetadata,
    /// The longest time to wait until a connection is ready.
    pub connect_timeout: Duration,
}
