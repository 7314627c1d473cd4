//! Tests that SQL files are split into the right statements and parameters, whatever strings, names and
//! comments contain.

use std::sync::Arc;

use proptest::prelude::*;

use crate::custom::fault::{File, SourceText};
use crate::custom::sql::{split, touched_objects};

fn text(sql: &str) -> SourceText {
    SourceText::file(Arc::new(File { name: "t.sql".to_owned(), text: sql.to_owned() }))
}

/// The statements of `sql`, each with its parameters.
fn pieces(sql: &str) -> Vec<(String, Vec<String>)> {
    let text = text(sql);
    let pieces = split(&text).unwrap_or_else(|fault| panic!("{fault}\n{sql}"));
    let names = |piece: &crate::custom::sql::SplitStatement| piece.names(&text).map(str::to_owned).collect();
    pieces.iter().map(|piece| (piece.letters(&text).to_owned(), names(piece))).collect()
}

fn split_into(sql: &str, expected: &[(&str, &[&str])]) {
    let expected: Vec<(String, Vec<String>)> = expected
        .iter()
        .map(|(sql, names)| ((*sql).to_owned(), names.iter().map(|&name| name.to_owned()).collect()))
        .collect();
    assert_eq!(pieces(sql), expected);
}

#[test]
fn parameter_like_text_is_not_a_parameter() {
    split_into(
        "SELECT a::int, ':b', \":c\", `:d`, $$:e;$$, $t$:f$$;$t$ -- :g;\n, :h",
        &[("SELECT a::int, ':b', \":c\", `:d`, $$:e;$$, $t$:f$$;$t$ -- :g;\n, :h", &["h"])],
    );
    split_into(
        "SELECT @x := 1, E'\\':a', 'it''s :b', q'[:c';]', 12:34 /* :d /* :e */ ; */ , :f_1, x[1:2]",
        &[(
            "SELECT @x := 1, E'\\':a', 'it''s :b', q'[:c';]', 12:34 /* :d /* :e */ ; */ , :f_1, x[1:2]",
            &["f_1"],
        )],
    );
}

#[test]
fn statements_split_at_semicolons_outside_of_blocks() {
    split_into("\u{feff}SELECT 1;;\n ;SELECT :a ;", &[("SELECT 1", &[]), ("SELECT :a", &["a"])]);
    let trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE b SET c = CASE WHEN 1 THEN 2 END; DELETE FROM d; END";
    split_into(&format!("{trigger}; SELECT 1"), &[(trigger, &[]), ("SELECT 1", &[])]);
    let procedure = "CREATE OR REPLACE PROCEDURE p() BEGIN IF a THEN SELECT 1; END IF; WHILE b DO SELECT 2; END WHILE; END";
    split_into(&format!("{procedure}; SELECT 1"), &[(procedure, &[]), ("SELECT 1", &[])]);
    split_into("BEGIN NULL; END;\n/\nSELECT 1\n/\n", &[("BEGIN NULL; END;", &[]), ("SELECT 1", &[])]);
    for declaring in [
        "DECLARE n NUMBER; m NUMBER := 1; BEGIN n := m; END;",
        "CREATE OR REPLACE PROCEDURE p(a IN NUMBER) IS n NUMBER; m t.c%TYPE; BEGIN IF a IS NULL THEN RETURN; END IF; n := 1; END;",
        "CREATE FUNCTION f RETURN NUMBER AS BEGIN RETURN 1; END;",
        "CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW DECLARE n NUMBER; BEGIN n := 1; END;",
    ] {
        split_into(&format!("{declaring}\n/\nSELECT 1;"), &[(declaring, &[]), ("SELECT 1", &[])]);
    }
    let returning = "CREATE FUNCTION f(a int) RETURNS boolean RETURN a IS NULL";
    split_into(&format!("{returning}; SELECT 1"), &[(returning, &[]), ("SELECT 1", &[])]);
    let function = "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1; SELECT 2 $$";
    split_into(
        &format!("{function};CREATE TABLE begin_ (a int)"),
        &[(function, &[]), ("CREATE TABLE begin_ (a int)", &[])],
    );
}

