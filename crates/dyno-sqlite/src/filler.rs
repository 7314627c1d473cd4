//! Fills tables that users describe with one prepared INSERT, in one transaction per part.

use std::sync::Arc;

use dyno_engine::pool::{InterruptFn, cancelled};
use dyno_engine::tables::{RowBatch, Rows, all_taken};
use dyno_engine::{Cancel, ColumnType, DropItem, Fill, ObjectKind, TableWords, TargetError, Value};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::connect::{Params, Purpose, SqliteConnection};
use crate::fault::{SqliteError, SqliteErrorContext as _};
use crate::layout;

/// Rows between two checks for cancellation.
const ROWS_PER_LOOK: u64 = 256;

/// The SQL dialect of SQLite for creating tables.
pub(crate) const WORDS: TableWords = TableWords {
    type_sql: of,
    // Rows are stored in the order of an integer key, at no extra cost.
    key_first: true,
    end: "",
    drop_end: "",
    unlogged: None,
    analyze: |name| format!("ANALYZE {name}"),
    settle: |_| vec!["PRAGMA wal_checkpoint(TRUNCATE)".to_owned()],
};

/// SQLite stores values in the class that the words of the declared type select.
fn of(column: ColumnType) -> String {
    match column {
        // A key of exactly this type is the rowid.
        ColumnType::Integer | ColumnType::Bigint => "INTEGER".to_owned(),
        ColumnType::Boolean => "BOOLEAN".to_owned(),
        ColumnType::Decimal(digits, scale) => format!("DECIMAL({digits}, {scale})"),
        ColumnType::Real => "REAL".to_owned(),
        ColumnType::Char(letters) => format!("CHAR({letters})"),
        ColumnType::Varchar(letters) => format!("VARCHAR({letters})"),
        ColumnType::Bytes(_) => "BLOB".to_owned(),
        ColumnType::Text | ColumnType::Date | ColumnType::Timestamp | ColumnType::Uuid | ColumnType::Json => {
            "TEXT".to_owned()
        }
    }
}

/// A connection that fills tables.
struct Filler(SqliteConnection);

/// Opens a connection that fills tables; it checks for cancellation itself.
pub(crate) fn open<'a>(params: &Params) -> Result<(Box<dyn Fill + 'a>, InterruptFn), TargetError> {
    // The connection must leave the file in the state that sessions expect.
    layout::create_if_missing(params)?;
    let link = params.connect(Purpose::Work, &Arc::default())?;
    // The filler itself checks for cancellation.
    Ok((Box::new(Filler(link)), Box::new(|| ())))
}

impl Fill for Filler {
    fn part(
        &mut self,
        part: &RowBatch<'_>,
        rows: &mut dyn Rows,
        cancel: &Cancel,
    ) -> Result<u64, TargetError> {
        let doing = format!("rows cannot be written to {}", part.table);
        match write(&self.0.conn, part, rows, cancel) {
            Ok(Some((taken, bytes))) => all_taken(part, taken).map(|()| bytes),
            Ok(None) => Err(cancelled()),
            Err(fault) => Err(fault.into_target(&doing)),
        }
    }

    fn execute(&mut self, sql: &str) -> Result<(), TargetError> {
        self.0.conn.execute_batch(sql).doing("do a statement")
    }

    fn close(self: Box<Self>) {}
}

/// Writes a part and its progress note as one transaction; returns the numbers of rows and bytes, or `None`
/// if it was canceled.
pub(crate) fn write(
    conn: &Connection,
    part: &RowBatch<'_>,
    rows: &mut dyn Rows,
    cancel: &Cancel,
) -> Result<Option<(u64, u64)>, SqliteError> {
    let (mut taken, mut bytes) = (0, 0);
    // The write lock is taken first: a connection that waits for it has not yet read data that others could
    // change in the meantime.
    let transaction = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    let marks = vec!["?"; part.columns.len()].join(", ");
    let mut insert = conn.prepare(&format!("INSERT INTO {} VALUES ({marks})", part.table))?;
    for number in part.first_row..part.first_row + part.rows {
        if number.is_multiple_of(ROWS_PER_LOOK) && cancel.is_cancelled() {
            return Ok(None);
        }
        rows.make(number);
        for column in 0..part.columns.len() {
            let value = match rows.value(column) {
                Value::Null => ValueRef::Null,
                Value::Int(number) => ValueRef::Integer(number),
                Value::Real(number) => ValueRef::Real(number),
                Value::Text(text) => ValueRef::Text(text),
                Value::Bytes(bytes) => ValueRef::Blob(bytes),
            };
            bytes += match value {
                ValueRef::Text(content) | ValueRef::Blob(content) => content.len() as u64,
                ValueRef::Null => 0,
                ValueRef::Integer(_) | ValueRef::Real(_) => 8,
            };
            insert.raw_bind_parameter(column + 1, ToSqlOutput::Borrowed(value))?;
        }
        taken += insert.raw_execute()? as u64;
    }
    drop(insert);
    if taken == part.rows {
        part.note.map_or(Ok(()), |note| conn.execute_batch(note))?;
        transaction.commit()?;
    }
    Ok(Some((taken, bytes)))
}

/// Returns those of `names` that exist in the file.
pub(crate) fn find(
    link: &SqliteConnection,
    kind: ObjectKind,
    names: &[&str],
) -> Result<Vec<DropItem>, TargetError> {
    let kind = match kind {
        ObjectKind::Table => "table",
        ObjectKind::Index => "index",
    };
    let sql = "SELECT COUNT(*) FROM sqlite_schema WHERE type = ?1 AND name = ?2 COLLATE NOCASE";
    let mut items = Vec::new();
    for name in names {
        let count: i64 =
            link.conn.query_row(sql, [kind, name], |row| row.get(0)).doing("look for a table")?;
        if count > 0 {
            items.push(DropItem { kind: kind.to_owned(), name: (*name).to_owned(), bytes: None });
        }
    }
    Ok(items)
}
