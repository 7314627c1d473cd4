//! Replaces what servers write into recorded texts in place of literals and would not accept as SQL.

use dyno_engine::executed_statements::PlaceholderStyle;
use dyno_engine::sql_tokens::{SqlToken, SqlTokenKind};

use super::parameter_context::{ParameterContext, ParameterUsage, listed, plain};

/// The replacement for some tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Repair {
    Nothing,
    Text(String),
    /// Values for these columns instead of `...`; one value if their number is unknown.
    Values(Vec<ParameterContext>),
    /// `DATE ?`, originally a typed literal: the distance to the mark in tokens, and its type.
    Cast(usize, &'static str),
}

impl Repair {
    /// A note for the user about the replacement; `None` if none is needed.
    pub(super) fn note(&self) -> Option<&'static str> {
        match self {
            Self::Values(columns) if columns.len() == 1 => Some(
                "`...` stands for several values, and nobody knows how many: one is written, add the others",
            ),
            Self::Cast(..) => {
                Some("a literal with its type before it was replaced: CAST says the type of the parameter")
            }
            Self::Nothing | Self::Text(_) | Self::Values(_) => None,
        }
    }
}

/// Functions that MySQL recognizes only without a space before the parenthesis; recorded digests contain one.
const CLOSE: [&str; 32] = [
    "adddate",
    "bit_and",
    "bit_or",
    "bit_xor",
    "cast",
    "count",
    "curdate",
    "curtime",
    "date_add",
    "date_sub",
    "extract",
    "group_concat",
    "json_arrayagg",
    "json_objectagg",
    "max",
    "mid",
    "min",
    "now",
    "position",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "subdate",
    "substr",
    "substring",
    "sum",
    "sysdate",
    "trim",
    "variance",
    "var_pop",
    "var_samp",
];

/// Types that can precede literals, and their names in CAST.
const TYPED: [(&str, &str, &str); 6] = [
    ("date", "date", "DATE"),
    ("time", "time", "TIME"),
    ("timestamp", "timestamp", "DATETIME"),
    ("timestamptz", "timestamptz", ""),
    ("timetz", "timetz", ""),
    ("interval", "interval", ""),
];

/// The replacement for the tokens that begin at `at`, and the number of these tokens.
pub(super) fn at(
    text: &str,
    tokens: &[SqlToken],
    at: usize,
    marks: PlaceholderStyle,
) -> Option<(Repair, usize)> {
    typed(text, tokens, at, marks).or_else(|| match marks {
        PlaceholderStyle::Question => digest(text, tokens, at),
        PlaceholderStyle::Dollar | PlaceholderStyle::Colon => None,
    })
}

fn typed(text: &str, tokens: &[SqlToken], at: usize, marks: PlaceholderStyle) -> Option<(Repair, usize)> {
    let token = &tokens[at];
    let next = tokens.get(at + 1)?;
    let is_mark = match marks {
        PlaceholderStyle::Dollar => next.kind == SqlTokenKind::Numbered,
        PlaceholderStyle::Question => next.kind == SqlTokenKind::Mark,
        PlaceholderStyle::Colon => false,
    };
    if token.kind != SqlTokenKind::Word || !is_mark {
        return None;
    }
    let word = plain(&text[token.at.clone()]);
    let (_, postgres, mysql) = TYPED.into_iter().find(|(known, ..)| *known == word)?;
    let cast_type = if marks == PlaceholderStyle::Dollar { postgres } else { mysql };
    (!cast_type.is_empty()).then_some((Repair::Cast(1, cast_type), 2))
}

fn digest(text: &str, tokens: &[SqlToken], at: usize) -> Option<(Repair, usize)> {
    let token = &tokens[at];
    let sign = |place: usize| tokens.get(place).map(|token| &text[token.at.clone()]);
    let dots = |place: usize| (0..3).all(|dot| sign(place + dot) == Some("."));
    match token.kind {
        // `(?) /* , ... */` remains of several rows.
        SqlTokenKind::Comment => Some((Repair::Nothing, 1)),
        SqlTokenKind::Word if tokens.get(at + 1).is_some_and(|next| next.kind == SqlTokenKind::Open) => {
            let word = plain(&text[token.at.clone()]);
            let apart = tokens[at + 1].at.start > token.at.end;
            (apart && CLOSE.contains(&word.as_str()))
                .then(|| (Repair::Text(format!("{}(", &text[token.at.clone()])), 2))
        }
        // `?, ...`, where the mark itself is a parameter.
        SqlTokenKind::Other if sign(at) == Some(",") && dots(at + 1) => Some((Repair::Nothing, 4)),
        SqlTokenKind::Other if dots(at) => {
            let before: Vec<&SqlToken> =
                tokens[..at].iter().rev().filter(|token| token.kind != SqlTokenKind::Comment).collect();
            let is_values =
                before.get(1).is_some_and(|token| plain(&text[token.at.clone()]).starts_with("value"));
            let columns = if is_values { listed(text, &before[2..]) } else { Vec::new() };
            let in_list = || {
                let word = |place: usize| before.get(place).map(|token| plain(&text[token.at.clone()]));
                let place = if word(2).as_deref() == Some("not") { 3 } else { 2 };
                let column = word(place).filter(|_| word(1).as_deref() == Some("in"));
                let qualifier = word(place + 2).filter(|_| word(place + 1).as_deref() == Some("."));
                column.map_or(ParameterContext::UNKNOWN, |column| ParameterContext {
                    qualifier,
                    column: Some(column),
                    usage: ParameterUsage::Value,
                })
            };
            let values = match columns.is_empty() {
                true => vec![in_list()],
                false => columns.into_iter().map(ParameterContext::stored).collect(),
            };
            Some((Repair::Values(values), 3))
        }
        _ => None,
    }
}

/// Whether the mark at `at` stands for a list: `?, ...`, or `$1 /*, ... */` in PostgreSQL 18 and later.
pub(super) fn is_list(text: &str, tokens: &[SqlToken], at: usize) -> bool {
    let letters = |place: usize| tokens.get(place).map_or("", |token| &text[token.at.clone()]);
    let dots = |place: usize| (0..3).all(|dot| letters(place + dot) == ".");
    (letters(at + 1) == "," && dots(at + 2)) || letters(at + 1).starts_with("/*, ...")
}
