//! Findings of `check` about server limits that would end a load or a run.

use dyno_testbed::{MySql, Postgres};

use crate::common::{TestEnv, wait_until};

#[test]
fn mysql_check_sums_prepared_statements_of_all_sessions() {
    for version in MySql::available() {
        let (server, desk) = (MySql::start(&version, &[]), TestEnv::new());
        let url = server.url();
        let folder = "workload.folder=@oltp-read-write";
        let load = desk.dyno(&["load", "--target", &url, "--set", folder]);
        assert_eq!(load.code, 0, "{load:#?}");
        server.sql("SET GLOBAL max_prepared_stmt_count = 20");
        let check = |sessions: &str| {
            // The server closes the connections of the previous command only after that command has ended.
            wait_until("the end of the prepared statements of the command before", || {
                server.sql("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'").trim_end().ends_with("\t0")
            });
            let sessions = format!("run.sessions_per_schema={sessions}");
            desk.dyno(&["check", "--target", &url, "--set", folder, "--set", &sessions])
        };
        let few = check("2");
        assert_eq!(few.code, 0, "{few:#?}");
        assert!(few.out.contains("2 sessions prepare 18 statements in total; 20 of"), "{few:#?}");
        let many = check("8");
        assert_ne!(many.code, 0, "{many:#?}");
        assert!(
            many.out.contains("8 sessions prepare 72 statements in total, but only 20 are free"),
            "{many:#?}"
        );
        assert!(many.out.contains("workload.protocol"), "{many:#?}");
    }
}

#[test]
fn mysql_tables_get_primary_key_when_server_requires_one() {
    for version in MySql::available() {
        let is_mysql = version.product.name() == "MySQL";
        let setting = if is_mysql { "sql_require_primary_key" } else { "innodb_force_primary_key" };
        let (server, desk) = (MySql::start(&version, &[]), TestEnv::new());
        server.sql(&format!("SET GLOBAL {setting} = ON"));
        let url = server.url();
        for (folder, table) in [("@tpcb", "tpcb_history"), ("@orders", "history")] {
            let folder = format!("workload.folder={folder}");
            let dyno = |command: &str, more: &[&str]| {
                let outcome = desk.dyno(&[&[command, "--target", &url, "--set", &folder], more].concat());
                assert_eq!(outcome.code, 0, "{command} {folder}: {outcome:#?}");
                outcome.out
            };
            let check = desk.dyno(&["check", "--target", &url, "--set", &folder]);
            assert!(check.out.contains(setting), "{check:#?}");
            assert!(check.out.contains(table), "{check:#?}");
            if table == "tpcb_history" {
                dyno("load", &[]);
                dyno(
                    "run",
                    &[
                        "--set",
                        "run.sessions_per_schema=2",
                        "--set",
                        "run.ops_per_session=20",
                        "--set",
                        "run.warmup=0s",
                    ],
                );
                let rows = "SELECT COUNT(*) FROM tpcb_history WHERE dyno_key > 0";
                assert_eq!(server.sql(rows), server.sql("SELECT COUNT(*) FROM tpcb_history"));
                dyno("drop", &["--yes"]);
            }
        }
    }
}

/// The finding about time limits for a custom workload.
fn time_limit_finding(desk: &TestEnv, url: &str) -> String {
    let set = ["--set", "workload.folder=@point-select"];
    let (_, report) = desk.json(&[&["check", "--target", url][..], &set].concat());
    let findings = report["advice"].as_array().unwrap_or_else(|| panic!("{report:#}"));
    let finding = findings.iter().find(|finding| finding["check"] == "time_limits");
    let finding = finding.unwrap_or_else(|| panic!("{report:#}"));
    format!("{} {} {}", finding["severity"], finding["found"], finding["way_out"])
}

#[test]
fn check_names_time_limits_that_apply_to_sessions() {
    let desk = TestEnv::new();
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        assert!(time_limit_finding(&desk, &server.url()).starts_with("\"ok\""));
        let (name, value) = match version.product.name() {
            "MySQL" => ("max_execution_time", "5000"),
            _ => ("max_statement_time", "5"),
        };
        server.sql(&format!("SET GLOBAL {name} = {value}"));
        let finding = time_limit_finding(&desk, &server.url());
        assert!(finding.contains(&format!("{name} ends statements after 5 s")), "{finding}");
        assert!(finding.contains(&format!("SET GLOBAL {name} = 0")), "{finding}");
    }
    for version in Postgres::available() {
        let server = Postgres::start(&version, &[]);
        let url = server.url();
        assert!(time_limit_finding(&desk, &url).starts_with("\"ok\""));
        server.psql("ALTER ROLE postgres SET statement_timeout = '5s'");
        server.psql("ALTER ROLE postgres SET idle_in_transaction_session_timeout = '700ms'");
        let finding = time_limit_finding(&desk, &url);
        assert!(finding.contains("statement_timeout ends statements after 5 s"), "{finding}");
        assert!(finding.contains("ends idle transactions after 700 ms"), "{finding}");
        assert!(finding.contains("SET statement_timeout = 0"), "{finding}");
    }
}
