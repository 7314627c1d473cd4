//! Parses every statement with ANTLR's grammar of Oracle's SQL and PL/SQL and checks that its binds are those
//! in the code.
//!
//! The grammar runs in Node.js (`tests/plsql`); `scripts/testbeds.sh` fetches it. Without it, parsing is
//! skipped and binds are found by a scan of the text.

mod ready;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use dyno_plan::{Commit, DataSpec, Redo};

use super::counters::{OracleInstanceContext, OracleStatementReader, sessions_in};
use super::layout::{TestTable, column_definitions, copy_sql, indexes, names_and_binds};
use super::ops::OracleStatementTexts;
use super::sql;
use dyno_engine::data::TableKind;

/// One statement as the engine sends it.
#[derive(Clone)]
struct Sent {
    name: String,
    sql: String,
    binds: Vec<String>,
}

fn sent(name: &str, sql: String, binds: &[&str]) -> Sent {
    Sent { name: name.to_owned(), sql, binds: binds.iter().map(|bind| (*bind).to_owned()).collect() }
}

/// The binds that the code passes to each statement that is sent as in its file, except for names.
const GIVEN: &[(sql::OracleSqlFile, &[&str])] = &[
    (sql::AWR_PACK, &[]),
    (sql::AWR_REPORT, &["dbid", "instance", "first_snapshot", "last_snapshot"]),
    (sql::AWR_SNAPSHOT, &["snapshot"]),
    (sql::AWR_WHERE, &[]),
    (sql::CLEAR_TABLES, &[]),
    (sql::AWR_GLOBAL_REPORT, &["dbid", "first_snapshot", "last_snapshot"]),
    (sql::BROKEN_CALL, &["sid", "serial_no"]),
    (sql::BUFFER_CACHE, &[]),
    (sql::COMMENT, &[]),
    (sql::COMPILATION_ERRORS, &["name"]),
    (sql::COUNT_FEW, &[]),
    (sql::COUNTERS_OBSERVER, &[]),
    (sql::COUNTERS_OTHERS, &[]),
    (sql::SAMPLE_ALL, &[]),
    (sql::SAMPLE_OTHERS, &[]),
    (sql::CREATE_CHUNKS, &[]),
    (sql::CREATE_INDEX, &[]),
    (sql::CREATE_META, &[]),
    (sql::CREATE_OBJECTS, &[]),
    (sql::CREATE_TABLE, &[]),
    (sql::CREATE_TABLES, &[]),
    (sql::DATABASE, &[]),
    (sql::DROP_TABLE, &[]),
    (sql::FORGET_OBJECT, &["kind", "name"]),
    (sql::FREE_SPACE, &["tablespace"]),
    (sql::GATHER_STATISTICS, &["table_name"]),
    (sql::INDEX_THERE, &["index_name"]),
    (sql::INSTANCE, &[]),
    (sql::INSTANCES, &[]),
    (sql::IO_CALIBRATE, &[]),
    (sql::ISOLATION, &[]),
    (sql::LOCK_HOLDER, &[]),
    (sql::LOCK_SERVER_HOLDER, &[]),
    (sql::LOCK_TAKE, &["outcome", "id", "lockmode"]),
    (sql::MARK_SOCKET, &["long_text"]),
    (sql::MEASURE_ROWS, &[]),
    (sql::MEASURE_TABLE, &["table_name"]),
    (sql::NFS_SERVERS, &[]),
    (sql::NOTE_CHUNK, &["kind", "schema_no", "first_position", "row_count"]),
    (sql::NOTE_META, &["name", "value"]),
    (sql::NOTE_META_NOW, &["name"]),
    (sql::NOTE_OBJECT, &["kind", "name", "mark"]),
    (sql::NOTE_TABLE, &["kind", "schema_no", "name", "row_count", "blocks", "bytes"]),
    (sql::OTHERS, &["con_id"]),
    (sql::PRIVILEGES, &[]),
    (sql::PROFILE_LIMITS, &[]),
    (sql::QUOTA, &["tablespace"]),
    (sql::READ_CHUNKS, &[]),
    (sql::READ_META, &[]),
    (sql::READ_OBJECTS, &[]),
    (sql::READ_TABLES, &[]),
    (sql::REDO_LOGS, &[]),
    (sql::SAMPLE_WAITS, &[]),
    (sql::SESSION_COUNTS, &[]),
    (sql::SESSION_FORMATS, &[]),
    (sql::SESSION_NOWAIT, &[]),
    (sql::SESSION_WAIT, &[]),
    (sql::SESSIONS_PER_USER, &[]),
    (sql::SETTINGS, &[]),
    (sql::STATSPACK_SNAPSHOT, &["snapshot"]),
    (sql::STATSPACK_THERE, &[]),
    (sql::TABLES_THERE, &[]),
    (sql::TABLE_SIZES, &[]),
    (sql::TABLESPACE, &["tablespace"]),
];

