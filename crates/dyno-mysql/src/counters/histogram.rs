//! The server's own distribution of statement times: `events_statements_histogram_global` (MySQL 8.0 and later).

use dyno_record::Histogram;

use super::super::wire::{Connection, MyError};
use dyno_engine::{Refusal as _, TargetError};

/// Buckets that hold anything: upper end in picoseconds, and statements in it.
const SQL: &str =
    "SELECT BUCKET_TIMER_HIGH, COUNT_BUCKET FROM performance_schema.events_statements_histogram_global
     WHERE COUNT_BUCKET > 0";

/// Picoseconds in a nanosecond.
const PS_PER_NS: u64 = 1_000;

/// The distribution since the server started; `None` where there is none to be read.
pub(super) fn read(connection: &mut Connection) -> Result<Option<Histogram>, TargetError> {
    let rows = match connection.simple(SQL) {
        Ok(rows) => rows,
        // No such table, no right: the server refused, and the connection is well.
        Err(error) if MyError::of(&error).is_some() => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut histogram = Histogram::new();
    for row in &rows {
        if let (Some(high_ps), Some(count)) = (row.parse::<u64>(0), row.parse(1)) {
            histogram.record_n_ns(high_ps / PS_PER_NS, count);
        }
    }
    Ok(Some(histogram))
}
