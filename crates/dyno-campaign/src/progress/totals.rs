//! Totals of all windows and loads of a process.

use std::collections::BTreeMap;

use dyno_drive::{CoarseLatencies, RunningTotals};

/// Totals over the windows and loads of a process. They never fall, so they can be exported as counters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProgressTotals {
    /// Failed operations.
    pub errors: u64,
    /// Operations of each class, by its name.
    pub classes: BTreeMap<String, u64>,
    /// Response times of operations that are timed individually.
    pub latency: CoarseLatencies,
    /// Loaded rows.
    pub loaded_rows: u64,
    /// Content of the loaded rows, bytes.
    pub loaded_bytes: u64,
}

impl ProgressTotals {
    /// Adds the operations of a window.
    pub(super) fn add(&mut self, window: &RunningTotals) {
        self.errors += window.errors;
        for (class, ops) in &window.classes {
            *self.classes.entry(class.clone()).or_default() += ops;
        }
        self.latency.add(&window.latency);
    }
}
