//! Tests what the preflight check finds on real servers.

use dyno_engine::watched_names::identifiers;
use dyno_engine::{CustomNeeds, WorkloadNeeds};
use dyno_plan::{Engines, Plan, PlanSource, read};
use dyno_record::{Advice, Counter, CounterReading, Severity};

use super::{load_target, on_each_server, on_each_server_with, spec, target_at};

fn plan(url: &str, sets: &[&str]) -> Plan {
    let source = PlanSource {
        target: Some(url.to_owned()),
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..PlanSource::of(Engines(&[dyno_mysql::SPEC]))
    };
    read(&source).unwrap()
}

/// The findings for the block workload of `plan`.
fn preflight(url: &str, plan: &Plan) -> Vec<Advice> {
    target_at(url).preflight(plan, &WorkloadNeeds::of_block_workload(plan)).unwrap()
}

fn finding<'a>(advice: &'a [Advice], check: &str) -> &'a Advice {
    advice.iter().find(|one| one.check == check).unwrap_or_else(|| panic!("no finding {check}"))
}

#[test]
fn well_configured_server_has_no_warnings() {
    on_each_server_with(&[("performance_schema", "ON"), ("innodb_flush_method", "O_DIRECT")], |server| {
        let url = server.url();
        let advice = preflight(&url, &plan(&url, &["workload.update_pct=20"]));
        let bad: Vec<&Advice> = advice.iter().filter(|one| one.severity > Severity::Note).collect();
        assert!(bad.is_empty(), "{bad:#?}");
        assert!(
            advice.iter().all(|one| (one.severity == Severity::Ok) == one.way_out.is_empty()),
            "{advice:#?}"
        );
    });
}

#[test]
fn settings_that_falsify_a_run_are_reported_with_a_hint() {
    let settings = [
        ("performance_schema", "OFF"),
        ("innodb_flush_log_at_trx_commit", "2"),
        ("innodb_flush_method", "fsync"),
        ("innodb_doublewrite", "OFF"),
        ("log_bin", "binlog"),
        ("server_id", "1"),
        ("sync_binlog", "0"),
        ("max_connections", "20"),
        ("local_infile", "OFF"),
        ("innodb_adaptive_hash_index", "ON"),
    ];
    on_each_server_with(&settings, |server| {
        let url = server.url();
        let advice = preflight(&url, &plan(&url, &["run.sessions_per_schema=64"]));
        let expected = [
            ("performance_schema", Severity::Warn, "performance_schema = ON"),
            (
                "innodb_flush_log_at_trx_commit",
                Severity::Warn,
                "SET GLOBAL innodb_flush_log_at_trx_commit = 1",
            ),
            ("flush_method", Severity::Warn, "O_DIRECT"),
            ("innodb_doublewrite", Severity::Warn, "innodb_doublewrite = ON"),
            ("sync_binlog", Severity::Warn, "SET GLOBAL sync_binlog = 1"),
            ("connections", Severity::Fail, "SET GLOBAL max_connections ="),
            ("local_infile", Severity::Note, "SET GLOBAL local_infile = ON"),
            ("innodb_adaptive_hash_index", Severity::Note, "SET GLOBAL innodb_adaptive_hash_index = OFF"),
            ("cache", Severity::Note, "innodb_buffer_pool_size"),
            ("data", Severity::Note, "dyno load"),
        ];
        for (check, severity, way_out) in expected {
            let entry = finding(&advice, check);
            assert!(entry.severity == severity, "{entry:#?}");
            assert!(entry.way_out.contains(way_out), "{entry:#?}");
        }
    });
}

#[test]
fn preflight_reports_missing_privileges_and_read_only_server() {
    on_each_server(|server| {
        server.sql("CREATE USER little@'127.0.0.1'; GRANT SELECT ON bench.* TO little@'127.0.0.1'; SET GLOBAL read_only = ON");
        let url = server.url_of("little", "bench");
        let advice = preflight(&url, &plan(&url, &[]));
        let rights = finding(&advice, "privileges");
        assert!(rights.severity == Severity::Warn, "{rights:#?}");
        assert!(rights.way_out.contains("CREATE ROUTINE"), "{rights:#?}");
        assert_eq!(finding(&advice, "writable").severity, Severity::Fail);
        assert_eq!(finding(&advice, "statistics").severity, Severity::Note);
    });
}

