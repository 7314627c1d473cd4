//! Filling the tables: arrays of rows in random key order, one transaction per chunk.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use dyno_plan::DataSpec;
use oracledb::ToDbValue;

use super::super::connect::ConnectConfig;
use super::super::connection::Connection;
use super::super::sql;
use super::meta::Found;
use super::session::{Loaders, explain};
use super::tables::{Table, names_and_binds};
use dyno_engine::chunks::{Chunk, whole_tables};
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, Filler, Permutation, TEXT_COLUMNS, table_seed};
use dyno_engine::error::{TargetError, TargetErrorKind};
use dyno_engine::load::{Cancel, LoadOptions, Progress};
use dyno_engine::pool::{self, cancelled};

/// Rows of one array: 640 KB on the wire, and one round trip.
const ARRAY_ROWS: u64 = 256;

/// Rows of one chunk: 32 MiB of blocks of 8 KiB and some 10 MB on the wire. Long enough that its commit does not count,
/// short enough that taking it back after a crash is a matter of seconds.
const CHUNK_ROWS: u64 = 4096;

/// What a filling wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

/// How and by whom a load is done.
pub(super) struct Loading<'a> {
    pub(super) config: &'a ConnectConfig,
    pub(super) spec: &'a DataSpec,
    pub(super) tables: &'a [Table],
    pub(super) options: &'a LoadOptions,
    pub(super) progress: &'a dyn Progress,
    pub(super) cancel: &'a Cancel,
}

impl Loading<'_> {
    /// The chunks that are there for good, by the table's place in the list and first position.
    pub(super) fn done(&self, found: &Found) -> HashSet<(usize, u64)> {
        let chunk = |(kind, schema, first): &(String, u32, u64)| {
            let is_it = |table: &Table| table.kind.name() == kind && table.schema == *schema;
            Some((self.tables.iter().position(is_it)?, *first))
        };
        found.chunks.iter().filter_map(chunk).collect()
    }

    /// Does `jobs` jobs on the load's connections.
    pub(super) fn each(
        &self,
        jobs: usize,
        work: &(dyn Fn(&mut Connection, usize) -> Result<(), TargetError> + Sync),
    ) -> Result<(), TargetError> {
        pool::run(&Loaders(self.config), self.options.parallel, jobs, self.cancel, work)
    }
}

/// Writes the rows that are not there yet.
pub(super) fn fill(loading: &Loading<'_>, done: &HashSet<(usize, u64)>) -> Result<Written, TargetError> {
    let chunks = whole_tables(loading.tables.iter().map(|table| table.rows), CHUNK_ROWS, done);
    loading.progress.phase("rows", chunks.iter().map(|chunk| chunk.rows).sum());
    let written = Mutex::new(Written::default());
    loading.each(chunks.len(), &|connection, job| {
        let chunk = write_chunk(connection, loading, chunks[job])?;
        loading.progress.advance(chunk.rows, chunk.bytes);
        let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
        written.rows += chunk.rows;
        written.bytes += chunk.bytes;
        Ok(())
    })?;
    Ok(written.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Writes one chunk and the note of it; both or neither are there afterwards.
fn write_chunk(connection: &Connection, loading: &Loading<'_>, chunk: Chunk) -> Result<Written, TargetError> {
    let table = loading.tables[chunk.table];
    let Chunk { first, rows, .. } = chunk;
    let (kind, schema) = (table.kind.name(), table.schema);
    let written = insert(connection, loading, &table, first..first + rows).and_then(|()| {
        let binds: [(&str, &dyn ToDbValue); 4] =
            [("kind", &kind), ("schema_no", &schema), ("first_position", &first), ("row_count", &rows)];
        connection.run(&sql::NOTE_CHUNK.text(), &binds)?;
        connection.commit()
    });
    if let Err(error) = written {
        connection.rollback();
        return Err(explain(error, &format!("rows cannot be written to {}", table.name()), loading.config));
    }
    Ok(Written { rows, bytes: rows * (16 + (TEXT_COLUMNS * CLASSIC_COLUMN_BYTES) as u64) })
}

/// Inserts the rows at `positions`, array by array.
fn insert(
    connection: &Connection,
    loading: &Loading<'_>,
    table: &Table,
    positions: std::ops::Range<u64>,
) -> Result<(), TargetError> {
    let spec = loading.spec;
    let filler = Filler::new(spec, table.schema, table.kind, CLASSIC_COLUMN_BYTES);
    let order = Permutation::new(table.rows, table_seed(spec.seed, table.schema, table.kind));
    let sql = insert_sql(table);
    let mut text = Vec::new();
    for first in positions.clone().step_by(ARRAY_ROWS as usize) {
        if loading.cancel.is_cancelled() {
            return Err(cancelled());
        }
        let count = ARRAY_ROWS.min(positions.end - first);
        let keys: Vec<u64> = (first..first + count).map(|position| order.key(position)).collect();
        text.resize(keys.len() * filler.row_bytes(), 0);
        for (key, row) in keys.iter().zip(text.chunks_exact_mut(filler.row_bytes())) {
            filler.fill(*key, row);
        }
        let sent = send(connection, &sql, &keys, &text)?;
        if sent != count {
            let message =
                format!("{count} rows were sent to {} and the database took {sent}", table.dictionary_name());
            return Err(TargetError::new(TargetErrorKind::Data, message)
                .hint("look for triggers on the table, drop what Dyno made, and load again"));
        }
    }
    Ok(())
}

/// The statement that inserts one row of `table`: key, then text columns in their order.
pub(super) fn insert_sql(table: &Table) -> String {
    let (names, binds) = names_and_binds();
    sql::INSERT_ROWS.with(&[("table", &table.name()), ("names", &names), ("binds", &binds)])
}

/// Sends one array of rows.
fn send(connection: &Connection, sql: &str, keys: &[u64], text: &[u8]) -> Result<u64, TargetError> {
    let columns: Vec<&str> = text
        .chunks_exact(CLASSIC_COLUMN_BYTES)
        .map(|column| std::str::from_utf8(column).expect("filler is ASCII"))
        .collect();
    let rows: Vec<Vec<&dyn ToDbValue>> = keys
        .iter()
        .zip(columns.chunks_exact(TEXT_COLUMNS))
        .map(|(key, columns)| {
            let key: &dyn ToDbValue = key;
            std::iter::once(key).chain(columns.iter().map(|column| column as &dyn ToDbValue)).collect()
        })
        .collect();
    let rows: Vec<&[&dyn ToDbValue]> = rows.iter().map(Vec::as_slice).collect();
    connection.batch(sql, &rows)
}
