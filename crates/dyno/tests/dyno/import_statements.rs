//! `dyno import statements`: statements executed a known number of times become a workload that runs.

use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_passes};

fn import(desk: &TestEnv, args: &[&str]) -> Value {
    let (code, report) = desk.json(&[&["import", "statements"], args].concat());
    assert_eq!(code, 0, "{report:#}");
    report
}

/// A statement of `report` that contains these words.
fn statement<'a>(report: &'a Value, words: &str) -> &'a Value {
    let all = report["statements"].items();
    let entry = all.iter().find(|one| one["sql"].as_str().is_some_and(|sql| sql.contains(words)));
    entry.unwrap_or_else(|| panic!("{words}: {report:#}"))
}

/// The reason why the statements with `words` were left out.
fn left_out_reason(report: &Value, words: &str) -> String {
    let all = report["left_out"].items();
    let entry = all.iter().find(|one| one["sql"].as_str().is_some_and(|sql| sql.contains(words)));
    entry.unwrap_or_else(|| panic!("{words}: {report:#}"))["why"].text().to_owned()
}

/// Completes a draft: defines its generators by the text after `todo`, and allows it to write.
fn fill_in_draws(desk: &TestEnv, folder: &str, draws: &[(&str, &str)]) {
    let file = format!("{folder}/workload.toml");
    let text = std::fs::read_to_string(desk.file(&file)).unwrap();
    let line = |line: &str| match line.split_once(" = { todo = ") {
        Some((name, known)) if !line.starts_with('#') => {
            let original_draw = known.split("\" }").next().unwrap_or_default();
            let draw = draws.iter().find(|(words, _)| original_draw.contains(words));
            format!("{name} = {}\n", draw.unwrap_or_else(|| panic!("{line}")).1)
        }
        _ if line == "# writes = true" => "writes = true\n".to_owned(),
        _ => format!("{line}\n"),
    };
    desk.write(&file, &text.lines().map(line).collect::<String>());
}

/// Checks the finished folder on its target, and runs it there.
fn check_and_run(desk: &TestEnv, folder: &str, url: &str) -> Value {
    let checked = desk.dyno(&["workload", "check", folder, "--target", url]);
    assert_eq!(checked.code, 0, "{checked:#?}");
    // Writes to data not created by Dyno are listed, and need consent.
    let folder = format!("workload.folder={folder}");
    let first = desk.dyno(&["run", "--target", url, "--set", &folder, "--set", "run.time=1s"]);
    assert_eq!(first.code, 2, "{first:#?}");
    assert!(first.err.contains("--allow-writes"), "{}", first.err);
    assert!(first.err.contains(": UPDATE "), "{}", first.err);
    let allowed = desk.dyno(&[
        "run",
        "--allow-writes",
        "--target",
        url,
        "--set",
        &folder,
        "--set",
        "run.ops_per_session=9",
    ]);
    assert!(matches!(allowed.code, 0 | 1), "{allowed:#?}");
    assert!(allowed.err.contains("writes in update_"), "{allowed:#?}");
    let output = desk.dyno(&[
        "run",
        "--target",
        url,
        "--json",
        "--set",
        &folder,
        "--set",
        "run.warmup=0s",
        "--set",
        "run.sessions_per_schema=2",
        "--set",
        "run.ops_per_session=60",
    ]);
    assert!(output.out.starts_with('{'), "{output:#?}");
    let record: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    for name in ["commits_whole", "operations"] {
        assert_passes(&record, name);
    }
    record
}

const TABLES: &str = "CREATE TABLE accounts (id INT PRIMARY KEY, city VARCHAR(40), balance DECIMAL(12, 2) NOT NULL, opened DATE);
                      CREATE TABLE postings (account INT, delta DECIMAL(12, 2));";

