//! Replaces the words of Oracle that MariaDB does not know.

use std::borrow::Cow;

/// Types and clauses with MariaDB's words for them. Only whole clauses are listed, so that no name or text of
/// a workload contains one.
const WORDS: [(&str, &str); 11] = [
    (" CHAR)", ")"),
    (" BYTE)", ")"),
    ("BINARY_DOUBLE", "DOUBLE"),
    // A DATE is stored without a fraction, so that both types can be distinguished.
    ("TIMESTAMP(0)", "DATETIME(6)"),
    ("CLOB", "LONGTEXT"),
    (" BLOB", " LONGBLOB"),
    (" RETURNING NUMBER", ""),
    ("JSON_TRANSFORM(", "JSON_SET("),
    (" PURGE", ""),
    (" NOLOGGING", ""),
    (" NOT NULL ENABLE", " NOT NULL"),
];

/// Functions of a value and a format; MariaDB converts the value without it.
const CONVERSIONS: [&str; 3] = ["TO_DATE(", "TO_TIMESTAMP(", "TO_NUMBER("];

/// Names that workloads use in lower case and that MariaDB reserves in its Oracle mode.
const RESERVED_NAMES: [&str; 3] = ["body", "history", "period"];

/// The statement in words that MariaDB accepts.
pub(super) fn translated(sql: &str) -> String {
    let mut sql = without_comment(sql.trim()).to_owned();
    for (oracle, maria) in WORDS {
        if sql.contains(oracle) {
            sql = sql.replace(oracle, maria);
        }
    }
    for function in CONVERSIONS {
        while let Some(at) = sql.find(function) {
            let (inside, end) = arguments(&sql[at + function.len()..]);
            let value = inside.split(',').next().unwrap_or_default().to_owned();
            sql.replace_range(at..at + function.len() + end, &value);
        }
    }
    if sql.starts_with("UPDATE ") && sql.contains("JSON_SET(") {
        sql = json_assignments(&sql).into_owned();
    }
    for name in RESERVED_NAMES {
        sql = quoted_name(&sql, name);
    }
    default_of_sequence(&sql).unwrap_or(sql)
}

/// The statement with each whole word `name` in quotes.
fn quoted_name(sql: &str, name: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(at) = rest.find(name) {
        let (before, from) = rest.split_at(at);
        let after = &from[name.len()..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_:'`$".contains(c);
        let is_word = !before.ends_with(is_part) && !after.starts_with(is_part);
        out.push_str(before);
        out.push_str(&if is_word { format!("`{name}`") } else { name.to_owned() });
        rest = after;
    }
    out + rest
}

/// The statement after comments at its beginning.
fn without_comment(sql: &str) -> &str {
    let rest = match sql.as_bytes() {
        [b'-', b'-', ..] => sql.split_once('\n').map(|(_, rest)| rest),
        [b'/', b'*', ..] => sql.split_once("*/").map(|(_, rest)| rest),
        _ => None,
    };
    rest.map_or(sql, |rest| without_comment(rest.trim_start()))
}

/// The text up to the parenthesis that closes, and the length including it.
fn arguments(text: &str) -> (&str, usize) {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth == 0 {
            return (&text[..at], at + 1);
        }
    }
    (text, text.len())
}

/// `JSON_SET(doc, SET '$.a' = 1` becomes `JSON_SET(doc, '$.a', 1`.
fn json_assignments(sql: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(sql);
    while let Some((before, rest)) = out.split_once(", SET '") {
        let Some((path, value)) = rest.split_once("' = ") else { return out };
        out = Cow::Owned(format!("{before}, '{path}', {value}"));
    }
    out
}

/// `ALTER TABLE t MODIFY (id DEFAULT s.NEXTVAL)` in MariaDB's words.
fn default_of_sequence(sql: &str) -> Option<String> {
    let (table, rest) = sql.strip_prefix("ALTER TABLE ")?.split_once(" MODIFY (")?;
    let (column, sequence) = rest.strip_suffix(".NEXTVAL)")?.split_once(" DEFAULT ")?;
    Some(format!("ALTER TABLE {table} ALTER COLUMN {column} SET DEFAULT (NEXT VALUE FOR {sequence})"))
}

/// The kind of a statement, by its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Select {
        locks: bool,
    },
    Change,
    /// Begins a transaction with a snapshot, or one that only reads.
    Transaction,
    Define,
    /// A PL/SQL block that calls a procedure.
    Block,
    /// A block that drops the procedures of a workload.
    DropProcedures,
    /// Changes nothing that the tests observe.
    Nothing,
    Unknown,
}

