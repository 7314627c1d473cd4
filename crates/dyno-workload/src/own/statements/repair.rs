//! What servers write into texts in place of literals, and would not take again.

use dyno_engine::seen::Marks;

use super::places::{listed, plain};
use crate::own::sql::{Kind, Token};

/// What stands there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Repair {
    Nothing,
    Text(String),
    /// Values for these columns in the place of `...`; a single one where their number is not known.
    Values(Vec<Option<String>>),
    /// `DATE ?`, which a literal was: the mark so many tokens further, and its type.
    Cast(usize, &'static str),
}

impl Repair {
    /// What a user has to know of it.
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

/// Functions that MySQL knows as such only where no space is before the bracket; digests have one there.
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

/// Types that stand before their literals, and what CAST calls them.
const TYPED: [(&str, &str, &str); 6] = [
    ("date", "date", "DATE"),
    ("time", "time", "TIME"),
    ("timestamp", "timestamp", "DATETIME"),
    ("timestamptz", "timestamptz", ""),
    ("timetz", "timetz", ""),
    ("interval", "interval", ""),
];

/// What is to be put in the place of the tokens that begin at `at`, and how many these are.
pub(super) fn at(text: &str, tokens: &[Token], at: usize, marks: Marks) -> Option<(Repair, usize)> {
    typed(text, tokens, at, marks).or_else(|| match marks {
        Marks::Question => digest(text, tokens, at),
        Marks::Dollar | Marks::Colon => None,
    })
}

fn typed(text: &str, tokens: &[Token], at: usize, marks: Marks) -> Option<(Repair, usize)> {
    let token = &tokens[at];
    let next = tokens.get(at + 1)?;
    let is_mark = match marks {
        Marks::Dollar => next.kind == Kind::Numbered,
        Marks::Question => next.kind == Kind::Mark,
        Marks::Colon => false,
    };
    if token.kind != Kind::Word || !is_mark {
        return None;
    }
    let word = plain(&text[token.at.clone()]);
    let (_, postgres, mysql) = TYPED.into_iter().find(|(known, ..)| *known == word)?;
    let of = if marks == Marks::Dollar { postgres } else { mysql };
    (!of.is_empty()).then_some((Repair::Cast(1, of), 2))
}

fn digest(text: &str, tokens: &[Token], at: usize) -> Option<(Repair, usize)> {
    let token = &tokens[at];
    let sign = |place: usize| tokens.get(place).map(|token| &text[token.at.clone()]);
    let dots = |place: usize| (0..3).all(|dot| sign(place + dot) == Some("."));
    match token.kind {
        // `(?) /* , ... */` is what is left of several rows.
        Kind::Comment => Some((Repair::Nothing, 1)),
        Kind::Word if tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Open) => {
            let word = plain(&text[token.at.clone()]);
            let apart = tokens[at + 1].at.start > token.at.end;
            (apart && CLOSE.contains(&word.as_str()))
                .then(|| (Repair::Text(format!("{}(", &text[token.at.clone()])), 2))
        }
        // `?, ...`, of which the mark itself is a parameter.
        Kind::Other if sign(at) == Some(",") && dots(at + 1) => Some((Repair::Nothing, 4)),
        Kind::Other if dots(at) => {
            let before: Vec<&Token> =
                tokens[..at].iter().rev().filter(|token| token.kind != Kind::Comment).collect();
            let is_values =
                before.get(1).is_some_and(|token| plain(&text[token.at.clone()]).starts_with("value"));
            let columns = if is_values { listed(text, &before[2..]) } else { Vec::new() };
            let column = || {
                let word = |place: usize| before.get(place).map(|token| plain(&text[token.at.clone()]));
                let is_in = word(1).as_deref() == Some("in");
                let place = if word(2).as_deref() == Some("not") { 3 } else { 2 };
                word(place).filter(|_| is_in)
            };
            let values = match columns.is_empty() {
                true => vec![column()],
                false => columns.into_iter().map(Some).collect(),
            };
            Some((Repair::Values(values), 3))
        }
        _ => None,
    }
}

/// Whether the mark at `at` stands for several values: `?, ...`, and `$1 /*, ... */` of PostgreSQL from 18 on.
pub(super) fn is_list(text: &str, tokens: &[Token], at: usize) -> bool {
    let letters = |place: usize| tokens.get(place).map_or("", |token| &text[token.at.clone()]);
    let dots = |place: usize| (0..3).all(|dot| letters(place + dot) == ".");
    (letters(at + 1) == "," && dots(at + 2)) || letters(at + 1).starts_with("/*, ...")
}
