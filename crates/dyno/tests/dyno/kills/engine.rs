//! What is killed on which engine: the commands, and whether the server can be killed apart.

use std::fmt;

use super::command::Task;

/// Who is killed.
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

/// What is driven.
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

    /// Who can be killed: SQLite is inside the program.
    pub(crate) fn victims(self) -> &'static [Victim] {
        if self == Self::Sqlite { &[Victim::Dyno] } else { &[Victim::Dyno, Victim::Server] }
    }

    /// The commands that it is killed in.
    pub(crate) fn tasks(self, victim: Victim) -> &'static [Task] {
        match (self, victim) {
            (Self::Sqlite, _) => {
                &[Task::Load, Task::Run, Task::Sweep, Task::Soak, Task::Prove, Task::Drop, Task::Import]
            }
            (_, Victim::Dyno) => {
                &[Task::Load, Task::Run, Task::ServerDrive, Task::Sweep, Task::Soak, Task::Prove, Task::Drop]
            }
            // Which of them come first matters to the short pass.
            (_, Victim::Server) => {
                &[Task::Load, Task::Run, Task::Sweep, Task::ServerDrive, Task::Prove, Task::Drop]
            }
        }
    }
}
