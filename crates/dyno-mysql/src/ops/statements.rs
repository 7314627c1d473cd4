//! The SQL of the block workload's operations.
//!
//! The statements name the index. In a small table or with sampled statistics the optimizer may consider a
//! scan cheaper, but the method requires a range access by the index.

use dyno_plan::Redo;

use crate::layout::MySqlRowShape;
use dyno_engine::data::TEXT_COLUMNS;
use dyno_engine::layout::{text_columns, updated_columns};
use dyno_engine::{
    BlockSessionConfig, BlockStatementKind, BlocksSql, BlocksStatement, ResultKind, Slot, TargetError, Type,
};

/// The block workload's statements on one schema, and the values that are bound to them.
pub(crate) fn blocks(blocks: &BlockSessionConfig) -> Result<BlocksSql, TargetError> {
    let BlockSessionConfig { schema, redo, ref spec, extra, .. } = *blocks;
    let shape = MySqlRowShape::of(spec.block_size)?;
    let range = [Slot::KEY, Slot::last(blocks.work_unit)];
    let fresh: Vec<Slot> = updated_columns(redo).enumerate().map(|(place, _)| Slot::Column(place)).collect();
    let stamp_slots = [Slot::Stamp, Slot::RunPrefix, Slot::SessionPrefix];
    let read =
        |kind, sql, slots: &[Slot], answer| BlocksStatement::read(kind, sql, &types(slots), slots, answer);
    let look = |kind, sql, slots: &[Slot]| BlocksStatement::look(kind, sql, &types(slots), slots);
    let write = |kind, sql, slots: &[Slot], per_row| {
        let mut write = BlocksStatement::write(kind, sql, &types(slots), slots);
        write.statement.answer = ResultKind::Changed { per_row };
        write
    };
    let mut statements = vec![
        read(BlockStatementKind::Select, select(schema), &range, ResultKind::Number),
        read(BlockStatementKind::Lookup, lookup(schema), &[Slot::KEY], ResultKind::Row),
        write(BlockStatementKind::Update, update(schema, redo), &[&fresh, &range[..]].concat(), 1),
        look(BlockStatementKind::Found, found(schema), &range),
        look(BlockStatementKind::Fresh, holds(schema), &[&stamp_slots[..], &range].concat()),
    ];
    if spec.scan_rows > 0 {
        statements.push(read(BlockStatementKind::Scan, scan(schema), &[], ResultKind::Number));
    }
    if extra.secondary {
        statements.push(read(
            BlockStatementKind::Secondary,
            secondary(schema),
            &[Slot::KEY],
            ResultKind::Number,
        ));
    }
    if extra.churn {
        // A row and its spacers, with the ids that they would have had in a load.
        let records = shape.records();
        let place = |before: u64| Slot::Key { times: records as i64, plus: -(before as i64) };
        let ends = [place(shape.spacers), place(0)];
        let mut slots: Vec<Slot> = (0..records).rev().map(place).collect();
        slots.push(Slot::KEY);
        slots.extend((0..TEXT_COLUMNS).map(Slot::Column).chain([Slot::Pad]));
        // A row has two or four records.
        let records = records as u32;
        statements.push(write(BlockStatementKind::Insert, insert(schema, shape), &slots, records));
        statements.push(write(BlockStatementKind::Delete, delete(schema), &ends, records));
    }
    Ok(BlocksSql { column_bytes: shape.column_bytes, pad_bytes: shape.pad_bytes, statements })
}

/// The types of the bound values.
fn types(slots: &[Slot]) -> Vec<Type> {
    let number = |slot: &Slot| matches!(slot, Slot::Key { .. } | Slot::Number);
    slots.iter().map(|slot| if number(slot) { Type::Int } else { Type::Text }).collect()
}

/// The table of `schema`, with a hint to use its index on `custid`.
fn by_index(schema: u32) -> String {
    format!("dyno_rows_{schema} FORCE INDEX (dyno_rows_{schema}_custid)")
}

/// Counts the rows of a range. `c2` is in no index, so the server reads each row's page.
fn select(schema: u32) -> String {
    format!("SELECT COUNT(c2) FROM {} WHERE custid BETWEEN ? AND ?", by_index(schema))
}

/// Reads the row of a key.
fn lookup(schema: u32) -> String {
    format!("SELECT c2 FROM {} WHERE custid = ?", by_index(schema))
}

/// Counts the rows of the table without an index.
fn scan(schema: u32) -> String {
    format!("SELECT COUNT(c2) FROM dyno_scan_{schema}")
}

