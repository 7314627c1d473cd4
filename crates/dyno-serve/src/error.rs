//! Errors that prevent a server from starting.

use std::path::PathBuf;

/// An error that prevents a server from starting.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The server cannot listen on the address.
    #[error("cannot listen on {address}: {source}")]
    Listen { address: String, source: std::io::Error },
    /// A file of the server cannot be read or written.
    #[error("{} cannot be used: {detail}", path.display())]
    File { path: PathBuf, detail: String },
    /// The server's state folder cannot be used.
    #[error("the state folder {} cannot be used: {detail}", path.display())]
    State { path: PathBuf, detail: String },
    /// Another server uses the same state folder.
    #[error("another dyno serve uses the state folder {}", path.display())]
    Taken { path: PathBuf },
    /// A named token cannot be added or removed.
    #[error("token {name:?}: {problem}")]
    Token { name: String, problem: String },
    /// Other machines can reach the address, and without TLS the token is sent unencrypted.
    #[error("{address} is open to other machines, and without TLS the token is sent in plain text")]
    Bare { address: String },
    /// The repository cannot be opened.
    #[error(transparent)]
    Repository(#[from] dyno_record::RepositoryError),
    /// An operation of the operating system failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl ServeError {
    /// What the user can do; empty if there is no hint.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Listen { .. } => "another program may use it: name a free one with --listen ADDRESS:PORT",
            Self::Taken { .. } => "use that server, or name another folder with --state DIR",
            Self::Token { .. } => {
                "`dyno serve --add-token NAME=ROLE` adds one, `--remove-token NAME` removes it"
            }
            Self::Bare { .. } => {
                "give --tls-cert and --tls-key, or put a proxy with TLS in front and add --behind-proxy"
            }
            Self::State { .. } => "name another folder for the server's state with --state DIR",
            Self::File { .. } | Self::Repository(_) | Self::Io(_) => "",
        }
    }

    pub(crate) fn file(path: impl Into<PathBuf>, detail: &dyn std::fmt::Display) -> Self {
        Self::File { path: path.into(), detail: format!("{detail}") }
    }
}
