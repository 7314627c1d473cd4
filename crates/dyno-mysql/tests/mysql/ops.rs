//! Tests operations: exact results, durable values, and the classes of errors.

use std::os::fd::AsRawFd as _;

use dyno_engine::{
    BlockOp, BlockOpSchema, Duplex, ErrorClass, OpError, RequestCompletion, RowVersion, SessionRequest,
    SliceDone, TargetErrorKind,
};
use dyno_plan::{DriveMode, Redo};
use dyno_testbed::MySql;

use super::{load_target, on_each_server, open_session, spec, target_at, try_open};

const ROWS: u64 = 300;
const SCAN_ROWS: u64 = 40;

fn query_number(server: &MySql, sql: &str) -> u64 {
    server.sql(sql).parse().unwrap_or_else(|_| panic!("no number: {sql}"))
}

#[test]
fn postgres_reads_count_only_existing_rows() {
    on_each_server(|server| {
        let spec = spec(1, ROWS, SCAN_ROWS);
        load_target(server, &spec);
        for url in [server.url(), server.socket_url(), format!("{}?ssl-mode=DISABLED", server.url())] {
            let mut session = open_session(target_at(&url).as_ref(), &spec, 0, DriveMode::Client, Redo::Lite);
            for first in [1, 100, ROWS - 9] {
                assert_eq!(session.execute(BlockOp::Select { first }).unwrap().rows, 10);
            }
            assert_eq!(session.execute(BlockOp::Select { first: ROWS - 4 }).unwrap().rows, 5);
            assert_eq!(session.execute(BlockOp::Select { first: ROWS + 1 }).unwrap().rows, 0);
            assert_eq!(session.execute(BlockOp::Lookup { key: ROWS }).unwrap().rows, 1);
            assert_eq!(session.execute(BlockOp::Lookup { key: ROWS + 1 }).unwrap().rows, 0);
            assert_eq!(session.execute(BlockOp::Scan).unwrap().rows, SCAN_ROWS);
            session.close();
        }
    });
}

/// A hash of each text column of one row.
fn hashes(server: &MySql, key: u64) -> Vec<String> {
    let columns: Vec<String> = (2..=20).map(|c| format!("SHA2(c{c}, 256)")).collect();
    let row = server.sql(&format!("SELECT {} FROM dyno_rows_1 WHERE custid = {key}", columns.join(", ")));
    row.split('\t').map(str::to_owned).collect()
}

