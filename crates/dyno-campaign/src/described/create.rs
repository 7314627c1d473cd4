//! One table, and errors of the database with its place.

use dyno_engine::{TableWords, Target, TargetError};
use dyno_workload::own::DescribedTable;

use super::book;

/// Makes a table.
pub(super) fn create(
    target: &dyn Target,
    table: &DescribedTable,
    words: &TableWords,
) -> Result<(), TargetError> {
    let create = table.create(words).map_err(|fault| TargetError::unsupported(fault.to_string()))?;
    book::does(target, &[create]).map_err(|error| at(table, error))
}

/// An error of the database, with the place of the table.
pub(super) fn at(table: &DescribedTable, error: TargetError) -> TargetError {
    TargetError { message: table.fault(error.message.as_str(), "").to_string(), ..error }
}
