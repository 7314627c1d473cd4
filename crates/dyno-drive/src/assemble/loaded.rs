//! Reports what sessions loaded in bulk, and how fast.

use dyno_observe::metrics::{MetricMap, put, put_result};
use dyno_record::{BulkLoadResult, Counter, Counters, RowEffect, Unit};
use dyno_workload::custom::CustomWorkload;

use crate::session::{Moments, SessionResult};

/// What `sessions` loaded into the table of `workload`; `None` for workloads that load
/// nothing. `key_first` if the engine creates the primary key with the table.
pub(super) fn of(
    workload: &CustomWorkload,
    sessions: &SessionResult,
    key_first: bool,
) -> Option<BulkLoadResult> {
    let bulk = workload.bulk()?;
    let table = bulk.described();
    let Moments { start_ns, last_ns, .. } = sessions.moments;
    let seconds = start_ns.map_or(0.0, |began_ns| last_ns.saturating_sub(began_ns) as f64 / 1e9);
    let indexes = table.index_count();
    let before = match (table.is_indexed_first(), key_first && table.has_key()) {
        (true, _) => indexes,
        (false, has_key) => u32::from(has_key),
    };
    let not_yet = || BulkLoadResult::NOT_YET.to_owned();
    Some(BulkLoadResult {
        table: table.name().to_owned(),
        wanted: table.rows(),
        part_rows: bulk.part_rows(),
        rows: sessions.life.rows[RowEffect::Inserted as usize],
        bytes: bulk.bytes(),
        seconds,
        indexes: (before, indexes - before),
        constraints: table.constraint_count(),
        logged: table.is_logged(),
        indexed_s: Err(not_yet()),
        durable_by: String::new(),
        durable_s: Err(not_yet()),
        counted: Err(not_yet()),
        wrong: Vec::new(),
    })
}

/// Enters the figures of a load that lies entirely inside the window.
pub(super) fn put_figures(metrics: &mut MetricMap, counters: &Counters, loaded: &BulkLoadResult) {
    let BulkLoadResult { rows, bytes, seconds, .. } = *loaded;
    // Rows that sessions loaded after the window's end are not counted separately.
    if rows == 0 || seconds <= 0.0 || !loaded.is_whole() {
        return;
    }
    put(metrics, "load_rows_per_s", rows as f64 / seconds, Unit::RowsPerSecond);
    put(metrics, "load_mb_per_s", bytes as f64 / 1e6 / seconds, Unit::MegabytesPerSecond);
    let redo = counters.get(Counter::RedoBytes).map(|redo| redo as f64 / rows as f64);
    put_result(metrics, "load_redo_bytes_per_row", redo, Unit::Bytes);
}
