//! Fills tables that users describe, with one transaction per part. It uses `LOAD DATA LOCAL`, or multi-row
//! `INSERT` if the server does not accept files.

use super::super::connections::MySqlConnections;
use super::super::wire::MySqlConnection;
use super::fill::{MySqlLoadMethod, MySqlLocalFileError, check_warnings};
use super::quote::literal;
use crate::wire::FILE_PACKET_BYTES;
use dyno_engine::pool::{InterruptFn, cancelled};
use dyno_engine::row::first;
use dyno_engine::tables::{RowBatch, Rows, all_taken, append_hex, append_line};
use dyno_engine::{
    Cancel, ColumnType, ConnectionPurpose, DropItem, Fill, ObjectKind, TableWords, TargetError, Value,
};

/// Approximate bytes of one INSERT, below every server's `max_allowed_packet`.
const INSERT_BYTES: usize = 256 * 1024;

/// The longest `CHAR` and `VARCHAR` in characters, and the longest `VARBINARY` in bytes. A row has 65,535
/// bytes, and a character takes up to four.
const CHAR_MAX: u32 = 255;
const VARCHAR_MAX: u32 = 16_000;
const VARBINARY_MAX: u32 = 65_000;

/// The SQL dialect of MySQL and MariaDB for creating tables.
pub(crate) const WORDS: TableWords = TableWords {
    type_sql: of,
    // Rows are stored in primary key order.
    key_first: true,
    end: " ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4",
    drop_end: "",
    unlogged: None,
    analyze: |name| format!("ANALYZE TABLE {name}"),
    settle: |name| vec![format!("FLUSH TABLES {name} FOR EXPORT"), "UNLOCK TABLES".to_owned()],
};

fn of(column: ColumnType) -> String {
    match column {
        ColumnType::Integer => "INT".to_owned(),
        ColumnType::Bigint => "BIGINT".to_owned(),
        ColumnType::Decimal(digits, scale) => format!("DECIMAL({digits}, {scale})"),
        ColumnType::Real => "DOUBLE".to_owned(),
        ColumnType::Char(letters) if letters <= CHAR_MAX => format!("CHAR({letters})"),
        ColumnType::Char(letters) | ColumnType::Varchar(letters) if letters <= VARCHAR_MAX => {
            format!("VARCHAR({letters})")
        }
        ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Text => "LONGTEXT".to_owned(),
        ColumnType::Date => "DATE".to_owned(),
        ColumnType::Timestamp => "DATETIME".to_owned(),
        ColumnType::Uuid => "CHAR(36) CHARACTER SET ascii".to_owned(),
        ColumnType::Bytes(bytes) if bytes <= VARBINARY_MAX => format!("VARBINARY({bytes})"),
        ColumnType::Bytes(_) => "LONGBLOB".to_owned(),
        ColumnType::Json => "JSON".to_owned(),
        ColumnType::Boolean => "BOOLEAN".to_owned(),
    }
}

/// A connection that fills tables.
struct Filler {
    connection: MySqlConnection,
    way: MySqlLoadMethod,
}

/// Opens a connection that fills tables, with a handle that interrupts it.
pub(crate) fn open<'a>(
    connections: &MySqlConnections,
) -> Result<(Box<dyn Fill + 'a>, InterruptFn), TargetError> {
    let (mut connection, interrupt) = connections.interruptible(ConnectionPurpose::Fill)?;
    let way = MySqlLoadMethod::choose(&mut connection)?;
    Ok((Box::new(Filler { connection, way }), interrupt))
}

impl Fill for Filler {
    fn part(
        &mut self,
        part: &RowBatch<'_>,
        rows: &mut dyn Rows,
        cancel: &Cancel,
    ) -> Result<u64, TargetError> {
        let Self { connection, way } = self;
        write(connection, *way, part, rows, cancel)
            .map_err(|error| error.during(&format!("rows cannot be written to {}", part.table)))
    }

    fn execute(&mut self, sql: &str) -> Result<(), TargetError> {
        self.connection.simple(sql).map(drop)
    }

    fn close(self: Box<Self>) {
        self.connection.close();
    }
}

/// Writes a part and its progress note as one transaction; returns the bytes of its rows.
pub(crate) fn write(
    connection: &mut MySqlConnection,
    way: MySqlLoadMethod,
    part: &RowBatch<'_>,
    rows: &mut dyn Rows,
    cancel: &Cancel,
) -> Result<u64, TargetError> {
    let mut written = connection.simple("START TRANSACTION").map(|_| 0);
    written = written.and_then(|_| match way {
        MySqlLoadMethod::File => file(connection, part, rows, cancel),
        MySqlLoadMethod::Insert => insert(connection, part, rows, cancel),
    });
    written = written.and_then(|bytes| {
        part.note.map_or(Ok(Vec::new()), |note| connection.simple(note))?;
        connection.simple("COMMIT")?;
        Ok(bytes)
    });
    if written.is_err() {
        // Even if this does not arrive, the server discards what was not committed.
        let _ = connection.simple("ROLLBACK");
    }
    written
}

