//! Computes what one operation costs the platform.

use std::collections::BTreeMap;

use dyno_record::RunRecord;

use crate::points::MeasuredPoint;

/// The known costs of an operation, by name. Processor time of the database and of the client, µs.
/// Blocks read from the cache and from storage, storage requests, bytes of redo, context switches
/// of the host. Also `logical_reads_per_cpu_s`: logical reads per second of busy processors.
pub(super) fn costs(point: &MeasuredPoint, run: Option<&RunRecord>) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    let Some(ops) = point.get("ops_per_s").filter(|ops| *ops > 0.0) else { return all };
    let mut put = |name: &str, value: Option<f64>| {
        all.extend(value.filter(|value| value.is_finite()).map(|value| (name.to_owned(), value)));
    };
    let per_op = |name: &str| point.get(name).map(|rate| rate / ops);
    put("client_cpu_us", point.get("client_cpu_us_per_op"));
    put("database_cpu_us", per_op("database_cpus").map(|seconds| seconds * 1e6));
    put("logical_reads", per_op("logical_reads_per_s"));
    put("physical_reads", per_op("physical_reads_per_s"));
    put("read_requests", per_op("physical_read_requests_per_s"));
    put("write_requests", per_op("physical_write_requests_per_s"));
    put("redo_bytes", per_op("redo_bytes_per_s"));
    put("context_switches", per_op("context_switches_per_s"));
    // The database's own processor time where it is known, else that of all processes on the host.
    let cpus = run.map(|run| f64::from(run.database_host().unwrap_or(run.host()).cpus));
    let busy = point.get("cpu_busy_pct").zip(cpus).map(|(busy, cpus)| busy / 100.0 * cpus);
    let cpu_s = point.get("database_cpus").or(busy).filter(|cpu_s| *cpu_s > 0.0);
    put(
        "logical_reads_per_cpu_s",
        point.get("logical_reads_per_s").zip(cpu_s).map(|(reads, cpu)| reads / cpu),
    );
    all
}
