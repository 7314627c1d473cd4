//! Executes blocks that perform a list of operations in one call.

use std::sync::Arc;

use super::answers::{int_of, text_of};
use super::database::ModelDatabase;
use super::operations::OperationResult;
use super::rows::COLUMNS;
use super::slice_text::{Slice, SliceKind};
use crate::ScriptedValue;

/// Characters of a key, an operation number and a hash in a list.
const KEY: usize = 12;
const NUMBER: usize = 16;
const HASH: usize = 14;

/// Parts from which a block of updates builds its values.
struct ValueParts<'a> {
    prefix: &'a str,
    tail: &'a str,
    tails: &'a str,
    width: usize,
}

impl ValueParts<'_> {
    /// The new value of a column, `turn` writes after the block began.
    fn value(&self, column: usize, stamp: &str, hash: &str, turn: usize) -> Arc<str> {
        if column == 2 {
            return format!("{}{stamp}{}", self.prefix, self.tail).into();
        }
        let begin = (turn + column) % 18 * self.width;
        let end = (begin + self.width).min(self.tails.len());
        format!("{hash}{column:02}{}", self.tails.get(begin..end).unwrap_or_default()).into()
    }
}

impl ModelDatabase {
    /// Runs a block. Returns the values of its last binds.
    pub(super) fn run_slice(
        &self,
        session: u64,
        table: &Arc<str>,
        slice: &Slice,
        binds: &[ScriptedValue],
    ) -> OperationResult<Vec<u64>> {
        if slice.kind == SliceKind::Scan {
            let mut scanned = 0;
            for _ in 0..int_of(binds.first()) {
                self.count_inner_executions(session, 1);
                scanned += self.scan_table(session, table)?;
            }
            return Ok(vec![scanned]);
        }
        let list = text_of(binds.first());
        let width = match slice.kind {
            SliceKind::Mixed => 1 + KEY + NUMBER + HASH,
            SliceKind::Update => KEY + NUMBER + HASH,
            _ => KEY,
        };
        let work_unit = int_of(binds.get(1));
        let value_parts = ValueParts {
            prefix: text_of(binds.get(2)),
            tail: text_of(binds.get(3)),
            tails: text_of(binds.get(4)),
            width: int_of(binds.get(5)) as usize,
        };
        // Rows selected, looked up, scanned, found by secondary key, updated, inserted and deleted; commits.
        let mut sums = [0; 8];
        let mut turn = 0;
        for place in (0..list.len() / width).map(|operation| operation * width) {
            let operation = &list[place..place + width];
            let (kind, rest) = match slice.kind {
                SliceKind::Mixed => operation.split_at(1),
                SliceKind::Lookup => ("1", operation),
                SliceKind::Secondary => ("4", operation),
                SliceKind::Update => ("3", operation),
                SliceKind::Select | SliceKind::Scan => ("0", operation),
            };
            let first: i64 = rest[..KEY].parse().unwrap_or(0);
            let last = first + work_unit - 1;
            self.count_inner_executions(session, 1);
            let (sum, rows) = match kind {
                "0" => (0, self.read_range(session, table, first, last)?),
                "1" => (1, self.read_range(session, table, first, first)?),
                "2" => (2, slice.scan_table.as_ref().map_or(Ok(0), |table| self.scan_table(session, table))?),
                "4" => (3, self.read_group(session, table, first)?),
                _ => {
                    let (stamp, hash) = rest[KEY..].split_at(NUMBER);
                    let value = |column| value_parts.value(column, stamp, hash, turn);
                    let change = match kind {
                        "3" => {
                            let values: Vec<_> =
                                slice.columns.iter().map(|&column| (column, value(column))).collect();
                            (4, self.update_range(session, table, first..=last, &values)?)
                        }
                        "5" => {
                            let columns = (2..2 + COLUMNS).map(value).collect();
                            (5, self.insert_row(session, table, first, columns)?)
                        }
                        _ => (6, self.delete_rows(session, table, first..=first, 1, |_| true)?),
                    };
                    self.commit(session, slice.commit_way);
                    sums[7] += 1;
                    turn += 1;
                    change
                }
            };
            sums[sum] += rows;
        }
        Ok(match slice.kind {
            SliceKind::Select => vec![sums[0]],
            SliceKind::Lookup => vec![sums[1]],
            SliceKind::Scan => vec![sums[2]],
            SliceKind::Secondary => vec![sums[3]],
            SliceKind::Update => vec![sums[4], sums[7]],
            SliceKind::Mixed => sums.to_vec(),
        })
    }
}