/// The same for statements that check the data by version or by key.
const GIVEN_TOO: &[(sql::OracleSqlFile, &[&str])] = &[
    (sql::COUNT_SECONDARY, &["value"]),
    (sql::OWN_COMMITS, &[]),
    (sql::OWN_PLACES, &["last_key"]),
    (sql::OWN_ROWS, &["last_key"]),
    (sql::PDB_MODE, &[]),
    (sql::SWEEP_UP, &["last_key", "most"]),
    (sql::SPOT_BLOCKS, &[]),
    (sql::COUNTERS_SHAPE, &[]),
    (sql::SPOT_CONSTRAINTS, &["table_name"]),
    (sql::SPOT_INDEXES, &["table_name"]),
    (sql::SPOT_KEY, &["key"]),
    (sql::SHOW_PLAN, &[]),
    (sql::FIND_INDEX, &["object_name"]),
    (sql::FIND_TABLE, &["object_name"]),
    (sql::SPOT_LARGEST, &[]),
    (sql::SPOT_SMALLEST, &[]),
    (sql::SPOT_TRIGGERS, &["table_name"]),
    (sql::VERSION, &[]),
    (sql::VERSION_122, &[]),
    (sql::VERSIONS, &[]),
    (sql::WHO, &[]),
];

/// A spec with or without a table to scan and a secondary key.
fn spec(scan_rows: u64, secondary: bool) -> DataSpec {
    DataSpec {
        schemas: 12,
        rows: 500,
        scan_rows,
        block_size: 8192,
        compressible: 0,
        seed: 1,
        secondary,
        copied: false,
    }
}

