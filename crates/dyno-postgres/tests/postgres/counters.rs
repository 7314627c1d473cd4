//! Tests counters on real servers: the database's counts match the work exactly, and unavailable counters are
//! absent with the reason.

use crate::server::{on_each_version, on_each_version_with, options, spec, target, target_at};
use dyno_engine::table_counts::TableSnapshot;
use dyno_engine::watched_names::identifiers;
use dyno_engine::{Cancel, Observer, OpenOptions, Silent, WaitSample};
use dyno_postgres::connect::PostgresConnectConfig;
use dyno_postgres::wire::PostgresConnection;
use dyno_record::{Counter, CounterReading, Counters, MarkKind, RELOADED, Snapshot};
use dyno_testbed::Postgres;

/// A connection that works and flushes its statistics at once if the version supports it.
fn worker(server: &Postgres) -> PostgresConnection {
    let options = OpenOptions { password: None, connect_timeout: std::time::Duration::from_secs(10) };
    let config = PostgresConnectConfig::from_url(&server.url().parse().unwrap(), &options).unwrap();
    PostgresConnection::open(&config, "dyno").unwrap()
}

/// Executes `work` between two snapshots, each taken after the server has reported all earlier work.
fn between(
    observer: &mut dyn Observer,
    worker: &mut PostgresConnection,
    work: impl FnOnce(&mut PostgresConnection),
) -> ObservedDelta {
    // A flush includes commits only if a table was read too.
    let flush = |worker: &mut PostgresConnection| {
        worker.simple("SELECT pg_stat_force_next_flush() FROM pg_tablespace LIMIT 1").unwrap();
    };
    flush(worker);
    let begin = observer.snapshot().unwrap();
    let own_begin = observer.own_commits();
    work(worker);
    flush(worker);
    let end = observer.snapshot().unwrap();
    // The last of the worker's two flushes is also between the snapshots.
    let overhead = observer.own_commits() - own_begin + 1;
    ObservedDelta { counters: Counters::between(&begin, &end), overhead, end }
}

struct ObservedDelta {
    counters: Counters,
    /// Commits in addition to those of the work.
    overhead: u64,
    end: Snapshot,
}

impl ObservedDelta {
    fn get(&self, counter: Counter) -> i64 {
        self.counters.get(counter).unwrap_or_else(|reason| panic!("{}: {reason}", counter.name()))
    }

    fn native(&self, name: &str) -> f64 {
        self.counters.native.get(name).copied().unwrap_or(0.0)
    }
}

/// Settings under which only the test is active in the database.
const QUIET: [(&str, &str); 3] =
    [("autovacuum", "off"), ("track_io_timing", "on"), ("track_wal_io_timing", "on")];

#[test]
fn postgres_counters_have_value_or_reason_and_start_time() {
    on_each_version(|server| {
        let target = target(server);
        let spec = spec(1, 200, 20);
        target.block_data().unwrap().load(&spec, &options(1), &Silent, &Cancel::default()).unwrap();
        let snapshot = target.observer(&spec).unwrap().snapshot().unwrap();
        let mut absent = Vec::new();
        for counter in Counter::ALL {
            match &snapshot.portable[&counter] {
                CounterReading::Value(_) => {}
                CounterReading::Absent(reason) => absent.push((counter.name(), reason.as_str())),
            }
        }
        let names: Vec<&str> = absent.iter().map(|(name, _)| *name).collect();
        let expected =
            ["physical_read_time", "physical_write_time", "redo_sync_time", "executions", "cpu_time"];
        assert_eq!(names, expected, "{absent:#?}");
        for mark in
            ["server.started", "server.timeline", "pg_stat_database.stats_reset", "pg_stat_wal.stats_reset"]
        {
            assert!(snapshot.epochs.contains_key(mark), "{mark} of {:?}", snapshot.epochs);
        }
        assert!(snapshot.unread.is_empty(), "{:?}", snapshot.unread);
        assert!(snapshot.shape.contains_key("index rows_1_custid on rows_1"), "{:?}", snapshot.shape);
        assert!(snapshot.settings.contains_key("commit_delay"), "{:?}", snapshot.settings);
        assert_eq!(snapshot.native["dyno.rows.n_tup_ins"], 200.0);
        assert_eq!(snapshot.native["dyno.scan.n_tup_ins"], 20.0);
        let io = snapshot.native.keys().any(|name| name.starts_with("pg_stat_io.client_backend.relation."));
        assert_eq!(io, server.version().major >= 16);
    });
}

