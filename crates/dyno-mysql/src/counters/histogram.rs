//! Reads the server's distribution of statement times: `events_statements_histogram_global` (MySQL 8.0 and
//! later).

use dyno_record::Histogram;

use super::super::wire::{MySqlConnection, MySqlError};
use dyno_engine::{Refusal as _, TargetError};

/// The non-empty buckets: upper limit in picoseconds, and number of statements.
const SQL: &str =
    "SELECT BUCKET_TIMER_HIGH AS dyno_monitoring, COUNT_BUCKET FROM performance_schema.events_statements_histogram_global
     WHERE COUNT_BUCKET > 0";

const PS_PER_NS: u64 = 1_000;

/// The distribution since the server started; `None` if it is not available.
pub(super) fn read(connection: &mut MySqlConnection) -> Result<Option<Histogram>, TargetError> {
    let rows = match connection.simple(SQL) {
        Ok(rows) => rows,
        // The table does not exist or may not be read: the server returned an error, and the connection
        // remains usable.
        Err(error) if MySqlError::of(&error).is_some() => return Ok(None),
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
