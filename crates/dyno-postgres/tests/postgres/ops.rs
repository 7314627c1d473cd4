//! Tests operations on real PostgreSQL servers: exact results, durable values, the classes of errors, exact
//! counters.

use std::sync::Arc;

use crate::wire::{connection, each_version, target_at};
use dyno_engine::{
    BlockOp, BlockSessionConfig, Cancel, Clock, ErrorClass, LoadOptions, MonotonicClock, OpError,
    RequestCompletion, Silent, SliceDone, Target, TargetError, TargetErrorKind,
};
use dyno_plan::{Commit, DataSpec, DriveMode, Redo};
use dyno_postgres::ops::SESSION_SETTINGS;
use dyno_postgres::wire::PostgresConnection;
use dyno_testbed::Postgres;
use dyno_workload::blocks::Operated;

const ROWS: u64 = 300;
const SCAN_ROWS: u64 = 40;
const WORK_UNIT: u32 = 10;

fn spec() -> DataSpec {
    DataSpec {
        schemas: 1,
        rows: ROWS,
        scan_rows: SCAN_ROWS,
        block_size: 8192,
        compressible: 0,
        seed: 42,
        secondary: false,
        copied: false,
    }
}

/// The configuration of a session, and where its loops run.
type BlockSessionSetup = (BlockSessionConfig, DriveMode);

fn setup(number: u32, drive: DriveMode, redo: Redo) -> BlockSessionSetup {
    let blocks = BlockSessionConfig {
        schema: 1,
        spec: spec(),
        work_unit: WORK_UNIT,
        redo,
        extra: Default::default(),
        seed: 7,
        run_stamp: 0xbeef,
        session: number,
    };
    (blocks, drive)
}

fn open(target: &dyn Target, setup: &BlockSessionSetup) -> Result<Operated, TargetError> {
    open_timed(target, setup, Arc::new(MonotonicClock::default()))
}

fn open_timed(
    target: &dyn Target,
    (blocks, drive): &BlockSessionSetup,
    clock: Arc<dyn Clock>,
) -> Result<Operated, TargetError> {
    Operated::open(target, blocks, *drive, Commit::Wait, clock)
}

/// A loaded server with `fsync` on, so that commits take measurable time.
fn load_target(version: &dyno_testbed::Version) -> (Postgres, Box<dyn Target>) {
    let server = Postgres::start(version, &[("autovacuum", "off"), ("deadlock_timeout", "5s")]);
    let target = target_at(&server.url());
    let options = LoadOptions { parallel: 1, replace: false, dyno_version: "test".to_owned() };
    target.block_data().unwrap().load(&spec(), &options, &Silent, &Cancel::default()).unwrap();
    (server, target)
}

fn client(target: &dyn Target, number: u32) -> Operated {
    open(target, &setup(number, DriveMode::Client, Redo::Lite)).unwrap()
}

fn query_number(server: &Postgres, sql: &str) -> u64 {
    server.psql(sql).parse().unwrap_or_else(|_| panic!("no number: {sql}"))
}

#[test]
fn cpu_of_local_server_process_is_known() {
    each_version(|version| {
        let (_server, target) = load_target(version);
        let session = client(target.as_ref(), 0);
        let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap().matches("processor\t").count();
        let processor = session.server_processor().expect("the server is a child of this test");
        assert!(processor < processors, "{processor} of {processors}");
        session.close();
    });
}

