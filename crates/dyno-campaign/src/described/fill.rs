//! Fills tables in parts, over several connections.

use std::sync::atomic::{AtomicU64, Ordering};

use dyno_engine::pool::{self, InterruptFn, LoadConnector};
use dyno_engine::{ColumnType, Fill, RowBatch, Target, TargetError};
use dyno_workload::custom::{CustomWorkload, DescribedTable};

use super::state_tables;
use crate::campaign_context::CampaignContext;
use crate::event::{CampaignEvent, LoadEvent};

/// Approximate size of a part, bytes: large enough that commits cost little, small enough that a rollback is
/// quick.
const PART_BYTES: u64 = 8 << 20;

/// Minimum and maximum number of rows in a part.
const PART_ROWS: (u64, u64) = (100, 200_000);

/// A range of rows of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RowRange {
    table: usize,
    first: u64,
    rows: u64,
}

/// The connections that fill tables of a target.
pub(super) struct Fillers<'a>(pub(super) &'a dyn Target);

impl<'a> LoadConnector for Fillers<'a> {
    type Connection = Box<dyn Fill + 'a>;

    fn open(&self) -> Result<(Self::Connection, InterruptFn), TargetError> {
        self.0.bulk_load()?.filler()
    }

    fn close(&self, connection: Self::Connection) {
        connection.close();
    }
}

/// Number of connections to use on `target` if `parallel` are requested.
pub(super) fn connections(target: &dyn Target, parallel: u32) -> u32 {
    parallel.min(target.capabilities().load_parallel_max)
}

/// Writes all missing rows; returns their number.
pub(super) fn fill(
    ctx: &CampaignContext<'_>,
    target: &dyn Target,
    workload: &CustomWorkload,
    parallel: u32,
) -> Result<u64, TargetError> {
    let tables = workload.tables();
    let mut pieces = Vec::new();
    for (place, table) in tables.iter().enumerate().filter(|(_, table)| !table.is_filled_by_runs()) {
        let stored_parts = state_tables::stored_parts(target, workload, table.name())?;
        let missing = gaps(table.rows(), &stored_parts);
        let cut = |(first, rows)| split_rows(first, rows, part_rows(table));
        pieces.extend(missing.into_iter().flat_map(cut).map(|(first, rows)| RowRange {
            table: place,
            first,
            rows,
        }));
    }
    // Neighbors in the list belong to different tables, so connections seldom extend the same file.
    pieces.sort_by_key(|piece| (piece.first, piece.table));
    let missing = pieces.iter().map(|piece| piece.rows).sum();
    ctx.emit(CampaignEvent::Load(LoadEvent::Phase("rows".to_owned(), missing)));
    let (connections, written) = (connections(target, parallel), AtomicU64::new(0));
    pool::run(&Fillers(target), connections, pieces.len(), &ctx.cancel, &|filler, job| {
        let RowRange { table, first, rows } = pieces[job];
        let table = &tables[table];
        let note = state_tables::insert_part_sql(workload, table.name(), first, rows);
        let part = RowBatch {
            table: table.name(),
            columns: table.columns(),
            first_row: first,
            rows,
            note: Some(&note),
        };
        let bytes = match filler.part(&part, &mut table.row_maker(), &ctx.cancel) {
            Ok(bytes) => {
                written.fetch_add(rows, Ordering::Relaxed);
                bytes
            }
            // The server may have committed this part for a killed load, after the state tables were read.
            Err(_) if is_part_stored(target, workload, table, first, rows) => 0,
            Err(error) => return Err(error),
        };
        ctx.emit(CampaignEvent::Load(LoadEvent::Advance(rows, bytes)));
        Ok(())
    })?;
    Ok(written.into_inner())
}

/// Whether the state tables contain this part now.
fn is_part_stored(
    target: &dyn Target,
    workload: &CustomWorkload,
    table: &DescribedTable,
    first: u64,
    rows: u64,
) -> bool {
    state_tables::stored_parts(target, workload, table.name())
        .is_ok_and(|parts| parts.contains(&(first, rows)))
}

/// Number of rows in a part of `table`.
fn part_rows(table: &DescribedTable) -> u64 {
    let bytes: u64 = table.columns().iter().map(|column| value_bytes(column.column_type)).sum();
    (PART_BYTES / bytes.max(1)).clamp(PART_ROWS.0, PART_ROWS.1)
}

/// Approximate size of a value, bytes.
fn value_bytes(column_type: ColumnType) -> u64 {
    match column_type {
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

/// Returns the gaps in rows 1 to `rows` between the sorted parts `filled_parts`: first row and number of rows
/// of each.
fn gaps(rows: u64, filled_parts: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut gaps = Vec::new();
    let mut next = 1;
    for &(first, count) in filled_parts.iter().chain([&(rows + 1, 0)]) {
        if first > next {
            gaps.push((next, first - next));
        }
        next = next.max(first + count);
    }
    gaps
}

/// Splits rows into pieces of `size`; the last one may be shorter.
fn split_rows(first: u64, rows: u64, size: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = first + rows;
    (first..end).step_by(size as usize).map(move |begin| (begin, size.min(end - begin)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_row_ranges_are_found_and_split() {
        assert_eq!(gaps(10, &[]), [(1, 10)]);
        assert_eq!(gaps(0, &[]), []);
        assert_eq!(gaps(10, &[(1, 10)]), []);
        assert_eq!(gaps(10, &[(3, 2), (7, 1)]), [(1, 2), (5, 2), (8, 3)]);
        assert_eq!(split_rows(3, 5, 2).collect::<Vec<_>>(), [(3, 2), (5, 2), (7, 1)]);
        assert_eq!(split_rows(3, 0, 2).count(), 0);
    }
}
