//! Tests of drafts from recorded statements: results, omitted statements, and hostile texts that must stay
//! texts.

use dyno_engine::Dialect;
use dyno_engine::executed_statements::{ObservedStatement, ObservedStatements, PlaceholderStyle};
use proptest::prelude::*;

use super::{DraftFacts, Picked, SkipReason, StatementPickOptions, WorkloadDraft, draft, pick};
use dyno_engine::sql_tokens::{SqlTokenKind, tokens_of_server};
use dyno_workload::custom::CustomWorkload;

fn seen(text: &str, calls: u64) -> ObservedStatement {
    ObservedStatement {
        id: format!("id{calls}"),
        text: Some(text.to_owned()),
        whole: Some(true),
        calls: Some(calls),
        time_s: Some(calls as f64 / 1e3),
        rows: Some(calls),
        reads: None,
    }
}

fn source(marks: PlaceholderStyle, statements: Vec<ObservedStatement>) -> ObservedStatements {
    ObservedStatements {
        source: "a server".to_owned(),
        marks,
        schemas: &["pg_catalog", "information_schema", "performance_schema", "mysql", "sys", "system"],
        reads: "blocks",
        statements,
        notes: Vec::new(),
    }
}

const OPTIONS: StatementPickOptions = StatementPickOptions { top: 20, min_calls: 1, system: false };

fn picked(marks: PlaceholderStyle, texts: &[&str]) -> Picked {
    let calls = (1..=texts.len() as u64).rev();
    pick(source(marks, texts.iter().zip(calls).map(|(text, calls)| seen(text, calls)).collect()), &OPTIONS)
}

/// The completed draft: generators are defined, and it may write.
fn finished(made: &WorkloadDraft) -> Vec<(String, String)> {
    let mut files = made.files.clone();
    let lines = files[0].1.lines().map(|line| match line.split_once(" = { todo = ") {
        Some((name, _)) if !line.starts_with('#') => format!("{name} = {{ uniform = [1, 9] }}"),
        _ if line == "# writes = true" => "writes = true".to_owned(),
        _ => line.to_owned(),
    });
    files[0].1 = lines.collect::<Vec<_>>().join("\n");
    files
}

/// The statement of each transaction for an engine that numbers parameters by `mark`.
fn sent(picked: &Picked, mark: fn(usize) -> String) -> Vec<String> {
    let made = draft("w", picked, &DraftFacts::default());
    let files = finished(&made);
    let workload =
        CustomWorkload::read_files("w", &files).unwrap_or_else(|fault| panic!("{fault}\n{files:#?}"));
    let dialect = Dialect { mark, from_nothing: "", bytes_length: "", snapshot: &[], call: None, prefix: "" };
    let all = workload.statements("", dialect).unwrap_or_else(|fault| panic!("{fault}\n{files:#?}"));
    all.iter().map(|statement| statement.sql.clone()).collect()
}

fn dollars(number: usize) -> String {
    format!("${number}")
}

fn questions(_: usize) -> String {
    "?".to_owned()
}

fn one(marks: PlaceholderStyle, text: &str) -> String {
    let picked = picked(marks, &[text]);
    assert!(picked.skipped.is_empty(), "{text}: {:?}", picked.skipped);
    let mark = if marks == PlaceholderStyle::Question { questions } else { dollars };
    sent(&picked, mark).remove(0)
}

fn why(marks: PlaceholderStyle, text: &str) -> SkipReason {
    let picked = picked(marks, &[text]);
    assert!(picked.chosen.is_empty(), "{text}: {:?}", picked.chosen);
    picked.skipped[0].why
}

