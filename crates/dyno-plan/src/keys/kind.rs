//! What a key's value may be: one description that reads it, checks it and says what is allowed.

use std::time::Duration;

use super::limits::{BLOCK_SIZE, BLOCKS_MAX, Word};
use super::value::{
    Raw, Refused, read_block_size, read_command, read_counts, read_file, read_size, read_url, read_urls,
    read_variable, read_word, within,
};
use crate::engine::Engines;
use crate::plan::Plan;
use crate::units::{Bytes, Rate, Size, Span};
use crate::url::TargetUrl;

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
    /// A number with or without a fraction.
    Decimal {
        /// The least and the most, both allowed.
        range: (f64, f64),
        /// Puts it into the plan.
        set: fn(&mut Plan, f64),
    },
    /// Yes or no.
    Flag {
        /// Puts it into the plan.
        set: fn(&mut Plan, bool),
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
    /// The seed of a generator, or `fresh`.
    Seed {
        /// Puts it into the plan; `None` is `fresh`.
        set: fn(&mut Plan, Option<u64>),
    },
    /// One of some words.
    Word(&'static [Word]),
    /// A URL of a known engine.
    Url {
        /// Puts it into the plan.
        set: fn(&mut Plan, TargetUrl),
    },
    /// URLs of known engines, at least two.
    Urls {
        /// Puts them into the plan.
        set: fn(&mut Plan, Vec<TargetUrl>),
    },
    /// A list of whole numbers.
    Counts {
        /// The least and the most of each, both allowed.
        range: (u32, u32),
        /// Puts them into the plan.
        set: fn(&mut Plan, Vec<u32>),
    },
    /// The name of an environment variable.
    Variable {
        /// Puts it into the plan.
        set: fn(&mut Plan, String),
    },
    /// A command for the shell.
    Command {
        /// Puts it into the plan.
        set: fn(&mut Plan, String),
    },
    /// The name of a file.
    File {
        /// Puts it into the plan.
        set: fn(&mut Plan, String),
    },
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

impl Kind {
    /// Reads `raw`, checks it and puts it into `plan`, which can name one of `engines`.
    pub(crate) fn put(&self, plan: &mut Plan, raw: Raw<'_>, engines: Engines) -> Result<(), Refused> {
        match self {
            Self::Count { range: (least, most), set } => {
                let number = raw.number((u64::from(*least), u64::from(*most)))?;
                set(plan, u32::try_from(number).map_err(|_| Refused::out_of_range())?);
            }
            Self::Number { range, set } => set(plan, raw.number(*range)?),
            Self::Decimal { range, set } => set(plan, within(raw.decimal()?, *range)?),
            Self::Flag { set } => set(plan, raw.flag()?),
            Self::Size { zero, set } => set(plan, read_size(raw, *zero)?),
            Self::BlockSize { set } => set(plan, read_block_size(raw)?),
            Self::Span { range, set } => set(plan, within(raw.quantity("a duration", "s")?, *range)?),
            Self::Rate { set, .. } if matches!(raw, Raw::Text(text) if text.trim() == "off") => {
                set(plan, None);
            }
            Self::Rate { range, set } => set(plan, Some(within(raw.quantity("a rate", "/s")?, *range)?)),
            Self::Seed { set } if matches!(raw, Raw::Text(text) if text.trim() == "fresh") => set(plan, None),
            Self::Seed { set } => set(plan, Some(raw.number((0, u64::MAX))?)),
            Self::Word(words) => (read_word(raw, words)?.set)(plan),
            Self::Url { set } => set(plan, read_url(raw, engines)?),
            Self::Urls { set } => set(plan, read_urls(raw, engines)?),
            Self::Counts { range, set } => set(plan, read_counts(raw, *range)?),
            Self::Variable { set } => set(plan, read_variable(raw)?),
            Self::Command { set } => set(plan, read_command(raw, engines)?),
            Self::File { set } => set(plan, read_file(raw)?),
        }
        Ok(())
    }

    /// What type of value it is: `whole number`.
    pub fn type_words(&self) -> &'static str {
        match self {
            Self::Count { .. } | Self::Number { .. } | Self::Seed { .. } => "whole number",
            Self::Decimal { .. } => "number",
            Self::Flag { .. } => "yes or no",
            Self::Size { .. } => "size",
            Self::BlockSize { .. } => "bytes",
            Self::Span { .. } => "duration",
            Self::Rate { .. } => "rate",
            Self::Word(_) => "word",
            Self::Url { .. } => "URL",
            Self::Urls { .. } => "list of URLs",
            Self::Counts { .. } => "list of whole numbers",
            Self::Variable { .. } | Self::File { .. } | Self::Command { .. } => "text",
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
            Self::Decimal { range: (least, most), .. } => format!("{least} to {most}"),
            Self::Flag { .. } => "`true` or `false`".into(),
            Self::Size { zero, .. } => format!(
                "1 to {} blocks, or {} to 1000T{}",
                thousands(BLOCKS_MAX),
                Bytes(BLOCK_SIZE.0),
                if *zero { "; `0 blocks` is none" } else { "" }
            ),
            Self::BlockSize { .. } => "`4K`, `8K`, `16K`, `32K` or `64K`".into(),
            Self::Span { range: (least, most), .. } => format!("{least} to {most}"),
            Self::Rate { range: (least, most), .. } => format!("{least} to {most}, or `off`"),
            Self::Seed { .. } => "0 to 2^64 − 1, or `fresh`".into(),
            Self::Word(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("`{}`", word.word)).collect();
                words.join(" or ")
            }
            Self::Url { .. } => {
                "`sqlite:PATH`, `sqlite::memory:`, `postgres://USER@HOST:PORT/DATABASE`, `mysql://USER@HOST:PORT/DATABASE` or `oracle://USER@HOST:PORT/SERVICE`".into()
            }
            Self::Urls { .. } => "2 to 100 URLs, each as `url` is written".into(),
            Self::Counts { range: (least, most), .. } => {
                format!("each {}", whole(u64::from(*least), u64::from(*most)))
            }
            Self::Variable { .. } => "letters, digits and underscores, not a digit first".into(),
            Self::File { .. } => "the path of a file".into(),
            Self::Command { .. } => "a command for `sh -c`, without a password".into(),
        }
    }

    /// How a value of this type is written, where its limits alone do not show it.
    pub fn spelling(&self) -> Option<&'static str> {
        match self {
            Self::Count { .. } | Self::Number { .. } | Self::Seed { .. } => Some("a whole number"),
            Self::Decimal { .. } => Some("a number (`1`, `0.99`)"),
            Self::Size { .. } => Some("blocks (`10000 blocks`) or bytes with K, M, G or T (`80M`, `1.5G`)"),
            Self::Span { .. } => Some("a number with its unit ms, s, m or h (`500ms`, `30s`, `5m`)"),
            Self::Urls { .. } => Some("a list (`[\"postgres://…\", \"postgres://…\"]`)"),
            Self::Counts { .. } => Some("a list of numbers (`[2, 1]`)"),
            Self::Rate { .. } => Some("a number per second (`0.5/s`, `5000/s`)"),
            _ => None,
        }
    }

    /// Whether an error may show the value. A value that belongs to a password's place may be the password itself.
    pub(crate) fn may_show(&self) -> bool {
        !matches!(
            self,
            Self::Url { .. }
                | Self::Urls { .. }
                | Self::Variable { .. }
                | Self::File { .. }
                | Self::Command { .. }
        )
    }

    /// `text` as a TOML value of this kind.
    pub(crate) fn toml(&self, text: &str) -> String {
        match self {
            Self::Count { .. } | Self::Number { .. } | Self::Decimal { .. } | Self::Flag { .. } => {
                text.to_owned()
            }
            Self::Seed { .. } if text.bytes().all(|byte| byte.is_ascii_digit()) => text.to_owned(),
            Self::Counts { .. } => format!("[{text}]"),
            Self::Urls { .. } => {
                let one = |url: &str| Self::Url { set: |_, _| () }.toml(url);
                format!("[{}]", text.split(", ").map(one).collect::<Vec<_>>().join(", "))
            }
            _ => {
                let escape = |c: char| match c {
                    '"' | '\\' => format!("\\{c}"),
                    c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
                    // As a terminal, or the reader of a plan, must not be led astray.
                    c if crate::terminal::acts(c) => format!("\\U{:08X}", u32::from(c)),
                    c => c.to_string(),
                };
                format!("\"{}\"", text.chars().map(escape).collect::<String>())
            }
        }
    }
}
