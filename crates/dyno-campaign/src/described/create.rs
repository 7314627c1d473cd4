//! Creates one table, and adds the table's place to database errors.

use dyno_engine::{Target, TargetError};
use dyno_workload::custom::DescribedTable;

use super::state_tables;

/// Creates a table; adds a primary key if it has none and the server requires one.
pub(super) fn create(target: &dyn Target, table: &DescribedTable) -> Result<(), TargetError> {
    let key = if table.has_key() { None } else { target.required_key()? };
    let create = table.create(&target.table_words(), key.map(|key| key.column));
    let create = create.map_err(|fault| TargetError::unsupported(fault.to_string()))?;
    state_tables::execute_all(target, &[create]).map_err(|error| error_at_table(table, error))
}

/// Adds the table's place in its file to an error of the database.
pub(super) fn error_at_table(table: &DescribedTable, error: TargetError) -> TargetError {
    TargetError { message: table.fault(error.message.as_str(), "").to_string(), ..error }
}
