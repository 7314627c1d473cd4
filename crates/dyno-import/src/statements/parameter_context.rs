//! Guesses from surrounding words what a parameter is compared with: a column, a limit.

use dyno_engine::sql_tokens::{SqlToken, SqlTokenKind};

/// The largest number of tokens to search backwards, so that long lists of values are not searched
/// repeatedly.
const BACK_MAX: usize = 2_000;

/// Words that explain the number after them.
const TELLING: [&str; 4] = ["limit", "offset", "fetch", "top"];

/// How a statement uses a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterUsage {
    /// Equal to a column, or assigned to it.
    Value,
    /// The lower bound of a column.
    Low,
    /// The upper bound of a column.
    High,
    /// Added to a column or subtracted from it.
    Change,
    /// A pattern that a column matches.
    Pattern,
    /// An array of which one element equals a column: `= ANY($1)`.
    Elements,
    /// Stored in a new row.
    Stored,
    /// The largest number of rows.
    Limit,
    /// The number of skipped rows.
    Offset,
    /// Anything else.
    Other,
}

/// What a statement does with a parameter, as far as its text shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParameterContext {
    /// The table or alias before the column.
    pub(super) qualifier: Option<String>,
    /// The column, or a word such as `limit`.
    pub(super) column: Option<String>,
    pub(super) usage: ParameterUsage,
}

impl ParameterContext {
    pub(super) const UNKNOWN: Self = Self { qualifier: None, column: None, usage: ParameterUsage::Other };

    /// A value for this column of a new row.
    pub(super) fn stored(column: String) -> Self {
        Self { qualifier: None, column: Some(column), usage: ParameterUsage::Stored }
    }
}

/// What the parameter at token `at` is used for.
pub(super) fn context(text: &str, tokens: &[SqlToken], at: usize) -> ParameterContext {
    let before: Vec<&SqlToken> = tokens[..at]
        .iter()
        .rev()
        .filter(|token| token.kind != SqlTokenKind::Comment)
        .take(BACK_MAX)
        .collect();
    TokensBefore { text, before }.context()
}

/// The tokens before a parameter, the nearest first.
struct TokensBefore<'a> {
    text: &'a str,
    before: Vec<&'a SqlToken>,
}

impl TokensBefore<'_> {
    fn context(&self) -> ParameterContext {
        let signs = self.operator(0);
        if !signs.is_empty() {
            return self.named(signs.len(), operator_usage(&signs.concat()));
        }
        match self.word(0).as_deref() {
            Some(telling) if TELLING.contains(&telling) => {
                let usage = if telling == "offset" { ParameterUsage::Offset } else { ParameterUsage::Limit };
                return ParameterContext { qualifier: None, column: Some(telling.to_owned()), usage };
            }
            Some("between") => return self.negated(1, ParameterUsage::Low),
            Some("like" | "ilike") => return self.negated(1, ParameterUsage::Pattern),
            Some("in") => return self.negated(1, ParameterUsage::Value),
            Some("regexp" | "rlike") => return self.negated(1, ParameterUsage::Other),
            Some("and") => {
                let mut places = 1..self.before.len().min(12);
                return match places.find(|&place| self.word(place).as_deref() == Some("between")) {
                    Some(between) => self.negated(between + 1, ParameterUsage::High),
                    None => ParameterContext::UNKNOWN,
                };
            }
            _ => {}
        }
        self.in_brackets()
    }

    fn letters(&self, place: usize) -> &str {
        self.before.get(place).map_or("", |token| &self.text[token.at.clone()])
    }

    fn word(&self, place: usize) -> Option<String> {
        let token = self.before.get(place).filter(|token| token.kind == SqlTokenKind::Word)?;
        Some(plain(&self.text[token.at.clone()]))
    }

    /// The signs of an operator that ends at `place`, as written.
    fn operator(&self, place: usize) -> Vec<&str> {
        let is_sign = |place: &usize| {
            self.before.get(*place).is_some_and(|token| token.kind == SqlTokenKind::Other)
                && self.letters(*place).bytes().all(|sign| b"=<>!~+-*/%|&^".contains(&sign))
        };
        let mut signs: Vec<&str> =
            (place..place + 3).take_while(is_sign).map(|place| self.letters(place)).collect();
        signs.reverse();
        signs
    }

    /// The column at this place, which may be followed by `NOT`.
    fn negated(&self, place: usize, usage: ParameterUsage) -> ParameterContext {
        let is_not = self.before.get(place).is_some() && plain(self.letters(place)) == "not";
        self.named(place + usize::from(is_not), usage)
    }

    /// The column at this place, with what is before its dot.
    fn named(&self, place: usize, usage: ParameterUsage) -> ParameterContext {
        match self.name(place) {
            None => ParameterContext::UNKNOWN,
            Some(column) => {
                let qualifier = (self.letters(place + 1) == ".").then(|| self.name(place + 2)).flatten();
                ParameterContext { qualifier, column: Some(column), usage }
            }
        }
    }

    fn name(&self, place: usize) -> Option<String> {
        let token = self.before.get(place)?;
        let letters = &self.text[token.at.clone()];
        let is_name = token.kind == SqlTokenKind::Word
            || (token.kind == SqlTokenKind::Quoted && !letters.starts_with(['\'', '$']));
        is_name.then(|| plain(letters))
    }

    /// The column for a value in a list: of IN, of ANY, or of VALUES after a list of columns.
    fn in_brackets(&self) -> ParameterContext {
        let (mut depth, mut commas, mut is_later_row) = (0usize, 0usize, false);
        for (place, token) in self.before.iter().enumerate() {
            match token.kind {
                SqlTokenKind::Close => depth += 1,
                SqlTokenKind::Open if depth > 1 || (depth == 1 && !is_later_row) => depth -= 1,
                SqlTokenKind::Open => {
                    depth = 0;
                    match plain(self.letters(place + 1)).as_str() {
                        "in" => return self.negated(place + 2, ParameterUsage::Value),
                        "any" | "some" => {
                            let signs = self.operator(place + 2);
                            return self.named(place + 2 + signs.len(), ParameterUsage::Elements);
                        }
                        "values" | "value" => {
                            let columns = listed(self.text, self.before.get(place + 2..).unwrap_or_default());
                            let column = columns.get(commas).cloned();
                            return column.map_or(ParameterContext::UNKNOWN, ParameterContext::stored);
                        }
                        "," if self.letters(place + 2) == ")" => is_later_row = true,
                        _ => return ParameterContext::UNKNOWN,
                    }
                }
                SqlTokenKind::Other if depth == 0 && !is_later_row && self.letters(place) == "," => {
                    commas += 1;
                }
                _ => {}
            }
        }
        ParameterContext::UNKNOWN
    }
}

fn operator_usage(operator: &str) -> ParameterUsage {
    match operator {
        "=" | "<=>" | "==" => ParameterUsage::Value,
        "<" | "<=" => ParameterUsage::High,
        ">" | ">=" => ParameterUsage::Low,
        "+" | "-" => ParameterUsage::Change,
        "<>" | "!=" => ParameterUsage::Value,
        _ => ParameterUsage::Other,
    }
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
