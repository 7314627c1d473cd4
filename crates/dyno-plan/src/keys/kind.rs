//! Types of values: one description reads a value, checks it and says what is allowed.

use std::time::Duration;

use super::limits::{BLOCK_SIZE, BLOCKS_MAX};
use super::value::{
    RawValue, Refused, read_block_size, read_command, read_file, read_hosts, read_name, read_option,
    read_phases, read_rate, read_size, read_url, read_urls, read_variable, read_word, within,
};
use crate::engine::Engines;
use crate::hosts::HostSpec;
use crate::phases::RatePhase;
use crate::plan::Plan;
use crate::plan::field::{Field, listed};
use crate::units::{BlocksOrBytes, Bytes, Rate, TimeSpan};
use crate::url::TargetUrl;

/// Access to a field of a plan.
pub struct At<F: ?Sized + 'static> {
    /// Returns the field for reading.
    pub read: fn(&Plan) -> &F,
    /// Returns the field for writing.
    pub write: fn(&mut Plan) -> &mut F,
}

/// Builds the access to the field of a plan with this path.
macro_rules! at {
    ($($field:ident).+) => {
        $crate::keys::At { read: |plan| &plan.$($field).+, write: |plan| &mut plan.$($field).+ }
    };
}

pub(super) use at;

impl<T> At<dyn Field<T>> {
    fn put(&self, plan: &mut Plan, value: T) {
        (self.write)(plan).put(value);
    }

    fn text(&self, plan: &Plan) -> Option<String> {
        (self.read)(plan).text()
    }
}

/// The type of a value and the field of a plan that it sets. The limits are inclusive.
pub enum PlanKeyKind {
    /// An integer of 32 bits.
    Count(u32, u32, At<dyn Field<u32>>),
    /// An integer of 64 bits.
    Number(u64, u64, At<dyn Field<u64>>),
    /// A number with or without a fraction.
    Decimal(f64, f64, At<dyn Field<f64>>),
    /// A switch: `true` or `false`.
    Flag(At<dyn Field<bool>>),
    /// A table's size in blocks or bytes; whether zero (no table) is allowed.
    Size(bool, At<dyn Field<BlocksOrBytes>>),
    /// A block size, which is a power of two.
    BlockSize(At<dyn Field<Bytes>>),
    /// A duration between two limits.
    Span(TimeSpan, TimeSpan, At<dyn Field<TimeSpan>>),
    /// A rate, or `off`, stored as `None`.
    Rate(Rate, Rate, At<Option<Rate>>),
    /// A schedule of phases in order.
    Phases(At<Vec<RatePhase>>),
    /// The seed of a generator, or `fresh`, stored as `None`.
    Seed(At<Option<u64>>),
    /// One of several words, each with its meaning.
    Word(&'static [(&'static str, &'static str)], At<dyn Field<&'static str>>),
    /// A URL of a known engine.
    Url(At<dyn Field<TargetUrl>>),
    /// At least two URLs of known engines.
    Urls(At<dyn Field<Vec<TargetUrl>>>),
    /// Names of workload folders or ready workloads.
    Folders(At<Vec<String>>),
    /// A name: letters, digits, `_` and `-`, beginning with a letter.
    Name(At<dyn Field<String>>),
    /// A list of such names.
    Names(At<Vec<String>>),
    /// Options of a workload with their values: `name=value`.
    Options(At<Vec<String>>),
    /// Rates, or `off` for none.
    Rates(Rate, Rate, At<Vec<Option<Rate>>>),
    /// A list of integers.
    Counts(u32, u32, At<Vec<u32>>),
    /// The name of an environment variable.
    Variable(At<dyn Field<String>>),
    /// A command for the shell.
    Command(At<dyn Field<String>>),
    /// The name of a file.
    File(At<dyn Field<String>>),
    /// Hosts to observe, each with its URL.
    Hosts(At<Vec<HostSpec>>),
}