#[test]
fn generated_statements_equal_the_observed_ones() {
    for text in [
        "SELECT abalance FROM accounts WHERE aid = $1",
        "SELECT a[1: $1], \"x\"\"\"\"\".y, 'it''s :name', $$ :b {c} $$ FROM t WHERE a::int = $2 AND b ? 'k'",
        "UPDATE \"o'x\" SET a = a + $1 WHERE b IN ($2, $3) OR c BETWEEN $4 AND $5",
        "WITH x AS (SELECT $1 AS a) INSERT INTO t (a, b) SELECT a, $2 FROM x",
        "SELECT 'a.sql' AS b FROM t.sql",
        "SELECT x FROM \"\u{1b}[2J\u{202e}\r\u{0}\"",
        "SELECT \"\"\"\" FROM t -- a comment; with 'things\nWHERE a = $1",
    ] {
        assert_eq!(one(PlaceholderStyle::Dollar, text), text);
    }
    assert_eq!(
        one(PlaceholderStyle::Dollar, "SELECT a[1:n], b[1:$1] FROM t"),
        "SELECT a[1: n], b[1: $1] FROM t"
    );
    assert_eq!(one(PlaceholderStyle::Dollar, "SELECT f()\n/\n2"), "SELECT f()\n/* */ /\n2");
    assert_eq!(one(PlaceholderStyle::Dollar, "/* c */ SELECT f($1);\n-- the end"), "SELECT f($1)");
    // sqlc and other tools name statements in the same way as Dyno's files.
    assert_eq!(
        one(PlaceholderStyle::Dollar, "-- name: GetUser :one\nSELECT f()\n-- name: x\n"),
        "SELECT f()"
    );
    assert_eq!(one(PlaceholderStyle::Dollar, "SELECT f()\n-- name: x y\n, 2"), "SELECT f()\n\n, 2");
    assert_eq!(
        one(PlaceholderStyle::Dollar, "SELECT a FROM t WHERE b < date $1 + interval $2"),
        "SELECT a FROM t WHERE b < CAST($1 AS date) + CAST($2 AS interval)"
    );
    assert_eq!(
        one(PlaceholderStyle::Colon, "SELECT a FROM t WHERE b = :1 AND c = :\"SYS_B_0\" AND d = :Name"),
        "SELECT a FROM t WHERE b = $1 AND c = $2 AND d = $3"
    );
}

#[test]
fn mysql_digests_are_repaired_to_be_executable() {
    for (digest, sent) in [
        (
            "SELECT COUNT ( * ) , `abs` (?) FROM `t` WHERE `a` = ?",
            "SELECT COUNT( * ) , `abs` (?) FROM `t` WHERE `a` = ?",
        ),
        ("INSERT INTO `t` ( `a` , `b` ) VALUES (...)", "INSERT INTO `t` ( `a` , `b` ) VALUES (?, ?)"),
        (
            "INSERT INTO `t` ( `a` , `b` ) VALUES (...) /* , ... */",
            "INSERT INTO `t` ( `a` , `b` ) VALUES (?, ?)",
        ),
        ("SELECT `a` FROM `t` WHERE `b` NOT IN (...)", "SELECT `a` FROM `t` WHERE `b` NOT IN (?)"),
        ("SELECT `a` FROM `t` LIMIT ?, ...", "SELECT `a` FROM `t` LIMIT ?"),
        (
            "SELECT `a` FROM `t` WHERE `b` > DATE ? - INTERVAL ? DAY",
            "SELECT `a` FROM `t` WHERE `b` > CAST(? AS DATE) - INTERVAL ? DAY",
        ),
    ] {
        assert_eq!(one(PlaceholderStyle::Question, digest).trim_end(), sent);
    }
    let several = picked(PlaceholderStyle::Question, &["SELECT `a` FROM `t` WHERE `b` IN (...)"]);
    let text = &draft("w", &several, &DraftFacts::default()).files[0].1;
    assert!(
        text.contains("select_t_b = { todo = \"b, one of several values, whose number is not known\" }"),
        "{text}"
    );
    assert!(text.contains("# `...` stands for several values"), "{text}");
}

