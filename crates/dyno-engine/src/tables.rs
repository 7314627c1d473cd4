//! Tables that users define: their description for an engine, and how sessions fill them.

use crate::error::{OpError, TargetError, TargetErrorKind};
use crate::load::Cancel;
use crate::statement::Value;

/// The type of a column; every engine has an equivalent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// An integer of 32 bits.
    Integer,
    /// An integer of 64 bits.
    Bigint,
    /// A decimal number: total digits, and digits after the decimal point.
    Decimal(u32, u32),
    /// A floating-point number of 64 bits.
    Real,
    /// A text of this many characters, padded with spaces where the engine does so.
    Char(u32),
    /// A text of at most this many characters.
    Varchar(u32),
    /// A text of any length.
    Text,
    /// A date without a time of day.
    Date,
    /// A date and time to the second, without a time zone.
    Timestamp,
    /// A universally unique identifier, 128 bits.
    Uuid,
    /// At most this many bytes.
    Bytes(u32),
    /// A document in JSON format.
    Json,
    /// True or false; its values are the integers 1 and 0.
    Boolean,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// Its name, as it stands in SQL without quotes.
    pub name: String,
    /// The type of its values.
    pub column_type: ColumnType,
}

/// How an engine writes the DDL of tables.
#[derive(Debug, Clone, Copy)]
pub struct TableWords {
    /// The engine's name for a type: `NUMBER(10)`.
    pub type_sql: fn(ColumnType) -> String,
    /// Whether the primary key is created with the table, because rows are stored in its order; else it is
    /// created after loading.
    pub key_first: bool,
    /// The text after the columns: ` ENGINE=InnoDB`, or nothing.
    pub end: &'static str,
    /// The text after the name in `DROP TABLE` that frees all space of the table: ` PURGE`, or nothing.
    pub drop_end: &'static str,
    /// The text between `CREATE` and `TABLE`, and the text after the columns, for an unlogged table. Absent
    /// where the engine has no such table.
    pub unlogged: Option<(&'static str, &'static str)>,
    /// The statement that collects statistics of the table with this name.
    pub analyze: fn(&str) -> String,
    /// Statements that write the rows of the table to its own storage, not only to the log.
    pub settle: fn(&str) -> Vec<String>,
}

/// A primary key that a server requires of every table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredKey {
    /// The setting that requires it: `sql_require_primary_key`.
    pub setting: String,
    /// The definition of a key column that statements need not name.
    pub column: &'static str,
}

/// A table to be created.
#[derive(Debug, Clone, Copy)]
pub struct NewTable<'a> {
    /// The name of the table.
    pub name: &'a str,
    /// Its columns, in their order.
    pub columns: &'a [ColumnDefinition],
    /// The columns of its primary key.
    pub key: &'a [&'a str],
    /// The definition of the key column that the server requires, where the table has no key of its own.
    pub required_key: Option<&'a str>,
    /// Its constraints, as they stand after the columns.
    pub constraints: &'a [String],
    /// Whether writes to it are also written to the database's log.
    pub logged: bool,
}

/// A generator of a table's rows, one after the other.
pub trait Rows {
    /// Generates the row with this number, from 1.
    fn make(&mut self, number: u64);

    /// The value of column `column`, from 0, in the row generated last.
    fn value(&self, column: usize) -> Value<'_>;
}

/// A table that sessions fill in batches by the engine's bulk path.
pub trait Bulk: Send + Sync + std::fmt::Debug {
    /// The name of the table.
    fn table(&self) -> &str;

    /// All columns, in the order of the table.
    fn columns(&self) -> &[ColumnDefinition];

    /// A new generator of its rows.
    fn maker(&self) -> Box<dyn Rows + '_>;

    /// Counts `bytes` of content that were written.
    fn sent(&self, bytes: u64);
}

impl dyn Bulk + '_ {
    /// The batch of `rows` rows from `first` on, without a note.
    pub fn part(&self, first: u64, rows: u64) -> RowBatch<'_> {
        RowBatch { table: self.table(), columns: self.columns(), first_row: first, rows, note: None }
    }
}

/// The error of a fill request to a session without a table to fill.
#[cold]
pub fn no_bulk() -> Box<OpError> {
    OpError::fatal("fill", "the session has no table to fill")
}

/// Rows of a table that are written in one transaction, with a note of them.
#[derive(Debug, Clone, Copy)]
pub struct RowBatch<'a> {
    /// The name of the table.
    pub table: &'a str,
    /// All columns, in the order of the table.
    pub columns: &'a [ColumnDefinition],
    /// The first row, from 1.
    pub first_row: u64,
    /// Number of rows in the batch.
    pub rows: u64,
    /// The statement that notes the batch; absent where none is written.
    pub note: Option<&'a str>,
}

