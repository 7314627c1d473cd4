//! What a key's value may be: one description that reads it, checks it and says what is allowed.

use std::time::Duration;

use crate::engine::Engine;
use crate::error::PlanErrorKind;
use crate::plan::Plan;
use crate::units::{Blocks, Bytes, Rate, Size, Span};
use crate::url::TargetUrl;

/// The smallest and the largest block in bytes that Dyno makes or checks: SQLite's and PostgreSQL's lie within.
pub const BLOCK_SIZE: (u64, u64) = (4 << 10, 64 << 10);

/// The largest table in blocks.
pub const BLOCKS_MAX: u64 = 1_000_000_000_000;

/// The largest table in bytes: 1000T.
pub const TABLE_BYTES_MAX: u64 = 1_000 << 40;

/// What a value may be, and where it goes.
pub enum Kind {
    /// A whole number of 32 bits.
    Count {
        /// The least and the most, both allowed.
        range: (u32, u32),
        /// Puts it into the plan.
        set: fn(&mut Plan, u32),
    },
    /// A whole number of 64 bits.
    Number {
        /// The least and the most, both allowed.
        range: (u64, u64),
        /// Puts it into the plan.
        set: fn(&mut Plan, u64),
    },
    /// A table's size in blocks or bytes.
    Size {
        /// Whether the table may be left out with zero.
        zero: bool,
        /// Puts it into the plan.
        set: fn(&mut Plan, Size),
    },
    /// A block size: a power of two.
    BlockSize {
        /// Puts it into the plan.
        set: fn(&mut Plan, Bytes),
    },
    /// A span of time.
    Span {
        /// The least and the most, both allowed.
        range: (Span, Span),
        /// Puts it into the plan.
        set: fn(&mut Plan, Span),
    },
    /// A rate, or `off`.
    Rate {
        /// The least and the most, both allowed.
        range: (Rate, Rate),
        /// Puts it into the plan; `None` is `off`.
        set: fn(&mut Plan, Option<Rate>),
    },
    /// One of some words.
    Word(&'static [Word]),
    /// A URL of a known engine.
    Url {
        /// Puts it into the plan.
        set: fn(&mut Plan, TargetUrl),
    },
    /// The name of an environment variable.
    Variable {
        /// Puts it into the plan.
        set: fn(&mut Plan, String),
    },
    /// The name of a file.
    File {
        /// Puts it into the plan.
        set: fn(&mut Plan, String),
    },
}

/// A word that a key allows.
pub struct Word {
    /// The word.
    pub word: &'static str,
    /// What it means.
    pub means: &'static str,
    /// Puts it into the plan.
    pub set: fn(&mut Plan),
}

/// A value as written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Raw<'a> {
    /// A TOML string, or the text of an option.
    Text(&'a str),
    /// A TOML integer: digits with an optional sign, and their base.
    Integer(&'a str, u32),
    /// A TOML value that no key takes, in words.
    Other(&'static str),
}

/// Why a value was refused.
#[derive(Debug, PartialEq)]
pub(crate) struct Refused {
    /// The kind of the error.
    pub(crate) kind: PlanErrorKind,
    /// What is wrong with the value.
    pub(crate) problem: String,
    /// The way out, where there is a better one than what is allowed.
    pub(crate) hint: Option<String>,
}

impl Refused {
    fn new(kind: PlanErrorKind, problem: impl Into<String>) -> Self {
        Self { kind, problem: problem.into(), hint: None }
    }

    fn out_of_range() -> Self {
        Self::new(PlanErrorKind::Range, "out of range")
    }
}

/// Seconds as a span, for the limits in the list of keys.
pub(crate) const fn seconds(seconds: u64) -> Span {
    Span(Duration::from_secs(seconds))
}

/// Milliseconds as a span, for the limits in the list of keys.
pub(crate) const fn millis(millis: u64) -> Span {
    Span(Duration::from_millis(millis))
}

/// A whole number with its thousands separated: `10,000`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn within<T: PartialOrd>(value: T, (least, most): (T, T)) -> Result<T, Refused> {
    if least <= value && value <= most { Ok(value) } else { Err(Refused::out_of_range()) }
}

impl<'a> Raw<'a> {
    /// The whole number that is written, as wide as it takes to tell "too large" from "not a number".
    fn whole(self) -> Result<i128, Refused> {
        let wrong = || Refused::new(PlanErrorKind::Type, "not a whole number");
        let (digits, radix) = match self {
            Self::Integer(digits, radix) => (digits, radix),
            Self::Text(text) => (text.trim(), 10),
            Self::Other(what) => {
                return Err(Refused::new(PlanErrorKind::Type, format!("{what}, not a whole number")));
            }
        };
        let unsigned = digits.strip_prefix(['-', '+']).unwrap_or(digits);
        if unsigned.is_empty() || !unsigned.chars().all(|c| c.is_digit(radix)) {
            return Err(wrong());
        }
        i128::from_str_radix(digits, radix).map_err(|_| Refused::out_of_range())
    }

    fn number(self, (least, most): (u64, u64)) -> Result<u64, Refused> {
        let number = self.whole()?;
        within(number, (i128::from(least), i128::from(most)))?;
        u64::try_from(number).map_err(|_| Refused::out_of_range())
    }

    fn text(self, what: &str) -> Result<&'a str, Refused> {
        match self {
            Self::Text(text) => Ok(text.trim()),
            Self::Integer(..) => Err(Refused::new(PlanErrorKind::Type, format!("a bare number, not {what}"))),
            Self::Other(other) => Err(Refused::new(PlanErrorKind::Type, format!("{other}, not {what}"))),
        }
    }

    /// Reads a quantity whose bare number is an error, because its unit would be a guess.
    fn quantity<T: std::str::FromStr>(self, what: &str, unit: &str) -> Result<T, Refused> {
        let digits = match self {
            Self::Integer(digits, 10) => Some(digits),
            Self::Text(text) => Some(text.trim()),
            _ => None,
        };
        // Without the check of the last character, `1m` would become `1ms`.
        let bare = digits.filter(|text| text.ends_with(|c: char| c.is_ascii_digit()));
        if let Some(digits) = bare.filter(|text| format!("{text}{unit}").parse::<T>().is_ok()) {
            return Err(Refused {
                kind: PlanErrorKind::Type,
                problem: format!("{what} without a unit"),
                hint: Some(format!("write \"{digits}{unit}\"")),
            });
        }
        self.text(what)?.parse().map_err(|_| Refused::new(PlanErrorKind::Type, format!("not {what}")))
    }
}

fn read_size(raw: Raw<'_>, zero: bool) -> Result<Size, Refused> {
    let size = match raw {
        Raw::Integer(..) => Size::Blocks(Blocks(raw.number((0, BLOCKS_MAX))?)),
        _ => raw.text("a size")?.parse().map_err(|_| Refused::new(PlanErrorKind::Type, "not a size"))?,
    };
    match size {
        Size::Blocks(Blocks(0)) | Size::Bytes(Bytes(0)) if zero => Ok(size),
        Size::Blocks(Blocks(blocks)) => within(blocks, (1, BLOCKS_MAX)).map(|_| size),
        Size::Bytes(Bytes(bytes)) => within(bytes, (BLOCK_SIZE.0, TABLE_BYTES_MAX)).map(|_| size),
    }
}

fn read_block_size(raw: Raw<'_>) -> Result<Bytes, Refused> {
    let bytes = match raw {
        Raw::Integer(..) => raw.number((0, u64::MAX))?,
        _ => {
            let read = raw.text("a number of bytes")?.parse::<Bytes>();
            read.map_err(|_| Refused::new(PlanErrorKind::Type, "not a number of bytes"))?.0
        }
    };
    within(bytes, BLOCK_SIZE)?;
    if !bytes.is_power_of_two() {
        return Err(Refused::new(PlanErrorKind::Range, "not a power of two"));
    }
    Ok(Bytes(bytes))
}

fn read_url(raw: Raw<'_>) -> Result<TargetUrl, Refused> {
    let text = raw.text("a URL")?;
    let url: TargetUrl = text.parse().map_err(|error: crate::url::UrlError| {
        let kind = match error {
            crate::url::UrlError::Password => PlanErrorKind::Secret,
            _ => PlanErrorKind::Type,
        };
        let (problem, hint) = error.problem_and_hint();
        Refused { kind, problem, hint: Some(hint) }
    })?;
    if Engine::of(&url).is_none() {
        // What stands before a lone colon may be anything, such as a user; before `://` it is a scheme.
        let named = if text.contains("://") { format!(" {:?}", url.scheme) } else { String::new() };
        return Err(Refused::new(PlanErrorKind::Range, format!("there is no such engine{named}")));
    }
    Ok(url)
}

fn read_variable(raw: Raw<'_>) -> Result<String, Refused> {
    let name = raw.text("the name of an environment variable")?;
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if first && name.len() <= 255 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        Ok(name.to_owned())
    } else {
        Err(Refused::new(PlanErrorKind::Range, "not the name of an environment variable"))
    }
}

