//! Tests preflight findings, each provoked on a real server, and how a target identifies itself.

use std::time::Duration;

use crate::server::{on_each_version, on_each_version_with, options, spec, target, target_at};
use dyno_engine::watched_names::identifiers;
use dyno_engine::{Cancel, CustomNeeds, OpenOptions, Silent, Target, TargetErrorKind, WorkloadNeeds};
use dyno_plan::{
    Arrivals, BlockCount, BlocksOrBytes, Bytes, Commit, DataSettings, DriveMode, ObserveSettings,
    PLAN_VERSION, Plan, Redo, RunSettings, TimeSpan, WorkloadSettings,
};
use dyno_postgres::connect::PostgresConnectConfig;
use dyno_postgres::wire::PostgresConnection;
use dyno_record::{Advice, Severity};
use dyno_testbed::Postgres;

fn plan(url: &str) -> Plan {
    Plan {
        version: PLAN_VERSION,
        target: dyno_plan::TargetSettings {
            url: url.parse().unwrap(),
            connect_timeout: TimeSpan(Duration::from_secs(10)),
            ..Default::default()
        },
        data: DataSettings {
            schemas: 1,
            scale: BlocksOrBytes::Blocks(BlockCount(200)),
            seed: 42,
            load_parallel: 1,
            ..DataSettings::default()
        },
        workload: WorkloadSettings {
            update_pct: 20,
            work_unit: 16,
            redo: Redo::Lite,
            drive: DriveMode::Client,
            commit: Commit::Wait,
            arrivals: Arrivals::Constant,
            seed: Some(1),
            ..WorkloadSettings::default()
        },
        run: RunSettings {
            sessions_per_schema: 4,
            warmup: TimeSpan(Duration::from_secs(1)),
            time: Some(TimeSpan(Duration::from_secs(10))),
            drain: TimeSpan(Duration::from_secs(5)),
            ..RunSettings::default()
        },
        observe: ObserveSettings { interval: TimeSpan(Duration::from_secs(1)), ..ObserveSettings::default() },
        hooks: Default::default(),
        sweep: Default::default(),
    }
}

fn find_advice(advice: &[Advice], check: &str) -> Advice {
    advice.iter().find(|a| a.check == check).unwrap_or_else(|| panic!("no {check} in {advice:#?}")).clone()
}

/// Asserts the severity, a part of the finding, and a part of the hint.
#[track_caller]
fn assert_found(advice: &[Advice], check: &str, severity: Severity, expected_text: &str, way_out: &str) {
    let entry = find_advice(advice, check);
    assert_eq!(entry.severity, severity, "{entry:?}");
    assert!(entry.found.contains(expected_text), "{entry:?}");
    assert!(entry.way_out.contains(way_out), "{entry:?}");
}

fn preflight(target: &dyn Target, server: &Postgres) -> Vec<Advice> {
    preflight_of(target, &plan(&server.url()))
}

/// The findings for the block workload of `plan`.
fn preflight_of(target: &dyn Target, plan: &Plan) -> Vec<Advice> {
    target.preflight(plan, &WorkloadNeeds::of_block_workload(plan)).unwrap()
}

#[test]
fn default_server_passes_preflight_and_findings_have_fixes() {
    on_each_version(|server| {
        let target = target(server);
        let advice = preflight(&*target, server);
        assert!(advice.iter().all(|a| a.severity != Severity::Fail), "{advice:#?}");
        for entry in &advice {
            assert_eq!(entry.severity == Severity::Ok, entry.way_out.is_empty(), "{entry:?}");
        }
        assert_found(&advice, "reach", Severity::Ok, "database postgres as postgres", "");
        assert_found(&advice, "version", Severity::Ok, &server.version().full, "");
        assert_found(&advice, "pooler", Severity::Ok, "server itself", "");
        assert_found(&advice, "others", Severity::Ok, "no other session", "");
        assert_found(&advice, "fsync", Severity::Ok, "on", "");
        assert_found(&advice, "track_io_timing", Severity::Warn, "absent", "SET track_io_timing = on");
        assert_found(&advice, "track_wal_io_timing", Severity::Warn, "redo_sync_time", "pg_reload_conf");
        assert_found(&advice, "statistics", Severity::Note, "superuser", "pg_monitor");
        assert_found(&advice, "data", Severity::Note, "nothing", "dyno load");
        assert_found(&advice, "checkpoints", Severity::Note, "10s", "300s");
        assert_found(&advice, "disk_space", Severity::Ok, "free", "");

        target
            .block_data()
            .unwrap()
            .load(&spec(1, 200, 0), &options(1), &Silent, &Cancel::default())
            .unwrap();
        assert_found(&preflight(&*target, server), "data", Severity::Ok, "loaded", "");
        let mut other = plan(&server.url());
        other.data.scale = BlocksOrBytes::Blocks(BlockCount(300));
        other.data.block_size = Some(Bytes(16_384));
        let advice = preflight_of(&*target, &other);
        assert_found(&advice, "data", Severity::Fail, "other data", "--replace");
        assert_found(&advice, "block_size", Severity::Fail, "16K", "data.block_size");
    });
}