/// An application's statements with their counts. Servers remove the literals from the texts.
fn application_sql(times: u32) -> String {
    let mut sql = String::new();
    let mut add = |count: u32, statement: &dyn Fn(u32) -> String| {
        (0..count).for_each(|number| sql.push_str(&format!("{};\n", statement(number))));
    };
    add(7 * times, &|id| format!("SELECT balance FROM accounts WHERE id = {id}"));
    add(4 * times, &|id| format!("UPDATE accounts SET balance = balance + 1.5 WHERE id = {id}"));
    add(3 * times, &|id| format!("INSERT INTO postings (account, delta) VALUES ({id}, 2.25)"));
    add(2 * times, &|id| {
        format!(
            "SELECT COUNT(*) FROM accounts WHERE city = 'hunter{id}' AND opened > DATE '2026-01-0{}'",
            id % 9 + 1
        )
    });
    add(times, &|_| "SELECT id FROM accounts ORDER BY id LIMIT 3".to_owned());
    sql
}

const DRAWS: [(&str, &str); 7] = [
    ("opened", "{ date = [\"2026-01-01\", \"2026-12-31\"] }"),
    ("date", "{ date = [\"2026-01-01\", \"2026-12-31\"] }"),
    ("city", "{ text = [4, 8], literal = true }"),
    ("limit", "{ uniform = [1, 5] }"),
    ("delta", "{ decimal = [0.00, 5.00] }"),
    ("balance", "{ decimal = [0.00, 5.00] }"),
    ("", "{ uniform = [1, 100] }"),
];

/// Asserts the counts of the statements of [`application_sql`], and the weights in the draft.
fn assert_counted(desk: &TestEnv, report: &Value, folder: &str, times: u64) {
    let text = std::fs::read_to_string(desk.file(&format!("{folder}/workload.toml"))).unwrap();
    for (words, calls, writes, parameters) in [
        ("balance", 7, false, 1),
        ("UPDATE", 4, true, 2),
        ("INSERT", 3, true, 2),
        ("city", 2, false, 2),
        ("LIMIT", 1, false, 1),
    ] {
        let entry = statement(report, words);
        assert_eq!(entry["calls"], calls * times, "{entry:#}");
        assert_eq!(
            (&entry["writes"], &entry["parameters"]),
            (&Value::from(writes), &Value::from(parameters)),
            "{entry:#}"
        );
        let name = entry["name"].text();
        let section = format!("[transaction.{name}]\nweight = {}\n", calls * times);
        assert!(text.contains(&section), "{section}\n{text}");
    }
    assert!(!text.contains("hunter"), "literals were taken out: {text}");
}

pub(crate) fn postgres() -> Option<Postgres> {
    let version = Postgres::available().into_iter().find(|version| {
        let library = |folder: &str| version.bins.join(folder).join("pg_stat_statements.so").exists();
        library("../lib") || library("../lib/postgresql")
    });
    if version.is_none() {
        dyno_testbed::skip(
            "statements of PostgreSQL",
            "no version here has the extension pg_stat_statements",
        );
    }
    Some(Postgres::start(
        &version?,
        &[
            ("shared_preload_libraries", "pg_stat_statements"),
            ("autovacuum", "off"),
            ("log_statement", "none"),
        ],
    ))
}

