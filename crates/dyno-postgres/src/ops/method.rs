//! The SQL of the block workload's operations.

use dyno_engine::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS};
use dyno_engine::layout::{text_columns, updated_columns};
use dyno_engine::{
    BlockSessionConfig, BlockStatementKind, BlocksSql, BlocksStatement, ResultKind, Slot, Statement, Type,
};

const PAIR: [Type; 2] = [Type::Int, Type::Int];

/// The block workload's statements for the schema and the data of `blocks`.
pub fn blocks(blocks: &BlockSessionConfig) -> BlocksSql {
    let range = vec![Slot::KEY, Slot::last(blocks.work_unit)];
    let mut statements = vec![
        select(blocks, &range),
        lookup(blocks),
        update(blocks, &range),
        found(blocks, &range),
        fresh(blocks, &range),
    ];
    if blocks.spec.scan_rows > 0 {
        statements.push(scan(blocks));
    }
    if blocks.extra.secondary {
        statements.push(secondary(blocks));
    }
    if blocks.extra.churn {
        statements.extend([insert(blocks), delete(blocks)]);
    }
    BlocksSql { column_bytes: CLASSIC_COLUMN_BYTES, pad_bytes: 0, statements }
}

/// Counts the rows of a range. `c2` is in no index, so the server reads each row's block.
fn select(BlockSessionConfig { schema, .. }: &BlockSessionConfig, range: &[Slot]) -> BlocksStatement {
    let sql = format!("SELECT COUNT(c2) FROM dyno.rows_{schema} WHERE custid BETWEEN $1 AND $2");
    BlocksStatement::read(BlockStatementKind::Select, sql, &PAIR, range, ResultKind::Number)
}

/// Reads the row of a key.
fn lookup(BlockSessionConfig { schema, .. }: &BlockSessionConfig) -> BlocksStatement {
    let sql = format!("SELECT c2 FROM dyno.rows_{schema} WHERE custid = $1");
    BlocksStatement::read(BlockStatementKind::Lookup, sql, &[Type::Int], &[Slot::KEY], ResultKind::Row)
}

/// Counts the rows of one value of the secondary key.
fn secondary(BlockSessionConfig { schema, spec, .. }: &BlockSessionConfig) -> BlocksStatement {
    let key = spec.secondary_sql("%");
    let sql = format!("SELECT COUNT(c2) FROM dyno.rows_{schema} WHERE ({key}) = $1");
    BlocksStatement::read(BlockStatementKind::Secondary, sql, &[Type::Int], &[Slot::KEY], ResultKind::Number)
}

/// Counts the rows of the table without an index.
fn scan(BlockSessionConfig { schema, .. }: &BlockSessionConfig) -> BlocksStatement {
    let sql = format!("SELECT COUNT(c2) FROM dyno.scan_{schema}");
    BlocksStatement::read(BlockStatementKind::Scan, sql, &[], &[], ResultKind::Number)
}

/// Updates the rows of a range with new values.
fn update(BlockSessionConfig { schema, redo, .. }: &BlockSessionConfig, range: &[Slot]) -> BlocksStatement {
    let columns = updated_columns(*redo).enumerate();
    let set: String = columns.map(|(i, column)| format!(", c{column} = ${}", i + 3)).collect();
    let sql = format!("UPDATE dyno.rows_{schema} SET ver = ver + 1{set} WHERE custid BETWEEN $1 AND $2");
    let columns = updated_columns(*redo).count();
    let (mut types, mut slots) = (PAIR.to_vec(), range.to_vec());
    types.extend(vec![Type::Text; columns]);
    slots.extend((0..columns).map(Slot::Column));
    BlocksStatement::write(BlockStatementKind::Update, sql, &types, &slots)
}

/// Inserts a row with new values.
fn insert(BlockSessionConfig { schema, .. }: &BlockSessionConfig) -> BlocksStatement {
    let columns = text_columns(", ");
    let values: String = (0..TEXT_COLUMNS).map(|i| format!(", ${}", i + 2)).collect();
    let sql = format!("INSERT INTO dyno.rows_{schema} (custid, {columns}) VALUES ($1{values})");
    let (mut types, mut slots) = (vec![Type::Int], vec![Slot::KEY]);
    types.extend([Type::Text; TEXT_COLUMNS]);
    slots.extend((0..TEXT_COLUMNS).map(Slot::Column));
    BlocksStatement::write(BlockStatementKind::Insert, sql, &types, &slots)
}

/// Deletes the row of a key.
fn delete(BlockSessionConfig { schema, .. }: &BlockSessionConfig) -> BlocksStatement {
    let sql = format!("DELETE FROM dyno.rows_{schema} WHERE custid = $1");
    BlocksStatement::write(BlockStatementKind::Delete, sql, &[Type::Int], &[Slot::KEY])
}

/// Counts the rows of a range, to check the result of an update.
fn found(BlockSessionConfig { schema, .. }: &BlockSessionConfig, range: &[Slot]) -> BlocksStatement {
    let sql = format!("SELECT COUNT(*) FROM dyno.rows_{schema} WHERE custid BETWEEN $1 AND $2");
    BlocksStatement::look(BlockStatementKind::Found, sql, &PAIR, range)
}

/// Counts the rows in which `c2` begins with the stamp `$3` or with one that another session of this run
/// wrote. `$4` is the run's prefix, `$5` this session's prefix.
fn fresh(BlockSessionConfig { schema, .. }: &BlockSessionConfig, range: &[Slot]) -> BlocksStatement {
    let sql = format!(
        "SELECT COUNT(*) FROM dyno.rows_{schema} WHERE custid BETWEEN $1 AND $2 \
         AND (starts_with(c2, $3) OR (starts_with(c2, $4) AND NOT starts_with(c2, $5)))"
    );
    let types = [Type::Int, Type::Int, Type::Text, Type::Text, Type::Text];
    let slots = [range, &[Slot::Stamp, Slot::RunPrefix, Slot::SessionPrefix]].concat();
    BlocksStatement::look(BlockStatementKind::Fresh, sql, &types, &slots)
}

/// The statement at a window boundary: makes all statistics of this session visible when it ends; from
/// version 15 on.
pub(super) fn edge() -> Statement {
    Statement::look("edge", super::super::counters::FLUSH.to_owned(), &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::Extra;
    use dyno_plan::{DataSpec, Redo};

    #[test]
    fn heavy_update_sets_every_column_and_lite_sets_two() {
        let update = |schema, redo| {
            let spec = DataSpec {
                schemas: 3,
                rows: 50,
                scan_rows: 0,
                block_size: 8192,
                compressible: 0,
                seed: 1,
                secondary: false,
                copied: false,
            };
            let extra = Extra::default();
            let blocks = BlockSessionConfig {
                schema,
                spec,
                work_unit: 1,
                redo,
                extra,
                seed: 1,
                run_stamp: 1,
                session: 0,
            };
            super::update(&blocks, &[Slot::KEY, Slot::KEY]).statement
        };
        assert_eq!(
            update(3, Redo::Lite).sql,
            "UPDATE dyno.rows_3 SET ver = ver + 1, c2 = $3, c20 = $4 WHERE custid BETWEEN $1 AND $2"
        );
        let heavy = update(1, Redo::Heavy);
        assert_eq!(heavy.params.len(), 21);
        assert!(heavy.sql.contains("c3 = $4"));
        assert!(heavy.sql.contains("c20 = $21"));
    }
}