fn read_file(raw: Raw<'_>) -> Result<String, Refused> {
    let name = raw.text("the name of a file")?;
    if name.is_empty() || name.contains('\0') || name.len() > 4_096 {
        return Err(Refused::new(PlanErrorKind::Range, "not the name of a file"));
    }
    Ok(name.to_owned())
}

fn read_word(raw: Raw<'_>, words: &'static [Word]) -> Result<&'static Word, Refused> {
    let text = raw.text("one of the words")?;
    words.iter().find(|word| word.word == text).ok_or_else(|| {
        let names = words.iter().map(|word| word.word);
        Refused {
            kind: PlanErrorKind::Range,
            problem: "not one of the words".into(),
            hint: crate::similar::closest(text, names).map(|word| format!("did you mean {word:?}?")),
        }
    })
}

impl Kind {
    /// Reads `raw`, checks it and puts it into `plan`.
    pub(crate) fn put(&self, plan: &mut Plan, raw: Raw<'_>) -> Result<(), Refused> {
        match self {
            Self::Count { range: (least, most), set } => {
                let number = raw.number((u64::from(*least), u64::from(*most)))?;
                set(plan, u32::try_from(number).map_err(|_| Refused::out_of_range())?);
            }
            Self::Number { range, set } => set(plan, raw.number(*range)?),
            Self::Size { zero, set } => set(plan, read_size(raw, *zero)?),
            Self::BlockSize { set } => set(plan, read_block_size(raw)?),
            Self::Span { range, set } => set(plan, within(raw.quantity("a duration", "s")?, *range)?),
            Self::Rate { set, .. } if matches!(raw, Raw::Text(text) if text.trim() == "off") => {
                set(plan, None)
            }
            Self::Rate { range, set } => set(plan, Some(within(raw.quantity("a rate", "/s")?, *range)?)),
            Self::Word(words) => (read_word(raw, words)?.set)(plan),
            Self::Url { set } => set(plan, read_url(raw)?),
            Self::Variable { set } => set(plan, read_variable(raw)?),
            Self::File { set } => set(plan, read_file(raw)?),
        }
        Ok(())
    }

