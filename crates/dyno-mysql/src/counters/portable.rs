//! From the server's names to the portable vocabulary.
//!
//! `docs/reference/engines/mysql.md` lists each with its source. All of them count the whole server: MySQL keeps none by database.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use dyno_record::{Counter, Snapshot};

use super::sources::REDO_ENABLED;

/// What decides what a figure means.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    /// Whether the server is MariaDB.
    pub(super) mariadb: bool,
    /// Sources that cannot be read, with the reason.
    pub(super) missing: BTreeMap<&'static str, String>,
    /// Settings by name.
    pub(super) settings: BTreeMap<String, String>,
}

/// Picoseconds in a microsecond.
const PS_PER_US: f64 = 1e6;

impl Facts {
    /// Facts of a server, its settings still unknown.
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

/// A value, or why there is none.
type Known = Result<f64, String>;

/// How a portable counter is made of native ones.
type Reading = (Counter, fn(&Native<'_>) -> Known);

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

/// Sets every portable counter of `snapshot` from its native ones.
pub(super) fn fill(snapshot: &mut Snapshot, facts: &Facts) {
    let native = Native { values: &snapshot.native, facts, used: RefCell::default() };
    // Each with the native counters that were used for it.
    for (counter, reading, used) in
        READINGS.map(|(counter, read)| (counter, read(&native), native.used.take()))
    {
        snapshot.made_of.insert(counter, used);
        snapshot.set_known(counter, reading);
    }
}

struct Native<'a> {
    values: &'a BTreeMap<String, f64>,
    facts: &'a Facts,
    /// Names of the values that were asked for.
    used: RefCell<BTreeSet<String>>,
}

impl Native<'_> {
    fn get(&self, source: &str, name: &str) -> Known {
        let key = format!("{source}.{name}");
        let value = self.values.get(&key).copied();
        self.used.borrow_mut().insert(key);
        value.ok_or_else(|| match self.facts.missing.get(source) {
            Some(reason) => reason.clone(),
            None => format!("this server does not report {name}"),
        })
    }

    fn status(&self, name: &str) -> Known {
        self.get("status", name)
    }

    fn file(&self, kind: &str, part: &str) -> Known {
        self.get("file", &format!("{kind}.{part}"))
    }

    fn file_us(&self, kind: &str, part: &str) -> Known {
        Ok(self.file(kind, part)? / PS_PER_US)
    }

    fn pages_bytes(&self, name: &str) -> Known {
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

    /// Redo of InnoDB by its log sequence number, which counts bytes as they are made; before MySQL 8.0.30 as they are
    /// written. Where there is a binlog, its bytes are what a commit needs too.
    fn redo_bytes(&self) -> Known {
        self.redo_is_written()?;
        let lsn = ["Innodb_lsn_current", "Innodb_redo_log_current_lsn", "Innodb_os_log_written"];
        let redo = lsn.iter().find_map(|name| self.status(name).ok());
        let redo = redo.ok_or_else(|| "this server does not report how much redo it made".to_owned())?;
        if !self.binlog() {
            return Ok(redo);
        }
        let binlog = self.status("Binlog_bytes_written").or_else(|_| self.file("binlog", "bytes_write"));
        binlog
            .map(|bytes| redo + bytes)
            .map_err(|reason| format!("the binlog's bytes are not known: {reason}"))
    }

    /// Syncs of the redo log and, where `sync_binlog` asks for them, of the binlog. Where the server does not count those
    /// of the redo log apart, it counts the syncs of all of InnoDB's files.
    fn redo_syncs(&self) -> Known {
        if self.facts.setting("innodb_flush_method") == "O_DSYNC" {
            return Err(
                "innodb_flush_method is O_DSYNC: every redo write syncs by itself, see redo_writes".into()
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
            .map_err(|reason| format!("the binlog's syncs are not known: {reason}"))
    }

    fn redo_sync_time_us(&self) -> Known {
        let log = self.file_us("innodb_log_file", "ps_misc")?;
        if !self.binlog() {
            return Ok(log);
        }
        Ok(log + self.file_us("binlog", "ps_misc")?)
    }

    /// Every statement in autocommit is a transaction of the engine, reads included. With a binlog (or Galera) an update
    /// commits in two engines, each of which has prepared before, and counts twice; without, none prepares.
    fn commits(&self) -> Known {
        Ok(self.status("Handler_commit")? - self.status("Handler_prepare")? / 2.0)
    }

    /// Transactions that were rolled back. `Handler_rollback` counts one for each engine of a transaction: with a binlog those
    /// that wrote count twice, those that read once, and a failed statement within one once more. No counter tells them apart,
    /// so there the rollbacks that sessions asked for are counted, which lack those of failed statements outside of any.
    fn rollbacks(&self) -> Known {
        match self.binlog() {
            true => self.status("Com_rollback"),
            false => self.status("Handler_rollback"),
        }
    }

    fn rows_read(&self) -> Known {
        self.status(if self.facts.mariadb { "Rows_read" } else { "Innodb_rows_read" })
    }

    /// MariaDB counts rows of internal temporary tables apart, MySQL's handler counts them with the others.
    fn rows_written(&self) -> Known {
        let names = if self.facts.mariadb {
            ["Handler_write", "Handler_update", "Handler_delete"]
        } else {
            ["Innodb_rows_inserted", "Innodb_rows_updated", "Innodb_rows_deleted"]
        };
        names.iter().map(|name| self.status(name)).sum()
    }

    fn db_time_us(&self) -> Known {
        let picoseconds = self.get("statements", "ps").map(|ps| ps / PS_PER_US);
        picoseconds.or_else(|reason| self.user_time_us("Busy_time", &reason))
    }

    fn cpu_time_us(&self) -> Known {
        self.user_time_us(
            "Cpu_time",
            "the server does not count the CPU time of its sessions; see the host's figures",
        )
    }

    /// MariaDB's and Percona's own times in seconds, which `userstat` switches on.
    fn user_time_us(&self, name: &str, otherwise: &str) -> Known {
        if !self.facts.is_on("userstat") {
            return Err(otherwise.to_owned());
        }
        Ok(self.status(name)? * 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counters of a server on which ten transactions that wrote were rolled back, and ten that read (MySQL 9.7).
    fn rollbacks(binlog: &str) -> Option<f64> {
        let mut facts = Facts::new(false, BTreeMap::new());
        facts.settings.insert("log_bin".into(), binlog.into());
        let counted = if binlog == "ON" { 30.0 } else { 20.0 };
        let values = [("status.Handler_rollback", counted), ("status.Com_rollback", 20.0)];
        let values = values.map(|(name, value)| (name.to_owned(), value)).into();
        Native { values: &values, facts: &facts, used: RefCell::default() }.rollbacks().ok()
    }

    #[test]
    fn rollbacks_are_counted_once_with_and_without_a_binlog() {
        assert_eq!((rollbacks("ON"), rollbacks("OFF")), (Some(20.0), Some(20.0)));
    }
}