/// Every statement that the engine can send, in every variant with different text.
fn everything() -> Vec<Sent> {
    let (names, binds) = names_and_binds();
    let rows_table = TestTable { prefix: "dyno_", kind: TableKind::Rows, schema: 12, rows: 500 };
    let (table, text) = (rows_table.name(), dyno_engine::layout::text_columns(" || "));
    let columns = column_definitions(&rows_table, &spec(0, true));
    let [index, secondary_index] = indexes(&rows_table, &spec(0, true)).try_into().unwrap();
    let fill = |statement: sql::OracleSqlFile| {
        statement.with(&[
            ("table", &table),
            ("columns", &columns),
            ("index", &index.0),
            ("column", index.1),
            ("names", &names),
            ("binds", &binds),
            ("text", &text),
            ("tablespace", "TABLESPACE USERS"),
            ("logging", "NOLOGGING"),
            ("mark", "dyno load 0123456789abcdef"),
            ("pct", "0.500000"),
            ("seed", "4294967295"),
            ("view", "gv$session"),
            ("inst", "inst_id"),
            ("level", "SERIALIZABLE"),
        ])
    };
    let mut all: Vec<Sent> = GIVEN
        .iter()
        .chain(GIVEN_TOO)
        .map(|(statement, binds)| sent(statement.name, fill(*statement), binds))
        .collect();
    let text_columns: Vec<String> = (2..=20).map(|column| format!("c{column}")).collect();
    let mut insert = vec!["custid".to_owned()];
    insert.extend(text_columns.clone());
    all.push(Sent { name: "insert_rows".into(), sql: fill(sql::INSERT_ROWS), binds: insert });
    for schema in [2, 20] {
        all.push(sent("copy_rows", copy_sql(&TestTable { schema, ..rows_table }, 1), &[]));
    }
    let older = column_definitions(&rows_table, &spec(0, false));
    all.push(sent(
        "create_table",
        sql::CREATE_TABLE.with(&[("table", &table), ("columns", &older), ("tablespace", "")]),
        &[],
    ));
    let on_secondary = sql::CREATE_INDEX.with(&[
        ("index", &secondary_index.0),
        ("table", &table),
        ("column", secondary_index.1),
        ("tablespace", ""),
        ("logging", "LOGGING"),
    ]);
    all.push(sent("create_index", on_secondary, &[]));
    for order in dyno_engine::executed_statements::StatementOrder::ALL {
        let ordered = sql::SEEN.with(&[("order", super::executed_statements::order(order))]);
        all.push(sent("seen", ordered, &["schema_name", "most"]));
    }
    all.push(sent("isolation", sql::ISOLATION.with(&[("level", "READ COMMITTED")]), &[]));
    for statement in [sql::LOCK_HOLDER, sql::LOCK_SERVER_HOLDER, sql::SESSION_COUNTS] {
        all.push(sent(statement.name, sessions_in(statement, "v$session"), &[]));
    }
    for surroundings in
        [OracleInstanceContext { rac: false, con_id: 0 }, OracleInstanceContext { rac: true, con_id: 3 }]
    {
        let reader = OracleStatementReader::new(surroundings);
        all.push(sent("cursor_counts", reader.sql(sql::CURSOR_COUNTS), &["most"]));
        all.push(sent("cursor_texts", reader.sql(sql::CURSOR_TEXTS), &["ids"]));
        for source in surroundings.sources() {
            let binds: &[&str] = if source.con_id.is_some() { &["con_id"] } else { &[] };
            all.push(sent(source.statement.name, source.sql(), binds));
        }
    }
    for (redo, commit, spec) in [
        (Redo::Lite, Commit::Wait, spec(500, true)),
        (Redo::Heavy, Commit::Nowait, spec(0, false)),
        (Redo::Heavy, Commit::Plsql, spec(500, true)),
    ] {
        let texts = OracleStatementTexts::new(12, redo, commit, &spec);
        let updated =
            if redo == Redo::Heavy { text_columns.clone() } else { vec!["c2".into(), "c20".into()] };
        let mut update = [updated, vec!["first_key".into(), "last_key".into()]].concat();
        let mut insert = [vec!["key".to_owned()], text_columns.clone()].concat();
        let mut delete = vec!["key".to_owned()];
        if commit == Commit::Plsql {
            for binds in [&mut update, &mut insert, &mut delete] {
                binds.push("changed".into());
            }
        }
        let slice = ["list", "work_unit", "prefix", "tail", "tails", "width"];
        let outs =
            ["selected", "looked_up", "scanned", "by_secondary", "updated", "inserted", "deleted", "commits"];
        all.push(Sent { name: format!("update {commit:?}"), sql: texts.update, binds: update });
        all.push(Sent { name: format!("insert {commit:?}"), sql: texts.insert, binds: insert });
        all.push(Sent { name: format!("delete {commit:?}"), sql: texts.delete, binds: delete });
        all.push(sent("secondary", texts.secondary, &["value"]));
        all.push(sent("select", texts.select, &["first_key", "last_key"]));
        all.push(sent("lookup", texts.lookup, &["key"]));
        all.push(sent("scan", texts.scan, &[]));
        all.push(sent("found", texts.found, &["first_key", "last_key"]));
        let fresh_binds = ["stamp", "run_prefix", "session_prefix", "first_key", "last_key"];
        all.push(sent("fresh", texts.fresh, &fresh_binds));
        all.push(sent("slice_select", texts.slice_select, &["list", "work_unit", "selected"]));
        all.push(sent("slice_lookup", texts.slice_lookup, &["list", "looked_up"]));
        all.push(sent("slice_scan", texts.slice_scan, &["times", "scanned"]));
        all.push(sent("slice_secondary", texts.slice_secondary, &["list", "by_secondary"]));
        all.push(sent(
            "slice_update",
            texts.slice_update,
            &[slice.as_slice(), &["updated", "commits"]].concat(),
        ));
        all.push(sent("slice_mixed", texts.slice_mixed, &[slice.as_slice(), &outs].concat()));
    }
    let mut unique_sql = BTreeSet::new();
    all.retain(|statement| unique_sql.insert(statement.sql.clone()));
    all
}

