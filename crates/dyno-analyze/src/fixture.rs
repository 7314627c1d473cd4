//! Handwritten records whose figures agree, for tests here and in crates that show records.
//!
//! Both describe ten seconds of four sessions. Every figure follows from the few at the top, so a
//! test can spoil one figure and everything else remains consistent.

use std::collections::BTreeMap;
use std::time::Duration;

use dyno_plan::{
    Arrivals, BlockCount, BlocksOrBytes, DataSettings, DataSpec, ObserveSettings, PLAN_VERSION, Plan, Rate,
    RunSettings, TargetSettings, TimeSpan, WorkloadSettings,
};
use dyno_record::window::LifetimeTotals;
use dyno_record::{
    BlocksPerReadRequest, Class, ClassShare, Counter, CounterDelta, Counters, CountingRules, ForeignActivity,
    Histogram, Host, Identity, Metric, OpStats, Role, RowCounters, RowEffect, RowRules, RunRecord, Series,
    SeriesPoint, StartGate, Status, TableCounters, TargetFacts, Transactions, Unit, WaitTime, Waits, Window,
};

/// Length of the window, s.
pub const SECONDS: u64 = 10;
/// Sessions of the run, in one schema.
pub const SESSIONS: u32 = 4;
/// Rows per `select` and `update`.
pub const WORK_UNIT: u64 = 64;
/// Rows of the scanned table.
const SCAN_ROWS: u64 = 500;
/// Share of updates in the mix, %.
const UPDATE_PCT: u32 = 20;
/// Selects completed in the window.
pub const SELECTS: u64 = 8_000;
/// Updates completed in the window.
pub const UPDATES: u64 = 2_000;
/// Service time of each operation, µs: all sessions are busy in 98 % of the time.
pub const SERVICE_US: u64 = 3_920;
/// Length of the whole run with warm-up and drain, as a multiple of the window.
const WHOLE_FACTOR: u64 = 2;

fn span(seconds: u64) -> TimeSpan {
    TimeSpan(Duration::from_secs(seconds))
}

/// The plan of both records.
pub fn plan(url: &str) -> Plan {
    Plan {
        version: PLAN_VERSION,
        target: TargetSettings {
            url: url.to_owned().try_into().expect("the fixture's URL is well formed"),
            connect_timeout: span(10),
            ..TargetSettings::default()
        },
        data: DataSettings {
            schemas: 1,
            scale: BlocksOrBytes::Blocks(BlockCount(10_000)),
            scan_scale: BlocksOrBytes::Blocks(BlockCount(500)),
            seed: 1,
            load_parallel: 2,
            copy_schemas: false,
            ..DataSettings::default()
        },
        workload: WorkloadSettings {
            update_pct: UPDATE_PCT,
            arrivals: Arrivals::Constant,
            seed: Some(1),
            ..WorkloadSettings::default()
        },
        run: RunSettings {
            sessions_per_schema: SESSIONS,
            warmup: span(2),
            time: Some(span(SECONDS)),
            drain: span(10),
            drop_page_cache: false,
            on_lost: dyno_plan::OnLost::Fail,
            ..RunSettings::default()
        },
        observe: ObserveSettings { interval: span(1), waits: Some(Rate(10.0)), ..ObserveSettings::default() },
        hooks: Default::default(),
        sweep: Default::default(),
    }
}

fn op_stats(count: u64, rows: u64, service_us: u64) -> OpStats {
    let mut histogram = Histogram::new();
    for i in 0..count {
        // A spread of ± 50 % around the mean, so that percentiles differ.
        let per_mille = 500 + (i * 1_000) / count.max(2).saturating_sub(1);
        histogram.record_ns(service_us * per_mille);
    }
    let service = histogram.summary();
    OpStats {
        count,
        errors: 0,
        rate_per_s: count as f64 / SECONDS as f64,
        before: 0.0,
        rows,
        rows_before: 0.0,
        rolled_back: 0,
        empty_polls: 0,
        tallied: 0,
        retries: 0,
        write_statements: 0,
        empty_writes: 0,
        in_doubt: 0,
        response_us: service.clone(),
        service_us: service,
        untimed: None,
    }
}