    /// What type of value it is: `whole number`.
    pub fn type_words(&self) -> &'static str {
        match self {
            Self::Count { .. } | Self::Number { .. } => "whole number",
            Self::Size { .. } => "size",
            Self::BlockSize { .. } => "bytes",
            Self::Span { .. } => "duration",
            Self::Rate { .. } => "rate",
            Self::Word(_) => "word",
            Self::Url { .. } => "URL",
            Self::Variable { .. } | Self::File { .. } => "text",
        }
    }

    /// The limits alone, for tables that say elsewhere how a value of this type is written: `1 to 10,000`.
    pub fn limits(&self) -> String {
        let whole = |least: u64, most: u64| {
            if least == most {
                least.to_string()
            } else {
                format!("{} to {}", thousands(least), thousands(most))
            }
        };
        match self {
            Self::Count { range: (least, most), .. } => whole(u64::from(*least), u64::from(*most)),
            Self::Number { range: (0, u64::MAX), .. } => "0 to 2^64 − 1".into(),
            Self::Number { range: (least, most), .. } => whole(*least, *most),
            Self::Size { zero, .. } => format!(
                "1 to {} blocks, or {} to 1000T{}",
                thousands(BLOCKS_MAX),
                Bytes(BLOCK_SIZE.0),
                if *zero { "; `0 blocks` is none" } else { "" }
            ),
            Self::BlockSize { .. } => "`4K`, `8K`, `16K`, `32K` or `64K`".into(),
            Self::Span { range: (least, most), .. } => format!("{least} to {most}"),
            Self::Rate { range: (least, most), .. } => format!("{least} to {most}, or `off`"),
            Self::Word(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("`{}`", word.word)).collect();
                words.join(" or ")
            }
            Self::Url { .. } => {
                "`sqlite:PATH`, `sqlite::memory:` or `postgres://USER@HOST:PORT/DATABASE`".into()
            }
            Self::Variable { .. } => "letters, digits and underscores, not a digit first".into(),
            Self::File { .. } => "the path of a file".into(),
        }
    }

    /// How a value of this type is written, where its limits alone do not show it.
    pub fn spelling(&self) -> Option<&'static str> {
        match self {
            Self::Count { .. } | Self::Number { .. } => Some("a whole number"),
            Self::Size { .. } => Some("blocks (`10000 blocks`) or bytes with K, M, G or T (`80M`, `1.5G`)"),
            Self::Span { .. } => Some("a number with its unit ms, s, m or h (`500ms`, `30s`, `5m`)"),
            Self::Rate { .. } => Some("a number per second (`0.5/s`, `5000/s`)"),
            _ => None,
        }
    }

    /// Whether an error may show the value. A value that belongs to a password's place may be the password itself.
    pub(crate) fn may_show(&self) -> bool {
        !matches!(self, Self::Url { .. } | Self::Variable { .. } | Self::File { .. })
    }

    /// `text` as a TOML value of this kind.
    pub(crate) fn toml(&self, text: &str) -> String {
        match self {
            Self::Count { .. } | Self::Number { .. } => text.to_owned(),
            _ => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        }
    }
}
