//! What sessions have loaded, and how fast.

use dyno_record::{Counter, Counters, Loaded, Touch, Unit};
use dyno_workload::own::Own;

use crate::metrics::{Metrics, put, tell};
use crate::results::Handed;

/// What the sessions in `results` have loaded of the table of `own`; nothing where that is not what it does. Whether the engine makes
/// the primary key with the table is `key_first`.
pub(crate) fn of(own: &Own, results: &Handed<'_>, key_first: bool) -> Option<Loaded> {
    let bulk = own.bulk()?;
    let table = bulk.described();
    let sessions = results.sessions.as_slice();
    let began_ns = sessions.iter().filter_map(|session| session.moments.start_ns).min();
    let ended_ns = sessions.iter().map(|session| session.moments.last_ns).max();
    let seconds = match (began_ns, ended_ns) {
        (Some(began_ns), Some(ended_ns)) => ended_ns.saturating_sub(began_ns) as f64 / 1e9,
        _ => 0.0,
    };
    let indexes = table.index_count();
    let before = match (table.is_indexed_first(), key_first && table.has_key()) {
        (true, _) => indexes,
        (false, has_key) => u32::from(has_key),
    };
    let not_yet = || Loaded::NOT_YET.to_owned();
    Some(Loaded {
        table: table.name().to_owned(),
        wanted: table.rows(),
        part_rows: bulk.part_rows(),
        rows: sessions.iter().map(|session| session.life.rows[Touch::Inserted as usize]).sum(),
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

/// Figures of a load of which all is in the window.
pub(crate) fn figures(metrics: &mut Metrics, counters: &Counters, loaded: Option<&Loaded>) {
    let Some(loaded) = loaded.filter(|loaded| loaded.rows > 0 && loaded.seconds > 0.0) else { return };
    let Loaded { rows, bytes, seconds, .. } = *loaded;
    if !loaded.is_whole() {
        // What sessions loaded behind the window's end is not known apart.
        return;
    }
    put(metrics, "load_rows_per_s", rows as f64 / seconds, Unit::RowsPerSecond);
    put(metrics, "load_mb_per_s", bytes as f64 / 1e6 / seconds, Unit::MegabytesPerSecond);
    let redo = counters.get(Counter::RedoBytes).map(|redo| redo as f64 / rows as f64);
    tell(metrics, "load_redo_bytes_per_row", redo, Unit::Bytes);
}
