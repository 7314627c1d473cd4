//! Sample records for the tests of this crate.

use std::collections::BTreeMap;

use crate::*;

const PLAN: &str = r#"{
    "version": 1,
    "target": {"url": "postgres://dyno@db1/bench", "connect_timeout": "10s"},
    "data": {"schemas": 2, "scale": "80M", "scan_scale": "0 blocks", "compressible": 0, "seed": 1, "load_parallel": 2},
    "workload": {"update_pct": 20, "scan_pct": 0, "lookup_pct": 0, "work_unit": 64, "redo": "lite", "drive": "client",
                 "arrivals": "constant", "seed": 7},
    "run": {"sessions_per_schema": 4, "warmup": "2s", "time": "10s", "drain": "5s"},
    "observe": {"interval": "1s", "waits": "10/s"}
}"#;

pub(crate) fn plan() -> dyno_plan::Plan {
    serde_json::from_str(PLAN).unwrap()
}

/// A run that ended before any measurement.
pub(crate) fn minimal() -> RunRecord {
    RunRecord {
        id: "20260321-142501-7f3a".into(),
        started_at: "2026-03-21T14:25:01.000000Z".into(),
        ended_at: "2026-03-21T14:25:02.000000Z".into(),
        dyno_version: "0.1.0".into(),
        waits: Waits::Absent { absent: "the run ended before any was sampled".into() },
        ..RunRecord::blank(Status::Failed, plan())
    }
}

fn latency() -> Latency {
    let mut histogram = Histogram::new();
    (1..=1_000).for_each(|us| histogram.record_ns(us * 1_000));
    histogram.summary()
}

fn counters() -> Counters {
    let (mut begin, mut end) = (Snapshot::default(), Snapshot::default());
    begin.set(Counter::LogicalReads, 1_000);
    end.set(Counter::LogicalReads, 641_000);
    end.set_absent(Counter::RedoSyncTime, "track_wal_io_timing is off");
    begin.native.insert("pg_stat_database.blks_hit".into(), 0.0);
    end.native.insert("pg_stat_database.blks_hit".into(), 640_000.0);
    begin.epochs.insert("server start".into(), "a".into());
    end.epochs.insert("server start".into(), "b".into());
    let mut histogram = Histogram::new();
    begin.latencies.insert("read".into(), Histogram::new());
    histogram.record_ns(80_000);
    end.latencies.insert("read".into(), histogram);
    Counters::between(&begin, &end)
}

fn target() -> TargetFacts {
    TargetFacts {
        url: "postgres://dyno@db1/bench".into(),
        engine: "postgres".into(),
        identity: Identity {
            product: "PostgreSQL".into(),
            version: "18.4".into(),
            block_size: 8_192,
            settings: BTreeMap::from([("shared_buffers".into(), "16384 8kB".into())]),
            non_default: vec!["shared_buffers".into()],
            data_path: Some("/srv/pg".into()),
            redo_path: None,
            same_host: true,
            counting: CountingRules {
                at_edges: true,
                for_server: vec![Counter::RedoBytes],
                ..CountingRules::default()
            },
            ..Identity::default()
        },
        data: Some(dyno_plan::DataSpec {
            schemas: 2,
            rows: 10_240,
            scan_rows: 0,
            block_size: 8_192,
            compressible: 0,
            seed: 1,
            secondary: false,
            copied: false,
        }),
        data_note: None,
        instances: vec![
            InstanceLoad {
                instance: Some("orcl1".into()),
                sessions: 3,
                ops: 7_500,
                service_p99_us: Some(250.125),
            },
            InstanceLoad { sessions: 1, ops: 2_500, ..InstanceLoad::default() },
        ],
        own: None,
    }
}

fn profile() -> CpuProfile {
    let process =
        ProcessShare { name: "postgres".into(), kind: CpuKind::Database, samples: 990, share_pct: 100.0 };
    let frame =
        |name: &str, module: &str, kind| StackFrame { name: name.into(), module: module.into(), kind };
    CpuProfile {
        host: "db1".into(),
        database: DatabaseIn::Processes,
        event: "cpu-clock".into(),
        frequency_hz: 99,
        seconds: 10.000_123,
        cpus: 2,
        samples: 990,
        idle_samples: 990,
        weight: 9_999_999_900,
        covered_pct: Some(100.0),
        processes: vec![process],
        symbols: vec![SymbolShare {
            process: "postgres".into(),
            process_kind: CpuKind::Database,
            symbol: "hash_search".into(),
            module: "/usr/lib/postgresql/bin/postgres".into(),
            kind: CpuKind::Database,
            samples: 990,
            share_pct: 100.0,
        }],
        frames: vec![
            frame("postgres", "", CpuKind::Database),
            frame("hash_search", "/usr/lib/postgresql/bin/postgres", CpuKind::Database),
        ],
        stacks: [0, 1].map(|at| StackNode { depth: at, frame: at, weight: 9_999_999_900 }).to_vec(),
        ..CpuProfile::default()
    }
}