/// A catalog scan would cost each snapshot the catalog's blocks, which on a busy device takes longer than the
/// rest of the snapshot.
#[test]
fn postgres_snapshots_scan_no_large_catalog() {
    on_each_version_with(&QUIET, |server| {
        let target = target(server);
        let spec = spec(1, 200, 20);
        target.block_data().unwrap().load(&spec, &options(1), &Silent, &Cancel::default()).unwrap();
        let mut observer = target.observer(&spec).unwrap();
        let mut worker = worker(server);
        let mut scans = || {
            observer.snapshot().unwrap();
            observer.snapshot().unwrap();
            let sql = "SELECT relname, seq_scan FROM pg_stat_sys_tables
                 WHERE schemaname = 'pg_catalog' AND pg_relation_size(relid) >= 32 * 8192 ORDER BY relname";
            let rows = worker.simple(sql).unwrap();
            rows.iter().map(|row| format!("{:?} {:?}", row.get(0), row.get(1))).collect::<Vec<_>>()
        };
        let before = scans();
        assert!(before.iter().any(|scan| scan.contains("pg_proc")), "{before:?}");
        assert_eq!(scans(), before);
    });
}

#[test]
fn postgres_observer_reads_are_only_activity_when_idle() {
    on_each_version_with(&QUIET, |server| {
        let target = target(server);
        let spec = spec(1, 200, 20);
        target.block_data().unwrap().load(&spec, &options(1), &Silent, &Cancel::default()).unwrap();
        let mut observer = target.observer(&spec).unwrap();
        let mut sampler = target.sampler().unwrap();
        let begin = observer.snapshot().unwrap();
        for _ in 0..3 {
            sampler.sample(&mut Vec::new(), &mut Vec::new()).unwrap();
            observer.snapshot().unwrap();
        }
        let end = observer.snapshot().unwrap();
        let counters = Counters::between(&begin, &end);
        let blocks = counters.get(Counter::LogicalReads).unwrap();
        assert!(blocks > 4 * 50, "{blocks} blocks of four snapshots");
        assert_eq!(counters.observer[&Counter::LogicalReads], blocks);
        assert_eq!(counters.without_observer(Counter::LogicalReads), Ok(0));
        assert_eq!(counters.observer[&Counter::PhysicalReads], counters.get(Counter::PhysicalReads).unwrap());
    });
}