fn file(
    connection: &mut MySqlConnection,
    part: &RowBatch<'_>,
    rows: &mut dyn Rows,
    cancel: &Cancel,
) -> Result<u64, TargetError> {
    let (mut fields, mut sets) = (Vec::new(), Vec::new());
    for (place, column) in part.columns.iter().enumerate() {
        match column.column_type {
            // The file contains text.
            ColumnType::Bytes(_) => {
                fields.push(format!("@bytes_{place}"));
                sets.push(format!("{} = UNHEX(@bytes_{place})", column.name));
            }
            _ => fields.push(column.name.clone()),
        }
    }
    let sets = if sets.is_empty() { String::new() } else { format!(" SET {}", sets.join(", ")) };
    let sql = format!(
        "LOAD DATA LOCAL INFILE 'dyno' INTO TABLE {} CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' \
         LINES TERMINATED BY '\\n' ({}){sets}",
        part.table,
        fields.join(", ")
    );
    let mut numbers = part.first_row..part.first_row + part.rows;
    let mut bytes = 0;
    let load_result = connection.load_local(&sql, |out| {
        if cancel.is_cancelled() {
            return Err(MySqlLocalFileError(cancelled()));
        }
        let begin = out.len();
        while out.len() < begin + FILE_PACKET_BYTES {
            let Some(number) = numbers.next() else { break };
            rows.make(number);
            append_line(rows, part.columns.len(), b"", out);
        }
        bytes += (out.len() - begin) as u64;
        Ok(())
    });
    let row_count = load_result.map_err(|MySqlLocalFileError(error)| error)?;
    check_warnings(connection)?;
    all_taken(part, row_count)?;
    Ok(bytes)
}

fn insert(
    connection: &mut MySqlConnection,
    part: &RowBatch<'_>,
    rows: &mut dyn Rows,
    cancel: &Cancel,
) -> Result<u64, TargetError> {
    let (mut taken, mut bytes) = (0, 0);
    let mut numbers = (part.first_row..part.first_row + part.rows).peekable();
    while numbers.peek().is_some() {
        if cancel.is_cancelled() {
            return Err(cancelled());
        }
        let mut sql = format!("INSERT INTO {} VALUES ", part.table).into_bytes();
        let mut comma: &[u8] = b"";
        while sql.len() < INSERT_BYTES
            && let Some(number) = numbers.next()
        {
            rows.make(number);
            sql.extend_from_slice(comma);
            append_values(rows, part.columns.len(), &mut sql);
            comma = b",";
        }
        bytes += sql.len() as u64;
        connection.simple(&String::from_utf8_lossy(&sql))?;
        taken += connection.rows_affected();
    }
    all_taken(part, taken)?;
    Ok(bytes)
}

/// Appends the row that was generated last as a tuple of VALUES.
fn append_values(rows: &dyn Rows, columns: usize, out: &mut Vec<u8>) {
    for column in 0..columns {
        out.push(if column == 0 { b'(' } else { b',' });
        match rows.value(column) {
            Value::Null => out.extend_from_slice(b"NULL"),
            Value::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Value::Real(number) => out.extend_from_slice(format!("{number:e}").as_bytes()),
            Value::Text(text) => out.extend_from_slice(literal(&String::from_utf8_lossy(text)).as_bytes()),
            Value::Bytes(bytes) => {
                out.extend_from_slice(b"X'");
                append_hex(bytes, out);
                out.push(b'\'');
            }
        }
    }
    out.push(b')');
}

/// Returns those of `names` that exist in the connection's database.
pub(crate) fn find(
    connection: &mut MySqlConnection,
    kind: ObjectKind,
    names: &[&str],
) -> Result<Vec<DropItem>, TargetError> {
    let (word, sql) = match kind {
        ObjectKind::Table => (
            "table",
            "SELECT DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ",
        ),
        ObjectKind::Index => (
            "index",
            "SELECT NULL FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND INDEX_NAME = ",
        ),
    };
    let mut items = Vec::new();
    for name in names {
        let rows = connection.simple(&format!("{sql}{} LIMIT 1", literal(name)))?;
        if !rows.is_empty() {
            items.push(DropItem { kind: word.to_owned(), name: (*name).to_owned(), bytes: first(&rows, 0) });
        }
    }
    Ok(items)
}
