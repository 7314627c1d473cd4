//! Whether the data is still what was loaded, found out before a run and without reading it all.
//!
//! Facts that do not depend on statistics of the planner: the table's size in blocks, its own indexes and that they are valid,
//! nothing else that hangs on it, that neighbouring keys lie in blocks far from each other, the smallest and largest key by that index, and a sample of rows compared byte for byte. Where the server
//! has counted deletions that are not Dyno's own, all keys are counted.

use dyno_plan::DataSpec;

use super::super::wire::{Connection, PgError};
use super::deletions;
use super::keys::{KEYS, check_keys, check_secondary};
use super::quote::literal;
use super::session::go_by_index;
use super::tables::{COLUMN_BYTES, Table, indexes, tables};
use dyno_engine::data::{TableKind, neighbours_fault, order_keys, sorted_fault, spot_keys};
use dyno_engine::layout::{RowText, checked_key, ends_fault, once_fault, text_columns};
use dyno_engine::row::first;
use dyno_engine::{Refusal as _, TargetError, TargetErrorKind};

/// Line pointers of a block that may hold its row: a resumed load leaves dead ones in front.
const POINTERS: u64 = 4;

/// Looks at every table of `spec`; another `seed` looks at other rows. Returns what updates have done to the order of rows.
///
/// # Errors
/// `Data` names the table and what is wrong with it.
pub(crate) fn spot_check(
    connection: &mut Connection,
    spec: &DataSpec,
    seed: u64,
) -> Result<Option<String>, TargetError> {
    // Rows are to be found by the index, as a run finds them.
    go_by_index(connection)?;
    let mut all = Vec::new();
    for table in tables(spec) {
        let facts = facts(connection, spec, &table)?;
        all.push((table, facts));
    }
    let of_rows = all.iter().filter(|(table, _)| table.has_keys());
    let deleted: u64 = of_rows.map(|(_, facts)| facts.deleted).sum();
    // Statistics that were reset say nothing of what was deleted before.
    let others = deleted > 0 && deleted != deletions::noted(connection)?;
    let mut moved = None;
    for (table, facts) in &all {
        check_facts(spec, table, facts)?;
        check_burdens(connection, spec, table)?;
        let others = if table.has_keys() { others } else { facts.deleted > 0 };
        let found = check_rows(connection, spec, table, facts, (others, seed));
        moved = moved.or(found.map_err(|error| altered(table, error))?);
    }
    if others {
        deletions::set(connection, deleted);
    }
    Ok(moved)
}

/// Rows of one table; all keys are counted where `others` may have deleted some.
fn check_rows(
    connection: &mut Connection,
    spec: &DataSpec,
    table: &Table,
    facts: &Facts,
    (others, seed): (bool, u64),
) -> Result<Option<String>, TargetError> {
    if others {
        count_all(connection, table)?;
    }
    let seed = table.look(seed);
    match table.kind {
        TableKind::Rows => {
            check_ends(connection, table)?;
            let moved = check_order(connection, table, seed)?;
            by_key(connection, spec, table, seed)?;
            check_secondary(connection, spec, table)?;
            Ok(moved)
        }
        TableKind::Scan => by_block(connection, spec, table, facts.blocks, seed).map(|()| None),
    }
}

/// What the server says of columns that are gone or of another type, as a finding about the table.
fn altered(table: &Table, error: TargetError) -> TargetError {
    match PgError::of(&error) {
        Some(server) if server.code.starts_with("42") && error.kind != TargetErrorKind::Privilege => {
            wrong(table, &format!("cannot be read as it was loaded: {}", error.message))
        }
        _ => error,
    }
}

/// What the catalogs say of a table.
struct Facts {
    blocks: u64,
    good_indexes: u64,
    deleted: u64,
}

fn facts(connection: &mut Connection, spec: &DataSpec, table: &Table) -> Result<Facts, TargetError> {
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
    let read = || Some(Facts { blocks: number(0)?, good_indexes: number(1)?, deleted: number(2)? });
    read().ok_or_else(|| wrong(table, "cannot be looked at: the database's answer cannot be read"))
}

fn wrong(table: &Table, found: &str) -> TargetError {
    let message = format!("table {} is not what was loaded: it {found}", table.name());
    TargetError::data(message).hint("find out who changed it; `dyno load --replace` makes it anew")
}

fn check_facts(spec: &DataSpec, table: &Table, facts: &Facts) -> Result<(), TargetError> {
    let wanted = indexes(table, spec).len() as u64;
    if facts.blocks < table.rows {
        let found = format!(
            "has {} blocks, and {} rows were loaded, each into a block of its own",
            facts.blocks, table.rows
        );
        return Err(wrong(table, &found));
    }
    if facts.good_indexes < wanted {
        let found = match wanted {
            1 => "has lost its index on custid, or that is not valid",
            _ => "has lost an index, on custid or on the secondary key, or that is not valid",
        };
        return Err(wrong(table, found));
    }
    Ok(())
}

/// What was not loaded with the table and does work of its own at each operation.
fn check_burdens(connection: &mut Connection, spec: &DataSpec, table: &Table) -> Result<(), TargetError> {
    let own: Vec<String> = indexes(table, spec).iter().map(|(name, _)| literal(name)).collect();
    let sql = include_str!("../sql/spot_burdens.sql")
        .replace("{table}", &literal(&table.name()))
        .replace("{own}", &format!("ARRAY[{}]::name[]", own.join(", ")));
    let rows = connection.simple(&sql)?;
    let Some(first) = rows.first() else { return Ok(()) };
    let cell = |at| first.get(at).unwrap_or("?");
    let (what, name, way_out) = (cell(1), cell(2), cell(3));
    let more = match rows.len() {
        1 => String::new(),
        all => format!(" and {} things more", all - 1),
    };
    let found = format!("carries the {what} {name}{more}, which was not loaded and takes part in operations");
    Err(wrong(table, &found).hint(format!("{way_out}; or `dyno load --replace`, which makes the data anew")))
}

