//! Reading one value: from what was written to a checked quantity, or the reason why not.

use super::limits::{BLOCK_SIZE, BLOCKS_MAX, TABLE_BYTES_MAX};
use crate::engine::{Engines, or};
use crate::error::PlanErrorKind;
use crate::hosts::{self, HostError, HostSpec};
use crate::phases::{Curve, PHASES_MAX, Phase};
use crate::units::{Blocks, Bytes, Rate, Size};
use crate::url::{TargetUrl, UrlError};

/// A value as written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Raw<'a> {
    /// A TOML string, or the text of an option.
    Text(&'a str),
    /// A TOML integer: digits with an optional sign, and their base.
    Integer(&'a str, u32),
    /// A TOML number with a fraction or an exponent, without underscores.
    Float(&'a str),
    /// A TOML `true` or `false`.
    Flag(bool),
    /// A TOML list.
    List(&'a [toml::Spanned<toml::de::DeValue<'a>>]),
    /// A TOML table.
    Table(&'a toml::de::DeTable<'a>),
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

    pub(super) fn out_of_range() -> Self {
        Self::new(PlanErrorKind::Range, "out of range")
    }
}

pub(super) fn within<T: PartialOrd>(value: T, (least, most): (T, T)) -> Result<T, Refused> {
    if least <= value && value <= most { Ok(value) } else { Err(Refused::out_of_range()) }
}

impl<'a> Raw<'a> {
    /// The whole number that is written, as wide as it takes to tell "too large" from "not a number".
    fn whole(self) -> Result<i128, Refused> {
        let wrong = || Refused::new(PlanErrorKind::Type, "not a whole number");
        let (digits, radix) = match self {
            Self::Integer(digits, radix) => (digits, radix),
            Self::Text(text) => (text.trim(), 10),
            Self::Float(_) | Self::Flag(_) | Self::List(_) | Self::Table(_) | Self::Other(_) => {
                let what = self.what();
                return Err(Refused::new(PlanErrorKind::Type, format!("{what}, not a whole number")));
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

    /// What is written, where it is not what a key takes.
    fn what(self) -> &'static str {
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

    /// A TOML value as keys read it.
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

    /// What a list holds: of an option's text, what stands between commas, with or without brackets around.
    fn items(self) -> Result<Vec<Raw<'a>>, Refused> {
        match self {
            Self::List(values) => Ok(values.iter().map(|value| Self::of(value.get_ref())).collect()),
            Self::Text(text) => {
                let text = text.trim();
                let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
                let parts = inner.split(',').map(|part| part.trim().trim_matches(['"', '\'']));
                Ok(parts.filter(|part| !part.is_empty()).map(Raw::Text).collect())
            }
            _ => Err(Refused::new(PlanErrorKind::Type, format!("{}, not a list", self.what()))),
        }
    }

    /// What `read` makes of each that a list holds; what is no list is a list of one.
    pub(super) fn each<T>(self, read: impl Fn(Self) -> Result<T, Refused>) -> Result<Vec<T>, Refused> {
        let items = if let Self::Integer(..) = self { vec![self] } else { self.items()? };
        items.into_iter().map(read).collect()
    }

    /// The plain decimal number that is written: no exponent, no `nan`.
    pub(super) fn decimal(self) -> Result<f64, Refused> {
        let text = match self {
            Self::Integer(digits, 10) | Self::Float(digits) => digits,
            Self::Text(text) => text.trim(),
            _ => return Err(Refused::new(PlanErrorKind::Type, format!("{}, not a number", self.what()))),
        };
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let plain = text.split_once('.').map_or(digits(text), |(whole, rest)| digits(whole) && digits(rest));
        match text.parse() {
            Ok(number) if plain => Ok(number),
            _ => Err(Refused::new(PlanErrorKind::Type, "not a number")),
        }
    }

    /// The yes or no that is written.
    pub(super) fn flag(self) -> Result<bool, Refused> {
        match self {
            Self::Flag(flag) => Ok(flag),
            Self::Text(text) if text.trim() == "true" => Ok(true),
            Self::Text(text) if text.trim() == "false" => Ok(false),
            _ => Err(Refused::new(PlanErrorKind::Type, "neither true nor false")),
        }
    }

    fn text(self, what: &str) -> Result<&'a str, Refused> {
        match self {
            Self::Text(text) => Ok(text.trim()),
            _ => Err(Refused::new(PlanErrorKind::Type, format!("{}, not {what}", self.what()))),
        }
    }

    /// Reads a quantity whose bare number is an error, because its unit would be a guess.
    pub(super) fn quantity<T: std::str::FromStr>(self, what: &str, unit: &str) -> Result<T, Refused> {
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

pub(super) fn read_size(raw: Raw<'_>, zero: bool) -> Result<Size, Refused> {
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

pub(super) fn read_block_size(raw: Raw<'_>) -> Result<Bytes, Refused> {
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

pub(super) fn read_url(raw: Raw<'_>, engines: Engines) -> Result<TargetUrl, Refused> {
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
    if engines.of(&url).is_none() {
        // What stands before a lone colon may be anything, such as a user; before `://` it is a scheme.
        let named = if text.contains("://") { format!(" {:?}", url.scheme) } else { String::new() };
        let examples: Vec<_> = engines.examples().map(|example| format!("`{example}`")).collect();
        return Err(Refused {
            kind: PlanErrorKind::Range,
            problem: format!("there is no such engine{named}"),
            hint: Some(format!("allowed: {}", or(&examples))),
        });
    }
    // The value is not repeated: in a misspelt URL a password can stand anywhere.
    if let Some(words) = engines.refused(&url) {
        let problem = format!("the URL's {} is none of its words", words.name);
        let hint = format!("allowed: {}={}", words.name, words.allowed.join(", "));
        return Err(Refused { kind: PlanErrorKind::Range, problem, hint: Some(hint) });
    }
    Ok(url)
}

/// The most targets of a plan.
const TARGETS_MAX: usize = 100;

/// At least two URLs, each once.
pub(super) fn read_urls(raw: Raw<'_>, engines: Engines) -> Result<Vec<TargetUrl>, Refused> {
    let mut urls: Vec<TargetUrl> = Vec::new();
    for (at, item) in raw.items()?.into_iter().enumerate() {
        let number = at + 1;
        let url = read_url(item, engines).map_err(|refused| Refused {
            problem: format!("number {number} of the list: {}", refused.problem),
            ..refused
        })?;
        if let Some(same) = urls.iter().position(|known| *known == url) {
            return Err(Refused {
                kind: PlanErrorKind::Conflict,
                problem: format!("numbers {} and {number} of the list are the same", same + 1),
                hint: Some("name each target once; target.weights gives one more sessions".into()),
            });
        }
        urls.push(url);
    }
    match urls.len() {
        2..=TARGETS_MAX => Ok(urls),
        0 | 1 => Err(Refused {
            kind: PlanErrorKind::Range,
            problem: "fewer than two URLs".into(),
            hint: Some("write the only one as target.url".into()),
        }),
        _ => Err(Refused::out_of_range()),
    }
}

pub(super) fn read_rate(raw: Raw<'_>, range: (Rate, Rate)) -> Result<Rate, Refused> {
    within(raw.quantity("a rate", "/s")?, range)
}

pub(super) fn read_name(raw: Raw<'_>) -> Result<String, Refused> {
    let name = raw.text("a name")?;
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let rest = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    match first && rest && name.len() <= 255 {
        true => Ok(name.to_owned()),
        false => Err(Refused::new(PlanErrorKind::Range, "not a name")),
    }
}

/// An option with its value: `terminals=true`.
pub(super) fn read_option(raw: Raw<'_>) -> Result<String, Refused> {
    let text = raw.text("an option with its value")?;
    let parts = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    match parts {
        Some((name, value)) if !name.is_empty() && !value.is_empty() && text.len() <= 255 => {
            read_name(Raw::Text(name))?;
            Ok(format!("{name}={value}"))
        }
        _ => Err(Refused::new(PlanErrorKind::Range, "not an option with its value")),
    }
}

/// Phases of a schedule, at least one.
pub(super) fn read_phases(raw: Raw<'_>) -> Result<Vec<Phase>, Refused> {
    let mut phases: Vec<Phase> = Vec::new();
    for (at, item) in raw.items()?.into_iter().enumerate() {
        let phase = item.text("a phase")?.parse().map_err(|wrong: String| {
            Refused::new(PlanErrorKind::Type, format!("number {} of the list: {wrong}", at + 1))
        })?;
        phases.push(phase);
    }
    match Curve::of(&phases, 0.0).stages().len() {
        0 => Err(Refused::new(PlanErrorKind::Range, "there is no phase")),
        stages if stages > PHASES_MAX => Err(Refused::out_of_range()),
        _ => Ok(phases),
    }
}

/// Machines to look at, at least one; each a text, or a table with its words.
pub(super) fn read_hosts(raw: Raw<'_>) -> Result<Vec<HostSpec>, Refused> {
    let refused = |at: usize, error: HostError| Refused {
        kind: if error.is_secret { PlanErrorKind::Secret } else { PlanErrorKind::Type },
        problem: format!("number {} of the list: {}", at + 1, error.problem),
        hint: Some(error.hint),
    };
    let mut specs: Vec<HostSpec> = Vec::new();
    for (at, item) in raw.items()?.into_iter().enumerate() {
        let spec = match item {
            Raw::Table(table) => host_of_table(table),
            item => item.text("a machine")?.parse(),
        };
        specs.push(spec.map_err(|error| refused(at, error))?);
    }
    match specs.len() {
        0 => Err(Refused::new(PlanErrorKind::Range, "there is no machine")),
        1..=TARGETS_MAX => Ok(specs),
        _ => Err(Refused::out_of_range()),
    }
}

fn host_of_table(table: &toml::de::DeTable<'_>) -> Result<HostSpec, HostError> {
    let url = table.get("url").and_then(|url| url.get_ref().as_str());
    let url = url.ok_or_else(|| HostError::new("it has no url", format!("write url = {}", hosts::FORMS)))?;
    let mut spec = HostSpec::database(url.parse()?);
    for (name, value) in table {
        match Raw::of(value.get_ref()) {
            Raw::Text(text) => spec.put(name.get_ref(), text)?,
            Raw::Integer(digits, 10) if name.get_ref() == "target" => spec.put("target", digits)?,
            _ => {
                return Err(HostError::new("one of its words is no text", hosts::WORDS));
            }
        }
    }
    spec.whole()
}

pub(super) fn read_variable(raw: Raw<'_>) -> Result<String, Refused> {
    let name = raw.text("the name of an environment variable")?;
    if hosts::is_variable(name) {
        Ok(name.to_owned())
    } else {
        Err(Refused::new(PlanErrorKind::Range, "not the name of an environment variable"))
    }
}

pub(super) fn read_file(raw: Raw<'_>) -> Result<String, Refused> {
    let name = raw.text("the name of a file")?;
    if name.is_empty() || name.contains('\0') || name.len() > 4_096 {
        return Err(Refused::new(PlanErrorKind::Range, "not the name of a file"));
    }
    Ok(name.to_owned())
}

/// Names of variables and options that hold a password, whoever reads them.
const PASSWORD_MARKS: [&str; 2] = ["password", "passwd"];

pub(super) fn read_command(raw: Raw<'_>, engines: Engines) -> Result<String, Refused> {
    let command = raw.text("a command")?;
    if command.is_empty() || command.contains('\0') || command.len() > 4_096 {
        return Err(Refused::new(PlanErrorKind::Range, "not a command"));
    }
    if holds_password(command, engines) {
        return Err(Refused {
            kind: PlanErrorKind::Secret,
            problem: "it looks as if it held a password, and commands stand in every record".into(),
            hint: Some(
                "take it from the environment, as in password=\"$NAME\", or put it into a script".into(),
            ),
        });
    }
    Ok(command.to_owned())
}

/// Whether a command seems to hold a password, and not only the name of a variable with one.
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

/// Clients whose options take a user and, behind a colon, a password; and those options.
const FETCHERS: [&str; 3] = ["curl", "wget", "http"];
const FETCH_OPTIONS: [&str; 4] = ["-u", "--user", "--proxy-user", "-a"];

/// Whether an option of a usual client holds a password.
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
    // Clients, their options, and whether these name the user before a colon.
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
                    // `-u a:b`: the value is the next word. What stands behind `-p` and a blank is a database.
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
    raw: Raw<'_>,
    words: &[(&'static str, &'static str)],
) -> Result<&'static str, Refused> {
    let text = raw.text("a word")?;
    let names = words.iter().map(|(word, _)| *word);
    names.clone().find(|word| *word == text).ok_or_else(|| Refused {
        kind: PlanErrorKind::Range,
        problem: "there is no such word".into(),
        hint: crate::similar::closest(text, names).map(|word| format!("did you mean {word:?}?")),
    })
}
