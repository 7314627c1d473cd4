//! `dyno import pgbench`: pgbench scripts as a user runs them, compared with pgbench itself if it is
//! installed.

use std::path::PathBuf;
use std::process::Command;

use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_passes, find_check};

fn import(desk: &TestEnv, args: &[&str]) {
    let output = desk.dyno(&[&["import", "pgbench"], args].concat());
    assert_eq!(output.code, 0, "{output:#?}");
}

fn load(desk: &TestEnv, folder: &str, url: &str) {
    let output = desk.dyno(&["load", "--target", url, "--set", &format!("workload.folder={folder}")]);
    assert_eq!(output.code, 0, "{output:#?}");
}

/// Runs several sessions for this number of transactions each.
fn run(desk: &TestEnv, folder: &str, url: &str, (sessions, ops): (u32, u32), more: &[&str]) -> Value {
    let folder = format!("workload.folder={folder}");
    let sessions = format!("run.sessions_per_schema={sessions}");
    let ops = format!("run.ops_per_session={ops}");
    let head =
        ["run", "--allow-writes", "--target", url, "--json", "--set", &folder, "--set", "run.warmup=0s"];
    let some = ["--set", &sessions, "--set", &ops];
    let output = desk.dyno(&[&head[..], &some, more].concat());
    assert!(output.out.starts_with('{'), "{output:#?}");
    serde_json::from_str(&output.out).unwrap()
}

fn assert_proved(record: &Value) {
    assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    for name in ["commits_whole", "operations"] {
        assert_passes(record, name);
    }
}

/// The built-in scripts on one target: tables, runs, and equal sums.
fn assert_full_cycle(url: &str) {
    let desk = TestEnv::new();
    import(&desk, &["-b", "tpcb-like", "--into", "tpcb"]);
    import(&desk, &["-b", "simple@2", "-b", "select", "--into", "mixed"]);
    for (folder, invariants) in [("tpcb", 3), ("mixed", 1)] {
        load(&desk, folder, url);
        let record = run(&desk, folder, url, (3, 60), &[]);
        assert_proved(&record);
        let invariants_check = find_check(&record, "invariants");
        assert_eq!(invariants_check["status"], "pass", "{invariants_check:#}");
        assert_eq!(record["workload"]["invariants"].items().len(), invariants);
        assert!(record["ops"]["all"]["count"].count() >= 180, "{:#}", record["ops"]);
        let folder = format!("workload.folder={folder}");
        let output = desk.dyno(&["drop", "--target", url, "--yes", "--set", &folder]);
        assert_eq!(output.code, 0, "{output:#?}");
    }
}

#[test]
fn built_in_scripts_run_on_sqlite() {
    let desk = TestEnv::new();
    assert_full_cycle(&format!("sqlite:{}", desk.file("pgbench.db").display()));
}

#[test]
fn built_in_scripts_run_on_postgres() {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[("autovacuum", "off")]);
        assert_full_cycle(&server.url());
    }
}

#[test]
fn built_in_scripts_run_on_mysql_and_mariadb() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        assert_full_cycle(&server.url());
    }
}

