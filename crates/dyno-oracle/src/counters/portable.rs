//! Maps Oracle's statistics to the portable counters.
//!
//! `docs/reference/engines/oracle-counters.md` lists each with its source and unit. The work of sessions
//! comes from the container if there is one. The work of background processes (redo writes, writes of data
//! files) comes from the instance, because it belongs to no container.

use std::collections::BTreeMap;

use dyno_record::{Counter, Snapshot};

/// Properties of the session that determine the source of a figure.
#[derive(Debug, Clone, Default)]
pub(super) struct OracleCounterFacts {
    /// Whether there are figures of a container in addition to those of the instance.
    pub(super) in_container: bool,
    /// Sources that cannot be read, each with the reason.
    pub(super) missing: BTreeMap<&'static str, String>,
}

/// The reason why a figure of the instance is absent.
const HIDDEN: &str = "this container cannot see rows of the whole instance (con_id 0), and its own rows do not cover the \
    instance";

/// A value, or the reason why it is absent.
type OracleCounterResult = Result<f64, String>;

/// Computes every portable counter of `snapshot` from its native ones.
pub(super) fn fill(snapshot: &mut Snapshot, facts: &OracleCounterFacts) {
    let native = Native { values: &snapshot.native, facts };
    let readings = [
        (Counter::LogicalReads, native.session_statistic("session logical reads")),
        (Counter::PhysicalReads, native.session_statistic("physical reads")),
        (Counter::PhysicalReadRequests, native.session_statistic("physical read IO requests")),
        (Counter::PhysicalReadBytes, native.session_statistic("physical read bytes")),
        (Counter::PhysicalReadTime, native.waits_us("event", is_read)),
        (Counter::PhysicalWrites, native.instance_statistic("physical writes")),
        (Counter::PhysicalWriteRequests, native.instance_statistic("physical write IO requests")),
        (Counter::PhysicalWriteBytes, native.instance_statistic("physical write bytes")),
        (Counter::PhysicalWriteTime, native.waits_us(native.instance("event"), is_write)),
        (Counter::RedoBytes, native.session_statistic("redo size")),
        (Counter::RedoWrites, native.instance_statistic("redo writes")),
        (Counter::RedoSyncs, native.session_statistic("redo synch writes")),
        (Counter::RedoSyncTime, native.session_statistic("redo synch time (usec)")),
        (Counter::Commits, native.session_statistic("user commits")),
        (Counter::Rollbacks, native.session_statistic("user rollbacks")),
        (Counter::Executions, native.session_statistic("execute count")),
        (Counter::RowsRead, native.rows_read()),
        (Counter::RowsWritten, Err("Oracle does not count the rows that statements write".to_owned())),
        (Counter::DbTime, native.get("time", "DB time")),
        (Counter::CpuTime, native.get("time", "DB CPU")),
    ];
    for (counter, reading) in readings {
        snapshot.set_known(counter, reading);
    }
}

/// Whether this event is a session's wait for one or several blocks. Reads of Exadata cells from memory have
/// the class Other. A wait for another session's read is counted by that session.
fn is_read(class: &str, event: &str) -> bool {
    if event == "read by other session" {
        return false;
    }
    if event.starts_with("cell ") && event.contains("read") {
        return true;
    }
    class == "User I/O" && (event.contains("read") || event.contains("scan")) && !event.contains("write")
}

/// Whether this event is a write of data files: by the database writer, or by a session that bypasses the
/// cache.
fn is_write(class: &str, event: &str) -> bool {
    (class == "System I/O" && matches!(event, "db file parallel write" | "db file single write"))
        || (class == "User I/O" && event.starts_with("direct path write"))
}

struct Native<'a> {
    values: &'a BTreeMap<String, f64>,
    facts: &'a OracleCounterFacts,
}

