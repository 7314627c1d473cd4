//! Filling tables that users describe: one prepared INSERT, a transaction for each part.

use std::sync::Arc;

use dyno_engine::pool::{BreakOff, cancelled};
use dyno_engine::tables::{Part, Rows, all_taken};
use dyno_engine::{Cancel, ColumnType, DropItem, Fill, ObjectKind, TableWords, TargetError, Value};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::connect::{Link, Params, Purpose};
use crate::fault::{Doing as _, Fault};
use crate::layout;

/// Rows between two looks at whether to stop.
const ROWS_PER_LOOK: u64 = 256;

/// How SQLite writes tables.
pub(crate) const WORDS: TableWords = TableWords {
    of,
    // Rows lie in the order of an integer key, which costs nothing besides.
    key_first: true,
    end: "",
    drop_end: "",
    unlogged: None,
    analyze: |name| format!("ANALYZE {name}"),
    settle: |_| vec!["PRAGMA wal_checkpoint(TRUNCATE)".to_owned()],
};

/// SQLite keeps what it is given in the class that the declared type's words stand for.
fn of(column: ColumnType) -> String {
    match column {
        // A key of exactly this type is the row's own number.
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
struct Filler(Link);

/// Opens one.
pub(crate) fn open<'a>(params: &Params) -> Result<(Box<dyn Fill + 'a>, BreakOff), TargetError> {
    // A connection that works leaves the file as sessions will find it.
    layout::create_if_missing(params)?;
    let link = params.connect(Purpose::Work, &Arc::default())?;
    // It looks by itself whether to stop.
    Ok((Box::new(Filler(link)), Box::new(|| ())))
}

impl Fill for Filler {
    fn part(&mut self, part: &Part<'_>, rows: &mut dyn Rows, cancel: &Cancel) -> Result<u64, TargetError> {
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

/// Writes a part and its note as one transaction: how many rows and bytes were written; nothing where it was stopped.
pub(crate) fn write(
    conn: &Connection,
    part: &Part<'_>,
    rows: &mut dyn Rows,
    cancel: &Cancel,
) -> Result<Option<(u64, u64)>, Fault> {
    let (mut taken, mut bytes) = (0, 0);
    // The lock for writing is taken first: whoever waits for it has read nothing that others could change meanwhile.
    let transaction = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    let marks = vec!["?"; part.columns.len()].join(", ");
    let mut insert = conn.prepare(&format!("INSERT INTO {} VALUES ({marks})", part.table))?;
    for number in part.first..part.first + part.rows {
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

/// Those of `names` that there are.
pub(crate) fn find(link: &Link, kind: ObjectKind, names: &[&str]) -> Result<Vec<DropItem>, TargetError> {
    let kind = match kind {
        ObjectKind::Table => "table",
        ObjectKind::Index => "index",
    };
    let sql = "SELECT COUNT(*) FROM sqlite_schema WHERE type = ?1 AND name = ?2 COLLATE NOCASE";
    let mut found = Vec::new();
    for name in names {
        let count: i64 =
            link.conn.query_row(sql, [kind, name], |row| row.get(0)).doing("look for a table")?;
        if count > 0 {
            found.push(DropItem { kind: kind.to_owned(), name: (*name).to_owned(), bytes: None });
        }
    }
    Ok(found)
}
