//! Splits a load into chunks of one transaction each, so a killed load resumes after its last committed
//! chunk.
//!
//! A table has a body and a tail. From version 16 on COPY makes the server extend a table by up to 64 blocks
//! at a time. Blocks of the last extension that COPY does not fill stay empty, and a scan would read them. So
//! COPY loads the body first, and VACUUM then registers its empty blocks. INSERT fills them with the tail and
//! extends the table by one block at a time. A table of n rows then has n blocks.

use super::tables::TestTable;
use dyno_engine::chunks::{LoadChunk, cut, interleave_tables};
use dyno_engine::layout::ChunkPositions;

/// Rows of one chunk: 128 MiB of blocks and about 40 MB on the connection. The chunk is large enough that its
/// commit and its share of the tail cost little, and small enough that a crash loses less than a second's
/// work.
const CHUNK_ROWS: u64 = 16_384;

/// Rows of the tail per chunk of the body: as many as the blocks that a COPY can leave empty.
const TAIL_ROWS_PER_CHUNK: u64 = 64;

/// The first position of the tail of a table.
fn tail_begins(rows: u64) -> u64 {
    rows.saturating_sub(rows.div_ceil(CHUNK_ROWS) * TAIL_ROWS_PER_CHUNK)
}

/// The chunks of the bodies of `tables` that are not in `done` (table, first position), in the order of
/// [`interleave_tables`].
pub(super) fn bodies(tables: &[TestTable], completed: &ChunkPositions) -> Vec<LoadChunk> {
    let body = |(i, table): (usize, &TestTable)| cut(i, 0..tail_begins(table.rows), CHUNK_ROWS);
    interleave_tables(tables.iter().enumerate().flat_map(body), completed)
}

/// The chunks of the tail of table number `i` that are not in `done`.
pub(super) fn tail(i: usize, table: &TestTable, completed: &ChunkPositions) -> Vec<LoadChunk> {
    interleave_tables(cut(i, tail_begins(table.rows)..table.rows, CHUNK_ROWS), completed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use dyno_engine::data::TableKind;

    proptest! {
        #[test]
        fn load_chunks_cover_every_row_once(sizes in prop::collection::vec(1u64..200_000, 1..5), skip in 0usize..8) {
            let tables: Vec<TestTable> =
                sizes.iter().map(|&rows| TestTable { prefix: "", kind: TableKind::Rows, schema: 1, rows }).collect();
            let no_chunks = ChunkPositions::new();
            let body = bodies(&tables, &no_chunks);
            for (i, table) in tables.iter().enumerate() {
                let mut next = 0;
                let table_chunks = body.iter().filter(|chunk| chunk.table == i).copied();
                for chunk in table_chunks.chain(tail(i, table, &no_chunks)) {
                    prop_assert_eq!(chunk.first, next);
                    prop_assert!(chunk.rows > 0);
                    next += chunk.rows;
                }
                prop_assert_eq!(next, table.rows);
            }
            let completed: ChunkPositions = body.iter().take(skip).map(|chunk| (chunk.table, chunk.first)).collect();
            prop_assert_eq!(&bodies(&tables, &completed)[..], &body[skip.min(body.len())..]);
        }
    }
}