/// Runs pgbench on the server; returns its output for a script.
fn run_pgbench(server: &Postgres, args: &[&str]) -> Option<String> {
    let program: PathBuf = server.version().bins.join("pgbench");
    if !program.exists() {
        return None;
    }
    let port = server.port().to_string();
    let host = ["-n", "-h", "127.0.0.1", "-p", &port, "-U", server.superuser()];
    let output =
        Command::new(program).args(host).args(args).arg("postgres").output().expect("pgbench starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    Some(stderr)
}

/// Expressions without randomness: pgbench and Dyno both store their values.
const EXPRESSIONS: [&str; 24] = [
    ":i / 2 * 2 + :i % 2",
    "-:i / 2",
    "-:i % 3",
    "~:i + 2",
    ":i | 8 & 12",
    ":i # 3 << 2 >> 1",
    "1 << :i + 60",
    "int(:d) + int(:d + 0.1) + int(-:d)",
    "int(:d * 1000000.0)",
    "case when :i > 3 and not :d = 2.5 then 1 when :i = 5 then 2 else 3 end",
    "case when :i is null or :i isnull then 1 else 0 end",
    "greatest(1, :i, -7)",
    "least(:i, 12, 3)",
    "int(greatest(:i, :d) * 10)",
    "abs(-:i * 3)",
    "hash(:i)",
    "hash(:i, :default_seed + 1)",
    "hash_fnv1a(:i * 7 - 100)",
    "hash_murmur2(-:i, 12345678901234)",
    "permute(:i, 1000)",
    "permute(:i + 99, 77, :i)",
    "mod(:i * 17, 6) + int(sqrt(:i * :i)) + int(exp(ln(:i)) * 100)",
    "int(pow(:i, 3) + power(2, -1) * 2) + int(pi() * 1e6)",
    "int(debug(:d / :i) * 1e9)",
];

#[test]
fn imported_expressions_match_real_pgbench() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let desk = TestEnv::new();
    server.psql("CREATE TABLE seen (who TEXT, x INT, value BIGINT)");
    let mut script = String::from("\\set i :i + 0\n\\set d :d * 1\n");
    for (number, expression) in EXPRESSIONS.iter().enumerate() {
        script.push_str(&format!("\\set x {expression}\nINSERT INTO seen VALUES ('WHO', {number}, :x);\n"));
    }
    desk.write("pgbench.sql", &script.replace("WHO", "pgbench"));
    desk.write("dyno.sql", &script.replace("WHO", "dyno"));
    let variables = ["-D", "i=5", "-D", "d=2.5", "-D", "default_seed=77"];
    let file = desk.file("pgbench.sql");
    let script_args = ["-t", "1", "-f", file.to_str().unwrap()];
    if run_pgbench(&server, &[&script_args[..], &variables].concat()).is_none() {
        return;
    }
    import(&desk, &[&["dyno.sql", "--into", "w"][..], &variables].concat());
    let record = run(&desk, "w", &server.url(), (1, 1), &[]);
    assert_proved(&record);
    let differing = "SELECT a.x, a.value, b.value FROM seen a JOIN seen b USING (x)
                     WHERE a.who = 'pgbench' AND b.who = 'dyno' AND a.value <> b.value";
    assert_eq!(server.psql(differing), "");
    let agreement_sql = "SELECT COUNT(DISTINCT a.x) FROM seen a JOIN seen b USING (x) WHERE a.who = 'pgbench' AND b.who = 'dyno'";
    assert_eq!(server.psql(agreement_sql), EXPRESSIONS.len().to_string());
}

/// Random functions, used as generators of the workload and as steps.
#[test]
fn imported_random_functions_match_pgbench_distribution() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let desk = TestEnv::new();
    server.psql("CREATE TABLE seen (who TEXT, law TEXT, x INT)");
    let laws = [
        "random(1, 8 * :k)",
        "random_zipfian(1, 8 * :k, 1.4)",
        "random_gaussian(1, 8 * :k, 2.5)",
        "random_exponential(1, 8 * :k, 4)",
    ];
    let script: String = laws
        .iter()
        .map(|law| {
            let name = law.split('(').next().unwrap();
            format!("\\set {name} {law}\nINSERT INTO seen VALUES ('WHO', '{name}', :{name});\n")
        })
        .collect();
    for who in ["pgbench", "draws", "steps"] {
        let set = if who == "steps" { "\\set k :k * 1\n" } else { "" };
        desk.write(&format!("{who}.sql"), &format!("{set}BEGIN;\n{}END;\n", script.replace("WHO", who)));
    }
    let file = desk.file("pgbench.sql");
    if run_pgbench(&server, &["-t", "3000", "-f", file.to_str().unwrap(), "-D", "k=1"]).is_none() {
        return;
    }
    for who in ["draws", "steps"] {
        import(&desk, &[&format!("{who}.sql"), "--into", who, "-D", "k=1"]);
        assert_proved(&run(&desk, who, &server.url(), (2, 1500), &[]));
    }
    let text = std::fs::read_to_string(desk.file("draws/workload.toml")).unwrap();
    assert!(!text.contains("steps"), "{text}");
    let shares = "SELECT law, x, who, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY law, who) AS share FROM seen GROUP BY 1, 2, 3";
    // The difference of two shares of 3,000: five standard deviations are at most 0.065.
    let far = format!(
        "WITH shares AS ({shares}) SELECT a.law, a.x, b.who, a.share, b.share FROM shares a
         FULL JOIN shares b ON a.law = b.law AND a.x = b.x AND b.who <> 'pgbench'
         WHERE a.who = 'pgbench' AND ABS(a.share - COALESCE(b.share, 0)) > 0.05"
    );
    assert_eq!(server.psql(&far), "");
    let numbers =
        "SELECT COUNT(*) FROM (SELECT law, x FROM seen GROUP BY 1, 2 HAVING COUNT(DISTINCT who) = 3) alike";
    assert_eq!(server.psql(numbers), "32");
}

