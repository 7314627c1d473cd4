//! Reads `expect`: the declared effect of one transaction on the database.

use std::collections::BTreeMap;

use dyno_record::Counter;

use super::fault::WorkloadError;
use super::table::TomlItem;

/// Counters that can be declared.
pub(super) const KNOWN: [Counter; 7] = [
    Counter::RowsRead,
    Counter::RowsWritten,
    Counter::Commits,
    Counter::Rollbacks,
    Counter::Executions,
    Counter::LogicalReads,
    Counter::RedoBytes,
];

/// The largest number that can be declared.
const MOST: f64 = 1e12;

/// Reads the declared effect of one transaction, in the counters' units.
///
/// # Errors
/// A counter is unknown, or its value is not a valid number.
pub(super) fn expect(item: &TomlItem<'_>) -> Result<BTreeMap<Counter, f64>, WorkloadError> {
    let table = item.table("{ rows_written = 3 }")?;
    let names = KNOWN.map(Counter::name);
    table.require_only(&names)?;
    let mut expected = BTreeMap::new();
    for (counter, name) in KNOWN.into_iter().zip(names) {
        let Some(item) = table.get(name) else { continue };
        let number = item.real("3")?;
        if !(0.0..=MOST).contains(&number) {
            return Err(item.fault("not a number of one transaction", "write 0 or more"));
        }
        expected.insert(counter, number);
    }
    Ok(expected)
}