/// The binds of a text without comments, in order: the names after a colon outside quotes.
pub(crate) fn scan_binds(sql: &str) -> Vec<String> {
    let mut binds: Vec<String> = Vec::new();
    for (index, part) in sql.split('\'').enumerate() {
        if index % 2 == 1 {
            continue;
        }
        for behind in part.split(':').skip(1) {
            let name: String =
                behind.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            if !name.is_empty() && !binds.contains(&name) {
                binds.push(name);
            }
        }
    }
    binds
}

/// Words that cannot be names of binds (V$RESERVED_WORDS).
const RESERVED: [&str; 30] = [
    "access", "add", "all", "comment", "current", "date", "desc", "file", "index", "initial", "integer",
    "level", "lock", "long", "mode", "number", "offset", "option", "order", "raw", "resource", "row",
    "rowid", "rows", "session", "size", "start", "table", "uid", "user",
];

#[test]
fn grammar_test_covers_every_statement() {
    let checked: BTreeSet<String> = everything()
        .iter()
        .map(|statement| statement.name.split(' ').next().unwrap_or_default().to_owned())
        .collect();
    for statement in sql::ALL {
        // The block with its own commit is a variant of the plain statement.
        let name = statement.name.strip_suffix("_plsql").unwrap_or(statement.name);
        assert!(checked.contains(name), "{name}");
    }
}

#[test]
fn statement_binds_match_those_the_code_sends() {
    for Sent { name, sql, binds } in everything() {
        assert!(!sql.contains('{'), "{name}: {sql}");
        assert_eq!(scan_binds(&sql), binds, "{name}: {sql}");
        for bind in &binds {
            assert!(!RESERVED.contains(&bind.as_str()), "{name}: a bind may not be called {bind}");
            assert!(bind.len() <= 30, "{name}: {bind}");
        }
    }
}

#[test]
fn bind_names_in_code_exist_in_statements() {
    let bind_names: BTreeSet<String> =
        everything().into_iter().flat_map(|statement| statement.binds).collect();
    for source in [
        include_str!("layout/copies.rs"),
        include_str!("layout/create.rs"),
        include_str!("layout/finish.rs"),
        include_str!("layout/leftover_rows.rs"),
        include_str!("layout/rows.rs"),
        include_str!("layout/spot_check.rs"),
        include_str!("layout/tablespace.rs"),
        include_str!("layout/verify.rs"),
        include_str!("counters/observer.rs"),
        include_str!("counters/sources.rs"),
        include_str!("identity/facts.rs"),
        include_str!("ops/session.rs"),
        include_str!("connection.rs"),
        include_str!("lock.rs"),
        include_str!("awr.rs"),
        include_str!("executed_statements.rs"),
    ] {
        // Values of binds are references or names. Values for placeholders appear only in lists for `with`.
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        for statement in
            code.split(".with(&[").map(|part| part.split_once("])").map_or(part, |(_, rest)| rest))
        {
            for pair in statement.split("(\"").skip(1) {
                if let Some((name, rest)) = pair.split_once("\", ")
                    && rest.starts_with('&')
                    && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
                {
                    assert!(bind_names.contains(name), "{name:?} is no bind of any statement");
                }
            }
        }
    }
}

/// The folder into which `scripts/testbeds.sh` installs the grammar.
fn folder() -> PathBuf {
    dyno_testbed::testbeds_dir().join("plsql")
}

/// The statements that the grammar has accepted, one line each. Parsing all of them takes minutes and always
/// gives the same result, so only statements that are not in the list are parsed. If
/// [`dyno_testbed::ALL_VERSIONS_ENV`] is set, all are parsed.
const ACCEPTED: &str = include_str!("../tests/plsql/accepted.txt");

