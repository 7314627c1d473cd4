//! The rules by which Oracle counts.

use dyno_record::{BlocksPerReadRequest, CountingRules, RowRules, ScanCounters, Transactions};

use super::instance::OF_THE_INSTANCE;

/// The rules of counting, which are equal for all instances.
pub(super) fn counting() -> CountingRules {
    let statistic = |name: &str| format!("sysstat.{name}");
    CountingRules {
        // The views include a call's statistics when it has ended, and cannot be flushed earlier. That all
        // views show them at once is not documented.
        at_edges: false,
        held_back_s: Some(0.0),
        // The views include a session's statistics when its log-off has been answered, and the last snapshot
        // is read after that.
        unseen_after_end_s: 0.0,
        for_server: OF_THE_INSTANCE.to_vec(),
        // A commit counts whether or not it changed anything.
        transactions: Transactions::Commits,
        // MMON, the job queue and recursive work commit like users' sessions.
        workers_commit: true,
        commit_settings: ["commit_wait", "commit_logging"].map(str::to_owned).to_vec(),
        rows: RowRules {
            not_by_kind: Some(
                "Oracle counts no rows written, by any name; rows_left compares what the tables hold afterwards"
                    .to_owned(),
            ),
            ..RowRules::default()
        },
        requests: BlocksPerReadRequest::absent("Oracle reads neighbouring blocks with one request"),
        // The server decides for each scan from the size of the table and its cached share ("direct path
        // read").
        scans: Some(ScanCounters {
            long: statistic("table scans (long tables)"),
            direct: statistic("table scans (direct read)"),
            reads: statistic("physical reads"),
            reads_direct: statistic("physical reads direct"),
        }),
        ..CountingRules::default()
    }
}