/// A piece of a statement, and the parameter that it contains.
fn part() -> impl Strategy<Value = (String, Option<String>)> {
    let nothing = |text: String| (text, None);
    prop_oneof![
        "[a-z]{1,6}".prop_map(|name| (format!(":{name}"), Some(name))),
        "[a-zA-Z_][a-z0-9_$]{0,5}"
            .prop_filter("a prefix of strings", |word| word.len() > 2)
            .prop_map(nothing),
        "[0-9]{1,4}(\\.[0-9]{1,2})?".prop_map(nothing),
        "[-+*/<>=,.]".prop_map(|sign| (format!(" {sign} "), None)),
        "[^'\\\\]{0,12}".prop_map(|text| (format!("'{text}'"), None)),
        "[^\"\\\\]{0,12}".prop_map(|text| (format!("\"{text}\""), None)),
        "[^`\\\\]{0,12}".prop_map(|text| (format!("`{text}`"), None)),
        "[^$]{0,12}".prop_map(|text| (format!("$q${text}$q$"), None)),
        "[^*/]{0,12}".prop_map(|text| (format!("/*{text}*/"), None)),
        "[^\n]{0,12}".prop_map(|text| (format!("--x{text}\n"), None)),
        "[a-z]{1,5}".prop_map(|name| (format!("::{name}"), None)),
    ]
}

proptest! {
    #[test]
    fn joined_statements_split_into_the_same_statements(
        statements in prop::collection::vec(prop::collection::vec(part(), 0..8), 1..6),
    ) {
        let written = |parts: &[(String, Option<String>)]| {
            let all: Vec<&str> = parts.iter().map(|(text, _)| text.as_str()).collect();
            format!("SELECT {} x", all.join(" "))
        };
        let sql: Vec<String> = statements.iter().map(|parts| written(parts)).collect();
        let split_pieces = pieces(&sql.join(";\n"));
        prop_assert_eq!(split_pieces.len(), statements.len());
        for (((found, names), parts), sql) in split_pieces.iter().zip(&statements).zip(&sql) {
            prop_assert_eq!(found, sql);
            let expected: Vec<&String> = parts.iter().filter_map(|(_, name)| name.as_ref()).collect();
            prop_assert_eq!(names.iter().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn sql_split_never_panics_on_any_text(sql in "[ -~\n'\"`$:;/*ä-]{0,60}") {
        let _ = split(&text(&sql));
    }
}

#[test]
fn changed_tables_are_detected_from_the_sql_text() {
    let sql = "SELECT a FROM t WHERE id = 1 FOR UPDATE;
               UPDATE shop.\"Ac c\" SET a = REPLACE(b, 'UPDATE x', 'y') WHERE id = 1;
               INSERT INTO a (b) VALUES (1) ON CONFLICT (b) DO UPDATE SET b = 2;
               INSERT IGNORE INTO `q` VALUES (1) ON DUPLICATE KEY UPDATE b = 2;
               WITH gone AS (DELETE FROM ONLY old RETURNING *) INSERT INTO new SELECT * FROM gone;
               MERGE INTO m USING n ON (m.a = n.a) WHEN MATCHED THEN UPDATE SET b = 1;
               CALL pay(1)";
    let text = text(sql);
    let all: Vec<Vec<String>> =
        split(&text).unwrap().iter().map(|piece| touched_objects(&text, piece)).collect();
    let expected: [&[&str]; 7] = [
        &[],
        &["UPDATE shop.\"Ac c\""],
        &["INSERT a"],
        &["INSERT `q`"],
        &["DELETE old", "INSERT new"],
        &["MERGE m"],
        &["CALL pay"],
    ];
    assert_eq!(all, expected);
}
