//! The column names of a query, which `\gset` uses as names of variables.

use dyno_engine::sql_tokens::{SqlLexer, SqlToken, SqlTokenKind};
use dyno_workload::custom::syntax::{SourceText, WorkloadError};

/// A word, a sign, or a part in parentheses of a query, with its place.
struct Part<'a> {
    letters: &'a str,
    at: usize,
}

/// The column names of the query `text`.
///
/// # Errors
/// The name of a column cannot be determined.
pub(super) fn columns(text: &SourceText) -> Result<Vec<String>, WorkloadError> {
    let parts = parts(text)?;
    let is = |part: &Part<'_>, word: &str| part.letters.eq_ignore_ascii_case(word);
    let first = parts.iter().position(|part| is(part, "returning"));
    // In WITH … SELECT, each table in parentheses is one part.
    let first = first.or_else(|| parts.iter().position(|part| is(part, "select")));
    let Some(first) = first else {
        return Err(text.fault(0, "\\gset after a statement that returns no rows", "take it out"));
    };
    const ENDS: [&str; 12] = [
        "from", "where", "group", "having", "order", "limit", "offset", "fetch", "for", "union", "window",
        "into",
    ];
    let list: Vec<&Part<'_>> =
        parts[first + 1..].iter().take_while(|part| !ENDS.iter().any(|end| is(part, end))).collect();
    let mut names = Vec::new();
    for item in list.split(|part| part.letters == ",") {
        names.push(name(text, item)?);
    }
    Ok(names)
}

fn name(text: &SourceText, item: &[&Part<'_>]) -> Result<String, WorkloadError> {
    let at = item.first().map_or(0, |part| part.at);
    let word = |part: &Part<'_>| {
        let plain = part.letters.trim_matches('"');
        let fits = plain.bytes().all(super::lex::is_plain)
            && !plain.as_bytes().first().is_none_or(u8::is_ascii_digit);
        let folded =
            if part.letters.starts_with('"') { plain.to_owned() } else { plain.to_ascii_lowercase() };
        fits.then_some(folded)
    };
    let column_name = match item {
        [.., as_word, name] if as_word.letters.eq_ignore_ascii_case("as") => word(name),
        // A column, with or without its table; an expression may be followed by a name.
        [name] => word(name),
        [.., dot, name] if dot.letters == "." && item.len() % 2 == 1 => word(name),
        _ => None,
    };
    column_name
        .ok_or_else(|| text.fault(at, "a column without a name that can be seen", "write AS NAME behind it"))
}

/// The tokens of a query without its comments, and with each part in parentheses as one.
fn parts(text: &SourceText) -> Result<Vec<Part<'_>>, WorkloadError> {
    let (mut all, mut open) = (Vec::new(), Vec::new());
    for token in SqlLexer::new(&text.letters) {
        let SqlToken { kind, at } = token.map_err(|error| text.syntax_fault(&error))?;
        let begin = match kind {
            SqlTokenKind::Open => {
                open.push(at.start);
                continue;
            }
            SqlTokenKind::Close => open.pop().unwrap_or(at.start),
            _ => at.start,
        };
        if open.is_empty() && kind != SqlTokenKind::Comment {
            all.push(Part { letters: &text.letters[begin..at.end], at: begin });
        }
    }
    Ok(all)
}
