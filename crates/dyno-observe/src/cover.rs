//! The time by which each counter's delta is divided.

use dyno_record::Counter;

/// The seconds by which deltas are divided.
#[derive(Debug, Clone, Copy)]
pub struct CoveredSeconds {
    /// For counters that move with operations.
    pub ops_s: f64,
    /// For counters that move with rows.
    pub rows_s: f64,
    /// For counters that move with writes.
    pub writes_s: f64,
}

impl CoveredSeconds {
    /// All counters cover the same time.
    pub fn all(seconds: f64) -> Self {
        Self { ops_s: seconds, rows_s: seconds, writes_s: seconds }
    }

    /// The seconds by which the delta of `counter` is divided.
    pub fn seconds(&self, counter: Counter) -> f64 {
        match counter {
            Counter::LogicalReads
            | Counter::PhysicalReads
            | Counter::PhysicalReadRequests
            | Counter::PhysicalReadBytes
            | Counter::PhysicalReadTime
            | Counter::RowsRead => self.rows_s,
            Counter::PhysicalWrites
            | Counter::PhysicalWriteRequests
            | Counter::PhysicalWriteBytes
            | Counter::PhysicalWriteTime
            | Counter::RedoBytes
            | Counter::RedoWrites
            | Counter::RedoSyncs
            | Counter::RedoSyncTime
            | Counter::RowsWritten => self.writes_s,
            Counter::Commits
            | Counter::Rollbacks
            | Counter::Executions
            | Counter::DbTime
            | Counter::CpuTime => self.ops_s,
        }
    }
}
