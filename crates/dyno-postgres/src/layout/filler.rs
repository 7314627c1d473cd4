//! Fills tables that users describe: `COPY` as text, with one transaction per part.

use super::super::connections::PostgresConnections;
use super::super::wire::PostgresConnection;
use super::quote::literal;
use dyno_engine::pool::{InterruptFn, cancelled};
use dyno_engine::row::first;
use dyno_engine::tables::{RowBatch, Rows, all_taken, append_line};
use dyno_engine::{
    Cancel, ColumnType, ConnectionPurpose, DropItem, Fill, ObjectKind, TableWords, TargetError,
};

/// Rows are collected until about this many bytes can be sent.
const SEND_BYTES: usize = 256 * 1024;

/// The SQL dialect of PostgreSQL for creating tables.
pub(crate) const WORDS: TableWords = TableWords {
    type_sql: of,
    // Building an index over existing rows is many times faster than growing it with them.
    key_first: false,
    end: "",
    drop_end: "",
    unlogged: Some(("UNLOGGED ", "")),
    analyze: |name| format!("VACUUM (FREEZE, ANALYZE) {name}"),
    settle: |_| vec!["CHECKPOINT".to_owned()],
};

fn of(column: ColumnType) -> String {
    match column {
        ColumnType::Integer => "integer".to_owned(),
        ColumnType::Bigint => "bigint".to_owned(),
        ColumnType::Decimal(digits, scale) => format!("numeric({digits}, {scale})"),
        ColumnType::Real => "double precision".to_owned(),
        ColumnType::Char(letters) => format!("char({letters})"),
        ColumnType::Varchar(letters) => format!("varchar({letters})"),
        ColumnType::Text => "text".to_owned(),
        ColumnType::Date => "date".to_owned(),
        ColumnType::Timestamp => "timestamp".to_owned(),
        ColumnType::Uuid => "uuid".to_owned(),
        ColumnType::Bytes(_) => "bytea".to_owned(),
        ColumnType::Json => "jsonb".to_owned(),
        ColumnType::Boolean => "boolean".to_owned(),
    }
}

/// A connection that fills tables.
struct Filler(PostgresConnection);

/// Opens a connection that fills tables, with a handle that interrupts it.
pub(crate) fn open<'a>(
    connections: &PostgresConnections,
) -> Result<(Box<dyn Fill + 'a>, InterruptFn), TargetError> {
    let (connection, interrupt) = connections.interruptible(ConnectionPurpose::Fill)?;
    Ok((Box::new(Filler(connection)), interrupt))
}

impl Fill for Filler {
    fn part(
        &mut self,
        part: &RowBatch<'_>,
        rows: &mut dyn Rows,
        cancel: &Cancel,
    ) -> Result<u64, TargetError> {
        let connection = &mut self.0;
        let mut written = connection.simple("BEGIN").map(|_| 0);
        written = written.and_then(|_| copy(connection, part, rows, cancel));
        written = written.and_then(|bytes| {
            part.note.map_or(Ok(Vec::new()), |note| connection.simple(note))?;
            connection.simple("COMMIT").map(|_| bytes)
        });
        if written.is_err() {
            // Even if this does not arrive, the server discards what was not committed.
            let _ = connection.simple("ROLLBACK");
        }
        written.map_err(|error| error.during(&format!("rows cannot be written to {}", part.table)))
    }

    fn execute(&mut self, sql: &str) -> Result<(), TargetError> {
        self.0.simple(sql).map(drop)
    }

    fn close(self: Box<Self>) {
        self.0.close();
    }
}

/// Writes rows with one COPY, which is its own transaction unless one is open; returns their bytes.
pub(crate) fn copy(
    connection: &mut PostgresConnection,
    part: &RowBatch<'_>,
    rows: &mut dyn Rows,
    cancel: &Cancel,
) -> Result<u64, TargetError> {
    // Text is read as UTF-8 whatever the database's encoding is: nothing else is sent on these connections.
    let mut copy = connection.copy_in(&format!("COPY {} FROM STDIN (ENCODING 'UTF8')", part.table))?;
    let mut buffer = Vec::with_capacity(SEND_BYTES + 4_096);
    let mut bytes = 0;
    for number in part.first_row..part.first_row + part.rows {
        rows.make(number);
        append_line(rows, part.columns.len(), br"\\x", &mut buffer);
        if buffer.len() >= SEND_BYTES {
            if cancel.is_cancelled() {
                copy.fail()?;
                return Err(cancelled());
            }
            bytes += buffer.len() as u64;
            copy.send(&buffer)?;
            buffer.clear();
        }
    }
    bytes += buffer.len() as u64;
    copy.send(&buffer)?;
    all_taken(part, copy.finish()?)?;
    Ok(bytes)
}

/// Returns those of `names` that exist, as the search path resolves them.
pub(crate) fn find(
    connection: &mut PostgresConnection,
    kind: ObjectKind,
    names: &[&str],
) -> Result<Vec<DropItem>, TargetError> {
    let (word, kinds) = match kind {
        ObjectKind::Table => ("table", "'r', 'p'"),
        ObjectKind::Index => ("index", "'i', 'I'"),
    };
    let mut items = Vec::new();
    for name in names {
        let rows = connection.simple(&format!(
            "SELECT pg_catalog.pg_total_relation_size(oid) FROM pg_catalog.pg_class
             WHERE oid = pg_catalog.to_regclass({}) AND relkind IN ({kinds})",
            literal(name)
        ))?;
        if !rows.is_empty() {
            items.push(DropItem { kind: word.to_owned(), name: (*name).to_owned(), bytes: first(&rows, 0) });
        }
    }
    Ok(items)
}