#[test]
fn postgres_reads_count_only_existing_rows() {
    each_version(|version| {
        let (server, target) = load_target(version);
        for url in [server.url(), server.socket_url()] {
            let target = target_at(&url);
            let mut session = client(target.as_ref(), 0);
            let rows = |done: RequestCompletion| (done.rows, done.commit_began_ns);
            for first in [1, 100, ROWS - 9] {
                assert_eq!(rows(session.execute(BlockOp::Select { first }).unwrap()), (10, None));
            }
            assert_eq!(session.execute(BlockOp::Select { first: ROWS - 4 }).unwrap().rows, 5);
            assert_eq!(session.execute(BlockOp::Select { first: ROWS + 1 }).unwrap().rows, 0);
            assert_eq!(session.execute(BlockOp::Lookup { key: ROWS }).unwrap().rows, 1);
            assert_eq!(session.execute(BlockOp::Lookup { key: ROWS + 1 }).unwrap().rows, 0);
            assert_eq!(session.execute(BlockOp::Scan).unwrap().rows, SCAN_ROWS);
            session.close();
        }
        drop(target);
    });
}

/// A hash of each text column of one row.
fn hashes(server: &Postgres, key: u64) -> Vec<String> {
    let columns: Vec<String> = (2..=20).map(|c| format!("md5(c{c})")).collect();
    let row = server.psql(&format!("SELECT {} FROM dyno.rows_1 WHERE custid = {key}", columns.join(", ")));
    row.split('|').map(str::to_owned).collect()
}

#[test]
fn acknowledged_update_is_visible_to_all_sessions() {
    each_version(|version| {
        let (server, target) = load_target(version);
        for (redo, columns) in [(Redo::Lite, vec![2, 20]), (Redo::Heavy, (2..=20).collect())] {
            let mut session = open(target.as_ref(), &setup(3, DriveMode::Client, redo)).unwrap();
            let before = query_number(&server, "SELECT sum(ver) FROM dyno.rows_1");
            assert_eq!(session.verify_last_update().unwrap(), None);
            let mut previous_hashes = hashes(&server, 15);
            for op in 0..20 {
                let outcome = session.execute(BlockOp::Update { first: 11, number: op }).unwrap();
                assert_eq!(outcome.rows, 10);
                let stamp = format!("u000000000000beef00000003{op:016x}");
                let new = format!("SELECT count(*) FROM dyno.rows_1 WHERE starts_with(c2, '{stamp}')");
                assert_eq!(query_number(&server, &new), 10, "{redo:?} {op}");
                let after = hashes(&server, 15);
                let changed: Vec<usize> =
                    (2..=20).filter(|c| after[c - 2] != previous_hashes[c - 2]).collect();
                assert_eq!(changed, columns, "{redo:?} {op}");
                previous_hashes = after;
            }
            let widths: Vec<String> = (2..=20).map(|c| format!("length(c{c}) = 128")).collect();
            let whole = format!("SELECT count(*) FROM dyno.rows_1 WHERE {}", widths.join(" AND "));
            assert_eq!(query_number(&server, &whole), ROWS);
            assert_eq!(query_number(&server, "SELECT sum(ver) FROM dyno.rows_1") - before, 200);
            assert_eq!(session.verify_last_update().unwrap(), Some((10, 10)));
            server.psql("UPDATE dyno.rows_1 SET c2 = repeat('x', 128) WHERE custid = 12");
            assert_eq!(session.verify_last_update().unwrap(), Some((10, 9)));
            client(target.as_ref(), 4).execute(BlockOp::Update { first: 11, number: 1 }).unwrap();
            assert_eq!(session.verify_last_update().unwrap(), Some((10, 10)));
            session.close();
        }
    });
}

#[test]
fn commit_start_of_an_update_is_timed() {
    each_version(|version| {
        let (_server, target) = load_target(version);
        let clock = Arc::new(MonotonicClock::default());
        let setup = setup(0, DriveMode::Client, Redo::Lite);
        let mut session = open_timed(target.as_ref(), &setup, clock.clone()).unwrap();
        let mut commit_count = 0;
        for op in 0..50 {
            let began_ns = clock.now_ns();
            let outcome = session.execute(BlockOp::Update { first: 1, number: op }).unwrap();
            let ended_ns = clock.now_ns();
            if let Some(commit_ns) = outcome.commit_began_ns {
                assert!((began_ns..=ended_ns).contains(&commit_ns));
                commit_count += 1;
            }
        }
        // A boundary is missed if this thread wakes late, but not all of fifty with a disk sync in between.
        assert!(commit_count > 0, "no commit was seen to begin");
        session.close();
    });
}

