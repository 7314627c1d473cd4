//! Lists what a statement changes, by its words. This is information for users; only the database knows for
//! certain.

use dyno_engine::sql_tokens::{SqlToken, SqlTokenKind};

use super::split::SplitStatement;
use crate::custom::fault::SourceText;

/// Verbs that change data or objects.
const VERBS: [&str; 10] =
    ["INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "CALL", "CREATE", "DROP", "ALTER", "TRUNCATE"];
/// Words before a verb that give it another meaning: FOR UPDATE, ON DUPLICATE KEY UPDATE, DO UPDATE, THEN
/// UPDATE.
const NOT_BEHIND: [&str; 6] = ["FOR", "KEY", "DO", "NO", "THEN", "OR"];
/// Words between a verb and the name of its object.
const BETWEEN: [&str; 17] = [
    "INTO",
    "FROM",
    "ONLY",
    "IGNORE",
    "LOW_PRIORITY",
    "DELAYED",
    "QUICK",
    "HIGH_PRIORITY",
    "OR",
    "OVERWRITE",
    "TABLE",
    "INDEX",
    "UNIQUE",
    "IF",
    "NOT",
    "EXISTS",
    "TEMPORARY",
];

/// Each verb that changes data, with the name after it: `UPDATE accounts`.
pub(in crate::custom) fn touched_objects(text: &SourceText, piece: &SplitStatement) -> Vec<String> {
    let letters = |token: &SqlToken| &text.letters[token.at.clone()];
    let tokens = &piece.tokens;
    let upper = |place: usize| tokens.get(place).map(|token| letters(token).to_ascii_uppercase());
    let mut all = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let Some(verb) =
            upper(place).filter(|word| token.kind == SqlTokenKind::Word && VERBS.contains(&word.as_str()))
        else {
            continue;
        };
        let before = place.checked_sub(1).and_then(upper);
        let is_other = before.is_some_and(|word| NOT_BEHIND.contains(&word.as_str()));
        // REPLACE(text, …) and similar are functions.
        let is_function = tokens.get(place + 1).is_some_and(|next| next.kind == SqlTokenKind::Open);
        if is_other || is_function {
            continue;
        }
        let begins = (place + 1..tokens.len())
            .find(|&at| upper(at).is_some_and(|word| !BETWEEN.contains(&word.as_str())));
        let name: String = begins.map_or_else(String::new, |at| name(tokens, at, &letters));
        let words = format!("{verb} {name}").trim_end().to_owned();
        if !all.contains(&words) {
            all.push(words);
        }
    }
    all
}

/// The name that begins here, including its schema.
fn name<'a>(tokens: &'a [SqlToken], at: usize, letters: &impl Fn(&'a SqlToken) -> &'a str) -> String {
    let mut name = String::new();
    for (place, token) in tokens[at..].iter().enumerate() {
        let is_point = letters(token) == ".";
        let belongs = if place % 2 == 0 {
            matches!(token.kind, SqlTokenKind::Word | SqlTokenKind::Quoted)
        } else {
            is_point
        };
        if !belongs {
            break;
        }
        name.push_str(letters(token));
    }
    name
}