#[test]
fn commits_rows_and_blocks_are_counted_exactly() {
    on_each_version_with(&QUIET, |server| {
        let target = target(server);
        let spec = spec(1, 2000, 300);
        target.block_data().unwrap().load(&spec, &options(1), &Silent, &Cancel::default()).unwrap();
        let mut observer = target.observer(&spec).unwrap();
        let mut worker = worker(server);
        worker.simple("SET enable_seqscan = off; SET enable_bitmapscan = off").unwrap();
        let warm = "SELECT count(c2) FROM dyno.rows_1 WHERE custid BETWEEN 5 AND 68";
        worker.simple(warm).unwrap();

        let reads = between(&mut *observer, &mut worker, |worker| {
            // These keys avoid the smallest and largest key, which the planner looks up itself.
            for first in 0..25 {
                let range = format!("BETWEEN {} AND {}", first * 64 + 101, first * 64 + 164);
                let rows = worker.simple(&format!("SELECT count(c2) FROM dyno.rows_1 WHERE custid {range}"));
                assert_eq!(rows.unwrap()[0].get(0), Some("64"));
            }
        });
        assert_eq!(reads.get(Counter::Commits), 25 + reads.overhead as i64);
        assert_eq!(reads.get(Counter::Rollbacks), 0);
        assert_eq!(reads.get(Counter::RowsRead), 25 * 64);
        assert_eq!(
            reads.native("dyno.rows.heap_blks_hit") + reads.native("dyno.rows.heap_blks_read"),
            1600.0
        );
        assert!(reads.get(Counter::LogicalReads) >= 1600);
        assert_eq!(reads.get(Counter::RowsWritten), 0);

        let scans = between(&mut *observer, &mut worker, |worker| {
            worker.simple("SELECT count(c2) FROM dyno.scan_1").unwrap();
        });
        assert_eq!(scans.get(Counter::RowsRead), 300);
        assert_eq!(scans.native("dyno.scan.heap_blks_hit") + scans.native("dyno.scan.heap_blks_read"), 300.0);

        let updates = between(&mut *observer, &mut worker, |worker| {
            for first in 0..10 {
                let keys = format!("custid BETWEEN {} AND {}", first * 32 + 1, first * 32 + 32);
                worker
                    .simple(&format!("UPDATE dyno.rows_1 SET c2 = 'new', ver = ver + 1 WHERE {keys}"))
                    .unwrap();
                assert_eq!(worker.rows_affected(), 32);
            }
            worker.simple("BEGIN; UPDATE dyno.rows_1 SET ver = 0 WHERE custid = 1; ROLLBACK").unwrap();
        });
        assert_eq!(updates.get(Counter::Commits), 10 + updates.overhead as i64);
        assert_eq!(updates.get(Counter::Rollbacks), 1);
        assert_eq!(updates.get(Counter::RowsWritten), 321);
        assert_eq!(updates.native("dyno.rows.n_tup_hot_upd"), 321.0, "updates stay in their block");
        assert!(updates.get(Counter::RedoBytes) > 320 * 128, "{}", updates.get(Counter::RedoBytes));
        assert!(updates.get(Counter::RedoSyncs) >= 10);
        assert!(updates.get(Counter::RedoWrites) >= 10);
        assert!(updates.get(Counter::RedoSyncTime) > 0);
        assert!(updates.get(Counter::DbTime) > 0);
        assert!(updates.counters.changes.is_empty(), "{:?}", updates.counters.changes);
        assert!(matches!(updates.end.portable[&Counter::PhysicalReadTime], CounterReading::Value(_)));
    });
}

#[test]
fn table_and_index_counts_equal_the_rows_of_statements() {
    on_each_version_with(&QUIET, |server| {
        let mut worker = worker(server);
        worker
            .simple("CREATE TABLE sold (id int PRIMARY KEY, note text); CREATE TABLE idle (id int)")
            .unwrap();
        let target = target(server);
        let mut observer = target.observer(&spec(1, 300, 40)).unwrap();
        // Both readings follow a flush.
        between(&mut *observer, &mut worker, |_| ());
        let begin = observer.tables().unwrap().unwrap();
        between(&mut *observer, &mut worker, |worker| {
            worker.simple("SET enable_seqscan = off; SET enable_bitmapscan = off").unwrap();
            worker.simple("INSERT INTO sold SELECT n, 'a' FROM generate_series(1, 400) n").unwrap();
            worker.simple("UPDATE sold SET note = 'b' WHERE id = 7").unwrap();
            worker.simple("DELETE FROM sold WHERE id = 400").unwrap();
            worker.simple("SELECT note FROM sold WHERE id = 9").unwrap();
        });
        let end = observer.tables().unwrap().unwrap();
        assert_eq!(begin.epoch, end.epoch);
        let named = |snapshot: &TableSnapshot, name: &str| {
            let found = snapshot.relations.values().find(|one| one.name == name);
            found.unwrap_or_else(|| panic!("{name}: {snapshot:#?}")).clone()
        };
        let [table, index] = ["public.sold", "public.sold_pkey"].map(|name| named(&end, name));
        let count = |name: &str| table.counts[name];
        assert_eq!((count("rows_inserted"), count("rows_updated"), count("rows_deleted")), (400, 1, 1));
        assert_eq!((count("rows_read"), count("index_scans"), index.counts["index_scans"]), (3, 3, 3));
        assert_eq!((table.table, index.table.as_deref()), (None, Some("public.sold")));
        assert!(table.bytes > named(&begin, "public.sold").bytes, "{end:#?}");
        assert_eq!(named(&begin, "public.idle"), named(&end, "public.idle"));
        // A lock of others costs the list, not the connection.
        worker.simple("BEGIN; LOCK TABLE sold IN ACCESS EXCLUSIVE MODE").unwrap();
        let error = observer.tables().unwrap_err();
        assert_eq!(error.message, "another session held a lock on a table or index");
        worker.simple("ROLLBACK").unwrap();
        assert_eq!(observer.tables().unwrap().unwrap().relations.len(), end.relations.len());
        worker.simple("SELECT pg_stat_reset()").unwrap();
        assert_ne!(observer.tables().unwrap().unwrap().epoch, end.epoch);
    });
}