#[test]
fn parameters_are_named_after_compared_columns() {
    let names = |marks, text: &str| -> Vec<String> {
        let picked = picked(marks, &[text]);
        let columns = picked.chosen[0].parameters().into_iter();
        columns.map(|param| param.column.unwrap_or_else(|| "-".to_owned())).collect()
    };
    let all = "SELECT $1 FROM t WHERE t.a = $2 AND \"B c\" >= $3 AND d NOT LIKE $4 AND e BETWEEN $5 AND $6 AND f IN ($7, $8) \
               AND lower($9) = g LIMIT $10 OFFSET $11";
    let expected = ["-", "a", "b c", "d", "e", "e", "f", "f", "-", "limit", "offset"];
    assert_eq!(names(PlaceholderStyle::Dollar, all), expected);
    assert_eq!(
        names(PlaceholderStyle::Dollar, "UPDATE t SET a = a + $1, b = $2 WHERE id = $3"),
        ["a", "b", "id"]
    );
    assert_eq!(
        names(PlaceholderStyle::Question, "INSERT INTO `t` ( `x` , `y` ) VALUES ( ? , f ( ?, ? ) )"),
        ["x", "-", "-"]
    );
    assert_eq!(names(PlaceholderStyle::Dollar, "SELECT a FROM t WHERE b = $1 OR c = $1"), ["b"]);
    assert_eq!(
        names(PlaceholderStyle::Dollar, "INSERT INTO t (x, y) VALUES ($1, $2), ($3, f($4))"),
        ["x", "y", "x", "-"]
    );
    assert_eq!(names(PlaceholderStyle::Dollar, "SELECT a FROM t x WHERE x.b = ANY($1)"), ["b"]);
}

#[test]
fn statements_unfit_as_workload_steps_are_omitted_with_reason() {
    for (text, expected) in [
        ("BEGIN", SkipReason::Transactions),
        ("  /* x */ commit", SkipReason::Transactions),
        ("CREATE TABLE t (a int)", SkipReason::Tables),
        ("VACUUM t", SkipReason::Tables),
        ("SET search_path = x", SkipReason::Settings),
        ("COPY t FROM STDIN", SkipReason::Utility),
        ("SELECT a INTO b FROM c", SkipReason::Into),
        ("SELECT relname FROM pg_catalog.pg_class", SkipReason::System),
        ("SELECT * FROM pg_stat_activity WHERE pid = $1", SkipReason::System),
        ("SELECT table_name FROM \"information_schema\".tables", SkipReason::System),
        ("SELECT $1", SkipReason::System),
        ("SELECT current_user, version(), pg_backend_pid()", SkipReason::System),
        ("SELECT c2 FROM dyno.rows_1", SkipReason::Own),
        ("SELECT 1; DROP TABLE t", SkipReason::Unread),
        ("SELECT 'a\\' AS b", SkipReason::Unread),
        ("SELECT 'no end", SkipReason::Unread),
        ("", SkipReason::Unread),
        ("-- nothing", SkipReason::Unread),
    ] {
        assert_eq!(why(PlaceholderStyle::Dollar, text), expected, "{text}");
    }
    assert_eq!(why(PlaceholderStyle::Colon, "select obj# from sys.obj$ where name = :1"), SkipReason::System);
    assert_eq!(why(PlaceholderStyle::Colon, "/* x */ BEGIN pay(:1); END;"), SkipReason::Block);
    assert_eq!(why(PlaceholderStyle::Question, "SELECT `host` FROM `mysql` . `user`"), SkipReason::System);
    let all = pick(
        source(PlaceholderStyle::Dollar, vec![seen("SELECT 1 FROM pg_class", 1)]),
        &StatementPickOptions { system: true, ..OPTIONS },
    );
    assert_eq!(all.chosen.len(), 1);
    // Functions do not count as catalogs.
    assert!(picked(PlaceholderStyle::Dollar, &["SELECT pg_advisory_lock($1)"]).skipped.is_empty());
}

