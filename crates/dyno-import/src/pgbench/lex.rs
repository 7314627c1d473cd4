//! Splits pgbench's expressions into tokens.

use dyno_plan::error::shown;
use dyno_workload::custom::syntax::{Number, SourceText, WorkloadError};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum PgbenchToken {
    Number(Number),
    /// 9223372036854775808, which is valid only after a minus.
    OneTooMany,
    /// A variable, in the form `:name`.
    Variable(String),
    /// A word in lower case.
    Word(String),
    Sign(&'static str),
    End,
}

/// Signs, ordered so that longer ones match first.
const SIGNS: [&str; 20] = [
    "<=", ">=", "<>", "!=", "<<", ">>", "+", "-", "*", "/", "%", "=", "<", ">", "|", "#", "&", "~", "(", ")",
];

/// The tokens of `text` from byte `from` on, each with its place.
///
/// # Errors
/// A character cannot begin a token.
pub(super) fn tokens(text: &SourceText, from: usize) -> Result<Vec<(PgbenchToken, usize)>, WorkloadError> {
    let letters = &*text.letters;
    let bytes = letters.as_bytes();
    let (mut all, mut at) = (Vec::new(), from);
    while let Some(&byte) = bytes.get(at) {
        let run = |from: usize, predicate: fn(u8) -> bool| {
            from + bytes[from..].iter().take_while(|byte| predicate(**byte)).count()
        };
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        let (token, end) = match byte {
            _ if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            // A backslash continues the line.
            b'\\' if b"\r\n\0".contains(&next) => {
                at += 1;
                continue;
            }
            b',' => (PgbenchToken::Sign(","), at + 1),
            b':' if is_plain(next) => {
                let end = run(at + 1, is_plain);
                (PgbenchToken::Variable(letters[at + 1..end].to_owned()), end)
            }
            _ if byte.is_ascii_digit() || (byte == b'.' && next.is_ascii_digit()) => number(text, at)?,
            _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                let end = run(at, is_plain);
                (PgbenchToken::Word(letters[at..end].to_ascii_lowercase()), end)
            }
            _ => match SIGNS.iter().find(|sign| letters[at..].starts_with(**sign)) {
                Some(sign) => (PgbenchToken::Sign(sign), at + sign.len()),
                None => {
                    let first: String = letters[at..].chars().take(1).collect();
                    return Err(text.fault(
                        at,
                        format!("{} is not an operator of pgbench", shown(&first)),
                        OPERATORS,
                    ));
                }
            },
        };
        all.push((token, at));
        at = end;
    }
    all.push((PgbenchToken::End, letters.trim_end().len().max(from)));
    Ok(all)
}

const OPERATORS: &str = "or, and, not, is, = <> != < <= > >=, | # & ~ << >>, + - * / %";

/// Whether the byte can be part of a name.
pub(super) fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn number(text: &SourceText, at: usize) -> Result<(PgbenchToken, usize), WorkloadError> {
    let letters = &text.letters[at..];
    let bytes = letters.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(0);
    let mut is_whole = true;
    if bytes.get(end) == Some(&b'.') {
        (end, is_whole) = (digits(end + 1), false);
    }
    if bytes.get(end).is_some_and(|byte| b"eE".contains(byte)) {
        let exponent = end + 1 + usize::from(bytes.get(end + 1).is_some_and(|byte| b"+-".contains(byte)));
        if bytes.get(exponent).is_some_and(u8::is_ascii_digit) {
            (end, is_whole) = (digits(exponent), false);
        }
    }
    let written = &letters[..end];
    let token = match is_whole {
        true if written.trim_start_matches('0') == "9223372036854775808" => Some(PgbenchToken::OneTooMany),
        true => written.parse().ok().map(|number| PgbenchToken::Number(Number::Int(number))),
        false => {
            let number: Option<f64> = written.parse().ok();
            number
                .filter(|number| number.is_finite())
                .map(|number| PgbenchToken::Number(Number::Real(number)))
        }
    };
    let token = token.ok_or_else(|| text.fault(at, format!("{} is too large", shown(written)), ""))?;
    Ok((token, at + end))
}
