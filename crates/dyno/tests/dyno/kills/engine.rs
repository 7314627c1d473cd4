//! The commands to kill on each engine, and whether its server can be killed separately.

use std::fmt;

use super::command::KillTask;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Victim {
    Dyno,
    Server,
}

impl fmt::Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Dyno { "Dyno" } else { "the server" })
    }
}

/// The database that is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
    MariaDb,
}

impl Engine {
    pub(crate) const ALL: [Self; 3] = [Self::Sqlite, Self::Postgres, Self::MariaDb];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::MariaDb => "mariadb",
        }
    }

    /// Possible victims: SQLite runs inside the program.
    pub(crate) fn victims(self) -> &'static [Victim] {
        if self == Self::Sqlite { &[Victim::Dyno] } else { &[Victim::Dyno, Victim::Server] }
    }

    /// The commands during which it is killed.
    pub(crate) fn tasks(self, victim: Victim) -> &'static [KillTask] {
        match (self, victim) {
            (Self::Sqlite, _) => &[
                KillTask::Load,
                KillTask::Run,
                KillTask::Sweep,
                KillTask::Soak,
                KillTask::Prove,
                KillTask::Drop,
                KillTask::Import,
            ],
            (_, Victim::Dyno) => &[
                KillTask::Load,
                KillTask::Run,
                KillTask::ServerDrive,
                KillTask::Sweep,
                KillTask::Soak,
                KillTask::Prove,
                KillTask::Drop,
            ],
            // The order matters for the short pass.
            (_, Victim::Server) => &[
                KillTask::Load,
                KillTask::Run,
                KillTask::Sweep,
                KillTask::ServerDrive,
                KillTask::Prove,
                KillTask::Drop,
            ],
        }
    }
}
