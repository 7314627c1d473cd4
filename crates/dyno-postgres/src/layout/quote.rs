//! Quotes identifiers and literals for SQL.

/// `name` as a quoted identifier.
pub(crate) fn ident(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `text` as a literal that is valid whatever `standard_conforming_strings` is.
pub(crate) fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if quoted.contains('\\') {
        // In the E form a backslash always escapes, so doubling it is always correct.
        format!("E'{}'", quoted.replace('\\', "\\\\"))
    } else {
        format!("'{quoted}'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_inside_identifiers_and_literals_are_escaped() {
        assert_eq!(ident("a\"b c"), "\"a\"\"b c\"");
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal("a\\'b"), "E'a\\\\''b'");
    }
}
