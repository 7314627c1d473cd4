//! Checks before a run, from a sample, that the data is still what was loaded.
//!
//! The checks do not depend on planner statistics. They cover the table's size in blocks, its valid indexes
//! and no other dependent objects, and the distance between neighboring keys. They also cover the smallest
//! and largest key and a sample of rows compared byte for byte. If the server has counted deletions that are
//! not Dyno's own, all keys are counted.

use dyno_plan::DataSpec;

use super::super::wire::{PostgresConnection, PostgresError};
use super::deletions;
use super::keys::{KEYS, check_keys, check_secondary};
use super::quote::literal;
use super::session::go_by_index;
use super::tables::{COLUMN_BYTES, TestTable, indexes, tables};
use dyno_engine::data::{TableKind, neighbours_fault, order_keys, sorted_fault, spot_keys};
use dyno_engine::layout::{RowText, checked_key, ends_fault, once_fault, text_columns};
use dyno_engine::row::first;
use dyno_engine::{Refusal as _, TargetError, TargetErrorKind};

/// Line pointers of a block that may point to its row: a resumed load leaves dead ones before it.
const POINTERS: u64 = 4;

/// Checks every table of `spec`; another `seed` samples other rows. Returns how updates have changed the
/// order of rows.
///
/// # Errors
/// `Data` names the table and the problem.
pub(crate) fn spot_check(
    connection: &mut PostgresConnection,
    spec: &DataSpec,
    seed: u64,
) -> Result<Option<String>, TargetError> {
    // Rows are read through the index, as in a run.
    go_by_index(connection)?;
    let mut all = Vec::new();
    for table in tables(spec) {
        let facts = facts(connection, spec, &table)?;
        all.push((table, facts));
    }
    let of_rows = all.iter().filter(|(table, _)| table.has_keys());
    let deleted: u64 = of_rows.map(|(_, facts)| facts.deleted).sum();
    // Statistics that were reset do not include earlier deletions.
    let has_foreign_deletes = deleted > 0 && deleted != deletions::noted(connection)?;
    let mut moved = None;
    for (table, facts) in &all {
        check_facts(spec, table, facts)?;
        check_burdens(connection, spec, table)?;
        let needs_key_count = if table.has_keys() { has_foreign_deletes } else { facts.deleted > 0 };
        let check_result = check_rows(connection, spec, table, facts, (needs_key_count, seed));
        moved = moved.or(check_result.map_err(|error| as_table_error(table, error))?);
    }
    if has_foreign_deletes {
        deletions::set(connection, deleted);
    }
    Ok(moved)
}

/// Checks the rows of one table; counts all keys if `others` may have deleted some.
fn check_rows(
    connection: &mut PostgresConnection,
    spec: &DataSpec,
    table: &TestTable,
    facts: &PostgresTableFacts,
    (needs_key_count, seed): (bool, u64),
) -> Result<Option<String>, TargetError> {
    if needs_key_count {
        count_all(connection, table)?;
    }
    let seed = table.look(seed);
    match table.kind {
        TableKind::Rows => {
            check_ends(connection, table)?;
            let moved = check_order(connection, table, seed)?;
            check_by_key(connection, spec, table, seed)?;
            check_secondary(connection, spec, table)?;
            Ok(moved)
        }
        TableKind::Scan => check_by_block(connection, spec, table, facts.blocks, seed).map(|()| None),
    }
}

/// Turns the server's errors about missing or changed columns into a finding about the table.
fn as_table_error(table: &TestTable, error: TargetError) -> TargetError {
    match PostgresError::of(&error) {
        Some(server) if server.code.starts_with("42") && error.kind != TargetErrorKind::Privilege => {
            table_error(table, &format!("cannot be read as it was loaded: {}", error.message))
        }
        _ => error,
    }
}

/// The properties of a table in the catalogs.
struct PostgresTableFacts {
    blocks: u64,
    good_indexes: u64,
    deleted: u64,
}

