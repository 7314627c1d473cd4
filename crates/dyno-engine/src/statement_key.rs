//! A form of a statement that is equal however a server records it: without values, comments, quotes of names,
//! spaces, and differences in case.

/// The value of a statement, whatever it was.
const VALUE: &str = "?";

/// The form of `text` by which recorded statements and a workload's statements are compared.
///
/// A list of values has the form of one value, because servers shorten such lists. `EXECUTE SELECT …` has the form
/// of the statement, because a server may record executions of a prepared statement so.
pub fn statement_key(text: &str) -> String {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(token) = next_token(&mut rest) {
        push(&mut tokens, token);
    }
    while tokens.last().is_some_and(|token| token == ";") {
        tokens.pop();
    }
    let executes = tokens.first().is_some_and(|first| first == "execute");
    if executes && tokens.get(1).is_some_and(|second| PREPARED.contains(&second.as_str())) {
        tokens.remove(0);
    }
    tokens.join(" ")
}

/// Words that a server may record in place of others, and the others.
const SYNONYMS: [(&str, &str); 22] = [
    ("character", "char"),
    ("current_date", "curdate"),
    ("current_time", "curtime"),
    ("current_timestamp", "now"),
    ("dec", "decimal"),
    ("distinctrow", "distinct"),
    ("integer", "int"),
    ("localtime", "now"),
    ("localtimestamp", "now"),
    ("mid", "substring"),
    ("rlike", "regexp"),
    ("schema", "database"),
    ("some", "any"),
    ("sql_tsi_day", "day"),
    ("sql_tsi_hour", "hour"),
    ("sql_tsi_minute", "minute"),
    ("sql_tsi_month", "month"),
    ("sql_tsi_quarter", "quarter"),
    ("sql_tsi_second", "second"),
    ("sql_tsi_week", "week"),
    ("sql_tsi_year", "year"),
    ("substr", "substring"),
];

/// The form that a word shares with its synonyms. A NULL is a value, except in a condition.
fn word_form(word: String, before: Option<&str>) -> String {
    if word == "null" && !matches!(before, Some("is" | "not")) {
        return VALUE.to_owned();
    }
    let same = SYNONYMS.iter().find(|(synonym, _)| *synonym == word);
    same.map_or(word, |(_, form)| (*form).to_owned())
}

/// The first words of statements that a recorded EXECUTE shows.
const PREPARED: [&str; 11] =
    ["(", "call", "delete", "do", "insert", "replace", "select", "table", "update", "values", "with"];

/// Adds a token, unless it continues a list of values: `? , ?` and `( ? ) , ( ? )`.
fn push(tokens: &mut Vec<String>, token: String) {
    let token = word_form(token, tokens.last().map(String::as_str));
    tokens.push(token);
    let tail = |tokens: &[String], list: &[&str]| {
        tokens.len() >= list.len() && tokens[tokens.len() - list.len()..].iter().eq(list)
    };
    if tail(tokens, &[VALUE, ",", VALUE]) {
        tokens.truncate(tokens.len() - 2);
    } else if tail(tokens, &["(", VALUE, ")", ",", "(", VALUE, ")"]) {
        tokens.truncate(tokens.len() - 4);
    }
}

/// Takes the next token that counts from the front of `rest`.
fn next_token<'a>(rest: &mut &'a str) -> Option<String> {
    loop {
        *rest = rest.trim_start();
        let text: &'a str = rest;
        let first = text.chars().next()?;
        let take = |rest: &mut &'a str, bytes: usize| *rest = text.get(bytes..).unwrap_or_default();
        let run = |is_part: fn(char) -> bool| text.find(|c| !is_part(c)).unwrap_or(text.len());
        if text.starts_with("--") {
            take(rest, text.find('\n').unwrap_or(text.len()));
            continue;
        }
        if text.starts_with("/*") {
            take(rest, text.find("*/").map_or(text.len(), |end| end + 2));
            continue;
        }
        if text.starts_with("...") {
            take(rest, 3);
            return Some(VALUE.to_owned());
        }
        if text.starts_with("<>") || text.starts_with("!=") {
            take(rest, 2);
            return Some("!=".to_owned());
        }
        return Some(match first {
            '\'' => {
                take(rest, quoted_end(text, '\''));
                VALUE.to_owned()
            }
            '`' | '"' => {
                let end = quoted_end(text, first);
                take(rest, end);
                text[..end].trim_matches(first).to_lowercase()
            }
            '?' => {
                take(rest, 1);
                VALUE.to_owned()
            }
            ':' if text.starts_with("::") => {
                take(rest, 2);
                "::".to_owned()
            }
            '$' | ':' if text[1..].starts_with(is_word) => {
                take(rest, 1 + text[1..].find(|c| !is_word(c)).unwrap_or(text.len() - 1));
                VALUE.to_owned()
            }
            _ if first.is_ascii_digit() => {
                take(rest, run(|c| is_word(c) || c == '.'));
                VALUE.to_owned()
            }
            _ if is_word(first) => {
                let end = run(is_word);
                take(rest, end);
                text[..end].to_lowercase()
            }
            _ => {
                take(rest, first.len_utf8());
                first.to_string()
            }
        });
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The end of the quoted text at the front of `text`; all of it if it has no end.
fn quoted_end(text: &str, quote: char) -> usize {
    let mut at = 1;
    while let Some(length) = text[at..].find(quote) {
        at += length + 1;
        if !text[at..].starts_with(quote) {
            return at;
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_statement_has_key_of_original() {
        let original = "SELECT COUNT(c2) FROM dyno.rows_1 WHERE custid >= $1 AND custid < $1 + 16";
        let recorded = [
            "select count(c2)  from dyno.rows_1\nwhere custid >= $1 and custid < $1 + $2",
            "SELECT COUNT ( `c2` ) FROM `dyno` . `rows_1` WHERE `custid` >= ? AND `custid` < ? + ?",
            "SELECT /* a */ COUNT(c2) FROM \"DYNO\".\"ROWS_1\" WHERE custid >= :1 AND custid < :first + :2; -- b",
        ];
        for text in recorded {
            assert_eq!(statement_key(text), statement_key(original), "{text}");
        }
        assert_eq!(
            statement_key("INSERT INTO t VALUES (1, 'it''s', 2.5), (?, ?, ?);"),
            statement_key("INSERT INTO `t` VALUES (...) /* , ... */")
        );
        assert_eq!(statement_key("EXECUTE SELECT `a` FROM `t`"), statement_key("SELECT a FROM t"));
        assert_eq!(statement_key("EXECUTE `s`"), "execute s");
        assert_ne!(statement_key("SELECT a FROM t"), statement_key("SELECT b FROM t"));
        assert_eq!(
            statement_key(
                "INSERT INTO `t` ( `a` , SQL_TSI_DAY ) SELECT ? , `b` FROM SCHEMA ( ) WHERE `c` != ? AND `d` IS NOT NULL"
            ),
            statement_key(
                "INSERT INTO t (a, day) SELECT NULL, b FROM database() WHERE c <> 1 AND d IS NOT NULL"
            )
        );
        assert_eq!(statement_key("SELECT 'open"), "select ?");
        assert_eq!(statement_key("SELECT é::text, 'ü"), "select é :: text , ?");
        assert_eq!(statement_key(" ; "), "");
    }
}
