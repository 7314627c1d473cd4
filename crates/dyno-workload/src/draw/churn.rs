//! Chooses the row of the next insert or delete.
//!
//! Every session inserts keys of its own, above the loaded ones. Ranges that others read or update therefore never gain or lose
//! a row, and two sessions never use the same key. A session deletes its oldest row and has at most [`ROWS_MAX`] rows. Without
//! rows, a delete becomes an insert; with the maximum, an insert becomes a delete. Table sizes therefore stay within
//! sessions × [`ROWS_MAX`] rows.

use dyno_engine::BlockOp;
use dyno_engine::data::OWN_ROWS as ROWS_MAX;

/// The rows that one session inserted.
#[derive(Debug, Clone)]
pub(super) struct Churn {
    /// The last key before this session's keys.
    base: u64,
    inserted: u64,
    deleted: u64,
}

impl Churn {
    /// The rows of the session with this index (from 0) in its schema, above `rows` loaded ones.
    pub(super) fn new(rows: u64, place: u32) -> Self {
        Self { base: rows + u64::from(place) * ROWS_MAX, inserted: 0, deleted: 0 }
    }

    /// The next operation: an insert if `insert` is true and possible, otherwise a delete. `number` makes its values unique.
    #[inline]
    pub(super) fn next(&mut self, insert: bool, number: u64) -> BlockOp {
        let live = self.inserted - self.deleted;
        let insert = (insert || live == 0) && live < ROWS_MAX;
        let turn = if insert { &mut self.inserted } else { &mut self.deleted };
        // Keys are used cyclically: a key is free long before it is used again.
        let key = self.base + *turn % ROWS_MAX + 1;
        *turn += 1;
        if insert { BlockOp::Insert { key, number } } else { BlockOp::Delete { key } }
    }

    /// Undoes the last operation, which was not executed.
    pub(super) fn undo(&mut self, op: BlockOp) {
        match op {
            BlockOp::Insert { .. } => self.inserted -= 1,
            BlockOp::Delete { .. } => self.deleted -= 1,
            _ => {}
        }
    }

    /// Handles `ops`, the last operations, whose outcome is unknown. Every row that may exist counts as existing and is deleted
    /// before its key is used again: an insert counts as done, and a delete is repeated.
    pub(super) fn mark_in_doubt(&mut self, ops: &[BlockOp]) {
        self.deleted -= ops.iter().filter(|op| matches!(op, BlockOp::Delete { .. })).count() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::data::mix;
    use proptest::prelude::*;
    use std::collections::{BTreeSet, VecDeque};

    proptest! {
        #[test]
        fn churn_inserts_unique_keys_and_deletes_oldest_first(
            draws in prop::collection::vec((any::<bool>(), 0u8..20), 0..5_000), place in 0u32..1_000,
        ) {
            let mut churn = Churn::new(100, place);
            let mut live_keys = VecDeque::new();
            let key_range = 101 + u64::from(place) * ROWS_MAX..=100 + (u64::from(place) + 1) * ROWS_MAX;
            for (number, (insert, fate)) in draws.into_iter().enumerate() {
                let op = churn.next(insert, number as u64);
                if fate == 0 {
                    churn.undo(op);
                    continue;
                }
                match op {
                    BlockOp::Insert { key, .. } => {
                        prop_assert!(key_range.contains(&key) && !live_keys.contains(&key));
                        live_keys.push_back(key);
                    }
                    BlockOp::Delete { key } => prop_assert_eq!(live_keys.pop_front(), Some(key)),
                    other => prop_assert!(false, "{other:?}"),
                }
                prop_assert!(live_keys.len() as u64 <= ROWS_MAX);
            }
        }

        #[test]
        fn churn_never_inserts_key_twice_after_failed_slices(
            slices in prop::collection::vec((1usize..3_000, 0usize..3_000, any::<bool>(), 1u64..10), 1..30),
        ) {
            let mut churn = Churn::new(100, 0);
            let mut live_keys = BTreeSet::new();
            for (seed, (length, done, fails, deletes)) in slices.into_iter().enumerate() {
                let ops: Vec<BlockOp> = (0..length)
                    .map(|i| churn.next(mix(seed as u64 ^ i as u64) % 10 >= deletes, i as u64))
                    .collect();
                let completed = if fails { done.min(length) } else { length };
                for op in &ops[..completed] {
                    match *op {
                        BlockOp::Insert { key, .. } => prop_assert!(live_keys.insert(key), "{key} is there"),
                        BlockOp::Delete { key } => { live_keys.remove(&key); }
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
                if fails {
                    churn.mark_in_doubt(&ops);
                }
            }
        }
    }
}
