//! The server drive: a batch of operations as one call of an anonymous block.
//!
//! The driver binds no collections, so operations go over as one text of fixed-width numbers.

#[cfg(test)]
mod executed_tests;

use std::fmt::Write as _;

use oracledb::{Connection, DB_TYPE_NUMBER, Error, ToDbValue};

use super::statements::Texts;
use dyno_engine::data::{TEXT_COLUMNS, UpdateValues, mix};
use dyno_engine::slices::{Call, parts};
use dyno_engine::{Blocks, Extra, Op, SliceDone};

/// Letters of a text that PL/SQL takes as a bind.
const LIST_LETTERS_MAX: usize = 32_767;

/// Letters of one operation in a text; tables have at most 10^12 rows.
struct Letters;

impl Letters {
    const KIND: usize = 1;
    const KEY: usize = 12;
    const NUMBER: usize = 16;
    const HASH: usize = 14;
    /// All of the above.
    const ALL: usize = Self::KIND + Self::KEY + Self::NUMBER + Self::HASH;
}

/// Operations of one call at most.
const OPS_MAX: usize = LIST_LETTERS_MAX / Letters::ALL;

/// Bytes that a block puts in front of a column other than `c2`: the hash and the column's number.
const HEAD_BYTES: usize = Letters::HASH + 2;

/// A list of no operations: a block does nothing as long as its list has one letter.
const NOTHING: &str = "0";

/// What one session needs to do slices.
#[derive(Debug)]
pub(super) struct Calls {
    /// The run's and session's part of every stamp.
    prefix: String,
    column_bytes: usize,
    /// Nineteen columns, one after the other; the blocks replace their beginnings.
    columns: Vec<u8>,
    list: String,
    /// What hashes are made of.
    seed: u64,
}

impl Calls {
    pub(super) fn new(prefix: String, column_bytes: usize, seed: u64) -> Self {
        let columns = vec![0; TEXT_COLUMNS * column_bytes];
        Self { prefix, column_bytes, columns, list: String::with_capacity(LIST_LETTERS_MAX), seed }
    }

    /// Lets the database compile the blocks, and does nothing.
    pub(super) fn prepare(
        &self,
        connection: &Connection,
        texts: &Texts,
        blocks: &Blocks,
    ) -> Result<(), Error> {
        let number: &dyn ToDbValue = &DB_TYPE_NUMBER;
        connection.execute(&texts.slice_select, &[&NOTHING, &1, number])?;
        connection.execute(&texts.slice_lookup, &[&NOTHING, number])?;
        if blocks.spec.scan_rows > 0 {
            connection.execute(&texts.slice_scan, &[&0, number])?;
        }
        if blocks.extra.secondary {
            connection.execute(&texts.slice_secondary, &[&NOTHING, number])?;
        }
        Ok(())
    }

