//! How Oracle counts.

use dyno_record::{CountingRules, Requests, RowRules, ScanCounters, Transactions};

use super::instance::OF_THE_INSTANCE;

/// Any instance.
pub(super) fn counting() -> CountingRules {
    let statistic = |name: &str| format!("sysstat.{name}");
    CountingRules {
        // A call's statistics are part of the views when it has ended, and nobody can be asked for more; that all views show
        // them at once is not documented.
        at_edges: false,
        held_back_s: Some(0.0),
        // A session's statistics are part of the views when its log-off has been answered, and the last snapshot is read after that.
        unseen_after_end_s: 0.0,
        for_server: OF_THE_INSTANCE.to_vec(),
        // Whether they change anything or not.
        transactions: Transactions::Commits,
        // MMON, the job queue and recursive work commit as users' sessions do.
        workers_commit: true,
        commit_settings: ["commit_wait", "commit_logging"].map(str::to_owned).to_vec(),
        rows: RowRules {
            not_by_kind: Some(
                "Oracle counts no rows written, by any name; rows_left compares what the tables hold afterwards"
                    .to_owned(),
            ),
            ..RowRules::default()
        },
        requests: Requests::absent("Oracle reads neighbouring blocks with one request"),
        // It decides for each scan, by the size of the table and what of it is cached ("direct path read").
        scans: Some(ScanCounters {
            long: statistic("table scans (long tables)"),
            direct: statistic("table scans (direct read)"),
            reads: statistic("physical reads"),
            reads_direct: statistic("physical reads direct"),
        }),
        ..CountingRules::default()
    }
}