/// The delta of a counter that increased by `delta`.
pub fn moved(counter: Counter, delta: u64) -> CounterDelta {
    CounterDelta::Moved { begin: 1_000, end: 1_000 + delta, delta: delta as i64, unit: counter.unit() }
}

/// Every portable counter: those in `told` have deltas, the others are absent with a reason.
fn portable(deltas: &[(Counter, u64)]) -> BTreeMap<Counter, CounterDelta> {
    let mut counters: BTreeMap<_, _> = Counter::ALL
        .into_iter()
        .map(|c| (c, CounterDelta::Absent { absent: "this version does not count it".into() }))
        .collect();
    counters.extend(deltas.iter().map(|&(counter, delta)| (counter, moved(counter, delta))));
    counters
}

fn postgres_counters(factor: u64) -> Counters {
    let (selects, updates) = (SELECTS * factor, UPDATES * factor);
    let rows = (selects + updates) * WORK_UNIT;
    let portable = portable(&[
        (Counter::LogicalReads, rows + rows / 10),
        (Counter::PhysicalReads, 20_000 * factor),
        (Counter::PhysicalReadBytes, 20_000 * 8_192 * factor),
        (Counter::RedoBytes, updates * WORK_UNIT * 400),
        (Counter::RedoSyncs, updates / 2),
        // Three are Dyno's own.
        (Counter::Commits, selects + updates + 3),
        (Counter::RowsRead, rows),
        (Counter::RowsWritten, updates * WORK_UNIT),
        (Counter::DbTime, SECONDS * 3_000_000 * factor),
    ]);
    let native = BTreeMap::from([
        ("dyno.own_commits".to_owned(), 3.0),
        ("dyno.rows.heap_blks_hit".to_owned(), (rows - 20_000 * factor) as f64),
        ("dyno.rows.heap_blks_read".to_owned(), (20_000 * factor) as f64),
        ("dyno.rows.n_tup_upd".to_owned(), (updates * WORK_UNIT) as f64),
    ]);
    let run_counters = BTreeMap::from([
        (Counter::LogicalReads, (rows + rows / 10) as i64),
        (Counter::PhysicalReads, (20_000 * factor) as i64),
        (Counter::PhysicalReadBytes, (20_000 * 8_192 * factor) as i64),
    ]);
    let nobody = [Counter::Commits, Counter::LogicalReads, Counter::PhysicalReads, Counter::RowsWritten];
    let elsewhere = nobody.into_iter().map(|counter| (counter, 0)).collect();
    let observer = BTreeMap::from([(Counter::LogicalReads, 0), (Counter::PhysicalReads, 0)]);
    Counters { portable, native, own: run_counters, elsewhere, observer, ..Counters::default() }
}

fn sqlite_counters(factor: u64) -> Counters {
    let updates = UPDATES * factor;
    let rows = (SELECTS * factor + updates) * WORK_UNIT;
    let portable = portable(&[
        (Counter::LogicalReads, rows * 2),
        (Counter::PhysicalReads, 20_000 * factor),
        (Counter::PhysicalReadRequests, 20_000 * factor),
        (Counter::RedoBytes, updates * WORK_UNIT * 4_120),
        (Counter::RedoSyncs, updates),
        (Counter::Commits, updates),
        (Counter::RowsWritten, updates * WORK_UNIT),
    ]);
    Counters { portable, ..Counters::default() }
}

