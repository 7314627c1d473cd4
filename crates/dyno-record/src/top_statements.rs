//! The statements that used the server's time in a window, from the server's own statistics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The statements that a server executed in a window, or why they are unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TopStatements {
    /// What the server's counts rose by.
    Counted(Box<CountedStatements>),
    /// The statements are unknown.
    Absent {
        /// Why they are unknown.
        absent: String,
        /// What to do about it; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        hint: String,
    },
}

/// What the server's counts of statements rose by between two readings. A statement counts when it ends, with all of its time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CountedStatements {
    /// The statistics that were read: `pg_stat_statements`.
    pub source: String,
    /// Seconds that the counts cover, without gaps.
    pub seconds: f64,
    /// The statements with the most time, most first; at most [`CountedStatements::LISTED_MAX`].
    pub statements: Vec<StatementUse>,
    /// All other statements together; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<StatementGroup>,
    /// Statements by which Dyno observed the server; they are in no other figure here. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitoring: Option<StatementGroup>,
    /// Limits of the figures: statements that the server discarded, or does not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One statement and its counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementUse {
    /// The server's identifier: a query id, a digest, a SQL id. Empty where it is not visible.
    pub id: String,
    /// Its text as the server stores it, without values; at most [`CountedStatements::TEXT_MAX`] characters. Absent where the server has none,
    /// or this user may not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The name of the workload's operation or statement that it is; absent for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The database or schema in which it ran; absent where not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// The user who ran it; absent where not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Whether the server counted it from 0 again in between: the counts are then a lower limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// What its executions did.
    pub counts: StatementCounts,
}

/// Several statements together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementGroup {
    /// Number of different statements.
    pub statements: u64,
    /// What their executions did.
    pub counts: StatementCounts,
}

/// What executions did in total. A figure that the server does not count is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementCounts {
    /// Number of executions that ended.
    pub calls: u64,
    /// Their time in seconds, without planning where the server separates it.
    pub time_s: f64,
    /// Processor time in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// Time of waits for locks in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock_s: Option<f64>,
    /// Time of reads in seconds; 0 where the server does not time them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_s: Option<f64>,
    /// Rows that were returned or changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Rows that were examined to find them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_examined: Option<u64>,
    /// Blocks gotten from the cache, or through it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logical_reads: Option<u64>,
    /// Blocks read from outside the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_reads: Option<u64>,
    /// Blocks that were changed for the first time since they were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks_dirtied: Option<u64>,
    /// Blocks of temporary files that were read or written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temp_blocks: Option<u64>,
    /// Temporary tables on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temp_tables_on_disk: Option<u64>,
    /// Rows that were sorted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_sorted: Option<u64>,
    /// Bytes of redo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redo_bytes: Option<u64>,
    /// Errors that executions returned; servers that count them also count the failed executions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
}

impl CountedStatements {
    /// The most statements that are listed.
    pub const LISTED_MAX: usize = 20;
    /// The most characters of a text.
    pub const TEXT_MAX: usize = 2_000;

    /// The sum of the listed statements and the rest.
    pub fn total(&self) -> StatementCounts {
        let listed = self.statements.iter().map(|statement| statement.counts);
        let all = listed.chain(self.rest.as_ref().map(|rest| rest.counts));
        all.reduce(StatementCounts::plus).unwrap_or_default()
    }
}

impl StatementCounts {
    /// The sum of two; a figure that only one has is that one's.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let optional = self.joined(
            other,
            |a, b| a.zip(b).map_or(a.or(b), |(a, b)| Some(a + b)),
            |a, b| a.zip(b).map_or(a.or(b), |(a, b)| Some(a.saturating_add(b))),
        );
        Self { calls: self.calls.saturating_add(other.calls), time_s: self.time_s + other.time_s, ..optional }
    }

    /// What the counts rose by since `earlier`; `None` if one fell, which shows that the server counted from 0 again.
    pub fn since(self, earlier: Self) -> Option<Self> {
        let has_fallen = std::cell::Cell::new(false);
        let rise_s = |now: f64, then: f64| {
            // Sums of floating-point numbers may fall by their last digits.
            has_fallen.set(has_fallen.get() || now < then - then.abs() * 1e-9);
            (now - then).max(0.0)
        };
        let rise = |now: u64, then: u64| {
            has_fallen.set(has_fallen.get() || now < then);
            now.saturating_sub(then)
        };
        let optional = self.joined(
            earlier,
            |now, then| now.zip(then).map(|(now, then)| rise_s(now, then)),
            |now, then| now.zip(then).map(|(now, then)| rise(now, then)),
        );
        let (calls, time_s) = (rise(self.calls, earlier.calls), rise_s(self.time_s, earlier.time_s));
        (!has_fallen.get()).then_some(Self { calls, time_s, ..optional })
    }

    /// The optional figures of both, joined by `seconds` and `count`.
    fn joined(
        self,
        other: Self,
        seconds: impl Fn(Option<f64>, Option<f64>) -> Option<f64>,
        count: impl Fn(Option<u64>, Option<u64>) -> Option<u64>,
    ) -> Self {
        Self {
            calls: 0,
            time_s: 0.0,
            cpu_s: seconds(self.cpu_s, other.cpu_s),
            lock_s: seconds(self.lock_s, other.lock_s),
            read_s: seconds(self.read_s, other.read_s),
            rows: count(self.rows, other.rows),
            rows_examined: count(self.rows_examined, other.rows_examined),
            logical_reads: count(self.logical_reads, other.logical_reads),
            physical_reads: count(self.physical_reads, other.physical_reads),
            blocks_dirtied: count(self.blocks_dirtied, other.blocks_dirtied),
            temp_blocks: count(self.temp_blocks, other.temp_blocks),
            temp_tables_on_disk: count(self.temp_tables_on_disk, other.temp_tables_on_disk),
            rows_sorted: count(self.rows_sorted, other.rows_sorted),
            redo_bytes: count(self.redo_bytes, other.redo_bytes),
            errors: count(self.errors, other.errors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_count_that_fell_gives_no_difference() {
        let counts = |calls, rows, time_s| StatementCounts { calls, rows, time_s, ..Default::default() };
        let earlier = counts(10, Some(100), 2.0);
        let rise = counts(15, Some(140), 2.5).since(earlier).unwrap();
        assert_eq!((rise.calls, rise.rows, rise.time_s), (5, Some(40), 0.5));
        assert_eq!(counts(15, Some(90), 2.5).since(earlier), None);
        assert_eq!(counts(9, Some(140), 2.5).since(earlier), None);
        assert_eq!(counts(15, Some(140), 1.0).since(earlier), None);
        assert_eq!(counts(15, None, 2.5).since(earlier).unwrap().rows, None, "unknown is not 0");
        assert_eq!(rise.plus(counts(1, None, 0.5)).rows, Some(40));
    }
}
