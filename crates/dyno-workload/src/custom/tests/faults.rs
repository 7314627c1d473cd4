//! Tests of errors: one folder for each kind of mistake.

use super::read;

/// The error for a folder with these files.
fn fault(files: &[(&str, &str)]) -> String {
    read(files).err().unwrap_or_else(|| panic!("{files:?} was read"))
}

/// The error for a workload with this text after its name, and a file `a.sql`.
fn of(text: &str) -> String {
    let text = format!("name = \"w\"\n{text}");
    fault(&[("workload.toml", &text), ("a.sql", "SELECT 1;\n-- name: two\nSELECT :x\n")])
}

/// The error for a workload with this generator.
fn of_draw(draw: &str) -> String {
    of(&format!("[draw]\nx = {draw}\n[transaction.t]\nsql = \"SELECT :x\"\n"))
}

/// The error for a workload with this transaction.
fn of_transaction(text: &str) -> String {
    of(&format!("writes = true\n[draw]\nx = 1\n[transaction.t]\n{text}\n"))
}

/// The error for a workload with this SQL file.
fn of_sql(sql: &str) -> String {
    let main = "name = \"w\"\n[draw]\nx = 1\ny = { text = 3 }\n[transaction.t]\nsql = \"t.sql\"\n";
    fault(&[("workload.toml", main), ("t.sql", sql)])
}