fn metrics() -> BTreeMap<String, Metric> {
    let seconds = SECONDS as f64;
    let rows = (SELECTS + UPDATES) * WORK_UNIT;
    let values = [
        ("ops_per_s", (SELECTS + UPDATES) as f64 / seconds, Unit::PerSecond),
        ("rows_per_s", rows as f64 / seconds, Unit::RowsPerSecond),
        ("logical_reads_per_s", rows as f64 * 1.1 / seconds, Unit::BlocksPerSecond),
        ("physical_reads_per_s", 2_000.0, Unit::BlocksPerSecond),
        ("physical_read_mb_per_s", 16.384, Unit::MegabytesPerSecond),
        ("redo_mb_per_s", 5.12, Unit::MegabytesPerSecond),
        ("redo_syncs_per_s", 100.0, Unit::PerSecond),
        ("commits_per_s", 1_000.0, Unit::PerSecond),
        ("buffer_hit_pct", 97.2, Unit::Percent),
        ("cpu_busy_pct", 61.5, Unit::Percent),
        ("cpu_user_pct", 41.0, Unit::Percent),
        ("cpu_sys_pct", 18.0, Unit::Percent),
        ("cpu_iowait_pct", 7.5, Unit::Percent),
    ];
    let mut metrics: BTreeMap<_, _> = values
        .into_iter()
        .map(|(name, value, unit)| (name.to_owned(), Metric::Value { value, unit }))
        .collect();
    let absent = Metric::Absent { absent: "version 15 does not count read requests".into() };
    metrics.insert("physical_read_requests_per_s".into(), absent);
    metrics
}

fn series() -> Series {
    let ops = (SELECTS + UPDATES) / SECONDS;
    let point = |second: u64| SeriesPoint {
        slowest: None,
        at_s: second as f64,
        seconds: 1.0,
        ops,
        errors: 0,
        p50_us: Some(3_900.0),
        p99_us: Some(5_800.0 + 100.0 * second as f64),
        max_us: Some(7_000.0),
        metrics: BTreeMap::new(),
        bands: vec![(21, ops - ops / 50), (22, ops / 50)],
    };
    Series { interval_s: 1.0, points: (0..SECONDS).map(point).collect(), full: None }
}

/// Adds the counters of the database's own writes, and `writes` of 8 KiB each on its device.
#[cfg(test)]
pub(crate) fn device_writes(record: &mut RunRecord, writes: f64) {
    for (counter, value) in [
        (Counter::PhysicalWrites, 5_000),
        (Counter::PhysicalWriteBytes, 5_000 * 8_192),
        (Counter::RedoWrites, 1_000),
    ] {
        record.counters.portable.insert(counter, moved(counter, value));
    }
    record.hosts[0].counters.insert("device.vda.writes".into(), writes);
    record.hosts[0].counters.insert("device.vda.write_bytes".into(), writes * 8_192.0);
    let rate = |value, unit| dyno_record::Metric::Value { value, unit };
    record.metrics.insert("device_writes_per_s".into(), rate(writes / SECONDS as f64, Unit::PerSecond));
}

fn host(block_size: u64) -> Host {
    Host {
        name: "db1".into(),
        roles: [Role::Driver, Role::Database].into(),
        kernel: "Linux 6.1.0 x86_64".into(),
        os: "Debian GNU/Linux 12 (bookworm)".into(),
        cpu_model: "A Processor @ 2.10GHz".into(),
        cpus: 8,
        cpus_allowed: 8,
        numa_nodes: 1,
        memory_bytes: 16 << 30,
        facts: BTreeMap::from([
            ("place.data.device".into(), "vda".into()),
            ("sysctl.vm.swappiness".into(), "60".into()),
        ]),
        mounts: BTreeMap::from([("/data".into(), "/dev/vda1 ext4 rw,relatime".into())]),
        counters: BTreeMap::from([
            ("device.vda.reads".into(), 20_100.0),
            ("device.vda.read_bytes".into(), 20_100.0 * block_size as f64),
            ("process.cpu_s".into(), 0.9),
            ("own.cpu_s".into(), 0.9),
            ("server.cpu_s".into(), 5.1),
            ("kernel.cpu_s".into(), 0.1),
            ("others.cpu_s".into(), 0.3),
            ("others.sshd.cpu_s".into(), 0.2),
            ("processors.capacity_s".into(), 40.0),
            ("processors.busy_s".into(), 6.4),
            ("processors.steal_s".into(), 0.0),
        ]),
        observed: None,
    }
}

