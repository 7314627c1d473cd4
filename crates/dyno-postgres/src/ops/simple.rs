//! Sends statements as text with their values inserted, in the simple query protocol.

use crate::wire::message;
use dyno_engine::statement::misfit;
use dyno_engine::{OpError, Type, Value, explain};

/// A statement's text, split at its values.
#[derive(Debug)]
pub(super) struct PostgresTextStatement {
    /// The text before each value, and after the last one.
    pieces: Vec<String>,
    types: Vec<Type>,
    bytes: Vec<u8>,
}

impl PostgresTextStatement {
    /// Splits `sql`, in which `$1`, `$2` and so on mark parameters of these types, each once and in this
    /// order.
    pub(super) fn new(sql: &str, types: &[Type]) -> Self {
        Self { pieces: pieces(sql), types: types.to_vec(), bytes: Vec::new() }
    }

    /// Inserts `values`.
    ///
    /// # Errors
    /// A value does not have its parameter's type.
    pub(super) fn fill(&mut self, values: &[Value<'_>]) -> Result<(), Box<OpError>> {
        let is_fit = values.len() == self.types.len()
            && values.len() + 1 == self.pieces.len()
            && values.iter().zip(&self.types).all(|(value, &of)| value.fits(of));
        if !is_fit {
            return Err(misfit(&self.types, values));
        }
        let mut sql = self.pieces[0].clone();
        for (value, piece) in values.iter().zip(&self.pieces[1..]) {
            sql.push_str(&literal(*value));
            sql.push_str(piece);
        }
        self.bytes.clear();
        message::query(&mut self.bytes, &sql);
        Ok(())
    }

    /// The message in its encoding for the server.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// `value` as an SQL literal that is valid whatever `standard_conforming_strings` is.
pub(crate) fn literal(value: Value<'_>) -> String {
    match value {
        Value::Bytes(bytes) => format!("'\\x{}'::bytea", explain::hex(bytes)),
        Value::Text(bytes) if bytes.contains(&b'\\') => {
            format!("E'{}'", String::from_utf8_lossy(bytes).replace('\\', "\\\\").replace('\'', "''"))
        }
        _ => explain::literal(value),
    }
}

/// The text before each `$n` and after the last one; a `$n` in quotes or comments is not a parameter.
fn pieces(sql: &str) -> Vec<String> {
    let bytes = sql.as_bytes();
    let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
    let end_of =
        |end: &str, from: usize| sql[from..].find(end).map_or(sql.len(), |found| from + found + end.len());
    while at < bytes.len() {
        at = match bytes[at] {
            quote @ (b'\'' | b'"') => end_of(if quote == b'"' { "\"" } else { "'" }, at + 1),
            b'-' if bytes[at..].starts_with(b"--") => end_of("\n", at),
            b'/' if bytes[at..].starts_with(b"/*") => end_of_comment(bytes, at),
            b'$' => {
                let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                if digits > 0 {
                    pieces.push(sql[from..at].to_owned());
                    from = at + 1 + digits;
                    from
                } else {
                    let letters =
                        |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_' || !byte.is_ascii();
                    let tag = bytes[at + 1..].iter().take_while(letters).count();
                    match bytes.get(at + 1 + tag) {
                        Some(b'$') => end_of(&sql[at..at + tag + 2], at + tag + 2),
                        _ => at + 1,
                    }
                }
            }
            // A name may contain a dollar sign.
            byte if byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii() => {
                let letters = |byte: &&u8| {
                    byte.is_ascii_alphanumeric() || matches!(**byte, b'_' | b'$') || !byte.is_ascii()
                };
                let end = at + bytes[at..].iter().take_while(letters).count();
                match (&bytes[at..end], bytes.get(end)) {
                    (b"e" | b"E", Some(b'\'')) => end_of_escapes(bytes, end + 1),
                    _ => end,
                }
            }
            _ => at + 1,
        };
    }
    pieces.push(sql[from..].to_owned());
    pieces
}

/// The end of a string in which backslashes escape, from byte `at` within it on.
fn end_of_escapes(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(_)) | (b'\'', Some(b'\'')) => at += 2,
            (b'\'', _) => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// The end of a comment that begins at `at`; comments can be nested.
fn end_of_comment(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0;
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parameters_are_replaced_outside_of_quotes_and_comments() {
        let sql = "SELECT '$1', \"a$2\", t$1.x, $$ $1 $$, $q$ '$1' $q$, $1 -- $1\n /* $1 /* $2 */ $3 */ + $2";
        let mut text = PostgresTextStatement::new(sql, &[Type::Int, Type::Text]);
        text.fill(&[Value::Int(-7), Value::Text(b"it's \\ $1")]).unwrap();
        let sent = String::from_utf8_lossy(&text.bytes()[5..]).into_owned();
        let expected = "SELECT '$1', \"a$2\", t$1.x, $$ $1 $$, $q$ '$1' $q$, (-7) -- $1\n /* $1 /* $2 */ $3 */ + E'it''s \\\\ $1'\0";
        assert_eq!(sent, expected);
        assert!(text.fill(&[Value::Int(1)]).is_err());
        assert!(text.fill(&[Value::Text(b"1"), Value::Text(b"1")]).is_err());
    }

    #[test]
    fn backslash_escapes_quote_in_escape_strings() {
        for (sql, count) in [
            (r"SELECT E'it\'s', $1", 1),
            (r"SELECT e'\\', $1, E'a''b\'$9', $2", 2),
            (r"SELECT E'\\\'$9', 'plain\', $1", 1),
            (r"SELECT somee'$9', $1", 1),
            (r"SELECT E'open\", 0),
        ] {
            assert_eq!(pieces(sql).len(), count + 1, "{sql}");
        }
    }

    proptest! {
        #[test]
        fn placeholder_split_never_grows_the_text(sql in "[ a$1-2'\"/*\n-]{0,40}") {
            let whole: usize = pieces(&sql).iter().map(String::len).sum();
            prop_assert!(whole <= sql.len());
        }
    }
}
