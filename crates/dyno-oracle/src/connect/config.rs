//! Types that hold where and how to connect; `from_url` fills them.

use std::path::PathBuf;
use std::time::Duration;

use dyno_engine::Secret;

/// The network protocol of the listener.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OracleNetProtocol {
    /// TCP without encryption, on port 1521 by default.
    #[default]
    Tcp,
    /// TCP inside TLS, on port 2484 by default.
    Tcps,
}

dyno_plan::names! {
    /// The word in connect descriptors: `tcps`.
    OracleNetProtocol { Tcp = "tcp", Tcps = "tcps" }
}

/// The address of the database, explicit or as an alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A listener and the connect data to send to it.
    Listener {
        host: String,
        port: u16,
        /// The network protocol, plain or TLS.
        protocol: OracleNetProtocol,
        /// The contents of `CONNECT_DATA`: `(SERVICE_NAME=bench)`.
        connect_data: String,
    },
    /// A name that `tnsnames.ora` defines.
    Alias(String),
}

/// Everything needed to open connections to one database. It is cheap to clone and never shows a password.
#[derive(Debug, Clone)]
pub struct OracleConnectConfig {
    pub endpoint: Endpoint,
    /// Whether the URL selects one instance, by its name or its SID.
    pub one_instance: bool,
    pub user: String,
    /// The password; absent if none is set.
    pub password: Option<Secret>,
    /// The folder of `tnsnames.ora`; absent for that of the environment.
    pub tns_admin: Option<PathBuf>,
    /// Settings of Oracle's own clients that have no effect in Dyno.
    pub(crate) without_effect: Vec<String>,
    /// The folder of `ewallet.pem`; absent without a wallet.
    pub wallet: Option<PathBuf>,
    /// The password of the wallet's private key; absent if it is not encrypted.
    pub wallet_password: Option<Secret>,
    /// The largest packet in bytes that is offered to the listener.
    pub sdu: Option<u32>,
    /// The longest time to wait until a connection is ready.
    pub connect_timeout: Duration,
    /// The longest time to wait for one reply; `None` waits for ever.
    pub call_timeout: Option<Duration>,
    /// The same for sessions of a run, whose calls are short. Loads, checks and drops have no limit.
    pub session_call_timeout: Option<Duration>,
    /// The tablespace of Dyno's tables; the user's own by default.
    pub tablespace: Option<String>,
    /// Whether the index is built without redo.
    pub index_nologging: bool,
}

impl OracleConnectConfig {
    /// The settings for sessions of a run.
    pub(crate) fn for_sessions(&self) -> Self {
        Self { call_timeout: self.session_call_timeout, ..self.clone() }
    }

    /// The connect string for the driver: a descriptor, or the alias.
    pub(super) fn connect_string(&self) -> String {
        match &self.endpoint {
            Endpoint::Alias(alias) => alias.clone(),
            Endpoint::Listener { host, port, protocol, connect_data } => {
                let sdu = self.sdu.map_or(String::new(), |sdu| format!("(SDU={sdu})"));
                // The driver would otherwise sleep for a second after a failed attempt.
                format!(
                    "(DESCRIPTION=(RETRY_DELAY=0){sdu}(ADDRESS=(PROTOCOL={})(HOST={host})(PORT={port}))\
                     (CONNECT_DATA={connect_data}))",
                    protocol.name()
                )
            }
        }
    }

    /// The endpoint as text for messages.
    pub(crate) fn endpoint_words(&self) -> String {
        match &self.endpoint {
            Endpoint::Alias(alias) => format!("alias {alias:?} of tnsnames.ora"),
            Endpoint::Listener { host, port, .. } => format!("{host}:{port}"),
        }
    }

    /// The clause that places an object in the URL's tablespace; empty if the URL names none.
    pub(crate) fn tablespace_clause(&self) -> String {
        self.tablespace.as_ref().map_or(String::new(), |name| format!("TABLESPACE {name}"))
    }
}
