//! Counting rules that the fixtures do not have.

use dyno_record::{CountingRules, RowCounters, RowRules, ScanCounters, Transactions};

/// Each statement is a transaction, an update and its commit are one call, and a row is two records.
pub(super) fn statements() -> CountingRules {
    CountingRules {
        unseen_s: 0.0,
        unseen_after_end_s: 0.0,
        held_back_s: Some(0.0),
        transactions: Transactions::Statements,
        workers_commit: false,
        commit_in_change: true,
        rows: RowRules {
            by_kind: Some(RowCounters::named(
                "status.Handler_update",
                "status.Handler_write",
                "status.Handler_delete",
            )),
            records: 2,
            ..RowRules::default()
        },
        ..CountingRules::default()
    }
}

/// The same, with row counters that lose one now and then.
pub(super) fn fuzzy() -> CountingRules {
    let mut counting = statements();
    counting.rows.missed_share = 0.001;
    counting.rows.missed_because = Some("as rows are added up without locks".into());
    counting
}

/// Only commits are transactions, scans may go past the cache, and no rows are counted.
pub(super) fn commits() -> CountingRules {
    let statistic = |name: &str| format!("sysstat.{name}");
    CountingRules {
        held_back_s: Some(0.0),
        transactions: Transactions::Commits,
        scans: Some(ScanCounters {
            long: statistic("table scans (long tables)"),
            direct: statistic("table scans (direct read)"),
            reads: statistic("physical reads"),
            reads_direct: statistic("physical reads direct"),
        }),
        ..CountingRules::default()
    }
}