/// A run that has every optional part.
pub(crate) fn full() -> RunRecord {
    let all = OpStats {
        count: 10_000,
        errors: 1,
        rate_per_s: 1_000.5,
        before: 1.25,
        rows: 640_000,
        rows_before: 80.0,
        rolled_back: 2,
        empty_polls: 0,
        tallied: 3,
        retries: 4,
        write_statements: 9,
        empty_writes: 2,
        in_doubt: 1,
        service_us: latency(),
        response_us: latency(),
        untimed: Some("commits inside the server have no time of their own".into()),
    };
    let value = |value, unit| Metric::Value { value, unit };
    let metrics = BTreeMap::from([
        ("logical_reads_per_s".to_owned(), value(64_000.0, Unit::BlocksPerSecond)),
        ("physical_reads_per_s".to_owned(), value(1_200.25, Unit::BlocksPerSecond)),
        ("redo_bytes_per_s".to_owned(), value(2_500_000.0, Unit::BytesPerSecond)),
        ("redo_syncs_per_s".to_owned(), Metric::Absent { absent: "the engine does not report it".into() }),
    ]);
    let point = SeriesPoint {
        at_s: 0.0,
        seconds: 1.0,
        ops: 1_000,
        errors: 0,
        p50_us: Some(500.0),
        p99_us: Some(990.0),
        max_us: None,
        metrics: BTreeMap::from([("logical_reads_per_s".to_owned(), 64_000.0)]),
        bands: vec![(16, 990), (17, 10)],
        slowest: None,
    };
    let check = AuditCheck {
        check: "commits".into(),
        status: CheckStatus::Pass,
        expected: "6,400".into(),
        observed: "6,400".into(),
        detail: "6,400 acknowledged, database counted 6,400".into(),
    };
    let error = ErrorTally {
        class: "retryable".into(),
        code: "40001".into(),
        message: "could not serialize access".into(),
        count: 1,
        reconnects: 0,
        retried: 0,
        in_doubt: 0,
    };
    RunRecord {
        status: Status::Valid,
        variant: Some("ext4".into()),
        tags: vec!["nightly".into()],
        targets: vec![target()],
        hosts: vec![Host {
            name: "db1".into(),
            roles: [Role::Driver, Role::Database].into(),
            cpus: 2,
            mounts: BTreeMap::from([("data".into(), "/dev/vda ext4 rw,relatime".into())]),
            counters: BTreeMap::from([("cpu.busy_pct".to_owned(), 87.125)]),
            ..Host::default()
        }],
        gate: StartGate { sessions: 8, skew_us_max: 41.5, connect_s: 0.02, threads: 8, placement: None },
        window: Some(Window { seconds: 10.000_123, late_us_max: Some(3.0), ..Window::default() }),
        ops: BTreeMap::from([("all".to_owned(), all.clone()), ("select".to_owned(), all)]),
        metrics,
        counters: counters(),
        whole: Some(window::LifetimeTotals {
            commits: 6_400,
            counters: counters(),
            ..window::LifetimeTotals::default()
        }),
        waits: Waits::Sampled {
            samples: 100,
            asked_per_s: 10.0,
            average_active_sessions: 7.5,
            events: vec![WaitTime {
                class: "IO".into(),
                event: "WalSync".into(),
                average_sessions: 2.5,
                share_pct: 33.3,
            }],
            company: ForeignActivity::Sampled {
                average_active_sessions: 0.5,
                seen: vec![OtherSessions {
                    database: "shop".into(),
                    program: "psql".into(),
                    here: false,
                    average_sessions: 0.5,
                }],
            },
        },
        profile: Some(Profile::Taken(Box::new(profile()))),
        series: Series { interval_s: 1.0, points: vec![point], full: None },
        errors: vec![error],
        audit: vec![check],
        ..minimal()
    }
}

/// A run over two targets, the second with reads only.
pub(crate) fn several() -> RunRecord {
    let single = full();
    let target_part = |sessions, reads_only: Option<&str>| TargetFigures {
        sessions,
        reads_only: reads_only.map(str::to_owned),
        gate: single.gate.clone(),
        window: single.window.clone(),
        ops: single.ops.clone(),
        metrics: single.metrics.clone(),
        counters: single.counters.clone(),
        whole: single.whole.clone(),
        host_counters: BTreeMap::from([("device.vda.reads".to_owned(), 12.0)]),
        waits: single.waits.clone(),
        statements: None,
        tables: None,
        series: single.series.clone(),
        errors: single.errors.clone(),
        whose: Default::default(),
        audit: single.audit.clone(),
    };
    let mut record = full();
    let urls = ["postgres://dyno@db1/bench", "postgres://dyno@db2/bench"];
    record.plan.target.urls = urls.map(|url| url.parse().unwrap()).to_vec();
    record.plan.target.data = dyno_plan::DataSharing::Shared;
    let standby = target_part(3, Some("it is a standby in recovery"));
    record.targets = vec![
        TargetFacts { own: Some(Box::new(target_part(5, None))), ..target() },
        TargetFacts { url: urls[1].into(), own: Some(Box::new(standby)), ..target() },
    ];
    record.hosts[0].facts = BTreeMap::from([
        ("place.target_1.data.device".to_owned(), "vda".to_owned()),
        ("place.target_2.data.device".to_owned(), "vdb".to_owned()),
        ("sysctl.vm.swappiness".to_owned(), "60".to_owned()),
    ]);
    record
}

