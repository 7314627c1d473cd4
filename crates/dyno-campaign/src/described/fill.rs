//! Filling tables in parts, on several connections.

use std::sync::atomic::{AtomicU64, Ordering};

use dyno_engine::pool::{self, BreakOff, Loaders};
use dyno_engine::{ColumnType, Fill, Part, Target, TargetError};
use dyno_workload::own::{DescribedTable, Own};

use super::book;
use crate::event::{Event, LoadEvent};
use crate::lead::Lead;

/// Bytes of a part, about: long enough that its commit does not count, short enough that taking it back is quick.
const PART_BYTES: u64 = 8 << 20;

/// Rows of a part: at least, and at most.
const PART_ROWS: (u64, u64) = (100, 200_000);

/// Rows of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    table: usize,
    first: u64,
    rows: u64,
}

/// The connections of a target that fill.
pub(super) struct Fillers<'a>(pub(super) &'a dyn Target);

impl<'a> Loaders for Fillers<'a> {
    type Connection = Box<dyn Fill + 'a>;

    fn open(&self) -> Result<(Self::Connection, BreakOff), TargetError> {
        self.0.filler()
    }

    fn close(&self, connection: Self::Connection) {
        connection.close();
    }
}

/// How many connections fill `target` where so many are asked for.
pub(super) fn connections(target: &dyn Target, parallel: u32) -> u32 {
    parallel.min(target.capabilities().load_parallel_max)
}

/// Writes all rows that are not there yet; how many those are.
pub(super) fn fill(
    lead: &Lead<'_>,
    target: &dyn Target,
    own: &Own,
    parallel: u32,
) -> Result<u64, TargetError> {
    let tables = own.tables();
    let mut pieces = Vec::new();
    for (place, table) in tables.iter().enumerate().filter(|(_, table)| !table.is_filled_by_runs()) {
        let done = book::parts(target, own, table.name())?;
        let missing = gaps(table.rows(), &done);
        let cut = |(first, rows)| cut(first, rows, part_rows(table));
        pieces.extend(missing.into_iter().flat_map(cut).map(|(first, rows)| Piece {
            table: place,
            first,
            rows,
        }));
    }
    // Neighbours in the list belong to different tables: connections then seldom extend the same file.
    pieces.sort_by_key(|piece| (piece.first, piece.table));
    let missing = pieces.iter().map(|piece| piece.rows).sum();
    lead.tell(Event::Load(LoadEvent::Phase("rows".to_owned(), missing)));
    let (connections, written) = (connections(target, parallel), AtomicU64::new(0));
    pool::run(&Fillers(target), connections, pieces.len(), &lead.cancel, &|filler, job| {
        let Piece { table, first, rows } = pieces[job];
        let table = &tables[table];
        let note = book::note(own, table.name(), first, rows);
        let part = Part { table: table.name(), columns: table.columns(), first, rows, note: Some(&note) };
        let bytes = match filler.part(&part, &mut table.row_maker(), &lead.cancel) {
            Ok(bytes) => {
                written.fetch_add(rows, Ordering::Relaxed);
                bytes
            }
            // The server may have committed it for a load that was killed, after the book was read.
            Err(_) if is_there(target, own, table, first, rows) => 0,
            Err(error) => return Err(error),
        };
        lead.tell(Event::Load(LoadEvent::Advance(rows, bytes)));
        Ok(())
    })?;
    Ok(written.into_inner())
}

/// Whether the book tells of this part by now.
fn is_there(target: &dyn Target, own: &Own, table: &DescribedTable, first: u64, rows: u64) -> bool {
    book::parts(target, own, table.name()).is_ok_and(|parts| parts.contains(&(first, rows)))
}

/// Rows of a part of `table`.
fn part_rows(table: &DescribedTable) -> u64 {
    let bytes: u64 = table.columns().iter().map(|column| width(column.of)).sum();
    (PART_BYTES / bytes.max(1)).clamp(PART_ROWS.0, PART_ROWS.1)
}

/// Bytes of a value, about.
fn width(of: ColumnType) -> u64 {
    match of {
        ColumnType::Char(letters) | ColumnType::Varchar(letters) => u64::from(letters) + 1,
        ColumnType::Bytes(bytes) => 2 * u64::from(bytes) + 1,
        ColumnType::Text | ColumnType::Json => 200,
        ColumnType::Decimal(digits, _) => u64::from(digits) + 2,
        ColumnType::Integer
        | ColumnType::Bigint
        | ColumnType::Real
        | ColumnType::Date
        | ColumnType::Timestamp
        | ColumnType::Boolean => 12,
        ColumnType::Uuid => 37,
    }
}

/// What of rows 1 to `rows` is in none of `done`, which are in order: the first row of each piece, and how many.
fn gaps(rows: u64, done: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut gaps = Vec::new();
    let mut next = 1;
    for &(first, count) in done.iter().chain([&(rows + 1, 0)]) {
        if first > next {
            gaps.push((next, first - next));
        }
        next = next.max(first + count);
    }
    gaps
}

/// Rows in pieces of `size`, the last one shorter.
fn cut(first: u64, rows: u64, size: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = first + rows;
    (first..end).step_by(size as usize).map(move |begin| (begin, size.min(end - begin)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_found_and_cut() {
        assert_eq!(gaps(10, &[]), [(1, 10)]);
        assert_eq!(gaps(0, &[]), []);
        assert_eq!(gaps(10, &[(1, 10)]), []);
        assert_eq!(gaps(10, &[(3, 2), (7, 1)]), [(1, 2), (5, 2), (8, 3)]);
        assert_eq!(cut(3, 5, 2).collect::<Vec<_>>(), [(3, 2), (5, 2), (7, 1)]);
        assert_eq!(cut(3, 0, 2).count(), 0);
    }
}
