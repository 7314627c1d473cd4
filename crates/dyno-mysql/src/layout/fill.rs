//! Writes rows with `LOAD DATA LOCAL`, or with multi-row `INSERT` if the server does not accept files.

use super::super::wire::{MySqlConnection, MySqlWireError};
use super::row_text::{ESCAPE, MySqlRowGenerator};
use super::session::MySqlLoadContext;
use crate::wire::FILE_PACKET_BYTES;
use dyno_engine::TargetError;
use dyno_engine::chunks::LoadChunk;
use dyno_engine::pool::cancelled;
use dyno_engine::row::first;

/// Approximate bytes of one INSERT. More saves nothing, and this is below every server's
/// `max_allowed_packet`.
const INSERT_BYTES: usize = 256 * 1024;

/// The method of writing rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MySqlLoadMethod {
    File,
    /// Multi-row `INSERT … VALUES` statements.
    Insert,
}

impl MySqlLoadMethod {
    /// The fastest method that the server allows: files if `local_infile` is on.
    pub(crate) fn choose(connection: &mut MySqlConnection) -> Result<Self, TargetError> {
        let rows = connection.simple("SELECT @@local_infile")?;
        Ok(if first(&rows, 0) == Some(1) { Self::File } else { Self::Insert })
    }
}

/// Writes the rows of `chunk`; returns how many records the server accepted, including spacers.
pub(super) fn write(
    connection: &mut MySqlConnection,
    loading: &MySqlLoadContext<'_>,
    way: MySqlLoadMethod,
    chunk: LoadChunk,
    maker: &mut MySqlRowGenerator,
) -> Result<u64, TargetError> {
    match way {
        MySqlLoadMethod::File => load_file(connection, loading, chunk, maker),
        MySqlLoadMethod::Insert => insert_rows(connection, loading, chunk, maker),
    }
}

/// An error while a file is sent: of the connection, or a cancellation by the user.
pub(super) struct MySqlLocalFileError(pub(super) TargetError);

impl From<MySqlWireError> for MySqlLocalFileError {
    fn from(error: MySqlWireError) -> Self {
        Self(error.into())
    }
}

fn load_file(
    connection: &mut MySqlConnection,
    loading: &MySqlLoadContext<'_>,
    chunk: LoadChunk,
    maker: &mut MySqlRowGenerator,
) -> Result<u64, TargetError> {
    let name = loading.tables[chunk.table].name();
    let sql = format!(
        "LOAD DATA LOCAL INFILE 'dyno' INTO TABLE {name} CHARACTER SET ascii \
         FIELDS TERMINATED BY '\\t' ESCAPED BY X'{ESCAPE:02x}' LINES TERMINATED BY '\\n'"
    );
    let mut positions = chunk.first..chunk.first + chunk.rows;
    let line_bytes = maker.line_bytes_max();
    let load_result = connection.load_local(&sql, |out| {
        if loading.cancel.is_cancelled() {
            return Err(MySqlLocalFileError(cancelled()));
        }
        let until = out.len() + FILE_PACKET_BYTES - line_bytes;
        while out.len() < until {
            let Some(position) = positions.next() else { break };
            maker.append_lines(position, out);
        }
        Ok(())
    });
    let record_count = load_result.map_err(|MySqlLocalFileError(error)| error)?;
    check_warnings(connection)?;
    Ok(record_count)
}

/// Returns an error if the last statement caused warnings. With a file the server changes invalid values and
/// only warns, while it would reject them elsewhere.
pub(super) fn check_warnings(connection: &mut MySqlConnection) -> Result<(), TargetError> {
    if connection.warnings() == 0 {
        return Ok(());
    }
    let warnings = connection.simple("SHOW WARNINGS LIMIT 1")?;
    let warning_text = warnings.first().and_then(|row| row.get(2)).unwrap_or("a warning").to_owned();
    Err(TargetError::data(format!("the server changed rows during the load: {warning_text}"))
        .hint("`dyno load --replace` drops the objects that Dyno created and loads again"))
}

fn insert_rows(
    connection: &mut MySqlConnection,
    loading: &MySqlLoadContext<'_>,
    chunk: LoadChunk,
    maker: &mut MySqlRowGenerator,
) -> Result<u64, TargetError> {
    let name = loading.tables[chunk.table].name();
    let mut record_count = 0;
    let mut positions = (chunk.first..chunk.first + chunk.rows).peekable();
    while positions.peek().is_some() {
        if loading.cancel.is_cancelled() {
            return Err(cancelled());
        }
        let mut sql = format!("INSERT INTO {name} VALUES ");
        let mut comma = "";
        while sql.len() < INSERT_BYTES
            && let Some(position) = positions.next()
        {
            sql.push_str(comma);
            maker.append_values(position, &mut sql);
            comma = ",";
        }
        connection.simple(&sql)?;
        record_count += connection.rows_affected();
    }
    Ok(record_count)
}