/// The statement succeeds and only its commit fails: this must be reported as an error.
#[test]
fn failed_commit_is_an_error() {
    each_version(|version| {
        let (server, target) = load_target(version);
        server.psql(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$BEGIN RAISE EXCEPTION 'not today' USING ERRCODE = '23505'; END$$; \
             CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON dyno.rows_1 DEFERRABLE INITIALLY DEFERRED \
             FOR EACH ROW EXECUTE FUNCTION refuse()",
        );
        let mut session = client(target.as_ref(), 0);
        let error =
            session.execute(BlockOp::Update { first: 1, number: 1 }).expect_err("the commit is refused");
        assert_eq!((error.class, error.code.as_str()), (ErrorClass::Fatal, "23505"), "{error}");
        assert_eq!(session.verify_last_update().unwrap(), None);
        assert_eq!(query_number(&server, "SELECT sum(ver) FROM dyno.rows_1"), 0);
        assert_eq!(session.execute(BlockOp::Select { first: 1 }).unwrap().rows, 10, "in step again");
        session.close();
    });
}

#[test]
fn plans_are_generic_and_visit_exactly_work_unit_rows() {
    each_version(|version| {
        let (server, target) = load_target(version);
        let sets: Vec<String> =
            SESSION_SETTINGS.iter().map(|s| format!("SET {} = {}; ", s.name, s.value)).collect();
        let plan = server.psql(&format!(
            "{} PREPARE s(int8, int8) AS SELECT COUNT(c2) FROM dyno.rows_1 WHERE custid BETWEEN $1 AND $2; \
             EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) EXECUTE s(21, 30)",
            sets.concat()
        ));
        assert!(plan.contains("custid >= $1"), "a generic plan: {plan}");
        assert!(plan.contains("rows_1_custid"), "by the index: {plan}");
        assert!(!plan.contains("Seq Scan"), "by the index: {plan}");
        let mut observer = open(target.as_ref(), &setup(9, DriveMode::Client, Redo::Lite)).unwrap();
        let heap =
            "SELECT heap_blks_read + heap_blks_hit FROM pg_statio_user_tables WHERE relname = 'rows_1'";
        observer.edge().unwrap();
        if version.major >= 15 {
            let before = query_number(&server, heap);
            (0..20).for_each(|i| {
                assert_eq!(observer.execute(BlockOp::Select { first: 1 + i * 10 }).unwrap().rows, 10);
            });
            observer.edge().unwrap();
            assert_eq!(query_number(&server, heap) - before, 200);
        }
        observer.close();
        drop(target);
    });
}

#[test]
fn commits_are_exact_at_window_boundary() {
    each_version(|version| {
        if version.major < 15 {
            return;
        }
        let (server, target) = load_target(version);
        // The database is separate: the test's own queries use another database and are not counted.
        server.psql("CREATE DATABASE bench TEMPLATE postgres");
        let bench = target_at(&server.url_of("postgres", "bench"));
        drop(target);
        let counted = || {
            let sql = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'bench'";
            query_number(&server, sql)
        };
        let before = counted();
        let mut session = client(bench.as_ref(), 0);
        session.edge().unwrap();
        assert_eq!(counted() - before, session.overhead_commits().cast_unsigned());
        (0..30).for_each(|i| assert_eq!(session.execute(BlockOp::Select { first: 1 + i }).unwrap().rows, 10));
        (0..20).for_each(|i| {
            assert_eq!(session.execute(BlockOp::Update { first: 1 + i, number: i }).unwrap().rows, 10);
        });
        (0..7).for_each(|i| assert_eq!(session.execute(BlockOp::Lookup { key: 1 + i }).unwrap().rows, 1));
        session.execute(BlockOp::Scan).unwrap();
        session.edge().unwrap();
        assert_eq!(counted() - before, 58 + session.overhead_commits().cast_unsigned());
        session.verify_last_update().unwrap();
        let overhead = session.overhead_commits().cast_unsigned();
        session.close();
        assert_eq!(counted() - before, 58 + overhead, "closing books the rest");
    });
}

