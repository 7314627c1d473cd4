//! The server drive: sends a batch of operations as one call of an anonymous block.
//!
//! The driver cannot bind collections, so operations are sent as one text of fixed-width numbers.

#[cfg(test)]
mod executed_tests;

use std::fmt::Write as _;

use oracledb::{Connection, DB_TYPE_NUMBER, Error, ToDbValue};

use super::statements::OracleStatementTexts;
use dyno_engine::data::{TEXT_COLUMNS, UpdateValues, mix};
use dyno_engine::slices::{SliceProcedure, parts};
use dyno_engine::{BlockOp, BlockSessionConfig, Extra, SliceDone};

/// The longest text, in characters, that PL/SQL accepts as a bind.
const LIST_LETTERS_MAX: usize = 32_767;

/// The width of each part of an operation in the text, in characters; tables have at most 10^12 rows.
struct Letters;

impl Letters {
    const KIND: usize = 1;
    const KEY: usize = 12;
    const NUMBER: usize = 16;
    const HASH: usize = 14;
    /// The width of one complete operation.
    const ALL: usize = Self::KIND + Self::KEY + Self::NUMBER + Self::HASH;
}

/// The most operations per call.
const OPS_MAX: usize = LIST_LETTERS_MAX / Letters::ALL;

/// Bytes that a block prepends to a column other than `c2`: the hash and the column's number.
const HEAD_BYTES: usize = Letters::HASH + 2;

/// A list without operations: a block does nothing if its list has one character.
const NOTHING: &str = "0";

/// The data that one session needs to execute slices.
#[derive(Debug)]
pub(super) struct OracleSliceCalls {
    /// The part of every stamp that identifies the run and the session.
    prefix: String,
    column_bytes: usize,
    /// Nineteen columns, concatenated; the blocks replace their beginnings.
    columns: Vec<u8>,
    list: String,
    /// The seed of the hashes in new values.
    seed: u64,
}

impl OracleSliceCalls {
    pub(super) fn new(prefix: String, column_bytes: usize, seed: u64) -> Self {
        let columns = vec![0; TEXT_COLUMNS * column_bytes];
        Self { prefix, column_bytes, columns, list: String::with_capacity(LIST_LETTERS_MAX), seed }
    }

