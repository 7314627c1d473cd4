//! What sampled waits are about, whatever an engine calls them.

use dyno_record::{RunRecord, Waits};

/// Samples from which on shares of them are used: fewer tell next to nothing.
const SAMPLES_MIN: u64 = 20;

/// What a session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It works, or waits for a processor.
    Cpu,
    /// The log that makes a commit durable.
    Commit,
    /// Reads and writes of data.
    Device,
    /// Locks of rows.
    RowLock,
    /// Locks of tables and names, and those of the users' own.
    Lock,
    /// Locks of the database's own memory.
    Latch,
    /// Its client.
    Outside,
    /// Anything else.
    Other,
}

impl Kind {
    /// Of a wait, by the class and the name that its engine gives it.
    pub fn of(class: &str, event: &str) -> Self {
        kind(class, event)
    }
}

/// Where the sessions' time goes by the samples: sessions on average of each kind.
#[derive(Debug, Clone, Default)]
pub(super) struct Sampled {
    pub(super) active: f64,
    parts: Vec<(Kind, String, f64)>,
}

impl Sampled {
    /// What the samples of a record say, or why there is nothing to go by.
    pub(super) fn of(record: &RunRecord) -> Result<Self, String> {
        match &record.waits {
            Waits::Absent { absent } => Err(absent.clone()),
            Waits::Sampled { samples, .. } if *samples < SAMPLES_MIN => {
                Err(format!("waits were looked at only {samples} times"))
            }
            Waits::Sampled { average_active_sessions, events, .. } => Ok(Self {
                active: *average_active_sessions,
                parts: events
                    .iter()
                    .map(|wait| (kind(&wait.class, &wait.event), wait.event.clone(), wait.average_sessions))
                    .collect(),
            }),
        }
    }

    /// Sessions on average in waits of `kinds`.
    pub(super) fn of_kinds(&self, kinds: &[Kind]) -> f64 {
        self.parts.iter().filter(|(kind, ..)| kinds.contains(kind)).map(|(.., sessions)| sessions).sum()
    }

    /// The event of `kinds` with the most sessions in it.
    pub(super) fn most(&self, kinds: &[Kind]) -> Option<&str> {
        let of = self.parts.iter().filter(|(kind, ..)| kinds.contains(kind));
        of.max_by(|a, b| a.2.total_cmp(&b.2)).map(|(_, event, _)| event.as_str())
    }
}

/// What a wait is about: the classes of PostgreSQL, of `performance_schema` and the stages of MySQL and MariaDB, and those of
/// Oracle.
pub(super) fn kind(class: &str, event: &str) -> Kind {
    let low = event.to_ascii_lowercase();
    let is_log =
        ["log_file", "redo_log", "binlog", "bin_log", "relay_log"].iter().any(|log| low.contains(log));
    match class {
        "CPU" => Kind::Cpu,
        // PostgreSQL.
        "IO" if low.starts_with("wal") => Kind::Commit,
        "IO" => Kind::Device,
        "LWLock" if low.starts_with("walwrite") => Kind::Commit,
        "IPC" if low == "syncrep" => Kind::Commit,
        "LWLock" | "BufferPin" | "Buffer" => Kind::Latch,
        "Lock" if low == "extend" => Kind::Latch,
        "Lock" if low == "transactionid" || low == "tuple" => Kind::RowLock,
        "Lock" => Kind::Lock,
        "Client" => Kind::Outside,
        // MySQL and MariaDB.
        "io" if is_log => Kind::Commit,
        "io" if low.starts_with("file/") => Kind::Device,
        "io" if low.starts_with("socket/") => Kind::Outside,
        "synch" if is_log => Kind::Commit,
        "synch" => Kind::Latch,
        "lock" => Kind::Lock,
        "idle" => Kind::Outside,
        "stage" => stage(&low),
        // Oracle.
        "User I/O" | "System I/O" => Kind::Device,
        "Commit" => Kind::Commit,
        "Configuration" if low.starts_with("log ") => Kind::Commit,
        "Application" if low.contains("row lock") => Kind::RowLock,
        "Application" => Kind::Lock,
        "Concurrency" => Kind::Latch,
        "Network" => Kind::Outside,
        _ => Kind::Other,
    }
}

/// A stage of MySQL or MariaDB. A session that waits for a row shows the stage of its statement.
fn stage(low: &str) -> Kind {
    if low.contains("lock") {
        Kind::Lock
    } else if low.contains("commit") {
        Kind::Commit
    } else {
        Kind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_all_engines_are_sorted() {
        for (class, event, is) in [
            ("CPU", "CPU", Kind::Cpu),
            ("IO", "WalSync", Kind::Commit),
            ("IO", "WALWrite", Kind::Commit),
            ("IO", "DataFileRead", Kind::Device),
            ("LWLock", "WALWrite", Kind::Commit),
            ("LWLock", "WALInsert", Kind::Latch),
            ("LWLock", "BufferMapping", Kind::Latch),
            ("Lock", "transactionid", Kind::RowLock),
            ("Lock", "relation", Kind::Lock),
            ("Client", "ClientRead", Kind::Outside),
            ("Timeout", "PgSleep", Kind::Other),
            ("io", "file/innodb/innodb_log_file", Kind::Commit),
            ("io", "file/innodb/innodb_data_file", Kind::Device),
            ("io", "table/sql/handler", Kind::Other),
            ("synch", "mutex/innodb/trx_sys_mutex", Kind::Latch),
            ("stage", "Waiting for table metadata lock", Kind::Lock),
            ("stage", "waiting for handler commit", Kind::Commit),
            ("stage", "Updating", Kind::Other),
            ("User I/O", "db file sequential read", Kind::Device),
            ("Commit", "log file sync", Kind::Commit),
            ("Application", "enq: TX - row lock contention", Kind::RowLock),
            ("Concurrency", "buffer busy waits", Kind::Latch),
            ("new in a later version", "?", Kind::Other),
        ] {
            assert_eq!(kind(class, event), is, "{class} {event}");
        }
    }
}
