//! Where and how to connect, as types; `from_url` fills them.

use std::path::PathBuf;
use std::time::Duration;

use dyno_engine::Secret;

/// How the listener is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// In the clear.
    Tcp,
    /// Inside TLS.
    Tcps,
}

dyno_plan::names! {
    /// The word in descriptors: `tcps`.
    Protocol { Tcp = "tcp", Tcps = "tcps" }
}

/// Where the database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A listener, and what it is asked for.
    Listener {
        /// The listener's host.
        host: String,
        /// Its port.
        port: u16,
        /// How it is spoken to.
        protocol: Protocol,
        /// What it is asked for, as the words of `CONNECT_DATA`: `(SERVICE_NAME=bench)`.
        connect_data: String,
    },
    /// A name that `tnsnames.ora` explains.
    Alias(String),
}

/// Everything that is needed to open connections to one database; cheap to clone, never shows a password.
#[derive(Debug, Clone)]
pub struct ConnectConfig {
    /// Where the database is.
    pub endpoint: Endpoint,
    /// Whether the URL names one instance, by its name or its SID.
    pub one_instance: bool,
    /// The user.
    pub user: String,
    /// The password, if there is one.
    pub password: Option<Secret>,
    /// The folder of `tnsnames.ora`, if not that of the environment.
    pub tns_admin: Option<PathBuf>,
    /// What is set for Oracle's own clients and has no effect here.
    pub(crate) without_effect: Vec<String>,
    /// The folder of `ewallet.pem`.
    pub wallet: Option<PathBuf>,
    /// What its private key is encrypted with.
    pub wallet_password: Option<Secret>,
    /// The largest packet, in bytes, that is offered to the listener.
    pub sdu: Option<u32>,
    /// The longest wait for one connection to be ready.
    pub connect_timeout: Duration,
    /// The longest wait for one answer; `None` waits for ever.
    pub call_timeout: Option<Duration>,
    /// The same for sessions of a run, whose calls are short. Loads, checks and drops take as long as they take.
    pub session_call_timeout: Option<Duration>,
    /// The tablespace of Dyno's tables; the user's own by default.
    pub tablespace: Option<String>,
    /// Whether the index is built without redo.
    pub index_nologging: bool,
}

impl ConnectConfig {
    /// The same for sessions of a run.
    pub(crate) fn for_sessions(&self) -> Self {
        Self { call_timeout: self.session_call_timeout, ..self.clone() }
    }

    /// The connect string for the driver: a descriptor, or the alias.
    pub(super) fn connect_string(&self) -> String {
        match &self.endpoint {
            Endpoint::Alias(alias) => alias.clone(),
            Endpoint::Listener { host, port, protocol, connect_data } => {
                let sdu = self.sdu.map_or(String::new(), |sdu| format!("(SDU={sdu})"));
                // The driver would rest for a second behind an attempt that failed.
                format!(
                    "(DESCRIPTION=(RETRY_DELAY=0){sdu}(ADDRESS=(PROTOCOL={})(HOST={host})(PORT={port}))\
                     (CONNECT_DATA={connect_data}))",
                    protocol.name()
                )
            }
        }
    }

    /// The endpoint in words.
    pub(crate) fn endpoint_words(&self) -> String {
        match &self.endpoint {
            Endpoint::Alias(alias) => format!("alias {alias:?} of tnsnames.ora"),
            Endpoint::Listener { host, port, .. } => format!("{host}:{port}"),
        }
    }

    /// The clause that puts an object into the tablespace that the URL names; empty without one.
    pub(crate) fn tablespace_clause(&self) -> String {
        self.tablespace.as_ref().map_or(String::new(), |name| format!("TABLESPACE {name}"))
    }
}