    /// Makes the database compile the blocks by executing them without operations.
    pub(super) fn prepare(
        &self,
        connection: &Connection,
        texts: &OracleStatementTexts,
        blocks: &BlockSessionConfig,
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

    /// Executes `ops` in as many calls as necessary.
    pub(super) fn run(
        &mut self,
        connection: &Connection,
        texts: &OracleStatementTexts,
        ops: &[BlockOp],
        work_unit: u32,
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Error> {
        let mut all = SliceDone::default();
        for ops in ops.chunks(OPS_MAX) {
            let chunk_result = self.call(connection, texts, ops, work_unit, values)?;
            for (sum, rows) in all.rows_read.iter_mut().zip(chunk_result.rows_read) {
                *sum += rows;
            }
            all.rows_updated += chunk_result.rows_updated;
            all.churned.0 += chunk_result.churned.0;
            all.churned.1 += chunk_result.churned.1;
            all.commits += chunk_result.commits;
        }
        Ok(all)
    }

    fn call(
        &mut self,
        connection: &Connection,
        texts: &OracleStatementTexts,
        ops: &[BlockOp],
        work_unit: u32,
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Error> {
        let number: &dyn ToDbValue = &DB_TYPE_NUMBER;
        let call = SliceProcedure::for_ops(ops, Extra::default());
        self.fill_list(call, ops);
        let list = &self.list.as_str();
        let mut counts = SliceDone::default();
        match call {
            SliceProcedure::Select => {
                let mut result = connection.execute(&texts.slice_select, &[list, &work_unit, number])?;
                counts.rows_read[0] = result.out_bind_data().get(0)?;
            }
            SliceProcedure::Lookup => {
                let mut result = connection.execute(&texts.slice_lookup, &[list, number])?;
                counts.rows_read[1] = result.out_bind_data().get(0)?;
            }
            SliceProcedure::Scan => {
                let mut result = connection.execute(&texts.slice_scan, &[&ops.len(), number])?;
                counts.rows_read[2] = result.out_bind_data().get(0)?;
            }
            SliceProcedure::Secondary => {
                let mut result = connection.execute(&texts.slice_secondary, &[list, number])?;
                counts.rows_read[3] = result.out_bind_data().get(0)?;
            }
            SliceProcedure::Update | SliceProcedure::Mixed | SliceProcedure::Any => {
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
                if call == SliceProcedure::Update {
                    let binds = [ins.as_slice(), &[number; 2]].concat();
                    let mut result = connection.execute(&texts.slice_update, &binds)?;
                    let row = result.out_bind_data();
                    (counts.rows_updated, counts.commits) = (row.get(0)?, row.get(1)?);
                } else {
                    let binds = [ins.as_slice(), &[number; 8]].concat();
                    let mut result = connection.execute(&texts.slice_mixed, &binds)?;
                    let row = result.out_bind_data();
                    counts.rows_read = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
                    counts.rows_updated = row.get(4)?;
                    counts.churned = (row.get(5)?, row.get(6)?);
                    counts.commits = row.get(7)?;
                }
            }
        }
        Ok(counts)
    }

    /// Encodes the operations as the block of `call` expects them.
    fn fill_list(&mut self, call: SliceProcedure, ops: &[BlockOp]) {
        self.list.clear();
        for op in ops {
            let (kind, first, number) = parts(*op);
            // The hash differs for every write of a run; it fills 14 of 16 digits.
            let hash = mix(self.seed ^ mix(number)) >> 8;
            // Writing to a String cannot fail.
            let _ = match call {
                SliceProcedure::Select | SliceProcedure::Lookup | SliceProcedure::Secondary => {
                    write!(self.list, "{first:012}")
                }
                SliceProcedure::Scan => Ok(()),
                SliceProcedure::Update => write!(self.list, "{first:012}{number:016x}{hash:014x}"),
                SliceProcedure::Mixed | SliceProcedure::Any => {
                    write!(self.list, "{kind}{first:012}{number:016x}{hash:014x}")
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices() -> OracleSliceCalls {
        OracleSliceCalls::new("u0123456789abcdef00000001".into(), 128, 7)
    }

    #[test]
    fn slice_list_fields_have_fixed_widths() {
        let largest = BlockOp::Update { first: 999_999_999_999, number: u64::MAX };
        let mut slices = slices();
        for (call, ops, letters) in [
            (
                SliceProcedure::Select,
                vec![BlockOp::Select { first: 1 }, BlockOp::Select { first: 999_999_999_999 }],
                Letters::KEY,
            ),
            (SliceProcedure::Secondary, vec![BlockOp::Secondary { value: 20 }], Letters::KEY),
            (SliceProcedure::Update, vec![largest], Letters::ALL - Letters::KIND),
            (SliceProcedure::Mixed, vec![BlockOp::Scan, largest], Letters::ALL),
        ] {
            slices.fill_list(call, &ops);
            assert_eq!(slices.list.len(), letters * ops.len(), "{call:?}");
        }
        slices.fill_list(SliceProcedure::Mixed, &vec![largest; OPS_MAX]);
        assert!(slices.list.len() <= LIST_LETTERS_MAX);
    }

    #[test]
    fn slice_list_encodes_known_operation_kinds() {
        let ops = [
            BlockOp::Select { first: 1 },
            BlockOp::Lookup { key: 1 },
            BlockOp::Scan,
            BlockOp::Update { first: 1, number: 1 },
            BlockOp::Secondary { value: 1 },
            BlockOp::Insert { key: 501, number: 2 },
            BlockOp::Delete { key: 501 },
        ];
        let mut slices = slices();
        slices.fill_list(SliceProcedure::Mixed, &ops);
        let kinds: String = slices.list.chars().step_by(Letters::ALL).collect();
        assert_eq!(kinds, "0123456");
        let insert = &slices.list[5 * Letters::ALL..][..Letters::KIND + Letters::KEY + Letters::NUMBER];
        assert_eq!(insert, "50000000005010000000000000002");
    }

    #[test]
    fn update_hashes_differ_by_operation() {
        let mut slices = slices();
        let ops: Vec<BlockOp> = (0..100).map(|number| BlockOp::Update { first: 1, number }).collect();
        slices.fill_list(SliceProcedure::Update, &ops);
        let bytes = slices.list.as_bytes();
        let hashes: std::collections::HashSet<&[u8]> =
            bytes.chunks_exact(Letters::ALL - Letters::KIND).map(|op| &op[28..42]).collect();
        assert_eq!(hashes.len(), 100);
    }
}
