//! How a platform counts: what its engine declares, so that counters can be held against operations by rules that are
//! the same for every product.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counter::Counter;

/// Longest time that work stays unseen by the counters where nobody says otherwise, s.
const UNSEEN_S: f64 = 1.0;

/// How the platform counts. The default is that of a platform of which nothing is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CountingRules {
    /// Whether sessions make their work visible to the counters at the two ends of the window, and nothing soon after: then
    /// counters and operations cover the very same time, whenever a snapshot is read.
    pub at_edges: bool,
    /// Longest time that the work of a session stays unseen by the counters, s.
    pub unseen_s: f64,
    /// The same for a session that has ended, s.
    pub unseen_after_end_s: f64,
    /// Time after a session made its work visible from which the counters show more of it by themselves, s; absent where
    /// they never do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_back_s: Option<f64>,
    /// Why counters may hold a little more or less than the operations of the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apart_because: Option<String>,
    /// Portable counters that cover the whole server, so that they hold the work of all its databases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub for_server: Vec<Counter>,
    /// Portable counters that cover the test tables alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub for_test_tables: Vec<Counter>,
    /// What it counts as a committed transaction.
    pub transactions: Transactions,
    /// Whether workers of the server commit as sessions do.
    pub workers_commit: bool,
    /// Whether processes that work on one statement beside its session commit, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub parallel_commit: bool,
    /// Transactions that a session causes beside its operations, at most.
    #[serde(skip_serializing_if = "is_zero")]
    pub commits_per_session_max: u64,
    /// Whether a change and its commit are one call with one answer, so that the commit has no time of its own.
    pub commit_in_change: bool,
    /// Settings that decide whether a commit waits for storage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commit_settings: Vec<String>,
    /// How it counts rows that were changed.
    pub rows: RowRules,
    /// Native counters of the test tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<TableCounters>,
    /// How many blocks a read request brings.
    pub requests: Requests,
    /// Native counters of the ways that full scans take, where the database chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scans: Option<ScanCounters>,
    /// Whether the database runs inside the driving process, so that the processor time of the two is one.
    pub in_process: bool,
}

/// What a platform counts as a committed transaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transactions {
    /// Nobody knows.
    #[default]
    Unknown,
    /// A commit.
    Commits,
    /// A commit, and each statement that reads; inside a procedure, too.
    Statements,
    /// A commit, and each call of a session: a statement that reads, or a procedure.
    Calls,
}

/// How rows that were changed are counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RowRules {
    /// Native counters of rows updated, inserted and deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_kind: Option<RowCounters>,
    /// Why there are none that tell them apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_by_kind: Option<String>,
    /// Records that a row of the layout is.
    pub records: u64,
    /// Share of the rows that the counters may miss, 0..=1.
    #[serde(skip_serializing_if = "is_nothing")]
    pub missed_share: f64,
    /// Why they may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed_because: Option<String>,
    /// Why rows inserted are more than those of sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_inserted: Option<String>,
}

/// Names of native counters of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowCounters {
    /// Rows updated.
    pub updated: String,
    /// Rows inserted.
    pub inserted: String,
    /// Rows deleted.
    pub deleted: String,
}

/// Names of native counters of the test tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableCounters {
    /// Their blocks that were got, by where they came from.
    pub blocks: Vec<String>,
    /// Their rows that scans of indexes found, by the kind of scan.
    pub fetched: Vec<String>,
}

/// Names of native counters of full scans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScanCounters {
    /// Scans of large tables.
    pub long: String,
    /// Those of them that went past the cache.
    pub direct: String,
    /// Blocks read.
    pub reads: String,
    /// Those of them that went past the cache.
    pub reads_direct: String,
}

/// How many blocks a read request brings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Requests {
    /// So many at most.
    Bring {
        /// Blocks.
        blocks_max: f64,
        /// Why.
        because: String,
    },
    /// Nobody knows.
    Absent {
        /// Why.
        absent: String,
    },
}

impl Transactions {
    /// Transactions that the platform counts for operations of one session that all ended well: `reads` that changed nothing, and
    /// `commits` of changes. `slices` is the number of calls where the operations ran inside the database. `None` where nobody
    /// knows.
    pub fn counted(self, reads: u64, commits: u64, slices: Option<u64>) -> Option<u64> {
        match (self, slices) {
            (Self::Unknown, _) => None,
            (Self::Commits, _) => Some(commits),
            (Self::Calls, Some(slices)) => Some(slices.saturating_add(commits)),
            (Self::Calls, None) | (Self::Statements, _) => Some(reads.saturating_add(commits)),
        }
    }
}

impl CountingRules {
    /// Those of sessions that open a connection for each transaction: what was done on one shows when it ends, so that nobody has to
    /// be asked for it.
    #[must_use]
    pub fn of_short_connections(self) -> Self {
        Self { at_edges: false, held_back_s: None, ..self }
    }
}

impl Default for CountingRules {
    fn default() -> Self {
        Self {
            at_edges: false,
            unseen_s: UNSEEN_S,
            unseen_after_end_s: UNSEEN_S,
            held_back_s: None,
            apart_because: None,
            for_server: Vec::new(),
            for_test_tables: Vec::new(),
            transactions: Transactions::Unknown,
            workers_commit: true,
            parallel_commit: false,
            commits_per_session_max: 0,
            commit_in_change: false,
            commit_settings: Vec::new(),
            rows: RowRules::default(),
            tables: None,
            requests: Requests::absent("how many blocks a request of this engine reads is not known"),
            scans: None,
            in_process: false,
        }
    }
}

impl Default for RowRules {
    fn default() -> Self {
        Self {
            by_kind: None,
            not_by_kind: None,
            records: 1,
            missed_share: 0.0,
            missed_because: None,
            more_inserted: None,
        }
    }
}

impl RowCounters {
    /// The counters with these names.
    pub fn named(updated: &str, inserted: &str, deleted: &str) -> Self {
        Self { updated: updated.to_owned(), inserted: inserted.to_owned(), deleted: deleted.to_owned() }
    }
}

impl Requests {
    /// So many blocks at most, for this reason.
    pub fn bring(blocks_max: f64, because: &str) -> Self {
        Self::Bring { blocks_max, because: because.to_owned() }
    }

    /// Nobody knows how many, for this reason.
    pub fn absent(reason: &str) -> Self {
        Self::Absent { absent: reason.to_owned() }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_nothing(share: &f64) -> bool {
    *share == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_are_counted_by_the_rule_of_the_platform() {
        let counted = |rule: Transactions| (rule.counted(80, 60, None), rule.counted(80, 60, Some(7)));
        assert_eq!(counted(Transactions::Unknown), (None, None));
        assert_eq!(counted(Transactions::Commits), (Some(60), Some(60)));
        assert_eq!(counted(Transactions::Statements), (Some(140), Some(140)));
        assert_eq!(counted(Transactions::Calls), (Some(140), Some(67)));
    }
}
