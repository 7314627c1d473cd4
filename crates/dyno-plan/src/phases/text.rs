//! Parses and writes a phase as text.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::RatePhase;
use crate::units::{Rate, TimeSpan};

/// The largest number of phases in a schedule; each step counts.
pub const PHASES_MAX: usize = 1_000;

/// The highest rate of a phase per second, the same as for `workload.rate`.
const RATE_MAX: f64 = 100_000_000.0;

/// The largest number of rows in a CSV file.
pub(super) const ROWS_MAX: usize = 10_000;

/// Why a phase cannot be parsed.
type PhaseError = String;

impl FromStr for RatePhase {
    type Err = String;

    /// Parses a phase.
    ///
    /// # Errors
    /// What is wrong with the text, beginning in lower case.
    fn from_str(text: &str) -> Result<Self, PhaseError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["hold", rate_text, time] => Ok(Self::Hold { rate: rate(rate_text)?, time: span(time)? }),
            ["ramp", range, time] => {
                let (from, to) = between(range)?;
                Ok(Self::Ramp { from, to, time: span(time)? })
            }
            ["steps", range, "by", by, "each", each] => steps(between(range)?, rate(by)?, span(each)?),
            ["sine", range, "period", period, "for", time] => {
                let ((low, high), period) = (between(range)?, span(period)?);
                if low > high {
                    return Err("a sine goes from the lower rate to the higher one: swap the two".into());
                }
                Ok(Self::Sine { low, high, period, time: span(time)? })
            }
            ["csv", ..] => csv(text.trim().strip_prefix("csv").unwrap_or_default().trim()),
            [] => Err("no phase".into()),
            [kind, ..] if FORMS.iter().any(|form| form.starts_with(&format!("{kind} "))) => {
                let form = FORMS.iter().find(|form| form.starts_with(&format!("{kind} "))).copied();
                Err(format!("not a valid phase; the form is {:?}", form.unwrap_or_default()))
            }
            [kind, ..] => {
                let near =
                    crate::similar::closest(kind, FORMS.iter().filter_map(|form| form.split(' ').next()));
                let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
                Err(format!("unknown phase{near}"))
            }
        }
    }
}

/// One example of each kind of phase.
pub(crate) const FORMS: [&str; 5] = [
    "hold 1000/s 60s",
    "ramp 0..1000/s 30s",
    "steps 200/s..1000/s by 200/s each 10s",
    "sine 200/s..1000/s period 20s for 60s",
    "csv FILE",
];

fn steps((from, to): (f64, f64), step_rate: f64, step_time: TimeSpan) -> Result<RatePhase, PhaseError> {
    let many = (to - from).abs() / step_rate;
    if step_rate <= 0.0 || from == to {
        return Err(
            "the steps do not change the rate: write a different last rate, and a step above zero".into()
        );
    }
    if (many - many.round()).abs() > 1e-6 {
        return Err(format!("steps of {step_rate}/s do not lead from {from}/s to {to}/s"));
    }
    if many + 1.0 > PHASES_MAX as f64 {
        return Err(format!("it has more than {PHASES_MAX} steps"));
    }
    Ok(RatePhase::Steps { from, to, by: step_rate, each: step_time })
}

/// Reads what follows `csv`: a file's name, and its rows if they are already known.
fn csv(text: &str) -> Result<RatePhase, PhaseError> {
    let (file, rows) = match text.rsplit_once(": ") {
        Some((file, rows)) if file.trim() == file => {
            let words: Vec<&str> = rows.split_whitespace().collect();
            let (pairs, rest) = words.as_chunks::<2>();
            let rows = pairs
                .iter()
                .map(|[at, one]| Ok((moment(at)?, rate(one)?)))
                .collect::<Result<Vec<_>, PhaseError>>()?;
            if !rest.is_empty() {
                return Err("a time without a rate".into());
            }
            check(&rows)?;
            (file, Some(rows))
        }
        _ => (text, None),
    };
    let is_name = |c: char| !c.is_control() && !matches!(c, ',' | '"' | '\'');
    if file.is_empty() || file.len() > 4_096 || !file.chars().all(is_name) {
        return Err("not the name of a file; commas and quotes are not allowed".into());
    }
    Ok(RatePhase::Csv { file: file.to_owned(), rows })
}

/// Reads two rates: `200/s..1000/s`, or `200..1000/s`.
fn between(text: &str) -> Result<(f64, f64), PhaseError> {
    let wrong = || format!("{text:?} is not a range of rates such as `200..1000/s`");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let to = rate(to)?;
    let from = if from.ends_with("/s") { rate(from)? } else { rate(&format!("{from}/s"))? };
    Ok((from, to))
}

/// Reads a rate per second, which may be 0.
pub(super) fn rate(text: &str) -> Result<f64, PhaseError> {
    let zero = text.strip_suffix("/s").is_some_and(|number| number.parse() == Ok(0u32));
    if zero {
        return Ok(0.0);
    }
    let rate: Rate = text.parse().map_err(|_| format!("{text:?} is not a rate such as `1000/s`"))?;
    match rate.0 <= RATE_MAX {
        true => Ok(rate.0),
        false => Err(format!("{text} is more than {RATE_MAX}/s")),
    }
}

/// Reads a time since the start of the phase.
pub(super) fn moment(text: &str) -> Result<TimeSpan, PhaseError> {
    text.parse().map_err(|_| format!("{text:?} is not a duration such as `30s`"))
}

/// Reads a length of time above 0.
fn span(text: &str) -> Result<TimeSpan, PhaseError> {
    match moment(text)? {
        TimeSpan(time) if time.is_zero() => Err("its length is zero".into()),
        span => Ok(span),
    }
}

impl fmt::Display for RatePhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hold { rate, time } => write!(f, "hold {rate}/s {time}"),
            Self::Ramp { from, to, time } => write!(f, "ramp {from}/s..{to}/s {time}"),
            Self::Steps { from, to, by, each } => write!(f, "steps {from}/s..{to}/s by {by}/s each {each}"),
            Self::Sine { low, high, period, time } => {
                write!(f, "sine {low}/s..{high}/s period {period} for {time}")
            }
            Self::Csv { file, rows } => {
                write!(f, "csv {file}")?;
                for (at, (time, rate)) in rows.iter().flatten().enumerate() {
                    write!(f, "{} {time} {rate}/s", if at == 0 { ":" } else { "" })?;
                }
                Ok(())
            }
        }
    }
}

impl Serialize for RatePhase {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RatePhase {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        text.parse().map_err(|wrong| serde::de::Error::custom(format!("{text:?}: {wrong}")))
    }
}

impl schemars::JsonSchema for RatePhase {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Phase".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

/// Checks that rows make a phase.
///
/// # Errors
/// Why they do not.
pub(super) fn check(rows: &[(TimeSpan, f64)]) -> Result<(), String> {
    let (Some((first, _)), Some((last, _))) = (rows.first(), rows.last()) else {
        return Err("there is no row".into());
    };
    if !first.0.is_zero() {
        return Err("the first row is not at time 0".into());
    }
    if rows.windows(2).any(|pair| pair[0].0 > pair[1].0) {
        return Err("the times do not rise".into());
    }
    if last.0.is_zero() {
        return Err("there is no row after time 0, so the schedule has no length".into());
    }
    match rows.len() > ROWS_MAX {
        true => Err(format!("more than {ROWS_MAX} rows")),
        false => Ok(()),
    }
}
