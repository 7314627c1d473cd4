//! The vocabulary of measures: name, unit, and which direction is better.
//!
//! Records store figures by name; this module maps a name to words. A record may hold figures
//! outside the vocabulary (imported from another program). They are kept with their own unit and no
//! direction.

use dyno_record::Unit;

use crate::number::{figure, percent, time_us};

/// Which direction of a measure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Higher is better, as for throughput.
    Higher,
    /// Lower is better, as for latency.
    Lower,
    /// Neither: it describes the run (CPU busy, redo written) and decides nothing alone.
    Neither,
}

/// A measure by which points are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// The name in records, options and exports: `ops_per_s`.
    pub name: &'static str,
    /// The words in sentences and charts, without the unit: `operations`.
    pub label: &'static str,
    pub unit: Unit,
    pub better: Better,
}

const fn measure(name: &'static str, label: &'static str, unit: Unit, better: Better) -> Measure {
    Measure { name, label, unit, better }
}

use Better::{Higher, Lower, Neither};
use Unit::{
    BlocksPerSecond, BytesPerSecond, MegabytesPerSecond, Microseconds, PerSecond, Percent, RowsPerSecond,
    Sessions,
};

/// Every measure, in the order of reports: throughput, latency, reads and writes, redo, the host.
pub static MEASURES: [Measure; 63] = [
    measure("ops_per_s", "operations", PerSecond, Higher),
    measure("rows_per_s", "rows", RowsPerSecond, Higher),
    measure("rows_read_per_s", "rows read", RowsPerSecond, Higher),
    measure("rows_written_per_s", "rows written", RowsPerSecond, Higher),
    measure("commits_per_s", "commits", PerSecond, Higher),
    measure("rollbacks_per_s", "rollbacks", PerSecond, Lower),
    measure("executions_per_s", "executions", PerSecond, Higher),
    measure("scans_per_s", "scans", PerSecond, Higher),
    measure("scan_blocks_per_s", "blocks scanned", BlocksPerSecond, Higher),
    measure("scan_mb_per_s", "scans", MegabytesPerSecond, Higher),
    measure("load_rows_per_s", "rows loaded", RowsPerSecond, Higher),
    measure("load_durable_rows_per_s", "rows loaded, indexed and on disk", RowsPerSecond, Higher),
    measure("load_mb_per_s", "rows loaded", MegabytesPerSecond, Higher),
    measure("load_redo_bytes_per_row", "bytes of redo of a row loaded", Unit::Bytes, Neither),
    measure("load_index_s", "time to index the loaded rows", Unit::Seconds, Lower),
    measure("load_durable_s", "time until the loaded rows are on disk", Unit::Seconds, Lower),
    measure("think_pct", "time slept by sessions", Percent, Neither),
    measure("service_mean_us", "mean service time", Microseconds, Lower),
    measure("service_p50_us", "median service time", Microseconds, Lower),
    measure("service_p90_us", "p90 of service time", Microseconds, Lower),
    measure("service_p95_us", "p95 of service time", Microseconds, Lower),
    measure("service_p99_us", "p99 of service time", Microseconds, Lower),
    measure("service_p999_us", "p99.9 of service time", Microseconds, Lower),
    measure("service_max_us", "longest service time", Microseconds, Lower),
    measure("response_mean_us", "mean response time", Microseconds, Lower),
    measure("response_p50_us", "median response time", Microseconds, Lower),
    measure("response_p90_us", "p90 of response time", Microseconds, Lower),
    measure("response_p95_us", "p95 of response time", Microseconds, Lower),
    measure("response_p99_us", "p99 of response time", Microseconds, Lower),
    measure("response_p999_us", "p99.9 of response time", Microseconds, Lower),
    measure("response_max_us", "longest response time", Microseconds, Lower),
    measure("logical_reads_per_s", "logical reads", BlocksPerSecond, Higher),
    measure("physical_reads_per_s", "physical reads", BlocksPerSecond, Higher),
    measure("physical_read_requests_per_s", "read requests", PerSecond, Higher),
    measure("physical_read_mb_per_s", "physical reads", MegabytesPerSecond, Higher),
    measure("physical_read_latency_us", "mean latency of a physical read", Microseconds, Lower),
    measure("physical_writes_per_s", "physical writes", BlocksPerSecond, Neither),
    measure("physical_write_requests_per_s", "write requests", PerSecond, Neither),
    measure("physical_write_mb_per_s", "physical writes", MegabytesPerSecond, Neither),
    measure("physical_write_latency_us", "mean latency of a physical write", Microseconds, Lower),
    measure("redo_mb_per_s", "redo", MegabytesPerSecond, Neither),
    measure("redo_bytes_per_s", "redo", BytesPerSecond, Neither),
    measure("redo_writes_per_s", "redo writes", PerSecond, Neither),
    measure("redo_syncs_per_s", "redo syncs", PerSecond, Neither),
    measure("redo_sync_latency_us", "mean latency of a redo sync", Microseconds, Lower),
    measure("buffer_hit_pct", "cache hit ratio", Percent, Neither),
    measure("average_active_sessions", "active sessions", Sessions, Neither),
    measure("database_active_sessions", "sessions active in the database", Sessions, Neither),
    measure("cpu_busy_pct", "CPU busy", Percent, Neither),
    measure("cpu_user_pct", "CPU user", Percent, Neither),
    measure("cpu_sys_pct", "CPU sys", Percent, Neither),
    measure("cpu_iowait_pct", "CPU iowait", Percent, Neither),
    measure("cpu_idle_pct", "CPU idle", Percent, Neither),
    measure("cpu_steal_pct", "CPU steal", Percent, Neither),
    measure("others_cpu_pct", "CPU used by others", Percent, Neither),
    measure("client_cpu_us_per_op", "client CPU time of an operation", Microseconds, Lower),
    measure("device_reads_per_s", "device reads", PerSecond, Higher),
    measure("device_writes_per_s", "device writes", PerSecond, Neither),
    measure("device_read_mb_per_s", "device reads", MegabytesPerSecond, Higher),
    measure("device_write_mb_per_s", "device writes", MegabytesPerSecond, Neither),
    measure("device_read_latency_us", "mean latency of a device read", Microseconds, Lower),
    measure("device_write_latency_us", "mean latency of a device write", Microseconds, Lower),
    measure("device_util_pct", "device busy", Percent, Neither),
];

