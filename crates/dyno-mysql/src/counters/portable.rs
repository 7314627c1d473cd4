//! Maps the server's counters to the portable ones.
//!
//! `docs/reference/engines/mysql-counters.md` lists each with its source. All of them cover the whole server:
//! MySQL has none per database.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use dyno_record::{Counter, Snapshot};

use super::sources::REDO_ENABLED;

/// Properties of the server that determine what a counter means.
#[derive(Debug, Clone)]
pub(super) struct MySqlCounterFacts {
    /// Whether the server is MariaDB.
    pub(super) mariadb: bool,
    /// Sources that cannot be read, each with the reason.
    pub(super) missing: BTreeMap<&'static str, String>,
    /// Values of all settings, by name in lower case.
    pub(super) settings: BTreeMap<String, String>,
}

const PS_PER_US: f64 = 1e6;

impl MySqlCounterFacts {
    /// The facts of a server before its settings are read.
    pub(super) fn new(mariadb: bool, missing: BTreeMap<&'static str, String>) -> Self {
        Self { mariadb, missing, settings: BTreeMap::new() }
    }

    pub(super) fn setting(&self, name: &str) -> &str {
        self.settings.get(name).map_or("", String::as_str)
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        matches!(self.setting(name), "ON" | "1")
    }
}

/// A value, or the reason why it is absent.
type MySqlCounterResult = Result<f64, String>;

