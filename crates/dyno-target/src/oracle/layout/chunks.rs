//! The load cut into chunks: each is one transaction, so a load that is killed resumes after its last whole chunk.

use std::collections::HashSet;

use super::tables::Table;

/// Rows of one chunk: 32 MiB of blocks of 8 KiB and some 10 MB on the wire. Long enough that its commit does not count,
/// short enough that taking it back after a crash is a matter of seconds.
const CHUNK_ROWS: u64 = 4096;

/// A run of insert positions of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunk {
    /// The table, as its place in the list of all tables.
    pub(super) table: usize,
    /// The first insert position, from 0.
    pub(super) first: u64,
    /// How many.
    pub(super) rows: u64,
}

/// The chunks of `tables` that are not in `done` (table, first position), so ordered that neighbours in the list belong to
/// different tables: connections that load at the same time then seldom want the same block of a segment.
pub(super) fn all(tables: &[Table], done: &HashSet<(usize, u64)>) -> Vec<Chunk> {
    let of = |(i, table): (usize, &Table)| {
        let rows = table.rows;
        let firsts = (0..rows).step_by(CHUNK_ROWS as usize);
        firsts.map(move |first| Chunk { table: i, first, rows: CHUNK_ROWS.min(rows - first) })
    };
    let mut chunks: Vec<Chunk> = tables
        .iter()
        .enumerate()
        .flat_map(of)
        .filter(|chunk| !done.contains(&(chunk.table, chunk.first)))
        .collect();
    chunks.sort_by_key(|chunk| (chunk.first, chunk.table));
    chunks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::TableKind;

    proptest! {
        #[test]
        fn chunks_cover_every_row_once(sizes in prop::collection::vec(1u64..50_000, 1..5), skip in 0usize..8) {
            let tables: Vec<Table> =
                sizes.iter().map(|&rows| Table { kind: TableKind::Rows, schema: 1, rows }).collect();
            let chunks = all(&tables, &HashSet::new());
            for (i, table) in tables.iter().enumerate() {
                let mut next = 0;
                for chunk in chunks.iter().filter(|chunk| chunk.table == i) {
                    prop_assert_eq!(chunk.first, next);
                    next += chunk.rows;
                }
                prop_assert_eq!(next, table.rows);
            }
            let done: HashSet<_> = chunks.iter().take(skip).map(|chunk| (chunk.table, chunk.first)).collect();
            prop_assert_eq!(&all(&tables, &done)[..], &chunks[skip.min(chunks.len())..]);
        }
    }
}