/// Waits until one of Dyno's sessions waits for a row lock.
fn wait_until_blocked(server: &Postgres) {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name LIKE 'dyno session%'";
    while query_number(server, sql) == 0 {}
}

/// Lets a session update rows 1 to 10 while `other` holds a lock on the last of them in update order.
/// `meanwhile` receives the key of the first row.
fn run_colliding(
    server: &Postgres,
    setup: &BlockSessionSetup,
    mut other: PostgresConnection,
    meanwhile: impl FnOnce(&mut PostgresConnection, &str),
) -> Result<RequestCompletion, Box<OpError>> {
    let order = "SELECT string_agg(custid::text, ',' ORDER BY ctid) FROM dyno.rows_1 WHERE custid <= 10";
    let order = server.psql(order);
    let (first, last) = (order.split(',').next().unwrap(), order.split(',').next_back().unwrap());
    let mut session = open(target_at(&server.url()).as_ref(), setup).unwrap();
    other.simple("BEGIN").unwrap();
    other.simple(&format!("UPDATE dyno.rows_1 SET ver = 0 WHERE custid = {last}")).unwrap();
    std::thread::scope(|scope| {
        let update = scope.spawn(|| {
            let result = session.execute(BlockOp::Update { first: 1, number: 1 });
            // In any case the connection remains usable.
            assert_eq!(session.execute(BlockOp::Lookup { key: 1 }).unwrap().rows, 1);
            result
        });
        meanwhile(&mut other, first);
        update.join().unwrap()
    })
}

fn assert_retryable(result: Result<RequestCompletion, Box<OpError>>, code: &str) {
    let error = result.expect_err(code);
    assert_eq!((error.class, error.code.as_str()), (ErrorClass::Retryable, code), "{error}");
}

#[test]
fn conflicts_with_other_sessions_are_retryable() {
    each_version(|version| {
        let (server, _target) = load_target(version);
        let setup = setup(0, DriveMode::Client, Redo::Lite);
        let other = || connection(&server.url());
        server.psql("ALTER ROLE postgres SET lock_timeout = '1ms'");
        assert_retryable(run_colliding(&server, &setup, other(), |_, _| ()), "55P03");
        server.psql("ALTER ROLE postgres RESET lock_timeout");
        server.psql("ALTER ROLE postgres SET default_transaction_isolation = 'repeatable read'");
        let commit = |other: &mut PostgresConnection, _: &str| {
            wait_until_blocked(&server);
            other.simple("COMMIT").unwrap();
        };
        assert_retryable(run_colliding(&server, &setup, other(), commit), "40001");
        server.psql("ALTER ROLE postgres RESET default_transaction_isolation");
        // The session checks for a deadlock once, after five seconds. If no deadlock exists by then, the
        // other side detects it, and the session has behaved correctly.
        let deadlock = |other: &mut PostgresConnection, first: &str| {
            wait_until_blocked(&server);
            let sql = format!(
                "SET deadlock_timeout = '60s'; UPDATE dyno.rows_1 SET ver = 0 WHERE custid = {first}"
            );
            let _ = other.simple(&sql);
        };
        let mut results = (0..3).map(|_| run_colliding(&server, &setup, other(), deadlock));
        assert_retryable(results.find(Result::is_err).expect("the session was never the victim"), "40P01");
    });
}

