//! Reads one value: converts the text into a checked quantity or returns why it was refused.

use super::limits::{BLOCK_SIZE, BLOCKS_MAX, TABLE_BYTES_MAX};
use crate::engine::{Engines, or};
use crate::error::PlanErrorKind;
use crate::hosts::{self, HostError, HostSpec};
use crate::phases::{PHASES_MAX, RateCurve, RatePhase};
use crate::units::{BlockCount, BlocksOrBytes, Bytes, Rate};
use crate::url::{TargetUrl, UrlError};

/// A value as the user wrote it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RawValue<'a> {
    /// A TOML string, or the text of an option.
    Text(&'a str),
    /// A TOML integer: digits with an optional sign, and their base.
    Integer(&'a str, u32),
    /// A TOML number with a fraction or an exponent, without underscores.
    Float(&'a str),
    /// A TOML `true` or `false`.
    Flag(bool),
    /// A TOML array of values.
    List(&'a [toml::Spanned<toml::de::DeValue<'a>>]),
    /// A TOML table of keys.
    Table(&'a toml::de::DeTable<'a>),
    /// A TOML value of a type that no key takes; the words name the type.
    Other(&'static str),
}

/// Why a value was refused.
#[derive(Debug, PartialEq)]
pub(crate) struct Refused {
    /// The kind of the error.
    pub(crate) kind: PlanErrorKind,
    /// What is wrong with the value.
    pub(crate) problem: String,
    /// What to do, if there is a better hint than the allowed values.
    pub(crate) hint: Option<String>,
}

impl Refused {
    fn new(kind: PlanErrorKind, problem: impl Into<String>) -> Self {
        Self { kind, problem: problem.into(), hint: None }
    }

    pub(super) fn out_of_range() -> Self {
        Self::new(PlanErrorKind::Range, "out of range")
    }
}

pub(super) fn within<T: PartialOrd>(value: T, (least, most): (T, T)) -> Result<T, Refused> {
    if least <= value && value <= most { Ok(value) } else { Err(Refused::out_of_range()) }
}

impl<'a> RawValue<'a> {
    /// The integer, in a type wide enough to tell "too large" from "not a number".
    fn whole(self) -> Result<i128, Refused> {
        let wrong = || Refused::new(PlanErrorKind::Type, "not an integer");
        let (digits, radix) = match self {
            Self::Integer(digits, radix) => (digits, radix),
            Self::Text(text) => (text.trim(), 10),
            Self::Float(_) | Self::Flag(_) | Self::List(_) | Self::Table(_) | Self::Other(_) => {
                let description = self.describe();
                return Err(Refused::new(PlanErrorKind::Type, format!("{description}, not an integer")));
            }
        };
        let unsigned = digits.strip_prefix(['-', '+']).unwrap_or(digits);
        if unsigned.is_empty() || !unsigned.chars().all(|c| c.is_digit(radix)) {
            return Err(wrong());
        }
        i128::from_str_radix(digits, radix).map_err(|_| Refused::out_of_range())
    }

    pub(super) fn count(self, (least, most): (u32, u32)) -> Result<u32, Refused> {
        let number = self.number((u64::from(least), u64::from(most)))?;
        u32::try_from(number).map_err(|_| Refused::out_of_range())
    }

    pub(super) fn number(self, (least, most): (u64, u64)) -> Result<u64, Refused> {
        let number = self.whole()?;
        within(number, (i128::from(least), i128::from(most)))?;
        u64::try_from(number).map_err(|_| Refused::out_of_range())
    }

    /// Names the type of a value that the key does not take.
    fn describe(self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Integer(..) => "a bare number",
            Self::Float(_) => "a floating-point number",
            Self::Flag(_) => "true or false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(what) => what,
        }
    }

    /// Converts a TOML value for keys.
    pub(crate) fn of(value: &'a toml::de::DeValue<'a>) -> Self {
        use toml::de::DeValue;
        match value {
            DeValue::String(string) => Self::Text(string),
            DeValue::Integer(integer) => Self::Integer(integer.as_str(), integer.radix()),
            DeValue::Float(float) => Self::Float(float.as_str()),
            DeValue::Boolean(flag) => Self::Flag(*flag),
            DeValue::Datetime(_) => Self::Other("a date or time"),
            DeValue::Array(values) => Self::List(values),
            DeValue::Table(table) => Self::Table(table),
        }
    }

    /// The items of a list; the text of an option is split at commas, with or without brackets.
    fn items(self) -> Result<Vec<RawValue<'a>>, Refused> {
        match self {
            Self::List(values) => Ok(values.iter().map(|value| Self::of(value.get_ref())).collect()),
            Self::Text(text) => {
                let text = text.trim();
                let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
                let parts = inner.split(',').map(|part| part.trim().trim_matches(['"', '\'']));
                Ok(parts.filter(|part| !part.is_empty()).map(RawValue::Text).collect())
            }
            _ => Err(Refused::new(PlanErrorKind::Type, format!("{}, not a list", self.describe()))),
        }
    }

    /// Applies `read` to each item of a list; a single value counts as a list of one.
    pub(super) fn read_each<T>(self, read: impl Fn(Self) -> Result<T, Refused>) -> Result<Vec<T>, Refused> {
        let items = if let Self::Integer(..) = self { vec![self] } else { self.items()? };
        items.into_iter().map(read).collect()
    }

    /// The plain decimal number: no exponent, no `nan`.
    pub(super) fn decimal(self) -> Result<f64, Refused> {
        let text = match self {
            Self::Integer(digits, 10) | Self::Float(digits) => digits,
            Self::Text(text) => text.trim(),
            _ => return Err(Refused::new(PlanErrorKind::Type, format!("{}, not a number", self.describe()))),
        };
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let plain = text.split_once('.').map_or(digits(text), |(whole, rest)| digits(whole) && digits(rest));
        match text.parse() {
            Ok(number) if plain => Ok(number),
            _ => Err(Refused::new(PlanErrorKind::Type, "not a number")),
        }
    }

    /// The `true` or `false` of a switch.
    pub(super) fn flag(self) -> Result<bool, Refused> {
        match self {
            Self::Flag(flag) => Ok(flag),
            Self::Text(text) if text.trim() == "true" => Ok(true),
            Self::Text(text) if text.trim() == "false" => Ok(false),
            _ => Err(Refused::new(PlanErrorKind::Type, "neither true nor false")),
        }
    }

    fn text(self, expected: &str) -> Result<&'a str, Refused> {
        match self {
            Self::Text(text) => Ok(text.trim()),
            _ => Err(Refused::new(PlanErrorKind::Type, format!("{}, not {expected}", self.describe()))),
        }
    }

    /// Reads a quantity. A bare number is an error, because its unit would be a guess.
    pub(super) fn quantity<T: std::str::FromStr>(self, expected: &str, unit: &str) -> Result<T, Refused> {
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
                problem: format!("{expected} without a unit"),
                hint: Some(format!("write \"{digits}{unit}\"")),
            });
        }
        self.text(expected)?.parse().map_err(|_| Refused::new(PlanErrorKind::Type, format!("not {expected}")))
    }
}

