//! Tests SQLite without the page cache: the database is unchanged, and reads reach the device.

use crate::common::*;
use dyno_engine::{BlockOp, BlockSessionConfig};
use dyno_plan::{DataSpec, Redo};
use dyno_record::{Counter, Counters};
use proptest::prelude::*;

/// Executes a fixed mix of operations in several sessions, and returns every row afterwards.
fn work(parameters: &str, redo: Redo, updates: &[u64]) -> Vec<(i64, i64, String, String)> {
    let folder = folder();
    let spec = DataSpec { schemas: 1, rows: 200, scan_rows: 20, ..spec() };
    let target = open(&url(&file(&folder), parameters));
    load(target.as_ref(), &spec).unwrap();
    for (number, chunk) in updates.chunks(8).enumerate() {
        let setup = BlockSessionConfig { redo, ..setup(&spec, number as u32) };
        let mut session = opened(target.as_ref(), &setup).unwrap();
        for (number, &first) in (0..).zip(chunk) {
            session.execute(BlockOp::Update { first, number }).unwrap();
            assert_eq!(session.execute(BlockOp::Select { first }).unwrap().rows, 16);
        }
        assert_eq!(session.execute(BlockOp::Scan).unwrap().rows, 20);
        session.close();
    }
    let conn = plain_connection(&file(&folder));
    let check: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok", "{parameters}");
    rows(&conn, "dyno_rows_1")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn direct_io_database_behaves_like_an_ordinary_one(
        updates in prop::collection::vec(1u64..=185, 1..40),
        heavy: bool,
    ) {
        let redo = if heavy { Redo::Heavy } else { Redo::Lite };
        let ordinary = work("", redo, &updates);
        for parameters in [
            "direct=on&cache=64K&checkpoint=10",
            "direct=on&cache=64K&checkpoint=0",
            "direct=on&cache=64K&journal=delete&sync=off",
            "direct=on&cache=64K&journal=truncate&sync=off",
            "direct=on&cache=64K&journal=persist&sync=off",
            "direct=on&cache=64K&journal=memory&sync=off",
        ] {
            prop_assert!(work(parameters, redo, &updates) == ordinary, "{} gives other rows", parameters);
        }
    }
}

/// Bytes that were read from storage for this thread; other tests may read at the same time.
fn device_read_bytes() -> u64 {
    let io = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    let line = io.lines().find_map(|line| line.strip_prefix("read_bytes: ")).unwrap();
    line.parse().unwrap()
}

#[test]
fn direct_reads_reach_the_device() {
    let folder = folder();
    let spec = DataSpec { schemas: 1, rows: 3_000, scan_rows: 0, block_size: 8192, ..spec() };
    let target = open(&url(&file(&folder), "direct=on&cache=64K"));
    load(target.as_ref(), &spec).unwrap();
    let mut observer = target.observer(&spec).unwrap();
    let mut session = session(target.as_ref(), &spec, 0);
    // While a session exists, the first snapshot opens a connection after it has its counts, and that reads
    // the file's first page.
    observer.snapshot().unwrap();
    let (begin, device_begin) = (observer.snapshot().unwrap(), device_read_bytes());
    for first in (1..2_900).step_by(16) {
        session.execute(BlockOp::Select { first }).unwrap();
    }
    let (end, device_end) = (observer.snapshot().unwrap(), device_read_bytes());
    let counters = Counters::between(&begin, &end);
    let bytes = counters.get(Counter::PhysicalReadBytes).unwrap() as u64;
    assert!(bytes >= 2_800 * 8192, "{bytes} bytes read");
    let device = device_end - device_begin;
    // The file system may have read something of its own in addition.
    assert!(device >= bytes, "{device} bytes came from the device, the VFS counted {bytes}");
}

#[test]
fn direct_and_ordinary_connections_see_each_other() {
    let folder = folder();
    let spec = spec();
    let direct = open(&url(&file(&folder), "direct=on&journal=delete&sync=off"));
    load(direct.as_ref(), &spec).unwrap();
    let ordinary = open(&url(&file(&folder), "journal=delete&sync=off"));
    let mut a = session(direct.as_ref(), &spec, 0);
    let mut b = session(ordinary.as_ref(), &spec, 1);
    for number in 0..40 {
        a.execute(BlockOp::Update { first: 1, number }).unwrap();
        b.execute(BlockOp::Update { first: 1, number }).unwrap();
        assert_eq!(a.execute(BlockOp::Select { first: 1 }).unwrap().rows, 16);
    }
    let versions = "SELECT SUM(ver) FROM dyno_rows_1";
    let sum: i64 = plain_connection(&file(&folder)).query_row(versions, [], |row| row.get(0)).unwrap();
    assert_eq!(sum, 80 * 16);
}

#[test]
fn missing_o_direct_support_is_reported() {
    // procfs exists on every Linux and does not support O_DIRECT.
    let target = open("sqlite:/proc/self/status?direct=on");
    let error = target.block_data().unwrap().survey().unwrap_err();
    assert!(error.message.contains("/status cannot be opened with O_DIRECT"), "{error}");
    assert!(error.hint.contains("direct=off"), "{}", error.hint);
}