/// A run in which every optional figure is absent.
pub(crate) fn absent() -> RunRecord {
    let absent = |reason: &str| Metric::Absent { absent: reason.into() };
    let ops = OpStats { count: 3, untimed: Some("the loop ran in the server".into()), ..OpStats::default() };
    RunRecord {
        status: Status::Interrupted,
        reasons: vec!["stopped by the user after 1.5 s of 10 s".into()],
        window: Some(Window { seconds: 1.5, ..Window::default() }),
        ops: BTreeMap::from([("all".to_owned(), ops)]),
        metrics: BTreeMap::from([
            ("cpu_busy_pct".to_owned(), absent("the database runs on another host")),
            ("redo_syncs_per_s".to_owned(), absent("track_wal_io_timing is off")),
        ]),
        ..minimal()
    }
}

/// A row of a table that another program printed.
pub(crate) fn imported() -> RunRecord {
    let source = ImportSource {
        format: "csv".into(),
        imported_at: "2026-03-22T08:00:00Z".into(),
        undated: false,
        file: "results.csv".into(),
        line: Some(7),
        known: vec!["workload.work_unit".into()],
        labels: BTreeMap::from([("step".to_owned(), "kernel".to_owned())]),
        reported: Some(Reported {
            db_time_s: Some(60.0),
            load_profile: vec![ReportedLoad {
                name: "logical reads (blocks)".into(),
                per_s: 64.5,
                ..ReportedLoad::default()
            }],
            top_events: vec![ReportedEvent { event: "DB CPU".into(), ..ReportedEvent::default() }],
            sections: vec![ReportedSection {
                section: "latches".into(),
                row: "cache buffers chains".into(),
                figure: "wait_s".into(),
                value: 0.25,
                step: 0.01,
                per_s: true,
            }],
        }),
    };
    let tpcc = Metric::Value { value: 13.039, unit: Unit::PerSecond };
    let load = Metric::Value { value: 321.0, unit: Unit::Seconds };
    RunRecord {
        kind: RecordKind::Import,
        status: Status::Imported,
        one_target_of: Some("20260321-142501-0001".into()),
        imported: Some(source),
        metrics: BTreeMap::from([("tpcc_per_s".to_owned(), tpcc), ("load_s".to_owned(), load)]),
        waits: Waits::Absent { absent: "the source does not tell".into() },
        ..minimal()
    }
}

/// Raw limits of a host.
pub(crate) fn component() -> RunRecord {
    let read = |in_flight: u32, per_s: f64, p99_us: f64| RawFigure {
        per_s: Some(per_s),
        mb_per_s: Some(per_s * 8192.0 / 1e6),
        mean_us: Some(p99_us / 2.0),
        p95_us: Some(p99_us / 1.2),
        p99_us: Some(p99_us),
        device_pct: Some(100.0),
        ..RawFigure::of(RawTest::RandomRead, Some(8192), 2, in_flight)
    };
    let cached =
        RawFigure::of(RawTest::LargeRead, Some(1 << 20), 1, 1).refused("the page cache answered".into());
    let calibration = Calibration {
        folder: "/srv/data".into(),
        device: Some("vda".into()),
        quick: false,
        file_bytes: 4 << 30,
        tool: Some("fio-3.33 (libaio)".into()),
        p99_limit_us: 1000.0,
        figures: vec![read(2, 20_000.0, 400.0), read(64, 60_000.0, 2500.0), cached],
        left_out: vec!["memory: stopped before".into()],
    };
    RunRecord {
        kind: RecordKind::Component,
        status: Status::Valid,
        calibration: Some(Box::new(calibration)),
        targets: Vec::new(),
        waits: Waits::Absent { absent: "there is no database".into() },
        ..minimal()
    }
}

/// The files in `tests/records` must equal these records; `DYNO_BLESS=1` rewrites them.
#[test]
fn stored_sample_records_are_current() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    let all = [
        ("full", full()),
        ("minimal", minimal()),
        ("absent", absent()),
        ("imported", imported()),
        ("several", several()),
        ("component", component()),
    ];
    for (name, record) in all {
        let path = folder.join(format!("{name}.json"));
        let value: serde_json::Value = serde_json::from_str(&record.to_json().unwrap()).unwrap();
        let text = format!("{}\n", serde_json::to_string_pretty(&value).unwrap());
        if std::env::var_os("DYNO_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(stored == text, "tests/records/{name}.json is not current: run the tests with DYNO_BLESS=1");
    }
}
