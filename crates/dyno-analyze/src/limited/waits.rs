//! Classifies sampled waits, independent of the engine's names.

use dyno_record::{RunRecord, Waits};

/// Fewest samples for shares: fewer have no significance.
const SAMPLES_MIN: u64 = 20;

/// What a session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitKind {
    /// It works, or waits for a processor.
    Cpu,
    /// The log that makes a commit durable.
    Commit,
    /// Reads and writes of data.
    Device,
    /// Locks that protect single rows.
    RowLock,
    /// Locks of tables and names, and user-level locks.
    Lock,
    /// Locks of the database's own memory.
    Latch,
    /// The client: the session is idle.
    Outside,
    /// Any wait of another kind.
    Other,
}

impl WaitKind {
    /// The kind of a wait, by the class and the name that its engine gives it.
    pub fn of(class: &str, event: &str) -> Self {
        kind(class, event)
    }

    /// The name of the kind in charts over time, for any engine.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Device => "User I/O",
            Self::Commit => "Commit",
            Self::RowLock => "Row locks",
            Self::Latch => "Concurrency",
            Self::Outside => "Network and client",
            Self::Other => "Other",
            Self::Lock => "Locks",
        }
    }
}

/// Where the sessions' time goes by the samples: average sessions of each kind.
#[derive(Debug, Clone, Default)]
pub(super) struct Sampled {
    pub(super) active: f64,
    parts: Vec<(WaitKind, String, f64)>,
    /// Waits that no rule knows, as `(class:event, sessions)`.
    unknown: Vec<(String, f64)>,
}

impl Sampled {
    /// The samples of a record, or why they cannot be used.
    pub(super) fn of(record: &RunRecord) -> Result<Self, String> {
        match &record.waits {
            Waits::Absent { absent } => Err(absent.clone()),
            Waits::Sampled { samples, .. } if *samples < SAMPLES_MIN => {
                Err(format!("waits were sampled only {samples} times"))
            }
            Waits::Sampled { average_active_sessions, events, .. } => Ok(Self {
                active: *average_active_sessions,
                parts: events
                    .iter()
                    .map(|wait| (kind(&wait.class, &wait.event), wait.event.clone(), wait.average_sessions))
                    .collect(),
                unknown: events
                    .iter()
                    .filter(|wait| is_unknown_wait(&wait.class, &wait.event))
                    .map(|wait| (format!("{}:{}", wait.class, wait.event), wait.average_sessions))
                    .collect(),
            }),
        }
    }

    /// Average sessions in waits that no rule knows, and the largest of these waits.
    pub(super) fn unknown_waits(&self) -> (f64, Option<&str>) {
        let largest = self.unknown.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let sessions = self.unknown.iter().map(|(_, sessions)| sessions).sum();
        (sessions, largest.map(|(name, _)| name.as_str()))
    }

    /// Average sessions in waits of `kinds`.
    pub(super) fn of_kinds(&self, kinds: &[WaitKind]) -> f64 {
        self.parts.iter().filter(|(kind, ..)| kinds.contains(kind)).map(|(.., sessions)| sessions).sum()
    }

    /// The event of `kinds` with the most sessions in it.
    pub(super) fn most(&self, kinds: &[WaitKind]) -> Option<&str> {
        let matching = self.parts.iter().filter(|(kind, ..)| kinds.contains(kind));
        matching.max_by(|a, b| a.2.total_cmp(&b.2)).map(|(_, event, _)| event.as_str())
    }
}

