//! The load cut into chunks: each is one transaction, so a load that is killed resumes after its last whole chunk.
//!
//! A table has a body and a tail. From version 16 on COPY makes the server extend a table by up to 64 blocks at a time,
//! and what it does not fill of the last extension stays empty; a scan would read blocks that hold nothing. So the body is
//! loaded first by COPY, then vacuumed, which makes its empty blocks known, and the tail fills them by INSERT, which
//! extends by one block at a time. A table of n rows has n blocks then.

use super::tables::Table;
use dyno_engine::chunks::{Chunk, cut, in_turns};
use dyno_engine::layout::Chunks;

/// Rows of one chunk: 128 MiB of blocks and some 40 MB on the wire. Long enough that neither its commit nor its share of
/// the tail counts, short enough that a crash loses less than a second's work.
const CHUNK_ROWS: u64 = 16_384;

/// Rows of the tail for each chunk of the body: as many as a COPY can leave empty blocks.
const TAIL_ROWS_PER_CHUNK: u64 = 64;

/// Where the tail of a table begins.
fn tail_begins(rows: u64) -> u64 {
    rows.saturating_sub(rows.div_ceil(CHUNK_ROWS) * TAIL_ROWS_PER_CHUNK)
}

/// The chunks of the bodies of `tables` that are not in `done` (table, first position), as [`in_turns`].
pub(super) fn bodies(tables: &[Table], done: &Chunks) -> Vec<Chunk> {
    let body = |(i, table): (usize, &Table)| cut(i, 0..tail_begins(table.rows), CHUNK_ROWS);
    in_turns(tables.iter().enumerate().flat_map(body), done)
}

/// The chunks of the tail of table number `i` that are not in `done`.
pub(super) fn tail(i: usize, table: &Table, done: &Chunks) -> Vec<Chunk> {
    in_turns(cut(i, tail_begins(table.rows)..table.rows, CHUNK_ROWS), done)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use dyno_engine::data::TableKind;

    proptest! {
        #[test]
        fn chunks_cover_every_row_once(sizes in prop::collection::vec(1u64..200_000, 1..5), skip in 0usize..8) {
            let tables: Vec<Table> =
                sizes.iter().map(|&rows| Table { prefix: "", kind: TableKind::Rows, schema: 1, rows }).collect();
            let none = Chunks::new();
            let body = bodies(&tables, &none);
            for (i, table) in tables.iter().enumerate() {
                let mut next = 0;
                let own = body.iter().filter(|chunk| chunk.table == i).copied();
                for chunk in own.chain(tail(i, table, &none)) {
                    prop_assert_eq!(chunk.first, next);
                    prop_assert!(chunk.rows > 0);
                    next += chunk.rows;
                }
                prop_assert_eq!(next, table.rows);
            }
            let done: Chunks = body.iter().take(skip).map(|chunk| (chunk.table, chunk.first)).collect();
            prop_assert_eq!(&bodies(&tables, &done)[..], &body[skip.min(body.len())..]);
        }
    }
}
