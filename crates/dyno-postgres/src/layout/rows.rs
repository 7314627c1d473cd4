//! Fills the tables: binary COPY for their bodies, INSERT for their tails, one transaction per chunk.

use super::super::wire::PostgresConnection;
use super::chunks::{bodies, tail};
use super::copy_rows::{CONTENT_BYTES, HEADER, PostgresRowGenerator, ROW_BYTES, TRAILER};
use super::finish;
use super::session::{PostgresLoadContext, explain};
use super::tables::TestTable;
use dyno_engine::TargetError;
use dyno_engine::chunks::LoadChunk;
use dyno_engine::layout::{ChunkPositions, LoadTotals, all_taken};
use dyno_engine::pool::cancelled;

/// Rows are collected until about this many bytes can be sent.
const SEND_BYTES: usize = 256 * 1024;

/// Rows of one INSERT: about 80 KB of text.
const INSERT_ROWS: u64 = 32;

/// The usual reasons why a table does not receive rows.
const CULPRITS: &str = "triggers or rules";

/// Writes the missing rows of the tables' bodies.
pub(super) fn fill_bodies(
    loading: &PostgresLoadContext<'_>,
    completed: &ChunkPositions,
) -> Result<LoadTotals, TargetError> {
    let chunks = bodies(&loading.tables, completed);
    if !completed.is_empty() && !chunks.is_empty() {
        // An interrupted load left blocks with dead rows. After VACUUM, COPY fills them instead of leaving
        // them empty.
        finish::vacuum(loading, "vacuum", "VACUUM (FREEZE)")?;
    }
    loading.fill(&chunks, CONTENT_BYTES, |connection, chunk| write_chunk(connection, loading, chunk, copy))
}

/// Vacuums each table whose tail is incomplete and writes the tail, with one connection per table.
pub(super) fn fill_tails(
    loading: &PostgresLoadContext<'_>,
    completed: &ChunkPositions,
) -> Result<LoadTotals, TargetError> {
    let tail_of = |table: &TestTable| {
        let place = loading.tables.iter().position(|other| other == table);
        place.map_or(Vec::new(), |place| tail(place, table, completed))
    };
    let tables: Vec<TestTable> =
        loading.tables.iter().filter(|table| !tail_of(table).is_empty()).copied().collect();
    loading.each_table(&tables, "vacuum", |connection, table| {
        finish::vacuum_one(connection, loading, table, "VACUUM (FREEZE)")?;
        tail_of(table).into_iter().try_for_each(|chunk| write_chunk(connection, loading, chunk, insert))
    })?;
    let chunks: Vec<LoadChunk> = tables.iter().flat_map(tail_of).collect();
    Ok(LoadTotals::of(&chunks, CONTENT_BYTES))
}

/// A method of writing the rows of one chunk, which takes their generator.
type Write = fn(
    &mut PostgresConnection,
    &PostgresLoadContext<'_>,
    LoadChunk,
    &mut PostgresRowGenerator,
) -> Result<(), TargetError>;

/// Writes one chunk and its note in one transaction.
fn write_chunk(
    connection: &mut PostgresConnection,
    loading: &PostgresLoadContext<'_>,
    chunk: LoadChunk,
    write: Write,
) -> Result<(), TargetError> {
    let table = loading.tables[chunk.table];
    let mut maker = PostgresRowGenerator::new(loading.spec, &table);
    let (kind, schema, LoadChunk { first, rows, .. }) = (table.kind.name(), table.schema, chunk);
    let note = format!("INSERT INTO dyno.chunks VALUES ('{kind}', {schema}, {first}, {rows}); COMMIT");
    let mut written = connection.simple("BEGIN").map(|_| ());
    written = written.and_then(|()| write(connection, loading, chunk, &mut maker));
    written = written.and_then(|()| connection.simple(&note).map(|_| ()));
    if written.is_err() {
        // Even if this does not arrive, the server discards what was not committed.
        let _ = connection.simple("ROLLBACK");
    }
    let doing = format!("rows cannot be written to {}", table.name());
    written.map_err(|error| explain(error, &doing, &loading.loaders.config))
}

/// Writes the rows of `chunk` with one COPY.
fn copy(
    connection: &mut PostgresConnection,
    loading: &PostgresLoadContext<'_>,
    chunk: LoadChunk,
    maker: &mut PostgresRowGenerator,
) -> Result<(), TargetError> {
    let name = loading.tables[chunk.table].name();
    let mut copy = connection.copy_in(&format!("COPY {name} FROM STDIN (FORMAT binary)"))?;
    let mut buffer = Vec::with_capacity(SEND_BYTES + ROW_BYTES + TRAILER.len());
    buffer.extend_from_slice(HEADER);
    for position in chunk.first..chunk.first + chunk.rows {
        maker.append(position, &mut buffer);
        if buffer.len() >= SEND_BYTES {
            if loading.cancel.is_cancelled() {
                copy.fail()?;
                return Err(cancelled());
            }
            copy.send(&buffer)?;
            buffer.clear();
        }
    }
    buffer.extend_from_slice(&TRAILER);
    copy.send(&buffer)?;
    let row_count = copy.finish()?;
    all_taken(&name, chunk.rows, row_count, CULPRITS)
}

/// Writes the rows of `chunk` with INSERTs of a few rows each.
fn insert(
    connection: &mut PostgresConnection,
    loading: &PostgresLoadContext<'_>,
    chunk: LoadChunk,
    maker: &mut PostgresRowGenerator,
) -> Result<(), TargetError> {
    let name = loading.tables[chunk.table].name();
    let end = chunk.first + chunk.rows;
    let mut first = chunk.first;
    while first < end {
        if loading.cancel.is_cancelled() {
            return Err(cancelled());
        }
        let next = end.min(first + INSERT_ROWS);
        let rows: Vec<String> = (first..next).map(|position| maker.values(position)).collect();
        connection.simple(&format!("INSERT INTO {name} VALUES {}", rows.join(", ")))?;
        all_taken(&name, next - first, connection.rows_affected(), CULPRITS)?;
        first = next;
    }
    Ok(())
}