#[test]
fn preflight_names_settings_that_distort_a_run() {
    let settings = [
        ("fsync", "off"),
        ("full_page_writes", "off"),
        ("synchronous_commit", "off"),
        ("track_counts", "off"),
        ("autovacuum", "off"),
        ("max_connections", "6"),
        ("shared_buffers", "1MB"),
    ];
    on_each_version_with(&settings, |server| {
        let advice = preflight(&*target(server), server);
        assert_found(&advice, "fsync", Severity::Warn, "not durable", "SET fsync = on");
        assert_found(&advice, "full_page_writes", Severity::Warn, "less WAL", "SET full_page_writes = on");
        assert_found(&advice, "synchronous_commit", Severity::Warn, "off", "SET synchronous_commit = on");
        assert_found(&advice, "track_counts", Severity::Warn, "audited", "SET track_counts = on");
        assert_found(&advice, "autovacuum", Severity::Note, "off", "SET autovacuum = on");
        assert_found(&advice, "connections", Severity::Fail, "8 connections", "SET max_connections = ");
        assert_found(&advice, "cache", Severity::Note, "page cache", "storage");
        let mut huge = plan(&server.url());
        huge.data.scale = BlocksOrBytes::Bytes(Bytes(1 << 50));
        let advice = preflight_of(&*target(server), &huge);
        assert_found(&advice, "disk_space", Severity::Fail, "are free", "data.scale");
    });
}

#[test]
fn preflight_names_grants_for_missing_privileges() {
    on_each_version(|server| {
        server.psql("CREATE ROLE plain LOGIN CONNECTION LIMIT 2");
        let plain = target_at(&server.url_of("plain", "postgres"));
        let advice = preflight(&*plain, server);
        let grant = "GRANT CONNECT, CREATE ON DATABASE postgres TO plain;";
        assert_found(&advice, "privileges", Severity::Fail, "cannot create schema", grant);
        assert_found(&advice, "statistics", Severity::Note, "plain", "GRANT pg_monitor TO plain;");
        assert_found(
            &advice,
            "connections",
            Severity::Fail,
            "role's connection limit 2",
            "ALTER ROLE \"plain\"",
        );
        assert_found(&advice, "disk_space", Severity::Note, "is unknown", "df -h");
        server.psql("CREATE SCHEMA dyno");
        let grant = "GRANT USAGE, CREATE ON SCHEMA dyno TO plain;";
        assert_found(&preflight(&*plain, server), "privileges", Severity::Fail, "schema dyno", grant);
        // Following the hints resolves the findings.
        server.psql("GRANT USAGE, CREATE ON SCHEMA dyno TO plain; GRANT pg_monitor TO plain; ALTER ROLE plain CONNECTION LIMIT -1");
        let advice = preflight(&*plain, server);
        for check in ["privileges", "statistics", "connections"] {
            assert_eq!(find_advice(&advice, check).severity, Severity::Ok, "{check}");
        }
        plain.block_data().unwrap().load(&spec(1, 100, 0), &options(2), &Silent, &Cancel::default()).unwrap();
        assert_eq!(server.psql("SELECT tableowner FROM pg_tables WHERE tablename = 'rows_1'"), "plain");
    });
}