/// Sleeps, transactions among single statements, and persistent values, with one and with several sessions
/// per thread.
#[test]
fn imported_sleeps_and_transactions_run_and_are_counted() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let desk = TestEnv::new();
    let script = "\\set n :n + 1\nINSERT INTO seen VALUES (:client_id, :n);\nBEGIN;\nUPDATE seen SET n = n WHERE client = :client_id;\n\
                  \\sleep 3 ms\nSELECT -:n::int AS minus, 'x' AS other \\gset\n\\set minus :minus * 2 / 2\nINSERT INTO seen VALUES (:client_id, :minus);\nEND;\n\\if :n % 2 = 0\n\\sleep 500 us\nSELECT 1;\n\\endif\n";
    desk.write("s.sql", script);
    import(&desk, &["s.sql", "--into", "w", "-D", "n=0"]);
    for (sessions, more) in [(2, &[][..]), (6, &["--set", "run.threads=1"][..])] {
        server.psql("DROP TABLE IF EXISTS seen");
        server.psql("CREATE TABLE seen (client INT, n INT)");
        let record = run(&desk, "w", &server.url(), (sessions, 20), more);
        assert_proved(&record);
        // Each session counts from 1 without a gap, and every started transaction was committed.
        let gaps =
            "SELECT COUNT(*) FROM (SELECT client, MAX(n) AS most, COUNT(*) FILTER (WHERE n > 0) AS plus,
                    COUNT(*) FILTER (WHERE n < 0) AS minus FROM seen GROUP BY client) c
                    WHERE plus = most AND minus = most AND most >= 20";
        assert_eq!(server.psql(gaps), sessions.to_string());
        let least_us = record["ops"]["s"]["service"]["min_us"].as_f64().unwrap_or(3_000.0);
        assert!(least_us >= 3_000.0, "{:#}", record["ops"]["s"]);
    }
}

#[test]
fn invalid_pgbench_import_reports_error_and_writes_nothing() {
    let desk = TestEnv::new();
    desk.write("s.sql", "SELECT 1;\n\\shell ls\n");
    let cases: [(&[&str], &str); 9] = [
        (&["s.sql"], "s.sql:2:1: \\shell: a workload runs no command of a shell"),
        (&["no.sql"], "no.sql: cannot be read"),
        (&["s.sql@x"], "invalid weight x for s.sql"),
        (&["-b", "tpc-c"], "unknown built-in script tpc-c"),
        (&["-b", "s"], "unknown built-in script s"),
        (&["-b", "select", "-D", "x"], "-D x: no value"),
        (&["-b", "select@0"], "all weights are 0"),
        (&["-b", "select", "--name", "a b"], "invalid workload name a b"),
        (&["-b", "select", "--set", "run.time=1s"], "--set and --target are not allowed with import pgbench"),
    ];
    for (args, message) in cases {
        let output = desk.dyno(&[&["import", "pgbench", "--into", "w"], args].concat());
        assert_eq!(output.code, 2, "{output:#?}");
        assert!(output.err.contains(message), "{args:?}: {}", output.err);
        assert!(!desk.file("w").exists(), "{args:?}");
    }
    import(&desk, &["-b", "select", "--into", "w"]);
    let again = desk.dyno(&["import", "pgbench", "-b", "select", "--into", "w"]);
    assert!(again.code == 2, "{again:#?}");
    assert!(again.err.contains("already exists"), "{again:#?}");
    import(&desk, &["-b", "select", "--into", "w", "--force", "--scale", "7"]);
    let text = std::fs::read_to_string(desk.file("w/workload.toml")).unwrap();
    assert!(text.contains("\nscale = 7\n"), "{text}");
    assert!(text.contains("[table.pgbench_accounts]"), "{text}");
    assert!(text.contains("aid = { uniform = [1, \"100000 * scale\"] }"), "{text}");
}