#[test]
fn physical_io_counters_follow_block_reads_and_writes() {
    let settings = [&QUIET[..], &[("shared_buffers", "16MB")]].concat();
    on_each_version_with(&settings, |server| {
        let target = target(server);
        // 39 MiB of data with a cache of 16 MiB.
        let spec = spec(1, 100, 5000);
        target.block_data().unwrap().load(&spec, &options(1), &Silent, &Cancel::default()).unwrap();
        let mut observer = target.observer(&spec).unwrap();
        let mut worker = worker(server);
        let scan = between(&mut *observer, &mut worker, |worker| {
            worker.simple("SELECT count(c2) FROM dyno.scan_1").unwrap();
        });
        let blocks = scan.get(Counter::PhysicalReads);
        assert!((2500..=5100).contains(&blocks), "{blocks}");
        assert_eq!(scan.get(Counter::PhysicalReadBytes), blocks * 8192);
        assert!(scan.get(Counter::PhysicalReadTime) > 0);
        let requests = scan.get(Counter::PhysicalReadRequests);
        if server.version().major >= 18 {
            assert!(
                (1..blocks).contains(&requests),
                "18 reads several blocks at once: {requests} of {blocks}"
            );
        } else {
            assert_eq!(requests, blocks);
        }
        let begin = observer.snapshot().unwrap();
        worker.simple("UPDATE dyno.scan_1 SET ver = 1; SELECT pg_stat_force_next_flush()").unwrap();
        worker.simple("CHECKPOINT").unwrap();
        // The checkpointer reports its writes shortly after it has answered.
        let writes = (0..2000)
            .map(|_| Counters::between(&begin, &observer.snapshot().unwrap()))
            .find(|counters| counters.get(Counter::PhysicalWrites).unwrap() >= 5000)
            .expect("5,000 blocks were changed and a checkpoint was made");
        let written = writes.get(Counter::PhysicalWrites).unwrap();
        assert!(written < 20_000, "{written}");
        assert_eq!(writes.get(Counter::PhysicalWriteBytes), Ok(written * 8192));
        let requests = writes.get(Counter::PhysicalWriteRequests).unwrap();
        assert!((1..=written).contains(&requests), "{requests}");
    });
}