fn whole(counters: Counters) -> LifetimeTotals {
    let (selects, updates) = (SELECTS * WHOLE_FACTOR, UPDATES * WHOLE_FACTOR);
    LifetimeTotals {
        ops: BTreeMap::from([("select".into(), selects), ("update".into(), updates)]),
        rows_read: selects * WORK_UNIT,
        rows_updated: updates * WORK_UNIT,
        rows_inserted: 0,
        rows_deleted: 0,
        rows_left: None,
        commits: updates,
        transactions: None,
        unproven_commits: 0,
        empty_commits: 0,
        errors: 0,
        verified_rows: (u64::from(SESSIONS) * WORK_UNIT, u64::from(SESSIONS) * WORK_UNIT),
        counters,
    }
}

/// The classes of the classic method; each operation belongs to one.
fn classes() -> Vec<Class> {
    let make_class = |name: &str, plural: &str, rows, rows_per_op, percent, of_reads: bool| Class {
        name: name.into(),
        plural: plural.into(),
        rows,
        mixed: false,
        rows_per_op: Some((rows_per_op, rows_per_op)),
        scans: name == "scan",
        commits: u64::from(!of_reads),
        share: ClassShare {
            percent,
            of_reads,
            turned: if rows_per_op == 1 && !of_reads { 1_000 } else { 0 },
        },
        workload: 0,
    };
    vec![
        make_class("select", "selects", RowEffect::Read, WORK_UNIT, None, true),
        make_class("lookup", "lookups", RowEffect::Read, 1, Some(0), true),
        make_class("scan", "scans", RowEffect::Read, SCAN_ROWS, Some(0), true),
        make_class("update", "updates", RowEffect::Updated, WORK_UNIT, Some(UPDATE_PCT), false),
        make_class("insert", "inserts", RowEffect::Inserted, 1, Some(0), false),
        make_class("delete", "deletes", RowEffect::Deleted, 1, Some(0), false),
    ]
}

fn record(
    url: &str,
    engine: &str,
    identity: Identity,
    block_size: u64,
    counters: [Counters; 2],
) -> RunRecord {
    let [in_window, in_whole] = counters;
    let data = DataSpec {
        schemas: 1,
        rows: 10_000,
        scan_rows: SCAN_ROWS,
        block_size,
        compressible: 0,
        seed: 1,
        secondary: false,
        copied: false,
    };
    let operations = SELECTS + UPDATES;
    let ops = [
        ("all", op_stats(operations, operations * WORK_UNIT, SERVICE_US)),
        ("select", op_stats(SELECTS, SELECTS * WORK_UNIT, SERVICE_US)),
        ("update", op_stats(UPDATES, UPDATES * WORK_UNIT, SERVICE_US)),
        ("commit", op_stats(UPDATES, 0, 300)),
    ];
    RunRecord {
        id: "20260321-142501-7f3a".into(),
        started_at: "2026-03-21T14:25:01Z".into(),
        ended_at: "2026-03-21T14:25:14Z".into(),
        dyno_version: "0.1.0".into(),
        targets: vec![TargetFacts {
            url: url.into(),
            engine: engine.into(),
            identity,
            data: Some(data),
            ..TargetFacts::default()
        }],
        hosts: vec![host(block_size)],
        gate: StartGate {
            sessions: SESSIONS,
            skew_us_max: 140.0,
            connect_s: 0.05,
            threads: SESSIONS,
            placement: None,
        },
        window: Some(Window {
            seconds: SECONDS as f64,
            work_s: Some(SECONDS as f64),
            begin: "2026-03-21T14:25:03Z".into(),
            end: "2026-03-21T14:25:13Z".into(),
            snapshot_us: (900.0, 1_100.0),
            edge_us_max: (4_000.0, 3_800.0),
            busy_s: operations as f64 * SERVICE_US as f64 / 1e6,
            stall_us_max: 1_200.0,
            ..Window::default()
        }),
        workload: None,
        classes: classes(),
        ops: ops.into_iter().map(|(name, stats)| (name.to_owned(), stats)).collect(),
        metrics: metrics(),
        counters: in_window,
        whole: Some(whole(in_whole)),
        waits: Waits::Sampled {
            samples: 100,
            asked_per_s: 10.0,
            average_active_sessions: 3.1,
            events: vec![
                WaitTime { class: "CPU".into(), event: "CPU".into(), average_sessions: 2.0, share_pct: 64.5 },
                WaitTime {
                    class: "IO".into(),
                    event: "DataFileRead".into(),
                    average_sessions: 1.1,
                    share_pct: 35.5,
                },
            ],
            company: ForeignActivity::Sampled { average_active_sessions: 0.0, seen: Vec::new() },
        },
        series: series(),
        ..RunRecord::blank(Status::Valid, plan(url))
    }
}