/// A connection that fills tables.
pub trait Fill {
    /// Writes a batch by the engine's bulk path, and its note; either both are committed or neither. Returns
    /// the bytes of content.
    ///
    /// # Errors
    /// The database refuses the batch, or accepts another number of rows; or `cancel` was set.
    fn part(&mut self, part: &RowBatch<'_>, rows: &mut dyn Rows, cancel: &Cancel)
    -> Result<u64, TargetError>;

    /// Executes one statement, which commits on its own.
    ///
    /// # Errors
    /// The database refuses the statement.
    fn execute(&mut self, sql: &str) -> Result<(), TargetError>;

    /// Closes the connection in the protocol's own way.
    fn close(self: Box<Self>);
}

/// The kinds of objects that can be searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A table in the database.
    Table,
    /// An index in the database.
    Index,
}

impl TableWords {
    /// The statement that drops the table with this name and frees its space.
    pub fn drop_table(&self, name: &str) -> String {
        format!("DROP TABLE {name}{}", self.drop_end)
    }

    /// The statement that creates `table`, with its primary key where the engine creates that first; `None`
    /// where the engine has no such table.
    pub fn create_table(&self, table: &NewTable<'_>) -> Option<String> {
        let NewTable { name, columns, key, required_key, constraints, logged } = *table;
        let Self { type_sql: of, key_first, end, unlogged, .. } = self;
        let (kind, tail) = if logged { ("", "") } else { (*unlogged)? };
        let mut all: Vec<String> =
            columns.iter().map(|column| format!("{} {}", column.name, of(column.column_type))).collect();
        if *key_first && !key.is_empty() {
            all.push(format!("PRIMARY KEY ({})", key.join(", ")));
        }
        if key.is_empty() {
            all.extend(required_key.map(str::to_owned));
        }
        all.extend_from_slice(constraints);
        Some(format!("CREATE {kind}TABLE {name} ({}){end}{tail}", all.join(", ")))
    }
}

/// Checks that the database accepted all rows of a batch.
///
/// # Errors
/// The database accepted another number of rows.
pub fn all_taken(part: &RowBatch<'_>, took: u64) -> Result<(), TargetError> {
    if part.rows == took {
        return Ok(());
    }
    let RowBatch { table, rows, .. } = part;
    Err(TargetError::new(
        TargetErrorKind::Data,
        format!("{rows} rows were sent to {table}, but the database stored {took}"),
    )
    .hint("check the table for triggers"))
}

/// Appends the row generated last as a line, in the format of PostgreSQL's `COPY` and MySQL's `LOAD DATA`.
/// Tabs separate fields, a backslash escapes, `\N` is NULL, bytes are hexadecimal digits after
/// `bytes_prefix`.
pub fn append_line(rows: &dyn Rows, columns: usize, bytes_prefix: &[u8], out: &mut Vec<u8>) {
    use std::io::Write as _;
    for column in 0..columns {
        if column > 0 {
            out.push(b'\t');
        }
        match rows.value(column) {
            Value::Null => out.extend_from_slice(b"\\N"),
            // Writing to memory cannot fail.
            Value::Int(number) => drop(write!(out, "{number}")),
            Value::Real(number) => drop(write!(out, "{number:e}")),
            Value::Text(text) => append_escaped(text, out),
            Value::Bytes(bytes) => {
                out.extend_from_slice(bytes_prefix);
                append_hex(bytes, out);
            }
        }
    }
    out.push(b'\n');
}

fn append_escaped(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        let letter = match byte {
            b'\\' => b'\\',
            b'\t' => b't',
            b'\n' => b'n',
            b'\r' => b'r',
            _ => {
                out.push(byte);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', letter]);
    }
}

/// Appends bytes as hexadecimal digits.
pub fn append_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row(Vec<Value<'static>>);

    impl Rows for Row {
        fn make(&mut self, _: u64) {}

        fn value(&self, column: usize) -> Value<'_> {
            self.0[column]
        }
    }

    #[test]
    fn exported_row_has_all_values_on_one_line() {
        let row = Row(vec![
            Value::Int(-5),
            Value::Null,
            Value::Text(b"a\tb\\c\nd\re"),
            Value::Real(0.5),
            Value::Bytes(b"\x00\xfe"),
        ]);
        let mut out = Vec::new();
        append_line(&row, 5, br"\\x", &mut out);
        assert_eq!(String::from_utf8_lossy(&out), "-5\t\\N\ta\\tb\\\\c\\nd\\re\t5e-1\t\\\\x00fe\n");
    }
}