#[test]
fn killed_connection_is_classified_and_reopened() {
    each_version(|version| {
        let (mut server, target) = load_target(version);
        let mut session = client(target.as_ref(), 0);
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'dyno session%'";
        for round in 0..2 {
            server.psql(kill);
            for _ in 0..2 {
                let error =
                    session.execute(BlockOp::Select { first: 1 }).expect_err("the connection is gone");
                assert_eq!(error.class, ErrorClass::Connection, "{error}");
            }
            session.reconnect().unwrap();
            assert_eq!(session.execute(BlockOp::Update { first: 1, number: round }).unwrap().rows, 10);
        }
        server.kill9();
        let error = session.execute(BlockOp::Lookup { key: 1 }).expect_err("the server is dead");
        assert_eq!(error.class, ErrorClass::Connection, "{error}");
        assert_eq!(session.reconnect().expect_err("still dead").kind, TargetErrorKind::Unreachable);
        server.restart();
        session.reconnect().unwrap();
        assert_eq!(session.verify_last_update().unwrap(), Some((10, 10)), "acknowledged is durable");
        session.close();
    });
}

#[test]
fn interrupt_ends_the_current_request_of_a_session() {
    each_version(|version| {
        let (server, _target) = load_target(version);
        for url in [server.url(), server.socket_url()] {
            let mut other = connection(&server.url());
            other.simple("BEGIN; LOCK TABLE dyno.rows_1").unwrap();
            let target = target_at(&url);
            let opened = std::thread::scope(|scope| {
                // Even preparing statements waits for the lock.
                let opening = scope.spawn(|| client(target.as_ref(), 0));
                wait_until_blocked(&server);
                other.simple("ROLLBACK").unwrap();
                opening.join().unwrap()
            });
            let mut session = opened;
            let interrupter = session.interrupter();
            other.simple("BEGIN; LOCK TABLE dyno.rows_1").unwrap();
            std::thread::scope(|scope| {
                let working = scope.spawn(|| session.execute(BlockOp::Select { first: 1 }));
                wait_until_blocked(&server);
                interrupter.interrupt();
                interrupter.interrupt();
                let error = working.join().unwrap().expect_err("it was interrupted");
                assert_eq!(error.class, ErrorClass::Connection, "{error}");
            });
            other.simple("ROLLBACK").unwrap();
            session.reconnect().unwrap();
            assert_eq!(session.execute(BlockOp::Select { first: 1 }).unwrap().rows, 10);
            interrupter.interrupt();
            assert!(session.execute(BlockOp::Scan).is_err(), "the interrupter follows to the new connection");
        }
    });
}

/// Updates the same range repeatedly in one slice: every column that must change changes each time, and all
/// columns of a row differ.
fn changes_in_a_slice(server: &Postgres, session: &mut Operated, redo: Redo) {
    let updated = |c: &usize| redo == Redo::Heavy || *c == 2 || *c == 20;
    let mut distinct_values = std::collections::HashSet::new();
    for number in 100..140 {
        session
            .slice(&[
                BlockOp::Update { first: 11, number },
                BlockOp::Update { first: 11, number: number + 18 },
            ])
            .unwrap();
        let row = hashes(server, 15);
        assert!(
            (2..=20).filter(updated).all(|c| distinct_values.insert(row[c - 2].clone())),
            "{redo:?} {number}"
        );
    }
    let widths: Vec<String> = (2..=20).map(|c| format!("length(c{c}) = 128")).collect();
    let whole = format!("SELECT count(*) FROM dyno.rows_1 WHERE {}", widths.join(" AND "));
    assert_eq!(self::query_number(server, &whole), ROWS);
}

