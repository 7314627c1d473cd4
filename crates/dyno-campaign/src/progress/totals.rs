//! Totals of all windows and loads of a process.

use std::collections::BTreeMap;

use dyno_drive::{CoarseLatencies, RunningTotals};

/// Totals over the windows and loads of a process. They never fall, so they can be exported as counters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProgressTotals {
    /// Operations that failed in any window of this process.
    pub errors: u64,
    /// Operations of each class, by its name.
    pub classes: BTreeMap<String, u64>,
    /// Response times of operations that are timed individually.
    pub latency: CoarseLatencies,
    /// Rows that loads of this process have written.
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
