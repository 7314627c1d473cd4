//! The load cut into chunks: each is one transaction, so a load that is killed resumes after its last whole chunk.

use std::collections::HashSet;

use super::tables::Table;

/// Rows of one chunk. 4,096 rows are 32 MiB of blocks and some 10 MiB on the wire: long enough that a commit per chunk
/// costs nothing, short enough that a stop or a crash loses a blink.
pub(super) const CHUNK_ROWS: u64 = 4096;

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
/// different tables: connections that load at the same time then seldom extend the same file.
pub(super) fn pending(tables: &[Table], done: &HashSet<(usize, u64)>) -> Vec<Chunk> {
    let longest = tables.iter().map(|table| table.rows).max().unwrap_or(0);
    (0..longest.div_ceil(CHUNK_ROWS))
        .flat_map(|number| {
            let first = number * CHUNK_ROWS;
            tables
                .iter()
                .enumerate()
                .filter(move |(_, table)| first < table.rows)
                .map(move |(i, table)| Chunk { table: i, first, rows: CHUNK_ROWS.min(table.rows - first) })
        })
        .filter(|chunk| !done.contains(&(chunk.table, chunk.first)))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::TableKind;

    proptest! {
        #[test]
        fn chunks_cover_every_row_once(sizes in prop::collection::vec(1u64..20_000, 1..5), skip in 0usize..8) {
            let tables: Vec<Table> =
                sizes.iter().map(|&rows| Table { kind: TableKind::Rows, schema: 1, rows }).collect();
            let all = pending(&tables, &HashSet::new());
            for (i, table) in tables.iter().enumerate() {
                let mut next = 0;
                for chunk in all.iter().filter(|chunk| chunk.table == i) {
                    prop_assert_eq!(chunk.first, next);
                    next += chunk.rows;
                }
                prop_assert_eq!(next, table.rows);
            }
            let done: HashSet<_> = all.iter().take(skip).map(|chunk| (chunk.table, chunk.first)).collect();
            let rest = pending(&tables, &done);
            prop_assert_eq!(&rest[..], &all[skip.min(all.len())..]);
        }
    }
}
