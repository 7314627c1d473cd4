//! What a parameter is held against: a column, a limit. A guess by the words around it, for names and comments alone.

use crate::own::sql::{Kind, Token};

/// Tokens before a place that are looked at, at most: long lists of values are not walked through again and again.
const BACK_MAX: usize = 2_000;

/// Words between a column and a value.
const COMPARING: [&str; 5] = ["like", "ilike", "in", "regexp", "rlike"];

/// Words that say what the number behind them is.
const TELLING: [&str; 4] = ["limit", "offset", "fetch", "top"];

/// What the mark at token `at` is held against.
pub(super) fn column(text: &str, tokens: &[Token], at: usize) -> Option<String> {
    let before: Vec<&Token> =
        tokens[..at].iter().rev().filter(|token| token.kind != Kind::Comment).take(BACK_MAX).collect();
    let letters = |token: &Token| &text[token.at.clone()];
    let word = |place: usize| {
        before.get(place).filter(|token| token.kind == Kind::Word).map(|token| plain(letters(token)))
    };
    let signs = before.iter().take(3).take_while(|token| {
        token.kind == Kind::Other && letters(token).bytes().all(|sign| b"=<>!~+-*/%|&^".contains(&sign))
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

/// The name at this place, which `NOT` may stand behind.
fn negated(text: &str, before: &[&Token], place: usize) -> Option<String> {
    let is_not = before.get(place).is_some_and(|token| plain(&text[token.at.clone()]) == "not");
    name(text, before, place + usize::from(is_not))
}

fn name(text: &str, before: &[&Token], place: usize) -> Option<String> {
    let token = before.get(place)?;
    let letters = &text[token.at.clone()];
    let is_name =
        token.kind == Kind::Word || (token.kind == Kind::Quoted && !letters.starts_with(['\'', '$']));
    is_name.then(|| plain(letters))
}

/// A place in a list: of IN, or of VALUES behind a list of columns.
fn in_brackets(text: &str, before: &[&Token]) -> Option<String> {
    let (mut depth, mut commas) = (0usize, 0usize);
    for (place, token) in before.iter().enumerate() {
        match token.kind {
            Kind::Close => depth += 1,
            Kind::Open if depth > 0 => depth -= 1,
            Kind::Open => {
                let word = plain(&text[before.get(place + 1)?.at.clone()]);
                return match word.as_str() {
                    "in" => negated(text, before, place + 2),
                    "values" | "value" => listed(text, &before[place + 2..]).get(commas).cloned(),
                    _ => None,
                };
            }
            Kind::Other if depth == 0 && &text[token.at.clone()] == "," => commas += 1,
            _ => {}
        }
    }
    None
}

/// The columns in the brackets that end here, before which tokens go backwards.
pub(super) fn listed(text: &str, before: &[&Token]) -> Vec<String> {
    if before.first().is_none_or(|token| token.kind != Kind::Close) {
        return Vec::new();
    }
    let inside = before[1..].iter().take_while(|token| token.kind != Kind::Open);
    let is_name = |token: &&&Token| matches!(token.kind, Kind::Word | Kind::Quoted);
    let mut names: Vec<String> = inside.filter(is_name).map(|token| plain(&text[token.at.clone()])).collect();
    names.reverse();
    names
}

/// A quoted name or a word, as names are compared.
pub(super) fn plain(letters: &str) -> String {
    letters.trim_matches(['"', '`', '\'']).to_lowercase()
}
