//! Checks before a run, from a sample, that the data is still what was loaded.
//!
//! It checks the table's size, that it has only its own indexes and no triggers or constraints, and that
//! neighboring keys are far apart. It also checks the smallest and largest key and compares a sample of rows
//! byte for byte.

use dyno_plan::DataSpec;

use super::super::wire::{MySqlConnection, MySqlError, TextRow};
use super::keys::{check_secondary, table_error};
use super::quote::literal;
use super::tables::{MySqlRowShape, TestTable, tables};
use dyno_engine::data::{mix, order_fault, order_keys, spot_keys};
use dyno_engine::layout::{RowText, checked_key, ends_fault, once_fault, text_columns};
use dyno_engine::row::first;
use dyno_engine::{Refusal as _, TargetError};

/// Checks every table of `spec`; another `seed` samples other rows.
///
/// # Errors
/// `Data` names the table and the problem.
pub(crate) fn spot_check(
    connection: &mut MySqlConnection,
    spec: &DataSpec,
    seed: u64,
) -> Result<(), TargetError> {
    let shape = MySqlRowShape::of(spec.block_size)?;
    for table in tables(spec) {
        check_facts(connection, spec, &table)?;
        check_rows(connection, spec, &table, shape, seed).map_err(|error| as_table_error(&table, error))?;
    }
    Ok(())
}

fn check_rows(
    connection: &mut MySqlConnection,
    spec: &DataSpec,
    table: &TestTable,
    shape: MySqlRowShape,
    seed: u64,
) -> Result<(), TargetError> {
    check_ends(connection, table, shape)?;
    let mut text = RowText::new(spec, table, shape.column_bytes);
    let seed = table.look(seed);
    if table.has_keys() {
        check_order(connection, table, shape, seed)?;
        check_by_key(connection, table, &mut text, seed)?;
        check_secondary(connection, spec, table)?;
    }
    check_positions(connection, table, shape, &mut text, seed)
}

/// Turns the server's errors about a missing column (1054), table (1146) or index (1176) into a finding about
/// the table.
fn as_table_error(table: &TestTable, error: TargetError) -> TargetError {
    match MySqlError::of(&error).map(|server| server.number) {
        Some(1054 | 1146 | 1176) => {
            table_error(&table.name(), &format!("cannot be read as it was loaded: {}", error.message))
        }
        _ => error,
    }
}

/// Checks the table's indexes, triggers and constraints.
fn check_facts(
    connection: &mut MySqlConnection,
    spec: &DataSpec,
    table: &TestTable,
) -> Result<(), TargetError> {
    let name = table.name();
    let rows = connection.simple(&format!("SHOW INDEX FROM {name}"))?;
    // The columns Key_name and Column_name.
    let mut indexes: Vec<(&str, &str)> =
        rows.iter().filter_map(|row| Some((row.get(2)?, row.get(4)?))).collect();
    indexes.sort_unstable();
    let (own, secondary) = (table.index_name(), table.secondary_index_name(spec));
    let mut wanted: Vec<(&str, &str)> = own.iter().map(|index| (index.as_str(), "custid")).collect();
    wanted.extend(secondary.iter().map(|index| (index.as_str(), "sec")));
    wanted.insert(0, ("PRIMARY", "id"));
    if let Some((index, column)) = wanted.iter().find(|index| !indexes.contains(index)) {
        return Err(table_error(&name, &format!("lacks its index {index} on {column}")));
    }
    if let Some((index, _)) = indexes.iter().find(|index| !wanted.contains(index)) {
        return Err(table_error(
            &name,
            &format!("has a further index {index}, which every update would have to maintain"),
        )
        .hint(format!(
            "DROP INDEX {index} ON {name}; or `dyno load --replace`, which loads the data again"
        )));
    }
    let triggers = connection.simple(&format!(
        "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS
         WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = {}",
        literal(&name)
    ))?;
    if let Some(trigger) = triggers.first().and_then(|row| row.get(0)) {
        return Err(table_error(&name, &format!("has a trigger {trigger}, which adds work to operations"))
            .hint(format!("DROP TRIGGER {trigger}; or `dyno load --replace`, which loads the data again")));
    }
    let constraints = connection.simple(&format!(
        "SELECT CONSTRAINT_NAME, CONSTRAINT_TYPE FROM information_schema.TABLE_CONSTRAINTS
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {} AND CONSTRAINT_TYPE <> 'PRIMARY KEY'",
        literal(&name)
    ))?;
    if let Some((constraint, kind)) = constraints.first().and_then(|row| Some((row.get(0)?, row.get(1)?))) {
        let fault = format!("has a constraint {constraint} ({kind}), which every change would have to check");
        return Err(table_error(&name, &fault).hint(format!(
            "ALTER TABLE {name} DROP CONSTRAINT {constraint}; or `dyno load --replace`, which loads the data again"
        )));
    }
    Ok(())
}