#[test]
fn postgres_statement_history_becomes_a_runnable_workload() {
    let Some(server) = postgres() else { return };
    let desk = TestEnv::new();
    let url = server.url();
    let missing_extension = desk.dyno(&["import", "statements", "--target", &url]);
    assert_eq!(missing_extension.code, 2, "{missing_extension:#?}");
    assert!(
        missing_extension.err.contains("CREATE EXTENSION pg_stat_statements"),
        "{}",
        missing_extension.err
    );
    server.psql("CREATE EXTENSION pg_stat_statements");
    server.psql(TABLES);
    server.psql("INSERT INTO accounts SELECT x, 'Rome', 10, '2026-02-02' FROM generate_series(1, 100) x");
    server.psql("CREATE SCHEMA odd; CREATE TABLE odd.\"a\"\"b:c\" (\"x:y\" int[], \"\u{1b}[31m\" int)");
    server.psql("SELECT pg_stat_statements_reset()");
    server.psql(&application_sql(3));
    server.psql("BEGIN; SELECT relname FROM pg_class LIMIT 1; COMMIT; SET work_mem = '8MB'; CREATE TABLE more (a int)");
    let odd = "SELECT a.\"x:y\"[1:2]::int[], \"\u{1b}[31m\" FROM odd.\"a\"\"b:c\" a WHERE \"\u{1b}[31m\" = 5 AND a.\"x:y\"[1:\"\u{1b}[31m\"] = '{1}' -- \"\"\" name: x {y}";
    server.psql(odd);
    server.psql(odd);

    // Without consent no text and no table name is shown or written.
    let figures = desk.dyno(&["import", "statements", "--target", &url]);
    assert_eq!(figures.code, 0, "{figures:#?}");
    assert!(!figures.out.contains("accounts"), "{figures:#?}");
    assert!(!figures.err.contains("accounts"), "{figures:#?}");
    assert!(figures.err.contains("--sql-text"), "{}", figures.err);
    let refused = desk.dyno(&["import", "statements", "--target", &url, "--into", "w"]);
    assert!(refused.code == 2, "{refused:#?}");
    assert!(!desk.file("w").exists(), "{refused:#?}");

    // Statements that the user may not see are counted, and so is an unknown user.
    server.psql("CREATE ROLE stranger LOGIN; GRANT pg_read_all_settings TO stranger");
    let stranger = server.url_of("stranger", "postgres");
    let hidden = desk.dyno(&["import", "statements", "--target", &stranger, "--sql-text"]);
    assert!(hidden.code == 2, "{hidden:#?}");
    assert!(hidden.out.contains("this user may not see it"), "{hidden:#?}");
    let nobody = desk.dyno(&["import", "statements", "--target", &url, "--user", "no'body"]);
    assert!(nobody.code == 2, "{nobody:#?}");
    assert!(nobody.err.contains("no statement remains"), "{nobody:#?}");
    let schema = desk.dyno(&["import", "statements", "--target", &url, "--schema", "public"]);
    assert!(schema.code == 2, "{schema:#?}");
    assert!(schema.err.contains("leave --schema out"), "{schema:#?}");

    let args = ["--target", &url, "--sql-text", "--into", "w", "--order", "calls"];
    let report = import(&desk, &args);
    assert_counted(&desk, &report, "w", 3);
    let types = |words: &str| statement(&report, words)["types"].to_string();
    assert_eq!(types("UPDATE"), r#"["numeric","integer"]"#);
    assert_eq!(types("city"), r#"["text","date"]"#);
    assert_eq!(statement(&report, "x:y")["calls"], 2);
    for (words, reason) in [
        ("BEGIN", "begin and end"),
        ("pg_class", "catalogs"),
        ("work_mem", "settings"),
        ("CREATE TABLE more", "makes"),
    ] {
        assert!(
            left_out_reason(&report, words).contains(reason),
            "{words}: {}",
            left_out_reason(&report, words)
        );
    }
    // Every value without a generator is listed as still to be defined.
    let checked = desk.dyno(&["workload", "check", "w"]);
    assert_eq!(checked.code, 2, "{checked:#?}");
    let undrawn = checked.err.lines().filter(|line| line.contains("no generator defined")).count();
    assert_eq!(undrawn as u64, report["undrawn"].count(), "{}", checked.err);
    assert!(checked.err.contains("w/workload.toml:"), "{}", checked.err);

    let draws =
        [
            &[
                ("integer[]", "{ choice = [\"{1}\"], literal = true }"),
                ("1, integer", "{ uniform = [1, 5] }"),
            ][..],
            &DRAWS,
        ]
        .concat();
    fill_in_draws(&desk, "w", &draws);
    let record = check_and_run(&desk, "w", &url);
    // Queries of Dyno itself are left out.
    let again = import(&desk, &["--target", &url, "--sql-text", "--top", "100"]);
    for entry in again["statements"].items() {
        let sql = entry["sql"].text();
        assert!(["accounts", "postings", "x:y"].iter().any(|name| sql.contains(name)), "Dyno's own: {sql}");
    }
    // The record contains nothing of the texts.
    assert!(!record.to_string().contains("x:y"));
    assert!(!record.to_string().contains("FROM accounts"));
    assert_counts_own_statements(&desk, &url);
    // A terminal receives nothing that it would act on.
    let shown = desk.dyno(&[&["import", "statements", "--force"], &args[..]].concat());
    assert_eq!(shown.code, 0, "{shown:#?}");
    assert!(!shown.out.contains('\u{1b}'), "{}", shown.out);
    assert!(shown.out.contains("\\u{1b}[31m"), "{}", shown.out);
    let files = std::fs::read_dir(desk.file("w")).unwrap();
    for file in files {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

/// A run of the folder `w` counts its statements under their names, and Dyno's monitoring apart from them.
fn assert_counts_own_statements(desk: &TestEnv, url: &str) {
    let args = ["run", "--target", url, "--json", "--set", "workload.folder=w", "--set", "run.time=1s"];
    let output = desk.dyno(&args);
    let record: Value = serde_json::from_str(&output.out).unwrap_or_else(|_| panic!("{output:#?}"));
    let counted = &record["statements"];
    let statements = counted["statements"].as_array().unwrap_or_else(|| panic!("{counted:#}"));
    let update = statements
        .iter()
        .find(|one| one["operation"].as_str().is_some_and(|name| name.starts_with("update_")));
    let update = update.unwrap_or_else(|| panic!("{counted:#}"));
    assert!(update["counts"]["calls"].as_u64() > Some(0), "{counted:#}");
    assert_eq!(update["counts"]["rows"].as_f64(), update["counts"]["calls"].as_f64(), "{counted:#}");
    assert!(counted["monitoring"]["counts"]["calls"].as_u64() > Some(0), "{counted:#}");
    let text = counted["statements"].to_string();
    assert!(!text.contains("dyno"), "{text}");
    assert!(!text.contains("pg_stat"), "{text}");
    assert!(!text.contains("FROM accounts"), "{text}");
    let shown = desk.dyno(&["show", record["id"].text()]);
    assert!(shown.out.contains("top statements"), "{shown:#?}");
    assert!(shown.out.contains("Dyno's own monitoring"), "{shown:#?}");
}

#[test]
fn mysql_statement_history_becomes_a_runnable_workload() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[("performance_schema", "ON")]);
        let desk = TestEnv::new();
        let url = server.url();
        server.sql(TABLES);
        let rows: Vec<String> = (1..=100).map(|id| format!("({id}, 'Rome', 10, '2026-02-02')")).collect();
        server.sql(&format!("INSERT INTO accounts VALUES {}", rows.join(", ")));
        server.sql("TRUNCATE performance_schema.events_statements_summary_by_digest");
        server.sql(&application_sql(2));
        server.sql("BEGIN; SELECT id FROM accounts WHERE id IN (1, 2, 3); COMMIT; SET @x = 1; CREATE TABLE more (a int)");
        server.sql("SELECT table_name FROM information_schema.tables LIMIT 1");
        let long: Vec<String> = (0..400).map(|number| format!("id + {number} AS column_{number}")).collect();
        server.sql(&format!("SELECT {} FROM accounts", long.join(", ")));
        let report = import(&desk, &["--target", &url, "--sql-text", "--into", "w", "--order", "calls"]);
        assert_counted(&desk, &report, "w", 2);
        assert_eq!(statement(&report, "IN (...)")["calls"], 1, "{report:#}");
        for (words, reason) in [
            ("column_1", "beginning of the text"),
            ("BEGIN", "begin and end"),
            ("FROM `information_schema`", "catalogs"),
            ("CREATE TABLE", "makes"),
        ] {
            assert!(
                left_out_reason(&report, words).contains(reason),
                "{words}: {}",
                left_out_reason(&report, words)
            );
        }
        fill_in_draws(&desk, "w", &DRAWS);
        let record = check_and_run(&desk, "w", &url);

        // The run executed prepared statements, and read the server's counters.
        let again = import(&desk, &["--target", &url, "--sql-text", "--order", "calls", "--top", "100"]);
        let calls = statement(&again, "UPDATE")["calls"].count();
        let name = statement(&report, "UPDATE")["name"].text();
        let notes = again["notes"].to_string();
        if record["targets"][0]["product"] == "MariaDB" {
            assert!(calls == 8, "{again:#}");
            assert!(notes.contains("MariaDB keeps no digests"), "{again:#}");
            let counted = &record["statements"];
            assert_eq!(counted["statements"][0]["id"], "statement/com/Execute", "{counted:#}");
            assert!(counted["notes"].to_string().contains("events_statements_current"), "{counted:#}");
        } else {
            let window = record["ops"][name]["count"].count();
            assert!(calls >= 8 + window, "{window} {again:#}");
            assert!(!notes.contains("no digests"), "{window} {again:#}");
            assert_counts_own_executions(&record, name, window);
        }
        for entry in again["statements"].items() {
            let sql = entry["sql"].text();
            assert!(sql.contains("accounts") || sql.contains("postings"), "Dyno's own: {sql}");
        }
    }
}

/// The digests of a run have the executions of its window under the name of the operation, and nothing of Dyno's own.
fn assert_counts_own_executions(record: &Value, name: &str, window: u64) {
    let counted = &record["statements"];
    let statements = counted["statements"].items();
    let update = statements
        .iter()
        .find(|one| one["operation"].as_str().is_some_and(|operation| operation.starts_with(name)));
    let calls = update.unwrap_or_else(|| panic!("{counted:#}"))["counts"]["calls"].count();
    assert!(calls >= window, "{calls} of {window}: {counted:#}");
    assert!(counted["monitoring"]["counts"]["calls"].count() > 0, "{counted:#}");
    for words in ["dyno_", "SHOW ", "FROM `accounts`"] {
        assert!(!counted["statements"].to_string().contains(words), "{words}: {counted:#}");
    }
}

#[test]
fn missing_statement_history_is_reported_with_a_hint() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[("performance_schema", "OFF")]);
        let disabled_output = TestEnv::new().dyno(&["import", "statements", "--target", &server.url()]);
        assert_eq!(disabled_output.code, 2, "{disabled_output:#?}");
        assert!(disabled_output.err.contains("performance_schema = ON"), "{}", disabled_output.err);
    }
    let sqlite_output = TestEnv::new().dyno(&["import", "statements", "--target", "sqlite:a.db"]);
    assert_eq!(sqlite_output.code, 2, "{sqlite_output:#?}");
    assert!(sqlite_output.err.contains("keeps no statistics of statements"), "{}", sqlite_output.err);
    assert!(sqlite_output.err.contains("dyno init --workload"), "{}", sqlite_output.err);
}