#[test]
fn server_slices_return_same_results_as_client() {
    each_version(|version| {
        let (server, target) = load_target(version);
        let ops = |kinds: &[u64]| -> Vec<BlockOp> {
            let draw = |i: u64| match kinds[i as usize % kinds.len()] {
                0 => BlockOp::Select { first: 1 + i * 7 % (ROWS - 5) },
                1 => BlockOp::Lookup { key: 1 + i * 11 % (ROWS + 5) },
                2 => BlockOp::Scan,
                _ => BlockOp::Update { first: 1 + i * 13 % (ROWS - 10), number: i },
            };
            (0..60).map(draw).collect()
        };
        for redo in [Redo::Lite, Redo::Heavy] {
            for kinds in [&[0u64][..], &[1], &[2], &[3], &[0, 3, 1, 2, 3]] {
                let ops = ops(kinds);
                let mut client_session = open(target.as_ref(), &setup(1, DriveMode::Client, redo)).unwrap();
                let mut expected = SliceDone::default();
                for &op in &ops {
                    let rows = client_session.execute(op).unwrap().rows;
                    match op {
                        BlockOp::Select { .. } => expected.rows_read[0] += rows,
                        BlockOp::Lookup { .. } => expected.rows_read[1] += rows,
                        BlockOp::Scan => expected.rows_read[2] += rows,
                        BlockOp::Update { .. } => {
                            expected.rows_updated += rows;
                            expected.commits += 1;
                        }
                        BlockOp::Secondary { .. } | BlockOp::Insert { .. } | BlockOp::Delete { .. } => {
                            unreachable!("no slice has these")
                        }
                    }
                }
                client_session.close();
                let versions = "SELECT sum(ver) FROM dyno.rows_1";
                let before = query_number(&server, versions);
                let mut slices = open(target.as_ref(), &setup(2, DriveMode::Server, redo)).unwrap();
                assert_eq!(slices.slice(&ops).unwrap(), expected, "{redo:?} {kinds:?}");
                assert_eq!(query_number(&server, versions) - before, expected.rows_updated);
                if expected.commits > 0 {
                    assert_eq!(slices.verify_last_update().unwrap(), Some((10, 10)));
                    let distinct = "SELECT count(DISTINCT c) FROM (SELECT unnest(ARRAY[c2, c20]) c FROM dyno.rows_1 \
                                    WHERE starts_with(c2, 'u000000000000beef00000002')) t WHERE length(c) = 128";
                    assert!(query_number(&server, distinct) >= 2 * 24, "each update has its own values");
                }
                assert_eq!(slices.slice(&[]).unwrap(), SliceDone::default());
                if kinds == [3] {
                    changes_in_a_slice(&server, &mut slices, redo);
                }
                slices.close();
            }
        }
    });
}

#[test]
fn commits_within_a_slice_are_counted_individually() {
    each_version(|version| {
        if version.major < 15 {
            return;
        }
        let (server, target) = load_target(version);
        drop(target);
        server.psql("CREATE DATABASE bench TEMPLATE postgres");
        let bench = target_at(&server.url_of("postgres", "bench"));
        let counted =
            || query_number(&server, "SELECT xact_commit FROM pg_stat_database WHERE datname = 'bench'");
        let before = counted();
        let mut session = open(bench.as_ref(), &setup(0, DriveMode::Server, Redo::Lite)).unwrap();
        let updates: Vec<BlockOp> =
            (0..40).map(|number| BlockOp::Update { first: 1 + number, number }).collect();
        let selects: Vec<BlockOp> = (0..40).map(|i| BlockOp::Select { first: 1 + i }).collect();
        assert_eq!(session.slice(&updates).unwrap().commits, 40);
        session.slice(&selects).unwrap();
        session.edge().unwrap();
        // A slice adds one transaction: the one that its last commit left open, or the only one.
        assert_eq!(counted() - before, 40 + 2 + session.overhead_commits().cast_unsigned());
        session.close();
    });
}

#[test]
fn session_without_loaded_data_suggests_dyno_load() {
    each_version(|version| {
        let server = Postgres::start(version, &[("fsync", "off")]);
        for drive in [DriveMode::Client, DriveMode::Server] {
            let error = open(target_at(&server.url()).as_ref(), &setup(0, drive, Redo::Lite))
                .err()
                .expect("nothing is loaded");
            assert_eq!(error.kind, TargetErrorKind::Data, "{error}");
            assert!(error.hint.contains("dyno load"), "{}", error.hint);
        }
    });
}