impl Verb {
    pub(super) fn of(sql: &str) -> Self {
        let begins =
            |start: &str| sql.get(..start.len()).is_some_and(|word| word.eq_ignore_ascii_case(start));
        let first = sql.split(|c: char| !c.is_ascii_alphabetic()).find(|word| !word.is_empty());
        match first.unwrap_or_default().to_ascii_uppercase().as_str() {
            "SELECT" | "WITH" => Self::Select { locks: sql.contains(" FOR UPDATE") },
            "INSERT" | "UPDATE" | "DELETE" | "MERGE" => Self::Change,
            "SET" if begins("SET TRANSACTION ") => Self::Transaction,
            "ALTER" if begins("ALTER SYSTEM ") || begins("ALTER SESSION ") => Self::Nothing,
            "CREATE" | "DROP" | "ALTER" | "TRUNCATE" => Self::Define,
            "BEGIN" if begins("BEGIN DBMS_STATS.") => Self::Nothing,
            "BEGIN" | "DECLARE" if sql.contains("'DROP PROCEDURE '") => Self::DropProcedures,
            "BEGIN" | "DECLARE" => Self::Block,
            _ => Self::Unknown,
        }
    }
}

/// The lower-case name of the procedure that a statement creates.
pub(super) fn created_procedure(sql: &str) -> Option<String> {
    let rest = sql.strip_prefix("CREATE OR REPLACE PROCEDURE ")?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    Some(rest[..end].to_ascii_lowercase())
}

/// The name of the procedure that a block calls, if it does nothing else.
pub(super) fn called_procedure(block: &str) -> Option<&str> {
    let call = block.strip_prefix("BEGIN ")?.trim_start();
    let end = call.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    let rest = call[end..].trim_start();
    let is_one = rest.starts_with('(') && rest.matches(';').count() == 2 && rest.trim_end().ends_with("END;");
    is_one.then(|| &call[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oracle_words_become_words_of_mariadb() {
        for (oracle, maria) in [
            (
                "CREATE TABLE t (a NUMBER(10), b VARCHAR2(24 CHAR), c BINARY_DOUBLE, d TIMESTAMP(0))",
                "CREATE TABLE t (a NUMBER(10), b VARCHAR2(24), c DOUBLE, d DATETIME(6))",
            ),
            (
                "INSERT INTO t VALUES (:1, TO_DATE(:2, 'YYYY-MM-DD'), TO_NUMBER(:3, '9D9', 'NLS_NUMERIC_CHARACTERS=''.,'''))",
                "INSERT INTO t VALUES (:1, :2, :3)",
            ),
            (
                "ALTER TABLE t MODIFY (id DEFAULT ids.NEXTVAL)",
                "ALTER TABLE t ALTER COLUMN id SET DEFAULT (NEXT VALUE FOR ids)",
            ),
            (
                "UPDATE d SET doc = JSON_TRANSFORM(doc, SET '$.p' = JSON_VALUE(doc, '$.p' RETURNING NUMBER) - :1) WHERE id = :2",
                "UPDATE d SET doc = JSON_SET(doc, '$.p', JSON_VALUE(doc, '$.p') - :1) WHERE id = :2",
            ),
            ("DROP TABLE t PURGE", "DROP TABLE t"),
            (
                "INSERT INTO history (h_history, body) VALUES (:history, 'history')",
                "INSERT INTO `history` (h_history, `body`) VALUES (:history, 'history')",
            ),
            ("-- The oldest.\n/* one */ SELECT 1 FROM dual", "SELECT 1 FROM dual"),
        ] {
            assert_eq!(translated(oracle), maria);
        }
    }

    #[test]
    fn statement_kind_is_read_from_its_first_words() {
        for (sql, verb) in [
            ("SELECT a FROM t", Verb::Select { locks: false }),
            ("SELECT a FROM t FOR UPDATE SKIP LOCKED", Verb::Select { locks: true }),
            ("delete from t", Verb::Change),
            ("SET TRANSACTION READ ONLY", Verb::Transaction),
            ("ALTER SYSTEM CHECKPOINT", Verb::Nothing),
            ("ALTER TABLE t ADD PRIMARY KEY (id)", Verb::Define),
            ("BEGIN orders_payment(:1); END;", Verb::Block),
            ("LOCK TABLE t", Verb::Unknown),
        ] {
            assert_eq!(Verb::of(sql), verb, "{sql}");
        }
        assert_eq!(called_procedure("BEGIN pay(:1, :2); END;"), Some("pay"));
        assert_eq!(called_procedure("BEGIN pay(:1); COMMIT; END;"), None);
        assert_eq!(
            created_procedure("CREATE OR REPLACE PROCEDURE Pay(p IN NUMBER) IS").as_deref(),
            Some("pay")
        );
    }
}