/// The statement's line in the list; it changes with the text, the binds and the grammar.
fn line(statement: &Sent) -> String {
    use sha2::Digest as _;
    let parser = [include_str!("../tests/plsql/package.json"), include_str!("../tests/plsql/parse.mjs")];
    let binds = statement.binds.join(" ");
    let parts = [&parser[..], &[&statement.sql, &binds]].concat();
    let hash = sha2::Sha256::digest(parts.join("\0"));
    let hash: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{hash} {}", statement.name)
}

#[test]
fn every_statement_matches_oracle_grammar() {
    let statements = [everything(), ready::statements()].concat();
    let is_set = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty() && value != "0");
    let accepted: BTreeSet<&str> = match is_set(dyno_testbed::ALL_VERSIONS_ENV) {
        true => BTreeSet::new(),
        false => ACCEPTED.lines().collect(),
    };
    let new: Vec<&Sent> =
        statements.iter().filter(|statement| !accepted.contains(line(statement).as_str())).collect();
    if !new.is_empty() {
        if !folder().join("node_modules/antlr4").is_dir() {
            let why =
                "the grammar is not there (scripts/testbeds.sh fetches it where there is Node.js 20 and npm)";
            dyno_testbed::skip("the parser of Oracle's SQL", why);
            return;
        }
        assert_accepted(&new);
    }
    if is_set("DYNO_BLESS") {
        let mut lines: Vec<String> = statements.iter().map(line).collect();
        lines.sort_by(|a, b| a.split(' ').next_back().cmp(&b.split(' ').next_back()).then(a.cmp(b)));
        lines.dedup();
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/plsql/accepted.txt");
        std::fs::write(file, lines.join("\n") + "\n").unwrap();
        return;
    }
    // Otherwise every later run would parse them again.
    let listed: BTreeSet<&str> = ACCEPTED.lines().collect();
    let missing = new.iter().filter(|statement| !listed.contains(line(statement).as_str()));
    let missing: Vec<&str> = missing.map(|statement| statement.name.as_str()).collect();
    assert!(missing.is_empty(), "run `make bless`: the list lacks the accepted statements {missing:?}");
}

/// Asserts that the grammar accepts each statement, finds its binds, and rejects an invalid statement.
fn assert_accepted(statements: &[&Sent]) {
    let broken = "SELECT COUNT(c2) FRMO dyno_rows_1 WHERE custid = :key";
    let mut input: Vec<serde_json::Value> = statements
        .iter()
        .map(|statement| serde_json::json!({ "name": statement.name, "sql": statement.sql }))
        .collect();
    input.push(serde_json::json!({ "name": "broken", "sql": broken }));
    // Two processes run at a time: the grammar needs minutes of processor time.
    let later = input.split_off(input.len() / 2);
    let answers = std::thread::scope(|scope| {
        let [first, second] =
            [input, later].map(|part| scope.spawn(|| parse(&serde_json::Value::from(part).to_string())));
        [first.join().unwrap(), second.join().unwrap()].concat()
    });
    assert_eq!(answers.len(), statements.len() + 1);
    let wrong = answers.iter().zip(statements).filter_map(|(answer, statement)| {
        let errors = answer["errors"].as_array().unwrap();
        (!errors.is_empty()).then(|| format!("{}: {errors:?}\n{}\n", statement.name, statement.sql))
    });
    let wrong: String = wrong.collect();
    assert!(wrong.is_empty(), "{wrong}");
    for (answer, statement) in answers.iter().zip(statements) {
        let binds: Vec<&str> =
            answer["binds"].as_array().unwrap().iter().map(|bind| bind.as_str().unwrap()).collect();
        assert_eq!(binds, statement.binds, "{}", statement.name);
    }
    let parse_errors = &answers[statements.len()]["errors"];
    assert!(!parse_errors.as_array().unwrap().is_empty(), "a parser that takes everything proves nothing");
}

/// Returns the grammar's results for the statements in `input`.
fn parse(input: &str) -> Vec<serde_json::Value> {
    let script = include_str!("../tests/plsql/parse.mjs");
    let mut child = Command::new("node")
        .args(["--input-type=module", "--eval", script])
        .current_dir(folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node runs, for npm has fetched the grammar");
    // The process reads the whole input before it answers.
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the parser failed");
    serde_json::from_slice(&output.stdout).unwrap()
}