#[test]
fn acknowledged_update_is_visible_to_all_sessions() {
    on_each_server(|server| {
        // Few enough that every row is checked.
        let spec = spec(1, 60, 0);
        let target = load_target(server, &spec);
        for (redo, columns) in [(Redo::Lite, vec![2, 20]), (Redo::Heavy, (2..=20).collect())] {
            for drive in [DriveMode::Client, DriveMode::Server] {
                let mut session = open_session(target.as_ref(), &spec, 3, drive, redo);
                let before = query_number(server, "SELECT SUM(ver) FROM dyno_rows_1");
                assert_eq!(session.verify_last_update().unwrap(), None);
                let mut previous_hashes = hashes(server, 15);
                for op in 0..10 {
                    let update = BlockOp::Update { first: 11, number: op };
                    let rows = match drive {
                        DriveMode::Client => session.execute(update).unwrap().rows,
                        DriveMode::Server => session.slice(&[update]).unwrap().rows_updated,
                    };
                    assert_eq!(rows, 10);
                    let stamp = format!("u000000000000beef00000003{op:016x}");
                    let new = format!("SELECT COUNT(*) FROM dyno_rows_1 WHERE c2 LIKE '{stamp}%'");
                    assert_eq!(query_number(server, &new), 10, "{redo:?} {op}");
                    let after = hashes(server, 15);
                    let changed: Vec<usize> =
                        (2..=20).filter(|c| after[c - 2] != previous_hashes[c - 2]).collect();
                    assert_eq!(changed, columns, "{redo:?} {drive:?} {op}");
                    previous_hashes = after;
                }
                let widths: Vec<String> = (2..=20).map(|c| format!("LENGTH(c{c}) = 128")).collect();
                let whole = format!("SELECT COUNT(*) FROM dyno_rows_1 WHERE {}", widths.join(" AND "));
                assert_eq!(query_number(server, &whole), 60);
                assert_eq!(query_number(server, "SELECT SUM(ver) FROM dyno_rows_1") - before, 100);
                assert_eq!(session.verify_last_update().unwrap(), Some((10, 10)));
                server.sql("UPDATE dyno_rows_1 SET c2 = REPEAT('x', 128) WHERE custid = 12");
                assert_eq!(session.verify_last_update().unwrap(), Some((10, 9)));
                session.close();
            }
        }
        // Changes by updates are accepted, but not the row that the test itself wrote.
        let error = target.block_data().unwrap().spot_check(&spec, 1).unwrap_err();
        assert!(error.message.contains("none of Dyno's values"), "{error}");
        let mut versions = Vec::new();
        target
            .durability_proof()
            .unwrap()
            .versions(&spec, &mut |row: &RowVersion<'_>| versions.push((row.key, row.version)))
            .unwrap();
        assert_eq!(versions.len(), 60);
        assert_eq!(versions.iter().map(|(_, version)| version).sum::<i64>(), 400);
    });
}

#[test]
fn slice_runs_its_operations_in_order() {
    on_each_server(|server| {
        let spec = spec(1, ROWS, SCAN_ROWS);
        let target = load_target(server, &spec);
        let mut session = open_session(target.as_ref(), &spec, 0, DriveMode::Server, Redo::Lite);
        let select = |first| BlockOp::Select { first };
        let slice_done = |[selected, looked_up, scanned]: [u64; 3], rows_updated, commits| SliceDone {
            rows_read: [selected, looked_up, scanned, 0],
            rows_updated,
            churned: (0, 0),
            commits,
        };
        assert_eq!(session.slice(&[]).unwrap(), SliceDone::default());
        assert_eq!(session.slice(&[select(1), select(296)]).unwrap(), slice_done([15, 0, 0], 0, 0));
        assert_eq!(
            session.slice(&[BlockOp::Lookup { key: 7 }, BlockOp::Lookup { key: 999 }]).unwrap(),
            slice_done([0, 1, 0], 0, 0)
        );
        assert_eq!(session.slice(&[BlockOp::Scan, BlockOp::Scan]).unwrap(), slice_done([0, 0, 80], 0, 0));
        let mixed = [
            select(1),
            BlockOp::Update { first: 21, number: 5 },
            BlockOp::Scan,
            BlockOp::Lookup { key: 3 },
            BlockOp::Update { first: 295, number: 6 },
        ];
        assert_eq!(session.slice(&mixed).unwrap(), slice_done([10, 1, 40], 16, 2));
        assert_eq!(session.verify_last_update().unwrap(), Some((6, 6)));
        assert_eq!(session.slice(&vec![select(5); 5000]).unwrap(), slice_done([50_000, 0, 0], 0, 0));
        session.close();
    });
}

/// Waits until data has arrived, as a thread that runs several sessions does.
fn wait_readable(duplex: &mut dyn Duplex) {
    let fd = duplex.socket().as_raw_fd();
    let path = format!("/proc/self/fd/{fd}");
    assert!(std::fs::symlink_metadata(path).is_ok());
}

/// Waits for the complete result of what was sent.
pub fn receive_all(duplex: &mut dyn Duplex) -> Result<RequestCompletion, Box<OpError>> {
    wait_readable(duplex);
    loop {
        if let Some(done) = duplex.receive()? {
            return Ok(done);
        }
    }
}

#[test]
fn duplex_session_answers_each_of_its_requests() {
    on_each_server(|server| {
        let spec = spec(1, ROWS, SCAN_ROWS);
        let target = load_target(server, &spec);
        let mut session = open_session(target.as_ref(), &spec, 0, DriveMode::Client, Redo::Lite);
        let requests = [
            (Some(BlockOp::Select { first: 5 }), 10),
            (None, 0),
            (Some(BlockOp::Scan), SCAN_ROWS),
            (Some(BlockOp::Update { first: 1, number: 9 }), 10),
            (Some(BlockOp::Lookup { key: 1 }), 1),
        ];
        for (op, rows) in requests {
            let duplex = session.session.duplex().expect("it has two halves");
            match op {
                Some(op) => {
                    session.operator.request(op, BlockOpSchema::Own, |request| duplex.send(request)).unwrap();
                }
                None => duplex.send(SessionRequest::Edge).unwrap(),
            }
            let response = receive_all(duplex).unwrap();
            assert_eq!(response.rows, rows, "{op:?}");
            op.into_iter().for_each(|op| session.operator.acknowledged(op, BlockOpSchema::Own));
        }
        assert_eq!(session.verify_last_update().unwrap(), Some((10, 10)));
        session.close();
    });
}

#[test]
fn mysql_errors_have_expected_class() {
    on_each_server(|server| {
        let spec = spec(1, ROWS, 0);
        let target = load_target(server, &spec);
        let mut session = open_session(target.as_ref(), &spec, 0, DriveMode::Client, Redo::Lite);
        session.execute(BlockOp::Update { first: 1, number: 1 }).unwrap();
        // A connection that another user kills is lost and can be reopened.
        let ids = server
            .sql("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'dyno' AND COMMAND = 'Sleep'");
        ids.lines().for_each(|id| drop(server.try_sql("dyno", &format!("KILL {id}"))));
        let lost = session.execute(BlockOp::Select { first: 1 }).unwrap_err();
        assert_eq!(lost.class, ErrorClass::Connection, "{lost}");
        session.session.reconnect().unwrap();
        assert_eq!(session.execute(BlockOp::Select { first: 1 }).unwrap().rows, 10);
        // A connection that another thread interrupts ends at once.
        session.session.interrupter().interrupt();
        assert_eq!(session.execute(BlockOp::Select { first: 1 }).unwrap_err().class, ErrorClass::Connection);
        session.session.reconnect().unwrap();
        // After a refused update the connection remains usable.
        server.sql("CREATE TRIGGER no BEFORE UPDATE ON dyno_rows_1 FOR EACH ROW SIGNAL SQLSTATE '45000'");
        let refused = session.execute(BlockOp::Update { first: 1, number: 2 }).unwrap_err();
        assert_eq!((refused.class, refused.code.as_str()), (ErrorClass::Fatal, "1644"), "{refused}");
        server.sql("DROP TRIGGER no");
        assert_eq!(session.execute(BlockOp::Select { first: 1 }).unwrap().rows, 10, "in step again");
        session.close();
        server.sql("DROP TABLE dyno_rows_1");
        let missing_table =
            try_open(target.as_ref(), &spec, 0, DriveMode::Client, Redo::Lite).err().expect("no table");
        assert_eq!(
            (missing_table.kind, missing_table.hint.contains("dyno load")),
            (TargetErrorKind::Data, true),
            "{missing_table}"
        );
    });
}

#[test]
fn conflicting_sessions_are_retried_not_failed() {
    on_each_server(|server| {
        let spec = spec(1, ROWS, 0);
        let target = load_target(server, &spec);
        let classes: Vec<ErrorClass> = std::thread::scope(|scope| {
            let work = |number: u32| {
                let mut session = open_session(target.as_ref(), &spec, number, DriveMode::Client, Redo::Lite);
                move || {
                    let mut classes = Vec::new();
                    for op in 0..300 {
                        // Each session uses the overlapping ranges in another order.
                        let first = if number == 0 { 1 + op % 7 } else { 8 - op % 7 };
                        if let Err(error) = session.execute(BlockOp::Update { first, number: op }) {
                            classes.push(error.class);
                        }
                    }
                    session.close();
                    classes
                }
            };
            let threads = [scope.spawn(work(0)), scope.spawn(work(1))];
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert!(classes.iter().all(|class| *class == ErrorClass::Retryable), "{classes:?}");
    });
}

#[test]
fn cpu_of_local_server_thread_is_known() {
    on_each_server(|server| {
        let spec = spec(1, ROWS, 0);
        let target = load_target(server, &spec);
        let processors = std::thread::available_parallelism().unwrap().get().max(64);
        let mut session = open_session(target.as_ref(), &spec, 0, DriveMode::Client, Redo::Lite);
        session.execute(BlockOp::Lookup { key: 1 }).unwrap();
        let processor = session.session.server_processor().expect("the server is a child of this test");
        assert!(processor < processors, "{processor}");
        session.close();
    });
}

#[test]
fn column_metadata_is_sent_once_unless_requested_each_time() {
    const LOOKUPS: u64 = 200;
    on_each_server(|server| {
        let spec = spec(1, ROWS, SCAN_ROWS);
        load_target(server, &spec);
        let sent = |word: &str| -> u64 {
            let url = format!("{}?ssl-mode=DISABLED&result-metadata={word}", server.url());
            let target = target_at(&url);
            let metadata_mode = target.identify().unwrap().settings["dyno.result_metadata"].clone();
            assert!(
                metadata_mode.starts_with(if word == "once" { "once" } else { "with each" }),
                "{metadata_mode}"
            );
            let mut session = open_session(target.as_ref(), &spec, 0, DriveMode::Client, Redo::Lite);
            // Definitions that are sent once have been sent by now.
            assert_eq!(session.execute(BlockOp::Lookup { key: 1 }).unwrap().rows, 1);
            let schema = if server.is_mariadb() { "information_schema" } else { "performance_schema" };
            let bytes_sent = format!(
                "SELECT VARIABLE_VALUE FROM {schema}.global_status WHERE VARIABLE_NAME = 'Bytes_sent'"
            );
            let bytes = || query_number(server, &bytes_sent);
            let before = bytes();
            for key in 1..=LOOKUPS {
                assert_eq!(session.execute(BlockOp::Lookup { key }).unwrap().rows, 1);
            }
            assert_eq!(session.execute(BlockOp::Scan).unwrap().rows, SCAN_ROWS);
            let bytes = bytes() - before;
            session.close();
            bytes
        };
        let (once, each) = (sent("once"), sent("each"));
        // A definition names the column, its table and its database, twice each: over fifty bytes.
        assert!(once + 50 * LOOKUPS < each, "{once} bytes once, {each} with each answer");
    });
}
