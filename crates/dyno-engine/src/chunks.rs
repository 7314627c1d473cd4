//! Divides a load into chunks. Each chunk is one transaction, so a killed load resumes after its last
//! complete chunk.

use std::collections::HashSet;
use std::ops::Range;

/// A contiguous range of insert positions of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadChunk {
    /// The table, as its place in the list of all tables.
    pub table: usize,
    /// The first insert position, from 0.
    pub first: u64,
    /// Number of rows, at least 1.
    pub rows: u64,
}

/// Divides `positions` of a table into chunks of `size` rows; the last one may be shorter.
pub fn cut(table: usize, positions: Range<u64>, size: u64) -> impl Iterator<Item = LoadChunk> {
    let end = positions.end;
    let firsts = positions.step_by(size as usize);
    firsts.map(move |first| LoadChunk { table, first, rows: size.min(end - first) })
}

/// The `chunks` that are not in `loaded` (table, first position). Neighbors in the list belong to different
/// tables: parallel connections then rarely extend one file or split one page.
pub fn interleave_tables(
    chunks: impl Iterator<Item = LoadChunk>,
    loaded: &HashSet<(usize, u64)>,
) -> Vec<LoadChunk> {
    let mut chunks: Vec<LoadChunk> =
        chunks.filter(|chunk| !loaded.contains(&(chunk.table, chunk.first))).collect();
    chunks.sort_by_key(|chunk| (chunk.first, chunk.table));
    chunks
}

/// The chunks of all tables with these numbers of `rows`, in the order of [`interleave_tables`].
pub fn whole_tables(
    rows: impl Iterator<Item = u64>,
    size: u64,
    loaded: &HashSet<(usize, u64)>,
) -> Vec<LoadChunk> {
    interleave_tables(rows.enumerate().flat_map(|(table, rows)| cut(table, 0..rows, size)), loaded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn load_chunks_cover_every_row_once(
            tables in prop::collection::vec(1u64..50_000, 1..5), size in 1_000u64..20_000, skip in 0usize..8,
        ) {
            let chunks = whole_tables(tables.iter().copied(), size, &HashSet::new());
            for (table, rows) in tables.iter().enumerate() {
                let mut next = 0;
                for chunk in chunks.iter().filter(|chunk| chunk.table == table) {
                    prop_assert!(chunk.rows > 0 && chunk.rows <= size);
                    prop_assert_eq!(chunk.first, next);
                    next += chunk.rows;
                }
                prop_assert_eq!(next, *rows);
            }
            let loaded: HashSet<_> = chunks.iter().take(skip).map(|chunk| (chunk.table, chunk.first)).collect();
            let left = whole_tables(tables.iter().copied(), size, &loaded);
            prop_assert_eq!(&left[..], &chunks[skip.min(chunks.len())..]);
        }
    }
}
