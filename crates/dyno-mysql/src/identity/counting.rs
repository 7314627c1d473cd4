//! The rules by which MySQL and MariaDB count.

use dyno_record::{BlocksPerReadRequest, Counter, CountingRules, RowCounters, RowRules, Transactions};

use super::super::layout::MySqlRowShape;
use super::settings::ServerSettings;

/// Share of the rows that MySQL may fail to count. Threads add to its row counters without locks, so two
/// simultaneous increments may count as one (`ib_counter_t` in InnoDB's ut0counter.h). With 2 sessions on 2
/// processors, 1 of 4,888 was missing in one run and none in most runs. MariaDB sums the counts of its
/// sessions, which are exact.
const MISSED_SHARE: f64 = 0.001;

/// The rules of a server with these settings and pages of `page_bytes`.
pub(super) fn counting(settings: &ServerSettings, is_mariadb: bool, page_bytes: u64) -> CountingRules {
    // Without the kernel's asynchronous I/O, MySQL's own threads read neighboring pages together
    // (os_aio_simulated_handler).
    let reads_neighbours = !is_mariadb && settings.value("innodb_use_native_aio") != Some("ON");
    CountingRules {
        // The server sums the counters of all sessions when the snapshot reads them.
        at_edges: false,
        unseen_s: 0.0,
        unseen_after_end_s: 0.0,
        held_back_s: Some(0.0),
        apart_because: Some("because sessions work on between their own edges and the snapshots".to_owned()),
        outside_db_time: Some(
            "receiving messages between statements, background threads, and connects".to_owned(),
        ),
        for_server: Counter::ALL.to_vec(),
        // Every statement in autocommit is a transaction of the storage engine.
        transactions: Transactions::Statements,
        // InnoDB's purge and statistics threads commit inside the engine, which the handler's commit counter
        // does not count.
        workers_commit: false,
        commit_in_change: true,
        commit_settings: ["innodb_flush_log_at_trx_commit", "sync_binlog"].map(str::to_owned).to_vec(),
        rows: rows(settings, is_mariadb, page_bytes),
        requests: match reads_neighbours {
            true => BlocksPerReadRequest::absent(
                "with innodb_use_native_aio off the server reads neighbouring pages with one request",
            ),
            false => BlocksPerReadRequest::bring(1.0, "InnoDB reads each page with a request of its own"),
        },
        ..CountingRules::default()
    }
}

/// MySQL's row counters are InnoDB's. MariaDB's cover all storage engines, so rows of log tables count too.
fn rows(settings: &ServerSettings, is_mariadb: bool, page_bytes: u64) -> RowRules {
    let missed_because = "as MySQL adds rows up without locks and now and then loses one";
    let by_kind = match is_mariadb {
        true => RowCounters::named("status.Handler_update", "status.Handler_write", "status.Handler_delete"),
        false => RowCounters::named(
            "status.Innodb_rows_updated",
            "status.Innodb_rows_inserted",
            "status.Innodb_rows_deleted",
        ),
    };
    RowRules {
        by_kind: Some(by_kind),
        records: MySqlRowShape::of(page_bytes).map_or(1, |shape| shape.records()),
        missed_share: if is_mariadb { 0.0 } else { MISSED_SHARE },
        missed_because: (!is_mariadb).then(|| missed_because.to_owned()),
        more_inserted: (is_mariadb && logs_into_tables(settings)).then(|| {
            "the server logs statements into tables (log_output), whose rows are among those inserted"
                .to_owned()
        }),
        ..RowRules::default()
    }
}

/// Whether the server itself writes rows into log tables for statements.
fn logs_into_tables(settings: &ServerSettings) -> bool {
    let is = |name: &str, value: &str| {
        settings.value(name).is_some_and(|set| set.split(',').any(|word| word.eq_ignore_ascii_case(value)))
    };
    (is("slow_query_log", "ON") || is("general_log", "ON")) && is("log_output", "TABLE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_request_brings_one_page_unless_server_threads_read() {
        let requests = |aio: &str, is_mariadb| {
            counting(&ServerSettings::of(&[("innodb_use_native_aio", aio)]), is_mariadb, 16_384).requests
        };
        let single_page =
            BlocksPerReadRequest::bring(1.0, "InnoDB reads each page with a request of its own");
        assert_eq!(requests("ON", false), single_page);
        assert_eq!(requests("OFF", true), single_page);
        assert!(matches!(requests("OFF", false), BlocksPerReadRequest::Absent { .. }));
    }

    #[test]
    fn row_records_depend_on_page_size_and_table_logs_may_add_rows() {
        let settings = ServerSettings::of(&[("slow_query_log", "ON"), ("log_output", "FILE,table")]);
        assert!(rows(&settings, true, 16_384).more_inserted.is_some());
        assert!(rows(&settings, false, 16_384).more_inserted.is_none());
        assert!(rows(&ServerSettings::of(&[("log_output", "TABLE")]), true, 16_384).more_inserted.is_none());
        let records = [16_384, 65_536].map(|page| rows(&settings, false, page).records);
        assert_eq!(records, [2, 4]);
    }
}