fn facts(
    connection: &mut PostgresConnection,
    spec: &DataSpec,
    table: &TestTable,
) -> Result<PostgresTableFacts, TargetError> {
    let index = table.index_name().unwrap_or_default();
    let secondary = table.secondary_index_name(spec).unwrap_or_default();
    let rows = connection.simple(&format!(
        "SELECT pg_relation_size(c.oid) / current_setting('block_size')::int8,
            (SELECT count(*) FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
             WHERE i.indrelid = c.oid AND i.indisvalid AND i.indisready AND i.indpred IS NULL AND i.indnatts = 1
               AND (x.relname = {} AND pg_get_indexdef(x.oid, 1, false) = 'custid'
                 OR x.relname = {} AND i.indexprs IS NOT NULL)),
            coalesce(pg_stat_get_tuples_deleted(c.oid), 0)
         FROM pg_class c WHERE c.oid = {}::regclass",
        literal(&index),
        literal(&secondary),
        literal(&table.name())
    ))?;
    let number = |i| first(&rows, i);
    let read =
        || Some(PostgresTableFacts { blocks: number(0)?, good_indexes: number(1)?, deleted: number(2)? });
    read().ok_or_else(|| table_error(table, "cannot be inspected: the database's answer cannot be read"))
}

fn table_error(table: &TestTable, fault: &str) -> TargetError {
    let message = format!("table {} is not as loaded: it {fault}", table.name());
    TargetError::data(message).hint("find out what changed it; `dyno load --replace` loads it again")
}

fn check_facts(spec: &DataSpec, table: &TestTable, facts: &PostgresTableFacts) -> Result<(), TargetError> {
    let wanted = indexes(table, spec).len() as u64;
    if facts.blocks < table.rows {
        let fault = format!(
            "has {} blocks, but {} rows were loaded, each into its own block",
            facts.blocks, table.rows
        );
        return Err(table_error(table, &fault));
    }
    if facts.good_indexes < wanted {
        let index_fault = match wanted {
            1 => "lacks its index on custid, or that index is invalid",
            _ => "lacks an index, on custid or on the secondary key, or that index is invalid",
        };
        return Err(table_error(table, index_fault));
    }
    Ok(())
}

/// Checks for objects that were not loaded with the table and add work to each operation.
fn check_burdens(
    connection: &mut PostgresConnection,
    spec: &DataSpec,
    table: &TestTable,
) -> Result<(), TargetError> {
    let index_names: Vec<String> = indexes(table, spec).iter().map(|(name, _)| literal(name)).collect();
    let sql = include_str!("../sql/spot_burdens.sql")
        .replace("{table}", &literal(&table.name()))
        .replace("{own}", &format!("ARRAY[{}]::name[]", index_names.join(", ")));
    let rows = connection.simple(&sql)?;
    let Some(first) = rows.first() else { return Ok(()) };
    let cell = |at| first.get(at).unwrap_or("?");
    let (object_kind, name, way_out) = (cell(1), cell(2), cell(3));
    let more = match rows.len() {
        1 => String::new(),
        all => format!(" and {} things more", all - 1),
    };
    let fault =
        format!("has the {object_kind} {name}{more}, which was not loaded and adds work to operations");
    Err(table_error(table, &fault)
        .hint(format!("{way_out}; or `dyno load --replace`, which loads the data again")))
}

/// Checks that keys are still in random order; if updates have moved rows, returns a description of that.
pub(super) fn check_order(
    connection: &mut PostgresConnection,
    table: &TestTable,
    seed: u64,
) -> Result<Option<String>, TargetError> {
    let keys: Vec<String> = order_keys(table.rows, seed).iter().map(u64::to_string).collect();
    let sql = include_str!("../sql/spot_places.sql")
        .replace("{table}", &table.name())
        .replace("{keys}", &keys.join(","));
    let rows = connection.simple(&sql)?;
    let key_places: Vec<(u64, u64)> =
        rows.iter().filter_map(|row| Some((row.parse(0)?, row.parse(1)?))).collect();
    if let Some(fault) = sorted_fault(&key_places) {
        return Err(table_error(table, &fault));
    }
    match neighbours_fault(table.rows, &key_places) {
        Some(fault) if moved_by_updates(table.rows, &key_places) && !was_rewritten(connection, table)? => {
            Ok(Some(format!("table {} {fault}; updates have moved rows together", table.name())))
        }
        Some(fault) => Err(table_error(table, &fault)),
        None => Ok(None),
    }
}

/// Share of a sample beyond the loaded blocks from which updates are assumed to have moved rows. An update
/// moves the rows of a range together, so neighboring keys become neighbors without a reordering. A table
/// that was rewritten has no more blocks than rows.
const MOVED_SHARE: f64 = 0.05;