#[test]
fn rare_truncated_and_surplus_statements_are_omitted() {
    let cut = |text: &str, whole| ObservedStatement { whole, ..seen(text, 5) };
    let statements = vec![
        cut("SELECT a FROM t", Some(false)),
        cut("UPDATE t SET a = :1", None),
        cut("SELECT b FROM t", None),
        ObservedStatement { text: None, ..seen("", 5) },
        ObservedStatement { calls: None, ..seen("SELECT c FROM t", 5) },
        seen("SELECT d FROM t", 1),
        seen("SELECT e FROM t", 9),
        seen("SELECT f FROM t", 9),
    ];
    let picked = pick(
        source(PlaceholderStyle::Colon, statements),
        &StatementPickOptions { top: 2, min_calls: 2, ..OPTIONS },
    );
    let left: Vec<SkipReason> = picked.skipped.iter().map(|left| left.why).collect();
    assert_eq!(
        left,
        [
            SkipReason::Cut,
            SkipReason::Cut,
            SkipReason::NoText,
            SkipReason::Rare,
            SkipReason::Rare,
            SkipReason::Below
        ]
    );
    let names: Vec<&str> = picked.chosen.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["select_t", "select_t_2"]);
    assert_eq!(picked.all.0, 5 * 4 + 1 + 9 + 9);
}

#[test]
fn workload_draft_errors_list_only_undefined_generators() {
    let picked = picked(
        PlaceholderStyle::Dollar,
        &["SELECT a FROM t WHERE id = $1 AND at < $2", "UPDATE t SET a = $1 WHERE id = $2", "SELECT f()"],
    );
    let types = [Some(vec!["bigint".to_owned(), "date".to_owned()]), None, None];
    let made = draft("w", &picked, &DraftFacts { types: types.to_vec(), ..DraftFacts::default() });
    assert_eq!(made.undrawn, 4);
    let text = &made.files[0].1;
    for line in [
        "select_t_id = { todo = \"id, bigint\" }  # such as { uniform = [1, 1_000] }",
        "select_t_at = { todo = \"at, date\" }  # such as { date = [\"2026-01-01\", \"2026-12-31\"] }",
        "update_t_a = { todo = \"a\" }  # such as { uniform = [1, 1_000] }",
        "# writes = true",
        "# - update_t",
        "weight = 3",
    ] {
        assert!(text.lines().any(|written| written == line), "{line}\n{text}");
    }
    let fault = CustomWorkload::read_files("w", &made.files).unwrap_err();
    assert_eq!(fault.others.len(), 3);
    let messages: Vec<String> = [&fault].into_iter().chain(&fault.others).map(ToString::to_string).collect();
    for (line, fault) in messages.iter().enumerate() {
        assert!(fault.starts_with("w/workload.toml:"), "{line}: {fault}");
        assert!(fault.contains("no generator defined"), "{line}: {fault}");
    }
    assert!(messages[0].contains("draw.select_t_id"), "{}", messages[0]);
    assert!(messages[0].contains("(id, bigint)"), "{}", messages[0]);
    assert!(messages[0].contains("uniform"), "{}", messages[0]);
    assert!(messages[3].contains("draw.update_t_id"), "{}", messages[3]);
    // Writing statements are refused until the user allows writes.
    let mut files = finished(&made);
    files[0].1 = files[0].1.replace("writes = true\n", "");
    let fault = CustomWorkload::read_files("w", &files).unwrap_err();
    assert_eq!(fault.file, "w/update_t.sql");
    assert!(fault.problem.contains("does not write"), "{fault}");
}

#[test]
fn weights_are_execution_counts_scaled_to_the_maximum() {
    let weights = |calls: [u64; 3]| {
        let statements = calls.map(|calls| seen("SELECT f()", calls)).to_vec();
        let picked = pick(source(PlaceholderStyle::Dollar, statements), &OPTIONS);
        let made = draft("w", &picked, &DraftFacts::default());
        let workload = CustomWorkload::read_files("w", &made.files).unwrap();
        (workload.weights().collect::<Vec<_>>(), made.rounded)
    };
    assert_eq!(weights([1_000_000, 70, 1]), (vec![1_000_000, 70, 1], false));
    assert_eq!(weights([4_000_000_000, 2_000_000_000, 1]), (vec![1_000_000, 500_000, 1], true));
    assert_eq!(weights([u64::MAX, u64::MAX, 1]), (vec![1_000_000, 1_000_000, 1], true));
}

