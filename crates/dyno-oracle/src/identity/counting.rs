//! The rules by which Oracle counts.

use dyno_record::{
    BlocksPerReadRequest, CountingRules, EventCounters, ParseCounters, RowRules, ScanCounters, Transactions,
};

use super::super::connection::OracleConnection;
use super::super::sql;
use super::instance::OF_THE_INSTANCE;
use dyno_engine::TargetError;
use dyno_engine::row::first;

/// Whether this database counts a commit of a session that changed nothing; absent if this user cannot see it.
/// The manuals do not say.
pub(super) fn counts_empty_commits(connection: &OracleConnection) -> Result<Option<bool>, TargetError> {
    let commits = || -> Result<Option<u64>, TargetError> {
        let rows = connection.rows_if_allowed(&sql::OWN_COMMITS.text(), &[])?;
        Ok(rows.and_then(|rows| first(&rows, 0)))
    };
    let Some(before) = commits()? else { return Ok(None) };
    connection.commit()?;
    Ok(commits()?.map(|after| after > before))
}

/// The rules of counting, which are equal for all instances, and whether commits without a change count.
pub(super) fn counting(empty_commits: Option<bool>) -> CountingRules {
    let statistic = |name: &str| format!("sysstat.{name}");
    CountingRules {
        // The views include a call's statistics when it has ended, and cannot be flushed earlier. That all
        // views show them at once is not documented.
        at_edges: false,
        held_back_s: Some(0.0),
        // The views include a session's statistics when its log-off has been answered, and the last snapshot
        // is read after that.
        unseen_after_end_s: 0.0,
        outside_db_time: Some(
            "background processes, and what the processes do between two calls of their sessions".to_owned(),
        ),
        for_server: OF_THE_INSTANCE.to_vec(),
        transactions: Transactions::Commits,
        empty_commits,
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
        events: Some(EventCounters {
            prefix: "event.".to_owned(),
            waits: ".foreground_waits".to_owned(),
            time_us: ".foreground_us".to_owned(),
        }),
        parses: Some(ParseCounters {
            total: statistic("parse count (total)"),
            hard: Some(statistic("parse count (hard)")),
        }),
        ..CountingRules::default()
    }
}