fn moved_by_updates(rows: u64, key_places: &[(u64, u64)]) -> bool {
    let behind = key_places.iter().filter(|(_, block)| *block >= rows).count();
    behind as f64 > MOVED_SHARE * key_places.len() as f64
}

/// Whether the table was rewritten since it was created (CLUSTER, VACUUM FULL, some ALTER TABLE). The number
/// of its file then differs from its oid; in a new table they are equal.
fn was_rewritten(connection: &mut PostgresConnection, table: &TestTable) -> Result<bool, TargetError> {
    let oid = format!("{}::regclass::oid", literal(&table.name()));
    let rows = connection.simple(&format!("SELECT {oid} <> pg_relation_filenode({oid})"))?;
    Ok(rows.first().and_then(|row| row.get(0)) == Some("t"))
}

fn count_all(connection: &mut PostgresConnection, table: &TestTable) -> Result<(), TargetError> {
    let rows = connection.simple(&format!("SELECT {KEYS} FROM {}", table.name()))?;
    check_keys(table, rows.first().ok_or_else(|| table_error(table, "cannot be counted"))?)
}

fn check_ends(connection: &mut PostgresConnection, table: &TestTable) -> Result<(), TargetError> {
    let rows = connection.simple(&format!("SELECT min(custid), max(custid) FROM {}", table.name()))?;
    let fault = ends_fault("keys", (first(&rows, 0), first(&rows, 1)), table.rows);
    fault.map_or(Ok(()), |fault| Err(table_error(table, &fault)))
}

/// Keys of the rows that match `condition`, after checking their contents.
fn keys_of(
    connection: &mut PostgresConnection,
    spec: &DataSpec,
    table: &TestTable,
    condition: &str,
) -> Result<Vec<u64>, TargetError> {
    let (name, columns) = (table.name(), text_columns(" || "));
    let rows = connection.simple(&format!("SELECT custid, ver, {columns} FROM {name} WHERE {condition}"))?;
    let mut text = RowText::new(spec, table, COLUMN_BYTES);
    let keys = rows.iter().map(|row| checked_key(table, row, &mut text));
    keys.collect::<Result<_, _>>().map_err(|fault| table_error(table, &fault))
}

fn check_by_key(
    connection: &mut PostgresConnection,
    spec: &DataSpec,
    table: &TestTable,
    seed: u64,
) -> Result<(), TargetError> {
    let keys = spot_keys(table.rows, seed);
    let list = keys.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let actual_keys = keys_of(connection, spec, table, &format!("custid = ANY ('{{{list}}}'::int8[])"))?;
    once_fault(&keys, &actual_keys).map_or(Ok(()), |fault| Err(table_error(table, &fault)))
}

fn check_by_block(
    connection: &mut PostgresConnection,
    spec: &DataSpec,
    table: &TestTable,
    table_blocks: u64,
    seed: u64,
) -> Result<(), TargetError> {
    let blocks = spot_keys(table_blocks, seed);
    let tids =
        blocks.iter().flat_map(|block| (1..=POINTERS).map(move |n| format!("\"({},{n})\"", block - 1)));
    let list = tids.collect::<Vec<_>>().join(",");
    let rows = keys_of(connection, spec, table, &format!("ctid = ANY ('{{{list}}}'::tid[])"))?;
    // After an interrupted load a table may have empty blocks, so a block need not contain a row.
    if table_blocks == table.rows && rows.len() != blocks.len() {
        let fault = format!(
            "has {} rows in {} of its blocks, but the load wrote one row into each",
            rows.len(),
            blocks.len()
        );
        return Err(table_error(table, &fault));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_moved_by_updates_are_distinguished_from_rewritten_table() {
        let rewritten: Vec<(u64, u64)> = (1..=100).map(|key| (key, key - 1)).collect();
        assert!(sorted_fault(&rewritten).is_some());
        assert!(!moved_by_updates(100, &rewritten));
        // Ten ranges of ten keys were updated; each went to the next free blocks.
        let moved: Vec<(u64, u64)> =
            (1..=100).map(|key| (key, 100 + (key / 10 * 7 % 11) * 10 + key % 10)).collect();
        assert!(sorted_fault(&moved).is_none());
        assert!(neighbours_fault(100, &moved).is_some());
        assert!(moved_by_updates(100, &moved));
    }
}
