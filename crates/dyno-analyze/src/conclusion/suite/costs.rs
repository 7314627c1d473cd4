//! What one operation costs the platform.

use std::collections::BTreeMap;

use dyno_record::RunRecord;

use crate::points::Point;

/// The costs of an operation by their names, as far as they are known: processor time of the database and of the client, µs;
/// blocks read from the cache and from storage, requests to storage, bytes of redo, context switches of the host. And what a
/// second of the processors that were busy brings: `logical_reads_per_cpu_s`.
pub(super) fn costs(point: &Point, run: Option<&RunRecord>) -> BTreeMap<String, f64> {
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
    // Of the database alone where that is known, else of all that was busy.
    let cpus = run.map(|run| f64::from(run.database_host().unwrap_or(run.host()).cpus));
    let busy = point.get("cpu_busy_pct").zip(cpus).map(|(busy, cpus)| busy / 100.0 * cpus);
    let cpu_s = point.get("database_cpus").or(busy).filter(|cpu_s| *cpu_s > 0.0);
    put(
        "logical_reads_per_cpu_s",
        point.get("logical_reads_per_s").zip(cpu_s).map(|(reads, cpu)| reads / cpu),
    );
    all
}
