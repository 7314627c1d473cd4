//! Parses blocks that execute a list of operations in one call.

use std::sync::Arc;

use super::rows::COLUMNS;
use super::state::CommitWay;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SliceKind {
    Select,
    Lookup,
    Scan,
    Secondary,
    Update,
    Mixed,
}

/// A block as its text defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) kind: SliceKind,
    /// Columns set by an update.
    pub(super) columns: Vec<usize>,
    pub(super) commit_way: CommitWay,
    /// The table without an index, if the block names it.
    pub(super) scan_table: Option<Arc<str>>,
}

/// Columns that a text sets: `c2` and `c20` of `c2 = :c2, c20 = :c20`.
pub(super) fn columns_set(words: &str) -> Vec<usize> {
    (2..2 + COLUMNS).filter(|column| words.contains(&format!(" c{column} = "))).collect()
}

/// Whether a text in single spaces is such a block.
pub(super) fn is_slice(words: &str) -> bool {
    words.starts_with("DECLARE list ") || words.starts_with("DECLARE times ")
}

impl Slice {
    /// Parses a block from text in single spaces, on the table `table` without its prefix: `ROWS_1`.
    pub(super) fn of(words: &str, table: &str) -> Self {
        let says = |part: &str| words.contains(part);
        let kind = if says("kind VARCHAR2(1)") {
            SliceKind::Mixed
        } else if says("UPDATE /*+") {
            SliceKind::Update
        } else if words.starts_with("DECLARE times ") {
            SliceKind::Scan
        } else if says(" WHERE sec = ") {
            SliceKind::Secondary
        } else if says("BETWEEN first_key") {
            SliceKind::Select
        } else {
            SliceKind::Lookup
        };
        let set = words.split_once("SET ver = ver + 1,").and_then(|(_, set)| set.split_once(" WHERE "));
        let commit_way = if says("COMMIT WRITE IMMEDIATE WAIT") {
            CommitWay::Wait
        } else if says("COMMIT WRITE BATCH NOWAIT") {
            CommitWay::NoWait
        } else {
            CommitWay::AtCallEnd
        };
        let number = table.rsplit('_').next().unwrap_or_default();
        Self {
            kind,
            columns: set.map_or_else(Vec::new, |(set, _)| columns_set(&format!(" {set}"))),
            commit_way,
            scan_table: says("FROM dyno_scan_").then(|| format!("DYNO_SCAN_{number}").into()),
        }
    }
}