/// Whether keys still lie at random; if not because updates moved them, that is returned.
pub(super) fn check_order(
    connection: &mut Connection,
    table: &Table,
    seed: u64,
) -> Result<Option<String>, TargetError> {
    let keys: Vec<String> = order_keys(table.rows, seed).iter().map(u64::to_string).collect();
    let sql = include_str!("../sql/spot_places.sql")
        .replace("{table}", &table.name())
        .replace("{keys}", &keys.join(","));
    let rows = connection.simple(&sql)?;
    let found: Vec<(u64, u64)> = rows.iter().filter_map(|row| Some((row.parse(0)?, row.parse(1)?))).collect();
    if let Some(fault) = sorted_fault(&found) {
        return Err(wrong(table, &fault));
    }
    match neighbours_fault(table.rows, &found) {
        Some(fault) if moved_by_updates(table.rows, &found) && !was_rewritten(connection, table)? => {
            Ok(Some(format!("table {} {fault}; updates have moved rows together", table.name())))
        }
        Some(fault) => Err(wrong(table, &fault)),
        None => Ok(None),
    }
}

/// Share of a sample that lies behind the blocks that were loaded, from which updates have moved rows: those of a range together,
/// so that neighbours are neighbours without anybody having put the table in order. A table that was rewritten has no more
/// blocks than rows.
const MOVED_SHARE: f64 = 0.05;

fn moved_by_updates(rows: u64, found: &[(u64, u64)]) -> bool {
    let behind = found.iter().filter(|(_, block)| *block >= rows).count();
    behind as f64 > MOVED_SHARE * found.len() as f64
}

/// Whether somebody has rewritten the table since it was made (CLUSTER, VACUUM FULL, some ALTER TABLE): its file then has
/// another number than the table, which a new one has not.
fn was_rewritten(connection: &mut Connection, table: &Table) -> Result<bool, TargetError> {
    let oid = format!("{}::regclass::oid", literal(&table.name()));
    let rows = connection.simple(&format!("SELECT {oid} <> pg_relation_filenode({oid})"))?;
    Ok(rows.first().and_then(|row| row.get(0)) == Some("t"))
}

fn count_all(connection: &mut Connection, table: &Table) -> Result<(), TargetError> {
    let rows = connection.simple(&format!("SELECT {KEYS} FROM {}", table.name()))?;
    check_keys(table, rows.first().ok_or_else(|| wrong(table, "cannot be counted"))?)
}

fn check_ends(connection: &mut Connection, table: &Table) -> Result<(), TargetError> {
    let rows = connection.simple(&format!("SELECT min(custid), max(custid) FROM {}", table.name()))?;
    let fault = ends_fault("keys", (first(&rows, 0), first(&rows, 1)), table.rows);
    fault.map_or(Ok(()), |fault| Err(wrong(table, &fault)))
}

/// Keys of the rows that `condition` finds, after their contents were found to be right.
fn keys_of(
    connection: &mut Connection,
    spec: &DataSpec,
    table: &Table,
    condition: &str,
) -> Result<Vec<u64>, TargetError> {
    let (name, columns) = (table.name(), text_columns(" || "));
    let rows = connection.simple(&format!("SELECT custid, ver, {columns} FROM {name} WHERE {condition}"))?;
    let mut text = RowText::new(spec, table, COLUMN_BYTES);
    let keys = rows.iter().map(|row| checked_key(table, row, &mut text));
    keys.collect::<Result<_, _>>().map_err(|fault| wrong(table, &fault))
}

fn by_key(connection: &mut Connection, spec: &DataSpec, table: &Table, seed: u64) -> Result<(), TargetError> {
    let keys = spot_keys(table.rows, seed);
    let list = keys.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let found = keys_of(connection, spec, table, &format!("custid = ANY ('{{{list}}}'::int8[])"))?;
    once_fault(&keys, &found).map_or(Ok(()), |fault| Err(wrong(table, &fault)))
}

fn by_block(
    connection: &mut Connection,
    spec: &DataSpec,
    table: &Table,
    table_blocks: u64,
    seed: u64,
) -> Result<(), TargetError> {
    let blocks = spot_keys(table_blocks, seed);
    let tids =
        blocks.iter().flat_map(|block| (1..=POINTERS).map(move |n| format!("\"({},{n})\"", block - 1)));
    let list = tids.collect::<Vec<_>>().join(",");
    let rows = keys_of(connection, spec, table, &format!("ctid = ANY ('{{{list}}}'::tid[])"))?;
    // Where a broken load left empty blocks behind there are more blocks than rows, and no block must have one.
    if table_blocks == table.rows && rows.len() != blocks.len() {
        let found =
            format!("has {} rows in {} of its blocks, and one in each was loaded", rows.len(), blocks.len());
        return Err(wrong(table, &found));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_updates_moved_are_told_from_a_table_that_was_rewritten() {
        let rewritten: Vec<(u64, u64)> = (1..=100).map(|key| (key, key - 1)).collect();
        assert!(sorted_fault(&rewritten).is_some() && !moved_by_updates(100, &rewritten));
        // Ten ranges of ten keys were updated, each into the next blocks that were free.
        let moved: Vec<(u64, u64)> =
            (1..=100).map(|key| (key, 100 + (key / 10 * 7 % 11) * 10 + key % 10)).collect();
        assert!(sorted_fault(&moved).is_none());
        assert!(neighbours_fault(100, &moved).is_some() && moved_by_updates(100, &moved));
    }
}
