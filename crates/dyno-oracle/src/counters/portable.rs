//! From Oracle's statistics to the portable vocabulary.
//!
//! `docs/reference/engines/oracle.md` lists each with its source and unit. What sessions do is taken from the container where there is
//! one; what background processes do (redo writes, writes of data files) from the instance, for they belong to no container.

use std::collections::BTreeMap;

use dyno_record::{Counter, Snapshot};

/// What decides where a figure comes from.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    /// Whether figures of a container stand beside those of the instance.
    pub(super) in_container: bool,
    /// Sources that cannot be read, with the reason.
    pub(super) missing: BTreeMap<&'static str, String>,
}

/// Why there is no figure of the instance.
const HIDDEN: &str =
    "this container sees no row of the whole instance (con_id 0), and its own rows are not the instance's";

/// A value, or why there is none.
type Known = Result<f64, String>;

/// Sets every portable counter of `snapshot` from its native ones.
pub(super) fn fill(snapshot: &mut Snapshot, facts: &Facts) {
    let native = Native { values: &snapshot.native, facts };
    let readings = [
        (Counter::LogicalReads, native.own("session logical reads")),
        (Counter::PhysicalReads, native.own("physical reads")),
        (Counter::PhysicalReadRequests, native.own("physical read IO requests")),
        (Counter::PhysicalReadBytes, native.own("physical read bytes")),
        (Counter::PhysicalReadTime, native.waits_us("event", is_read)),
        (Counter::PhysicalWrites, native.of_instance("physical writes")),
        (Counter::PhysicalWriteRequests, native.of_instance("physical write IO requests")),
        (Counter::PhysicalWriteBytes, native.of_instance("physical write bytes")),
        (Counter::PhysicalWriteTime, native.waits_us(native.instance("event"), is_write)),
        (Counter::RedoBytes, native.own("redo size")),
        (Counter::RedoWrites, native.of_instance("redo writes")),
        (Counter::RedoSyncs, native.own("redo synch writes")),
        (Counter::RedoSyncTime, native.own("redo synch time (usec)")),
        (Counter::Commits, native.own("user commits")),
        (Counter::Rollbacks, native.own("user rollbacks")),
        (Counter::Executions, native.own("execute count")),
        (Counter::RowsRead, native.rows_read()),
        (Counter::RowsWritten, Err("Oracle counts no rows that statements write".to_owned())),
        (Counter::DbTime, native.get("time", "DB time")),
        (Counter::CpuTime, native.get("time", "DB CPU")),
    ];
    for (counter, reading) in readings {
        snapshot.set_known(counter, reading);
    }
}

/// Whether a session waits for a block, or for many, with this event. Reads of Exadata cells from memory are in the class Other; who
/// waits for another session's read is counted by that one.
fn is_read(class: &str, event: &str) -> bool {
    if event == "read by other session" {
        return false;
    }
    if event.starts_with("cell ") && event.contains("read") {
        return true;
    }
    class == "User I/O" && (event.contains("read") || event.contains("scan")) && !event.contains("write")
}

/// Whether data files are written: by the database writer, or by a session past the cache.
fn is_write(class: &str, event: &str) -> bool {
    (class == "System I/O" && matches!(event, "db file parallel write" | "db file single write"))
        || (class == "User I/O" && event.starts_with("direct path write"))
}

struct Native<'a> {
    values: &'a BTreeMap<String, f64>,
    facts: &'a Facts,
}

impl Native<'_> {
    fn get(&self, source: &str, name: &str) -> Known {
        let value = self.values.get(&format!("{source}.{name}")).copied();
        value.ok_or_else(|| match self.facts.missing.get(source) {
            Some(reason) => reason.clone(),
            None if self.is_hidden(source) => HIDDEN.to_owned(),
            None => format!("this database does not report {name:?}"),
        })
    }

    /// Whether this container sees no row of the whole instance in `source`.
    fn is_hidden(&self, source: &str) -> bool {
        source.starts_with("instance.")
            && !self.values.keys().any(|name| name.starts_with(&format!("{source}.")))
    }

    /// The name of a source of the whole instance.
    fn instance(&self, source: &'static str) -> &'static str {
        match (self.facts.in_container, source) {
            (true, "event") => "instance.event",
            (true, _) => "instance.sysstat",
            (false, source) => source,
        }
    }

    /// A statistic of what sessions do.
    fn own(&self, name: &str) -> Known {
        self.get("sysstat", name)
    }

    /// A statistic of what background processes do.
    fn of_instance(&self, name: &str) -> Known {
        self.get(self.instance("sysstat"), name)
    }

    /// Microseconds of all waits that `wanted` (class, event) is true for. A wait that never was has no row and took none.
    fn waits_us(&self, source: &str, wanted: fn(&str, &str) -> bool) -> Known {
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

    /// Rows got by their address, and rows of full scans.
    fn rows_read(&self) -> Known {
        Ok(self.own("table fetch by rowid")? + self.own("table scan rows gotten")?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_record::Reading;

    fn snapshot(values: &[(&str, f64)], facts: &Facts) -> Snapshot {
        let native = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let mut snapshot = Snapshot { native, ..Snapshot::default() };
        fill(&mut snapshot, facts);
        snapshot
    }

    fn value(snapshot: &Snapshot, counter: Counter) -> Option<u64> {
        match &snapshot.portable[&counter] {
            Reading::Value(value) => Some(*value),
            Reading::Absent(_) => None,
        }
    }

    #[test]
    fn every_counter_has_a_value_or_a_reason() {
        let empty = snapshot(&[], &Facts::default());
        assert_eq!(empty.portable.len(), Counter::ALL.len());
        let why = Facts {
            missing: [("sysstat", "V$SYSSTAT cannot be read".to_owned())].into(),
            ..Facts::default()
        };
        match &snapshot(&[], &why).portable[&Counter::Commits] {
            Reading::Absent(reason) => assert!(reason.contains("V$SYSSTAT"), "{reason}"),
            Reading::Value(_) => panic!("nothing was read"),
        }
    }

    #[test]
    fn read_time_is_that_of_sessions_waiting_for_blocks() {
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
        let all = snapshot(&values, &Facts::default());
        assert_eq!(value(&all, Counter::PhysicalReadTime), Some(113));
        assert_eq!(value(&all, Counter::PhysicalWriteTime), Some(12));
    }

    #[test]
    fn in_a_container_background_work_is_the_instances() {
        let values = [
            ("sysstat.redo writes", 0.0),
            ("sysstat.redo size", 10.0),
            ("sysstat.physical writes", 1.0),
            ("instance.sysstat.redo writes", 5.0),
            ("instance.sysstat.redo size", 99.0),
            ("instance.sysstat.physical writes", 30.0),
        ];
        let pdb = snapshot(&values, &Facts { in_container: true, ..Facts::default() });
        assert_eq!(value(&pdb, Counter::RedoWrites), Some(5));
        assert_eq!(value(&pdb, Counter::RedoBytes), Some(10));
        assert_eq!(value(&pdb, Counter::PhysicalWrites), Some(30));
        // A container that sees nothing of the instance has no figures of it, and takes none of its own for them.
        let hidden = snapshot(&values[..3], &Facts { in_container: true, ..Facts::default() });
        for counter in [Counter::RedoWrites, Counter::PhysicalWrites, Counter::PhysicalWriteTime] {
            assert_eq!(value(&hidden, counter), None, "{counter:?}");
        }
        assert_eq!(value(&hidden, Counter::RedoBytes), Some(10));
        let whole = snapshot(&values, &Facts::default());
        assert_eq!(value(&whole, Counter::RedoWrites), Some(0));
    }
}