impl Measure {
    /// The measure of this name, if it is in the vocabulary.
    pub fn find(name: &str) -> Option<&'static Self> {
        MEASURES.iter().find(|measure| measure.name == name)
    }
}

/// A value of a measure in words, as in every sentence: `1,234 operations/s`,
/// `16.4 MB/s of physical reads`, `1.30 ms`, `61.5 %`. A measure outside the vocabulary is shown by
/// its name.
pub fn phrase(measure: &str, value: f64) -> String {
    let (shown, unit) = apart(measure, value);
    if unit.is_empty() { shown } else { format!("{shown} {unit}") }
}

/// The same, as the figure and the words behind it; these are empty where the figure includes its
/// unit.
pub fn apart(measure: &str, value: f64) -> (String, String) {
    let Some(Measure { label, unit, .. }) = Measure::find(measure) else {
        return (figure(value), measure.to_owned());
    };
    let words = match unit {
        Microseconds => return (time_us(value), String::new()),
        Percent => return (percent(value), "%".to_owned()),
        MegabytesPerSecond => format!("MB/s of {label}"),
        BytesPerSecond => format!("bytes/s of {label}"),
        PerSecond | BlocksPerSecond | RowsPerSecond => format!("{label}/s"),
        Unit::Seconds => "s".to_owned(),
        Sessions | Unit::Count | Unit::Blocks | Unit::Bytes | Unit::Rows => (*label).to_owned(),
    };
    (figure(value), words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measure_names_are_unique_and_carry_their_unit() {
        for (i, measure) in MEASURES.iter().enumerate() {
            assert!(MEASURES[..i].iter().all(|other| other.name != measure.name), "{}", measure.name);
            let suffix = match measure.unit {
                Microseconds => "_us",
                Percent => "_pct",
                MegabytesPerSecond => "_mb_per_s",
                Sessions => "_sessions",
                Unit::Bytes => "_bytes_per_row",
                Unit::Seconds => "_s",
                _ => "_per_s",
            };
            let named = measure.name.ends_with(suffix) || measure.name == "client_cpu_us_per_op";
            assert!(named, "{} is in {}", measure.name, measure.unit.name());
        }
    }

    #[test]
    fn measure_phrases_include_the_unit() {
        let cases = [
            ("ops_per_s", 1_234.4, "1,234 operations/s"),
            ("physical_read_mb_per_s", 16.384, "16.4 MB/s of physical reads"),
            ("service_p99_us", 1_300.0, "1.30 ms"),
            ("cpu_busy_pct", 61.52, "61.5 %"),
            ("tpcc", 13.973, "14.0 tpcc"),
        ];
        for (name, value, words) in cases {
            assert_eq!(phrase(name, value), words);
        }
    }

    #[test]
    fn lower_latency_and_higher_throughput_are_better() {
        assert_eq!(Measure::find("service_p99_us").map(|m| m.better), Some(Better::Lower));
        assert_eq!(Measure::find("ops_per_s").map(|m| m.better), Some(Better::Higher));
        assert_eq!(Measure::find("tpcc"), None);
    }
}