/// The kind of a wait. It knows the classes of PostgreSQL, of `performance_schema` and the stages
/// of MySQL and MariaDB, and those of Oracle.
pub(super) fn kind(class: &str, event: &str) -> WaitKind {
    let low = event.to_ascii_lowercase();
    let is_log =
        ["log_file", "redo_log", "binlog", "bin_log", "relay_log"].iter().any(|log| low.contains(log));
    match class {
        "CPU" => WaitKind::Cpu,
        // The classes of PostgreSQL.
        "IO" if low.starts_with("wal") => WaitKind::Commit,
        "IO" => WaitKind::Device,
        "LWLock" if low.starts_with("walwrite") => WaitKind::Commit,
        "IPC" if low == "syncrep" => WaitKind::Commit,
        "LWLock" | "BufferPin" | "Buffer" => WaitKind::Latch,
        "Lock" if low == "extend" => WaitKind::Latch,
        "Lock" if low == "transactionid" || low == "tuple" => WaitKind::RowLock,
        "Lock" => WaitKind::Lock,
        "Client" => WaitKind::Outside,
        // Those of MySQL and MariaDB.
        "io" if is_log => WaitKind::Commit,
        "io" if low.starts_with("file/") => WaitKind::Device,
        "io" if low.starts_with("socket/") => WaitKind::Outside,
        "synch" if is_log => WaitKind::Commit,
        "synch" => WaitKind::Latch,
        "lock" => WaitKind::Lock,
        "idle" => WaitKind::Outside,
        "stage" => stage(&low),
        // Those of Oracle.
        "User I/O" | "System I/O" => WaitKind::Device,
        "Commit" => WaitKind::Commit,
        "Configuration" if low.starts_with("log ") => WaitKind::Commit,
        "Application" if low.contains("row lock") => WaitKind::RowLock,
        "Application" => WaitKind::Lock,
        "Concurrency" => WaitKind::Latch,
        "Network" => WaitKind::Outside,
        _ => WaitKind::Other,
    }
}

/// Whether an event is a wait of an unknown kind. A stage of a statement and the access to a table
/// contain work, so they are no waits.
fn is_unknown_wait(class: &str, event: &str) -> bool {
    kind(class, event) == WaitKind::Other
        && class != "stage"
        && !(class == "io" && event.starts_with("table/"))
}

/// A stage of MySQL or MariaDB. A session that waits for a row reports the stage of its statement.
fn stage(low: &str) -> WaitKind {
    if low.contains("lock") {
        WaitKind::Lock
    } else if low.contains("commit") {
        WaitKind::Commit
    } else {
        WaitKind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_all_engines_are_classified() {
        for (class, event, is) in [
            ("CPU", "CPU", WaitKind::Cpu),
            ("IO", "WalSync", WaitKind::Commit),
            ("IO", "WALWrite", WaitKind::Commit),
            ("IO", "DataFileRead", WaitKind::Device),
            ("LWLock", "WALWrite", WaitKind::Commit),
            ("LWLock", "WALInsert", WaitKind::Latch),
            ("LWLock", "BufferMapping", WaitKind::Latch),
            ("Lock", "transactionid", WaitKind::RowLock),
            ("Lock", "relation", WaitKind::Lock),
            ("Client", "ClientRead", WaitKind::Outside),
            ("Timeout", "PgSleep", WaitKind::Other),
            ("io", "file/innodb/innodb_log_file", WaitKind::Commit),
            ("io", "file/innodb/innodb_data_file", WaitKind::Device),
            ("io", "table/sql/handler", WaitKind::Other),
            ("synch", "mutex/innodb/trx_sys_mutex", WaitKind::Latch),
            ("stage", "Waiting for table metadata lock", WaitKind::Lock),
            ("stage", "waiting for handler commit", WaitKind::Commit),
            ("stage", "Updating", WaitKind::Other),
            ("User I/O", "db file sequential read", WaitKind::Device),
            ("Commit", "log file sync", WaitKind::Commit),
            ("Application", "enq: TX - row lock contention", WaitKind::RowLock),
            ("Concurrency", "buffer busy waits", WaitKind::Latch),
            ("new in a later version", "?", WaitKind::Other),
        ] {
            assert_eq!(kind(class, event), is, "{class} {event}");
        }
        let unknown =
            [("Timeout", "PgSleep", true), ("stage", "Updating", false), ("io", "table/sql/handler", false)];
        for (class, event, is_wait) in unknown {
            assert_eq!(is_unknown_wait(class, event), is_wait, "{class} {event}");
        }
    }
}
