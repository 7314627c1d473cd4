//! Quotes identifiers and literals for SQL.

/// `name` as a quoted identifier.
pub(crate) fn ident(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// `text` as a literal for sessions whose `sql_mode` allows backslash escapes (all of Dyno's).
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_inside_identifiers_and_literals_are_escaped() {
        assert_eq!(ident("a`b c"), "`a``b c`");
        assert_eq!(literal("it's a \\"), "'it''s a \\\\'");
    }
}
