//! Fills tables that users describe with arrays of rows, one transaction per part.

use std::sync::Arc;

use oracledb::ToDbValue;

use super::super::connect::OracleConnectConfig;
use super::super::connection::OracleConnection;
use super::super::sql;
use dyno_engine::net::Breaker;
use dyno_engine::pool::{InterruptFn, cancelled};
use dyno_engine::row::first;
use dyno_engine::tables::{RowBatch, Rows, all_taken};
use dyno_engine::{
    Cancel, ColumnDefinition, ColumnType, DropItem, Fill, Interrupter as _, ObjectKind, TableWords,
    TargetError, Value,
};

/// Number of rows per array insert.
const ARRAY_ROWS: u64 = 256;

/// The longest `VARCHAR2` in characters and the longest `RAW` in bytes, on databases with default settings.
const VARCHAR_MAX: u32 = 1_000;
const RAW_MAX: u32 = 2_000;

/// The SQL dialect of Oracle for creating tables.
pub(crate) const WORDS: TableWords = TableWords {
    type_sql: of,
    // Building an index over existing rows is many times faster than growing it with them.
    key_first: false,
    end: "",
    drop_end: " PURGE",
    // NOLOGGING applies only to direct-path loads; these inserts would write all their redo.
    unlogged: None,
    analyze: |name| {
        format!("BEGIN DBMS_STATS.GATHER_TABLE_STATS(USER, '{}', CASCADE => TRUE); END;", name.to_uppercase())
    },
    settle: |_| vec!["ALTER SYSTEM CHECKPOINT".to_owned()],
};

fn of(column: ColumnType) -> String {
    match column {
        ColumnType::Integer => "NUMBER(10)".to_owned(),
        ColumnType::Bigint => "NUMBER(19)".to_owned(),
        ColumnType::Decimal(digits, scale) => format!("NUMBER({digits}, {scale})"),
        ColumnType::Real => "BINARY_DOUBLE".to_owned(),
        ColumnType::Char(letters) if letters <= VARCHAR_MAX => format!("CHAR({letters} CHAR)"),
        ColumnType::Varchar(letters) if letters <= VARCHAR_MAX => format!("VARCHAR2({letters} CHAR)"),
        ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Text | ColumnType::Json => {
            "CLOB".to_owned()
        }
        ColumnType::Date => "DATE".to_owned(),
        ColumnType::Timestamp => "TIMESTAMP(0)".to_owned(),
        ColumnType::Uuid => "CHAR(36)".to_owned(),
        ColumnType::Bytes(bytes) if bytes <= RAW_MAX => format!("RAW({bytes})"),
        ColumnType::Bytes(_) => "BLOB".to_owned(),
        ColumnType::Boolean => "NUMBER(1)".to_owned(),
    }
}

/// A connection that fills tables.
struct Filler(OracleConnection);

/// Opens a connection that fills tables, with a handle that interrupts it.
pub(crate) fn open<'a>(
    config: &OracleConnectConfig,
) -> Result<(Box<dyn Fill + 'a>, InterruptFn), TargetError> {
    let breaker = Arc::new(Breaker::default());
    let connection = OracleConnection::open_guarded(config, "load", &breaker)?;
    // The database rolls back uncommitted work when a session ends.
    Ok((Box::new(Filler(connection)), Box::new(move || breaker.interrupt())))
}

impl Fill for Filler {
    fn part(
        &mut self,
        part: &RowBatch<'_>,
        rows: &mut dyn Rows,
        cancel: &Cancel,
    ) -> Result<u64, TargetError> {
        write(&self.0, part, rows, cancel)
            .map_err(|error| error.during(&format!("rows cannot be written to {}", part.table)))
    }

    fn execute(&mut self, sql: &str) -> Result<(), TargetError> {
        self.0.run(sql, &[])?;
        self.0.commit()
    }

    fn close(self: Box<Self>) {
        self.0.close();
    }
}

/// Writes a part and its progress note as one transaction; returns the bytes of its rows.
pub(crate) fn write(
    connection: &OracleConnection,
    part: &RowBatch<'_>,
    rows: &mut dyn Rows,
    cancel: &Cancel,
) -> Result<u64, TargetError> {
    let written = insert(connection, part, rows, cancel).and_then(|bytes| {
        part.note.map_or(Ok(0), |note| connection.run(note, &[]))?;
        connection.commit().map(|()| bytes)
    });
    if written.is_err() {
        connection.rollback();
    }
    written
}

