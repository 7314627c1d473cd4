//! The two ways to write rows: `LOAD DATA LOCAL`, and `INSERT` of several rows where the server does not take files.

use super::super::wire::{Connection, WireError};
use super::row_text::{ESCAPE, RowMaker};
use super::session::Loading;
use crate::wire::FILE_PACKET_BYTES;
use dyno_engine::TargetError;
use dyno_engine::chunks::Chunk;
use dyno_engine::pool::cancelled;
use dyno_engine::row::first;

/// Bytes of one INSERT, about: more saves nothing, and less than every server's `max_allowed_packet`.
const INSERT_BYTES: usize = 256 * 1024;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// `LOAD DATA LOCAL INFILE`.
    File,
    /// `INSERT … VALUES` of several rows.
    Insert,
}

impl Way {
    /// The faster way that the server allows: with `local_infile` on, files.
    pub(crate) fn choose(connection: &mut Connection) -> Result<Self, TargetError> {
        let rows = connection.simple("SELECT @@local_infile")?;
        Ok(if first(&rows, 0) == Some(1) { Self::File } else { Self::Insert })
    }
}

/// Writes the rows of `chunk` in this `way`; returns how many records the server took, spacers included.
pub(super) fn write(
    connection: &mut Connection,
    loading: &Loading<'_>,
    way: Way,
    chunk: Chunk,
    maker: &mut RowMaker,
) -> Result<u64, TargetError> {
    match way {
        Way::File => file(connection, loading, chunk, maker),
        Way::Insert => insert(connection, loading, chunk, maker),
    }
}

/// What can end the file: the wire, or the user.
pub(super) struct Stop(pub(super) TargetError);

impl From<WireError> for Stop {
    fn from(error: WireError) -> Self {
        Self(error.into())
    }
}

fn file(
    connection: &mut Connection,
    loading: &Loading<'_>,
    chunk: Chunk,
    maker: &mut RowMaker,
) -> Result<u64, TargetError> {
    let name = loading.tables[chunk.table].name();
    let sql = format!(
        "LOAD DATA LOCAL INFILE 'dyno' INTO TABLE {name} CHARACTER SET ascii \
         FIELDS TERMINATED BY '\\t' ESCAPED BY X'{ESCAPE:02x}' LINES TERMINATED BY '\\n'"
    );
    let mut positions = chunk.first..chunk.first + chunk.rows;
    let line_bytes = maker.line_bytes_max();
    let taken = connection.load_local(&sql, |out| {
        if loading.cancel.is_cancelled() {
            return Err(Stop(cancelled()));
        }
        let until = out.len() + FILE_PACKET_BYTES - line_bytes;
        while out.len() < until {
            let Some(position) = positions.next() else { break };
            maker.append_lines(position, out);
        }
        Ok(())
    });
    let taken = taken.map_err(|Stop(error)| error)?;
    no_warnings(connection)?;
    Ok(taken)
}

/// Fails where the server has warned of the last statement: it takes from a file what it would refuse elsewhere, and changes it.
pub(super) fn no_warnings(connection: &mut Connection) -> Result<(), TargetError> {
    if connection.warnings() == 0 {
        return Ok(());
    }
    let said = connection.simple("SHOW WARNINGS LIMIT 1")?;
    let said = said.first().and_then(|row| row.get(2)).unwrap_or("a warning").to_owned();
    Err(TargetError::data(format!("rows were changed on their way in: {said}"))
        .hint("`dyno load --replace` drops what Dyno made and loads anew"))
}

fn insert(
    connection: &mut Connection,
    loading: &Loading<'_>,
    chunk: Chunk,
    maker: &mut RowMaker,
) -> Result<u64, TargetError> {
    let name = loading.tables[chunk.table].name();
    let mut taken = 0;
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
        taken += connection.rows_affected();
    }
    Ok(taken)
}