impl Native<'_> {
    fn get(&self, source: &str, name: &str) -> OracleCounterResult {
        let value = self.values.get(&format!("{source}.{name}")).copied();
        value.ok_or_else(|| match self.facts.missing.get(source) {
            Some(reason) => reason.clone(),
            None if self.is_hidden(source) => HIDDEN.to_owned(),
            None => format!("this database does not report {name:?}"),
        })
    }

    /// Whether `source` of the whole instance has no rows that are visible in this container.
    fn is_hidden(&self, source: &str) -> bool {
        source.starts_with("instance.")
            && !self.values.keys().any(|name| name.starts_with(&format!("{source}.")))
    }

    /// The name of a source for the whole instance.
    fn instance(&self, source: &'static str) -> &'static str {
        match (self.facts.in_container, source) {
            (true, "event") => "instance.event",
            (true, _) => "instance.sysstat",
            (false, source) => source,
        }
    }

    /// A statistic of the work of sessions.
    fn session_statistic(&self, name: &str) -> OracleCounterResult {
        self.get("sysstat", name)
    }

    /// A statistic of the work of background processes.
    fn instance_statistic(&self, name: &str) -> OracleCounterResult {
        self.get(self.instance("sysstat"), name)
    }

    /// Microseconds of all waits for which `wanted` (class, event) is true. A wait that never occurred has no
    /// row and counts as 0.
    fn waits_us(&self, source: &str, wanted: fn(&str, &str) -> bool) -> OracleCounterResult {
        if let Some(reason) = self.facts.missing.get(source) {
            return Err(reason.clone());
        }
        if self.is_hidden(source) {
            return Err(HIDDEN.to_owned());
        }
        let prefix = format!("{source}.");
        let times = self.values.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix(&prefix)?.strip_suffix(".us")?;
            let (class, event) = name.split_once('.')?;
            wanted(class, event).then_some(value)
        });
        Ok(times.sum())
    }

    /// Rows read by their address, and rows of full scans.
    fn rows_read(&self) -> OracleCounterResult {
        Ok(self.session_statistic("table fetch by rowid")?
            + self.session_statistic("table scan rows gotten")?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_record::CounterReading;

    fn snapshot(values: &[(&str, f64)], facts: &OracleCounterFacts) -> Snapshot {
        let native = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let mut snapshot = Snapshot { native, ..Snapshot::default() };
        fill(&mut snapshot, facts);
        snapshot
    }

    fn value(snapshot: &Snapshot, counter: Counter) -> Option<u64> {
        match &snapshot.portable[&counter] {
            CounterReading::Value(value) => Some(*value),
            CounterReading::Absent(_) => None,
        }
    }

    #[test]
    fn every_counter_has_a_value_or_a_reason() {
        let empty = snapshot(&[], &OracleCounterFacts::default());
        assert_eq!(empty.portable.len(), Counter::ALL.len());
        let why = OracleCounterFacts {
            missing: [("sysstat", "V$SYSSTAT cannot be read".to_owned())].into(),
            ..OracleCounterFacts::default()
        };
        match &snapshot(&[], &why).portable[&Counter::Commits] {
            CounterReading::Absent(reason) => assert!(reason.contains("V$SYSSTAT"), "{reason}"),
            CounterReading::Value(_) => panic!("nothing was read"),
        }
    }

    #[test]
    fn read_time_covers_only_sessions_waiting_for_blocks() {
        let values = [
            ("event.User I/O.db file sequential read.us", 100.0),
            ("event.User I/O.cell single block physical read.us", 10.0),
            ("event.Other.cell single block physical read: RDMA.us", 3.0),
            ("event.User I/O.read by other session.us", 500.0),
            ("event.User I/O.direct path write.us", 7.0),
            ("event.System I/O.db file parallel write.us", 5.0),
            ("event.System I/O.control file sequential read.us", 1000.0),
            ("event.Commit.log file sync.us", 1000.0),
        ];
        let all = snapshot(&values, &OracleCounterFacts::default());
        assert_eq!(value(&all, Counter::PhysicalReadTime), Some(113));
        assert_eq!(value(&all, Counter::PhysicalWriteTime), Some(12));
    }

    #[test]
    fn pdb_background_writes_come_from_instance_counters() {
        let values = [
            ("sysstat.redo writes", 0.0),
            ("sysstat.redo size", 10.0),
            ("sysstat.physical writes", 1.0),
            ("instance.sysstat.redo writes", 5.0),
            ("instance.sysstat.redo size", 99.0),
            ("instance.sysstat.physical writes", 30.0),
        ];
        let pdb =
            snapshot(&values, &OracleCounterFacts { in_container: true, ..OracleCounterFacts::default() });
        assert_eq!(value(&pdb, Counter::RedoWrites), Some(5));
        assert_eq!(value(&pdb, Counter::RedoBytes), Some(10));
        assert_eq!(value(&pdb, Counter::PhysicalWrites), Some(30));
        // A container that cannot see the instance has no figures of it, and does not substitute its own.
        let hidden = snapshot(
            &values[..3],
            &OracleCounterFacts { in_container: true, ..OracleCounterFacts::default() },
        );
        for counter in [Counter::RedoWrites, Counter::PhysicalWrites, Counter::PhysicalWriteTime] {
            assert_eq!(value(&hidden, counter), None, "{counter:?}");
        }
        assert_eq!(value(&hidden, Counter::RedoBytes), Some(10));
        let whole = snapshot(&values, &OracleCounterFacts::default());
        assert_eq!(value(&whole, Counter::RedoWrites), Some(0));
    }
}