fn insert(
    connection: &OracleConnection,
    part: &RowBatch<'_>,
    rows: &mut dyn Rows,
    cancel: &Cancel,
) -> Result<u64, TargetError> {
    let marks: Vec<String> = (1..).zip(part.columns).map(|(number, column)| mark(number, column)).collect();
    let sql = format!("INSERT INTO {} VALUES ({})", part.table, marks.join(", "));
    let (mut taken, mut bytes) = (0, 0);
    let end = part.first_row + part.rows;
    for begin in (part.first_row..end).step_by(ARRAY_ROWS as usize) {
        if cancel.is_cancelled() {
            return Err(cancelled());
        }
        let mut values = Vec::new();
        for number in begin..end.min(begin + ARRAY_ROWS) {
            rows.make(number);
            values.extend(
                part.columns.iter().enumerate().map(|(place, column)| Bound::of(rows.value(place), column)),
            );
        }
        bytes += values.iter().map(Bound::bytes).sum::<u64>();
        let binds: Vec<&dyn ToDbValue> = values.iter().map(Bound::bind).collect();
        let array: Vec<&[&dyn ToDbValue]> = binds.chunks(part.columns.len()).collect();
        taken += connection.batch(&sql, &array)?;
    }
    all_taken(part, taken)?;
    Ok(bytes)
}

/// The expression for a value in the statement; it parses texts independently of the session's locale.
fn mark(number: usize, column: &ColumnDefinition) -> String {
    match column.column_type {
        ColumnType::Date => format!("TO_DATE(:{number}, 'YYYY-MM-DD')"),
        ColumnType::Timestamp => format!("TO_TIMESTAMP(:{number}, 'YYYY-MM-DD HH24:MI:SS')"),
        ColumnType::Decimal(..) => {
            let (whole, broken) = ("9".repeat(38), "9".repeat(20));
            format!("TO_NUMBER(:{number}, '{whole}D{broken}', 'NLS_NUMERIC_CHARACTERS=''.,''')")
        }
        _ => format!(":{number}"),
    }
}

/// A column of values for an array insert.
enum Bound {
    Int(Option<i64>),
    Real(Option<f64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

impl Bound {
    fn of(value: Value<'_>, column: &ColumnDefinition) -> Self {
        match (value, column.column_type) {
            // The database parses the number from text.
            (Value::Int(number), ColumnType::Decimal(..)) => Self::Text(Some(number.to_string())),
            (Value::Int(number), _) => Self::Int(Some(number)),
            (Value::Real(number), _) => Self::Real(Some(number)),
            (Value::Text(text), _) => Self::Text(Some(String::from_utf8_lossy(text).into_owned())),
            (Value::Bytes(bytes), _) => Self::Bytes(Some(bytes.to_vec())),
            (Value::Null, ColumnType::Integer | ColumnType::Bigint | ColumnType::Boolean) => Self::Int(None),
            (Value::Null, ColumnType::Real) => Self::Real(None),
            (Value::Null, ColumnType::Bytes(_)) => Self::Bytes(None),
            (Value::Null, _) => Self::Text(None),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::Int(number) => number.map_or(0, |_| 8),
            Self::Real(number) => number.map_or(0, |_| 8),
            Self::Text(text) => text.as_ref().map_or(0, |text| text.len() as u64),
            Self::Bytes(bytes) => bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
        }
    }

    fn bind(&self) -> &dyn ToDbValue {
        match self {
            Self::Int(number) => number,
            Self::Real(number) => number,
            Self::Text(text) => text,
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// Returns those of `names` that exist in the user's schema.
pub(crate) fn find(
    connection: &OracleConnection,
    kind: ObjectKind,
    names: &[&str],
) -> Result<Vec<DropItem>, TargetError> {
    let (word, statement) = match kind {
        ObjectKind::Table => ("table", sql::FIND_TABLE),
        ObjectKind::Index => ("index", sql::FIND_INDEX),
    };
    let mut items = Vec::new();
    for name in names {
        let rows = connection.rows(&statement.text(), &[("object_name", name)])?;
        if !rows.is_empty() {
            items.push(DropItem { kind: word.to_owned(), name: (*name).to_owned(), bytes: first(&rows, 0) });
        }
    }
    Ok(items)
}
