//! Which row is inserted or deleted next.
//!
//! Every session has keys of its own above the loaded ones, so no range that others read or update ever gains or loses a
//! row, and no two sessions meet at a key. A session deletes its oldest row. It has at most [`ROWS_MAX`] rows at a time:
//! where it has none, a delete becomes an insert, and where it has them all, an insert becomes a delete; so tables keep
//! their size within sessions × [`ROWS_MAX`] rows.

use dyno_engine::Op;
use dyno_engine::data::OWN_ROWS as ROWS_MAX;

/// One session's own rows.
#[derive(Debug, Clone)]
pub(super) struct Churn {
    /// The last key that is not this session's.
    base: u64,
    inserted: u64,
    deleted: u64,
}

impl Churn {
    /// The rows of the session with this place (from 0) among those of its schema, behind `rows` loaded ones.
    pub(super) fn new(rows: u64, place: u32) -> Self {
        Self { base: rows + u64::from(place) * ROWS_MAX, inserted: 0, deleted: 0 }
    }

    /// The next operation, an insert if `insert` and if that can be; `number` makes its values unique.
    #[inline]
    pub(super) fn next(&mut self, insert: bool, number: u64) -> Op {
        let live = self.inserted - self.deleted;
        let insert = (insert || live == 0) && live < ROWS_MAX;
        let turn = if insert { &mut self.inserted } else { &mut self.deleted };
        // The keys are used in turn: a key is free again long before it comes round.
        let key = self.base + *turn % ROWS_MAX + 1;
        *turn += 1;
        if insert { Op::Insert { key, number } } else { Op::Delete { key } }
    }

    /// Takes the last operation back: it has not been done.
    pub(super) fn undo(&mut self, op: Op) {
        match op {
            Op::Insert { .. } => self.inserted -= 1,
            Op::Delete { .. } => self.deleted -= 1,
            _ => {}
        }
    }

    /// Of the last operations, `ops`, nobody knows which have been done. So every row that may be there counts as there, and is
    /// deleted in its turn, before its key is used again: an insert counts as done, and a delete is done again.
    pub(super) fn doubt(&mut self, ops: &[Op]) {
        self.deleted -= ops.iter().filter(|op| matches!(op, Op::Delete { .. })).count() as u64;
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
        fn keys_are_unique_among_rows_that_are_there_and_the_oldest_goes_first(
            draws in prop::collection::vec((any::<bool>(), 0u8..20), 0..5_000), place in 0u32..1_000,
        ) {
            let mut churn = Churn::new(100, place);
            let mut there = VecDeque::new();
            let own = 101 + u64::from(place) * ROWS_MAX..=100 + (u64::from(place) + 1) * ROWS_MAX;
            for (number, (insert, fate)) in draws.into_iter().enumerate() {
                let op = churn.next(insert, number as u64);
                if fate == 0 {
                    churn.undo(op);
                    continue;
                }
                match op {
                    Op::Insert { key, .. } => {
                        prop_assert!(own.contains(&key) && !there.contains(&key));
                        there.push_back(key);
                    }
                    Op::Delete { key } => prop_assert_eq!(there.pop_front(), Some(key)),
                    other => prop_assert!(false, "{other:?}"),
                }
                prop_assert!(there.len() as u64 <= ROWS_MAX);
            }
        }

        #[test]
        fn no_key_is_inserted_twice_whatever_was_done_of_slices_that_failed(
            slices in prop::collection::vec((1usize..3_000, 0usize..3_000, any::<bool>(), 1u64..10), 1..30),
        ) {
            let mut churn = Churn::new(100, 0);
            let mut there = BTreeSet::new();
            for (seed, (length, done, fails, deletes)) in slices.into_iter().enumerate() {
                let ops: Vec<Op> = (0..length)
                    .map(|i| churn.next(mix(seed as u64 ^ i as u64) % 10 >= deletes, i as u64))
                    .collect();
                let done = if fails { done.min(length) } else { length };
                for op in &ops[..done] {
                    match *op {
                        Op::Insert { key, .. } => prop_assert!(there.insert(key), "{key} is there"),
                        Op::Delete { key } => { there.remove(&key); }
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
                if fails {
                    churn.doubt(&ops);
                }
            }
        }
    }
}