#[test]
fn preflight_detects_other_sessions_and_read_only_server() {
    on_each_version(|server| {
        let target = target(server);
        let options = OpenOptions { password: None, connect_timeout: Duration::from_secs(10) };
        let config = PostgresConnectConfig::from_url(&server.url().parse().unwrap(), &options).unwrap();
        let mut idle = PostgresConnection::open(&config, "someone else").unwrap();
        idle.simple("SELECT 1").unwrap();
        assert_found(
            &preflight(&*target, server),
            "others",
            Severity::Note,
            "1 other sessions",
            "pg_stat_activity",
        );
        let token = idle.cancel_token();
        let busy = std::thread::spawn(move || idle.simple("SELECT pg_sleep(600)").is_err());
        loop {
            if find_advice(&preflight(&*target, server), "others").severity == Severity::Warn {
                break;
            }
        }
        token.cancel().unwrap();
        assert!(busy.join().unwrap());
        server.psql("ALTER SYSTEM SET default_transaction_read_only = on; ");
        server.psql("SELECT pg_reload_conf()");
        loop {
            let entry = find_advice(&preflight(&*target, server), "writable");
            if entry.severity == Severity::Fail {
                assert!(entry.way_out.contains("default_transaction_read_only"), "{entry:?}");
                break;
            }
        }
        let error = target.block_data().unwrap().load(
            &spec(1, 100, 0),
            &crate::server::options(1),
            &Silent,
            &Cancel::default(),
        );
        assert!(error.unwrap_err().hint.contains("read-only"));
    });
}

#[test]
fn load_on_standby_fails_preflight() {
    for version in Postgres::available() {
        let mut server = Postgres::start(&version, &[]);
        let spec = spec(1, 100, 0);
        target(&server).block_data().unwrap().load(&spec, &options(1), &Silent, &Cancel::default()).unwrap();
        server.stop();
        server.put_file("standby.signal", b"");
        server.restart();
        let target = target(&server);
        let advice = preflight(&*target, &server);
        assert_found(&advice, "writable", Severity::Fail, "standby", "pg_promote");
        // Counters that are available have values, and the others are absent.
        let snapshot = target.observer(&spec).unwrap().snapshot().unwrap();
        let redo = &snapshot.portable[&dyno_record::Counter::RedoBytes];
        assert!(
            matches!(redo, dyno_record::CounterReading::Absent(reason) if reason.contains("standby")),
            "{redo:?}"
        );
        assert_eq!(snapshot.epochs["server.in_recovery"], "true");
        let error = target.block_data().unwrap().drop_all().unwrap_err();
        assert!(error.hint.contains("primary"), "{error} {}", error.hint);
    }
}

#[test]
fn target_identity_contains_no_secrets() {
    let settings = [
        ("work_mem", "8MB"),
        ("primary_conninfo", "host=elsewhere password=hunter2"),
        ("archive_command", "curl -u me:hunter2 %p"),
    ];
    on_each_version_with(&settings, |server| {
        let target = target(server);
        let identity = target.identify().unwrap();
        assert_eq!((identity.product.as_str(), identity.block_size), ("PostgreSQL", 8192));
        assert!(identity.version.contains(&server.version().full), "{}", identity.version);
        assert_eq!(identity.settings["shared_buffers"], "128MB");
        assert_eq!(identity.settings["work_mem"], "8MB");
        assert_eq!(identity.settings["fsync"], "on");
        assert!(identity.non_default.contains(&"work_mem".to_owned()), "{:?}", identity.non_default);
        assert!(!identity.non_default.contains(&"fsync".to_owned()), "{:?}", identity.non_default);
        assert!(!format!("{identity:?}").contains("hunter2"));
        assert!(identity.non_default.contains(&"primary_conninfo".to_owned()));
        let data = server.data_dir().display().to_string();
        assert_eq!(identity.data_path, Some(data.clone()));
        assert_eq!(identity.redo_path, Some(format!("{data}/pg_wal")));
        assert!(identity.same_host);
        assert!(target_at(&server.socket_url()).identify().unwrap().same_host);
        assert_eq!(target.block_data().unwrap().block_size(None).unwrap(), Bytes(8192));
        let error = target.block_data().unwrap().block_size(Some(Bytes(4096))).unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Unsupported);
    });
}

#[test]
fn connection_pooler_is_detected_by_preflight() {
    let Some(pgbouncer) = dyno_testbed::BouncerVersion::available().pop() else { return };
    let version = Postgres::available().pop().unwrap();
    let server = Postgres::start(&version, &[]);
    let pooler = dyno_testbed::PgBouncer::start(&pgbouncer, &server, "");
    let target = target_at(&pooler.url());
    let advice = preflight_of(&*target, &plan(&pooler.url()));
    assert_found(&advice, "pooler", Severity::Fail, "pooler", "target.observe_url");
}

