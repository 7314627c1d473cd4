//! The operations in SQL.
//!
//! The index is named: in a small table, or with statistics of a sample, the optimizer may think a scan cheaper, and a
//! range by the index is what the method demands.

use dyno_plan::Redo;

use crate::layout::Shape;
use dyno_engine::data::TEXT_COLUMNS;
use dyno_engine::layout::{text_columns, updated_columns};
use dyno_engine::{Answer, Blocks, BlocksSql, BlocksStatement, Kind, Slot, TargetError, Type};

/// The statements of the method on one schema, and what is bound to them.
pub(crate) fn blocks(blocks: &Blocks) -> Result<BlocksSql, TargetError> {
    let Blocks { schema, redo, ref spec, extra, .. } = *blocks;
    let shape = Shape::of(spec.block_size)?;
    let range = [Slot::KEY, Slot::last(blocks.work_unit)];
    let fresh: Vec<Slot> = updated_columns(redo).enumerate().map(|(place, _)| Slot::Column(place)).collect();
    let seen = [Slot::Stamp, Slot::RunPrefix, Slot::SessionPrefix];
    let read =
        |kind, sql, slots: &[Slot], answer| BlocksStatement::read(kind, sql, &types(slots), slots, answer);
    let look = |kind, sql, slots: &[Slot]| BlocksStatement::look(kind, sql, &types(slots), slots);
    let write = |kind, sql, slots: &[Slot], per_row| {
        let mut write = BlocksStatement::write(kind, sql, &types(slots), slots);
        write.statement.answer = Answer::Changed { per_row };
        write
    };
    let mut statements = vec![
        read(Kind::Select, select(schema), &range, Answer::Number),
        read(Kind::Lookup, lookup(schema), &[Slot::KEY], Answer::Row),
        write(Kind::Update, update(schema, redo), &[&fresh, &range[..]].concat(), 1),
        look(Kind::Found, found(schema), &range),
        look(Kind::Fresh, holds(schema), &[&seen[..], &range].concat()),
    ];
    if spec.scan_rows > 0 {
        statements.push(read(Kind::Scan, scan(schema), &[], Answer::Number));
    }
    if extra.secondary {
        statements.push(read(Kind::Secondary, secondary(schema), &[Slot::KEY], Answer::Number));
    }
    if extra.churn {
        // A row and its spacers, whose places are those that they would have if they had been loaded.
        let records = shape.records();
        let place = |before: u64| Slot::Key { times: records as i64, plus: -(before as i64) };
        let ends = [place(shape.spacers), place(0)];
        let mut slots: Vec<Slot> = (0..records).rev().map(place).collect();
        slots.push(Slot::KEY);
        slots.extend((0..TEXT_COLUMNS).map(Slot::Column).chain([Slot::Pad]));
        // There are two or four.
        let records = records as u32;
        statements.push(write(Kind::Insert, insert(schema, shape), &slots, records));
        statements.push(write(Kind::Delete, delete(schema), &ends, records));
    }
    Ok(BlocksSql { column_bytes: shape.column_bytes, pad_bytes: shape.pad_bytes, statements })
}

/// The types of what is bound.
fn types(slots: &[Slot]) -> Vec<Type> {
    let number = |slot: &Slot| matches!(slot, Slot::Key { .. } | Slot::Number);
    slots.iter().map(|slot| if number(slot) { Type::Int } else { Type::Text }).collect()
}

/// The table of `schema`, to be read by its index on `custid`.
fn by_index(schema: u32) -> String {
    format!("dyno_rows_{schema} FORCE INDEX (dyno_rows_{schema}_custid)")
}

/// Counts the rows of a range; `c2` is in no index, so each row's page is visited.
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

/// Gives the rows of a range new values; the values come before the range.
fn update(schema: u32, redo: Redo) -> String {
    let set: String = updated_columns(redo).map(|column| format!(", c{column} = ?")).collect();
    format!("UPDATE {} SET ver = ver + 1{set} WHERE custid BETWEEN ? AND ?", by_index(schema))
}

/// Counts the rows of one value of the secondary key.
fn secondary(schema: u32) -> String {
    format!("SELECT COUNT(c2) FROM dyno_rows_{schema} FORCE INDEX (dyno_rows_{schema}_sec) WHERE sec = ?")
}

/// Inserts a row with new values, as long as those that were loaded, behind its spacers: the place of each spacer, then the
/// row's place, key, columns and pad.
fn insert(schema: u32, shape: Shape) -> String {
    // There are one or three spacers.
    insert_with(schema, shape, &vec!["?"; shape.spacers as usize + 3 + TEXT_COLUMNS])
}

/// The same with these expressions as its values.
pub(super) fn insert_with(schema: u32, shape: Shape, values: &[impl AsRef<str>]) -> String {
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

/// Deletes a row and its spacers, by their places.
fn delete(schema: u32) -> String {
    format!("DELETE FROM dyno_rows_{schema} WHERE id BETWEEN ? AND ?")
}

/// Counts the rows of a range whether or not they hold anything.
fn found(schema: u32) -> String {
    format!("SELECT COUNT(*) FROM {} WHERE custid BETWEEN ? AND ?", by_index(schema))
}

/// Counts those of them in which `c2` begins with a stamp, or with one that another session of this run wrote: the stamp, what
/// all of the run begin with, and what all of the session begin with. All three are hexadecimal digits behind a `u`.
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
    fn heavy_sets_every_column_and_lite_two() {
        assert_eq!(
            update(3, Redo::Lite),
            "UPDATE dyno_rows_3 FORCE INDEX (dyno_rows_3_custid) SET ver = ver + 1, c2 = ?, c20 = ? \
             WHERE custid BETWEEN ? AND ?"
        );
        assert_eq!(update(1, Redo::Heavy).matches('?').count(), 21);
    }

    #[test]
    fn something_is_bound_to_every_mark() {
        for block_size in [16_384, 65_536] {
            let spec = DataSpec {
                schemas: 1,
                rows: 9,
                scan_rows: 9,
                block_size,
                compressible: 0,
                seed: 1,
                secondary: true,
            };
            let extra = Extra { churn: true, secondary: true, hot_schema: false };
            let redo = Redo::Lite;
            let of = Blocks { schema: 1, spec, work_unit: 5, redo, extra, seed: 1, run_stamp: 1, session: 0 };
            let BlocksSql { statements, .. } = blocks(&of).unwrap();
            assert_eq!(statements.len(), Kind::ALL.len());
            for BlocksStatement { kind, statement, slots } in statements {
                assert_eq!(statement.sql.matches('?').count(), slots.len(), "{kind:?}");
                assert_eq!((statement.params.len(), statement.name.as_str()), (slots.len(), kind.name()));
            }
        }
    }
}
