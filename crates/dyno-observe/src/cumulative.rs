//! The cumulative counters of a target, for other tools.

use std::collections::BTreeMap;

use dyno_record::{Counter, CounterReading, Snapshot};

/// The cumulative counters of one target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CumulativeCounters {
    /// The target's URL, without secrets.
    pub url: String,
    /// The portable counters that the target reports, in their units.
    pub portable: BTreeMap<Counter, u64>,
    /// The target's native counters, by their own names.
    pub native: BTreeMap<String, f64>,
}

impl CumulativeCounters {
    /// The counters in `snapshot` of the target with this URL.
    pub fn of(url: String, snapshot: &Snapshot) -> Self {
        let value = |(counter, reading): (&Counter, &CounterReading)| match reading {
            CounterReading::Value(value) => Some((*counter, *value)),
            CounterReading::Absent(_) => None,
        };
        Self {
            url,
            portable: snapshot.portable.iter().filter_map(value).collect(),
            native: snapshot.native.clone(),
        }
    }
}