/// Tables made by `pgbench -i` are used unchanged.
#[test]
fn tables_created_by_pgbench_are_used_unchanged() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off")]);
    let desk = TestEnv::new();
    if run_pgbench(&server, &["-i", "-s", "2"]).is_none() {
        return;
    }
    import(&desk, &["-b", "tpcb", "--scale", "2", "--no-tables", "--into", "w"]);
    let text = std::fs::read_to_string(desk.file("w/workload.toml")).unwrap();
    assert!(!text.contains("[table."), "{text}");
    assert_proved(&run(&desk, "w", &server.url(), (2, 40), &[]));
    let highest = server.psql("SELECT MAX(aid) > 100000 FROM pgbench_history");
    assert_eq!(highest, "t", "accounts of both branches are drawn");
}

/// Scripts as found in projects, with whole numbers that must be an `integer`, and with locks, savepoints and
/// cursors.
const TYPICAL: [(&str, &str); 12] = [
    (
        "call",
        "\\set n random(1, 10)\nSELECT repeat('x', :n), substring('abcdef', :n, 3), make_date(2026, :n, 1);\n",
    ),
    (
        "days",
        "\\set n random(1, 90)\nSELECT sum(v) FROM pb WHERE day >= date '2026-04-01' - :n AND day < date '2026-04-01' + :n;\n",
    ),
    (
        "round",
        "\\set f random(1, 9) / 3.0\n\\set n random(1, 3)\nSELECT round(:f, 2), round(v / 7.0, :n) FROM pb WHERE id = :n;\n",
    ),
    ("json", "\\set n random(0, 2)\nSELECT ('[7, 8, 9]'::jsonb -> :n)::int, (ARRAY[7, 8, 9])[:n + 1];\n"),
    ("procedure", "\\set n random(1, 100)\nCALL bump(:n, 1);\n"),
    (
        "readonly",
        "\\set id random(1, 100)\nBEGIN TRANSACTION READ ONLY;\nSELECT v FROM pb WHERE id = :id;\nCOMMIT;\n",
    ),
    (
        "savepoint",
        "\\set id random(1, 100)\nBEGIN;\nSAVEPOINT s;\nUPDATE pb SET v = v + 1000 WHERE id = :id;\nROLLBACK TO s;\nCOMMIT;\n",
    ),
    ("setlocal", "BEGIN;\nSET LOCAL enable_seqscan = off;\nSELECT v FROM pb WHERE id = 5;\nCOMMIT;\n"),
    (
        "cursor",
        "\\set id random(1, 9)\nBEGIN;\nLOCK TABLE pb IN SHARE MODE;\nDECLARE c CURSOR FOR SELECT * FROM pb WHERE id > :id;\n\
         FETCH 10 FROM c;\nCLOSE c;\nEND;\n",
    ),
    ("block", "DO $$ BEGIN PERFORM count(*) FROM pb; END $$;\nNOTIFY ch, 'hello';\n"),
    ("explain", "EXPLAIN SELECT count(*) FROM pb;\n"),
    ("quoted", "SELECT 'x' AS t \\gset\nSELECT count(*) FROM pb WHERE v::text = ':t';\n"),
];

#[test]
fn typical_pgbench_scripts_run_on_postgres() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let server = Postgres::start(&version, &[("autovacuum", "off"), ("fsync", "off")]);
    server.psql(
        "CREATE TABLE pb (id int PRIMARY KEY, v int, day date); \
         INSERT INTO pb SELECT i, 0, date '2026-03-01' + i FROM generate_series(1, 100) i; \
         CREATE PROCEDURE bump(n int, by int) LANGUAGE sql AS 'UPDATE pb SET v = v + $2 WHERE id = $1'",
    );
    let desk = TestEnv::new();
    let mut files = Vec::new();
    for (name, text) in TYPICAL {
        let path = desk.file(&format!("{name}.sql"));
        std::fs::write(&path, text).unwrap();
        files.push(path.to_str().unwrap().to_owned());
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    import(&desk, &[&["--no-tables", "--into", "typical"], &files[..]].concat());
    let output = desk.dyno(&["workload", "check", "typical", "--target", &server.url()]);
    assert_eq!(output.code, 0, "{output:#?}");
    for protocol in ["prepared", "extended", "simple"] {
        let set = format!("workload.protocol={protocol}");
        let record = run(&desk, "typical", &server.url(), (2, 60), &["--set", &set]);
        assert_proved(&record);
    }
    // A rollback to a savepoint has left nothing.
    assert_eq!(server.psql("SELECT count(*) FROM pb WHERE v >= 1000").trim(), "0");
}