/// Pieces from which hostile texts are built.
const PIECES: [&str; 52] = [
    "SELECT ",
    "a",
    " b ",
    "$1",
    " $2",
    "$12",
    "'",
    "''",
    "\"",
    "\"\"\"",
    "`",
    "::int",
    ":name",
    ":\"x\"",
    ":1",
    ":",
    ":=",
    "/",
    "\n/\n",
    "\n",
    "\r",
    "--",
    "-- name: x\n",
    "/*",
    "*/",
    "/*+",
    "$$",
    "$t$",
    ";",
    "\u{1b}[2J",
    "\u{202e}",
    "\u{0}",
    "\\",
    "{x}",
    "ä",
    "E'",
    "q'[",
    "]'",
    ".sql",
    "?",
    "...",
    ", ...",
    ",",
    "(",
    ")",
    "[1:",
    "]",
    " INTO ",
    " FROM t",
    "DATE ",
    "IN (...)",
    "UPDATE t SET ",
];

/// The meaningful tokens of a text, with all values replaced by the same mark.
fn meaning(text: &str, marks: PlaceholderStyle) -> String {
    let tokens = tokens_of_server(text, marks).unwrap_or_else(|broken| panic!("{broken:?}: {text:?}"));
    let mut all = Vec::new();
    for token in tokens {
        let letters = &text[token.at];
        match token.kind {
            SqlTokenKind::Comment | SqlTokenKind::End => {}
            SqlTokenKind::Numbered => all.push("$".to_owned()),
            // A slice is separated from what the reader would take for a name.
            SqlTokenKind::Param if marks == PlaceholderStyle::Dollar => {
                all.extend([":".to_owned(), letters[1..].to_owned()]);
            }
            SqlTokenKind::Param => all.push("$".to_owned()),
            _ => all.push(letters.to_owned()),
        }
    }
    all.concat()
}

proptest! {
    /// Checks for any text that a selected statement has the same tokens as on the server, and that nothing
    /// leaves its place in the files.
    #[test]
    fn hostile_statement_texts_do_not_escape(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..24), colon in any::<bool>()) {
        let marks = if colon { PlaceholderStyle::Colon } else { PlaceholderStyle::Dollar };
        let text = format!("SELECT f() {}", pieces.concat());
        let picked = picked(marks, &[&text]);
        if picked.chosen.is_empty() {
            return Ok(());
        }
        let made = draft("w", &picked, &DraftFacts::default());
        for (file, content) in &made.files {
            prop_assert!(!content.chars().any(|c| dyno_plan::terminal::acts(c) && !matches!(c, '\n' | '\t')), "{}: {:?}", file, content);
        }
        let sent = sent(&picked, dollars);
        prop_assert_eq!(sent.len(), 1);
        let expected = meaning(&text, marks);
        // Only a value with its type before it is rewritten, whatever blanks are between the two.
        if !expected.contains("DATE$") {
            prop_assert_eq!(meaning(&sent[0], PlaceholderStyle::Dollar), expected, "{}", &sent[0]);
        }
    }

    /// The same for digests, which are repaired: no panic, and Dyno's reader accepts every selected
    /// statement.
    #[test]
    fn hostile_statement_digests_do_not_escape(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..24)) {
        let text = format!("SELECT f() {}", pieces.concat());
        let picked = picked(PlaceholderStyle::Question, &[&text]);
        if !picked.chosen.is_empty() {
            prop_assert_eq!(sent(&picked, questions).len(), 1);
        }
    }
}