/// A portable counter and the function that computes it from native ones.
type Reading = (Counter, fn(&Native<'_>) -> MySqlCounterResult);

const READINGS: [Reading; 20] = [
    (Counter::LogicalReads, |native| native.status("Innodb_buffer_pool_read_requests")),
    (Counter::PhysicalReads, |native| native.status("Innodb_pages_read")),
    (Counter::PhysicalReadRequests, |native| native.file("innodb_data_file", "count_read")),
    (Counter::PhysicalReadBytes, |native| native.pages_bytes("Innodb_pages_read")),
    (Counter::PhysicalReadTime, |native| native.file_us("innodb_data_file", "ps_read")),
    (Counter::PhysicalWrites, |native| native.status("Innodb_pages_written")),
    (Counter::PhysicalWriteRequests, |native| native.file("innodb_data_file", "count_write")),
    (Counter::PhysicalWriteBytes, |native| native.pages_bytes("Innodb_pages_written")),
    (Counter::PhysicalWriteTime, |native| native.file_us("innodb_data_file", "ps_write")),
    (Counter::RedoBytes, |native| native.redo_bytes()),
    (Counter::RedoWrites, |native| native.status("Innodb_log_writes")),
    (Counter::RedoSyncs, |native| native.redo_syncs()),
    (Counter::RedoSyncTime, |native| native.redo_sync_time_us()),
    (Counter::Commits, |native| native.commits()),
    (Counter::Rollbacks, |native| native.rollbacks()),
    (Counter::Executions, |native| native.status("Queries")),
    (Counter::RowsRead, |native| native.rows_read()),
    (Counter::RowsWritten, |native| native.rows_written()),
    (Counter::DbTime, |native| native.db_time_us()),
    (Counter::CpuTime, |native| native.cpu_time_us()),
];

/// Computes every portable counter of `snapshot` from its native ones.
pub(super) fn fill(snapshot: &mut Snapshot, facts: &MySqlCounterFacts) {
    let native = Native { values: &snapshot.native, facts, used: RefCell::default() };
    // Each with the native counters that it used.
    for (counter, reading, used) in
        READINGS.map(|(counter, read)| (counter, read(&native), native.used.take()))
    {
        snapshot.made_of.insert(counter, used);
        snapshot.set_known(counter, reading);
    }
}

struct Native<'a> {
    values: &'a BTreeMap<String, f64>,
    facts: &'a MySqlCounterFacts,
    /// Names of the native values that were used.
    used: RefCell<BTreeSet<String>>,
}

impl Native<'_> {
    fn get(&self, source: &str, name: &str) -> MySqlCounterResult {
        let key = format!("{source}.{name}");
        let value = self.values.get(&key).copied();
        self.used.borrow_mut().insert(key);
        value.ok_or_else(|| match self.facts.missing.get(source) {
            Some(reason) => reason.clone(),
            None => format!("this server does not report {name}"),
        })
    }

    fn status(&self, name: &str) -> MySqlCounterResult {
        self.get("status", name)
    }

    fn file(&self, kind: &str, part: &str) -> MySqlCounterResult {
        self.get("file", &format!("{kind}.{part}"))
    }

    fn file_us(&self, kind: &str, part: &str) -> MySqlCounterResult {
        Ok(self.file(kind, part)? / PS_PER_US)
    }

    fn pages_bytes(&self, name: &str) -> MySqlCounterResult {
        let page: f64 = self
            .facts
            .setting("innodb_page_size")
            .parse()
            .map_err(|_| "the server's page size cannot be read".to_owned())?;
        Ok(self.status(name)? * page)
    }

    /// With the redo log disabled only the binlog would be counted.
    fn redo_is_written(&self) -> Result<(), String> {
        if self.facts.setting(&REDO_ENABLED.to_ascii_lowercase()) == "OFF" {
            return Err("the redo log is disabled (ALTER INSTANCE DISABLE INNODB REDO_LOG)".to_owned());
        }
        Ok(())
    }

    fn binlog(&self) -> bool {
        self.facts.is_on("log_bin")
    }

    /// Redo of InnoDB from its log sequence number, which counts bytes when they are generated, or before
    /// MySQL 8.0.30 when they are written. Bytes of the binlog are added, because a commit needs them too.
    fn redo_bytes(&self) -> MySqlCounterResult {
        self.redo_is_written()?;
        let lsn = ["Innodb_lsn_current", "Innodb_redo_log_current_lsn", "Innodb_os_log_written"];
        let redo = lsn.iter().find_map(|name| self.status(name).ok());
        let redo = redo.ok_or_else(|| "this server does not report how much redo it wrote".to_owned())?;
        if !self.binlog() {
            return Ok(redo);
        }
        let binlog = self.status("Binlog_bytes_written").or_else(|_| self.file("binlog", "bytes_write"));
        binlog
            .map(|bytes| redo + bytes)
            .map_err(|reason| format!("the bytes of the binlog are unknown: {reason}"))
    }

    /// Syncs of the redo log and, if `sync_binlog` requires them, of the binlog. A server without a separate
    /// counter for the redo log counts the syncs of all InnoDB files.
    fn redo_syncs(&self) -> MySqlCounterResult {
        if self.facts.setting("innodb_flush_method") == "O_DSYNC" {
            return Err(
                "innodb_flush_method is O_DSYNC: every redo write includes the sync; see redo_writes".into(),
            );
        }
        let log = self.status("Innodb_os_log_fsyncs").or_else(|_| self.file("innodb_log_file", "count_misc"));
        let log = log.or_else(|_| self.status("Innodb_data_fsyncs"))?;
        if !self.binlog() || self.facts.setting("sync_binlog") == "0" {
            return Ok(log);
        }
        let binlog = self.status("Binlog_group_commits").or_else(|_| self.file("binlog", "count_misc"));
        binlog
            .map(|syncs| log + syncs)
            .map_err(|reason| format!("the syncs of the binlog are unknown: {reason}"))
    }

    fn redo_sync_time_us(&self) -> MySqlCounterResult {
        let log = self.file_us("innodb_log_file", "ps_misc")?;
        if !self.binlog() {
            return Ok(log);
        }
        Ok(log + self.file_us("binlog", "ps_misc")?)
    }

    /// Every statement in autocommit is a transaction of the engine, including reads. With a binlog (or
    /// Galera) an update commits and prepares in two engines and counts twice. Without one, no engine
    /// prepares.
    fn commits(&self) -> MySqlCounterResult {
        Ok(self.status("Handler_commit")? - self.status("Handler_prepare")? / 2.0)
    }

    /// Transactions that were rolled back.
    ///
    /// `Handler_rollback` counts one per engine of a transaction. With a binlog, a transaction that wrote
    /// counts twice, one that only read counts once, and a failed statement inside one adds one. No counter
    /// separates these cases. With a binlog Dyno therefore counts the rollbacks that sessions requested,
    /// which omit failed statements outside a transaction.
    fn rollbacks(&self) -> MySqlCounterResult {
        match self.binlog() {
            true => self.status("Com_rollback"),
            false => self.status("Handler_rollback"),
        }
    }

    fn rows_read(&self) -> MySqlCounterResult {
        self.status(if self.facts.mariadb { "Rows_read" } else { "Innodb_rows_read" })
    }

    /// MariaDB counts rows of internal temporary tables separately; MySQL's handler counts include them.
    fn rows_written(&self) -> MySqlCounterResult {
        let names = if self.facts.mariadb {
            ["Handler_write", "Handler_update", "Handler_delete"]
        } else {
            ["Innodb_rows_inserted", "Innodb_rows_updated", "Innodb_rows_deleted"]
        };
        names.iter().map(|name| self.status(name)).sum()
    }

    fn db_time_us(&self) -> MySqlCounterResult {
        let picoseconds = self.get("statements", "ps").map(|ps| ps / PS_PER_US);
        picoseconds.or_else(|reason| self.user_time_us("Busy_time", &reason))
    }

    fn cpu_time_us(&self) -> MySqlCounterResult {
        self.user_time_us(
            "Cpu_time",
            "the server does not count the CPU time of its sessions; see the host's figures",
        )
    }

    /// Times in seconds that MariaDB and Percona record if `userstat` is on.
    fn user_time_us(&self, name: &str, otherwise: &str) -> MySqlCounterResult {
        if !self.facts.is_on("userstat") {
            return Err(otherwise.to_owned());
        }
        Ok(self.status(name)? * 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counters of a server that rolled back ten writing and ten reading transactions (MySQL 9.7).
    fn rollbacks(binlog: &str) -> Option<f64> {
        let mut facts = MySqlCounterFacts::new(false, BTreeMap::new());
        facts.settings.insert("log_bin".into(), binlog.into());
        let counted = if binlog == "ON" { 30.0 } else { 20.0 };
        let values = [("status.Handler_rollback", counted), ("status.Com_rollback", 20.0)];
        let values = values.map(|(name, value)| (name.to_owned(), value)).into();
        Native { values: &values, facts: &facts, used: RefCell::default() }.rollbacks().ok()
    }

    #[test]
    fn rollbacks_are_counted_once_with_or_without_binlog() {
        assert_eq!((rollbacks("ON"), rollbacks("OFF")), (Some(20.0), Some(20.0)));
    }
}
