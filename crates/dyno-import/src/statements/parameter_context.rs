//! Guesses from surrounding words what a parameter is compared with: a column, a limit. Used only for names
//! and comments.

use dyno_engine::sql_tokens::{SqlToken, SqlTokenKind};

/// The largest number of tokens to search backwards, so that long lists of values are not searched
/// repeatedly.
const BACK_MAX: usize = 2_000;

/// Words between a column and a value.
const COMPARING: [&str; 5] = ["like", "ilike", "in", "regexp", "rlike"];

/// Words that explain the number after them.
const TELLING: [&str; 4] = ["limit", "offset", "fetch", "top"];

/// What the parameter at token `at` is compared with; `None` if unknown.
pub(super) fn column(text: &str, tokens: &[SqlToken], at: usize) -> Option<String> {
    let before: Vec<&SqlToken> = tokens[..at]
        .iter()
        .rev()
        .filter(|token| token.kind != SqlTokenKind::Comment)
        .take(BACK_MAX)
        .collect();
    let letters = |token: &SqlToken| &text[token.at.clone()];
    let word = |place: usize| {
        before.get(place).filter(|token| token.kind == SqlTokenKind::Word).map(|token| plain(letters(token)))
    };
    let signs = before.iter().take(3).take_while(|token| {
        token.kind == SqlTokenKind::Other
            && letters(token).bytes().all(|sign| b"=<>!~+-*/%|&^".contains(&sign))
    });
    let signs = signs.count();
    if signs > 0 {
        return name(text, &before, signs);
    }
    match word(0) {
        Some(telling) if TELLING.contains(&telling.as_str()) => return Some(telling),
        Some(between) if between == "between" => return negated(text, &before, 1),
        Some(comparing) if COMPARING.contains(&comparing.as_str()) => return negated(text, &before, 1),
        Some(and) if and == "and" => {
            let between =
                (1..before.len().min(12)).find(|&place| word(place).as_deref() == Some("between"))?;
            return negated(text, &before, between + 1);
        }
        _ => {}
    }
    in_brackets(text, &before)
}

/// The name at this place, which may be followed by `NOT`.
fn negated(text: &str, before: &[&SqlToken], place: usize) -> Option<String> {
    let is_not = before.get(place).is_some_and(|token| plain(&text[token.at.clone()]) == "not");
    name(text, before, place + usize::from(is_not))
}

fn name(text: &str, before: &[&SqlToken], place: usize) -> Option<String> {
    let token = before.get(place)?;
    let letters = &text[token.at.clone()];
    let is_name = token.kind == SqlTokenKind::Word
        || (token.kind == SqlTokenKind::Quoted && !letters.starts_with(['\'', '$']));
    is_name.then(|| plain(letters))
}

/// The column for a value in a list: of IN, or of VALUES after a list of columns.
fn in_brackets(text: &str, before: &[&SqlToken]) -> Option<String> {
    let (mut depth, mut commas) = (0usize, 0usize);
    for (place, token) in before.iter().enumerate() {
        match token.kind {
            SqlTokenKind::Close => depth += 1,
            SqlTokenKind::Open if depth > 0 => depth -= 1,
            SqlTokenKind::Open => {
                let word = plain(&text[before.get(place + 1)?.at.clone()]);
                return match word.as_str() {
                    "in" => negated(text, before, place + 2),
                    "values" | "value" => listed(text, &before[place + 2..]).get(commas).cloned(),
                    _ => None,
                };
            }
            SqlTokenKind::Other if depth == 0 && &text[token.at.clone()] == "," => commas += 1,
            _ => {}
        }
    }
    None
}

/// The columns in the parentheses that end here; `before` runs backwards.
pub(super) fn listed(text: &str, before: &[&SqlToken]) -> Vec<String> {
    if before.first().is_none_or(|token| token.kind != SqlTokenKind::Close) {
        return Vec::new();
    }
    let inside = before[1..].iter().take_while(|token| token.kind != SqlTokenKind::Open);
    let is_name = |token: &&&SqlToken| matches!(token.kind, SqlTokenKind::Word | SqlTokenKind::Quoted);
    let mut names: Vec<String> = inside.filter(is_name).map(|token| plain(&text[token.at.clone()])).collect();
    names.reverse();
    names
}

/// A quoted name or word in the form in which names are compared.
pub(super) fn plain(letters: &str) -> String {
    letters.trim_matches(['"', '`', '\'']).to_lowercase()
}