#[test]
fn minimal_grants_lose_counters_that_check_names() {
    on_each_server_with(
        &[("performance_schema", "ON"), ("log_bin", "binlog"), ("server_id", "1")],
        |server| {
            let spec = spec(1, 200, 0);
            load_target(server, &spec);
            let account = "least@'127.0.0.1'";
            server.sql(&format!("CREATE USER {account}; GRANT SELECT, UPDATE ON bench.* TO {account}"));
            let url = server.url_of("least", "bench");
            let find =
                |check: &str, sets: &[&str]| finding(&preflight(&url, &plan(&url, sets)), check).clone();
            // The counters that this user's observer cannot read.
            let absent = |url: &str| -> Vec<Counter> {
                let snapshot = target_at(url).observer(&spec).unwrap().read(&mut |_| ()).unwrap();
                let of_all = Counter::ALL.into_iter().filter(|counter| *counter != Counter::CpuTime);
                of_all
                    .filter(|counter| !matches!(snapshot.portable[counter], CounterReading::Value(_)))
                    .collect()
            };
            let lacking = find("performance_schema", &[]);
            assert_eq!(lacking.severity, Severity::Warn, "{lacking:#?}");
            assert!(
                lacking.way_out.contains("GRANT SELECT ON performance_schema.* TO 'least'"),
                "{lacking:#?}"
            );
            let lost = absent(&url);
            assert!(lost.contains(&Counter::DbTime), "{lost:?}");
            assert!(lost.contains(&Counter::PhysicalReadRequests), "{lost:?}");
            if !server.is_mariadb() {
                assert!(lost.contains(&Counter::RedoBytes), "{lost:?}");
                assert!(lacking.found.contains("redo_bytes"), "{lacking:#?}");
            }
            server.sql(&format!("GRANT SELECT ON performance_schema.* TO {account}"));
            assert_eq!(find("performance_schema", &[]).severity, Severity::Ok);
            let lost = absent(&url);
            // MariaDB does not measure times of its redo log for any user.
            assert!(
                lost.iter().all(|counter| *counter == Counter::RedoSyncTime && server.is_mariadb()),
                "{lost:?}"
            );

            // Data that another user loaded: only the privileges that the plan needs are checked.
            assert_eq!(find("privileges", &["workload.update_pct=20"]).severity, Severity::Ok);
            let churn = find("privileges", &["workload.update_pct=20", "workload.insert_pct=10"]);
            assert_eq!(churn.severity, Severity::Warn, "{churn:#?}");
            assert!(churn.found.contains("INSERT, DELETE"), "{churn:#?}");
            assert!(churn.way_out.contains("DELETE"), "{churn:#?}");
            server.sql(&format!("GRANT INSERT, DELETE ON bench.* TO {account}"));
            assert_eq!(find("privileges", &["workload.insert_pct=10"]).severity, Severity::Ok);
        },
    );
}

#[test]
fn preflight_findings_depend_on_the_workload() {
    on_each_server(|server| {
        server.sql("CREATE TABLE orders (id INT PRIMARY KEY, pad VARCHAR(200))");
        let rows: Vec<String> = (0..2_000).map(|id| format!("({id}, REPEAT('x', 200))")).collect();
        server.sql(&format!("INSERT INTO orders VALUES {}", rows.join(", ")));
        server.sql("ANALYZE TABLE orders");
        server.sql("CREATE VIEW open_orders AS SELECT * FROM orders");
        let url = server.url();
        let custom = |writer: Option<&str>| {
            let names = identifiers("SELECT pad FROM open_orders WHERE id = ?");
            WorkloadNeeds::of_custom_workloads(
                CustomNeeds { writer: writer.map(str::to_owned), names, ..CustomNeeds::default() },
                false,
            )
        };
        let block = |sets: &[&str]| WorkloadNeeds::of_block_workload(&plan(&url, sets));
        let updates = "workload.update_pct=20";
        for (name, needs, sets, writes) in [
            ("block, reading", block(&[]), &[][..], false),
            ("block, updating", block(&[updates]), &[updates], true),
            ("block, inserting", block(&["workload.insert_pct=10"]), &["workload.insert_pct=10"], true),
            ("custom, reading", custom(None), &[updates], false),
            ("custom, writing", custom(Some("shop")), &[], true),
        ] {
            let advice = target_at(&url).preflight(&plan(&url, sets), &needs).unwrap();
            let redo = finding(&advice, "redo_capacity");
            assert_eq!(redo.found.contains("only reads"), !writes, "{name}: {redo:?}");
            for check in ["data", "disk_space", "block_size", "local_infile"] {
                let is_there = advice.iter().any(|one| one.check == check);
                assert_eq!(is_there, needs.uses_test_tables(), "{name}: {check}");
            }
            let cache = &finding(&advice, "cache").found;
            assert_eq!(cache.starts_with("the data has "), needs.uses_test_tables(), "{name}: {cache}");
            if !needs.uses_test_tables() {
                assert!(cache.starts_with("the workload's tables have "), "{name}: {cache}");
                assert!(cache.contains("KiB"), "{name}: {cache}");
            }
        }
        server.sql("SET GLOBAL read_only = ON");
        server.sql("CREATE USER reader@'127.0.0.1'; GRANT SELECT ON bench.* TO reader@'127.0.0.1'");
        let url = server.url_of("reader", "bench");
        for (needs, expected) in [(custom(None), Severity::Note), (custom(Some("shop")), Severity::Fail)] {
            let advice = target_at(&url).preflight(&plan(&url, &[]), &needs).unwrap();
            assert_eq!(finding(&advice, "writable").severity, expected, "{advice:#?}");
            assert_eq!(finding(&advice, "privileges").severity, Severity::Note, "{advice:#?}");
        }
    });
}