#[test]
fn sampler_sees_waits_of_sessions_and_counts_its_own_commits() {
    on_each_version_with(&QUIET, |server| {
        let target = target(server);
        let mut observer = target.observer(&spec(1, 1, 0)).unwrap();
        let mut sampler = target.sampler().unwrap();
        let mut samples = Vec::new();
        sampler.sample(&mut samples, &mut Vec::new()).unwrap();
        assert!(samples.is_empty(), "observer and sampler are no sessions: {samples:?}");
        let begin = observer.snapshot().unwrap();
        let commits_before = observer.own_commits() + sampler.own_commits();
        let mut holder = worker(server);
        holder.simple("SELECT pg_advisory_lock(1)").unwrap();
        let mut waiter = worker(server);
        let token = waiter.cancel_token();
        let waiting = std::thread::spawn(move || waiter.simple("SELECT pg_advisory_lock(1)").is_err());
        let lock = WaitSample { class: "Lock".into(), event: "advisory".into() };
        while !samples.contains(&lock) {
            sampler.sample(&mut samples, &mut Vec::new()).unwrap();
        }
        token.cancel().unwrap();
        assert!(waiting.join().unwrap());
        holder.close();
        // Both workers opened a connection, and one locked; the wait of the other one was interrupted and
        // rolled back.
        let expected =
            |observer: &dyn Observer, sampled: u64| observer.own_commits() + sampled - commits_before + 3;
        loop {
            let end = observer.snapshot().unwrap();
            let counters = Counters::between(&begin, &end);
            let counted = counters.get(Counter::Commits).unwrap() as u64;
            // Each snapshot is counted in the next one: the first of the two is included, the second is not.
            let expected_commits = expected(&*observer, sampler.own_commits());
            assert!(counted <= expected_commits, "counted {counted}, done {expected_commits}");
            if counters.get(Counter::Rollbacks) == Ok(1) && counted == expected_commits {
                break;
            }
        }
    });
}

#[test]
fn plain_role_gets_counters_except_for_missing_privileges() {
    on_each_version(|server| {
        let admin = target(server);
        let spec = spec(1, 200, 0);
        admin.block_data().unwrap().load(&spec, &options(1), &Silent, &Cancel::default()).unwrap();
        server.psql("CREATE ROLE plain LOGIN; REVOKE SELECT ON pg_stat_wal FROM PUBLIC");
        let plain = target_at(&server.url_of("plain", "postgres"));
        let mut observer = plain.observer(&spec).unwrap();
        let snapshot = observer.snapshot().unwrap();
        assert!(matches!(snapshot.portable[&Counter::LogicalReads], CounterReading::Value(_)));
        assert!(matches!(snapshot.portable[&Counter::RowsRead], CounterReading::Value(_)));
        if server.version().major < 18 {
            let CounterReading::Absent(reason) = &snapshot.portable[&Counter::RedoSyncs] else { panic!() };
            assert!(reason.contains("permission denied for view pg_stat_wal"), "{reason}");
        }
        // The privilege is revoked while the observer is open.
        server.psql("REVOKE SELECT ON pg_stat_bgwriter FROM PUBLIC");
        let before = observer.own_commits();
        let snapshot = observer.snapshot().unwrap();
        assert!(observer.own_commits() > before);
        assert!(!snapshot.native.contains_key("pg_stat_bgwriter.buffers_clean"));
        assert!(matches!(snapshot.portable[&Counter::Commits], CounterReading::Value(_)));
        // Sessions of the same user can be sampled.
        let mut samples = Vec::new();
        plain.sampler().unwrap().sample(&mut samples, &mut Vec::new()).unwrap();
    });
}

#[test]
fn restart_and_statistics_reset_change_the_marks() {
    for version in Postgres::available() {
        let mut server = Postgres::start(&version, &[]);
        let target = target(&server);
        let spec = spec(1, 1, 0);
        let first_snapshot = target.observer(&spec).unwrap().snapshot().unwrap();
        server.psql("SELECT pg_stat_reset()");
        let second_snapshot = target.observer(&spec).unwrap().snapshot().unwrap();
        let changed = Counters::between(&first_snapshot, &second_snapshot).changes;
        let names: Vec<_> = changed.iter().map(|change| change.name.as_str()).collect();
        assert_eq!(names, ["pg_stat_database.stats_reset"]);
        server.kill9();
        server.restart();
        let third = target.observer(&spec).unwrap().snapshot().unwrap();
        let changed = Counters::between(&second_snapshot, &third).changes;
        assert!(changed.iter().any(|change| change.name == "server.started"), "{changed:?}");
        server.psql("ALTER SYSTEM SET track_io_timing = on");
        server.restart();
        let fourth = target.observer(&spec).unwrap().snapshot().unwrap();
        let changed = Counters::between(&third, &fourth);
        let timing = changed.changed(MarkKind::Setting).find(|change| change.name == "track_io_timing");
        let timing = timing.map(|change| (change.from.as_deref(), change.to.as_deref()));
        assert_eq!(timing, Some((Some("off"), Some("on"))));
        // Rows of missing tables are absent, not zero.
        let CounterReading::Absent(reason) = &fourth.portable[&Counter::RowsRead] else { panic!() };
        assert!(reason.contains("load them first"), "{reason}");
    }
}