pub(super) fn read_size(raw: RawValue<'_>, zero: bool) -> Result<BlocksOrBytes, Refused> {
    let size = match raw {
        RawValue::Integer(..) => BlocksOrBytes::Blocks(BlockCount(raw.number((0, BLOCKS_MAX))?)),
        _ => raw.text("a size")?.parse().map_err(|_| Refused::new(PlanErrorKind::Type, "not a size"))?,
    };
    match size {
        BlocksOrBytes::Blocks(BlockCount(0)) | BlocksOrBytes::Bytes(Bytes(0)) if zero => Ok(size),
        BlocksOrBytes::Blocks(BlockCount(blocks)) => within(blocks, (1, BLOCKS_MAX)).map(|_| size),
        BlocksOrBytes::Bytes(Bytes(bytes)) => within(bytes, (BLOCK_SIZE.0, TABLE_BYTES_MAX)).map(|_| size),
    }
}

pub(super) fn read_block_size(raw: RawValue<'_>) -> Result<Bytes, Refused> {
    let bytes = match raw {
        RawValue::Integer(..) => raw.number((0, u64::MAX))?,
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

pub(super) fn read_url(raw: RawValue<'_>, engines: Engines) -> Result<TargetUrl, Refused> {
    let text = raw.text("a URL")?;
    let url = TargetUrl::read(text, engines).map_err(|error| {
        let kind = match error {
            UrlError::Password => PlanErrorKind::Secret,
            _ => PlanErrorKind::Type,
        };
        let (problem, hint) = error.problem_and_hint();
        let hint = match error {
            UrlError::NoScheme => format!("write {}", or(&engines.examples().collect::<Vec<_>>())),
            _ => hint,
        };
        Refused { kind, problem, hint: Some(hint) }
    })?;
    if engines.spec_of(&url).is_none() {
        // The text before a lone colon may be anything, such as a user; before `://` it is a scheme.
        let named = if text.contains("://") { format!(" {:?}", url.scheme) } else { String::new() };
        let examples: Vec<_> = engines.examples().map(|example| format!("`{example}`")).collect();
        return Err(Refused {
            kind: PlanErrorKind::Range,
            problem: format!("unknown engine{named}"),
            hint: Some(format!("allowed: {}", or(&examples))),
        });
    }
    // Do not repeat the value: a misspelled URL can contain a password anywhere.
    if let Some(words) = engines.refused_parameter(&url) {
        let problem = format!("the URL's {} has an invalid value", words.name);
        let hint = format!("allowed: {}={}", words.name, words.allowed.join(", "));
        return Err(Refused { kind: PlanErrorKind::Range, problem, hint: Some(hint) });
    }
    Ok(url)
}

/// The largest number of targets in a plan.
const TARGETS_MAX: usize = 100;

/// Reads at least two URLs without duplicates.
pub(super) fn read_urls(raw: RawValue<'_>, engines: Engines) -> Result<Vec<TargetUrl>, Refused> {
    let mut urls: Vec<TargetUrl> = Vec::new();
    for (at, item) in raw.items()?.into_iter().enumerate() {
        let number = at + 1;
        let url = read_url(item, engines).map_err(|refused| Refused {
            problem: format!("entry {number} of the list: {}", refused.problem),
            ..refused
        })?;
        if let Some(same) = urls.iter().position(|known| *known == url) {
            return Err(Refused {
                kind: PlanErrorKind::Conflict,
                problem: format!("entries {} and {number} of the list are the same", same + 1),
                hint: Some("list each target once; target.weights gives a target more sessions".into()),
            });
        }
        urls.push(url);
    }
    match urls.len() {
        2..=TARGETS_MAX => Ok(urls),
        0 | 1 => Err(Refused {
            kind: PlanErrorKind::Range,
            problem: "fewer than two URLs".into(),
            hint: Some("write a single URL as target.url".into()),
        }),
        _ => Err(Refused::out_of_range()),
    }
}

pub(super) fn read_rate(raw: RawValue<'_>, range: (Rate, Rate)) -> Result<Rate, Refused> {
    within(raw.quantity("a rate", "/s")?, range)
}

pub(super) fn read_name(raw: RawValue<'_>) -> Result<String, Refused> {
    let name = raw.text("a name")?;
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let rest = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    match first && rest && name.len() <= 255 {
        true => Ok(name.to_owned()),
        false => Err(Refused::new(PlanErrorKind::Range, "not a name")),
    }
}

/// Reads an option with its value: `terminals=true`.
pub(super) fn read_option(raw: RawValue<'_>) -> Result<String, Refused> {
    let text = raw.text("an option with its value")?;
    let parts = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    match parts {
        Some((name, value)) if !name.is_empty() && !value.is_empty() && text.len() <= 255 => {
            read_name(RawValue::Text(name))?;
            Ok(format!("{name}={value}"))
        }
        _ => Err(Refused::new(PlanErrorKind::Range, "not an option with its value")),
    }
}

/// Reads at least one phase of a schedule.
pub(super) fn read_phases(raw: RawValue<'_>) -> Result<Vec<RatePhase>, Refused> {
    let mut phases: Vec<RatePhase> = Vec::new();
    for (at, item) in raw.items()?.into_iter().enumerate() {
        let phase = item.text("a phase")?.parse().map_err(|wrong: String| {
            Refused::new(PlanErrorKind::Type, format!("entry {} of the list: {wrong}", at + 1))
        })?;
        phases.push(phase);
    }
    match RateCurve::of(&phases, 0.0).stages().len() {
        0 => Err(Refused::new(PlanErrorKind::Range, "the list has no phases")),
        stages if stages > PHASES_MAX => Err(Refused::out_of_range()),
        _ => Ok(phases),
    }
}

/// Reads at least one host to observe; each is a text, or a table with its words.
pub(super) fn read_hosts(raw: RawValue<'_>) -> Result<Vec<HostSpec>, Refused> {
    let refused = |at: usize, error: HostError| Refused {
        kind: if error.is_secret { PlanErrorKind::Secret } else { PlanErrorKind::Type },
        problem: format!("entry {} of the list: {}", at + 1, error.problem),
        hint: Some(error.hint),
    };
    let mut specs: Vec<HostSpec> = Vec::new();
    for (at, item) in raw.items()?.into_iter().enumerate() {
        let spec = match item {
            RawValue::Table(table) => host_of_table(table),
            item => item.text("a host")?.parse(),
        };
        specs.push(spec.map_err(|error| refused(at, error))?);
    }
    match specs.len() {
        0 => Err(Refused::new(PlanErrorKind::Range, "the list has no hosts")),
        1..=TARGETS_MAX => Ok(specs),
        _ => Err(Refused::out_of_range()),
    }
}

fn host_of_table(table: &toml::de::DeTable<'_>) -> Result<HostSpec, HostError> {
    let url = table.get("url").and_then(|url| url.get_ref().as_str());
    let url =
        url.ok_or_else(|| HostError::new("the host has no url", format!("write url = {}", hosts::FORMS)))?;
    let mut spec = HostSpec::database(url.parse()?);
    for (name, value) in table {
        match RawValue::of(value.get_ref()) {
            RawValue::Text(text) => spec.put(name.get_ref(), text)?,
            RawValue::Integer(digits, 10) if name.get_ref() == "target" => spec.put("target", digits)?,
            _ => {
                return Err(HostError::new("one of its values is not a text", hosts::WORDS));
            }
        }
    }
    spec.whole()
}

pub(super) fn read_variable(raw: RawValue<'_>) -> Result<String, Refused> {
    let name = raw.text("the name of an environment variable")?;
    if hosts::is_variable(name) {
        Ok(name.to_owned())
    } else {
        Err(Refused::new(PlanErrorKind::Range, "not the name of an environment variable"))
    }
}

pub(super) fn read_file(raw: RawValue<'_>) -> Result<String, Refused> {
    let name = raw.text("the name of a file")?;
    if name.is_empty() || name.contains('\0') || name.len() > 4_096 {
        return Err(Refused::new(PlanErrorKind::Range, "not the name of a file"));
    }
    Ok(name.to_owned())
}

/// Parts of names of variables and options that hold a password, for any program.
const PASSWORD_MARKS: [&str; 2] = ["password", "passwd"];

pub(super) fn read_command(raw: RawValue<'_>, engines: Engines) -> Result<String, Refused> {
    let command = raw.text("a command")?;
    if command.is_empty() || command.contains('\0') || command.len() > 4_096 {
        return Err(Refused::new(PlanErrorKind::Range, "not a command"));
    }
    if holds_password(command, engines) {
        return Err(Refused {
            kind: PlanErrorKind::Secret,
            problem: "the command seems to contain a password, and every record stores the commands".into(),
            hint: Some("read it from the environment, as in password=\"$NAME\", or use a script".into()),
        });
    }
    Ok(command.to_owned())
}

/// Whether a command seems to contain a password, rather than the name of a variable that holds one.
fn holds_password(command: &str, engines: Engines) -> bool {
    let lower = command.to_ascii_lowercase();
    let of_engines = engines.0.iter().flat_map(|engine| engine.passwords.variables);
    let marked = PASSWORD_MARKS.iter().chain(of_engines).any(|mark| {
        lower.match_indices(&format!("{}=", mark.to_lowercase())).any(|(at, mark)| {
            let value = lower[at + mark.len()..].trim_start_matches(['"', '\'']);
            !value.is_empty() && !value.starts_with('$') && !value.starts_with(char::is_whitespace)
        })
    });
    let in_url = lower.match_indices("://").any(|(at, _)| {
        let authority = lower[at + 3..].split(['/', ' ', '\'', '"']).next().unwrap_or_default();
        let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
        user.split_once(':').is_some_and(|(_, password)| !password.is_empty() && !password.starts_with('$'))
    });
    marked || in_url || option_holds_password(command, engines)
}

/// Clients whose options take a user and a password, separated by a colon; and those options.
const FETCHERS: [&str; 3] = ["curl", "wget", "http"];
const FETCH_OPTIONS: [&str; 4] = ["-u", "--user", "--proxy-user", "-a"];

/// Whether an option of a common client contains a password.
fn option_holds_password(command: &str, engines: Engines) -> bool {
    let is_value = |value: &str| {
        let value = value.trim_matches(['"', '\'']);
        !value.is_empty() && !value.starts_with('$')
    };
    let password_in = |value: &str, after_colon: bool| match after_colon {
        true => value.split_once(':').is_some_and(|(_, password)| is_value(password)),
        false => is_value(value),
    };
    let clients = engines.0.iter().map(|engine| engine.passwords.clients);
    // Clients, their options, and whether a user and a colon come before the password.
    let options: Vec<(&[&str], &[&str], bool)> = clients
        .map(|clients| (clients, &["-p"][..], false))
        .chain([(&FETCHERS[..], &FETCH_OPTIONS[..], true)])
        .collect();
    command.split(['|', ';', '&', '\n', '(', ')', '`']).any(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        let client = |word: &&str| word.rsplit('/').next().unwrap_or_default().to_owned();
        options.iter().any(|(clients, options, after_colon)| {
            let Some(at) = words.iter().position(|word| clients.contains(&client(word).as_str())) else {
                return false;
            };
            let rest = &words[at + 1..];
            rest.iter().enumerate().any(|(i, word)| {
                options.iter().any(|option| match word.strip_prefix(option) {
                    // For `-u a:b` the value is the next word. The word after `-p` and a blank is a database.
                    Some("") => *after_colon && rest.get(i + 1).is_some_and(|next| password_in(next, true)),
                    Some(value) if option.starts_with("--") => {
                        value.strip_prefix('=').is_some_and(|value| password_in(value, *after_colon))
                    }
                    Some(value) => password_in(value, *after_colon),
                    None => false,
                })
            })
        })
    })
}

pub(super) fn read_word(
    raw: RawValue<'_>,
    words: &[(&'static str, &'static str)],
) -> Result<&'static str, Refused> {
    let text = raw.text("a word")?;
    let names = words.iter().map(|(word, _)| *word);
    names.clone().find(|word| *word == text).ok_or_else(|| Refused {
        kind: PlanErrorKind::Range,
        problem: "unknown value".into(),
        hint: crate::similar::closest(text, names).map(|word| format!("did you mean {word:?}?")),
    })
}
