//! Tables that users describe: what an engine is told of them, and how it fills them.

use crate::error::{OpError, TargetError, TargetErrorKind};
use crate::load::Cancel;
use crate::statement::Value;

/// The type of a column, as all engines have it in some way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// An integer of 32 bits.
    Integer,
    /// An integer of 64 bits.
    Bigint,
    /// A decimal number of so many digits, and so many of them behind the point.
    Decimal(u32, u32),
    /// A floating-point number of 64 bits.
    Real,
    /// A text of so many letters, filled up with spaces where the engine does so.
    Char(u32),
    /// A text of so many letters at most.
    Varchar(u32),
    /// A text of any length.
    Text,
    /// A day.
    Date,
    /// A second, without a zone.
    Timestamp,
    /// A UUID.
    Uuid,
    /// So many bytes at most.
    Bytes(u32),
    /// A document of JSON.
    Json,
    /// True or false; its values are the integers 1 and 0.
    Boolean,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name, which stands in SQL without quotes.
    pub name: String,
    /// Its type.
    pub of: ColumnType,
}

/// How an engine writes tables.
#[derive(Debug, Clone, Copy)]
pub struct TableWords {
    /// A type: `NUMBER(10)`.
    pub of: fn(ColumnType) -> String,
    /// Whether the primary key is made with the table, because rows lie in its order; else it is made behind the rows.
    pub key_first: bool,
    /// What stands behind the columns: ` ENGINE=InnoDB`, or nothing.
    pub end: &'static str,
    /// What stands behind the name in `DROP TABLE`, so that nothing of the table is kept: ` PURGE`, or nothing.
    pub drop_end: &'static str,
    /// What stands between `CREATE` and `TABLE`, and behind the columns, of a table of which no log is written; nothing where there is no
    /// such table.
    pub unlogged: Option<(&'static str, &'static str)>,
    /// The statement that takes statistics of the table of this name.
    pub analyze: fn(&str) -> String,
    /// Statements after which the rows of the table of this name are on the disk for good, and not in its log alone.
    pub settle: fn(&str) -> Vec<String>,
}

/// A primary key that a server requires of every table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredKey {
    /// The setting that requires it: `sql_require_primary_key`.
    pub setting: String,
    /// The definition of a column that is one and that statements need not name.
    pub column: &'static str,
}

/// A table that is made.
#[derive(Debug, Clone, Copy)]
pub struct NewTable<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its columns, in their order.
    pub columns: &'a [Column],
    /// The columns of its primary key.
    pub key: &'a [&'a str],
    /// The definition of a column with a primary key that the server requires, where the table has no key of its own.
    pub required_key: Option<&'a str>,
    /// Constraints of it, as they stand behind the columns.
    pub constraints: &'a [String],
    /// Whether what is written into it is written into the database's log, too.
    pub logged: bool,
}

/// Rows of one table, made one after the other.
pub trait Rows {
    /// Makes the row of this number, from 1.
    fn make(&mut self, number: u64);

    /// The value in column `column`, from 0, of the row that was made last.
    fn value(&self, column: usize) -> Value<'_>;
}

/// A table that sessions fill part by part, by the engine's own bulk path.
pub trait Bulk: Send + Sync + std::fmt::Debug {
    /// The table's name.
    fn table(&self) -> &str;

    /// All of its columns, in their order.
    fn columns(&self) -> &[Column];

    /// What makes its rows.
    fn maker(&self) -> Box<dyn Rows + '_>;

    /// A part of so many bytes of content is there.
    fn sent(&self, bytes: u64);
}

impl dyn Bulk + '_ {
    /// The part of `rows` rows from `first` on, of which nothing is noted.
    pub fn part(&self, first: u64, rows: u64) -> Part<'_> {
        Part { table: self.table(), columns: self.columns(), first, rows, note: None }
    }
}

/// The error of a session that is asked to fill a table and was told of none.
#[cold]
pub fn no_bulk() -> Box<OpError> {
    OpError::fatal("fill", "the session was told of no table to fill")
}

/// Rows of a table that are written in one transaction, with a note of them.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The table's name.
    pub table: &'a str,
    /// All of its columns, in their order.
    pub columns: &'a [Column],
    /// The first row, from 1.
    pub first: u64,
    /// How many.
    pub rows: u64,
    /// The statement that notes it, where it is noted.
    pub note: Option<&'a str>,
}

/// A connection that fills tables.
pub trait Fill {
    /// Writes a part by the engine's own bulk path, and the note of it: both or neither are there afterwards. Returns bytes of
    /// content.
    ///
    /// # Errors
    /// The database refuses it, or took another number of rows; or `cancel` was asked.
    fn part(&mut self, part: &Part<'_>, rows: &mut dyn Rows, cancel: &Cancel) -> Result<u64, TargetError>;

    /// Does one statement, which commits by itself.
    ///
    /// # Errors
    /// The database refuses it.
    fn execute(&mut self, sql: &str) -> Result<(), TargetError>;

    /// Ends the connection in the protocol's own way.
    fn close(self: Box<Self>);
}

/// What can be looked for in a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// Tables.
    Table,
    /// Indexes.
    Index,
}

impl TableWords {
    /// The statement that drops the table of this name, and frees its room.
    pub fn drop_table(&self, name: &str) -> String {
        format!("DROP TABLE {name}{}", self.drop_end)
    }

    /// The statement that makes `table`, with its primary key where the engine makes that first; nothing where it has no table like it.
    pub fn create_table(&self, table: &NewTable<'_>) -> Option<String> {
        let NewTable { name, columns, key, required_key, constraints, logged } = *table;
        let Self { of, key_first, end, unlogged, .. } = self;
        let (kind, tail) = if logged { ("", "") } else { (*unlogged)? };
        let mut all: Vec<String> =
            columns.iter().map(|column| format!("{} {}", column.name, of(column.of))).collect();
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

/// Fails where of a part the database took others than all of its rows.
///
/// # Errors
/// It did not.
pub fn all_taken(part: &Part<'_>, took: u64) -> Result<(), TargetError> {
    if part.rows == took {
        return Ok(());
    }
    let Part { table, rows, .. } = part;
    Err(TargetError::new(
        TargetErrorKind::Data,
        format!("{rows} rows were sent to {table} and the database took {took}"),
    )
    .hint("look for triggers on the table"))
}

/// Appends the row that was made last as a line: fields with tabs between them, a backslash before what would end one, `\N` for
/// NULL, bytes as hexadecimal digits behind `bytes_prefix`. `COPY` of PostgreSQL and `LOAD DATA` of MySQL read it.
pub fn append_line(rows: &dyn Rows, columns: usize, bytes_prefix: &[u8], out: &mut Vec<u8>) {
    use std::io::Write as _;
    for column in 0..columns {
        if column > 0 {
            out.push(b'\t');
        }
        match rows.value(column) {
            Value::Null => out.extend_from_slice(b"\\N"),
            // Writing to memory does not fail.
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
    fn a_line_has_every_value_and_ends_nowhere_else() {
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