/// Objects that a custom workload uses are watched through views and functions; other objects are not.
#[test]
fn objects_of_custom_workload_are_watched_for_changes() {
    on_each_version(|server| {
        let mut worker = worker(server);
        for sql in [
            "CREATE TABLE accounts(id int PRIMARY KEY, balance int)",
            "CREATE TABLE unused(id int)",
            "CREATE VIEW rich AS SELECT * FROM accounts WHERE balance > 9",
            "CREATE TABLE log(at int)",
            "CREATE FUNCTION pay(n int) RETURNS void LANGUAGE sql AS 'INSERT INTO log VALUES (n)'",
        ] {
            worker.simple(sql).unwrap();
        }
        let spec = spec(0, 0, 0);
        let names = identifiers("SELECT pay($1) FROM Rich WHERE id = $2");
        let mut observer = target(server).observer_of_names(&spec, &names).unwrap();
        let mut changes = |sql: &str| {
            let begin = observer.snapshot().unwrap();
            worker.simple(sql).unwrap();
            let end = observer.snapshot().unwrap();
            let counters = Counters::between(&begin, &end);
            assert!(!counters.unread.contains_key("shape"), "{:?}", counters.unread);
            counters.changed(MarkKind::Shape).map(|change| change.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(changes("CREATE INDEX one ON accounts(balance)"), ["index one on accounts"]);
        assert_eq!(changes("ALTER TABLE accounts ADD COLUMN note text"), ["table accounts"]);
        assert_eq!(
            changes("ALTER TABLE log ADD CONSTRAINT positive CHECK (at >= 0)"),
            ["constraint positive on log"]
        );
        assert!(changes("TRUNCATE log").contains(&"table log".to_owned()));
        let replaced = "CREATE OR REPLACE FUNCTION pay(n int) RETURNS void LANGUAGE sql AS 'SELECT'";
        assert_eq!(changes(replaced), ["routine pay(n integer)"]);
        assert_eq!(
            changes("CREATE OR REPLACE VIEW rich AS SELECT id, balance FROM accounts"),
            ["rule _RETURN on rich"]
        );
        assert!(changes("DROP TABLE unused").is_empty());
        // New sessions do not wait for their commits; the observer's own session is unchanged.
        let begin = observer.snapshot().unwrap();
        worker.simple("ALTER ROLE CURRENT_USER SET synchronous_commit = off").unwrap();
        let counters = Counters::between(&begin, &observer.snapshot().unwrap());
        let names: Vec<&str> =
            counters.changed(MarkKind::Setting).map(|change| change.name.as_str()).collect();
        assert_eq!(names, ["synchronous_commit (ALTER ROLE)"]);
        // A setting that is changed and restored between two snapshots only changes the time of the last
        // reload.
        let begin = observer.snapshot().unwrap();
        for sql in [
            "ALTER SYSTEM SET commit_delay = 9",
            "SELECT pg_reload_conf()",
            "ALTER SYSTEM RESET commit_delay",
        ] {
            worker.simple(sql).unwrap();
        }
        worker.simple("SELECT pg_reload_conf()").unwrap();
        // The server reads its files after it has received the signal.
        let counters = loop {
            let counters = Counters::between(&begin, &observer.snapshot().unwrap());
            if counters.changed(MarkKind::Setting).any(|change| change.name == RELOADED) {
                break counters;
            }
        };
        let names: Vec<&str> =
            counters.changed(MarkKind::Setting).map(|change| change.name.as_str()).collect();
        assert_eq!(names, [RELOADED]);
    });
}