/// Seconds as a duration, for limits in the list of keys.
pub(crate) const fn seconds(seconds: u64) -> TimeSpan {
    TimeSpan(Duration::from_secs(seconds))
}

/// Milliseconds as a duration, for limits in the list of keys.
pub(crate) const fn millis(millis: u64) -> TimeSpan {
    TimeSpan(Duration::from_millis(millis))
}

/// An integer with thousands separators: `10,000`.
pub fn thousands(number: u64) -> String {
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

/// The rule for names, as errors state it.
const NAME: &str = "letters, digits, `_` and `-`, starting with a letter";

impl PlanKeyKind {
    /// Reads and checks `raw`, and stores it in `plan`; URLs must belong to one of `engines`.
    pub(crate) fn put(&self, plan: &mut Plan, raw: RawValue<'_>, engines: Engines) -> Result<(), Refused> {
        let is = |word: &str| matches!(raw, RawValue::Text(text) if text.trim() == word);
        match self {
            Self::Count(least, most, at) => at.put(plan, raw.count((*least, *most))?),
            Self::Number(least, most, at) => at.put(plan, raw.number((*least, *most))?),
            Self::Decimal(least, most, at) => at.put(plan, within(raw.decimal()?, (*least, *most))?),
            Self::Flag(at) => at.put(plan, raw.flag()?),
            Self::Size(zero, at) => at.put(plan, read_size(raw, *zero)?),
            Self::BlockSize(at) => at.put(plan, read_block_size(raw)?),
            Self::Span(least, most, at) => {
                at.put(plan, within(raw.quantity("a duration", "s")?, (*least, *most))?);
            }
            Self::Rate(.., at) if is("off") => *(at.write)(plan) = None,
            Self::Rate(least, most, at) => *(at.write)(plan) = Some(read_rate(raw, (*least, *most))?),
            Self::Rates(least, most, at) => {
                *(at.write)(plan) = raw.read_each(|item| match item {
                    RawValue::Text(text) if text.trim() == "off" => Ok(None),
                    item => read_rate(item, (*least, *most)).map(Some),
                })?;
            }
            Self::Folders(at) => *(at.write)(plan) = raw.read_each(read_file)?,
            Self::Name(at) => at.put(plan, read_name(raw)?),
            Self::Names(at) => *(at.write)(plan) = raw.read_each(read_name)?,
            Self::Options(at) => *(at.write)(plan) = raw.read_each(read_option)?,
            Self::Phases(at) => *(at.write)(plan) = read_phases(raw)?,
            Self::Seed(at) if is("fresh") => *(at.write)(plan) = None,
            Self::Seed(at) => *(at.write)(plan) = Some(raw.number((0, u64::MAX))?),
            Self::Word(words, at) => at.put(plan, read_word(raw, words)?),
            Self::Url(at) => at.put(plan, read_url(raw, engines)?),
            Self::Urls(at) => at.put(plan, read_urls(raw, engines)?),
            Self::Counts(least, most, at) => {
                *(at.write)(plan) = raw.read_each(|item| item.count((*least, *most)))?;
            }
            Self::Variable(at) => at.put(plan, read_variable(raw)?),
            Self::Command(at) => at.put(plan, read_command(raw, engines)?),
            Self::File(at) => at.put(plan, read_file(raw)?),
            Self::Hosts(at) => *(at.write)(plan) = read_hosts(raw)?,
        }
        Ok(())
    }

    /// The value in `plan` as users write it; `None` if `plan` has none.
    pub fn text(&self, plan: &Plan) -> Option<String> {
        match self {
            Self::Count(.., at) => at.text(plan),
            Self::Number(.., at) => at.text(plan),
            Self::Decimal(.., at) => at.text(plan),
            Self::Flag(at) => at.text(plan),
            Self::Size(_, at) => at.text(plan),
            Self::BlockSize(at) => at.text(plan),
            Self::Span(.., at) => at.text(plan),
            Self::Rate(.., at) => (at.read)(plan).text().or_else(|| Some("off".to_owned())),
            Self::Phases(at) => listed((at.read)(plan)),
            Self::Seed(at) => (at.read)(plan).text().or_else(|| Some("fresh".to_owned())),
            Self::Word(_, at) => at.text(plan),
            Self::Url(at) => at.text(plan),
            Self::Urls(at) => at.text(plan),
            Self::Counts(.., at) => listed((at.read)(plan)),
            Self::Folders(at) | Self::Names(at) | Self::Options(at) => listed((at.read)(plan)),
            Self::Rates(.., at) => {
                let text =
                    |rate: &Option<Rate>| rate.map_or_else(|| "off".to_owned(), |rate| rate.to_string());
                listed(&(at.read)(plan).iter().map(text).collect::<Vec<_>>())
            }
            Self::Variable(at) | Self::Command(at) | Self::File(at) | Self::Name(at) => at.text(plan),
            Self::Hosts(at) => listed((at.read)(plan)),
        }
    }

    /// The type of the value: `integer`.
    pub fn type_words(&self) -> &'static str {
        match self {
            Self::Count(..) | Self::Number(..) | Self::Seed(..) => "integer",
            Self::Decimal(..) => "number",
            Self::Flag(..) => "yes or no",
            Self::Size(..) => "size",
            Self::BlockSize(..) => "bytes",
            Self::Span(..) => "duration",
            Self::Rate(..) => "rate",
            Self::Phases(..) => "list of phases",
            Self::Word(..) => "word",
            Self::Url(..) => "URL",
            Self::Urls(..) => "list of URLs",
            Self::Counts(..) => "list of integers",
            Self::Folders(..) => "list of folders",
            Self::Name(..) => "name",
            Self::Names(..) => "list of names",
            Self::Options(..) => "list of options",
            Self::Rates(..) => "list of rates",
            Self::Hosts(..) => "list of hosts",
            Self::Variable(..) | Self::File(..) | Self::Command(..) => "text",
        }
    }

    /// The limits without the type, for tables that show the type elsewhere: `1 to 10,000`.
    pub fn limits(&self) -> String {
        let whole = |least: u64, most: u64| {
            if least == most {
                least.to_string()
            } else {
                format!("{} to {}", thousands(least), thousands(most))
            }
        };
        match self {
            Self::Count(least, most, _) => whole(u64::from(*least), u64::from(*most)),
            Self::Number(0, u64::MAX, _) => "0 to 2^64 − 1".into(),
            Self::Number(least, most, _) => whole(*least, *most),
            Self::Decimal(least, most, _) => format!("{least} to {most}"),
            Self::Flag(..) => "`true` or `false`".into(),
            Self::Size(zero, _) => format!(
                "1 to {} blocks, or {} to 1000T{}",
                thousands(BLOCKS_MAX),
                Bytes(BLOCK_SIZE.0),
                if *zero { "; `0 blocks` is none" } else { "" }
            ),
            Self::BlockSize(..) => "`4K`, `8K`, `16K`, `32K` or `64K`".into(),
            Self::Span(least, most, _) => format!("{least} to {most}"),
            Self::Rate(least, most, _) => format!("{least} to {most}, or `off`"),
            Self::Rates(least, most, _) => format!("each {least} to {most}, or `off`"),
            Self::Folders(..) => "each the path of a folder".into(),
            Self::Name(..) => NAME.into(),
            Self::Names(..) => format!("each {NAME}"),
            Self::Options(..) => "each the name of an option, `=` and its value".into(),
            Self::Phases(..) => {
                "1 to 1,000 phases, including each step; rates 0/s to 100000000/s, 1s to 720h together".into()
            }
            Self::Seed(..) => "0 to 2^64 − 1, or `fresh`".into(),
            Self::Word(words, _) => {
                let words: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
                words.join(" or ")
            }
            Self::Url(..) => {
                "`sqlite:PATH`, `sqlite::memory:`, `postgres://USER@HOST:PORT/DATABASE`, `mysql://USER@HOST:PORT/DATABASE` or `oracle://USER@HOST:PORT/SERVICE`".into()
            }
            Self::Urls(..) => "2 to 100 URLs, each written like `url`".into(),
            Self::Counts(least, most, _) => {
                format!("each {}", whole(u64::from(*least), u64::from(*most)))
            }
            Self::Variable(..) => "letters, digits and underscores, not starting with a digit".into(),
            Self::File(..) => "the path of a file".into(),
            Self::Hosts(..) => format!("1 to 100 hosts, each with its URL: {}", crate::hosts::FORMS),
            Self::Command(..) => "a command for `sh -c`, without a password".into(),
        }
    }

    /// How users write a value of this type, if its limits do not show it.
    pub fn spelling(&self) -> Option<&'static str> {
        match self {
            Self::Count(..) | Self::Number(..) | Self::Seed(..) => Some("an integer"),
            Self::Decimal(..) => Some("a number (`1`, `0.99`)"),
            Self::Size(..) => Some("blocks (`10000 blocks`) or bytes with K, M, G or T (`80M`, `1.5G`)"),
            Self::Span(..) => Some("a number with its unit ms, s, m or h (`500ms`, `30s`, `5m`)"),
            Self::Urls(..) => Some("a list (`[\"postgres://…\", \"postgres://…\"]`)"),
            Self::Counts(..) => Some("a list of numbers (`[2, 1]`)"),
            Self::Folders(..) => Some("a list (`[\"writes\", \"reports\"]`), or a single value"),
            Self::Names(..) => Some("a list (`[\"writers\", \"own\"]`), or a single value"),
            Self::Options(..) => {
                Some("a list (`[\"terminals=true\", \"lock_stock=false\"]`), or a single value")
            }
            Self::Rates(..) => Some("a list (`[\"200/s\", \"off\"]`), or a single value"),
            Self::Phases(..) => Some(
                "a list of `hold 1000/s 60s`, `ramp 0..1000/s 30s`, `steps 200/s..1000/s by 200/s each 10s`, `sine \
                 200/s..1000/s period 20s for 60s`, `csv FILE`",
            ),
            Self::Hosts(..) => {
                Some("a list (`[{ role = \"database\", url = \"ssh://db1\" }]`, or `[\"ssh://db1\"]`)")
            }
            Self::Rate(..) => Some("a number per second (`0.5/s`, `5000/s`)"),
            _ => None,
        }
    }

    /// Whether an error may show the value. Some values may be the password itself.
    pub(crate) fn may_show(&self) -> bool {
        !matches!(
            self,
            Self::Url(..)
                | Self::Urls(..)
                | Self::Variable(..)
                | Self::File(..)
                | Self::Folders(..)
                | Self::Command(..)
                | Self::Hosts(..)
        )
    }

    /// `text` as a TOML value of this kind.
    pub fn toml(&self, text: &str) -> String {
        match self {
            Self::Count(..) | Self::Number(..) | Self::Decimal(..) | Self::Flag(..) => text.to_owned(),
            Self::Seed(..) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.to_owned(),
            Self::Counts(..) => format!("[{text}]"),
            Self::Urls(..)
            | Self::Folders(..)
            | Self::Names(..)
            | Self::Options(..)
            | Self::Rates(..)
            | Self::Hosts(..)
            | Self::Phases(..) => {
                let quoted = |item: &str| Self::Url(at!(target)).toml(item);
                format!("[{}]", text.split(", ").map(quoted).collect::<Vec<_>>().join(", "))
            }
            _ => {
                let escape = |c: char| match c {
                    '"' | '\\' => format!("\\{c}"),
                    c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
                    // Escape what could mislead a terminal or the reader of the plan.
                    c if crate::terminal::acts(c) => format!("\\U{:08X}", u32::from(c)),
                    c => c.to_string(),
                };
                format!("\"{}\"", text.chars().map(escape).collect::<String>())
            }
        }
    }
}
