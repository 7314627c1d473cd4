//! Counts what a session does from its start to its end.

use dyno_record::RowEffect;
use dyno_workload::{ClassId, Effect};
use serde::{Deserialize, Serialize};

use crate::count_max::COUNT_MAX;

/// Counts over the whole life of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct LifetimeCounts {
    /// Operations without an error, by class number.
    pub(crate) ops: Vec<u64>,
    /// Rows of these operations, by effect: read, updated, and so on.
    pub(crate) rows: [u64; RowEffect::KINDS],
    pub(crate) commits: u64,
    /// Number of transactions, read-only ones included.
    pub(crate) transactions: u64,
    /// The part of `commits` whose change is unproven, and commits sent without a change.
    pub(crate) unproven_commits: u64,
    pub(crate) empty_commits: u64,
    pub(crate) errors: u64,
    pub(crate) verified: (u64, u64),
    pub(crate) overhead_commits: i64,
}

impl LifetimeCounts {
    /// For a session with operations of this many classes.
    pub(crate) fn new(classes: usize) -> Self {
        Self { ops: vec![0; classes], ..Self::default() }
    }

    /// Adds the counts of another session.
    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, ops) in self.ops.iter_mut().zip(&other.ops) {
            *sum += ops;
        }
        for (sum, rows) in self.rows.iter_mut().zip(&other.rows) {
            *sum += rows;
        }
        self.commits += other.commits;
        self.transactions += other.transactions;
        self.unproven_commits += other.unproven_commits;
        self.empty_commits += other.empty_commits;
        self.errors += other.errors;
        self.verified = (self.verified.0 + other.verified.0, self.verified.1 + other.verified.1);
        self.overhead_commits += other.overhead_commits;
    }

    /// The counts since `earlier` of the same session.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let since = |now: u64, then: u64| now.saturating_sub(then);
        let mut rows = self.rows;
        rows.iter_mut().zip(earlier.rows).for_each(|(rows, then)| *rows = since(*rows, then));
        Self {
            ops: self.ops.iter().zip(&earlier.ops).map(|(now, then)| since(*now, *then)).collect(),
            rows,
            commits: since(self.commits, earlier.commits),
            transactions: since(self.transactions, earlier.transactions),
            unproven_commits: since(self.unproven_commits, earlier.unproven_commits),
            empty_commits: since(self.empty_commits, earlier.empty_commits),
            errors: since(self.errors, earlier.errors),
            verified: (
                since(self.verified.0, earlier.verified.0),
                since(self.verified.1, earlier.verified.1),
            ),
            overhead_commits: self.overhead_commits - earlier.overhead_commits,
        }
    }

    /// Counts an operation of `class` with this effect, without its commits.
    #[inline]
    pub(crate) fn count_op(&mut self, class: ClassId, effect: &Effect) {
        self.ops[class.index()] += 1;
        self.transactions += effect.transactions;
        self.unproven_commits += u64::from(effect.unproven_commits);
        self.empty_commits += u64::from(effect.empty_commits);
        for (sum, rows) in self.rows.iter_mut().zip(effect.rows) {
            *sum += rows;
        }
    }

    /// Subtracts an operation that was counted.
    pub(crate) fn subtract_op(&mut self, class: ClassId, effect: &Effect) {
        self.ops[class.index()] -= 1;
        self.transactions -= effect.transactions;
        self.unproven_commits -= u64::from(effect.unproven_commits);
        self.empty_commits -= u64::from(effect.empty_commits);
        for (sum, rows) in self.rows.iter_mut().zip(effect.rows) {
            *sum -= rows;
        }
    }

    #[inline]
    pub(crate) fn count(&mut self, class: ClassId, touch: RowEffect, ops: u64, rows: u64) {
        self.ops[class.index()] += ops;
        self.rows[touch as usize] += rows;
    }

    /// Subtracts operations that were counted.
    pub(crate) fn subtract_ops(&mut self, class: ClassId, touch: RowEffect, ops: u64, rows: u64) {
        self.ops[class.index()] -= ops;
        self.rows[touch as usize] -= rows;
    }

    /// Whether sums of many such counts cannot overflow; they may come from another host.
    pub(crate) fn is_countable(&self) -> bool {
        let commits = [self.commits, self.unproven_commits, self.empty_commits];
        let more = [self.transactions, self.errors, self.verified.0, self.verified.1];
        let mut counts = self.ops.iter().chain(&self.rows).chain(&commits).chain(&more);
        counts.all(|count| *count <= COUNT_MAX) && self.overhead_commits.unsigned_abs() <= COUNT_MAX
    }

    /// Database calls that have ended: operations, or slices of them.
    pub(crate) fn calls(&self) -> u64 {
        match self.ops.get(ClassId::SLICE.index()) {
            None | Some(0) => self.ops.iter().sum::<u64>() + self.errors,
            Some(slices) => slices + self.errors,
        }
    }
}