fn check(cases: &[(String, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter(|(told, expected)| told != expected)
        .map(|(told, expected)| format!("told     {told}\nexpected {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn missing_and_outside_workload_files_are_refused() {
    let elsewhere = "name = \"w\"\n[transaction.t]\nsql = \"../t.sql\"\n";
    let missing = "name = \"w\"\n[transaction.t]\nsql = \"t.sql\"\n";
    check(&[
        (
            fault(&[("a.sql", "")]),
            "w/workload.toml: it cannot be read: No such file or directory (os error 2); a workload is a folder with this \
             file; `dyno init --workload shop` writes one",
        ),
        (
            fault(&[("workload.toml", elsewhere)]),
            "w/workload.toml:3:8: \"../t.sql\" is not a file in the folder; name a file in the folder of the \
             workload",
        ),
        (
            fault(&[("workload.toml", missing)]),
            "w/workload.toml:3:8: w/t.sql: it cannot be read: No such file or directory (os error 2)",
        ),
        (
            fault(&[("workload.toml", "name = \"w\"\nweight = = 1")]),
            "w/workload.toml:2:10: not valid TOML: extra `=`, expected nothing; write [SECTION] and KEY = VALUE lines, and \
             texts in \"quotes\"",
        ),
    ]);
}

#[cfg(unix)]
#[test]
fn workload_files_that_are_links_are_refused() {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = parent.path().join("w");
    std::fs::create_dir(&folder).expect("a folder");
    std::os::unix::fs::symlink("/etc/hostname", folder.join("words.txt")).expect("a link");
    let text = "name = \"w\"\n[draw]\nx = { words = \"words.txt\" }\n[transaction.t]\nsql = \"SELECT :x\"\n";
    std::fs::write(folder.join("workload.toml"), text).expect("a file");
    let fault = super::CustomWorkload::read(&folder).expect_err("a link").to_string();
    assert!(fault.ends_with("it is not a regular file; put the file itself into the folder"), "{fault}");
}

#[test]
fn faulty_workload_file_is_reported_with_location() {
    check(&[
        (
            fault(&[("workload.toml", "about = \"x\"\n")]),
            "w/workload.toml:1:1: name is missing; write name = \"shop\"",
        ),
        (of("writs = true\n"), "w/workload.toml:2:1: writs: unknown key; did you mean writes?"),
        (of("writes = 1\n"), "w/workload.toml:2:10: writes: not true or false; write true"),
        (of("version = 2\n"), "w/workload.toml:2:11: version: 2 is not a whole number from 1 to 1"),
        (of(""), "w/workload.toml:1:1: transaction is missing; write [transaction.NAME]"),
        (
            of("[transaction]\n"),
            "w/workload.toml:2:2: transaction: the workload has no transactions; write [transaction.NAME]",
        ),
        (
            of("[transaction.commit]\nsql = \"SELECT 1\"\n"),
            "w/workload.toml:2:14: transaction.commit: not a valid name for a transaction; a name has \
             letters, digits and underscores, starts with a letter, and has at most 40 characters; not all, \
             commit, slice, connect",
        ),
        (
            of("[transaction.t]\nsql = \"SELECT 1\"\nweight = 0\n"),
            "w/workload.toml:2:2: transaction: all weights are 0; give one of them a weight",
        ),
        (
            of("[transaction.t]\nsql = \"SELECT 1\"\n[[invariant]]\nname = \"i\"\nsql = \"DELETE FROM t\"\n"),
            "w/workload.toml:6:8: an invariant only reads; write a SELECT",
        ),
        (
            of(
                "[transaction.t]\nsql = \"SELECT 1\"\n[[invariant]]\nname = \"i\"\nsql = \"SELECT 1; SELECT 2\"\n",
            ),
            "w/workload.toml:6:18: a second statement; write a separate [[invariant]]",
        ),
        (
            of("setup = { sql = \"INSERT INTO t VALUES (:x)\" }\n[transaction.t]\nsql = \"SELECT 1\"\n"),
            "w/workload.toml:2:40: :x is a parameter, but values are not drawn here; write the value",
        ),
    ]);
}

#[test]
fn invalid_draw_definitions_are_located() {
    check(&[
        (
            of_draw("{ unifrom = [1, 2] }"),
            "w/workload.toml:3:7: draw.x.unifrom: unknown generator; did you mean uniform?",
        ),
        (
            of_draw("{}"),
            "w/workload.toml:3:5: draw.x: no generator; write one of uniform, zipf, normal, exponential, \
             nurand, decimal_of, spelled, variable, permutation, sequence, decimal, choice, expr, text, \
             words, bytes, date, timestamp, uuid, template, json",
        ),
        (
            of_draw("{ uniform = [1, 2], theta = 1 }"),
            "w/workload.toml:3:25: draw.x.theta: unknown key; available: uniform, per, null_pct, null_if",
        ),
        (
            of_draw("{ uniform = [2, 1] }"),
            "w/workload.toml:3:17: draw.x.uniform: 2 is above 1; write the lower end first",
        ),
        (
            of_draw("{ uniform = \"1-2\" }"),
            "w/workload.toml:3:17: draw.x.uniform: not a range; write the lowest and the highest: [1, 1_000]",
        ),
        (
            of_draw("{ zipf = [1, 9], theta = 0 }"),
            "w/workload.toml:3:30: draw.x.theta: 0 is not from 0.01 to 10",
        ),
        (
            of_draw("{ normal = [1, 9] }"),
            "w/workload.toml:3:1: draw.x: sd is missing; write the standard deviation: sd = 10",
        ),
        (
            of_draw("{ normal = [1, 9], sd = 1, mean = 10 }"),
            "w/workload.toml:3:39: draw.x.mean: 10 is not within the range",
        ),
        (
            of_draw("{ exponential = [1, 9], mean = -1 }"),
            "w/workload.toml:3:36: draw.x.mean: -1 is not above 0",
        ),
        (
            of_draw("{ nurand = [1, 9] }"),
            "w/workload.toml:3:1: draw.x: a is missing; write the number A of TPC-C, clause 2.1.6: a = 1023",
        ),
        (
            of_draw("{ decimal = [1, 2], scale = 10 }"),
            "w/workload.toml:3:33: draw.x.scale: 10 is not a whole number from 0 to 9",
        ),
        (
            of_draw("{ choice = [1, \"a\"] }"),
            "w/workload.toml:3:20: draw.x.choice: its type differs from that of the first value; texts only, \
             or numbers only",
        ),
        (
            of_draw("{ choice = [1, 2], weights = [1] }"),
            "w/workload.toml:3:34: draw.x.weights: 1 weights for 2 values; write one weight for each value",
        ),
        (
            of_draw("{ text = [1, 2_000_000] }"),
            "w/workload.toml:3:18: draw.x.text: 2_000_000 is not a whole number from 0 to 1000000",
        ),
        (
            of_draw("{ text = 3, letters = \"a\\tb\" }"),
            "w/workload.toml:3:27: draw.x.letters: '\\t' is a control character, not a letter; take it out",
        ),
        (
            of_draw("{ text = 3, letters = \"\" }"),
            "w/workload.toml:3:27: draw.x.letters: no letter; write those that texts are made of",
        ),
        (
            of_draw("{ text = 4, holds = \"größe\", holds_pct = 10 }"),
            "w/workload.toml:3:25: draw.x.holds: longer than the shortest text; draw longer texts",
        ),
        (of_draw("{ words = [] }"), "w/workload.toml:3:15: draw.x.words: no words; write some"),
        (
            of_draw("{ words = \"no.txt\" }"),
            "w/workload.toml:3:16: w/no.txt: it cannot be read: No such file or directory (os error 2)",
        ),
        (
            of_draw("{ date = [\"2026-02-30\", \"2026-03-01\"] }"),
            "w/workload.toml:3:15: draw.x.date: \"2026-02-30\" is not valid; write [\"2020-01-01\", \"2026-12-31\"]",
        ),
        (
            of_draw("{ timestamp = [\"2026-03-02\", \"2026-03-01\"] }"),
            "w/workload.toml:3:19: draw.x.timestamp: the last comes before the first; write the earlier one first",
        ),
        (
            of_draw("{ uuid = 5 }"),
            "w/workload.toml:3:14: draw.x.uuid: 5 is not a version of UUIDs; write 4 or 7",
        ),
        (
            of_draw("{ uniform = [1, 2], per = \"row\" }"),
            "w/workload.toml:3:31: draw.x.per: \"row\" is not known; run, session, transaction, repeat or statement",
        ),
        (of_draw("{ template = \"a :b\" }"), "w/workload.toml:3:21: unknown name \"b\"; available: x"),
        (of_draw("{ expr = \"x + 1\" }"), "w/workload.toml:3:5: draw.x: depends on itself; see x → x"),
        (
            of_draw("{ uniform = [1, 2] }\ny = { expr = \"x\", per = \"session\" }"),
            "w/workload.toml:4:25: draw.y.per: it depends on x, which changes more often; omit `per`",
        ),
        (
            of_draw("{ text = 3 }\ny = { expr = \"1 + x\" }"),
            "w/workload.toml:4:19: x is not a number; name a number, or a number that a step reads",
        ),
        (of_draw("true"), "w/workload.toml:3:5: draw.x: true is not a value; write a number or a text"),
    ]);
}

#[test]
fn invalid_expressions_are_located() {
    check(&[
        (
            of_draw("{ expr = \"1 +\" }"),
            "w/workload.toml:3:18: the expression is incomplete; write a number or a name",
        ),
        (of_draw("{ expr = \"1 == 2\" }"), "w/workload.toml:3:17: == is not an operator; write ="),
        (of_draw("{ expr = \"(1\" }"), "w/workload.toml:3:17: the expression is incomplete; write )"),
        (
            of_draw("{ expr = \"1 2\" }"),
            "w/workload.toml:3:17: 2 where an operator is expected; write an operator",
        ),
        (
            of_draw("{ expr = \"mni(1, 2)\" }"),
            "w/workload.toml:3:15: unknown function mni; did you mean min?",
        ),
        (
            of_draw("{ expr = \"1 § 2\" }"),
            "w/workload.toml:3:17: § is not an operator; numbers, names, + - * / %, = <> < <= > >=, | # & ~ \
             << >>, and, or, not, and functions as min and max",
        ),
        (
            of_draw("{ expr = \"99999999999999999999\" }"),
            "w/workload.toml:3:15: 99999999999999999999 is not a number",
        ),
        (
            of_draw(&format!("{{ expr = \"{}1\" }}", "(".repeat(50))),
            "w/workload.toml:3:55: parentheses are nested too deeply; use fewer",
        ),
    ]);
}

#[test]
fn faulty_transactions_are_reported_with_location() {
    check(&[
        (
            of_transaction("weight = 1"),
            "w/workload.toml:5:14: transaction.t: the transaction has no statements; write sql = \"t.sql\"",
        ),
        (
            of_transaction("sql = \"SELECT 1\"\nwieght = 1"),
            "w/workload.toml:7:1: transaction.t.wieght: unknown key; did you mean weight?",
        ),
        (
            of_transaction("sql = \"SELECT 1\"\nweight = -1"),
            "w/workload.toml:7:10: transaction.t.weight: -1 is not a whole number from 0 to 1000000",
        ),
        (
            of_transaction("sql = \"SELECT 1\"\nisolation = \"snapshot\""),
            "w/workload.toml:7:13: transaction.t.isolation: \"snapshot\" is not an isolation level; \
             platform, read committed, repeatable read or serializable",
        ),
        (
            of_transaction("sql = \"SELECT 1\"\ncommit = \"never\""),
            "w/workload.toml:7:10: transaction.t.commit: \"never\" is not known; each or end",
        ),
        (
            of_transaction("sql = \"SELECT 1\"\ncommit = \"each\"\nisolation = \"serializable\""),
            "w/workload.toml:8:13: transaction.t.isolation: each statement commits separately, so there is \
             nothing to isolate; commit = \"end\" combines the statements into one transaction",
        ),
        (
            of_transaction("sql = \"SELECT 1\"\nthink = \"2h\""),
            "w/workload.toml:7:9: transaction.t.think: longer than an hour; write a shorter time",
        ),
        (
            of_transaction("sql = \"SELECT 1\"\nthink = 5"),
            "w/workload.toml:7:9: transaction.t.think: not a text; write a time with its unit, as in \"100ms\"",
        ),
        (
            of_transaction("sql = \"a.sql\"\nsteps = []"),
            "w/workload.toml:7:9: transaction.t.steps: there is no step; write one",
        ),
        (
            of_transaction("sql = \"a.sql\"\nsteps = [{ rnu = \"two\" }]"),
            "w/workload.toml:7:12: transaction.t.steps.rnu: there is no such step; did you mean run?",
        ),
        (
            of_transaction("sql = \"a.sql\"\nsteps = [{ run = \"tow\" }]"),
            "w/workload.toml:7:19: no statement has the name tow; did you mean two?",
        ),
        (
            of_transaction("steps = [{ run = \"two\" }]"),
            "w/workload.toml:6:19: the transaction has no file of SQL; write sql = \"FILE.sql\" in [transaction.t]",
        ),
        (
            of_transaction("sql = \"a.sql\"\nsteps = [{ run = \"two\" }]"),
            "w/a.sql:1:1: unnamed statement: the steps refer to statements by name; add `-- name: …` before \
             it and a step that runs it",
        ),
        (
            of_transaction("steps = [{ sql = \"SELECT 1\", rows = [2, 1] }]"),
            "w/workload.toml:6:37: transaction.t.steps.rows: 2 is above 1; write the lower end first",
        ),
        (
            of_transaction("steps = [{ sql = \"SELECT 1\", rows = 1, read = \"n\" }]"),
            "w/workload.toml:6:47: transaction.t.steps.read: a statement whose number is read tells no rows; read it as a column, read = [\"left\"], or take `rows` and `count` out",
        ),
        (
            of_transaction("steps = [{ sql = \"SELECT 1\", read = \"x\" }]"),
            "w/workload.toml:6:37: transaction.t.steps.read: x is drawn; give the number another name",
        ),
        (
            of_transaction(
                "steps = [{ if = \"n > 1\", steps = [{ sql = \"SELECT 1\" }] }, { sql = \"SELECT 2\", read = \"n\" }]",
            ),
            "w/workload.toml:6:18: n is not read before; read it in a step before this one",
        ),
        (
            of_transaction("steps = [{ sql = \"SELECT :n\" }, { sql = \"SELECT 2\", read = \"n\" }]"),
            "w/workload.toml:6:26: n is not read before; read it in a step before this one",
        ),
        (
            of_transaction("steps = [{ repeat = 3 }]"),
            "w/workload.toml:6:10: transaction.t.steps: steps is missing; write what is repeated: steps = [{ run = \"add_line\" }]",
        ),
        (
            of_transaction("steps = [{ repeat = -3, steps = [{ sql = \"SELECT 1\" }] }]"),
            "w/workload.toml:6:21: transaction.t.steps.repeat: -3 is no condition; write one: \"left < quantity\"",
        ),
        (
            of_transaction("commit = \"each\"\nsteps = [{ sql = \"SELECT 1\" }, { rollback = true }]"),
            "w/workload.toml:7:45: nothing to roll back, because each statement commits separately; commit = \
             \"end\" combines the statements into one transaction",
        ),
    ]);
}

#[test]
fn faulty_sql_statements_are_reported_with_location() {
    check(&[
        (of_sql(""), "w/t.sql:1:1: there is no statement; write one"),
        (
            of_sql("SELECT 'a"),
            "w/t.sql:1:8: the quote is not closed; write the quote where the text or the name ends",
        ),
        (
            of_sql("SELECT 'a\\'b'"),
            "w/t.sql:1:10: engines read a backslash before a quote in different ways; write a quote twice, or give the text as a drawn value",
        ),
        (of_sql("SELECT 1 /* a"), "w/t.sql:1:10: the comment is not closed; write */ where it ends"),
        (
            of_sql("SELECT $a$ b"),
            "w/t.sql:1:8: the dollar quote is not closed; write the same tag where it ends",
        ),
        (
            of_sql("SELECT $1"),
            "w/t.sql:1:8: a parameter has a number instead of a name; give it a name: `:name`, drawn in [draw]",
        ),
        (
            of_sql("\\set x 1\nSELECT 1"),
            "w/t.sql:1:1: a backslash outside of quotes is not SQL; remove commands of psql or mysql: only \
             SQL is sent",
        ),
        (of_sql("SELECT :xx"), "w/t.sql:1:8: unknown parameter \"xx\"; available: x, y"),
        (of_sql("-- ä\nSELECT :z"), "w/t.sql:2:8: unknown parameter \"z\"; available: x, y"),
        (
            of_sql("BEGIN; SELECT 1; COMMIT"),
            "w/t.sql:1:1: transaction control statement (BEGIN, COMMIT, …); remove it: Dyno begins and ends \
             transactions; `commit`, `isolation` and a step with `rollback` control them",
        ),
        (
            of_sql("CREATE TABLE t (a INT)"),
            "w/t.sql:1:1: a statement about tables; move it to the file of [setup] or [drop], or write \
             `definitions = true` if it is what you measure",
        ),
        (
            of_sql("PRAGMA journal_mode"),
            "w/t.sql:1:1: the statement PRAGMA is not allowed in a transaction; SELECT, VALUES, TABLE, WITH, \
             INSERT, UPDATE, DELETE, MERGE, REPLACE or CALL",
        ),
        (
            of_sql("DELETE FROM t"),
            "w/t.sql:1:1: the workload says that it does not write; write `writes = true` at the top of \
             workload.toml, or remove the statement",
        ),
        (
            of_sql("-- name: a\n-- name: b\nSELECT 1"),
            "w/t.sql:2:1: a second name for a statement, after a; remove one of them",
        ),
        (
            of_sql("-- name: a\nSELECT 1; -- name: b\n"),
            "w/t.sql:2:11: no statement follows the name b; remove the name, or write the statement",
        ),
        (
            of_sql("-- name: a\nSELECT 1\n-- name: b\nSELECT 2"),
            "w/t.sql:3:1: a name in the middle of a statement; end the statement before it with ;",
        ),
        (
            of_sql("-- name: a\nSELECT 1;\n-- name: a\nSELECT 2"),
            "w/t.sql:4:1: a second statement with the name a; give it another name",
        ),
        (
            of_sql("-- name: a b\nSELECT 1"),
            "w/t.sql:1:1: \"a b\" is not a valid name; a name has letters, digits and underscores, starts \
             with a letter, and has at most 40 characters",
        ),
        (
            of_sql("WITH a AS (SELECT 1)"),
            "w/t.sql:1:1: a statement without its verb; SELECT, VALUES, INSERT, UPDATE, DELETE or MERGE follows the tables of WITH",
        ),
        (
            of_sql("(1)"),
            "w/t.sql:1:1: not the beginning of a statement; SELECT, VALUES, TABLE, WITH, INSERT, UPDATE, DELETE, MERGE, REPLACE or CALL",
        ),
    ]);
}

#[test]
fn workload_without_sql_for_an_engine_is_refused() {
    let main = "name = \"w\"\n[transaction.t]\nsql = \"t.sql\"\n";
    let custom_workload =
        read(&[("workload.toml", main), ("t.mysql.sql", "SELECT 1")]).expect("one engine is enough");
    let fault = custom_workload.program("postgres").expect_err("there is none").to_string();
    assert!(
        fault.ends_with(
            "w/workload.toml:2:1: transaction.t: no SQL for postgres; write a file for all \
                             engines, or one for this engine"
        ),
        "{fault}"
    );
    assert!(custom_workload.program("mysql").is_ok());
    assert_eq!(custom_workload.engines().collect::<Vec<_>>(), ["mysql"]);
    // A variant is read and checked even if it is not used.
    let wrong = fault_of_variant(main, "SELECT :y");
    assert_eq!(wrong, "w/t.mysql.sql:1:8: unknown parameter \"y\"; draw it: `y = { … }` in [draw]");
}

fn fault_of_variant(main: &str, sql: &str) -> String {
    fault(&[("workload.toml", main), ("t.sql", "SELECT 1"), ("t.mysql.sql", sql)])
}

#[test]
fn errors_name_long_paths_in_full() {
    let path = format!("{}/script.sql", ["a-folder-with-a-fairly-long-name"; 6].join("/"));
    let fault = crate::custom::fault::WorkloadError::whole(path.as_str(), "a problem", "");
    let words = dyno_plan::PlanErrors::from(fault).to_string();
    assert!(words.contains(&path), "{words}");
}