/// Counting rules of a platform whose sessions flush their counters on request.
fn at_edges() -> CountingRules {
    CountingRules { at_edges: true, unseen_s: 0.0, unseen_after_end_s: 0.0, ..CountingRules::default() }
}

/// Counting rules of a server that counts each table separately.
fn counting_by_table() -> CountingRules {
    let of_rows = |names: [&str; 2]| names.map(|name| format!("dyno.rows.{name}")).to_vec();
    CountingRules {
        held_back_s: Some(1.0),
        for_server: vec![Counter::PhysicalWrites, Counter::PhysicalWriteBytes, Counter::RedoBytes],
        for_test_tables: vec![Counter::RowsRead, Counter::RowsWritten],
        transactions: Transactions::Calls,
        commit_settings: vec!["fsync".into(), "synchronous_commit".into()],
        rows: RowRules {
            by_kind: Some(RowCounters::named(
                "dyno.rows.n_tup_upd",
                "dyno.rows.n_tup_ins",
                "dyno.rows.n_tup_del",
            )),
            ..RowRules::default()
        },
        tables: Some(TableCounters {
            blocks: of_rows(["heap_blks_hit", "heap_blks_read"]),
            fetched: of_rows(["idx_tup_fetch", "bitmap_tup_fetch"]),
        }),
        requests: BlocksPerReadRequest::bring(16.0, "up to io_combine_limit are read with one request"),
        ..at_edges()
    }
}

/// A valid run on PostgreSQL 15 on the driving host, 20 % updates.
pub fn postgres() -> RunRecord {
    let identity = Identity {
        product: "PostgreSQL".into(),
        version: "15.10 (Debian 15.10-0+deb12u1)".into(),
        block_size: 8_192,
        settings: BTreeMap::from([
            ("fsync".into(), "on".into()),
            ("shared_buffers".into(), "128MB".into()),
            ("synchronous_commit".into(), "on".into()),
        ]),
        non_default: vec!["shared_buffers".into()],
        data_path: Some("/data/pg".into()),
        redo_path: None,
        same_host: true,
        counting: counting_by_table(),
        ..Identity::default()
    };
    let counters = [postgres_counters(1), postgres_counters(WHOLE_FACTOR)];
    record("postgres://dyno@db1/bench", "postgres", identity, 8_192, counters)
}

/// A valid run on SQLite, 20 % updates.
pub fn sqlite() -> RunRecord {
    let identity = Identity {
        product: "SQLite".into(),
        version: "3.50.2".into(),
        settings: BTreeMap::from([
            ("journal_mode".into(), "wal".into()),
            ("synchronous".into(), "full".into()),
        ]),
        data_path: Some("/data/dyno.db".into()),
        same_host: true,
        counting: CountingRules {
            held_back_s: Some(0.25),
            transactions: Transactions::Commits,
            empty_commits: Some(false),
            workers_commit: false,
            commit_settings: vec!["synchronous".into(), "journal_mode".into()],
            requests: BlocksPerReadRequest::bring(1.0, "each page is read with a request of its own"),
            in_process: true,
            ..at_edges()
        },
        ..Identity::default()
    };
    let counters = [sqlite_counters(1), sqlite_counters(WHOLE_FACTOR)];
    record("sqlite:/data/dyno.db", "sqlite", identity, 4_096, counters)
}

/// A run of a sweep with this percentage of updates and this many sessions.
pub fn at_point((updates, sessions): (u32, u32)) -> RunRecord {
    let mut record = postgres();
    record.id = format!("{updates}-{sessions}");
    record.plan.workload.update_pct = updates;
    record.plan.run.sessions_per_schema = sessions;
    record.gate.sessions = sessions;
    record
}
