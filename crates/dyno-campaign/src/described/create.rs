//! One table, and errors of the database with its place.

use dyno_engine::{Target, TargetError};
use dyno_workload::own::DescribedTable;

use super::book;

/// Makes a table, with a key where it has none and the server requires one.
pub(super) fn create(target: &dyn Target, table: &DescribedTable) -> Result<(), TargetError> {
    let key = if table.has_key() { None } else { target.required_key()? };
    let create = table.create(&target.table_words(), key.map(|key| key.column));
    let create = create.map_err(|fault| TargetError::unsupported(fault.to_string()))?;
    book::does(target, &[create]).map_err(|error| at(table, error))
}

/// An error of the database, with the place of the table.
pub(super) fn at(table: &DescribedTable, error: TargetError) -> TargetError {
    TargetError { message: table.fault(error.message.as_str(), "").to_string(), ..error }
}
