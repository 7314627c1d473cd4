//! Counting rules of a platform: each engine declares them, so that the same code compares counters with operations for every
//! product.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counter::Counter;

/// The default for the longest delay until counters show a session's work, in seconds.
const UNSEEN_S: f64 = 1.0;

/// How the platform counts. The default is for a platform whose rules are unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CountingRules {
    /// Whether sessions publish their work to the counters at both ends of the window, and nothing shortly afterwards. Counters
    /// and operations then cover exactly the same time, whenever a snapshot is read.
    pub at_edges: bool,
    /// The longest delay until counters show a session's work, in seconds.
    pub unseen_s: f64,
    /// The same delay for a session that has ended, in seconds.
    pub unseen_after_end_s: f64,
    /// Seconds after a session published its work until the counters show more of it without a request; absent if they never
    /// do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_back_s: Option<f64>,
    /// Why counters may differ slightly from the operations of the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apart_because: Option<String>,
    /// What uses processor time of the server's processes, but is not in its DB time: `background processes`. Absent if
    /// that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside_db_time: Option<String>,
    /// Portable counters that cover the whole server, with the work of all its databases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub for_server: Vec<Counter>,
    /// Portable counters that cover only the test tables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub for_test_tables: Vec<Counter>,
    /// What the platform counts as a committed transaction.
    pub transactions: Transactions,
    /// With [`Transactions::Commits`]: whether a commit without a change counts, too. Absent if that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty_commits: Option<bool>,
    /// Whether the server's worker processes commit like sessions.
    pub workers_commit: bool,
    /// Whether parallel workers of a statement commit, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub parallel_commit: bool,
    /// The largest number of transactions that a session causes in addition to its operations.
    #[serde(skip_serializing_if = "is_zero")]
    pub commits_per_session_max: u64,
    /// Whether a change and its commit are one call with one answer, so the commit has no separate time.
    pub commit_in_change: bool,
    /// Settings that decide whether a commit waits for storage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commit_settings: Vec<String>,
    /// How the platform counts changed rows.
    pub rows: RowRules,
    /// Native counters of the test tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<TableCounters>,
    /// How many blocks one read request can transfer.
    pub requests: BlocksPerReadRequest,
    /// Native counters for the two ways of a full scan, if the database chooses between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scans: Option<ScanCounters>,
    /// Native counters of the waits of sessions, if the platform counts and times each event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<EventCounters>,
    /// Native counters of parses, if the platform has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parses: Option<ParseCounters>,
    /// Whether the database runs inside Dyno's process, so that both share their CPU time.
    pub in_process: bool,
}

/// What a platform counts as a committed transaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transactions {
    /// The counting rule is unknown.
    #[default]
    Unknown,
    /// Only explicit or implicit commits of changes.
    Commits,
    /// A commit, and each reading statement, also inside a procedure.
    Statements,
    /// A commit, and each call of a session: a reading statement, or a procedure.
    Calls,
}

/// How a platform counts changed rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RowRules {
    /// Native counters of updated, inserted and deleted rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_kind: Option<RowCounters>,
    /// Why there are no separate counters for each kind of change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_by_kind: Option<String>,
    /// Number of records that the platform counts for one row of the test tables.
    pub records: u64,
    /// Share of the rows that the counters may miss, 0..=1.
    #[serde(skip_serializing_if = "is_nothing")]
    pub missed_share: f64,
    /// Why the counters may miss these rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed_because: Option<String>,
    /// Why the database counts more inserted rows than the sessions inserted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_inserted: Option<String>,
}

/// Names of native row counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowCounters {
    /// Name of the counter of updated rows.
    pub updated: String,
    /// Name of the counter of inserted rows.
    pub inserted: String,
    /// Name of the counter of deleted rows.
    pub deleted: String,
}

/// Names of native counters of the test tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableCounters {
    /// Counters of their blocks, one for each source of a block.
    pub blocks: Vec<String>,
    /// Counters of their rows found by index scans, one for each kind of scan.
    pub fetched: Vec<String>,
}

/// Names of native counters of full scans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScanCounters {
    /// Name of the counter of scans of large tables.
    pub long: String,
    /// Name of the counter of such scans that bypassed the cache.
    pub direct: String,
    /// Name of the counter of blocks read by scans.
    pub reads: String,
    /// Name of the counter of such blocks that bypassed the cache.
    pub reads_direct: String,
}

/// Names of native counters of the waits of sessions: `PREFIX`, class, `.`, event, and one of the two endings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventCounters {
    /// The beginning of each counter name, with its dot: `event.`.
    pub prefix: String,
    /// Ending of the names of the numbers of waits.
    pub waits: String,
    /// Ending of the names of the times in µs.
    pub time_us: String,
}

/// Names of native counters of parses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParseCounters {
    /// Name of the counter of all parses.
    pub total: String,
    /// Name of the counter of parses that had to compile the statement; absent if they are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard: Option<String>,
}

/// How many blocks one read request can transfer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BlocksPerReadRequest {
    /// There is a known upper limit.
    Bring {
        /// The largest number of blocks per request.
        blocks_max: f64,
        /// The reason for the limit, as text.
        because: String,
    },
    /// The limit is not known.
    Absent {
        /// Why the limit is unknown, as text.
        absent: String,
    },
}

impl Transactions {
    /// The transactions that the platform counts for one session's successful operations: `reads` without changes, and `commits`
    /// of changes. `slices` is the number of calls if the operations ran inside the database. `None` if the counting rule is
    /// unknown.
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
    /// The rules for sessions that open a connection per transaction: the counters show the work of a connection when it closes,
    /// without a request.
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
            outside_db_time: None,
            for_server: Vec::new(),
            for_test_tables: Vec::new(),
            transactions: Transactions::Unknown,
            empty_commits: None,
            workers_commit: true,
            parallel_commit: false,
            commits_per_session_max: 0,
            commit_in_change: false,
            commit_settings: Vec::new(),
            rows: RowRules::default(),
            tables: None,
            requests: BlocksPerReadRequest::absent(
                "how many blocks a request of this engine reads is not known",
            ),
            scans: None,
            events: None,
            parses: None,
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
    /// Row counters with these names.
    pub fn named(updated: &str, inserted: &str, deleted: &str) -> Self {
        Self { updated: updated.to_owned(), inserted: inserted.to_owned(), deleted: deleted.to_owned() }
    }
}

impl BlocksPerReadRequest {
    /// At most this many blocks, for this reason.
    pub fn bring(blocks_max: f64, because: &str) -> Self {
        Self::Bring { blocks_max, because: because.to_owned() }
    }

    /// An unknown number of blocks, for this reason.
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
    fn transactions_are_counted_by_platform_rule() {
        let counted = |rule: Transactions| (rule.counted(80, 60, None), rule.counted(80, 60, Some(7)));
        assert_eq!(counted(Transactions::Unknown), (None, None));
        assert_eq!(counted(Transactions::Commits), (Some(60), Some(60)));
        assert_eq!(counted(Transactions::Statements), (Some(140), Some(140)));
        assert_eq!(counted(Transactions::Calls), (Some(140), Some(67)));
    }
}
