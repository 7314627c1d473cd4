//! Sends statements as text with their values inserted, in the simple query protocol.

use crate::wire::message;
use dyno_engine::executed_statements::PlaceholderStyle;
use dyno_engine::sql_tokens::between_placeholders;
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
        let pieces = between_placeholders(sql, PlaceholderStyle::Dollar);
        Self { pieces, types: types.to_vec(), bytes: Vec::new() }
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
            (r"SELECT E'\\\'$9', $1", 1),
            (r"SELECT somee'$9', $1", 1),
            (r"SELECT E'open\", 0),
        ] {
            assert_eq!(PostgresTextStatement::new(sql, &[]).pieces.len(), count + 1, "{sql}");
        }
    }

    proptest! {
        #[test]
        fn placeholder_split_never_grows_the_text(sql in "[ a$1-2'\"/*\n-]{0,40}") {
            let whole: usize = PostgresTextStatement::new(&sql, &[]).pieces.iter().map(String::len).sum();
            prop_assert!(whole <= sql.len());
        }
    }
}