/// Checks that keys are still in random order; the surrogate key is the order of the table.
pub(super) fn check_order(
    connection: &mut MySqlConnection,
    table: &TestTable,
    shape: MySqlRowShape,
    seed: u64,
) -> Result<(), TargetError> {
    let (name, keys) = (table.name(), list(order_keys(table.rows, seed).into_iter()));
    let rows = connection.simple(&format!("SELECT custid, id FROM {name} WHERE custid IN ({keys})"))?;
    let place = |row: &TextRow| Some((row.parse(0)?, row.parse::<u64>(1)? / shape.records()));
    let places: Vec<(u64, u64)> = rows.iter().filter_map(place).collect();
    match order_fault(table.rows, &places) {
        Some(fault) => Err(table_error(&name, &fault)),
        None => Ok(()),
    }
}

/// Checks the smallest and largest surrogate key, and the smallest and largest key of a table with an index.
/// Each is one index access.
fn check_ends(
    connection: &mut MySqlConnection,
    table: &TestTable,
    shape: MySqlRowShape,
) -> Result<(), TargetError> {
    let name = table.name();
    let mut columns = vec![("id", shape.records() * table.rows)];
    if table.has_keys() {
        columns.push(("custid", table.rows));
    }
    for (column, last) in columns {
        let rows = connection.simple(&format!("SELECT MIN({column}), MAX({column}) FROM {name}"))?;
        if let Some(fault) = ends_fault(column, (first(&rows, 0), first(&rows, 1)), last) {
            return Err(table_error(&name, &fault));
        }
    }
    Ok(())
}

/// Keys of the rows that match `condition`, after checking their contents.
fn keys_of(
    connection: &mut MySqlConnection,
    table: &TestTable,
    text: &mut RowText,
    condition: &str,
) -> Result<Vec<u64>, TargetError> {
    let (name, columns) = (table.name(), text_columns(", "));
    let sql = format!("SELECT custid, ver, CONCAT({columns}) FROM {name} WHERE {condition}");
    let rows = connection.simple(&sql)?;
    let keys = rows.iter().map(|row| checked_key(table, row, text));
    keys.collect::<Result<_, _>>().map_err(|fault| table_error(&name, &fault))
}

fn list(numbers: impl Iterator<Item = u64>) -> String {
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

fn check_by_key(
    connection: &mut MySqlConnection,
    table: &TestTable,
    text: &mut RowText,
    seed: u64,
) -> Result<(), TargetError> {
    let keys = spot_keys(table.rows, seed);
    let condition = format!("custid IN ({})", list(keys.iter().copied()));
    let actual_keys = keys_of(connection, table, text, &condition)?;
    once_fault(&keys, &actual_keys).map_or(Ok(()), |fault| Err(table_error(&table.name(), &fault)))
}

/// Checks rows and spacers at some insert positions.
pub(super) fn check_positions(
    connection: &mut MySqlConnection,
    table: &TestTable,
    shape: MySqlRowShape,
    text: &mut RowText,
    seed: u64,
) -> Result<(), TargetError> {
    let name = table.name();
    let positions = spot_keys(table.rows, mix(seed));
    let ids: Vec<u64> = positions.iter().map(|position| shape.id(position - 1)).collect();
    let rows = keys_of(connection, table, text, &format!("id IN ({})", list(ids.iter().copied())))?;
    let spacers = list(ids.iter().flat_map(|id| shape.spacer_ids(*id)));
    let empty = connection.simple(&format!(
        "SELECT COUNT(*) FROM {name} WHERE id IN ({spacers}) AND custid IS NULL AND c2 IS NULL"
    ))?;
    let empty = first::<usize>(&empty, 0).unwrap_or(0);
    // There are some hundred positions, with at most three spacers each.
    if rows.len() != positions.len() || empty != positions.len() * shape.spacers as usize {
        let fault = format!(
            "has {} rows and {empty} spacers at {} places, but the load wrote one row with its {} at each",
            rows.len(),
            positions.len(),
            shape.spacers
        );
        return Err(table_error(&name, &fault));
    }
    Ok(())
}