const HTML: &str = include_str!("../../../dyno-awr/tests/reports/awr_12.2_rac.html");
const TEXT: &str = include_str!("../../../dyno-awr/tests/reports/awr_12.2_rac.txt");

#[test]
fn top_sql_of_awr_report_becomes_a_runnable_workload() {
    let desk = TestEnv::new();
    let texts = "<h3 class=\"awr\">Complete List of SQL Text</h3><table><tr><th>SQL Id</th><th>SQL Text</th></tr>\
                 <tr><td>a1b2c3d4e5f6g</td><td>SELECT secret_column FROM secret_table WHERE id = :1 AND kind = :&quot;SYS_B_0&quot;</td></tr>\
                 <tr><td>b1b2c3d4e5f6g</td><td>UPDATE secret_table SET kind = kind + :B1 WHERE id = :1</td></tr>\
                 <tr><td>c1b2c3d4e5f6g</td><td>BEGIN pay(:1); END;</td></tr></table>";
    let row = |id: &str, calls: &str| {
        format!(
            "<tr><td>10.0</td><td>{calls}</td><td>0.00</td><td>1</td><td>1</td><td>1</td><td>{id}</td><td>m</td><td>x...</td></tr>"
        )
    };
    let more = format!(
        "{}{}{}</table>",
        row("b1b2c3d4e5f6g", "1,500"),
        row("c1b2c3d4e5f6g", "7"),
        row("d1b2c3d4e5f6g", "3")
    );
    let whole = HTML.replacen(
        "SELECT secret_column...</td></tr></table>",
        &format!("SELECT secret_column...</td></tr>{more}{texts}"),
        1,
    );
    desk.write("awr.html", &whole);
    let html_report = import(&desk, &["--awr", "awr.html", "--sql-text", "--into", "w"]);
    assert_eq!(html_report["statements"].items().len(), 2, "{html_report:#}");
    assert_eq!(statement(&html_report, "SELECT")["calls"], 540_000);
    assert_eq!(statement(&html_report, "SELECT")["time_s"], 1500.5);
    assert_eq!(statement(&html_report, "UPDATE")["calls"], 1_500);
    assert!(left_out_reason(&html_report, "pay").contains("PL/SQL"));
    let left = html_report["left_out"].items();
    let cut = left.iter().find(|one| one["id"] == "d1b2c3d4e5f6g").unwrap();
    assert!(cut["why"].text().contains("beginning of the text"), "{cut:#}");
    let text = std::fs::read_to_string(desk.file("w/workload.toml")).unwrap();
    assert!(text.contains("[transaction.select_secret_table]\nweight = 540000\n"), "{text}");

    // No Oracle is contacted: the statements run on SQLite as well.
    std::fs::create_dir(desk.file("s")).unwrap();
    desk.write("s/workload.toml", "name = \"s\"\nwrites = true\n[setup]\nsql = \"CREATE TABLE secret_table (id INTEGER PRIMARY KEY, kind INTEGER, secret_column TEXT); INSERT INTO secret_table VALUES (1, 1, 'x')\"\n[transaction.t]\nsql = \"SELECT 1\"\n");
    let url = "sqlite:t.db";
    let made = desk.dyno(&["load", "--target", url, "--set", "workload.folder=s"]);
    assert_eq!(made.code, 0, "{made:#?}");
    fill_in_draws(&desk, "w", &[("", "{ uniform = [1, 1] }")]);
    check_and_run(&desk, "w", url);
    // Consent applies only to this target and this version of the workload; a read-only workload needs none.
    let run = |url: &str| {
        desk.dyno(&["run", "--target", url, "--set", "workload.folder=w", "--set", "run.ops_per_session=9"])
    };
    let _ = std::fs::copy(desk.file("t.db"), desk.file("u.db")).unwrap();
    let other = run("sqlite:u.db");
    assert!(other.code == 2, "{other:#?}");
    assert!(other.err.contains("UPDATE secret_table"), "{other:#?}");
    desk.write(
        "w/update_secret_table.sql",
        "UPDATE secret_table SET kind = :update_secret_table_kind WHERE id = :update_secret_table_id;",
    );
    let changed = run(url);
    assert!(changed.code == 2, "{changed:#?}");
    assert!(changed.err.contains("--allow-writes"), "{changed:#?}");
    std::fs::create_dir(desk.file("r")).unwrap();
    desk.write(
        "r/workload.toml",
        "name = \"r\"\nwrites = true\n[transaction.t]\nsql = \"SELECT kind FROM secret_table\"\n",
    );
    let reads = desk.dyno(&[
        "run",
        "--target",
        "sqlite:u.db",
        "--set",
        "workload.folder=r",
        "--set",
        "run.ops_per_session=9",
    ]);
    assert!(!reads.err.contains("--allow-writes"), "{reads:#?}");

    // A text report may truncate statements: reads are imported with a comment on that, writes are not.
    desk.write("awr.txt", TEXT);
    let text_report = import(&desk, &["--awr", "awr.txt", "--sql-text", "--into", "t"]);
    assert_eq!(text_report["statements"].items().len(), 1, "{text_report:#}");
    let text = std::fs::read_to_string(desk.file("t/workload.toml")).unwrap();
    assert!(text.contains("# The source does not tell whether this is the whole text."), "{text}");
    desk.write(
        "up.txt",
        &TEXT.replace(
            "SELECT secret_column FROM secret_table WHERE",
            "UPDATE secret_table SET secret_column = 1",
        ),
    );
    let truncated_output = desk.dyno(&["import", "statements", "--awr", "up.txt"]);
    assert!(truncated_output.code == 2, "{truncated_output:#?}");
    assert!(truncated_output.out.contains("beginning of the text"), "{truncated_output:#?}");
    let conflicting_output = desk.dyno(&["import", "statements", "--awr", "awr.txt", "--target", url]);
    assert!(conflicting_output.code == 2, "{conflicting_output:#?}");
    assert!(conflicting_output.err.contains("are not allowed with --awr"), "{conflicting_output:#?}");
}