/// The needs of a custom workload with these statements.
fn custom(writer: Option<&str>, statements: &str) -> WorkloadNeeds {
    let custom = CustomNeeds {
        writer: writer.map(str::to_owned),
        names: identifiers(statements),
        ..CustomNeeds::default()
    };
    WorkloadNeeds::of_custom_workloads(custom, false)
}

/// The size in a finding about the cache, before the words ` and shared_buffers`: `12.0 MiB`.
fn size_in(text: &str) -> &str {
    text.split(" have ").nth(1).and_then(|rest| rest.split(" and shared_buffers").next()).unwrap_or_default()
}

#[test]
fn preflight_findings_depend_on_the_workload() {
    on_each_version(|server| {
        server.psql(
            "CREATE TABLE orders AS SELECT g AS id, repeat('x', 200) AS pad FROM generate_series(1, 20000) g",
        );
        server.psql("CREATE INDEX ON orders (id)");
        server.psql("CREATE VIEW open_orders AS SELECT * FROM orders");
        let target = target(server);
        let plan_with = |update_pct, insert_pct| {
            let mut plan = plan(&server.url());
            (plan.workload.update_pct, plan.workload.insert_pct) = (update_pct, insert_pct);
            plan
        };
        let block = |update_pct, insert_pct| {
            let plan = plan_with(update_pct, insert_pct);
            (WorkloadNeeds::of_block_workload(&plan), plan)
        };
        let of_orders = "SELECT pad FROM open_orders WHERE id = $1";
        // In the plan of a custom workload, the block workload's keys have their defaults or other values.
        let cases = [
            ("block, reading", block(0, None), false, true),
            ("block, updating", block(20, None), true, true),
            ("block, inserting", block(0, Some(10)), true, true),
            ("custom, reading", (custom(None, of_orders), plan_with(20, Some(10))), false, false),
            ("custom, writing", (custom(Some("shop"), of_orders), plan_with(0, None)), true, false),
        ];
        for (name, (needs, plan), writes, on_test_tables) in cases {
            let advice = target.preflight(&plan, &needs).unwrap();
            let checkpoints = find_advice(&advice, "checkpoints");
            assert_eq!(checkpoints.found.contains("only reads"), !writes, "{name}: {checkpoints:?}");
            for check in ["data", "disk_space", "block_size", "privileges"] {
                assert_eq!(advice.iter().any(|one| one.check == check), on_test_tables, "{name}: {check}");
            }
            let cache = find_advice(&advice, "cache").found;
            assert_eq!(cache.starts_with("the data has "), on_test_tables, "{name}: {cache}");
            if !on_test_tables {
                let bytes: u64 = server.psql("SELECT pg_total_relation_size('orders')").parse().unwrap();
                assert_eq!(size_in(&cache), dyno_engine::disk::human(bytes), "{name}: {cache}");
            }
        }
        let absent =
            target.preflight(&plan_with(0, None), &custom(None, "SELECT 1 FROM nothing_there")).unwrap();
        assert!(absent.iter().all(|one| one.check != "cache"), "{absent:#?}");
    });
}

#[test]
fn read_only_workload_can_run_on_a_standby() {
    for version in Postgres::newest_or_all() {
        let primary = Postgres::start(&version, &[]);
        target(&primary)
            .block_data()
            .unwrap()
            .load(&spec(1, 200, 0), &options(1), &Silent, &Cancel::default())
            .unwrap();
        let standby = primary.standby();
        let target = target(&standby);
        let (mut reading, writing) = (plan(&standby.url()), plan(&standby.url()));
        reading.workload.update_pct = 0;
        let mut other = reading.clone();
        other.data.seed = 7;
        for (name, plan, needs, expected) in [
            ("block, reading", &reading, WorkloadNeeds::of_block_workload(&reading), Severity::Note),
            ("block, writing", &writing, WorkloadNeeds::of_block_workload(&writing), Severity::Fail),
            ("custom, reading", &reading, custom(None, "SELECT 1"), Severity::Note),
            ("custom, writing", &reading, custom(Some("shop"), "SELECT 1"), Severity::Fail),
        ] {
            let writable = find_advice(&target.preflight(plan, &needs).unwrap(), "writable");
            assert_eq!(writable.severity, expected, "{name}: {writable:?}");
            assert!(writable.found.contains("standby"), "{name}: {writable:?}");
        }
    }
}