    /// Does `ops`, in as many calls as they need.
    pub(super) fn run(
        &mut self,
        connection: &Connection,
        texts: &Texts,
        ops: &[Op],
        work_unit: u32,
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Error> {
        let mut all = SliceDone::default();
        for ops in ops.chunks(OPS_MAX) {
            let done = self.call(connection, texts, ops, work_unit, values)?;
            for (sum, rows) in all.rows_read.iter_mut().zip(done.rows_read) {
                *sum += rows;
            }
            all.rows_updated += done.rows_updated;
            all.churned.0 += done.churned.0;
            all.churned.1 += done.churned.1;
            all.commits += done.commits;
        }
        Ok(all)
    }

    fn call(
        &mut self,
        connection: &Connection,
        texts: &Texts,
        ops: &[Op],
        work_unit: u32,
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Error> {
        let number: &dyn ToDbValue = &DB_TYPE_NUMBER;
        let call = Call::for_ops(ops, Extra::default());
        self.fill_list(call, ops);
        let list = &self.list.as_str();
        let mut done = SliceDone::default();
        match call {
            Call::Select => {
                let mut result = connection.execute(&texts.slice_select, &[list, &work_unit, number])?;
                done.rows_read[0] = result.out_bind_data().get(0)?;
            }
            Call::Lookup => {
                let mut result = connection.execute(&texts.slice_lookup, &[list, number])?;
                done.rows_read[1] = result.out_bind_data().get(0)?;
            }
            Call::Scan => {
                let mut result = connection.execute(&texts.slice_scan, &[&ops.len(), number])?;
                done.rows_read[2] = result.out_bind_data().get(0)?;
            }
            Call::Secondary => {
                let mut result = connection.execute(&texts.slice_secondary, &[list, number])?;
                done.rows_read[3] = result.out_bind_data().get(0)?;
            }
            Call::Update | Call::Mixed | Call::Any => {
                values.fill_columns(0, &mut self.columns);
                let (first, others) = self.columns.split_at(self.column_bytes);
                let tails: Vec<u8> = others
                    .chunks_exact(self.column_bytes)
                    .flat_map(|column| &column[HEAD_BYTES..])
                    .copied()
                    .collect();
                let [tail, tails] = [&first[UpdateValues::STAMP_BYTES..], &tails]
                    .map(|text| std::str::from_utf8(text).expect("filler is ASCII"));
                let (prefix, width) = (self.prefix.as_str(), self.column_bytes - HEAD_BYTES);
                let ins: [&dyn ToDbValue; 6] = [list, &work_unit, &prefix, &tail, &tails, &width];
                if call == Call::Update {
                    let binds = [ins.as_slice(), &[number; 2]].concat();
                    let mut result = connection.execute(&texts.slice_update, &binds)?;
                    let row = result.out_bind_data();
                    (done.rows_updated, done.commits) = (row.get(0)?, row.get(1)?);
                } else {
                    let binds = [ins.as_slice(), &[number; 8]].concat();
                    let mut result = connection.execute(&texts.slice_mixed, &binds)?;
                    let row = result.out_bind_data();
                    done.rows_read = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
                    done.rows_updated = row.get(4)?;
                    done.churned = (row.get(5)?, row.get(6)?);
                    done.commits = row.get(7)?;
                }
            }
        }
        Ok(done)
    }

    /// The operations as the block of `call` reads them.
    fn fill_list(&mut self, call: Call, ops: &[Op]) {
        self.list.clear();
        for op in ops {
            let (kind, first, number) = parts(*op);
            // No two writes of a run have the same; 14 of 16 digits.
            let hash = mix(self.seed ^ mix(number)) >> 8;
            // Writing to a String cannot fail.
            let _ = match call {
                Call::Select | Call::Lookup | Call::Secondary => write!(self.list, "{first:012}"),
                Call::Scan => Ok(()),
                Call::Update => write!(self.list, "{first:012}{number:016x}{hash:014x}"),
                Call::Mixed | Call::Any => write!(self.list, "{kind}{first:012}{number:016x}{hash:014x}"),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices() -> Calls {
        Calls::new("u0123456789abcdef00000001".into(), 128, 7)
    }

    #[test]
    fn lists_have_the_widths_that_the_blocks_cut() {
        let largest = Op::Update { first: 999_999_999_999, number: u64::MAX };
        let mut slices = slices();
        for (call, ops, letters) in [
            (
                Call::Select,
                vec![Op::Select { first: 1 }, Op::Select { first: 999_999_999_999 }],
                Letters::KEY,
            ),
            (Call::Secondary, vec![Op::Secondary { value: 20 }], Letters::KEY),
            (Call::Update, vec![largest], Letters::ALL - Letters::KIND),
            (Call::Mixed, vec![Op::Scan, largest], Letters::ALL),
        ] {
            slices.fill_list(call, &ops);
            assert_eq!(slices.list.len(), letters * ops.len(), "{call:?}");
        }
        slices.fill_list(Call::Mixed, &vec![largest; OPS_MAX]);
        assert!(slices.list.len() <= LIST_LETTERS_MAX);
    }

    #[test]
    fn the_kinds_are_those_that_the_block_knows() {
        let ops = [
            Op::Select { first: 1 },
            Op::Lookup { key: 1 },
            Op::Scan,
            Op::Update { first: 1, number: 1 },
            Op::Secondary { value: 1 },
            Op::Insert { key: 501, number: 2 },
            Op::Delete { key: 501 },
        ];
        let mut slices = slices();
        slices.fill_list(Call::Mixed, &ops);
        let kinds: String = slices.list.chars().step_by(Letters::ALL).collect();
        assert_eq!(kinds, "0123456");
        let insert = &slices.list[5 * Letters::ALL..][..Letters::KIND + Letters::KEY + Letters::NUMBER];
        assert_eq!(insert, "50000000005010000000000000002");
    }

    #[test]
    fn hashes_differ_by_operation() {
        let mut slices = slices();
        let ops: Vec<Op> = (0..100).map(|number| Op::Update { first: 1, number }).collect();
        slices.fill_list(Call::Update, &ops);
        let bytes = slices.list.as_bytes();
        let hashes: std::collections::HashSet<&[u8]> =
            bytes.chunks_exact(Letters::ALL - Letters::KIND).map(|op| &op[28..42]).collect();
        assert_eq!(hashes.len(), 100);
    }
}
