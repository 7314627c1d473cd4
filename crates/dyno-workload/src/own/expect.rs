//! `expect`: what one transaction does to the database, as its author says.

use std::collections::BTreeMap;

use dyno_record::Counter;

use super::fault::Fault;
use super::table::Item;

/// What may be said, by the counters that it is held against.
pub(super) const KNOWN: [Counter; 7] = [
    Counter::RowsRead,
    Counter::RowsWritten,
    Counter::Commits,
    Counter::Rollbacks,
    Counter::Executions,
    Counter::LogicalReads,
    Counter::RedoBytes,
];

/// The largest number that may be said.
const MOST: f64 = 1e12;

/// What `item` says of one transaction, in the counters' units.
///
/// # Errors
/// A counter is not known, or its number is none.
pub(super) fn expect(item: &Item<'_>) -> Result<BTreeMap<Counter, f64>, Fault> {
    let table = item.table("{ rows_written = 3 }")?;
    let names = KNOWN.map(Counter::name);
    table.only(&names)?;
    let mut said = BTreeMap::new();
    for (counter, name) in KNOWN.into_iter().zip(names) {
        let Some(item) = table.get(name) else { continue };
        let number = item.real("3")?;
        if !(0.0..=MOST).contains(&number) {
            return Err(item.fault("not a number of one transaction", "write 0 or more"));
        }
        said.insert(counter, number);
    }
    Ok(said)
}