/// Updates the rows of a range; the values are bound before the range.
fn update(schema: u32, redo: Redo) -> String {
    let set: String = updated_columns(redo).map(|column| format!(", c{column} = ?")).collect();
    format!("UPDATE {} SET ver = ver + 1{set} WHERE custid BETWEEN ? AND ?", by_index(schema))
}

/// Counts the rows of one value of the secondary key.
fn secondary(schema: u32) -> String {
    format!("SELECT COUNT(c2) FROM dyno_rows_{schema} FORCE INDEX (dyno_rows_{schema}_sec) WHERE sec = ?")
}

/// Inserts a row with new values, as long as loaded rows, after its spacers. Values: the id of each spacer,
/// then the row's id, key, columns and pad.
fn insert(schema: u32, shape: MySqlRowShape) -> String {
    // A row has one or three spacers.
    insert_with(schema, shape, &vec!["?"; shape.spacers as usize + 3 + TEXT_COLUMNS])
}

/// Like [`insert`], with these expressions as values.
pub(super) fn insert_with(schema: u32, shape: MySqlRowShape, values: &[impl AsRef<str>]) -> String {
    let columns = text_columns(", ");
    let nulls = ", NULL".repeat(TEXT_COLUMNS - 1);
    let text = format!("REPEAT('.', {})", shape.spacer_bytes);
    let (last, pad) = if shape.pads_spacers() { ("NULL", text.as_str()) } else { (text.as_str(), "NULL") };
    let mut values = values.iter().map(AsRef::as_ref);
    let mut take = |count: usize| values.by_ref().take(count).collect::<Vec<_>>();
    let spacers: String = take(shape.spacers as usize)
        .into_iter()
        .map(|place| format!("({place}, NULL, 0{nulls}, {last}, {pad}), "))
        .collect();
    let (place_and_key, texts) = (take(2).join(", "), take(TEXT_COLUMNS + 1).join(", "));
    format!(
        "INSERT INTO dyno_rows_{schema} (id, custid, ver, {columns}, pad) VALUES {spacers}({place_and_key}, 0, {texts})"
    )
}

/// Deletes a row and its spacers by their ids.
fn delete(schema: u32) -> String {
    format!("DELETE FROM dyno_rows_{schema} WHERE id BETWEEN ? AND ?")
}

/// Counts the rows of a range, whatever they contain.
fn found(schema: u32) -> String {
    format!("SELECT COUNT(*) FROM {} WHERE custid BETWEEN ? AND ?", by_index(schema))
}

/// Counts the rows of a range in which `c2` begins with a stamp or with one that another session of this run
/// wrote. The parameters are the stamp, the run's prefix and the session's prefix. All three are hexadecimal
/// digits after a `u`.
fn holds(schema: u32) -> String {
    format!(
        "SELECT COUNT(CASE WHEN c2 LIKE CONCAT(?, '%') OR (c2 LIKE CONCAT(?, '%') AND c2 NOT LIKE CONCAT(?, '%')) \
         THEN 1 END) FROM {} WHERE custid BETWEEN ? AND ?",
        by_index(schema)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::Extra;
    use dyno_plan::DataSpec;

    #[test]
    fn heavy_update_sets_every_column_and_lite_sets_two() {
        assert_eq!(
            update(3, Redo::Lite),
            "UPDATE dyno_rows_3 FORCE INDEX (dyno_rows_3_custid) SET ver = ver + 1, c2 = ?, c20 = ? \
             WHERE custid BETWEEN ? AND ?"
        );
        assert_eq!(update(1, Redo::Heavy).matches('?').count(), 21);
    }

    #[test]
    fn every_mysql_placeholder_is_bound() {
        for block_size in [16_384, 65_536] {
            let spec = DataSpec {
                schemas: 1,
                rows: 9,
                scan_rows: 9,
                block_size,
                compressible: 0,
                seed: 1,
                secondary: true,
                copied: false,
            };
            let extra = Extra { churn: true, secondary: true, hot_schema: false };
            let redo = Redo::Lite;
            let block_workload = BlockSessionConfig {
                schema: 1,
                spec,
                work_unit: 5,
                redo,
                extra,
                seed: 1,
                run_stamp: 1,
                session: 0,
            };
            let BlocksSql { statements, .. } = blocks(&block_workload).unwrap();
            assert_eq!(statements.len(), BlockStatementKind::ALL.len());
            for BlocksStatement { kind, statement, slots } in statements {
                assert_eq!(statement.sql.matches('?').count(), slots.len(), "{kind:?}");
                assert_eq!((statement.params.len(), statement.name.as_str()), (slots.len(), kind.name()));
            }
        }
    }
}
