//! Where and how to connect, as types; `from_url` fills them.

use std::path::PathBuf;
use std::time::Duration;

use dyno_engine::Secret;
use dyno_engine::net::Address;
use dyno_engine::net::tls::TlsOffer;

/// Whether and how the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SslMode {
    /// Never.
    Disabled,
    /// If the server can; whoever it is.
    Preferred,
    /// Always; whoever it is.
    Required,
    /// Always, with a certificate of a trusted authority.
    VerifyCa,
    /// Always, with a certificate of a trusted authority for this very host.
    VerifyIdentity,
}

dyno_plan::names! {
    /// The `mysql` client's word for it: `VERIFY_CA`.
    SslMode {
        Disabled = "DISABLED", Preferred = "PREFERRED", Required = "REQUIRED", VerifyCa = "VERIFY_CA",
        VerifyIdentity = "VERIFY_IDENTITY"
    }
}

/// When the server tells the definitions of a prepared statement's columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ResultMetadata {
    /// Once, at the preparation, where the server can leave them out of its answers.
    #[default]
    Once,
    /// With each answer, as most drivers have it.
    Each,
}

dyno_plan::names! {
    /// The word in URLs: `once`.
    ResultMetadata { Once = "once", Each = "each" }
}

/// Everything that is needed to open connections to one server; cheap to clone, never shows a password.
#[derive(Debug, Clone)]
pub struct ConnectConfig {
    /// Where the server may be, tried in this order.
    pub addresses: Vec<Address>,
    /// The user.
    pub user: String,
    /// The database.
    pub database: String,
    /// The password, if there is one.
    pub password: Option<Secret>,
    /// Why option files were not used for a password, if they were not.
    pub(super) password_note: Option<String>,
    /// Whether and how to encrypt.
    pub ssl_mode: SslMode,
    /// The file of trusted root certificates, or `system`.
    pub ssl_ca: Option<PathBuf>,
    /// The client's certificate.
    pub ssl_cert: Option<PathBuf>,
    /// The client's private key.
    pub ssl_key: Option<PathBuf>,
    /// The versions of TLS that handshakes offer.
    pub(super) tls_offer: TlsOffer,
    /// When definitions of columns are told.
    pub result_metadata: ResultMetadata,
    /// The longest wait for one connection to be ready.
    pub connect_timeout: Duration,
}
