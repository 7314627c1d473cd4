//! Quotes names for statements that an administrator runs; no name can end its quotes.

use dyno_plan::TargetUrl;

/// The user of `url`, or else the user name of the documentation.
pub fn user(url: &TargetUrl) -> &str {
    url.user.as_deref().unwrap_or("dyno")
}

/// The database of `url`, or else the database name of the documentation.
pub fn database(url: &TargetUrl) -> &str {
    Some(url.path.as_str()).filter(|path| !path.is_empty()).unwrap_or("bench")
}

/// `name` as a quoted identifier; quotes inside it are escaped.
pub fn quoted(name: &str, mark: char) -> String {
    let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if mark == '"' && plain && !name.starts_with(|c: char| c.is_ascii_digit()) {
        return name.to_owned();
    }
    let twice = format!("{mark}{mark}");
    format!("{mark}{}{mark}", one_line(name).replace(mark, &twice))
}

/// `text` as a literal for a server that treats backslashes as escapes.
pub fn literal(text: &str) -> String {
    format!("'{}'", one_line(text).replace('\\', "\\\\").replace('\'', "''"))
}

/// `text` without line breaks, so that it cannot end a comment.
pub fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grant_names_and_literals_are_escaped() {
        assert_eq!(quoted("Me\";x", '"'), "\"Me\"\";x\"");
        assert_eq!(quoted("be\nnch", '"'), "\"bench\"");
        assert_eq!(quoted("plain_1", '"'), "plain_1");
        assert_eq!(quoted("a`b", '`'), "`a``b`");
        assert_eq!(literal("o'x\\"), "'o''x\\\\'");
    }
}
