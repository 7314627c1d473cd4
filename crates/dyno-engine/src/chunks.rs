//! A load cut into chunks: each is one transaction, so a load that is killed resumes after its last whole chunk.

use std::collections::HashSet;
use std::ops::Range;

/// A run of insert positions of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// The table, as its place in the list of all tables.
    pub table: usize,
    /// The first insert position, from 0.
    pub first: u64,
    /// How many.
    pub rows: u64,
}

/// `positions` of a table in chunks of `size` rows, the last one shorter.
pub fn cut(table: usize, positions: Range<u64>, size: u64) -> impl Iterator<Item = Chunk> {
    let end = positions.end;
    let firsts = positions.step_by(size as usize);
    firsts.map(move |first| Chunk { table, first, rows: size.min(end - first) })
}

/// Those of `chunks` that are not in `done` (table, first position), so ordered that neighbours in the list belong to different
/// tables: connections that load at the same time then seldom extend the same file or split the same page.
pub fn in_turns(chunks: impl Iterator<Item = Chunk>, done: &HashSet<(usize, u64)>) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = chunks.filter(|chunk| !done.contains(&(chunk.table, chunk.first))).collect();
    chunks.sort_by_key(|chunk| (chunk.first, chunk.table));
    chunks
}

/// All of tables with so many `rows`, as [`in_turns`].
pub fn whole_tables(rows: impl Iterator<Item = u64>, size: u64, done: &HashSet<(usize, u64)>) -> Vec<Chunk> {
    in_turns(rows.enumerate().flat_map(|(table, rows)| cut(table, 0..rows, size)), done)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn chunks_cover_every_row_once(
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
            let done: HashSet<_> = chunks.iter().take(skip).map(|chunk| (chunk.table, chunk.first)).collect();
            let left = whole_tables(tables.iter().copied(), size, &done);
            prop_assert_eq!(&left[..], &chunks[skip.min(chunks.len())..]);
        }
    }
}
