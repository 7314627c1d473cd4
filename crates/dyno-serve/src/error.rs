//! Why a server does not start.

use std::path::PathBuf;

/// Why a server does not start, with the way out.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("{address} cannot be listened on: {source}")]
    Listen {
        /// The address.
        address: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file of the server's cannot be read or written.
    #[error("{} cannot be used: {detail}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        detail: String,
    },
    /// The folder of the server's state cannot be used.
    #[error("the state folder {} cannot be used: {detail}", path.display())]
    State {
        /// The folder.
        path: PathBuf,
        /// Why.
        detail: String,
    },
    /// Another server is at work on the same state.
    #[error("another dyno serve keeps its state in {}", path.display())]
    Taken {
        /// The directory.
        path: PathBuf,
    },
    /// The list of targets is wrong.
    #[error("{}: {detail}", path.display())]
    Targets {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// A named token cannot be added or removed.
    #[error("token {name:?}: {problem}")]
    Token {
        /// The name.
        name: String,
        /// Why not.
        problem: String,
    },
    /// The address is open to other machines, and nothing protects what goes over the wire.
    #[error("{address} is open to other machines, and without TLS the token goes over the wire as it is")]
    Bare {
        /// The address.
        address: String,
    },
    /// The repository cannot be opened.
    #[error(transparent)]
    Repository(#[from] dyno_record::RepositoryError),
    /// What the system refuses.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl ServeError {
    /// The way out.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Listen { .. } => "another program may have it: name a free one with --listen ADDRESS:PORT",
            Self::Taken { .. } => "use that one, or name another directory with --state DIR",
            Self::Targets { .. } => "docs/guides/serve.md has an example",
            Self::Token { .. } => {
                "`dyno serve --add-token NAME=ROLE` adds one, `--remove-token NAME` removes it"
            }
            Self::Bare { .. } => {
                "give --tls-cert and --tls-key, or put a proxy with TLS in front and say so with --behind-proxy"
            }
            Self::State { .. } => "name another folder for the server's state with --state DIR",
            Self::File { .. } | Self::Repository(_) | Self::Io(_) => "",
        }
    }

    pub(crate) fn file(path: impl Into<PathBuf>, detail: &dyn std::fmt::Display) -> Self {
        Self::File { path: path.into(), detail: format!("{detail}") }
    }
}
