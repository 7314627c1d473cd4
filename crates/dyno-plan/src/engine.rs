//! The engines that a plan can name.

use std::fmt;

use crate::url::TargetUrl;

/// A kind of database that Dyno drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Engine {
    /// SQLite, embedded in this program.
    Sqlite,
    /// A PostgreSQL server.
    Postgres,
    /// A MySQL or MariaDB server.
    Mysql,
    /// An Oracle database.
    Oracle,
}

impl Engine {
    /// Every engine.
    pub const ALL: [Self; 4] = [Self::Sqlite, Self::Postgres, Self::Mysql, Self::Oracle];

    /// The name, which is the scheme of its URLs: `postgres`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
            Self::Oracle => "oracle",
        }
    }

    /// Whether it is reached over a connection, and not embedded in this program.
    pub fn is_server(self) -> bool {
        self != Self::Sqlite
    }

    /// The engine that `url` names, if it is one of Dyno's.
    pub fn of(url: &TargetUrl) -> Option<Self> {
        url.scheme.parse().ok()
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no engine's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no engine {0:?}: write sqlite, postgres, mysql or oracle")]
pub struct NoEngine(pub String);

impl std::str::FromStr for Engine {
    type Err = NoEngine;

    fn from_str(name: &str) -> Result<Self, NoEngine> {
        match name {
            "sqlite" => Ok(Self::Sqlite),
            "postgres" | "postgresql" => Ok(Self::Postgres),
            "mysql" | "mariadb" => Ok(Self::Mysql),
            "oracle" => Ok(Self::Oracle),
            other => Err(NoEngine(other.to_owned())),
        }
    }
}
